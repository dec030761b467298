/* Every row, in the order of the output. */
#include "bench.h"

extern const bench_row BENCH_MSM_G1, BENCH_MSM_G1_SPARSE, BENCH_MSM_G1_SUBSET, BENCH_MSM_G2, BENCH_FIXED_G1,
    BENCH_FIXED_G2, BENCH_NTT, BENCH_QUOTIENT;

const bench_row *const BENCH_ROWS[] = {
    &BENCH_MSM_G1,   &BENCH_MSM_G1_SPARSE, &BENCH_MSM_G1_SUBSET, &BENCH_MSM_G2, &BENCH_FIXED_G1,
    &BENCH_FIXED_G2, &BENCH_NTT,           &BENCH_QUOTIENT,      NULL,
};
