/* Transforms of one column of vectors, in place: natural order to bit-reversed (DIF) and back (DIT), radix 8
 * and 4, depth first, eight independent transforms in the lanes.
 *
 * Values are open (field/fr52.h). What a level of DIF hands on, products and reduced values, lies in [-7/2,
 * 11/4) r; so do the inputs of a level of DIT once multiplied or reduced. Sums and differences of eight of
 * these with products among them lie in [-17, 17) r, inside [-2^259, 2^259), where values are still factors
 * and may be reduced. Limbs stay below 2^59. */
#ifndef POLY_FFT_IFMA_H
#define POLY_FFT_IFMA_H
#include "field/fr52.h"

/* Powers of a root of unity of order n = 2^log >= 8: table[e] = w^e. sign: 0 for w, 1 for 1 / w. With z =
 * w^(n / 8): eighth[0] = (z + 1 / z) / 2, eighth[1] = (z - 1 / z) / 2, eighth[2] = -eighth[1]. */
typedef struct fft_roots {
    const fr52_const *table, *eighth;
    size_t n;
    int sign;
} fft_roots;

/* Memory that is fetched while a transform computes: pieces of 256 bytes, piece i at from + (i / 8) far + (i
 * % 8) near bytes. */
typedef struct fft_ahead {
    const char *from;
    size_t far, near, next, end;
} fft_ahead;

FP52_INLINE void fft_fetch(fft_ahead *a, size_t pieces)
{
    for (; a && pieces && a->next < a->end; pieces--, a->next++) {
        const char *at = a->from + (a->next >> 3) * a->far + (a->next & 7) * a->near;
        for (size_t i = 0; i < 256; i += 64)
            _mm_prefetch(at + i, _MM_HINT_T1);
    }
}

FP52_INLINE const fr52_const *fft_root(const fft_roots *t, size_t e)
{
    return &t->table[t->sign ? (t->n - e) & (t->n - 1) : e];
}

FP52_INLINE void fr52_sum(fr52 *r, const fr52 *a, const fr52 *b)
{
    FP52_UNROLL for (int i = 0; i < 5; i++) r->l[i] = V8_ADD(a->l[i], b->l[i]);
}
FP52_INLINE void fr52_difference(fr52 *r, const fr52 *a, const fr52 *b)
{
    FP52_UNROLL for (int i = 0; i < 5; i++) r->l[i] = V8_SUB(a->l[i], b->l[i]);
}

enum {
    FULL,
    ONES,
    LAST
}; /* butterflies with roots; with roots 1; those at the end, which leave sums, or at the beginning */

/* Up to here everything is stored, and what follows is read again: without it the compiler mixes the products
 * of a butterfly, has no registers left, and stores what it could read. */
#define FFT_IN_TURN __asm__ volatile("" ::: "memory")

FP52_INLINE void dif4_put(fr52 *to, fr52 *y, const fr52_const *w, int kind)
{
    if (kind == FULL)
        fr52_mul_const(y, y, w);
    if (kind == ONES)
        fr52_reduce(y);
    *to = *y;
    FFT_IN_TURN;
}

/* Four numbers of `from`, s apart, to x, which may be the same. The four products of a butterfly use roots
 * w1, w2 = w1^2, w3 = w1^3 and i, of order 4. */
