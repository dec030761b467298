/* The store, in SQLite and in PostgreSQL: what is added stays, ends once, expires; claims and fences. */
#include "engine/postgres_server.h"
#include "engine/support.h"
#include "store/store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static postgres_server server;
static char folder[64];

/* Opens a fresh store of a kind: "memory", "file", "postgres". */
static store *open_store(const char *kind)
{
    static int n;
    char url[200];
    store *s;
    cuzk_error err = {0};
    if (!strcmp(kind, "memory"))
        snprintf(url, sizeof url, "sqlite::memory:");
    else if (!strcmp(kind, "file"))
        snprintf(url, sizeof url, "sqlite:%s/a/b/jobs-%d.db", folder, n++);
    else
        snprintf(url, sizeof url, "%s", server.url);
    if (store_open(&s, url, 3600000, &err)) /* no lease ends because the machine is slow */
        fail_msg("%s", err.message);
    return s;
}

static void make_job(store_job *j, const char *id, const char *request_id, uint8_t content,
                     uint32_t partitions)
{
    *j = (store_job){
        .kind = 3, .priority = 3, .partitions = partitions, .submitted_ms = 1000, .deadline_ms = 99};
    snprintf(j->id, sizeof j->id, "%s", id);
    snprintf(j->request_id, sizeof j->request_id, "%s", request_id);
    snprintf(j->circuit, sizeof j->circuit, "window-2k");
    memset(j->digest, content, 32);
}

static void add(store *s, const char *id, const char *request_id, uint8_t content, uint32_t partitions,
                char *existing)
{
    store_job j;
    cuzk_error err = {0};
    char other[STORE_ID_SIZE];
    make_job(&j, id, request_id, content, partitions);
    if (store_add(s, &j, id, strlen(id), existing ? existing : other, &err))
        fail_msg("%s", err.message);
}

static void end_as(store *s, const char *id, store_state state, uint64_t when, store_state *now)
{
    store_job j = {.state = state, .ended_ms = when, .srs_ms = 5};
    cuzk_error err = {0};
    snprintf(j.id, sizeof j.id, "%s", id);
    snprintf(j.error, sizeof j.error, "because");
    if (store_finish(s, &j, now, &err))
        fail_msg("%s", err.message);
}

static void count_row(void *ctx, const store_job *j)
{
    (void)j;
    ++*(int *)ctx;
}

static int count_alive(store *s)
{
    int n = 0;
    cuzk_error err = {0};
    assert_int_equal(store_alive(s, count_row, &n, &err), CUZK_OK);
    return n;
}

static int count_ended(store *s)
{
    int n = 0;
    cuzk_error err = {0};
    assert_int_equal(store_ended(s, 1000, count_row, &n, &err), CUZK_OK);
    return n;
}

static void check_kept(store *s)
{
    store_job j;
    uint8_t *data;
    size_t size;
    cuzk_error err = {0};
    add(s, "job-1", "wdpost-1", 7, 2, NULL);
    assert_int_equal(store_get(s, "job-1", &j, &err), CUZK_OK);
    assert_string_equal(j.request_id, "wdpost-1");
    assert_string_equal(j.circuit, "window-2k");
    assert_int_equal(j.digest[31], 7);
    assert_int_equal(j.partitions, 2);
    assert_int_equal(j.deadline_ms, 99);
    assert_int_equal(j.state, STORE_QUEUED);
    assert_true(j.sequence > 0);
    assert_int_equal(store_input(s, "job-1", &data, &size, &err), CUZK_OK);
    assert_int_equal(size, 5);
    assert_memory_equal(data, "job-1", 5);
    free(data);
    assert_int_equal(store_get(s, "nobody", &j, &err), CUZK_NOT_FOUND);
    assert_int_equal(store_input(s, "nobody", &data, &size, &err), CUZK_NOT_FOUND);
    assert_int_equal(store_start(s, "job-1", 1234, &err), CUZK_OK);
    assert_int_equal(store_get(s, "job-1", &j, &err), CUZK_OK);
    assert_int_equal(j.state, STORE_RUNNING);
    assert_int_equal(j.starts, 1);
    assert_int_equal(count_alive(s), 1);
    store_state now;
    end_as(s, "job-1", STORE_FAILED, 2000, &now);
    assert_int_equal(now, STORE_FAILED);
    end_as(s, "job-1", STORE_CANCELLED, 2001, &now); /* it has ended: the first end stands */
    assert_int_equal(now, STORE_FAILED);
    assert_int_equal(store_get(s, "job-1", &j, &err), CUZK_OK);
    assert_string_equal(j.error, "because");
    assert_int_equal(j.srs_ms, 5);
    assert_int_equal(j.ended_ms, 2000);
    assert_int_equal(store_input(s, "job-1", &data, &size, &err), CUZK_NOT_FOUND);
    assert_int_equal(count_alive(s), 0);
    store_close(s);
}

