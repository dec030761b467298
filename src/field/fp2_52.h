/* Fp2 = Fp[u] / (u^2 + 1), eight elements at once; c0 in l[0..7], c1 in l[8..15]. See fp52.h for limbs and
 * bounds. */
#ifndef FIELD_FP2_52_H
#define FIELD_FP2_52_H
#include "field/fp52.h"

typedef struct fp2_52 {
    fp52 c[2];
} fp2_52;

/* r = a b, open, below 9 p: three products, two reductions. Factors strict (they are added), below 2^394.
 * fill: other work, called with i from 0 to 15. */
FP52_INLINE void fp2_52_mul_fill(fp2_52 *r, const fp2_52 *a, const fp2_52 *b, fp52_fill *fill, void *ctx)
{
    const uint64_t *p = fp52_table(FP52_P);
    fp52_wide t0, t1, t2;
    fp52 sa, sb;
    FP52_UNROLL for (int i = 0; i < 8; i++)
    {
        sa.l[i] = V8_ADD(a->c[0].l[i], a->c[1].l[i]);
        sb.l[i] = V8_ADD(b->c[0].l[i], b->c[1].l[i]);
    }
    fp52_carry_loose(&sa);
    fp52_carry_loose(&sb);
    fp52_wide_columns(&t0, &a->c[0], &b->c[0]);
    fp52_wide_columns(&t1, &a->c[1], &b->c[1]);
    fp52_wide_columns(&t2, &sa, &sb);
    FP52_UNROLL for (int i = 0; i < 16; i++)
    {
        t2.low[i] = V8_SUB(t2.low[i], V8_ADD(t0.low[i], t1.low[i]));
        t0.low[i] = V8_SUB(t0.low[i], t1.low[i]);
    }
    fp52_wide_digits(&t0);
    fp52_wide_digits(&t2);
    fp52_reduce(&r->c[0], &t0, fill, ctx, 0);
    fp52_reduce(&r->c[1], &t2, fill, ctx, 8);
    /* c0 may have been negative by less than p */
    FP52_UNROLL for (int i = 0; i < 8; i++) r->c[0].l[i] = V8_ADD(r->c[0].l[i], v8_set1(p[i]));
}

/* r = a^2 = (a0 + a1)(a0 - a1) + 2 a0 a1 u, open, below 8 p. The factor strict, below 2^394; bound: a
 * multiple of p above a1. */
FP52_INLINE void fp2_52_sqr_fill(fp2_52 *r, const fp2_52 *a, const uint64_t bound[8], fp52_fill *fill,
                                 void *ctx)
{
    fp52 s, d, e;
    FP52_UNROLL for (int i = 0; i < 8; i++)
    {
        s.l[i] = V8_ADD(a->c[0].l[i], a->c[1].l[i]);
        d.l[i] = V8_ADD(V8_SUB(a->c[0].l[i], a->c[1].l[i]), v8_set1(bound[i]));
        e.l[i] = V8_ADD(a->c[0].l[i], a->c[0].l[i]);
    }
    fp52_carry_loose(&s);
    fp52_carry_loose(&d);
    fp52_carry_loose(&e);
    fp52 c1;
    fp52_mul_fill(&c1, &e, &a->c[1], fill, ctx, 0);
    fp52_mul_fill(&r->c[0], &s, &d, fill, ctx, 8);
    r->c[1] = c1;
}
#endif
