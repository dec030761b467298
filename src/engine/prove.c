/* Device workers and finishers. A worker picks what is best at the moment its device is free, proves it, and
 * hands it on; a finisher assembles, verifies and stores. What fails on a device is tried once more,
 * elsewhere if there is an elsewhere. */
#include "base/log.h"
#include "base/mem.h"
#include "engine/internal.h"
#include <string.h>

#define MAX_ATTEMPTS   2
#define STORE_TRIES_NS 30000000000u /* a proof is worth waiting for a store that is away */

static int is_device_fault(cuzk_status s)
{
    return s == CUZK_DEVICE_ERROR || s == CUZK_INVALID_PROOF;
}

static void unit_failed(engine *e, unit *u, device_slot *d, cuzk_error *why)
{
    job *j = u->job;
    int fault = is_device_fault(why->status), over = cancel_check(&j->cancel);
    if (!over)
        log_job(LOG_WARN, "engine", j->id, "partition=%u device=%u attempt=%d: %s", u->partition, d->ordinal,
                u->attempts, why->message);
    pthread_mutex_lock(&e->lock);
    e->invalid_proofs += why->status == CUZK_INVALID_PROOF;
    int again = fault && u->attempts < MAX_ATTEMPTS && !over && !e->stopping;
    if (again) {
        e->retries++;
        u->avoid_device = d->index;
        u->state = UNIT_READY;
        pthread_cond_broadcast(&e->changed);
    }
    pthread_mutex_unlock(&e->lock);
    if (again)
        return;
    cuzk_error_prefix(why, "job %s, partition %u, device %s %u", j->id, u->partition, d->backend->name,
                      d->ordinal);
    job_fail(e, j, why);
    unit_free(e, u);
}

/* ---- proving ---- */

/* Units of one key that are proved together; one of its own is the usual case. */
typedef struct prove_batch {
    unit *u[MAX_BATCH];
    size_t count;
    cancel_token cancel; /* set when all their jobs are over */
} prove_batch;

static cuzk_status batch_start(engine *e, prove_batch *b, device_slot *d, cuzk_error *why)
{
    groth16_prover *p = NULL;
    cuzk_status s = key_prover(e, b->u[0]->key, d, &p, why);
    if (s)
        return s;
    if (b->count == 1)
        return groth16_prove_start(p, &b->u[0]->proving, &b->u[0]->w, &b->u[0]->job->cancel, why);
    const witness *w[MAX_BATCH];
    groth16_job *made[MAX_BATCH] = {0};
    for (size_t i = 0; i < b->count; i++)
        w[i] = &b->u[i]->w;
    s = groth16_prove_batch_start(p, made, w, (uint32_t)b->count, &b->cancel, why);
    for (size_t i = 0; i < b->count && !s; i++)
        b->u[i]->proving = made[i];
    return s;
}

static void finish_unit(engine *e, unit *u);

/* Drops units whose job is over; returns how many are left. */
static size_t drop_ended(engine *e, prove_batch *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->count; i++) {
        unit *u = b->u[i];
        int over = cancel_check(&u->job->cancel);
        if (over) {
            cuzk_error why = {0};
            cuzk_error_set(&why, over == 2 ? CUZK_DEADLINE : CUZK_CANCELLED,
                           "stopped before partition %u was proved", u->partition);
            job_fail(e, u->job, &why);
            unit_free(e, u);
        } else {
            b->u[n++] = u;
        }
    }
    b->count = n;
    return n;
}

