/* Fp2 = Fp[u] / (u^2 + 1), eight elements at once; c0 in l[0..7], c1 in l[8..15]. See fp52.h for limbs and
 * bounds. */
#ifndef FIELD_FP2_52_H
#define FIELD_FP2_52_H
#include "field/fp52.h"

typedef struct fp2_52 {
    fp52 c[2];
} fp2_52;

/* Everything up to here is stored, and what follows starts from memory: without it the compiler mixes the
 * products of one element, has no registers left, and takes a fifth longer. */
#define FP52_PART __asm__ volatile("" ::: "memory")

/* lift, as in fp52_wide_start, minus the columns of a b. */
FP52_INLINE void fp2_52_minus_columns(v8 out[16], const fp52 *a, const fp52 *b, const uint64_t lift[8],
                                      int limbs)
{
    fp52_wide above, t;
    fp52_wide_start(&above, lift, limbs);
    fp52_wide_start(&t, NULL, limbs);
    FP52_UNROLL for (int i = 0; i < 16; i++)
    {
        if (i < 8)
            fp52_wide_row(&t, a, b, i);
        out[i] = V8_SUB(above.col[i], t.col[i]);
    }
}

/* c0 = a0 b0 - a1 b1, open, lifted: m holds the lift minus the columns of a1 b1, and receives it minus those
 * of a0 b0 + a1 b1. */
FP52_INLINE void fp2_52_real(fp52 *r, v8 m[16], const fp52 *a, const fp52 *b, int limbs, fp52_fill *fill,
                             void *ctx)
{
    fp52_wide t;
    FP52_UNROLL for (int i = 0; i < 16; i++) t.col[i] = m[i];
    FP52_UNROLL for (int i = 0; i < 16; i++)
    {
        if (i < 8)
            fp52_wide_row(&t, a, b, i);
        m[i] = V8_SUB(V8_ADD(m[i], m[i]), t.col[i]);
        if (i < 7)
            fp52_wide_digit(&t, i);
    }
    fp52_reduce(r, &t, limbs, FP52_STRICT, fill, ctx, 0);
}

/* r = a b, open: three products, two reductions. Factors strict (they are added), below 2^415. Full: products
 * of their parts below 2^794; short: parts below 10 p, products below 2^405. Both parts are lifted by a
 * multiple of p: at least P, or SHORT_LIFT, above what a1 b1 can take from the real one. fill: other work,
 * called with i from 0 to 15. */
FP52_INLINE void fp2_52_mul_fill(fp2_52 *r, const fp2_52 *a, const fp2_52 *b, const uint64_t lift[8],
                                 int limbs, fp52_fill *fill, void *ctx)
{
    fp52_wide t;
    fp52 sa, sb;
    v8 m[16];
    fp2_52_minus_columns(m, &a->c[1], &b->c[1], lift, limbs);
    FP52_PART;
    fp52 c0;
    fp2_52_real(&c0, m, &a->c[0], &b->c[0], limbs, fill, ctx);
    FP52_PART;
    FP52_UNROLL for (int i = 0; i < 8; i++)
    {
        sa.l[i] = V8_ADD(a->c[0].l[i], a->c[1].l[i]);
        sb.l[i] = V8_ADD(b->c[0].l[i], b->c[1].l[i]);
    }
    fp52_carry_factor(&sa);
    fp52_carry_factor(&sb);
    FP52_UNROLL for (int i = 0; i < 16; i++) t.col[i] = m[i];
    fp52_wide_mul(&t, &sa, &sb);
    fp52_reduce(&r->c[1], &t, limbs, FP52_STRICT, fill, ctx, 8);
    r->c[0] = c0;
}

/* r = a^2 = (a0 + a1)(a0 - a1) + 2 a0 a1 u, open. The factor strict; bound: a multiple of p above a1. Bounds
 * as of fp52_mul_fill, for twice the factor: nothing is negative but start, which is added to both parts. */
FP52_INLINE void fp2_52_sqr_fill(fp2_52 *r, const fp2_52 *a, const uint64_t bound[8], const uint64_t start[8],
                                 int limbs, fp52_fill *fill, void *ctx)
{
    fp52 s, d, e;
    FP52_UNROLL for (int i = 0; i < 8; i++) e.l[i] = V8_ADD(a->c[0].l[i], a->c[0].l[i]);
    fp52_carry_factor(&e);
    fp52 c1;
    fp52_mul_fill(&c1, &e, &a->c[1], start, limbs, fill, ctx, 0);
    FP52_PART;
    FP52_UNROLL for (int i = 0; i < 8; i++)
    {
        s.l[i] = V8_ADD(a->c[0].l[i], a->c[1].l[i]);
        d.l[i] = V8_ADD(V8_SUB(a->c[0].l[i], a->c[1].l[i]), v8_set1(bound[i]));
    }
    fp52_carry_factor(&s);
    fp52_carry_factor(&d);
    fp52_mul_fill(&r->c[0], &s, &d, start, limbs, fill, ctx, 8);
    r->c[1] = c1;
}
#endif
