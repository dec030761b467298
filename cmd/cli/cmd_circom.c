/* cuzk circom prove, verify, setup, vkey, info: circuits of circom 2 over BLS12-381. */
#include "base/mem.h"
#include "circom/circom.h"
#include "cli/commands.h"
#include "cli/workplace.h"
#include <stdio.h>
#include <string.h>

#define THREADS_OPTION                                                                                       \
    {                                                                                                        \
        "--threads", OPT_U64, "N", "threads (default: one per processor)", 0                                 \
    }

/* ---- prove ---- */

typedef struct circom_inputs {
    pool *p;
    fr *values;
    uint32_t count, publics;
} circom_inputs;

static void test_randomness(fr *r, fr *s)
{
    test_fr(r, "r:0");
    test_fr(s, "s:0");
}

static cuzk_status prove_zkey(const cli_args *a, circom_inputs *in, uint8_t proof[GROTH16_PROOF_BYTES],
                              cuzk_error *err)
{
    circom_zkey z;
    cuzk_status s = circom_zkey_open(&z, cli_text(a, "--zkey"), err);
    if (s)
        return s;
    in->publics = z.publics;
    fr r, q;
    int fixed = cli_flag(a, "--test-randomness");
    if (fixed)
        test_randomness(&r, &q);
    s = circom_prove(&z, in->values, in->count, fixed ? &r : NULL, fixed ? &q : NULL, proof, in->p, err);
    circom_zkey_close(&z);
    return s;
}

/* With parameters made from the .r1cs, by the prover of the other circuits. */
static cuzk_status prove_params(const cli_args *a, circom_inputs *in, uint8_t proof[GROTH16_PROOF_BYTES],
                                cuzk_error *err)
{
    circom_r1cs file;
    r1cs *r = NULL;
    params *srs = NULL;
    groth16_prover *g = NULL;
    cuzk_device *device = NULL;
    witness w = {0};
    const cuzk_backend *cpu = cuzk_backend_cpu();
    cuzk_device_options o = {.threads = pool_size(in->p)};
    cuzk_status s = circom_r1cs_open(&file, cli_text(a, "--r1cs"), err);
    if (s)
        return s;
    in->publics = file.public_outputs + file.public_inputs;
    s = circom_r1cs_compile(&r, &file, err);
    if (!s)
        s = params_open(&srs, cli_text(a, "--params"), err);
    if (!s)
        s = circom_witness(&w, r, in->values, in->count, err);
    if (!s)
        s = cpu->device_open(&device, 0, &o, err);
    if (!s)
        s = groth16_prover_create(&g, cpu, device, r, srs, err);
    fr k, q;
    int fixed = cli_flag(a, "--test-randomness");
    if (fixed)
        test_randomness(&k, &q);
    if (!s)
        s = groth16_prove(g, &w, fixed ? &k : NULL, fixed ? &q : NULL, proof, NULL, NULL, err);
    groth16_prover_destroy(g);
    if (device)
        cpu->device_close(device);
    witness_clear(&w);
    params_close(srs);
    r1cs_destroy(r);
    circom_r1cs_close(&file);
    return s;
}

static int run_prove(const cli_args *a)
{
    cuzk_error e = {0};
    circom_inputs in = {0};
    uint8_t proof[GROTH16_PROOF_BYTES];
    int by_params = cli_given(a, "--params");
    if (by_params == cli_given(a, "--zkey") || by_params != cli_given(a, "--r1cs"))
        return cli_usage_error(a, "give --zkey FILE, or --r1cs FILE and --params FILE");
    cuzk_status s = workplace_threads(&in.p, a, &e);
    if (!s)
        s = circom_wtns_read(&in.values, &in.count, cli_text(a, "--wtns"), &e);
    if (!s)
        s = by_params ? prove_params(a, &in, proof, &e) : prove_zkey(a, &in, proof, &e);
    if (!s)
        s = circom_write_proof(cli_text(a, "--proof"), proof, &e);
    if (!s)
        s = circom_write_public(cli_text(a, "--public"), in.values + 1, in.publics, &e);
    int rc = EXIT_DONE;
    if (s) {
        rc = cli_fail(a, &e);
    } else if (a->json) {
        json_out j;
        json_init(&j);
        json_begin_object(&j, NULL);
        json_hex(&j, "proof", proof, sizeof(proof));
        json_u64(&j, "public_signals", in.publics);
        json_bool(&j, "verified", 1);
        json_end_object(&j);
        rc = cli_print_json(&j, EXIT_DONE);
    } else {
        printf("proved and verified: %s, %s\n", cli_text(a, "--proof"), cli_text(a, "--public"));
    }
    if (in.values)
        mem_wipe(in.values, in.count * sizeof(fr));
    big_free(in.values, in.count * sizeof(fr));
    pool_destroy(in.p);
    return rc;
}

