/* Several daemons, one queue: the store in PostgreSQL. A daemon holds one lease, a row that it renews; its
 * claims on partitions hold while the lease does. Leases are judged by the database's clock alone. Every
 * change that others may wait for is announced with NOTIFY. */
#include "base/encode.h"
#include "base/hash.h"
#include "base/mem.h"
#include "store/store_private.h"
#include <stdio.h>
#include <string.h>

#ifndef CUZK_HAVE_PQ
cuzk_status store_postgres_open(store **out, const char *url, uint64_t lease_ms, cuzk_error *err)
{
    (void)url, (void)lease_ms;
    *out = NULL;
    return cuzk_error_set(err, CUZK_UNSUPPORTED,
                          "store.url is postgres://, but this daemon was built without libpq");
}
#else
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define PARAMS 16

typedef struct postgres_store {
    store head;
    pthread_mutex_t lock;
    PGconn *db, *listener;
    int pipe[2]; /* wakes store_wait */
    char me[33]; /* the lease */
    uint64_t lease_ms;
} postgres_store;

static const char SCHEMA[] =
    "CREATE TABLE IF NOT EXISTS cuzk_job(sequence BIGSERIAL UNIQUE, id TEXT PRIMARY KEY, request_id TEXT NOT "
    "NULL,"
    " digest BYTEA NOT NULL, kind INT NOT NULL, priority INT NOT NULL, state INT NOT NULL, partitions INT "
    "NOT NULL,"
    " deadline_ms BIGINT NOT NULL, submitted_ms BIGINT NOT NULL, started_ms BIGINT NOT NULL DEFAULT 0,"
    " ended_ms BIGINT NOT NULL DEFAULT 0, starts INT NOT NULL DEFAULT 0, queue_ms BIGINT NOT NULL DEFAULT 0,"
    " srs_ms BIGINT NOT NULL DEFAULT 0, synthesis_ms BIGINT NOT NULL DEFAULT 0, device_ms BIGINT NOT NULL "
    "DEFAULT 0,"
    " error TEXT NOT NULL DEFAULT '', circuit TEXT NOT NULL, input_bytes BIGINT NOT NULL);"
    "CREATE UNIQUE INDEX IF NOT EXISTS cuzk_job_same ON cuzk_job(request_id, digest) WHERE state < 3;"
    "CREATE INDEX IF NOT EXISTS cuzk_job_ended ON cuzk_job(ended_ms) WHERE state >= 2;"
    "CREATE INDEX IF NOT EXISTS cuzk_job_alive ON cuzk_job(sequence) WHERE state < 2;"
    "CREATE TABLE IF NOT EXISTS cuzk_input(job TEXT PRIMARY KEY REFERENCES cuzk_job(id) ON DELETE CASCADE,"
    " data BYTEA NOT NULL);"
    "ALTER TABLE cuzk_input ALTER COLUMN data SET STORAGE EXTERNAL;"
    "CREATE TABLE IF NOT EXISTS cuzk_part(job TEXT NOT NULL REFERENCES cuzk_job(id) ON DELETE CASCADE,"
    " partition INT NOT NULL, owner TEXT, fence BIGINT NOT NULL DEFAULT 0, claims INT NOT NULL DEFAULT 0,"
    " proof BYTEA, PRIMARY KEY(job, partition));"
    "CREATE TABLE IF NOT EXISTS cuzk_daemon(id TEXT PRIMARY KEY, lease_until TIMESTAMPTZ NOT NULL);";

#define COLUMNS                                                                                              \
    "j.id, j.request_id, encode(j.digest, 'hex'), j.kind, j.priority, j.state, j.partitions, j.sequence,"    \
    " j.deadline_ms, j.submitted_ms, j.started_ms, j.ended_ms, j.starts, j.queue_ms, j.srs_ms, "             \
    "j.synthesis_ms,"                                                                                        \
    " j.device_ms, j.error, j.circuit, j.input_bytes"
