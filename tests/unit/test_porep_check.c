/* The vanilla check: every golden C1 passes; whatever is changed in it is an error that names partition,
 * challenge and field. */
#include "base/encode.h"
#include "base/hash.h"
#include "base/mem.h"
#include "filecoin/porep_label.h"
#include "support/data.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static poseidon_set *ps;
static pool *workers;

static porep_c1 *load(const char *name)
{
    char path[64];
    size_t n;
    porep_c1 *c;
    cuzk_error err;
    snprintf(path, sizeof path, "%s/c1.json", name);
    uint8_t *text = test_data(path, &n);
    if (porep_c1_parse(&c, text, n, &err) != CUZK_OK)
        fail_msg("%s: %s", name, err.message);
    free(text);
    return c;
}

static void expect(const porep_c1 *c, int64_t partition, const char *a, const char *b)
{
    cuzk_error err = {0};
    cuzk_status st = porep_check(c, partition, ps, workers, &err);
    if (!a) {
        if (st != CUZK_OK)
            fail_msg("%s", err.message);
        return;
    }
    if (st != CUZK_INCONSISTENT || err.status != st)
        fail_msg("%s (%s) where \"%s\" is expected", cuzk_status_name(st), err.message, a);
    if (!strstr(err.message, a) || (b && !strstr(err.message, b)))
        fail_msg("\"%s\" and \"%s\" are not in: %s", a, b ? b : "", err.message);
    assert_int_equal(porep_check(c, partition, ps, NULL, NULL), CUZK_INCONSISTENT);
}

static int setup(void **state)
{
    (void)state;
    cuzk_error err;
    return poseidon_set_create(&ps, &err) != CUZK_OK || pool_create(&workers, 2, &err) != CUZK_OK;
}

static int teardown(void **state)
{
    (void)state;
    poseidon_set_destroy(ps);
    pool_destroy(workers);
    return 0;
}

static void golden_pass(void **state)
{
    (void)state;
    static const char *const cases[] = {"porep-2k-v1-4",   "porep-2k-v1_1-1",  "porep-2k-v1_1-2",
                                        "porep-2k-v1_1-3", "porep-2k-synth-5", "porep-2k-ni-6",
                                        "porep-8m-7",      "porep-32g-1"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        porep_c1 *c = load(cases[i]);
        expect(c, -1, NULL, NULL);
        expect(c, c->partitions - 1, NULL, NULL);
        cuzk_error err;
        assert_int_equal(porep_check(c, c->partitions, ps, workers, &err), CUZK_INVALID_ARGUMENT);
        porep_c1_free(c);
    }
}

/* Flips a bit, expects the error, flips it back. */
static void flipped(const porep_c1 *c, const void *bytes, size_t at, unsigned bit, const char *place,
                    const char *field)
{
    uint8_t *b = (uint8_t *)bytes + at; /* the document's own memory */
    *b ^= (uint8_t)(1u << bit);
    expect(c, -1, place, field);
    *b ^= (uint8_t)(1u << bit);
}

