/* The scalar transform, in place, on a pool: the levels are cut into passes of at most PASS_LOG; a pass
 * copies some neighbouring columns of a block into a buffer that fits the second-level cache, runs its levels
 * there and writes them back. The last pass (the first one backwards) works on contiguous rows where they
 * lie. */
#include "base/cpu.h"
#include "base/mem.h"
#include "poly/poly_private.h"

#define PASS_LOG 11 /* rows of a pass: 2^11 */
#define COLUMNS  4  /* 128 bytes of neighbours: two cache lines */

typedef struct pass {
    const fr *twiddle;
    fr *a, *buffers;
    ntt_direction dir;
    ntt_levels_fn *levels;
    size_t rows, stride; /* rows of a column, distance between them; blocks of rows * stride elements */
    size_t groups;       /* column groups of a block */
    size_t width;        /* columns of a group */
} pass;

static void pass_run(void *ctx, size_t first, size_t end, unsigned worker)
{
    const pass *s = ctx;
    fr *buffer = s->buffers ? s->buffers + worker * s->rows * COLUMNS : NULL;
    for (size_t task = first; task < end; task++) {
        size_t block = task / s->groups, group = task % s->groups;
        fr *x = s->a + block * s->rows * s->stride + group * s->width;
        if (s->stride == s->width) {
            s->levels(x, s->rows, s->width, block, s->twiddle, s->dir);
            continue;
        }
        for (size_t i = 0; i < s->rows; i++)
            memcpy(buffer + i * COLUMNS, x + i * s->stride, COLUMNS * sizeof(fr));
        s->levels(buffer, s->rows, COLUMNS, block, s->twiddle, s->dir);
        for (size_t i = 0; i < s->rows; i++)
            memcpy(x + i * s->stride, buffer + i * COLUMNS, COLUMNS * sizeof(fr));
    }
}

static ntt_levels_fn *choose_levels(int backwards)
{
#ifdef FR_ADX
    if (cpu_get()->adx && cpu_get()->bmi2)
        return backwards ? levels_rn_adx : levels_nr_adx;
#endif
    return backwards ? levels_rn_portable : levels_nr_portable;
}

cuzk_status ntt_passes(const domain *d, fr *a, ntt_direction dir, int backwards, unsigned pass_log, pool *p,
                       cuzk_error *err)
{
    unsigned log_n = d->log_n, passes = (log_n + pass_log - 1) / pass_log;
    size_t bytes = pool_size(p) * ((size_t)COLUMNS << pass_log) * sizeof(fr);
    fr *buffers = NULL;
    if (!log_n)
        return CUZK_OK;
    const fr *twiddle = domain_twiddles(d, p);
    if (!twiddle)
        return mem_error(err, sizeof(fr) << (log_n - 1), "a table of twiddles");
    if (passes > 1 && !(buffers = pool_take(p, bytes)))
        return mem_error(err, bytes, "the buffers of a transform");
    for (unsigned i = 0; i < passes; i++) {
        unsigned k = backwards ? passes - 1 - i : i;
        unsigned from = log_n * k / passes, to = log_n * (k + 1) / passes; /* levels of this pass */
        pass s = {twiddle,
                  a,
                  buffers,
                  dir,
                  choose_levels(backwards),
                  (size_t)1 << (to - from),
                  (size_t)1 << (log_n - to)};
        s.width = s.stride < COLUMNS ? s.stride : COLUMNS;
        s.groups = s.stride / s.width;
        pool_for_range_until(p, pool_watched(p), ((size_t)1 << from) * s.groups, 1, pass_run, &s);
    }
    if (buffers)
        pool_give(p, buffers, bytes);
    return CUZK_OK;
}

cuzk_status ntt_nr_portable(const domain *d, fr *a, ntt_direction dir, pool *p, cuzk_error *err)
{
    return ntt_passes(d, a, dir, 0, PASS_LOG, p, err);
}

cuzk_status ntt_rn_portable(const domain *d, fr *a, ntt_direction dir, pool *p, cuzk_error *err)
{
    return ntt_passes(d, a, dir, 1, PASS_LOG, p, err);
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
