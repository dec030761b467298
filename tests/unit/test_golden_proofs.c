/* From vanilla proofs to the bytes of the golden SRS and of the golden proofs. The PoSt circuits of 2 KiB
 * always; PoRep and update, which take minutes of processor time and a gigabyte of disk, where
 * CUZK_TEST_LARGE=1 is set. */
#include "api/circuits.h"
#include "base/encode.h"
#include "base/mem.h"
#include "filecoin/task.h"
#include "support/data.h"
#include "support/ref_groth16.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static poseidon_set *set;
static pool *workers;

static void ok(cuzk_status s, const cuzk_error *err)
{
    if (s != CUZK_OK)
        fail_msg("%s: %s", cuzk_status_name(s), err->message);
}

static int open_all(void **state)
{
    cuzk_error err;
    (void)state;
    return poseidon_set_create(&set, &err) != CUZK_OK || pool_create(&workers, 0, &err) != CUZK_OK;
}

static int close_all(void **state)
{
    (void)state;
    pool_destroy(workers);
    poseidon_set_destroy(set);
    return 0;
}

/* A circuit with its parameters on the CPU. */
typedef struct bench {
    r1cs *r;
    params *p;
    cuzk_device *device;
    groth16_prover *g;
    char path[512], vk_path[512];
} bench;

static void check_srs(const bench *b, const json_t *srs)
{
    uint8_t head[16], sha[32], expected_head[16], expected_sha[32];
    cuzk_error err = {0};
    ok(params_digest(b->p, head, sha, NULL, NULL, &err), &err);
    test_json_hex(expected_sha, 32, srs, "params_sha256");
    test_json_hex(expected_head, 16, srs, "params_blake2b_head16");
    assert_int_equal(b->p->map.size, test_json_int(srs, "params_bytes"));
    assert_memory_equal(sha, expected_sha, 32);
    assert_memory_equal(head, expected_head, 16);
    for (int i = 0; i < PARAMS_SECTIONS; i++) {
        params_section s;
        params_get_section(b->p, i, &s);
        assert_int_equal(s.count, test_json_int(srs, s.name));
    }
    const char *hex = test_json_string(srs, "vk");
    size_t n = strlen(hex) / 2, size;
    uint8_t *vk = malloc(n), *file;
    assert_int_equal(hex_decode(vk, n, hex), 0);
    ok(file_read(&file, &size, b->vk_path, 1 << 24, &err), &err);
    assert_int_equal(size, n);
    assert_memory_equal(vk, file, n);
    mem_free(file);
    free(vk);
}

static void bench_open(bench *b, const char *name, const json_t *srs)
{
    cuzk_error err = {0};
    toxic_waste t;
    char file[64];
    toxic_waste_test(&t);
    snprintf(file, sizeof(file), "TEST-%s.params", name);
    snprintf(b->path, sizeof(b->path), "%s", test_path(file));
    snprintf(file, sizeof(file), "TEST-%s.vk", name);
    snprintf(b->vk_path, sizeof(b->vk_path), "%s", test_path(file));
    ok(circuit_compile(&b->r, circuit_by_name(name), set, &err), &err);
    ok(groth16_setup(b->r, &t, b->path, b->vk_path, workers, NULL, NULL, &err), &err);
    ok(params_open(&b->p, b->path, &err), &err);
    check_srs(b, srs);
    ok(cuzk_backend_cpu()->device_open(&b->device, 0, NULL, &err), &err);
    ok(groth16_prover_create(&b->g, cuzk_backend_cpu(), b->device, b->r, b->p, &err), &err);
}

static void bench_close(bench *b)
{
    groth16_prover_destroy(b->g);
    cuzk_backend_cpu()->device_close(b->device);
    params_close(b->p);
    r1cs_destroy(b->r);
    unlink(b->path);
    unlink(b->vk_path);
}

static void prove_partition(const bench *b, const proof_task *t, uint32_t k, const uint8_t *expected)
{
    cuzk_error err = {0};
    witness w;
    fr r, s;
    char label[16];
    uint8_t proof[GROTH16_PROOF_BYTES];
    ok(proof_task_witness(t, k, b->r, &w, workers, NULL, &err), &err);
    snprintf(label, sizeof(label), "r:%u", k);
    test_fr(&r, label);
    label[0] = 's';
    test_fr(&s, label);
    ok(groth16_prove(b->g, &w, &r, &s, proof, NULL, NULL, &err), &err);
    if (memcmp(proof, expected, sizeof(proof)))
        fail_msg("the proof of partition %u differs from the golden one", k);
    witness_clear(&w);
}

/* All partitions whose proof is given, and their verification from the task's public data. */
static void prove_task(const bench *b, const proof_task *t, const json_t *golden)
{
    const char *hex = test_json_string(json_object_get(golden, "groth16"), "proof");
    size_t count = strlen(hex) / (2 * GROTH16_PROOF_BYTES);
    assert_true(count > 0 && count <= proof_task_partitions(t));
    uint8_t *all = malloc(count * GROTH16_PROOF_BYTES);
    assert_int_equal(hex_decode(all, count * GROTH16_PROOF_BYTES, hex), 0);
    for (uint32_t k = 0; k < count; k++) {
        const uint8_t *expected = all + (size_t)k * GROTH16_PROOF_BYTES;
        cuzk_error err = {0};
        fr *inputs;
        size_t n;
        prove_partition(b, t, k, expected);
        ok(proof_task_inputs(t, k, &inputs, &n, &err), &err);
        ok(groth16_verify(&b->p->vk, expected, inputs, n, &err), &err);
        if (n > 1) { /* the same inputs in another order are other inputs */
            fr x = inputs[0];
            inputs[0] = inputs[n - 1];
            inputs[n - 1] = x;
            assert_int_equal(groth16_verify(&b->p->vk, expected, inputs, n, &err), CUZK_INVALID_PROOF);
        }
        mem_free(inputs);
    }
    free(all);
}

