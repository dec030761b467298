/* One daemon's store: a SQLite database in WAL mode, held exclusively so that no second daemon opens it.
 * Inputs are streamed in and out in pieces; nothing of their size is ever allocated by SQLite. */
#include "base/file.h"
#include "base/mem.h"
#include "store/store_private.h"
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE          (1 << 20)
#define SCHEMA_VERSION 1
/* A checkpoint copies what was written into the database proper. Whoever submits should not pay for it: add
 * leaves it to the operations of the engine's own threads unless very much has gathered. */
#define WAL_PAGES     2000
#define WAL_PAGES_ADD 50000

typedef struct sqlite_store {
    store head;
    pthread_mutex_t lock;
    sqlite3 *db;
    char *path;
    int wal_pages; /* written since the last checkpoint */
} sqlite_store;

static const char SCHEMA[] =
    "CREATE TABLE IF NOT EXISTS job(sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
    " request_id TEXT NOT NULL, digest BLOB NOT NULL, kind INTEGER NOT NULL, priority INTEGER NOT NULL,"
    " state INTEGER NOT NULL, partitions INTEGER NOT NULL, deadline_ms INTEGER NOT NULL,"
    " submitted_ms INTEGER NOT NULL, started_ms INTEGER NOT NULL DEFAULT 0, ended_ms INTEGER NOT NULL "
    "DEFAULT 0,"
    " starts INTEGER NOT NULL DEFAULT 0, queue_ms INTEGER NOT NULL DEFAULT 0, srs_ms INTEGER NOT NULL "
    "DEFAULT 0,"
    " synthesis_ms INTEGER NOT NULL DEFAULT 0, device_ms INTEGER NOT NULL DEFAULT 0,"
    " error TEXT NOT NULL DEFAULT '', circuit TEXT NOT NULL, input_bytes INTEGER NOT NULL);"
    "CREATE UNIQUE INDEX IF NOT EXISTS job_same ON job(request_id, digest) WHERE state < 3;"
    "CREATE INDEX IF NOT EXISTS job_ended ON job(ended_ms) WHERE state >= 2;"
    "CREATE INDEX IF NOT EXISTS job_alive ON job(sequence) WHERE state < 2;"
    "CREATE TABLE IF NOT EXISTS input(sequence INTEGER PRIMARY KEY, data BLOB NOT NULL);"
    "CREATE TABLE IF NOT EXISTS part(sequence INTEGER NOT NULL, partition INTEGER NOT NULL, proof BLOB NOT "
    "NULL,"
    " PRIMARY KEY(sequence, partition)) WITHOUT ROWID;";

#define COLUMNS                                                                                              \
    "id, request_id, digest, kind, priority, state, partitions, sequence, deadline_ms, submitted_ms, "       \
    "started_ms,"                                                                                            \
    " ended_ms, starts, queue_ms, srs_ms, synthesis_ms, device_ms, error,"                                   \
    " circuit, input_bytes"

static sqlite_store *of(store *s)
{
    return (sqlite_store *)s;
}

static cuzk_status failed(sqlite_store *s, const char *what, cuzk_error *err)
{
    int code = sqlite3_errcode(s->db);
    cuzk_status st = code == SQLITE_NOMEM  ? CUZK_OUT_OF_MEMORY
                     : code == SQLITE_BUSY ? CUZK_BUSY
                                           : CUZK_IO_ERROR;
    return cuzk_error_set(err, st, "the job store %s cannot %s: %s", s->path, what, sqlite3_errmsg(s->db));
}

/* ---- statements ---- */

static sqlite3_stmt *prepare(sqlite_store *s, const char *sql)
{
    sqlite3_stmt *q = NULL;
    return sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK ? q : NULL;
}

static void bind_u64(sqlite3_stmt *q, int at, uint64_t v)
{
    sqlite3_bind_int64(q, at, (sqlite3_int64)v);
}