static void test_kept(void **state)
{
    (void)state;
    check_kept(open_store("memory"));
    check_kept(open_store("file"));
}

/* The key is request_id and content, among those that may still give a proof. */
static void check_same(store *s)
{
    char existing[STORE_ID_SIZE];
    store_state now;
    add(s, "a", "r", 1, 1, existing);
    assert_string_equal(existing, "");
    add(s, "b", "r", 1, 1, existing);
    assert_string_equal(existing, "a");
    add(s, "c", "r", 2, 1, existing); /* other content is another job */
    assert_string_equal(existing, "");
    add(s, "d", "other", 1, 1, existing); /* and so is another name */
    assert_string_equal(existing, "");
    end_as(s, "a", STORE_TIMEOUT, 5, &now);
    add(s, "e", "r", 1, 1, existing); /* a new attempt */
    assert_string_equal(existing, "");
    add(s, "f", "r", 1, 1, existing);
    assert_string_equal(existing, "e");
    store_close(s);
}

static void test_same(void **state)
{
    (void)state;
    check_same(open_store("memory"));
    check_same(open_store("file"));
}

static cuzk_status put(store *s, const char *id, uint32_t partitions, uint32_t k, uint64_t fence,
                       int *complete)
{
    store_job j = {.partitions = partitions, .ended_ms = 77, .device_ms = 9};
    uint8_t proof[STORE_PROOF_BYTES];
    cuzk_error err = {0};
    snprintf(j.id, sizeof j.id, "%s", id);
    memset(proof, (int)k + 1, sizeof proof);
    return store_part(s, &j, k, fence, proof, complete, &err);
}

static void test_parts(void **state)
{
    (void)state;
    store *s = open_store("file");
    int complete;
    store_job j;
    cuzk_error err = {0};
    add(s, "p", "p", 1, 3, NULL);
    assert_int_equal(store_start(s, "p", 1, &err), CUZK_OK);
    assert_int_equal(store_start(s, "p", 1, &err), CUZK_OK);
    assert_int_equal(put(s, "p", 3, 2, 0, &complete), CUZK_OK);
    assert_int_equal(complete, 0);
    assert_int_equal(store_get(s, "p", &j, &err), CUZK_OK);
    assert_int_equal(j.starts, 1); /* progress: the count begins anew */
    assert_int_equal(put(s, "p", 3, 0, 0, &complete), CUZK_OK);
    assert_int_equal(put(s, "p", 3, 0, 0, &complete), CUZK_OK); /* once more is harmless */
    assert_int_equal(complete, 0);
    uint8_t proof[3 * STORE_PROOF_BYTES] = {0}, have[3] = {0};
    assert_int_equal(store_proofs(s, "p", 3, proof, have, &err), CUZK_OK);
    assert_true(have[0] && !have[1] && have[2]);
    assert_int_equal(put(s, "p", 3, 1, 0, &complete), CUZK_OK);
    assert_int_equal(complete, 1);
    assert_int_equal(store_get(s, "p", &j, &err), CUZK_OK);
    assert_int_equal(j.state, STORE_COMPLETED);
    assert_int_equal(j.device_ms, 9);
    assert_int_equal(store_proofs(s, "p", 3, proof, have, &err), CUZK_OK);
    assert_int_equal(proof[STORE_PROOF_BYTES], 2);
    assert_int_equal(put(s, "p", 3, 1, 0, &complete), CUZK_BUSY); /* it has ended */
    store_close(s);
}

static void check_expiry(store *s)
{
    char id[32];
    store_state now;
    cuzk_error err = {0};
    for (int i = 0; i < 10; i++) {
        snprintf(id, sizeof id, "old-%d", i);
        add(s, id, id, (uint8_t)i, 1, NULL);
        end_as(s, id, STORE_FAILED, (uint64_t)(1000 + i), &now);
    }
    add(s, "alive", "alive", 99, 1, NULL);
    assert_int_equal(store_expire(s, 1003, 100, &err), CUZK_OK);
    assert_int_equal(count_ended(s), 7);
    assert_int_equal(store_expire(s, 0, 2, &err), CUZK_OK);
    assert_int_equal(count_ended(s), 2);
    store_job j;
    assert_int_equal(store_get(s, "old-9", &j, &err), CUZK_OK);
    assert_int_equal(store_get(s, "old-7", &j, &err), CUZK_NOT_FOUND);
    assert_int_equal(count_alive(s), 1); /* however old, what is alive stays */
    store_close(s);
}

