/* The eight methods of proving.proto: messages to engine calls and back. */
#include "base/clock.h"
#include "base/mem.h"
#include "proving.pb-c.h"
#include "server/rpc.h"
#include <stdio.h>
#include <string.h>

#define REQUEST_ID_LIMIT 256

void rpc_send_message(rpc_call *c, const ProtobufCMessage *m)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    uint8_t *bytes = mem_alloc(n);
    if (!bytes) {
        rpc_fail(c, GRPC_STATUS_RESOURCE_EXHAUSTED, "out of memory while answering");
        return;
    }
    protobuf_c_message_pack(m, bytes);
    rpc_reply(c, bytes, n);
    mem_free(bytes);
}

static void malformed(rpc_call *c)
{
    rpc_fail(c, GRPC_STATUS_INVALID_ARGUMENT, "the request is not a message of proving.proto");
}

static engine_bytes bytes_of(ProtobufCBinaryData b)
{
    return (engine_bytes){b.data, b.len};
}

/* ---- submit ---- */

/* Fills q from a message; vanilla is an array for its vanilla_proofs. */
static void convert_request(engine_request *q, engine_bytes *vanilla, const Cuzk__V1__SubmitProofRequest *m)
{
    for (size_t i = 0; i < m->n_vanilla_proofs; i++)
        vanilla[i] = bytes_of(m->vanilla_proofs[i]);
    *q = (engine_request){
        .request_id = m->request_id,
        .proof_kind = (uint32_t)m->proof_kind,
        .sector_size = m->sector_size,
        .registered_proof = m->registered_proof,
        .priority = (uint32_t)m->priority,
        .vanilla_proof = bytes_of(m->vanilla_proof),
        .vanilla_proofs = vanilla,
        .vanilla_count = m->n_vanilla_proofs,
        .sector_number = m->sector_number,
        .miner_id = m->miner_id,
        .randomness = bytes_of(m->randomness),
        .comm_r_old = bytes_of(m->comm_r_old),
        .comm_r_new = bytes_of(m->comm_r_new),
        .comm_d_new = bytes_of(m->comm_d_new),
        .partition_index = m->partition_index,
    };
}

/* Submits; on failure the call is answered and non-zero returned. */
static int submit(rpc_call *c, const Cuzk__V1__SubmitProofRequest *m, uint64_t deadline_ns,
                  engine_submitted *out)
{
    if (strlen(m->request_id) > REQUEST_ID_LIMIT) {
        rpc_fail(c, GRPC_STATUS_INVALID_ARGUMENT, "request_id is longer than 256 bytes");
        return -1;
    }
    engine_bytes *vanilla = mem_calloc(m->n_vanilla_proofs, sizeof(*vanilla));
    if (!vanilla) {
        rpc_fail(c, GRPC_STATUS_RESOURCE_EXHAUSTED, "out of memory while reading the request");
        return -1;
    }
    engine_request q;
    cuzk_error e = {0};
    convert_request(&q, vanilla, m);
    q.deadline_ns = deadline_ns;
    cuzk_status s = engine_submit(c->server->engine, &q, out, &e);
    mem_free(vanilla);
    if (s)
        rpc_fail_error(c, &e);
    return s ? -1 : 0;
}

static void handle_submit(rpc_call *c, const uint8_t *data, size_t size)
{
    Cuzk__V1__SubmitProofRequest *m = cuzk__v1__submit_proof_request__unpack(NULL, size, data);
    if (!m) {
        malformed(c);
        return;
    }
    engine_submitted done;
    if (submit(c, m, 0, &done) == 0) {
        Cuzk__V1__SubmitProofResponse r = CUZK__V1__SUBMIT_PROOF_RESPONSE__INIT;
        r.job_id = done.job_id;
        r.queue_position = done.queue_position;
        r.assigned_gpu = done.assigned_device;
        rpc_send_message(c, &r.base);
    }
    cuzk__v1__submit_proof_request__free_unpacked(m, NULL);
}

/* ---- await and prove ---- */

static Cuzk__V1__AwaitProofResponse__Status wire_status(job_state s)
{
    switch (s) {
    case JOB_COMPLETED:
        return CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED;
    case JOB_FAILED:
        return CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__FAILED;
    case JOB_CANCELLED:
        return CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__CANCELLED;
    case JOB_TIMEOUT:
        return CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__TIMEOUT;
    case JOB_QUEUED:
    case JOB_RUNNING:
        break;
    }
    return CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__UNKNOWN;
}

