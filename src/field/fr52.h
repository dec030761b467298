/* Fr, eight elements at once, in five limbs of 52 bits: element i in lane i, l[j] holds limb j of all eight.
 * Only for files named *_ifma.c.
 *
 * The numbers are blst's own, x 2^256 mod r, taken as integers below 2^260 > 35 r: multiplying by a constant
 * w leaves that form alone. A constant is kept as w and q = floor(w 2^260 / r); then x w - floor(x q / 2^260)
 * r lies in [0, 3 r) and only its low half need be computed.
 *
 * Limbs are strict (0 <= limb < 2^52), loose (good as a factor: see fp52.h) or open: signed, below 2^60,
 * whose sum is the value modulo 2^260. Results are open unless said otherwise. */
#ifndef FIELD_FR52_H
#define FIELD_FR52_H
#include "field/fp52.h"

typedef struct fr52 {
    v8 l[5];
} fr52;
/* A constant, the same in all lanes. */
typedef struct fr52_const {
    uint64_t w[5], q[5];
} fr52_const;
/* A constant for each lane. */
typedef struct fr52_consts {
    fr52 w, q;
} fr52_consts;

FP52_INLINE void fr52_set1(fr52 *r, const uint64_t limb[5])
{
    FP52_UNROLL for (int i = 0; i < 5; i++) r->l[i] = v8_set1(limb[i]);
}

/* Open to strict, open to loose. */
FP52_INLINE void fr52_carry(fr52 *r)
{
    FP52_UNROLL for (int i = 0; i < 4; i++)
    {
        v8 c = V8_SRA(r->l[i], 52);
        r->l[i] = v8_mask52(r->l[i]);
        r->l[i + 1] = V8_ADD(r->l[i + 1], c);
    }
    r->l[4] = v8_mask52(r->l[4]);
}
FP52_INLINE void fr52_carry_loose(fr52 *r)
{
    FP52_UNROLL for (int i = 0; i < 4; i++) r->l[i + 1] = V8_ADD(r->l[i + 1], V8_SRA(r->l[i], 52));
}

/* x, a factor, times a constant whose limbs W(j) and Q(j) give; below 3 r. */
#define FR52_MUL_CONST(r, x, W, Q)                                                                           \
    do {                                                                                                     \
        const uint64_t *neg_ = fp52_table(FR52_NEG_R);                                                       \
        v8 h_[6], s_[5];                                                                                     \
        FP52_UNROLL for (int i_ = 0; i_ < 6; i_++) h_[i_] = _mm512_setzero_si512();                          \
        FP52_UNROLL for (int i_ = 0; i_ < 5; i_++) s_[i_] = _mm512_setzero_si512();                          \
        FP52_UNROLL for (int j_ = 0; j_ < 5; j_++)                                                           \
        {                                                                                                    \
            v8 q_ = Q(j_);                                                                                   \
            FP52_UNROLL for (int i_ = 0; i_ < 5; i_++)                                                       \
            {                                                                                                \
                if (i_ + j_ >= 4)                                                                            \
                    h_[i_ + j_ - 4] = V8_LO(h_[i_ + j_ - 4], (x)->l[i_], q_);                                \
                if (i_ + j_ >= 3)                                                                            \
                    h_[i_ + j_ - 3] = V8_HI(h_[i_ + j_ - 3], (x)->l[i_], q_);                                \
            }                                                                                                \
        }                                                                                                    \
        FP52_UNROLL for (int i_ = 0; i_ < 5; i_++) h_[i_ + 1] = V8_ADD(h_[i_ + 1], V8_SRL(h_[i_], 52));      \
        FP52_UNROLL for (int j_ = 0; j_ < 5; j_++)                                                           \
        {                                                                                                    \
            v8 w_ = W(j_), n_ = v8_set1(neg_[j_]);                                                           \
            FP52_UNROLL for (int i_ = 0; i_ + j_ < 5; i_++)                                                  \
            {                                                                                                \
                s_[i_ + j_] = V8_LO(s_[i_ + j_], (x)->l[i_], w_);                                            \
                s_[i_ + j_] = V8_LO(s_[i_ + j_], h_[i_ + 1], n_);                                            \
                if (i_ + j_ < 4) {                                                                           \
                    s_[i_ + j_ + 1] = V8_HI(s_[i_ + j_ + 1], (x)->l[i_], w_);                                \
                    s_[i_ + j_ + 1] = V8_HI(s_[i_ + j_ + 1], h_[i_ + 1], n_);                                \
                }                                                                                            \
            }                                                                                                \
        }                                                                                                    \
        FP52_UNROLL for (int i_ = 0; i_ < 5; i_++)(r)->l[i_] = s_[i_];                                       \
    } while (0)

