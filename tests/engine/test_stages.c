/* A cancellation or a deadline that comes in the middle of a stage: whoever waits is told within 200 ms, and
 * what worked for the job is free for the next one as soon. Each stage is entered for certain: by a gate, by
 * memory that is withheld, or by a document that takes long; where a stage may be over before the stop comes,
 * it is tried again. */
#include "engine/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static test_request porep, large;

/* ---- two ways to stop, and what is measured ---- */

typedef void stop_fn(engine *e, const char *id);

static void by_cancel(engine *e, const char *id)
{
    int was_running;
    cuzk_error err = {0};
    assert_int_equal(engine_cancel(e, id, &was_running, &err), CUZK_OK);
}

/* The deadline is now: as if it had been given so when the job was submitted. */
static void by_deadline(engine *e, const char *id)
{
    pthread_mutex_lock(&e->lock);
    atomic_store(&job_find_locked(e, id)->cancel.deadline_ns, clock_ns());
    pthread_cond_signal(&e->timer_wake);
    pthread_mutex_unlock(&e->lock);
}

/* A preparer, a witness, a device: nothing works for the job any more, and it holds nothing. The lock is
 * held.
 */
static int is_free(const engine *e, const job *j)
{
    for (size_t i = 0; i < e->devices; i++)
        if (e->device[i].busy)
            return 0;
    return !j->parsing && !j->active && !j->task && !j->reserved;
}

static job *ref(engine *e, const char *id)
{
    pthread_mutex_lock(&e->lock);
    job *j = job_find_locked(e, id);
    job_ref_locked(j);
    pthread_mutex_unlock(&e->lock);
    return j;
}

static void unref(engine *e, job *j)
{
    pthread_mutex_lock(&e->lock);
    job_unref_locked(j);
    pthread_mutex_unlock(&e->lock);
}

/* Stops the job; 0: it had ended before. */
static int stop_now(engine *e, const char *id, stop_fn *stop, const char *stage)
{
    outcome o;
    job *j = ref(e, id);
    moment begun = moment_now();
    stop(e, id);
    await_job(e, id, 0, &o);
    uint64_t told = moment_spent_ns(begun);
    int stopped = o.state == (stop == by_cancel ? JOB_CANCELLED : JOB_TIMEOUT);
    if (!stopped)
        assert_true(o.state == JOB_COMPLETED || o.state == JOB_FAILED);
    wait_for_locked(e, is_free(e, j));
    uint64_t freed = moment_spent_ns(begun);
    if (stopped) {
        print_message("%s: told after %.1f ms, free after %.1f ms\n", stage, (double)told / 1e6,
                      (double)freed / 1e6);
        assert_true(told < ACT_WITHIN_NS);
        assert_true(freed < ACT_WITHIN_NS);
        assert_true(strlen(o.error) > 5);
        assert_int_equal(o.proof_size, 0);
    }
    unref(e, j);
    return stopped;
}

static engine *start_on(const cuzk_backend *backend, const char *threads)
{
    config c;
    engine *e;
    cuzk_error err = {0};
    test_config(&c);
    test_set(&c, "synthesis.threads", threads);
    if (engine_create_on(&e, &c, backend, &err))
        fail_msg("%s", err.message);
    return e;
}

static int has_stage(engine *e, const char *id, const char *stage)
{
    engine_stage *s;
    size_t n;
    int found = 0;
    cuzk_error err = {0};
    assert_int_equal(engine_stages(e, id, &s, &n, &err), CUZK_OK);
    for (size_t i = 0; i < n; i++)
        found |= !strcmp(s[i].stage, stage);
    free(s);
    return found;
}

#define TRIES 20 /* of a stage that may be over before the stop comes */

/* ---- the stages ---- */

