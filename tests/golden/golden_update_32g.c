/* The larger SnapDeals circuits: every row of 512 MiB and 32 GiB, and the witness of a partition of real
 * size. */
#include "base/clock.h"
#include "filecoin/update.h"
#include "support/golden.h"
#include "support/vanilla.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* cmocka.h needs the above */
#include <cmocka.h>

static poseidon_set *set;
static pool *workers;

static int open_fixture(void **state)
{
    (void)state;
    cuzk_error err;
    return poseidon_set_create(&set, &err) != CUZK_OK || pool_create(&workers, 0, &err) != CUZK_OK;
}

static int close_fixture(void **state)
{
    (void)state;
    pool_destroy(workers);
    poseidon_set_destroy(set);
    return 0;
}

static r1cs *compile(const char *name)
{
    update_circuit c = {circuit_by_name(name), set};
    return golden_compile(name, update_synthesize, &c);
}

static void every_row(void **state)
{
    static const char *const circuits[][2] = {{"update-512m", "structure/update-512MiB.json"},
                                              {"update-32g", "structure/update-32GiB.json"}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        json_t *expected = test_data_json(circuits[i][1]);
        r1cs *r = compile(circuits[i][0]);
        golden_structure(r, expected, workers);
        r1cs_destroy(r);
        json_decref(expected);
    }
}

static void witness_of_a_partition(void **state)
{
    vanilla_case c;
    update_input *in = NULL;
    cuzk_error err;
    witness w;
    (void)state;
    r1cs *r = compile("update-32g");
    vanilla_open(&c, "update-32g-1");
    update_public pub = {.update = update_by_name(test_json_string(c.golden, "registered_proof"))};
    test_json_hex(pub.comm_r_old, 32, c.golden, "comm_r_old");
    test_json_hex(pub.comm_d_new, 32, c.golden, "comm_d_new");
    test_json_hex(pub.comm_r_new, 32, c.golden, "comm_r_new");
    if (update_parse(&in, &pub, c.proof, c.count, &err) != CUZK_OK ||
        update_check(in, -1, set, workers, &err) != CUZK_OK)
        fail_msg("%s", err.message);
    uint64_t cpu = clock_process_cpu_ns();
    if (update_witness(&w, r, in, 0, set, workers, NULL, &err) != CUZK_OK)
        fail_msg("%s", err.message);
    cpu = clock_process_cpu_ns() - cpu;
    print_message("witness: %.3f core-seconds, %.1f MB\n", (double)cpu / 1e9, (double)w.bytes / 1e6);
    golden_witness(r, &w, json_array_get(json_object_get(c.golden, "partitions"), 0));
    witness_clear(&w);
    /* The last partition has no golden digests: it must satisfy every row. */
    if (update_witness(&w, r, in, in->shape.partitions - 1, set, workers, NULL, &err) != CUZK_OK ||
        r1cs_check(r, &w, workers, &err) != CUZK_OK)
        fail_msg("%s", err.message);
    witness_clear(&w);
    update_free(in);
    vanilla_close(&c);
    r1cs_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(witness_of_a_partition),
        cmocka_unit_test(every_row),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
