/* Jobs: what is known of them in memory, their end and callbacks. */
#include "base/encode.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/internal.h"
#include <stdio.h>
#include <string.h>

#define ENDED_IN_MEMORY 200 /* the rest is read from the store when somebody asks */
#define TRIM_AT         232

const char *engine_kind_name(engine_kind k)
{
    static const char *const NAMES[ENGINE_KINDS] = {"unknown", "porep", "snap", "wdpost", "winpost"};
    return (unsigned)k < ENGINE_KINDS ? NAMES[k] : NAMES[0];
}

const char *job_state_name(job_state s)
{
    static const char *const NAMES[] = {"queued", "running", "completed", "failed", "cancelled", "timeout"};
    return (unsigned)s < sizeof(NAMES) / sizeof(NAMES[0]) ? NAMES[s] : "unknown";
}

/* ---- making ---- */

static void make_id(job *j)
{
    uint8_t b[16];
    if (random_bytes(b, sizeof(b)))
        store_le64(b, clock_ns());
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40); /* UUID version 4 */
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    char hex[33];
    hex_encode(hex, b, 16);
    snprintf(j->id, sizeof(j->id), "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
}

static engine_priority default_priority(uint32_t kind)
{
    return kind == KIND_WINNING ? PRIORITY_CRITICAL : kind == KIND_WINDOW ? PRIORITY_HIGH : PRIORITY_NORMAL;
}

static void job_free(job *j)
{
    proof_task_destroy(j->task);
    mem_free(j->request_id);
    mem_free(j->part);
    mem_free(j->proof);
    mem_free(j->event);
    mem_free(j);
}

static job *job_alloc(const char *request_id, uint32_t partitions)
{
    job *j = mem_calloc(1, sizeof(*j));
    if (!j)
        return NULL;
    j->references = 1;
    j->partitions = j->open = partitions;
    j->request_id = strdup(request_id);
    j->part = mem_calloc(partitions, 1);
    if (j->request_id && j->part)
        return j;
    job_free(j);
    return NULL;
}

cuzk_status job_create(job **out, const request_content *c, const engine_request *q, cuzk_error *err)
{
    job *j = *out = job_alloc(q->request_id, c->partitions);
    if (!j)
        return mem_error(err, sizeof(*j), "a job");
    j->kind = (engine_kind)q->proof_kind;
    j->priority = q->priority ? (engine_priority)q->priority : default_priority(q->proof_kind);
    j->circuit = c->circuit;
    j->input_bytes = c->size;
    memcpy(j->digest, c->digest, 32);
    j->submitted_ns = clock_ns();
    j->submitted_wall_ms = clock_wall_ns() / 1000000u;
    if (q->deadline_ns) {
        j->cancel.deadline_ns = q->deadline_ns;
        uint64_t left = q->deadline_ns > j->submitted_ns ? q->deadline_ns - j->submitted_ns : 0;
        j->deadline_wall_ms = j->submitted_wall_ms + left / 1000000u;
    }
    make_id(j);
    return CUZK_OK;
}

/* The moment of clock_ns that was a wall time; times before the machine's start become 1. */
static uint64_t monotonic_of(uint64_t wall_ms)
{
    if (!wall_ms)
        return 0;
    uint64_t now = clock_ns(), wall = clock_wall_ns() / 1000000u;
    if (wall_ms >= wall)
        return clock_in_ms(wall_ms - wall);
    uint64_t ago = (wall - wall_ms) * 1000000u;
    return ago < now ? now - ago : 1;
}

