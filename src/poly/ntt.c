/* The scalar transform, in place, on a pool: the levels are cut into passes of at most PASS_LOG; a pass
 * copies some neighbouring columns of a block into a buffer that fits the second-level cache, runs its levels
 * there and writes them back. The last pass (the first one backwards) works on contiguous rows where they
 * lie. */
#include "base/mem.h"
#include "poly/poly_private.h"

#define PASS_LOG 11 /* rows of a pass: 2^11 */
#define COLUMNS  4  /* 128 bytes of neighbours: two cache lines */

/* Constant of block i: w^rev(i), or its inverse up to sign. Entries 2^m .. 2^(m+1) - 1 read backwards are the
 * negated inverses, so that one table serves both directions; entry 0 is 1 in both. */
static inline const fr *constant(const fr *twiddle, size_t i, ntt_direction dir)
{
    if (dir == NTT_FORWARD || i < 2)
        return &twiddle[i];
    return &twiddle[i ^ (((size_t)1 << (63 - __builtin_clzll(i))) - 1)];
}

static inline void butterfly_ct(fr *x, fr *y, const fr *w, int negated)
{
    fr t;
    fr_mul(&t, y, w);
    if (negated) {
        fr_add(y, x, &t);
        fr_sub(x, x, &t);
    } else {
        fr_sub(y, x, &t);
        fr_add(x, x, &t);
    }
}

static inline void butterfly_gs(fr *x, fr *y, const fr *w, int negated)
{
    fr t;
    if (negated)
        fr_sub(&t, y, x);
    else
        fr_sub(&t, x, y);
    fr_add(x, x, y);
    fr_mul(y, &t, w);
}

/* The levels of a pass on `rows` rows of `width` elements; block: index of the whole among the blocks of its
 * level. */
static void levels_nr(fr *x, size_t rows, size_t width, size_t block, const fr *twiddle, ntt_direction dir)
{
    size_t half = rows * width / 2;
    for (size_t count = 1; count < rows; count *= 2, half /= 2, block *= 2) {
        fr *lo = x;
        for (size_t i = 0; i < count; i++, lo += 2 * half) {
            size_t k = block + i;
            if (!k) {
                for (size_t j = 0; j < half; j++) {
                    fr t = lo[j + half];
                    fr_sub(&lo[j + half], &lo[j], &t);
                    fr_add(&lo[j], &lo[j], &t);
                }
                continue;
            }
            const fr *w = constant(twiddle, k, dir);
            for (size_t j = 0; j < half; j++)
                butterfly_ct(&lo[j], &lo[j + half], w, dir == NTT_INVERSE);
        }
    }
}

static void levels_rn(fr *x, size_t rows, size_t width, size_t block, const fr *twiddle, ntt_direction dir)
{
    size_t half = width;
    for (size_t count = rows / 2; count; count /= 2, half *= 2) {
        fr *lo = x;
        for (size_t i = 0; i < count; i++, lo += 2 * half) {
            size_t k = block * count + i;
            if (!k) {
                for (size_t j = 0; j < half; j++) {
                    fr t = lo[j + half];
                    fr_sub(&lo[j + half], &lo[j], &t);
                    fr_add(&lo[j], &lo[j], &t);
                }
                continue;
            }
            const fr *w = constant(twiddle, k, dir);
            for (size_t j = 0; j < half; j++)
                butterfly_gs(&lo[j], &lo[j + half], w, dir == NTT_INVERSE);
        }
    }
}

typedef struct pass {
    const domain *d;
    fr *a, *buffers;
    ntt_direction dir;
    int backwards;
    size_t rows, stride; /* rows of a column, distance between them; blocks of rows * stride elements */
    size_t groups;       /* column groups of a block */
    size_t width;        /* columns of a group */
} pass;

static void pass_run(void *ctx, size_t first, size_t end, unsigned worker)
{
    const pass *s = ctx;
    void (*levels)(fr *, size_t, size_t, size_t, const fr *, ntt_direction) =
        s->backwards ? levels_rn : levels_nr;
    fr *buffer = s->buffers ? s->buffers + worker * s->rows * COLUMNS : NULL;
    for (size_t task = first; task < end; task++) {
        size_t block = task / s->groups, group = task % s->groups;
        fr *x = s->a + block * s->rows * s->stride + group * s->width;
        if (s->stride == s->width) {
            levels(x, s->rows, s->width, block, s->d->twiddle, s->dir);
            continue;
        }
        for (size_t i = 0; i < s->rows; i++)
            memcpy(buffer + i * COLUMNS, x + i * s->stride, COLUMNS * sizeof(fr));
        levels(buffer, s->rows, COLUMNS, block, s->d->twiddle, s->dir);
        for (size_t i = 0; i < s->rows; i++)
            memcpy(x + i * s->stride, buffer + i * COLUMNS, COLUMNS * sizeof(fr));
    }
}

static cuzk_status transform(const domain *d, fr *a, ntt_direction dir, int backwards, pool *p,
                             cuzk_error *err)
{
    unsigned log_n = d->log_n, passes = (log_n + PASS_LOG - 1) / PASS_LOG;
    size_t bytes = pool_size(p) * ((size_t)COLUMNS << PASS_LOG) * sizeof(fr);
    fr *buffers = NULL;
    if (!log_n)
        return CUZK_OK;
    if (passes > 1 && !(buffers = big_alloc(bytes)))
        return mem_error(err, bytes, "the buffers of a transform");
    for (unsigned i = 0; i < passes; i++) {
        unsigned k = backwards ? passes - 1 - i : i;
        unsigned from = log_n * k / passes, to = log_n * (k + 1) / passes; /* levels of this pass */
        pass s = {d, a, buffers, dir, backwards, (size_t)1 << (to - from), (size_t)1 << (log_n - to)};
        s.width = s.stride < COLUMNS ? s.stride : COLUMNS;
        s.groups = s.stride / s.width;
        pool_for_range(p, ((size_t)1 << from) * s.groups, 1, pass_run, &s);
    }
    if (buffers)
        big_free(buffers, bytes);
    return CUZK_OK;
}

cuzk_status ntt_nr_portable(const domain *d, fr *a, ntt_direction dir, pool *p, cuzk_error *err)
{
    return transform(d, a, dir, 0, p, err);
}

cuzk_status ntt_rn_portable(const domain *d, fr *a, ntt_direction dir, pool *p, cuzk_error *err)
{
    return transform(d, a, dir, 1, p, err);
}

cuzk_status ntt_portable(const domain *d, fr *a, ntt_direction dir, int coset, pool *p, cuzk_error *err)
{
    if (coset && dir == NTT_FORWARD)
        scale_powers(a, d->log_n, &FR_ONE, &d->coset, 0, p);
    cuzk_status st = ntt_nr_portable(d, a, dir, p, err);
    if (st)
        return st;
    bit_reverse(a, d->log_n, p);
    if (dir == NTT_INVERSE)
        scale_powers(a, d->log_n, &d->n_inv, coset ? &d->coset_inv : &FR_ONE, 0, p);
    return CUZK_OK;
}