static void one_value_changed(void **state)
{
    (void)state;
    porep_c1 *c = load("porep-8m-7");
    porep_challenge *h = &c->challenge[1];
    const char *place = "partition 0, challenge 1 ";
    merkle_shape r;
    char field[96];
    merkle_shape_poseidon(&r, c->seal->sector_size);
    flipped(c, h->comm_d.leaf, 3, 0, place, "comm_d_proofs: leaf and path");
    flipped(c, h->comm_d.root, 0, 0, place, "comm_d_proofs: its root is not comm_d");
    flipped(c, h->comm_d.level[17].siblings, 30, 1, place, "comm_d_proofs: leaf and path");
    flipped(c, &h->comm_d.level[4].position, 0, 0, place, "comm_d_proofs: its path leads to node");
    flipped(c, h->comm_r_last.leaf, 3, 0, place, "comm_r_last_proof: leaf and path");
    flipped(c, h->comm_r_last.root, 3, 0, place, "comm_r_last_proof: its root is not comm_r_last");
    flipped(c, h->comm_r_last.level[5].siblings, 6 * 32 + 31, 0, place, "comm_r_last_proof: leaf and path");
    flipped(c, &h->comm_r_last.level[0].position, 0, 2, place, "comm_r_last_proof: its path leads to node");
    for (int i = 0; i < 1 + POREP_DRG_PARENTS + POREP_EXP_PARENTS; i++) {
        porep_column *col = i == 0                   ? &h->c_x
                            : i <= POREP_DRG_PARENTS ? &h->drg[i - 1]
                                                     : &h->exp[i - 1 - POREP_DRG_PARENTS];
        if (i == 0)
            snprintf(field, sizeof field, "replica_column_proofs.c_x");
        else if (i <= POREP_DRG_PARENTS)
            snprintf(field, sizeof field, "replica_column_proofs.drg_parents[%d]", i - 1);
        else
            snprintf(field, sizeof field, "replica_column_proofs.exp_parents[%d]", i - 1 - POREP_DRG_PARENTS);
        char *end = field + strlen(field);
        strcpy(end, ": the column does not hash");
        flipped(c, col->rows, 32 * (i & 1) + 7, 3, place, field);
        flipped(c, col->inclusion.leaf, 7, 3, place, field);
        strcpy(end, ": column of node ");
        flipped(c, &col->index, 0, 0, place, field);
        strcpy(end, ".inclusion_proof: its root is not comm_c");
        flipped(c, col->inclusion.root, 1, 1, place, field);
        strcpy(end, ".inclusion_proof: leaf and path do not hash");
        flipped(c, col->inclusion.level[i % 6].siblings, 32 * (i % 7), 1, place, field);
        strcpy(end, ".inclusion_proof: its path leads to node");
        flipped(c, &col->inclusion.level[i % 6].position, 0, 0, place, field);
    }
    for (unsigned l = 0; l < 2; l++) {
        snprintf(field, sizeof field, "labeling_proofs[%u].parents[%u] is not the label", l, 36 * l);
        flipped(c, h->labeling[l].parents, 32 * 36 * l + 9, 4, place, field);
        snprintf(field, sizeof field, "labeling_proofs[%u].layer_index is", l);
        flipped(c, &h->labeling[l].layer_index, 0, 0, place, field);
        snprintf(field, sizeof field, "labeling_proofs[%u].node is", l);
        flipped(c, &h->labeling[l].node, 0, 0, place, field);
    }
    flipped(c, h->encoding.parents, 32 * 20, 4, place, "encoding_proof.parents[20]");
    flipped(c, &h->encoding.layer_index, 0, 1, place, "encoding_proof.layer_index is 0, not 2");
    flipped(c, &h->encoding.node, 4, 1, place, "encoding_proof.node is");
    expect(c, -1, NULL, NULL); /* all were put back */
    porep_c1_free(c);
}

static void identity_changed(void **state)
{
    (void)state;
    porep_c1 *c = load("porep-2k-v1_1-1");
    flipped(c, c->comm_d, 0, 0, "partition 0, challenge 0 ", "comm_d_proofs: its root is not comm_d");
    flipped(c, c->comm_r, 0, 0, "partition 0, challenge 0 ", "comm_r is not the hash of the roots");
    flipped(c, c->seed, 0, 0, "partition 0, challenge ", "leads to node");
    flipped(c, c->replica_id, 0, 0, "partition 0, challenge ", "leads to node");
    flipped(c, c->comm_r, 31, 7, "comm_r is not a field element", NULL);
    flipped(c, c->comm_d, 31, 7, "comm_d is not a field element", NULL);
    flipped(c, c->replica_id, 31, 7, "replica_id is not a field element", NULL);
    c->seal = seal_by_name("StackedDrg2KiBV1"); /* another graph, the same challenges */
    expect(c, -1, "partition 0, challenge ", "the graph says node");
    c->seal = seal_by_name("StackedDrg2KiBV1_1_Feat_SyntheticPoRep"); /* other challenges */
    expect(c, -1, "partition 0, challenge ", "its path leads to node");
    porep_c1_free(c);
    /* A replica id that keeps the challenges (synthetic ones depend on comm_r; here only labels do): */
    c = load("porep-2k-v1_1-2");
    uint8_t seed[32];
    uint64_t want[2], got[2];
    memcpy(seed, c->seed, 32);
    assert_int_equal(porep_challenges(want, c->seal, 0, c->replica_id, c->seed, c->comm_r, NULL), CUZK_OK);
    c->replica_id[5] ^= 1;
    for (uint32_t i = 0;; i++) {
        store_le32(c->seed, i);
        assert_int_equal(porep_challenges(got, c->seal, 0, c->replica_id, c->seed, c->comm_r, NULL), CUZK_OK);
        if (!memcmp(got, want, sizeof got))
            break;
    }
    expect(c, -1, "partition 0, challenge 0 ",
           "labeling_proofs[0]: the label is not that of column c_x at layer 1");
    porep_c1_free(c);
}

static void swap_challenges(porep_c1 *c, size_t a, size_t b)
{
    porep_challenge t = c->challenge[a];
    c->challenge[a] = c->challenge[b];
    c->challenge[b] = t;
}