static const cli_option PROVE[] = {
    {"--zkey", OPT_TEXT, "FILE", "the circuit's key, as snarkjs or cuzk makes it", 0},
    {"--r1cs", OPT_TEXT, "FILE", "the circuit, with --params in place of --zkey", 0},
    {"--params", OPT_TEXT, "FILE", "parameters made by circom setup --params", 0},
    {"--wtns", OPT_TEXT, "FILE", "the witness", 1},
    {"--proof", OPT_TEXT, "FILE", "where proof.json goes", 1},
    {"--public", OPT_TEXT, "FILE", "where public.json goes", 1},
    {"--test-randomness", OPT_FLAG, NULL, "fixed r and s, for reproducing test proofs", 0},
    THREADS_OPTION,
};
const cli_command command_circom_prove = {
    .name = "circom prove",
    .positional = "",
    .summary = "prove a circom circuit",
    .options = PROVE,
    .option_count = sizeof(PROVE) / sizeof(PROVE[0]),
    .run = run_prove,
};

/* ---- verify ---- */

static int run_verify(const cli_args *a)
{
    cuzk_error e = {0};
    verifying_key vk;
    uint8_t proof[GROTH16_PROOF_BYTES];
    fr *values = NULL;
    size_t count = 0;
    cuzk_status s = circom_read_vkey(&vk, cli_text(a, "--vkey"), &e);
    if (s)
        return cli_fail(a, &e);
    s = circom_read_public(&values, &count, cli_text(a, "--public"), &e);
    if (!s)
        s = circom_read_proof(proof, cli_text(a, "--proof"), &e);
    if (!s)
        s = groth16_verify(&vk, proof, values, count, &e);
    mem_free(values);
    vk_clear(&vk);
    if (s && s != CUZK_INVALID_PROOF)
        return cli_fail(a, &e);
    int rc = s ? EXIT_NO : EXIT_DONE;
    if (!a->json) {
        printf(s ? "invalid: %s\n" : "valid%s\n", s ? e.message : "");
        return rc;
    }
    json_out j;
    json_init(&j);
    json_begin_object(&j, NULL);
    json_bool(&j, "verified", !s);
    if (s)
        json_string(&j, "error", e.message);
    json_end_object(&j);
    return cli_print_json(&j, rc);
}

static const cli_option VERIFY[] = {
    {"--vkey", OPT_TEXT, "FILE", "verification_key.json", 1},
    {"--proof", OPT_TEXT, "FILE", "proof.json", 1},
    {"--public", OPT_TEXT, "FILE", "public.json", 1},
};
const cli_command command_circom_verify = {
    .name = "circom verify",
    .positional = "",
    .summary = "verify a circom circuit's proof",
    .options = VERIFY,
    .option_count = sizeof(VERIFY) / sizeof(VERIFY[0]),
    .run = run_verify,
};

/* ---- setup ---- */

static cuzk_status setup_params(const circom_r1cs *file, const toxic_waste *t, const char *path, pool *p,
                                cuzk_error *err)
{
    char vk[4096];
    r1cs *r = NULL;
    size_t n = strlen(path);
    int has_suffix = n > 7 && !strcmp(path + n - 7, ".params");
    snprintf(vk, sizeof(vk), "%.*s.vk", (int)(has_suffix ? n - 7 : n), path);
    cuzk_status s = circom_r1cs_compile(&r, file, err);
    cli_progress progress;
    cli_progress_begin(&progress, "setup");
    if (!s)
        s = groth16_setup(r, t, path, vk, p, cli_progress_update, &progress, err);
    cli_progress_end(&progress);
    r1cs_destroy(r);
    return s;
}