cuzk_status job_restore(job **out, engine *e, const store_job *s, cuzk_error *err)
{
    *out = NULL;
    job *j = job_alloc(s->request_id, s->partitions);
    if (!j)
        return mem_error(err, sizeof(*j), "a job");
    memcpy(j->id, s->id, sizeof(j->id));
    memcpy(j->digest, s->digest, 32);
    j->kind = s->kind < ENGINE_KINDS ? (engine_kind)s->kind : 0;
    j->priority = (engine_priority)s->priority;
    j->sequence = s->sequence;
    j->circuit = circuit_by_name(s->circuit);
    j->input_bytes = s->input_bytes;
    j->starts = store_shared(e->store) ? 0 : s->starts; /* there a partition's claims are counted instead */
    j->submitted_wall_ms = s->submitted_ms;
    j->submitted_ns = monotonic_of(s->submitted_ms);
    j->deadline_wall_ms = s->deadline_ms;
    j->cancel.deadline_ns = monotonic_of(s->deadline_ms);
    int ended = s->state >= STORE_COMPLETED;
    j->state = ended ? (job_state)s->state : JOB_QUEUED;
    snprintf(j->error, sizeof(j->error), "%s", s->error);
    if (ended) {
        j->ended_ns =
            j->submitted_ns + (s->ended_ms > s->submitted_ms ? s->ended_ms - s->submitted_ms : 0) * 1000000u;
        j->started_ns = s->started_ms ? monotonic_of(s->started_ms) : 0;
        j->queue_ns = s->queue_ms * 1000000u;
        j->srs_ns = s->srs_ms * 1000000u;
        j->synthesis_ns = s->synthesis_ms * 1000000u;
        j->device_ns = s->device_ms * 1000000u;
    }
    if (s->state != STORE_COMPLETED && ended) {
        *out = j;
        return CUZK_OK;
    }
    j->proof = mem_calloc(j->partitions, GROTH16_PROOF_BYTES);
    cuzk_status st = j->proof ? CUZK_OK : mem_error(err, GROTH16_PROOF_BYTES, "a proof");
    if (!st)
        st = store_proofs(e->store, j->id, j->partitions, j->proof, j->part, err);
    for (uint32_t k = 0; k < j->partitions && !st; k++) {
        if (j->part[k]) {
            j->part[k] = PART_DONE;
            j->done++;
            j->open--;
        }
    }
    if (st) {
        job_free(j);
        return st;
    }
    *out = j;
    return CUZK_OK;
}

void job_to_store(const job *j, store_job *s)
{
    memset(s, 0, sizeof(*s));
    memcpy(s->id, j->id, sizeof(s->id));
    snprintf(s->request_id, sizeof(s->request_id), "%s", j->request_id);
    memcpy(s->digest, j->digest, 32);
    s->kind = j->kind;
    s->priority = j->priority;
    s->state = (store_state)j->state;
    snprintf(s->circuit, sizeof(s->circuit), "%s", j->circuit ? j->circuit->name : "");
    s->input_bytes = j->input_bytes;
    s->partitions = j->partitions;
    s->sequence = j->sequence;
    s->deadline_ms = j->deadline_wall_ms;
    s->submitted_ms = j->submitted_wall_ms;
    s->ended_ms = clock_wall_ns() / 1000000u;
    s->queue_ms = j->queue_ns / 1000000u;
    s->srs_ms = j->srs_ns / 1000000u;
    s->synthesis_ms = j->synthesis_ns / 1000000u;
    s->device_ms = j->device_ns / 1000000u;
    memcpy(s->error, j->error, sizeof(s->error));
}

void job_ref_locked(job *j)
{
    j->references++;
}

void job_unref_locked(job *j)
{
    if (--j->references == 0)
        job_free(j);
}

/* ---- the table ---- */

static job **id_bucket(engine *e, const char *id)
{
    uint32_t h = 2166136261u;
    for (; *id; id++)
        h = (h ^ (uint8_t)*id) * 16777619u;
    return &e->by_id[h % JOB_BUCKETS];
}

static job **digest_bucket(engine *e, const uint8_t digest[32])
{
    return &e->by_digest[load_le32(digest) % JOB_BUCKETS];
}

/* Newest first; a job of another daemon or of an earlier time finds its place by sequence. */
void job_insert_locked(engine *e, job *j)
{
    job **at = &e->jobs;
    while (*at && (*at)->sequence > j->sequence)
        at = &(*at)->next;
    j->next = *at;
    *at = j;
    job **b = id_bucket(e, j->id);
    j->next_by_id = *b;
    *b = j;
    b = digest_bucket(e, j->digest);
    j->next_by_digest = *b;
    *b = j;
    if (job_ended(j))
        e->ended++;
    else
        e->alive++;
}

static void remove_locked(engine *e, job **at)
{
    job *j = *at;
    *at = j->next;
    for (job **b = id_bucket(e, j->id); *b; b = &(*b)->next_by_id) {
        if (*b == j) {
            *b = j->next_by_id;
            break;
        }
    }
    for (job **b = digest_bucket(e, j->digest); *b; b = &(*b)->next_by_digest) {
        if (*b == j) {
            *b = j->next_by_digest;
            break;
        }
    }
    job_unref_locked(j);
}

void job_shed_locked(engine *e, job *j)
{
    if (!job_ended(j) || j->active || j->parsing)
        return;
    proof_task_destroy(j->task);
    j->task = NULL;
    budget_give_locked(e, j->reserved);
    j->reserved = 0;
    if (j->state != JOB_COMPLETED) {
        mem_free(j->proof);
        j->proof = NULL;
    }
}

