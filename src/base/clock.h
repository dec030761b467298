/* Time: monotonic nanoseconds, processor time, and cancellation. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H
#include "cuzk/status.h"
#include <stdatomic.h>
#include <stdint.h>
uint64_t clock_ns(void);      /* CLOCK_MONOTONIC */
uint64_t clock_wall_ns(void); /* CLOCK_REALTIME */
uint64_t clock_process_cpu_ns(void);
/* The moment of clock_ns that is ms from now; of times beyond its range (584 years) the last one. */
uint64_t clock_in_ms(uint64_t ms);

/* A request to stop, shared between the thread that asks and the one that works: long operations look at it
 * between pieces of at most some tens of milliseconds. NULL never stops. */
typedef struct cancel_token {
    atomic_int cancelled;
    _Atomic uint64_t deadline_ns; /* clock_ns; 0: none */
} cancel_token;
/* 0: go on; 1: cancelled; 2: the deadline has passed. */
int cancel_check(const cancel_token *t);
/* CUZK_OK: go on. Else CUZK_CANCELLED or CUZK_DEADLINE, and the error says that what ("the check of ...") was
 * stopped. */
cuzk_status cancel_status(const cancel_token *t, const char *what, cuzk_error *err) CUZK_MUST_CHECK;
#endif
