/* Fp2 = Fp[u] / (u^2 + 1), eight elements at once; c0 in l[0..7], c1 in l[8..15]. See fp52.h for limbs and bounds. */
#ifndef FIELD_FP2_52_H
#define FIELD_FP2_52_H
#include "field/fp52.h"

typedef struct fp2_52 {
    fp52 c[2];
} fp2_52;

/* r = a b, open, below 9 p: three products, two reductions. Factors strict (they are added), below 2^394. */
FP52_INLINE void fp2_52_mul_open(fp2_52 *r, const fp2_52 *a, const fp2_52 *b)
{
    fp52_wide t0, t1, t2;
    fp52 sa, sb;
    FP52_UNROLL for (int i = 0; i < 8; i++)
    {
        sa.l[i] = V8_ADD(a->c[0].l[i], a->c[1].l[i]);
        sb.l[i] = V8_ADD(b->c[0].l[i], b->c[1].l[i]);
    }
    fp52_carry_loose(&sa);
    fp52_carry_loose(&sb);
    fp52_wide_mul(&t0, &a->c[0], &b->c[0]);
    fp52_wide_mul(&t1, &a->c[1], &b->c[1]);
    fp52_wide_mul(&t2, &sa, &sb);
    FP52_UNROLL for (int i = 0; i < 16; i++)
    {
        t2.low[i] = V8_SUB(t2.low[i], V8_ADD(t0.low[i], t1.low[i]));
        t2.high[i] = V8_SUB(t2.high[i], V8_ADD(t0.high[i], t1.high[i]));
        t0.low[i] = V8_SUB(t0.low[i], t1.low[i]);
        t0.high[i] = V8_SUB(t0.high[i], t1.high[i]);
    }
    fp52_reduce(&r->c[0], &t0);
    fp52_reduce(&r->c[1], &t2);
    /* c0 may have been negative by less than p */
    FP52_UNROLL for (int i = 0; i < 8; i++) r->c[0].l[i] = V8_ADD(r->c[0].l[i], v8_set1(FP52_P[i]));
}

/* r = a^2 = (a0 + a1)(a0 - a1) + 2 a0 a1 u, open, below 8 p. The factor strict, below 2^394; bound: a multiple of p
 * above a1. */
FP52_INLINE void fp2_52_sqr_open(fp2_52 *r, const fp2_52 *a, const uint64_t bound[8])
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
    fp52_mul_open(&r->c[1], &e, &a->c[1]);
    fp52_mul_open(&r->c[0], &s, &d);
}
#endif