static void test_expiry(void **state)
{
    (void)state;
    check_expiry(open_store("memory"));
    check_expiry(open_store("file"));
}

static void test_file_stays(void **state)
{
    (void)state;
    char url[200];
    store *s, *second;
    cuzk_error err = {0};
    snprintf(url, sizeof url, "sqlite:%s/stays.db", folder);
    assert_int_equal(store_open(&s, url, 0, &err), CUZK_OK);
    add(s, "x", "x", 1, 1, NULL);
    /* A second daemon on the same file is refused with a sentence. */
    assert_int_equal(store_open(&second, url, 0, &err), CUZK_BUSY);
    assert_non_null(strstr(err.message, "in use by another process"));
    store_close(s);
    assert_int_equal(store_open(&s, url, 0, &err), CUZK_OK);
    assert_int_equal(count_alive(s), 1);
    store_close(s);
}

static void test_bad_urls(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        cuzk_status status;
    } cases[] = {{"mysql://x", CUZK_INVALID_ARGUMENT},
                 {"", CUZK_INVALID_ARGUMENT},
                 {"sqlite:", CUZK_INVALID_ARGUMENT},
                 {"sqlite:/proc/nowhere/jobs.db", CUZK_NOT_FOUND},
                 {"postgres://nobody@/none?host=/nonexistent", CUZK_IO_ERROR}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        store *s;
        cuzk_error err = {0};
        assert_int_equal(store_open(&s, cases[i].url, 1000, &err), cases[i].status);
        assert_null(s);
        assert_true(strlen(err.message) > 20);
    }
}

static void test_damaged_file(void **state)
{
    (void)state;
    char path[200], url[220];
    snprintf(path, sizeof path, "%s/damaged.db", folder);
    snprintf(url, sizeof url, "sqlite:%s", path);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < 5000; i++)
        fputs("this is no database ", f);
    fclose(f);
    store *s;
    cuzk_error err = {0};
    assert_int_equal(store_open(&s, url, 0, &err), CUZK_IO_ERROR);
    assert_non_null(strstr(err.message, path));
}

/* A large input goes in and comes out whole, quickly. */
static void test_large_input(void **state)
{
    (void)state;
    store *s = open_store("file");
    size_t n = (size_t)51 << 20, size;
    uint8_t *big = malloc(n), *back;
    assert_non_null(big);
    for (size_t i = 0; i < n; i++)
        big[i] = (uint8_t)(i * 2654435761u >> 13);
    store_job j;
    char existing[STORE_ID_SIZE];
    cuzk_error err = {0};
    make_job(&j, "big", "big", 3, 10);
    uint64_t start = clock_ns();
    assert_int_equal(store_add(s, &j, big, n, existing, &err), CUZK_OK);
    print_message("51 MiB stored in %.0f ms\n", (double)(clock_ns() - start) / 1e6);
    start = clock_ns();
    assert_int_equal(store_input(s, "big", &back, &size, &err), CUZK_OK);
    print_message("and read in %.0f ms\n", (double)(clock_ns() - start) / 1e6);
    assert_int_equal(size, n);
    assert_memory_equal(back, big, n);
    free(back);
    free(big);
    store_state now;
    end_as(s, "big", STORE_CANCELLED, 5, &now);
    store_close(s);
}

/* ---- PostgreSQL ---- */

static void clear_postgres(void)
{
    char command[400];
    snprintf(command, sizeof command,
             "%s/psql -q -h %s -U cuzk postgres -c 'TRUNCATE cuzk_job, cuzk_input, cuzk_part, cuzk_daemon "
             "CASCADE' 2>"
             "/dev/null",
             server.bin, server.folder);
    if (system(command))
        print_message("(first use)\n");
}

static void test_postgres(void **state)
{
    (void)state;
    if (!server.url[0])
        skip();
    clear_postgres();
    check_kept(open_store("postgres"));
    clear_postgres();
    check_same(open_store("postgres"));
    clear_postgres();
    check_expiry(open_store("postgres"));
}

