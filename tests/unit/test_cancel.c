/* What a token stops: loops of a pool, transforms and the quotient, matrix products, reading and checking a
 * request. A token that has fired before the start must leave the work undone, not only report it: that is
 * what gives processors and devices to the next job. */
#include "base/mem.h"
#include "filecoin/post.h"
#include "filecoin/task.h"
#include "poly/poly_private.h"
#include "support/data.h"
#include "support/golden.h"
#include "support/math.h"
#include "support/vanilla.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the above */
#include <cmocka.h>

static pool *pools[3]; /* none, one thread, three threads */
static cancel_token cancelled = {.cancelled = 1}, late = {.deadline_ns = 1};

static void test_status(void **state)
{
    (void)state;
    cuzk_error err = {0};
    cancel_token idle = {0};
    assert_int_equal(cancel_status(NULL, "it", &err), CUZK_OK);
    assert_int_equal(cancel_status(&idle, "it", &err), CUZK_OK);
    assert_int_equal(cancel_status(&cancelled, "the walk", &err), CUZK_CANCELLED);
    assert_string_equal(err.message, "the walk was cancelled");
    assert_int_equal(cancel_status(&late, "the walk", &err), CUZK_DEADLINE);
    assert_string_equal(err.message, "the walk was stopped: the deadline has passed");
}

/* ---- loops ---- */

typedef struct loop {
    cancel_token token;
    atomic_size_t done;
} loop;

static void stop_at_ten(void *ctx, size_t task, unsigned worker)
{
    loop *l = ctx;
    (void)worker;
    atomic_fetch_add(&l->done, 1);
    if (task == 10)
        atomic_store(&l->token.cancelled, 1);
}

static void range_at_ten(void *ctx, size_t first, size_t end, unsigned worker)
{
    for (size_t i = first; i < end; i++)
        stop_at_ten(ctx, i, worker);
}

static void test_loops(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        loop l = {.done = 0};
        pool_for_until(pools[i], &l.token, 100000, stop_at_ten, &l);
        size_t done = atomic_load(&l.done);
        assert_true(done >= 11 && done < 100000);
        pool_for_until(pools[i], &l.token, 5, stop_at_ten, &l);
        assert_int_equal(atomic_load(&l.done), done);
        pool_for(pools[i], 5, stop_at_ten, &l); /* the token was of the other loop only */
        assert_int_equal(atomic_load(&l.done), done + 5);
        l = (loop){.done = 0};
        pool_for_range_until(pools[i], &l.token, 100000, 10, range_at_ten, &l);
        done = atomic_load(&l.done);
        assert_true(done >= 11 && done < 100000);
        l = (loop){.done = 0};
        pool_for_range_until(pools[i], NULL, 1000, 10, range_at_ten, &l);
        assert_int_equal(atomic_load(&l.done), 1000);
    }
    assert_null(pool_watched(NULL));
    pool_watch(NULL, &cancelled);
    assert_null(pool_watched(NULL));
}

static void *watched_elsewhere(void *ctx)
{
    const cancel_token *seen = pool_watched(ctx);
    pool_watch(ctx, &late);
    return (void *)seen;
}

/* Two proofs share a pool: what one watches is nothing to the other. */
static void test_watch_is_of_one_thread(void **state)
{
    (void)state;
    pthread_t other;
    void *seen = pools;
    pool_watch(pools[2], &cancelled);
    assert_ptr_equal(pool_watched(pools[2]), &cancelled);
    assert_null(pool_watched(pools[1]));
    assert_int_equal(pthread_create(&other, NULL, watched_elsewhere, pools[2]), 0);
    assert_int_equal(pthread_join(other, &seen), 0);
    assert_null(seen);
    assert_ptr_equal(pool_watched(pools[2]), &cancelled);
    pool_watch(pools[2], NULL);
    assert_null(pool_watched(pools[2]));
}

/* ---- transforms ---- */

typedef cuzk_status quotient_fn(const domain *d, fr *a, fr *b, fr *extra, pool *p, cuzk_error *err);

/* The quotient's arrays stay as they were while the token of the pool has fired, and only then. */
static void check_quotient_stops(quotient_fn *fn, pool *p)
{
    enum { LOG = 12, N = 1 << LOG };
    static fr a[N], b[N], extra[N], before[3][N];
    chacha_rng rng;
    domain *d;
    cuzk_error err;
    assert_int_equal(domain_create(&d, LOG, 7, &err), CUZK_OK);
    math_rng(&rng, 1);
    for (size_t i = 0; i < N; i++) {
        math_fr(&a[i], &rng);
        math_fr(&b[i], &rng);
        math_fr(&extra[i], &rng);
    }
    memcpy(before[0], a, sizeof a);
    memcpy(before[1], b, sizeof b);
    memcpy(before[2], extra, sizeof extra);
    pool_watch(p, &late);
    assert_int_equal(fn(d, a, b, extra, p, &err), CUZK_OK);
    pool_watch(p, NULL);
    assert_memory_equal(before[0], a, sizeof a);
    assert_memory_equal(before[1], b, sizeof b);
    assert_memory_equal(before[2], extra, sizeof extra);
    assert_int_equal(fn(d, a, b, extra, p, &err), CUZK_OK);
    assert_memory_not_equal(before[0], a, sizeof a);
    domain_destroy(d);
}

