/* Who is next. Jobs are ordered by priority (with aging); within a priority those that have begun come first,
 * so that the partitions of a job stay together, then those whose circuit is loaded, then the order of
 * arrival. Every choice is made at the last moment, so a job of high priority overtakes at the next partition
 * boundary. */
#include "base/log.h"
#include "base/mem.h"
#include "engine/internal.h"
#include <string.h>

engine_priority job_effective_priority(const engine *e, const job *j, uint64_t now)
{
    uint64_t aging = e->config.scheduler.aging_ms * 1000000u;
    if (!aging || j->priority >= PRIORITY_HIGH || now < j->submitted_ns)
        return j->priority;
    uint64_t raised = (uint64_t)j->priority + (now - j->submitted_ns) / aging;
    return raised < PRIORITY_HIGH ? (engine_priority)raised : PRIORITY_HIGH;
}

static const circuit_key *key_of(const engine *e, const circuit_info *info)
{
    for (const circuit_key *k = e->keys; k; k = k->next)
        if (k->info == info)
            return k;
    return NULL;
}

static int is_loaded(const engine *e, const job *j)
{
    const circuit_key *k = key_of(e, j->circuit);
    return k && k->state == KEY_READY;
}

/* A job that has waited long is no longer passed over for the sake of what is loaded. */
static int may_be_passed(const engine *e, const job *j, uint64_t now)
{
    uint64_t limit = e->config.scheduler.aging_ms * 1000000u;
    return !limit || now < j->submitted_ns || now - j->submitted_ns < limit;
}

/* Is a to be served before b? */
static int before(const engine *e, const job *a, const job *b, uint64_t now)
{
    engine_priority pa = job_effective_priority(e, a, now), pb = job_effective_priority(e, b, now);
    if (pa != pb)
        return pa > pb;
    if (!strcmp(e->config.scheduler.order, "partitions")) {
        uint32_t begun_a = a->partitions - a->open, begun_b = b->partitions - b->open;
        if (begun_a != begun_b)
            return begun_a < begun_b;
    } else if (!a->task != !b->task) {
        return a->task != NULL;
    }
    if (e->config.scheduler.sort_by_type && a->circuit != b->circuit && may_be_passed(e, a, now) &&
        may_be_passed(e, b, now)) {
        int la = is_loaded(e, a), lb = is_loaded(e, b);
        if (la != lb)
            return la;
    }
    return a->sequence < b->sequence;
}

static unsigned count_units(const engine *e, unit_state first, unit_state last)
{
    unsigned n = 0;
    for (const unit *u = e->units; u; u = u->next)
        n += u->state >= first && u->state <= last;
    return n;
}

static unsigned busy_devices(const engine *e)
{
    unsigned n = 0;
    for (size_t i = 0; i < e->devices; i++)
        n += e->device[i].busy != 0;
    return n;
}

/* Witnesses that may exist before and on the devices: one or a batch for each device, and those that look
 * ahead. Without the pipeline nothing is prepared while a device proves. */
static unsigned witness_limit(const engine *e)
{
    unsigned batch = (unsigned)e->config.scheduler.max_batch_size, limit = (unsigned)e->devices * batch;
    if (e->config.pipeline.enabled) {
        limit += (unsigned)e->config.pipeline.synthesis_lookahead;
        if (e->config.pipeline.synthesis_concurrency > limit)
            limit = (unsigned)e->config.pipeline.synthesis_concurrency;
    }
    return limit;
}

/* A critical job passes the limits by one, so that it never waits behind finished witnesses of others. */
static int witness_allowed(const engine *e, unsigned extra)
{
    if (!e->config.pipeline.enabled) /* finishing counts as well: strictly one thing after the other */
        return count_units(e, UNIT_WITNESS, UNIT_FINISHED) < witness_limit(e);
    if (count_units(e, UNIT_WITNESS, UNIT_PROVING) >= witness_limit(e) + extra)
        return 0;
    uint64_t workers = e->config.synthesis.partition_workers, throttle = e->config.pipeline.memory_throttle;
    if (workers && count_units(e, UNIT_WITNESS, UNIT_READY) >= workers + extra)
        return 0;
    return !throttle || !busy_devices(e) || count_units(e, UNIT_WITNESS, UNIT_WITNESS) < throttle + extra;
}

/* Jobs that are parsed and wait for their first witness need not be many; in a shared store each holds a
 * partition that another daemon could prove meanwhile. */
static int parse_allowed(const engine *e, unsigned extra)
{
    unsigned waiting = 0;
    for (const job *o = e->jobs; o; o = o->next)
        waiting += !job_ended(o) &&
                   (o->parsing || (o->task && !o->active && (o->held || o->open == o->partitions - o->done)));
    return waiting < e->config.pipeline.synthesis_concurrency + e->config.scheduler.max_batch_size + extra;
}