static void test_claims(void **state)
{
    (void)state;
    if (!server.url[0])
        skip();
    clear_postgres();
    store *a = open_store("postgres"), *b = open_store("postgres");
    uint32_t k, claims;
    uint64_t fence, fence_b;
    int complete, lost;
    cuzk_error err = {0};
    assert_true(store_shared(a));
    add(a, "shared", "shared", 1, 2, NULL);
    assert_int_equal(store_claim(a, "shared", &k, &fence, &claims, &err), CUZK_OK);
    assert_int_equal(k, 0);
    assert_int_equal(claims, 1);
    assert_int_equal(store_claim(b, "shared", &k, &fence_b, &claims, &err), CUZK_OK);
    assert_int_equal(k, 1);
    assert_int_equal(store_claim(b, "shared", &k, &fence_b, &claims, &err), CUZK_NOT_FOUND);
    store_job j;
    assert_int_equal(store_get(b, "shared", &j, &err), CUZK_OK);
    assert_int_equal(j.open, 0);
    /* Given back, it is open at once; the fence has moved on. */
    assert_int_equal(store_release(a, "shared", 0, fence, &err), CUZK_OK);
    assert_int_equal(store_claim(b, "shared", &k, &fence_b, &claims, &err), CUZK_OK);
    assert_int_equal(k, 0);
    assert_true(fence_b > fence);
    assert_int_equal(put(a, "shared", 2, 0, fence, &complete), CUZK_BUSY); /* the old claim writes nothing */
    assert_int_equal(put(b, "shared", 2, 0, fence_b, &complete), CUZK_OK);
    assert_int_equal(complete, 0);
    /* The leases run out: a takes b's other partition over, and b cannot write it any more. */
    postgres_sql(&server, "UPDATE cuzk_daemon SET lease_until = clock_timestamp()");
    assert_int_equal(store_heartbeat(a, &lost, &err), CUZK_OK);
    assert_true(lost); /* a's was out as well, and it knows */
    assert_int_equal(store_claim(a, "shared", &k, &fence, &claims, &err), CUZK_OK);
    assert_int_equal(k, 1);
    assert_int_equal(claims, 2);
    assert_int_equal(store_heartbeat(b, &lost, &err), CUZK_OK);
    assert_true(lost);
    assert_int_equal(put(b, "shared", 2, 1, fence - 1, &complete), CUZK_BUSY);
    assert_int_equal(put(a, "shared", 2, 1, fence, &complete), CUZK_OK);
    assert_int_equal(complete, 1);
    assert_int_equal(store_heartbeat(a, &lost, &err), CUZK_OK);
    assert_false(lost);
    store_close(a);
    store_close(b);
}

static void *add_late(void *s)
{
    usleep(300000);
    add(s, "late", "late", 1, 1, NULL);
    return NULL;
}

static void test_notices(void **state)
{
    (void)state;
    if (!server.url[0])
        skip();
    clear_postgres();
    store *a = open_store("postgres"), *b = open_store("postgres");
    pthread_t t;
    uint64_t start;
    int quiet = 0;
    for (int i = 0; i < 100 && !quiet; i++) { /* what the start of both has told may still be under way */
        start = clock_ns();
        store_wait(b, 100); /* nothing happens: the time is over */
        quiet = clock_ns() - start >= 90000000u;
    }
    assert_true(quiet);
    pthread_create(&t, NULL, add_late, a);
    start = clock_ns();
    store_wait(b, 600000);
    assert_true(clock_ns() - start < 300000000000u);
    pthread_join(t, NULL);
    store_close(a);
    store_close(b);
}

static void test_lost_connection(void **state)
{
    (void)state;
    if (!server.url[0])
        skip();
    clear_postgres();
    store *a = open_store("postgres");
    add(a, "before", "before", 1, 1, NULL);
    postgres_restart(&server);
    cuzk_error err = {0};
    store_job j;
    if (store_get(a, "before", &j, &err)) /* the first call may find the connection broken */
        assert_int_equal(store_get(a, "before", &j, &err), CUZK_OK);
    store_wait(a, 10);
    add(a, "after", "after", 1, 1, NULL);
    store_close(a);
}

static int start_all(void **state)
{
    (void)state;
    test_folder(folder);
    if (postgres_start(&server))
        server.url[0] = 0;
    return 0;
}

static int stop_all(void **state)
{
    (void)state;
    postgres_stop(&server);
    test_remove_folder(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),         cmocka_unit_test(test_same),
        cmocka_unit_test(test_parts),        cmocka_unit_test(test_expiry),
        cmocka_unit_test(test_file_stays),   cmocka_unit_test(test_bad_urls),
        cmocka_unit_test(test_damaged_file), cmocka_unit_test(test_large_input),
        cmocka_unit_test(test_postgres),     cmocka_unit_test(test_claims),
        cmocka_unit_test(test_notices),      cmocka_unit_test(test_lost_connection),
    };
    return cmocka_run_group_tests(tests, start_all, stop_all);
}
