/* The transforms in natural order and the quotient by six transforms (see quotient.c), with AVX-512 IFMA. All
 * scalings ride along with the transforms. */
#include "field/fr52.h"
#include "poly/poly_private.h"

cuzk_status ntt_ifma(const domain *d, fr *a, ntt_direction dir, int coset, pool *p, cuzk_error *err)
{
    cuzk_status st = dir == NTT_FORWARD ? ntt_nr_forward_ifma(d, a, coset, p, err)
                                        : ntt_nr_inverse_ifma(d, a, &d->n_inv, coset, p, err);
    if (!st)
        bit_reverse(a, d->log_n, p);
    return st;
}

typedef struct pointwise {
    const fr *a, *b;
    fr *r;
} pointwise;

/* r = a b: (16 a) b / 2^260 in the radix of blst. */
static void product_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    const pointwise *j = ctx;
    (void)worker;
    for (size_t i = 8 * first; i < 8 * end; i += 8) {
        fr52 a, b;
        fr52_load(&a, &j->a[i]);
        fr52_load(&b, &j->b[i]);
        for (int k = 0; k < 5; k++)
            a.l[k] = _mm512_slli_epi64(a.l[k], 4);
        fr52_carry(&a);
        fr52_mont_mul(&a, &a, &b);
        fr52_canonical(&a);
        fr52_store(&j->r[i], &a);
    }
}

/* r = a - b as plain numbers. */
static void difference_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    const pointwise *j = ctx;
    fr52 plain;
    (void)worker;
    fr52_set1(&plain, FR52_PLAIN);
    for (size_t i = 8 * first; i < 8 * end; i += 8) {
        fr52 a, b;
        fr52_load(&a, &j->a[i]);
        fr52_load(&b, &j->b[i]);
        for (int k = 0; k < 5; k++)
            a.l[k] = V8_ADD(V8_SUB(a.l[k], b.l[k]), v8_set1(FR52_R[k]));
        fr52_carry(&a);
        fr52_mont_mul(&a, &a, &plain);
        fr52_canonical(&a);
        fr52_store(&j->r[i], &a);
    }
}

cuzk_status quotient_ifma(const domain *d, fr *a, fr *b, fr *extra, pool *p, cuzk_error *err)
{
    size_t n = domain_size(d);
    cuzk_status st;
    fr factor;
    fr_mul(&factor, &d->n_inv, &d->vanish_inv);
    pool_for_range_until(p, pool_watched(p), n / 8, 512, product_range, &(pointwise){a, b, extra});
    if ((st = ntt_nr_inverse_ifma(d, a, &d->n_inv, 0, p, err)) ||
        (st = ntt_rn_forward_ifma(d, a, 1, p, err)) ||
        (st = ntt_nr_inverse_ifma(d, b, &d->n_inv, 0, p, err)) || (st = ntt_rn_forward_ifma(d, b, 1, p, err)))
        return st;
    pool_for_range_until(p, pool_watched(p), n / 8, 512, product_range, &(pointwise){a, b, a});
    if ((st = ntt_nr_inverse_ifma(d, a, &factor, 1, p, err)) ||
        (st = ntt_nr_inverse_ifma(d, extra, &factor, 0, p, err)))
        return st;
    pool_for_range_until(p, pool_watched(p), n / 8, 512, difference_range, &(pointwise){a, extra, a});
    bit_reverse(a, d->log_n, p);
    return CUZK_OK;
}
