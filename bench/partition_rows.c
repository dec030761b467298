/* The sums of a PoRep partition's proof for circuits whose parameters this machine has not got: every query
 * is a table of points over and over again, which costs what the real ones cost, and the sums are not
 * checked. Sizes are the logarithm of the sector's bytes. */
#include "base/encode.h"
#include "base/mem.h"
#include "prove_state.h"
#include <stdio.h>
#include <sys/mman.h>

#define TABLE_G1 ((size_t)1 << 14)
#define TABLE_G2 ((size_t)1 << 12)

static cuzk_status make_tables(bench_run *r, cuzk_error *err)
{
    prove_state *s = r->state;
    cuzk_status st = bench_g1_points(r->b, TABLE_G1, err);
    if (!st)
        st = bench_g2_points(r->b, TABLE_G2, err);
    s->g1 = mem_alloc(TABLE_G1 * 96);
    s->g2 = mem_alloc(TABLE_G2 * 192);
    if (!st && (!s->g1 || !s->g2))
        st = mem_error(err, TABLE_G1 * 96, "a table of points");
    for (size_t i = 0; !st && i < TABLE_G1; i++)
        g1_encode(s->g1 + 96 * i, &r->b->g1_points[i]);
    for (size_t i = 0; !st && i < TABLE_G2; i++)
        g2_encode(s->g2 + 192 * i, &r->b->g2_points[i]);
    return st;
}

static cuzk_status read_table(void *ctx, void *dst, const uint8_t *src, size_t size, cuzk_error *err)
{
    const prove_state *s = ctx;
    size_t at = (size_t)(src - s->space);
    int is_g2 = at >= s->g2_at;
    size_t table = is_g2 ? TABLE_G2 * 192 : TABLE_G1 * 96;
    const uint8_t *from = is_g2 ? s->g2 : s->g1;
    uint8_t *to = dst;
    (void)err;
    at = (is_g2 ? at - s->g2_at : at) % table;
    while (size) {
        size_t n = size < table - at ? size : table - at;
        memcpy(to, from + at, n);
        to += n;
        size -= n;
        at = 0;
    }
    return CUZK_OK;
}

static cuzk_status lay_out(prove_state *s, cuzk_query_view *q, cuzk_error *err)
{
    r1cs_counts n;
    r1cs_get_counts(s->r, &n);
    uint64_t rows = 1;
    while (rows < n.constraints)
        rows *= 2;
    *q = (cuzk_query_view){.h_count = rows - 1,
                           .l_count = n.aux,
                           .a_count = n.inputs + n.a_aux_density,
                           .b_g1_count = n.b_input_density + n.b_aux_density,
                           .read = read_table,
                           .read_ctx = s};
    q->b_g2_count = q->b_g1_count;
    s->g2_at = 96 * (q->h_count + q->l_count + q->a_count + q->b_g1_count);
    s->space_bytes = s->g2_at + 192 * q->b_g2_count;
    s->space = mmap(NULL, s->space_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (s->space == MAP_FAILED) {
        s->space = NULL;
        return mem_error(err, s->space_bytes, "addresses of a synthetic SRS");
    }
    q->h = s->space;
    q->l = q->h + 96 * q->h_count;
    q->a = q->l + 96 * q->l_count;
    q->b_g1 = q->a + 96 * q->a_count;
    q->b_g2 = s->space + s->g2_at;
    return CUZK_OK;
}

static cuzk_status prepare_partition_as(bench_run *r, int stream, cuzk_error *err)
{
    cuzk_query_view q;
    cuzk_status st = prove_prepare_circuit(r, CIRCUIT_POREP, err);
    prove_state *s = r->state;
    if (!st)
        st = prove_porep_witness(r, err);
    if (!st)
        st = make_tables(r, err);
    if (!st)
        st = r1cs_view(s->r, &s->view, err);
    if (!st)
        st = lay_out(s, &q, err);
    if (!st)
        st = prove_open_device(r, stream, err);
    return st ? st : cuzk_backend_cpu()->key_load(s->device, &s->key, &s->view, &q, NULL, 0, err);
}

static cuzk_status prepare_partition(bench_run *r, cuzk_error *err)
{
    return prepare_partition_as(r, 0, err);
}

static cuzk_status prepare_streamed(bench_run *r, cuzk_error *err)
{
    return prepare_partition_as(r, 1, err);
}

static cuzk_status partition_run(bench_run *r, cuzk_error *err)
{
    prove_state *s = r->state;
    cuzk_device_times t;
    cuzk_witness_view w = witness_view(&s->w);
    cuzk_status st = cuzk_backend_cpu()->prove_batch(s->key, &w, 1, &s->sums, &t, NULL, NULL, err);
    if (!st)
        snprintf(r->note, sizeof(r->note),
                 "multiply %.0f, quotient %.0f, h %.0f, l %.0f, a %.0f, b_g1 %.0f, b_g2 %.0f", t.spmv,
                 t.quotient, t.msm_h, t.msm_l, t.msm_a, t.msm_b_g1, t.msm_b_g2);
    return st;
}

static const unsigned SMALL[] = {11, 0}, ALL[] = {11, 29, 35, 0};

const bench_row BENCH_PARTITION = {
    .name = "partition",
    .what = "the sums of a PoRep partition's proof, synthetic SRS kept in memory, log2 of the sector's bytes",
    .sizes = ALL,
    .sizes_quick = SMALL,
    .prepare = prepare_partition,
    .run = partition_run,
    .clear = prove_clear,
};

const bench_row BENCH_PARTITION_STREAMED = {
    .name = "partition-streamed",
    .what = "the same, nothing of the SRS kept in memory",
    .sizes = ALL,
    .sizes_quick = SMALL,
    .prepare = prepare_streamed,
    .run = partition_run,
    .clear = prove_clear,
};