/* ---- PoSt ---- */
static void prove_post(const bench *b, const char *name, circuit_kind kind)
{
    char file[128];
    cuzk_error err = {0};
    snprintf(file, sizeof(file), "%s/golden.json", name);
    json_t *golden = test_data_json(file);
    const registered_post *post = post_by_name(test_json_string(golden, "registered_proof"));
    assert_non_null(post);
    size_t count = json_array_size(json_object_get(golden, "sectors"));
    proof_bytes *vanilla = calloc(count, sizeof(*vanilla));
    for (size_t i = 0; i < count; i++) {
        snprintf(file, sizeof(file), "%s/vanilla-%zu.bin", name, i);
        vanilla[i].data = test_data(file, &vanilla[i].size);
    }
    proof_request q = {.kind = kind,
                       .has_registered = 1,
                       .registered_proof = post->number,
                       .vanilla = vanilla,
                       .vanilla_count = count,
                       .has_randomness = 1};
    proof_task *t;
    test_json_hex(q.randomness, 32, golden, "randomness");
    ok(proof_task_parse(&t, &q, set, &err), &err);
    ok(proof_task_check(t, -1, workers, &err), &err);
    prove_task(b, t, golden);
    proof_task_destroy(t);
    for (size_t i = 0; i < count; i++)
        free((void *)(uintptr_t)vanilla[i].data);
    free(vanilla);
    json_decref(golden);
}

static json_t *golden_srs(const char *name)
{
    char file[128];
    snprintf(file, sizeof(file), "%s/golden.json", name);
    json_t *golden = test_data_json(file), *srs = json_incref(json_object_get(golden, "srs"));
    assert_non_null(srs);
    json_decref(golden);
    return srs;
}

static void winning(void **state)
{
    (void)state;
    bench b;
    json_t *srs = golden_srs("winning-2k-1");
    bench_open(&b, "winning-2k", srs);
    prove_post(&b, "winning-2k-1", CIRCUIT_WINNING);
    bench_close(&b);
    json_decref(srs);
}

static void window(void **state)
{
    (void)state;
    bench b;
    json_t *srs = golden_srs("window-2k-1sector");
    bench_open(&b, "window-2k", srs);
    prove_post(&b, "window-2k-1sector", CIRCUIT_WINDOW);
    prove_post(&b, "window-2k-3sectors", CIRCUIT_WINDOW);
    prove_post(&b, "window-v1-2k-2sectors", CIRCUIT_WINDOW);
    bench_close(&b);
    json_decref(srs);
}

/* ---- PoRep and update ---- */
static int large(void)
{
    const char *on = getenv("CUZK_TEST_LARGE");
    return on && !strcmp(on, "1");
}

static void prove_porep(const bench *b, const char *name)
{
    char file[128];
    cuzk_error err = {0};
    proof_request q = {.kind = CIRCUIT_POREP};
    proof_task *t;
    snprintf(file, sizeof(file), "%s/golden.json", name);
    json_t *golden = test_data_json(file);
    snprintf(file, sizeof(file), "%s/c1.json", name);
    uint8_t *c1 = test_data(file, &q.c1.size);
    q.c1.data = c1;
    ok(proof_task_parse(&t, &q, set, &err), &err);
    ok(proof_task_check(t, -1, workers, &err), &err);
    prove_task(b, t, golden);
    proof_task_destroy(t);
    free(c1);
    json_decref(golden);
}

static void porep(void **state)
{
    static const char *const cases[] = {"porep-2k-v1_1-1", "porep-2k-v1_1-2",  "porep-2k-v1_1-3",
                                        "porep-2k-v1-4",   "porep-2k-synth-5", "porep-2k-ni-6"};
    (void)state;
    if (!large())
        skip();
    bench b;
    json_t *srs = test_data_json("porep-2k-srs.json");
    bench_open(&b, "porep-2k", srs);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        prove_porep(&b, cases[i]);
    bench_close(&b);
    json_decref(srs);
}

static void update(void **state)
{
    (void)state;
    if (!large())
        skip();
    bench b;
    cuzk_error err = {0};
    json_t *golden = test_data_json("update-2k-6/golden.json");
    const registered_update *u = NULL;
    for (uint64_t i = 0; i < 5 && !(u && u->sector_size == 2048); i++)
        u = update_by_number(i);
    assert_non_null(u);
    proof_bytes vanilla = {0};
    vanilla.data = test_data("update-2k-6/vanilla-0.bin", &vanilla.size);
    proof_request q = {.kind = CIRCUIT_UPDATE,
                       .has_registered = 1,
                       .registered_proof = u->number,
                       .vanilla = &vanilla,
                       .vanilla_count = 1,
                       .h = (uint32_t)test_json_int(golden, "h")};
    test_json_hex(q.comm_r_old, 32, golden, "comm_r_old");
    test_json_hex(q.comm_r_new, 32, golden, "comm_r_new");
    test_json_hex(q.comm_d_new, 32, golden, "comm_d_new");
    proof_task *t;
    ok(proof_task_parse(&t, &q, set, &err), &err);
    ok(proof_task_check(t, -1, workers, &err), &err);
    bench_open(&b, "update-2k", json_object_get(golden, "srs"));
    prove_task(&b, t, golden);
    bench_close(&b);
    proof_task_destroy(t);
    free((void *)(uintptr_t)vanilla.data);
    json_decref(golden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(winning),
        cmocka_unit_test(window),
        cmocka_unit_test(porep),
        cmocka_unit_test(update),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
