/* Multiples of one base (setup), beside a sample of blst's multiplications. */
#include "base/mem.h"
#include "bench.h"

#define SHARE 64

typedef struct fixed_state {
    size_t n, bytes;
    fr *k;
    void *points;
    int wrong; /* multiples that blst sees otherwise */
} fixed_state;

static void fixed_clear(bench_run *r)
{
    fixed_state *s = r->state;
    if (!s)
        return;
    if (s->k)
        big_free(s->k, s->n * sizeof *s->k);
    if (s->points)
        big_free(s->points, s->bytes);
    mem_free(s);
}

static cuzk_status fixed_prepare(bench_run *r, size_t point, cuzk_error *err)
{
    fixed_state *s = r->state = mem_calloc(1, sizeof *s);
    if (!s)
        return mem_error(err, sizeof *s, "a benchmark");
    s->n = (size_t)1 << r->size;
    s->bytes = s->n * point;
    s->k = big_alloc(s->n * sizeof *s->k);
    s->points = big_alloc(s->bytes);
    if (!s->k || !s->points)
        return mem_error(err, s->bytes, "a benchmark");
    bench_scalars((scalar *)s->k, s->n, 0, 0); /* any canonical value is a Montgomery form too */
    return CUZK_OK;
}

static int fixed_compare(bench_run *r)
{
    return ((fixed_state *)r->state)->wrong;
}

static const unsigned FIXED_SIZES[] = {18, 0}, FIXED_QUICK[] = {14, 0};

#define FIXED(G, BLST, NAME)                                                                                 \
    static cuzk_status G##_prepare(bench_run *r, cuzk_error *err)                                            \
    {                                                                                                        \
        return fixed_prepare(r, sizeof(G##_affine), err);                                                    \
    }                                                                                                        \
    static cuzk_status G##_run(bench_run *r, cuzk_error *err)                                                \
    {                                                                                                        \
        fixed_state *s = r->state;                                                                           \
        G##_affine base;                                                                                     \
        G##_to_affine(&base, BLST##_generator());                                                            \
        return G##_fixed_base_many(s->points, &base, s->k, s->n, r->b->pool, err);                           \
    }                                                                                                        \
    static cuzk_status G##_reference(bench_run *r, cuzk_error *err)                                          \
    {                                                                                                        \
        fixed_state *s = r->state;                                                                           \
        (void)err;                                                                                           \
        s->wrong = 0;                                                                                        \
        for (size_t i = 0; i < s->n; i += SHARE) {                                                           \
            scalar k;                                                                                        \
            G p;                                                                                             \
            G##_affine a;                                                                                    \
            fr_to_scalar(&k, &s->k[i]);                                                                      \
            G##_mul(&p, BLST##_generator(), &k);                                                             \
            G##_to_affine(&a, &p);                                                                           \
            s->wrong += !!memcmp(&a, (G##_affine *)s->points + i, sizeof a);                                 \
        }                                                                                                    \
        return CUZK_OK;                                                                                      \
    }                                                                                                        \
    const bench_row NAME = {                                                                                 \
        .name = "fixed-" #G,                                                                                 \
        .what = "2^size affine multiples of one point, table included",                                      \
        .sizes = FIXED_SIZES,                                                                                \
        .sizes_quick = FIXED_QUICK,                                                                          \
        .reference_name = "blst, one thread, from 1/64",                                                     \
        .prepare = G##_prepare,                                                                              \
        .run = G##_run,                                                                                      \
        .reference = G##_reference,                                                                          \
        .reference_share = SHARE,                                                                            \
        .compare = fixed_compare,                                                                            \
        .clear = fixed_clear,                                                                                \
    }

FIXED(g1, blst_p1, BENCH_FIXED_G1);
FIXED(g2, blst_p2, BENCH_FIXED_G2);
