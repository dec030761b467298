/* The eight-lane fields against blst: edges (0, 1, p - 1, multiples of p), values far above p, loose and open
 * limbs. */
#include "base/cpu.h"
#include "field/fp2_52.h"
#include "field/fr52.h"
#include "support/math.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define ROUNDS 300
static chacha_rng rng;

static uint64_t random_word(void)
{
    return (uint64_t)chacha_rng_u32(&rng) << 32 | chacha_rng_u32(&rng);
}

/* A number below p: an edge or random. */
static void pick_fp(fp *r)
{
    uint8_t bytes[48];
    memset(r, 0, sizeof *r);
    switch (chacha_rng_u32(&rng) % 6) {
    case 0:
        return;
    case 1:
        r->l[0] = 1;
        return;
    case 2: /* p - 1 */
        memcpy(r, FP52_P_WORDS, sizeof *r);
        r->l[0]--;
        return;
    default:
        for (int i = 0; i < 48; i++)
            bytes[i] = (uint8_t)chacha_rng_u32(&rng);
        bytes[47] &= 15;
        for (int i = 0; i < 48; i++)
            r->l[i / 8] |= (uint64_t)bytes[i] << 8 * (i % 8);
    }
}

/* Puts x + k p into a lane. */
static void put(fp52 *v, int lane, const fp *x, uint64_t k)
{
    uint64_t limb[8];
    unsigned __int128 carry = 0;
    fp52_limbs(limb, x);
    for (int i = 0; i < 8; i++) {
        carry += limb[i] + (unsigned __int128)k * FP52_P[i];
        limb[i] = i < 7 ? (uint64_t)carry & (((uint64_t)1 << 52) - 1) : (uint64_t)carry;
        carry >>= 52;
        ((uint64_t *)&v->l[i])[lane] = limb[i];
    }
}

static void get(fp *x, const fp52 *v, int lane)
{
    uint64_t limb[8];
    for (int i = 0; i < 8; i++)
        limb[i] = ((const uint64_t *)&v->l[i])[lane];
    fp52_canonical(x, limb);
}

/* Whether every lane, strict, is below k p. */
static void assert_below(const fp52 *v, uint64_t k)
{
    for (int l = 0; l < 8; l++) {
        unsigned __int128 carry = 0;
        int below = 0;
        uint64_t bound[8];
        for (int i = 0; i < 8; i++) {
            carry += (unsigned __int128)k * FP52_P[i];
            bound[i] = i < 7 ? (uint64_t)carry & (((uint64_t)1 << 52) - 1) : (uint64_t)carry;
            carry >>= 52;
        }
        for (int i = 0; i < 8; i++) {
            uint64_t x = ((const uint64_t *)&v->l[i])[l];
            assert_true(x >> 52 == 0);
            below = x != bound[i] ? x < bound[i] : below;
        }
        assert_true(below);
    }
}

/* a b 2^-416 mod p. */
static void product(fp *r, const fp *a, const fp *b)
{
    fp k;
    memcpy(&k, FP52_TO_BLST, sizeof k);
    blst_fp_mul(r, a, b);
    blst_fp_mul(r, r, &k);
}

static void fp_products(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        fp a[8], b[8], want, have;
        fp52 x, y, z, s;
        for (int l = 0; l < 8; l++) {
            pick_fp(&a[l]);
            pick_fp(&b[l]);
            put(&x, l, &a[l], chacha_rng_u32(&rng) % 16000);
            put(&y, l, &b[l], round % 2 ? 0 : chacha_rng_u32(&rng) % 16000);
        }
        fp52_mul_open(&z, &x, &y);
        fp52_sqr_open(&s, &x);
        fp52_carry(&z);
        fp52_carry(&s);
        assert_below(&z, 9);
        assert_below(&s, 9);
        for (int l = 0; l < 8; l++) {
            product(&want, &a[l], &b[l]);
            get(&have, &z, l);
            assert_memory_equal(&want, &have, sizeof want);
            product(&want, &a[l], &a[l]);
            get(&have, &s, l);
            assert_memory_equal(&want, &have, sizeof want);
        }
    }
}