static void bind_text(sqlite3_stmt *q, int at, const char *text)
{
    sqlite3_bind_text(q, at, text, -1, SQLITE_STATIC);
}

static uint64_t column_u64(sqlite3_stmt *q, int at)
{
    return (uint64_t)sqlite3_column_int64(q, at);
}

static void column_text(char *out, size_t size, sqlite3_stmt *q, int at)
{
    const char *text = (const char *)sqlite3_column_text(q, at);
    snprintf(out, size, "%s", text ? text : "");
}

/* Runs a statement that returns nothing; q may be NULL (it was not prepared). */
static cuzk_status run(sqlite_store *s, sqlite3_stmt *q, const char *what, cuzk_error *err)
{
    int rc = q ? sqlite3_step(q) : SQLITE_ERROR;
    cuzk_status st = rc == SQLITE_DONE ? CUZK_OK : failed(s, what, err);
    sqlite3_finalize(q);
    return st;
}

static cuzk_status exec(sqlite_store *s, const char *sql, const char *what, cuzk_error *err)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? CUZK_OK : failed(s, what, err);
}

/* Ends a transaction well or not; returns st, or why the commit failed. */
static cuzk_status finish_transaction(sqlite_store *s, cuzk_status st, cuzk_error *err)
{
    if (!st)
        st = exec(s, "COMMIT", "write", err);
    if (st)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL); /* fails where SQLite has rolled back already */
    return st;
}

static int on_commit(void *ctx, sqlite3 *db, const char *name, int pages)
{
    (void)db, (void)name;
    ((sqlite_store *)ctx)->wal_pages = pages;
    return SQLITE_OK;
}

