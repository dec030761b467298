/* Where accepted jobs are kept: inputs until a job has ended, proofs of partitions as they are made, results
 * until they expire. SQLite for one daemon, PostgreSQL for several that share a queue.
 *
 * A job's row lives from add to expire. Its partitions are claimed, proved and stored one by one; the job is
 * complete in the same transaction that stores its last partition. In a shared store a claim is a lease: it
 * holds while the daemon that made it renews its own lease, and the fence, a number that grows with each
 * claim, keeps a daemon that lost its lease from writing over its successor. In a private store every claim
 * is this process's own.
 *
 * Functions may be called from any thread; a store serialises them. They touch the disk or the network: never
 * call them with a lock held that others wait for. Times are milliseconds since 1970. */
#ifndef STORE_STORE_H
#define STORE_STORE_H
#include "cuzk/status.h"
#include <stddef.h>
#include <stdint.h>

#define STORE_ID_SIZE     40
#define STORE_PROOF_BYTES 192
#define STORE_NAME_SIZE   264 /* request ids are at most 256 bytes */

/* The numbers are stored: never change them. */
typedef enum store_state {
    STORE_QUEUED,
    STORE_RUNNING,
    STORE_COMPLETED,
    STORE_FAILED,
    STORE_CANCELLED,
    STORE_TIMEOUT
} store_state;

typedef struct store_job {
    char id[STORE_ID_SIZE];
    char request_id[STORE_NAME_SIZE];
    uint8_t digest[32];
    uint32_t kind, priority;
    store_state state;
    char circuit[32]; /* its name */
    uint64_t input_bytes;
    uint32_t partitions;
    uint64_t sequence;    /* order of acceptance, given by the store */
    uint64_t deadline_ms; /* 0: none */
    uint64_t submitted_ms, started_ms, ended_ms;
    uint32_t starts;     /* times it was begun without a partition being stored since */
    uint32_t open, done; /* partitions that can be claimed now, that are proved (shared stores) */
    uint64_t queue_ms, srs_ms, synthesis_ms, device_ms;
    char error[512];
} store_job;

typedef struct store store;
typedef void store_each_fn(void *ctx, const store_job *j);

/* url: "sqlite:/path/jobs.db", "sqlite::memory:", "postgres://..." or "postgresql://...". lease_ms: how long
 * a shared store believes a daemon that has gone silent. CUZK_BUSY: another process has the file open. */
cuzk_status store_open(store **out, const char *url, uint64_t lease_ms, cuzk_error *err) CUZK_MUST_CHECK;
void store_close(store *s); /* gives back the claims of this daemon; NULL allowed */
/* Several daemons may share it. */
int store_shared(const store *s);

/* Keeps a job; j->sequence is filled. Where the same request_id and digest is already there, not ended or
 * completed, nothing is kept and existing receives its id (else ""). On CUZK_OK the job is on disk. */
cuzk_status store_add(store *s, store_job *j, const void *input, size_t size, char existing[STORE_ID_SIZE],
                      cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status store_get(store *s, const char *id, store_job *out, cuzk_error *err) CUZK_MUST_CHECK;
/* The input; mem_free. CUZK_NOT_FOUND: the job has ended, and its input is gone. */
cuzk_status store_input(store *s, const char *id, uint8_t **data, size_t *size,
                        cuzk_error *err) CUZK_MUST_CHECK;
/* Stored proofs into proof (partitions * 192 bytes); have[k] becomes 1 where partition k is there. */
cuzk_status store_proofs(store *s, const char *id, uint32_t partitions, uint8_t *proof, uint8_t *have,
                         cuzk_error *err) CUZK_MUST_CHECK;
/* Every job that has not ended, in order of acceptance. */
cuzk_status store_alive(store *s, store_each_fn *each, void *ctx, cuzk_error *err) CUZK_MUST_CHECK;
/* The latest ended ones, newest first. */
cuzk_status store_ended(store *s, uint32_t limit, store_each_fn *each, void *ctx,
                        cuzk_error *err) CUZK_MUST_CHECK;

/* It begins: queued becomes running, and starts counts up. */
cuzk_status store_start(store *s, const char *id, uint64_t now_ms, cuzk_error *err) CUZK_MUST_CHECK;
/* It was stopped in good order: running becomes queued, and starts is 0 again. */
cuzk_status store_requeue(store *s, const char *id, cuzk_error *err) CUZK_MUST_CHECK;
/* Shared stores: the first partition that nobody holds. CUZK_NOT_FOUND: none now. *claims counts how often it
 * has been claimed without result. */
cuzk_status store_claim(store *s, const char *id, uint32_t *partition, uint64_t *fence, uint32_t *claims,
                        cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status store_release(store *s, const char *id, uint32_t partition, uint64_t fence,
                          cuzk_error *err) CUZK_MUST_CHECK;
/* Keeps the proof of a partition; with the last one the job is complete (*complete), with the times in j.
 * CUZK_BUSY: the claim is no longer this daemon's, or the job has ended: nothing was written. */
cuzk_status store_part(store *s, const store_job *j, uint32_t partition, uint64_t fence,
                       const uint8_t proof[STORE_PROOF_BYTES], int *complete,
                       cuzk_error *err) CUZK_MUST_CHECK;
/* Ends a job (id, state, error, times; not COMPLETED) and drops its input. *ended receives the state that the
 * job has now: another one where it had ended before. */
cuzk_status store_finish(store *s, const store_job *j, store_state *ended, cuzk_error *err) CUZK_MUST_CHECK;
/* Removes what ended before a time, and all but the newest keep ended jobs. */
cuzk_status store_expire(store *s, uint64_t before_ms, uint64_t keep, cuzk_error *err) CUZK_MUST_CHECK;

/* Shared stores. Renews this daemon's lease; *lost: it had run out, so that all its claims are gone, and a
 * new one was taken. */
cuzk_status store_heartbeat(store *s, int *lost, cuzk_error *err) CUZK_MUST_CHECK;
/* Waits until another daemon changed something, the time is over, or store_wake. Not serialised with the
 * rest. */
void store_wait(store *s, uint64_t timeout_ms);
void store_wake(store *s);
#endif
