/* The CUDA back end when things go wrong, on the emulated device: every allocation fails once, kernels fault
 * at many places, workers share a key. test_cuda_faults PLUGIN */
#include "base/mem.h"
#include "support/backend_cases.h"
#include "support/math.h"
#include "support/ref_groth16.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const cuzk_backend *backend;

/* A circuit with its queries, and the sums that the CPU makes of it. */
static test_circuit circuit;
static ref_system ref;
static cuzk_circuit_view view;
static cuzk_query_view queries;
static cuzk_witness_view witness_of;
static cuzk_sums expected;

static uint8_t *section(const char *name, uint64_t *count, int is_g2)
{
    toxic_waste t;
    size_t n, bytes = is_g2 ? 192 : 96;
    toxic_waste_test(&t);
    fr *k = ref_section(&ref, &t, name, &n);
    uint8_t *out = calloc(n ? n : 1, bytes);
    assert_non_null(out);
    for (size_t i = 0; i < n; i++) {
        g1_affine p;
        g2_affine q;
        if (is_g2) {
            ref_g2(&q, &k[i]);
            g2_encode(out + i * bytes, &q);
        } else {
            ref_g1(&p, &k[i]);
            g1_encode(out + i * bytes, &p);
        }
    }
    free(k);
    *count = n;
    return out;
}

static cuzk_status prove_once(const cuzk_backend *b, cuzk_device *d, cuzk_sums *sums, cuzk_error *err)
{
    cuzk_device_key *key;
    cuzk_device_job *job;
    cuzk_status s = b->key_load(d, &key, &view, &queries, NULL, 0, err);
    if (s != CUZK_OK)
        return s;
    s = b->prove_start(key, &job, &witness_of, NULL, NULL, err);
    if (s == CUZK_OK)
        s = b->prove_finish(job, sums, NULL, err);
    b->key_unload(key);
    return s;
}

static int setup(void **state)
{
    (void)state;
    toxic_waste t;
    cuzk_error err = {0};
    cuzk_device *cpu;
    random_system shape = {.seed = 77, .count = 7, .imports = 2, .globals = 5, .tail = 3, .rows = 15};
    toxic_waste_test(&t);
    test_circuit_make(&circuit, shape);
    ref_system_make(&ref, circuit.r, &circuit.w, &t);
    assert_int_equal(r1cs_view(circuit.r, &view, &err), CUZK_OK);
    const witness *w = &circuit.w;
    witness_of =
        (cuzk_witness_view){w->inputs, w->aux, w->fields, (cuzk_fr *)w->input, w->bits, (cuzk_fr *)w->field};
    queries.h = section("h", &queries.h_count, 0);
    queries.l = section("l", &queries.l_count, 0);
    queries.a = section("a", &queries.a_count, 0);
    queries.b_g1 = section("b_g1", &queries.b_g1_count, 0);
    queries.b_g2 = section("b_g2", &queries.b_g2_count, 1);
    assert_int_equal(cuzk_backend_cpu()->device_open(&cpu, 0, NULL, &err), CUZK_OK);
    assert_int_equal(prove_once(cuzk_backend_cpu(), cpu, &expected, &err), CUZK_OK);
    cuzk_backend_cpu()->device_close(cpu);
    return 0;
}

static void with_fault(const char *variable, long n)
{
    char number[24];
    snprintf(number, sizeof number, "%ld", n);
    unsetenv(variable);
    if (n)
        setenv(variable, number, 1);
}

