/* Parameters of the test SRS, made by a device into memory. */
#ifndef BENCH_DEVICE_SETUP_H
#define BENCH_DEVICE_SETUP_H
#include "groth16/groth16.h"

/* Cleared by device_params_clear, not by params_close. */
cuzk_status device_params_make(params *out, const r1cs *r, const cuzk_backend *backend, cuzk_device *device,
                               pool *p, cuzk_error *err) CUZK_MUST_CHECK;
void device_params_clear(params *p);
size_t device_params_bytes(const cuzk_query_view *q);
#endif
