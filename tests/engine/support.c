#include "engine/support.h"
#include "base/encode.h"
#include "base/log.h"
#include "base/mem.h"
#include "filecoin/task.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- configuration ---- */

void test_set(config *c, const char *key, const char *value)
{
    char table[64];
    snprintf(table, sizeof table, "%s", key);
    char *dot = strchr(table, '.');
    assert_non_null(dot);
    *dot = 0;
    cuzk_error err = {0};
    if (config_set(c, table, dot + 1, value, &err))
        fail_msg("%s", err.message);
}

void test_config(config *c)
{
    const char *srs = getenv("CUZK_TEST_SRS"), *cache = getenv("CUZK_TEST_CACHE");
    if (!srs || !cache)
        fail_msg("CUZK_TEST_SRS and CUZK_TEST_CACHE name the folders that the test cli/srs makes");
    config_defaults(c);
    test_set(c, "srs.param_cache", srs);
    test_set(c, "srs.circuit_cache", cache);
    test_set(c, "srs.allow_test", "true");
    test_set(c, "memory.total_budget", "4GiB");
    test_set(c, "memory.safety_margin", "1GiB");
    log_configure(getenv("CUZK_TEST_LOG") ? LOG_DEBUG : LOG_OFF, LOG_TEXT);
}

void test_folder(char out[64])
{
    snprintf(out, 64, "/tmp/cuzk-engine-XXXXXX");
    assert_non_null(mkdtemp(out));
}

void test_remove_folder(const char *path)
{
    char command[200];
    assert_true(!strncmp(path, "/tmp/cuzk-engine-", 17));
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
}

/* ---- requests ---- */

static void open_porep(test_request *r, const char *name)
{
    char file[128];
    size_t size;
    snprintf(file, sizeof file, "%s/golden.json", name);
    r->v.golden = test_data_json(file);
    snprintf(file, sizeof file, "%s/c1.json", name);
    r->c1 = test_data(file, &size);
    r->q.proof_kind = KIND_POREP;
    const registered_seal *s = seal_by_name(test_json_string(r->v.golden, "registered_proof"));
    assert_non_null(s);
    r->q.registered_proof = s->number;
    r->q.vanilla_proof = (engine_bytes){r->c1, size};
}

static void open_post(test_request *r, const char *name)
{
    vanilla_open(&r->v, name);
    const registered_post *p = post_by_name(test_json_string(r->v.golden, "registered_proof"));
    assert_non_null(p);
    r->q.proof_kind = p->winning ? KIND_WINNING : KIND_WINDOW;
    r->q.registered_proof = p->number;
    test_json_hex(r->randomness, 32, r->v.golden, "randomness");
    r->q.randomness = (engine_bytes){r->randomness, 32};
}

static void open_update(test_request *r, const char *name)
{
    static const char *const NAMES[3] = {"comm_r_old", "comm_r_new", "comm_d_new"};
    vanilla_open(&r->v, name);
    r->q.proof_kind = KIND_UPDATE;
    for (int i = 0; i < 3; i++)
        test_json_hex(r->comm[i], 32, r->v.golden, NAMES[i]);
    r->q.comm_r_old = (engine_bytes){r->comm[0], 32};
    r->q.comm_r_new = (engine_bytes){r->comm[1], 32};
    r->q.comm_d_new = (engine_bytes){r->comm[2], 32};
}

void request_open(test_request *r, const char *name, const char *id)
{
    memset(r, 0, sizeof *r);
    snprintf(r->id, sizeof r->id, "%s", id);
    r->q.request_id = r->id;
    if (!strncmp(name, "porep", 5))
        open_porep(r, name);
    else if (!strncmp(name, "update", 6))
        open_update(r, name);
    else
        open_post(r, name);
    if (r->v.count) {
        r->list = calloc(r->v.count, sizeof *r->list);
        assert_non_null(r->list);
        for (size_t i = 0; i < r->v.count; i++)
            r->list[i] = (engine_bytes){r->v.proof[i].data, r->v.proof[i].size};
        r->q.vanilla_proofs = r->list;
        r->q.vanilla_count = r->v.count;
    }
}

void request_close(test_request *r)
{
    vanilla_close(&r->v);
    free(r->list);
    free(r->c1);
    memset(r, 0, sizeof *r);
}

