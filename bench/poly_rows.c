/* Transforms and the quotient, beside the textbook transform. */
#include "base/mem.h"
#include "bench.h"

typedef struct poly_state {
    size_t n;
    domain *d;
    fr *in[2], *work[3]; /* inputs, and what a run writes on */
    fr *ref;
} poly_state;

static void poly_clear(bench_run *r)
{
    poly_state *s = r->state;
    if (!s)
        return;
    for (int i = 0; i < 3; i++)
        if (s->work[i])
            big_free(s->work[i], s->n * sizeof(fr));
    for (int i = 0; i < 2; i++)
        if (s->in[i])
            big_free(s->in[i], s->n * sizeof(fr));
    if (s->ref)
        big_free(s->ref, s->n * sizeof(fr));
    domain_destroy(s->d);
    mem_free(s);
}

static cuzk_status poly_prepare(bench_run *r, cuzk_error *err)
{
    poly_state *s = r->state = mem_calloc(1, sizeof *s);
    if (!s)
        return mem_error(err, sizeof *s, "a benchmark");
    s->n = (size_t)1 << r->size;
    size_t bytes = s->n * sizeof(fr);
    for (int i = 0; i < 3; i++)
        if (!(s->work[i] = big_alloc(bytes)) || (i < 2 && !(s->in[i] = big_alloc(bytes))))
            return mem_error(err, bytes, "a benchmark");
    if (!(s->ref = big_alloc(bytes)))
        return mem_error(err, bytes, "a benchmark");
    for (int i = 0; i < 2; i++)
        bench_scalars((scalar *)s->in[i], s->n, 0, 0);
    return domain_create(&s->d, r->size, 7, err);
}

static void poly_reset(bench_run *r)
{
    poly_state *s = r->state;
    for (int i = 0; i < 2; i++)
        memcpy(s->work[i], s->in[i], s->n * sizeof(fr));
    memcpy(s->ref, s->in[0], s->n * sizeof(fr));
}

static cuzk_status ntt_run(bench_run *r, cuzk_error *err)
{
    poly_state *s = r->state;
    return ntt_forward(s->d, s->work[0], r->b->pool, err);
}

static cuzk_status ntt_reference(bench_run *r, cuzk_error *err)
{
    poly_state *s = r->state;
    (void)err;
    ntt_forward_ref(s->d, s->ref);
    return CUZK_OK;
}

static int ntt_compare(bench_run *r)
{
    poly_state *s = r->state;
    return memcmp(s->work[0], s->ref, s->n * sizeof(fr));
}

static cuzk_status quotient_run(bench_run *r, cuzk_error *err)
{
    poly_state *s = r->state;
    return quotient(s->d, s->work[0], s->work[1], s->work[2], r->b->pool, err);
}

static const unsigned NTT_SIZES[] = {18, 20, 22, 0}, NTT_QUICK[] = {16, 0}, QUOTIENT_SIZES[] = {20, 0},
                      QUOTIENT_QUICK[] = {16, 0};

const bench_row BENCH_NTT = {
    .name = "ntt",
    .what = "forward transform of 2^size, natural order",
    .sizes = NTT_SIZES,
    .sizes_quick = NTT_QUICK,
    .reference_name = "textbook, one thread",
    .prepare = poly_prepare,
    .reset = poly_reset,
    .run = ntt_run,
    .reference = ntt_reference,
    .compare = ntt_compare,
    .clear = poly_clear,
};

/* Its oracle runs in the unit tests; seven textbook transforms would take most of the time here. */
const bench_row BENCH_QUOTIENT = {
    .name = "quotient",
    .what = "h from a and b, 2^size rows",
    .sizes = QUOTIENT_SIZES,
    .sizes_quick = QUOTIENT_QUICK,
    .prepare = poly_prepare,
    .reset = poly_reset,
    .run = quotient_run,
    .clear = poly_clear,
};
