/* Every option of the configuration: it is parsed and bounded as its row says, and something here or in a
 * named test shows its effect. A row without an entry fails the sweep. */
#include "base/mem.h"
#include "engine/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static test_request window, window2, update;

static engine *start(const config *c)
{
    engine *e;
    cuzk_error err = {0};
    if (engine_create_on(&e, c, gate_backend(1), &err))
        fail_msg("%s", err.message);
    return e;
}

/* ---- what the threads of the pipeline do under an option ---- */

typedef struct seen {
    int most_witnesses, most_ready; /* made at once; finished and waiting */
    int overlap;                    /* a witness was made while the device proved */
} seen;

/* Proves six partitions while the units are watched; every proof takes at least 60 ms. */
static seen watch_requests(config *c, const test_request *r)
{
    seen s = {0};
    engine *e = start(c);
    char id[3][JOB_ID_SIZE], name[16];
    gate_delay(60);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "seen-%d", i);
        submit(e, r, name, 0, id[i]);
    }
    for (int alive = 1; alive;) {
        pthread_mutex_lock(&e->lock);
        int making = 0, ready = 0, proving = 0;
        for (const unit *u = e->units; u; u = u->next) {
            making += u->state == UNIT_WITNESS;
            ready += u->state == UNIT_READY;
            proving += u->state == UNIT_PROVING;
        }
        s.most_witnesses = making > s.most_witnesses ? making : s.most_witnesses;
        s.most_ready = ready > s.most_ready ? ready : s.most_ready;
        s.overlap |= (making || ready) && proving;
        alive = e->alive != 0;
        pthread_mutex_unlock(&e->lock);
        usleep(200);
    }
    for (int i = 0; i < 3; i++)
        assert_proved(e, id[i], r);
    engine_destroy(e);
    return s;
}

static seen watch_pipeline(config *c)
{
    return watch_requests(c, &window2);
}

static void test_pipeline_enabled(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    assert_true(watch_pipeline(&c).overlap);
    test_set(&c, "pipeline.enabled", "false");
    assert_false(watch_pipeline(&c).overlap);
}

static void test_lookahead(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    test_set(&c, "pipeline.synthesis_lookahead", "0");
    seen none = watch_pipeline(&c);
    test_set(&c, "pipeline.synthesis_lookahead", "3");
    seen three = watch_pipeline(&c);
    assert_true(none.most_ready <= 1 && !none.overlap);
    assert_true(three.most_ready >= 2 && three.most_ready <= 4);
}

static void test_concurrency_and_its_limits(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    test_set(&c, "pipeline.synthesis_lookahead", "4");
    assert_int_equal(watch_requests(&c, &update).most_witnesses, 1);
    test_set(&c, "pipeline.synthesis_concurrency", "3");
    assert_true(watch_requests(&c, &update).most_witnesses >= 2);
    test_set(&c, "synthesis.partition_workers", "1");
    seen one = watch_requests(&c, &update);
    assert_int_equal(one.most_witnesses, 1);
    assert_true(one.most_ready <= 1);
    test_set(&c, "synthesis.partition_workers", "0");
    test_set(&c, "pipeline.memory_throttle", "1");
    test_set(&c, "pipeline.synthesis_lookahead", "1");
    engine *e = start(&c);
    char a[JOB_ID_SIZE], b[JOB_ID_SIZE];
    gate_close();
    submit(e, &window, "held", 0, a);
    gate_wait(1);
    submit(e, &window2, "throttled", 0, b);
    int most = 0;
    for (int i = 0; i < 300; i++) { /* while the device is busy only one at a time is made */
        pthread_mutex_lock(&e->lock);
        int making = 0;
        for (const struct unit *u = e->units; u; u = u->next)
            making += u->state == UNIT_WITNESS;
        most = making > most ? making : most;
        pthread_mutex_unlock(&e->lock);
        usleep(1000);
    }
    assert_true(most <= 1);
    gate_open();
    assert_proved(e, b, &window2);
    engine_destroy(e);
}

/* Without the split a worker finishes what it proved; with it somebody else does. */
static pthread_t finished_by[8];
static int finishes;
static cuzk_backend spying, gated;