/* A fresh device, one proof; what the fault did. Right sums or a status with a sentence, nothing else. */
static cuzk_status attempt(const cuzk_device_options *o, cuzk_error *err)
{
    cuzk_device *d;
    cuzk_sums sums;
    cuzk_status s = backend->device_open(&d, 0, o, err);
    if (s != CUZK_OK)
        return s;
    s = prove_once(backend, d, &sums, err);
    if (s == CUZK_OK && memcmp(&sums, &expected, sizeof sums))
        fail_msg("the sums differ");
    if (s == CUZK_DEVICE_ERROR) { /* the device is not used again */
        cuzk_error again = {0};
        cuzk_fr x = {{1}};
        assert_int_equal(backend->op_fr(d, CUZK_OP_SQR, &x, &x, NULL, 1, &again), CUZK_DEVICE_ERROR);
        assert_non_null(strstr(again.message, "lost"));
    }
    backend->device_close(d);
    return s;
}

static void walk_allocations(const cuzk_device_options *o)
{
    long failed = 0;
    for (long n = 1;; n++) {
        cuzk_error err = {0};
        with_fault("CUZK_EMU_FAIL_ALLOC", n);
        cuzk_status s = attempt(o, &err);
        if (s == CUZK_OK && n > failed + 3)
            break;
        if (s == CUZK_OK)
            continue; /* it found another way */
        if (s != CUZK_OUT_OF_MEMORY || !err.message[0])
            fail_msg("allocation %ld: %s: %s", n, cuzk_status_name(s), err.message);
        failed = n;
    }
    with_fault("CUZK_EMU_FAIL_ALLOC", 0);
    assert_true(failed >= 4);
}

static void test_allocations(void **state)
{
    (void)state;
    cuzk_device_options streamed = {.stream_queries = 1};
    walk_allocations(NULL);
    walk_allocations(&streamed);
}

static void test_lost_device(void **state)
{
    (void)state;
    long n = 1, lost = 0;
    for (;; n += 1 + n / 2) {
        cuzk_error err = {0};
        with_fault("CUZK_EMU_FAIL_LAUNCH", n);
        cuzk_status s = attempt(NULL, &err);
        if (s == CUZK_OK)
            break;
        assert_true(n < 100000);
        if (s != CUZK_DEVICE_ERROR || !strstr(err.message, "device 0"))
            fail_msg("launch %ld: %s: %s", n, cuzk_status_name(s), err.message);
        lost++;
    }
    assert_true(lost >= 10);
    with_fault("CUZK_EMU_FAIL_LAUNCH", 0);
    cuzk_error err = {0};
    assert_int_equal(attempt(NULL, &err), CUZK_OK);
}

typedef struct shared_key {
    cuzk_device_key *key;
    int wrong;
} shared_key;

