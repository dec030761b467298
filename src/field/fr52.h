/* Fr, eight elements at once, in five limbs of 52 bits: element i in lane i, l[j] holds limb j of all eight.
 * Only for files named *_ifma.c.
 *
 * The numbers are blst's own, x 2^256 mod r: multiplying by a constant w leaves that form alone. A constant
 * is kept in rows, row[i] = w 2^(52 (i + 1)) mod r: the sum of limb[i] row[i] is x w 2^52, which lies only
 * 52 bits above r, so that one Montgomery step finishes the product.
 *
 * Values are signed integers. Limbs are strict (0 <= limb < 2^52), loose (good as a factor: see fp52.h) or
 * open: signed, below 2^62, whose sum is the value. Results are open unless said otherwise. */
#ifndef FIELD_FR52_H
#define FIELD_FR52_H
#include "field/fp52.h"

typedef struct fr52 {
    v8 l[5];
} fr52;
/* A constant, the same in all lanes. start: see fr52_start. */
typedef struct fr52_const {
    uint64_t row[5][5], start[6];
} fr52_const;
/* A constant for each lane: for factors that are not negative; for signed ones. */
typedef struct fr52_rows {
    fr52 row[5];
} fr52_rows;
typedef struct fr52_consts {
    fr52_rows rows;
    v8 start[6];
} fr52_consts;

FP52_INLINE void fr52_set1(fr52 *r, const uint64_t limb[5])
{
    FP52_UNROLL for (int i = 0; i < 5; i++) r->l[i] = v8_set1(limb[i]);
}

/* Open to strict, of a value that is not negative or taken modulo 2^260; open to loose. */
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

/* t[1] .. t[5] = t / 2^52 mod r. With m = -t / r = -t (1 + 2^32) mod 2^52 and r = k - 2^32 + 1, where k is a
 * multiple of 2^64, m r = m k - m 2^32 + m needs no product in the lowest limb: there t[0] + m and the low
 * part of m 2^32 differ by a multiple of 2^52, and the high part is m / 2^20. */
FP52_INLINE void fr52_mont_step(v8 t[6])
{
    const uint64_t *k = fp52_table(FR52_K);
    v8 m = v8_mask52(V8_SUB(_mm512_setzero_si512(), V8_ADD(t[0], _mm512_slli_epi64(t[0], 32))));
    t[1] = V8_ADD(t[1], V8_SUB(V8_SRA(V8_ADD(t[0], m), 52), V8_SRL(m, 20)));
    FP52_UNROLL for (int j = 1; j < 5; j++) t[j] = V8_LO(t[j], m, v8_set1(k[j]));
    FP52_UNROLL for (int j = 1; j < 5; j++) t[j + 1] = V8_HI(t[j + 1], m, v8_set1(k[j]));
}

/* x, a factor, times a constant whose limbs ROW(i, j) and START(j) give. */
#define FR52_MUL_ROWS(r, x, ROW, START)                                                                      \
    do {                                                                                                     \
        v8 t_[6];                                                                                            \
        FP52_UNROLL for (int i_ = 0; i_ < 6; i_++) t_[i_] = START(i_);                                       \
        FP52_UNROLL for (int i_ = 0; i_ < 5; i_++)                                                           \
        {                                                                                                    \
            FP52_UNROLL for (int j_ = 0; j_ < 5; j_++) t_[j_] = V8_LO(t_[j_], (x)->l[i_], ROW(i_, j_));      \
            FP52_UNROLL for (int j_ = 0; j_ < 5; j_++) t_[j_ + 1] =                                          \
                V8_HI(t_[j_ + 1], (x)->l[i_], ROW(i_, j_));                                                  \
        }                                                                                                    \
        fr52_mont_step(t_);                                                                                  \
        FP52_UNROLL for (int i_ = 0; i_ < 5; i_++)(r)->l[i_] = t_[i_ + 1];                                   \
    } while (0)

/* The signed factor -2^259 <= x < 2^259 goes in as x + 2^259, an addition to its top limb that start takes
 * back as -2^51 row[4]. With a multiple k r added there, the result lies in [k - 1/2, k + 11/2) r: rows are
 * below r, so four limbs give [0, 4 r), the top one [-1/2, 1/2) r, the Montgomery step [0, r). */
#define FR52_BIAS ((uint64_t)1 << 51)

FP52_INLINE void fr52_bias(fr52 *r, const fr52 *x)
{
    *r = *x;
    fr52_carry_loose(r);
    r->l[4] = V8_ADD(r->l[4], v8_set1(FR52_BIAS));
}

