/* The engine: accepts proof requests, keeps them, schedules and proves them, and says how they went. Knows
 * nothing of gRPC or HTTP.
 *
 * A job is identified by its request_id and the digest of its content: the same again joins the job that runs
 * or returns the finished proof; after a failure, cancellation or timeout it is a new attempt; the same id
 * with other content is another job. An accepted job survives a crash or a restart: it is finished or
 * reported as failed.
 *
 * Every function may be called from any thread. Callbacks run on engine threads, without any engine lock
 * held, and must not block. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H
#include "base/json_write.h"
#include "cuzk/status.h"
#include "engine/config.h"
#include <stddef.h>
#include <stdint.h>

/* Numbers as in proving.proto. */
typedef enum engine_kind { KIND_POREP = 1, KIND_UPDATE = 2, KIND_WINDOW = 3, KIND_WINNING = 4 } engine_kind;
#define ENGINE_KINDS 5 /* array size; index 0 unused */
typedef enum engine_priority {
    PRIORITY_LOW = 1,
    PRIORITY_NORMAL = 2,
    PRIORITY_HIGH = 3,
    PRIORITY_CRITICAL = 4
} engine_priority;
typedef enum job_state { /* the states that AwaitProof reports come last */
                         JOB_QUEUED,
                         JOB_RUNNING,
                         JOB_COMPLETED,
                         JOB_FAILED,
                         JOB_CANCELLED,
                         JOB_TIMEOUT
} job_state;
const char *
engine_kind_name(engine_kind k); /* "porep", "snap", "wdpost", "winpost": labels of metrics and queues */
const char *job_state_name(job_state s); /* "queued" ... */
#define JOB_ID_SIZE 40

typedef struct engine_bytes {
    const uint8_t *data;
    size_t size;
} engine_bytes;
/* The fields of SubmitProofRequest, borrowed for the call. */
typedef struct engine_request {
    const char *request_id;
    uint32_t proof_kind;
    uint64_t sector_size, registered_proof;
    uint32_t priority; /* 0: by kind (WinningPoSt CRITICAL, WindowPoSt HIGH, else NORMAL) */
    engine_bytes vanilla_proof;
    const engine_bytes *vanilla_proofs;
    size_t vanilla_count;
    uint64_t sector_number, miner_id;
    engine_bytes randomness, comm_r_old, comm_r_new, comm_d_new;
    uint32_t partition_index;
    uint64_t deadline_ns; /* clock_ns; 0: none */
} engine_request;

typedef struct engine engine;
cuzk_status engine_create(engine **out, const config *c, cuzk_error *err) CUZK_MUST_CHECK;
/* Frees everything; no call may be under way and none may follow. Jobs that run are stopped and resumed after
 * a restart. */
void engine_destroy(engine *e);
void engine_stop_accepting(engine *e);
/* Stops accepting and waits up to drain_ms for the jobs that run (queued ones stay in the store for the next
 * start). Those that still run are stopped. Whoever awaits a job that did not end is told so (JOB_FAILED,
 * "the daemon is stopping"). */
void engine_drain(engine *e, uint64_t drain_ms);

typedef struct engine_submitted {
    char job_id[JOB_ID_SIZE];
    uint32_t queue_position; /* jobs ahead of it; 0: it is next or runs */
    char assigned_device[64];
    int joined; /* an earlier job with the same content */
} engine_submitted;
/* Checks the envelope (CUZK_INVALID_ARGUMENT names the field), stores the job, returns. CUZK_BUSY: the queue
 * is full, or the daemon is stopping; the message says when to try again. */
cuzk_status engine_submit(engine *e, const engine_request *q, engine_submitted *out,
                          cuzk_error *err) CUZK_MUST_CHECK;

typedef struct job_result {
    char job_id[JOB_ID_SIZE];
    job_state state;
    const uint8_t *proof; /* 192 bytes a partition; valid during the callback or until job_result_clear */
    size_t proof_size;
    char error[512];
    uint64_t queue_wait_ms, srs_load_ms, synthesis_ms, device_ms, total_ms;
} job_result;
void job_result_clear(job_result *r);
/* Called exactly once: when the job has ended, when the timeout is over (state JOB_TIMEOUT; the job goes on),
 * or, after engine_unwatch returned 1, never. */