void submit(engine *e, const test_request *r, const char *id, unsigned priority, char job_id[JOB_ID_SIZE])
{
    engine_request q = r->q;
    engine_submitted s;
    cuzk_error err = {0};
    q.request_id = id;
    q.priority = priority;
    if (engine_submit(e, &q, &s, &err))
        fail_msg("%s: %s", id, err.message);
    memcpy(job_id, s.job_id, JOB_ID_SIZE);
}

/* ---- outcomes ---- */

typedef struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int done;
    outcome *out;
} waiter;

static void on_done(void *ctx, const job_result *r)
{
    waiter *w = ctx;
    pthread_mutex_lock(&w->lock);
    w->out->state = r->state;
    memcpy(w->out->error, r->error, sizeof w->out->error);
    w->out->proof_size = r->proof_size;
    if (r->proof_size && r->proof_size <= sizeof w->out->proof)
        memcpy(w->out->proof, r->proof, r->proof_size);
    w->out->ended_ns = clock_ns();
    w->done = 1;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

void await_job(engine *e, const char *job_id, uint64_t timeout_ms, outcome *out)
{
    waiter w = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, out};
    cuzk_error err = {0};
    memset(out, 0, sizeof *out);
    if (engine_await(e, job_id, timeout_ms ? timeout_ms : 300000, on_done, &w, NULL, &err))
        fail_msg("%s", err.message);
    pthread_mutex_lock(&w.lock);
    while (!w.done)
        pthread_cond_wait(&w.changed, &w.lock);
    pthread_mutex_unlock(&w.lock);
    pthread_mutex_destroy(&w.lock);
    pthread_cond_destroy(&w.changed);
}

static circuit_kind circuit_kind_of(const test_request *r)
{
    static const circuit_kind KINDS[ENGINE_KINDS] = {CIRCUIT_POREP, CIRCUIT_POREP, CIRCUIT_UPDATE,
                                                     CIRCUIT_WINDOW, CIRCUIT_WINNING};
    return KINDS[r->q.proof_kind];
}

void assert_valid(const test_request *r, const uint8_t *proof, size_t size)
{
    proof_request q = {.kind = circuit_kind_of(r),
                       .has_registered = 1,
                       .registered_proof = r->q.registered_proof,
                       .miner_id = r->q.miner_id,
                       .c1 = {r->q.vanilla_proof.data, r->q.vanilla_proof.size},
                       .vanilla = r->v.proof,
                       .vanilla_count = r->v.count,
                       .has_randomness = r->q.randomness.size == 32};
    memcpy(q.randomness, r->randomness, 32);
    memcpy(q.comm_r_old, r->comm[0], 32);
    memcpy(q.comm_r_new, r->comm[1], 32);
    memcpy(q.comm_d_new, r->comm[2], 32);
    cuzk_error err = {0};
    poseidon_set *ps;
    proof_task *t;
    verifying_key vk;
    char path[4096];
    assert_int_equal(poseidon_set_create(&ps, &err), CUZK_OK);
    if (proof_task_parse(&t, &q, ps, &err) ||
        params_find(path, sizeof path, getenv("CUZK_TEST_SRS"), proof_task_circuit(t), ".vk", 1, NULL,
                    &err) ||
        vk_open(&vk, path, &err))
        fail_msg("%s", err.message);
    assert_int_equal(size, proof_task_partitions(t) * GROTH16_PROOF_BYTES);
    for (uint32_t k = 0; k < proof_task_partitions(t); k++) {
        fr *inputs;
        size_t n;
        assert_int_equal(proof_task_inputs(t, k, &inputs, &n, &err), CUZK_OK);
        if (groth16_verify(&vk, proof + k * GROTH16_PROOF_BYTES, inputs, n, &err))
            fail_msg("partition %u: %s", k, err.message);
        mem_free(inputs);
    }
    vk_clear(&vk);
    proof_task_destroy(t);
    poseidon_set_destroy(ps);
}

void assert_proved(engine *e, const char *job_id, const test_request *r)
{
    outcome o;
    await_job(e, job_id, 0, &o);
    if (o.state != JOB_COMPLETED)
        fail_msg("job %s is %s: %s", job_id, job_state_name(o.state), o.error);
    assert_valid(r, o.proof, o.proof_size);
}

/* ---- the gated back end ---- */

