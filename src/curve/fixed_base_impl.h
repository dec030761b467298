/* k[i] * base for many scalars. Included by g1.c and g2.c.
 *
 * A table holds j * 2^(c w) * base for every window w and 1 <= j <= 2^(c-1); with signed digits a scalar is
 * then one table entry per window, and the sums of some thousand scalars advance together, one batch of
 * affine additions a window. */
#include "base/mem.h"

#define SCALAR_BITS 255
#define TABLE_LIMIT ((size_t)160 << 20)

typedef struct fixed_work { /* one per thread */
    CAT(GROUP, _batch) scratch;
    point_ref a[BATCH_SIZE], b[BATCH_SIZE];
    AFFINE *out[BATCH_SIZE];
    int32_t digit[BATCH_SIZE]; /* of the current window */
    uint8_t carry[BATCH_SIZE];
    scalar k[BATCH_SIZE];
} fixed_work;

typedef struct fixed_job {
    AFFINE *r;
    const fr *k;
    size_t n;
    AFFINE *table; /* [windows][half] */
    unsigned c, windows;
    size_t half;
    JACOBIAN *start; /* 2^(c w) * base */
    fixed_work *work;
    unsigned workers;
} fixed_job;

/* Windows for which table and sums together take the fewest additions, of those whose table stays small. */
static unsigned fixed_window(size_t n)
{
    unsigned best = 2;
    double least = 0;
    for (unsigned c = 2; c <= 16; c++) {
        double windows = SCALAR_BITS / c + 1,
               half = (double)((size_t)1 << (c - 1)); /* a carry may leave the top */
        double cost = windows * ((double)n + half);
        if (windows * half * sizeof(AFFINE) > (double)TABLE_LIMIT)
            break;
        if (c == 2 || cost < least)
            least = cost, best = c;
    }
    return best;
}

/* One window of the table: 1, then 2, then 3..4, 5..8: each step doubles what is there by adding the last
 * entry. */
static void fixed_table_window(void *ctx, size_t w, unsigned worker)
{
    fixed_job *j = ctx;
    fixed_work *s = &j->work[worker];
    AFFINE *t = j->table + w * j->half;
    FN(to_affine)(&t[0], &j->start[w]);
    for (size_t have = 1; have < j->half; have *= 2)
        for (size_t i = 0; i < have;) {
            size_t m = have - i < BATCH_SIZE ? have - i : BATCH_SIZE;
            for (size_t e = 0; e < m; e++) {
                s->a[e] = FN(ref)(&t[i + e], 0);
                s->b[e] = FN(ref)(&t[have - 1], 0);
                s->out[e] = &t[have + i + e];
            }
            FN(batch_add)(s->out, s->a, s->b, m, &s->scratch);
            i += m;
        }
}

static void fixed_digits(fixed_work *s, size_t m, unsigned w, unsigned c)
{
    unsigned bit = w * c, limb = bit / 64, shift = bit % 64;
    for (size_t i = 0; i < m; i++) {
        const uint64_t *l = s->k[i].l;
        uint64_t v = limb < 4 ? l[limb] >> shift : 0;
        if (shift + c > 64 && limb < 3)
            v |= l[limb + 1] << (64 - shift);
        int32_t d = (int32_t)(v & ((1u << c) - 1)) + s->carry[i];
        s->carry[i] = d > (int32_t)(1u << (c - 1));
        s->digit[i] = d - (int32_t)((uint32_t)s->carry[i] << c);
    }
}

static void fixed_piece(void *ctx, size_t task, unsigned worker)
{
    fixed_job *j = ctx;
    fixed_work *s = &j->work[worker];
    size_t first = task * BATCH_SIZE, m = j->n - first < BATCH_SIZE ? j->n - first : BATCH_SIZE;
    AFFINE *r = j->r + first;
    memset(r, 0, m * sizeof *r);
    for (size_t i = 0; i < m; i++)
        fr_to_scalar(&s->k[i], &j->k[first + i]);
    memset(s->carry, 0, m);
    for (unsigned w = 0; w < j->windows; w++) {
        const AFFINE *t = j->table + w * j->half;
        size_t n = 0;
        fixed_digits(s, m, w, j->c);
        for (size_t i = 0; i < m; i++) {
            int32_t d = s->digit[i];
            if (!d)
                continue;
            s->a[n] = FN(ref)(&r[i], 0);
            s->b[n] = FN(ref)(&t[(d < 0 ? -d : d) - 1], d < 0);
            s->out[n++] = &r[i];
        }
        FN(batch_add)(s->out, s->a, s->b, n, &s->scratch);
    }
    mem_wipe(s->k, m * sizeof *s->k); /* toxic waste, in a setup */
}

cuzk_status FN(fixed_base_portable)(AFFINE *r, const AFFINE *base, const fr *k, size_t n, pool *p,
                                    cuzk_error *err)
{
    fixed_job j = {r, k, n, NULL, fixed_window(n), 0, 0, NULL, NULL, pool_size(p)};
    JACOBIAN at, start[SCALAR_BITS / 2 + 1];
    cuzk_status st = CUZK_OK;
    size_t table_bytes, work_bytes = j.workers * sizeof(fixed_work);
    j.windows = SCALAR_BITS / j.c + 1;
    j.half = (size_t)1 << (j.c - 1);
    j.start = start;
    table_bytes = j.windows * j.half * sizeof(AFFINE);
    j.table = big_alloc(table_bytes);
    j.work = big_alloc(work_bytes);
    if (!j.table || !j.work) {
        st = mem_error(err, table_bytes + work_bytes, "a table of multiples");
        goto exit;
    }
    FN(from_affine)(&at, base);
    for (unsigned w = 0; w < j.windows; w++) {
        start[w] = at;
        for (unsigned i = 0; i < j.c; i++)
            BLST(double)(&at, &at);
    }
    pool_for(p, j.windows, fixed_table_window, &j);
    pool_for(p, (n + BATCH_SIZE - 1) / BATCH_SIZE, fixed_piece, &j);
exit:
    if (j.work)
        big_free(j.work, work_bytes);
    if (j.table)
        big_free(j.table, table_bytes);
    return st;
}
