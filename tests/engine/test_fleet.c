/* Several daemons on one PostgreSQL: partitions are spread, one that is killed loses nothing, the same
 * request joins wherever it arrives, and a cancellation is heard everywhere. */
#include "engine/postgres_server.h"
#include "engine/support.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static postgres_server server;
static test_request window, window2;

static void fleet_config(config *c)
{
    test_config(c);
    test_set(c, "store.url", server.url);
    test_set(c, "store.lease", "1h"); /* nobody loses it for being slow */
}

static engine *start(const config *c)
{
    engine *e;
    cuzk_error err = {0};
    if (engine_create_on(&e, c, gate_backend(1), &err))
        fail_msg("%s", err.message);
    return e;
}

/* A second engine on the same gate: the devices of both count as device 0. */
static engine *start_beside(const config *c)
{
    engine *e;
    cuzk_error err = {0};
    config other = *c;
    if (engine_create(&e, &other, &err))
        fail_msg("%s", err.message);
    return e;
}

/* Submitted to one, proved by the other, awaited at both. */
static void test_elsewhere(void **state)
{
    (void)state;
    if (!server.url[0])
        skip();
    config c;
    fleet_config(&c);
    test_set(&c, "pipeline.synthesis_lookahead", "0"); /* a takes one partition, and holds it */
    engine *a = start(&c);
    test_set(&c, "gpus.backend", "cpu");
    char id[JOB_ID_SIZE];
    gate_close();
    engine *b = start_beside(&c);
    submit(a, &window2, "spread", 0, id);
    gate_wait(1);
    wait_for(({ /* b proves the other partition meanwhile */
                store_job j;
                cuzk_error err = {0};
                assert_int_equal(store_get(a->store, id, &j, &err), CUZK_OK);
                j.done == 1;
    }));
    outcome o;
    await_job(b, id, 200, &o);
    assert_int_equal(o.state, JOB_TIMEOUT);
    gate_open();
    assert_proved(b, id, &window2);
    assert_proved(a, id, &window2);
    /* The same request at the other daemon joins the finished job. */
    engine_request q = window2.q;
    engine_submitted s;
    cuzk_error err = {0};
    q.request_id = "spread";
    assert_int_equal(engine_submit(b, &q, &s, &err), CUZK_OK);
    assert_true(s.joined);
    assert_string_equal(s.job_id, id);
    engine_destroy(b);
    engine_destroy(a);
}

static void test_cancel_everywhere(void **state)
{
    (void)state;
    if (!server.url[0])
        skip();
    config c;
    fleet_config(&c);
    engine *a = start(&c);
    test_set(&c, "gpus.backend", "cpu");
    char id[JOB_ID_SIZE];
    outcome o;
    int was_running;
    cuzk_error err = {0};
    gate_close();
    submit(a, &window, "cancelled elsewhere", 0, id);
    gate_wait(1);
    engine *b = start_beside(&c);
    uint64_t begun = clock_ns();
    assert_int_equal(engine_cancel(b, id, &was_running, &err), CUZK_OK);
    await_job(a, id, 0, &o);
    assert_int_equal(o.state, JOB_CANCELLED);
    print_message("heard at the other daemon after %.0f ms\n", (double)(clock_ns() - begun) / 1e6);
    gate_wait(0); /* and its proof stopped */
    gate_open();
    submit(a, &window, "cancelled elsewhere", 0, id); /* a new attempt */
    assert_proved(b, id, &window);
    engine_destroy(b);
    engine_destroy(a);
}

/* Stopped in good order, a daemon gives its partitions back at once. */
static void test_handed_over(void **state)
{
    (void)state;
    if (!server.url[0])
        skip();
    config c;
    fleet_config(&c);
    engine *a = start(&c);
    char id[JOB_ID_SIZE];
    gate_close();
    submit(a, &window2, "handed over", 0, id);
    gate_wait(1);
    engine_destroy(a);
    test_set(&c, "gpus.backend", "cpu");
    engine *b = start_beside(&c);
    assert_proved(b, id, &window2);
    engine_destroy(b);
}

/* A daemon of its own process that accepts four jobs, takes what it can and never finishes. It tells the ids
 * when it has a proof under way; then it is killed with its claims. */
