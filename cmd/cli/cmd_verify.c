/* cuzk verify KIND: proofs against public data, as the chain does it. */
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/request.h"
#include "cli/sectors.h"
#include "filecoin/porep.h"
#include "filecoin/post.h"
#include "filecoin/update.h"
#include <stdio.h>
#include <string.h>

typedef struct verify_run {
    const cli_args *a;
    verifying_key vk;
    int test_srs;
    uint8_t *proof;
    size_t proof_size;
    const circuit_info *info;
    uint32_t partitions; /* of the whole proof */
    /* Public inputs of one partition (mem_free). */
    cuzk_status (*inputs)(void *ctx, uint32_t partition, fr **inputs, size_t *count, cuzk_error *err);
    void *ctx;
} verify_run;

static cuzk_status verify_partitions(verify_run *v, cuzk_error *err)
{
    uint32_t first = 0, end = v->partitions;
    if (cli_given(v->a, "--partition")) {
        uint64_t k = cli_u64(v->a, "--partition", 0);
        if (k >= v->partitions)
            return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "--partition %llu: the proof has %u partitions",
                                  (unsigned long long)k, v->partitions);
        first = (uint32_t)k;
        end = first + 1;
    }
    size_t want = (size_t)(end - first) * GROTH16_PROOF_BYTES;
    if (v->proof_size != want)
        return cuzk_error_set(err, CUZK_BAD_INPUT, "%s holds %zu bytes; %u partition%s of %u bytes are %zu",
                              cli_text(v->a, "--proof"), v->proof_size, end - first,
                              end - first == 1 ? "" : "s", GROTH16_PROOF_BYTES, want);
    for (uint32_t k = first; k < end; k++) {
        fr *inputs = NULL;
        size_t n = 0;
        cuzk_status s = v->inputs(v->ctx, k, &inputs, &n, err);
        if (!s)
            s = groth16_verify(&v->vk, v->proof + (size_t)(k - first) * GROTH16_PROOF_BYTES, inputs, n, err);
        mem_free(inputs);
        if (s) {
            cuzk_error_prefix(err, "partition %u", k);
            return s;
        }
    }
    return CUZK_OK;
}

static cuzk_status verify(verify_run *v, cuzk_error *err)
{
    cuzk_status s = file_read(&v->proof, &v->proof_size, cli_text(v->a, "--proof"), 1 << 20, err);
    if (!s)
        s = workplace_vk(v->a, v->info, &v->vk, &v->test_srs, err);
    if (!s)
        s = verify_partitions(v, err);
    mem_free(v->proof);
    vk_clear(&v->vk);
    return s;
}

/* Prints the verdict; "no" is an answer, not an error. Who asks for JSON finds "verified" in every answer. */
static int report(const verify_run *v, cuzk_status s, const cuzk_error *e)
{
    int answered = s == CUZK_OK || s == CUZK_INVALID_PROOF || s == CUZK_INCONSISTENT;
    int rc = cli_exit_status(s);
    if (!answered && !v->a->json)
        return cli_fail(v->a, e);
    if (v->a->json) {
        json_out j;
        json_init(&j);
        json_begin_object(&j, NULL);
        json_bool(&j, "verified", s == CUZK_OK);
        json_string(&j, "circuit", v->info ? v->info->name : NULL);
        json_u64(&j, "partitions", v->partitions);
        json_bool(&j, "test_srs", v->test_srs);
        if (s) {
            json_string(&j, "status", cuzk_status_name(s));
            json_string(&j, "error", e->message);
        }
        json_end_object(&j);
        return cli_print_json(&j, rc);
    }
    if (s)
        printf("invalid: %s\n", e->message);
    else
        printf("valid%s\n", v->test_srs ? " (with a test SRS, which proves nothing to anyone)" : "");
    return rc;
}

static cuzk_status inputs_of_task(void *ctx, uint32_t partition, fr **inputs, size_t *count, cuzk_error *err)
{
    return proof_task_inputs(ctx, partition, inputs, count, err);
}

static cuzk_status inputs_of_porep(void *ctx, uint32_t partition, fr **inputs, size_t *count, cuzk_error *err)
{
    const porep_public *pub = ctx;
    *count = porep_public_input_count(circuit_find(CIRCUIT_POREP, pub->seal->sector_size));
    *inputs = mem_alloc(*count * sizeof(fr));
    if (!*inputs)
        return mem_error(err, *count * sizeof(fr), "public inputs");
    return porep_public_inputs(*inputs, *count, pub, partition, err);
}

