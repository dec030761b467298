/* The public sums: choice of the form for this processor. */
#include "msm/msm_private.h"

cuzk_status msm_g1(g1 *out, const g1_affine *bases, const uint32_t *index, const scalar *k, size_t n, pool *p,
                   const cancel_token *cancel, cuzk_error *err)
{
    return msm_g1_portable(out, bases, index, k, n, p, cancel, err);
}

cuzk_status msm_g2(g2 *out, const g2_affine *bases, const uint32_t *index, const scalar *k, size_t n, pool *p,
                   const cancel_token *cancel, cuzk_error *err)
{
    return msm_g2_portable(out, bases, index, k, n, p, cancel, err);
}

cuzk_status msm_g1_subset(g1 *out, const g1_affine *bases, const uint64_t *bits, size_t n, pool *p,
                          const cancel_token *cancel, cuzk_error *err)
{
    return msm_g1_subset_portable(out, bases, bits, n, p, cancel, err);
}

cuzk_status msm_g2_subset(g2 *out, const g2_affine *bases, const uint64_t *bits, size_t n, pool *p,
                          const cancel_token *cancel, cuzk_error *err)
{
    return msm_g2_subset_portable(out, bases, bits, n, p, cancel, err);
}
