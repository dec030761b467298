/* The order of jobs: priorities, aging, sorting by type, partitions, batches, the bounded queue. */
#include "engine/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static test_request window1, window2, winning, update; /* one, two, one, one partition */

static engine *start_one(config *c)
{
    engine *e;
    cuzk_error err = {0};
    if (engine_create_on(&e, c, gate_backend(1), &err))
        fail_msg("%s", err.message);
    return e;
}

/* The moment a partition's proof began, from the timeline. */
static double proved_at(engine *e, const char *job_id, int partition)
{
    engine_stage *s;
    size_t n;
    cuzk_error err = {0};
    double at = -1;
    uint64_t submitted = 0;
    assert_int_equal(engine_stages(e, job_id, &s, &n, &err), CUZK_OK);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(s[i].stage, "prove") && s[i].partition == partition)
            at = s[i].start_ms;
    pthread_mutex_lock(&e->lock);
    submitted = job_find_locked(e, job_id)->submitted_ns;
    pthread_mutex_unlock(&e->lock);
    free(s);
    assert_true(at >= 0);
    return at + (double)submitted / 1e6;
}

/* Puts one job onto the device and holds it there. */
static void occupy(engine *e, char id[JOB_ID_SIZE])
{
    gate_close();
    submit(e, &window1, "occupies", 0, id);
    gate_wait(1);
}

/* Witnesses of a job (NULL: of any) that wait for a device. The lock is held. */
static int ready_units(const engine *e, const job *j)
{
    int n = 0;
    for (const unit *u = e->units; u; u = u->next)
        n += u->state == UNIT_READY && (!j || u->job == j);
    return n;
}

static void test_critical_overtakes_fifty(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    engine *e = start_one(&c);
    char first[JOB_ID_SIZE], id[50][JOB_ID_SIZE], critical[JOB_ID_SIZE], name[32];
    occupy(e, first);
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "queued-%d", i);
        submit(e, &window1, name, PRIORITY_NORMAL, id[i]);
    }
    submit(e, &winning, "elected", 0, critical);
    engine_status s;
    cuzk_error err = {0};
    assert_int_equal(engine_get_status(e, &s, &err), CUZK_OK);
    uint32_t all = 0;
    for (int k = 1; k < ENGINE_KINDS; k++)
        all += s.pending[k] + s.in_progress[k];
    assert_int_equal(all, 52); /* jobs, not partitions */
    engine_status_clear(&s);
    /* The witness of the critical job is made while the device is held. */
    wait_for_locked(e, ready_units(e, job_find_locked(e, critical)) == 1);
    gate_open();
    assert_proved(e, critical, &winning);
    int before = 0;
    for (int i = 0; i < 50; i++) {
        outcome o;
        await_job(e, id[i], 0, &o);
        assert_int_equal(o.state, JOB_COMPLETED);
        before += proved_at(e, id[i], 0) < proved_at(e, critical, 0);
    }
    assert_int_equal(before, 0);
    assert_proved(e, first, &window1);
    /* Within a priority they were proved in the order of arrival. */
    for (int i = 1; i < 50; i++)
        assert_true(proved_at(e, id[i - 1], 0) < proved_at(e, id[i], 0));
    engine_destroy(e);
}

/* A WinningPoSt goes between two partitions of a job that runs, and does not wait for its end. */
static void test_critical_goes_between_partitions(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    engine *e = start_one(&c);
    char running[JOB_ID_SIZE], critical[JOB_ID_SIZE];
    gate_close();
    submit(e, &window2, "runs", 0, running);
    gate_wait(1);
    wait_for_locked(e, ready_units(e, job_find_locked(e, running)) == 1);
    submit(e, &winning, "elected", 0, critical);
    wait_for_locked(e, ready_units(e, job_find_locked(e, critical)) == 1);
    gate_open();
    assert_proved(e, critical, &winning);
    assert_proved(e, running, &window2);
    assert_true(proved_at(e, running, 0) < proved_at(e, critical, 0));
    assert_true(proved_at(e, critical, 0) < proved_at(e, running, 1));
    engine_destroy(e);
}

/* Two WindowPoSt jobs that queue while the device is busy both end. */
static void test_two_while_busy(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    engine *e = start_one(&c);
    char first[JOB_ID_SIZE], a[JOB_ID_SIZE], b[JOB_ID_SIZE];
    occupy(e, first);
    submit(e, &window1, "a", 0, a);
    submit(e, &window2, "b", 0, b);
    gate_open();
    assert_proved(e, b, &window2);
    assert_proved(e, a, &window1);
    assert_proved(e, first, &window1);
    engine_destroy(e);
}

/* Proves two jobs of two partitions under an order, and says whether the first ended before the second began.
 */