FP52_INLINE void fr52_mul_const(fr52 *r, const fr52 *x, const fr52_const *c)
{
#define FR52_W(j) v8_set1(c->w[j])
#define FR52_Q(j) v8_set1(c->q[j])
    FR52_MUL_CONST(r, x, FR52_W, FR52_Q);
#undef FR52_W
#undef FR52_Q
}
FP52_INLINE void fr52_mul_consts(fr52 *r, const fr52 *x, const fr52_consts *c)
{
#define FR52_W(j) (c->w.l[j])
#define FR52_Q(j) (c->q.l[j])
    FR52_MUL_CONST(r, x, FR52_W, FR52_Q);
#undef FR52_W
#undef FR52_Q
}

/* r = a b / 2^260, below a b / 2^260 + r, of two factors. */
FP52_INLINE void fr52_mont_mul(fr52 *r, const fr52 *a, const fr52 *b)
{
    const uint64_t *rl = fp52_table(FR52_R);
    v8 t[11];
    FP52_UNROLL for (int i = 0; i < 11; i++) t[i] = _mm512_setzero_si512();
    FP52_UNROLL for (int i = 0; i < 5; i++)
    {
        FP52_UNROLL for (int j = 0; j < 5; j++) t[i + j] = V8_LO(t[i + j], a->l[i], b->l[j]);
        FP52_UNROLL for (int j = 0; j < 5; j++) t[i + j + 1] = V8_HI(t[i + j + 1], a->l[i], b->l[j]);
        /* -1 / r = -1 - 2^32 mod 2^52 */
        v8 m = V8_SUB(_mm512_setzero_si512(), V8_ADD(t[i], _mm512_slli_epi64(t[i], 32)));
        FP52_UNROLL for (int j = 0; j < 5; j++) t[i + j] = V8_LO(t[i + j], m, v8_set1(rl[j]));
        FP52_UNROLL for (int j = 0; j < 5; j++) t[i + j + 1] = V8_HI(t[i + j + 1], m, v8_set1(rl[j]));
        t[i + 1] = V8_ADD(t[i + 1], V8_SRL(t[i], 52));
    }
    FP52_UNROLL for (int i = 0; i < 5; i++) r->l[i] = t[5 + i];
}

/* A value below 16 r to one below 2 r; limbs in (-2^52, 2^52). */
FP52_INLINE void fr52_reduce(fr52 *r)
{
    fr52_carry(r);
    v8 q = V8_HI(_mm512_setzero_si512(), r->l[4], v8_set1(FR52_TOP));
    FP52_UNROLL for (int i = 0; i < 5; i++) r->l[i] =
        V8_SUB(r->l[i], _mm512_permutex2var_epi64(_mm512_load_si512(FR52_MULTIPLES + 16 * i), q,
                                                  _mm512_load_si512(FR52_MULTIPLES + 16 * i + 8)));
}
/* A value below 16 r to one below r, strict. */
FP52_INLINE void fr52_canonical(fr52 *r)
{
    fr52 d;
    fr52_reduce(r);
    FP52_UNROLL for (int i = 0; i < 5; i++) d.l[i] = V8_SUB(r->l[i], v8_set1(FR52_R[i]));
    fr52_carry(r);
    FP52_UNROLL for (int i = 0; i < 4; i++)
    {
        v8 c = V8_SRA(d.l[i], 52);
        d.l[i] = v8_mask52(d.l[i]);
        d.l[i + 1] = V8_ADD(d.l[i + 1], c);
    }
    __mmask8 below = _mm512_movepi64_mask(d.l[4]);
    FP52_UNROLL for (int i = 0; i < 5; i++) r->l[i] = _mm512_mask_mov_epi64(d.l[i], below, r->l[i]);
}

