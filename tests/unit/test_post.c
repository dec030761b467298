/* PoSt: rows of the circuits, and every golden case from its vanilla proofs to the last wire. */
#include "base/mem.h"
#include "filecoin/bincode.h"
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
    post_circuit c = {circuit_by_name(name), set};
    assert_non_null(c.info);
    return golden_compile(name, post_synthesize, &c);
}

static void structures(void **state)
{
    static const char *const circuits[][2] = {
        {"winning-2k", "structure/winning-2KiB.json"},     {"window-2k", "structure/window-2KiB.json"},
        {"winning-8m", "structure/winning-8MiB.json"},     {"window-8m", "structure/window-8MiB.json"},
        {"winning-512m", "structure/winning-512MiB.json"}, {"window-512m", "structure/window-512MiB.json"},
        {"winning-32g", "structure/winning-32GiB.json"}};
    (void)state;
    for (size_t i = 0; i < sizeof circuits / sizeof *circuits; i++) {
        json_t *expected = test_data_json(circuits[i][1]);
        r1cs *r = compile(circuits[i][0]);
        golden_structure(r, expected, workers);
        r1cs_destroy(r);
        json_decref(expected);
    }
}

/* The sizes without golden digests: all shapes of trees compile to the public inputs that the proofs have. */
static void other_sizes(void **state)
{
    static const char *const names[] = {"winning-4k",  "window-4k",  "winning-16k", "window-16k",
                                        "winning-32k", "window-32k", "winning-64g"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        r1cs_counts n;
        r1cs *r = compile(names[i]);
        r1cs_get_counts(r, &n);
        assert_int_equal(n.inputs, 1 + post_public_input_count(circuit_by_name(names[i])));
        r1cs_destroy(r);
    }
}

/* Sector list of golden.json, in descending order: the order must not matter. */
static post_public_sector *public_sectors(const json_t *golden, size_t *count)
{
    const json_t *list = json_object_get(golden, "sectors");
    const size_t n = json_array_size(list);
    post_public_sector *s = calloc(n, sizeof *s);
    assert_non_null(s);
    for (size_t i = 0; i < n; i++) {
        const json_t *from = json_array_get(list, n - 1 - i);
        s[i].sector_id = test_json_int(from, "sector_id");
        test_json_hex(s[i].comm_r, 32, from, "comm_r");
    }
    *count = n;
    return s;
}

static void public_data_alone(const post_input *in, const json_t *golden, uint32_t partition,
                              const witness *w)
{
    post_public pub = {.post = in->post};
    cuzk_error err;
    post_public_sector *sectors = public_sectors(golden, &pub.sector_count);
    const size_t n = post_public_input_count(in->circuit);
    fr *inputs = calloc(n, sizeof *inputs);
    assert_non_null(inputs);
    pub.sectors = sectors;
    test_json_hex(pub.randomness, 32, golden, "randomness");
    assert_int_equal(post_partitions(in->post, pub.sector_count), in->partitions);
    if (post_public_inputs(inputs, n, &pub, partition, &err) != CUZK_OK)
        fail_msg("%s", err.message);
    assert_int_equal(w->inputs, n + 1);
    assert_memory_equal(inputs, w->input + 1, n * sizeof *inputs);
    free(inputs);
    free(sectors);
}

static void golden_challenges(const post_input *in, const json_t *golden)
{
    uint64_t leaf[POST_MAX_CHALLENGES];
    const json_t *list = json_object_get(golden, "challenges");
    for (size_t i = 0; i < in->sector_count; i++) {
        const json_t *want = json_array_get(list, i);
        post_challenges(leaf, in->post, in->randomness, in->sector[i].sector_id, i);
        assert_int_equal(json_array_size(want), in->challenges);
        for (size_t k = 0; k < in->challenges; k++)
            assert_int_equal(leaf[k], json_integer_value(json_array_get(want, k)));
    }
}

static void run_case(const char *circuit, const char *name)
{
    vanilla_case c;
    post_input *in = NULL;
    cuzk_error err;
    uint8_t randomness[32];
    vanilla_open(&c, name);
    r1cs *r = compile(circuit);
    test_json_hex(randomness, 32, c.golden, "randomness");
    for (size_t i = 0; i < c.count / 2; i++) { /* they may come in any order */
        proof_bytes t = c.proof[i];
        c.proof[i] = c.proof[c.count - 1 - i];
        c.proof[c.count - 1 - i] = t;
    }
    const registered_post *post = post_by_name(test_json_string(c.golden, "registered_proof"));
    if (post_parse(&in, post, randomness, c.proof, c.count, &err) != CUZK_OK)
        fail_msg("%s: %s", name, err.message);
    golden_challenges(in, c.golden);
    if (post_check(in, -1, set, workers, &err) != CUZK_OK)
        fail_msg("%s: %s", name, err.message);
    const json_t *partitions = json_object_get(c.golden, "partitions");
    assert_int_equal(json_array_size(partitions), in->partitions);
    for (uint32_t k = 0; k < in->partitions; k++) {
        witness w;
        assert_int_equal(post_check(in, k, set, NULL, &err), CUZK_OK);
        for (int threads = 0; threads < 2; threads++) {
            if (post_witness(&w, r, in, k, set, threads ? workers : NULL, NULL, &err) != CUZK_OK)
                fail_msg("%s: %s", name, err.message);
            golden_witness(r, &w, json_array_get(partitions, k));
            public_data_alone(in, c.golden, k, &w);
            if (r1cs_check(r, &w, workers, &err) != CUZK_OK)
                fail_msg("%s: %s", name, err.message);
            witness_clear(&w);
        }
    }
    post_free(in);
    r1cs_destroy(r);
    vanilla_close(&c);
}