static cuzk_status export_vkey(const char *zkey, const char *path, cuzk_error *err)
{
    circom_zkey z;
    cuzk_status s = circom_zkey_open(&z, zkey, err);
    if (s)
        return s;
    s = circom_write_vkey(path, &z.vk, err);
    circom_zkey_close(&z);
    return s;
}

static int run_setup(const cli_args *a)
{
    cuzk_error e = {0};
    const char *zkey = cli_text(a, "--zkey"), *params_path = cli_text(a, "--params"),
               *vkey = cli_text(a, "--vkey");
    if (!zkey && !params_path)
        return cli_usage_error(a, "give --zkey FILE or --params FILE (or both) for what is to be made");
    if (vkey && !zkey)
        return cli_usage_error(a, "--vkey is written beside a --zkey");
    circom_r1cs file;
    pool *p = NULL;
    toxic_waste t;
    cuzk_status s = circom_r1cs_open(&file, cli_text(a, "--r1cs"), &e);
    if (s)
        return cli_fail(a, &e);
    int test = cli_flag(a, "--test-srs");
    if (test)
        fprintf(stderr, "cuzk: warning: the secrets of a test SRS are public; a proof made with it proves "
                        "nothing to anyone\n");
    s = workplace_threads(&p, a, &e);
    if (!s && test)
        toxic_waste_test(&t);
    else if (!s)
        s = toxic_waste_random(&t, &e);
    if (!s && zkey)
        s = circom_setup(&file, &t, zkey, p, &e);
    if (!s && params_path)
        s = setup_params(&file, &t, params_path, p, &e);
    mem_wipe(&t, sizeof(t));
    if (!s && vkey)
        s = export_vkey(zkey, vkey, &e);
    int rc = s ? cli_fail(a, &e) : EXIT_DONE;
    if (!s && a->json) {
        json_out j;
        json_init(&j);
        json_begin_object(&j, NULL);
        json_string(&j, "zkey", zkey);
        json_string(&j, "params", params_path);
        json_string(&j, "vkey", vkey);
        json_u64(&j, "constraints", file.constraints);
        json_end_object(&j);
        rc = cli_print_json(&j, EXIT_DONE);
    } else if (!s) {
        printf("made%s%s%s%s\n", zkey ? " " : "", zkey ? zkey : "", params_path ? " " : "",
               params_path ? params_path : "");
    }
    pool_destroy(p);
    circom_r1cs_close(&file);
    return rc;
}

static const cli_option SETUP[] = {
    {"--r1cs", OPT_TEXT, "FILE", "the circuit", 1},
    {"--zkey", OPT_TEXT, "FILE", "make a .zkey", 0},
    {"--params", OPT_TEXT, "FILE", "make a .params and its .vk", 0},
    {"--vkey", OPT_TEXT, "FILE", "with --zkey: also write verification_key.json", 0},
    {"--test-srs", OPT_FLAG, NULL, "public toxic waste, for tests", 0},
    THREADS_OPTION,
};
const cli_command command_circom_setup = {
    .name = "circom setup",
    .positional = "",
    .summary = "make the keys of a circom circuit",
    .options = SETUP,
    .option_count = sizeof(SETUP) / sizeof(SETUP[0]),
    .run = run_setup,
};

static int run_vkey(const cli_args *a)
{
    cuzk_error e = {0};
    if (export_vkey(cli_text(a, "--zkey"), cli_text(a, "--vkey"), &e))
        return cli_fail(a, &e);
    if (!a->json) {
        printf("%s\n", cli_text(a, "--vkey"));
        return EXIT_DONE;
    }
    json_out j;
    json_init(&j);
    json_begin_object(&j, NULL);
    json_string(&j, "vkey", cli_text(a, "--vkey"));
    json_end_object(&j);
    return cli_print_json(&j, EXIT_DONE);
}