static int first_ends_first(const char *order)
{
    config c;
    test_config(&c);
    test_set(&c, "scheduler.order", order);
    test_set(&c, "pipeline.synthesis_lookahead", "4");
    engine *e = start_one(&c);
    char first[JOB_ID_SIZE], a[JOB_ID_SIZE], b[JOB_ID_SIZE];
    occupy(e, first);
    submit(e, &window2, "a", 0, a);
    submit(e, &window2, "b", 0, b);
    wait_for_locked(e, ready_units(e, NULL) == 4);
    gate_open();
    assert_proved(e, a, &window2);
    assert_proved(e, b, &window2);
    int together = proved_at(e, a, 1) < proved_at(e, b, 0);
    engine_destroy(e);
    return together;
}

static void test_partitions_stay_together(void **state)
{
    (void)state;
    assert_true(first_ends_first("jobs"));
    assert_false(first_ends_first("partitions"));
}

/* The circuit of one job is loaded, that of another, which arrives first, is not: the place of the second. */
static unsigned place_of_loaded(const char *sort)
{
    config c;
    test_config(&c);
    test_set(&c, "scheduler.sort_by_type", sort);
    engine *e = start_one(&c);
    char other[JOB_ID_SIZE], same[JOB_ID_SIZE];
    int already;
    uint64_t ms;
    cuzk_error err = {0};
    assert_int_equal(engine_preload(e, "wpost-2k", &already, &ms, &err), CUZK_OK);
    pthread_mutex_lock(&e->lock);
    e->draining = 1; /* nothing that is queued begins */
    pthread_mutex_unlock(&e->lock);
    submit(e, &winning, "other", PRIORITY_NORMAL, other);
    submit(e, &window1, "same", PRIORITY_NORMAL, same);
    engine_request q = window1.q;
    engine_submitted again;
    q.request_id = "same";
    assert_int_equal(engine_submit(e, &q, &again, &err), CUZK_OK);
    pthread_mutex_lock(&e->lock);
    e->draining = 0;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    assert_proved(e, other, &winning);
    assert_proved(e, same, &window1);
    engine_destroy(e);
    return again.queue_position;
}

static void test_sort_by_type(void **state)
{
    (void)state;
    assert_int_equal(place_of_loaded("true"), 0);
    assert_int_equal(place_of_loaded("false"), 1);
}

static void test_aging(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    engine *e = start_one(&c);
    uint64_t minute = 60000000000u;
    job low = {.priority = PRIORITY_LOW, .submitted_ns = minute},
        normal = {.priority = PRIORITY_NORMAL, .submitted_ns = 21 * minute};
    /* aging 10m: after ten minutes LOW counts as NORMAL, after twenty as HIGH, never as CRITICAL. */
    assert_int_equal(job_effective_priority(e, &low, 10 * minute), PRIORITY_LOW);
    assert_int_equal(job_effective_priority(e, &low, 11 * minute), PRIORITY_NORMAL);
    assert_int_equal(job_effective_priority(e, &low, 21 * minute), PRIORITY_HIGH);
    assert_int_equal(job_effective_priority(e, &low, 1000 * minute), PRIORITY_HIGH);
    assert_int_equal(job_effective_priority(e, &normal, 21 * minute), PRIORITY_NORMAL);
    e->config.scheduler.aging_ms = 0;
    assert_int_equal(job_effective_priority(e, &low, 1000 * minute), PRIORITY_LOW);
    engine_destroy(e);
}

static void test_low_is_not_starved(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    test_set(&c, "scheduler.aging", "300ms");
    test_set(&c, "pipeline.synthesis_lookahead", "0");
    engine *e = start_one(&c);
    char first[JOB_ID_SIZE], low[JOB_ID_SIZE], normal[8][JOB_ID_SIZE], name[32];
    occupy(e, first);
    submit(e, &window1, "low", PRIORITY_LOW, low);
    usleep(700000); /* it has aged to HIGH */
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "normal-%d", i);
        submit(e, &window1, name, PRIORITY_NORMAL, normal[i]);
    }
    gate_open();
    assert_proved(e, low, &window1);
    outcome o;
    for (int i = 0; i < 8; i++)
        await_job(e, normal[i], 0, &o);
    int before = 0;
    for (int i = 0; i < 8; i++)
        before += proved_at(e, normal[i], 0) < proved_at(e, low, 0);
    assert_int_equal(before, 0);
    engine_destroy(e);
}