static void winning(void **state)
{
    (void)state;
    run_case("winning-2k", "winning-2k-1");
    run_case("winning-8m", "winning-8m-9");
    run_case("winning-32g", "winning-32g-1");
}

static void window_of_one_partition(void **state)
{
    (void)state;
    run_case("window-2k", "window-2k-1sector");
    run_case("window-8m", "window-8m-10");
}

static void window_of_two_partitions(void **state)
{
    (void)state;
    run_case("window-2k", "window-2k-3sectors");
}

static void window_with_the_older_numbering(void **state)
{
    (void)state;
    run_case("window-2k", "window-v1-2k-2sectors");
}

/* The older numbering counts challenges through all partitions. */
static void numberings(void **state)
{
    uint64_t a[POST_MAX_CHALLENGES], b[POST_MAX_CHALLENGES];
    uint8_t randomness[32] = {7};
    (void)state;
    const registered_post *v1 = post_by_name("StackedDrgWindow2KiBV1");
    const registered_post *v2 = post_by_name("StackedDrgWindow2KiBV1_2");
    assert_true(v1 && v2 && !v1->per_sector_challenges && v2->per_sector_challenges);
    post_challenges(a, v1, randomness, 5, 0);
    post_challenges(b, v2, randomness, 5, 0);
    assert_memory_equal(a, b, v1->challenges * sizeof *a);
    post_challenges(b, v2, randomness, 5, 3);
    assert_memory_equal(a, b, v1->challenges * sizeof *a);
    post_challenges(b, v1, randomness, 5, 3);
    assert_memory_not_equal(a, b, v1->challenges * sizeof *a);
    assert_int_equal(post_partitions(v1, 1), 1);
    assert_int_equal(post_partitions(v1, 2), 1);
    assert_int_equal(post_partitions(v1, 3), 2);
    assert_int_equal(post_partitions(post_by_name("StackedDrgWindow32GiBV1_2"), 2349), 1);
    assert_int_equal(post_partitions(post_by_name("StackedDrgWindow32GiBV1_2"), 2350), 2);
    assert_int_equal(post_partitions(post_by_name("StackedDrgWinning32GiBV1"), 1), 1);
}

static void cancelled(void **state)
{
    vanilla_case c;
    post_input *in = NULL;
    cuzk_error err;
    uint8_t randomness[32];
    cancel_token stop = {0};
    witness w;
    (void)state;
    vanilla_open(&c, "window-2k-3sectors");
    r1cs *r = compile("window-2k"), *other = compile("winning-2k");
    test_json_hex(randomness, 32, c.golden, "randomness");
    assert_int_equal(
        post_parse(&in, post_by_name("StackedDrgWindow2KiBV1_2"), randomness, c.proof, c.count, &err),
        CUZK_OK);
    assert_int_equal(post_witness(&w, other, in, 0, set, NULL, NULL, &err), CUZK_INVALID_ARGUMENT);
    assert_int_equal(post_witness(&w, r, in, 2, set, NULL, NULL, &err), CUZK_INVALID_ARGUMENT);
    atomic_store(&stop.cancelled, 1);
    assert_int_equal(post_witness(&w, r, in, 0, set, workers, &stop, &err), CUZK_CANCELLED);
    atomic_store(&stop.cancelled, 0);
    atomic_store(&stop.deadline_ns, 1);
    assert_int_equal(post_witness(&w, r, in, 0, set, workers, &stop, &err), CUZK_DEADLINE);
    atomic_store(&stop.deadline_ns, 0);
    assert_int_equal(post_witness(&w, r, in, 0, set, workers, &stop, &err), CUZK_OK);
    witness_clear(&w);
    post_free(in);
    r1cs_destroy(r);
    r1cs_destroy(other);
    vanilla_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structures),
        cmocka_unit_test(other_sizes),
        cmocka_unit_test(winning),
        cmocka_unit_test(window_of_one_partition),
        cmocka_unit_test(window_of_two_partitions),
        cmocka_unit_test(window_with_the_older_numbering),
        cmocka_unit_test(numberings),
        cmocka_unit_test(cancelled),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