/* Loose limbs of a difference give the same product as strict ones. */
static void fp_loose(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        fp a[8], b[8], have[2];
        fp52 x, y, d, e, z;
        for (int l = 0; l < 8; l++) {
            pick_fp(&a[l]);
            pick_fp(&b[l]);
            put(&x, l, &a[l], 0);
            put(&y, l, &b[l], 0);
        }
        for (int i = 0; i < 8; i++)
            d.l[i] = V8_ADD(V8_SUB(x.l[i], y.l[i]), v8_set1(FP52_4P[i]));
        e = d;
        fp52_carry(&d);
        fp52_carry_loose(&e);
        fp52_mul_open(&z, &d, &y);
        fp52_mul_open(&x, &e, &y);
        fp52_carry(&z);
        fp52_carry(&x);
        for (int l = 0; l < 8; l++) {
            get(&have[0], &z, l);
            get(&have[1], &x, l);
            assert_memory_equal(&have[0], &have[1], sizeof have[0]);
        }
    }
}

static void fp_zero_lanes(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        fp52 x;
        unsigned want = 0;
        for (int l = 0; l < 8; l++) {
            fp a;
            pick_fp(&a);
            put(&x, l, &a, chacha_rng_u32(&rng) % 9);
            want |= (unsigned)!(a.l[0] | a.l[1] | a.l[2] | a.l[3] | a.l[4] | a.l[5]) << l;
        }
        assert_int_equal(fp52_zero_mask(&x), want);
    }
}

/* Slices of blst's memory are the number times 2^12 or 2^2, limb by limb; transposing twice changes nothing.
 */
static void fp_memory(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        static const int shift[2] = {12, 2};
        fp a, want, have;
        pick_fp(&a);
        for (int k = 0; k < 2; k++) {
            v8 row = k ? fp52_slice(&a, 2) : fp52_slice(&a, 12);
            fp52_canonical(&have, (const uint64_t *)&row);
            want = a;
            for (int i = 0; i < shift[k]; i++)
                blst_fp_add(&want, &want, &want);
            assert_memory_equal(&want, &have, sizeof want);
            for (int i = 0; i < 8; i++)
                assert_true((uint64_t)row[i] >> 52 == 0);
        }
        v8 m[8], n[8];
        for (int i = 0; i < 8; i++)
            for (int l = 0; l < 8; l++)
                m[i][l] = n[i][l] = (long long)random_word();
        v8_transpose(m);
        for (int i = 0; i < 8; i++)
            for (int l = 0; l < 8; l++)
                assert_true(m[i][l] == n[l][i]);
        uint64_t limb[8];
        fp52_limbs(limb, &a);
        fp52_canonical(&have, limb);
        assert_memory_equal(&a, &have, sizeof a);
    }
}

static void fp2_products(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        fp2 a[8], b[8], want, have;
        fp2_52 x, y, z, s, t;
        fp k;
        memcpy(&k, FP52_TO_BLST, sizeof k);
        for (int l = 0; l < 8; l++)
            for (int h = 0; h < 2; h++) {
                pick_fp(&a[l].fp[h]);
                pick_fp(&b[l].fp[h]);
                put(&x.c[h], l, &a[l].fp[h], chacha_rng_u32(&rng) % 8000);
                put(&y.c[h], l, &b[l].fp[h], chacha_rng_u32(&rng) % 8000);
                put(&t.c[h], l, &a[l].fp[h], chacha_rng_u32(&rng) % 9);
            }
        fp2_52_mul_fill(&z, &x, &y, NULL, NULL);
        fp2_52_sqr_fill(&s, &t, FP52_Y_SUB, NULL, NULL);
        for (int h = 0; h < 2; h++) {
            fp52_carry(&z.c[h]);
            fp52_carry(&s.c[h]);
            assert_below(&z.c[h], 10);
            assert_below(&s.c[h], 9);
        }
        for (int l = 0; l < 8; l++) {
            for (int sqr = 0; sqr < 2; sqr++) {
                blst_fp2_mul(&want, &a[l], sqr ? &a[l] : &b[l]);
                for (int h = 0; h < 2; h++) {
                    blst_fp_mul(&want.fp[h], &want.fp[h], &k);
                    get(&have.fp[h], sqr ? &s.c[h] : &z.c[h], l);
                }
                assert_memory_equal(&want, &have, sizeof want);
            }
        }
    }
}

static void pick_fr(fr *r)
{
    switch (chacha_rng_u32(&rng) % 6) {
    case 0:
        *r = FR_ZERO;
        return;
    case 1:
        *r = FR_ONE;
        return;
    case 2:
        *r = FR_MINUS_ONE;
        return;
    case 3: /* r - 1 as an integer */
        *r = (fr){{0xffffffff00000000, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48}};
        return;
    default:
        math_fr(r, &rng);
    }
}

