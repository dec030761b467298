/* The shared list of cases on the CPU back end, with every plan it can choose. */
#include "base/cpu.h"
#include "cuzk/backend.h"
#include "support/backend_cases.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void run_all(const cuzk_device_options *o)
{
    backend_run run = {.backend = cuzk_backend_cpu()};
    cuzk_error err = {0};
    assert_int_equal(run.backend->device_open(&run.device, 0, o, &err), CUZK_OK);
    backend_cases_test(&run);
    run.backend->device_close(run.device);
}

static void test_kept(void **state)
{
    (void)state;
    run_all(NULL);
}

static void run_proofs(const cuzk_device_options *o)
{
    backend_run run = {.backend = cuzk_backend_cpu()};
    cuzk_error err = {0};
    assert_int_equal(run.backend->device_open(&run.device, 0, o, &err), CUZK_OK);
    backend_case_prove(&run);
    backend_case_prove_batch(&run);
    backend_case_prove_stops(&run);
    backend_case_key_refuses(&run);
    run.backend->device_close(run.device);
}

static void test_streamed(void **state)
{
    (void)state;
    cuzk_device_options o = {.threads = 3, .stream_queries = 1};
    run_proofs(&o);
}

static void test_checked(void **state)
{
    (void)state;
    cuzk_device_options o = {.threads = 1, .check_points = 1};
    run_proofs(&o);
}

/* The scalar forms, on a processor that would choose others. */
static void test_portable(void **state)
{
    (void)state;
    cuzk_device_options o = {.threads = 2};
    cpu_force(CPU_PORTABLE);
    run_all(&o);
    cpu_force(CPU_ALL);
}

static void test_table(void **state)
{
    (void)state;
    const cuzk_backend *b = cuzk_backend_cpu();
    cuzk_error err = {0};
    uint32_t count = 0;
    cuzk_device_info info;
    cuzk_device *d;
    uint64_t free_bytes, total;
    assert_int_equal(b->abi, CUZK_BACKEND_ABI);
    assert_int_equal(b->size, sizeof(*b));
    assert_string_equal(b->name, "cpu");
    assert_int_equal(b->device_count(&count, &err), CUZK_OK);
    assert_int_equal(count, 1);
    assert_int_equal(b->device_describe(0, &info, &err), CUZK_OK);
    assert_true(info.name[0] && info.processors > 0 && info.memory_total >= info.memory_free);
    assert_int_equal(b->device_describe(1, &info, &err), CUZK_INVALID_ARGUMENT);
    assert_int_equal(b->device_open(&d, 7, NULL, &err), CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "7"));
    assert_int_equal(b->device_open(&d, 0, NULL, &err), CUZK_OK);
    assert_int_equal(b->device_memory(d, &free_bytes, &total, &err), CUZK_OK);
    assert_true(free_bytes > 0 && free_bytes <= total);
    assert_int_equal(b->op_ntt(d, CUZK_NTT_FORWARD, NULL, 33, &err), CUZK_INVALID_ARGUMENT);
    b->device_close(d);
    b->device_close(NULL);
    b->key_unload(NULL);
    for (size_t i = 0; i < backend_case_count(); i++)
        assert_true(backend_cases[i].supported(b));
}

int main(int argc, char **argv)
{
    if (argc > 1) { /* perf | support: for people */
        backend_run run = {.backend = cuzk_backend_cpu()};
        if (!strcmp(argv[1], "support"))
            backend_cases_support(run.backend, stdout);
        else if (run.backend->device_open(&run.device, 0, NULL, NULL) == CUZK_OK)
            backend_cases_perf(&run, stdout);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),   cmocka_unit_test(test_kept),     cmocka_unit_test(test_streamed),
        cmocka_unit_test(test_checked), cmocka_unit_test(test_portable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
