/* SnapDeals vanilla proofs that must be refused: cut, with wrong lengths, swapped, of another partition or
 * update, tampered with. Each gets a sentence that names partition, challenge and tree. */
#include "base/encode.h"
#include "base/mem.h"
#include "filecoin/update.h"
#include "support/vanilla.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the above */
#include <cmocka.h>

static poseidon_set *set;
static pool *workers;
static vanilla_case small, big; /* update-2k-5: one partition; update-8m-8: four */
static update_public small_public, big_public;

/* Positions in a vanilla proof of a 2 KiB sector. */
enum {
    AT_COMM_C = 0,
    AT_APEX_COUNT = 32,
    AT_APEX = 40,
    AT_COUNT = AT_APEX + 8 * 32,
    AT_FIRST = AT_COUNT + 8,
    R_BYTES = 4 + 64 + 8 + 2 * (8 + 7 * 32 + 8),
    D_BYTES = 4 + 64 + 8 + 6 * (8 + 32 + 8),
    CHALLENGE_BYTES = 2 * R_BYTES + D_BYTES,
    AT_D = AT_FIRST + R_BYTES,
    AT_R_NEW = AT_D + D_BYTES,
    ROOT = 4,
    LEAF = 36,
    NODES = 4 + 64 + 8 + 8,
    SIZE = AT_FIRST + 10 * CHALLENGE_BYTES
};

static int open_fixture(void **state)
{
    (void)state;
    cuzk_error err;
    return poseidon_set_create(&set, &err) != CUZK_OK || pool_create(&workers, 2, &err) != CUZK_OK;
}

static int close_fixture(void **state)
{
    (void)state;
    pool_destroy(workers);
    poseidon_set_destroy(set);
    return 0;
}

static void public_of(update_public *pub, const json_t *golden)
{
    *pub = (update_public){.update = update_by_name(test_json_string(golden, "registered_proof"))};
    test_json_hex(pub->comm_r_old, 32, golden, "comm_r_old");
    test_json_hex(pub->comm_d_new, 32, golden, "comm_d_new");
    test_json_hex(pub->comm_r_new, 32, golden, "comm_r_new");
}

static int open_case(void **state)
{
    (void)state;
    vanilla_open(&small, "update-2k-5");
    vanilla_open(&big, "update-8m-8");
    assert_true(small.count == 1 && big.count == 4 && small.proof[0].size == SIZE);
    public_of(&small_public, small.golden);
    public_of(&big_public, big.golden);
    return 0;
}

static int close_case(void **state)
{
    (void)state;
    vanilla_close(&small);
    vanilla_close(&big);
    return 0;
}

static void expect_message(cuzk_status status, cuzk_status want, const cuzk_error *err, const char *part)
{
    if (status != want)
        fail_msg("status %s, not %s (%s; \"%s\")", cuzk_status_name(status), cuzk_status_name(want),
                 status == CUZK_OK ? "no message" : err->message, part);
    if (!strstr(err->message, part))
        fail_msg("\"%s\" does not say \"%s\"", err->message, part);
}

static void parse_fails(const update_public *pub, const vanilla_case *c, size_t n, cuzk_status want,
                        const char *part)
{
    update_input *in = NULL;
    cuzk_error err;
    expect_message(update_parse(&in, pub, c->proof, n, &err), want, &err, part);
    assert_null(in);
}

static void check_fails(const update_public *pub, const vanilla_case *c, const char *part)
{
    update_input *in = NULL;
    cuzk_error err;
    if (update_parse(&in, pub, c->proof, c->count, &err) != CUZK_OK)
        fail_msg("%s", err.message);
    for (int threads = 0; threads < 2; threads++)
        expect_message(update_check(in, -1, set, threads ? workers : NULL, &err), CUZK_INCONSISTENT, &err,
                       part);
    update_free(in);
}

static void cut_and_lengthened(void **state)
{
    static uint8_t longer[SIZE + 1];
    (void)state;
    for (size_t n = 0; n < SIZE; n += n < 2000 ? 7 : 331) {
        small.proof[0].size = n;
        parse_fails(&small_public, &small, 1, CUZK_BAD_INPUT, "partition 0");
        parse_fails(&small_public, &small, 1, CUZK_BAD_INPUT, "cut short");
    }
    small.proof[0].size = AT_FIRST + 3 * CHALLENGE_BYTES + R_BYTES + 1;
    parse_fails(&small_public, &small, 1, CUZK_BAD_INPUT,
                "partition 0, challenge 3: the proof is cut short: it ends after");
    parse_fails(&small_public, &small, 1, CUZK_BAD_INPUT, "inside the proof in the new data");
    memcpy(longer, small.data[0], SIZE);
    small.proof[0] = (proof_bytes){longer, SIZE + 1};
    parse_fails(&small_public, &small, 1, CUZK_BAD_INPUT, "partition 0: 1 bytes follow the end");
}

