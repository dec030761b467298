/* Multiples of one base: choice of the form for this processor. The vector form works on some thousand
 * scalars at a time. */
#include "base/cpu.h"
#include "msm/msm_private.h"

#define IFMA_SCALARS 256

static int ifma(size_t n)
{
#if defined(__x86_64__)
    return n >= IFMA_SCALARS && cpu_get()->ifma;
#else
    (void)n;
    return 0;
#endif
}

cuzk_status g1_fixed_base_many(g1_affine *r, const g1_affine *base, const fr *k, size_t n, pool *p,
                               cuzk_error *err)
{
    return (ifma(n) ? g1_fixed_base_ifma : g1_fixed_base_portable)(r, base, k, n, p, err);
}

cuzk_status g2_fixed_base_many(g2_affine *r, const g2_affine *base, const fr *k, size_t n, pool *p,
                               cuzk_error *err)
{
    return (ifma(n) ? g2_fixed_base_ifma : g2_fixed_base_portable)(r, base, k, n, p, err);
}