static void queued(stop_fn *stop)
{
    engine *e = start_on(gate_backend(1), "0");
    char id[JOB_ID_SIZE];
    pthread_mutex_lock(&e->lock);
    e->draining = 1; /* nothing that is queued begins */
    pthread_mutex_unlock(&e->lock);
    submit(e, &porep, "queued", 0, id);
    pthread_mutex_lock(&e->lock);
    assert_int_equal(job_find_locked(e, id)->state, JOB_QUEUED);
    pthread_mutex_unlock(&e->lock);
    assert_true(stop_now(e, id, stop, "queued"));
    engine_destroy(e);
}

/* The 51 MB of a 32 GiB PoRep take half a second to read, and as long to check on one thread. */
static void reading_or_checking(stop_fn *stop, int check)
{
    engine *e = start_on(gate_backend(1), "1");
    char id[JOB_ID_SIZE], name[32];
    int stopped = 0;
    for (int i = 0; i < TRIES && !stopped; i++) {
        snprintf(name, sizeof name, "large-%d", i);
        submit(e, &large, name, 0, id);
        if (check)
            wait_for(has_stage(e, id, "parse"));
        else
            wait_for_locked(e, job_find_locked(e, id)->state != JOB_QUEUED);
        stopped = stop_now(e, id, stop, check ? "check" : "parse");
    }
    assert_true(stopped);
    engine_destroy(e);
}

static void parsed(stop_fn *stop)
{
    reading_or_checking(stop, 0);
}
static void checked(stop_fn *stop)
{
    reading_or_checking(stop, 1);
}

/* The SRS waits for memory that others have: room for the document, not for the key. */
static void loading(stop_fn *stop)
{
    engine *e = start_on(gate_backend(1), "0");
    char id[JOB_ID_SIZE];
    pthread_mutex_lock(&e->lock);
    uint64_t taken = e->budget - ((uint64_t)64 << 20);
    e->budget_used += taken;
    pthread_mutex_unlock(&e->lock);
    submit(e, &porep, "loading", 0, id);
    wait_for_locked(e, e->keys && e->keys->wants_memory && job_find_locked(e, id)->srs_wait_ns);
    assert_true(stop_now(e, id, stop, "srs"));
    pthread_mutex_lock(&e->lock);
    assert_int_equal(e->budget_used, taken);
    budget_give_locked(e, taken);
    pthread_mutex_unlock(&e->lock);
    wait_for_locked(e, !e->loaders); /* the SRS is not the job's: it is loaded all the same */
    pthread_mutex_lock(&e->lock);
    assert_int_equal(e->keys->state, KEY_READY);
    pthread_mutex_unlock(&e->lock);
    engine_destroy(e);
}

static int makes_witness(const engine *e)
{
    for (const unit *u = e->units; u; u = u->next)
        if (u->state == UNIT_WITNESS)
            return 1;
    return 0;
}

static int has_event(const job *j, stage_name stage)
{
    for (size_t i = 0; i < j->event_count; i++)
        if (j->event[i].stage == stage)
            return 1;
    return 0;
}

static void witnessed(stop_fn *stop)
{
    engine *e = start_on(gate_backend(1), "1");
    char id[JOB_ID_SIZE];
    gate_close();
    submit(e, &porep, "witness", 0, id);
    /* Without a pause: it takes some tens of milliseconds. */
    for (int seen = 0; !seen;) {
        pthread_mutex_lock(&e->lock);
        seen = makes_witness(e) || has_event(job_find_locked(e, id), STAGE_WITNESS);
        pthread_mutex_unlock(&e->lock);
    }
    assert_true(stop_now(e, id, stop, "witness"));
    engine_destroy(e);
}

/* Inside the CPU's own prover: the first proof streams the queries, a later one decodes them first. */
static void proved(stop_fn *stop)
{
    engine *e = start_on(gate_backend(1), "0");
    char id[JOB_ID_SIZE], name[32];
    for (int begun = 0, stopped = 0; stopped < 3;) {
        assert_true(begun < TRIES);
        snprintf(name, sizeof name, "proving-%d", begun++);
        submit(e, &porep, name, 0, id);
        wait_for(gate_started(0) == begun);
        usleep(stopped * 150000u); /* at different places of the prover */
        stopped += stop_now(e, id, stop, "device");
    }
    engine_destroy(e);
}