/* --registered-proof N --miner-id N --sector N --comm-r HEX ... in place of --c1. */
static cuzk_status porep_from_options(const cli_args *a, porep_public *pub, uint32_t *partitions,
                                      cuzk_error *err)
{
    static const char *const NEEDED[] = {"--registered-proof", "--miner-id", "--sector", "--comm-r",
                                         "--comm-d",           "--ticket",   "--seed"};
    for (size_t i = 0; i < sizeof(NEEDED) / sizeof(NEEDED[0]); i++)
        if (!cli_given(a, NEEDED[i]))
            return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                                  "%s is missing: give --c1 FILE, or --registered-proof, --miner-id, "
                                  "--sector, --comm-r, --comm-d, "
                                  "--ticket and --seed",
                                  NEEDED[i]);
    uint8_t ticket[32];
    uint64_t number = 0;
    cuzk_status s = cli_registered_proof(a, CIRCUIT_POREP, &number, err);
    if (s)
        return s;
    pub->seal = seal_by_number(number);
    if (!pub->seal)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "--registered-proof %llu is not a registered seal proof (0 to 19)",
                              (unsigned long long)number);
    s = cli_hex32(a, "--comm-r", pub->comm_r, err);
    if (!s)
        s = cli_hex32(a, "--comm-d", pub->comm_d, err);
    if (!s)
        s = cli_hex32(a, "--ticket", ticket, err);
    if (!s)
        s = cli_hex32(a, "--seed", pub->seed, err);
    porep_replica_id(pub->replica_id, cli_u64(a, "--miner-id", 0), cli_u64(a, "--sector", 0), ticket,
                     pub->comm_d, pub->seal);
    *partitions = pub->seal->partitions;
    return s;
}

static int run_verify_porep(const cli_args *a)
{
    cuzk_error e = {0};
    verify_run v = {.a = a};
    poseidon_set *ps = NULL;
    cli_request request = {0};
    porep_public pub = {0};
    cuzk_status s = CUZK_OK;
    if (cli_given(a, "--c1")) {
        s = poseidon_set_create(&ps, &e);
        if (!s)
            s = cli_request_open(&request, a, CIRCUIT_POREP, ps, &e);
        if (!s) {
            v.info = proof_task_circuit(request.task);
            v.partitions = proof_task_partitions(request.task);
            v.inputs = inputs_of_task;
            v.ctx = request.task;
        }
    } else {
        s = porep_from_options(a, &pub, &v.partitions, &e);
        v.info = s ? NULL : circuit_find(CIRCUIT_POREP, pub.seal->sector_size);
        v.inputs = inputs_of_porep;
        v.ctx = &pub;
    }
    if (!s)
        s = verify(&v, &e);
    int rc = report(&v, s, &e);
    cli_request_close(&request);
    poseidon_set_destroy(ps);
    return rc;
}

static cuzk_status inputs_of_post(void *ctx, uint32_t partition, fr **inputs, size_t *count, cuzk_error *err)
{
    const post_public *pub = ctx;
    const circuit_info *ci =
        circuit_find(pub->post->winning ? CIRCUIT_WINNING : CIRCUIT_WINDOW, pub->post->sector_size);
    *count = post_public_input_count(ci);
    *inputs = mem_alloc(*count * sizeof(fr));
    if (!*inputs)
        return mem_error(err, *count * sizeof(fr), "public inputs");
    return post_public_inputs(*inputs, *count, pub, partition, err);
}

static cuzk_status post_from_options(const cli_args *a, circuit_kind kind, post_public *pub,
                                     post_public_sector **sectors, cuzk_error *err)
{
    uint64_t number = 0;
    cuzk_status s = cli_registered_proof(a, kind, &number, err);
    if (s)
        return s;
    pub->post = post_by_number(number);
    if (!pub->post || pub->post->winning != (kind == CIRCUIT_WINNING))
        return cuzk_error_set(
            err, CUZK_INVALID_ARGUMENT, "--registered-proof %llu is not a registered %s proof",
            (unsigned long long)number, kind == CIRCUIT_WINNING ? "WinningPoSt" : "WindowPoSt");
    s = cli_hex32(a, "--randomness", pub->randomness, err);
    if (!s)
        s = sectors_read(cli_text(a, "--sectors"), sectors, &pub->sector_count, err);
    pub->sectors = *sectors;
    return s;
}

static int run_verify_post(const cli_args *a, circuit_kind kind)
{
    cuzk_error e = {0};
    verify_run v = {.a = a, .inputs = inputs_of_post};
    post_public pub = {0};
    post_public_sector *sectors = NULL;
    cuzk_status s = post_from_options(a, kind, &pub, &sectors, &e);
    if (!s) {
        v.info = circuit_find(kind, pub.post->sector_size);
        v.partitions = post_partitions(pub.post, pub.sector_count);
        v.ctx = &pub;
        s = verify(&v, &e);
    }
    int rc = report(&v, s, &e);
    mem_free(sectors);
    return rc;
}

