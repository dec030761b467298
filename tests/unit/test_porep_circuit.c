/* PoRep: the rows of the small circuits and the witnesses of all small C1 documents against golden digests;
 * tampered and malformed documents. The 32 GiB circuit is in tests/golden. */
#include "base/clock.h"
#include "base/mem.h"
#include "filecoin/porep.h"
#include "support/golden.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the above */
#include <cmocka.h>

typedef struct fixture {
    poseidon_set *ps;
    pool *pool;
    r1cs *porep_2k;
} fixture;
static fixture fix;

static r1cs *compile(const char *name)
{
    porep_circuit circuit = {circuit_by_name(name), fix.ps};
    assert_non_null(circuit.info);
    return golden_compile(name, porep_synthesize, &circuit);
}

static int open_fixture(void **state)
{
    (void)state;
    cuzk_error err;
    if (poseidon_set_create(&fix.ps, &err) != CUZK_OK || pool_create(&fix.pool, 3, &err) != CUZK_OK)
        return -1;
    fix.porep_2k = compile("porep-2k");
    return 0;
}

static int close_fixture(void **state)
{
    (void)state;
    r1cs_destroy(fix.porep_2k);
    pool_destroy(fix.pool);
    poseidon_set_destroy(fix.ps);
    return 0;
}

static void structure_2k(void **state)
{
    (void)state;
    json_t *expected = test_data_json("structure/porep-2KiB.json");
    golden_structure(fix.porep_2k, expected, fix.pool);
    json_decref(expected);
}

static void structure_8m_and_512m(void **state)
{
    static const char *const sizes[][2] = {{"porep-8m", "structure/porep-8MiB.json"},
                                           {"porep-512m", "structure/porep-512MiB.json"}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        json_t *expected = test_data_json(sizes[i][1]);
        r1cs *r = compile(sizes[i][0]);
        golden_structure(r, expected, fix.pool);
        r1cs_destroy(r);
        json_decref(expected);
    }
}

/* Every other size compiles to the public inputs that its circuit has; shapes with a sub and a top tree among
 * them. */
static void other_sizes(void **state)
{
    static const char *const names[] = {"porep-4k", "porep-16k", "porep-32k"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        r1cs_counts n;
        r1cs *r = compile(names[i]);
        r1cs_get_counts(r, &n);
        assert_int_equal(n.inputs, 1 + porep_public_input_count(circuit_by_name(names[i])));
        assert_true(n.constraints > n.aux);
        r1cs_destroy(r);
    }
}

/* ---- witnesses ---- */
static porep_c1 *open_c1(const char *folder)
{
    char name[64];
    size_t size;
    cuzk_error err;
    porep_c1 *c1 = NULL;
    snprintf(name, sizeof name, "%s/c1.json", folder);
    uint8_t *text = test_data(name, &size);
    if (porep_c1_parse(&c1, text, size, &err) != CUZK_OK)
        fail_msg("%s: %s", name, err.message);
    free(text);
    return c1;
}

static json_t *open_golden(const char *folder)
{
    char name[64];
    snprintf(name, sizeof name, "%s/golden.json", folder);
    return test_data_json(name);
}

static void make_witness(witness *w, const r1cs *r, const porep_c1 *c1, uint32_t partition, pool *p)
{
    cuzk_error err;
    if (porep_witness(w, r, c1, partition, fix.ps, p, NULL, &err) != CUZK_OK)
        fail_msg("partition %u: %s", partition, err.message);
}

