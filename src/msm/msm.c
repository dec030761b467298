/* The public sums: choice of the form for this processor. The vector forms share one inversion between up to
 * 2560 additions; below some hundred terms the scalar ones are faster. */
#include "base/cpu.h"
#include "msm/msm_private.h"

#define IFMA_TERMS  150
#define IFMA_SUBSET 4096

static int ifma(size_t n, size_t least)
{
#if defined(__x86_64__)
    return n >= least && cpu_get()->ifma;
#else
    (void)n, (void)least;
    return 0;
#endif
}

cuzk_status msm_g1(g1 *out, const g1_affine *bases, const uint32_t *index, const scalar *k, size_t n, pool *p,
                   const cancel_token *cancel, cuzk_error *err)
{
    return (ifma(n, IFMA_TERMS) ? msm_g1_ifma : msm_g1_portable)(out, bases, index, k, n, p, cancel, err);
}

cuzk_status msm_g2(g2 *out, const g2_affine *bases, const uint32_t *index, const scalar *k, size_t n, pool *p,
                   const cancel_token *cancel, cuzk_error *err)
{
    return (ifma(n, IFMA_TERMS) ? msm_g2_ifma : msm_g2_portable)(out, bases, index, k, n, p, cancel, err);
}

cuzk_status msm_g1_subset(g1 *out, const g1_affine *bases, const uint64_t *bits, size_t n, pool *p,
                          const cancel_token *cancel, cuzk_error *err)
{
    return (ifma(n, IFMA_SUBSET) ? msm_g1_subset_ifma : msm_g1_subset_portable)(out, bases, bits, n, p,
                                                                                cancel, err);
}

cuzk_status msm_g2_subset(g2 *out, const g2_affine *bases, const uint64_t *bits, size_t n, pool *p,
                          const cancel_token *cancel, cuzk_error *err)
{
    return (ifma(n, IFMA_SUBSET) ? msm_g2_subset_ifma : msm_g2_subset_portable)(out, bases, bits, n, p,
                                                                                cancel, err);
}
