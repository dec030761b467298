#!/bin/bash
# Builds, tests and measures on a GPU host: bench/gpu.sh [PART ...]; results under $OUT (default: the build folder), one
# file a part, written as it goes. A part that takes too long is cut and the next one runs.
# Parts: build test rows prove streamed sanitize ncu two; without any: build test rows prove.
# A measuring run compiles for the one device at hand (CUZK_CUDA_ARCHS, default 90).
set -o pipefail
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-/tmp/cuzk-gpu}
OUT=${OUT:-$BUILD}
ARCH=${CUZK_CUDA_ARCHS:-90}
CIRCUIT=${CIRCUIT:-mixed-22 porep-32g}
LARGEST=${CIRCUIT##* }
PLUGIN=$BUILD/lib/libcuzk-cuda.so
BENCH=("$BUILD/bin/cuzk-bench" device)
mkdir -p "$BUILD" "$OUT"
parts=("$@")
[ ${#parts[@]} -eq 0 ] && parts=(build test rows prove)
failed=0

run() { # run NAME TIMEOUT COMMAND...: output to a file and, its last lines, to the terminal
    local name=$1 limit=$2
    shift 2
    local start=$SECONDS
    timeout "$limit" "$@" >"$OUT/$name.txt" 2>&1
    local rc=$?
    echo "== $name: status $rc, $((SECONDS - start)) s"
    tail -n "${LINES_SHOWN:-40}" "$OUT/$name.txt" | cut -c1-220
    [ $rc -eq 0 ] || failed=1
    return $rc
}
build() {
    local tests=OFF # a bare GPU host has no cmocka
    pkg-config --exists cmocka 2>/dev/null && tests=ON
    cmake -S . -B "$BUILD" -G Ninja -DCUZK_DAEMON=OFF -DCUZK_CUDA_ARCHS="$ARCH" -DCUZK_TESTS=$tests && ninja -C "$BUILD" cuzk-bench cuzk_cuda
}
export -f build
export BUILD ARCH

for part in "${parts[@]}"; do
    case $part in
    build)
        LINES_SHOWN=3 run build 400 bash -c build || exit 1
        ;;
    test)
        if ninja -C "$BUILD" test_cuda >"$OUT/build-test.txt" 2>&1; then
            run test 240 "$BUILD/tests/test_cuda" "$PLUGIN" device
        else
            echo "== test: cmocka is not installed; the rows check their results themselves"
        fi
        ;;
    rows) run rows "${ROWS_LIMIT:-300}" "${BENCH[@]}" --plugin "$PLUGIN" --repeat "${REPEAT:-3}" $ROWS ;;
    prove)
        for circuit in $CIRCUIT; do
            flags=$PROVE_FLAGS # a batch in little memory is for the largest one
            [ "$circuit" = "$LARGEST" ] || flags=
            run "prove-$circuit" "${PROVE_LIMIT:-500}" "${BENCH[@]}" --plugin "$PLUGIN" $flags prove "$circuit" "${ROUNDS:-3}"
        done
        ;;
    two) run two 500 "${BENCH[@]}" --plugin "$PLUGIN" --devices 2 prove "$LARGEST" "${ROUNDS:-3}" ;;
    streamed)
        run streamed 500 "${BENCH[@]}" --plugin "$PLUGIN" --vram-limit "${VRAM:-24}" --workers 1 prove "$LARGEST" 1
        ;;
    sanitize)
        small="fp-mul:0 fp2-mul:0 msm-g1:10 msm-g1:10:65536 msm-g1:9:3 msm-g2:9 subset-g1:11 ntt:11 ntt:14 ntt-inverse:15:1 h:13 h:14:1 spmv:12 witness-expand:13
               decode-g1:10 check-g1:9"
        for tool in memcheck racecheck; do
            run "$tool" "${SANITIZE_LIMIT:-200}" compute-sanitizer --tool $tool --error-exitcode 9 \
                "${BENCH[@]}" --plugin "$PLUGIN" --repeat 1 $small
        done
        ;;
    ncu)
        run ncu 200 ncu --clock-control none --set full -k "${KERNEL:-regex:round_}" --launch-count "${LAUNCHES:-4}" \
            --page details "${BENCH[@]}" --plugin "$PLUGIN" --repeat 1 ${ROWS:-msm-g1:22}
        ;;
    *)
        echo "unknown part $part"
        failed=1
        ;;
    esac
done
exit $failed
