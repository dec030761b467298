/* Identity, challenges and public inputs of every golden C1. */
#include "base/hash.h"
#include "filecoin/porep.h"
#include "support/data.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const CASES[] = {"porep-2k-v1-4",   "porep-2k-v1_1-1",  "porep-2k-v1_1-2",
                                    "porep-2k-v1_1-3", "porep-2k-synth-5", "porep-2k-ni-6",
                                    "porep-8m-7",      "porep-32g-1"};
#define CASE_COUNT (sizeof CASES / sizeof CASES[0])

static json_t *golden(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/golden.json", name);
    return test_data_json(path);
}

static void identity(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASE_COUNT; i++) {
        json_t *g = golden(CASES[i]);
        const registered_seal *seal = seal_by_name(test_json_string(g, "registered_proof"));
        uint8_t want[32], got[32], ticket[32], comm_d[32];
        test_json_hex(want, 32, g, "prover_id");
        porep_prover_id(got, 1000);
        assert_memory_equal(got, want, 32);
        test_json_hex(ticket, 32, g, "ticket");
        test_json_hex(comm_d, 32, g, "comm_d");
        test_json_hex(want, 32, g, "replica_id");
        porep_replica_id(got, 1000, test_json_int(g, "sector_id"), ticket, comm_d, seal);
        assert_memory_equal(got, want, 32);
        porep_replica_id(got, 1001, test_json_int(g, "sector_id"), ticket, comm_d, seal);
        assert_memory_not_equal(got, want, 32);
        json_decref(g);
    }
    /* LEB128 at its lengths */
    static const struct {
        uint64_t id;
        uint8_t bytes[11];
    } ids[] = {{0, {0}},
               {127, {0x7f}},
               {128, {0x80, 0x01}},
               {16383, {0xff, 0x7f}},
               {16384, {0x80, 0x80, 0x01}},
               {UINT64_MAX, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}}};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        uint8_t got[32], want[32] = {0};
        memcpy(want, ids[i].bytes, 11);
        porep_prover_id(got, ids[i].id);
        assert_memory_equal(got, want, 32);
    }
}

static void public_inputs(void **state)
{
    (void)state;
    size_t partitions = 0;
    for (size_t i = 0; i < CASE_COUNT; i++) {
        json_t *g = golden(CASES[i]), *part;
        size_t k;
        porep_public pub = {.seal = seal_by_name(test_json_string(g, "registered_proof"))};
        test_json_hex(pub.replica_id, 32, g, "replica_id");
        test_json_hex(pub.comm_r, 32, g, "comm_r");
        test_json_hex(pub.comm_d, 32, g, "comm_d");
        test_json_hex(pub.seed, 32, g, "seed");
        size_t n = porep_public_input_count(circuit_find(CIRCUIT_POREP, pub.seal->sector_size));
        fr *inputs = calloc(n, sizeof *inputs);
        json_array_foreach(json_object_get(g, "partitions"), k, part)
        {
            const json_t *want = json_object_get(part, "inputs");
            cuzk_error err;
            uint32_t number = (uint32_t)test_json_int(part, "partition");
            assert_int_equal(json_array_size(want), n + 1);
            assert_int_equal(porep_public_inputs(inputs, n, &pub, number, &err), CUZK_OK);
            for (size_t j = 0; j < n; j++) {
                uint8_t bytes[32];
                char hex[65];
                fr_to_bytes(bytes, &inputs[j]);
                for (int b = 0; b < 32; b++)
                    snprintf(hex + 2 * b, 3, "%02x", bytes[b]);
                if (strcmp(hex, json_string_value(json_array_get(want, j + 1))))
                    fail_msg("%s partition %u: input %zu is %s", CASES[i], number, j + 1, hex);
            }
            partitions++;
        }
        free(inputs);
        json_decref(g);
    }
    assert_true(partitions >= 13 + 7);
}

static void refusals(void **state)
{
    (void)state;
    cuzk_error err;
    uint64_t c[18];
    uint8_t zero[32] = {0};
    const registered_seal *seal = seal_by_number(8);
    assert_int_equal(porep_challenges(c, seal, 10, zero, zero, zero, &err), CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "10 partitions"));
    assert_int_equal(porep_challenges(c, seal, 9, zero, zero, zero, &err), CUZK_OK);
    for (int i = 0; i < 18; i++)
        assert_true(c[i] > 0 && c[i] < seal->sector_size / 32);
    fr inputs[327];
    porep_public pub = {.seal = seal};
    assert_int_equal(porep_public_inputs(inputs, 326, &pub, 0, &err), CUZK_INVALID_ARGUMENT);
    memset(pub.comm_r, 0xff, 32);
    assert_int_equal(porep_public_inputs(inputs, 327, &pub, 0, &err), CUZK_BAD_INPUT);
    assert_non_null(strstr(err.message, "comm_r"));
    assert_int_equal(porep_public_inputs(inputs, 327, &pub, 0, NULL), CUZK_BAD_INPUT);
}

/* What each version's challenges depend on, and that partitions continue one list. */
static void dependence(void **state)
{
    (void)state;
    uint8_t id[32] = {1}, seed[32] = {2}, comm_r[32] = {3}, other[32] = {4};
    for (uint64_t number = 0; number < 20; number++) {
        const registered_seal *s = seal_by_number(number);
        uint64_t a[18], b[18];
        size_t bytes = s->challenges * sizeof *a;
        assert_int_equal(porep_challenges(a, s, 0, id, seed, comm_r, NULL), CUZK_OK);
        assert_int_equal(porep_challenges(b, s, 0, other, seed, comm_r, NULL), CUZK_OK);
        assert_memory_not_equal(a, b, bytes);
        assert_int_equal(porep_challenges(b, s, 0, id, other, comm_r, NULL), CUZK_OK);
        assert_int_equal(!memcmp(a, b, bytes), s->version == POREP_NON_INTERACTIVE);
        assert_int_equal(porep_challenges(b, s, 0, id, seed, other, NULL), CUZK_OK);
        assert_int_equal(!memcmp(a, b, bytes), s->version == POREP_V1 || s->version == POREP_V1_1);
        if (s->partitions > 1) {
            assert_int_equal(porep_challenges(b, s, 1, id, seed, comm_r, NULL), CUZK_OK);
            assert_memory_not_equal(a, b, bytes);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identity),
        cmocka_unit_test(public_inputs),
        cmocka_unit_test(refusals),
        cmocka_unit_test(dependence),
    };
    return cmocka_run_group_tests_name("challenges", tests, NULL, NULL);
}
