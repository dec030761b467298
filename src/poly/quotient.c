/* The quotient by six transforms. With AB = lo + x^n hi (degrees below n), the interpolation of a*b on the
 * domain is AB mod (x^n - 1) = lo + hi and the product on the coset gives AB mod (x^n - g^n) = lo + g^n hi,
 * hence h = hi = (second - first) / (g^n - 1). Coefficients stay in bit-reversed order until the end. */
#include "poly/poly_private.h"

typedef struct quotient_job {
    fr *a, *b, *r;
} quotient_job;

static void product_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    const quotient_job *j = ctx;
    (void)worker;
    for (size_t i = first; i < end; i++)
        fr_mul(&j->r[i], &j->a[i], &j->b[i]);
}

static void difference_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    const quotient_job *j = ctx;
    (void)worker;
    for (size_t i = first; i < end; i++) {
        fr t;
        fr_sub(&t, &j->a[i], &j->b[i]);
        blst_fr_from(&j->r[i], &t);
    }
}

static cuzk_status to_coset(const domain *d, fr *a, pool *p, cuzk_error *err)
{
    cuzk_status st = ntt_nr_portable(d, a, NTT_INVERSE, p, err);
    if (st)
        return st;
    scale_powers(a, d->log_n, &d->n_inv, &d->coset, 1, p);
    return ntt_rn_portable(d, a, NTT_FORWARD, p, err);
}

cuzk_status quotient_portable(const domain *d, fr *a, fr *b, fr *extra, pool *p, cuzk_error *err)
{
    size_t n = domain_size(d);
    cuzk_status st;
    fr factor;
    pool_for_range_until(p, pool_watched(p), n, 4096, product_range, &(quotient_job){a, b, extra});
    if ((st = to_coset(d, a, p, err)) || (st = to_coset(d, b, p, err)))
        return st;
    pool_for_range_until(p, pool_watched(p), n, 4096, product_range, &(quotient_job){a, b, a});
    if ((st = ntt_nr_portable(d, a, NTT_INVERSE, p, err)) ||
        (st = ntt_nr_portable(d, extra, NTT_INVERSE, p, err)))
        return st;
    fr_mul(&factor, &d->n_inv, &d->vanish_inv);
    scale_powers(a, d->log_n, &factor, &d->coset_inv, 1, p);
    scale_powers(extra, d->log_n, &factor, &FR_ONE, 1, p);
    pool_for_range_until(p, pool_watched(p), n, 4096, difference_range, &(quotient_job){a, extra, a});
    bit_reverse(a, d->log_n, p);
    return CUZK_OK;
}
