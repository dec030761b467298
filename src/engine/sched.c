/* Who is next. Jobs are ordered by priority (with aging), then by arrival; the partitions of a job stay
 * together. */
#include "engine/internal.h"
#include <string.h>

engine_priority job_effective_priority(const engine *e, const job *j, uint64_t now)
{
    uint64_t aging = e->config.scheduler.aging_ms * 1000000u;
    if (!aging || j->priority >= PRIORITY_HIGH)
        return j->priority;
    uint64_t steps = (now - j->submitted_ns) / aging;
    uint64_t raised = (uint64_t)j->priority + steps;
    return raised < PRIORITY_HIGH ? (engine_priority)raised : PRIORITY_HIGH;
}

/* Is a to be served before b? */
static int before(const engine *e, const job *a, const job *b, uint64_t now)
{
    engine_priority pa = job_effective_priority(e, a, now), pb = job_effective_priority(e, b, now);
    if (pa != pb)
        return pa > pb;
    if (!strcmp(e->config.scheduler.order, "partitions") && a->next_partition != b->next_partition)
        return a->next_partition < b->next_partition;
    return a->sequence < b->sequence;
}

static unsigned count_units(const engine *e, unit_state first, unit_state last)
{
    unsigned n = 0;
    for (const unit *u = e->units; u; u = u->next)
        n += u->state >= first && u->state <= last;
    return n;
}

/* Witnesses that may exist at once: one for each worker of a device and those that look ahead. */
static unsigned witness_limit(const engine *e)
{
    unsigned workers = (unsigned)(e->devices * e->config.gpus.workers_per_device);
    if (!e->config.pipeline.enabled)
        return workers;
    return workers + (unsigned)e->config.pipeline.synthesis_lookahead;
}

static int wants_preparation(const job *j)
{
    if (job_ended(j) || j->preparing)
        return 0;
    return !j->task || j->next_partition < j->partitions;
}

/* A critical job passes the limit by one, so that it never waits behind finished witnesses of others. */
static int witness_allowed(const engine *e, const job *j)
{
    unsigned alive = count_units(e, UNIT_WITNESS, UNIT_PROVING);
    return alive < witness_limit(e) + (j->priority == PRIORITY_CRITICAL);
}

job *sched_next_to_prepare_locked(engine *e)
{
    uint64_t now = clock_ns();
    job *best = NULL;
    for (job *j = e->jobs; j; j = j->next) {
        if (!wants_preparation(j) || (j->task && !witness_allowed(e, j)))
            continue;
        if (!best || before(e, j, best, now))
            best = j;
    }
    return best;
}

unit *sched_next_ready_locked(engine *e, const device_slot *d)
{
    uint64_t now = clock_ns();
    unit *best = NULL;
    if (d->quarantined)
        return NULL;
    for (unit *u = e->units; u; u = u->next) {
        if (u->state != UNIT_READY || (u->avoid_device == d->index && e->devices > 1))
            continue;
        if (!best || before(e, u->job, best->job, now))
            best = u;
    }
    return best;
}

unit *sched_next_to_finish_locked(engine *e)
{
    for (unit *u = e->units; u; u = u->next)
        if (u->state == UNIT_FINISHING)
            return u;
    return NULL;
}

uint32_t sched_queue_position_locked(const engine *e, const job *j)
{
    uint64_t now = clock_ns();
    uint32_t n = 0;
    for (const job *o = e->jobs; o; o = o->next)
        n += o != j && !job_ended(o) && (o->state == JOB_RUNNING || before(e, o, j, now));
    return n;
}