static void wrong_lengths_and_numbers(void **state)
{
    static const struct {
        size_t at;
        uint64_t value;
        const char *part;
    } cases[] = {
        {AT_APEX_COUNT, 7, "partition 0: the list of apex leaves: 7 entries, expected 8"},
        {AT_APEX_COUNT, UINT64_MAX, "expected 8"},
        {AT_COUNT, 11, "partition 0: the list of challenge proofs: 11 entries, expected 10"},
        {AT_FIRST + 68, 3, "partition 0, challenge 0: the proof in the old replica: 3 entries, expected 2"},
        {AT_D + 68, 2, "partition 0, challenge 0: the proof in the new data: 2 entries, expected 6"},
        {AT_D + 76, 7, "the proof in the new data: 7 entries, expected 1"},
        {AT_D + NODES + 32, 2, "the position on level 0 is 2, there are 2 nodes"},
        {AT_R_NEW + NODES + 7 * 32, 9, "the proof in the new replica: the position on level 0 is 9"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t kept[8];
        memcpy(kept, small.data[0] + cases[i].at, 8);
        store_le64(small.data[0] + cases[i].at, cases[i].value);
        parse_fails(&small_public, &small, 1, CUZK_BAD_INPUT, cases[i].part);
        memcpy(small.data[0] + cases[i].at, kept, 8);
    }
    store_le32(small.data[0] + AT_D, 2);
    parse_fails(&small_public, &small, 1, CUZK_BAD_INPUT, "the proof is for sub-trees and a top tree");
    parse_fails(&small_public, &small, 0, CUZK_INVALID_ARGUMENT,
                "0 vanilla proofs are given, update-2k has 1 partitions");
    parse_fails(&big_public, &big, 3, CUZK_INVALID_ARGUMENT,
                "3 vanilla proofs are given, update-8m has 4 partitions");
    parse_fails(&small_public, &big, 1, CUZK_BAD_INPUT,
                "partition 0: the list of apex leaves: 128 entries, expected 8");
}

static void public_values(void **state)
{
    fr inputs[UPDATE_PUBLIC_INPUTS];
    cuzk_error err;
    (void)state;
    big_public.h = 6;
    parse_fails(&big_public, &big, 4, CUZK_INVALID_ARGUMENT, "h is 6: the circuit update-8m offers 7 to 12");
    expect_message(update_public_inputs(inputs, 4, &big_public, 0, &err), CUZK_INVALID_ARGUMENT, &err,
                   "h is 6");
    big_public.h = 0;
    expect_message(update_public_inputs(inputs, 4, &big_public, 4, &err), CUZK_INVALID_ARGUMENT, &err,
                   "partition 4");
    expect_message(update_public_inputs(inputs, 5, &big_public, 0, &err), CUZK_INVALID_ARGUMENT, &err,
                   "4 public inputs, not 5");
    memset(big_public.comm_d_new, 0xff, 32);
    parse_fails(&big_public, &big, 4, CUZK_INVALID_ARGUMENT, "comm_d_new is not a field element");
    memset(small_public.comm_r_old, 0xff, 32);
    parse_fails(&small_public, &small, 1, CUZK_INVALID_ARGUMENT, "comm_r_old is not a field element");
}

static void other_commitments(void **state)
{
    (void)state;
    small_public.comm_r_old[0] ^= 1;
    check_fails(&small_public, &small,
                "partition 0: comm_r_old is not the hash of comm_c and the old replica's root");
    small_public.comm_r_old[0] ^= 1;
    small_public.comm_r_new[0] ^= 1;
    check_fails(&small_public, &small,
                "partition 0: comm_r_new is not the hash of comm_c and the new replica's root");
    small_public.comm_r_new[0] ^= 1;
    small_public.comm_d_new[0] ^= 1;
    check_fails(&small_public, &small, "partition 0: the apex leaves do not lead to comm_d_new");
    small_public.comm_d_new[0] ^= 1;
    /* Another update of a sector of this size. */
    vanilla_case other;
    vanilla_open(&other, "update-2k-6");
    check_fails(&small_public, &other, "partition 0: comm_r_old is not the hash");
    vanilla_close(&other);
}

/* Proofs of the partitions in another order, or one in place of all. */
static void swapped_partitions(void **state)
{
    (void)state;
    proof_bytes t = big.proof[1];
    big.proof[1] = big.proof[2];
    big.proof[2] = t;
    check_fails(&big_public, &big, "partition 1: the apex leaves do not lead to comm_d_new");
    big.proof[1] = big.proof[2] = big.proof[3] = big.proof[0];
    check_fails(&big_public, &big, "partition 1: the apex leaves do not lead to comm_d_new");
}

static void swapped_challenges(void **state)
{
    static uint8_t t[CHALLENGE_BYTES];
    uint8_t *a = small.data[0] + AT_FIRST + 2 * CHALLENGE_BYTES, *b = a + 3 * CHALLENGE_BYTES;
    (void)state;
    memcpy(t, a, CHALLENGE_BYTES), memcpy(a, b, CHALLENGE_BYTES), memcpy(b, t, CHALLENGE_BYTES);
    check_fails(&small_public, &small,
                "partition 0, challenge 2: the path in the old replica is that of leaf ");
    memcpy(a, b, CHALLENGE_BYTES), memcpy(b, t, CHALLENGE_BYTES);
    memcpy(a, small.data[0] + AT_FIRST, CHALLENGE_BYTES);
    check_fails(&small_public, &small,
                "partition 0, challenge 2: the path in the old replica is that of leaf ");
}

/* Another h encodes with other factors, where that shows in the leaf's number. */
static void another_h(void **state)
{
    (void)state;
    big_public.h = 7;
    check_fails(&big_public, &big, "the new replica's leaf is not the encoding of the new data (h = 7)");
}

static void tampered(void **state)
{
    static const struct {
        size_t at;
        const char *part;
    } cases[] = {
        {AT_COMM_C + 3, "partition 0: comm_r_old is not the hash of comm_c"},
        {AT_APEX + 5 * 32, "partition 0: the apex leaves do not lead to comm_d_new"},
        {AT_FIRST + CHALLENGE_BYTES + ROOT, "challenge 1: the path in the old replica has another root"},
        {AT_D + ROOT, "challenge 0: the path in the new data has another root"},
        {AT_R_NEW + CHALLENGE_BYTES + ROOT, "challenge 1: the path in the new replica has another root"},
        {AT_FIRST + LEAF, "challenge 0: leaf and path in the old replica do not lead to the root"},
        {AT_D + 4 * CHALLENGE_BYTES + LEAF,
         "challenge 4: leaf and path in the new data do not lead to the root"},
        {AT_R_NEW + 9 * CHALLENGE_BYTES + LEAF,
         "challenge 9: leaf and path in the new replica do not lead to the root"},
        {AT_FIRST + NODES + 40, "challenge 0: leaf and path in the old replica do not lead to the root"},
        {AT_D + NODES + 3, "challenge 0: leaf and path in the new data do not lead to the root"},
        {AT_D + NODES + 32, "challenge 0: the path in the new data is that of leaf "},
        {AT_R_NEW + NODES + 7 * 32, "challenge 0: the path in the new replica is that of leaf "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        small.data[0][cases[i].at] ^= 1;
        check_fails(&small_public, &small, cases[i].part);
        small.data[0][cases[i].at] ^= 1;
    }
    /* Values that are no field elements. */
    static const size_t nodes[] = {AT_COMM_C,   AT_APEX,      AT_FIRST + ROOT,      AT_FIRST + LEAF,
                                   AT_D + LEAF, AT_D + NODES, AT_R_NEW + NODES + 32};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        uint8_t kept[32];
        memcpy(kept, small.data[0] + nodes[i], 32);
        memset(small.data[0] + nodes[i], 0xff, 32);
        check_fails(&small_public, &small, "partition 0");
        memcpy(small.data[0] + nodes[i], kept, 32);
    }
}

/* One partition can be checked alone. */
static void one_of_several(void **state)
{
    update_input *in = NULL;
    cuzk_error err;
    (void)state;
    big.data[2][big.proof[2].size - 41] ^= 1; /* the last sibling of the last path */
    assert_int_equal(update_parse(&in, &big_public, big.proof, 4, &err), CUZK_OK);
    assert_int_equal(update_check(in, 0, set, workers, &err), CUZK_OK);
    assert_int_equal(update_check(in, 3, set, workers, &err), CUZK_OK);
    expect_message(update_check(in, 2, set, workers, &err), CUZK_INCONSISTENT, &err,
                   "partition 2, challenge 9: leaf and path in the new replica");
    expect_message(update_check(in, 4, set, workers, &err), CUZK_INVALID_ARGUMENT, &err, "partition 4");
    update_free(in);
}

static void no_memory(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        update_input *in = NULL;
        cuzk_error err;
        mem_fault_set(n, 0);
        cuzk_status status = update_parse(&in, &big_public, big.proof, 4, &err);
        uint64_t made = mem_fault_count();
        mem_fault_set(0, 0);
        if (status == CUZK_OK) {
            update_free(in);
            assert_true(made < n && n > 2);
            break;
        }
        assert_int_equal(status, CUZK_OUT_OF_MEMORY);
        assert_null(in);
    }
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, open_case, close_case)
    const struct CMUnitTest tests[] = {
        CASE(cut_and_lengthened), CASE(wrong_lengths_and_numbers),
        CASE(public_values),      CASE(other_commitments),
        CASE(swapped_partitions), CASE(swapped_challenges),
        CASE(another_h),          CASE(tampered),
        CASE(one_of_several),     CASE(no_memory),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