/* A partition that nobody proves: never claimed, given back, or its daemon's lease has run out. */
#define IS_OPEN                                                                                              \
    "p.proof IS NULL AND (p.owner IS NULL OR NOT EXISTS (SELECT 1 FROM cuzk_daemon d WHERE d.id = p.owner "  \
    "AND"                                                                                                    \
    " d.lease_until > clock_timestamp()))"

static postgres_store *of(store *s)
{
    return (postgres_store *)s;
}

/* ---- statements ---- */

typedef struct params {
    int count;
    const char *value[PARAMS];
    int length[PARAMS], format[PARAMS];
    char text[PARAMS][24];
} params;

static void add_text(params *p, const char *text)
{
    p->value[p->count] = text;
    p->length[p->count] = 0;
    p->format[p->count++] = 0;
}

static void add_u64(params *p, uint64_t v)
{
    snprintf(p->text[p->count], sizeof(p->text[0]), "%lld", (long long)v);
    add_text(p, p->text[p->count]);
}

static void add_bytes(params *p, const void *data, size_t n)
{
    p->value[p->count] = data;
    p->length[p->count] = (int)n;
    p->format[p->count++] = 1;
}

static cuzk_status failed(postgres_store *s, const PGresult *r, const char *what, cuzk_error *err)
{
    char text[256];
    const char *m = r && *PQresultErrorMessage(r) ? PQresultErrorMessage(r) : PQerrorMessage(s->db);
    snprintf(text, sizeof(text), "%s", m);
    for (char *c = text; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    return cuzk_error_set(err, CUZK_IO_ERROR, "the job store in PostgreSQL cannot %s: %s", what, text);
}

/* A connection that broke is made anew before the next statement; inside a transaction the statement just
 * fails. */
static void revive(postgres_store *s)
{
    if (PQstatus(s->db) != CONNECTION_OK)
        PQreset(s->db);
}

/* Runs a statement; *out (PQclear) unless it is NULL. */
static cuzk_status run(postgres_store *s, const char *sql, const params *p, PGresult **out, const char *what,
                       cuzk_error *err)
{
    PGresult *r = PQexecParams(s->db, sql, p ? p->count : 0, NULL, p ? p->value : NULL, p ? p->length : NULL,
                               p ? p->format : NULL, 0);
    ExecStatusType st = PQresultStatus(r);
    if (st != PGRES_COMMAND_OK && st != PGRES_TUPLES_OK) {
        cuzk_status failure = failed(s, r, what, err);
        PQclear(r);
        return failure;
    }
    if (out)
        *out = r;
    else
        PQclear(r);
    return CUZK_OK;
}

/* Takes the lock and makes sure of the connection; every operation begins so and ends with leave. */
static void enter(postgres_store *s)
{
    pthread_mutex_lock(&s->lock);
    revive(s);
}

static cuzk_status leave(postgres_store *s, cuzk_status st)
{
    pthread_mutex_unlock(&s->lock);
    return st;
}

static cuzk_status begin(postgres_store *s, cuzk_error *err)
{
    enter(s);
    return run(s, "BEGIN", NULL, NULL, "begin", err);
}

/* Commits or rolls back, and leaves. */
static cuzk_status end(postgres_store *s, cuzk_status st, int announce, cuzk_error *err)
{
    if (!st && announce)
        st = run(s, "NOTIFY cuzk", NULL, NULL, "tell others", err);
    if (!st)
        st = run(s, "COMMIT", NULL, NULL, "write", err);
    if (st)
        PQclear(PQexec(s->db, "ROLLBACK"));
    return leave(s, st);
}

static uint64_t cell_u64(const PGresult *r, int row, int column)
{
    return strtoull(PQgetvalue(r, row, column), NULL, 10);
}

static void cell_text(char *out, size_t size, const PGresult *r, int row, int column)
{
    snprintf(out, size, "%s", PQgetvalue(r, row, column));
}

static void read_job(store_job *j, const PGresult *r, int row)
{
    memset(j, 0, sizeof(*j));
    cell_text(j->id, sizeof(j->id), r, row, 0);
    cell_text(j->request_id, sizeof(j->request_id), r, row, 1);
    if (hex_decode(j->digest, 32, PQgetvalue(r, row, 2)))
        memset(j->digest, 0, 32);
    j->kind = (uint32_t)cell_u64(r, row, 3);
    j->priority = (uint32_t)cell_u64(r, row, 4);
    j->state = (store_state)cell_u64(r, row, 5);
    j->partitions = (uint32_t)cell_u64(r, row, 6);
    j->sequence = cell_u64(r, row, 7);
    j->deadline_ms = cell_u64(r, row, 8);
    j->submitted_ms = cell_u64(r, row, 9);
    j->started_ms = cell_u64(r, row, 10);
    j->ended_ms = cell_u64(r, row, 11);
    j->starts = (uint32_t)cell_u64(r, row, 12);
    j->queue_ms = cell_u64(r, row, 13);
    j->srs_ms = cell_u64(r, row, 14);
    j->synthesis_ms = cell_u64(r, row, 15);
    j->device_ms = cell_u64(r, row, 16);
    cell_text(j->error, sizeof(j->error), r, row, 17);
    cell_text(j->circuit, sizeof(j->circuit), r, row, 18);
    j->input_bytes = cell_u64(r, row, 19);
    if (PQnfields(r) > 21) {
        j->open = (uint32_t)cell_u64(r, row, 20);
        j->done = (uint32_t)cell_u64(r, row, 21);
    }
}

static cuzk_status no_job(const char *id, cuzk_error *err)
{
    return cuzk_error_set(err, CUZK_NOT_FOUND, "there is no job \"%.60s\"", id);
}

/* ---- jobs ---- */

static cuzk_status insert_job(postgres_store *s, store_job *j, char *existing, cuzk_error *err)
{
    params p = {0}, same = {0};
    PGresult *r;
    add_text(&p, j->id);
    add_text(&p, j->request_id);
    add_bytes(&p, j->digest, 32);
    add_u64(&p, j->kind);
    add_u64(&p, j->priority);
    add_u64(&p, j->partitions);
    add_u64(&p, j->deadline_ms);
    add_u64(&p, j->submitted_ms);
    add_text(&p, j->circuit);
    add_u64(&p, j->input_bytes);
    cuzk_status st =
        run(s,
            "INSERT INTO cuzk_job(id, request_id, digest, kind, priority, state, partitions, deadline_ms,"
            " submitted_ms, circuit, input_bytes) VALUES($1, $2, $3, $4, $5, 0, $6, $7, $8, $9, $10)"
            " ON CONFLICT (request_id, digest) WHERE state < 3 DO NOTHING RETURNING sequence",
            &p, &r, "keep a job", err);
    if (st)
        return st;
    if (PQntuples(r) == 1)
        j->sequence = cell_u64(r, 0, 0);
    int there = PQntuples(r) == 0;
    PQclear(r);
    if (!there)
        return CUZK_OK;
    add_text(&same, j->request_id);
    add_bytes(&same, j->digest, 32);
    st = run(s, "SELECT id FROM cuzk_job WHERE request_id = $1 AND digest = $2 AND state < 3", &same, &r,
             "find a job", err);
    if (st)
        return st;
    if (PQntuples(r) == 1)
        cell_text(existing, STORE_ID_SIZE, r, 0, 0);
    else
        st = cuzk_error_set(err, CUZK_BUSY, "the same request is just ending; submit it again");
    PQclear(r);
    return st;
}

static cuzk_status pg_add(store *base, store_job *j, const void *input, size_t size, char *existing,
                          cuzk_error *err)
{
    postgres_store *s = of(base);
    if (size > 1000000000)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "an input of %zu MiB is too large to be kept",
                              size >> 20);
    cuzk_status st = begin(s, err);
    if (!st)
        st = insert_job(s, j, existing, err);
    if (!st && !existing[0]) {
        params parts = {0}, data = {0};
        add_text(&parts, j->id);
        add_u64(&parts, j->partitions);
        st = run(s, "INSERT INTO cuzk_part(job, partition) SELECT $1, generate_series(0, $2::int - 1)",
                 &parts, NULL, "keep a job", err);
        add_text(&data, j->id);
        add_bytes(&data, input, size);
        if (!st)
            st =
                run(s, "INSERT INTO cuzk_input(job, data) VALUES($1, $2)", &data, NULL, "keep an input", err);
    }
    return end(s, st, !existing[0], err);
}