/* r = x c, in [-7/2, 5/2) r; limbs in (-2^53, 2^56). x open, in [-2^259, 2^259). */
FP52_INLINE void fr52_mul_const(fr52 *r, const fr52 *x, const fr52_const *c)
{
#define FR52_ROW(i, j) v8_set1(c->row[i][j])
#define FR52_START(j)  v8_set1(c->start[j])
    fr52 t;
    fr52_bias(&t, x);
    FR52_MUL_ROWS(r, &t, FR52_ROW, FR52_START);
#undef FR52_ROW
#undef FR52_START
}
/* The same with a constant for each lane; in [1/2, 13/2) r. */
FP52_INLINE void fr52_mul_consts(fr52 *r, const fr52 *x, const fr52_consts *c)
{
#define FR52_ROW(i, j) (c->rows.row[i].l[j])
#define FR52_START(j)  (c->start[j])
    fr52 t;
    fr52_bias(&t, x);
    FR52_MUL_ROWS(r, &t, FR52_ROW, FR52_START);
#undef FR52_ROW
#undef FR52_START
}
/* start + x c for 0 <= x < 2^260; NULL stands for 0. Without start no limb is negative and the product below
 * 8 r, also with a last row above r, but below 2^256; of x below 13/2 r it is below 11/2 r. */
FP52_INLINE void fr52_mul_rows(fr52 *r, const fr52 *x, const fr52_rows *c, const uint64_t start[5])
{
#define FR52_ROW(i, j) (c->row[i].l[j])
#define FR52_START(j)  (start && j ? v8_set1(fp52_table(start)[j - 1]) : _mm512_setzero_si512())
    fr52 t = *x;
    fr52_carry_loose(&t);
    FR52_MUL_ROWS(r, &t, FR52_ROW, FR52_START);
#undef FR52_ROW
#undef FR52_START
}

/* r = a b / 2^260, below a b / 2^260 + r, of two factors. */
FP52_INLINE void fr52_mont_mul(fr52 *r, const fr52 *a, const fr52 *b)
{
    v8 t[10];
    FP52_UNROLL for (int i = 0; i < 10; i++) t[i] = _mm512_setzero_si512();
    FP52_UNROLL for (int i = 0; i < 5; i++)
    {
        FP52_UNROLL for (int j = 0; j < 5; j++) t[i + j] = V8_LO(t[i + j], a->l[i], b->l[j]);
        FP52_UNROLL for (int j = 0; j < 5; j++) t[i + j + 1] = V8_HI(t[i + j + 1], a->l[i], b->l[j]);
        fr52_mont_step(t + i);
    }
    FP52_UNROLL for (int i = 0; i < 5; i++) r->l[i] = t[5 + i];
}

/* Subtracts the multiple of r that index, of which three bits count, selects. */
FP52_INLINE void fr52_subtract(fr52 *r, const uint64_t multiples[40], v8 index)
{
    FP52_UNROLL for (int i = 0; i < 5; i++) r->l[i] =
        V8_SUB(r->l[i], _mm512_permutexvar_epi64(index, _mm512_load_si512(multiples + 8 * i)));
}
/* A value in [-2^259, 2^259) to one in (-11/4, 11/4) r; limbs from below 2^60 to (-2^53, 2^53). The top limb
 * alone tells the value up to 2^217, and k 2^257 <= value < (k + 1) 2^257 leaves 2^256 + r / 2. */
FP52_INLINE void fr52_reduce(fr52 *r)
{
    v8 carry[4];
    fr52_subtract(r, FR52_NEAR, V8_SRA(r->l[4], 49));
    FP52_UNROLL for (int i = 0; i < 4; i++)
    {
        carry[i] = V8_SRA(r->l[i], 52);
        r->l[i] = v8_mask52(r->l[i]);
    }
    FP52_UNROLL for (int i = 0; i < 4; i++) r->l[i + 1] = V8_ADD(r->l[i + 1], carry[i]);
}
/* The same to one in (1/4, 23/4) r. */
FP52_INLINE void fr52_reduce_positive(fr52 *r)
{
    fr52_reduce(r);
    FP52_UNROLL for (int i = 0; i < 5; i++) r->l[i] = V8_SUB(r->l[i], v8_set1(FR52_3R_NEGATIVE[i]));
}
/* A value in [0, 8 r) of limbs that are not negative to one below 2^256, strict: 2^255 + r and what the top
 * limb does not tell. */
FP52_INLINE void fr52_below(fr52 *r)
{
    fr52_subtract(r, FR52_BELOW, V8_SRL(r->l[4], 47));
    fr52_carry(r);
}
/* A value in [-2^259, 2^259) of limbs below 2^59 to one below r, strict. The quotient by r of value + 18 r,
 * never too small, is too large for one value of 2^21: those become negative. Subtracting q r adds q (2^260 -
 * r), whose q 2^260 leaves with what the top limb has above 52 bits. */
