/* Transforms of one column of vectors, in place: natural order to bit-reversed (DIF) and back (DIT), radix 4,
 * depth first, eight independent transforms in the lanes. Values are open (field/fr52.h). Products and
 * reduced values lie in [-7/2, 7/2) r; sums and differences of four, in [-14, 14) r, are still factors and
 * may be reduced, since 2^259 > 17 r. DIF hands on the former from level to level, DIT the latter. Limbs stay
 * below 2^58. */
#ifndef POLY_FFT_IFMA_H
#define POLY_FFT_IFMA_H
#include "field/fr52.h"

/* Powers of a root of unity of order n = 2^log: table[e] = w^e. sign: 0 for w, 1 for 1 / w. */
typedef struct fft_roots {
    const fr52_const *table;
    size_t n;
    int sign;
} fft_roots;

FP52_INLINE const fr52_const *fft_root(const fft_roots *t, size_t e)
{
    return &t->table[t->sign ? (t->n - e) & (t->n - 1) : e];
}

enum {
    FULL,
    ONES,
    LAST
}; /* butterflies with roots; with roots 1; those at the end, which leave sums of four */

/* The four products of a butterfly use roots w1, w2 = w1^2, w3 = w1^3 and i, of order 4. */
FP52_INLINE void dif4(fr52 *p0, fr52 *p1, fr52 *p2, fr52 *p3, const fr52_const *w1, const fr52_const *w2,
                      const fr52_const *w3, const fr52_const *im, int kind)
{
    fr52 a, b, s0, s1, d, y[4];
    FP52_UNROLL for (int i = 0; i < 5; i++)
    {
        s0.l[i] = V8_ADD(p0->l[i], p2->l[i]);
        s1.l[i] = V8_ADD(p1->l[i], p3->l[i]);
        a.l[i] = V8_SUB(p0->l[i], p2->l[i]);
        b.l[i] = V8_SUB(p1->l[i], p3->l[i]);
    }
    fr52_mul_const(&d, &b, im);
    FP52_UNROLL for (int i = 0; i < 5; i++)
    {
        y[0].l[i] = V8_ADD(s0.l[i], s1.l[i]);
        y[1].l[i] = V8_SUB(s0.l[i], s1.l[i]);
        y[2].l[i] = V8_ADD(a.l[i], d.l[i]);
        y[3].l[i] = V8_SUB(a.l[i], d.l[i]);
    }
    if (kind != LAST)
        fr52_reduce(&y[0]);
    if (kind == FULL) {
        fr52_mul_const(&y[1], &y[1], w2);
        fr52_mul_const(&y[2], &y[2], w1);
        fr52_mul_const(&y[3], &y[3], w3);
    }
    if (kind == ONES) {
        fr52_reduce(&y[1]);
        fr52_reduce(&y[2]);
        fr52_reduce(&y[3]);
    }
    *p0 = y[0];
    *p1 = y[1];
    *p2 = y[2];
    *p3 = y[3];
}

/* Four results from the results of the four parts, which come in bit-reversed order: 0, 2, 1, 3. */
FP52_INLINE void dit4(fr52 *p0, fr52 *p1, fr52 *p2, fr52 *p3, const fr52_const *w1, const fr52_const *w2,
                      const fr52_const *w3, const fr52_const *im, int trivial)
{
    fr52 a = *p0, b = *p1, c = *p2, d = *p3, s, t, u, e;
    fr52_reduce(&a);
    if (trivial) {
        fr52_reduce(&b);
        fr52_reduce(&c);
        fr52_reduce(&d);
    } else {
        fr52_mul_const(&b, &b, w2);
        fr52_mul_const(&c, &c, w1);
        fr52_mul_const(&d, &d, w3);
    }
    FP52_UNROLL for (int i = 0; i < 5; i++) e.l[i] = V8_SUB(c.l[i], d.l[i]);
    fr52_mul_const(&e, &e, im);
    FP52_UNROLL for (int i = 0; i < 5; i++)
    {
        s.l[i] = V8_ADD(a.l[i], b.l[i]);
        t.l[i] = V8_SUB(a.l[i], b.l[i]);
        u.l[i] = V8_ADD(c.l[i], d.l[i]);
        a.l[i] = V8_ADD(s.l[i], u.l[i]);
        c.l[i] = V8_SUB(s.l[i], u.l[i]);
        b.l[i] = V8_ADD(t.l[i], e.l[i]);
        d.l[i] = V8_SUB(t.l[i], e.l[i]);
    }
    *p0 = a;
    *p1 = b;
    *p2 = c;
    *p3 = d;
}

