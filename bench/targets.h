#ifndef BENCH_TARGETS_H
#define BENCH_TARGETS_H
#include "base/json_write.h"
#include "bench.h"
/* Measures every target on this machine and prints it, or appends an object for each to j where that is not
 * NULL. */
cuzk_status bench_targets(bench *b, double unit, json_out *j, cuzk_error *err) CUZK_MUST_CHECK;
#endif
