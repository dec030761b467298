/* What is particular to the vector form of sums: chunks, windows of 19 bits, many pieces, cut keys, lanes
 * that pass through infinity. Its results on awkward scalars and points are in test_msm.c, which runs every
 * form. */
#include "base/cpu.h"
#include "base/mem.h"
#include "msm/hexagon.h"
#include "msm/msm_private.h"
#include "support/math.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static chacha_rng rng;

static pool *make_pool(unsigned threads)
{
    pool *p;
    cuzk_error err;
    assert_int_equal(pool_create(&p, threads, &err), CUZK_OK);
    pool_keep(p, SIZE_MAX);
    return p;
}

/* n bases that are i + 1 times the generator, cheaply, and what a sum over them must give. */
static g1_affine *multiples(size_t n)
{
    g1_affine *b = big_alloc(n * sizeof *b);
    g1 *t = big_alloc(1024 * sizeof *t), run;
    assert_true(b && t);
    memset(&run, 0, sizeof run);
    for (size_t i = 0; i < n; i += 1024) {
        size_t m = n - i < 1024 ? n - i : 1024;
        for (size_t j = 0; j < m; j++) {
            g1_add(&run, &run, blst_p1_generator());
            t[j] = run;
        }
        g1_batch_to_affine(b + i, t, m);
    }
    big_free(t, 1024 * sizeof *t);
    return b;
}

static void expect(const g1 *have, const fr *times)
{
    g1 want;
    scalar s;
    fr_to_scalar(&s, times);
    g1_mul(&want, blst_p1_generator(), &s);
    assert_true(blst_p1_is_equal(&want, have));
}

/* Compares with sum k[i] (index[i] + 1). chunk: wide terms at a time, without an index, or 0. */
static void check_chunks(const g1_affine *bases, const uint32_t *index, const scalar *k, size_t n,
                         size_t chunk, pool *p)
{
    msm_tuning tuning = {.chunk = chunk};
    fr sum = FR_ZERO, t, m;
    g1 have;
    cuzk_error err;
    for (size_t i = 0; i < n; i++) {
        fr_from_scalar(&t, &k[i]);
        fr_from_u64(&m, (index ? index[i] : i) + 1);
        fr_mul(&t, &t, &m);
        fr_add(&sum, &sum, &t);
    }
    assert_int_equal(chunk ? msm_g1_ifma_tuned(&have, bases, k, n, &tuning, p, &err)
                           : msm_g1_ifma(&have, bases, index, k, n, p, NULL, &err),
                     CUZK_OK);
    expect(&have, &sum);
}

static void check(const g1_affine *bases, const uint32_t *index, const scalar *k, size_t n, pool *p)
{
    check_chunks(bases, index, k, n, 0, p);
}

/* More terms than a chunk, on one thread and on several. */
static void several_chunks(void **state)
{
    size_t n = ((size_t)1 << 18) + 70001;
    g1_affine *bases = multiples(n);
    scalar *k = big_alloc(n * sizeof *k);
    pool *p = make_pool(5);
    (void)state;
    for (size_t i = 0; i < n; i++)
        math_scalar(&k[i], &rng);
    check(bases, NULL, k, n, p);
    check_chunks(bases, NULL, k, n, (size_t)1 << 18, NULL);
    check_chunks(bases, NULL, k, n, (size_t)1 << 18, p);
    /* a long run of zeros and ones among them: chunks of uneven blocks */
    for (size_t i = 1000; i < 200000; i++)
        k[i] = (scalar){{i & 1}};
    check_chunks(bases, NULL, k, n, (size_t)1 << 16, p);
    pool_destroy(p);
    big_free(bases, n * sizeof *bases);
    big_free(k, n * sizeof *k);
}

