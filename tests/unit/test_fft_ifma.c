/* The transforms of a column of vectors on the largest values that they allow: multiples of r added at both
 * ends of the range, limbs open. The transform of every size against its definition at some places, the way
 * back against the input. */
#include "base/cpu.h"
#include "poly/fft_ifma.h"
#include "poly/poly_private.h"
#include "support/math.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define MAX_LOG 12
static chacha_rng rng;
static fr52 x[1 << MAX_LOG], from[1 << MAX_LOG];
static fr in[1 << MAX_LOG][8], root[1 << MAX_LOG];
static fr52_const table[1 << MAX_LOG], eighth[3];

static void constant(fr52_const *out, const fr *w)
{
    fr same[8];
    fr52 t, k;
    fr52_consts c;
    for (int l = 0; l < 8; l++)
        same[l] = *w;
    fr52_load(&t, same);
    fr52_set1(&k, FR52_FROM_BLST);
    fr52_mont_mul(&t, &t, &k);
    fr52_canonical(&t);
    fr52_prepare(&c, &t, 0);
    for (int i = 0; i < 25; i++)
        out->row[i / 5][i % 5] = (uint64_t)c.rows.row[i / 5].l[i % 5][0];
    for (int i = 0; i < 6; i++)
        out->start[i] = (uint64_t)c.start[i][0];
}

static void roots(unsigned log_n)
{
    size_t n = (size_t)1 << log_n;
    domain *d;
    cuzk_error err;
    fr half, t;
    assert_int_equal(domain_create(&d, log_n, 7, &err), CUZK_OK);
    root[0] = FR_ONE;
    for (size_t i = 0; i < n; i++) {
        constant(&table[i], &root[i]);
        if (i + 1 < n)
            fr_mul(&root[i + 1], &root[i], &d->root);
    }
    domain_destroy(d);
    fr_add(&half, &FR_ONE, &FR_ONE);
    fr_inv(&half, &half);
    fr_add(&t, &root[n / 8], &root[n - n / 8]);
    fr_mul(&t, &t, &half);
    constant(&eighth[0], &t);
    fr_sub(&t, &root[n / 8], &root[n - n / 8]);
    fr_mul(&t, &t, &half);
    constant(&eighth[1], &t);
    fr_sub(&t, &FR_ZERO, &t);
    constant(&eighth[2], &t);
}

/* Element i of eight lanes: r - 1 or 0 and random numbers, and multiples of r, `most` for the high ones; kind
 * 0: all high, 1: all low, 2: by turns, 3: random. */
static void fill(size_t n, int kind, int most)
{
    const fr top = {{0xffffffff00000000, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48}};
    for (size_t i = 0; i < n; i++) {
        int high = kind == 0 || (kind == 2 && i % 2) || (kind == 3 && chacha_rng_u32(&rng) % 2);
        for (int l = 0; l < 8; l++) {
            if (l < 4)
                in[i][l] = high ? top : FR_ZERO;
            else
                math_fr(&in[i][l], &rng);
        }
        fr52_load(&x[i], in[i]);
        for (int k = 0; k < 5; k++) /* low ones in [-3 r, -2 r) */
            x[i].l[k] = V8_ADD(x[i].l[k], v8_set1((uint64_t)((high ? most : -3) * (int64_t)FR52_R[k])));
        for (int k = 0; k < 4; k++) { /* as open as products are */
            uint64_t carry = high ? 11 : (uint64_t)-1;
            x[i].l[k] = V8_ADD(x[i].l[k], v8_set1(carry << 52));
            x[i].l[k + 1] = V8_SUB(x[i].l[k + 1], v8_set1(carry));
        }
    }
}

static void assert_lanes(fr52 y, const fr want[8])
{
    fr have[8];
    for (int l = 0; l < 8; l++) { /* in [-17, 17) r, whose floor by 2^208 the top limb gives */
        int64_t top = y.l[3][l] >> 52, bound = 17 * (int64_t)FR52_R[4] + 17;
        top += y.l[4][l];
        assert_in_range(top + bound, 0, 2 * bound);
    }
    fr52_canonical(&y);
    fr52_store(have, &y, 0);
    assert_memory_equal(have, want, sizeof have);
}

static void one_place(size_t n, unsigned log_n, size_t place, int sign)
{
    size_t e = reverse_bits(place, log_n);
    fr sum[8], t;
    for (int l = 0; l < 8; l++) {
        sum[l] = FR_ZERO;
        for (size_t i = 0; i < n; i++) {
            size_t k = i * e & (n - 1);
            fr_mul(&t, &in[i][l], &root[sign ? (n - k) & (n - 1) : k]);
            fr_add(&sum[l], &sum[l], &t);
        }
    }
    assert_lanes(x[place], sum);
}

static void every_size(void **state)
{
    (void)state;
    for (unsigned log_n = 3; log_n <= MAX_LOG; log_n++) {
        size_t n = (size_t)1 << log_n;
        roots(log_n);
        for (int kind = 0; kind < 8; kind++) {
            fft_roots t = {.table = table, .eighth = eighth, .n = n, .sign = kind >> 2};
            fill(n, kind & 3, 1 + t.sign);
            if (t.sign) {
                memcpy(from, x, n * sizeof *x);
                memset(x, 0xff, n * sizeof *x);
            }
            dif_from(x, t.sign ? from : x, n, &t, NULL);
            for (size_t k = 0; k < 12; k++)
                one_place(n, log_n, k < 8 ? k & (n - 1) : chacha_rng_u32(&rng) & (n - 1), t.sign);
            /* back, from values at the ends of the range again */
            for (size_t i = 0; i < n; i++) {
                fr52_reduce(&x[i]);
                fr52_canonical(&x[i]);
                for (int k = 0; k < 5; k++)
                    x[i].l[k] = V8_ADD(x[i].l[k], v8_set1((uint64_t)((i % 3 ? 1 : -3) * (int64_t)FR52_R[k])));
            }
            t.sign = !t.sign;
            dit(x, n, &t, NULL);
            for (size_t i = 0; i < n; i++) {
                fr want[8];
                for (int l = 0; l < 8; l++) {
                    want[l] = in[i][l];
                    for (unsigned k = 0; k < log_n; k++)
                        fr_add(&want[l], &want[l], &want[l]);
                }
                assert_lanes(x[i], want);
            }
        }
    }
}

static int run(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_size)};
    math_rng(&rng, 8);
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