static cuzk_status pg_get(store *base, const char *id, store_job *out, cuzk_error *err)
{
    postgres_store *s = of(base);
    params p = {0};
    PGresult *r;
    add_text(&p, id);
    enter(s);
    cuzk_status st =
        run(s,
            "SELECT " COLUMNS ", (SELECT count(*) FROM cuzk_part p WHERE p.job = j.id AND " IS_OPEN "),"
            " (SELECT count(*) FROM cuzk_part p WHERE p.job = j.id AND p.proof IS NOT NULL)"
            " FROM cuzk_job j WHERE j.id = $1",
            &p, &r, "read a job", err);
    if (!st) {
        if (PQntuples(r))
            read_job(out, r, 0);
        else
            st = no_job(id, err);
        PQclear(r);
    }
    return leave(s, st);
}

static cuzk_status pg_input(store *base, const char *id, uint8_t **data, size_t *size, cuzk_error *err)
{
    postgres_store *s = of(base);
    const char *values[1] = {id};
    enter(s);
    cuzk_status st = CUZK_OK;
    PGresult *r =
        PQexecParams(s->db, "SELECT data FROM cuzk_input WHERE job = $1", 1, NULL, values, NULL, NULL, 1);
    if (PQresultStatus(r) != PGRES_TUPLES_OK) {
        st = failed(s, r, "read an input", err);
    } else if (!PQntuples(r)) {
        st = cuzk_error_set(err, CUZK_NOT_FOUND, "the input of the job is no longer in the store");
    } else {
        size_t n = (size_t)PQgetlength(r, 0, 0);
        *data = mem_alloc(n);
        *size = n;
        if (*data)
            memcpy(*data, PQgetvalue(r, 0, 0), n);
        else
            st = mem_error(err, n, "a job's input");
    }
    PQclear(r);
    return leave(s, st);
}