static void test_quotient(void **state)
{
    (void)state;
    for (int i = 1; i < 3; i++) {
        check_quotient_stops(quotient, pools[i]);
        check_quotient_stops(quotient_portable, pools[i]);
    }
}

/* ---- requests ---- */

static poseidon_set *set;

static void reads_and_checks(proof_request *q, pool *p)
{
    proof_task *t = NULL;
    cuzk_error err;
    if (proof_task_parse(&t, q, set, &err))
        fail_msg("%s", err.message);
    assert_int_equal(proof_task_check_until(t, -1, p, &cancelled, &err), CUZK_CANCELLED);
    assert_non_null(strstr(err.message, "the check of the"));
    assert_int_equal(proof_task_check_until(t, 0, p, &late, &err), CUZK_DEADLINE);
    cancel_token idle = {0};
    assert_int_equal(proof_task_check_until(t, -1, p, &idle, &err), CUZK_OK);
    assert_int_equal(proof_task_check(t, -1, p, &err), CUZK_OK);
    proof_task_destroy(t);
}

static void test_porep(void **state)
{
    (void)state;
    size_t size;
    uint8_t *document = test_data("porep-2k-v1_1-1/c1.json", &size);
    proof_request q = {.kind = CIRCUIT_POREP, .c1 = {document, size}};
    reads_and_checks(&q, pools[2]);
    proof_task *t = NULL;
    cuzk_error err;
    q.cancel = &cancelled;
    assert_int_equal(proof_task_parse(&t, &q, set, &err), CUZK_CANCELLED);
    assert_null(t);
    q.cancel = &late;
    assert_int_equal(proof_task_parse(&t, &q, set, &err), CUZK_DEADLINE);
    assert_non_null(strstr(err.message, "reading the C1 document"));
    assert_null(t);
    free(document);
}

static void test_post_and_update(void **state)
{
    (void)state;
    vanilla_case window, update;
    vanilla_open(&window, "window-2k-3sectors");
    vanilla_open(&update, "update-2k-5");
    proof_request q = {.kind = CIRCUIT_WINDOW,
                       .has_registered = 1,
                       .registered_proof = 10,
                       .has_randomness = 1,
                       .vanilla = window.proof,
                       .vanilla_count = window.count};
    test_json_hex(q.randomness, 32, window.golden, "randomness");
    reads_and_checks(&q, pools[1]);
    q = (proof_request){
        .kind = CIRCUIT_UPDATE, .has_registered = 1, .vanilla = update.proof, .vanilla_count = update.count};
    test_json_hex(q.comm_r_old, 32, update.golden, "comm_r_old");
    test_json_hex(q.comm_r_new, 32, update.golden, "comm_r_new");
    test_json_hex(q.comm_d_new, 32, update.golden, "comm_d_new");
    reads_and_checks(&q, pools[2]);
    vanilla_close(&window);
    vanilla_close(&update);
}

/* ---- products ---- */

static void test_product(void **state)
{
    (void)state;
    const circuit_info *info = circuit_by_name("winning-2k");
    post_circuit pc = {info, set};
    r1cs *r = golden_compile(info->name, post_synthesize, &pc);
    r1cs_counts n;
    witness w;
    cuzk_error err;
    r1cs_get_counts(r, &n);
    assert_int_equal(witness_init(&w, n.inputs, n.aux, n.fields, &err), CUZK_OK);
    fr *a = mem_calloc(n.constraints, sizeof *a), *b = mem_calloc(n.constraints, sizeof *b);
    assert_true(a && b);
    memset(a, 0x11, n.constraints * sizeof *a);
    memset(b, 0x11, n.constraints * sizeof *b);
    for (int i = 1; i < 3; i++) {
        pool_watch(pools[i], &cancelled);
        assert_int_equal(r1cs_multiply(r, &w, a, b, pools[i], &err), CUZK_OK);
        pool_watch(pools[i], NULL);
        for (size_t k = 0; k < n.constraints * sizeof *a; k++)
            assert_true(((uint8_t *)a)[k] == 0x11 && ((uint8_t *)b)[k] == 0x11);
    }
    assert_int_equal(r1cs_multiply(r, &w, a, b, pools[2], &err), CUZK_OK);
    assert_int_not_equal(((uint8_t *)a)[0], 0x11);
    mem_free(a);
    mem_free(b);
    witness_clear(&w);
    r1cs_destroy(r);
}

static int open_all(void **state)
{
    (void)state;
    return pool_create(&pools[1], 1, NULL) || pool_create(&pools[2], 3, NULL) ||
           poseidon_set_create(&set, NULL);
}

static int close_all(void **state)
{
    (void)state;
    pool_destroy(pools[1]);
    pool_destroy(pools[2]);
    poseidon_set_destroy(set);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_watch_is_of_one_thread),
        cmocka_unit_test(test_quotient),
        cmocka_unit_test(test_porep),
        cmocka_unit_test(test_product),
        cmocka_unit_test(test_post_and_update),
    };
    return cmocka_run_group_tests_name("cancel", tests, open_all, close_all);
}