static void checkpoint(sqlite_store *s, int limit)
{
    if (s->wal_pages <= limit)
        return;
    s->wal_pages = 0; /* a failure only means that the log stays as it is until the next time */
    sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

static void read_job(store_job *j, sqlite3_stmt *q)
{
    memset(j, 0, sizeof(*j));
    column_text(j->id, sizeof(j->id), q, 0);
    column_text(j->request_id, sizeof(j->request_id), q, 1);
    if (sqlite3_column_bytes(q, 2) == 32)
        memcpy(j->digest, sqlite3_column_blob(q, 2), 32);
    j->kind = (uint32_t)column_u64(q, 3);
    j->priority = (uint32_t)column_u64(q, 4);
    j->state = (store_state)column_u64(q, 5);
    j->partitions = (uint32_t)column_u64(q, 6);
    j->sequence = column_u64(q, 7);
    j->deadline_ms = column_u64(q, 8);
    j->submitted_ms = column_u64(q, 9);
    j->started_ms = column_u64(q, 10);
    j->ended_ms = column_u64(q, 11);
    j->starts = (uint32_t)column_u64(q, 12);
    j->queue_ms = column_u64(q, 13);
    j->srs_ms = column_u64(q, 14);
    j->synthesis_ms = column_u64(q, 15);
    j->device_ms = column_u64(q, 16);
    column_text(j->error, sizeof(j->error), q, 17);
    column_text(j->circuit, sizeof(j->circuit), q, 18);
    j->input_bytes = column_u64(q, 19);
}

/* The sequence of a job; 0: there is none. */
static uint64_t sequence_of(sqlite_store *s, const char *id, store_state *state)
{
    sqlite3_stmt *q = prepare(s, "SELECT sequence, state FROM job WHERE id = ?");
    uint64_t n = 0;
    if (q) {
        bind_text(q, 1, id);
        if (sqlite3_step(q) == SQLITE_ROW) {
            n = column_u64(q, 0);
            if (state)
                *state = (store_state)column_u64(q, 1);
        }
    }
    sqlite3_finalize(q);
    return n;
}

static cuzk_status no_job(const char *id, cuzk_error *err)
{
    return cuzk_error_set(err, CUZK_NOT_FOUND, "there is no job \"%.60s\"", id);
}

/* ---- jobs ---- */

static void find_same(sqlite_store *s, const store_job *j, char *existing)
{
    sqlite3_stmt *q = prepare(s, "SELECT id FROM job WHERE request_id = ? AND digest = ? AND state < 3");
    if (q) {
        bind_text(q, 1, j->request_id);
        sqlite3_bind_blob(q, 2, j->digest, 32, SQLITE_STATIC);
        if (sqlite3_step(q) == SQLITE_ROW)
            column_text(existing, STORE_ID_SIZE, q, 0);
    }
    sqlite3_finalize(q);
}

static cuzk_status insert_input(sqlite_store *s, uint64_t sequence, const uint8_t *data, size_t size,
                                cuzk_error *err)
{
    sqlite3_stmt *q = prepare(s, "INSERT INTO input(sequence, data) VALUES(?, zeroblob(?))");
    bind_u64(q, 1, sequence);
    bind_u64(q, 2, size);
    cuzk_status st = run(s, q, "keep an input", err);
    if (st)
        return st;
    sqlite3_blob *b = NULL;
    if (sqlite3_blob_open(s->db, "main", "input", "data", (sqlite3_int64)sequence, 1, &b) != SQLITE_OK)
        st = failed(s, "keep an input", err);
    for (size_t at = 0; !st && at < size; at += PIECE) {
        int n = size - at < PIECE ? (int)(size - at) : PIECE;
        if (sqlite3_blob_write(b, data + at, n, (int)at) != SQLITE_OK)
            st = failed(s, "keep an input", err);
    }
    sqlite3_blob_close(b);
    return st;
}

static cuzk_status insert_job(sqlite_store *s, store_job *j, cuzk_error *err)
{
    sqlite3_stmt *q = prepare(s, "INSERT INTO job(id, request_id, digest, kind, priority, state, partitions,"
                                 " deadline_ms, submitted_ms, circuit, input_bytes)"
                                 " VALUES(?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?)");
    bind_text(q, 1, j->id);
    bind_text(q, 2, j->request_id);
    sqlite3_bind_blob(q, 3, j->digest, 32, SQLITE_STATIC);
    bind_u64(q, 4, j->kind);
    bind_u64(q, 5, j->priority);
    bind_u64(q, 6, j->partitions);
    bind_u64(q, 7, j->deadline_ms);
    bind_u64(q, 8, j->submitted_ms);
    bind_text(q, 9, j->circuit);
    bind_u64(q, 10, j->input_bytes);
    cuzk_status st = run(s, q, "keep a job", err);
    j->sequence = (uint64_t)sqlite3_last_insert_rowid(s->db);
    return st;
}

static cuzk_status sqlite_add(store *base, store_job *j, const void *input, size_t size, char *existing,
                              cuzk_error *err)
{
    sqlite_store *s = of(base);
    if (size > 0x7fffffff)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "an input of %zu MiB is too large to be kept",
                              size >> 20);
    pthread_mutex_lock(&s->lock);
    find_same(s, j, existing);
    cuzk_status st = CUZK_OK;
    if (!existing[0]) {
        st = exec(s, "BEGIN IMMEDIATE", "write", err);
        if (!st) {
            st = insert_job(s, j, err);
            if (!st)
                st = insert_input(s, j->sequence, input, size, err);
            st = finish_transaction(s, st, err);
        }
    }
    checkpoint(s, WAL_PAGES_ADD);
    pthread_mutex_unlock(&s->lock);
    return st;
}

static cuzk_status sqlite_get(store *base, const char *id, store_job *out, cuzk_error *err)
{
    sqlite_store *s = of(base);
    pthread_mutex_lock(&s->lock);
    sqlite3_stmt *q = prepare(s, "SELECT " COLUMNS " FROM job WHERE id = ?");
    bind_text(q, 1, id);
    int rc = q ? sqlite3_step(q) : SQLITE_ERROR;
    cuzk_status st = CUZK_OK;
    if (rc == SQLITE_ROW)
        read_job(out, q);
    else
        st = rc == SQLITE_DONE ? no_job(id, err) : failed(s, "read a job", err);
    sqlite3_finalize(q);
    pthread_mutex_unlock(&s->lock);
    return st;
}

