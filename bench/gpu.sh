#!/bin/bash
# Builds, tests and measures on a GPU host: bench/gpu.sh [PART ...]; results under $OUT (default: the build folder).
# Parts: build test rows prove streamed sanitize ncu two; without any: build test rows prove.
# A measuring run compiles for the one device at hand (CUZK_CUDA_ARCHS, default 90).
set -o pipefail
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-/tmp/cuzk-gpu}
OUT=${OUT:-$BUILD}
ARCH=${CUZK_CUDA_ARCHS:-90}
CIRCUIT=${CIRCUIT:-winning-32g porep-2k porep-32g}
LARGEST=${CIRCUIT##* }
PLUGIN=$BUILD/lib/libcuzk-cuda.so
mkdir -p "$BUILD" "$OUT"
parts=("$@")
[ ${#parts[@]} -eq 0 ] && parts=(build test rows prove)
failed=0

run() { # run NAME TIMEOUT COMMAND...: output to a file and, its end, to the terminal
    local name=$1 limit=$2
    shift 2
    local start=$SECONDS
    timeout "$limit" "$@" >"$OUT/$name.txt" 2>&1
    local rc=$?
    echo "== $name: status $rc, $((SECONDS - start)) s"
    tail -n "${LINES_SHOWN:-40}" "$OUT/$name.txt"
    [ $rc -eq 0 ] || failed=1
    return $rc
}

for part in "${parts[@]}"; do
    case $part in
    build)
        tests=OFF # a bare GPU host has no cmocka
        pkg-config --exists cmocka 2>/dev/null && tests=ON
        run configure 120 cmake -S . -B "$BUILD" -G Ninja -DCUZK_DAEMON=OFF -DCUZK_TESTS=$tests \
            -DCUZK_CUDA_ARCHS="$ARCH" || exit 1
        run build 400 ninja -C "$BUILD" cuzk-bench cuzk_cuda || exit 1
        ;;
    test)
        if ninja -C "$BUILD" test_cuda >"$OUT/build-test.txt" 2>&1; then
            run test 240 "$BUILD/tests/test_cuda" "$PLUGIN" device
        else
            echo "== test: cmocka is not installed; the rows check their results themselves"
        fi
        ;;
    rows) run rows 300 "$BUILD/bin/cuzk-bench" device --plugin "$PLUGIN" $ROWS ;;
    prove)
        for circuit in $CIRCUIT; do
            run "prove-$circuit" 500 "$BUILD/bin/cuzk-bench" device --plugin "$PLUGIN" $PROVE_FLAGS prove "$circuit" "${ROUNDS:-3}"
        done
        ;;
    two) run two 500 "$BUILD/bin/cuzk-bench" device --plugin "$PLUGIN" --devices 2 prove "$LARGEST" "${ROUNDS:-3}" ;;
    streamed)
        run streamed 500 "$BUILD/bin/cuzk-bench" device --plugin "$PLUGIN" --vram-limit "${VRAM:-24}" --workers 1 prove "$LARGEST" 1
        ;;
    sanitize)
        small="fp-mul:0 msm-g1:10 msm-g2:9 subset-g1:11 ntt:11 ntt:14 ntt-inverse:15:1 h:13 decode-g1:10 check-g1:9"
        for tool in memcheck racecheck; do
            run "$tool" 200 compute-sanitizer --tool $tool --error-exitcode 9 \
                "$BUILD/bin/cuzk-bench" device --plugin "$PLUGIN" --repeat 1 $small
        done
        ;;
    ncu)
        run ncu 200 ncu --clock-control none --set full -k "${KERNEL:-regex:round_}" --launch-count "${LAUNCHES:-4}" \
            --page details "$BUILD/bin/cuzk-bench" device --plugin "$PLUGIN" --repeat 1 ${ROWS:-msm-g1:22}
        ;;
    *)
        echo "unknown part $part"
        failed=1
        ;;
    esac
done
exit $failed