/* Every window, on one thread and on many, in one chunk and in chunks of a few blocks. */
static void windows(void **state)
{
    size_t n = 20000;
    g1_affine *bases = multiples(n);
    scalar *k = big_alloc(n * sizeof *k);
    pool *p = make_pool(9);
    fr sum = FR_ZERO, t, m;
    (void)state;
    for (size_t i = 0; i < n; i++) {
        math_scalar(&k[i], &rng);
        if (i % 10 == 0) { /* the largest digits in every window */
            fr_from_u64(&t, i);
            fr_neg(&t, &t);
            fr_to_scalar(&k[i], &t);
        }
        fr_from_scalar(&t, &k[i]);
        fr_from_u64(&m, i + 1);
        fr_mul(&t, &t, &m);
        fr_add(&sum, &sum, &t);
    }
    for (unsigned c = HEXAGON_LEAST; c <= HEXAGON_MOST; c++)
        for (int way = 0; way < 3; way++) {
            g1 have;
            cuzk_error err;
            msm_tuning tuning = {c, way == 2 ? 4096 : 0, way == 1 ? 2560 : way == 2 ? 8 * (c % 7 + 1) : 1536};
            hexagon h;
            if (!hexagon_init(&h, c))
                continue;
            assert_int_equal(msm_g1_ifma_tuned(&have, bases, k, n, &tuning, way ? p : NULL, &err), CUZK_OK);
            expect(&have, &sum);
        }
    pool_destroy(p);
    big_free(bases, n * sizeof *bases);
    big_free(k, n * sizeof *k);
}

/* Few bases named many times: equal points meet in every bucket, and their sums with themselves. */
static void repeated_bases(void **state)
{
    size_t n = 30000;
    g1_affine *bases = multiples(8);
    scalar *k = big_alloc(n * sizeof *k);
    uint32_t *index = big_alloc(n * sizeof *index);
    pool *p = make_pool(2);
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        for (size_t i = 0; i < n; i++) {
            math_scalar(&k[i], &rng);
            index[i] = chacha_rng_u32(&rng) % 8;
            if (kind == 1)
                k[i] = (scalar){{chacha_rng_u32(&rng) % 5}};
            if (kind == 2)
                k[i] = k[0];
            if (kind == 3) { /* pairs that cancel, in different places */
                fr t;
                fr_from_scalar(&t, &k[i & ~(size_t)1]);
                if (i & 1)
                    fr_neg(&t, &t), index[i] = index[i - 1];
                fr_to_scalar(&k[i], &t);
            }
        }
        check(bases, index, k, n, kind % 2 ? p : NULL);
    }
    pool_destroy(p);
    big_free(bases, 8 * sizeof *bases);
    big_free(k, n * sizeof *k);
    big_free(index, n * sizeof *index);
}

/* Subsets of every density, infinities, equal and opposite neighbours, ends inside a word. */
static void subsets(void **state)
{
    static const size_t sizes[] = {1, 63, 64, 65, 1535, 1536, 1537, 3071, 3072, 3073, 4609, 20000};
    size_t n = 20000;
    g1_affine *bases = multiples(n), zero;
    uint64_t *bits = big_alloc((n + 63) / 64 * 8);
    uint8_t *skip = big_alloc(n);
    pool *p = make_pool(3);
    (void)state;
    memset(&zero, 0, sizeof zero);
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int density = 0; density < 4; density++) {
            size_t m = sizes[s];
            fr sum = FR_ZERO, t;
            g1 have;
            cuzk_error err;
            for (size_t i = 0; i < (m + 63) / 64; i++) {
                uint64_t word = (uint64_t)chacha_rng_u32(&rng) << 32 | chacha_rng_u32(&rng);
                bits[i] = density == 0   ? 0
                          : density == 1 ? ~(uint64_t)0
                          : density == 2 ? word
                                         : word & (word >> 7);
            }
            for (size_t i = 0; i < m; i++) {
                fr_from_u64(&t, i + 1);
                if (bits[i / 64] >> (i % 64) & 1)
                    fr_add(&sum, &sum, &t);
            }
            assert_int_equal(msm_g1_subset_ifma(&have, bases, bits, m, s % 2 ? p : NULL, NULL, &err),
                             CUZK_OK);
            expect(&have, &sum);
        }
    /* the lanes' own neighbours, LANES apart, equal, opposite or infinite: base i of the second half is +-
     * base i */
    fr sum = FR_ZERO, t;
    for (size_t i = 0; i < n; i++) {
        if (i % 3072 >= 1536) {
            bases[i] = bases[i - 1536];
            unsigned kind = chacha_rng_u32(&rng) % 3;
            fr_from_u64(&t, i - 1536 + 1);
            if (kind == 0) {
                g1_affine_neg(&bases[i], &bases[i]);
                fr_neg(&t, &t);
            } else if (kind == 1) {
                bases[i] = zero;
                t = FR_ZERO;
            }
        } else {
            fr_from_u64(&t, i + 1);
        }
        fr_add(&sum, &sum, &t);
    }
    g1 have;
    cuzk_error err;
    memset(bits, 0xff, (n + 63) / 64 * 8);
    assert_int_equal(msm_g1_subset_ifma(&have, bases, bits, n, NULL, NULL, &err), CUZK_OK);
    expect(&have, &sum);
    assert_int_equal(msm_g1_subset_ifma(&have, bases, bits, n, p, NULL, &err), CUZK_OK);
    expect(&have, &sum);
    pool_destroy(p);
    big_free(bases, n * sizeof *bases);
    big_free(bits, (n + 63) / 64 * 8);
    big_free(skip, n);
}

