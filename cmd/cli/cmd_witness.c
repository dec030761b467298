/* cuzk witness KIND: public inputs and digests of a partition's witness, and the .wtns file. */
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/request.h"
#include <stdio.h>
#include <string.h>

static void add_block(void *ctx, uint64_t block, const uint8_t sha256[32])
{
    (void)block;
    json_hex(ctx, NULL, sha256, 32);
}

static cuzk_status describe(json_out *j, const r1cs *r, const witness *w, uint32_t partition,
                            uint64_t per_block, int satisfied, witness_digest *d, cuzk_error *err)
{
    json_begin_object(j, NULL);
    json_u64(j, "partition", partition);
    json_bool(j, "satisfied", satisfied);
    json_begin_array(j, "inputs");
    for (uint64_t i = 0; i < w->inputs; i++) {
        uint8_t bytes[32];
        fr_to_bytes(bytes, &w->input[i]);
        json_hex(j, NULL, bytes, 32);
    }
    json_end_array(j);
    if (per_block)
        json_begin_array(j, "aux_blocks_sha256");
    cuzk_status s = witness_get_digest(d, r, w, per_block, per_block ? add_block : NULL, j, err);
    if (per_block) {
        json_end_array(j);
        json_u64(j, "aux_per_block", per_block);
    }
    json_u64(j, "aux", w->aux);
    json_u64(j, "aux_one", d->one);
    json_u64(j, "aux_zero", d->zero);
    json_hex(j, "aux_sha256", d->aux, 32);
    json_hex(j, "inputs_sha256", d->inputs, 32);
    json_end_object(j);
    return s;
}

static void print_text(const witness *w, const witness_digest *d)
{
    char hex[65];
    printf("public inputs  %llu (the constant one included)\n", (unsigned long long)w->inputs);
    printf("wires          %llu: %llu zeros, %llu ones; %.1f MiB\n", (unsigned long long)w->aux,
           (unsigned long long)d->zero, (unsigned long long)d->one, (double)w->bytes / 1048576.0);
    hex_encode(hex, d->inputs, 32);
    printf("inputs_sha256  %s\n", hex);
    hex_encode(hex, d->aux, 32);
    printf("aux_sha256     %s\n", hex);
}

static int run_witness(const cli_args *a, circuit_kind kind)
{
    cuzk_error e = {0};
    workplace wp;
    cli_request request = {0};
    r1cs *r = NULL;
    witness w = {0};
    json_out j;
    json_init(&j);
    uint32_t k = 0, end;
    cuzk_status s = workplace_open(&wp, a, &e);
    if (!s)
        s = cli_request_open(&request, a, kind, wp.ps, &e);
    if (!s)
        s = cli_request_partitions(&request, a, &k, &end, &e); /* without the option the first one */
    if (!s)
        s = proof_task_check(request.task, k, wp.pool, &e);
    if (!s)
        s = workplace_compile(&wp, proof_task_circuit(request.task), &r, &e);
    if (!s)
        s = proof_task_witness(request.task, k, r, &w, wp.pool, NULL, &e);
    if (!s)
        s = r1cs_check(r, &w, wp.pool, &e);
    witness_digest d;
    if (!s)
        s = describe(&j, r, &w, k, cli_u64(a, "--block", 0), 1, &d, &e);
    if (!s && cli_given(a, "--wtns"))
        s = witness_write_wtns(r, &w, cli_text(a, "--wtns"), &e);
    int rc = EXIT_DONE;
    if (s)
        rc = cli_fail(a, &e);
    else if (a->json)
        rc = cli_print_json(&j, EXIT_DONE);
    else
        print_text(&w, &d);
    json_clear(&j);
    witness_clear(&w);
    r1cs_destroy(r);
    cli_request_close(&request);
    workplace_close(&wp);
    return rc;
}

#define WITNESS_OPTIONS                                                                                      \
    {"--partition", OPT_U64, "K", "which partition (default 0)", 0},                                         \
        {"--miner-id", OPT_U64, "N", "the miner's number", 0},                                               \
        {"--wtns", OPT_TEXT, "FILE", "write the witness as snarkjs .wtns", 0},                               \
        {"--block", OPT_U64, "N", "also digest every block of N values", 0}, WORKPLACE_OPTIONS

static int run_witness_porep(const cli_args *a)
{
    return run_witness(a, CIRCUIT_POREP);
}
static const cli_option POREP_TABLE[] = {{"--c1", OPT_TEXT, "FILE", "the C1 document", 1}, WITNESS_OPTIONS};
const cli_command command_witness_porep = {
    .name = "witness porep",
    .positional = "",
    .summary = "public inputs and digests of a PoRep",
    .options = POREP_TABLE,
    .option_count = sizeof(POREP_TABLE) / sizeof(POREP_TABLE[0]),
    .run = run_witness_porep,
};

static int run_witness_winning(const cli_args *a)
{
    return run_witness(a, CIRCUIT_WINNING);
}
static const cli_option WINNING_TABLE[] = {VANILLA_OPTIONS, POST_OPTIONS, WITNESS_OPTIONS};
const cli_command command_witness_winning = {
    .name = "witness winning",
    .positional = "",
    .summary = "public inputs and digests of a WinningPoSt",
    .options = WINNING_TABLE,
    .option_count = sizeof(WINNING_TABLE) / sizeof(WINNING_TABLE[0]),
    .run = run_witness_winning,
};

static int run_witness_window(const cli_args *a)
{
    return run_witness(a, CIRCUIT_WINDOW);
}
static const cli_option WINDOW_TABLE[] = {VANILLA_OPTIONS, POST_OPTIONS, WITNESS_OPTIONS};
const cli_command command_witness_window = {
    .name = "witness window",
    .positional = "",
    .summary = "public inputs and digests of a WindowPoSt",
    .options = WINDOW_TABLE,
    .option_count = sizeof(WINDOW_TABLE) / sizeof(WINDOW_TABLE[0]),
    .run = run_witness_window,
};

static int run_witness_update(const cli_args *a)
{
    return run_witness(a, CIRCUIT_UPDATE);
}
static const cli_option UPDATE_TABLE[] = {VANILLA_OPTIONS, UPDATE_OPTIONS, WITNESS_OPTIONS};
const cli_command command_witness_update = {
    .name = "witness update",
    .positional = "",
    .summary = "public inputs and digests of a SnapDeals update",
    .options = UPDATE_TABLE,
    .option_count = sizeof(UPDATE_TABLE) / sizeof(UPDATE_TABLE[0]),
    .run = run_witness_update,
};
