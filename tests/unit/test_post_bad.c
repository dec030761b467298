/* PoSt vanilla proofs that must be refused: cut, lengthened, with wrong lengths and tags, swapped, given
 * twice, from another sector, tampered with. Each gets a sentence that names the sector and what is wrong. */
#include "base/encode.h"
#include "base/mem.h"
#include "filecoin/bincode.h"
#include "filecoin/post.h"
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
static vanilla_case three; /* window-2k-3sectors: sectors 1300, 1301, 1302 */
static uint8_t randomness[32];
static const registered_post *window, *winning;

/* Positions in a vanilla proof of a 2 KiB sector. */
enum {
    AT_COMM_R = 8,
    AT_SECTORS = 40, /* length of the list of sector proofs */
    AT_PROOFS = 48,  /* length of the list of inclusion proofs */
    AT_FIRST = 56,   /* first inclusion proof: tag, root, leaf, path */
    AT_ROOT = AT_FIRST + 4,
    AT_LEAF = AT_ROOT + 32,
    AT_LEVELS = AT_LEAF + 32,
    AT_SIBLINGS = AT_LEVELS + 8,
    AT_NODES = AT_SIBLINGS + 8,
    AT_POSITION = AT_NODES + 7 * 32,
    PROOF_BYTES = 4 + 64 + 8 + 2 * (8 + 7 * 32 + 8),
    AT_COMM_C = AT_FIRST + 10 * PROOF_BYTES,
    AT_COMM_R_LAST = AT_COMM_C + 32,
    SIZE = AT_COMM_R_LAST + 32
};

static int open_fixture(void **state)
{
    (void)state;
    cuzk_error err;
    if (poseidon_set_create(&set, &err) != CUZK_OK || pool_create(&workers, 2, &err) != CUZK_OK)
        return -1;
    window = post_by_name("StackedDrgWindow2KiBV1_2");
    winning = post_by_name("StackedDrgWinning2KiBV1");
    return 0;
}

static int close_fixture(void **state)
{
    (void)state;
    pool_destroy(workers);
    poseidon_set_destroy(set);
    return 0;
}

/* Fresh bytes for every test. */
static int open_case(void **state)
{
    (void)state;
    vanilla_open(&three, "window-2k-3sectors");
    assert_int_equal(three.count, 3);
    assert_int_equal(three.proof[0].size, SIZE);
    test_json_hex(randomness, 32, three.golden, "randomness");
    return 0;
}

static int close_case(void **state)
{
    (void)state;
    vanilla_close(&three);
    return 0;
}

static void expect_message(cuzk_status status, cuzk_status want, const cuzk_error *err, const char *part)
{
    if (status != want)
        fail_msg("status %s, not %s (%s)", cuzk_status_name(status), cuzk_status_name(want),
                 status == CUZK_OK ? "no message" : err->message);
    if (!strstr(err->message, part))
        fail_msg("\"%s\" does not say \"%s\"", err->message, part);
}

static void parse_fails(const registered_post *post, const proof_bytes *proofs, size_t n, cuzk_status want,
                        const char *part)
{
    post_input *in = NULL;
    cuzk_error err;
    expect_message(post_parse(&in, post, randomness, proofs, n, &err), want, &err, part);
    assert_null(in);
}

static void check_fails(const char *part)
{
    post_input *in = NULL;
    cuzk_error err;
    if (post_parse(&in, window, randomness, three.proof, three.count, &err) != CUZK_OK)
        fail_msg("%s", err.message);
    for (int threads = 0; threads < 2; threads++)
        expect_message(post_check(in, -1, set, threads ? workers : NULL, &err), CUZK_INCONSISTENT, &err,
                       part);
    post_free(in);
}

