/* Proof tasks of PoSt and SnapDeals: what a request must hold, and the way from a request to inputs and
 * witness. */
#include "base/mem.h"
#include "filecoin/post.h"
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
static vanilla_case window, winning, update;

static int open_fixture(void **state)
{
    (void)state;
    vanilla_open(&window, "window-2k-3sectors");
    vanilla_open(&winning, "winning-2k-1");
    vanilla_open(&update, "update-2k-5");
    return poseidon_set_create(&set, NULL) != CUZK_OK;
}

static int close_fixture(void **state)
{
    (void)state;
    vanilla_close(&window);
    vanilla_close(&winning);
    vanilla_close(&update);
    poseidon_set_destroy(set);
    return 0;
}

static proof_request request(circuit_kind kind, uint64_t registered, const vanilla_case *c)
{
    proof_request q = {
        .kind = kind, .has_registered = 1, .registered_proof = registered, .sector_size = 2048};
    q.vanilla = c->proof;
    q.vanilla_count = c->count;
    if (kind == CIRCUIT_UPDATE) {
        test_json_hex(q.comm_r_old, 32, c->golden, "comm_r_old");
        test_json_hex(q.comm_r_new, 32, c->golden, "comm_r_new");
        test_json_hex(q.comm_d_new, 32, c->golden, "comm_d_new");
    } else {
        q.has_randomness = 1;
        test_json_hex(q.randomness, 32, c->golden, "randomness");
    }
    return q;
}

static void refused(const proof_request *q, cuzk_status want, const char *part)
{
    proof_task *t = NULL;
    cuzk_error err;
    cuzk_status status = proof_task_parse(&t, q, set, &err);
    if (status != want || !strstr(err.message, part))
        fail_msg("%s: \"%s\", not \"%s\"", cuzk_status_name(status), status ? err.message : "", part);
    assert_null(t);
}

static void requests_refused(void **state)
{
    (void)state;
    proof_request q = request(CIRCUIT_WINDOW, 10, &window);
    q.has_registered = 0;
    refused(&q, CUZK_INVALID_ARGUMENT, "registered_proof is missing: a WindowPoSt needs it");
    q = request(CIRCUIT_WINDOW, 15, &window);
    refused(&q, CUZK_INVALID_ARGUMENT, "registered_proof 15 is no registered PoSt proof");
    q = request(CIRCUIT_WINDOW, 0, &window);
    refused(&q, CUZK_INVALID_ARGUMENT, "StackedDrgWinning2KiBV1, but the request is for a WindowPoSt");
    q = request(CIRCUIT_WINNING, 10, &window);
    refused(&q, CUZK_INVALID_ARGUMENT, "StackedDrgWindow2KiBV1_2, but the request is for a WinningPoSt");
    q = request(CIRCUIT_WINDOW, 10, &window);
    q.sector_size = 8 << 20;
    refused(&q, CUZK_INVALID_ARGUMENT,
            "sector_size is 8388608, but StackedDrgWindow2KiBV1_2 is for sectors of 2048");
    q = request(CIRCUIT_WINDOW, 10, &window);
    q.has_randomness = 0;
    refused(&q, CUZK_INVALID_ARGUMENT, "randomness is missing");
    q = request(CIRCUIT_WINDOW, 10, &window);
    q.vanilla_count = 0;
    refused(&q, CUZK_INVALID_ARGUMENT, "no vanilla proof");
    q = request(CIRCUIT_UPDATE, 5, &update);
    refused(&q, CUZK_INVALID_ARGUMENT, "registered_proof 5 is no registered update proof");
    q = request(CIRCUIT_UPDATE, 0, &update);
    q.has_registered = 0;
    refused(&q, CUZK_INVALID_ARGUMENT, "registered_proof is missing: a SnapDeals update needs it");
    q = request(CIRCUIT_UPDATE, 1, &update);
    refused(&q, CUZK_INVALID_ARGUMENT, "sector_size is 2048, but StackedDrg8MiBV1 is for sectors of 8388608");
    q.kind = (circuit_kind)99;
    refused(&q, CUZK_UNSUPPORTED, "not supported");
}

static void prove_like(const proof_request *q, const json_t *golden, uint32_t partitions, circuit_fn *synth)
{
    proof_task *t = NULL;
    cuzk_error err;
    if (proof_task_parse(&t, q, set, &err) != CUZK_OK)
        fail_msg("%s", err.message);
    assert_int_equal(proof_task_partitions(t), partitions);
    assert_true(proof_task_bytes(t) > 1000);
    assert_null(proof_task_porep(t));
    if (proof_task_check(t, -1, NULL, &err) != CUZK_OK)
        fail_msg("%s", err.message);
    post_circuit pc = {proof_task_circuit(t), set};
    update_circuit uc = {proof_task_circuit(t), set};
    r1cs *r = golden_compile(pc.info->name, synth, synth == update_synthesize ? (void *)&uc : (void *)&pc);
    for (uint32_t k = 0; k < partitions; k++) {
        witness w;
        fr *inputs = NULL;
        size_t n = 0;
        assert_int_equal(proof_task_witness(t, k, r, &w, NULL, NULL, &err), CUZK_OK);
        golden_witness(r, &w, json_array_get(json_object_get(golden, "partitions"), k));
        assert_int_equal(proof_task_inputs(t, k, &inputs, &n, &err), CUZK_OK);
        assert_int_equal(n, w.inputs - 1);
        assert_memory_equal(inputs, w.input + 1, n * sizeof *inputs);
        mem_free(inputs);
        witness_clear(&w);
        assert_int_equal(proof_task_inputs(t, partitions, &inputs, &n, &err), CUZK_INVALID_ARGUMENT);
        assert_int_equal(proof_task_witness(t, partitions, r, &w, NULL, NULL, &err), CUZK_INVALID_ARGUMENT);
    }
    r1cs_destroy(r);
    proof_task_destroy(t);
}

static void requests_proved(void **state)
{
    (void)state;
    proof_request q = request(CIRCUIT_WINDOW, 10, &window);
    prove_like(&q, window.golden, 2, post_synthesize);
    q.sector_size = 0; /* derived from the registered proof */
    prove_like(&q, window.golden, 2, post_synthesize);
    q = request(CIRCUIT_WINNING, 0, &winning);
    prove_like(&q, winning.golden, 1, post_synthesize);
    q = request(CIRCUIT_UPDATE, 0, &update);
    q.sector_size = 0;
    prove_like(&q, update.golden, 1, update_synthesize);
}

/* The request's bytes may go away after parsing. */
static void bytes_are_copied(void **state)
{
    vanilla_case c;
    proof_task *t = NULL;
    cuzk_error err;
    (void)state;
    vanilla_open(&c, "window-2k-3sectors");
    proof_request q = request(CIRCUIT_WINDOW, 10, &c);
    assert_int_equal(proof_task_parse(&t, &q, set, &err), CUZK_OK);
    for (size_t i = 0; i < c.count; i++)
        memset(c.data[i], 0xaa, c.proof[i].size);
    vanilla_close(&c);
    assert_int_equal(proof_task_check(t, -1, NULL, &err), CUZK_OK);
    proof_task_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_refused),
        cmocka_unit_test(requests_proved),
        cmocka_unit_test(bytes_are_copied),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
