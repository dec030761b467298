#!/bin/sh
# check.sh SOURCE BUILD CMAKE: installs into an empty folder and builds the examples against it, as a stranger would.
set -eu
source=$1 build=$2 cmake=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work/root" >"$work/install.log" 2>&1 || { cat "$work/install.log"; exit 1; }
# The prefix in cuzk.pc is the configured one; pkg-config may be told another.
pc=$(find "$work/root" -name cuzk.pc)
export PKG_CONFIG_PATH=$(dirname "$pc")
flags="--define-variable=prefix=$work/root"
cflags=$(pkg-config $flags --cflags cuzk) libs=$(pkg-config $flags --libs cuzk)
static=$(pkg-config $flags --static --libs cuzk)
libdir=$(dirname "$(dirname "$pc")")
cd "$work"
for header in "$work"/root/include/cuzk/*.h; do # each header stands alone, in C and in C++
    name=cuzk/$(basename "$header")
    echo "#include <$name>" >one.c
    cc -std=c11 -Wall -Wextra -Werror -pedantic $cflags -c one.c -o one.o
    if command -v c++ >/dev/null; then
        cp one.c one.cpp
        c++ -std=c++11 -Wall -Wextra -Werror $cflags -c one.cpp -o one.o
    fi
done
cc -std=c11 -Wall -Wextra -Werror "$source/examples/cubic.c" $cflags $libs -o cubic
cc -std=c11 -Wall -Wextra -Werror "$source/examples/prove_porep.c" $cflags $libs -o prove_porep
cc -std=c11 "$source/examples/cubic.c" $cflags $libdir/libcuzk.a ${static#*-lcuzk} -o cubic_static
LD_LIBRARY_PATH=$libdir ./cubic | grep -q '^valid'
./cubic_static | grep -q '^valid'
status=0
LD_LIBRARY_PATH=$libdir ./prove_porep "$source/examples/cubic.c" out.bin . 2>error || status=$?
test "$status" = 1 && test -s error && test ! -e out.bin
# Nothing but the public names leaves the shared library.
nm -D --defined-only "$libdir/libcuzk.so" | awk '{print $3}' | grep -v '^cuzk_' >leaked || true
if test -s leaked; then
    echo "names that leak from libcuzk.so:"
    cat leaked
    exit 1
fi
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(stranger C)
find_package(cuzk REQUIRED)
add_executable(shared cubic.c)
target_link_libraries(shared cuzk::cuzk)
add_executable(static cubic.c)
target_link_libraries(static cuzk::static)
END
cp "$source/examples/cubic.c" .
"$cmake" -S . -B b -DCMAKE_PREFIX_PATH="$work/root" >cmake.log 2>&1 || { cat cmake.log; exit 1; }
"$cmake" --build b >cmake.log 2>&1 || { cat cmake.log; exit 1; }
b/shared | grep -q '^valid'
b/static | grep -q '^valid'
echo "installed tree: headers, libraries, examples and package files work"
