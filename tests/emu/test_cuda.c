/* The CUDA back end against the shared list of cases: test_cuda PLUGIN [device].
 *
 * With the emulated plug-in (tests/emu) everything runs on the host: all plans, little memory, failing
 * allocations, a device that is lost. With "device" the plug-in is the real one; without a device the test is
 * skipped, after it was seen that the refusal is a sentence. */
#include "cuzk/backend.h"
#include "support/backend_cases.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const cuzk_backend *backend;

static void run_cases(const cuzk_device_options *o, int all)
{
    backend_run run = {.backend = backend};
    cuzk_error err = {0};
    if (backend->device_open(&run.device, 0, o, &err) != CUZK_OK)
        fail_msg("cannot open: %s", err.message);
    if (all) {
        backend_cases_test(&run);
    } else {
        backend_case_prove(&run);
        backend_case_prove_batch(&run);
        backend_case_prove_stops(&run);
        backend_case_key_refuses(&run);
    }
    backend->device_close(run.device);
}
static void test_all(void **state)
{
    (void)state;
    run_cases(NULL, 1);
}
static void test_streamed(void **state)
{
    (void)state;
    cuzk_device_options o = {.stream_queries = 1, .threads = 2};
    run_cases(&o, 0);
}
static void test_checked(void **state)
{
    (void)state;
    cuzk_device_options o = {.check_points = 1, .threads = 1};
    run_cases(&o, 0);
}
static void test_host_b_g2(void **state)
{
    (void)state;
    cuzk_device_options o = {.b_g2_on_host = 1, .threads = 3};
    run_cases(&o, 0);
}
static void test_little_memory(void **state)
{
    (void)state;
    cuzk_device_options o = {.memory_limit = (uint64_t)192 << 20};
    run_cases(&o, 1);
}
static void test_table(void **state)
{
    (void)state;
    cuzk_error err = {0};
    uint32_t count = 0;
    cuzk_device_info info;
    cuzk_device *d = NULL;
    uint64_t free_bytes = 0, total = 0;
    assert_string_equal(backend->name, "cuda");
    assert_int_equal(backend->abi, CUZK_BACKEND_ABI);
    assert_int_equal(backend->size, sizeof(cuzk_backend));
    assert_int_equal(backend->device_count(&count, &err), CUZK_OK);
    assert_true(count > 0);
    assert_int_equal(backend->device_describe(0, &info, &err), CUZK_OK);
    assert_true(info.name[0] && info.processors > 0 && info.memory_total >= info.memory_free);
    assert_int_equal(backend->device_describe(count, &info, &err), CUZK_INVALID_ARGUMENT);
    assert_int_equal(backend->device_open(&d, count + 6, NULL, &err), CUZK_INVALID_ARGUMENT);
    assert_null(d);
    assert_int_equal(backend->device_open(&d, 0, NULL, &err), CUZK_OK);
    assert_int_equal(backend->device_memory(d, &free_bytes, &total, &err), CUZK_OK);
    assert_true(free_bytes > 0 && free_bytes <= total);
    assert_int_equal(backend->op_ntt(d, CUZK_NTT_FORWARD, NULL, 33, &err), CUZK_UNSUPPORTED);
    assert_int_equal(backend->op_fr(d, (cuzk_field_op)9, NULL, NULL, NULL, 1, &err), CUZK_INVALID_ARGUMENT);
    backend->device_close(d);
    backend->device_close(NULL);
    backend->key_unload(NULL);
}

/* ---- what only the emulation can show ---- */
static void test_no_device(void **state)
{
    (void)state;
    cuzk_error err = {0};
    uint32_t count = 9;
    cuzk_device *d;
    setenv("CUZK_EMU_DEVICES", "0", 1);
    assert_int_equal(backend->device_count(&count, &err), CUZK_UNSUPPORTED);
    assert_int_equal(count, 0);
    assert_non_null(strstr(err.message, "no device"));
    assert_int_equal(backend->device_open(&d, 0, NULL, &err), CUZK_UNSUPPORTED);
    unsetenv("CUZK_EMU_DEVICES");
}

int main(int argc, char **argv)
{
    cuzk_error err = {0};
    uint32_t count = 0;
    int device = argc > 2 && !strcmp(argv[2], "device");
    if (argc < 2) {
        fprintf(stderr, "usage: test_cuda PLUGIN [device [perf]]\n");
        return 2;
    }
    if (cuzk_backend_load(&backend, argv[1], &err) != CUZK_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    if (device && backend->device_count(&count, &err) != CUZK_OK) {
        fprintf(stderr, "skipped: %s\n", err.message);
        return err.status == CUZK_UNSUPPORTED && err.message[0] ? 77 : 1;
    }
    if (argc > 3 && !strcmp(argv[3], "perf")) {
        backend_run run = {.backend = backend};
        if (backend->device_open(&run.device, 0, NULL, &err) == CUZK_OK)
            backend_cases_perf(&run, stdout);
        return 0;
    }
    const struct CMUnitTest both[] = {
        cmocka_unit_test(test_table),     cmocka_unit_test(test_all),
        cmocka_unit_test(test_streamed),  cmocka_unit_test(test_checked),
        cmocka_unit_test(test_host_b_g2), cmocka_unit_test(test_little_memory),
    };
    const struct CMUnitTest emulated[] = {cmocka_unit_test(test_no_device)};
    int failures = cmocka_run_group_tests_name("cuda", both, NULL, NULL);
    if (!device)
        failures += cmocka_run_group_tests_name("cuda/emulated", emulated, NULL, NULL);
    return failures != 0;
}
