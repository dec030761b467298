/* Failing devices, wrong proofs, foreign parameter files, memory that does not suffice. */
#include "base/encode.h"
#include "base/hash.h"
#include "base/mem.h"
#include "engine/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static test_request window, window2, winning, update;
static char folder[64];

static engine *start_on(config *c, unsigned devices)
{
    engine *e;
    cuzk_error err = {0};
    if (engine_create_on(&e, c, gate_backend(devices), &err))
        fail_msg("%s", err.message);
    return e;
}

static engine_device_status device_status(engine *e, int i)
{
    engine_status s;
    cuzk_error err = {0};
    assert_int_equal(engine_get_status(e, &s, &err), CUZK_OK);
    engine_device_status d = s.devices[i];
    engine_status_clear(&s);
    return d;
}

static double metric(engine *e, const char *name)
{
    char *text, line[128];
    cuzk_error err = {0};
    assert_int_equal(engine_metrics(e, &text, &err), CUZK_OK);
    snprintf(line, sizeof line, "\n%s ", name);
    const char *at = strstr(text, line);
    assert_non_null(at);
    double v = strtod(at + strlen(line), NULL);
    mem_free(text);
    return v;
}

/* ---- devices ---- */

static void test_retry_elsewhere(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    engine *e = start_on(&c, 2);
    char id[JOB_ID_SIZE];
    gate_close();
    submit(e, &window, "fails once", 0, id);
    gate_wait(1);
    int first = gate_started(0) ? 0 : 1;
    gate_fail(first, 1);
    gate_open();
    assert_proved(e, id, &window);
    assert_int_equal(gate_started(first), 1);
    assert_int_equal(gate_started(1 - first), 1); /* the other device */
    assert_int_equal((int)metric(e, "cuzk_retries_total"), 1);
    engine_destroy(e);
}

static void test_wrong_proof_stays_inside(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    engine *e = start_on(&c, 1);
    char id[JOB_ID_SIZE];
    outcome o;
    gate_spoil(0, 1);
    submit(e, &window, "wrong once", 0, id);
    assert_proved(e, id, &window); /* verified, found wrong, proved again */
    assert_int_equal((int)metric(e, "cuzk_invalid_proofs_total"), 1);
    gate_spoil(0, 2);
    submit(e, &window, "wrong twice", 0, id);
    await_job(e, id, 0, &o);
    assert_int_equal(o.state, JOB_FAILED);
    assert_int_equal(o.proof_size, 0);
    assert_non_null(strstr(o.error, id)); /* job, partition, device */
    assert_non_null(strstr(o.error, "partition 0"));
    assert_non_null(strstr(o.error, "device"));
    submit(e, &window, "right", 0, id); /* a failed job holds nothing */
    assert_proved(e, id, &window);
    engine_destroy(e);
}

static void test_quarantine(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    test_set(&c, "gpus.quarantine", "0");
    engine *e = start_on(&c, 1);
    char id[JOB_ID_SIZE];
    outcome o;
    int was;
    cuzk_error err = {0};
    gate_fail(0, 4); /* two jobs, two attempts each: after three the device rests */
    submit(e, &window, "a", 0, id);
    await_job(e, id, 0, &o);
    assert_int_equal(o.state, JOB_FAILED);
    assert_false(device_status(e, 0).quarantined);
    submit(e, &window, "b", 0, id);
    wait_for(device_status(e, 0).quarantined);
    assert_int_equal(device_status(e, 0).failures, 3);
    assert_int_equal(gate_started(0), 3);
    await_job(e, id, 300, &o); /* the second attempt waits: no device is left */
    assert_int_equal(o.state, JOB_TIMEOUT);
    assert_int_equal(engine_clear_quarantine(e, 7, &was, &err), CUZK_NOT_FOUND);
    gate_fail(0, 0);
    assert_int_equal(engine_clear_quarantine(e, 0, &was, &err), CUZK_OK);
    assert_true(was);
    assert_proved(e, id, &window);
    assert_int_equal(engine_clear_quarantine(e, 0, &was, &err), CUZK_OK);
    assert_false(was);
    engine_destroy(e);
}

static void test_quarantine_ends_by_itself(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    test_set(&c, "gpus.quarantine", "300ms");
    engine *e = start_on(&c, 1);
    char id[2][JOB_ID_SIZE];
    outcome o[2];
    gate_fail(0, 3);
    submit(e, &window, "a", 0, id[0]);
    submit(e, &window, "b", 0, id[1]);
    await_job(e, id[0], 0, &o[0]);
    await_job(e, id[1], 0, &o[1]);
    int lost = o[0].state == JOB_FAILED ? 0 : 1; /* usually the first: it had two of the three failures */
    assert_int_equal(o[lost].state, JOB_FAILED);
    assert_proved(e, id[1 - lost], &window);
    assert_false(device_status(e, 0).quarantined);
    engine_destroy(e);
}