void jobs_trim_locked(engine *e)
{
    uint64_t kept = 0, now = clock_ns(), retention = e->config.store.retention_ms * 1000000u;
    for (job **at = &e->jobs; *at;) {
        job *j = *at;
        int old = retention && now > j->ended_ns && now - j->ended_ns > retention;
        if (job_ended(j) && !j->active && !j->parsing && !j->watches &&
            (old || kept >= ENDED_IN_MEMORY || kept >= e->config.store.retention_count)) {
            remove_locked(e, at);
            e->ended--;
            continue;
        }
        kept += (uint64_t)job_ended(j);
        at = &j->next;
    }
}

job *job_find_locked(engine *e, const char *id)
{
    for (job *j = *id_bucket(e, id); j; j = j->next_by_id)
        if (!strcmp(j->id, id))
            return j;
    return NULL;
}

job *job_find_same_locked(engine *e, const char *request_id, const uint8_t digest[32])
{
    for (job *j = *digest_bucket(e, digest); j; j = j->next_by_digest)
        if (j->state <= JOB_COMPLETED && !memcmp(j->digest, digest, 32) && !strcmp(j->request_id, request_id))
            return j;
    return NULL;
}

int job_ended(const job *j)
{
    return j->state >= JOB_COMPLETED;
}

/* ---- what happened ---- */

void job_event(engine *e, job *j, stage_name stage, int32_t partition, int32_t device, uint64_t start_ns,
               uint64_t end_ns)
{
    pthread_mutex_lock(&e->lock);
    if (j->event_count == j->event_cap && j->event_cap < 8192) {
        size_t cap = j->event_cap ? j->event_cap * 2 : 16;
        stage_event *larger = mem_realloc(j->event, cap * sizeof(*larger));
        if (larger) {
            j->event = larger;
            j->event_cap = cap;
        }
    }
    if (j->event_count < j->event_cap) /* a lost event is no reason to fail a proof */
        j->event[j->event_count++] = (stage_event){stage, partition, device, start_ns, end_ns};
    histogram_add(&e->stage_seconds[stage], (double)(end_ns - start_ns) / 1e9);
    pthread_mutex_unlock(&e->lock);
}

void job_fill_result(const job *j, job_result *r)
{
    memset(r, 0, sizeof(*r));
    memcpy(r->job_id, j->id, sizeof(r->job_id));
    r->state = j->state;
    if (j->state == JOB_COMPLETED) {
        r->proof = j->proof;
        r->proof_size = (size_t)j->partitions * GROTH16_PROOF_BYTES;
    }
    memcpy(r->error, j->error, sizeof(r->error));
    uint64_t end = j->ended_ns ? j->ended_ns : clock_ns();
    r->queue_wait_ms =
        (j->queue_ns ? j->queue_ns : (j->started_ns ? j->started_ns : end) - j->submitted_ns) / 1000000u;
    r->srs_load_ms = j->srs_ns / 1000000u;
    r->synthesis_ms = j->synthesis_ns / 1000000u;
    r->device_ms = j->device_ns / 1000000u;
    r->total_ms = (end - j->submitted_ns) / 1000000u;
}

void job_result_clear(job_result *r)
{
    memset(r, 0, sizeof(*r));
}

/* ---- ends ---- */

static void count_end(engine *e, const job *j)
{
    e->alive--;
    e->ended++;
    if (j->state == JOB_COMPLETED) {
        e->completed[j->kind]++;
        histogram_add(&e->job_seconds[j->kind], (double)(j->ended_ns - j->submitted_ns) / 1e9);
    } else if (j->state == JOB_CANCELLED) {
        e->cancelled[j->kind]++;
    } else {
        e->failed[j->kind]++;
    }
}

/* Everybody who waits is told; the lock is released meanwhile. */
static void fire_watches(engine *e, job *j, const job_result *r)
{
    engine_watch *list = j->watches;
    j->watches = NULL;
    for (engine_watch *w = list; w; w = w->next)
        w->fired = 1;
    pthread_mutex_unlock(&e->lock);
    while (list) {
        engine_watch *w = list;
        list = w->next;
        int owned = w->owned;
        w->done(w->ctx, r); /* may free w when it is owned */
        if (!owned)
            mem_free(w);
    }
    pthread_mutex_lock(&e->lock);
}

/* Stops whatever works for a job that is over; a batch stops when all its jobs are. */
static void stop_work_locked(engine *e, job *j)
{
    atomic_store(&j->cancel.cancelled, 1);
    for (unit *u = e->units; u; u = u->next) {
        if (u->job != j || !u->batch)
            continue;
        int others = 0;
        for (unit *o = e->units; o; o = o->next)
            others |= o->batch == u->batch && !atomic_load(&o->job->cancel.cancelled);
        if (!others)
            atomic_store(&u->batch->cancelled, 1);
    }
}

