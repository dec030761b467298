/* The engine's insides. One lock guards every field of jobs, units and keys that several threads touch; the
 * work itself (parsing, witnesses, proving, the store) runs without it.
 *
 * A job passes through: stored and queued -> parsed and checked by a preparer -> each partition becomes a
 * unit, which gets a witness (preparer), is proved (device worker), is finished, verified and stored
 * (finisher) -> all partitions stored: completed.
 *
 * Nobody waits for memory while holding some: the scheduler admits a step only when everything that it will
 * take fits the budget (budget.c), and a key is reserved whole before a witness for it is. */
#ifndef ENGINE_INTERNAL_H
#define ENGINE_INTERNAL_H
#include "api/circuits.h"
#include "base/clock.h"
#include "base/pool.h"
#include "engine/content.h"
#include "engine/engine.h"
#include "filecoin/task.h"
#include "store/store.h"
#include <pthread.h>

typedef struct job job;
typedef struct unit unit;
typedef struct circuit_key circuit_key;

/* ---- timeline ---- */
typedef enum stage_name {
    STAGE_QUEUE,
    STAGE_PARSE,
    STAGE_CHECK,
    STAGE_SRS,
    STAGE_WITNESS,
    STAGE_PROVE,
    STAGE_FINISH,
    STAGES
} stage_name;
typedef struct stage_event {
    stage_name stage;
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

typedef enum part_state { PART_OPEN, PART_TAKEN, PART_DONE } part_state;

struct job {
    char id[JOB_ID_SIZE];
    char *request_id;
    uint8_t digest[32];
    engine_kind kind;
    engine_priority priority;
    uint64_t sequence; /* order of arrival, from the store */
    job_state state;
    int ending;   /* somebody writes its end into the store */
    int detached; /* the daemon stops: it goes on after the next start */
    size_t input_bytes;
    const circuit_info *circuit;
    uint32_t partitions, open, done; /* open: may be taken now */
    uint8_t *part;                   /* part_state of each partition */
    uint8_t *proof;
    proof_task *task;  /* NULL: not parsed yet */
    uint64_t reserved; /* bytes of the budget, for the task */
    int parsing;
    int held; /* shared stores: a partition is claimed and not yet a unit */
    uint32_t held_partition;
    uint64_t held_fence;
    uint32_t active; /* units alive */
    char error[512];
    cancel_token cancel;
    uint64_t submitted_ns, started_ns, ended_ns, submitted_wall_ms, deadline_wall_ms;
    uint64_t queue_ns, srs_wait_ns, srs_ns, synthesis_ns,
        device_ns; /* srs_wait_ns: since when it waits for its key */
    engine_watch *watches;
    stage_event *event;
    size_t event_count, event_cap;
    unsigned references;
    uint32_t starts; /* earlier processes that ended while it was under way, none of its partitions done */
    uint64_t passed_over; /* mark of a search of the scheduler */
    job *next;            /* all jobs in memory, newest first */
    job *next_by_id, *next_by_digest;
};

typedef enum unit_state { UNIT_WITNESS, UNIT_READY, UNIT_PROVING, UNIT_FINISHING, UNIT_FINISHED } unit_state;
struct unit {
    job *job;
    uint32_t partition;
    uint64_t fence;
    unit_state state;
    circuit_key *key;
    witness w;
    uint64_t reserved;          /* bytes of the budget */
    int attempts, avoid_device; /* -1: none */
    int device;
    uint64_t ready_ns;
    groth16_job *proving;
    cancel_token *batch; /* of the batch it is proved in; NULL: the job's own */
    unit *next;
};

/* Told when a circuit's key has been loaded or cannot be. */
typedef struct key_waiter {
    engine_preload_fn *done;
    void *ctx;
    struct key_waiter *next;
} key_waiter;

typedef enum key_state { KEY_LOADING, KEY_READY, KEY_FAILED } key_state;
/* A circuit and its parameters, with a prover on each device that used it. */
struct circuit_key {
    const circuit_info *info;
    r1cs *circuit;
    params *srs;
    key_state state;
    int is_test, wants_memory; /* the loader waits for room */
    cuzk_error error;          /* of the last load */
    groth16_prover **prover;   /* one per device */
    uint64_t bytes, reserved, used_ns, load_ns;
    uint64_t witness_bytes, working_bytes;
    unsigned references;
    key_waiter *waiters;
    circuit_key *next;
};

typedef struct device_slot {
    int index;
    uint32_t ordinal;
    const cuzk_backend *backend;
    cuzk_device *device;
    cuzk_device_info info;
    int on_host;            /* its memory is the host's: the budget covers it */
    int busy;               /* a thread uses the device; one at a time */
    uint64_t quarantine_ns; /* set aside since; 0: in use */
    unsigned failures_in_row;
    uint64_t proofs, failures;
    char current_job[JOB_ID_SIZE];
    engine_kind current_kind;
} device_slot;

#define JOB_BUCKETS       1024
#define HISTOGRAM_BUCKETS 16
typedef struct histogram {
    uint64_t count[HISTOGRAM_BUCKETS + 1];
    double sum;
} histogram;

/* What the background thread has found out about a parameter file. */
typedef struct digest_verdict {
    uint64_t device, inode, mtime_ns, size;
    int bad;
    char sentence[400];
    struct digest_verdict *next;
} digest_verdict;

struct engine {
    config config;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* anything a worker may wait for */
    pthread_cond_t timer_wake;
    int accepting, draining, stopping;
    store *store;
    pthread_mutex_t submit_lock; /* one submit at a time reaches the store */
    job *jobs, *by_id[JOB_BUCKETS], *by_digest[JOB_BUCKETS];
    uint64_t alive, ended, searches, started_ns;
    unit *units;                   /* every unit alive, in order of creation */
    circuit_key *keys, *dead_keys; /* dead: evicted, not yet unloaded */
    unsigned loaders;              /* threads that load a key */
    poseidon_set *ps;
    pool *synthesis; /* threads that parse, check and make witnesses */
    device_slot *device;
    size_t devices;
    pthread_t *thread;
    size_t threads;
    pthread_t timer_thread, fleet_thread, digest_thread;
    int timer_started, fleet_started, digest_started;
    pthread_mutex_t free_lock; /* pipeline.serial_free */
    uint64_t budget, budget_used, working_reserved;
    digest_verdict *verdicts;
    cancel_token digest_stop;
    uint64_t completed[ENGINE_KINDS], failed[ENGINE_KINDS], cancelled[ENGINE_KINDS], submitted[ENGINE_KINDS];
    uint64_t refused, partitions_proved, retries, invalid_proofs, evictions, batches;
    histogram job_seconds[ENGINE_KINDS], stage_seconds[STAGES];
};

/* ---- engine.c ---- */
/* engine_create with the devices of one back end in place of the configured ones: for tests. */
cuzk_status engine_create_on(engine **out, const config *c, const cuzk_backend *backend, cuzk_error *err);
/* A condition's wait up to a moment of clock_ns. */
void engine_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t when_ns);

