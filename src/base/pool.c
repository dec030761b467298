/* A pool is a set of threads that sleep on a condition and a job description they all read: a counter hands
 * out task numbers. One job runs at a time; callers queue on run_lock. */
#include "base/pool.h"
#include "base/blocks.h"
#include "base/clock.h"
#include "base/mem.h"
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct pool {
    unsigned threads; /* the caller included */
    pthread_t *thread;
    unsigned started;
    pthread_mutex_t run_lock; /* one pool_for at a time */
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    uint64_t generation;
    unsigned active; /* threads still inside the job */
    int stop;
    pool_fn *fn;
    void *ctx;
    size_t tasks;
    const cancel_token *cancel; /* of this job */
    atomic_size_t next;
    blocks blocks;
    uint64_t given_ns; /* when a block was last given back */
};

struct start_arg {
    pool *p;
    unsigned worker;
};

static _Thread_local const pool *inside; /* the pool whose task this thread is running */
/* What this thread watches: proofs that share a pool are stopped one by one. */
static _Thread_local const pool *watching;
static _Thread_local const cancel_token *watched;

static void work(pool *p, unsigned worker)
{
    const pool *outer = inside;
    inside = p;
    for (;;) {
        size_t i = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);
        if (i >= p->tasks || cancel_check(p->cancel))
            break;
        p->fn(p->ctx, i, worker);
    }
    inside = outer;
}

/* The first of the pool's own threads also watches over what waits unused. The lock is held. */
static void sleep_locked(pool *p, unsigned worker)
{
    uint64_t now = clock_ns(), until = p->given_ns + POOL_KEEP_SECONDS * 1000000000u;
    if (worker != 1 || !blocks_waiting(&p->blocks)) {
        pthread_cond_wait(&p->wake, &p->lock);
    } else if (now >= until && !blocks_taken(&p->blocks)) {
        pthread_mutex_unlock(&p->lock);
        blocks_trim(&p->blocks);
        pthread_mutex_lock(&p->lock);
    } else { /* what somebody still uses is given back some time: the watch begins anew then */
        if (now >= until)
            until = now + POOL_KEEP_SECONDS * 1000000000u;
        struct timespec t = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
        pthread_cond_timedwait(&p->wake, &p->lock, &t);
    }
}

static void *thread_main(void *arg)
{
    struct start_arg a = *(struct start_arg *)arg;
    mem_free(arg);
    pool *p = a.p;
    uint64_t seen = 0;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->stop && p->generation == seen)
            sleep_locked(p, a.worker);
        if (p->stop)
            break;
        seen = p->generation;
        pthread_mutex_unlock(&p->lock);
        work(p, a.worker);
        pthread_mutex_lock(&p->lock);
        if (--p->active == 0)
            pthread_cond_signal(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Processors that a cgroup quota grants, rounded up; 0 if there is none. */
static unsigned cgroup_processors(void)
{
    FILE *f = fopen("/sys/fs/cgroup/cpu.max", "re");
    if (!f)
        return 0;
    unsigned long long quota, period;
    unsigned n = 0;
    if (fscanf(f, "%llu %llu", &quota, &period) == 2 && period)
        n = (unsigned)((quota + period - 1) / period);
    fclose(f);
    return n;
}

unsigned pool_processors(void)
{
    cpu_set_t set;
    unsigned n = 1;
    if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
        n = (unsigned)CPU_COUNT(&set);
    unsigned quota = cgroup_processors();
    return quota && quota < n ? quota : n;
}

cuzk_status pool_create(pool **out, unsigned threads, cuzk_error *err)
{
    *out = NULL;
    if (!threads)
        threads = pool_processors();
    pool *p = mem_calloc(1, sizeof(*p));
    if (!p)
        return mem_error(err, sizeof(*p), "a thread pool");
    p->threads = threads;
    pthread_mutex_init(&p->run_lock, NULL);
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&p->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_cond_init(&p->done, NULL);
    blocks_init(&p->blocks);
    p->thread = mem_calloc(threads, sizeof(pthread_t));
    if (!p->thread) {
        pool_destroy(p);
        return mem_error(err, threads * sizeof(pthread_t), "a thread pool");
    }
    for (unsigned i = 1; i < threads; i++) {
        struct start_arg *a = mem_alloc(sizeof(*a));
        if (!a) {
            pool_destroy(p);
            return mem_error(err, sizeof(*a), "a thread pool");
        }
        *a = (struct start_arg){p, i};
        int rc = pthread_create(&p->thread[i], NULL, thread_main, a);
        if (rc) {
            mem_free(a);
            pool_destroy(p);
            return cuzk_error_set(err, CUZK_OUT_OF_MEMORY, "cannot start thread %u of %u: %s", i, threads,
                                  strerror(rc));
        }
        p->started = i;
    }
    *out = p;
    return CUZK_OK;
}

void pool_destroy(pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = 1;
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 1; i <= p->started; i++)
        pthread_join(p->thread[i], NULL);
    mem_free(p->thread);
    pthread_cond_destroy(&p->wake);
    pthread_cond_destroy(&p->done);
    pthread_mutex_destroy(&p->lock);
    pthread_mutex_destroy(&p->run_lock);
    blocks_destroy(&p->blocks);
    mem_free(p);
}