static void test_full_queue(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    test_set(&c, "scheduler.max_queued", "3");
    engine *e = start_one(&c);
    char first[JOB_ID_SIZE], id[JOB_ID_SIZE], other[JOB_ID_SIZE];
    occupy(e, first);
    submit(e, &window1, "a", 0, id);
    submit(e, &window1, "b", 0, other);
    engine_request q = window1.q;
    engine_submitted s;
    cuzk_error err = {0};
    q.request_id = "c";
    assert_int_equal(engine_submit(e, &q, &s, &err), CUZK_BUSY);
    assert_non_null(strstr(err.message, "try again in"));
    q.request_id = "a"; /* one that is there may always join */
    assert_int_equal(engine_submit(e, &q, &s, &err), CUZK_OK);
    assert_true(s.joined);
    assert_string_equal(s.job_id, id);
    int was_running;
    assert_int_equal(engine_cancel(e, id, &was_running, &err), CUZK_OK);
    q.request_id = "c"; /* a place is free */
    assert_int_equal(engine_submit(e, &q, &s, &err), CUZK_OK);
    /* A reload raises the bound. */
    c.scheduler.max_queued = 4;
    assert_int_equal(engine_reload(e, &c, &err), CUZK_OK);
    q.request_id = "d";
    assert_int_equal(engine_submit(e, &q, &s, &err), CUZK_OK);
    q.request_id = "e";
    assert_int_equal(engine_submit(e, &q, &s, &err), CUZK_BUSY);
    gate_open();
    assert_proved(e, other, &window1);
    engine_destroy(e);
}

/* Ten thousand queued jobs cost the clients little. */
static void test_ten_thousand(void **state)
{
    (void)state;
    enum { JOBS = 10000 };
    config c;
    test_config(&c);
    test_set(&c, "scheduler.max_queued", "20000");
    engine *e = start_one(&c);
    char first[JOB_ID_SIZE], name[32];
    char(*id)[JOB_ID_SIZE] = calloc(JOBS, JOB_ID_SIZE);
    assert_non_null(id);
    occupy(e, first);
    uint64_t begun = clock_ns();
    for (int i = 0; i < JOBS; i++) {
        snprintf(name, sizeof name, "many-%d", i);
        submit(e, &window1, name, PRIORITY_NORMAL, id[i]);
    }
    double each = (double)(clock_ns() - begun) / 1e6 / JOBS;
    engine_status s;
    cuzk_error err = {0};
    double status = 1e9;
    for (int i = 0; i < 5;
         i++) { /* the best: a thread that waits for a processor is not the engine's doing */
        begun = clock_ns();
        assert_int_equal(engine_get_status(e, &s, &err), CUZK_OK);
        double ms = (double)(clock_ns() - begun) / 1e6;
        status = ms < status ? ms : status;
        if (i < 4)
            engine_status_clear(&s);
    }
    assert_int_equal(s.pending[KIND_WINDOW] + s.in_progress[KIND_WINDOW], JOBS + 1);
    engine_status_clear(&s);
    begun = clock_ns();
    for (int i = 0; i < JOBS; i++) {
        int was_running;
        assert_int_equal(engine_cancel(e, id[i], &was_running, &err), CUZK_OK);
    }
    double cancel = (double)(clock_ns() - begun) / 1e6 / JOBS;
    print_message("%d queued: submit %.2f ms, status %.2f ms, cancel %.2f ms\n", JOBS, each, status, cancel);
    assert_true(each < 20 && status < 200 && cancel < 20);
    gate_open();
    assert_proved(e, first, &window1);
    free(id);
    engine_destroy(e);
}

/* Batches of SnapDeals share a pass; PoSt is never batched. */
static int largest_batch(const char *size, const char *wait, const test_request *r)
{
    config c;
    test_config(&c);
    test_set(&c, "scheduler.max_batch_size", size);
    test_set(&c, "scheduler.max_batch_wait_ms", wait);
    engine *e = start_one(&c);
    char first[JOB_ID_SIZE], id[4][JOB_ID_SIZE], name[32];
    occupy(e, first);
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "batch-%d", i);
        submit(e, r, name, PRIORITY_HIGH, id[i]);
    }
    gate_open();
    for (int i = 0; i < 4; i++)
        assert_proved(e, id[i], r);
    int largest = gate_largest_batch();
    engine_destroy(e);
    return largest;
}

static void test_batches(void **state)
{
    (void)state;
    assert_int_equal(largest_batch("1", "600000", &update), 1);
    assert_int_equal(largest_batch("2", "600000", &update), 2);
    assert_int_equal(largest_batch("4", "600000", &window1), 1);
}

/* The scheduler asked with units of the test's own: a is ready, b of the same circuit is in preparation, and
 * a PoSt of another circuit may be ready as well. */
typedef struct filling {
    job snap[2], post;
    circuit_key key[2];
    unit a, b, p;
} filling;

static size_t take(engine *e, filling *f, unit **out, uint64_t *wake_ns)
{
    *wake_ns = UINT64_MAX;
    e->units = &f->a;
    size_t n = sched_next_batch_locked(e, &e->device[0], out, MAX_BATCH, wake_ns);
    e->units = NULL;
    return n;
}

