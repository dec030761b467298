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

/* x 2^-32 mod p, or 2^20 x: what blst_fp_mul of radix 2^384 leaves to one that removes so many limbs. */
static void rescale(fp *x, int limbs)
{
    fp k;
    memcpy(&k, FP52_TO_BLST, sizeof k);
    blst_fp_mul(x, x, &k);
    for (int i = 52 * limbs; i < 416; i++)
        blst_fp_add(x, x, x);
}

/* a b 2^(-52 limbs) mod p. */
static void product(fp *r, const fp *a, const fp *b, int limbs)
{
    blst_fp_mul(r, a, b);
    rescale(r, limbs);
}

/* A number below k: an edge or random. */
static uint64_t pick_below(uint64_t k)
{
    uint32_t how = chacha_rng_u32(&rng) % 4;
    return how == 0 ? 0 : how == 1 ? k - 1 : chacha_rng_u64(&rng) % k;
}

/* Whether every limb of a is that of b and `times` that of start. */
static void assert_more(const fp52 *a, const fp52 *b, const uint64_t start[8], uint64_t times)
{
    for (int i = 0; i < 8; i++)
        for (int l = 0; l < 8; l++)
            assert_int_equal((uint64_t)a->l[i][l], (uint64_t)b->l[i][l] + times * start[i]);
}

/* Factors below a p and b p, as large as lanes_ifma.h has them. */
typedef struct factors {
    uint64_t a, b;
    int limbs;
} factors;
#define TWO_SUMS  622081448 /* 2 N */
#define SHORT_ONE 106514    /* p / 2^364 */

static void fp_products_of(const factors *f)
{
    fp a[8], b[8], want, have;
    fp52 x, y, z, s, z2, s2;
    uint64_t more = f->limbs == FP52_SHORT ? SHORT_ONE : 0;
    for (int l = 0; l < 8; l++) {
        pick_fp(&a[l]);
        pick_fp(&b[l]);
        put(&x, l, &a[l], pick_below(f->a));
        put(&y, l, &b[l], pick_below(f->b));
    }
    fp52_mul_fill(&z, &x, &y, NULL, f->limbs, NULL, NULL, 0);
    fp52_sqr_fill(&s, &y, NULL, f->limbs, NULL, NULL);
    fp52_mul_fill(&z2, &x, &y, FP52_Y_ADD, f->limbs, NULL, NULL, 0);
    fp52_sqr_fill(&s2, &y, FP52_X_LESS_HALF, f->limbs, NULL, NULL);
    assert_more(&z2, &z, FP52_Y_ADD, 1);
    assert_more(&s2, &s, FP52_X_LESS_HALF, 2);
    fp52_carry(&z);
    fp52_carry(&s);
    assert_below(&z, 9 + f->a * f->b * more);
    assert_below(&s, 9 + f->b * f->b * more);
    for (int l = 0; l < 8; l++) {
        product(&want, &a[l], &b[l], f->limbs);
        get(&have, &z, l);
        assert_memory_equal(&want, &have, sizeof want);
        product(&want, &b[l], &b[l], f->limbs);
        get(&have, &s, l);
        assert_memory_equal(&want, &have, sizeof want);
    }
}

static void fp_products(void **state)
{
    static const factors f[] = {{16000, 16000, FP52_FULL},
                                {TWO_SUMS, 10, FP52_FULL},
                                {100 * SHORT_ONE + 8, 16, FP52_FULL},
                                {10, 10, FP52_SHORT}};
    (void)state;
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < sizeof f / sizeof *f; i++)
            fp_products_of(&f[i]);
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

/* Slices of blst's memory are the number times 2^28 or as it is, limb by limb; transposing twice changes
 * nothing. */