/* A call that waits for a job. Held by wait_for while it sets things up, by the engine until its callback has
 * run or been taken back, and by the notice of the client's going away. Whoever sets settled first answers
 * the call. */
typedef struct waiting {
    rpc_call *call;
    engine_watch *watch;
    atomic_int references, settled;
    int is_prove, with_timeline;
} waiting;

static void waiting_unref(waiting *w)
{
    if (atomic_fetch_sub(&w->references, 1) != 1)
        return;
    if (w->watch)
        engine_unwatch(w->call->server->engine, w->watch);
    rpc_unref(w->call);
    mem_free(w);
}

/* The message's timeline points into these arrays. */
typedef struct timeline_message {
    engine_stage *stage;
    Cuzk__V1__StageEvent *event, **list;
} timeline_message;

static void fill_timeline(engine *e, timeline_message *t, Cuzk__V1__AwaitProofResponse *a)
{
    size_t n;
    if (engine_stages(e, a->job_id, &t->stage, &n,
                      NULL)) /* an answer without a timeline is still an answer */
        return;
    t->event = mem_calloc(n, sizeof(*t->event));
    t->list = mem_calloc(n, sizeof(*t->list));
    if (!t->event || !t->list)
        return;
    for (size_t i = 0; i < n; i++) {
        cuzk__v1__stage_event__init(&t->event[i]);
        t->event[i].stage = (char *)t->stage[i].stage;
        t->event[i].partition = t->stage[i].partition;
        t->event[i].device = t->stage[i].device;
        t->event[i].start_ms = t->stage[i].start_ms;
        t->event[i].end_ms = t->stage[i].end_ms;
        t->list[i] = &t->event[i];
    }
    a->n_timeline = n;
    a->timeline = t->list;
}

static void send_result(waiting *w, const job_result *r)
{
    timeline_message t = {0};
    Cuzk__V1__AwaitProofResponse a = CUZK__V1__AWAIT_PROOF_RESPONSE__INIT;
    a.job_id = (char *)r->job_id;
    a.status = wire_status(r->state);
    a.proof.data = (uint8_t *)r->proof;
    a.proof.len = r->state == JOB_COMPLETED ? r->proof_size : 0;
    a.error_message = (char *)r->error;
    a.queue_wait_ms = r->queue_wait_ms;
    a.srs_load_ms = r->srs_load_ms;
    a.synthesis_ms = r->synthesis_ms;
    a.gpu_compute_ms = r->device_ms;
    a.total_ms = r->total_ms;
    if (w->with_timeline)
        fill_timeline(w->call->server->engine, &t, &a);
    if (w->is_prove) {
        Cuzk__V1__ProveResponse p = CUZK__V1__PROVE_RESPONSE__INIT;
        p.result = &a;
        rpc_send_message(w->call, &p.base);
    } else {
        rpc_send_message(w->call, &a.base);
    }
    mem_free(t.stage);
    mem_free(t.event);
    mem_free(t.list);
}

static void on_done(void *ctx, const job_result *r)
{
    waiting *w = ctx;
    if (!atomic_exchange(&w->settled, 1))
        send_result(w, r);
    if (rpc_forget_gone(w->call))
        waiting_unref(w);
    waiting_unref(w);
}

static void on_client_gone(rpc_call *c, void *ctx)
{
    waiting *w = ctx;
    if (!atomic_exchange(&w->settled, 1))
        rpc_fail(c, GRPC_STATUS_CANCELLED, "the client went away");
    int taken_back = engine_unwatch(c->server->engine, w->watch);
    w->watch = NULL;
    if (taken_back)
        waiting_unref(w); /* the engine's reference */
    waiting_unref(w);
}

/* Waits for a job and answers the call when it ends. */
static void wait_for(rpc_call *c, const char *job_id, uint64_t timeout_ms, int is_prove, int with_timeline)
{
    cuzk_error e = {0};
    waiting *w = mem_calloc(1, sizeof(*w));
    if (!w) {
        rpc_fail(c, GRPC_STATUS_RESOURCE_EXHAUSTED, "out of memory");
        return;
    }
    w->call = c;
    w->is_prove = is_prove;
    w->with_timeline = with_timeline;
    w->references = 3; /* this function, the engine, the notice */
    rpc_ref(c);
    if (engine_await(c->server->engine, job_id, timeout_ms, on_done, w, &w->watch, &e)) {
        rpc_fail_error(c, &e);
        w->watch = NULL;
        w->references = 1;
        waiting_unref(w);
        return;
    }
    if (!rpc_on_gone(c, on_client_gone, w))
        on_client_gone(c, w);
    else if (atomic_load(&w->settled) && rpc_forget_gone(c)) /* it ended before the notice was set */
        waiting_unref(w);
    waiting_unref(w);
}

