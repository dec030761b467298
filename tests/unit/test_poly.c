/* Domains, transforms and the quotient against evaluation by Horner, the textbook transform and seven
 * transforms. */
#include "base/cpu.h"
#include "base/mem.h"
#include "poly/poly_private.h"
#include "support/math.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static pool *pools[3]; /* none, one thread, three threads */

static domain *make(unsigned log_n, unsigned generator)
{
    domain *d;
    cuzk_error err;
    assert_int_equal(domain_create(&d, log_n, generator, &err), CUZK_OK);
    assert_int_equal(domain_log(d), log_n);
    assert_int_equal(domain_size(d), (size_t)1 << log_n);
    return d;
}

static fr *random_vector(size_t n, chacha_rng *rng)
{
    fr *a = mem_alloc(n * sizeof *a);
    assert_non_null(a);
    for (size_t i = 0; i < n; i++)
        math_fr(&a[i], rng);
    return a;
}

static fr *copy(const fr *a, size_t n)
{
    fr *b = mem_alloc(n * sizeof *b);
    assert_non_null(b);
    return memcpy(b, a, n * sizeof *b);
}

static void evaluate(fr *r, const fr *a, size_t n, const fr *x)
{
    fr acc = FR_ZERO;
    for (size_t i = n; i-- > 0;) {
        fr_mul(&acc, &acc, x);
        fr_add(&acc, &acc, &a[i]);
    }
    *r = acc;
}

static void coset_generator(fr *g, unsigned log_n, unsigned generator)
{
    if (generator == 7)
        fr_from_u64(g, 7);
    else
        fr_root_of_unity(g, log_n + 1, 5);
}

static void domains_are_checked(void **state)
{
    domain *d = NULL;
    cuzk_error err;
    (void)state;
    assert_int_equal(domain_create(&d, 4, 3, &err), CUZK_INVALID_ARGUMENT);
    assert_int_equal(domain_create(&d, 33, 7, &err), CUZK_UNSUPPORTED);
    assert_int_equal(domain_create(&d, 32, 5, &err), CUZK_UNSUPPORTED); /* no coset is left */
    assert_null(d);
    assert_true(domain_memory(20) > 0 && domain_memory(20) < (size_t)256 << 20);
    domain_destroy(NULL);
    d = make(10, 7);
    fr w;
    fr_root_of_unity(&w, 10, 7);
    assert_true(fr_eq(domain_root(d), &w));
    domain_destroy(d);
}

/* Every output of small transforms, in all four kinds, by Horner. */
static void small_transforms_evaluate(void **state)
{
    chacha_rng rng;
    (void)state;
    math_rng(&rng, 10);
    for (unsigned generator = 5; generator <= 7; generator += 2)
        for (unsigned log_n = 0; log_n <= 7; log_n++) {
            size_t n = (size_t)1 << log_n;
            domain *d = make(log_n, generator);
            fr *a = random_vector(n, &rng), *b = copy(a, n), g, x = FR_ONE, y;
            coset_generator(&g, log_n, generator);
            assert_int_equal(ntt_forward(d, b, NULL, NULL), CUZK_OK);
            for (size_t i = 0; i < n; i++) {
                evaluate(&y, a, n, &x);
                assert_true(fr_eq(&y, &b[i]));
                fr_mul(&x, &x, domain_root(d));
            }
            assert_true(fr_is_one(&x));
            assert_int_equal(ntt_inverse(d, b, NULL, NULL), CUZK_OK);
            assert_memory_equal(a, b, n * sizeof *a);
            assert_int_equal(ntt_coset_forward(d, b, NULL, NULL), CUZK_OK);
            for (size_t i = 0; i < n; i++) {
                fr at;
                fr_mul(&at, &x, &g);
                evaluate(&y, a, n, &at);
                assert_true(fr_eq(&y, &b[i]));
                fr_mul(&x, &x, domain_root(d));
            }
            assert_int_equal(ntt_coset_inverse(d, b, NULL, NULL), CUZK_OK);
            assert_memory_equal(a, b, n * sizeof *a);
            mem_free(a);
            mem_free(b);
            domain_destroy(d);
        }
}

static void transforms_equal_the_textbook(void **state)
{
    chacha_rng rng;
    (void)state;
    math_rng(&rng, 11);
    for (unsigned log_n = 0; log_n <= 17; log_n++) {
        size_t n = (size_t)1 << log_n;
        domain *d = make(log_n, log_n % 2 ? 5 : 7);
        fr *a = random_vector(n, &rng), *ref = copy(a, n), *inv = copy(a, n);
        if (log_n > 3) /* canonical extremes */
            a[3] = ref[3] = inv[3] = FR_MINUS_ONE, a[4] = ref[4] = inv[4] = FR_ZERO;
        ntt_forward_ref(d, ref);
        ntt_inverse_ref(d, inv);
        for (int i = 0; i < 3; i++) {
            fr *b = copy(a, n);
            assert_int_equal(ntt_forward(d, b, pools[i], NULL), CUZK_OK);
            assert_memory_equal(b, ref, n * sizeof *b);
            memcpy(b, a, n * sizeof *b);
            assert_int_equal(ntt_inverse(d, b, pools[i], NULL), CUZK_OK);
            assert_memory_equal(b, inv, n * sizeof *b);
            assert_int_equal(ntt_coset_forward(d, b, pools[i], NULL), CUZK_OK);
            assert_int_equal(ntt_coset_inverse(d, b, pools[i], NULL), CUZK_OK);
            assert_memory_equal(b, inv, n * sizeof *b);
            mem_free(b);
        }
        mem_free(a);
        mem_free(ref);
        mem_free(inv);
        domain_destroy(d);
    }
}

