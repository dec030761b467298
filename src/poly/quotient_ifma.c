/* The transforms in natural order and the quotient by six transforms (see quotient.c), with AVX-512 IFMA. All
 * scalings ride along with the transforms. */
#include "field/fr52.h"
#include "poly/poly_private.h"

#define TILE 8

typedef struct turn_job {
    fr *a;
    size_t tiles, squares; /* tiles along a square; squares side by side */
} turn_job;

static void turn_load(fr tile[TILE][TILE], const fr *a, size_t stride)
{
    for (size_t i = 0; i < TILE; i++)
        memcpy(tile[i], a + i * stride, sizeof tile[i]);
}

static void turn_store(fr *a, size_t stride, fr tile[TILE][TILE])
{
    for (size_t i = 0; i < TILE; i++)
        for (size_t j = 0; j < TILE; j += 2) {
            v8 x = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)&tile[j][i]));
            x = _mm512_inserti64x4(x, _mm256_loadu_si256((const __m256i *)&tile[j + 1][i]), 1);
            _mm512_storeu_si512(a + i * stride + j, x);
        }
}

/* Tiles first .. end - 1 of all, row by row, each with the one across the diagonal. */
static void turn_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    const turn_job *t = ctx;
    size_t n = t->tiles, stride = TILE * n * t->squares;
    fr one[TILE][TILE], other[TILE][TILE];
    (void)worker;
    for (size_t k = first; k < end; k++) {
        size_t i = k / n % n, j = k % n;
        fr *a = t->a + k / (n * n) * TILE * n, *here = a + TILE * (i * stride + j),
           *there = a + TILE * (j * stride + i);
        if (j < i)
            continue;
        turn_load(one, here, stride);
        if (i < j) {
            turn_load(other, there, stride);
            for (size_t l = TILE; j + 1 < n && l < 2 * TILE; l++)
                for (size_t byte = 0; byte < sizeof one[0]; byte += 64)
                    __builtin_prefetch((const char *)(there + l * stride) + byte, 1);
            turn_store(here, stride, other);
        }
        turn_store(there, stride, one);
    }
}

/* Turns the squares of C times C numbers, one or two, that ntt_ifma.c leaves. */
void ntt_turn_ifma(const domain *d, fr *a, pool *p)
{
    turn_job t = {a, ((size_t)1 << d->log_n / 2) / TILE, (size_t)1 << d->log_n % 2};
    pool_for_range_until(p, pool_watched(p), t.squares * t.tiles * t.tiles, 64, turn_range, &t);
}

cuzk_status ntt_ifma(const domain *d, fr *a, ntt_direction dir, int coset, pool *p, cuzk_error *err)
{
    cuzk_status st = dir == NTT_FORWARD ? ntt_nr_forward_ifma(d, a, coset, 1, p, err)
                                        : ntt_nr_inverse_ifma(d, a, &d->n_inv, coset, 1, p, err);
    if (!st)
        ntt_turn_ifma(d, a, p);
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
    if ((st = ntt_nr_inverse_ifma(d, a, &d->n_inv, 0, 0, p, err)) ||
        (st = ntt_rn_forward_ifma(d, a, 1, p, err)) ||
        (st = ntt_nr_inverse_ifma(d, b, &d->n_inv, 0, 0, p, err)) ||
        (st = ntt_rn_forward_ifma(d, b, 1, p, err)))
        return st;
    pool_for_range_until(p, pool_watched(p), n / 8, 512, product_range, &(pointwise){a, b, a});
    if ((st = ntt_nr_inverse_ifma(d, a, &factor, 1, 1, p, err)) ||
        (st = ntt_nr_inverse_ifma(d, extra, &factor, 0, 1, p, err)))
        return st;
    pool_for_range_until(p, pool_watched(p), n / 8, 512, difference_range, &(pointwise){a, extra, a});
    ntt_turn_ifma(d, a, p);
    return CUZK_OK;
}