typedef void engine_done_fn(void *ctx, const job_result *r);
typedef struct engine_watch engine_watch;
/* CUZK_NOT_FOUND: no such job. timeout_ms 0: no limit. *watch may be NULL where it is never taken back. */
cuzk_status engine_await(engine *e, const char *job_id, uint64_t timeout_ms, engine_done_fn *done, void *ctx,
                         engine_watch **watch, cuzk_error *err) CUZK_MUST_CHECK;
/* 1: the callback will not run; 0: it has run or is running. Frees the watch in both cases. */
int engine_unwatch(engine *e, engine_watch *watch);
/* Cancels a queued or running job; *was_running says which. */
cuzk_status engine_cancel(engine *e, const char *job_id, int *was_running, cuzk_error *err) CUZK_MUST_CHECK;

/* Loads a circuit and its SRS ahead of the first job. Returns at once; done is called exactly once, from this
 * call where nothing is to be loaded, else from a thread of the engine. On failure of the call itself it is
 * not called. */
typedef void engine_preload_fn(void *ctx, int already_loaded, uint64_t load_ms, const cuzk_error *failure);
cuzk_status engine_preload_async(engine *e, const char *circuit, engine_preload_fn *done, void *ctx,
                                 cuzk_error *err) CUZK_MUST_CHECK;
/* The same, waiting for the end: minutes where a large circuit is compiled for the first time. */
cuzk_status engine_preload(engine *e, const char *circuit, int *already_loaded, uint64_t *load_ms,
                           cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status engine_evict(engine *e, const char *circuit, int *was_loaded, uint64_t *freed_bytes,
                         cuzk_error *err) CUZK_MUST_CHECK;

/* Takes a device back that was set aside after repeated failures. CUZK_NOT_FOUND: there is no such device;
 * *was_set_aside says whether there was anything to do. */
cuzk_status engine_clear_quarantine(engine *e, uint32_t ordinal, int *was_set_aside,
                                    cuzk_error *err) CUZK_MUST_CHECK;

/* A snapshot for GetStatus, HTTP and cuzk top; engine_status_clear frees it. */
typedef struct engine_device_status {
    uint32_t ordinal;
    char name[128], backend[16];
    uint64_t memory_total, memory_free;
    char current_job[JOB_ID_SIZE], current_kind[16];
    int quarantined;
    uint64_t proofs, failures;
} engine_device_status;
typedef struct engine_srs_status {
    char circuit[32]; /* wire name: "wpost-32g" */
    uint64_t bytes;
    uint32_t references;
    int on_device; /* HOT; else WARM */
    int test_srs;
} engine_srs_status;
typedef struct engine_job_status {
    char job_id[JOB_ID_SIZE], request_id[128];
    engine_kind kind;
    engine_priority priority;
    job_state state;
    char circuit[32];
    uint32_t partitions, partitions_done;
    uint64_t submitted_wall_ms, started_wall_ms, ended_wall_ms;
    char error[512];
} engine_job_status;
typedef struct engine_status {
    engine_device_status *devices;
    size_t device_count;
    engine_srs_status *srs;
    size_t srs_count;
    uint32_t pending[ENGINE_KINDS], in_progress[ENGINE_KINDS]; /* jobs */
    uint64_t completed, failed, cancelled, uptime_seconds;
    uint64_t memory_used, memory_budget, pinned_used, pinned_limit;
    engine_job_status *jobs; /* most recent first, at most 200; all that run are among them */
    size_t job_count;
    int accepting;
} engine_status;
cuzk_status engine_get_status(engine *e, engine_status *out, cuzk_error *err) CUZK_MUST_CHECK;
void engine_status_clear(engine_status *s);

/* The timeline of a job: stages with start and end, milliseconds after its submission, as JSON.
 * CUZK_NOT_FOUND. */
cuzk_status engine_timeline(engine *e, const char *job_id, json_out *out, cuzk_error *err) CUZK_MUST_CHECK;
/* The same as an array (mem_free), milliseconds after the submission. */
typedef struct engine_stage {
    const char *stage;         /* literal */
    int32_t partition, device; /* -1: none */
    double start_ms, end_ms;
} engine_stage;
cuzk_status engine_stages(engine *e, const char *job_id, engine_stage **out, size_t *count,
                          cuzk_error *err) CUZK_MUST_CHECK;
/* Prometheus text; freed by mem_free. */
cuzk_status engine_metrics(engine *e, char **text, cuzk_error *err) CUZK_MUST_CHECK;
/* Applies the options that may change while running. */
cuzk_status engine_reload(engine *e, const config *c, cuzk_error *err) CUZK_MUST_CHECK;
#endif
