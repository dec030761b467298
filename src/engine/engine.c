#include "engine/engine.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/internal.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- devices ---- */

static cuzk_status open_device(engine *e, const cuzk_backend *b, uint32_t ordinal, cuzk_error *err)
{
    device_slot *d = &e->device[e->devices];
    *d = (device_slot){.index = (int)e->devices, .ordinal = ordinal, .backend = b};
    cuzk_device_options o = {.memory_limit = e->config.gpus.vram_limit,
                             .threads = (uint32_t)e->config.gpus.threads,
                             .b_g2_on_host = !strcmp(e->config.gpus.b_g2, "cpu")};
    cuzk_status s = b->device_describe(ordinal, &d->info, err);
    if (!s)
        s = b->device_open(&d->device, ordinal, &o, err);
    if (s)
        return s;
    pthread_mutex_init(&d->lock, NULL);
    e->devices++;
    log_write(LOG_INFO, "device", "%s %u: %s, %.1f GiB", b->name, ordinal, d->info.name,
              (double)d->info.memory_total / 1073741824.0);
    return CUZK_OK;
}

static int device_wanted(const config *c, uint32_t ordinal)
{
    if (!c->gpus.device_count)
        return 1;
    for (size_t i = 0; i < c->gpus.device_count; i++)
        if (c->gpus.device[i] == ordinal)
            return 1;
    return 0;
}

static cuzk_status open_cuda(engine *e, cuzk_error *err)
{
    const cuzk_backend *b;
    uint32_t count = 0;
    cuzk_status s = cuzk_backend_load(&b, NULL, err);
    if (!s)
        s = b->device_count(&count, err);
    for (uint32_t i = 0; i < count && !s && e->devices < CONFIG_MAX_DEVICES; i++)
        if (device_wanted(&e->config, i))
            s = open_device(e, b, i, err);
    if (!s && !e->devices)
        s = cuzk_error_set(err, CUZK_NOT_FOUND, "gpus.devices names none of the %u CUDA devices", count);
    return s;
}

static cuzk_status open_devices(engine *e, cuzk_error *err)
{
    e->device = mem_calloc(CONFIG_MAX_DEVICES, sizeof(*e->device));
    if (!e->device)
        return mem_error(err, sizeof(*e->device), "devices");
    const char *want = e->config.gpus.backend;
    if (!strcmp(want, "cuda"))
        return open_cuda(e, err);
    if (!strcmp(want, "auto")) {
        cuzk_error why = {0};
        if (open_cuda(e, &why) == CUZK_OK)
            return CUZK_OK;
        log_write(LOG_INFO, "device", "no CUDA device is used: %s", why.message);
    }
    return open_device(e, cuzk_backend_cpu(), 0, err);
}

/* ---- timer ---- */

static void wait_until(engine *e, uint64_t when_ns)
{
    struct timespec t = {(time_t)(when_ns / 1000000000u), (long)(when_ns % 1000000000u)};
    pthread_cond_timedwait(&e->timer_wake, &e->lock, &t);
}

/* Fires one watch whose time is over; the lock is released for the callback. Returns 1 if there was one. */
static int fire_watch_locked(engine *e, uint64_t now, uint64_t *next)
{
    for (job *j = e->jobs; j; j = j->next) {
        for (engine_watch **at = &j->watches; *at; at = &(*at)->next) {
            engine_watch *w = *at;
            if (!w->deadline_ns)
                continue;
            if (w->deadline_ns > now) {
                *next = w->deadline_ns < *next ? w->deadline_ns : *next;
                continue;
            }
            *at = w->next;
            w->fired = 1;
            job_result r;
            job_fill_result(j, &r);
            r.state = JOB_TIMEOUT;
            snprintf(r.error, sizeof(r.error), "the job has not ended within the time given; it goes on");
            int owned = w->owned;
            pthread_mutex_unlock(&e->lock);
            w->done(w->ctx, &r);
            if (!owned)
                mem_free(w);
            pthread_mutex_lock(&e->lock);
            return 1;
        }
    }
    return 0;
}

static int end_overdue_locked(engine *e, uint64_t now, uint64_t *next)
{
    for (job *j = e->jobs; j; j = j->next) {
        uint64_t deadline = atomic_load(&j->cancel.deadline_ns);
        if (!deadline || job_ended(j))
            continue;
        if (deadline <= now) {
            job_end(e, j, JOB_TIMEOUT, "the deadline has passed");
            return 1;
        }
        *next = deadline < *next ? deadline : *next;
    }
    return 0;
}

