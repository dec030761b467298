/* The portable sums of G2. */
#include "curve/as_g2.h"

#include "msm/reduce_impl.h"

#include "msm/subset_impl.h"

#include "msm/pippenger_impl.h"

cuzk_status msm_g2_portable(g2 *out, const g2_affine *bases, const uint32_t *index, const scalar *k, size_t n,
                            pool *p, const cancel_token *cancel, cuzk_error *err)
{
    return pippenger(out, bases, index, k, n, p, cancel, err);
}

cuzk_status msm_g2_subset_portable(g2 *out, const g2_affine *bases, const uint64_t *bits, size_t n, pool *p,
                                   const cancel_token *cancel, cuzk_error *err)
{
    return subset(out, bases, bits, n, p, cancel, err);
}