/* What parsing takes at most: the input, and what is made of it. */
static uint64_t parse_bytes(const job *j)
{
    return 2 * j->input_bytes + (1 << 20);
}

static step fail_for_memory(engine *e, const char *what, uint64_t bytes, cuzk_error *why)
{
    cuzk_error_set(why, CUZK_OUT_OF_MEMORY, "%s needs %llu MiB, but memory.total_budget is %llu MiB", what,
                   (unsigned long long)(bytes >> 20), (unsigned long long)(e->budget >> 20));
    return STEP_FAIL;
}

#define STEP_BLOCKED ((step)100) /* it waits for memory, and nobody of its rank or below may take any */

static step try_parse(engine *e, job *j, cuzk_error *why)
{
    uint64_t bytes = parse_bytes(j);
    if (bytes > e->budget)
        return fail_for_memory(e, "reading its input", bytes, why);
    if (!budget_take_locked(e, bytes))
        return STEP_BLOCKED;
    j->reserved = bytes;
    return STEP_PARSE;
}

static step try_witness(engine *e, job *j, const circuit_key *k, uint64_t *bytes, cuzk_error *why)
{
    uint64_t working = k->working_bytes > e->working_reserved ? k->working_bytes - e->working_reserved : 0;
    uint64_t need = k->witness_bytes + working;
    if (k->witness_bytes + k->working_bytes + k->reserved + j->reserved > e->budget)
        return fail_for_memory(e, "proving it",
                               k->witness_bytes + k->working_bytes + k->reserved + j->reserved, why);
    circuit_key *keep = (circuit_key *)k;
    keep->references++; /* eviction must not pick the very key that is wanted */
    int fits = budget_take_locked(e, need);
    keep->references--;
    if (!fits)
        return STEP_BLOCKED;
    e->working_reserved += working;
    *bytes = k->witness_bytes;
    return STEP_WITNESS;
}

static step try_job(engine *e, job *j, uint64_t *bytes, cuzk_error *why)
{
    circuit_key *k = key_request_locked(e, j->circuit);
    if (!k) {
        mem_error(why, sizeof(*k), "a circuit's key");
        return STEP_FAIL;
    }
    if (k->state == KEY_FAILED) {
        *why = k->error;
        return STEP_FAIL;
    }
    if (!j->task)
        return try_parse(e, j, why);
    if (k->state == KEY_LOADING) {
        if (!j->srs_wait_ns)
            j->srs_wait_ns = clock_ns();
        return k->wants_memory ? STEP_BLOCKED : STEP_NONE;
    }
    return try_witness(e, j, k, bytes, why);
}

static int wants_step(const engine *e, const job *j)
{
    if (job_ended(j) || j->ending || j->detached || j->parsing)
        return 0;
    if (e->draining && (j->state != JOB_RUNNING || store_shared(e->store)))
        return 0;
    return j->open > 0 || j->held;
}

/* After so many ends of the process a job may be what brings it down: it is then proved with no other one
 * beside it, so that those that merely were under way at the same time do not count up with it. */
#define SUSPECT_STARTS 3

static int is_suspect(const job *j)
{
    return j->starts >= SUSPECT_STARTS;
}

static int under_way(const job *j)
{
    return !job_ended(j) && !j->detached && (j->parsing || j->task || j->active);
}

/* One search for the next step. What holds for all jobs alike is found out once, so that a queue of any
 * length is walked a few times at most: index 1 is for critical jobs, which may pass the limits by one. */
typedef struct search {
    int parse[2], witness[2];
    const circuit_info *waits[ENGINE_KINDS * 4]; /* circuits that are being loaded */
    size_t waiting;
    size_t under_way; /* jobs */
    const job *alone; /* a suspect among them */
    int finish_first;
} search;

static void see_who_is_under_way(const engine *e, search *s)
{
    for (const job *j = e->jobs; j; j = j->next) {
        if (!under_way(j))
            continue;
        s->under_way++;
        if (is_suspect(j))
            s->alone = j;
    }
}

static int may_go(const engine *e, const search *s, const job *j)
{
    int critical = j->priority == PRIORITY_CRITICAL;
    if (!wants_step(e, j) || !(j->task ? s->witness[critical] : s->parse[critical]))
        return 0;
    if ((s->alone && s->alone != j) || (s->finish_first && !under_way(j)))
        return 0;
    for (size_t i = 0; i < s->waiting && j->task; i++)
        if (s->waits[i] == j->circuit)
            return 0;
    return 1;
}

static job *best_candidate(engine *e, const search *s, uint64_t mark)
{
    uint64_t now = clock_ns();
    job *best = NULL;
    for (job *j = e->jobs; j; j = j->next)
        if (j->passed_over != mark && may_go(e, s, j) && (!best || before(e, j, best, now)))
            best = j;
    return best;
}

