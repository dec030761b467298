/* Sums against the bit-by-bit oracle and against closed forms: bases that are known multiples of the
 * generator make the expected sum one multiplication. Written once for both groups. */
#include "base/cpu.h"
#include "base/mem.h"
#include "msm/glv.h"
#include "msm/msm_private.h"
#include "support/math.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static pool *pools[3];

/* The form under test: the public functions, or the portable ones, which use faster field arithmetic where
 * there is any. */
static cuzk_status (*sum_g1)(g1 *, const g1_affine *, const uint32_t *, const scalar *, size_t, pool *,
                             const cancel_token *, cuzk_error *) = msm_g1;
static cuzk_status (*sum_g2)(g2 *, const g2_affine *, const uint32_t *, const scalar *, size_t, pool *,
                             const cancel_token *, cuzk_error *) = msm_g2;
static cuzk_status (*subset_g1)(g1 *, const g1_affine *, const uint64_t *, size_t, pool *,
                                const cancel_token *, cuzk_error *) = msm_g1_subset;
static cuzk_status (*subset_g2)(g2 *, const g2_affine *, const uint64_t *, size_t, pool *,
                                const cancel_token *, cuzk_error *) = msm_g2_subset;

/* The parts recombine to the scalar and are small. */
static void splitting(void **state)
{
    chacha_rng rng;
    fr z2;
    scalar z2_scalar = {{(uint64_t)GLV_Z2, (uint64_t)(GLV_Z2 >> 64), 0, 0}};
    (void)state;
    math_rng(&rng, 30);
    fr_from_scalar(&z2, &z2_scalar);
    for (int i = 0; i < 2400; i++) {
        fr k, sum = FR_ZERO, t;
        scalar s;
        glv_part part[2];
        math_fr(&k, &rng);
        if (i < 200) /* around multiples of z^2 and of z^2 / 2, and both ends */
            fr_from_u64(&k, (uint64_t)i);
        else if (i < 400)
            fr_from_u64(&k, (uint64_t)(i - 200)), fr_neg(&k, &k);
        else if (i < 1400) {
            fr_from_u64(&t, (uint64_t)(i % 50) - 25 + (i % 50 < 25 ? (uint64_t)25 : 0));
            fr_from_u64(&k, (uint64_t)i / 50);
            if (i % 2)
                fr_neg(&k, &k);
            fr_mul(&k, &k, &z2);
            if (i % 3 == 0) {
                fr half;
                fr_inv(&half, &FR_TWO);
                fr_mul(&k, &k, &half);
            }
            fr_add(&k, &k, &t);
        }
        fr_to_scalar(&s, &k);
        glv_split(part, &s);
        for (int h = 1; h >= 0; h--) {
            scalar m = {{(uint64_t)part[h].magnitude, (uint64_t)(part[h].magnitude >> 64), 0, 0}};
            assert_true(part[h].magnitude <= (GLV_Z2 >> 1) + 1);
            fr_from_scalar(&t, &m);
            if (part[h].negative)
                fr_neg(&t, &t);
            fr_mul(&sum, &sum, &z2);
            fr_add(&sum, &sum, &t);
        }
        assert_true(fr_eq(&sum, &k));
    }
}

enum { ZEROS, ONES, MINUS_ONES, EQUAL, ONE_BUCKET, SMALL, MIXED, SPARSE, RANDOM, LARGEST, ABOVE, KINDS };

/* Scalars of every awkward sort. */
static void fill_scalars(scalar *k, size_t n, int kind, chacha_rng *rng)
{
    scalar one = {{1, 0, 0, 0}}, minus_one, equal;
    fr_to_scalar(&minus_one, &FR_MINUS_ONE);
    math_scalar(&equal, rng);
    for (size_t i = 0; i < n; i++) {
        unsigned dice = chacha_rng_u32(rng) % 1000;
        math_scalar(&k[i], rng);
        switch (kind) {
        case ZEROS:
            memset(&k[i], 0, sizeof k[i]);
            break;
        case ONES:
            k[i] = one;
            break;
        case MINUS_ONES:
            k[i] = minus_one;
            break;
        case EQUAL:
            k[i] = equal;
            break;
        case ONE_BUCKET: /* the same low digit, nothing else */
            k[i] = (scalar){{3, 0, 0, 0}};
            break;
        case SMALL:
            k[i] = (scalar){{chacha_rng_u32(rng) % 70000, 0, 0, 0}};
            break;
        case MIXED:
            if (dice < 600)
                k[i] = dice < 200 ? one : dice < 300 ? minus_one : (scalar){{0}};
            break;
        case SPARSE:
            if (dice < 985)
                k[i] = dice < 500 ? one : (scalar){{0}};
            break;
        case LARGEST:
            k[i] = minus_one;
            k[i].l[0] -= dice;
            break;
        case ABOVE: /* not canonical: r and a little more, any 256 bits, all ones */
            if (dice < 300) {
                k[i] = minus_one;
                k[i].l[0] += 1 + dice % 3;
            } else if (dice < 700) {
                chacha_rng_bytes(rng, &k[i], sizeof k[i]);
            } else if (dice < 800) {
                memset(&k[i], 0xff, sizeof k[i]);
            }
            break;
        default:
            break;
        }
    }
}