static cuzk_status inputs_of_update(void *ctx, uint32_t partition, fr **inputs, size_t *count,
                                    cuzk_error *err)
{
    const update_public *pub = ctx;
    *count = update_public_input_count(circuit_find(CIRCUIT_UPDATE, pub->update->sector_size));
    *inputs = mem_alloc(*count * sizeof(fr));
    if (!*inputs)
        return mem_error(err, *count * sizeof(fr), "public inputs");
    return update_public_inputs(*inputs, *count, pub, partition, err);
}

static int run_verify_update(const cli_args *a)
{
    cuzk_error e = {0};
    verify_run v = {.a = a, .inputs = inputs_of_update};
    update_public pub = {0};
    uint64_t number = 0;
    cuzk_status s = cli_registered_proof(a, CIRCUIT_UPDATE, &number, &e);
    if (!s && !(pub.update = update_by_number(number)))
        s = cuzk_error_set(&e, CUZK_INVALID_ARGUMENT,
                           "--registered-proof %llu is not a registered update proof (0 to 4)",
                           (unsigned long long)number);
    if (!s)
        s = cli_hex32(a, "--comm-r-old", pub.comm_r_old, &e);
    if (!s)
        s = cli_hex32(a, "--comm-r-new", pub.comm_r_new, &e);
    if (!s)
        s = cli_hex32(a, "--comm-d-new", pub.comm_d_new, &e);
    if (!s) {
        v.info = circuit_find(CIRCUIT_UPDATE, pub.update->sector_size);
        v.partitions = pub.update->partitions;
        v.ctx = &pub;
        s = verify(&v, &e);
    }
    return report(&v, s, &e);
}

#define VERIFY_OPTIONS                                                                                       \
    {"--proof", OPT_TEXT, "FILE", "the proof, 192 bytes a partition", 1},                                    \
        {"--partition", OPT_U64, "K", "the file holds this partition's proof only", 0},                      \
        {"--miner-id", OPT_U64, "N", "the miner's number", 0}, PARAMS_OPTIONS

static const cli_option POREP_TABLE[] = {
    {"--c1", OPT_TEXT, "FILE", "take the public data from this C1 document", 0},
    VERIFY_OPTIONS,
    {"--registered-proof", OPT_TEXT, "N", "number or name of the registered proof", 0},
    {"--sector", OPT_U64, "N", "sector number", 0},
    {"--comm-r", OPT_TEXT, "HEX", "replica commitment", 0},
    {"--comm-d", OPT_TEXT, "HEX", "data commitment", 0},
    {"--ticket", OPT_TEXT, "HEX", "seal randomness", 0},
    {"--seed", OPT_TEXT, "HEX", "interactive randomness", 0},
};
const cli_command command_verify_porep = {
    .name = "verify porep",
    .positional = "",
    .summary = "verify a PoRep's proof against public data",
    .options = POREP_TABLE,
    .option_count = sizeof(POREP_TABLE) / sizeof(POREP_TABLE[0]),
    .run = run_verify_porep,
};

static int run_verify_winning(const cli_args *a)
{
    return run_verify_post(a, CIRCUIT_WINNING);
}
static int run_verify_window(const cli_args *a)
{
    return run_verify_post(a, CIRCUIT_WINDOW);
}
static const cli_option POST_TABLE[] = {
    POST_OPTIONS,
    {"--sectors", OPT_TEXT, "FILE", "JSON array of {\"sector_id\", \"comm_r\"}", 1},
    VERIFY_OPTIONS,
};
const cli_command command_verify_winning = {
    .name = "verify winning",
    .positional = "",
    .summary = "verify a WinningPoSt against public data",
    .options = POST_TABLE,
    .option_count = sizeof(POST_TABLE) / sizeof(POST_TABLE[0]),
    .run = run_verify_winning,
};
const cli_command command_verify_window = {
    .name = "verify window",
    .positional = "",
    .summary = "verify a WindowPoSt against public data",
    .options = POST_TABLE,
    .option_count = sizeof(POST_TABLE) / sizeof(POST_TABLE[0]),
    .run = run_verify_window,
};

static const cli_option UPDATE_TABLE[] = {UPDATE_OPTIONS, VERIFY_OPTIONS};
const cli_command command_verify_update = {
    .name = "verify update",
    .positional = "",
    .summary = "verify a SnapDeals update against public data",
    .options = UPDATE_TABLE,
    .option_count = sizeof(UPDATE_TABLE) / sizeof(UPDATE_TABLE[0]),
    .run = run_verify_update,
};