static cuzk_status spy_finish(cuzk_device_job *job_, cuzk_sums *sums, cuzk_device_times *times,
                              cuzk_error *err)
{
    pthread_mutex_lock(&the_gate.lock);
    if (finishes < 8)
        finished_by[finishes++] = pthread_self();
    pthread_mutex_unlock(&the_gate.lock);
    return gated.prove_finish(job_, sums, times, err);
}

static int finisher_is_a_worker(const char *split, const char *workers, size_t *threads)
{
    config c;
    test_config(&c);
    test_set(&c, "pipeline.split_finish", split);
    test_set(&c, "gpus.gpu_workers_per_device", workers);
    spying = gated = *gate_backend(1);
    spying.prove_finish = spy_finish;
    finishes = 0;
    engine *e;
    cuzk_error err = {0};
    if (engine_create_on(&e, &c, &spying, &err))
        fail_msg("%s", err.message);
    char id[JOB_ID_SIZE];
    submit(e, &window, "spied", 0, id);
    assert_proved(e, id, &window);
    /* Threads in the order of stages_start: preparers, workers, the finisher. */
    *threads = e->threads;
    int by_last = pthread_equal(finished_by[0], e->thread[e->threads - 1]);
    engine_destroy(e);
    return !by_last;
}

static void test_split_finish_and_workers(void **state)
{
    (void)state;
    size_t two, four;
    assert_false(finisher_is_a_worker("true", "2", &two));
    assert_true(finisher_is_a_worker("false", "4", &four));
    assert_int_equal(four, two + 2); /* gpus.gpu_workers_per_device */
}

static void test_serial_free(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    test_set(&c, "pipeline.serial_free", "true");
    engine *e = start(&c);
    char id[JOB_ID_SIZE];
    pthread_mutex_lock(&e->free_lock); /* somebody else gives memory back */
    submit(e, &window, "waits", 0, id);
    assert_proved(e, id, &window); /* the answer does not wait for it */
    usleep(100000);
    pthread_mutex_lock(&e->lock);
    assert_non_null(e->units);
    pthread_mutex_unlock(&e->lock);
    pthread_mutex_unlock(&e->free_lock);
    wait_for(({
        pthread_mutex_lock(&e->lock);
        int gone = !e->units;
        pthread_mutex_unlock(&e->lock);
        gone;
    }));
    engine_destroy(e);
}

/* ---- threads, devices, memory ---- */

static cuzk_device_options given;
static cuzk_status spy_open(cuzk_device **out, uint32_t ordinal, const cuzk_device_options *o,
                            cuzk_error *err)
{
    given = *o;
    return cuzk_backend_cpu()->device_open(out, ordinal, o, err);
}

static void test_device_options(void **state)
{
    (void)state;
    config c;
    cuzk_error err = {0};
    engine *e;
    test_config(&c);
    test_set(&c, "gpus.gpu_threads", "3");
    test_set(&c, "gpus.b_g2", "cpu");
    test_set(&c, "gpus.vram_limit", "900MiB");
    test_set(&c, "synthesis.threads", "2");
    spying = *gate_backend(1);
    spying.device_open = spy_open;
    assert_int_equal(engine_create_on(&e, &c, &spying, &err), CUZK_OK);
    assert_int_equal(given.threads, 3);
    assert_int_equal(given.b_g2_on_host, 1);
    assert_int_equal(given.memory_limit, 900u << 20);
    assert_int_equal(pool_size(e->synthesis), 2);
    engine_destroy(e);
    /* A narrow limit leaves nothing of the SRS decoded in memory; proofs come all the same. */
    test_set(&c, "gpus.vram_limit", "1MiB");
    e = start(&c);
    char id[JOB_ID_SIZE];
    submit(e, &window, "streamed", 0, id);
    assert_proved(e, id, &window);
    engine_destroy(e);
}

static void test_devices_and_backend(void **state)
{
    (void)state;
    config c;
    cuzk_error err = {0};
    engine *e;
    test_config(&c);
    test_set(&c, "gpus.devices", "[1]");
    assert_int_equal(engine_create_on(&e, &c, gate_backend(3), &err), CUZK_OK);
    assert_int_equal(e->devices, 1);
    assert_int_equal(e->device[0].ordinal, 1);
    engine_destroy(e);
    test_set(&c, "gpus.devices", "[5]");
    assert_int_equal(engine_create_on(&e, &c, gate_backend(3), &err), CUZK_NOT_FOUND);
    test_set(&c, "gpus.devices", "[]");
    test_set(&c, "gpus.backend", "cpu");
    assert_int_equal(engine_create(&e, &c, &err), CUZK_OK);
    assert_string_equal(e->device[0].backend->name, "cpu");
    engine_destroy(e);
    test_set(&c, "gpus.backend", "auto"); /* whatever the machine has: an engine starts */
    assert_int_equal(engine_create(&e, &c, &err), CUZK_OK);
    engine_destroy(e);
}