/* ---- devices.c ---- */
cuzk_status devices_open(engine *e, const cuzk_backend *only, cuzk_error *err);
void devices_close(engine *e);
/* May it prove now? (Not set aside, or the time for another try has come.) */
int device_usable_locked(const engine *e, const device_slot *d, uint64_t now);
/* Memory that a key may take on a device that is the host itself. */
uint64_t device_host_limit(const engine *e);
void device_count_result(engine *e, device_slot *d, int failed);

/* ---- jobs.c ---- */
cuzk_status job_create(job **out, const request_content *c, const engine_request *q, cuzk_error *err);
/* From the store's row: after a restart, or of another daemon. */
cuzk_status job_restore(job **out, engine *e, const store_job *s, cuzk_error *err);
void job_to_store(const job *j, store_job *s);
void job_insert_locked(engine *e, job *j);
void job_ref_locked(job *j);
void job_unref_locked(job *j);
job *job_find_locked(engine *e, const char *id);
/* The job that the same request joins; NULL: none. */
job *job_find_same_locked(engine *e, const char *request_id, const uint8_t digest[32]);
void job_event(engine *e, job *j, stage_name stage, int32_t partition, int32_t device, uint64_t start_ns,
               uint64_t end_ns);
int job_ended(const job *j);
/* Ends the job if it has not ended: in the store first, then here, then its callbacks. The lock is held on
 * entry and on return, and released in between. COMPLETED: the store knows it already. */