static void swapped(void **state)
{
    (void)state;
    porep_c1 *c = load("porep-2k-ni-6");
    for (uint32_t i = 0; i < c->challenges; i++)
        swap_challenges(c, 3 * c->challenges + i, 7 * c->challenges + i);
    expect(c, -1, "partition 3, challenge 0 ", "comm_d_proofs: its path leads to node");
    expect(c, 7, "partition 7, challenge 0 ", "comm_d_proofs: its path leads to node");
    expect(c, 4, NULL, NULL); /* the others are what they were */
    for (uint32_t i = 0; i < c->challenges; i++)
        swap_challenges(c, 3 * c->challenges + i, 7 * c->challenges + i);
    expect(c, -1, NULL, NULL);
    swap_challenges(c, 12 * c->challenges, 12 * c->challenges + 1);
    expect(c, -1, "partition 12, challenge 0 ", "comm_d_proofs: its path leads to node");
    swap_challenges(c, 12 * c->challenges, 12 * c->challenges + 1);
    /* The first of several failures is reported, whatever the number of threads. */
    for (size_t i = 25; i >= 9; i -= 4)
        c->challenge[i].encoding.node ^= 1;
    for (int i = 0; i < 20; i++)
        expect(c, -1, "partition 4, challenge 1 ", "encoding_proof.node");
    porep_c1_free(c);
    /* Parents of one challenge in another order. */
    c = load("porep-2k-v1_1-3");
    porep_column t = c->challenge[0].exp[0];
    c->challenge[0].exp[0] = c->challenge[0].exp[7];
    c->challenge[0].exp[7] = t;
    expect(c, -1, "partition 0, challenge 0 ", "replica_column_proofs.exp_parents[0]: column of node");
    porep_c1_free(c);
}

static int column_of(const porep_c1 *c, uint8_t out[32], const porep_column *col)
{
    return porep_column_hash(out, ps, col->rows, c->circuit->layers);
}

/* Values that are not below r are refused where a field element is needed. */
static void not_canonical(void **state)
{
    (void)state;
    porep_c1 *c = load("porep-2k-v1_1-1");
    porep_challenge *h = &c->challenge[0];
    uint8_t hash[32];
    flipped(c, h->drg[2].rows, 63, 7, "partition 0, challenge 0 ",
            "drg_parents[2]: the label of layer 2 is not below r");
    assert_int_equal(column_of(c, hash, &h->drg[2]), 0);
    assert_memory_equal(hash, h->drg[2].inclusion.leaf, 32);
    flipped(c, h->comm_r_last.level[0].siblings, 31, 7, "partition 0, challenge 0 ",
            "comm_r_last_proof: leaf and path");
    flipped(c, h->comm_d.leaf, 31, 7, "partition 0, challenge 0 ", "comm_d_proofs: leaf and path");
    porep_c1_free(c);
}

/* The label against the hash written out; parents repeat with period 6 at the first layer, 14 later. */
static void label_form(void **state)
{
    (void)state;
    porep_c1 *c = load("porep-2k-v1_1-1");
    const porep_labeling *l = &c->challenge[0].labeling[1];
    uint8_t message[64 + 37 * 32] = {0}, want[32], got[32];
    memcpy(message, c->replica_id, 32);
    message[35] = 2;
    message[43] = (uint8_t)l->node; /* below 64 */
    memcpy(message + 64, l->parents, 37 * 32);
    sha256_digest(want, message, sizeof message);
    want[31] &= 0x3f;
    porep_label(got, c->replica_id, 2, l->node, l->parents);
    assert_memory_equal(got, want, 32);
    assert_memory_equal(got, c->challenge[0].c_x.rows + 32, 32);
    for (int i = 14; i < 37; i++)
        assert_memory_equal(l->parents + 32 * i, l->parents + 32 * (i - 14), 32);
    l = &c->challenge[0].labeling[0];
    for (int i = 6; i < 37; i++)
        assert_memory_equal(l->parents + 32 * i, l->parents + 32 * (i - 6), 32);
    porep_c1_free(c);
}

static void no_memory(void **state)
{
    (void)state;
    porep_c1 *c = load("porep-2k-v1_1-1");
    for (uint64_t n = 1;; n++) {
        cuzk_error err;
        mem_fault_set(n, 0);
        cuzk_status st = porep_check(c, -1, ps, NULL, &err);
        mem_fault_set(0, 0);
        if (st == CUZK_OK)
            break;
        assert_int_equal(st, CUZK_OUT_OF_MEMORY);
        assert_true(n < 20);
    }
    porep_c1_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_pass),      cmocka_unit_test(one_value_changed),
        cmocka_unit_test(identity_changed), cmocka_unit_test(swapped),
        cmocka_unit_test(not_canonical),    cmocka_unit_test(label_form),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests_name("porep_check", tests, setup, teardown);
}