static void hang_until_killed(const config *c, int out)
{
    engine *e;
    cuzk_error err = {0};
    if (engine_create_on(&e, c, gate_backend(1), &err)) {
        fprintf(stderr, "%s\n", err.message);
        _exit(3);
    }
    gate_close();
    char id[4][JOB_ID_SIZE], name[16];
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "killed-%d", i);
        submit(e, i % 2 ? &window2 : &window, name, 0, id[i]);
    }
    gate_wait(1);
    if (write(out, id, sizeof id) != sizeof id)
        _exit(4);
    for (;;)
        pause();
}

static void test_one_is_killed(void **state)
{
    (void)state;
    if (!server.url[0])
        skip();
    config c;
    fleet_config(&c);
    test_set(&c, "store.lease", "5s");
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child)
        hang_until_killed(&c, ends[1]);
    close(ends[1]);
    char id[8][JOB_ID_SIZE], name[16];
    assert_int_equal(read(ends[0], id, 4 * JOB_ID_SIZE), 4 * JOB_ID_SIZE);
    close(ends[0]);
    test_set(&c, "gpus.backend", "cpu");
    engine *e = start_beside(&c);
    for (int i = 4; i < 8; i++) {
        snprintf(name, sizeof name, "killed-%d", i);
        submit(e, i % 2 ? &window2 : &window, name, 0, id[i]);
    }
    assert_proved(e, id[4], &window); /* both are at work */
    store_job claimed;
    cuzk_error err = {0};
    assert_int_equal(store_get(e->store, id[0], &claimed, &err), CUZK_OK);
    assert_int_equal(claimed.done + claimed.open, 0); /* the other one holds it */
    assert_int_equal(kill(child, SIGKILL), 0);
    int status;
    waitpid(child, &status, 0);
    for (int i = 0; i < 8; i++)
        assert_proved(e, id[i], i % 2 ? &window2 : &window);
    engine_destroy(e);
}

/* A daemon that sleeps beyond its lease finds its partition taken over, and its late proof is dropped. */
static void test_late_proof_is_fenced(void **state)
{
    (void)state;
    if (!server.url[0])
        skip();
    config c;
    fleet_config(&c);
    engine *a = start(&c);
    char id[JOB_ID_SIZE];
    gate_close();
    submit(a, &window, "late", 0, id);
    gate_wait(1);
    /* Its lease is lost, as after a long pause of the machine. */
    postgres_sql(&server, "DELETE FROM cuzk_daemon");
    test_set(&c, "gpus.backend", "cpu");
    engine *b = start_beside(&c);
    assert_proved(b, id, &window);
    assert_proved(a, id, &window);
    gate_open();
    wait_for(({
        pthread_mutex_lock(&a->lock);
        int idle = !a->units;
        pthread_mutex_unlock(&a->lock);
        idle;
    }));
    engine_destroy(b);
    engine_destroy(a);
}

/* The database goes away and comes back: what runs is kept, and new jobs are taken again. */
static void test_database_restarts(void **state)
{
    (void)state;
    if (!server.url[0])
        skip();
    config c;
    fleet_config(&c);
    engine *e = start(&c);
    char id[JOB_ID_SIZE], next[JOB_ID_SIZE];
    gate_close();
    submit(e, &window, "over a restart", 0, id);
    gate_wait(1);
    postgres_restart(&server);
    gate_open();
    assert_proved(e, id, &window);
    engine_request q = window.q;
    engine_submitted s;
    cuzk_error err = {0};
    q.request_id = "after the restart";
    if (engine_submit(e, &q, &s, &err)) /* the first call may meet the broken connection */
        assert_int_equal(engine_submit(e, &q, &s, &err), CUZK_OK);
    memcpy(next, s.job_id, JOB_ID_SIZE);
    assert_proved(e, next, &window);
    engine_destroy(e);
}

static int open_all(void **state)
{
    (void)state;
    if (postgres_start(&server))
        server.url[0] = 0;
    request_open(&window, "window-2k-1sector", "w");
    request_open(&window2, "window-2k-3sectors", "w2");
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    request_close(&window);
    request_close(&window2);
    postgres_stop(&server);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_is_killed), /* first: it forks, and no thread must be left from another test
                                               */
        cmocka_unit_test(test_elsewhere),         cmocka_unit_test(test_cancel_everywhere),
        cmocka_unit_test(test_handed_over),       cmocka_unit_test(test_late_proof_is_fenced),
        cmocka_unit_test(test_database_restarts),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
