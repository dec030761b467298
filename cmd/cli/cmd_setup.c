/* cuzk setup: parameters of a circuit, with a test SRS or fresh secret randomness. */
#include "api/circuits.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/workplace.h"
#include <stdio.h>
#include <string.h>

static void print_made(const cli_args *a, const char *path, const params *p, const uint8_t head[16],
                       const uint8_t sha[32], int *rc)
{
    if (!a->json) {
        char hex[65];
        hex_encode(hex, sha, 32);
        printf("%s: %.1f MiB, SHA-256 %s\n", path, (double)p->map.size / 1048576.0, hex);
        *rc = EXIT_DONE;
        return;
    }
    json_out j;
    json_init(&j);
    json_begin_object(&j, NULL);
    json_string(&j, "file", path);
    json_u64(&j, "a", p->q.a_count);
    json_u64(&j, "b_g1", p->q.b_g1_count);
    json_u64(&j, "b_g2", p->q.b_g2_count);
    json_u64(&j, "h", p->q.h_count);
    json_u64(&j, "l", p->q.l_count);
    json_hex(&j, "params_blake2b_head16", head, 16);
    json_u64(&j, "params_bytes", p->map.size);
    json_hex(&j, "params_sha256", sha, 32);
    json_end_object(&j);
    *rc = cli_print_json(&j, EXIT_DONE);
}

static int run_setup(const cli_args *a)
{
    cuzk_error e = {0};
    workplace w;
    r1cs *r = NULL;
    params *made = NULL;
    toxic_waste t;
    char params_path[4096], vk_path[4096];
    cli_progress progress;
    int rc = workplace_open(&w, a, &e) ? cli_fail(a, &e) : 0;
    const circuit_info *info = rc ? NULL : workplace_circuit(&w, a, a->positional[0], &rc);
    if (rc)
        goto exit;
    int test = cli_flag(a, "--test-srs");
    const char *out = cli_text(a, "--out"), *prefix = test ? "TEST-" : "";
    snprintf(params_path, sizeof(params_path), "%s/%s%s.params", out, prefix, info->file);
    snprintf(vk_path, sizeof(vk_path), "%s/%s%s.vk", out, prefix, info->file);
    if (test)
        fprintf(stderr, "cuzk: warning: the secrets of a test SRS are public; a proof made with it proves "
                        "nothing to anyone\n");
    cuzk_status s = file_make_dirs(out, &e);
    if (!s)
        s = workplace_compile(&w, info, &r, &e);
    if (!s && test)
        toxic_waste_test(&t);
    else if (!s)
        s = toxic_waste_random(&t, &e);
    if (!s) {
        cli_progress_begin(&progress, info->name);
        s = groth16_setup(r, &t, params_path, vk_path, w.pool, cli_progress_update, &progress, &e);
        mem_wipe(&t, sizeof(t));
        cli_progress_end(&progress);
    }
    uint8_t head[16], sha[32];
    if (!s)
        s = params_open(&made, params_path, &e);
    if (!s)
        s = params_digest(made, head, sha, NULL, NULL, &e);
    if (s)
        rc = cli_fail(a, &e);
    else
        print_made(a, params_path, made, head, sha, &rc);
exit:
    params_close(made);
    r1cs_destroy(r);
    workplace_close(&w);
    return rc;
}

static const cli_option OPTIONS[] = {
    {"--out", OPT_TEXT, "DIR", "where the .params and .vk go", 1},
    {"--test-srs", OPT_FLAG, NULL, "public toxic waste, file names begin with TEST-", 0},
    WORKPLACE_OPTIONS,
};
const cli_command command_setup = {
    .name = "setup",
    .positional = "CIRCUIT",
    .positional_min = 1,
    .positional_max = 1,
    .summary = "make the parameters of a circuit",
    .options = OPTIONS,
    .option_count = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_setup,
};
