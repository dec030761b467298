/* What the engine's tests share: a configuration over the test SRS, requests from golden cases, and a back
 * end whose devices are the CPU behind a gate, so that a test decides when a proof goes on, fails or is
 * wrong. */
#ifndef TESTS_ENGINE_SUPPORT_H
#define TESTS_ENGINE_SUPPORT_H
#include "support/vanilla.h" /* jansson before base/json_write.h */

#include "cuzk/backend.h"
#include "engine/engine.h"
#include "engine/internal.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>
/* cmocka.h needs the above */
#include <cmocka.h>

/* ---- configuration and requests ---- */
void test_config(config *c);
void test_set(config *c, const char *key, const char *value); /* "scheduler.order" */
/* A fresh folder under /tmp; test_remove_folder takes it away. */
void test_folder(char out[64]);
void test_remove_folder(const char *path);

typedef struct test_request {
    engine_request q;
    vanilla_case v;
    engine_bytes *list;
    uint8_t randomness[32], comm[3][32];
    uint8_t *c1;
    char id[64];
} test_request;
/* A golden case of tests/data: "window-2k-1sector", "winning-2k-1", "update-2k-5", "porep-2k-v1_1-1". */
void request_open(test_request *r, const char *name, const char *id);
void request_close(test_request *r);
/* Submits under another id; fails the test on an error. Returns the job. */
void submit(engine *e, const test_request *r, const char *id, unsigned priority, char job_id[JOB_ID_SIZE]);

typedef struct outcome {
    job_state state;
    char error[512];
    uint8_t proof[16 * 192];
    size_t proof_size;
    uint64_t ended_ns;
} outcome;
/* Waits for the end of a job, at most timeout_ms (0: five minutes; then state is JOB_TIMEOUT). */
void await_job(engine *e, const char *job_id, uint64_t timeout_ms, outcome *out);
/* Fails the test unless it is completed, and verifies the proof against the request. */
void assert_proved(engine *e, const char *job_id, const test_request *r);
void assert_valid(const test_request *r, const uint8_t *proof, size_t size);

/* ---- the gated back end ---- */
typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned devices;
    int closed, passes;    /* proofs wait, but for so many that may pass */
    int waiting;           /* at the gate now */
    int fail[8], wrong[8]; /* how many of the next proofs of a device fail, or come out wrong */
    int started[8], batches, largest_batch;
    uint64_t delay_ms;
} gate;
extern gate the_gate;
const cuzk_backend *gate_backend(unsigned devices); /* open, nothing fails */
void gate_close(void);
void gate_open(void);
void gate_pass(int proofs);   /* so many go through a closed gate */
int gate_started(int device); /* proofs begun there */
void gate_fail(int device, int proofs);
void gate_spoil(int device, int proofs);
void gate_delay(uint64_t ms);
int gate_largest_batch(void);
void gate_wait(int waiting); /* until so many proofs stand at the gate */

/* ---- time on a machine that does other things as well ---- */
typedef struct moment {
    uint64_t wall_ns, waited_ns;
} moment;
moment moment_now(void);
/* Since then, without the time that threads of this process stood in line for a processor: what the code
 * itself took or slept. */
uint64_t moment_spent_ns(moment since);
uint64_t moment_waited_ns(moment since); /* that time in line, added up over the threads */
#define ACT_WITHIN_NS 200000000u         /* cancellation and deadlines, in every stage */

/* Polls until the condition holds, or fails after two minutes: for states that come, however slow the machine
 * is. */
#define wait_for(condition)                                                                                  \
    do {                                                                                                     \
        uint64_t until_ = clock_ns() + 120000000000u;                                                        \
        while (!(condition) && clock_ns() < until_)                                                          \
            usleep(1000);                                                                                    \
        assert_true(condition);                                                                              \
    } while (0)
/* The same for a condition over what the engine's lock guards. */
#define wait_for_locked(e, condition)                                                                        \
    wait_for(({                                                                                              \
        pthread_mutex_lock(&(e)->lock);                                                                      \
        int holds_ = (condition);                                                                            \
        pthread_mutex_unlock(&(e)->lock);                                                                    \
        holds_;                                                                                              \
    }))
#endif