FP52_INLINE void fr52_canonical(fr52 *r)
{
    const uint64_t *more = fp52_table(FR52_18R), *less = fp52_table(FR52_LESS_R);
    v8 top = V8_SRL(V8_ADD(r->l[4], v8_set1(FR52_18R_TOP)), 24);
    v8 q = V8_HI(_mm512_setzero_si512(), top, v8_set1(FR52_QUOTIENT));
    FP52_UNROLL for (int i = 0; i < 5; i++) r->l[i] =
        V8_LO(V8_ADD(r->l[i], v8_set1(more[i])), q, v8_set1(less[i]));
    FP52_UNROLL for (int i = 0; i < 4; i++) r->l[i + 1] = V8_HI(r->l[i + 1], q, v8_set1(less[i]));
    fr52_carry(r);
    __mmask8 negative = _mm512_test_epi64_mask(r->l[4], v8_set1((uint64_t)1 << 51));
    if (__builtin_expect(negative, 0)) {
        FP52_UNROLL for (int i = 0; i < 5; i++) r->l[i] =
            _mm512_mask_add_epi64(r->l[i], negative, r->l[i], v8_set1(FR52_R[i]));
        fr52_carry(r);
    }
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
/* stream: past the caches; a lies on a line of the cache. */
FP52_INLINE void fr52_store(fr *a, const fr52 *x, int stream)
{
    const v8 low = _mm512_set_epi64(11, 10, 9, 8, 3, 2, 1, 0),
             high = _mm512_set_epi64(15, 14, 13, 12, 7, 6, 5, 4);
    const v8 first = _mm512_set_epi64(13, 9, 5, 1, 12, 8, 4, 0),
             second = _mm512_set_epi64(15, 11, 7, 3, 14, 10, 6, 2);
    v8 w[4], z[4];
    fr52_to_words(w, x);
    v8 p = _mm512_permutex2var_epi64(w[0], low, w[1]), q = _mm512_permutex2var_epi64(w[2], low, w[3]);
    v8 s = _mm512_permutex2var_epi64(w[0], high, w[1]), t = _mm512_permutex2var_epi64(w[2], high, w[3]);
    z[0] = _mm512_permutex2var_epi64(p, first, q), z[1] = _mm512_permutex2var_epi64(p, second, q);
    z[2] = _mm512_permutex2var_epi64(s, first, t), z[3] = _mm512_permutex2var_epi64(s, second, t);
    FP52_UNROLL for (int i = 0; i < 4; i++)
    {
        if (stream)
            _mm512_stream_si512((void *)(a + 2 * i), z[i]);
        else
            _mm512_storeu_si512(a + 2 * i, z[i]);
    }
}

/* Rows of w, given as row[4] = w 2^260, strict: every Montgomery step gives the row below, below r if the
 * last row is below r or just above. */
FP52_INLINE void fr52_prepare_rows(fr52_rows *c, const fr52 *last)
{
    c->row[4] = *last;
    FP52_UNROLL for (int i = 3; i >= 0; i--)
    {
        v8 t[6];
        FP52_UNROLL for (int j = 0; j < 5; j++) t[j] = c->row[i + 1].l[j];
        t[5] = _mm512_setzero_si512();
        fr52_mont_step(t);
        FP52_UNROLL for (int j = 0; j < 5; j++) c->row[i].l[j] = t[j + 1];
        fr52_carry(&c->row[i]);
    }
}
/* Where the columns of a signed product start: at -2^51 row[4] and an offset of the result. */
static inline void fr52_start(v8 start[6], const fr52 *last, const uint64_t offset[5])
{
    for (int j = 0; j < 6; j++) {
        v8 low = j < 5 ? v8_mask52(_mm512_slli_epi64(last->l[j], 51)) : _mm512_setzero_si512();
        v8 high = j ? V8_SRL(last->l[j - 1], 1) : _mm512_setzero_si512();
        start[j] = V8_SUB(v8_set1(j ? offset[j - 1] : 0), V8_ADD(low, high));
    }
}
/* For products in [-7/2, 5/2) r or, not negative, in [1/2, 13/2) r. last: w 2^260, below r. */
static inline void fr52_prepare(fr52_consts *c, const fr52 *last, int not_negative)
{
    fr52_prepare_rows(&c->rows, last);
    fr52_start(c->start, last, not_negative ? FR52_R : FR52_3R_NEGATIVE);
}
#endif