#define GROUP_TESTS(G, BLST, GENERATOR)                                                                      \
    static void G##_expect(const G *got, const G *want, const char *what, size_t n)                          \
    {                                                                                                        \
        if (!BLST##_is_equal(got, want))                                                                     \
            fail_msg(#G ": wrong sum of %zu terms, %s", n, what);                                            \
    }                                                                                                        \
                                                                                                             \
    static void G##_small_sums(void **state)                                                                 \
    {                                                                                                        \
        static const size_t sizes[] = {0, 1, 2, 3, 5, 31, 32, 33, 64, 237};                                  \
        enum { MAX = 237 };                                                                                  \
        G##_affine p[MAX], bases[MAX];                                                                       \
        scalar k[MAX];                                                                                       \
        uint32_t index[MAX];                                                                                 \
        uint64_t bits[MAX / 64 + 1];                                                                         \
        chacha_rng rng;                                                                                      \
        (void)state;                                                                                         \
        math_rng(&rng, 31);                                                                                  \
        math_##G##_points(p, MAX, &rng);                                                                     \
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)                                            \
            for (int kind = 0; kind < KINDS; kind++)                                                         \
                for (int shape = 0; shape < 5; shape++) { /* of the bases */                                 \
                    size_t n = sizes[s];                                                                     \
                    G got, want;                                                                             \
                    if (n > 64 && shape != kind % 5)                                                         \
                        continue; /* the oracle is slow */                                                   \
                    fill_scalars(k, n, kind, &rng);                                                          \
                    for (size_t i = 0; i < n; i++) {                                                         \
                        bases[i] = shape == 3 ? p[0] : p[i];                                                 \
                        if (shape == 1 && i % 3 == 1)                                                        \
                            memset(&bases[i], 0, sizeof bases[i]);                                           \
                        if (shape == 2 && i % 2)                                                             \
                            G##_affine_neg(&bases[i], &bases[i - 1]);                                        \
                        if (shape == 4)                                                                      \
                            memset(&bases[i], 0, sizeof bases[i]);                                           \
                        index[i] = n ? chacha_rng_u32(&rng) % (uint32_t)n : 0;                               \
                    }                                                                                        \
                    const uint32_t *ix = (kind + shape) % 2 ? index : NULL;                                  \
                    msm_##G##_ref(&want, bases, ix, k, n);                                                   \
                    assert_int_equal(sum_##G(&got, bases, ix, k, n, pools[(s + kind) % 3], NULL, NULL),      \
                                     CUZK_OK);                                                               \
                    G##_expect(&got, &want, "with scalars of an awkward kind", n);                           \
                    memset(&want, 0, sizeof want);                                                           \
                    memset(bits, kind == RANDOM ? 0 : 0xff, sizeof bits); /* beyond n too: to be ignored */  \
                    for (size_t i = 0; i < n; i++) {                                                         \
                        if (kind == RANDOM)                                                                  \
                            bits[i / 64] |= (uint64_t)(k[i].l[0] & 1) << i % 64;                             \
                        else if (kind == ZEROS)                                                              \
                            bits[i / 64] &= ~((uint64_t)1 << i % 64);                                        \
                        if (bits[i / 64] >> i % 64 & 1)                                                      \
                            G##_add_affine(&want, &want, &bases[i]);                                         \
                    }                                                                                        \
                    assert_int_equal(subset_##G(&got, bases, bits, n, pools[shape % 3], NULL, NULL),         \
                                     CUZK_OK);                                                               \
                    G##_expect(&got, &want, "a subset", n);                                                  \
                }                                                                                            \
    }                                                                                                        \
                                                                                                             \
    /* bases[i] = m[i] * generator: the sum is (sum of k m) * generator. */                                  \
    static void G##_large_sums(void **state)                                                                 \
    {                                                                                                        \
        static const size_t sizes[] = {1000, 4097, 20001};                                                   \
        size_t max = sizes[sizeof sizes / sizeof *sizes - 1];                                                \
        G##_affine *bases = mem_alloc(max * sizeof *bases), first;                                           \
        fr *m = mem_alloc(max * sizeof *m);                                                                  \
        scalar *k = mem_alloc(max * sizeof *k);                                                              \
        uint64_t *bits = mem_calloc(max / 64 + 1, 8);                                                        \
        chacha_rng rng;                                                                                      \
        (void)state;                                                                                         \
        math_rng(&rng, 32);                                                                                  \
        for (size_t i = 0; i < max; i++) {                                                                   \
            math_fr(&m[i], &rng);                                                                            \
            if (i % 1000 == 7)                                                                               \
                m[i] = FR_ZERO; /* infinity */                                                               \
            else if (i % 1000 == 8)                                                                          \
                fr_neg(&m[i], &m[i - 3]);                                                                    \
            else if (i % 1000 == 9)                                                                          \
                m[i] = m[i - 5];                                                                             \
        }                                                                                                    \
        G##_to_affine(&first, GENERATOR());                                                                  \
        assert_int_equal(G##_fixed_base_many(bases, &first, m, max, pools[2], NULL), CUZK_OK);               \
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)                                            \
            for (int kind = 0; kind < KINDS; kind++) {                                                       \
                size_t n = sizes[s];                                                                         \
                G got, again, want;                                                                          \
                fr sum = FR_ZERO, t;                                                                         \
                scalar c;                                                                                    \
                fill_scalars(k, n, kind, &rng);                                                              \
                for (size_t i = 0; i < n; i++) {                                                             \
                    fr_from_bytes_reduce(&t, (const uint8_t *)&k[i]);                                        \
                    fr_mul(&t, &t, &m[i]);                                                                   \
                    fr_add(&sum, &sum, &t);                                                                  \
                }                                                                                            \
                fr_to_scalar(&c, &sum);                                                                      \
                G##_mul(&want, GENERATOR(), &c);                                                             \
                assert_int_equal(sum_##G(&got, bases, NULL, k, n, NULL, NULL, NULL), CUZK_OK);               \
                G##_expect(&got, &want, "one thread", n);                                                    \
                assert_int_equal(sum_##G(&again, bases, NULL, k, n, pools[2], NULL, NULL), CUZK_OK);         \
                G##_expect(&again, &want, "three threads", n);                                               \
                if (kind != RANDOM)                                                                          \
                    continue;                                                                                \
                sum = FR_ZERO;                                                                               \
                for (size_t i = 0; i < n; i++) {                                                             \
                    bits[i / 64] = i % 64 ? bits[i / 64] : ~(uint64_t)0;                                     \
                    if (k[i].l[1] & 1)                                                                       \
                        fr_add(&sum, &sum, &m[i]);                                                           \
                    else                                                                                     \
                        bits[i / 64] &= ~((uint64_t)1 << i % 64);                                            \
                }                                                                                            \
                fr_to_scalar(&c, &sum);                                                                      \
                G##_mul(&want, GENERATOR(), &c);                                                             \
                assert_int_equal(subset_##G(&got, bases, bits, n, pools[2], NULL, NULL), CUZK_OK);           \
                G##_expect(&got, &want, "a subset", n);                                                      \
            }                                                                                                \
        mem_free(bases), mem_free(m), mem_free(k), mem_free(bits);                                           \
    }                                                                                                        \
                                                                                                             \
    static void G##_stops_and_fails(void **state)                                                            \
    {                                                                                                        \
        enum { N = 5000 };                                                                                   \
        static G##_affine bases[N];                                                                          \
        static scalar k[N];                                                                                  \
        uint64_t bits[N / 64 + 1];                                                                           \
        chacha_rng rng;                                                                                      \
        cuzk_error err;                                                                                      \
        G out;                                                                                               \
        (void)state;                                                                                         \
        math_rng(&rng, 33);                                                                                  \
        math_##G##_points(bases, N, &rng);                                                                   \
        fill_scalars(k, N, MIXED, &rng);                                                                     \
        memset(bits, 0xff, sizeof bits);                                                                     \
        cancel_token stop = {1, 0}, late = {0, 1};                                                           \
        assert_int_equal(sum_##G(&out, bases, NULL, k, N, pools[2], &stop, &err), CUZK_CANCELLED);           \
        assert_int_equal(err.status, CUZK_CANCELLED);                                                        \
        assert_int_equal(sum_##G(&out, bases, NULL, k, N, pools[2], &late, &err), CUZK_DEADLINE);            \
        assert_int_equal(subset_##G(&out, bases, bits, N, pools[2], &stop, &err), CUZK_CANCELLED);           \
        assert_int_equal(subset_##G(&out, bases, bits, N, NULL, &late, &err), CUZK_DEADLINE);                \
        for (uint64_t i = 1, done = 0; !done; i++) {                                                         \
            mem_fault_set(i, 0);                                                                             \
            cuzk_status st = sum_##G(&out, bases, NULL, k, N, NULL, NULL, &err);                             \
            done = mem_fault_count() < i;                                                                    \
            mem_fault_set(0, 0);                                                                             \
            assert_int_equal(st, done ? CUZK_OK : CUZK_OUT_OF_MEMORY);                                       \
        }                                                                                                    \
        for (uint64_t i = 1, done = 0; !done; i++) {                                                         \
            mem_fault_set(i, 0);                                                                             \
            cuzk_status st = subset_##G(&out, bases, bits, N, NULL, NULL, &err);                             \
            done = mem_fault_count() < i;                                                                    \
            mem_fault_set(0, 0);                                                                             \
            assert_int_equal(st, done ? CUZK_OK : CUZK_OUT_OF_MEMORY);                                       \
        }                                                                                                    \
    }

GROUP_TESTS(g1, blst_p1, blst_p1_generator)
GROUP_TESTS(g2, blst_p2, blst_p2_generator)

/* More wide scalars than a chunk holds: buckets go on from chunk to chunk. Few distinct bases, chosen by
 * index. */
static void many_chunks(void **state)
{
    enum { N = (1 << 20) + 50000, BASES = 300 };
    static g1_affine bases[BASES];
    static fr weight[BASES];
    static scalar k[N];
    static uint32_t index[N];
    chacha_rng rng;
    g1 got, want;
    scalar c[BASES];
    (void)state;
    math_rng(&rng, 34);
    memset(weight, 0, sizeof weight);
    math_g1_points(bases, BASES, &rng);
    for (size_t i = 0; i < N; i++) {
        fr t;
        math_fr(&t, &rng);
        fr_to_scalar(&k[i], &t);
        index[i] = chacha_rng_u32(&rng) % BASES;
        fr_add(&weight[index[i]], &weight[index[i]], &t);
    }
    for (size_t i = 0; i < BASES; i++)
        fr_to_scalar(&c[i], &weight[i]);
    msm_g1_ref(&want, bases, NULL, c, BASES);
    assert_int_equal(sum_g1(&got, bases, index, k, N, pools[2], NULL, NULL), CUZK_OK);
    g1_expect(&got, &want, "several chunks", N);
}

static int open_pools(void **state)
{
    (void)state;
    if (pool_create(&pools[1], 1, NULL) || pool_create(&pools[2], 3, NULL))
        return 1;
    pool_keep(pools[1], SIZE_MAX); /* work memory is then full of another case's values */
    pool_keep(pools[2], SIZE_MAX);
    return 0;
}

static int close_pools(void **state)
{
    (void)state;
    pool_destroy(pools[1]);
    pool_destroy(pools[2]);
    return 0;
}

#define LIST(G)                                                                                              \
    cmocka_unit_test(G##_small_sums), cmocka_unit_test(G##_large_sums), cmocka_unit_test(G##_stops_and_fails)

/* Every form that this processor has. */
int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(splitting), LIST(g1), LIST(g2),
                                       cmocka_unit_test(many_chunks)};
    int failed = cmocka_run_group_tests_name("public", tests, open_pools, close_pools);
    if (cpu_get()->ifma) {
        sum_g1 = msm_g1_portable, sum_g2 = msm_g2_portable;
        subset_g1 = msm_g1_subset_portable, subset_g2 = msm_g2_subset_portable;
        failed += cmocka_run_group_tests_name("portable", tests, open_pools, close_pools);
    }
    if (cpu_get()->adx) {
        cpu_force(CPU_PORTABLE);
        failed += cmocka_run_group_tests_name("portable without ADX", tests, open_pools, close_pools);
    }
    return failed;
}
