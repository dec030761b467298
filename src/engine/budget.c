/* One budget for everything that is big: circuits, SRS, witnesses, proving. Nothing is allocated before it
 * fits. */
#include "base/log.h"
#include "base/mem.h"
#include "engine/internal.h"
#include <errno.h>
#include <time.h>

uint64_t budget_total(const config *c)
{
    if (c->memory.total_budget)
        return c->memory.total_budget;
    uint64_t available = mem_available_bytes();
    /* A small machine keeps at least half for itself rather than nothing. */
    return available > 2 * c->memory.safety_margin ? available - c->memory.safety_margin : available / 2;
}

void budget_release(engine *e, uint64_t bytes)
{
    pthread_mutex_lock(&e->lock);
    e->budget_used -= bytes;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

static void wait_a_little(engine *e)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += 50000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    pthread_cond_timedwait(&e->changed, &e->lock, &t);
}

cuzk_status budget_reserve(engine *e, uint64_t bytes, const char *what, const cancel_token *cancel,
                           cuzk_error *err)
{
    cuzk_status s = CUZK_OK;
    pthread_mutex_lock(&e->lock);
    uint64_t min_idle = e->config.memory.eviction_min_idle_ms * 1000000u;
    while (e->budget_used + bytes > e->budget) {
        if (bytes > e->budget) {
            s = cuzk_error_set(err, CUZK_OUT_OF_MEMORY,
                               "%s needs %llu MiB, but memory.total_budget is %llu MiB", what,
                               (unsigned long long)(bytes >> 20), (unsigned long long)(e->budget >> 20));
            break;
        }
        if (cancel_check(cancel) || e->stopping) {
            s = cuzk_error_set(err, CUZK_CANCELLED, "cancelled while waiting for memory");
            break;
        }
        if (keys_evict_locked(e, bytes, min_idle))
            continue;
        /* Nothing else is under way: what is loaded but idle would stand in the way for ever. */
        if (!e->units && keys_evict_locked(e, bytes, 0))
            continue;
        wait_a_little(e);
    }
    if (!s)
        e->budget_used += bytes;
    pthread_mutex_unlock(&e->lock);
    return s;
}