static cuzk_status pg_proofs(store *base, const char *id, uint32_t partitions, uint8_t *proof, uint8_t *have,
                             cuzk_error *err)
{
    postgres_store *s = of(base);
    params p = {0};
    PGresult *r;
    add_text(&p, id);
    enter(s);
    cuzk_status st =
        run(s, "SELECT partition, encode(proof, 'hex') FROM cuzk_part WHERE job = $1 AND proof IS NOT NULL",
            &p, &r, "read proofs", err);
    for (int i = 0; !st && i < PQntuples(r); i++) {
        uint64_t k = cell_u64(r, i, 0);
        if (k < partitions &&
            !hex_decode(proof + k * STORE_PROOF_BYTES, STORE_PROOF_BYTES, PQgetvalue(r, i, 1)))
            have[k] = 1;
    }
    if (!st)
        PQclear(r);
    return leave(s, st);
}

/* Calls each outside the lock: it may use the store. */
static cuzk_status list(postgres_store *s, const char *sql, const params *p, store_each_fn *each, void *ctx,
                        cuzk_error *err)
{
    PGresult *r;
    enter(s);
    cuzk_status st = leave(s, run(s, sql, p, &r, "list jobs", err));
    for (int i = 0; !st && i < PQntuples(r); i++) {
        store_job j;
        read_job(&j, r, i);
        each(ctx, &j);
    }
    if (!st)
        PQclear(r);
    return st;
}

