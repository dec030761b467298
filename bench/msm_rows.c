/* Sums of points, beside blst's Pippenger on one thread. */
#include "base/clock.h"
#include "base/mem.h"
#include "bench.h"
#include "msm/msm.h"

typedef struct msm_state {
    size_t n;
    scalar *k;
    uint64_t *bits; /* the scalars' lowest bits, for a subset */
    limb_t *scratch;
    g1 g1_sum, g1_reference;
    g2 g2_sum, g2_reference;
} msm_state;

static void msm_clear(bench_run *r)
{
    msm_state *s = r->state;
    if (!s)
        return;
    if (s->k)
        big_free(s->k, s->n * sizeof *s->k);
    mem_free(s->bits);
    mem_free(s->scratch);
    mem_free(s);
}

static cuzk_status prepare(bench_run *r, unsigned ones, unsigned zeros, size_t scratch, cuzk_error *err)
{
    msm_state *s = r->state = mem_calloc(1, sizeof *s);
    if (!s)
        return mem_error(err, sizeof *s, "a benchmark");
    s->n = (size_t)1 << r->size;
    s->k = big_alloc(s->n * sizeof *s->k);
    s->bits = mem_calloc(s->n / 64 + 1, sizeof *s->bits);
    s->scratch = mem_alloc(scratch);
    if (!s->k || !s->bits || !s->scratch)
        return mem_error(err, s->n * sizeof *s->k + scratch, "a benchmark");
    bench_scalars(s->k, s->n, ones, zeros);
    return CUZK_OK;
}

#define SUM(G, BLST)                                                                                         \
    static cuzk_status G##_run(bench_run *r, cuzk_error *err)                                                \
    {                                                                                                        \
        msm_state *s = r->state;                                                                             \
        return msm_##G(&s->G##_sum, r->b->G##_points, NULL, s->k, s->n, r->b->pool, NULL, err);              \
    }                                                                                                        \
    static cuzk_status G##_reference(bench_run *r, cuzk_error *err)                                          \
    {                                                                                                        \
        msm_state *s = r->state;                                                                             \
        const BLST##_affine *points[2] = {r->b->G##_points, NULL};                                           \
        const byte *scalars[2] = {(const byte *)s->k, NULL};                                                 \
        (void)err;                                                                                           \
        BLST##s_mult_pippenger(&s->G##_reference, points, s->n, scalars, 255, s->scratch);                   \
        return CUZK_OK;                                                                                      \
    }                                                                                                        \
    static int G##_compare(bench_run *r)                                                                     \
    {                                                                                                        \
        msm_state *s = r->state;                                                                             \
        return !BLST##_is_equal(&s->G##_sum, &s->G##_reference);                                             \
    }                                                                                                        \
    static cuzk_status G##_prepare_kind(bench_run *r, unsigned ones, unsigned zeros, cuzk_error *err)        \
    {                                                                                                        \
        size_t n = (size_t)1 << r->size;                                                                     \
        cuzk_status st = prepare(r, ones, zeros, BLST##s_mult_pippenger_scratch_sizeof(n), err);             \
        return st ? st : bench_##G##_points(r->b, n, err);                                                   \
    }                                                                                                        \
    static cuzk_status G##_prepare(bench_run *r, cuzk_error *err)                                            \
    {                                                                                                        \
        return G##_prepare_kind(r, 0, 0, err);                                                               \
    }

SUM(g1, blst_p1)
SUM(g2, blst_p2)

/* As in a PoRep: bits, and 1.5 % wide scalars. */
static cuzk_status g1_prepare_sparse(bench_run *r, cuzk_error *err)
{
    return g1_prepare_kind(r, 485, 500, err);
}

static cuzk_status subset_prepare(bench_run *r, cuzk_error *err)
{
    cuzk_status st = g1_prepare_kind(r, 500, 500, err);
    msm_state *s = r->state;
    for (size_t i = 0; !st && i < s->n; i++)
        s->bits[i / 64] |= s->k[i].l[0] << i % 64;
    return st;
}

static cuzk_status subset_run(bench_run *r, cuzk_error *err)
{
    msm_state *s = r->state;
    return msm_g1_subset(&s->g1_sum, r->b->g1_points, s->bits, s->n, r->b->pool, NULL, err);
}

static const unsigned G1_SIZES[] = {16, 18, 20, 0}, G1_QUICK[] = {14, 0}, LARGE[] = {20, 0},
                      LARGE_QUICK[] = {16, 0}, G2_SIZES[] = {14, 16, 18, 0}, G2_QUICK[] = {12, 0};

const bench_row BENCH_MSM_G1 = {
    .name = "msm-g1",
    .what = "sum of 2^size wide scalars in G1",
    .sizes = G1_SIZES,
    .sizes_quick = G1_QUICK,
    .reference_name = "blst, one thread",
    .prepare = g1_prepare,
    .run = g1_run,
    .reference = g1_reference,
    .compare = g1_compare,
    .clear = msm_clear,
};

const bench_row BENCH_MSM_G1_SPARSE = {
    .name = "msm-g1-sparse",
    .what = "sum of 2^size scalars in G1, 98.5 % of them 0 or 1",
    .sizes = LARGE,
    .sizes_quick = LARGE_QUICK,
    .reference_name = "blst, one thread",
    .prepare = g1_prepare_sparse,
    .run = g1_run,
    .reference = g1_reference,
    .compare = g1_compare,
    .clear = msm_clear,
};

const bench_row BENCH_MSM_G1_SUBSET = {
    .name = "msm-g1-subset",
    .what = "sum of half of 2^size points in G1",
    .sizes = LARGE,
    .sizes_quick = LARGE_QUICK,
    .reference_name = "blst, one thread",
    .prepare = subset_prepare,
    .run = subset_run,
    .reference = g1_reference,
    .compare = g1_compare,
    .clear = msm_clear,
};

const bench_row BENCH_MSM_G2 = {
    .name = "msm-g2",
    .what = "sum of 2^size wide scalars in G2",
    .sizes = G2_SIZES,
    .sizes_quick = G2_QUICK,
    .reference_name = "blst, one thread",
    .prepare = g2_prepare,
    .run = g2_run,
    .reference = g2_reference,
    .compare = g2_compare,
    .clear = msm_clear,
};

/* T. Quick runs measure a sum of 2^16 and scale it by the ratio of the window sums, which is off by some per
 * cent. */
cuzk_status bench_unit(bench *b, double *ms, cuzk_error *err)
{
    bench_run r = {.b = b, .row = &BENCH_MSM_G1, .size = b->quick ? 15 : 18};
    cuzk_status st = g1_prepare(&r, err);
    *ms = 0;
    for (int i = 0; !st && i < 2; i++) {
        uint64_t start = clock_ns();
        st = g1_reference(&r, err);
        double t = (double)(clock_ns() - start) / 1e6;
        if (!i || t < *ms)
            *ms = t;
    }
    if (b->quick)
        *ms *= 6.6;
    msm_clear(&r);
    return st;
}
