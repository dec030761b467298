/* Jobs: their content, identity, end and callbacks. */
#include "base/encode.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/internal.h"
#include <stdio.h>
#include <string.h>

#define MAX_VANILLA 100000

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

/* ---- content ---- */

static void digest_number(sha256 *h, uint64_t v)
{
    uint8_t b[8];
    store_le64(b, v);
    sha256_update(h, b, 8);
}

static void digest_bytes(sha256 *h, engine_bytes b)
{
    digest_number(h, b.size);
    sha256_update(h, b.data, b.size);
}

/* Everything that decides what is proved; not the name, priority or deadline. */
static void request_digest(uint8_t out[32], const engine_request *q)
{
    sha256 h;
    sha256_init(&h);
    digest_number(&h, q->proof_kind);
    digest_number(&h, q->sector_size);
    digest_number(&h, q->registered_proof);
    digest_number(&h, q->sector_number);
    digest_number(&h, q->miner_id);
    digest_number(&h, q->partition_index);
    digest_bytes(&h, q->vanilla_proof);
    digest_number(&h, q->vanilla_count);
    for (size_t i = 0; i < q->vanilla_count; i++)
        digest_bytes(&h, q->vanilla_proofs[i]);
    digest_bytes(&h, q->randomness);
    digest_bytes(&h, q->comm_r_old);
    digest_bytes(&h, q->comm_r_new);
    digest_bytes(&h, q->comm_d_new);
    sha256_final(&h, out);
}

static cuzk_status check_32(engine_bytes b, const char *name, cuzk_error *err)
{
    if (b.size == 32)
        return CUZK_OK;
    return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "%s must be 32 bytes, not %zu", name, b.size);
}

static cuzk_status check_post(const engine_request *q, cuzk_error *err)
{
    const registered_post *p = post_by_number(q->registered_proof);
    if (!p)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "registered_proof %llu is not a registered PoSt proof",
                              (unsigned long long)q->registered_proof);
    if (p->winning != (q->proof_kind == KIND_WINNING))
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "registered_proof %llu is %s, but proof_kind says otherwise",
                              (unsigned long long)q->registered_proof, p->name);
    if (q->sector_size && q->sector_size != p->sector_size)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "sector_size %llu does not belong to %s",
                              (unsigned long long)q->sector_size, p->name);
    if (!q->vanilla_count)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "vanilla_proofs is empty: a PoSt needs one for each sector");
    return check_32(q->randomness, "randomness", err);
}

static cuzk_status check_update(const engine_request *q, cuzk_error *err)
{
    const registered_update *u = update_by_number(q->registered_proof);
    if (!u)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "registered_proof %llu is not a registered update proof",
                              (unsigned long long)q->registered_proof);
    if (q->sector_size && q->sector_size != u->sector_size)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "sector_size %llu does not belong to %s",
                              (unsigned long long)q->sector_size, u->name);
    if (q->vanilla_count != u->partitions)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "vanilla_proofs has %zu entries; %s has %u partitions", q->vanilla_count,
                              u->name, u->partitions);
    cuzk_status s = check_32(q->comm_r_old, "comm_r_old", err);
    if (!s)
        s = check_32(q->comm_r_new, "comm_r_new", err);
    return s ? s : check_32(q->comm_d_new, "comm_d_new", err);
}

static cuzk_status check_porep(const engine_request *q, cuzk_error *err)
{
    const registered_seal *p = seal_by_number(q->registered_proof);
    if (!p)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "registered_proof %llu is not a registered seal proof",
                              (unsigned long long)q->registered_proof);
    if (q->sector_size && q->sector_size != p->sector_size)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "sector_size %llu does not belong to %s",
                              (unsigned long long)q->sector_size, p->name);
    if (!q->vanilla_proof.size)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "vanilla_proof is empty: a PoRep needs its C1 document there");
    return CUZK_OK;
}