/* A batch fails as one: that is one failure of the device, and each of its jobs is tried again. */
static void test_a_batch_fails_once(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    test_set(&c, "gpus.quarantine", "0");
    test_set(&c, "scheduler.max_batch_size", "4");
    test_set(&c, "scheduler.max_batch_wait_ms", "600000");
    engine *e = start_on(&c, 1);
    char first[JOB_ID_SIZE], id[4][JOB_ID_SIZE], name[16];
    gate_close();
    submit(e, &window, "holds", PRIORITY_HIGH, first);
    gate_wait(1);
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "batch-%d", i);
        submit(e, &update, name, 0, id[i]);
    }
    gate_pass(1);
    wait_for(gate_largest_batch() > 1);
    gate_fail(0, 1);
    gate_open();
    for (int i = 0; i < 4; i++)
        assert_proved(e, id[i], &update);
    assert_int_equal(device_status(e, 0).failures, 1);
    assert_false(device_status(e, 0).quarantined);
    assert_true((int)metric(e, "cuzk_retries_total") > 1);
    engine_destroy(e);
}

/* With one of two devices set aside the other does everything. */
static void test_one_of_two_is_lost(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    test_set(&c, "gpus.quarantine", "0");
    engine *e = start_on(&c, 2);
    char id[6][JOB_ID_SIZE], name[16];
    gate_fail(1, 1000);
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "job-%d", i);
        submit(e, &window2, name, 0, id[i]);
    }
    for (int i = 0; i < 6; i++)
        assert_proved(e, id[i], &window2);
    assert_true(gate_started(1) <= 3);
    engine_destroy(e);
}

static void test_both_devices_work(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    engine *e = start_on(&c, 2);
    char id[JOB_ID_SIZE];
    gate_close();
    submit(e, &window2, "two partitions", 0, id);
    gate_wait(2); /* one on each */
    assert_int_equal(gate_started(0), 1);
    assert_int_equal(gate_started(1), 1);
    gate_open();
    assert_proved(e, id, &window2);
    engine_destroy(e);
}

/* ---- parameter files ---- */

/* The test SRS of a circuit under its registered name, in a folder of its own. */
static void pretend_published(const char *dir, const char *circuit)
{
    const circuit_info *info = circuit_by_name(circuit);
    char command[1200];
    assert_int_equal(mkdir(dir, 0755), 0);
    for (int i = 0; i < 2; i++) {
        const char *suffix = i ? "vk" : "params";
        snprintf(command, sizeof command, "cp '%s/TEST-%s.%s' '%s/%s.%s'", getenv("CUZK_TEST_SRS"),
                 info->file, suffix, dir, info->file, suffix);
        assert_int_equal(system(command), 0);
    }
}

static void test_foreign_key(void **state)
{
    (void)state;
    config c;
    char dir[100], id[JOB_ID_SIZE];
    outcome o;
    test_config(&c);
    snprintf(dir, sizeof dir, "%s/published", folder);
    pretend_published(dir, "window-2k");
    test_set(&c, "srs.param_cache", dir);
    engine *e = start_on(&c, 1);
    submit(e, &window, "foreign", 0, id);
    await_job(e, id, 0, &o);
    assert_int_equal(o.state, JOB_FAILED);
    assert_non_null(strstr(o.error, "is not the published file"));
    assert_int_equal(gate_started(0), 0);
    engine_destroy(e);
    test_set(&c, "srs.check_digests", "false");
    e = start_on(&c, 1);
    submit(e, &window, "on my word", 0, id);
    assert_proved(e, id, &window);
    engine_destroy(e);
}

/* The judgement of the background, with a published digest of the test's own. */
static void test_digest_in_the_background(void **state)
{
    (void)state;
    config c;
    char path[1400], id[JOB_ID_SIZE];
    outcome o;
    const circuit_info *info = circuit_by_name("window-2k");
    published_file f = {.name = "x"};
    test_config(&c);
    engine *e = start_on(&c, 1);
    submit(e, &window, "before", 0, id);
    assert_proved(e, id, &window);
    snprintf(path, sizeof path, "%s/TEST-%s.params", c.srs.param_cache, info->file);
    json_t *golden = test_data_json("window-2k-1sector/golden.json");
    test_json_hex(f.digest, 16, json_object_get(golden, "srs"), "params_blake2b_head16");
    json_decref(golden);
    digest_judge(e, info, path, &f); /* the right one */
    submit(e, &window, "still", 0, id);
    assert_proved(e, id, &window);
    engine_destroy(e);

    e = start_on(&c, 1);
    gate_close();
    submit(e, &window, "caught", 0, id);
    gate_wait(1);
    f.digest[3] ^= 1;
    digest_judge(e, info, path, &f);
    await_job(e, id, 0, &o); /* it runs, and ends so */
    assert_int_equal(o.state, JOB_FAILED);
    assert_non_null(strstr(o.error, "is not the published file"));
    gate_open();
    submit(e, &window, "later", 0, id); /* and so does every later one, without reading the file again */
    await_job(e, id, 0, &o);
    assert_int_equal(o.state, JOB_FAILED);
    assert_non_null(strstr(o.error, "is not the published file"));
    engine_destroy(e);
}