static void handle_await(rpc_call *c, const uint8_t *data, size_t size)
{
    Cuzk__V1__AwaitProofRequest *m = cuzk__v1__await_proof_request__unpack(NULL, size, data);
    if (!m) {
        malformed(c);
        return;
    }
    wait_for(c, m->job_id, m->timeout_ms, 0, m->with_timeline);
    cuzk__v1__await_proof_request__free_unpacked(m, NULL);
}

static void handle_prove(rpc_call *c, const uint8_t *data, size_t size)
{
    Cuzk__V1__ProveRequest *m = cuzk__v1__prove_request__unpack(NULL, size, data);
    if (!m) {
        malformed(c);
        return;
    }
    engine_submitted done;
    uint64_t left = rpc_time_left_ms(c);
    if (!m->submit)
        rpc_fail(c, GRPC_STATUS_INVALID_ARGUMENT, "submit is missing");
    else if (submit(c, m->submit, left == UINT64_MAX ? 0 : clock_in_ms(left), &done) == 0)
        wait_for(c, done.job_id, 0, 1, 0);
    cuzk__v1__prove_request__free_unpacked(m, NULL);
}

static void handle_cancel(rpc_call *c, const uint8_t *data, size_t size)
{
    Cuzk__V1__CancelProofRequest *m = cuzk__v1__cancel_proof_request__unpack(NULL, size, data);
    if (!m) {
        malformed(c);
        return;
    }
    int was_running = 0;
    cuzk_error e = {0};
    if (engine_cancel(c->server->engine, m->job_id, &was_running, &e)) {
        rpc_fail_error(c, &e);
    } else {
        Cuzk__V1__CancelProofResponse r = CUZK__V1__CANCEL_PROOF_RESPONSE__INIT;
        r.was_running = was_running;
        rpc_send_message(c, &r.base);
    }
    cuzk__v1__cancel_proof_request__free_unpacked(m, NULL);
}

/* ---- the state of the engine ---- */

static void handle_metrics(rpc_call *c, const uint8_t *data, size_t size)
{
    Cuzk__V1__GetMetricsRequest *m = cuzk__v1__get_metrics_request__unpack(NULL, size, data);
    if (!m) {
        malformed(c);
        return;
    }
    cuzk__v1__get_metrics_request__free_unpacked(m, NULL);
    cuzk_error e = {0};
    char *text = NULL;
    if (engine_metrics(c->server->engine, &text, &e)) {
        rpc_fail_error(c, &e);
        return;
    }
    Cuzk__V1__GetMetricsResponse r = CUZK__V1__GET_METRICS_RESPONSE__INIT;
    r.prometheus_text = text;
    rpc_send_message(c, &r.base);
    mem_free(text);
}

static void on_preloaded(void *ctx, int already_loaded, uint64_t load_ms, const cuzk_error *failure)
{
    rpc_call *c = ctx;
    if (failure) {
        rpc_fail_error(c, failure);
    } else {
        Cuzk__V1__PreloadSrsResponse r = CUZK__V1__PRELOAD_SRS_RESPONSE__INIT;
        r.already_loaded = already_loaded;
        r.load_time_ms = load_ms;
        rpc_send_message(c, &r.base);
    }
    rpc_unref(c);
}

/* Compiling a large circuit takes minutes: the answer comes from a thread of the engine. */
static void handle_preload(rpc_call *c, const uint8_t *data, size_t size)
{
    Cuzk__V1__PreloadSrsRequest *m = cuzk__v1__preload_srs_request__unpack(NULL, size, data);
    if (!m) {
        malformed(c);
        return;
    }
    cuzk_error e = {0};
    rpc_ref(c);
    if (engine_preload_async(c->server->engine, m->circuit_id, on_preloaded, c, &e)) {
        rpc_fail_error(c, &e);
        rpc_unref(c);
    }
    cuzk__v1__preload_srs_request__free_unpacked(m, NULL);
}

static void handle_evict(rpc_call *c, const uint8_t *data, size_t size)
{
    Cuzk__V1__EvictSrsRequest *m = cuzk__v1__evict_srs_request__unpack(NULL, size, data);
    if (!m) {
        malformed(c);
        return;
    }
    Cuzk__V1__EvictSrsResponse r = CUZK__V1__EVICT_SRS_RESPONSE__INIT;
    int was_loaded = 0;
    cuzk_error e = {0};
    if (engine_evict(c->server->engine, m->circuit_id, &was_loaded, &r.freed_bytes, &e)) {
        rpc_fail_error(c, &e);
    } else {
        r.was_loaded = was_loaded;
        rpc_send_message(c, &r.base);
    }
    cuzk__v1__evict_srs_request__free_unpacked(m, NULL);
}