static cuzk_status read_blob(sqlite_store *s, uint64_t sequence, uint8_t **data, size_t *size,
                             cuzk_error *err)
{
    sqlite3_blob *b = NULL;
    if (sqlite3_blob_open(s->db, "main", "input", "data", (sqlite3_int64)sequence, 0, &b) != SQLITE_OK) {
        sqlite3_blob_close(b);
        return cuzk_error_set(err, CUZK_NOT_FOUND, "the input of the job is no longer in the store");
    }
    size_t n = (size_t)sqlite3_blob_bytes(b);
    uint8_t *p = mem_alloc(n);
    cuzk_status st = p ? CUZK_OK : mem_error(err, n, "a job's input");
    for (size_t at = 0; !st && at < n; at += PIECE) {
        int k = n - at < PIECE ? (int)(n - at) : PIECE;
        if (sqlite3_blob_read(b, p + at, k, (int)at) != SQLITE_OK)
            st = failed(s, "read an input", err);
    }
    sqlite3_blob_close(b);
    if (st) {
        mem_free(p);
        return st;
    }
    *data = p;
    *size = n;
    return CUZK_OK;
}

static cuzk_status sqlite_input(store *base, const char *id, uint8_t **data, size_t *size, cuzk_error *err)
{
    sqlite_store *s = of(base);
    pthread_mutex_lock(&s->lock);
    uint64_t sequence = sequence_of(s, id, NULL);
    cuzk_status st = sequence ? read_blob(s, sequence, data, size, err) : no_job(id, err);
    pthread_mutex_unlock(&s->lock);
    return st;
}

static cuzk_status sqlite_proofs(store *base, const char *id, uint32_t partitions, uint8_t *proof,
                                 uint8_t *have, cuzk_error *err)
{
    sqlite_store *s = of(base);
    pthread_mutex_lock(&s->lock);
    sqlite3_stmt *q = prepare(
        s, "SELECT partition, proof FROM part WHERE sequence = (SELECT sequence FROM job WHERE id = ?)");
    bind_text(q, 1, id);
    int rc = SQLITE_ERROR;
    while (q && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        uint64_t k = column_u64(q, 0);
        if (k < partitions && sqlite3_column_bytes(q, 1) == STORE_PROOF_BYTES) {
            memcpy(proof + k * STORE_PROOF_BYTES, sqlite3_column_blob(q, 1), STORE_PROOF_BYTES);
            have[k] = 1;
        }
    }
    cuzk_status st = rc == SQLITE_DONE ? CUZK_OK : failed(s, "read proofs", err);
    sqlite3_finalize(q);
    pthread_mutex_unlock(&s->lock);
    return st;
}

static cuzk_status each_row(sqlite_store *s, sqlite3_stmt *q, store_each_fn *each, void *ctx, cuzk_error *err)
{
    int rc = SQLITE_ERROR;
    while (q && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        store_job j;
        read_job(&j, q);
        each(ctx, &j);
    }
    cuzk_status st = rc == SQLITE_DONE ? CUZK_OK : failed(s, "list jobs", err);
    sqlite3_finalize(q);
    return st;
}

static cuzk_status sqlite_alive(store *base, store_each_fn *each, void *ctx, cuzk_error *err)
{
    sqlite_store *s = of(base);
    pthread_mutex_lock(&s->lock);
    sqlite3_stmt *q = prepare(s, "SELECT " COLUMNS " FROM job WHERE state < 2 ORDER BY sequence");
    cuzk_status st = each_row(s, q, each, ctx, err);
    pthread_mutex_unlock(&s->lock);
    return st;
}