static void test_missing_file(void **state)
{
    (void)state;
    config c;
    char dir[100], command[1200], id[JOB_ID_SIZE];
    outcome o;
    test_config(&c);
    snprintf(dir, sizeof dir, "%s/missing", folder);
    assert_int_equal(mkdir(dir, 0755), 0);
    const char *real = getenv("CUZK_TEST_SRS");
    test_set(&c, "srs.param_cache", dir);
    engine *e = start_on(&c, 1);
    submit(e, &window, "missing", 0, id);
    await_job(e, id, 0, &o);
    assert_int_equal(o.state, JOB_FAILED);
    assert_non_null(strstr(o.error, circuit_by_name("window-2k")->file));
    /* Put in place while the daemon runs, it is found by the next attempt. */
    snprintf(command, sizeof command, "cp '%s/TEST-%s.'* '%s/'", real, circuit_by_name("window-2k")->file,
             dir);
    assert_int_equal(system(command), 0);
    usleep(1100000);
    submit(e, &window, "missing", 0, id);
    assert_proved(e, id, &window);
    engine_destroy(e);
    /* A test SRS is used only where it is allowed. */
    test_set(&c, "srs.allow_test", "false");
    e = start_on(&c, 1);
    submit(e, &window, "not allowed", 0, id);
    await_job(e, id, 0, &o);
    assert_int_equal(o.state, JOB_FAILED);
    engine_destroy(e);
}

/* ---- memory ---- */

static void test_too_small_a_budget(void **state)
{
    (void)state;
    config c;
    char id[JOB_ID_SIZE];
    outcome o;
    test_config(&c);
    engine *e = start_on(&c, 1);
    e->budget = 20 << 20; /* less than the bound of the option allows, for a circuit of 2 KiB */
    submit(e, &window, "large", 0, id);
    await_job(e, id, 0, &o);
    assert_int_equal(o.state, JOB_FAILED);
    assert_non_null(strstr(o.error, "memory.total_budget"));
    engine_destroy(e);
}

static uint64_t preload(engine *e, const char *circuit)
{
    int already;
    uint64_t ms;
    cuzk_error err = {0};
    if (engine_preload(e, circuit, &already, &ms, &err))
        fail_msg("%s", err.message);
    pthread_mutex_lock(&e->lock);
    uint64_t used = e->budget_used;
    pthread_mutex_unlock(&e->lock);
    return used;
}

static void set_budget(engine *e, uint64_t bytes)
{
    pthread_mutex_lock(&e->lock);
    e->budget = bytes;
    pthread_mutex_unlock(&e->lock);
}

/* Room for one SRS but not for two: each job's takes the place of the other's, and all are proved. */
static void test_eviction(void **state)
{
    (void)state;
    config c;
    char id[6][JOB_ID_SIZE], name[16];
    test_config(&c);
    test_set(&c, "memory.eviction_min_idle", "0");
    engine *e = start_on(&c, 1);
    uint64_t one = preload(e, "wpost-2k"), both = preload(e, "winning-2k");
    assert_true(both > one && one > 0);
    int was;
    uint64_t freed, small;
    cuzk_error err = {0};
    assert_int_equal(engine_evict(e, "winning-2k", &was, &freed, &err), CUZK_OK);
    assert_true(was);
    assert_int_equal(freed, both - one);
    assert_int_equal(engine_evict(e, "winning-2k", &was, &small, &err), CUZK_OK);
    assert_false(was);
    assert_int_equal(engine_evict(e, "porep-3k", &was, &small, &err), CUZK_INVALID_ARGUMENT);
    uint64_t larger = one > both - one ? one : both - one, lesser = both - larger;
    set_budget(e, larger + lesser / 2 + (120u << 20));
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "turn-%d", i);
        submit(e, i % 2 ? &winning : &window, name, PRIORITY_NORMAL, id[i]);
        assert_proved(e, id[i], i % 2 ? &winning : &window);
    }
    if (lesser / 2 > (120u << 20))
        assert_true(metric(e, "cuzk_evictions_total") >= 1);
    engine_destroy(e);
}

