/* The threads of the pipeline, and the units that pass through it. */
#include "base/log.h"
#include "base/mem.h"
#include "engine/internal.h"
#include <string.h>

/* ---- units ---- */

unit *unit_new_locked(engine *e, job *j)
{
    unit *u = mem_calloc(1, sizeof(*u));
    if (!u)
        return NULL;
    u->job = j;
    u->state = UNIT_WITNESS;
    u->avoid_device = u->device = -1;
    u->key = key_request_locked(e, j->circuit); /* it is ready: the scheduler looked */
    u->key->references++;
    if (!store_shared(e->store)) {
        while (j->part[u->partition] != PART_OPEN)
            u->partition++;
        j->part[u->partition] = PART_TAKEN;
        j->open--;
    }
    job_ref_locked(j);
    j->active++;
    unit **at = &e->units;
    while (*at)
        at = &(*at)->next;
    *at = u;
    return u;
}

/* A claim that led to no proof goes back, so that others need not wait for the lease to run out. */
static void give_back_claim(engine *e, unit *u)
{
    cuzk_error why = {0};
    if (!store_shared(e->store) || u->state == UNIT_FINISHED || !u->fence)
        return;
    if (store_release(e->store, u->job->id, u->partition, u->fence, &why))
        log_job(LOG_DEBUG, "store", u->job->id, "%s", why.message);
}

void unit_free(engine *e, unit *u)
{
    int serial = e->config.pipeline.serial_free;
    give_back_claim(e, u);
    if (serial)
        pthread_mutex_lock(&e->free_lock);
    witness_clear(&u->w);
    if (serial)
        pthread_mutex_unlock(&e->free_lock);
    pthread_mutex_lock(&e->lock);
    job *j = u->job;
    for (unit **at = &e->units; *at; at = &(*at)->next) {
        if (*at == u) {
            *at = u->next;
            break;
        }
    }
    key_unref_locked(e, u->key);
    budget_give_locked(e, u->reserved);
    if (!e->units) {
        budget_give_locked(e, e->working_reserved);
        e->working_reserved = 0;
    }
    if (!store_shared(e->store) && j->part[u->partition] == PART_TAKEN) {
        j->part[u->partition] = PART_OPEN;
        j->open++;
    }
    j->active--;
    job_shed_locked(e, j);
    job_unref_locked(j);
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    mem_free(u);
}

void unit_set_state(engine *e, unit *u, unit_state state)
{
    pthread_mutex_lock(&e->lock);
    u->state = state;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

/* The state in which a job ends after this error. */
static job_state end_state(const cancel_token *t, cuzk_status s)
{
    int why = cancel_check(t);
    if (why == 2 || s == CUZK_DEADLINE)
        return JOB_TIMEOUT;
    return why == 1 || s == CUZK_CANCELLED ? JOB_CANCELLED : JOB_FAILED;
}

void job_fail(engine *e, job *j, const cuzk_error *why)
{
    pthread_mutex_lock(&e->lock);
    job_state state = end_state(&j->cancel, why->status);
    if (!j->detached) /* stopped with the daemon: the store keeps it for the next start */
        job_end(e, j, state, state == JOB_TIMEOUT ? "the deadline has passed" : why->message);
    pthread_mutex_unlock(&e->lock);
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
        s = start_thread(e, preparer_main, e, err);
    for (size_t i = 0; i < e->devices * workers && !s; i++) {
        worker_arg *a = mem_alloc(sizeof(*a));
        if (!a)
            return mem_error(err, sizeof(*a), "engine threads");
        *a = (worker_arg){e, &e->device[i / workers]};
        s = start_thread(e, worker_main, a, err);
        if (s)
            mem_free(a);
    }
    return s ? s : start_thread(e, finisher_main, e, err);
}

void stages_stop(engine *e)
{
    pthread_mutex_lock(&e->lock);
    e->stopping = 1;
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
            u->proving = NULL;
        }
        unit_free(e, u);
    }
    mem_free(e->thread);
    e->thread = NULL;
}
