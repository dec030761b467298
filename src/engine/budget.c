/* One budget for everything that is big: circuits, SRS, tasks, witnesses, proving. Nothing is allocated
 * before it fits. */
#include "base/mem.h"
#include "engine/internal.h"

uint64_t budget_total(const config *c)
{
    if (c->memory.total_budget)
        return c->memory.total_budget;
    uint64_t available = mem_available_bytes();
    /* A small machine keeps at least half for itself rather than nothing. */
    return available > 2 * c->memory.safety_margin ? available - c->memory.safety_margin : available / 2;
}

/* Does anything hold memory that will come back by itself? */
static int work_under_way(const engine *e)
{
    return e->units != NULL;
}

int budget_take_locked(engine *e, uint64_t bytes)
{
    uint64_t min_idle = e->config.memory.eviction_min_idle_ms * 1000000u;
    while (e->budget_used + bytes > e->budget) {
        uint64_t lacking = e->budget_used + bytes - e->budget;
        if (keys_evict_locked(e, lacking, min_idle))
            continue;
        /* What is loaded but idle would stand in the way for ever when nothing else is under way. */
        if (!work_under_way(e) && keys_evict_locked(e, lacking, 0))
            continue;
        return 0;
    }
    e->budget_used += bytes;
    return 1;
}

void budget_give_locked(engine *e, uint64_t bytes)
{
    if (!bytes)
        return;
    e->budget_used -= bytes;
    pthread_cond_broadcast(&e->changed);
}