/* An SRS that is not idle for long enough stays while others work; what stands in the way of everything goes.
 */
static void test_min_idle(void **state)
{
    (void)state;
    config c;
    char id[JOB_ID_SIZE];
    test_config(&c);
    test_set(&c, "memory.eviction_min_idle", "1h");
    engine *e = start_on(&c, 1);
    uint64_t used = preload(e, "winning-2k");
    pthread_mutex_lock(&e->lock);
    unit busy = {.state = UNIT_PROVING}; /* something is under way */
    e->units = &busy;
    e->budget = used + (1 << 20);
    assert_int_equal(budget_take_locked(e, 2 << 20), 0);
    e->config.memory.eviction_min_idle_ms = 0; /* a reload */
    assert_int_equal(budget_take_locked(e, 2 << 20), 1);
    budget_give_locked(e, 2 << 20);
    e->units = NULL;
    e->config.memory.eviction_min_idle_ms = 3600000;
    e->budget = (uint64_t)4 << 30;
    pthread_mutex_unlock(&e->lock);
    keys_bury(e);
    used = preload(e, "winning-2k");
    pthread_mutex_lock(&e->lock);
    e->budget = used + (1 << 20);
    assert_int_equal(budget_take_locked(e, 2 << 20), 1); /* nothing else is under way */
    budget_give_locked(e, 2 << 20);
    e->budget = (uint64_t)4 << 30;
    pthread_mutex_unlock(&e->lock);
    keys_bury(e);
    submit(e, &winning, "again", 0, id);
    assert_proved(e, id, &winning);
    engine_destroy(e);
}

static void test_preload(void **state)
{
    (void)state;
    config c;
    int already;
    uint64_t ms;
    cuzk_error err = {0};
    test_config(&c);
    engine *e = start_on(&c, 1);
    assert_int_equal(engine_preload(e, "wpost-2k", &already, &ms, &err), CUZK_OK);
    assert_false(already);
    assert_int_equal(engine_preload(e, "window-2k", &already, &ms, &err),
                     CUZK_OK); /* the tool's name for it */
    assert_true(already);
    assert_int_equal(engine_preload(e, "window-3k", &already, &ms, &err), CUZK_INVALID_ARGUMENT);
    assert_int_equal(engine_preload(e, "porep-64g", &already, &ms, &err), CUZK_NOT_FOUND);
    engine_status s;
    assert_int_equal(engine_get_status(e, &s, &err), CUZK_OK);
    assert_int_equal(s.srs_count, 1);
    assert_string_equal(s.srs[0].circuit, "wpost-2k");
    assert_true(s.srs[0].test_srs && !s.srs[0].on_device);
    assert_true(s.memory_used >= s.srs[0].bytes);
    engine_status_clear(&s);
    /* Nothing that ran holds memory beside what is loaded. */
    char id[JOB_ID_SIZE];
    pthread_mutex_lock(&e->lock);
    uint64_t loaded = e->budget_used;
    pthread_mutex_unlock(&e->lock);
    submit(e, &window2, "passes", 0, id);
    assert_proved(e, id, &window2);
    wait_for(({
        pthread_mutex_lock(&e->lock);
        int back = e->budget_used == loaded;
        pthread_mutex_unlock(&e->lock);
        back;
    }));
    engine_destroy(e);
}

static int open_all(void **state)
{
    (void)state;
    test_folder(folder);
    request_open(&window, "window-2k-1sector", "w");
    request_open(&window2, "window-2k-3sectors", "w2");
    request_open(&winning, "winning-2k-1", "win");
    request_open(&update, "update-2k-5", "snap");
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    request_close(&window);
    request_close(&window2);
    request_close(&winning);
    request_close(&update);
    test_remove_folder(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_retry_elsewhere),
        cmocka_unit_test(test_wrong_proof_stays_inside),
        cmocka_unit_test(test_quarantine),
        cmocka_unit_test(test_quarantine_ends_by_itself),
        cmocka_unit_test(test_a_batch_fails_once),
        cmocka_unit_test(test_one_of_two_is_lost),
        cmocka_unit_test(test_both_devices_work),
        cmocka_unit_test(test_foreign_key),
        cmocka_unit_test(test_digest_in_the_background),
        cmocka_unit_test(test_missing_file),
        cmocka_unit_test(test_too_small_a_budget),
        cmocka_unit_test(test_eviction),
        cmocka_unit_test(test_min_idle),
        cmocka_unit_test(test_preload),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
