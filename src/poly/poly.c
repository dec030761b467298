/* The public transforms: choice of the form for this processor. */
#include "base/cpu.h"
#include "poly/poly_private.h"

static cuzk_status transform(const domain *d, fr *a, ntt_direction dir, int coset, pool *p, cuzk_error *err)
{
    int vector = d->ifma && cpu_get()->ifma;
    return (vector ? ntt_ifma : ntt_portable)(d, a, dir, coset, p, err);
}

cuzk_status ntt_forward(const domain *d, fr *a, pool *p, cuzk_error *err)
{
    return transform(d, a, NTT_FORWARD, 0, p, err);
}

cuzk_status ntt_inverse(const domain *d, fr *a, pool *p, cuzk_error *err)
{
    return transform(d, a, NTT_INVERSE, 0, p, err);
}

cuzk_status ntt_coset_forward(const domain *d, fr *a, pool *p, cuzk_error *err)
{
    return transform(d, a, NTT_FORWARD, 1, p, err);
}

cuzk_status ntt_coset_inverse(const domain *d, fr *a, pool *p, cuzk_error *err)
{
    return transform(d, a, NTT_INVERSE, 1, p, err);
}

cuzk_status quotient(const domain *d, fr *a, fr *b, fr *extra, pool *p, cuzk_error *err)
{
    int vector = d->ifma && cpu_get()->ifma;
    return (vector ? quotient_ifma : quotient_portable)(d, a, b, extra, p, err);
}
