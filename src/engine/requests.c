/* What clients ask for: submit, await, cancel. */
#include "base/mem.h"
#include "engine/internal.h"
#include <stdio.h>
#include <string.h>

/* Seconds after which a place in the queue may be free: a job took so long from submission to end, with the
 * queue as long as it is now. */
static unsigned retry_hint(const engine *e)
{
    uint64_t n = 0;
    double seconds = 0;
    for (int k = 1; k < ENGINE_KINDS; k++) {
        n += e->completed[k];
        seconds += e->job_seconds[k].sum;
    }
    double each = n ? seconds / (double)n / (double)(e->alive ? e->alive : 1) : 10;
    return each < 1 ? 1 : each > 600 ? 600 : (unsigned)each;
}

/* May one more be taken? */
static cuzk_status admit_locked(engine *e, cuzk_error *err)
{
    if (!e->accepting)
        return cuzk_error_set(err, CUZK_BUSY, "the daemon is stopping and takes no jobs");
    if (e->alive < e->config.scheduler.max_queued)
        return CUZK_OK;
    e->refused++;
    return cuzk_error_set(err, CUZK_BUSY,
                          "the queue is full (scheduler.max_queued = %llu); try again in %u s",
                          (unsigned long long)e->config.scheduler.max_queued, retry_hint(e));
}

static void describe_locked(engine *e, const job *j, engine_submitted *out)
{
    memcpy(out->job_id, j->id, sizeof(out->job_id));
    out->queue_position = job_ended(j) ? 0 : sched_queue_position_locked(e, j);
    if (e->devices == 1)
        snprintf(out->assigned_device, sizeof(out->assigned_device), "%s:%u", e->device[0].backend->name,
                 e->device[0].ordinal);
}

/* Stores the job and lists it. The submit lock is held: between the store's answer and the list nobody else
 * may find the same request new. */
static cuzk_status store_and_list(engine *e, job *j, const request_content *c, char existing[JOB_ID_SIZE],
                                  cuzk_error *err)
{
    store_job s;
    job_to_store(j, &s);
    s.state = STORE_QUEUED;
    cuzk_status st = store_add(e->store, &s, c->bytes, c->size, existing, err);
    if (st)
        return st;
    if (existing[0]) { /* it ended too long ago to be in memory, or another daemon has it */
        pthread_mutex_lock(&e->lock);
        int known = job_find_locked(e, existing) != NULL;
        pthread_mutex_unlock(&e->lock);
        return known ? CUZK_OK : job_fetch(e, existing, err);
    }
    pthread_mutex_lock(&e->lock);
    j->sequence = s.sequence;
    job_ref_locked(j);             /* the list's */
    if (job_find_locked(e, j->id)) /* the fleet's thread was faster */
        job_unref_locked(j);
    else
        job_insert_locked(e, j);
    e->submitted[j->kind]++;
    pthread_cond_broadcast(&e->changed);
    if (j->cancel.deadline_ns)
        pthread_cond_signal(&e->timer_wake);
    pthread_mutex_unlock(&e->lock);
    return CUZK_OK;
}

static cuzk_status join_or_store(engine *e, job *j, const request_content *c, engine_submitted *out,
                                 cuzk_error *err)
{
    char id[JOB_ID_SIZE] = "";
    pthread_mutex_lock(&e->submit_lock);
    pthread_mutex_lock(&e->lock);
    const job *same = job_find_same_locked(e, j->request_id, j->digest);
    cuzk_status s = same ? CUZK_OK : admit_locked(e, err);
    if (same)
        memcpy(id, same->id, sizeof(id));
    pthread_mutex_unlock(&e->lock);
    if (!s && !id[0])
        s = store_and_list(e, j, c, id, err);
    pthread_mutex_unlock(&e->submit_lock);
    if (s)
        return s;
    out->joined = id[0] != 0;
    pthread_mutex_lock(&e->lock);
    const job *found = job_find_locked(e, out->joined ? id : j->id);
    describe_locked(e, found ? found : j, out);
    if (!found && out->joined)
        memcpy(out->job_id, id, sizeof(id)); /* ended and already forgotten: the store has it */
    pthread_mutex_unlock(&e->lock);
    return CUZK_OK;
}

cuzk_status engine_submit(engine *e, const engine_request *q, engine_submitted *out, cuzk_error *err)
{
    memset(out, 0, sizeof(*out));
    request_content c;
    job *j = NULL;
    cuzk_status s = content_encode(&c, q, err);
    if (!s)
        s = job_create(&j, &c, q, err);
    if (!s)
        s = join_or_store(e, j, &c, out, err);
    mem_free(c.bytes);
    if (j) {
        pthread_mutex_lock(&e->lock);
        job_unref_locked(j);
        pthread_mutex_unlock(&e->lock);
    }
    return s;
}

static cuzk_status no_such_job(const char *job_id, cuzk_error *err)
{
    return cuzk_error_set(err, CUZK_NOT_FOUND, "there is no job \"%.60s\"", job_id);
}

/* Answers at once for a job that will not change any more here; the lock is released for the callback. */
static void answer_now(engine *e, job *j, engine_watch *w)
{
    w->fired = 1;
    job_result r;
    job_fill_result(j, &r);
    if (!job_ended(j))
        r.state = JOB_FAILED; /* detached: the daemon is stopping */
    job_ref_locked(j);        /* keeps the proof during the callback */
    int owned = w->owned;
    pthread_mutex_unlock(&e->lock);
    w->done(w->ctx, &r);
    if (!owned)
        mem_free(w);
    pthread_mutex_lock(&e->lock);
    job_unref_locked(j);
}

cuzk_status engine_await(engine *e, const char *job_id, uint64_t timeout_ms, engine_done_fn *done, void *ctx,
                         engine_watch **watch, cuzk_error *err)
{
    engine_watch *w = mem_calloc(1, sizeof(*w));
    if (!w)
        return mem_error(err, sizeof(*w), "a wait");
    pthread_mutex_lock(&e->lock);
    job *j = job_find_locked(e, job_id);
    if (!j) { /* ended long ago, or another daemon's */
        pthread_mutex_unlock(&e->lock);
        cuzk_status s = job_fetch(e, job_id, err);
        pthread_mutex_lock(&e->lock);
        j = s ? NULL : job_find_locked(e, job_id);
        if (!j) {
            pthread_mutex_unlock(&e->lock);
            mem_free(w);
            return s && s != CUZK_NOT_FOUND ? s : no_such_job(job_id, err);
        }
    }
    *w = (engine_watch){.job = j, .done = done, .ctx = ctx, .owned = watch != NULL};
    if (watch)
        *watch = w;
    if (job_ended(j) || j->detached) {
        answer_now(e, j, w);
    } else {
        w->deadline_ns = timeout_ms ? clock_in_ms(timeout_ms) : 0;
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
    if (!j) {
        pthread_mutex_unlock(&e->lock);
        if (job_fetch(e, job_id, err))
            return no_such_job(job_id, err);
        pthread_mutex_lock(&e->lock);
        j = job_find_locked(e, job_id);
    }
    cuzk_status s = j ? CUZK_OK : no_such_job(job_id, err);
    if (j) {
        *was_running = j->state == JOB_RUNNING;
        job_end(e, j, JOB_CANCELLED, "cancelled on request");
    }
    pthread_mutex_unlock(&e->lock);
    return s;
}