static void test_filling_batch(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    test_set(&c, "scheduler.max_batch_size", "2");
    test_set(&c, "scheduler.max_batch_wait_ms", "600000");
    engine *e = start_one(&c);
    uint64_t now = clock_ns(), wake;
    const circuit_info *snap = circuit_by_name("update-2k"), *post = circuit_by_name("window-2k");
    unit *out[MAX_BATCH];
    job common = {.kind = KIND_UPDATE, .priority = PRIORITY_HIGH, .circuit = snap, .submitted_ns = now};
    filling f = {
        .snap = {common, common},
        .post = {.kind = KIND_WINDOW, .priority = PRIORITY_LOW, .circuit = post, .submitted_ns = now},
        .a = {.state = UNIT_READY, .avoid_device = -1, .ready_ns = now},
        .b = {.state = UNIT_WITNESS, .avoid_device = -1},
        .p = {.state = UNIT_WITNESS, .avoid_device = -1, .ready_ns = now},
    };
    f.snap[1].sequence = 1;
    f.post.sequence = 2;
    f.a.job = &f.snap[0], f.b.job = &f.snap[1], f.p.job = &f.post;
    f.a.key = f.b.key = &f.key[0], f.p.key = &f.key[1];
    f.a.next = &f.b, f.b.next = &f.p;
    pthread_mutex_lock(&e->lock);
    /* It waits for b, as long as it may. */
    assert_int_equal(take(e, &f, out, &wake), 0);
    assert_int_equal(wake, now + 600000000000u);
    e->config.scheduler.max_batch_wait_ms = 0;
    assert_int_equal(take(e, &f, out, &wake), 1);
    e->config.scheduler.max_batch_wait_ms = 600000;
    /* The PoSt goes meanwhile, though its priority is lower, and alone. */
    f.p.state = UNIT_READY;
    assert_int_equal(take(e, &f, out, &wake), 1);
    assert_ptr_equal(out[0], &f.p);
    f.p.state = UNIT_PROVING;
    /* Full: both go. */
    f.b.state = UNIT_READY;
    f.b.ready_ns = now;
    assert_int_equal(take(e, &f, out, &wake), 2);
    /* Nothing more of the circuit is to come: it goes as it is. A retry does not wait either. */
    f.b.state = UNIT_PROVING;
    assert_int_equal(take(e, &f, out, &wake), 1);
    f.b.state = UNIT_WITNESS;
    f.a.attempts = 1;
    assert_int_equal(take(e, &f, out, &wake), 1);
    pthread_mutex_unlock(&e->lock);
    engine_destroy(e);
}

/* A cancelled job in a batch does not take the others with it. */
static void test_cancel_in_a_batch(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    test_set(&c, "scheduler.max_batch_size", "2");
    test_set(&c, "scheduler.max_batch_wait_ms", "600000");
    test_set(&c, "pipeline.synthesis_lookahead", "0");
    engine *e = start_one(&c);
    char first[JOB_ID_SIZE], a[JOB_ID_SIZE], b[JOB_ID_SIZE];
    occupy(e, first); /* until both are ready: else a is alone, and need not wait for what is not there yet */
    submit(e, &update, "a", 0, a);
    submit(e, &update, "b", 0, b);
    wait_for_locked(e, job_find_locked(e, b)->parsing || job_find_locked(e, b)->task);
    gate_pass(1);
    wait_for(gate_largest_batch() == 2);
    int was_running;
    cuzk_error err = {0};
    assert_int_equal(engine_cancel(e, a, &was_running, &err), CUZK_OK);
    assert_true(was_running);
    gate_open();
    assert_proved(e, b, &update);
    outcome o;
    await_job(e, a, 0, &o);
    assert_int_equal(o.state, JOB_CANCELLED);
    engine_destroy(e);
}

static int open_requests(void **state)
{
    (void)state;
    request_open(&window1, "window-2k-1sector", "w1");
    request_open(&window2, "window-2k-3sectors", "w2");
    request_open(&winning, "winning-2k-1", "win");
    request_open(&update, "update-2k-5", "snap");
    return 0;
}

static int close_requests(void **state)
{
    (void)state;
    request_close(&window1);
    request_close(&window2);
    request_close(&winning);
    request_close(&update);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_critical_overtakes_fifty),
        cmocka_unit_test(test_critical_goes_between_partitions),
        cmocka_unit_test(test_two_while_busy),
        cmocka_unit_test(test_partitions_stay_together),
        cmocka_unit_test(test_sort_by_type),
        cmocka_unit_test(test_aging),
        cmocka_unit_test(test_low_is_not_starved),
        cmocka_unit_test(test_full_queue),
        cmocka_unit_test(test_ten_thousand),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_filling_batch),
        cmocka_unit_test(test_cancel_in_a_batch),
    };
    return cmocka_run_group_tests(tests, open_requests, close_requests);
}