static cuzk_status sqlite_ended(store *base, uint32_t limit, store_each_fn *each, void *ctx, cuzk_error *err)
{
    sqlite_store *s = of(base);
    pthread_mutex_lock(&s->lock);
    sqlite3_stmt *q =
        prepare(s, "SELECT " COLUMNS " FROM job WHERE state >= 2 ORDER BY ended_ms DESC LIMIT ?");
    bind_u64(q, 1, limit);
    cuzk_status st = each_row(s, q, each, ctx, err);
    pthread_mutex_unlock(&s->lock);
    return st;
}

static cuzk_status sqlite_start(store *base, const char *id, uint64_t now_ms, cuzk_error *err)
{
    sqlite_store *s = of(base);
    pthread_mutex_lock(&s->lock);
    sqlite3_stmt *q =
        prepare(s, "UPDATE job SET state = 1, starts = starts + 1, started_ms = ? WHERE id = ? AND"
                   " state < 2");
    bind_u64(q, 1, now_ms);
    bind_text(q, 2, id);
    cuzk_status st = run(s, q, "mark a job as begun", err);
    checkpoint(s, WAL_PAGES);
    pthread_mutex_unlock(&s->lock);
    return st;
}

static cuzk_status sqlite_requeue(store *base, const char *id, cuzk_error *err)
{
    sqlite_store *s = of(base);
    pthread_mutex_lock(&s->lock);
    sqlite3_stmt *q = prepare(s, "UPDATE job SET state = 0, starts = 0 WHERE id = ? AND state < 2");
    bind_text(q, 1, id);
    cuzk_status st = run(s, q, "put a job back", err);
    pthread_mutex_unlock(&s->lock);
    return st;
}

/* ---- ends ---- */

static cuzk_status end_job(sqlite_store *s, uint64_t sequence, const store_job *j, store_state state,
                           cuzk_error *err)
{
    sqlite3_stmt *q =
        prepare(s, "UPDATE job SET state = ?, ended_ms = ?, queue_ms = ?, srs_ms = ?, synthesis_ms = ?,"
                   " device_ms = ?, error = ? WHERE sequence = ?");
    bind_u64(q, 1, state);
    bind_u64(q, 2, j->ended_ms);
    bind_u64(q, 3, j->queue_ms);
    bind_u64(q, 4, j->srs_ms);
    bind_u64(q, 5, j->synthesis_ms);
    bind_u64(q, 6, j->device_ms);
    bind_text(q, 7, j->error);
    bind_u64(q, 8, sequence);
    cuzk_status st = run(s, q, "end a job", err);
    if (!st) {
        q = prepare(s, "DELETE FROM input WHERE sequence = ?");
        bind_u64(q, 1, sequence);
        st = run(s, q, "drop an input", err);
    }
    return st;
}

static cuzk_status insert_part(sqlite_store *s, uint64_t sequence, uint32_t partition, const uint8_t *proof,
                               cuzk_error *err)
{
    sqlite3_stmt *q = prepare(s, "INSERT OR REPLACE INTO part(sequence, partition, proof) VALUES(?, ?, ?)");
    bind_u64(q, 1, sequence);
    bind_u64(q, 2, partition);
    sqlite3_bind_blob(q, 3, proof, STORE_PROOF_BYTES, SQLITE_STATIC);
    cuzk_status st = run(s, q, "keep a proof", err);
    if (!st) {
        q = prepare(s, "UPDATE job SET starts = 1 WHERE sequence = ?");
        bind_u64(q, 1, sequence);
        st = run(s, q, "keep a proof", err);
    }
    return st;
}

static uint64_t count_parts(sqlite_store *s, uint64_t sequence)
{
    sqlite3_stmt *q = prepare(s, "SELECT count(*) FROM part WHERE sequence = ?");
    bind_u64(q, 1, sequence);
    uint64_t n = q && sqlite3_step(q) == SQLITE_ROW ? column_u64(q, 0) : 0;
    sqlite3_finalize(q);
    return n;
}

