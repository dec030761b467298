/* The public transforms: choice of the form for this processor. */
#include "poly/poly_private.h"

cuzk_status ntt_forward(const domain *d, fr *a, pool *p, cuzk_error *err)
{
    return ntt_portable(d, a, NTT_FORWARD, 0, p, err);
}

cuzk_status ntt_inverse(const domain *d, fr *a, pool *p, cuzk_error *err)
{
    return ntt_portable(d, a, NTT_INVERSE, 0, p, err);
}

cuzk_status ntt_coset_forward(const domain *d, fr *a, pool *p, cuzk_error *err)
{
    return ntt_portable(d, a, NTT_FORWARD, 1, p, err);
}

cuzk_status ntt_coset_inverse(const domain *d, fr *a, pool *p, cuzk_error *err)
{
    return ntt_portable(d, a, NTT_INVERSE, 1, p, err);
}

cuzk_status quotient(const domain *d, fr *a, fr *b, fr *extra, pool *p, cuzk_error *err)
{
    return quotient_portable(d, a, b, extra, p, err);
}