static void test_memory(void **state)
{
    (void)state;
    config c;
    config_defaults(&c);
    uint64_t available = mem_available_bytes();
    test_set(&c, "memory.safety_margin", "1GiB");
    uint64_t narrow = budget_total(&c);
    test_set(&c, "memory.safety_margin", "0");
    uint64_t wide = budget_total(&c);
    if (available > (uint64_t)3 << 30)
        assert_true(wide > narrow + ((uint64_t)1 << 29));
    test_set(&c, "memory.safety_margin", "900TiB"); /* a small machine keeps half */
    assert_true(budget_total(&c) > available / 4);
    test_set(&c, "memory.total_budget", "3GiB");
    assert_int_equal(budget_total(&c), (uint64_t)3 << 30);
}

/* ---- the sweep ---- */

/* Where an option's effect is shown. */
static const struct {
    const char *option, *shown_by;
} EFFECTS[] = {
    {"daemon.listen", "daemon/main_job"},
    {"daemon.status_listen", "daemon/http"},
    {"daemon.drain", "engine/life: test_drain, test_drain_has_a_limit"},
    {"srs.param_cache", "engine/truth: test_missing_file"},
    {"srs.circuit_cache", "every test here: test_config"},
    {"srs.allow_test", "engine/truth: test_missing_file"},
    {"srs.check_digests", "engine/truth: test_foreign_key"},
    {"memory.total_budget", "test_memory; engine/truth: test_too_small_a_budget"},
    {"memory.safety_margin", "test_memory"},
    {"memory.eviction_min_idle", "engine/truth: test_min_idle"},
    {"gpus.devices", "test_devices_and_backend"},
    {"gpus.gpu_threads", "test_device_options"},
    {"gpus.gpu_workers_per_device", "test_split_finish_and_workers"},
    {"gpus.backend", "test_devices_and_backend"},
    {"gpus.b_g2", "test_device_options"},
    {"gpus.vram_limit", "test_device_options"},
    {"gpus.quarantine", "engine/truth: test_quarantine, test_quarantine_ends_by_itself"},
    {"scheduler.max_batch_size", "engine/queue: test_batches"},
    {"scheduler.max_batch_wait_ms", "test_batch_wait"},
    {"scheduler.sort_by_type", "engine/queue: test_sort_by_type"},
    {"scheduler.max_queued", "engine/queue: test_full_queue"},
    {"scheduler.aging", "engine/queue: test_aging, test_low_is_not_starved"},
    {"scheduler.order", "engine/queue: test_partitions_stay_together"},
    {"synthesis.threads", "test_device_options"},
    {"synthesis.partition_workers", "test_concurrency_and_its_limits"},
    {"pipeline.enabled", "test_pipeline_enabled"},
    {"pipeline.synthesis_lookahead", "test_lookahead"},
    {"pipeline.synthesis_concurrency", "test_concurrency_and_its_limits"},
    {"pipeline.split_finish", "test_split_finish_and_workers"},
    {"pipeline.serial_free", "test_serial_free"},
    {"pipeline.memory_throttle", "test_concurrency_and_its_limits"},
    {"store.url", "engine/store, engine/life, engine/fleet"},
    {"store.retention", "engine/life: test_retention"},
    {"store.retention_count", "engine/life: test_retention"},
    {"store.lease", "engine/fleet: test_one_is_killed"},
    {"tls.cert", "daemon/doors"},
    {"tls.key", "daemon/doors"},
    {"tls.client_ca", "daemon/doors"},
    {"auth.token_file", "daemon/doors"},
    {"logging.level", "daemon/doors"},
    {"logging.format", "daemon/doors"},
};