static cuzk_status sqlite_part(store *base, const store_job *j, uint32_t partition, uint64_t fence,
                               const uint8_t *proof, int *complete, cuzk_error *err)
{
    (void)fence;
    sqlite_store *s = of(base);
    pthread_mutex_lock(&s->lock);
    cuzk_status st = exec(s, "BEGIN IMMEDIATE", "write", err);
    if (!st) {
        store_state state = STORE_FAILED;
        uint64_t sequence = sequence_of(s, j->id, &state);
        if (!sequence || state >= STORE_COMPLETED)
            st = cuzk_error_set(err, CUZK_BUSY, "job %s has ended", j->id);
        if (!st)
            st = insert_part(s, sequence, partition, proof, err);
        if (!st && count_parts(s, sequence) == j->partitions) {
            *complete = 1;
            st = end_job(s, sequence, j, STORE_COMPLETED, err);
        }
        st = finish_transaction(s, st, err);
    }
    if (st)
        *complete = 0;
    checkpoint(s, WAL_PAGES);
    pthread_mutex_unlock(&s->lock);
    return st;
}

static cuzk_status sqlite_finish(store *base, const store_job *j, store_state *ended, cuzk_error *err)
{
    sqlite_store *s = of(base);
    pthread_mutex_lock(&s->lock);
    *ended = j->state;
    cuzk_status st = exec(s, "BEGIN IMMEDIATE", "write", err);
    if (!st) {
        store_state now = STORE_FAILED;
        uint64_t sequence = sequence_of(s, j->id, &now);
        if (!sequence)
            st = no_job(j->id, err);
        else if (now >= STORE_COMPLETED)
            *ended = now;
        else
            st = end_job(s, sequence, j, j->state, err);
        if (!st && now < STORE_COMPLETED) { /* partitions of a job that failed are of no use */
            sqlite3_stmt *q = prepare(s, "DELETE FROM part WHERE sequence = ?");
            bind_u64(q, 1, sequence);
            st = run(s, q, "drop proofs", err);
        }
        st = finish_transaction(s, st, err);
    }
    checkpoint(s, WAL_PAGES);
    pthread_mutex_unlock(&s->lock);
    return st;
}

static cuzk_status sqlite_expire(store *base, uint64_t before_ms, uint64_t keep, cuzk_error *err)
{
    sqlite_store *s = of(base);
    pthread_mutex_lock(&s->lock);
    cuzk_status st =
        exec(s,
             "BEGIN IMMEDIATE; CREATE TEMP TABLE IF NOT EXISTS old(sequence INTEGER PRIMARY KEY);"
             "DELETE FROM temp.old",
             "expire jobs", err);
    if (!st) {
        sqlite3_stmt *q =
            prepare(s, "INSERT INTO temp.old SELECT sequence FROM job WHERE state >= 2 AND (ended_ms < ?1"
                       " OR sequence NOT IN (SELECT sequence FROM job WHERE state >= 2 ORDER BY"
                       " ended_ms DESC, sequence DESC LIMIT ?2))");
        bind_u64(q, 1, before_ms);
        bind_u64(q, 2, keep > INT64_MAX ? INT64_MAX : keep);
        st = run(s, q, "expire jobs", err);
        if (!st)
            st = exec(s,
                      "DELETE FROM part WHERE sequence IN (SELECT sequence FROM temp.old);"
                      "DELETE FROM input WHERE sequence IN (SELECT sequence FROM temp.old);"
                      "DELETE FROM job WHERE sequence IN (SELECT sequence FROM temp.old)",
                      "expire jobs", err);
    }
    st = finish_transaction(s, st, err);
    checkpoint(s, WAL_PAGES);
    pthread_mutex_unlock(&s->lock);
    return st;
}

