/* Thread pool: parallel for. A pool belongs to whoever made it; there is no global one. The calling thread
 * takes part, so a pool of n has n - 1 threads of its own. NULL stands everywhere for "run on the calling
 * thread". */
#ifndef BASE_POOL_H
#define BASE_POOL_H
#include "base/clock.h"
#include "cuzk/status.h"
#include <stddef.h>

typedef struct pool pool;
/* task: 0 .. tasks-1; worker: 0 .. pool_size-1, unique among the threads inside the same pool_for. */
typedef void pool_fn(void *ctx, size_t task, unsigned worker);

/* threads: 0 means one per processor this process may run on (sched_getaffinity, cgroup quota). */
cuzk_status pool_create(pool **out, unsigned threads, cuzk_error *err) CUZK_MUST_CHECK;
void pool_destroy(pool *p);
unsigned pool_size(const pool *p); /* 1 for NULL */
/* Runs fn for every task and returns when all are done. Tasks are handed out one by one, in order. Calls from
 * several threads take turns. From within fn, pass NULL instead of the pool: a nested call would deadlock and
 * is asserted against. */
void pool_for(pool *p, size_t tasks, pool_fn *fn, void *ctx);
/* Splits [0, n) into about 4 pieces a thread of at least grain items and runs fn(ctx, first, end, worker). */
typedef void pool_range_fn(void *ctx, size_t first, size_t end, unsigned worker);
void pool_for_range(pool *p, size_t n, size_t grain, pool_range_fn *fn, void *ctx);
/* The same, until a token stops them: tasks that were not begun then are left out, so whoever calls looks at
 * the token afterwards and throws the result away. cancel NULL: nothing stops them. */
void pool_for_until(pool *p, const cancel_token *cancel, size_t tasks, pool_fn *fn, void *ctx);
void pool_for_range_until(pool *p, const cancel_token *cancel, size_t n, size_t grain, pool_range_fn *fn,
                          void *ctx);
/* A token for long operations deep below that know only the pool (transforms, products). It holds for the
 * calling thread and this pool alone, since proofs that share a pool are stopped one by one; NULL takes it
 * back. pool_watched is NULL where the thread watches nothing in the pool. */
void pool_watch(pool *p, const cancel_token *cancel);
const cancel_token *pool_watched(const pool *p);
unsigned pool_processors(void);

/* Large work memory, 64-byte aligned, with whatever was last in it; NULL without memory. pool_give takes the
 * same size. With pool_keep up to `limit` bytes (0 at first; calls only raise it), what is in use included,
 * wait for the next taker; they go back to the system when nothing was in use for POOL_KEEP_SECONDS, with
 * pool_trim, or at the end. A pool of one thread has nobody to watch the time. */
#define POOL_KEEP_SECONDS 2
void *pool_take(pool *p, size_t bytes);
void pool_give(pool *p, void *at, size_t bytes);
void pool_keep(pool *p, size_t limit);
void pool_trim(pool *p);
size_t pool_kept(pool *p); /* bytes that wait */
#endif