/* Four vectors of 64-bit words (word i of every lane) and limbs; shift: multiplies by 2^shift. */
FP52_INLINE void fr52_from_words(fr52 *r, const v8 w[4])
{
    r->l[0] = v8_mask52(w[0]);
    r->l[1] = v8_mask52(_mm512_or_si512(V8_SRL(w[0], 52), _mm512_slli_epi64(w[1], 12)));
    r->l[2] = v8_mask52(_mm512_or_si512(V8_SRL(w[1], 40), _mm512_slli_epi64(w[2], 24)));
    r->l[3] = v8_mask52(_mm512_or_si512(V8_SRL(w[2], 28), _mm512_slli_epi64(w[3], 36)));
    r->l[4] = V8_SRL(w[3], 16);
}
/* Strict limbs below 2^256. */
FP52_INLINE void fr52_to_words(v8 w[4], const fr52 *a)
{
    w[0] = _mm512_or_si512(a->l[0], _mm512_slli_epi64(a->l[1], 52));
    w[1] = _mm512_or_si512(V8_SRL(a->l[1], 12), _mm512_slli_epi64(a->l[2], 40));
    w[2] = _mm512_or_si512(V8_SRL(a->l[2], 24), _mm512_slli_epi64(a->l[3], 28));
    w[3] = _mm512_or_si512(V8_SRL(a->l[3], 36), _mm512_slli_epi64(a->l[4], 16));
}

/* Eight neighbours in memory. */
FP52_INLINE void fr52_load(fr52 *r, const fr *a)
{
    const v8 even = _mm512_set_epi64(13, 9, 5, 1, 12, 8, 4, 0),
             odd = _mm512_set_epi64(15, 11, 7, 3, 14, 10, 6, 2);
    v8 z0 = _mm512_loadu_si512(a), z1 = _mm512_loadu_si512(a + 2);
    v8 z2 = _mm512_loadu_si512(a + 4), z3 = _mm512_loadu_si512(a + 6), w[4];
    v8 p = _mm512_permutex2var_epi64(z0, even, z1), q = _mm512_permutex2var_epi64(z0, odd, z1);
    v8 s = _mm512_permutex2var_epi64(z2, even, z3), t = _mm512_permutex2var_epi64(z2, odd, z3);
    w[0] = _mm512_shuffle_i64x2(p, s, 0x44), w[1] = _mm512_shuffle_i64x2(p, s, 0xee);
    w[2] = _mm512_shuffle_i64x2(q, t, 0x44), w[3] = _mm512_shuffle_i64x2(q, t, 0xee);
    fr52_from_words(r, w);
}
FP52_INLINE void fr52_store(fr *a, const fr52 *x)
{
    const v8 low = _mm512_set_epi64(11, 10, 9, 8, 3, 2, 1, 0),
             high = _mm512_set_epi64(15, 14, 13, 12, 7, 6, 5, 4);
    const v8 first = _mm512_set_epi64(13, 9, 5, 1, 12, 8, 4, 0),
             second = _mm512_set_epi64(15, 11, 7, 3, 14, 10, 6, 2);
    v8 w[4];
    fr52_to_words(w, x);
    v8 p = _mm512_permutex2var_epi64(w[0], low, w[1]), q = _mm512_permutex2var_epi64(w[2], low, w[3]);
    v8 s = _mm512_permutex2var_epi64(w[0], high, w[1]), t = _mm512_permutex2var_epi64(w[2], high, w[3]);
    _mm512_storeu_si512(a, _mm512_permutex2var_epi64(p, first, q));
    _mm512_storeu_si512(a + 2, _mm512_permutex2var_epi64(p, second, q));
    _mm512_storeu_si512(a + 4, _mm512_permutex2var_epi64(s, first, t));
    _mm512_storeu_si512(a + 6, _mm512_permutex2var_epi64(s, second, t));
}

/* The constants of eight canonical plain numbers, strict: q = floor(w 2^260 / r) is, exactly, -(w 2^260 mod
 * r) / r. */
static inline void fr52_prepare(fr52_consts *c, const fr52 *w)
{
    fr52 rest, square;
    v8 s[5];
    c->w = *w;
    fr52_set1(&square, FR52_SQUARE);
    fr52_mont_mul(&rest, w, &square);
    fr52_canonical(&rest);
    for (int i = 0; i < 5; i++)
        s[i] = _mm512_setzero_si512();
    for (int j = 0; j < 5; j++)
        for (int i = 0; i + j < 5; i++) {
            s[i + j] = V8_LO(s[i + j], rest.l[i], v8_set1(FR52_NEG_INV[j]));
            if (i + j < 4)
                s[i + j + 1] = V8_HI(s[i + j + 1], rest.l[i], v8_set1(FR52_NEG_INV[j]));
        }
    for (int i = 0; i < 5; i++) {
        if (i)
            s[i] = V8_ADD(s[i], V8_SRL(s[i - 1], 52));
        c->q.l[i] = v8_mask52(s[i]);
    }
}
#endif