void job_end(engine *e, job *j, job_state state, const char *error);
/* Tells all who wait that the daemon is stopping; the job stays in the store. Lock as above. */
void job_detach(engine *e, job *j);
void job_fill_result(const job *j, job_result *r);
/* Gives back what an ended job no longer needs, once nobody works for it. */
void job_shed_locked(engine *e, job *j);
/* Forgets ended jobs beyond those kept in memory; the store keeps them. */
void jobs_trim_locked(engine *e);

/* ---- resume.c ---- */
/* Reads what the store has not seen end. */
cuzk_status jobs_resume(engine *e, cuzk_error *err);
/* Brings an ended job of the store into memory. */
cuzk_status job_fetch(engine *e, const char *id, cuzk_error *err);
void *fleet_main(void *engine);

/* ---- timer.c ---- */
void *timer_main(void *engine);

/* ---- keys.c ---- */
/* The key of a circuit; where there is none its loading is begun. NULL: no memory for it. */
circuit_key *key_request_locked(engine *e, const circuit_info *info);
void key_unref_locked(engine *e, circuit_key *k);
/* The prover of a key on a device, made on first use; the device is the caller's. */
cuzk_status key_prover(engine *e, circuit_key *k, device_slot *d, groth16_prover **out, cuzk_error *err);
/* Whoever waits for a circuit that is being loaded is told that the daemon is stopping. */
void keys_dismiss_waiters_locked(engine *e);
void keys_destroy(engine *e);
/* Evicts unused keys, least recently used first, until bytes are freed or nothing is left that has been idle
 * for min_idle_ns. Their memory is given back by keys_bury, which whoever scheduled calls before allocating.
 */
uint64_t keys_evict_locked(engine *e, uint64_t bytes, uint64_t min_idle_ns);
void keys_bury(engine *e);

/* ---- digests.c ---- */
/* What is known of the file; NULL: nothing yet. */
const digest_verdict *digest_known_locked(engine *e, const params *p);
/* The verifying key inside a published parameter file, at once. */
cuzk_status digest_check_key(const params *p, const circuit_info *info, cuzk_error *err);
/* Reads a file and compares it with the published digest; a mismatch ends the jobs of the circuit. */
void digest_judge(engine *e, const circuit_info *info, const char *path, const published_file *f);
void *digest_main(void *engine);

/* ---- budget.c ---- */
uint64_t budget_total(const config *c);
/* 1: bytes fit now (idle keys may have been evicted for it), and are reserved; 0: not now. */
int budget_take_locked(engine *e, uint64_t bytes);
void budget_give_locked(engine *e, uint64_t bytes);

/* ---- sched.c ---- */
typedef enum step { STEP_NONE, STEP_PARSE, STEP_WITNESS, STEP_FAIL } step;
engine_priority job_effective_priority(const engine *e, const job *j, uint64_t now);
/* The next step of a preparer. The memory that it takes is reserved (into j->reserved for STEP_PARSE, into
 * *bytes for STEP_WITNESS). STEP_FAIL: the job cannot go on, why says so. */
step sched_next_step_locked(engine *e, job **j, uint64_t *bytes, cuzk_error *why);
/* The next units for a device, the same circuit each; *wake_ns: when to look again where a batch is filling.
 */
size_t sched_next_batch_locked(engine *e, const device_slot *d, unit **out, size_t max, uint64_t *wake_ns);
unit *sched_next_to_finish_locked(engine *e);
uint32_t sched_queue_position_locked(const engine *e, const job *j);
#define MAX_BATCH 64

/* ---- stages.c, prepare.c, prove.c ---- */
cuzk_status stages_start(engine *e, cuzk_error *err);
void stages_stop(engine *e);
void *preparer_main(void *engine);
void *worker_main(void *worker_arg);
void *finisher_main(void *engine);
typedef struct worker_arg {
    engine *e;
    device_slot *d;
} worker_arg;
unit *unit_new_locked(engine *e, job *j);
void unit_free(engine *e, unit *u);
void unit_set_state(engine *e, unit *u, unit_state state);
void job_fail(engine *e, job *j, const cuzk_error *why);

/* ---- metrics.c ---- */
void histogram_add(histogram *h, double seconds);
const char *stage_text(stage_name s);
#endif
