// Measuring operations on inputs made on the device: the optional second symbol of the plug-in, used by
// cuzk-bench device.
#pragma once
#include "context.cuh"

extern "C" {
// Runs operation on 2^log elements, repeat times after a warm-up, and checks the result against what is known
// of the inputs. Operations: copy, upload, fp-mul, fr-mul, fr-mul-rows, fr-mul-split, fp2-mul, ntt,
// ntt-inverse, h, spmv, witness-expand, msm-g1, msm-g2, subset-g1, subset-g2, decode-g1, check-g1, decode-g2,
// check-g2. best, median: milliseconds. note: rates and the outcome of the check.
typedef cuzk_status cuzk_backend_bench_fn(cuzk_device *dev, const char *operation, uint32_t log,
                                          uint32_t variant, uint32_t repeat, double *best, double *median,
                                          char *note, size_t note_size, cuzk_error *err);
}