gate the_gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static cuzk_backend gated;
static cuzk_device *opened[8];
#define KEYS 64
static struct {
    cuzk_device_key *key;
    unsigned ordinal;
} keys[KEYS];

static cuzk_status count_devices(uint32_t *count, cuzk_error *err)
{
    (void)err;
    *count = the_gate.devices;
    return CUZK_OK;
}

static cuzk_status describe(uint32_t ordinal, cuzk_device_info *info, cuzk_error *err)
{
    (void)ordinal;
    return cuzk_backend_cpu()->device_describe(0, info, err);
}

static cuzk_status open_device(cuzk_device **out, uint32_t ordinal, const cuzk_device_options *o,
                               cuzk_error *err)
{
    cuzk_status s = cuzk_backend_cpu()->device_open(out, 0, o, err);
    opened[ordinal] = *out;
    return s;
}

static cuzk_status load_key(cuzk_device *device, cuzk_device_key **out, const cuzk_circuit_view *c,
                            const cuzk_query_view *q, char *plan, size_t plan_size, cuzk_error *err)
{
    cuzk_status s = cuzk_backend_cpu()->key_load(device, out, c, q, plan, plan_size, err);
    pthread_mutex_lock(&the_gate.lock);
    for (int i = 0; i < KEYS && !s; i++) {
        if (keys[i].key)
            continue;
        keys[i].key = *out;
        for (unsigned d = 0; d < 8; d++)
            if (opened[d] == device)
                keys[i].ordinal = d;
        break;
    }
    pthread_mutex_unlock(&the_gate.lock);
    return s;
}

static void unload_key(cuzk_device_key *key)
{
    pthread_mutex_lock(&the_gate.lock);
    for (int i = 0; i < KEYS; i++)
        if (keys[i].key == key)
            keys[i].key = NULL;
    pthread_mutex_unlock(&the_gate.lock);
    cuzk_backend_cpu()->key_unload(key);
}

static unsigned ordinal_of(const cuzk_device_key *key)
{
    for (int i = 0; i < KEYS; i++)
        if (keys[i].key == key)
            return keys[i].ordinal;
    return 0;
}

/* Stands at the gate; what the proof is to become. */
static cuzk_status pass(unsigned d, uint32_t count, cuzk_cancel_fn *cancel, void *ctx, int *wrong,
                        cuzk_error *err)
{
    cuzk_status s = CUZK_OK;
    gate *g = &the_gate;
    pthread_mutex_lock(&g->lock);
    g->started[d]++;
    g->batches += count > 1;
    g->largest_batch = (int)count > g->largest_batch ? (int)count : g->largest_batch;
    g->waiting++;
    pthread_cond_broadcast(&g->changed);
    uint64_t until = clock_ns() + g->delay_ms * 1000000u;
    while (((g->closed && !g->passes) || clock_ns() < until) && !s) {
        pthread_mutex_unlock(&g->lock);
        usleep(1000);
        pthread_mutex_lock(&g->lock);
        if (cancel && cancel(ctx))
            s = cuzk_error_set(err, CUZK_CANCELLED, "cancelled at the gate");
    }
    g->waiting--;
    g->passes -= g->closed && g->passes && !s;
    pthread_cond_broadcast(&g->changed);
    if (!s && g->fail[d]) {
        g->fail[d]--;
        s = cuzk_error_set(err, CUZK_DEVICE_ERROR, "the device fell off the bus");
    }
    *wrong = !s && g->wrong[d] ? g->wrong[d]-- : 0;
    pthread_mutex_unlock(&g->lock);
    return s;
}

/* A wrong sum makes a proof that does not verify. */
static void spoil(cuzk_sums *s)
{
    s->h = s->l;
}

static cuzk_status prove_batch(cuzk_device_key *key, const cuzk_witness_view *w, uint32_t count,
                               cuzk_sums *sums, cuzk_device_times *times, cuzk_cancel_fn *cancel, void *ctx,
                               cuzk_error *err)
{
    int wrong;
    cuzk_status s = pass(ordinal_of(key), count, cancel, ctx, &wrong, err);
    if (!s)
        s = cuzk_backend_cpu()->prove_batch(key, w, count, sums, times, cancel, ctx, err);
    if (!s && wrong)
        spoil(&sums[0]);
    return s;
}

struct gate_job { /* stands in for the back end's own */
    cuzk_sums sums;
    cuzk_device_times times;
};