/* The inputs that a verifier computes from public data are those of the witness. */
static void expect_public_inputs(const porep_c1 *c1, uint32_t partition, const witness *w)
{
    porep_public pub = {.seal = c1->seal};
    size_t n = porep_public_input_count(c1->circuit);
    cuzk_error err;
    fr *inputs = calloc(n, sizeof *inputs);
    assert_non_null(inputs);
    memcpy(pub.replica_id, c1->replica_id, 32);
    memcpy(pub.comm_r, c1->comm_r, 32);
    memcpy(pub.comm_d, c1->comm_d, 32);
    memcpy(pub.seed, c1->seed, 32);
    assert_int_equal(n + 1, w->inputs);
    if (porep_public_inputs(inputs, n, &pub, partition, &err) != CUZK_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < n; i++)
        if (!fr_eq(&inputs[i], &w->input[i + 1]))
            fail_msg("partition %u: public input %zu differs", partition, i + 1);
    free(inputs);
}

static void try_case(const char *folder, const r1cs *r)
{
    porep_c1 *c1 = open_c1(folder);
    json_t *golden = open_golden(folder), *partition;
    size_t i;
    cuzk_error err;
    json_array_foreach(json_object_get(golden, "partitions"), i, partition)
    {
        witness w;
        make_witness(&w, r, c1, (uint32_t)i, i % 2 ? NULL : fix.pool);
        golden_witness(r, &w, partition);
        expect_public_inputs(c1, (uint32_t)i, &w);
        if (i == 0 && r1cs_check(r, &w, fix.pool, &err) != CUZK_OK)
            fail_msg("%s", err.message);
        witness_clear(&w);
    }
    assert_int_equal(i, c1->partitions);
    json_decref(golden);
    porep_c1_free(c1);
}

