/* The vector transforms against the portable ones, on vectors that push the bounds of their limbs: all 0, all
 * r - 1 (as an integer), alternating, one non-zero entry, random. */
#include "base/cpu.h"
#include "base/mem.h"
#include "poly/poly_private.h"
#include "support/math.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ZERO, TOP, ALTERNATE, FIRST, LAST, RANDOM, KINDS };
static const fr top = {{0xffffffff00000000, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48}};
static chacha_rng rng;

static void fill(fr *a, size_t n, int kind)
{
    memset(a, 0, n * sizeof *a);
    for (size_t i = 0; i < n; i++) {
        if (kind == TOP || (kind == ALTERNATE && i % 2))
            a[i] = top;
        if (kind == RANDOM)
            math_fr(&a[i], &rng);
    }
    if (kind == FIRST || kind == LAST)
        a[kind == FIRST ? 0 : n - 1] = top;
}

static fr *vector(size_t n)
{
    fr *a = big_alloc(n * sizeof *a);
    assert_non_null(a);
    return a;
}

/* kinds: those from the given one on. */
static void one_size(unsigned log_n, unsigned generator, int kinds, pool *p)
{
    size_t n = (size_t)1 << log_n;
    fr *a = vector(n), *b = vector(n), *c = vector(n);
    domain *d;
    cuzk_error err;
    assert_int_equal(domain_create(&d, log_n, generator, &err), CUZK_OK);
    assert_non_null(d->ifma);
    for (int kind = kinds; kind < KINDS; kind++) {
        for (int way = 0; way < 4; way++) {
            fill(a, n, kind);
            memcpy(b, a, n * sizeof *a);
            assert_int_equal(ntt_ifma(d, a, way & 1 ? NTT_INVERSE : NTT_FORWARD, way >> 1, p, &err), CUZK_OK);
            assert_int_equal(ntt_portable(d, b, way & 1 ? NTT_INVERSE : NTT_FORWARD, way >> 1, NULL, &err),
                             CUZK_OK);
            assert_memory_equal(a, b, n * sizeof *a);
        }
    }
    for (int kind = kinds; kind < KINDS; kind++) {
        fr *a2 = vector(n), *b2 = vector(n);
        fill(a, n, kind);
        fill(b, n, (kind + 3) % KINDS);
        memcpy(a2, a, n * sizeof *a);
        memcpy(b2, b, n * sizeof *b);
        domain_arrange(d, a, a2, p);
        domain_arrange(d, b, b2, p);
        assert_int_equal(quotient_ifma(d, a, b, c, p, &err), CUZK_OK);
        assert_int_equal(quotient_portable(d, a2, b2, c, NULL, &err), CUZK_OK);
        assert_memory_equal(a, a2, n * sizeof *a);
        big_free(a2, n * sizeof *a2);
        big_free(b2, n * sizeof *b2);
    }
    domain_destroy(d);
    big_free(a, n * sizeof *a);
    big_free(b, n * sizeof *b);
    big_free(c, n * sizeof *c);
}

static void every_size(void **state)
{
    pool *p;
    cuzk_error err;
    (void)state;
    assert_int_equal(pool_create(&p, 3, &err), CUZK_OK);
    pool_keep(p, SIZE_MAX);
    for (unsigned log_n = NTT_IFMA_MIN_LOG; log_n <= 13; log_n++)
        one_size(log_n, log_n % 2 ? 5 : 7, 0, log_n % 3 ? p : NULL);
    one_size(17, 7, RANDOM, p); /* columns of 512 and rows of 256 */
    pool_destroy(p);
}

/* A failed allocation is a status; nothing is left behind. */
static void out_of_memory(void **state)
{
    domain *d;
    fr *a = vector(4096);
    cuzk_error err;
    (void)state;
    for (uint64_t at = 1, failed = 1; failed; at++) {
        mem_fault_set(at, 0);
        cuzk_status st = domain_create(&d, 12, 7, &err);
        failed = mem_fault_count() >= at;
        mem_fault_set(0, 0);
        assert_int_equal(st, failed ? CUZK_OUT_OF_MEMORY : CUZK_OK);
        if (!failed) {
            mem_fault_set(1, 0);
            assert_int_equal(ntt_ifma(d, a, NTT_FORWARD, 0, NULL, &err), CUZK_OUT_OF_MEMORY);
            mem_fault_set(0, 0);
            domain_destroy(d);
        }
    }
    big_free(a, 4096 * sizeof *a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_size), cmocka_unit_test(out_of_memory)};
    if (!cpu_get()->ifma) {
        puts("skipped: this processor has no AVX-512 IFMA");
        return 0;
    }
    math_rng(&rng, 260);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