static cuzk_status pg_alive(store *base, store_each_fn *each, void *ctx, cuzk_error *err)
{
    return list(of(base),
                "SELECT " COLUMNS ", (SELECT count(*) FROM cuzk_part p WHERE p.job = j.id AND " IS_OPEN "),"
                " (SELECT count(*) FROM cuzk_part p WHERE p.job = j.id AND p.proof IS NOT NULL)"
                " FROM cuzk_job j WHERE j.state < 2 ORDER BY j.sequence",
                NULL, each, ctx, err);
}

static cuzk_status pg_ended(store *base, uint32_t limit, store_each_fn *each, void *ctx, cuzk_error *err)
{
    params p = {0};
    add_u64(&p, limit);
    return list(of(base),
                "SELECT " COLUMNS
                " FROM cuzk_job j WHERE j.state >= 2 ORDER BY j.ended_ms DESC LIMIT $1::bigint",
                &p, each, ctx, err);
}

static cuzk_status pg_start(store *base, const char *id, uint64_t now_ms, cuzk_error *err)
{
    postgres_store *s = of(base);
    params p = {0};
    add_text(&p, id);
    add_u64(&p, now_ms);
    enter(s);
    return leave(
        s, run(s,
               "UPDATE cuzk_job SET state = 1, starts = starts + 1, started_ms ="
               " CASE started_ms WHEN 0 THEN $2::bigint ELSE started_ms END WHERE id = $1 AND state < 2",
               &p, NULL, "mark a job as begun", err));
}

/* The others go on with it: giving back the claims is all there is to do. */
static cuzk_status pg_requeue(store *base, const char *id, cuzk_error *err)
{
    postgres_store *s = of(base);
    params p = {0};
    add_text(&p, id);
    add_text(&p, s->me);
    enter(s);
    return leave(s,
                 run(s,
                     "UPDATE cuzk_part SET owner = NULL, claims = greatest(claims - 1, 0) WHERE job = $1 AND"
                     " owner = $2 AND proof IS NULL",
                     &p, NULL, "put a job back", err));
}

/* ---- partitions ---- */

static cuzk_status pg_claim(store *base, const char *id, uint32_t *partition, uint64_t *fence,
                            uint32_t *claims, cuzk_error *err)
{
    postgres_store *s = of(base);
    params p = {0};
    PGresult *r;
    enter(s);
    add_text(&p, id);
    add_text(&p, s->me);
    cuzk_status st =
        run(s,
            "UPDATE cuzk_part SET owner = $2, fence = fence + 1, claims = claims + 1 WHERE job = $1 AND "
            "partition ="
            " (SELECT p.partition FROM cuzk_part p WHERE p.job = $1 AND " IS_OPEN " AND EXISTS (SELECT 1 FROM"
            " cuzk_job j WHERE j.id = $1 AND j.state < 2) ORDER BY p.partition LIMIT 1 FOR UPDATE OF p SKIP "
            "LOCKED)"
            " AND EXISTS (SELECT 1 FROM cuzk_daemon WHERE id = $2 AND lease_until > clock_timestamp())"
            " RETURNING partition, fence, claims",
            &p, &r, "claim a partition", err);
    if (!st) {
        if (PQntuples(r)) {
            *partition = (uint32_t)cell_u64(r, 0, 0);
            *fence = cell_u64(r, 0, 1);
            *claims = (uint32_t)cell_u64(r, 0, 2);
        } else {
            st = cuzk_error_set(err, CUZK_NOT_FOUND, "no partition of job %s is open", id);
        }
        PQclear(r);
    }
    return leave(s, st);
}

static cuzk_status pg_release(store *base, const char *id, uint32_t partition, uint64_t fence,
                              cuzk_error *err)
{
    postgres_store *s = of(base);
    params p = {0};
    add_text(&p, id);
    add_u64(&p, partition);
    add_u64(&p, fence);
    cuzk_status st = begin(s, err);
    add_text(&p, s->me);
    if (!st)
        st = run(s,
                 "UPDATE cuzk_part SET owner = NULL, claims = greatest(claims - 1, 0) WHERE job = $1 AND"
                 " partition = $2::int AND fence = $3::bigint AND owner = $4 AND proof IS NULL",
                 &p, NULL, "give back a partition", err);
    return end(s, st, 1, err);
}

