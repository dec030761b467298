/* What outlives the process: accepted jobs after a stop, a drain, and kill -9 at any moment; expiry; flat
 * memory. */
#include "base/mem.h"
#include "engine/support.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static test_request window, window2;
static char folder[64];

static unsigned count_of(const char *variable, unsigned fallback)
{
    const char *v = getenv(variable);
    return v && *v ? (unsigned)strtoul(v, NULL, 10) : fallback;
}

static void file_config(config *c, const char *name)
{
    char url[200];
    test_config(c);
    snprintf(url, sizeof url, "sqlite:%s/%s.db", folder, name);
    test_set(c, "store.url", url);
}

static engine *start(const config *c)
{
    engine *e;
    cuzk_error err = {0};
    if (engine_create_on(&e, c, gate_backend(1), &err))
        fail_msg("%s", err.message);
    return e;
}

static void test_second_engine(void **state)
{
    (void)state;
    config c;
    file_config(&c, "second");
    engine *e = start(&c), *second;
    cuzk_error err = {0};
    assert_int_equal(engine_create_on(&second, &c, gate_backend(1), &err), CUZK_BUSY);
    assert_non_null(strstr(err.message, "in use by another process"));
    assert_null(second);
    engine_destroy(e);
}

/* Whichever allocation of the start fails, it ends with a sentence and nothing is left. */
static void test_start_without_memory(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    test_set(&c, "synthesis.threads", "2");
    const cuzk_backend *b = gate_backend(1);
    cuzk_status s = CUZK_OUT_OF_MEMORY;
    unsigned n = 0;
    while (s) {
        engine *e;
        cuzk_error err = {0};
        mem_fault_set(++n, 0);
        s = engine_create_on(&e, &c, b, &err);
        mem_fault_set(0, 0);
        if (s) {
            assert_int_equal(s, CUZK_OUT_OF_MEMORY);
            assert_true(strlen(err.message) > 10);
            assert_null(e);
        } else {
            engine_destroy(e);
        }
        assert_true(n < 100000);
    }
    print_message("%u allocations\n", n - 1);
}

static void test_restart_resumes(void **state)
{
    (void)state;
    config c;
    file_config(&c, "resume");
    engine *e = start(&c);
    char done[JOB_ID_SIZE], id[4][JOB_ID_SIZE], name[32];
    submit(e, &window2, "done", 0, done);
    assert_proved(e, done, &window2);
    gate_close();
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "job-%d", i);
        submit(e, i % 2 ? &window2 : &window, name, 0, id[i]);
    }
    gate_wait(1);
    engine_destroy(e); /* one is on the device, the others wait */
    e = start(&c);
    outcome o;
    await_job(e, done, 0, &o);
    assert_int_equal(o.state, JOB_COMPLETED);
    assert_valid(&window2, o.proof, o.proof_size);
    for (int i = 0; i < 4; i++)
        assert_proved(e, id[i], i % 2 ? &window2 : &window);
    /* The same requests find the proofs that are there. */
    engine_request q = window.q;
    engine_submitted s;
    cuzk_error err = {0};
    q.request_id = "job-0";
    assert_int_equal(engine_submit(e, &q, &s, &err), CUZK_OK);
    assert_true(s.joined);
    assert_string_equal(s.job_id, id[0]);
    engine_destroy(e);
}

/* A partition that was proved before the stop is not proved again. */
static void test_partitions_are_kept(void **state)
{
    (void)state;
    config c;
    file_config(&c, "partitions");
    engine *e = start(&c);
    char id[JOB_ID_SIZE];
    gate_close();
    gate_pass(1); /* the second partition waits for the stop */
    submit(e, &window2, "two", 0, id);
    wait_for_locked(e, job_find_locked(e, id)->done == 1);
    engine_destroy(e);
    e = start(&c);
    assert_proved(e, id, &window2);
    assert_int_equal(gate_started(0), 1);
    engine_destroy(e);
}

