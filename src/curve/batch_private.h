/* The forms of g1_batch_add, which chooses. */
#ifndef CURVE_BATCH_PRIVATE_H
#define CURVE_BATCH_PRIVATE_H
#include "curve/curve.h"
#include "field/fp_adx.h"

void g1_batch_add_portable(g1_affine *const *out, const point_ref *a, const point_ref *b, size_t n,
                           g1_batch *scratch);
#ifdef FP_ADX
void g1_batch_add_adx(g1_affine *const *out, const point_ref *a, const point_ref *b, size_t n,
                      g1_batch *scratch);
#endif
#endif