/* A base whose x alone is 0, that is (0, 2), is no infinity: of order 3, so that three times as many add 0.
 */
static void zero_abscissa(void **state)
{
    enum { N = 1536 * 4 + 3 };
    const uint64_t two[6] = {2};
    g1_affine *bases = multiples(N), odd;
    uint64_t bits[N / 64 + 1];
    g1 have, want, with;
    cuzk_error err;
    (void)state;
    memset(&odd, 0, sizeof odd);
    blst_fp_from_uint64(&odd.y, two);
    assert_true(blst_p1_affine_on_curve(&odd));
    memset(bits, 0xff, sizeof bits);
    bases[5] = bases[1536 + 9] = bases[3 * 1536 + 20] = bases[N - 1] = odd;
    assert_int_equal(msm_g1_subset_portable(&want, bases, bits, N, NULL, NULL, &err), CUZK_OK);
    assert_int_equal(msm_g1_subset_ifma(&have, bases, bits, N, NULL, NULL, &err), CUZK_OK);
    assert_true(blst_p1_is_equal(&want, &have));
    memset(&bases[N - 1], 0, sizeof bases[0]);
    assert_int_equal(msm_g1_subset_ifma(&with, bases, bits, N, NULL, NULL, &err), CUZK_OK);
    assert_false(blst_p1_is_equal(&have, &with));
    big_free(bases, N * sizeof *bases);
}

/* Scalars that differ from 0 and 1 in one word only, between zeros and ones, in words and ends of words. */
static void kinds_of_scalars(void **state)
{
    static const scalar kinds[] = {{{0}},          {{1}},          {{2}},
                                   {{0, 1}},       {{1, 1}},       {{0, 0, 1}},
                                   {{1, 0, 1}},    {{0, 0, 0, 1}}, {{1, 0, 0, (uint64_t)1 << 61}},
                                   {{UINT64_MAX}}, {{1}},          {{0}}};
    enum { N = 4096 + 200 };
    g1_affine *bases = multiples(N);
    scalar *k = big_alloc(N * sizeof *k);
    pool *p = make_pool(2);
    (void)state;
    for (size_t n = 1; n <= N; n += n < 130 ? 1 : 1389)
        for (int round = 0; round < 2; round++) {
            for (size_t i = 0; i < n; i++)
                k[i] = kinds[round ? chacha_rng_u32(&rng) % (sizeof kinds / sizeof *kinds)
                                   : i % (sizeof kinds / sizeof *kinds)];
            check(bases, NULL, k, n, round ? p : NULL);
        }
    pool_destroy(p);
    big_free(bases, N * sizeof *bases);
    big_free(k, N * sizeof *k);
}

static void pick_points_g2(g2_affine *b, scalar *k, size_t n)
{
    math_g2_points(b, n, &rng);
    for (size_t i = 0; i < n; i++) {
        math_scalar(&k[i], &rng);
        if (i % 11 == 3)
            memset(&b[i], 0, sizeof b[i]);
        if (i % 7 == 5)
            b[i] = b[i - 1], k[i] = k[i - 1];
        if (i % 13 == 12)
            g2_affine_neg(&b[i], &b[i - 1]), k[i] = k[i - 1];
    }
}

