/* SnapDeals: rows of the circuits, and every golden case from its vanilla proofs to the last wire. */
#include "base/mem.h"
#include "filecoin/update.h"
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

static int open_fixture(void **state)
{
    (void)state;
    cuzk_error err;
    return poseidon_set_create(&set, &err) != CUZK_OK || pool_create(&workers, 3, &err) != CUZK_OK;
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
    assert_non_null(c.info);
    return golden_compile(name, update_synthesize, &c);
}

static void structures(void **state)
{
    static const char *const circuits[][2] = {{"update-2k", "structure/update-2KiB.json"},
                                              {"update-8m", "structure/update-8MiB.json"}};
    (void)state;
    for (size_t i = 0; i < sizeof circuits / sizeof *circuits; i++) {
        json_t *expected = test_data_json(circuits[i][1]);
        r1cs *r = compile(circuits[i][0]);
        golden_structure(r, expected, workers);
        r1cs_destroy(r);
        json_decref(expected);
    }
}

static void shapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < circuit_count(); i++) {
        const circuit_info *info = circuit_at(i);
        update_shape s;
        if (info->kind != CIRCUIT_UPDATE)
            continue;
        assert_int_equal(update_shape_of(&s, info->sector_size), 0);
        assert_int_equal(s.partitions, info->partitions);
        assert_int_equal(s.challenges, info->challenges);
        assert_true(s.challenges <= UPDATE_MAX_CHALLENGES && s.apex_leaves <= UPDATE_MAX_APEX);
        assert_true(s.partition_bits <= 4 && s.apex_bits + s.partition_bits < s.challenge_bits);
        assert_int_equal(update_public_input_count(info), 4);
    }
    update_shape s;
    assert_int_equal(update_shape_of(&s, 12345), -1);
}

static void public_of(update_public *pub, const json_t *golden)
{
    *pub = (update_public){.update = update_by_name(test_json_string(golden, "registered_proof"))};
    assert_non_null(pub->update);
    test_json_hex(pub->comm_r_old, 32, golden, "comm_r_old");
    test_json_hex(pub->comm_d_new, 32, golden, "comm_d_new");
    test_json_hex(pub->comm_r_new, 32, golden, "comm_r_new");
}

static void run_case(const char *circuit, const char *name)
{
    vanilla_case c;
    update_public pub;
    update_input *in = NULL;
    cuzk_error err;
    vanilla_open(&c, name);
    r1cs *r = compile(circuit);
    public_of(&pub, c.golden);
    if (update_parse(&in, &pub, c.proof, c.count, &err) != CUZK_OK)
        fail_msg("%s: %s", name, err.message);
    assert_int_equal(in->pub.h, test_json_int(c.golden, "h")); /* the default is what was proved */
    if (update_check(in, -1, set, workers, &err) != CUZK_OK)
        fail_msg("%s: %s", name, err.message);
    const json_t *partitions = json_object_get(c.golden, "partitions");
    assert_int_equal(json_array_size(partitions), in->shape.partitions);
    for (uint32_t k = 0; k < in->shape.partitions; k++) {
        witness w, again;
        fr inputs[UPDATE_PUBLIC_INPUTS];
        assert_int_equal(update_check(in, k, set, NULL, &err), CUZK_OK);
        if (update_witness(&w, r, in, k, set, NULL, NULL, &err) != CUZK_OK)
            fail_msg("%s: %s", name, err.message);
        golden_witness(r, &w, json_array_get(partitions, k));
        assert_int_equal(update_public_inputs(inputs, UPDATE_PUBLIC_INPUTS, &pub, k, &err), CUZK_OK);
        assert_memory_equal(inputs, w.input + 1, sizeof inputs);
        /* Several threads write the same. */
        if (update_witness(&again, r, in, k, set, workers, NULL, &err) != CUZK_OK)
            fail_msg("%s: %s", name, err.message);
        assert_memory_equal(w.bits, again.bits, (w.aux + 63) / 64 * 8);
        assert_memory_equal(w.field, again.field, w.fields * sizeof(fr));
        if (k == 0 && r1cs_check(r, &w, workers, &err) != CUZK_OK)
            fail_msg("%s: %s", name, err.message);
        witness_clear(&again);
        witness_clear(&w);
    }
    update_free(in);
    r1cs_destroy(r);
    vanilla_close(&c);
}

static void cases_of_2k(void **state)
{
    (void)state;
    run_case("update-2k", "update-2k-5");
    run_case("update-2k", "update-2k-6");
}

static void case_of_8m(void **state)
{
    (void)state;
    run_case("update-8m", "update-8m-8");
}

/* Challenges lie in their partition, and another root gives others. */
static void challenges(void **state)
{
    static const uint64_t sizes[] = {2048, 16384, 8ull << 20, 32ull << 30, 64ull << 30};
    uint64_t leaf[UPDATE_MAX_CHALLENGES], other[UPDATE_MAX_CHALLENGES];
    uint8_t root[32] = {1, 2, 3};
    cuzk_error err;
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        update_shape s;
        assert_int_equal(update_shape_of(&s, sizes[i]), 0);
        for (uint32_t k = 0; k < s.partitions; k++) {
            const unsigned shift = s.challenge_bits - s.partition_bits;
            root[0] = 1;
            assert_int_equal(update_challenges(leaf, &s, set, root, k, &err), CUZK_OK);
            for (uint32_t j = 0; j < s.challenges; j++)
                assert_int_equal(leaf[j] >> shift, k);
            root[0] = 2;
            assert_int_equal(update_challenges(other, &s, set, root, k, &err), CUZK_OK);
            assert_memory_not_equal(leaf, other, s.challenges * sizeof *leaf);
        }
    }
    update_shape s;
    assert_int_equal(update_shape_of(&s, 2048), 0);
    memset(root, 0xff, 32);
    assert_int_equal(update_challenges(leaf, &s, set, root, 0, &err), CUZK_BAD_INPUT);
}

static void stopped(void **state)
{
    vanilla_case c;
    update_public pub;
    update_input *in = NULL;
    cuzk_error err;
    cancel_token stop = {0};
    witness w;
    (void)state;
    vanilla_open(&c, "update-2k-5");
    public_of(&pub, c.golden);
    assert_int_equal(update_parse(&in, &pub, c.proof, c.count, &err), CUZK_OK);
    r1cs *r = compile("update-2k"), *other = compile("update-16k");
    assert_int_equal(update_witness(&w, other, in, 0, set, NULL, NULL, &err), CUZK_INVALID_ARGUMENT);
    assert_int_equal(update_witness(&w, r, in, 1, set, NULL, NULL, &err), CUZK_INVALID_ARGUMENT);
    atomic_store(&stop.cancelled, 1);
    assert_int_equal(update_witness(&w, r, in, 0, set, workers, &stop, &err), CUZK_CANCELLED);
    atomic_store(&stop.cancelled, 0);
    atomic_store(&stop.deadline_ns, 1);
    assert_int_equal(update_witness(&w, r, in, 0, set, workers, &stop, &err), CUZK_DEADLINE);
    r1cs_destroy(r);
    r1cs_destroy(other);
    update_free(in);
    vanilla_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structures), cmocka_unit_test(shapes),     cmocka_unit_test(cases_of_2k),
        cmocka_unit_test(case_of_8m), cmocka_unit_test(challenges), cmocka_unit_test(stopped),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