/* The state of a job, whose row stays locked until the transaction's end; STORE_FAILED where there is none.
 */
static cuzk_status lock_job(postgres_store *s, const char *id, store_state *state, cuzk_error *err)
{
    params p = {0};
    PGresult *r;
    add_text(&p, id);
    cuzk_status st = run(s, "SELECT state FROM cuzk_job WHERE id = $1 FOR UPDATE", &p, &r, "read a job", err);
    if (st)
        return st;
    if (PQntuples(r))
        *state = (store_state)cell_u64(r, 0, 0);
    else
        st = no_job(id, err);
    PQclear(r);
    return st;
}

static cuzk_status end_job(postgres_store *s, const store_job *j, store_state state, cuzk_error *err)
{
    params p = {0}, id = {0};
    add_text(&p, j->id);
    add_u64(&p, state);
    add_u64(&p, j->ended_ms);
    add_u64(&p, j->queue_ms);
    add_u64(&p, j->srs_ms);
    add_u64(&p, j->synthesis_ms);
    add_u64(&p, j->device_ms);
    add_text(&p, j->error);
    cuzk_status st = run(s,
                         "UPDATE cuzk_job SET state = $2::int, ended_ms = $3::bigint, queue_ms = $4::bigint,"
                         " srs_ms = $5::bigint, synthesis_ms = $6::bigint, device_ms = $7::bigint, error = $8"
                         " WHERE id = $1",
                         &p, NULL, "end a job", err);
    add_text(&id, j->id);
    return st ? st : run(s, "DELETE FROM cuzk_input WHERE job = $1", &id, NULL, "drop an input", err);
}

static cuzk_status write_part(postgres_store *s, const store_job *j, uint32_t partition, uint64_t fence,
                              const uint8_t *proof, int *complete, cuzk_error *err)
{
    params p = {0}, id = {0};
    PGresult *r;
    add_text(&p, j->id);
    add_u64(&p, partition);
    add_u64(&p, fence);
    add_text(&p, s->me);
    add_bytes(&p, proof, STORE_PROOF_BYTES);
    cuzk_status st = run(s,
                         "UPDATE cuzk_part SET proof = $5 WHERE job = $1 AND partition = $2::int AND"
                         " fence = $3::bigint AND owner = $4 AND proof IS NULL",
                         &p, &r, "keep a proof", err);
    if (st)
        return st;
    int written = strcmp(PQcmdTuples(r), "1") == 0;
    PQclear(r);
    if (!written)
        return cuzk_error_set(err, CUZK_BUSY, "partition %u of job %s is another daemon's by now", partition,
                              j->id);
    add_text(&id, j->id);
    st = run(s, "SELECT count(*) FROM cuzk_part WHERE job = $1 AND proof IS NULL", &id, &r, "count proofs",
             err);
    if (st)
        return st;
    *complete = cell_u64(r, 0, 0) == 0;
    PQclear(r);
    return *complete ? end_job(s, j, STORE_COMPLETED, err) : CUZK_OK;
}

static cuzk_status pg_part(store *base, const store_job *j, uint32_t partition, uint64_t fence,
                           const uint8_t *proof, int *complete, cuzk_error *err)
{
    postgres_store *s = of(base);
    store_state state = STORE_FAILED;
    cuzk_status st = begin(s, err);
    if (!st)
        st = lock_job(s, j->id, &state, err);
    if (!st && state >= STORE_COMPLETED)
        st = cuzk_error_set(err, CUZK_BUSY, "job %s has ended", j->id);
    if (!st)
        st = write_part(s, j, partition, fence, proof, complete, err);
    st = end(s, st, 1, err);
    if (st)
        *complete = 0;
    return st;
}

