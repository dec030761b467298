/* The threads of the pipeline: preparers, device workers, finishers. Each takes what the scheduler gives it,
 * works without the lock, and puts the result where the next stage finds it. */
#include "base/log.h"
#include "base/mem.h"
#include "engine/internal.h"
#include <string.h>

#define MAX_ATTEMPTS     2 /* a failed partition is tried once more, elsewhere if there is an elsewhere */
#define QUARANTINE_AFTER 3 /* failures in a row */

/* ---- units ---- */

static unit *unit_new_locked(engine *e, job *j)
{
    unit *u = mem_calloc(1, sizeof(*u));
    if (!u)
        return NULL;
    u->job = j;
    u->partition = j->next_partition++;
    u->state = UNIT_WITNESS;
    u->avoid_device = u->device = -1;
    j->references++;
    j->active++;
    unit **at = &e->units;
    while (*at)
        at = &(*at)->next;
    *at = u;
    return u;
}

void unit_free(engine *e, unit *u)
{
    witness_clear(&u->w);
    key_release(e, u->key);
    pthread_mutex_lock(&e->lock);
    e->budget_used -= u->reserved;
    for (unit **at = &e->units; *at; at = &(*at)->next) {
        if (*at == u) {
            *at = u->next;
            break;
        }
    }
    u->job->active--;
    job_unref_locked(u->job);
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    mem_free(u);
}

/* The state in which a job ends after this error. */
static job_state end_state(const cancel_token *t, cuzk_status s)
{
    int why = cancel_check(t);
    if (why == 2 || s == CUZK_DEADLINE)
        return JOB_TIMEOUT;
    return why == 1 || s == CUZK_CANCELLED ? JOB_CANCELLED : JOB_FAILED;
}

static void fail_job(engine *e, job *j, const cuzk_error *why)
{
    pthread_mutex_lock(&e->lock);
    if (e->stopping && why->status == CUZK_CANCELLED)
        job_end(e, j, JOB_FAILED, "the daemon is stopping; submit the same request again after its start");
    else
        job_end(e, j, end_state(&j->cancel, why->status), why->message);
    pthread_mutex_unlock(&e->lock);
}

