/* The engine's insides. One lock guards every field of jobs and units that several threads touch; the work
 * itself (parsing, witnesses, proving) runs without it.
 *
 * A job passes through: queued -> parsed and checked by a preparer -> its partitions become units -> each
 * unit gets a witness (preparer), is proved (device worker), is finished and verified (finisher) -> all
 * partitions done: completed. */
#ifndef ENGINE_INTERNAL_H
#define ENGINE_INTERNAL_H
#include "api/circuits.h"
#include "base/clock.h"
#include "base/pool.h"
#include "engine/engine.h"
#include "filecoin/task.h"
#include <pthread.h>

typedef struct job job;
typedef struct unit unit;
typedef struct circuit_key circuit_key;

/* ---- timeline ---- */
typedef struct stage_event {
    const char *stage; /* "queue", "parse", "check", "srs", "witness", "prove", "finish" */
    int32_t partition; /* -1: the whole job */
    int32_t device;    /* -1: none */
    uint64_t start_ns, end_ns;
} stage_event;

struct engine_watch {
    job *job;
    engine_done_fn *done;
    void *ctx;
    uint64_t deadline_ns; /* 0: none */
    int fired, owned;     /* owned: the caller holds it and will unwatch */
    engine_watch *next;
};

struct job {
    char id[JOB_ID_SIZE];
    char *request_id;
    uint8_t digest[32];
    engine_kind kind;
    engine_priority priority;
    uint64_t sequence; /* order of arrival */
    job_state state;
    proof_request request; /* points into blob */
    proof_bytes *vanilla;
    uint8_t *blob;
    size_t blob_size;
    proof_task *task;
    const circuit_info *circuit;
    uint32_t partitions, next_partition, done;
    int preparing;   /* a preparer is at it (parsing, or making a witness) */
    uint32_t active; /* units alive */
    uint8_t *proof;
    char error[512];
    cancel_token cancel;
    uint64_t submitted_ns, started_ns, ended_ns, submitted_wall_ms;
    uint64_t srs_ns, synthesis_ns, device_ns;
    engine_watch *watches;
    stage_event *event;
    size_t event_count, event_cap;
    unsigned references;
    job *next; /* all jobs, newest first */
};

typedef enum unit_state { UNIT_WITNESS, UNIT_READY, UNIT_PROVING, UNIT_FINISHING } unit_state;
struct unit {
    job *job;
    uint32_t partition;
    unit_state state;
    circuit_key *key;
    witness w;
    uint64_t reserved;          /* bytes of the budget */
    int attempts, avoid_device; /* -1: none */
    int device;
    groth16_job *proving;
    unit *next;
};

/* A circuit and its parameters, with a prover on each device that used it. */
struct circuit_key {
    const circuit_info *info;
    r1cs *circuit;
    params *srs;
    int is_test, loading, failed;
    cuzk_error error;        /* of the last load */
    groth16_prover **prover; /* one per device */
    uint64_t bytes, reserved, used_ns, load_ns;
    unsigned references;
    circuit_key *next;
};

typedef struct device_slot {
    int index;
    uint32_t ordinal;
    const cuzk_backend *backend;
    cuzk_device *device;
    cuzk_device_info info;
    pthread_mutex_t lock; /* one prove_start at a time */
    int quarantined;
    unsigned failures_in_row;
    uint64_t proofs, failures;
    char current_job[JOB_ID_SIZE];
    engine_kind current_kind;
} device_slot;

struct engine {
    config config;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* anything a worker may wait for */
    pthread_cond_t timer_wake;
    int accepting, stopping;
    job *jobs;
    uint64_t next_sequence, started_ns;
    unit *units; /* every unit alive, in order of creation */
    circuit_key *keys;
    poseidon_set *ps;
    pool *synthesis; /* threads that parse, check and make witnesses */
    device_slot *device;
    size_t devices;
    pthread_t *thread;
    size_t threads;
    pthread_t timer_thread;
    int timer_started;
    uint64_t budget, budget_used;
    uint64_t completed[ENGINE_KINDS], failed[ENGINE_KINDS], cancelled[ENGINE_KINDS], submitted[ENGINE_KINDS];
    uint64_t partitions_proved, retries, invalid_proofs;
    double seconds_sum[ENGINE_KINDS];
};

/* ---- jobs.c ---- */
/* Makes a job of a request (copied). */
cuzk_status job_create(job **out, const engine_request *q, cuzk_error *err);
void job_unref_locked(job *j);
job *job_find_locked(engine *e, const char *id);
/* The job that the same request joins; NULL: none. */
job *job_find_same_locked(engine *e, const char *request_id, const uint8_t digest[32]);
void job_event(engine *e, job *j, const char *stage, int32_t partition, int32_t device, uint64_t start_ns,
               uint64_t end_ns);
int job_ended(const job *j);
/* Ends the job if it has not ended, and runs its callbacks. The lock is held on entry and on return, and
 * released for the callbacks. */
void job_end(engine *e, job *j, job_state state, const char *error);
void job_fill_result(const job *j, job_result *r);

/* ---- keys.c ---- */
/* The key of a circuit, loaded if need be; counts a reference. */
cuzk_status key_acquire(engine *e, const circuit_info *info, circuit_key **out, int *was_loaded,
                        cuzk_error *err);
void key_release(engine *e, circuit_key *k);
/* The prover of a key on a device, made on first use; the device's lock is held. */
cuzk_status key_prover(engine *e, circuit_key *k, device_slot *d, groth16_prover **out, cuzk_error *err);
void keys_destroy(engine *e);
/* Evicts unused keys, least recently used first, until bytes are free or nothing is left; min_idle_ns 0: any
 * idle one. */
uint64_t keys_evict_locked(engine *e, uint64_t bytes, uint64_t min_idle_ns);

/* ---- budget.c ---- */
uint64_t budget_total(const config *c);
/* Waits until bytes fit (evicting what is idle); a request that can never fit is an error. */
cuzk_status budget_reserve(engine *e, uint64_t bytes, const char *what, const cancel_token *cancel,
                           cuzk_error *err);
void budget_release(engine *e, uint64_t bytes);

/* ---- sched.c ---- */
engine_priority job_effective_priority(const engine *e, const job *j, uint64_t now);
/* The next job for a preparer (to parse, or to make a witness for); NULL: nothing to do now. */
job *sched_next_to_prepare_locked(engine *e);
/* The next unit for a device worker. */
unit *sched_next_ready_locked(engine *e, const device_slot *d);
unit *sched_next_to_finish_locked(engine *e);
uint32_t sched_queue_position_locked(const engine *e, const job *j);

/* ---- stages.c ---- */
cuzk_status stages_start(engine *e, cuzk_error *err);
void stages_stop(engine *e);
void unit_free(engine *e, unit *u);
#endif