static cuzk_status pg_finish(store *base, const store_job *j, store_state *ended, cuzk_error *err)
{
    postgres_store *s = of(base);
    params id = {0};
    store_state now = STORE_FAILED;
    *ended = j->state;
    cuzk_status st = begin(s, err);
    if (!st)
        st = lock_job(s, j->id, &now, err);
    add_text(&id, j->id);
    if (!st && now >= STORE_COMPLETED) {
        *ended = now;
    } else if (!st) {
        st = end_job(s, j, j->state, err);
        if (!st)
            st = run(s, "DELETE FROM cuzk_part WHERE job = $1", &id, NULL, "drop proofs", err);
    }
    return end(s, st, 1, err);
}

static cuzk_status pg_expire(store *base, uint64_t before_ms, uint64_t keep, cuzk_error *err)
{
    postgres_store *s = of(base);
    params p = {0};
    add_u64(&p, before_ms);
    add_u64(&p, keep > INT64_MAX ? INT64_MAX : keep);
    enter(s);
    return leave(
        s, run(s,
               "DELETE FROM cuzk_job WHERE state >= 2 AND (ended_ms < $1::bigint OR sequence NOT IN (SELECT"
               " sequence FROM cuzk_job WHERE state >= 2 ORDER BY ended_ms DESC, sequence DESC LIMIT"
               " $2::bigint))",
               &p, NULL, "expire jobs", err));
}

/* ---- leases ---- */

static cuzk_status take_lease(postgres_store *s, cuzk_error *err)
{
    uint8_t id[16];
    params p = {0};
    if (random_bytes(id, sizeof(id)))
        return cuzk_error_set(err, CUZK_IO_ERROR, "the kernel gave no randomness");
    hex_encode(s->me, id, sizeof(id));
    add_text(&p, s->me);
    add_u64(&p, s->lease_ms);
    return run(s,
               "INSERT INTO cuzk_daemon(id, lease_until) VALUES($1, clock_timestamp() + $2::bigint *"
               " interval '1 millisecond')",
               &p, NULL, "take a lease", err);
}

static cuzk_status pg_heartbeat(store *base, int *lost, cuzk_error *err)
{
    postgres_store *s = of(base);
    params p = {0};
    PGresult *r;
    enter(s);
    add_text(&p, s->me);
    add_u64(&p, s->lease_ms);
    cuzk_status st = run(s,
                         "UPDATE cuzk_daemon SET lease_until = clock_timestamp() + $2::bigint *"
                         " interval '1 millisecond' WHERE id = $1 AND lease_until > clock_timestamp()",
                         &p, &r, "renew the lease", err);
    if (!st) {
        *lost = strcmp(PQcmdTuples(r), "1") != 0;
        PQclear(r);
    }
    if (!st && *lost)
        st = take_lease(s, err);
    if (!st)
        st = run(s, "DELETE FROM cuzk_daemon WHERE lease_until < clock_timestamp() - interval '1 day'", NULL,
                 NULL, "forget daemons", err);
    return leave(s, st);
}

static int take_notices(postgres_store *s)
{
    int n = 0;
    PQconsumeInput(s->listener);
    for (PGnotify *note; (note = PQnotifies(s->listener)) != NULL; PQfreemem(note))
        n += note->be_pid != PQbackendPID(s->db);
    return n;
}

static void pg_wait(store *base, uint64_t timeout_ms)
{
    postgres_store *s = of(base);
    if (PQstatus(s->listener) != CONNECTION_OK) {
        PQreset(s->listener);
        PQclear(PQexec(s->listener, "LISTEN cuzk"));
    }
    for (;;) {
        if (take_notices(s))
            return;
        struct pollfd f[2] = {{PQsocket(s->listener), POLLIN, 0}, {s->pipe[0], POLLIN, 0}};
        int broken = PQstatus(s->listener) != CONNECTION_OK;
        if (broken)
            timeout_ms = timeout_ms < 500 ? timeout_ms : 500;
        int n = poll(broken ? f + 1 : f, broken ? 1 : 2, (int)timeout_ms);
        if (n <= 0 || f[1].revents || broken)
            return;
    }
}