static void settle_locked(engine *e, job *j, job_state state, const char *error)
{
    j->state = state;
    j->ended_ns = clock_ns();
    stop_work_locked(e, j); /* of a job that ended elsewhere something may still be under way here */
    if (error != j->error)
        snprintf(j->error, sizeof(j->error), "%s", error ? error : "");
    count_end(e, j);
    pthread_cond_broadcast(&e->changed);
    job_result r;
    job_fill_result(j, &r);
    log_job(state == JOB_COMPLETED ? LOG_INFO : LOG_WARN, "engine", j->id,
            "%s %s request_id=%s total_ms=%llu%s%s", engine_kind_name(j->kind), job_state_name(state),
            j->request_id, (unsigned long long)r.total_ms, j->error[0] ? " error=" : "", j->error);
    fire_watches(e, j, &r);
    job_shed_locked(e, j);
    if (e->ended >= TRIM_AT)
        jobs_trim_locked(e);
}

/* Another daemon, or an earlier moment, has ended it differently: what the store says is what happened. */
static job_state adopt_end(engine *e, job *j, char error[512])
{
    store_job s;
    cuzk_error why = {0};
    if (store_get(e->store, j->id, &s, &why)) {
        snprintf(error, 512, "the job is no longer in the store");
        return JOB_FAILED;
    }
    memcpy(error, s.error, 512);
    if (s.state == STORE_COMPLETED) {
        uint8_t *proof = mem_calloc(j->partitions, GROTH16_PROOF_BYTES), *have = mem_calloc(j->partitions, 1);
        cuzk_status st = proof && have ? store_proofs(e->store, j->id, j->partitions, proof, have, &why)
                                       : mem_error(&why, GROTH16_PROOF_BYTES, "a proof");
        mem_free(have);
        if (st) {
            mem_free(proof);
            snprintf(error, 512, "%s", why.message);
            return JOB_FAILED;
        }
        pthread_mutex_lock(&e->lock);
        mem_free(j->proof);
        j->proof = proof;
        j->done = j->partitions;
        pthread_mutex_unlock(&e->lock);
    }
    return (job_state)s.state;
}

void job_end(engine *e, job *j, job_state state, const char *error)
{
    if (job_ended(j) || j->ending)
        return;
    j->ending = 1;
    job_ref_locked(j);
    if (state != JOB_COMPLETED)
        stop_work_locked(e, j);
    store_job s;
    job_to_store(j, &s);
    s.state = (store_state)state;
    snprintf(s.error, sizeof(s.error), "%s", error ? error : "");
    pthread_mutex_unlock(&e->lock);
    char text[512];
    memcpy(text, s.error, sizeof(text));
    store_state ended = s.state;
    cuzk_error why = {0};
    if (state == JOB_COMPLETED)
        ended = store_shared(e->store) ? (store_state)adopt_end(e, j, text) : s.state;
    else if (store_finish(e->store, &s, &ended, &why))
        log_job(LOG_ERROR, "store", j->id, "its end (%s) could not be stored: %s", job_state_name(state),
                why.message);
    if (state != JOB_COMPLETED && ended != s.state && ended >= STORE_COMPLETED)
        ended = (store_state)adopt_end(e, j, text);
    pthread_mutex_lock(&e->lock);
    settle_locked(e, j, (job_state)ended, text);
    job_unref_locked(j);
}

void job_detach(engine *e, job *j)
{
    static const char KEPT[] = "the daemon is stopping; the job is kept and goes on at the next start";
    static const char LOST[] = "the daemon is stopping; submit the same request again after its start";
    if (job_ended(j) || j->ending || j->detached)
        return;
    int kept = strcmp(e->config.store.url, "sqlite::memory:") != 0, running = j->state == JOB_RUNNING;
    j->detached = 1;
    job_ref_locked(j);
    stop_work_locked(e, j);
    snprintf(j->error, sizeof(j->error), "%s", kept ? KEPT : LOST);
    job_result r;
    job_fill_result(j, &r);
    r.state = JOB_FAILED;
    fire_watches(e, j, &r);
    if (running) {
        cuzk_error why = {0};
        pthread_mutex_unlock(&e->lock);
        if (store_requeue(e->store, j->id, &why))
            log_job(LOG_WARN, "store", j->id, "%s", why.message);
        pthread_mutex_lock(&e->lock);
    }
    job_unref_locked(j);
}