static void sweep_bounds(config *c, const config_option *o)
{
    char value[64];
    cuzk_error err = {0};
    const char *suffix = o->kind == OPTION_DURATION ? "ms" : "";
    if (o->kind != OPTION_U64 && o->kind != OPTION_BYTES && o->kind != OPTION_DURATION)
        return;
    if (o->max && o->max < UINT64_MAX) {
        snprintf(value, sizeof value, "%llu%s", (unsigned long long)o->max, suffix);
        assert_int_equal(config_set(c, o->table, o->name, value, &err), CUZK_OK);
        snprintf(value, sizeof value, "%llu%s", (unsigned long long)o->max + 1, suffix);
        assert_int_equal(config_set(c, o->table, o->name, value, &err), CUZK_BAD_INPUT);
        assert_non_null(strstr(err.message, o->name));
    }
    if (o->min) {
        snprintf(value, sizeof value, "%llu%s", (unsigned long long)o->min, suffix);
        assert_int_equal(config_set(c, o->table, o->name, value, &err), CUZK_OK);
        snprintf(value, sizeof value, "%llu%s", (unsigned long long)o->min - 1, suffix);
        assert_int_equal(config_set(c, o->table, o->name, value, &err), CUZK_BAD_INPUT);
    }
    static const char *const nonsense[] = {"", "-1", "much", "1x", "99999999999999999999"};
    for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++)
        assert_int_equal(config_set(c, o->table, o->name, nonsense[i], &err), CUZK_BAD_INPUT);
}

static void test_sweep(void **state)
{
    (void)state;
    config c;
    config_defaults(&c);
    for (size_t i = 0; i < config_option_count(); i++) {
        const config_option *o = config_option_at(i);
        char name[100];
        cuzk_error err = {0};
        int shown = 0;
        snprintf(name, sizeof name, "%s.%s", o->table, o->name);
        assert_true(strlen(o->help) > 10);
        assert_int_equal(config_set(&c, o->table, o->name, o->fallback, &err), CUZK_OK);
        if (o->flags & OPTION_IGNORED)
            continue;
        for (size_t k = 0; k < sizeof EFFECTS / sizeof EFFECTS[0]; k++)
            shown |= !strcmp(EFFECTS[k].option, name);
        if (!shown)
            fail_msg("no test shows the effect of %s", name);
        sweep_bounds(&c, o);
        if (o->kind == OPTION_BOOL || o->kind == OPTION_CHOICE) {
            assert_int_equal(config_set(&c, o->table, o->name, "perhaps", &err), CUZK_BAD_INPUT);
            assert_non_null(strstr(err.message, o->name));
        }
    }
    cuzk_error err = {0};
    assert_int_equal(config_set(&c, "gpus", "no_such", "1", &err), CUZK_BAD_INPUT);
}

/* Two SnapDeals whose witnesses take a while: with patience they share a pass, without it they do not. */
static int batch_with_wait(const char *wait)
{
    config c;
    test_config(&c);
    test_set(&c, "scheduler.max_batch_size", "2");
    test_set(&c, "scheduler.max_batch_wait_ms", wait);
    engine *e = start(&c);
    char id[2][JOB_ID_SIZE];
    submit(e, &update, "a", 0, id[0]);
    submit(e, &update, "b", 0, id[1]);
    assert_proved(e, id[0], &update);
    assert_proved(e, id[1], &update);
    int largest = gate_largest_batch();
    engine_destroy(e);
    return largest ? largest : 1;
}

static void test_batch_wait(void **state)
{
    (void)state;
    assert_int_equal(batch_with_wait("600000"), 2);
    assert_int_equal(batch_with_wait("0"), 1);
}

/* ---- files ---- */

typedef struct findings {
    int warnings, errors;
    char all[4000];
} findings;

static void note(void *ctx, int is_error, const char *sentence)
{
    findings *f = ctx;
    f->warnings += !is_error;
    f->errors += is_error;
    strncat(f->all, sentence, sizeof f->all - strlen(f->all) - 2);
    strcat(f->all, "\n");
}

static cuzk_status load_text(const char *text, int strict, config *c, findings *f, cuzk_error *err)
{
    char path[] = "/tmp/cuzk-options-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    memset(f, 0, sizeof *f);
    config_defaults(c);
    cuzk_status s = config_load(c, path, strict, note, f, err);
    unlink(path);
    return s;
}