step sched_next_step_locked(engine *e, job **out, uint64_t *bytes, cuzk_error *why)
{
    uint64_t mark = ++e->searches;
    search s = {.waiting = 0};
    for (unsigned critical = 0; critical < 2; critical++) {
        s.parse[critical] = parse_allowed(e, critical);
        s.witness[critical] = witness_allowed(e, critical);
    }
    see_who_is_under_way(e, &s);
    for (job *j; (j = best_candidate(e, &s, mark)) != NULL;) {
        if (is_suspect(j) && s.under_way > (size_t)under_way(j)) {
            s.finish_first = 1; /* what is under way; nothing else begins meanwhile */
            j->passed_over = mark;
            continue;
        }
        step next = try_job(e, j, bytes, why);
        *out = j;
        /* It waits for memory that others will give back, and nobody behind it may take that first; where
         * nothing is under way those behind it are what holds the memory. */
        if (next == STEP_BLOCKED && (e->units || e->loaders))
            return STEP_NONE;
        if (next != STEP_NONE && next != STEP_BLOCKED)
            return next;
        j->passed_over = mark;
        if (next == STEP_NONE && s.waiting < sizeof(s.waits) / sizeof(s.waits[0]))
            s.waits[s.waiting++] = j->circuit;
    }
    return STEP_NONE;
}

/* ---- devices ---- */

static int batches(const engine *e, const job *j)
{
    return e->config.scheduler.max_batch_size > 1 && (j->kind == KIND_POREP || j->kind == KIND_UPDATE);
}

static int another_device(const engine *e, const device_slot *d, uint64_t now)
{
    for (size_t i = 0; i < e->devices; i++)
        if (&e->device[i] != d && device_usable_locked(e, &e->device[i], now))
            return 1;
    return 0;
}

static int may_take(const engine *e, const unit *u, const device_slot *d, uint64_t now)
{
    return u->state == UNIT_READY && (u->avoid_device != d->index || !another_device(e, d, now));
}

static int unit_before(const engine *e, const unit *a, const unit *b, uint64_t now)
{
    int take_turns = !strcmp(e->config.scheduler.order, "partitions") && a->partition != b->partition &&
                     job_effective_priority(e, a->job, now) == job_effective_priority(e, b->job, now);
    if (a->job != b->job && !take_turns)
        return before(e, a->job, b->job, now);
    return a->partition < b->partition;
}

/* Is more of the same circuit queued or in preparation? */
static int more_to_come(const engine *e, const circuit_info *info)
{
    for (const unit *u = e->units; u; u = u->next)
        if (u->state == UNIT_WITNESS && u->job->circuit == info)
            return 1;
    for (const job *j = e->jobs; j; j = j->next)
        if (j->circuit == info && (j->parsing || wants_step(e, j)))
            return 1;
    return 0;
}

/* Has the batch been waited for long enough? Retries go at once. */
static int batch_is_ripe(const engine *e, const unit *first, uint64_t oldest_ns, size_t found, uint64_t now,
                         uint64_t *wake_ns)
{
    uint64_t until = oldest_ns + e->config.scheduler.max_batch_wait_ms * 1000000u;
    if (found >= e->config.scheduler.max_batch_size || first->attempts || now >= until ||
        !more_to_come(e, first->job->circuit))
        return 1;
    if (until < *wake_ns)
        *wake_ns = until;
    return 0;
}

static size_t gather_batch(const engine *e, const device_slot *d, unit *first, unit **out, size_t max,
                           uint64_t now)
{
    size_t n = 0;
    out[n++] = first;
    if (max > e->config.scheduler.max_batch_size)
        max = e->config.scheduler.max_batch_size;
    for (unit *u = e->units; u && n < max && batches(e, first->job) && !first->attempts; u = u->next)
        if (u != first && u->key == first->key && may_take(e, u, d, now) && !u->attempts)
            out[n++] = u;
    return n;
}

size_t sched_next_batch_locked(engine *e, const device_slot *d, unit **out, size_t max, uint64_t *wake_ns)
{
    uint64_t now = clock_ns();
    if (d->busy || !device_usable_locked(e, d, now))
        return 0;
    const circuit_key *filling[MAX_BATCH];
    size_t fillings = 0;
    for (;;) {
        unit *best = NULL;
        for (unit *u = e->units; u; u = u->next) {
            int skip = !may_take(e, u, d, now);
            for (size_t i = 0; i < fillings; i++)
                skip |= u->key == filling[i] && batches(e, u->job) && !u->attempts;
            if (!skip && (!best || unit_before(e, u, best, now)))
                best = u;
        }
        if (!best)
            return 0;
        size_t n = gather_batch(e, d, best, out, max, now);
        uint64_t oldest = best->ready_ns;
        for (size_t i = 1; i < n; i++)
            oldest = out[i]->ready_ns < oldest ? out[i]->ready_ns : oldest;
        if (!batches(e, best->job) || batch_is_ripe(e, best, oldest, n, now, wake_ns) ||
            fillings == MAX_BATCH)
            return n;
        filling[fillings++] = best->key;
    }
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