static void fp_memory(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        static const int shift[2] = {28, 0};
        fp a, want, have;
        pick_fp(&a);
        for (int k = 0; k < 2; k++) {
            v8 row = k ? fp52_slice(&a, 0) : fp52_slice(&a, 28);
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
                m[i][l] = n[i][l] = (long long)chacha_rng_u64(&rng);
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

static void fp2_products_of(const factors *f)
{
    fp2 a[8], b[8], want, have;
    fp2_52 x, y, z, s, t, s2;
    uint64_t more = f->limbs == FP52_SHORT ? SHORT_ONE : 0,
             lift = f->limbs == FP52_SHORT ? 100 * SHORT_ONE : 1;
    for (int l = 0; l < 8; l++)
        for (int h = 0; h < 2; h++) {
            pick_fp(&a[l].fp[h]);
            pick_fp(&b[l].fp[h]);
            put(&x.c[h], l, &a[l].fp[h], pick_below(f->a));
            put(&y.c[h], l, &b[l].fp[h], pick_below(f->b));
            put(&t.c[h], l, &a[l].fp[h], pick_below(10));
        }
    fp2_52_mul_fill(&z, &x, &y, f->limbs == FP52_FULL ? FP52_P : FP52_SHORT_LIFT, f->limbs, NULL, NULL);
    fp2_52_sqr_fill(&s, &t, FP52_Y_SUB, NULL, f->limbs, NULL, NULL);
    fp2_52_sqr_fill(&s2, &t, FP52_Y_SUB, FP52_X_LESS, f->limbs, NULL, NULL);
    for (int h = 0; h < 2; h++)
        assert_more(&s2.c[h], &s.c[h], FP52_X_LESS, 1);
    for (int h = 0; h < 2; h++) {
        fp52_carry(&z.c[h]);
        fp52_carry(&s.c[h]);
        assert_below(&z.c[h], 9 + lift + 2 * f->a * f->b * more);
        assert_below(&s.c[h], 9 + 20 * 20 * more);
    }
    for (int l = 0; l < 8; l++) {
        for (int sqr = 0; sqr < 2; sqr++) {
            blst_fp2_mul(&want, &a[l], sqr ? &a[l] : &b[l]);
            for (int h = 0; h < 2; h++) {
                rescale(&want.fp[h], f->limbs);
                get(&have.fp[h], sqr ? &s.c[h] : &z.c[h], l);
            }
            assert_memory_equal(&want, &have, sizeof want);
        }
    }
}

static void fp2_products(void **state)
{
    static const factors f[] = {{8000, 8000, FP52_FULL},
                                {TWO_SUMS, 10, FP52_FULL},
                                {200 * SHORT_ONE + 9, 16, FP52_FULL},
                                {10, 10, FP52_SHORT}};
    (void)state;
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < sizeof f / sizeof *f; i++)
            fp2_products_of(&f[i]);
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

/* Adds k r to every lane, open; k may be negative. */
static void add_multiples(fr52 *x, int k)
{
    for (int i = 0; i < 5; i++)
        x->l[i] = V8_ADD(x->l[i], v8_set1((uint64_t)(k * (int64_t)FR52_R[i])));
}

/* Moves whole limbs between neighbours, which the value does not see. */
static void open_limbs(fr52 *x)
{
    for (int i = 0; i < 4; i++) {
        int64_t k = (int64_t)(chacha_rng_u32(&rng) % 128) - 64;
        x->l[i] = V8_ADD(x->l[i], v8_set1((uint64_t)(k * ((int64_t)1 << 52))));
        x->l[i + 1] = V8_SUB(x->l[i + 1], v8_set1((uint64_t)k));
    }
}

/* Whether every lane's value lies in [low r / 4, high r / 4). */
static void assert_between(const fr52 *x, int low, int high)
{
    for (int l = 0; l < 8; l++)
        for (int end = 0; end < 2; end++) {
            __int128 carry = 0; /* 4 x - low r, or 4 x - high r: its sign */
            for (int i = 0; i < 5; i++)
                carry = (carry >> 52) + (__int128)4 * ((const int64_t *)&x->l[i])[l] -
                        (__int128)(end ? high : low) * (int64_t)FR52_R[i];
            assert_int_equal(carry < 0, end);
        }
}

/* Eight constants and their last rows, w 2^260. */
static void pick_constants(fr w[8], fr52 *last)
{
    fr52 t, k;
    for (int l = 0; l < 8; l++)
        pick_fr(&w[l]);
    fr52_load(&t, w);
    fr52_set1(&k, FR52_FROM_BLST);
    fr52_mont_mul(last, &t, &k);
    fr52_canonical(last);
}

static void assert_product(const fr52 *y, const fr a[8], const fr *w, size_t step)
{
    fr want, have[8];
    fr52 t = *y;
    fr52_canonical(&t);
    fr52_store(have, &t, 0);
    for (int l = 0; l < 8; l++) {
        fr_mul(&want, &a[l], &w[(size_t)l * step]);
        assert_memory_equal(&want, &have[l], sizeof want);
    }
}

/* Of signed values up to 2^259, and of others up to 2^260. */
static void fr_products(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        fr a[8], w[8];
        fr52 last, x, y;
        fr52_consts k;
        fr52_const one;
        int multiple = round % 4 ? (int)(chacha_rng_u32(&rng) % 34) - 17 : round % 8 ? 16 : -17;
        int lane = round % 8;
        pick_constants(w, &last);
        for (int l = 0; l < 8; l++)
            pick_fr(&a[l]);
        fr52_load(&x, a);
        add_multiples(&x, multiple);
        open_limbs(&x);
        fr52_prepare(&k, &last, 1);
        fr52_mul_consts(&y, &x, &k);
        assert_between(&y, 2, 26);
        assert_product(&y, a, w, 1);
        fr52_prepare(&k, &last, 0);
        for (int i = 0; i < 25; i++)
            one.row[i / 5][i % 5] = (uint64_t)k.rows.row[i / 5].l[i % 5][lane];
        for (int i = 0; i < 6; i++)
            one.start[i] = (uint64_t)k.start[i][lane];
        fr52_mul_const(&y, &x, &one);
        assert_between(&y, -14, 10);
        assert_product(&y, a, &w[lane], 0);
        /* a last row above r */
        for (int i = 0; i < 5 && round % 2; i++)
            last.l[i] = V8_ADD(last.l[i], v8_set1(FR52_R[i]));
        fr52_carry(&last);
        fr52_prepare_rows(&k.rows, &last);
        y = x;
        fr52_reduce_positive(&y);
        fr52_mul_rows(&y, &y, &k.rows, FR52_3R_NEGATIVE);
        assert_between(&y, -12, 10);
        assert_product(&y, a, w, 1);
        add_multiples(&x, 17);
        fr52_mul_rows(&y, &x, &k.rows, NULL);
        assert_between(&y, 0, 32);
        assert_product(&y, a, w, 1);
        fr52_below(&y);
        assert_between(&y, 0, 9);
        for (int i = 0; i < 5; i++)
            for (int l = 0; l < 8; l++)
                assert_true((uint64_t)y.l[i][l] >> (i < 4 ? 52 : 48) == 0);
        assert_product(&y, a, w, 1);
    }
}

/* Factors whose limbs are all ones: the largest columns and the largest result. */
static void fr_largest_product(void **state)
{
    fr minus[8], have[8], want;
    fr52 last, x, y;
    fr52_consts k;
    (void)state;
    for (int l = 0; l < 8; l++)
        minus[l] = (fr){{0xffffffff00000000, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48}};
    fr52_load(&last, minus); /* w = -2^-260, in all rows large */
    fr52_prepare(&k, &last, 0);
    for (int sign = 0; sign < 2; sign++) {
        for (int i = 0; i < 5; i++)
            x.l[i] = v8_set1(i < 4 ? ((uint64_t)1 << 52) - 1 : ((uint64_t)1 << 51) - 1);
        if (sign) /* -2^259 */
            for (int i = 0; i < 5; i++)
                x.l[i] = v8_set1(i < 4 ? 0 : -((uint64_t)1 << 51));
        fr52_mul_const(&y, &x, &(fr52_const){0});
        fr52_mul_consts(&y, &x, &k);
        assert_between(&y, -14, 10);
        /* y = -x 2^-260, and mont_mul of y by -2^520 is x again */
        fr52 square, back = y;
        fr52_canonical(&back);
        fr52_set1(&square, FR52_SQUARE);
        fr52_mont_mul(&back, &back, &square);
        fr52_canonical(&back);
        fr52_store(have, &back, 0);
        fr52_canonical(&x);
        fr52_store(&minus[0], &x, 0);
        for (int l = 0; l < 8; l++) {
            fr_sub(&want, &FR_ZERO, &have[l]);
            assert_memory_equal(&want, &minus[l], sizeof want);
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
        add_multiples(&y, (int)(chacha_rng_u32(&rng) % 32));
        fr52_carry_loose(&y);
        fr52_mont_mul(&x, &x, &y);
        fr52_canonical(&x);
        fr52_store(have, &x, 0);
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
        fr a[8], b[8], want[8], have[8];
        fr52 x, y, z;
        for (int l = 0; l < 8; l++) {
            pick_fr(&a[l]), pick_fr(&b[l]);
            if (chacha_rng_u32(&rng) % 4 == 0)
                b[l] = a[l]; /* 0: multiples of r themselves */
            fr_sub(&want[l], &a[l], &b[l]);
        }
        fr52_load(&x, a);
        fr52_load(&y, b);
        fr52_store(have, &x, 0);
        assert_memory_equal(a, have, sizeof a);
        z = x;
        for (int i = 0; i < 5; i++)
            z.l[i] = V8_SUB(z.l[i], y.l[i]);
        int multiple = (int)(chacha_rng_u32(&rng) % 33) - 16;
        add_multiples(&z, multiple);
        x = z;
        open_limbs(&z);
        y = z;
        fr52_reduce(&y);
        assert_between(&y, -11, 11);
        fr52_canonical(&y);
        fr52_canonical(&z);
        fr52_store(have, &z, 0);
        assert_memory_equal(want, have, sizeof want);
        fr52_store(have, &y, 0);
        assert_memory_equal(want, have, sizeof want);
        if (multiple > 1 && multiple < 7) { /* below 8 r, with carries as products have them */
            fr52_carry(&x);
            x.l[3] = V8_ADD(x.l[3], v8_set1(UINT64_C(3) << 52));
            x.l[4] = V8_SUB(x.l[4], v8_set1(3));
            fr52_below(&x);
            assert_between(&x, 0, 9);
            for (int l = 0; l < 8; l++)
                assert_true((uint64_t)x.l[4][l] >> 48 == 0);
            fr52_canonical(&x);
            fr52_store(have, &x, 0);
            assert_memory_equal(want, have, sizeof want);
        }
    }
}

static int run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fp_products),   cmocka_unit_test(fp_loose),
        cmocka_unit_test(fp_zero_lanes), cmocka_unit_test(fp_memory),
        cmocka_unit_test(fp2_products),  cmocka_unit_test(fr_products),
        cmocka_unit_test(fr_montgomery), cmocka_unit_test(fr_largest_product),
        cmocka_unit_test(fr_reductions),
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
