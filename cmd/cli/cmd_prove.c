/* cuzk prove KIND: vanilla proofs in, verified Groth16 proofs out. */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/request.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct prove_run {
    const cli_args *a;
    workplace w;
    cli_request request;
    r1cs *circuit;
    params *srs;
    groth16_prover *prover;
    uint32_t first, end;
    uint8_t *proof;
    size_t proof_size;
    int test_srs;
    double parse_ms, check_ms, open_ms, witness_ms, total_ms;
    groth16_times times; /* summed over the partitions */
} prove_run;

static double ms_since(uint64_t *t)
{
    uint64_t now = clock_ns();
    double ms = (double)(now - *t) / 1e6;
    *t = now;
    return ms;
}

static cuzk_status open_all(prove_run *p, circuit_kind kind, cuzk_error *err)
{
    uint64_t t = clock_ns();
    cuzk_status s = cli_request_open(&p->request, p->a, kind, p->w.ps, err);
    if (!s)
        s = cli_request_partitions(&p->request, p->a, &p->first, &p->end, err);
    p->parse_ms = ms_since(&t);
    if (!s)
        s = proof_task_check(p->request.task, p->end - p->first == 1 ? (int64_t)p->first : -1, p->w.pool,
                             err);
    p->check_ms = ms_since(&t);
    if (s)
        return s;
    const circuit_info *info = proof_task_circuit(p->request.task);
    /* The file first: it is missing more often than anything else, and compiling takes longer. */
    s = workplace_params(p->a, info, &p->srs, &p->test_srs, err);
    if (!s)
        s = workplace_compile(&p->w, info, &p->circuit, err);
    if (!s)
        s = params_match(p->srs, p->circuit, err);
    if (!s)
        s = workplace_device(&p->w, cli_text(p->a, "--device"), err);
    if (!s)
        s = groth16_prover_create(&p->prover, p->w.backend, p->w.device, p->circuit, p->srs, err);
    p->open_ms = ms_since(&t);
    return s;
}

static void add_times(groth16_times *sum, const groth16_times *t)
{
    sum->multiply += t->multiply;
    sum->quotient += t->quotient;
    sum->msm_h += t->msm_h;
    sum->msm_l += t->msm_l;
    sum->msm_a += t->msm_a;
    sum->msm_b_g1 += t->msm_b_g1;
    sum->msm_b_g2 += t->msm_b_g2;
    sum->finish += t->finish;
    sum->verify += t->verify;
    sum->total += t->total;
}

static cuzk_status prove_partition(prove_run *p, uint32_t k, uint8_t out[GROTH16_PROOF_BYTES],
                                   cuzk_error *err)
{
    witness w;
    uint64_t t = clock_ns();
    cuzk_status s = proof_task_witness(p->request.task, k, p->circuit, &w, p->w.pool, NULL, err);
    p->witness_ms += ms_since(&t);
    groth16_times times = {0};
    if (!s && cli_flag(p->a, "--test-randomness")) {
        fr r, q;
        char label[32];
        snprintf(label, sizeof(label), "r:%u", k);
        test_fr(&r, label);
        label[0] = 's';
        test_fr(&q, label);
        s = groth16_prove(p->prover, &w, &r, &q, out, &times, NULL, err);
    } else if (!s) {
        s = groth16_prove(p->prover, &w, NULL, NULL, out, &times, NULL, err);
    }
    add_times(&p->times, &times);
    witness_clear(&w);
    if (s)
        cuzk_error_prefix(err, "partition %u", k);
    return s;
}

static cuzk_status prove_all(prove_run *p, cuzk_error *err)
{
    p->proof_size = (size_t)(p->end - p->first) * GROTH16_PROOF_BYTES;
    p->proof = mem_calloc(1, p->proof_size);
    if (!p->proof)
        return mem_error(err, p->proof_size, "the proof");
    cli_progress progress;
    cli_progress_begin(&progress, "proving");
    cuzk_status s = CUZK_OK;
    for (uint32_t k = p->first; k < p->end && !s; k++) {
        cli_progress_update(&progress, k - p->first, p->end - p->first);
        s = prove_partition(p, k, p->proof + (size_t)(k - p->first) * GROTH16_PROOF_BYTES, err);
    }
    cli_progress_end(&progress);
    return s ? s : file_save(cli_text(p->a, "--out"), p->proof, p->proof_size, err);
}

static void add_stage(json_out *j, const char *name, double ms)
{
    json_double(j, name, ms, 2);
}