/* ---- life ---- */

static void sqlite_close(store *base)
{
    sqlite_store *s = of(base);
    sqlite3_close(s->db);
    pthread_mutex_destroy(&s->lock);
    mem_free(s->path);
    mem_free(s);
}

static const store_ops OPS = {
    .close = sqlite_close,
    .add = sqlite_add,
    .get = sqlite_get,
    .input = sqlite_input,
    .proofs = sqlite_proofs,
    .alive = sqlite_alive,
    .ended = sqlite_ended,
    .start = sqlite_start,
    .requeue = sqlite_requeue,
    .part = sqlite_part,
    .finish = sqlite_finish,
    .expire = sqlite_expire,
};

static cuzk_status check_version(sqlite_store *s, cuzk_error *err)
{
    sqlite3_stmt *q = prepare(s, "PRAGMA user_version");
    uint64_t version = q && sqlite3_step(q) == SQLITE_ROW ? column_u64(q, 0) : 0;
    sqlite3_finalize(q);
    if (version <= SCHEMA_VERSION)
        return CUZK_OK;
    return cuzk_error_set(
        err, CUZK_UNSUPPORTED,
        "the job store %s has version %llu, this daemon knows %d: it was written by a later one", s->path,
        (unsigned long long)version, SCHEMA_VERSION);
}

/* The exclusive lock is taken by the first write and kept until the database is closed. */
static cuzk_status set_up(sqlite_store *s, cuzk_error *err)
{
    cuzk_status st =
        exec(s,
             "PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = 8192; PRAGMA journal_mode = WAL;"
             "PRAGMA synchronous = FULL; PRAGMA cache_size = -1024; PRAGMA temp_store = MEMORY;"
             "PRAGMA journal_size_limit = 16777216",
             "be opened", err);
    if (!st)
        st = check_version(s, err);
    if (!st)
        st = exec(s, "BEGIN IMMEDIATE", "be opened", err);
    if (!st)
        st = finish_transaction(s, exec(s, SCHEMA, "be set up", err), err);
    if (!st)
        st = exec(s, "PRAGMA user_version = 1", "be set up", err);
    if (st == CUZK_BUSY)
        cuzk_error_set(err, st, "the job store %s is in use by another process", s->path);
    return st;
}

static cuzk_status make_folder(const char *path, cuzk_error *err)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return CUZK_OK;
    char *folder = strndup(path, (size_t)(slash - path));
    cuzk_status st = folder ? file_make_dirs(folder, err) : mem_error(err, strlen(path), "a path");
    free(folder);
    return st;
}

cuzk_status store_sqlite_open(store **out, const char *path, cuzk_error *err)
{
    *out = NULL;
    int memory = !strcmp(path, ":memory:");
    if (!*path)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "store.url: sqlite: needs a path or :memory:");
    cuzk_status st = memory ? CUZK_OK : make_folder(path, err);
    if (st)
        return st;
    sqlite_store *s = mem_calloc(1, sizeof(*s));
    if (!s)
        return mem_error(err, sizeof(*s), "the job store");
    s->head.ops = &OPS;
    pthread_mutex_init(&s->lock, NULL);
    s->path = strdup(path);
    if (!s->path)
        st = mem_error(err, strlen(path), "a path");
    else if (sqlite3_open_v2(path, &s->db,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                                 SQLITE_OPEN_PRIVATECACHE,
                             NULL) != SQLITE_OK)
        st = cuzk_error_set(err, CUZK_IO_ERROR, "the job store %s cannot be opened: %s", path,
                            s->db ? sqlite3_errmsg(s->db) : "out of memory");
    if (!st)
        st = set_up(s, err);
    if (!st)
        sqlite3_wal_hook(s->db, on_commit, s);
    if (st) {
        sqlite_close(&s->head);
        return st;
    }
    *out = &s->head;
    return CUZK_OK;
}