static void on_result(void *ctx, const job_result *r)
{
    outcome *o = ctx;
    memcpy(o->error, r->error, sizeof o->error);
    o->ended_ns = clock_ns();
    o->state = r->state;
}

static void *open_when_draining(void *engine_)
{
    engine *e = engine_;
    wait_for_locked(e, e->draining);
    gate_open();
    return NULL;
}

/* SIGTERM's way: what runs ends, what is queued stays for the next start, and whoever waits is told. */
static void test_drain(void **state)
{
    (void)state;
    config c;
    file_config(&c, "drain");
    test_set(&c, "pipeline.synthesis_lookahead", "0");
    engine *e = start(&c);
    char running[JOB_ID_SIZE], queued[JOB_ID_SIZE];
    outcome told = {0};
    cuzk_error err = {0};
    gate_close();
    submit(e, &window, "running", PRIORITY_CRITICAL, running);
    gate_wait(1);
    for (int i = 0; i < 6; i++) {
        char name[32];
        snprintf(name, sizeof name, "queued-%d", i);
        submit(e, &window, name, PRIORITY_LOW, queued);
    }
    assert_int_equal(engine_await(e, queued, 0, on_result, &told, NULL, &err), CUZK_OK);
    pthread_t t;
    pthread_create(&t, NULL, open_when_draining, e);
    engine_drain(e, 600000);
    pthread_join(t, NULL);
    outcome o;
    await_job(e, running, 0, &o);
    assert_int_equal(o.state, JOB_COMPLETED);
    assert_int_equal(told.state, JOB_FAILED);
    assert_non_null(strstr(told.error, "goes on at the next start"));
    engine_request q = window.q;
    engine_submitted s;
    q.request_id = "late";
    assert_int_equal(engine_submit(e, &q, &s, &err), CUZK_BUSY);
    await_job(e, queued, 0, &o); /* asking late is answered as well */
    assert_int_equal(o.state, JOB_FAILED);
    engine_destroy(e);
    e = start(&c);
    assert_proved(e, queued, &window);
    engine_destroy(e);
}

static void test_drain_has_a_limit(void **state)
{
    (void)state;
    config c;
    file_config(&c, "limit");
    engine *e = start(&c);
    char id[JOB_ID_SIZE];
    gate_close();
    submit(e, &window, "held", 0, id);
    gate_wait(1);
    moment begun = moment_now();
    engine_drain(e, 300); /* it returns, though the gate stays closed */
    assert_true(clock_ns() - begun.wall_ns >= 300000000u);
    assert_true(moment_spent_ns(begun) < 300000000u + ACT_WITHIN_NS);
    engine_destroy(e);
    e = start(&c);
    assert_proved(e, id, &window);
    engine_destroy(e);
}

/* A deadline that passes while the daemon is down has passed. */
static void test_deadline_while_down(void **state)
{
    (void)state;
    config c;
    file_config(&c, "down");
    engine *e = start(&c);
    engine_request q = window.q;
    engine_submitted s;
    cuzk_error err = {0};
    outcome o;
    gate_close();
    q.request_id = "short";
    q.deadline_ns = clock_ns() + 700000000u;
    assert_int_equal(engine_submit(e, &q, &s, &err), CUZK_OK);
    engine_destroy(e);
    usleep(800000);
    e = start(&c);
    await_job(e, s.job_id, 0, &o);
    assert_int_equal(o.state, JOB_TIMEOUT);
    engine_destroy(e);
}