FP52_INLINE void dif4(fr52 *x, const fr52 *from, size_t s, const fr52_const *w1, const fr52_const *w2,
                      const fr52_const *w3, const fr52_const *im, int kind)
{
    const fr52 *p0 = from, *p1 = from + s, *p2 = from + 2 * s, *p3 = from + 3 * s;
    fr52 b, d, y[4];
    FP52_UNROLL for (int i = 0; i < 5; i++) b.l[i] = V8_SUB(p1->l[i], p3->l[i]);
    fr52_mul_const(&d, &b, im);
    FFT_IN_TURN;
    FP52_UNROLL for (int i = 0; i < 5; i++)
    {
        v8 s0 = V8_ADD(p0->l[i], p2->l[i]), s1 = V8_ADD(p1->l[i], p3->l[i]), a = V8_SUB(p0->l[i], p2->l[i]);
        y[0].l[i] = V8_ADD(s0, s1);
        y[1].l[i] = V8_SUB(s0, s1);
        y[2].l[i] = V8_ADD(a, d.l[i]);
        y[3].l[i] = V8_SUB(a, d.l[i]);
    }
    dif4_put(x, &y[0], NULL, kind == FULL ? ONES : kind);
    dif4_put(x + s, &y[1], w2, kind);
    dif4_put(x + 2 * s, &y[2], w1, kind);
    dif4_put(x + 3 * s, &y[3], w3, kind);
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

/* The four products inside a transform of eight: those by i, of order 4, and by (z + 1 / z) / 2 and (z - 1 /
 * z) / 2 where z, of order 8, is the root (their sum and difference are z and 1 / z = -z^3). */
typedef struct fft_inner {
    const fr52_const *im, *cosine, *sine;
} fft_inner;

/* A transform of eight numbers of a column, s apart, from `from` to p, which may be the same. dif: number e
 * of the result goes to place rev e and is multiplied by w[e - 1]; otherwise number k of the input comes from
 * place rev k and is multiplied by w[k - 1]. */
typedef struct fft8 {
    fr52 *p;
    const fr52 *from;
    size_t s;
    const fr52_const *const *w;
    const fft_inner *inner;
    int dif, kind;
} fft8;

FP52_INLINE size_t fft8_place(size_t k, int reversed)
{
    return reversed ? (k & 1) << 2 | (k & 2) | k >> 2 : k;
}
FP52_INLINE void fft8_scale(const fft8 *t, size_t k, fr52 *x)
{
    if (t->kind == FULL && k)
        fr52_mul_const(x, x, t->w[k - 1]);
    else if (t->kind != LAST)
        fr52_reduce(x);
}
/* Inputs k and k + 4: their difference, and their sum in memory, for which there are no registers. */
FP52_INLINE void fft8_pair(const fft8 *t, size_t k, fr52 *sum, fr52 *difference)
{
    fr52 x = t->from[fft8_place(k, !t->dif) * t->s], y = t->from[fft8_place(k + 4, !t->dif) * t->s];
    if (!t->dif) {
        fft8_scale(t, k, &x);
        fft8_scale(t, k + 4, &y);
    }
    fr52_sum(sum, &x, &y);
    __asm__("" : "+m"(*sum));
    fr52_difference(difference, &x, &y);
}
FP52_INLINE void fft8_put(const fft8 *t, size_t e, fr52 *y)
{
    if (t->dif)
        fft8_scale(t, e, y);
    t->p[fft8_place(e, t->dif) * t->s] = *y;
}
/* Results e, a + b, and e + 4, a - b. */
FP52_INLINE void fft8_put2(const fft8 *t, size_t e, const fr52 *a, const fr52 *b)
{
    fr52 y;
    fr52_sum(&y, a, b);
    fft8_put(t, e, &y);
    fr52_difference(&y, a, b);
    fft8_put(t, e + 4, &y);
}

/* y[e] = sum_k x[k] z^(e k), in [-17, 17) r of inputs in [-7/2, 11/4) r. Differences of two inputs are below
 * 25/4 r, of two pairs below 25/2 r: with a product, below 16 r. The odd ones are a difference and three
 * products, below 67/4 r. The even ones without a product add sums of four, in [-14, 11) r, of which one is
 * reduced. Additions are spread among the products, as far as the processor looks ahead. */
FP52_INLINE void fft8_run(const fft8 *t)
{
    fr52 sum[4], d0, d1, d2, d3, a, b, u, v;
    fft8_pair(t, 2, &sum[2], &d2);
    fr52_mul_const(&d2, &d2, t->inner->im);
    fft8_pair(t, 1, &sum[1], &d1);
    fft8_pair(t, 3, &sum[3], &d3);
    fr52_difference(&a, &d1, &d3); /* cosine and sine times the difference and the sum */
    fr52_sum(&b, &d1, &d3);
    fr52_mul_const(&a, &a, t->inner->cosine);
    fft8_pair(t, 0, &sum[0], &d0);
    fr52_sum(&u, &d0, &d2);
    fr52_difference(&v, &d0, &d2);
    fr52_mul_const(&b, &b, t->inner->sine);
    fr52_sum(&d0, &a, &b);
    fr52_difference(&d1, &b, &a);
    fft8_put2(t, 1, &u, &d0);
    fr52_difference(&a, &sum[1], &sum[3]);
    fr52_mul_const(&a, &a, t->inner->im);
    fft8_put2(t, 3, &v, &d1);
    fr52_difference(&b, &sum[0], &sum[2]);
    fr52_sum(&u, &sum[0], &sum[2]);
    fr52_sum(&v, &sum[1], &sum[3]);
    fr52_subtract(&v, FR52_NEAR, V8_SRA(v.l[4], 49));
    fft8_put2(t, 2, &b, &a);
    fft8_put2(t, 0, &u, &v);
}

static __attribute__((noinline)) void dif4_full(fr52 *x, const fr52 *from, size_t s, const fr52_const *w1,
                                                const fr52_const *w2, const fr52_const *w3,
                                                const fr52_const *im)
{
    dif4(x, from, s, w1, w2, w3, im, FULL);
}
static __attribute__((noinline)) void dif4_trivial(fr52 *x, const fr52 *from, size_t s, const fr52_const *im)
{
    dif4(x, from, s, NULL, NULL, NULL, im, ONES);
}
static __attribute__((noinline)) void dif4_last(fr52 *x, size_t blocks, const fr52_const *im)
{
    for (size_t b = 0; b < blocks; b++, x += 4)
        dif4(x, x, 1, NULL, NULL, NULL, im, LAST);
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

static __attribute__((noinline)) void dif8_full(fr52 *x, const fr52 *from, size_t s,
                                                const fr52_const *const w[7], const fft_inner *t)
{
    fft8_run(&(fft8){x, from, s, w, t, 1, FULL});
}
static __attribute__((noinline)) void dif8_trivial(fr52 *x, const fr52 *from, size_t s, const fft_inner *t)
{
    fft8_run(&(fft8){x, from, s, NULL, t, 1, ONES});
}
static __attribute__((noinline)) void dif8_last(fr52 *x, const fr52 *from, size_t blocks, const fft_inner *t)
{
    for (size_t b = 0; b < blocks; b++, x += 8, from += 8)
        fft8_run(&(fft8){x, from, 1, NULL, t, 1, LAST});
}
static __attribute__((noinline)) void dit8_full(fr52 *x, size_t s, const fr52_const *const w[7],
                                                const fft_inner *t)
{
    fft8_run(&(fft8){x, x, s, w, t, 0, FULL});
}
static __attribute__((noinline)) void dit8_trivial(fr52 *x, size_t s, const fft_inner *t)
{
    fft8_run(&(fft8){x, x, s, NULL, t, 0, ONES});
}
/* The first level, of inputs that are small enough already. */
static __attribute__((noinline)) void dit8_first(fr52 *x, size_t blocks, const fft_inner *t)
{
    for (size_t b = 0; b < blocks; b++, x += 8)
        fft8_run(&(fft8){x, x, 1, NULL, t, 0, LAST});
}

#define FFT_BLOCK 64 /* vectors that are finished level by level: 20 KiB */

/* The radix of the level that transforms m >= 4: 8 where only levels of 8 are left. */
static inline size_t fft_radix(size_t m)
{
    return __builtin_ctzll(m) % 3 ? 4 : 8;
}

static inline void fft_inner_of(fft_inner *r, const fft_roots *t)
{
    r->im = fft_root(t, t->n / 4);
    r->cosine = &t->eighth[0];
    r->sine = &t->eighth[1 + t->sign];
}

static inline void dif_level4(fr52 *x, const fr52 *from, size_t total, size_t m, const fft_roots *t,
                              fft_ahead *ahead)
{
    size_t q = m / 4, step = t->n / m;
    const fr52_const *im = fft_root(t, t->n / 4);
    if (m == 4) {
        dif4_last(x, total / 4, im);
        return;
    }
    for (size_t b = 0; b < total; b += m)
        dif4_trivial(x + b, from + b, q, im);
    for (size_t j = 1; j < q; j++) {
        const fr52_const *w1 = fft_root(t, step * j), *w2 = fft_root(t, 2 * step * j),
                         *w3 = fft_root(t, 3 * step * j);
        for (size_t b = 0; b < total; b += m) {
            dif4_full(x + b + j, from + b + j, q, w1, w2, w3, im);
            fft_fetch(ahead, 4);
        }
    }
}

static inline void dif_level8(fr52 *x, const fr52 *from, size_t total, size_t m, const fft_roots *t,
                              fft_ahead *ahead)
{
    size_t q = m / 8, step = t->n / m;
    fft_inner inner;
    fft_inner_of(&inner, t);
    if (m == 8) {
        dif8_last(x, from, total / 8, &inner);
        return;
    }
    for (size_t b = 0; b < total; b += m)
        dif8_trivial(x + b, from + b, q, &inner);
    for (size_t j = 1; j < q; j++) {
        const fr52_const *w[7];
        for (size_t e = 1; e < 8; e++)
            w[e - 1] = fft_root(t, e * step * j);
        for (size_t b = 0; b < total; b += m) {
            dif8_full(x + b + j, from + b + j, q, w, &inner);
            fft_fetch(ahead, 4);
        }
    }
}

static inline void dit_level4(fr52 *x, size_t total, size_t m, const fft_roots *t, fft_ahead *ahead)
{
    size_t q = m / 4, step = t->n / m;
    const fr52_const *im = fft_root(t, t->n / 4);
    for (size_t b = 0; b < total; b += m)
        dit4_trivial(x + b, q, im);
    for (size_t j = 1; j < q; j++) {
        const fr52_const *w1 = fft_root(t, step * j), *w2 = fft_root(t, 2 * step * j),
                         *w3 = fft_root(t, 3 * step * j);
        for (size_t b = 0; b < total; b += m) {
            dit4_full(x + b + j, q, w1, w2, w3, im);
            fft_fetch(ahead, 4);
        }
    }
}

static inline void dit_level8(fr52 *x, size_t total, size_t m, const fft_roots *t, fft_ahead *ahead)
{
    size_t q = m / 8, step = t->n / m;
    fft_inner inner;
    fft_inner_of(&inner, t);
    if (m == 8) {
        dit8_first(x, total / 8, &inner);
        return;
    }
    for (size_t b = 0; b < total; b += m)
        dit8_trivial(x + b, q, &inner);
    for (size_t j = 1; j < q; j++) {
        const fr52_const *w[7];
        for (size_t e = 1; e < 8; e++)
            w[e - 1] = fft_root(t, e * step * j);
        for (size_t b = 0; b < total; b += m) {
            dit8_full(x + b + j, q, w, &inner);
            fft_fetch(ahead, 4);
        }
    }
}

/* Natural to bit-reversed order, from `from` to x, which may be the same; inputs in [-7/2, 11/4) r, or in
 * [-3, 3) r, results in [-17, 17) r. n: at least 8; t->n: a multiple. */
static inline void dif_from(fr52 *x, const fr52 *from, size_t n, const fft_roots *t, fft_ahead *ahead)
{
    size_t radix = fft_radix(n);
    if (n > FFT_BLOCK) {
        if (radix == 8)
            dif_level8(x, from, n, n, t, ahead);
        else
            dif_level4(x, from, n, n, t, ahead);
        for (size_t k = 0; k < radix; k++)
            dif_from(x + n / radix * k, x + n / radix * k, n / radix, t, ahead);
        return;
    }
    for (size_t m = n; m > 1; m /= radix, from = x) {
        radix = fft_radix(m);
        if (radix == 8)
            dif_level8(x, from, n, m, t, ahead);
        else
            dif_level4(x, from, n, m, t, ahead);
    }
}
static inline void dif(fr52 *x, size_t n, const fft_roots *t, fft_ahead *ahead)
{
    dif_from(x, x, n, t, ahead);
}

/* Bit-reversed to natural order; the same bounds. */
static inline void dit(fr52 *x, size_t n, const fft_roots *t, fft_ahead *ahead)
{
    size_t radix = fft_radix(n), part = n / radix;
    for (size_t k = 0; part > 1 && k < radix; k++)
        dit(x + part * k, part, t, ahead);
    if (radix == 8)
        dit_level8(x, n, n, t, ahead);
    else
        dit_level4(x, n, n, t, ahead);
}
#endif