static void handle_clear_quarantine(rpc_call *c, const uint8_t *data, size_t size)
{
    Cuzk__V1__ClearQuarantineRequest *m = cuzk__v1__clear_quarantine_request__unpack(NULL, size, data);
    if (!m) {
        malformed(c);
        return;
    }
    int was_set_aside = 0;
    cuzk_error e = {0};
    if (engine_clear_quarantine(c->server->engine, m->ordinal, &was_set_aside, &e)) {
        rpc_fail_error(c, &e);
    } else {
        Cuzk__V1__ClearQuarantineResponse r = CUZK__V1__CLEAR_QUARANTINE_RESPONSE__INIT;
        r.was_set_aside = was_set_aside;
        rpc_send_message(c, &r.base);
    }
    cuzk__v1__clear_quarantine_request__free_unpacked(m, NULL);
}

/* The message points into s and into these arrays. */
typedef struct status_message {
    Cuzk__V1__GetStatusResponse m;
    Cuzk__V1__GPUStatus *gpu, **gpus;
    Cuzk__V1__SRSStatus *one_srs, **srs;
    Cuzk__V1__QueueStatus queue[ENGINE_KINDS], *queues[ENGINE_KINDS];
    Cuzk__V1__JobStatus *job, **jobs;
} status_message;

static void status_message_free(status_message *t)
{
    mem_free(t->gpu);
    mem_free(t->gpus);
    mem_free(t->one_srs);
    mem_free(t->srs);
    mem_free(t->job);
    mem_free(t->jobs);
}

static void fill_devices(status_message *t, engine_status *s)
{
    for (size_t i = 0; i < s->device_count; i++) {
        const engine_device_status *d = &s->devices[i];
        cuzk__v1__gpustatus__init(&t->gpu[i]);
        t->gpu[i].ordinal = d->ordinal;
        t->gpu[i].name = (char *)d->name;
        t->gpu[i].vram_total_bytes = d->memory_total;
        t->gpu[i].vram_free_bytes = d->memory_free;
        t->gpu[i].current_job_id = (char *)d->current_job;
        t->gpu[i].current_proof_kind = (char *)d->current_kind;
        t->gpu[i].quarantined = d->quarantined;
        t->gpus[i] = &t->gpu[i];
    }
    t->m.n_gpus = s->device_count;
    t->m.gpus = t->gpus;
}

static void fill_srs(status_message *t, engine_status *s)
{
    for (size_t i = 0; i < s->srs_count; i++) {
        const engine_srs_status *d = &s->srs[i];
        cuzk__v1__srsstatus__init(&t->one_srs[i]);
        t->one_srs[i].circuit_id = (char *)d->circuit;
        t->one_srs[i].tier = d->on_device ? CUZK__V1__SRSSTATUS__TIER__HOT : CUZK__V1__SRSSTATUS__TIER__WARM;
        t->one_srs[i].size_bytes = d->bytes;
        t->one_srs[i].ref_count = d->references;
        t->srs[i] = &t->one_srs[i];
    }
    t->m.n_loaded_srs = s->srs_count;
    t->m.loaded_srs = t->srs;
}

static void fill_queues(status_message *t, const engine_status *s)
{
    for (int k = 1; k < ENGINE_KINDS; k++) {
        cuzk__v1__queue_status__init(&t->queue[k]);
        t->queue[k].proof_kind = (char *)engine_kind_name((engine_kind)k);
        t->queue[k].pending = s->pending[k];
        t->queue[k].in_progress = s->in_progress[k];
        t->queues[k - 1] = &t->queue[k];
    }
    t->m.n_queues = ENGINE_KINDS - 1;
    t->m.queues = t->queues;
}

static uint64_t ms_since(uint64_t now, uint64_t then)
{
    return then && now > then ? now - then : 0;
}

static void add_job(status_message *t, const engine_job_status *d, uint64_t now)
{
    Cuzk__V1__JobStatus *o = &t->job[t->m.n_jobs];
    cuzk__v1__job_status__init(o);
    o->job_id = (char *)d->job_id;
    o->request_id = (char *)d->request_id;
    o->proof_kind = (char *)engine_kind_name(d->kind);
    o->state = (char *)job_state_name(d->state);
    o->circuit_id = (char *)d->circuit;
    o->partitions = d->partitions;
    o->partitions_done = d->partitions_done;
    o->age_ms = ms_since(now, d->submitted_wall_ms);
    o->running_ms = ms_since(d->ended_wall_ms ? d->ended_wall_ms : now, d->started_wall_ms);
    o->ended_ms = ms_since(now, d->ended_wall_ms);
    o->error = (char *)d->error;
    t->jobs[t->m.n_jobs++] = o;
}