/* What can be said without parsing the proofs. */
static cuzk_status check_envelope(const engine_request *q, cuzk_error *err)
{
    if (!q->request_id || !*q->request_id)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "request_id is empty");
    if (q->priority > PRIORITY_CRITICAL)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "priority %u is not one of proving.proto",
                              q->priority);
    if (q->vanilla_count > MAX_VANILLA)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "vanilla_proofs has %zu entries; at most %d are taken", q->vanilla_count,
                              MAX_VANILLA);
    switch (q->proof_kind) {
    case KIND_POREP:
        return check_porep(q, err);
    case KIND_UPDATE:
        return check_update(q, err);
    case KIND_WINDOW:
    case KIND_WINNING:
        return check_post(q, err);
    default:
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "proof_kind %u is not one of proving.proto",
                              q->proof_kind);
    }
}

static proof_bytes copy_bytes(uint8_t **at, engine_bytes b)
{
    proof_bytes out = {*at, b.size};
    if (b.size)
        memcpy(*at, b.data, b.size);
    *at += b.size;
    return out;
}

static cuzk_status copy_content(job *j, const engine_request *q, cuzk_error *err)
{
    size_t size = q->vanilla_proof.size;
    for (size_t i = 0; i < q->vanilla_count; i++)
        size += q->vanilla_proofs[i].size;
    j->blob = mem_alloc(size);
    j->vanilla = mem_calloc(q->vanilla_count, sizeof(*j->vanilla));
    j->request_id = strdup(q->request_id);
    if (!j->blob || !j->vanilla || !j->request_id)
        return mem_error(err, size, "a job's input");
    j->blob_size = size;
    uint8_t *at = j->blob;
    static const circuit_kind KINDS[ENGINE_KINDS] = {CIRCUIT_POREP, CIRCUIT_POREP, CIRCUIT_UPDATE,
                                                     CIRCUIT_WINDOW, CIRCUIT_WINNING};
    j->request = (proof_request){.kind = KINDS[q->proof_kind],
                                 .has_registered = 1,
                                 .registered_proof = q->registered_proof,
                                 .sector_size = q->sector_size,
                                 .miner_id = q->miner_id,
                                 .sector_number = q->sector_number,
                                 .vanilla = j->vanilla,
                                 .vanilla_count = q->vanilla_count};
    j->request.c1 = copy_bytes(&at, q->vanilla_proof);
    for (size_t i = 0; i < q->vanilla_count; i++)
        j->vanilla[i] = copy_bytes(&at, q->vanilla_proofs[i]);
    j->request.has_randomness = q->randomness.size == 32;
    if (j->request.has_randomness)
        memcpy(j->request.randomness, q->randomness.data, 32);
    if (q->proof_kind == KIND_UPDATE) {
        memcpy(j->request.comm_r_old, q->comm_r_old.data, 32);
        memcpy(j->request.comm_r_new, q->comm_r_new.data, 32);
        memcpy(j->request.comm_d_new, q->comm_d_new.data, 32);
    }
    return CUZK_OK;
}

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

cuzk_status job_create(job **out, const engine_request *q, cuzk_error *err)
{
    *out = NULL;
    cuzk_status s = check_envelope(q, err);
    if (s)
        return s;
    job *j = mem_calloc(1, sizeof(*j));
    if (!j)
        return mem_error(err, sizeof(*j), "a job");
    j->references = 1;
    j->kind = (engine_kind)q->proof_kind;
    j->priority = q->priority ? (engine_priority)q->priority : default_priority(q->proof_kind);
    j->cancel.deadline_ns = q->deadline_ns;
    j->submitted_ns = clock_ns();
    j->submitted_wall_ms = clock_wall_ns() / 1000000u;
    make_id(j);
    request_digest(j->digest, q);
    s = copy_content(j, q, err);
    if (s) {
        job_unref_locked(j);
        return s;
    }
    *out = j;
    return CUZK_OK;
}