static int report(const prove_run *p)
{
    const circuit_info *info = proof_task_circuit(p->request.task);
    if (!p->a->json) {
        printf("%s: %u partition%s proved and verified in %.2f s, %zu bytes in %s\n", info->name,
               p->end - p->first, p->end - p->first == 1 ? "" : "s", p->total_ms / 1000.0, p->proof_size,
               cli_text(p->a, "--out"));
        return EXIT_DONE;
    }
    json_out j;
    json_init(&j);
    json_begin_object(&j, NULL);
    json_string(&j, "circuit", info->name);
    json_u64(&j, "sector_size", info->sector_size);
    json_u64(&j, "partitions", p->end - p->first);
    json_u64(&j, "first_partition", p->first);
    json_hex(&j, "proof", p->proof, p->proof_size);
    json_bool(&j, "verified", 1);
    json_bool(&j, "test_srs", p->test_srs);
    json_string(&j, "backend", p->w.backend->name);
    json_begin_object(&j, "milliseconds");
    add_stage(&j, "parse", p->parse_ms);
    add_stage(&j, "check", p->check_ms);
    add_stage(&j, "open", p->open_ms);
    add_stage(&j, "witness", p->witness_ms);
    add_stage(&j, "multiply", p->times.multiply);
    add_stage(&j, "quotient", p->times.quotient);
    add_stage(&j, "msm_h", p->times.msm_h);
    add_stage(&j, "msm_l", p->times.msm_l);
    add_stage(&j, "msm_a", p->times.msm_a);
    add_stage(&j, "msm_b_g1", p->times.msm_b_g1);
    add_stage(&j, "msm_b_g2", p->times.msm_b_g2);
    add_stage(&j, "finish", p->times.finish);
    add_stage(&j, "verify", p->times.verify);
    add_stage(&j, "total", p->total_ms);
    json_end_object(&j);
    json_u64(&j, "peak_rss_bytes", mem_rss_peak_bytes());
    json_end_object(&j);
    return cli_print_json(&j, EXIT_DONE);
}

static int run_prove(const cli_args *a, circuit_kind kind)
{
    cuzk_error e = {0};
    prove_run p = {.a = a};
    uint64_t t = clock_ns();
    cuzk_status s = file_check_place(cli_text(a, "--out"), &e); /* before minutes of work */
    if (!s)
        s = workplace_open(&p.w, a, &e);
    if (!s)
        s = open_all(&p, kind, &e);
    if (!s)
        s = prove_all(&p, &e);
    p.total_ms = ms_since(&t);
    int rc = s ? cli_fail(a, &e) : report(&p);
    groth16_prover_destroy(p.prover);
    params_close(p.srs);
    r1cs_destroy(p.circuit);
    cli_request_close(&p.request);
    mem_free(p.proof);
    workplace_close(&p.w);
    return rc;
}

#define PROVE_OPTIONS                                                                                        \
    {"--out", OPT_TEXT, "FILE", "where the proof goes (192 bytes a partition)", 1},                          \
        {"--partition", OPT_U64, "K", "prove this partition only", 0},                                       \
        {"--miner-id", OPT_U64, "N", "the miner's number (PoRep: replica_id is then checked)", 0},           \
        {"--test-randomness", OPT_FLAG, NULL, "fixed r and s, for reproducing test proofs", 0},              \
        {"--device", OPT_TEXT, "NAME", "cpu (default), cuda or cuda:N", 0}, PARAMS_OPTIONS,                  \
        WORKPLACE_OPTIONS

static int run_prove_porep(const cli_args *a)
{
    return run_prove(a, CIRCUIT_POREP);
}
static const cli_option POREP_TABLE[] = {{"--c1", OPT_TEXT, "FILE", "the C1 document", 1}, PROVE_OPTIONS};
const cli_command command_prove_porep = {
    .name = "prove porep",
    .positional = "",
    .summary = "prove a PoRep and verify the proof",
    .options = POREP_TABLE,
    .option_count = sizeof(POREP_TABLE) / sizeof(POREP_TABLE[0]),
    .run = run_prove_porep,
};

static int run_prove_winning(const cli_args *a)
{
    return run_prove(a, CIRCUIT_WINNING);
}
static const cli_option WINNING_TABLE[] = {VANILLA_OPTIONS, POST_OPTIONS, PROVE_OPTIONS};
const cli_command command_prove_winning = {
    .name = "prove winning",
    .positional = "",
    .summary = "prove a WinningPoSt and verify the proof",
    .options = WINNING_TABLE,
    .option_count = sizeof(WINNING_TABLE) / sizeof(WINNING_TABLE[0]),
    .run = run_prove_winning,
};

static int run_prove_window(const cli_args *a)
{
    return run_prove(a, CIRCUIT_WINDOW);
}
static const cli_option WINDOW_TABLE[] = {VANILLA_OPTIONS, POST_OPTIONS, PROVE_OPTIONS};
const cli_command command_prove_window = {
    .name = "prove window",
    .positional = "",
    .summary = "prove a WindowPoSt and verify the proof",
    .options = WINDOW_TABLE,
    .option_count = sizeof(WINDOW_TABLE) / sizeof(WINDOW_TABLE[0]),
    .run = run_prove_window,
};

static int run_prove_update(const cli_args *a)
{
    return run_prove(a, CIRCUIT_UPDATE);
}
static const cli_option UPDATE_TABLE[] = {VANILLA_OPTIONS, UPDATE_OPTIONS, PROVE_OPTIONS};
const cli_command command_prove_update = {
    .name = "prove update",
    .positional = "",
    .summary = "prove a SnapDeals update and verify the proof",
    .options = UPDATE_TABLE,
    .option_count = sizeof(UPDATE_TABLE) / sizeof(UPDATE_TABLE[0]),
    .run = run_prove_update,
};