static void test_example_is_the_default(void **state)
{
    (void)state;
    config c, defaults;
    findings f;
    cuzk_error err = {0};
    char *text = config_example();
    assert_non_null(text);
    config_defaults(&defaults);
    assert_int_equal(load_text(text, 1, &c, &f, &err), CUZK_OK);
    assert_int_equal(f.warnings + f.errors, 0);
    assert_memory_equal(&c, &defaults, sizeof c);
    for (size_t i = 0; i < config_option_count(); i++)
        if (!(config_option_at(i)->flags & OPTION_IGNORED))
            assert_non_null(strstr(text, config_option_at(i)->name));
    mem_free(text);
}

static void test_files(void **state)
{
    (void)state;
    config c;
    findings f;
    cuzk_error err = {0};
    /* Upstream's file is taken, with warnings for what has no effect here. */
    assert_int_equal(load_text("[daemon]\nlisten = \"0.0.0.0:9820\"\n[srs]\npreload = [\"porep-32g\"]\n"
                               "[memory]\ntotal_budget = \"256GiB\"\npinned_budget = \"50GiB\"\n"
                               "[gpus]\ndevices = [0, 2]\ngpu_workers_per_device = 3\n"
                               "[synthesis]\npartition_workers = 16\n[pipeline]\nslot_size = 0\n",
                               0, &c, &f, &err),
                     CUZK_OK);
    assert_int_equal(f.warnings, 3);
    assert_int_equal(c.memory.total_budget, (uint64_t)256 << 30);
    assert_int_equal(c.gpus.device_count, 2);
    assert_int_equal(c.gpus.device[1], 2);
    assert_int_equal(c.synthesis.partition_workers, 16);
    /* An unknown key: a warning that names the nearest; strictly, an error. */
    assert_int_equal(load_text("[scheduler]\nmax_queud = 3\n", 0, &c, &f, &err), CUZK_OK);
    assert_non_null(strstr(f.all, "scheduler.max_queued"));
    assert_int_equal(load_text("[scheduler]\nmax_queud = 3\n", 1, &c, &f, &err), CUZK_BAD_INPUT);
    assert_int_equal(load_text("[scheduler]\nmax_queued = 0\n", 0, &c, &f, &err), CUZK_BAD_INPUT);
    assert_non_null(strstr(f.all, "line 2"));
    assert_int_equal(load_text("[scheduler\nmax_queued = 0\n", 0, &c, &f, &err), CUZK_BAD_INPUT);
    assert_int_equal(
        load_text("[memory]\ntotal_budget = \"lots\"\n[gpus]\nbackend = \"abacus\"\n", 0, &c, &f, &err),
        CUZK_BAD_INPUT);
    assert_int_equal(f.errors, 2);
    assert_int_equal(config_load(&c, "/nonexistent/cuzk.toml", 0, note, &f, &err), CUZK_NOT_FOUND);
}

static void test_reload(void **state)
{
    (void)state;
    config c, changed;
    cuzk_error err = {0};
    test_config(&c);
    engine *e = start(&c);
    changed = c;
    test_set(&changed, "scheduler.aging", "1s");
    test_set(&changed, "scheduler.order", "partitions");
    test_set(&changed, "gpus.backend", "cuda"); /* needs a restart: not taken over */
    assert_int_equal(engine_reload(e, &changed, &err), CUZK_OK);
    assert_int_equal(e->config.scheduler.aging_ms, 1000);
    assert_string_equal(e->config.scheduler.order, "partitions");
    assert_string_equal(e->config.gpus.backend, "auto");
    engine_destroy(e);
}

static int open_all(void **state)
{
    (void)state;
    request_open(&window, "window-2k-1sector", "w");
    request_open(&window2, "window-2k-3sectors", "w2");
    request_open(&update, "update-2k-5", "u");
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    request_close(&window);
    request_close(&window2);
    request_close(&update);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_example_is_the_default),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_reload),
        cmocka_unit_test(test_device_options),
        cmocka_unit_test(test_devices_and_backend),
        cmocka_unit_test(test_pipeline_enabled),
        cmocka_unit_test(test_lookahead),
        cmocka_unit_test(test_concurrency_and_its_limits),
        cmocka_unit_test(test_split_finish_and_workers),
        cmocka_unit_test(test_serial_free),
        cmocka_unit_test(test_batch_wait),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