/* A job that brings the daemon down each time is given up in the end. */
static void test_poison(void **state)
{
    (void)state;
    config c;
    file_config(&c, "poison");
    store *s;
    cuzk_error err = {0};
    engine *e = start(&c);
    char id[JOB_ID_SIZE];
    gate_close();
    submit(e, &window, "poison", 0, id);
    gate_wait(1);
    engine_destroy(e); /* in good order: it does not count */
    assert_int_equal(store_open(&s, c.store.url, 0, &err), CUZK_OK);
    for (int i = 0; i < 10; i++)
        assert_int_equal(store_start(s, id, 1, &err), CUZK_OK);
    store_close(s);
    e = start(&c);
    outcome o;
    await_job(e, id, 0, &o);
    assert_int_equal(o.state, JOB_FAILED);
    assert_non_null(strstr(o.error, "ended 10 times"));
    engine_destroy(e);
}

/* Bits of the jobs that have begun and not ended. */
static unsigned running(engine *e, char (*id)[JOB_ID_SIZE], unsigned n)
{
    unsigned bits = 0;
    pthread_mutex_lock(&e->lock);
    for (unsigned i = 0; i < n; i++) {
        const job *j = job_find_locked(e, id[i]);
        bits |= (unsigned)(j->state == JOB_RUNNING) << i;
    }
    pthread_mutex_unlock(&e->lock);
    return bits;
}

static void start_often(const config *c, const char *id, unsigned times)
{
    store *s;
    cuzk_error err = {0};
    assert_int_equal(store_open(&s, c->store.url, 0, &err), CUZK_OK);
    while (times--)
        assert_int_equal(store_start(s, id, 1, &err), CUZK_OK);
    store_close(s);
}

/* A job that was under way at several ends of the process is proved with none beside it; the others are
 * proved as well. */
static void test_suspect_alone(void **state)
{
    (void)state;
    config c;
    file_config(&c, "suspect");
    for (int suspect = 0; suspect < 3; suspect++) {
        engine *e = start(&c);
        char id[3][JOB_ID_SIZE], name[32];
        cuzk_error err = {0};
        unsigned seen = 0, now;
        int two_parts =
            (suspect + 1) % 3; /* the suspect has one: it stops being one with the first that is stored */
        gate_close();
        for (int i = 0; i < 3; i++) {
            snprintf(name, sizeof name, "suspect-%d-%d", suspect, i);
            submit(e, i == two_parts ? &window2 : &window, name, suspect && i == suspect ? PRIORITY_HIGH : 0,
                   id[i]);
        }
        gate_wait(1);
        engine_destroy(e);
        start_often(&c, id[suspect], 3);
        const cuzk_backend *b = gate_backend(1);
        gate_delay(100); /* a proof; meanwhile others would begin */
        assert_int_equal(engine_create_on(&e, &c, b, &err), CUZK_OK);
        wait_for_locked(e,
                        job_find_locked(e, id[0]) && job_find_locked(e, id[1]) && job_find_locked(e, id[2]));
        do {
            now = running(e, id, 3);
            if (now >> suspect & 1)
                assert_int_equal(now, 1u << suspect);
            seen |= now;
            usleep(1000);
        } while (now || seen != 7);
        for (int i = 0; i < 3; i++)
            assert_proved(e, id[i], i == two_parts ? &window2 : &window);
        engine_destroy(e);
    }
}

/* ---- kill -9 ---- */

/* The child: starts an engine, submits, writes the id of each accepted job, then only proves, until it is
 * killed. The first one also tells when it has proved something: so long a life takes on this machine. */
static void prove_until_killed(const config *c, int out, unsigned round)
{
    engine *e;
    cuzk_error err = {0};
    if (engine_create(&e, c, &err)) {
        fprintf(stderr, "round %u: %s\n", round, err.message);
        _exit(3);
    }
    for (unsigned i = 0; i < 3; i++) {
        char name[40];
        engine_request q = i == 2 ? window2.q : window.q;
        engine_submitted s;
        snprintf(name, sizeof name, "round-%u-%u", round, i);
        q.request_id = name;
        if (!engine_submit(e, &q, &s, &err) && write(out, s.job_id, JOB_ID_SIZE) != JOB_ID_SIZE)
            _exit(4);
        if (round == 0 && i == 0) {
            outcome o;
            await_job(e, s.job_id, 0, &o);
        }
    }
    for (;;)
        pause();
}