/* Two values at the end, or at the beginning, where the order is not a power of 4. */
FP52_INLINE void pair2(fr52 *p0, fr52 *p1)
{
    fr52 y, z;
    FP52_UNROLL for (int i = 0; i < 5; i++)
    {
        y.l[i] = V8_ADD(p0->l[i], p1->l[i]);
        z.l[i] = V8_SUB(p0->l[i], p1->l[i]);
    }
    *p0 = y;
    *p1 = z;
}

static __attribute__((noinline)) void dif4_full(fr52 *x, size_t s, const fr52_const *w1, const fr52_const *w2,
                                                const fr52_const *w3, const fr52_const *im)
{
    dif4(x, x + s, x + 2 * s, x + 3 * s, w1, w2, w3, im, FULL);
}
static __attribute__((noinline)) void dif4_trivial(fr52 *x, size_t s, const fr52_const *im)
{
    dif4(x, x + s, x + 2 * s, x + 3 * s, NULL, NULL, NULL, im, ONES);
}
static __attribute__((noinline)) void dif4_last(fr52 *x, size_t blocks, const fr52_const *im)
{
    for (size_t b = 0; b < blocks; b++, x += 4)
        dif4(x, x + 1, x + 2, x + 3, NULL, NULL, NULL, im, LAST);
}
static __attribute__((noinline)) void dit4_full(fr52 *x, size_t s, const fr52_const *w1, const fr52_const *w2,
                                                const fr52_const *w3, const fr52_const *im)
{
    dit4(x, x + s, x + 2 * s, x + 3 * s, w1, w2, w3, im, 0);
}
static __attribute__((noinline)) void dit4_trivial(fr52 *x, size_t s, const fr52_const *im)
{
    dit4(x, x + s, x + 2 * s, x + 3 * s, NULL, NULL, NULL, im, 1);
}

#define FFT_BLOCK 64 /* vectors that are finished level by level: 20 KiB */

static inline void dif_level(fr52 *x, size_t total, size_t m, const fft_roots *t)
{
    size_t q = m / 4, step = t->n / m;
    const fr52_const *im = fft_root(t, t->n / 4);
    if (m == 4) {
        dif4_last(x, total / 4, im);
        return;
    }
    for (size_t b = 0; b < total; b += m)
        dif4_trivial(x + b, q, im);
    for (size_t j = 1; j < q; j++) {
        const fr52_const *w1 = fft_root(t, step * j), *w2 = fft_root(t, 2 * step * j),
                         *w3 = fft_root(t, 3 * step * j);
        for (size_t b = 0; b < total; b += m)
            dif4_full(x + b + j, q, w1, w2, w3, im);
    }
}

static inline void dit_level(fr52 *x, size_t total, size_t m, const fft_roots *t)
{
    size_t q = m / 4, step = t->n / m;
    const fr52_const *im = fft_root(t, t->n / 4);
    for (size_t b = 0; b < total; b += m)
        dit4_trivial(x + b, q, im);
    for (size_t j = 1; j < q; j++) {
        const fr52_const *w1 = fft_root(t, step * j), *w2 = fft_root(t, 2 * step * j),
                         *w3 = fft_root(t, 3 * step * j);
        for (size_t b = 0; b < total; b += m)
            dit4_full(x + b + j, q, w1, w2, w3, im);
    }
}

/* Natural to bit-reversed order; inputs in [-7/2, 7/2) r, results in [-14, 14) r. t->n: a multiple of n, at
 * least 4. */
static void dif(fr52 *x, size_t n, const fft_roots *t)
{
    if (n > FFT_BLOCK) {
        dif_level(x, n, n, t);
        for (size_t k = 0; k < 4; k++)
            dif(x + n / 4 * k, n / 4, t);
        return;
    }
    size_t m = n;
    for (; m >= 4; m /= 4)
        dif_level(x, n, m, t);
    if (m == 2)
        for (size_t b = 0; b < n; b += 2)
            pair2(&x[b], &x[b + 1]);
}

/* Bit-reversed to natural order; inputs in [-7/2, 7/2) r, results in [-14, 14) r. */
static void dit(fr52 *x, size_t n, const fft_roots *t)
{
    if (n > FFT_BLOCK) {
        for (size_t k = 0; k < 4; k++)
            dit(x + n / 4 * k, n / 4, t);
        dit_level(x, n, n, t);
        return;
    }
    size_t m = 1;
    while (m * 4 <= n)
        m *= 4;
    if (m < n)
        for (size_t b = 0; b < n; b += 2)
            pair2(&x[b], &x[b + 1]);
    for (m = m < n ? 8 : 4; m <= n; m *= 4)
        dit_level(x, n, m, t);
}
#endif