static void set_unit_state(engine *e, unit *u, unit_state state)
{
    pthread_mutex_lock(&e->lock);
    u->state = state;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

/* ---- preparers ---- */

static void parse_and_check(engine *e, job *j)
{
    cuzk_error why = {0};
    proof_task *t = NULL;
    uint64_t start = clock_ns();
    cuzk_status s = proof_task_parse(&t, &j->request, e->ps, &why);
    uint64_t parsed = clock_ns();
    job_event(e, j, "parse", -1, -1, start, parsed);
    if (!s) {
        s = proof_task_check(t, -1, e->synthesis, &why);
        job_event(e, j, "check", -1, -1, parsed, clock_ns());
    }
    uint8_t *proof = s ? NULL : mem_calloc(proof_task_partitions(t), GROTH16_PROOF_BYTES);
    if (!s && !proof)
        s = mem_error(&why, 0, "a proof");
    pthread_mutex_lock(&e->lock);
    j->preparing = 0;
    if (s) {
        pthread_mutex_unlock(&e->lock);
        proof_task_destroy(t);
        fail_job(e, j, &why);
        pthread_mutex_lock(&e->lock);
    } else {
        j->task = t;
        j->circuit = proof_task_circuit(t);
        j->partitions = proof_task_partitions(t);
        j->proof = proof;
        mem_free(j->blob); /* the task holds its own copy */
        j->blob = NULL;
    }
    job_unref_locked(j);
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

static uint64_t witness_bytes(const r1cs_counts *n)
{
    return (n->inputs + n->fields) * sizeof(fr) + n->aux / 8 + 64;
}

static cuzk_status make_witness(engine *e, unit *u, cuzk_error *why)
{
    job *j = u->job;
    r1cs_counts n;
    r1cs_get_counts(u->key->circuit, &n);
    uint64_t bytes = witness_bytes(&n);
    cuzk_status s = budget_reserve(e, bytes, "a witness", &j->cancel, why);
    if (s)
        return s;
    u->reserved = bytes;
    uint64_t start = clock_ns();
    s = witness_init(&u->w, n.inputs, n.aux, n.fields, why);
    if (!s)
        s = proof_task_witness(j->task, u->partition, u->key->circuit, &u->w, e->synthesis, &j->cancel, why);
    uint64_t end = clock_ns();
    pthread_mutex_lock(&e->lock);
    j->synthesis_ns += end - start;
    pthread_mutex_unlock(&e->lock);
    job_event(e, j, "witness", (int32_t)u->partition, -1, start, end);
    return s;
}

static void prepare_unit(engine *e, unit *u)
{
    job *j = u->job;
    cuzk_error why = {0};
    int was_loaded;
    uint64_t start = clock_ns();
    cuzk_status s = key_acquire(e, j->circuit, &u->key, &was_loaded, &why);
    if (!was_loaded) {
        job_event(e, j, "srs", -1, -1, start, clock_ns());
        pthread_mutex_lock(&e->lock);
        j->srs_ns += clock_ns() - start;
        pthread_mutex_unlock(&e->lock);
    }
    if (!s)
        s = make_witness(e, u, &why);
    pthread_mutex_lock(&e->lock);
    j->preparing = 0;
    pthread_mutex_unlock(&e->lock);
    if (s) {
        if (s != CUZK_CANCELLED && j->partitions > 1)
            cuzk_error_prefix(&why, "partition %u", u->partition);
        fail_job(e, j, &why);
        unit_free(e, u);
    } else {
        set_unit_state(e, u, UNIT_READY);
    }
}

static void *preparer(void *arg)
{
    engine *e = arg;
    pthread_mutex_lock(&e->lock);
    while (!e->stopping) {
        job *j = sched_next_to_prepare_locked(e);
        if (!j) {
            pthread_cond_wait(&e->changed, &e->lock);
            continue;
        }
        j->preparing = 1; /* from here on the job stays in the list */
        if (j->state == JOB_QUEUED) {
            j->state = JOB_RUNNING;
            j->started_ns = clock_ns();
            if (j->event_count == 0) {
                pthread_mutex_unlock(&e->lock);
                job_event(e, j, "queue", -1, -1, j->submitted_ns, j->started_ns);
                pthread_mutex_lock(&e->lock);
            }
        }
        if (!j->task) {
            j->references++;
            pthread_mutex_unlock(&e->lock);
            parse_and_check(e, j);
        } else {
            unit *u = unit_new_locked(e, j);
            pthread_mutex_unlock(&e->lock);
            if (u) {
                prepare_unit(e, u);
            } else {
                cuzk_error why;
                mem_error(&why, sizeof(*u), "a partition");
                fail_job(e, j, &why);
            }
        }
        pthread_mutex_lock(&e->lock);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

/* ---- failures ---- */

static int is_device_fault(cuzk_status s)
{
    return s == CUZK_DEVICE_ERROR || s == CUZK_INVALID_PROOF;
}

static void count_device_result(engine *e, device_slot *d, int failed)
{
    pthread_mutex_lock(&e->lock);
    if (failed) {
        d->failures++;
        if (++d->failures_in_row >= QUARANTINE_AFTER && !d->quarantined) {
            d->quarantined = 1;
            log_write(LOG_ERROR, "device", "%s %u is quarantined after %u failures in a row",
                      d->backend->name, d->ordinal, d->failures_in_row);
        }
    } else {
        d->proofs++;
        d->failures_in_row = 0;
    }
    pthread_mutex_unlock(&e->lock);
}

/* A failed unit is tried once more, on another device where there is one; or ends its job. */
static void unit_failed(engine *e, unit *u, device_slot *d, cuzk_error *why)
{
    job *j = u->job;
    int fault = is_device_fault(why->status);
    if (fault)
        count_device_result(e, d, 1);
    log_job(LOG_WARN, "engine", j->id, "partition=%u device=%u attempt=%d: %s", u->partition, d->ordinal,
            u->attempts, why->message);
    if (fault && u->attempts < MAX_ATTEMPTS && !cancel_check(&j->cancel)) {
        pthread_mutex_lock(&e->lock);
        e->retries++;
        e->invalid_proofs += why->status == CUZK_INVALID_PROOF;
        u->avoid_device = d->index;
        u->state = UNIT_READY;
        pthread_cond_broadcast(&e->changed);
        pthread_mutex_unlock(&e->lock);
        return;
    }
    cuzk_error_prefix(why, "job %s, partition %u, device %s %u", j->id, u->partition, d->backend->name,
                      d->ordinal);
    fail_job(e, j, why);
    unit_free(e, u);
}

/* ---- device workers ---- */

static void show_current(engine *e, device_slot *d, const job *j)
{
    pthread_mutex_lock(&e->lock);
    if (j)
        memcpy(d->current_job, j->id, sizeof(d->current_job));
    else
        d->current_job[0] = 0;
    d->current_kind = j ? j->kind : 0;
    pthread_mutex_unlock(&e->lock);
}

static void finish_unit(engine *e, unit *u);

static void prove_unit(engine *e, unit *u, device_slot *d)
{
    job *j = u->job;
    cuzk_error why = {0};
    if (cancel_check(&j->cancel)) {
        cuzk_error_set(&why, cancel_check(&j->cancel) == 2 ? CUZK_DEADLINE : CUZK_CANCELLED,
                       "stopped before partition %u was proved", u->partition);
        fail_job(e, j, &why);
        unit_free(e, u);
        return;
    }
    u->attempts++;
    u->device = d->index;
    groth16_prover *p = NULL;
    pthread_mutex_lock(&d->lock);
    show_current(e, d, j);
    uint64_t start = clock_ns();
    cuzk_status s = key_prover(e, u->key, d, &p, &why);
    if (!s)
        s = groth16_prove_start(p, &u->proving, &u->w, &j->cancel, &why);
    uint64_t end = clock_ns();
    show_current(e, d, NULL);
    pthread_mutex_unlock(&d->lock);
    job_event(e, j, "prove", (int32_t)u->partition, d->index, start, end);
    pthread_mutex_lock(&e->lock);
    j->device_ns += end - start;
    pthread_mutex_unlock(&e->lock);
    if (s) {
        unit_failed(e, u, d, &why);
    } else if (e->config.pipeline.split_finish) {
        set_unit_state(e, u, UNIT_FINISHING);
    } else {
        set_unit_state(e, u, UNIT_PROVING);
        finish_unit(e, u);
    }
}

typedef struct worker_arg {
    engine *e;
    device_slot *d;
} worker_arg;

static void *device_worker(void *arg)
{
    worker_arg a = *(worker_arg *)arg;
    mem_free(arg);
    engine *e = a.e;
    pthread_mutex_lock(&e->lock);
    while (!e->stopping) {
        unit *u = sched_next_ready_locked(e, a.d);
        if (!u) {
            pthread_cond_wait(&e->changed, &e->lock);
            continue;
        }
        u->state = UNIT_PROVING;
        pthread_cond_broadcast(&e->changed);
        pthread_mutex_unlock(&e->lock);
        prove_unit(e, u, a.d);
        pthread_mutex_lock(&e->lock);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

/* ---- finishers ---- */

static void finish_unit(engine *e, unit *u)
{
    job *j = u->job;
    device_slot *d = &e->device[u->device];
    cuzk_error why = {0};
    uint8_t proof[GROTH16_PROOF_BYTES];
    uint64_t start = clock_ns();
    groth16_times times = {0};
    cuzk_status s = groth16_prove_finish(u->proving, NULL, NULL, proof, &times, &why);
    u->proving = NULL;
    uint64_t end = clock_ns();
    job_event(e, j, "finish", (int32_t)u->partition, d->index, start, end);
    if (s) {
        unit_failed(e, u, d, &why);
        return;
    }
    count_device_result(e, d, 0);
    log_job(LOG_INFO, "prove", j->id,
            "partition=%u device=%u prep_msm_join_ms=%.1f b_g2_msm_ms=%.1f ntt_msm_h_ms=%.1f "
            "tail_msm_ms=%.1f gpu_total_ms=%.1f "
            "verify_ms=%.1f",
            u->partition, d->ordinal, times.multiply, times.msm_b_g2, times.quotient + times.msm_h,
            times.msm_l + times.msm_a + times.msm_b_g1, times.total, times.verify);
    pthread_mutex_lock(&e->lock);
    memcpy(j->proof + (size_t)u->partition * GROTH16_PROOF_BYTES, proof, GROTH16_PROOF_BYTES);
    e->partitions_proved++;
    j->device_ns += end - start;
    if (++j->done == j->partitions)
        job_end(e, j, JOB_COMPLETED, NULL);
    pthread_mutex_unlock(&e->lock);
    unit_free(e, u);
}

static void *finisher(void *arg)
{
    engine *e = arg;
    pthread_mutex_lock(&e->lock);
    for (;;) {
        unit *u = sched_next_to_finish_locked(e);
        if (!u) {
            if (e->stopping)
                break;
            pthread_cond_wait(&e->changed, &e->lock);
            continue;
        }
        u->state = UNIT_PROVING; /* taken */
        pthread_mutex_unlock(&e->lock);
        finish_unit(e, u);
        pthread_mutex_lock(&e->lock);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

/* ---- start and stop ---- */

static cuzk_status start_thread(engine *e, void *(*fn)(void *), void *arg, cuzk_error *err)
{
    int rc = pthread_create(&e->thread[e->threads], NULL, fn, arg);
    if (rc)
        return cuzk_error_set(err, CUZK_OUT_OF_MEMORY, "cannot start an engine thread: %s", strerror(rc));
    e->threads++;
    return CUZK_OK;
}

cuzk_status stages_start(engine *e, cuzk_error *err)
{
    size_t preparers = e->config.pipeline.enabled ? e->config.pipeline.synthesis_concurrency : 1;
    size_t workers = e->config.gpus.workers_per_device;
    e->thread = mem_calloc(preparers + e->devices * workers + 2, sizeof(pthread_t));
    if (!e->thread)
        return mem_error(err, 1024, "engine threads");
    cuzk_status s = CUZK_OK;
    for (size_t i = 0; i < preparers && !s; i++)
        s = start_thread(e, preparer, e, err);
    for (size_t i = 0; i < e->devices * workers && !s; i++) {
        worker_arg *a = mem_alloc(sizeof(*a));
        if (!a)
            return mem_error(err, sizeof(*a), "engine threads");
        *a = (worker_arg){e, &e->device[i / workers]};
        s = start_thread(e, device_worker, a, err);
        if (s)
            mem_free(a);
    }
    return s ? s : start_thread(e, finisher, e, err);
}

void stages_stop(engine *e)
{
    pthread_mutex_lock(&e->lock);
    e->stopping = 1;
    for (job *j = e->jobs; j; j = j->next)
        if (!job_ended(j))
            atomic_store(&j->cancel.cancelled, 1);
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    for (size_t i = 0; i < e->threads; i++)
        pthread_join(e->thread[i], NULL);
    e->threads = 0;
    while (e->units) {
        unit *u = e->units;
        if (u->proving) {
            uint8_t proof[GROTH16_PROOF_BYTES];
            cuzk_error ignored;
            if (groth16_prove_finish(u->proving, NULL, NULL, proof, NULL, &ignored))
                log_write(LOG_DEBUG, "engine", "dropped while stopping: %s", ignored.message);
        }
        unit_free(e, u);
    }
    mem_free(e->thread);
    e->thread = NULL;
}