/* Adds k r to every lane, open. */
static void add_multiples(fr52 *x, uint64_t k)
{
    for (int i = 0; i < 5; i++)
        x->l[i] = V8_ADD(x->l[i], v8_set1(k * FR52_R[i] & (((uint64_t)1 << 57) - 1)));
    /* k r[i] < 2^57 for k < 32: nothing was cut */
    assert_true(k < 32);
}

static void fr_products(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        fr a[8], w[8], want, have[8];
        fr52 x, c, y;
        fr52_consts k;
        fr52_const one;
        for (int l = 0; l < 8; l++) {
            scalar plain;
            pick_fr(&a[l]);
            pick_fr(&w[l]);
            fr_to_scalar(&plain, &w[l]);
            memcpy(&have[l], &plain, sizeof plain);
        }
        fr52_load(&c, have);
        fr52_prepare(&k, &c);
        fr52_load(&x, a);
        add_multiples(&x, chacha_rng_u32(&rng) % 32);
        fr52_carry_loose(&x);
        fr52_mul_consts(&y, &x, &k);
        fr52_canonical(&y);
        fr52_store(have, &y);
        for (int l = 0; l < 8; l++) {
            fr_mul(&want, &a[l], &w[l]);
            assert_memory_equal(&want, &have[l], sizeof want);
        }
        int lane = round % 8;
        for (int i = 0; i < 5; i++) {
            one.w[i] = (uint64_t)k.w.l[i][lane];
            one.q[i] = (uint64_t)k.q.l[i][lane];
        }
        fr52_mul_const(&y, &x, &one);
        fr52_canonical(&y);
        fr52_store(have, &y);
        for (int l = 0; l < 8; l++) {
            fr_mul(&want, &a[l], &w[lane]);
            assert_memory_equal(&want, &have[l], sizeof want);
        }
    }
}

/* a b 2^-260 of blst's integers, times 16, is blst's own product. */
static void fr_montgomery(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        fr a[8], b[8], want, have[8];
        fr52 x, y;
        for (int l = 0; l < 8; l++)
            pick_fr(&a[l]), pick_fr(&b[l]);
        fr52_load(&x, a);
        fr52_load(&y, b);
        add_multiples(&y, chacha_rng_u32(&rng) % 32);
        fr52_carry_loose(&y);
        fr52_mont_mul(&x, &x, &y);
        fr52_canonical(&x);
        fr52_store(have, &x);
        for (int l = 0; l < 8; l++) {
            for (int i = 0; i < 4; i++)
                fr_add(&have[l], &have[l], &have[l]);
            fr_mul(&want, &a[l], &b[l]);
            assert_memory_equal(&want, &have[l], sizeof want);
        }
    }
}

static void fr_reductions(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        fr a[8], b[8], want, have[8];
        fr52 x, y, z;
        for (int l = 0; l < 8; l++)
            pick_fr(&a[l]), pick_fr(&b[l]);
        fr52_load(&x, a);
        fr52_load(&y, b);
        fr52_store(have, &x);
        assert_memory_equal(a, have, sizeof a);
        z = x;
        for (int i = 0; i < 5; i++)
            z.l[i] = V8_SUB(z.l[i], y.l[i]);
        add_multiples(&z, 1 + chacha_rng_u32(&rng) % 14);
        y = z;
        fr52_reduce(&y); /* reducing twice is reducing once */
        fr52_canonical(&y);
        fr52_canonical(&z);
        fr52_store(have, &z);
        for (int l = 0; l < 8; l++) {
            fr_sub(&want, &a[l], &b[l]);
            assert_memory_equal(&want, &have[l], sizeof want);
        }
        fr52_store(have, &y);
        for (int l = 0; l < 8; l++) {
            fr_sub(&want, &a[l], &b[l]);
            assert_memory_equal(&want, &have[l], sizeof want);
        }
    }
}

static int run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fp_products),   cmocka_unit_test(fp_loose),      cmocka_unit_test(fp_zero_lanes),
        cmocka_unit_test(fp_memory),     cmocka_unit_test(fp2_products),  cmocka_unit_test(fr_products),
        cmocka_unit_test(fr_montgomery), cmocka_unit_test(fr_reductions),
    };
    math_rng(&rng, 52);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Itself without the instructions that it looks for. */
__attribute__((target("no-avx"))) int main(void)
{
    if (!cpu_get()->ifma) {
        puts("skipped: this processor has no AVX-512 IFMA");
        return 0;
    }
    return run();
}