/* Any number of passes, both ways: the largest transforms take three, these sizes up to twelve. */
static void passes(void **state)
{
    chacha_rng rng;
    (void)state;
    math_rng(&rng, 15);
    for (unsigned log_n = 1; log_n <= 12; log_n++)
        for (unsigned pass_log = 1; pass_log <= 5; pass_log++) {
            size_t n = (size_t)1 << log_n;
            domain *d = make(log_n, 7);
            fr *a = random_vector(n, &rng), *b = copy(a, n), *ref = copy(a, n), *inv = copy(a, n);
            pool *p = pools[(log_n + pass_log) % 3];
            ntt_forward_ref(d, ref);
            ntt_inverse_ref(d, inv);
            assert_int_equal(ntt_passes(d, b, NTT_FORWARD, 0, pass_log, p, NULL), CUZK_OK);
            bit_reverse(b, log_n, p);
            assert_memory_equal(b, ref, n * sizeof *b);
            memcpy(b, a, n * sizeof *b);
            bit_reverse(b, log_n, p);
            assert_int_equal(ntt_passes(d, b, NTT_FORWARD, 1, pass_log, p, NULL), CUZK_OK);
            assert_memory_equal(b, ref, n * sizeof *b);
            for (int backwards = 0; backwards < 2; backwards++) { /* unscaled inverses */
                fr size;
                fr_from_u64(&size, n);
                memcpy(b, a, n * sizeof *b);
                if (backwards)
                    bit_reverse(b, log_n, p);
                assert_int_equal(ntt_passes(d, b, NTT_INVERSE, backwards, pass_log, p, NULL), CUZK_OK);
                if (!backwards)
                    bit_reverse(b, log_n, p);
                for (size_t i = 0; i < n; i++) {
                    fr t;
                    fr_mul(&t, &inv[i], &size);
                    assert_true(fr_eq(&t, &b[i]));
                }
            }
            mem_free(a), mem_free(b), mem_free(ref), mem_free(inv);
            domain_destroy(d);
        }
}

/* A large size: one random output by Horner, and there and back. */
static void large_transform(void **state)
{
    enum { LOG = 21 };
    size_t n = (size_t)1 << LOG, at = 1234567;
    uint64_t e = at;
    chacha_rng rng;
    fr x, y, g;
    (void)state;
    math_rng(&rng, 12);
    domain *d = make(LOG, 7);
    fr *a = random_vector(n, &rng), *b = copy(a, n);
    assert_int_equal(ntt_coset_forward(d, b, pools[2], NULL), CUZK_OK);
    fr_pow(&x, domain_root(d), &e, 1);
    coset_generator(&g, LOG, 7);
    fr_mul(&x, &x, &g);
    evaluate(&y, a, n, &x);
    assert_true(fr_eq(&y, &b[at]));
    assert_int_equal(ntt_coset_inverse(d, b, pools[2], NULL), CUZK_OK);
    assert_memory_equal(a, b, n * sizeof *a);
    mem_free(a);
    mem_free(b);
    domain_destroy(d);
}

static void check_quotient(const domain *d, const fr *a, const fr *b, pool *p)
{
    size_t n = domain_size(d);
    fr *ra = copy(a, n), *rb = copy(b, n), *rc = copy(a, n), *fa = copy(a, n), *fb = copy(b, n),
       *extra = copy(a, n);
    domain_arrange(d, fa, a, p);
    domain_arrange(d, fb, b, p);
    for (size_t i = 0; i < n; i++)
        fr_mul(&rc[i], &a[i], &b[i]);
    quotient_ref(d, ra, rb, rc);
    assert_int_equal(quotient(d, fa, fb, extra, p, NULL), CUZK_OK);
    for (size_t i = 0; i < n; i++) {
        scalar s, h;
        fr_to_scalar(&s, &ra[i]);
        memcpy(&h, &fa[i], sizeof h);
        assert_true(scalar_is_canonical(&h));
        assert_memory_equal(&s, &h, sizeof h);
    }
    assert_true(fr_is_zero(&fa[n - 1]));
    mem_free(ra), mem_free(rb), mem_free(rc), mem_free(fa), mem_free(fb), mem_free(extra);
}

