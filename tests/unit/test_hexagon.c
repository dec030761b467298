/* Digits in the Eisenstein integers: the numbering of buckets, and digits of both forms, put together again.
 */
#include "base/cpu.h"
#include "base/mem.h"
#include "curve/coord.h"
#include "msm/hexagon.h"
#include "support/math.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static chacha_rng rng;
static fr omega; /* what the endomorphism multiplies by */

typedef struct place {
    uint16_t x, y;
} place;

/* Where each bucket lies; checks that every (x, y) of the sector has a number of its own. */
static place *places(const hexagon *h)
{
    place *p = calloc(h->buckets, sizeof *p);
    uint32_t m = h->radix, count = 0;
    assert_non_null(p);
    for (uint32_t y = 0; y <= m; y++)
        for (uint32_t x = 1; 2 * x + y <= m && x + 2 * y <= m; x++) {
            uint32_t k = hexagon_bucket(h, x, y);
            assert_true(k < h->buckets && p[k].x == 0);
            assert_true(y < hexagon_rows(h) && x <= hexagon_row_length(h, y));
            assert_true(x < 1u << hexagon_log(h) && y < 1u << hexagon_log(h));
            p[k] = (place){(uint16_t)x, (uint16_t)y};
            count++;
        }
    assert_int_equal(count, h->buckets);
    return p;
}

/* sum m^i w^rot (x + y (1 + w)), signed. */
static void recombine(fr *r, const hexagon *h, const place *p, const uint32_t *code, size_t stride)
{
    fr m, t, u;
    *r = FR_ZERO;
    fr_from_u64(&m, h->radix);
    for (unsigned i = h->windows; i-- > 0;) {
        uint32_t c = code[i * stride], turn = c & 6;
        fr_mul(r, r, &m);
        if (c == HEXAGON_NONE)
            continue;
        assert_true(c >> 3 < h->buckets);
        assert_true(turn != 2);
        fr_from_u64(&t, p[c >> 3].y);
        fr_mul(&u, &t, &omega);
        fr_add(&t, &t, &u);
        fr_from_u64(&u, p[c >> 3].x);
        fr_add(&t, &t, &u);
        for (uint32_t n = turn ? turn / 2 - 1 : 0; n; n--)
            fr_mul(&t, &t, &omega);
        if (c & 1)
            fr_neg(&t, &t);
        fr_add(r, r, &t);
    }
}

/* a + b z^2 with parts near 0, +-z^2 / 2 and +-z^2, where digits and splits are extreme. */
static size_t awkward(scalar *k, size_t most)
{
    const u128 z2 = GLV_Z2,
               part[] = {0, 1, 2, z2 / 2 - 1, z2 / 2, z2 / 2 + 1, z2 / 2 + 2, z2 - 2, z2 - 1, z2, z2 + 1};
    const size_t parts = sizeof part / sizeof *part;
    size_t n = 0;
    scalar s;
    fr factor, a, b;
    s = (scalar){{(uint64_t)z2, (uint64_t)(z2 >> 64)}};
    fr_from_scalar(&factor, &s);
    for (size_t i = 0; i < parts; i++)
        for (size_t j = 0; j < parts; j++)
            for (int sign = 0; sign < 4 && n < most; sign++) {
                s = (scalar){{(uint64_t)part[i], (uint64_t)(part[i] >> 64)}};
                fr_from_scalar(&a, &s);
                s = (scalar){{(uint64_t)part[j], (uint64_t)(part[j] >> 64)}};
                fr_from_scalar(&b, &s);
                fr_mul(&b, &b, &factor);
                if (sign & 1)
                    fr_neg(&a, &a);
                if (sign & 2)
                    fr_neg(&b, &b);
                fr_add(&a, &a, &b);
                fr_to_scalar(&k[n++], &a);
            }
    return n;
}

static void check(const hexagon *h, const place *p, const scalar *k, const uint32_t *code, size_t stride)
{
    fr want, have;
    fr_from_scalar(&want, k);
    recombine(&have, h, p, code, stride);
    assert_true(fr_eq(&want, &have));
}

#define TERMS 1024
static void digits(void **state)
{
    static scalar k[TERMS];
    static uint32_t code[HEXAGON_MOST * TERMS];
    size_t n = awkward(k, TERMS);
    unsigned radices = 0;
    (void)state;
    assert_true(n > 400 && n < TERMS - 400);
    while (n < TERMS)
        math_scalar(&k[n++], &rng);
    for (unsigned w = HEXAGON_LEAST; w <= HEXAGON_MOST; w++) {
        hexagon h;
        if (!hexagon_init(&h, w))
            continue;
        radices++;
        place *p = places(&h);
        for (size_t i = 0; i < TERMS; i++)
            hexagon_codes_ref(code + i, TERMS, &h, &k[i]);
        for (size_t i = 0; i < TERMS; i++) {
            uint32_t quick[HEXAGON_MOST];
            check(&h, p, &k[i], code + i, TERMS);
            hexagon_codes(quick, 1, &h, &k[i]);
            for (unsigned v = 0; v < w; v++)
                assert_int_equal(quick[v], code[v * TERMS + i]);
        }
        for (size_t i = 0, count = 1; cpu_get()->ifma && i < TERMS; i += count, count = count % 16 + 1) {
            uint64_t words[4][16] = {{0}};
            if (count > TERMS - i)
                count = TERMS - i;
            for (size_t l = 0; l < count; l++)
                for (int q = 0; q < 4; q++)
                    words[q][l] = k[i + l].l[q];
            memset(code, 0x55, sizeof code);
            hexagon_codes_ifma(code, TERMS, (unsigned)count, &h, (const uint64_t(*)[16])words);
            for (size_t l = 0; l < count; l++)
                check(&h, p, &k[i + l], code + l, TERMS);
            for (unsigned v = 0; v < w; v++) /* nothing is written beside them */
                assert_int_equal(code[v * TERMS + count], 0x55555555);
        }
        free(p);
    }
    assert_true(radices > 20);
}

/* The endomorphism of the points multiplies by the root of unity that the digits mean. */
static void endomorphism(void **state)
{
    g1 p, q;
    scalar s;
    (void)state;
    fr_to_scalar(&s, &omega);
    p = *blst_p1_generator();
    g1_mul(&q, &p, &s);
    fp_endomorphism(&p.x, &p.x);
    assert_true(blst_p1_is_equal(&p, &q));
}

static void refusals(void **state)
{
    hexagon h;
    (void)state;
    assert_int_equal(hexagon_init(&h, 0), 0);
    assert_int_equal(hexagon_init(&h, HEXAGON_LEAST - 1), 0);
    assert_int_equal(hexagon_init(&h, HEXAGON_MOST + 1), 0);
    assert_int_equal(hexagon_init(&h, 32), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits),
        cmocka_unit_test(endomorphism),
        cmocka_unit_test(refusals),
    };
    scalar z2 = {{(uint64_t)GLV_Z2, (uint64_t)(GLV_Z2 >> 64)}};
    math_rng(&rng, 611);
    fr_from_scalar(&omega, &z2);
    fr_neg(&omega, &omega);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
