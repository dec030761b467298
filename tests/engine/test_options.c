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
    unsigned making, ready;
} seen;

static seen look(engine *e)
{
    seen s = {0};
    pthread_mutex_lock(&e->lock);
    for (const unit *u = e->units; u; u = u->next) {
        s.making += u->state == UNIT_WITNESS;
        s.ready += u->state == UNIT_READY;
    }
    pthread_mutex_unlock(&e->lock);
    return s;
}

/* Holds the device with the first of six partitions: so many witnesses are then made for the others, and no
 * more. */
static void assert_prepared(config *c, unsigned n)
{
    engine *e = start(c);
    char id[3][JOB_ID_SIZE], name[16];
    gate_close();
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "held-%d", i);
        submit(e, &window2, name, 0, id[i]);
    }
    gate_wait(1);
    wait_for(look(e).ready == n);
    usleep(100000); /* time for one too many */
    seen s = look(e);
    assert_int_equal(s.ready, n);
    assert_int_equal(s.making, 0);
    gate_open();
    for (int i = 0; i < 3; i++)
        assert_proved(e, id[i], &window2);
    engine_destroy(e);
}

static void test_pipeline_enabled(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    assert_prepared(&c, 1);
    test_set(&c, "pipeline.enabled", "false");
    assert_prepared(&c, 0);
}

static void test_lookahead(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    test_set(&c, "pipeline.synthesis_lookahead", "0");
    assert_prepared(&c, 0);
    test_set(&c, "pipeline.synthesis_lookahead", "3");
    assert_prepared(&c, 3);
    test_set(&c, "synthesis.partition_workers", "2");
    assert_prepared(&c, 2);
}

/* The times of a job's witness, of clock_ns. */
static void witness_times(engine *e, const char *id, uint64_t *start, uint64_t *end)
{
    pthread_mutex_lock(&e->lock);
    const job *j = job_find_locked(e, id);
    *start = *end = 0;
    for (size_t i = 0; i < j->event_count; i++) {
        if (j->event[i].stage == STAGE_WITNESS) {
            *start = j->event[i].start_ns;
            *end = j->event[i].end_ns;
        }
    }
    pthread_mutex_unlock(&e->lock);
    assert_true(*start && *end);
}

/* Three SnapDeals while another proof holds the device: how many of their witnesses were made at once. */
static int witnesses_at_once(config *c)
{
    engine *e = start(c);
    char first[JOB_ID_SIZE], id[3][JOB_ID_SIZE], name[16];
    uint64_t from[3], to[3];
    int most = 0;
    gate_close();
    submit(e, &window, "holds", PRIORITY_HIGH, first);
    gate_wait(1);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "made-%d", i);
        submit(e, &update, name, 0, id[i]);
    }
    wait_for(look(e).ready == 3);
    for (int i = 0; i < 3; i++)
        witness_times(e, id[i], &from[i], &to[i]);
    for (int i = 0; i < 3; i++) {
        int others = 0;
        for (int k = 0; k < 3; k++)
            others += from[k] <= from[i] && from[i] < to[k];
        most = others > most ? others : most;
    }
    engine_destroy(e);
    return most;
}

static void test_concurrency_and_its_limits(void **state)
{
    (void)state;
    config c;
    test_config(&c);
    test_set(&c, "pipeline.synthesis_lookahead", "4");
    assert_int_equal(witnesses_at_once(&c), 1);
    test_set(&c, "pipeline.synthesis_concurrency", "3");
    assert_true(witnesses_at_once(&c) >= 2);
    test_set(&c, "pipeline.memory_throttle", "1"); /* the device is busy all the time */
    assert_int_equal(witnesses_at_once(&c), 1);
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
    /* What is available changes while others work: it is asked until nothing came between. */
    uint64_t available, narrow, wide, half, gib = (uint64_t)1 << 30;
    do {
        available = mem_available_bytes();
        test_set(&c, "memory.safety_margin", "1GiB");
        narrow = budget_total(&c);
        test_set(&c, "memory.safety_margin", "0");
        wide = budget_total(&c);
        test_set(&c, "memory.safety_margin", "900TiB"); /* a small machine keeps half */
        half = budget_total(&c);
    } while (available > mem_available_bytes() + (gib >> 4) ||
             available + (gib >> 4) < mem_available_bytes());
    if (available > 3 * gib)
        assert_true(wide > narrow + gib / 2);
    assert_true(half > available / 4);
    test_set(&c, "memory.total_budget", "3GiB");
    assert_int_equal(budget_total(&c), (uint64_t)3 << 30);
}

