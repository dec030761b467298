/* Multi-scalar multiplication: sum of scalar * point. Exact for every input: any n including 0, zero and
 * equal scalars, infinite, equal and opposite points. Bases must lie in the r-order subgroup (parameter files
 * are checked where they come from outside), since the fast path splits scalars by the endomorphism.
 *
 * Scalars are canonical (< r); others are taken mod r. index, where not NULL, selects bases: term i uses
 * bases[index[i]]. The result does not depend on the number of threads. */
#ifndef MSM_MSM_H
#define MSM_MSM_H
#include "base/clock.h"
#include "base/pool.h"
#include "curve/curve.h"

cuzk_status msm_g1(g1 *out, const g1_affine *bases, const uint32_t *index, const scalar *k, size_t n, pool *p,
                   const cancel_token *cancel, cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status msm_g2(g2 *out, const g2_affine *bases, const uint32_t *index, const scalar *k, size_t n, pool *p,
                   const cancel_token *cancel, cuzk_error *err) CUZK_MUST_CHECK;
/* Sum of the bases whose bit is set: bit i of the map is bits[i / 64] >> (i % 64) & 1. */
cuzk_status msm_g1_subset(g1 *out, const g1_affine *bases, const uint64_t *bits, size_t n, pool *p,
                          const cancel_token *cancel, cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status msm_g2_subset(g2 *out, const g2_affine *bases, const uint64_t *bits, size_t n, pool *p,
                          const cancel_token *cancel, cuzk_error *err) CUZK_MUST_CHECK;
void msm_g1_ref(g1 *out, const g1_affine *bases, const uint32_t *index, const scalar *k, size_t n);
void msm_g2_ref(g2 *out, const g2_affine *bases, const uint32_t *index, const scalar *k, size_t n);
#endif