/* Ended jobs beyond the retention go, oldest first; the list is newest first. */
static void expire_locked(engine *e, uint64_t now)
{
    uint64_t kept = 0, retention = e->config.store.retention_ms * 1000000u;
    for (job **at = &e->jobs; *at;) {
        job *j = *at;
        int old = retention && now - j->ended_ns > retention;
        if (job_ended(j) && !j->active && !j->preparing && (old || kept >= e->config.store.retention_count)) {
            *at = j->next;
            job_unref_locked(j);
            continue;
        }
        kept += (uint64_t)job_ended(j);
        at = &j->next;
    }
}

static void *timer(void *arg)
{
    engine *e = arg;
    pthread_mutex_lock(&e->lock);
    while (!e->stopping) {
        uint64_t now = clock_ns(), next = now + 60000000000u;
        if (fire_watch_locked(e, now, &next) || end_overdue_locked(e, now, &next))
            continue;
        expire_locked(e, now);
        wait_until(e, next);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

/* ---- life ---- */

cuzk_status engine_create(engine **out, const config *c, cuzk_error *err)
{
    *out = NULL;
    engine *e = mem_calloc(1, sizeof(*e));
    if (!e)
        return mem_error(err, sizeof(*e), "the engine");
    e->config = *c;
    e->started_ns = clock_ns();
    pthread_mutex_init(&e->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&e->changed, &monotonic);
    pthread_cond_init(&e->timer_wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    e->budget = budget_total(c);
    cuzk_status s = poseidon_set_create(&e->ps, err);
    if (!s)
        s = pool_create(&e->synthesis, (unsigned)c->synthesis.threads, err);
    if (!s)
        s = open_devices(e, err);
    if (!s)
        s = stages_start(e, err);
    if (!s && pthread_create(&e->timer_thread, NULL, timer, e))
        s = cuzk_error_set(err, CUZK_OUT_OF_MEMORY, "cannot start the engine's timer");
    e->timer_started = !s;
    if (s) {
        engine_destroy(e);
        return s;
    }
    e->accepting = 1;
    log_write(LOG_INFO, "engine", "memory budget %.1f GiB, %zu device%s, %u threads",
              (double)e->budget / 1073741824.0, e->devices, e->devices == 1 ? "" : "s",
              pool_size(e->synthesis));
    *out = e;
    return CUZK_OK;
}

void engine_stop_accepting(engine *e)
{
    pthread_mutex_lock(&e->lock);
    e->accepting = 0;
    pthread_mutex_unlock(&e->lock);
}

static int any_running_locked(const engine *e)
{
    for (const job *j = e->jobs; j; j = j->next)
        if (j->state == JOB_RUNNING)
            return 1;
    return 0;
}

/* job_end lets the lock go for a moment, so the list is read anew after each. */
static void end_all_locked(engine *e, job_state state)
{
    for (job *j = e->jobs; j;) {
        if (j->state == state) {
            job_end(e, j, JOB_FAILED,
                    "the daemon is stopping; submit the same request again after its start");
            j = e->jobs;
        } else {
            j = j->next;
        }
    }
}

void engine_drain(engine *e, uint64_t drain_ms)
{
    uint64_t until = clock_ns() + drain_ms * 1000000u;
    struct timespec t = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
    engine_stop_accepting(e);
    pthread_mutex_lock(&e->lock);
    end_all_locked(e, JOB_QUEUED); /* they do not start any more */
    while (any_running_locked(e) && clock_ns() < until)
        pthread_cond_timedwait(&e->changed, &e->lock, &t);
    e->stopping = 1;
    end_all_locked(e, JOB_RUNNING);
    pthread_mutex_unlock(&e->lock);
}

void engine_destroy(engine *e)
{
    if (!e)
        return;
    stages_stop(e);
    if (e->timer_started) {
        pthread_mutex_lock(&e->lock);
        pthread_cond_broadcast(&e->timer_wake);
        pthread_mutex_unlock(&e->lock);
        pthread_join(e->timer_thread, NULL);
    }
    pthread_mutex_lock(&e->lock);
    while (e->jobs) {
        job *j = e->jobs;
        e->jobs = j->next;
        job_unref_locked(j);
    }
    pthread_mutex_unlock(&e->lock);
    keys_destroy(e);
    for (size_t i = 0; i < e->devices; i++) {
        e->device[i].backend->device_close(e->device[i].device);
        pthread_mutex_destroy(&e->device[i].lock);
    }
    mem_free(e->device);
    pool_destroy(e->synthesis);
    poseidon_set_destroy(e->ps);
    pthread_cond_destroy(&e->changed);
    pthread_cond_destroy(&e->timer_wake);
    pthread_mutex_destroy(&e->lock);
    mem_free(e);
}

/* ---- requests ---- */

static uint64_t alive_locked(const engine *e)
{
    uint64_t n = 0;
    for (const job *j = e->jobs; j; j = j->next)
        n += !job_ended(j);
    return n;
}

cuzk_status engine_submit(engine *e, const engine_request *q, engine_submitted *out, cuzk_error *err)
{
    memset(out, 0, sizeof(*out));
    job *j;
    cuzk_status s = job_create(&j, q, err);
    if (s)
        return s;
    pthread_mutex_lock(&e->lock);
    job *same = job_find_same_locked(e, j->request_id, j->digest);
    if (same) {
        out->joined = 1;
        job_unref_locked(j);
        j = same;
    } else if (!e->accepting) {
        s = cuzk_error_set(err, CUZK_BUSY, "the daemon is stopping and takes no jobs");
    } else if (alive_locked(e) >= e->config.scheduler.max_queued) {
        s = cuzk_error_set(err, CUZK_BUSY,
                           "the queue is full (scheduler.max_queued = %llu); try again in %d s",
                           (unsigned long long)e->config.scheduler.max_queued, 30);
    } else {
        j->sequence = e->next_sequence++;
        j->next = e->jobs;
        e->jobs = j;
        e->submitted[j->kind]++;
        pthread_cond_broadcast(&e->changed);
        if (j->cancel.deadline_ns)
            pthread_cond_signal(&e->timer_wake);
    }
    if (s) {
        job_unref_locked(j);
    } else {
        memcpy(out->job_id, j->id, sizeof(out->job_id));
        out->queue_position = job_ended(j) ? 0 : sched_queue_position_locked(e, j);
        if (e->devices == 1)
            snprintf(out->assigned_device, sizeof(out->assigned_device), "%s:%u", e->device[0].backend->name,
                     e->device[0].ordinal);
    }
    pthread_mutex_unlock(&e->lock);
    return s;
}

static cuzk_status no_such_job(const char *job_id, cuzk_error *err)
{
    return cuzk_error_set(err, CUZK_NOT_FOUND, "there is no job \"%.60s\"", job_id);
}

cuzk_status engine_await(engine *e, const char *job_id, uint64_t timeout_ms, engine_done_fn *done, void *ctx,
                         engine_watch **watch, cuzk_error *err)
{
    engine_watch *w = mem_calloc(1, sizeof(*w));
    if (!w)
        return mem_error(err, sizeof(*w), "a wait");
    pthread_mutex_lock(&e->lock);
    job *j = job_find_locked(e, job_id);
    if (!j) {
        pthread_mutex_unlock(&e->lock);
        mem_free(w);
        return no_such_job(job_id, err);
    }
    *w = (engine_watch){.job = j, .done = done, .ctx = ctx, .owned = watch != NULL};
    if (watch)
        *watch = w;
    if (job_ended(j)) {
        w->fired = 1;
        job_result r;
        job_fill_result(j, &r);
        j->references++; /* keeps the proof during the callback */
        int owned = w->owned;
        pthread_mutex_unlock(&e->lock);
        done(ctx, &r);
        if (!owned)
            mem_free(w);
        pthread_mutex_lock(&e->lock);
        job_unref_locked(j);
    } else {
        w->deadline_ns = timeout_ms ? clock_ns() + timeout_ms * 1000000u : 0;
        w->next = j->watches;
        j->watches = w;
        if (timeout_ms)
            pthread_cond_signal(&e->timer_wake);
    }
    pthread_mutex_unlock(&e->lock);
    return CUZK_OK;
}

int engine_unwatch(engine *e, engine_watch *watch)
{
    pthread_mutex_lock(&e->lock);
    int taken = !watch->fired;
    if (taken) {
        engine_watch **at = &watch->job->watches;
        while (*at && *at != watch)
            at = &(*at)->next;
        if (*at)
            *at = watch->next;
    }
    pthread_mutex_unlock(&e->lock);
    mem_free(watch);
    return taken;
}

cuzk_status engine_cancel(engine *e, const char *job_id, int *was_running, cuzk_error *err)
{
    pthread_mutex_lock(&e->lock);
    job *j = job_find_locked(e, job_id);
    cuzk_status s = j ? CUZK_OK : no_such_job(job_id, err);
    if (j) {
        *was_running = j->state == JOB_RUNNING;
        job_end(e, j, JOB_CANCELLED, "cancelled on request");
    }
    pthread_mutex_unlock(&e->lock);
    return s;
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