static cuzk_status prove_start(cuzk_device_key *key, cuzk_device_job **out, const cuzk_witness_view *w,
                               cuzk_cancel_fn *cancel, void *ctx, cuzk_error *err)
{
    struct gate_job *j = calloc(1, sizeof *j);
    *out = NULL;
    cuzk_status s = prove_batch(key, w, 1, &j->sums, &j->times, cancel, ctx, err);
    if (s)
        free(j);
    else
        *out = (cuzk_device_job *)j;
    return s;
}

static cuzk_status prove_finish(cuzk_device_job *made, cuzk_sums *sums, cuzk_device_times *times,
                                cuzk_error *err)
{
    (void)err;
    struct gate_job *j = (struct gate_job *)made;
    *sums = j->sums;
    if (times)
        *times = j->times;
    free(j);
    return CUZK_OK;
}

const cuzk_backend *gate_backend(unsigned devices)
{
    pthread_mutex_lock(&the_gate.lock);
    the_gate.devices = devices;
    the_gate.closed = the_gate.passes = the_gate.waiting = the_gate.batches = the_gate.largest_batch = 0;
    the_gate.delay_ms = 0;
    memset(the_gate.fail, 0, sizeof the_gate.fail);
    memset(the_gate.wrong, 0, sizeof the_gate.wrong);
    memset(the_gate.started, 0, sizeof the_gate.started);
    gated = *cuzk_backend_cpu();
    gated.device_count = count_devices;
    gated.device_describe = describe;
    gated.device_open = open_device;
    gated.key_load = load_key;
    gated.key_unload = unload_key;
    gated.prove_start = prove_start;
    gated.prove_finish = prove_finish;
    gated.prove_batch = prove_batch;
    pthread_mutex_unlock(&the_gate.lock);
    return &gated;
}

static void set_closed(int closed)
{
    pthread_mutex_lock(&the_gate.lock);
    the_gate.closed = closed;
    the_gate.passes = 0;
    pthread_cond_broadcast(&the_gate.changed);
    pthread_mutex_unlock(&the_gate.lock);
}

void gate_close(void)
{
    set_closed(1);
}
void gate_open(void)
{
    set_closed(0);
}

static int locked(int *field, int value, int set)
{
    pthread_mutex_lock(&the_gate.lock);
    if (set)
        *field = value;
    int now = *field;
    pthread_mutex_unlock(&the_gate.lock);
    return now;
}

int gate_started(int device)
{
    return locked(&the_gate.started[device], 0, 0);
}
void gate_pass(int proofs)
{
    locked(&the_gate.passes, proofs, 1);
}
void gate_fail(int device, int proofs)
{
    locked(&the_gate.fail[device], proofs, 1);
}
void gate_spoil(int device, int proofs)
{
    locked(&the_gate.wrong[device], proofs, 1);
}
int gate_largest_batch(void)
{
    return locked(&the_gate.largest_batch, 0, 0);
}
void gate_delay(uint64_t ms)
{
    pthread_mutex_lock(&the_gate.lock);
    the_gate.delay_ms = ms;
    pthread_mutex_unlock(&the_gate.lock);
}

void gate_wait(int waiting)
{
    wait_for(locked(&the_gate.waiting, 0, 0) == waiting);
}

/* ---- time ---- */

/* What the kernel counts for each thread: time on a processor, time in line for one. */
static uint64_t waited_ns(void)
{
    uint64_t total = 0;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *t; threads && (t = readdir(threads));) {
        char path[300];
        unsigned long long ran, waited;
        snprintf(path, sizeof path, "/proc/self/task/%.200s/schedstat", t->d_name);
        FILE *f = t->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (f && fscanf(f, "%llu %llu", &ran, &waited) == 2)
            total += waited;
        if (f)
            fclose(f);
    }
    if (threads)
        closedir(threads);
    return total;
}

moment moment_now(void)
{
    return (moment){clock_ns(), waited_ns()};
}

uint64_t moment_waited_ns(moment since)
{
    uint64_t waited = waited_ns();
    return waited > since.waited_ns ? waited - since.waited_ns : 0; /* less where threads have ended */
}

uint64_t moment_spent_ns(moment since)
{
    uint64_t wall = clock_ns() - since.wall_ns, waited = moment_waited_ns(since);
    return wall > waited ? wall - waited : 0;
}