static unsigned read_ids(int in, char (*id)[JOB_ID_SIZE], unsigned at, unsigned max)
{
    while (at < max && read(in, id[at], JOB_ID_SIZE) == JOB_ID_SIZE)
        at++;
    return at;
}

static void test_kill(void **state)
{
    (void)state;
    unsigned rounds = count_of("CUZK_KILLS", 20), accepted = 0, seed = 12345;
    char(*id)[JOB_ID_SIZE] = calloc(rounds * 3 + 1, JOB_ID_SIZE);
    assert_non_null(id);
    config c;
    file_config(&c, "kill");
    test_set(&c, "gpus.backend", "cpu");
    test_set(&c, "scheduler.max_queued", "100000");
    unsigned life_ms = 900;
    for (unsigned r = 0; r < rounds; r++) {
        int ends[2];
        uint64_t born = clock_ns();
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            close(ends[0]);
            prove_until_killed(&c, ends[1], r);
        }
        close(ends[1]);
        if (r) {
            usleep(1000 * ((unsigned)rand_r(&seed) % life_ms));
        } else {
            accepted = read_ids(ends[0], id, 0, 3);
            unsigned twice_ms = (unsigned)((clock_ns() - born) / 500000u);
            life_ms = twice_ms > life_ms ? twice_ms : life_ms;
        }
        kill(child, SIGKILL);
        int status;
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status));
        accepted = read_ids(ends[0], id, accepted, rounds * 3);
        close(ends[0]);
    }
    config after = c;
    engine *e;
    cuzk_error err = {0};
    if (engine_create(&e, &after, &err))
        fail_msg("%s", err.message);
    unsigned proved = 0;
    for (unsigned i = 0; i < accepted; i++) {
        outcome o;
        await_job(e, id[i], 0, &o);
        if (o.state == JOB_COMPLETED) {
            assert_valid(o.proof_size == 192 ? &window : &window2, o.proof, o.proof_size);
            proved++;
        } else { /* reported: begun too often without a result */
            assert_int_equal(o.state, JOB_FAILED);
            assert_non_null(strstr(o.error, "times while it proved this job"));
        }
    }
    print_message("%u kills within %u ms, %u jobs accepted, %u proved, no wrong proof\n", rounds, life_ms,
                  accepted, proved);
    assert_true(accepted > 0);
    assert_true(proved * 10 >= accepted * 8);
    engine_destroy(e);
    free(id);
}

/* ---- endurance ---- */

static void test_flat_memory(void **state)
{
    (void)state;
    unsigned jobs = count_of("CUZK_JOBS", 500), warm = jobs / 5;
    config c;
    file_config(&c, "flat");
    test_set(&c, "gpus.backend", "cpu");
    test_set(&c, "store.retention_count", "100");
    engine *e;
    cuzk_error err = {0};
    if (engine_create(&e, &c, &err))
        fail_msg("%s", err.message);
    uint64_t before = 0;
    char id[8][JOB_ID_SIZE], name[32];
    uint64_t start_ns = clock_ns();
    for (unsigned i = 0; i < jobs; i += 8) {
        for (unsigned k = 0; k < 8; k++) {
            snprintf(name, sizeof name, "flat-%u", i + k);
            submit(e, &window, name, 0, id[k]);
        }
        for (unsigned k = 0; k < 8; k++) {
            outcome o;
            await_job(e, id[k], 0, &o);
            assert_int_equal(o.state, JOB_COMPLETED);
        }
        if (!before && i >= warm)
            before = mem_rss_bytes();
    }
    uint64_t after = mem_rss_bytes();
    print_message("%u jobs, %.0f ms each; RSS after %u: %.1f MB, at the end: %.1f MB\n", jobs,
                  (double)(clock_ns() - start_ns) / 1e6 / jobs, warm, (double)before / 1e6,
                  (double)after / 1e6);
    assert_true(after < before + 8000000);
    engine_destroy(e);
}