static void witnesses_2k(void **state)
{
    static const char *const cases[] = {"porep-2k-v1_1-1", "porep-2k-v1_1-2",  "porep-2k-v1_1-3",
                                        "porep-2k-v1-4",   "porep-2k-synth-5", "porep-2k-ni-6"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        try_case(cases[i], fix.porep_2k);
}

static void witness_8m(void **state)
{
    (void)state;
    r1cs *r = compile("porep-8m");
    try_case("porep-8m-7", r);
    r1cs_destroy(r);
}

/* ---- what must not prove ---- */
enum {
    DATA_LEAF,
    DATA_SIBLING,
    DRG_LABEL,
    EXP_LABEL,
    DRG_SIBLING,
    OWN_SIBLING,
    R_SIBLING,
    D_POSITION,
    DRG_POSITION,
    OWN_POSITION,
    NODE,
    REPLICA_ID,
    COMM_D,
    COMM_R,
    TAMPERINGS
};

/* Flips one bit of what a challenge is made of; the bytes stay field elements. */
static void tamper(porep_c1 *c1, int what)
{
    porep_challenge *v = &c1->challenge[1];
    uint8_t *bytes[] = {
        [DATA_LEAF] = v->comm_d.leaf,
        [DATA_SIBLING] = (uint8_t *)v->comm_d.level[2].siblings,
        [DRG_LABEL] = (uint8_t *)v->drg[3].rows,
        [EXP_LABEL] = (uint8_t *)v->exp[7].rows + 32,
        [DRG_SIBLING] = (uint8_t *)v->drg[5].inclusion.level[1].siblings + 64,
        [OWN_SIBLING] = (uint8_t *)v->c_x.inclusion.level[0].siblings,
        [R_SIBLING] = (uint8_t *)v->comm_r_last.level[1].siblings,
        [REPLICA_ID] = c1->replica_id,
        [COMM_D] = c1->comm_d,
        [COMM_R] = c1->comm_r,
        [TAMPERINGS] = NULL,
    };
    if (what == D_POSITION)
        v->comm_d.level[1].position ^= 1;
    else if (what == DRG_POSITION)
        v->drg[0].inclusion.level[0].position ^= 4;
    else if (what == OWN_POSITION)
        v->c_x.inclusion.level[1].position ^= 2;
    else if (what == NODE)
        v->labeling[0].node ^= 1;
    else
        bytes[what][3] ^= 0x10;
}

static void tampered_documents(void **state)
{
    (void)state;
    for (int what = 0; what < TAMPERINGS; what++) {
        porep_c1 *c1 = open_c1("porep-2k-v1_1-1");
        witness w;
        cuzk_error err = {0};
        tamper(c1, what);
        make_witness(&w, fix.porep_2k, c1, 0, fix.pool);
        if (r1cs_check(fix.porep_2k, &w, fix.pool, &err) != CUZK_UNSATISFIED)
            fail_msg("tampering %d goes unnoticed", what);
        witness_clear(&w);
        porep_c1_free(c1);
    }
}

static void expect_failure(const porep_c1 *c1, uint32_t partition, const cancel_token *cancel,
                           cuzk_status want)
{
    for (int threads = 0; threads < 2; threads++) {
        witness w;
        cuzk_error err = {0};
        cuzk_status st =
            porep_witness(&w, fix.porep_2k, c1, partition, fix.ps, threads ? fix.pool : NULL, cancel, &err);
        if (st != want)
            fail_msg("status %s, not %s (%s)", cuzk_status_name(st), cuzk_status_name(want), err.message);
        assert_int_equal(err.status, want);
        assert_null(w.bits);
        assert_null(w.field);
        assert_null(w.input);
    }
}

static void refusals(void **state)
{
    (void)state;
    porep_c1 *c1 = open_c1("porep-2k-v1_1-1"), *other = open_c1("porep-8m-7");
    porep_challenge *v = &c1->challenge[1];
    uint8_t saved[32];
    expect_failure(c1, 1, NULL, CUZK_INVALID_ARGUMENT);

    uint8_t *const fields[] = {(uint8_t *)v->exp[2].rows, v->comm_d.leaf, c1->replica_id, c1->comm_r,
                               c1->comm_d};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        memcpy(saved, fields[i], 32);
        memset(fields[i], 0xff, 32);
        expect_failure(c1, 0, NULL, CUZK_INCONSISTENT);
        memcpy(fields[i], saved, 32);
    }
    v->drg[1].inclusion.levels--;
    expect_failure(c1, 0, NULL, CUZK_INCONSISTENT);
    v->drg[1].inclusion.levels++;
    v->comm_d.levels++;
    expect_failure(c1, 0, NULL, CUZK_INCONSISTENT);
    v->comm_d.levels--;
    v->layers--;
    expect_failure(c1, 0, NULL, CUZK_INCONSISTENT);
    v->layers++;

    cancel_token cancel = {0};
    atomic_store(&cancel.cancelled, 1);
    expect_failure(c1, 0, &cancel, CUZK_CANCELLED);
    atomic_store(&cancel.cancelled, 0);
    atomic_store(&cancel.deadline_ns, 1);
    expect_failure(c1, 0, &cancel, CUZK_DEADLINE);
    /* Another size's circuit. */
    expect_failure(other, 0, NULL, CUZK_INVALID_ARGUMENT);
    porep_c1_free(other);
    porep_c1_free(c1);
}

/* Every allocation of porep_witness may fail. */
static void without_memory(void **state)
{
    (void)state;
    porep_c1 *c1 = open_c1("porep-2k-v1_1-1");
    uint64_t failed = 0;
    for (uint64_t n = 1;; n++) {
        witness w;
        cuzk_error err = {0};
        mem_fault_set(n, 1);
        cuzk_status st = porep_witness(&w, fix.porep_2k, c1, 0, fix.ps, NULL, NULL, &err);
        mem_fault_set(0, 0);
        if (st == CUZK_OK) {
            witness_clear(&w);
            break;
        }
        assert_int_equal(st, CUZK_OUT_OF_MEMORY);
        assert_null(w.bits);
        failed++;
    }
    assert_in_range(failed, 1, 8);
    porep_c1_free(c1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structure_2k),       cmocka_unit_test(structure_8m_and_512m),
        cmocka_unit_test(other_sizes),        cmocka_unit_test(witnesses_2k),
        cmocka_unit_test(witness_8m),         cmocka_unit_test(refusals),
        cmocka_unit_test(tampered_documents), cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
