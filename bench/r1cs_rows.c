/* PoRep's constraint system: compiling it, its digest, the witness of a partition, the products A w and B w,
 * the check of every row. Sizes are the logarithm of the sector's bytes: 11 is 2 KiB, 35 is 32 GiB. Inputs
 * are synthetic. */
#include "api/circuits.h"
#include "base/mem.h"
#include "bench.h"
#include "filecoin/synth.h"
#include "r1cs/row_value.h"
#include <stdio.h>

typedef struct r1cs_state {
    const circuit_info *info;
    const registered_seal *seal;
    poseidon_set *ps;
    porep_c1 *c1;
    r1cs *r;
    r1cs_counts n;
    witness w;
    fr *a, *b, *reference[2];
    uint8_t rows_sha256[32];
} r1cs_state;

static void state_clear(bench_run *r)
{
    r1cs_state *s = r->state;
    if (!s)
        return;
    fr *rows[] = {s->a, s->b, s->reference[0], s->reference[1]};
    for (int i = 0; i < 4; i++)
        if (rows[i])
            big_free(rows[i], s->n.constraints * sizeof(fr));
    witness_clear(&s->w);
    r1cs_destroy(s->r);
    porep_c1_free(s->c1);
    poseidon_set_destroy(s->ps);
    mem_free(s);
    r->state = NULL;
}

static cuzk_status prepare_circuit(bench_run *r, cuzk_error *err)
{
    r1cs_state *s = r->state = mem_calloc(1, sizeof *s);
    if (!s)
        return mem_error(err, sizeof *s, "a benchmark");
    s->info = r->size < 63 ? circuit_find(CIRCUIT_POREP, (uint64_t)1 << r->size) : NULL;
    s->seal = s->info ? seal_find(s->info->sector_size, POREP_V1_1) : NULL;
    if (!s->seal)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "there is no PoRep for sectors of 2^%u bytes",
                              r->size);
    cuzk_status st = poseidon_set_create(&s->ps, err);
    if (!st)
        st = circuit_compile(&s->r, s->info, s->ps, err);
    if (!st)
        r1cs_get_counts(s->r, &s->n);
    return st;
}

static cuzk_status make_witness(r1cs_state *s, pool *p, cuzk_error *err)
{
    witness_clear(&s->w);
    return porep_witness(&s->w, s->r, s->c1, 0, s->ps, p, NULL, err);
}

static cuzk_status prepare_input(bench_run *r, cuzk_error *err)
{
    cuzk_status st = prepare_circuit(r, err);
    r1cs_state *s = r->state;
    if (!st)
        st = synth_porep(&s->c1, s->seal, &SYNTH_DEFAULTS, s->ps, r->b->pool, err);
    return st;
}

static cuzk_status prepare_witness(bench_run *r, cuzk_error *err)
{
    cuzk_status st = prepare_input(r, err);
    return st ? st : make_witness(r->state, r->b->pool, err);
}

static cuzk_status prepare_rows(bench_run *r, cuzk_error *err)
{
    cuzk_status st = prepare_witness(r, err);
    r1cs_state *s = r->state;
    size_t bytes = st ? 0 : s->n.constraints * sizeof(fr);
    if (!st && (!(s->a = big_alloc(bytes)) || !(s->b = big_alloc(bytes)) ||
                !(s->reference[0] = big_alloc(bytes)) || !(s->reference[1] = big_alloc(bytes))))
        st = mem_error(err, 4 * bytes, "a benchmark");
    return st;
}

static cuzk_status compile_run(bench_run *r, cuzk_error *err)
{
    r1cs_state *s = r->state;
    r1cs_destroy(s->r);
    s->r = NULL;
    cuzk_status st = circuit_compile(&s->r, s->info, s->ps, err);
    if (!st)
        snprintf(r->note, sizeof r->note, "%zu MiB", r1cs_memory(s->r) >> 20);
    return st;
}

static cuzk_status digest_run(bench_run *r, cuzk_error *err)
{
    r1cs_state *s = r->state;
    uint64_t bytes = (s->n.nnz_a + s->n.nnz_b + s->n.nnz_c) * 36 + s->n.constraints * 12;
    snprintf(r->note, sizeof r->note, "%llu MB hashed twice", (unsigned long long)(bytes / 1000000));
    return r1cs_digest(s->r, s->rows_sha256, 65536, NULL, NULL, r->b->pool, err);
}

static cuzk_status witness_run(bench_run *r, cuzk_error *err)
{
    r1cs_state *s = r->state;
    cuzk_status st = make_witness(s, r->b->pool, err);
    snprintf(r->note, sizeof r->note, "%llu wires, %.1f MB", (unsigned long long)s->n.aux,
             (double)s->w.bytes / 1e6);
    return st;
}

static void rate(bench_run *r)
{
    r1cs_state *s = r->state;
    snprintf(r->note, sizeof r->note, "%llu rows", (unsigned long long)s->n.constraints);
}

static cuzk_status multiply_run(bench_run *r, cuzk_error *err)
{
    r1cs_state *s = r->state;
    rate(r);
    return r1cs_multiply(s->r, &s->w, s->a, s->b, r->b->pool, err);
}

static cuzk_status multiply_reference(bench_run *r, cuzk_error *err)
{
    r1cs_state *s = r->state;
    (void)err;
    for (int m = 0; m < 2; m++)
        r1cs_multiply_ref(s->r, &s->w, m, s->reference[m]);
    return CUZK_OK;
}

static int multiply_compare(bench_run *r)
{
    r1cs_state *s = r->state;
    size_t bytes = s->n.constraints * sizeof(fr);
    return memcmp(s->a, s->reference[0], bytes) || memcmp(s->b, s->reference[1], bytes);
}

static cuzk_status check_run(bench_run *r, cuzk_error *err)
{
    r1cs_state *s = r->state;
    rate(r);
    return r1cs_check(s->r, &s->w, r->b->pool, err);
}

static const unsigned ALL[] = {11, 29, 35, 0}, SMALL[] = {11, 29, 0}, QUICK[] = {11, 0};

const bench_row BENCH_COMPILE = {
    .name = "compile",
    .what = "compiling PoRep's circuit, log2 of the sector's bytes",
    .sizes = ALL,
    .sizes_quick = QUICK,
    .prepare = prepare_circuit,
    .run = compile_run,
    .clear = state_clear,
};

const bench_row BENCH_DIGEST = {
    .name = "digest",
    .what = "digest of PoRep's rows, log2 of the sector's bytes",
    .sizes = SMALL,
    .sizes_quick = QUICK,
    .prepare = prepare_circuit,
    .run = digest_run,
    .clear = state_clear,
};

const bench_row BENCH_WITNESS = {
    .name = "witness",
    .what = "witness of a PoRep partition, log2 of the sector's bytes",
    .sizes = ALL,
    .sizes_quick = QUICK,
    .prepare = prepare_input,
    .run = witness_run,
    .clear = state_clear,
};

const bench_row BENCH_MULTIPLY = {
    .name = "multiply",
    .what = "A w and B w of a PoRep partition, log2 of the sector's bytes",
    .sizes = SMALL,
    .sizes_quick = QUICK,
    .reference_name = "term by term",
    .prepare = prepare_rows,
    .run = multiply_run,
    .reference = multiply_reference,
    .compare = multiply_compare,
    .clear = state_clear,
};

const bench_row BENCH_CHECK = {
    .name = "check",
    .what = "every row of a PoRep partition checked, log2 of the sector's bytes",
    .sizes = ALL,
    .sizes_quick = QUICK,
    .prepare = prepare_witness,
    .run = check_run,
    .clear = state_clear,
};
