/* Cancel, deadlines and waits (test_stages.c: in every stage); what the same request means while it runs and
 * after each end.
 */
#include "engine/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static test_request window;

static engine *start_gated(const char *key, const char *value)
{
    config c;
    engine *e;
    cuzk_error err = {0};
    test_config(&c);
    if (key)
        test_set(&c, key, value);
    if (engine_create_on(&e, &c, gate_backend(1), &err))
        fail_msg("%s", err.message);
    return e;
}

static void cancel_now(engine *e, const char *id, int expect_running)
{
    outcome o;
    int was_running = -1;
    cuzk_error err = {0};
    moment begun = moment_now();
    assert_int_equal(engine_cancel(e, id, &was_running, &err), CUZK_OK);
    await_job(e, id, 0, &o);
    assert_int_equal(o.state, JOB_CANCELLED);
    assert_true(moment_spent_ns(begun) < ACT_WITHIN_NS);
    if (expect_running >= 0)
        assert_int_equal(was_running, expect_running);
    assert_true(strlen(o.error) > 5);
}

static void test_cancel_queued_and_proving(void **state)
{
    (void)state;
    engine *e = start_gated("pipeline.synthesis_lookahead", "0");
    char proving[JOB_ID_SIZE], queued[JOB_ID_SIZE], next[JOB_ID_SIZE];
    gate_close();
    submit(e, &window, "proving", 0, proving);
    gate_wait(1);
    submit(e, &window, "queued", PRIORITY_LOW, queued);
    submit(e, &window, "next", PRIORITY_HIGH, next);
    cancel_now(e, queued, -1);
    cancel_now(e, proving, 1);
    wait_for(gate_started(0) == 2); /* the device is free for the next one */
    gate_open();
    assert_proved(e, next, &window);
    /* What has ended cannot be cancelled, and says so by doing nothing. */
    int was_running;
    cuzk_error err = {0};
    assert_int_equal(engine_cancel(e, next, &was_running, &err), CUZK_OK);
    assert_int_equal(was_running, 0);
    assert_int_equal(engine_cancel(e, "no-such-job", &was_running, &err), CUZK_NOT_FOUND);
    engine_destroy(e);
}

static void submit_until(engine *e, const test_request *r, const char *name, uint64_t ms,
                         char id[JOB_ID_SIZE])
{
    engine_request q = r->q;
    engine_submitted s;
    cuzk_error err = {0};
    q.request_id = name;
    q.deadline_ns = clock_ns() + ms * 1000000u;
    if (engine_submit(e, &q, &s, &err))
        fail_msg("%s", err.message);
    memcpy(id, s.job_id, JOB_ID_SIZE);
}

static void assert_times_out(engine *e, const char *id, moment before)
{
    outcome o;
    await_job(e, id, 0, &o);
    assert_int_equal(o.state, JOB_TIMEOUT);
    assert_non_null(strstr(o.error, "deadline"));
    pthread_mutex_lock(&e->lock);
    const job *j = job_find_locked(e, id);
    uint64_t deadline = atomic_load(&j->cancel.deadline_ns), ended = j->ended_ns;
    pthread_mutex_unlock(&e->lock);
    assert_true(ended >= deadline);
    assert_true(ended - deadline < ACT_WITHIN_NS + moment_waited_ns(before));
}

static void test_deadlines(void **state)
{
    (void)state;
    engine *e = start_gated("pipeline.synthesis_lookahead", "0");
    char proving[JOB_ID_SIZE], queued[JOB_ID_SIZE], past[JOB_ID_SIZE];
    gate_close();
    moment before = moment_now();
    submit_until(e, &window, "proving", 1500, proving);
    submit_until(e, &window, "queued", 1500, queued);
    submit_until(e, &window, "past", 0, past);
    assert_times_out(e, past, before);
    assert_times_out(e, queued, before);
    assert_times_out(e, proving, before);
    gate_open();
    char id[JOB_ID_SIZE];
    submit_until(e, &window, "in time", 120000, id);
    assert_proved(e, id, &window);
    engine_destroy(e);
}

static void test_await_with_a_limit(void **state)
{
    (void)state;
    engine *e = start_gated(NULL, NULL);
    char id[JOB_ID_SIZE];
    outcome o;
    gate_close();
    submit(e, &window, "slow", 0, id);
    moment begun = moment_now();
    await_job(e, id, 300, &o);
    assert_int_equal(o.state, JOB_TIMEOUT);
    assert_true(o.ended_ns - begun.wall_ns >= 300000000u);
    assert_true(moment_spent_ns(begun) < 300000000u + ACT_WITHIN_NS);
    gate_open();
    await_job(e, id, UINT64_MAX, &o); /* as long as it takes, not a moment that is past already */
    assert_int_equal(o.state, JOB_COMPLETED);
    assert_proved(e, id, &window); /* the job went on */
    assert_proved(e, id, &window); /* and its proof stays */
    engine_destroy(e);
}

static void count_call(void *ctx, const job_result *r)
{
    (void)r;
    atomic_fetch_add((atomic_int *)ctx, 1);
}

static void test_unwatch(void **state)
{
    (void)state;
    engine *e = start_gated(NULL, NULL);
    char id[JOB_ID_SIZE];
    atomic_int calls = 0;
    engine_watch *w[3];
    cuzk_error err = {0};
    gate_close();
    submit(e, &window, "watched", 0, id);
    for (int i = 0; i < 3; i++)
        assert_int_equal(engine_await(e, id, 0, count_call, &calls, &w[i], &err), CUZK_OK);
    assert_int_equal(engine_unwatch(e, w[1]), 1); /* its client went away: the job does not care */
    gate_open();
    assert_proved(e, id, &window);
    wait_for(atomic_load(&calls) == 2);
    assert_int_equal(engine_unwatch(e, w[0]), 0);
    assert_int_equal(engine_unwatch(e, w[2]), 0);
    assert_int_equal(atomic_load(&calls), 2);
    assert_int_equal(engine_await(e, "no-such-job", 0, count_call, &calls, NULL, &err), CUZK_NOT_FOUND);
    engine_destroy(e);
}