static const cli_option VKEY[] = {
    {"--zkey", OPT_TEXT, "FILE", "the key", 1},
    {"--vkey", OPT_TEXT, "FILE", "where verification_key.json goes", 1},
};
const cli_command command_circom_vkey = {
    .name = "circom vkey",
    .positional = "",
    .summary = "write a key's verification_key.json",
    .options = VKEY,
    .option_count = sizeof(VKEY) / sizeof(VKEY[0]),
    .run = run_vkey,
};

/* ---- info ---- */

static cuzk_status info_r1cs(json_out *j, const char *path, cuzk_error *err)
{
    circom_r1cs r;
    cuzk_status s = circom_r1cs_open(&r, path, err);
    if (s)
        return s;
    json_string(j, "type", "r1cs");
    json_string(j, "curve", "bls12381");
    json_u64(j, "constraints", r.constraints);
    json_u64(j, "wires", r.wires);
    json_u64(j, "public_outputs", r.public_outputs);
    json_u64(j, "public_inputs", r.public_inputs);
    json_u64(j, "private_inputs", r.private_inputs);
    json_u64(j, "labels", r.labels);
    json_u64(j, "nnz_a", r.terms[0]);
    json_u64(j, "nnz_b", r.terms[1]);
    json_u64(j, "nnz_c", r.terms[2]);
    circom_r1cs_close(&r);
    return CUZK_OK;
}

static cuzk_status info_wtns(json_out *j, const char *path, cuzk_error *err)
{
    fr *values;
    uint32_t n;
    cuzk_status s = circom_wtns_read(&values, &n, path, err);
    if (s)
        return s;
    json_string(j, "type", "wtns");
    json_string(j, "curve", "bls12381");
    json_u64(j, "wires", n);
    mem_wipe(values, n * sizeof(fr));
    big_free(values, n * sizeof(fr));
    return CUZK_OK;
}

static cuzk_status info_zkey(json_out *j, const cli_args *a, const char *path, cuzk_error *err)
{
    circom_zkey z;
    cuzk_status s = circom_zkey_open(&z, path, err);
    if (s)
        return s;
    if (cli_flag(a, "--check")) {
        pool *p = NULL;
        s = pool_create(&p, 0, err);
        if (!s)
            s = circom_zkey_check(&z, p, err);
        pool_destroy(p);
    }
    json_string(j, "type", "zkey");
    json_string(j, "curve", "bls12381");
    json_string(j, "protocol", "groth16");
    json_u64(j, "wires", z.wires);
    json_u64(j, "public_signals", z.publics);
    json_u64(j, "domain", z.domain);
    json_u64(j, "coefficients", z.coef_count);
    json_bool(j, "points_checked", cli_flag(a, "--check"));
    circom_zkey_close(&z);
    return s;
}

static int run_info(const cli_args *a)
{
    cuzk_error e = {0};
    const char *path = a->positional[0];
    file_map m;
    json_out j;
    if (file_map_open(&m, path, &e))
        return cli_fail(a, &e);
    char magic[5] = {0};
    if (m.size >= 4)
        memcpy(magic, m.data, 4);
    file_map_close(&m);
    json_init(&j);
    json_begin_object(&j, NULL);
    json_string(&j, "file", path);
    cuzk_status s;
    if (!strcmp(magic, "r1cs"))
        s = info_r1cs(&j, path, &e);
    else if (!strcmp(magic, "wtns"))
        s = info_wtns(&j, path, &e);
    else if (!strcmp(magic, "zkey"))
        s = info_zkey(&j, a, path, &e);
    else
        s = cuzk_error_set(&e, CUZK_BAD_INPUT, "%s is neither a .r1cs, a .wtns nor a .zkey file", path);
    json_end_object(&j);
    if (s) {
        json_clear(&j);
        return cli_fail(a, &e);
    }
    return cli_print_json(&j, EXIT_DONE);
}

static const cli_option INFO[] = {
    {"--check", OPT_FLAG, NULL, "zkey: test every point for curve and subgroup", 0}};
const cli_command command_circom_info = {
    .name = "circom info",
    .positional = "FILE",
    .positional_min = 1,
    .positional_max = 1,
    .summary = "what a .r1cs, .wtns or .zkey holds",
    .options = INFO,
    .option_count = sizeof(INFO) / sizeof(INFO[0]),
    .run = run_info,
};