unsigned pool_size(const pool *p)
{
    return p ? p->threads : 1;
}

void pool_for(pool *p, size_t tasks, pool_fn *fn, void *ctx)
{
    pool_for_until(p, NULL, tasks, fn, ctx);
}

void pool_for_until(pool *p, const cancel_token *cancel, size_t tasks, pool_fn *fn, void *ctx)
{
    if (!p || p->threads == 1 || tasks <= 1) {
        for (size_t i = 0; i < tasks && !cancel_check(cancel); i++)
            fn(ctx, i, 0);
        return;
    }
    assert(inside != p && "pool_for from within a task of the same pool");
    pthread_mutex_lock(&p->run_lock);
    p->fn = fn;
    p->ctx = ctx;
    p->tasks = tasks;
    p->cancel = cancel;
    atomic_store_explicit(&p->next, 0, memory_order_relaxed);
    pthread_mutex_lock(&p->lock);
    p->active = p->threads - 1;
    p->generation++;
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    work(p, 0);
    pthread_mutex_lock(&p->lock);
    while (p->active)
        pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
    pthread_mutex_unlock(&p->run_lock);
}

struct range_job {
    pool_range_fn *fn;
    void *ctx;
    size_t n, pieces;
};

static void range_task(void *ctx, size_t task, unsigned worker)
{
    struct range_job *j = ctx;
    size_t first = (size_t)((unsigned __int128)j->n * task / j->pieces);
    size_t end = (size_t)((unsigned __int128)j->n * (task + 1) / j->pieces);
    if (first < end)
        j->fn(j->ctx, first, end, worker);
}

void pool_for_range(pool *p, size_t n, size_t grain, pool_range_fn *fn, void *ctx)
{
    pool_for_range_until(p, NULL, n, grain, fn, ctx);
}

#define PIECES         4  /* a thread */
#define STOPPED_PIECES 32 /* where a token is looked at between them */

void pool_for_range_until(pool *p, const cancel_token *cancel, size_t n, size_t grain, pool_range_fn *fn,
                          void *ctx)
{
    if (!n)
        return;
    if (!grain)
        grain = 1;
    size_t pieces = (size_t)pool_size(p) * (cancel ? STOPPED_PIECES : PIECES);
    if (pool_size(p) == 1 && !cancel)
        pieces = 1;
    if (pieces > (n + grain - 1) / grain)
        pieces = (n + grain - 1) / grain;
    struct range_job j = {fn, ctx, n, pieces};
    pool_for_until(p, cancel, pieces, range_task, &j);
}

void pool_watch(pool *p, const cancel_token *cancel)
{
    watching = cancel ? p : NULL;
    watched = cancel;
}

const cancel_token *pool_watched(const pool *p)
{
    return p && p == watching ? watched : NULL;
}

void *pool_take(pool *p, size_t bytes)
{
    return p ? blocks_take(&p->blocks, bytes) : big_alloc(bytes);
}

void pool_give(pool *p, void *at, size_t bytes)
{
    if (!p) {
        big_free(at, bytes);
        return;
    }
    size_t before = blocks_waiting(&p->blocks);
    blocks_give(&p->blocks, at, bytes);
    pthread_mutex_lock(&p->lock);
    p->given_ns = clock_ns();
    if (!before && blocks_waiting(&p->blocks))
        pthread_cond_broadcast(&p->wake); /* the thread that watches sleeps without end */
    pthread_mutex_unlock(&p->lock);
}

void pool_keep(pool *p, size_t limit)
{
    if (p)
        blocks_raise_limit(&p->blocks, limit);
}

void pool_trim(pool *p)
{
    if (p)
        blocks_trim(&p->blocks);
}

size_t pool_kept(pool *p)
{
    return p ? blocks_waiting(&p->blocks) : 0;
}