/* The engine lists the most recent first. Whoever watches wants what runs, then what waits, the oldest first,
 * then what has just ended. */
static void fill_jobs(status_message *t, const engine_status *s, size_t limit)
{
    uint64_t now = clock_wall_ns() / 1000000u;
    t->m.jobs = t->jobs;
    for (size_t i = s->job_count; i-- > 0 && t->m.n_jobs < limit;)
        if (s->jobs[i].state == JOB_RUNNING)
            add_job(t, &s->jobs[i], now);
    for (size_t i = s->job_count; i-- > 0 && t->m.n_jobs < limit;)
        if (s->jobs[i].state == JOB_QUEUED)
            add_job(t, &s->jobs[i], now);
    for (size_t i = 0; i < s->job_count && t->m.n_jobs < limit; i++)
        if (s->jobs[i].state != JOB_RUNNING && s->jobs[i].state != JOB_QUEUED)
            add_job(t, &s->jobs[i], now);
}

static void handle_status(rpc_call *c, const uint8_t *data, size_t size)
{
    Cuzk__V1__GetStatusRequest *m = cuzk__v1__get_status_request__unpack(NULL, size, data);
    if (!m) {
        malformed(c);
        return;
    }
    size_t jobs = m->jobs;
    cuzk__v1__get_status_request__free_unpacked(m, NULL);
    engine_status s;
    cuzk_error e = {0};
    if (engine_get_status(c->server->engine, &s, &e)) {
        rpc_fail_error(c, &e);
        return;
    }
    status_message t = {.m = CUZK__V1__GET_STATUS_RESPONSE__INIT};
    t.gpu = mem_calloc(s.device_count, sizeof(*t.gpu));
    t.gpus = mem_calloc(s.device_count, sizeof(*t.gpus));
    t.one_srs = mem_calloc(s.srs_count, sizeof(*t.one_srs));
    t.srs = mem_calloc(s.srs_count, sizeof(*t.srs));
    t.job = mem_calloc(s.job_count, sizeof(*t.job));
    t.jobs = mem_calloc(s.job_count, sizeof(*t.jobs));
    if (t.gpu && t.gpus && t.one_srs && t.srs && t.job && t.jobs) {
        fill_devices(&t, &s);
        fill_srs(&t, &s);
        fill_queues(&t, &s);
        fill_jobs(&t, &s, jobs);
        t.m.total_proofs_completed = s.completed;
        t.m.total_proofs_failed = s.failed;
        t.m.uptime_seconds = s.uptime_seconds;
        t.m.pinned_memory_bytes = s.pinned_used;
        t.m.pinned_memory_limit_bytes = s.pinned_limit;
        t.m.memory_used_bytes = s.memory_used;
        t.m.memory_budget_bytes = s.memory_budget;
        t.m.stopping = !s.accepting;
        rpc_send_message(c, &t.m.base);
    } else {
        rpc_fail(c, GRPC_STATUS_RESOURCE_EXHAUSTED, "out of memory");
    }
    status_message_free(&t);
    engine_status_clear(&s);
}

#define PATH(name) "/cuzk.v1.ProvingEngine/" name
const rpc_method SERVER_METHODS[] = {
    {PATH("SubmitProof"), handle_submit, 0, 0},
    {PATH("AwaitProof"), handle_await, 0, 0},
    {PATH("Prove"), handle_prove, 0, 0},
    {PATH("CancelProof"), handle_cancel, 0, 0},
    {PATH("GetStatus"), handle_status, 0, 0},
    {PATH("GetMetrics"), handle_metrics, 0, 0},
    {PATH("PreloadSRS"), handle_preload, 0, 0},
    {PATH("EvictSRS"), handle_evict, 0, 0},
    {PATH("ClearQuarantine"), handle_clear_quarantine, 0, 0},
    {"/grpc.health.v1.Health/Check", health_handle_check, 1, 0},
    {"/grpc.health.v1.Health/Watch", health_handle_watch, 1, 1},
    {"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", reflection_handle, 0, 1},
    {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", reflection_handle, 0, 1},
};
const size_t SERVER_METHOD_COUNT = sizeof(SERVER_METHODS) / sizeof(SERVER_METHODS[0]);
