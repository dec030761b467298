// Element by element arithmetic, for tests and conversions.
#pragma once
#include "context.cuh"

namespace gpu
{
// r[i] = a[i] op b[i]; device memory, limbs as in cuzk/types.h.
cuzk_status fields_fr(context &c, cuzk_field_op op, uint4 *r, const uint4 *a, const uint4 *b, size_t n);
cuzk_status fields_fp(context &c, cuzk_field_op op, uint4 *r, const uint4 *a, const uint4 *b, size_t n);
cuzk_status fields_fp2(context &c, cuzk_field_op op, uint4 *r, const uint4 *a, const uint4 *b, size_t n);
// Montgomery form to canonical integers; out may be x.
cuzk_status fields_to_scalars(context &c, uint4 *out, const uint4 *x, size_t n);
} // namespace gpu