static void g2_sums(void **state)
{
    size_t n = 3000;
    g2_affine *b = big_alloc(n * sizeof *b);
    scalar *k = big_alloc(n * sizeof *k);
    uint64_t bits[47];
    g2 want, have;
    cuzk_error err;
    pool *p = make_pool(2);
    (void)state;
    pick_points_g2(b, k, n);
    assert_int_equal(msm_g2_portable(&want, b, NULL, k, n, p, NULL, &err), CUZK_OK);
    assert_int_equal(msm_g2_ifma(&have, b, NULL, k, n, p, NULL, &err), CUZK_OK);
    assert_true(blst_p2_is_equal(&want, &have));
    assert_int_equal(msm_g2_ifma(&have, b, NULL, k, n, NULL, NULL, &err), CUZK_OK);
    assert_true(blst_p2_is_equal(&want, &have));
    memset(bits, 0xe7, sizeof bits);
    assert_int_equal(msm_g2_subset_portable(&want, b, bits, n, p, NULL, &err), CUZK_OK);
    assert_int_equal(msm_g2_subset_ifma(&have, b, bits, n, p, NULL, &err), CUZK_OK);
    assert_true(blst_p2_is_equal(&want, &have));
    pool_destroy(p);
    big_free(b, n * sizeof *b);
    big_free(k, n * sizeof *k);
}

/* Every allocation may fail: a status with a sentence, and nothing leaks (run with the leak sanitizer). */
static void memory_and_cancellation(void **state)
{
    size_t n = 500;
    g1_affine *b = multiples(n);
    scalar *k = big_alloc(n * sizeof *k);
    uint64_t bits[8];
    cancel_token token = {.cancelled = 1};
    g1 have;
    cuzk_error err;
    (void)state;
    for (size_t i = 0; i < n; i++) {
        math_scalar(&k[i], &rng);
        if (i % 3 == 0)
            k[i] = (scalar){{1}};
    }
    memset(bits, 0xff, sizeof bits);
    for (uint64_t at = 1, failed = 1; failed; at++) {
        mem_fault_set(at, 0);
        cuzk_status st = msm_g1_ifma(&have, b, NULL, k, n, NULL, NULL, &err);
        failed = mem_fault_count() >= at;
        mem_fault_set(0, 0);
        assert_int_equal(st, failed ? CUZK_OUT_OF_MEMORY : CUZK_OK);
    }
    for (uint64_t at = 1, failed = 1; failed; at++) {
        mem_fault_set(at, 0);
        cuzk_status st = msm_g1_subset_ifma(&have, b, bits, n, NULL, NULL, &err);
        failed = mem_fault_count() >= at;
        mem_fault_set(0, 0);
        assert_int_equal(st, failed ? CUZK_OUT_OF_MEMORY : CUZK_OK);
    }
    assert_int_equal(msm_g1_ifma(&have, b, NULL, k, n, NULL, &token, &err), CUZK_CANCELLED);
    assert_int_equal(msm_g1_subset_ifma(&have, b, bits, n, NULL, &token, &err), CUZK_CANCELLED);
    big_free(b, n * sizeof *b);
    big_free(k, n * sizeof *k);
}

static int by_rows(void **state)
{
    (void)state;
    g1_form_force(&G1_BY_ROWS);
    return 0;
}
static int by_halves(void **state)
{
    (void)state;
    g1_form_force(&G1_BY_HALVES);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_chunks), cmocka_unit_test(windows),
        cmocka_unit_test(repeated_bases), cmocka_unit_test(subsets),
        cmocka_unit_test(zero_abscissa),  cmocka_unit_test(kinds_of_scalars),
        cmocka_unit_test(g2_sums),        cmocka_unit_test(memory_and_cancellation),
    };
    if (!cpu_get()->ifma) {
        puts("skipped: this processor has no AVX-512 IFMA");
        return 0;
    }
    math_rng(&rng, 512);
    return cmocka_run_group_tests_name("products by rows", tests, by_rows, NULL) +
           cmocka_run_group_tests_name("products by halves", tests, by_halves, NULL);
}
