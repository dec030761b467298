/* What the store remembers: jobs of an earlier run, and those of other daemons that share it. */
#include "base/log.h"
#include "base/mem.h"
#include "engine/internal.h"
#include <stdio.h>
#include <string.h>

#define MAX_STARTS 10 /* begun so often, and the process died each time before a partition was done */

typedef struct row_list {
    store_job *row;
    size_t count, cap;
    int failed;
} row_list;

static void collect(void *ctx, const store_job *j)
{
    row_list *l = ctx;
    if (l->count == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 64;
        store_job *larger = mem_realloc(l->row, cap * sizeof(*larger));
        if (!larger) {
            l->failed = 1;
            return;
        }
        l->row = larger;
        l->cap = cap;
    }
    l->row[l->count++] = *j;
}

/* Puts a job of the store into memory. The lock is not held. */
static cuzk_status bring_in(engine *e, const store_job *s, cuzk_error *err)
{
    job *j;
    cuzk_status st = job_restore(&j, e, s, err);
    if (st)
        return st;
    pthread_mutex_lock(&e->lock);
    if (job_find_locked(e, j->id)) {
        job_unref_locked(j);
    } else {
        job_insert_locked(e, j);
        if (store_shared(e->store))
            j->open = s->open;
        pthread_cond_broadcast(&e->changed);
        pthread_cond_signal(&e->timer_wake);
    }
    pthread_mutex_unlock(&e->lock);
    return CUZK_OK;
}

/* A job that brings the process down each time must not do so for ever. */
static cuzk_status give_up(engine *e, store_job *s, cuzk_error *err)
{
    store_state ended;
    s->state = STORE_FAILED;
    s->ended_ms = clock_wall_ns() / 1000000u;
    snprintf(s->error, sizeof(s->error),
             "the daemon ended %u times while it proved this job; look at its log, then submit it again",
             s->starts);
    log_job(LOG_ERROR, "engine", s->id, "%s", s->error);
    return store_finish(e->store, s, &ended, err);
}

cuzk_status jobs_resume(engine *e, cuzk_error *err)
{
    row_list l = {0};
    cuzk_status st = store_ended(e->store, 100, collect, &l, err);
    size_t ended = l.count, resumed = 0;
    if (!st)
        st = store_alive(e->store, collect, &l, err);
    if (!st && l.failed)
        st = mem_error(err, l.cap * sizeof(*l.row), "the jobs of the store");
    for (size_t i = 0; i < l.count && !st; i++) {
        if (i >= ended && !store_shared(e->store) && l.row[i].starts >= MAX_STARTS)
            st = give_up(e, &l.row[i], err);
        if (!st)
            st = bring_in(e, &l.row[i], err);
        resumed += !st && i >= ended;
    }
    mem_free(l.row);
    if (resumed)
        log_write(LOG_INFO, "engine", "%zu job%s of an earlier run %s on", resumed, resumed == 1 ? "" : "s",
                  resumed == 1 ? "goes" : "go");
    return st;
}

cuzk_status job_fetch(engine *e, const char *id, cuzk_error *err)
{
    store_job s;
    cuzk_status st = store_get(e->store, id, &s, err);
    return st ? st : bring_in(e, &s, err);
}

/* ---- several daemons ---- */

static int find_row(const row_list *l, const char *id)
{
    for (size_t i = 0; i < l->count; i++)
        if (!strcmp(l->row[i].id, id))
            return (int)i;
    return -1;
}

/* Takes over what the store says of the jobs that are known; collects those that it no longer lists. */
static size_t compare_locked(engine *e, const row_list *l, char (*gone)[JOB_ID_SIZE], size_t max)
{
    size_t n = 0;
    for (job *j = e->jobs; j; j = j->next) {
        if (job_ended(j) || j->ending)
            continue;
        int at = find_row(l, j->id);
        if (at >= 0) {
            j->open = l->row[at].open;
            j->done = l->row[at].done;
            if (l->row[at].state == STORE_RUNNING && j->state == JOB_QUEUED)
                j->state = JOB_RUNNING;
        } else if (n < max) {
            memcpy(gone[n++], j->id, JOB_ID_SIZE);
        }
    }
    pthread_cond_broadcast(&e->changed);
    return n;
}

#define GONE_AT_ONCE 64
static cuzk_status synchronise(engine *e, cuzk_error *err)
{
    row_list l = {0};
    char gone[GONE_AT_ONCE][JOB_ID_SIZE];
    cuzk_status st = store_alive(e->store, collect, &l, err);
    if (st || l.failed) {
        mem_free(l.row);
        return st ? st : mem_error(err, 0, "the jobs of the store");
    }
    for (size_t i = 0; i < l.count && !st; i++) {
        pthread_mutex_lock(&e->lock);
        int known = job_find_locked(e, l.row[i].id) != NULL;
        pthread_mutex_unlock(&e->lock);
        if (!known)
            st = bring_in(e, &l.row[i], err);
    }
    pthread_mutex_lock(&e->lock);
    size_t n = compare_locked(e, &l, gone, GONE_AT_ONCE);
    pthread_mutex_unlock(&e->lock);
    mem_free(l.row);
    for (size_t i = 0; i < n && !st; i++) {
        store_job s;
        st = store_get(e->store, gone[i], &s, err);
        if (st == CUZK_NOT_FOUND)
            st = CUZK_OK;
        else if (!st && s.state < STORE_COMPLETED)
            continue; /* it was added since the list was read */
        pthread_mutex_lock(&e->lock);
        job *j = job_find_locked(e, gone[i]);
        if (j && !st)
            job_end(e, j, JOB_COMPLETED, NULL); /* as the store says */
        pthread_mutex_unlock(&e->lock);
    }
    return st;
}

void *fleet_main(void *engine_)
{
    engine *e = engine_;
    uint64_t beat_ms = e->config.store.lease_ms / 3;
    pthread_mutex_lock(&e->lock);
    while (!e->stopping) {
        pthread_mutex_unlock(&e->lock);
        cuzk_error why = {0};
        int lost = 0;
        cuzk_status st = store_heartbeat(e->store, &lost, &why);
        if (lost)
            log_write(LOG_WARN, "store", "the lease had run out: partitions under way are proved by others");
        if (!st)
            st = synchronise(e, &why);
        if (st)
            log_write(LOG_ERROR, "store", "%s", why.message);
        store_wait(e->store, beat_ms);
        pthread_mutex_lock(&e->lock);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}
