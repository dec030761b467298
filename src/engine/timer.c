/* What happens by the clock: waits whose time is over, deadlines of jobs, expiry of ended jobs. Sleeps until
 * the next of these moments. */
#include "base/log.h"
#include "base/mem.h"
#include "engine/internal.h"
#include <stdio.h>

#define EXPIRY_EVERY_NS 60000000000u

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
        if (!deadline || job_ended(j) || j->ending || j->detached)
            continue;
        if (deadline <= now) {
            job_end(e, j, JOB_TIMEOUT, "the deadline has passed");
            return 1;
        }
        *next = deadline < *next ? deadline : *next;
    }
    return 0;
}

/* The lock is released while the store works. */
static void expire_locked(engine *e)
{
    uint64_t wall = clock_wall_ns() / 1000000u, retention = e->config.store.retention_ms,
             keep = e->config.store.retention_count;
    uint64_t before = retention && retention < wall ? wall - retention : 0;
    jobs_trim_locked(e);
    pthread_mutex_unlock(&e->lock);
    cuzk_error why = {0};
    if (store_expire(e->store, before, keep, &why))
        log_write(LOG_WARN, "store", "%s", why.message);
    pthread_mutex_lock(&e->lock);
}

void *timer_main(void *engine_)
{
    engine *e = engine_;
    uint64_t expired = clock_ns();
    pthread_mutex_lock(&e->lock);
    while (!e->stopping) {
        uint64_t now = clock_ns(), next = now + 3600000000000u;
        if (fire_watch_locked(e, now, &next) || end_overdue_locked(e, now, &next))
            continue;
        if (e->ended) { /* else there is nothing to expire, and an idle daemon sleeps */
            if (now - expired >= EXPIRY_EVERY_NS) {
                expire_locked(e);
                expired = clock_ns();
                continue;
            }
            next = expired + EXPIRY_EVERY_NS < next ? expired + EXPIRY_EVERY_NS : next;
        }
        engine_wait_until(&e->timer_wake, &e->lock, next);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}
