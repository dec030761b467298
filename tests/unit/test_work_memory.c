/* Work memory that a pool lends: kept for the next taker, bounded, given back when nobody uses it. */
#include "base/mem.h"
#include "base/pool.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h> /* needs what is above */

#define MIB ((size_t)1 << 20)

static pool *make(unsigned threads, size_t keep)
{
    pool *p;
    cuzk_error err = {0};
    assert_int_equal(pool_create(&p, threads, &err), CUZK_OK);
    pool_keep(p, keep);
    return p;
}

static void test_nothing_is_kept_unasked(void **state)
{
    (void)state;
    pool *p = make(2, 0);
    uint8_t *a = pool_take(p, 8 * MIB);
    assert_non_null(a);
    a[0] = 1;
    pool_give(p, a, 8 * MIB);
    assert_int_equal(pool_kept(p), 0);
    pool_destroy(p);
    a = pool_take(NULL, 2 * MIB); /* no pool: the system's */
    assert_non_null(a);
    assert_int_equal(a[2 * MIB - 1], 0);
    pool_give(NULL, a, 2 * MIB);
    pool_give(NULL, NULL, 2 * MIB);
}

static void test_same_block_again(void **state)
{
    (void)state;
    pool *p = make(1, 64 * MIB);
    uint8_t *a = pool_take(p, 8 * MIB), *small = pool_take(p, 100);
    assert_non_null(small);
    memset(a, 7, 8 * MIB);
    pool_give(p, a, 8 * MIB);
    pool_give(p, small, 100);
    assert_int_equal(pool_kept(p), 8 * MIB); /* small ones are the heap's */
    assert_ptr_equal(pool_take(p, 7 * MIB), a);
    assert_int_equal(a[8 * MIB - 1], 7);
    assert_int_equal(pool_kept(p), 0); /* in huge pages */
    pool_give(p, a, 7 * MIB);
    assert_int_equal(pool_kept(p), 8 * MIB);
    pool_trim(p);
    assert_int_equal(pool_kept(p), 0);
    pool_destroy(p);
}

/* A block serves smaller ones, and is whole again when all of them are back, in whatever order. */
static void test_cut_and_join(void **state)
{
    (void)state;
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int k = 0; k < 6; k++) {
        pool *p = make(1, 64 * MIB);
        uint8_t *whole = pool_take(p, 32 * MIB), *part[3];
        pool_give(p, whole, 32 * MIB);
        for (size_t i = 0; i < 3; i++) {
            part[i] = pool_take(p, (4 + 2 * i) * MIB - 64);
            assert_true(part[i] >= whole && part[i] + (4 + 2 * i) * MIB <= whole + 32 * MIB);
            memset(part[i], (int)i + 1, (4 + 2 * i) * MIB - 64);
        }
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(part[i][0] + part[i][(4 + 2 * i) * MIB - 65], 2 * (i + 1));
        assert_int_equal(pool_kept(p), 14 * MIB);
        for (int i = 0; i < 3; i++) {
            size_t at = (size_t)orders[k][i];
            pool_give(p, part[at], (4 + 2 * at) * MIB - 64);
        }
        assert_int_equal(pool_kept(p), 32 * MIB);
        assert_ptr_equal(pool_take(p, 32 * MIB), whole);
        pool_give(p, whole, 32 * MIB);
        pool_destroy(p);
    }
}

static void test_limit(void **state)
{
    (void)state;
    pool *p = make(1, 10 * MIB);
    void *a = pool_take(p, 6 * MIB), *b = pool_take(p, 4 * MIB), *c = pool_take(p, 2 * MIB);
    pool_give(p, a, 6 * MIB); /* 6 are in use: 4 fit beside them */
    assert_int_equal(pool_kept(p), 4 * MIB);
    pool_give(p, b, 4 * MIB);
    assert_int_equal(pool_kept(p), 8 * MIB);
    pool_give(p, c, 2 * MIB);
    assert_int_equal(pool_kept(p), 10 * MIB);
    void *d = pool_take(p, 12 * MIB); /* those that wait make room */
    assert_int_equal(pool_kept(p), 0);
    pool_keep(p, 5 * MIB); /* a limit is only raised */
    pool_give(p, d, 12 * MIB);
    assert_int_equal(pool_kept(p), 10 * MIB);
    pool_destroy(p);
}