static void quotients_equal_seven_transforms(void **state)
{
    chacha_rng rng;
    (void)state;
    math_rng(&rng, 13);
    for (unsigned generator = 5; generator <= 7; generator += 2)
        for (unsigned log_n = 0; log_n <= 13; log_n++) {
            size_t n = (size_t)1 << log_n;
            domain *d = make(log_n, generator);
            fr *a = random_vector(n, &rng), *b = random_vector(n, &rng);
            check_quotient(d, a, b, pools[log_n % 3]);
            memset(b + n / 2, 0, (n - n / 2) * sizeof *b); /* padding */
            check_quotient(d, a, b, pools[(log_n + 1) % 3]);
            memset(b, 0, n * sizeof *b);
            check_quotient(d, a, b, pools[2]);
            for (size_t i = 0; i < n; i++)
                a[i] = b[i] = FR_MINUS_ONE;
            check_quotient(d, a, b, NULL);
            mem_free(a);
            mem_free(b);
            domain_destroy(d);
        }
}

/* (A B - C)(x) = h(x) (x^n - 1) at a random point: the definition, not another algorithm. */
static void quotient_divides(void **state)
{
    enum { LOG = 9 };
    size_t n = (size_t)1 << LOG;
    chacha_rng rng;
    fr x, t, av, bv, cv, hv;
    (void)state;
    math_rng(&rng, 14);
    domain *d = make(LOG, 7);
    fr *a = random_vector(n, &rng), *b = random_vector(n, &rng), *c = random_vector(n, &rng),
       *extra = copy(a, n);
    for (size_t i = 0; i < n; i++)
        fr_mul(&c[i], &a[i], &b[i]);
    fr *ca = copy(a, n), *cb = copy(b, n);
    ntt_inverse_ref(d, ca);
    ntt_inverse_ref(d, cb);
    ntt_inverse_ref(d, c);
    fr *h = copy(a, n), *y = copy(b, n);
    domain_arrange(d, h, a, pools[2]);
    domain_arrange(d, y, b, pools[2]);
    assert_int_equal(quotient(d, h, y, extra, pools[2], NULL), CUZK_OK);
    for (size_t i = 0; i < n; i++) {
        scalar s;
        memcpy(&s, &h[i], sizeof s);
        fr_from_scalar(&h[i], &s);
    }
    math_fr(&x, &rng);
    evaluate(&av, ca, n, &x);
    evaluate(&bv, cb, n, &x);
    evaluate(&cv, c, n, &x);
    evaluate(&hv, h, n, &x);
    fr_mul(&av, &av, &bv);
    fr_sub(&av, &av, &cv);
    t = x;
    for (int i = 0; i < LOG; i++)
        fr_sqr(&t, &t);
    fr_sub(&t, &t, &FR_ONE);
    fr_mul(&hv, &hv, &t);
    assert_true(fr_eq(&av, &hv));
    mem_free(a), mem_free(b), mem_free(c), mem_free(extra), mem_free(ca), mem_free(cb);
    mem_free(h), mem_free(y);
    domain_destroy(d);
}

static void memory_failures_are_reported(void **state)
{
    cuzk_error err;
    domain *d = NULL;
    (void)state;
    for (uint64_t i = 1;; i++) {
        mem_fault_set(i, 0);
        cuzk_status st = domain_create(&d, 12, 7, &err);
        uint64_t used = mem_fault_count();
        mem_fault_set(0, 0);
        if (st == CUZK_OK) {
            assert_true(used < i);
            break;
        }
        assert_int_equal(st, CUZK_OUT_OF_MEMORY);
        assert_int_equal(err.status, CUZK_OUT_OF_MEMORY);
    }
    fr *a = mem_calloc(1 << 12, sizeof *a);
    for (uint64_t i = 1;; i++) {
        mem_fault_set(i, 0);
        cuzk_status st = ntt_forward(d, a, NULL, &err);
        uint64_t used = mem_fault_count();
        mem_fault_set(0, 0);
        if (st == CUZK_OK) {
            assert_true(used < i);
            break;
        }
        assert_int_equal(st, CUZK_OUT_OF_MEMORY);
    }
    mem_free(a);
    domain_destroy(d);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(domains_are_checked),
        cmocka_unit_test(small_transforms_evaluate),
        cmocka_unit_test(transforms_equal_the_textbook),
        cmocka_unit_test(passes),
        cmocka_unit_test(large_transform),
        cmocka_unit_test(quotients_equal_seven_transforms),
        cmocka_unit_test(quotient_divides),
        cmocka_unit_test(memory_failures_are_reported),
    };
    int failed = cmocka_run_group_tests_name("this processor", tests, open_pools, close_pools);
    if (cpu_get()->adx) {
        cpu_force(CPU_PORTABLE);
        failed += cmocka_run_group_tests_name("portable", tests, open_pools, close_pools);
    }
    return failed;
}
