/* The life of an engine: start, drain, end, reload. */
#include "engine/engine.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/internal.h"
#include <string.h>
#include <time.h>

void engine_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t when_ns)
{
    struct timespec t = {(time_t)(when_ns / 1000000000u), (long)(when_ns % 1000000000u)};
    pthread_cond_timedwait(cond, lock, &t);
}

static void init_locks(engine *e)
{
    pthread_condattr_t monotonic;
    pthread_mutex_init(&e->lock, NULL);
    pthread_mutex_init(&e->submit_lock, NULL);
    pthread_mutex_init(&e->free_lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&e->changed, &monotonic);
    pthread_cond_init(&e->timer_wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static cuzk_status start_thread(pthread_t *t, int *started, void *(*fn)(void *), engine *e, cuzk_error *err)
{
    if (pthread_create(t, NULL, fn, e))
        return cuzk_error_set(err, CUZK_OUT_OF_MEMORY, "cannot start a thread of the engine");
    *started = 1;
    return CUZK_OK;
}

static cuzk_status start(engine *e, const cuzk_backend *backend, cuzk_error *err)
{
    const config *c = &e->config;
    cuzk_status s = store_open(&e->store, c->store.url, c->store.lease_ms, err);
    if (!s)
        s = poseidon_set_create(&e->ps, err);
    if (!s)
        s = pool_create(&e->synthesis, (unsigned)c->synthesis.threads, err);
    if (!s)
        s = devices_open(e, backend, err);
    if (!s)
        s = jobs_resume(e, err);
    if (!s)
        s = stages_start(e, err);
    if (!s)
        s = start_thread(&e->timer_thread, &e->timer_started, timer_main, e, err);
    if (!s && store_shared(e->store))
        s = start_thread(&e->fleet_thread, &e->fleet_started, fleet_main, e, err);
    if (!s && c->srs.check_digests)
        s = start_thread(&e->digest_thread, &e->digest_started, digest_main, e, err);
    return s;
}

cuzk_status engine_create_on(engine **out, const config *c, const cuzk_backend *backend, cuzk_error *err)
{
    *out = NULL;
    engine *e = mem_calloc(1, sizeof(*e));
    if (!e)
        return mem_error(err, sizeof(*e), "the engine");
    e->config = *c;
    e->started_ns = clock_ns();
    init_locks(e);
    e->budget = budget_total(c);
    cuzk_status s = start(e, backend, err);
    if (s) {
        engine_destroy(e);
        return s;
    }
    log_write(LOG_INFO, "engine", "memory budget %.1f GiB, %zu device%s, %u threads",
              (double)e->budget / 1073741824.0, e->devices, e->devices == 1 ? "" : "s",
              pool_size(e->synthesis));
    pthread_mutex_lock(&e->lock);
    e->accepting = 1;
    pthread_mutex_unlock(&e->lock);
    *out = e;
    return CUZK_OK;
}

cuzk_status engine_create(engine **out, const config *c, cuzk_error *err)
{
    return engine_create_on(out, c, NULL, err);
}

/* ---- the end ---- */

void engine_stop_accepting(engine *e)
{
    pthread_mutex_lock(&e->lock);
    e->accepting = 0;
    pthread_mutex_unlock(&e->lock);
}

/* In a shared store others take over what has not begun here. */
static int any_running_locked(const engine *e)
{
    int shared = store_shared(e->store);
    for (const job *j = e->jobs; j; j = j->next)
        if (j->state == JOB_RUNNING &&
            (j->active || j->parsing || j->ending || (!shared && j->done < j->partitions)))
            return 1;
    return 0;
}

/* job_detach lets the lock go for a moment, so the list is read anew after each. */
static void detach_all_locked(engine *e, job_state state)
{
    for (job *j = e->jobs; j;) {
        if (j->state == state && !j->ending && !j->detached) {
            job_detach(e, j);
            j = e->jobs;
        } else {
            j = j->next;
        }
    }
}

void engine_drain(engine *e, uint64_t drain_ms)
{
    uint64_t until = clock_ns() + drain_ms * 1000000u;
    engine_stop_accepting(e);
    pthread_mutex_lock(&e->lock);
    e->draining = 1;
    pthread_cond_broadcast(&e->changed);
    detach_all_locked(e, JOB_QUEUED); /* they do not start any more */
    while (any_running_locked(e) && clock_ns() < until)
        engine_wait_until(&e->changed, &e->lock, until);
    e->stopping = 1;
    detach_all_locked(e, JOB_RUNNING);
    keys_dismiss_waiters_locked(e);
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

static void stop_background(engine *e)
{
    atomic_store(&e->digest_stop.cancelled, 1);
    if (e->store)
        store_wake(e->store);
    pthread_mutex_lock(&e->lock);
    e->stopping = 1;
    pthread_cond_broadcast(&e->changed);
    pthread_cond_broadcast(&e->timer_wake);
    pthread_mutex_unlock(&e->lock);
    if (e->timer_started)
        pthread_join(e->timer_thread, NULL);
    if (e->digest_started)
        pthread_join(e->digest_thread, NULL);
    if (e->fleet_started)
        pthread_join(e->fleet_thread, NULL);
}

void engine_destroy(engine *e)
{
    if (!e)
        return;
    if (e->store) /* else it did not come far enough to have jobs */
        engine_drain(e, 0);
    stages_stop(e);
    stop_background(e);
    keys_destroy(e);
    pthread_mutex_lock(&e->lock);
    while (e->jobs) {
        job *j = e->jobs;
        e->jobs = j->next;
        job_unref_locked(j);
    }
    pthread_mutex_unlock(&e->lock);
    while (e->verdicts) {
        digest_verdict *v = e->verdicts;
        e->verdicts = v->next;
        mem_free(v);
    }
    devices_close(e);
    store_close(e->store);
    pool_destroy(e->synthesis);
    poseidon_set_destroy(e->ps);
    pthread_cond_destroy(&e->changed);
    pthread_cond_destroy(&e->timer_wake);
    pthread_mutex_destroy(&e->lock);
    pthread_mutex_destroy(&e->submit_lock);
    pthread_mutex_destroy(&e->free_lock);
    mem_free(e);
}

cuzk_status engine_reload(engine *e, const config *c, cuzk_error *err)
{
    (void)err;
    pthread_mutex_lock(&e->lock);
    for (size_t i = 0; i < config_option_count(); i++) {
        const config_option *o = config_option_at(i);
        if (o->flags & OPTION_RELOAD && o->offset != SIZE_MAX)
            memcpy((char *)&e->config + o->offset, (const char *)c + o->offset, o->size);
    }
    pthread_cond_broadcast(&e->changed);
    pthread_cond_signal(&e->timer_wake);
    pthread_mutex_unlock(&e->lock);
    return CUZK_OK;
}