static int submit_again(engine *e, const engine_request *q, char id[JOB_ID_SIZE])
{
    engine_submitted s;
    cuzk_error err = {0};
    if (engine_submit(e, q, &s, &err))
        fail_msg("%s", err.message);
    int same = id[0] && !strcmp(s.job_id, id);
    memcpy(id, s.job_id, JOB_ID_SIZE);
    assert_int_equal(same, s.joined);
    return same;
}

/* The same request while it runs and after each end; the same id with other content. */
static void test_same_request(void **state)
{
    (void)state;
    engine *e = start_gated(NULL, NULL);
    char id[JOB_ID_SIZE] = "", other[JOB_ID_SIZE] = "";
    engine_request q = window.q, changed = window.q;
    engine_bytes vanilla = {(const uint8_t *)"no vanilla proof", 16};
    uint8_t seed[32] = {9};
    q.request_id = changed.request_id = "wdpost-1000-0";
    changed.randomness = (engine_bytes){seed, 32};
    changed.vanilla_proofs = &vanilla;
    gate_close();
    assert_false(submit_again(e, &q, id));
    assert_true(submit_again(e, &q, id)); /* queued or running */
    gate_wait(1);
    assert_true(submit_again(e, &q, id));
    assert_false(submit_again(e, &changed, other)); /* another job, not an error */
    assert_string_not_equal(id, other);
    cancel_now(e, id, 1);
    assert_false(submit_again(e, &q, id)); /* after a cancellation: a new attempt */
    gate_open();
    assert_proved(e, id, &window);
    assert_true(submit_again(e, &q, id)); /* completed: the proof that is there */
    outcome o;
    await_job(e, other, 0, &o);
    assert_int_equal(o.state, JOB_FAILED);
    assert_false(submit_again(e, &changed, other)); /* after a failure: a new attempt */
    await_job(e, other, 0, &o);
    assert_int_equal(o.state, JOB_FAILED);
    engine_destroy(e);
}

static void test_bad_envelopes(void **state)
{
    (void)state;
    engine *e = start_gated(NULL, NULL);
    char long_id[400];
    memset(long_id, 'x', sizeof long_id - 1);
    long_id[sizeof long_id - 1] = 0;
    static const uint8_t bytes[33];
    const struct {
        const char *field;
        engine_request q;
    } cases[] = {
        {"request_id", {.request_id = "", .proof_kind = KIND_POREP}},
        {"request_id", {.request_id = "porep-\xcb-1", .proof_kind = KIND_POREP}},
        {"request_id", {.request_id = long_id, .proof_kind = KIND_POREP}},
        {"proof_kind", {.request_id = "x", .proof_kind = 0}},
        {"proof_kind", {.request_id = "x", .proof_kind = 77}},
        {"priority", {.request_id = "x", .proof_kind = KIND_POREP, .priority = 5}},
        {"registered_proof", {.request_id = "x", .proof_kind = KIND_POREP, .registered_proof = 20}},
        {"vanilla_proof", {.request_id = "x", .proof_kind = KIND_POREP, .registered_proof = 5}},
        {"sector_size",
         {.request_id = "x", .proof_kind = KIND_POREP, .registered_proof = 5, .sector_size = 4096}},
        {"randomness",
         {.request_id = "x",
          .proof_kind = KIND_WINDOW,
          .registered_proof = 10,
          .vanilla_proofs = window.list,
          .vanilla_count = 1,
          .randomness = {bytes, 31}}},
        {"proof_kind", {.request_id = "x", .proof_kind = KIND_WINDOW, .registered_proof = 0}},
        {"vanilla_proofs", {.request_id = "x", .proof_kind = KIND_WINDOW, .registered_proof = 10}},
        {"vanilla_proofs", {.request_id = "x", .proof_kind = KIND_UPDATE}},
        {"vanilla_proofs",
         {.request_id = "x", .proof_kind = KIND_WINDOW, .registered_proof = 10, .vanilla_count = 1000000}},
        {"comm_r_new",
         {.request_id = "x",
          .proof_kind = KIND_UPDATE,
          .vanilla_proofs = window.list,
          .vanilla_count = 1,
          .comm_r_old = {bytes, 32},
          .comm_r_new = {bytes, 33}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        engine_submitted s;
        cuzk_error err = {0};
        assert_int_equal(engine_submit(e, &cases[i].q, &s, &err), CUZK_INVALID_ARGUMENT);
        if (!strstr(err.message, cases[i].field))
            fail_msg("case %zu should name %s: %s", i, cases[i].field, err.message);
    }
    engine_destroy(e);
}

static int open_requests(void **state)
{
    (void)state;
    request_open(&window, "window-2k-1sector", "w");
    return 0;
}

static int close_requests(void **state)
{
    (void)state;
    request_close(&window);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cancel_queued_and_proving),
        cmocka_unit_test(test_deadlines),
        cmocka_unit_test(test_await_with_a_limit),
        cmocka_unit_test(test_unwatch),
        cmocka_unit_test(test_same_request),
        cmocka_unit_test(test_bad_envelopes),
    };
    return cmocka_run_group_tests(tests, open_requests, close_requests);
}