static void waiting_for_the_device(stop_fn *stop)
{
    engine *e = start_on(gate_backend(1), "0");
    char first[JOB_ID_SIZE], id[JOB_ID_SIZE];
    gate_close();
    submit(e, &porep, "first", 0, first);
    gate_wait(1);
    submit(e, &porep, "ready", 0, id);
    wait_for(has_stage(e, id, "witness"));
    outcome o;
    moment begun = moment_now();
    stop(e, id);
    await_job(e, id, 0, &o);
    assert_int_equal(o.state, stop == by_cancel ? JOB_CANCELLED : JOB_TIMEOUT);
    assert_true(moment_spent_ns(begun) < ACT_WITHIN_NS);
    assert_true(stop_now(e, first, stop, "at the device"));
    engine_destroy(e);
}

/* ---- the finish, which a back end holds up ---- */

static cuzk_backend slow, gated;
static atomic_int finishing, may_finish;

static cuzk_status finish_late(cuzk_device_job *j, cuzk_sums *sums, cuzk_device_times *times, cuzk_error *err)
{
    atomic_store(&finishing, 1);
    while (!atomic_load(&may_finish))
        usleep(1000);
    return gated.prove_finish(j, sums, times, err);
}

/* Told at once; the proof that comes after it changes nothing, here or in the store. */
static void finished(stop_fn *stop)
{
    slow = gated = *gate_backend(1);
    slow.prove_finish = finish_late;
    atomic_store(&finishing, 0);
    atomic_store(&may_finish, 0);
    engine *e = start_on(&slow, "0");
    char id[JOB_ID_SIZE];
    outcome o;
    store_job kept;
    cuzk_error err = {0};
    submit(e, &porep, "finish", 0, id);
    wait_for(atomic_load(&finishing));
    job *j = ref(e, id);
    job_state want = stop == by_cancel ? JOB_CANCELLED : JOB_TIMEOUT;
    moment begun = moment_now();
    stop(e, id);
    await_job(e, id, 0, &o);
    assert_int_equal(o.state, want);
    assert_true(moment_spent_ns(begun) < ACT_WITHIN_NS);
    atomic_store(&may_finish, 1);
    wait_for_locked(e, is_free(e, j));
    await_job(e, id, 0, &o);
    assert_int_equal(o.state, want);
    assert_int_equal(o.proof_size, 0);
    assert_int_equal(store_get(e->store, id, &kept, &err), CUZK_OK);
    assert_int_equal(kept.state, (store_state)want);
    unref(e, j);
    engine_destroy(e);
}

#define BOTH(stage)                                                                                          \
    static void test_cancel_##stage(void **state)                                                            \
    {                                                                                                        \
        (void)state;                                                                                         \
        stage(by_cancel);                                                                                    \
    }                                                                                                        \
    static void test_deadline_##stage(void **state)                                                          \
    {                                                                                                        \
        (void)state;                                                                                         \
        stage(by_deadline);                                                                                  \
    }
BOTH(queued)
BOTH(parsed)
BOTH(checked)
BOTH(loading)
BOTH(witnessed)
BOTH(waiting_for_the_device)
BOTH(proved)
BOTH(finished)

static int open_all(void **state)
{
    (void)state;
    size_t size;
    request_open(&porep, "porep-2k-v1_1-1", "p");
    memset(&large, 0, sizeof large);
    large.c1 = test_data("porep-32g-1/c1.json", &size);
    large.q =
        (engine_request){.proof_kind = KIND_POREP, .registered_proof = 8, .vanilla_proof = {large.c1, size}};
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    request_close(&porep);
    request_close(&large);
    return 0;
}

#define TESTS(stage) cmocka_unit_test(test_cancel_##stage), cmocka_unit_test(test_deadline_##stage)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TESTS(queued),  TESTS(parsed),    TESTS(checked),
        TESTS(loading), TESTS(witnessed), TESTS(waiting_for_the_device),
        TESTS(proved),  TESTS(finished),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