static void *prove_many(void *ctx)
{
    shared_key *k = ctx;
    for (int i = 0; i < 3; i++) {
        cuzk_device_job *job;
        cuzk_sums sums;
        cuzk_error err = {0};
        if (backend->prove_start(k->key, &job, &witness_of, NULL, NULL, &err) ||
            backend->prove_finish(job, &sums, NULL, &err) || memcmp(&sums, &expected, sizeof sums))
            __atomic_fetch_add(&k->wrong, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void share(const cuzk_device_options *o)
{
    cuzk_error err = {0};
    cuzk_device *d;
    shared_key k = {0};
    pthread_t t[3];
    assert_int_equal(backend->device_open(&d, 0, o, &err), CUZK_OK);
    assert_int_equal(backend->key_load(d, &k.key, &view, &queries, NULL, 0, &err), CUZK_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&t[i], NULL, prove_many, &k), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert_int_equal(k.wrong, 0);
    backend->key_unload(k.key);
    backend->device_close(d);
}

static void test_workers(void **state)
{
    (void)state;
    cuzk_device_options streamed = {.stream_queries = 1};
    share(NULL);
    share(&streamed);
}

/* Loads the key and proves; what the plan says up to the first semicolon, or nothing where memory was too
 * little. */
static void prove_planned(uint64_t limit, char plan[256])
{
    cuzk_error err = {0};
    cuzk_device_options o = {.memory_limit = limit};
    shared_key k = {0};
    cuzk_device *d;
    uint64_t before, after, total, held;
    plan[0] = 0;
    assert_int_equal(backend->device_open(&d, 0, &o, &err), CUZK_OK);
    cuzk_status s = backend->key_load(d, &k.key, &view, &queries, plan, 256, &err);
    if (s == CUZK_OK) {
        prove_many(&k);
        if (k.wrong)
            fail_msg("%d sums differ: %s", k.wrong, plan);
        held = backend->key_bytes(k.key);
        assert_int_equal(backend->device_memory(d, &before, &total, &err), CUZK_OK);
        backend->key_unload(k.key);
        assert_int_equal(backend->device_memory(d, &after, &total, &err), CUZK_OK);
        if (after - before != held)
            fail_msg("%llu bytes held, %llu given back: %s", (unsigned long long)held,
                     (unsigned long long)(after - before), plan);
        assert_non_null(strchr(plan, ';'));
        *strchr(plan, ';') = 0;
        if (strstr(plan, "chunks of")) /* of ever fewer points */
            strcpy(plan, "streamed");
    } else {
        assert_int_equal(s, CUZK_OUT_OF_MEMORY);
    }
    backend->device_close(d);
}

/* With ever less memory the plans change, the sums do not. Between two limits with different plans the others
 * are looked for. */
static const char *const PLANS[] = {"h and wide terms turned, 7 copies", /* more would not be worth it */
                                    "h and wide terms turned, 4 copies",
                                    "h and wide terms turned, 2 copies",
                                    "h and wide terms turned, 1 copy",
                                    "h turned",
                                    "all queries resident",
                                    "streamed"};
#define PLAN_KINDS (sizeof PLANS / sizeof *PLANS)
static void walk_plans(uint64_t most, const char *first, uint64_t least, const char *last, int *met)
{
    char plan[256];
    uint64_t middle = least + (most - least) / 2;
    if (!strcmp(first, last) || most - least <= 2048)
        return;
    prove_planned(middle, plan);
    const char *end = strstr(plan, "resident, ") ? strstr(plan, "resident, ") + 10 : plan;
    for (size_t i = 0; i < PLAN_KINDS; i++)
        met[i] += !strcmp(end, PLANS[i]);
    walk_plans(most, first, middle, plan, met);
    walk_plans(middle, plan, least, last, met);
}
static void test_plans(void **state)
{
    (void)state;
    int met[PLAN_KINDS] = {0};
    walk_plans((uint64_t)1 << 30, "ample", 1 << 20, "", met);
    for (size_t i = 0; i < PLAN_KINDS; i++)
        if (!met[i])
            fail_msg("no plan: %s", PLANS[i]);
}

/* One key after the other on a device that has not room for both: what the second drops the first makes
 * again. */
static void test_two_keys(void **state)
{
    (void)state;
    cuzk_error err = {0};
    cuzk_device *d;
    cuzk_device_key *key[2];
    assert_int_equal(backend->device_open(&d, 0, NULL, &err), CUZK_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(backend->key_load(d, &key[i], &view, &queries, NULL, 0, &err), CUZK_OK);
    for (int i = 0; i < 4; i++) {
        shared_key k = {.key = key[i & 1]};
        prove_many(&k);
        assert_int_equal(k.wrong, 0);
    }
    backend->key_unload(key[0]);
    backend->key_unload(key[1]);
    backend->device_close(d);
}

int main(int argc, char **argv)
{
    cuzk_error err = {0};
    if (argc < 2 || cuzk_backend_load(&backend, argv[1], &err) != CUZK_OK) {
        fprintf(stderr, "%s\n", argc < 2 ? "usage: test_cuda_faults PLUGIN" : err.message);
        return 2;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workers),     cmocka_unit_test(test_two_keys),    cmocka_unit_test(test_plans),
        cmocka_unit_test(test_allocations), cmocka_unit_test(test_lost_device),
    };
    return cmocka_run_group_tests_name("cuda/faults", tests, setup, NULL);
}