static void release_device(engine *e, device_slot *d, const prove_batch *b, uint64_t spent_ns)
{
    pthread_mutex_lock(&e->lock);
    d->current_job[0] = 0;
    d->current_kind = 0;
    d->busy = 0;
    e->batches += b->count > 1;
    for (size_t i = 0; i < b->count; i++) {
        b->u[i]->batch = NULL;
        b->u[i]->job->device_ns += spent_ns / b->count;
    }
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

static void prove_units(engine *e, prove_batch *b, device_slot *d)
{
    cuzk_error why = {0};
    if (!drop_ended(e, b)) {
        release_device(e, d, b, 0);
        return;
    }
    pthread_mutex_lock(&e->lock);
    memcpy(d->current_job, b->u[0]->job->id, sizeof(d->current_job));
    d->current_kind = b->u[0]->job->kind;
    for (size_t i = 0; i < b->count; i++) {
        b->u[i]->attempts++;
        b->u[i]->device = d->index;
        b->u[i]->batch = b->count > 1 ? &b->cancel : NULL;
    }
    pthread_mutex_unlock(&e->lock);
    uint64_t start = clock_ns();
    cuzk_status s = batch_start(e, b, d, &why);
    uint64_t end = clock_ns();
    /* once, however many were in the batch, and before anybody else may take the device */
    if (is_device_fault(s))
        device_count_result(e, d, 1);
    release_device(e, d, b, end - start);
    for (size_t i = 0; i < b->count; i++)
        job_event(e, b->u[i]->job, STAGE_PROVE, (int32_t)b->u[i]->partition, d->index, start, end);
    for (size_t i = 0; i < b->count; i++) {
        cuzk_error own = why;
        if (s) {
            unit_failed(e, b->u[i], d, &own);
        } else if (e->config.pipeline.split_finish) {
            unit_set_state(e, b->u[i], UNIT_FINISHING);
        } else {
            finish_unit(e, b->u[i]);
        }
    }
}

/* When a worker that finds nothing should look again by itself. */
static uint64_t next_look(const engine *e, const device_slot *d, uint64_t wake_ns)
{
    uint64_t rest = e->config.gpus.quarantine_ms * 1000000u;
    if (d->quarantine_ns && rest && e->units && d->quarantine_ns + rest < wake_ns)
        return d->quarantine_ns + rest;
    return wake_ns;
}

void *worker_main(void *arg)
{
    worker_arg a = *(worker_arg *)arg;
    mem_free(arg);
    engine *e = a.e;
    device_slot *d = a.d;
    pthread_mutex_lock(&e->lock);
    while (!e->stopping) {
        prove_batch b = {.count = 0};
        uint64_t wake_ns = UINT64_MAX;
        b.count = sched_next_batch_locked(e, d, b.u, MAX_BATCH, &wake_ns);
        if (!b.count) {
            wake_ns = next_look(e, d, wake_ns);
            if (wake_ns == UINT64_MAX)
                pthread_cond_wait(&e->changed, &e->lock);
            else
                engine_wait_until(&e->changed, &e->lock, wake_ns);
            continue;
        }
        d->busy = 1;
        for (size_t i = 0; i < b.count; i++)
            b.u[i]->state = UNIT_PROVING;
        pthread_cond_broadcast(&e->changed);
        pthread_mutex_unlock(&e->lock);
        prove_units(e, &b, d);
        pthread_mutex_lock(&e->lock);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

/* ---- finishing ---- */

/* Stores a proof, for a while also against a store that is away. */
static cuzk_status keep_proof(engine *e, const job *j, const unit *u, const uint8_t *proof, int *complete,
                              cuzk_error *why)
{
    uint64_t until = clock_ns() + STORE_TRIES_NS;
    for (;;) {
        store_job s;
        pthread_mutex_lock(&e->lock);
        job_to_store(j, &s);
        pthread_mutex_unlock(&e->lock);
        cuzk_status st = store_part(e->store, &s, u->partition, u->fence, proof, complete, why);
        if (st != CUZK_IO_ERROR || clock_ns() > until)
            return st;
        pthread_mutex_lock(&e->lock);
        int stopping = e->stopping;
        if (!stopping)
            engine_wait_until(&e->changed, &e->lock, clock_ns() + 500000000u);
        pthread_mutex_unlock(&e->lock);
        if (stopping)
            return st;
    }
}

static void log_times(const job *j, const unit *u, const device_slot *d, const groth16_times *t)
{
    log_job(
        LOG_INFO, "prove", j->id,
        "partition=%u device=%u prep_msm_join_ms=%.1f b_g2_msm_ms=%.1f ntt_msm_h_ms=%.1f tail_msm_ms=%.1f "
        "gpu_total_ms=%.1f verify_ms=%.1f",
        u->partition, d->ordinal, t->multiply, t->msm_b_g2, t->quotient + t->msm_h,
        t->msm_l + t->msm_a + t->msm_b_g1, t->total, t->verify);
}

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
    job_event(e, j, STAGE_FINISH, (int32_t)u->partition, d->index, start, end);
    if (!s || is_device_fault(s))
        device_count_result(e, d, s != CUZK_OK);
    if (s) {
        unit_failed(e, u, d, &why);
        return;
    }
    log_times(j, u, d, &times);
    int complete = 0;
    pthread_mutex_lock(&e->lock);
    e->partitions_proved++;
    j->device_ns += end - start;
    memcpy(j->proof + (size_t)u->partition * GROTH16_PROOF_BYTES, proof, GROTH16_PROOF_BYTES);
    pthread_mutex_unlock(&e->lock);
    s = keep_proof(e, j, u, proof, &complete, &why);
    unit_set_state(e, u, UNIT_FINISHED);
    if (s && s != CUZK_BUSY) { /* busy: the job is over, or another daemon has the partition now */
        job_fail(e, j, &why);
    } else if (!s) {
        pthread_mutex_lock(&e->lock);
        j->part[u->partition] = PART_DONE;
        j->done++;
        j->starts = 0;
        if (complete)
            job_end(e, j, JOB_COMPLETED, NULL);
        pthread_mutex_unlock(&e->lock);
    }
    unit_free(e, u);
}

void *finisher_main(void *engine_)
{
    engine *e = engine_;
    pthread_mutex_lock(&e->lock);
    for (;;) {
        unit *u = sched_next_to_finish_locked(e);
        if (!u) {
            if (e->stopping)
                break;
            pthread_cond_wait(&e->changed, &e->lock);
            continue;
        }
        u->state = UNIT_FINISHED; /* taken */
        pthread_mutex_unlock(&e->lock);
        finish_unit(e, u);
        pthread_mutex_lock(&e->lock);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}