/* The document of a 32 GiB PoRep: checked in its envelope, stored, answered; the rest comes later. */
static void test_large_submit(void **state)
{
    (void)state;
    config c;
    file_config(&c, "large");
    engine *e = start(&c);
    size_t size;
    uint8_t *document = test_data("porep-32g-1/c1.json", &size);
    double best = 1e9;
    for (int i = 0; i < 4; i++) {
        engine_request q = {
            .proof_kind = KIND_POREP, .registered_proof = 8, .vanilla_proof = {document, size}};
        engine_submitted s;
        cuzk_error err = {0};
        char name[16];
        snprintf(name, sizeof name, "large-%d", i);
        q.request_id = name;
        moment begun = moment_now();
        if (engine_submit(e, &q, &s, &err))
            fail_msg("%s", err.message);
        double ms = (double)moment_spent_ns(begun) / 1e6;
        best = ms < best ? ms : best;
        outcome o;
        await_job(e, s.job_id, 0, &o); /* its parameters are missing, and that is said by name */
        assert_int_equal(o.state, JOB_FAILED);
        assert_non_null(strstr(o.error, circuit_by_name("porep-32g")->file));
    }
    print_message("%zu bytes taken in %.0f ms\n", size, best);
    assert_true(best < 500);
    free(document);
    engine_destroy(e);
}

/* Only so many ended jobs are kept in memory; the others are found in the store, until they expire. */
static void test_retention(void **state)
{
    (void)state;
    config c;
    file_config(&c, "retention");
    test_set(&c, "store.retention_count", "2");
    engine *e = start(&c);
    char id[4][JOB_ID_SIZE], name[32];
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "r-%d", i);
        submit(e, &window, name, 0, id[i]);
        assert_proved(e, id[i], &window);
    }
    pthread_mutex_lock(&e->lock);
    jobs_trim_locked(e);
    int in_memory = 0;
    for (const job *j = e->jobs; j; j = j->next)
        in_memory++;
    pthread_mutex_unlock(&e->lock);
    assert_int_equal(in_memory, 2);
    assert_proved(e, id[0], &window); /* from the store */
    cuzk_error err = {0};
    assert_int_equal(store_expire(e->store, 0, 2, &err), CUZK_OK);
    engine_destroy(e);
    e = start(&c);
    atomic_int unused = 0;
    assert_int_equal(engine_await(e, id[0], 0, on_result, &unused, NULL, &err), CUZK_NOT_FOUND);
    assert_proved(e, id[3], &window);
    /* By age. */
    c.store.retention_ms = 1;
    assert_int_equal(engine_reload(e, &c, &err), CUZK_OK);
    pthread_mutex_lock(&e->lock);
    usleep(5000);
    jobs_trim_locked(e);
    assert_null(e->jobs);
    pthread_mutex_unlock(&e->lock);
    engine_destroy(e);
}

static int open_all(void **state)
{
    (void)state;
    test_folder(folder);
    request_open(&window, "window-2k-1sector", "w");
    request_open(&window2, "window-2k-3sectors", "w2");
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    request_close(&window);
    request_close(&window2);
    test_remove_folder(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kill), /* first: it forks, and no thread must be left from another test */
        cmocka_unit_test(test_second_engine),
        cmocka_unit_test(test_start_without_memory),
        cmocka_unit_test(test_restart_resumes),
        cmocka_unit_test(test_partitions_are_kept),
        cmocka_unit_test(test_drain),
        cmocka_unit_test(test_drain_has_a_limit),
        cmocka_unit_test(test_deadline_while_down),
        cmocka_unit_test(test_poison),
        cmocka_unit_test(test_suspect_alone),
        cmocka_unit_test(test_large_submit),
        cmocka_unit_test(test_retention),
        cmocka_unit_test(test_flat_memory),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