void job_unref_locked(job *j)
{
    if (--j->references)
        return;
    proof_task_destroy(j->task);
    mem_free(j->request_id);
    mem_free(j->vanilla);
    mem_free(j->blob);
    mem_free(j->proof);
    mem_free(j->event);
    mem_free(j);
}

/* ---- look-ups ---- */

job *job_find_locked(engine *e, const char *id)
{
    for (job *j = e->jobs; j; j = j->next)
        if (!strcmp(j->id, id))
            return j;
    return NULL;
}

job *job_find_same_locked(engine *e, const char *request_id, const uint8_t digest[32])
{
    for (job *j = e->jobs; j; j = j->next)
        if (!memcmp(j->digest, digest, 32) && !strcmp(j->request_id, request_id))
            return j->state <= JOB_COMPLETED ? j : NULL; /* the latest attempt decides */
    return NULL;
}

int job_ended(const job *j)
{
    return j->state >= JOB_COMPLETED;
}

/* ---- what happened ---- */

void job_event(engine *e, job *j, const char *stage, int32_t partition, int32_t device, uint64_t start_ns,
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
    pthread_mutex_unlock(&e->lock);
}

void job_fill_result(const job *j, job_result *r)
{
    memset(r, 0, sizeof(*r));
    snprintf(r->job_id, sizeof(r->job_id), "%s", j->id);
    r->state = j->state;
    if (j->state == JOB_COMPLETED) {
        r->proof = j->proof;
        r->proof_size = (size_t)j->partitions * GROTH16_PROOF_BYTES;
    }
    snprintf(r->error, sizeof(r->error), "%s", j->error);
    uint64_t end = j->ended_ns ? j->ended_ns : clock_ns();
    r->queue_wait_ms = ((j->started_ns ? j->started_ns : end) - j->submitted_ns) / 1000000u;
    r->srs_load_ms = j->srs_ns / 1000000u;
    r->synthesis_ms = j->synthesis_ns / 1000000u;
    r->device_ms = j->device_ns / 1000000u;
    r->total_ms = (end - j->submitted_ns) / 1000000u;
}

void job_result_clear(job_result *r)
{
    memset(r, 0, sizeof(*r));
}

static void count_end(engine *e, const job *j)
{
    if (j->state == JOB_COMPLETED) {
        e->completed[j->kind]++;
        e->seconds_sum[j->kind] += (double)(j->ended_ns - j->submitted_ns) / 1e9;
    } else if (j->state == JOB_CANCELLED) {
        e->cancelled[j->kind]++;
    } else {
        e->failed[j->kind]++;
    }
}

void job_end(engine *e, job *j, job_state state, const char *error)
{
    if (job_ended(j))
        return;
    j->state = state;
    j->ended_ns = clock_ns();
    snprintf(j->error, sizeof(j->error), "%s", error ? error : "");
    count_end(e, j);
    if (state != JOB_COMPLETED)
        atomic_store(&j->cancel.cancelled, 1); /* whatever still works for it stops */
    mem_free(j->blob);
    j->blob = NULL;
    j->blob_size = 0;
    engine_watch *list = j->watches;
    j->watches = NULL;
    for (engine_watch *w = list; w; w = w->next)
        w->fired = 1;
    job_result r;
    job_fill_result(j, &r);
    j->references++;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    log_job(state == JOB_COMPLETED ? LOG_INFO : LOG_WARN, "engine", j->id,
            "%s %s request_id=%s total_ms=%llu%s%s", engine_kind_name(j->kind), job_state_name(state),
            j->request_id, (unsigned long long)r.total_ms, error ? " error=" : "", error ? error : "");
    while (list) {
        engine_watch *w = list;
        list = w->next;
        int owned = w->owned;
        w->done(w->ctx, &r); /* may free w when it is owned */
        if (!owned)
            mem_free(w);
    }
    pthread_mutex_lock(&e->lock);
    job_unref_locked(j);
}