static void pg_wake(store *base)
{
    postgres_store *s = of(base);
    ssize_t n = write(s->pipe[1], "w", 1);
    (void)n; /* a full pipe wakes as well */
}

/* ---- life ---- */

static void pg_close(store *base)
{
    postgres_store *s = of(base);
    if (s->db && PQstatus(s->db) == CONNECTION_OK && s->me[0]) {
        params p = {0};
        cuzk_error ignored;
        add_text(&p, s->me);
        cuzk_status st = run(s, "UPDATE cuzk_part SET owner = NULL WHERE owner = $1 AND proof IS NULL", &p,
                             NULL, "give back claims", &ignored);
        if (!st)
            st = run(s, "DELETE FROM cuzk_daemon WHERE id = $1", &p, NULL, "give back the lease", &ignored);
        if (!st)
            st = run(s, "NOTIFY cuzk", NULL, NULL, "tell others", &ignored);
        (void)st; /* where this fails the lease runs out by itself */
    }
    PQfinish(s->db);
    PQfinish(s->listener);
    if (s->pipe[0]) {
        close(s->pipe[0]);
        close(s->pipe[1]);
    }
    pthread_mutex_destroy(&s->lock);
    mem_free(s);
}

static const store_ops OPS = {
    .close = pg_close,
    .add = pg_add,
    .get = pg_get,
    .input = pg_input,
    .proofs = pg_proofs,
    .alive = pg_alive,
    .ended = pg_ended,
    .start = pg_start,
    .requeue = pg_requeue,
    .claim = pg_claim,
    .release = pg_release,
    .part = pg_part,
    .finish = pg_finish,
    .expire = pg_expire,
    .heartbeat = pg_heartbeat,
    .wait = pg_wait,
    .wake = pg_wake,
};

static void quiet(void *arg, const char *message)
{
    (void)arg, (void)message; /* "relation exists, skipping" */
}

static cuzk_status set_up(postgres_store *s, const char *url, cuzk_error *err)
{
    s->db = PQconnectdb(url);
    s->listener = PQconnectdb(url);
    if (PQstatus(s->db) != CONNECTION_OK)
        return failed(s, NULL, "be reached", err);
    PQsetNoticeProcessor(s->db, quiet, NULL);
    /* Daemons that start together must not create the tables at once. */
    cuzk_status st = run(s, "BEGIN", NULL, NULL, "be set up", err);
    if (!st)
        st = run(s, "SELECT pg_advisory_xact_lock(1668643435)", NULL, NULL, "be set up", err);
    if (!st) {
        PGresult *r = PQexec(s->db, SCHEMA);
        if (PQresultStatus(r) != PGRES_COMMAND_OK)
            st = failed(s, r, "be set up", err);
        PQclear(r);
    }
    if (!st)
        st = run(s, "COMMIT", NULL, NULL, "be set up", err);
    if (!st)
        st = take_lease(s, err);
    if (!st && PQstatus(s->listener) != CONNECTION_OK)
        st = cuzk_error_set(err, CUZK_IO_ERROR, "the job store in PostgreSQL takes no second connection");
    if (!st)
        PQclear(PQexec(s->listener, "LISTEN cuzk"));
    return st;
}

cuzk_status store_postgres_open(store **out, const char *url, uint64_t lease_ms, cuzk_error *err)
{
    *out = NULL;
    postgres_store *s = mem_calloc(1, sizeof(*s));
    if (!s)
        return mem_error(err, sizeof(*s), "the job store");
    s->head.ops = &OPS;
    s->lease_ms = lease_ms;
    pthread_mutex_init(&s->lock, NULL);
    cuzk_status st = pipe(s->pipe) ? cuzk_error_set(err, CUZK_IO_ERROR, "no pipe can be made") : CUZK_OK;
    if (!st)
        st = set_up(s, url, err);
    if (st) {
        pg_close(&s->head);
        return st;
    }
    *out = &s->head;
    return CUZK_OK;
}
#endif
