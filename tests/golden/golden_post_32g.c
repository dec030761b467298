/* The production WindowPoSt circuit: all 125,305,057 rows, and the witness of a partition of 20 sectors that
 * are filled up to 2349. */
#include "base/clock.h"
#include "base/mem.h"
#include "filecoin/post.h"
#include "support/golden.h"
#include "support/vanilla.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the above */
#include <cmocka.h>

static poseidon_set *set;
static pool *workers;
static r1cs *circuit;
static post_input *in;
static vanilla_case window;

static int open_fixture(void **state)
{
    (void)state;
    cuzk_error err;
    uint8_t randomness[32];
    if (poseidon_set_create(&set, &err) != CUZK_OK || pool_create(&workers, 0, &err) != CUZK_OK)
        return -1;
    post_circuit c = {circuit_by_name("window-32g"), set};
    circuit = golden_compile("window-32g", post_synthesize, &c);
    vanilla_open(&window, "window-32g-2");
    test_json_hex(randomness, 32, window.golden, "randomness");
    return post_parse(&in, post_by_name("StackedDrgWindow32GiBV1_2"), randomness, window.proof, window.count,
                      &err) != CUZK_OK;
}

static int close_fixture(void **state)
{
    (void)state;
    post_free(in);
    vanilla_close(&window);
    r1cs_destroy(circuit);
    pool_destroy(workers);
    poseidon_set_destroy(set);
    return 0;
}

static void compiled_small(void **state)
{
    (void)state;
    print_message("compiled circuit: %.1f MB\n", (double)r1cs_memory(circuit) / 1e6);
    assert_true(r1cs_memory(circuit) < 10000000); /* one sector's rows stand for all */
}

static void witness_of_the_partition(void **state)
{
    witness w;
    cuzk_error err;
    (void)state;
    if (post_check(in, -1, set, workers, &err) != CUZK_OK)
        fail_msg("%s", err.message);
    if (post_witness(&w, circuit, in, 0, set, workers, NULL, &err) != CUZK_OK)
        fail_msg("%s", err.message);
    golden_witness(circuit, &w, json_array_get(json_object_get(window.golden, "partitions"), 0));
    if (r1cs_check(circuit, &w, workers, &err) != CUZK_OK)
        fail_msg("%s", err.message);
    witness_clear(&w);
}

/* 2349 sectors, none of them a copy for the prover: core-seconds and memory. */
static void cost_of_full_partition(void **state)
{
    witness w;
    cuzk_error err;
    (void)state;
    post_input full = *in;
    full.sector_count = in->circuit->sectors;
    full.sector = calloc(full.sector_count, sizeof *full.sector);
    assert_non_null(full.sector);
    for (size_t i = 0; i < full.sector_count; i++) {
        full.sector[i] = in->sector[i % in->sector_count];
        full.sector[i].sector_id = i;
    }
    uint64_t cpu = clock_process_cpu_ns();
    if (post_witness(&w, circuit, &full, 0, set, workers, NULL, &err) != CUZK_OK)
        fail_msg("%s", err.message);
    cpu = clock_process_cpu_ns() - cpu;
    print_message("witness of %zu sectors: %.2f core-seconds, %.2f GB\n", full.sector_count,
                  (double)cpu / 1e9, (double)w.bytes / 1e9);
    assert_true(w.bytes < 6000000000ull);
    witness_clear(&w);
    free(full.sector);
}

static void every_row(void **state)
{
    (void)state;
    json_t *expected = test_data_json("structure/window-32GiB.json");
    golden_structure(circuit, expected, workers);
    json_decref(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiled_small),
        cmocka_unit_test(witness_of_the_partition),
        cmocka_unit_test(cost_of_full_partition),
        cmocka_unit_test(every_row),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