static void test_no_memory(void **state)
{
    (void)state;
    pool *p = make(1, 64 * MIB);
    void *a = pool_take(p, 2 * MIB);
    pool_give(p, a, 2 * MIB);
    mem_fault_set(1, 1);
    assert_null(pool_take(p, 16 * MIB));
    mem_fault_set(0, 0);
    assert_int_equal(pool_kept(p), 0); /* what waited was given up for it */
    pool_destroy(p);
}

static void test_idle(void **state)
{
    (void)state;
    pool *p = make(2, 64 * MIB);
    void *a = pool_take(p, 2 * MIB), *b = pool_take(p, 2 * MIB);
    pool_give(p, a, 2 * MIB);
    usleep((POOL_KEEP_SECONDS + 1) * 1000000);
    assert_int_equal(pool_kept(p), 2 * MIB); /* somebody is still at work */
    pool_give(p, b, 2 * MIB);
    assert_int_equal(pool_kept(p), 4 * MIB);
    for (int i = 0; i < 600 && pool_kept(p); i++)
        usleep(100000);
    assert_int_equal(pool_kept(p), 0);
    pool_destroy(p);
}

/* Blocks of random sizes that come and go: none shares a byte with another, and what is kept stays bounded.
 */
static void test_random(void **state)
{
    (void)state;
    enum { MOST = 24 };
    pool *p = make(1, 100 * MIB);
    uint8_t *at[MOST] = {NULL};
    size_t bytes[MOST] = {0};
    uint64_t z = 1;
    for (int k = 0; k < 6000; k++) {
        z = z * 6364136223846793005u + 1442695040888963407u;
        size_t i = (size_t)(z >> 33) % MOST;
        if (at[i]) {
            for (size_t j = 0; j < bytes[i]; j += 4096)
                assert_int_equal(at[i][j], i);
            assert_int_equal(at[i][bytes[i] - 1], i);
            pool_give(p, at[i], bytes[i]);
            at[i] = NULL;
        } else {
            bytes[i] = MIB + (size_t)(z >> 13) % (12 * MIB);
            assert_non_null(at[i] = pool_take(p, bytes[i]));
            for (size_t j = 0; j < bytes[i]; j += 4096)
                at[i][j] = (uint8_t)i;
            at[i][bytes[i] - 1] = (uint8_t)i;
        }
        assert_true(pool_kept(p) <= 100 * MIB);
    }
    for (size_t i = 0; i < MOST; i++)
        pool_give(p, at[i], bytes[i]);
    pool_destroy(p);
}

typedef struct shared {
    pool *p;
    atomic_int wrong;
} shared;

static void take_and_give(void *ctx, size_t task, unsigned worker)
{
    shared *s = ctx;
    pool *p = s->p;
    size_t bytes = (1 + (task * 7 + worker) % 5) * MIB;
    uint8_t *a = pool_take(p, bytes);
    if (!a) {
        s->wrong++;
        return;
    }
    memset(a, (int)task, 64);
    for (int i = 0; i < 64; i++)
        s->wrong += a[i] != (uint8_t)task;
    pool_give(p, a, bytes);
}

static void test_threads(void **state)
{
    (void)state;
    pool *p = make(4, 16 * MIB);
    shared s = {p, 0};
    pool_for(p, 2000, take_and_give, &s);
    assert_int_equal(s.wrong, 0);
    assert_true(pool_kept(p) <= 16 * MIB);
    pool_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_kept_unasked),
        cmocka_unit_test(test_same_block_again),
        cmocka_unit_test(test_cut_and_join),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