static void cut_everywhere(void **state)
{
    (void)state;
    for (size_t n = 0; n < SIZE; n += n < 700 ? 1 : 97) {
        three.proof[1].size = n;
        parse_fails(window, three.proof, 3, CUZK_BAD_INPUT, n < 8 ? "vanilla proof 1: " : "sector 1301");
        parse_fails(window, three.proof, 3, CUZK_BAD_INPUT, "cut short");
    }
    three.proof[1].size = SIZE - 1;
    parse_fails(window, three.proof, 3, CUZK_BAD_INPUT, "inside comm_r_last");
    three.proof[1].size = AT_FIRST + 3 * PROOF_BYTES + 1;
    parse_fails(window, three.proof, 3, CUZK_BAD_INPUT, "sector 1301, challenge 3: ");
}

static void lengthened(void **state)
{
    (void)state;
    uint8_t longer[SIZE + 9] = {0};
    memcpy(longer, three.data[2], SIZE);
    three.proof[2] = (proof_bytes){longer, sizeof longer};
    parse_fails(window, three.proof, 3, CUZK_BAD_INPUT, "sector 1302: 9 bytes follow the end");
}

static void wrong_lengths_and_tags(void **state)
{
    static const struct {
        size_t at;
        uint64_t value;
        const char *part;
    } cases[] = {
        {AT_SECTORS, 0, "sector 1300: the list of sector proofs: 0 entries, expected 1"},
        {AT_SECTORS, 2, "2 entries, expected 1"},
        {AT_PROOFS, 9, "sector 1300: the list of inclusion proofs: 9 entries, expected 10"},
        {AT_PROOFS, UINT64_MAX, "expected 10"},
        {AT_LEVELS, 3, "sector 1300, challenge 0: the inclusion proof: 3 entries, expected 2"},
        {AT_LEVELS, 1ull << 60, "expected 2"},
        {AT_SIBLINGS, 8, "8 entries, expected 7"},
        {AT_SIBLINGS, UINT64_MAX, "expected 7"},
        {AT_POSITION, 8, "the position on level 0 is 8, there are 8 nodes"},
        {AT_POSITION, UINT64_MAX, "there are 8 nodes"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t kept[8];
        memcpy(kept, three.data[0] + cases[i].at, 8);
        store_le64(three.data[0] + cases[i].at, cases[i].value);
        parse_fails(window, three.proof, 3, CUZK_BAD_INPUT, cases[i].part);
        memcpy(three.data[0] + cases[i].at, kept, 8);
    }
    store_le32(three.data[0] + AT_FIRST, 1);
    parse_fails(window, three.proof, 3, CUZK_BAD_INPUT,
                "the proof is for sub-trees, a sector of this size has a single tree");
    store_le32(three.data[0] + AT_FIRST, 77);
    parse_fails(window, three.proof, 3, CUZK_BAD_INPUT, "unknown kind of Merkle proof 77");
}

static void wrong_numbers_of_proofs(void **state)
{
    (void)state;
    parse_fails(window, three.proof, 0, CUZK_INVALID_ARGUMENT, "no vanilla proof is given");
    parse_fails(winning, three.proof, 2, CUZK_INVALID_ARGUMENT,
                "takes the vanilla proof of one sector, 2 are given");
    /* A WindowPoSt's proof does not do for a WinningPoSt: it has too few challenges. */
    parse_fails(winning, three.proof, 1, CUZK_BAD_INPUT,
                "sector 1300: the list of inclusion proofs: 10 entries, expected 66");
    parse_fails(post_by_name("StackedDrgWindow8MiBV1_2"), three.proof, 3, CUZK_BAD_INPUT,
                "sector 1300, challenge 0: the inclusion proof: 2 entries, expected 6");
    parse_fails(post_by_name("StackedDrgWindow32GiBV1_2"), three.proof, 3, CUZK_BAD_INPUT,
                "the proof is for a single tree, a sector of this size has sub-trees");
    three.proof[2] = three.proof[0];
    parse_fails(window, three.proof, 3, CUZK_INCONSISTENT, "sector 1300: its vanilla proof is given twice");
    memset(randomness, 0xff, 32);
    parse_fails(window, three.proof, 2, CUZK_INVALID_ARGUMENT, "randomness is not a field element");
}

static void another_randomness(void **state)
{
    (void)state;
    randomness[3] ^= 1;
    check_fails("sector 1300, challenge 0: the path is that of leaf 52, but the randomness asks for leaf ");
}

/* The bytes of one sector under the id of another. */
static void another_sector(void **state)
{
    (void)state;
    store_le64(three.data[1], 1399);
    check_fails("sector 1399, challenge 0: the path is that of leaf ");
}

static void swapped_challenges(void **state)
{
    uint8_t t[PROOF_BYTES], *a = three.data[1] + AT_FIRST + 2 * PROOF_BYTES, *b = a + 3 * PROOF_BYTES;
    (void)state;
    memcpy(t, a, PROOF_BYTES), memcpy(a, b, PROOF_BYTES), memcpy(b, t, PROOF_BYTES);
    check_fails("sector 1301, challenge 2: the path is that of leaf 28, but the randomness asks for leaf 19");
}

static void repeated_challenge(void **state)
{
    (void)state;
    memcpy(three.data[1] + AT_FIRST + PROOF_BYTES, three.data[1] + AT_FIRST, PROOF_BYTES);
    check_fails("sector 1301, challenge 1: the path is that of leaf 63, but the randomness asks for leaf 29");
}

/* Inclusion proofs of another sector's tree, for the right leaf. */
static void path_of_another_tree(void **state)
{
    (void)state;
    memcpy(three.data[2] + AT_FIRST + 4 * PROOF_BYTES, three.data[1] + AT_FIRST + 4 * PROOF_BYTES,
           PROOF_BYTES);
    check_fails("sector 1302, challenge 4: the root of the path is not comm_r_last");
}

static void tampered(void **state)
{
    static const struct {
        size_t at;
        const char *part;
    } cases[] = {
        {AT_COMM_R, "sector 1302: comm_r is not the hash of comm_c and comm_r_last"},
        {AT_COMM_C + 7, "sector 1302: comm_r is not the hash of comm_c and comm_r_last"},
        {AT_COMM_R_LAST, "sector 1302: comm_r is not the hash of comm_c and comm_r_last"},
        {AT_ROOT + 1, "sector 1302, challenge 0: the root of the path is not comm_r_last"},
        {AT_LEAF + 9, "sector 1302, challenge 0: leaf and path do not lead to the root"},
        {AT_NODES + 70, "sector 1302, challenge 0: leaf and path do not lead to the root"},
        {AT_NODES + 9 * PROOF_BYTES + 100, "sector 1302, challenge 9: leaf and path do not lead to the root"},
        {AT_POSITION, "sector 1302, challenge 0: the path is that of leaf "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        three.data[2][cases[i].at] ^= 1;
        check_fails(cases[i].part);
        three.data[2][cases[i].at] ^= 1;
    }
    /* Values that are no field elements. */
    static const size_t nodes[] = {AT_COMM_R, AT_COMM_C, AT_COMM_R_LAST, AT_ROOT, AT_LEAF, AT_NODES + 64};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        uint8_t kept[32];
        memcpy(kept, three.data[2] + nodes[i], 32);
        memset(three.data[2] + nodes[i], 0xff, 32);
        check_fails("sector 1302");
        memcpy(three.data[2] + nodes[i], kept, 32);
    }
}

/* Of several wrong sectors the one with the lowest id is named; one partition can be checked alone. */
static void several_wrong(void **state)
{
    post_input *in = NULL;
    cuzk_error err;
    (void)state;
    three.data[2][AT_LEAF] ^= 1;
    three.data[1][AT_LEAF] ^= 1;
    check_fails("sector 1301, challenge 0");
    three.data[1][AT_LEAF] ^= 1;
    assert_int_equal(post_parse(&in, window, randomness, three.proof, 3, &err), CUZK_OK);
    assert_int_equal(post_check(in, 0, set, workers, &err), CUZK_OK);
    expect_message(post_check(in, 1, set, workers, &err), CUZK_INCONSISTENT, &err, "sector 1302");
    expect_message(post_check(in, 2, set, workers, &err), CUZK_INVALID_ARGUMENT, &err,
                   "partition 2: there are 2");
    post_free(in);
}

static void public_inputs(void **state)
{
    post_public_sector sectors[3] = {{5, {1}}, {4, {2}}, {5, {3}}};
    post_public pub = {window, {0}, sectors, 3};
    fr inputs[200];
    const size_t n = post_public_input_count(circuit_by_name("window-2k"));
    cuzk_error err;
    (void)state;
    assert_int_equal(n, 22);
    expect_message(post_public_inputs(inputs, n, &pub, 0, &err), CUZK_INCONSISTENT, &err,
                   "sector 5 is listed twice");
    sectors[2].sector_id = 6;
    assert_int_equal(post_public_inputs(inputs, n, &pub, 0, &err), CUZK_OK);
    assert_int_equal(post_public_inputs(inputs, n, &pub, 1, &err), CUZK_OK);
    assert_memory_equal(inputs, inputs + 11, 11 * sizeof *inputs); /* the last sector fills the partition */
    expect_message(post_public_inputs(inputs, n, &pub, 2, &err), CUZK_INVALID_ARGUMENT, &err, "partition 2");
    expect_message(post_public_inputs(inputs, n + 1, &pub, 0, &err), CUZK_INVALID_ARGUMENT, &err,
                   "23 public inputs");
    pub.sector_count = 0;
    expect_message(post_public_inputs(inputs, n, &pub, 0, &err), CUZK_INVALID_ARGUMENT, &err,
                   "no sector is given");
    pub.sector_count = 3;
    memset(sectors[0].comm_r, 0xff, 32);
    expect_message(post_public_inputs(inputs, n, &pub, 0, &err), CUZK_BAD_INPUT, &err,
                   "sector 5: comm_r is not a field element");
}

static void files_of_several(void **state)
{
    uint8_t file[64] = {0};
    proof_bytes *list = NULL;
    size_t n = 0;
    cuzk_error err;
    (void)state;
    store_le64(file, 3);
    store_le64(file + 11, 0);
    store_le64(file + 19, 5);
    assert_int_equal(vanilla_split(&list, &n, file, 32, &err), CUZK_OK);
    assert_true(n == 3 && list[0].size == 3 && list[1].size == 0 && list[2].size == 5 &&
                list[2].data == file + 27);
    mem_free(list);
    for (size_t size = 0; size < 32; size++) {
        if (size == 11 || size == 19)
            continue; /* whole proofs */
        expect_message(vanilla_split(&list, &n, file, size, &err), CUZK_BAD_INPUT, &err,
                       size ? "cut short" : "empty");
    }
    store_le64(file + 19, UINT64_MAX);
    expect_message(vanilla_split(&list, &n, file, 32, &err), CUZK_BAD_INPUT, &err, "proof 2 should have");
}

static void no_memory(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        post_input *in = NULL;
        cuzk_error err;
        mem_fault_set(n, 0);
        cuzk_status status = post_parse(&in, window, randomness, three.proof, 3, &err);
        uint64_t made = mem_fault_count();
        mem_fault_set(0, 0);
        if (status == CUZK_OK) {
            post_free(in);
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
        CASE(cut_everywhere),         CASE(lengthened),
        CASE(wrong_lengths_and_tags), CASE(wrong_numbers_of_proofs),
        CASE(another_randomness),     CASE(another_sector),
        CASE(swapped_challenges),     CASE(repeated_challenge),
        CASE(path_of_another_tree),   CASE(tampered),
        CASE(several_wrong),          CASE(public_inputs),
        CASE(files_of_several),       CASE(no_memory),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