static void test_circuit_cache(void **state)
{
    (void)state;
    config c;
    char dir[64], file[200];
    int already;
    uint64_t ms;
    cuzk_error err = {0};
    test_config(&c);
    test_folder(dir);
    test_set(&c, "srs.circuit_cache", dir);
    engine *e = start(&c);
    assert_int_equal(engine_preload(e, "winning-2k", &already, &ms, &err), CUZK_OK);
    snprintf(file, sizeof file, "%s/winning-2k.r1cs-cache", dir);
    assert_int_equal(access(file, R_OK), 0);
    engine_destroy(e);
    test_remove_folder(dir);
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
    {"srs.circuit_cache", "test_circuit_cache"},
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
    {"scheduler.max_batch_wait_ms", "engine/queue: test_filling_batch"},
    {"scheduler.sort_by_type", "engine/queue: test_sort_by_type"},
    {"scheduler.max_queued", "engine/queue: test_full_queue"},
    {"scheduler.aging", "engine/queue: test_aging, test_low_is_not_starved"},
    {"scheduler.order", "engine/queue: test_partitions_stay_together"},
    {"synthesis.threads", "test_device_options"},
    {"synthesis.partition_workers", "test_lookahead"},
    {"pipeline.enabled", "test_pipeline_enabled"},
    {"pipeline.synthesis_lookahead", "test_lookahead"},
    {"pipeline.synthesis_concurrency", "test_concurrency_and_its_limits"},
    {"pipeline.split_finish", "test_split_finish_and_workers"},
    {"pipeline.serial_free", "test_serial_free"},
    {"pipeline.memory_throttle", "test_concurrency_and_its_limits"},
    {"store.url", "engine/life: test_restart_resumes; engine/fleet: test_elsewhere"},
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

/* "test_a; engine/queue: test_b, test_c; daemon/http": the file is there, and runs these tests. */
static void assert_tests_exist(const char *shown_by)
{
    char list[200], file[40] = "engine/options", path[300], call[100], *at, *text = NULL;
    size_t size;
    snprintf(list, sizeof list, "%s", shown_by);
    for (char *word = strtok_r(list, " ,;:", &at); word; word = strtok_r(NULL, " ,;:", &at)) {
        if (strchr(word, '/'))
            snprintf(file, sizeof file, "%.39s", word);
        char *slash = strchr(file, '/');
        int of_engine = !strncmp(file, "engine/", 7);
        snprintf(path, sizeof path, of_engine ? "../%.*s/test_%s.c" : "../%.*s/%s.test.mjs",
                 (int)(slash - file), file, slash + 1);
        text = (char *)test_data(path, &size);
        snprintf(call, sizeof call, "cmocka_unit_test(%.60s)", word);
        if (!strchr(word, '/') && !memmem(text, size, call, strlen(call)))
            fail_msg("%s has no %s", path, word);
        free(text);
    }
}

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
        for (size_t k = 0; k < sizeof EFFECTS / sizeof EFFECTS[0]; k++) {
            if (strcmp(EFFECTS[k].option, name))
                continue;
            assert_tests_exist(EFFECTS[k].shown_by);
            shown = 1;
        }
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
                               "working_memory_budget = \"80GiB\"\n"
                               "[gpus]\ndevices = [0, 2]\ngpu_workers_per_device = 3\n"
                               "[synthesis]\npartition_workers = 16\n[pipeline]\nslot_size = 0\n"
                               "max_parallel_synthesis = 4\nmax_gpu_queue_depth = 8\n",
                               0, &c, &f, &err),
                     CUZK_OK);
    assert_int_equal(f.warnings, 6);
    static const char *const ignored[] = {"srs.preload",
                                          "memory.pinned_budget",
                                          "memory.working_memory_budget",
                                          "pipeline.slot_size",
                                          "pipeline.max_parallel_synthesis",
                                          "pipeline.max_gpu_queue_depth"};
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        assert_non_null(strstr(f.all, ignored[i]));
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
        cmocka_unit_test(test_circuit_cache),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
