/* The production PoRep circuit: all 130,278,869 rows and the witness of a partition of real size. */
#include "base/clock.h"
#include "base/mem.h"
#include "filecoin/porep.h"
#include "support/golden.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka.h needs the above */
#include <cmocka.h>

static poseidon_set *ps;
static pool *workers;
static r1cs *circuit;

static int open_fixture(void **state)
{
    (void)state;
    cuzk_error err;
    if (poseidon_set_create(&ps, &err) != CUZK_OK || pool_create(&workers, 0, &err) != CUZK_OK)
        return -1;
    porep_circuit c = {circuit_by_name("porep-32g"), ps};
    circuit = golden_compile("porep-32g", porep_synthesize, &c);
    return 0;
}

static int close_fixture(void **state)
{
    (void)state;
    r1cs_destroy(circuit);
    pool_destroy(workers);
    poseidon_set_destroy(ps);
    return 0;
}

static porep_c1 *open_c1(void)
{
    size_t size;
    cuzk_error err;
    porep_c1 *c1 = NULL;
    uint8_t *text = test_data("porep-32g-1/c1.json", &size);
    if (porep_c1_parse(&c1, text, size, &err) != CUZK_OK)
        fail_msg("%s", err.message);
    free(text);
    return c1;
}

static void witness_of_a_partition(void **state)
{
    (void)state;
    porep_c1 *c1 = open_c1();
    json_t *golden = test_data_json("porep-32g-1/golden.json");
    witness w;
    cuzk_error err;
    uint64_t cpu = clock_process_cpu_ns();
    if (porep_witness(&w, circuit, c1, 0, ps, NULL, NULL, &err) != CUZK_OK)
        fail_msg("%s", err.message);
    cpu = clock_process_cpu_ns() - cpu;
    print_message("witness: %.3f core-seconds, %.1f MB\n", (double)cpu / 1e9, (double)w.bytes / 1e6);
    assert_true(w.bytes <= 200000000);
    golden_witness(circuit, &w, json_array_get(json_object_get(golden, "partitions"), 0));
    witness_clear(&w);
    /* By several threads: the same wires. */
    if (porep_witness(&w, circuit, c1, 0, ps, workers, NULL, &err) != CUZK_OK)
        fail_msg("%s", err.message);
    golden_witness(circuit, &w, json_array_get(json_object_get(golden, "partitions"), 0));
    witness_clear(&w);
    json_decref(golden);
    porep_c1_free(c1);
}

static void every_row(void **state)
{
    (void)state;
    json_t *expected = test_data_json("structure/porep-32GiB.json");
    golden_structure(circuit, expected, workers);
    json_decref(expected);
}

/* The first partition and the last satisfy every row. */
static void satisfied(void **state)
{
    (void)state;
    porep_c1 *c1 = open_c1();
    assert_true(c1->partitions > 1);
    for (uint32_t i = 0; i < c1->partitions; i += c1->partitions - 1) {
        witness w;
        cuzk_error err;
        if (porep_witness(&w, circuit, c1, i, ps, workers, NULL, &err) != CUZK_OK)
            fail_msg("partition %u: %s", i, err.message);
        if (r1cs_check(circuit, &w, workers, &err) != CUZK_OK)
            fail_msg("partition %u: %s", i, err.message);
        witness_clear(&w);
    }
    porep_c1_free(c1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(witness_of_a_partition),
        cmocka_unit_test(satisfied),
        cmocka_unit_test(every_row),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
