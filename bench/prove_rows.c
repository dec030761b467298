/* Whole proofs on the CPU with a test SRS: setup and prove for PoRep, winning from the vanilla proof on,
 * chain for a circuit without bits. Every proof is verified. */
#include "base/mem.h"
#include "filecoin/task.h"
#include "prove_state.h"
#include <stdio.h>

static cuzk_status prepare_setup(bench_run *r, cuzk_error *err)
{
    return prove_prepare_circuit(r, CIRCUIT_POREP, err);
}

static cuzk_status setup_run(bench_run *r, cuzk_error *err)
{
    snprintf(r->note, sizeof(r->note), "bellperson 303 T");
    return prove_setup_run(r, err);
}

static cuzk_status prepare_prove(bench_run *r, cuzk_error *err)
{
    cuzk_status st = prepare_setup(r, err);
    if (!st)
        st = prove_porep_witness(r, err);
    return st ? st : prove_open(r, err);
}

static cuzk_status prove_run(bench_run *r, cuzk_error *err)
{
    return prove_witness_run(r, "bellperson 25.3 T", err);
}

/* ---- WinningPoSt, from the vanilla proof to the verified proof ---- */
static const registered_post *winning_of(uint64_t sector_size)
{
    const registered_post *post = NULL;
    for (unsigned i = 0; i <= 4; i++) /* WindowPoSt's numbers come after */
        if (post_by_number(i)->sector_size == sector_size)
            post = post_by_number(i);
    return post;
}

static cuzk_status prepare_winning(bench_run *r, cuzk_error *err)
{
    cuzk_status st = prove_prepare_circuit(r, CIRCUIT_WINNING, err);
    prove_state *s = r->state;
    const registered_post *post = st ? NULL : winning_of(s->info->sector_size);
    if (!st && !post)
        st = cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "there is no WinningPoSt of that size");
    if (!st)
        st = synth_post(&s->vanilla, post, &SYNTH_DEFAULTS, s->ps, r->b->pool, err);
    return st ? st : prove_open(r, err);
}

static cuzk_status winning_run(bench_run *r, cuzk_error *err)
{
    prove_state *s = r->state;
    proof_bytes proof = {s->vanilla.data + 8, s->vanilla.size - 8}; /* after its length */
    proof_request q = {.kind = CIRCUIT_WINNING,
                       .has_registered = 1,
                       .registered_proof = winning_of(s->info->sector_size)->number,
                       .sector_size = s->info->sector_size,
                       .miner_id = SYNTH_DEFAULTS.miner_id,
                       .vanilla = &proof,
                       .vanilla_count = 1,
                       .has_randomness = 1};
    memcpy(q.randomness, s->vanilla.randomness, 32);
    proof_task *t = NULL;
    cuzk_status st = proof_task_parse(&t, &q, s->ps, err);
    if (!st)
        st = proof_task_check(t, -1, r->b->pool, err);
    witness_clear(&s->w);
    if (!st)
        st = proof_task_witness(t, 0, s->r, &s->w, r->b->pool, NULL, err);
    proof_task_destroy(t);
    return st ? st : prove_witness_run(r, "", err);
}

/* ---- x, x^2, x^4, ...: 2^size rows, every value wide ---- */
static void chain_circuit(cs *c, void *ctx)
{
    const unsigned *size = ctx;
    lc x, y;
    lc_init(&x);
    lc_init(&y);
    var out = cs_alloc_input(c), v = cs_alloc_field(c);
    for (size_t left = ((size_t)1 << *size) - 2; left; left--) { /* two rows close the inputs */
        var next = left == 1 ? out : cs_alloc_field(c);
        lc_reset(&x);
        lc_reset(&y);
        lc_add_one(&x, v);
        lc_add_one(&y, next);
        cs_enforce(c, &x, &x, &y);
        v = next;
    }
    lc_clear(&x);
    lc_clear(&y);
}

static cuzk_status prepare_chain(bench_run *r, cuzk_error *err)
{
    prove_state *s = r->state = mem_calloc(1, sizeof(*s));
    if (!s)
        return mem_error(err, sizeof(*s), "a benchmark");
    cuzk_status st = r1cs_compile(&s->r, "chain", chain_circuit, &r->size, err);
    r1cs_counts n = {0};
    if (!st) {
        r1cs_get_counts(s->r, &n);
        st = witness_init(&s->w, n.inputs, n.aux, n.fields, err);
    }
    if (st)
        return st;
    bench_scalars((scalar *)s->w.field, 1, 0, 0);
    for (size_t i = 0; i < n.fields; i++)
        fr_sqr(i + 1 < n.fields ? &s->w.field[i + 1] : &s->w.input[1], &s->w.field[i]);
    return prove_open(r, err);
}

static cuzk_status chain_run(bench_run *r, cuzk_error *err)
{
    return prove_witness_run(r, "arkworks 19.7 T at 2^20", err);
}

static const unsigned SMALL[] = {11, 0}, LARGE[] = {35, 0}, CHAIN[] = {20, 0}, CHAIN_QUICK[] = {14, 0};

const bench_row BENCH_SETUP = {
    .name = "setup",
    .what = "test parameters of PoRep, written to $TMPDIR, log2 of the sector's bytes",
    .sizes = SMALL,
    .sizes_quick = SMALL,
    .prepare = prepare_setup,
    .run = setup_run,
    .clear = prove_clear,
};

const bench_row BENCH_PROVE = {
    .name = "prove",
    .what = "proof of a PoRep partition, verified, log2 of the sector's bytes",
    .sizes = SMALL,
    .sizes_quick = SMALL,
    .prepare = prepare_prove,
    .run = prove_run,
    .clear = prove_clear,
};

const bench_row BENCH_WINNING = {
    .name = "winning",
    .what = "WinningPoSt from the vanilla proof on, verified, log2 of the sector's bytes",
    .sizes = LARGE,
    .sizes_quick = SMALL,
    .prepare = prepare_winning,
    .run = winning_run,
    .clear = prove_clear,
};

const bench_row BENCH_CHAIN = {
    .name = "chain",
    .what = "proof of 2^size squarings in a chain, verified",
    .sizes = CHAIN,
    .sizes_quick = CHAIN_QUICK,
    .prepare = prepare_chain,
    .run = chain_run,
    .clear = prove_clear,
};
