/* Fp, eight elements at once, with the 52-bit multiply-add of AVX-512 IFMA. Only for files named *_ifma.c.
 *
 * Element i of a vector lies in lane i; l[j] holds limb j, of weight 2^(52 j), of all eight. Montgomery radix
 * R = 2^416. Since R / p > 2^35, a product is hardly above 8 p even where its factors are many times p: sums
 * need no reduction, only a bound. Limbs come in three states: strict: 0 <= limb < 2^52; loose:  the carry of
 * each limb has been added to the next and is still in the limb above bit 51. Good as a factor only, since
 * the multiplier reads 52 bits; not for sums; open:   any signed limbs whose sum is the value; made strict or
 * loose by a carry. The value must be >= 0. */
#ifndef FIELD_FP52_H
#define FIELD_FP52_H
#include "field/field.h"
#include "field/ifma_constants.h"
#include <immintrin.h>

typedef __m512i v8;
typedef struct fp52 {
    v8 l[8];
} fp52;

#define FP52_INLINE static inline __attribute__((always_inline))
#define FP52_UNROLL _Pragma("GCC unroll 16")

FP52_INLINE v8 v8_set1(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}
FP52_INLINE v8 v8_mask52(v8 a)
{
    return _mm512_and_si512(a, v8_set1(((uint64_t)1 << 52) - 1));
}
#define V8_ADD       _mm512_add_epi64
#define V8_SUB       _mm512_sub_epi64
#define V8_LO        _mm512_madd52lo_epu64
#define V8_HI        _mm512_madd52hi_epu64
#define V8_SRL(x, n) _mm512_srli_epi64(x, n)
#define V8_SRA(x, n) _mm512_srai_epi64(x, n)

FP52_INLINE void fp52_set1(fp52 *r, const uint64_t limb[8])
{
    FP52_UNROLL for (int i = 0; i < 8; i++) r->l[i] = v8_set1(limb[i]);
}

/* Open to strict. */
FP52_INLINE void fp52_carry(fp52 *r)
{
    FP52_UNROLL for (int i = 0; i < 7; i++)
    {
        v8 c = V8_SRA(r->l[i], 52);
        r->l[i] = v8_mask52(r->l[i]);
        r->l[i + 1] = V8_ADD(r->l[i + 1], c);
    }
}

/* Open to loose. */
FP52_INLINE void fp52_carry_loose(fp52 *r)
{
    FP52_UNROLL for (int i = 0; i < 7; i++) r->l[i + 1] = V8_ADD(r->l[i + 1], V8_SRA(r->l[i], 52));
}

/* A table the compiler may not look into: it would turn its constants into vectors of 64 bytes that crowd the
 * first-level cache, where a broadcast of 8 bytes costs the same. */
FP52_INLINE const uint64_t *fp52_table(const uint64_t *t)
{
    __asm__("" : "+r"(t));
    return t;
}

/* The columns of a product; column i weighs 2^(52 i). digit[i]: column i < 7 with the carries from below, of
 * which the multiplier reads 52 bits (a short reduction, below, needs six); the columns themselves stay open.
 * Low and high halves go into the same sums, since additions compete with the multiplier: seven multiply-adds
 * lie between two into the same column, more than one takes. */
typedef struct fp52_wide {
    v8 col[16], digit[7];
} fp52_wide;

/* What a reduction of so many limbs leaves of nothing: start, or 0 where that is NULL. */
FP52_INLINE void fp52_wide_start(fp52_wide *t, const uint64_t start[8], int limbs)
{
    FP52_UNROLL for (int i = 0; i < 16; i++) t->col[i] = _mm512_setzero_si512();
    FP52_UNROLL for (int i = 0; start && i < 8; i++) t->col[limbs + i] = v8_set1(fp52_table(start)[i]);
}

FP52_INLINE void fp52_wide_digit(fp52_wide *t, int i)
{
    t->digit[i] = i ? V8_ADD(t->col[i], V8_SRA(t->digit[i - 1], 52)) : t->col[i];
}

FP52_INLINE void fp52_wide_row(fp52_wide *t, const fp52 *a, const fp52 *b, int i)
{
    FP52_UNROLL for (int j = 0; j < 8; j++) t->col[i + j] = V8_LO(t->col[i + j], a->l[j], b->l[i]);
    FP52_UNROLL for (int j = 0; j < 8; j++) t->col[i + j + 1] = V8_HI(t->col[i + j + 1], a->l[j], b->l[i]);
}

/* Adds a b to the columns, row by row. */
FP52_INLINE void fp52_wide_by_rows(fp52_wide *t, const fp52 *a, const fp52 *b)
{
    FP52_UNROLL for (int i = 0; i < 8; i++)
    {
        fp52_wide_row(t, a, b, i);
        if (i < 7)
            fp52_wide_digit(t, i);
    }
}

/* The same by halves of four limbs (Karatsuba): 96 multiply-adds instead of 128, and some 50 additions and
 * shifts more, which some processors do beside them (AMD) and others instead of them (Intel): fp52_form.h.
 * Factors strict. h holds the columns of the product of the low halves, those of the high ones and, of the
 * sums of the halves, what columns 4 .. 11 become. */
typedef struct fp52_halves {
    v8 low[8], high[8], mid[8], less[4];
} fp52_halves;

FP52_INLINE void fp52_half_mul(v8 c[8], const v8 a[4], const v8 b[4])
{
    FP52_UNROLL for (int i = 0; i < 4; i++)
    {
        FP52_UNROLL for (int j = 0; j < 4; j++) c[i + j] = V8_LO(c[i + j], a[j], b[i]);
        FP52_UNROLL for (int j = 0; j < 4; j++) c[i + j + 1] = V8_HI(c[i + j + 1], a[j], b[i]);
    }
}

/* The sum of the halves, loose; bit 52 of its last limb is the carry out of it. */
FP52_INLINE void fp52_half_sum(v8 s[4], const fp52 *a)
{
    FP52_UNROLL for (int i = 0; i < 4; i++) s[i] = V8_ADD(a->l[i], a->l[i + 4]);
    FP52_UNROLL for (int i = 0; i < 3; i++) s[i + 1] = V8_ADD(s[i + 1], V8_SRL(s[i], 52));
}

FP52_INLINE void fp52_halves_outer(fp52_halves *h, const fp52 *a, const fp52 *b)
{
    FP52_UNROLL for (int i = 0; i < 8; i++) h->low[i] = h->high[i] = _mm512_setzero_si512();
    fp52_half_mul(h->high, a->l + 4, b->l + 4);
    fp52_half_mul(h->low, a->l, b->l);
    FP52_UNROLL for (int i = 0; i < 4; i++)
    {
        v8 u = V8_SUB(h->low[i + 4], h->high[i]);
        h->mid[i] = V8_SUB(u, h->low[i]);
        h->mid[i + 4] = _mm512_setzero_si512();
        h->less[i] = V8_ADD(u, h->high[i + 4]);
    }
}
/* The multiplier does not see the carries out of the sums of halves: sum a = A + ca 2^208, sum b = B + cb
 * 2^208, and A B lacks cb sum a + ca sum b, which has ca cb once too often. A large b often has one, a, which
 * ought to be the smaller factor, hardly ever. */
FP52_INLINE void fp52_halves_mid(fp52_halves *h, const fp52 *a, const fp52 *b)
{
    const v8 out = v8_set1((uint64_t)1 << 52);
    v8 sa[4], sb[4];
    fp52_half_sum(sa, a);
    fp52_half_sum(sb, b);
    fp52_half_mul(h->mid, sa, sb);
    __mmask8 ca = _mm512_test_epi64_mask(sa[3], out), cb = _mm512_test_epi64_mask(sb[3], out);
    FP52_UNROLL for (int i = 0; i < 4; i++) h->mid[i + 4] =
        V8_ADD(h->mid[i + 4], _mm512_maskz_add_epi64(cb, a->l[i], a->l[i + 4]));
    FP52_UNROLL for (int i = 0; i < 4; i++) h->mid[i + 4] = V8_SUB(h->mid[i + 4], h->less[i]);
    if (__builtin_expect(ca, 0)) {
        FP52_UNROLL for (int i = 0; i < 4; i++) h->mid[i + 4] =
            _mm512_mask_add_epi64(h->mid[i + 4], ca, h->mid[i + 4], V8_ADD(b->l[i], b->l[i + 4]));
        h->high[4] = _mm512_mask_sub_epi64(h->high[4], ca & cb, h->high[4], v8_set1(1));
    }
}

/* Adds a b to the columns. */
FP52_INLINE void fp52_wide_by_halves(fp52_wide *t, const fp52 *a, const fp52 *b)
{
    fp52_halves h;
    fp52_halves_outer(&h, a, b);
    FP52_UNROLL for (int i = 0; i < 4; i++)
    {
        t->col[i] = V8_ADD(t->col[i], h.low[i]);
        fp52_wide_digit(t, i);
    }
    fp52_halves_mid(&h, a, b);
    FP52_UNROLL for (int i = 0; i < 8; i++) t->col[i + 4] = V8_ADD(t->col[i + 4], h.mid[i]);
    FP52_UNROLL for (int i = 4; i < 8; i++) t->col[i + 8] = V8_ADD(t->col[i + 8], h.high[i]);
    FP52_UNROLL for (int i = 4; i < 7; i++) fp52_wide_digit(t, i);
}

#ifdef FP52_HALVES /* the form of this file */
#define FP52_STRICT   1
#define fp52_wide_mul fp52_wide_by_halves
#else
#define FP52_STRICT   0 /* whether factors must be */
#define fp52_wide_mul fp52_wide_by_rows
#endif

/* Open to a factor. */
FP52_INLINE void fp52_carry_factor(fp52 *r)
{
    if (FP52_STRICT)
        fp52_carry(r);
    else
        fp52_carry_loose(r);
}

/* The products off the diagonal are doubled column by column, as soon as one is complete. */
FP52_INLINE void fp52_wide_sqr(fp52_wide *t, const fp52 *a)
{
    FP52_UNROLL for (int i = 0; i < 8; i++)
    {
        v8 *even = &t->col[2 * i], *odd = even + 1;
        FP52_UNROLL for (int j = i + 1; j < 8; j++) t->col[i + j] = V8_LO(t->col[i + j], a->l[i], a->l[j]);
        FP52_UNROLL for (int j = i + 1; j < 8; j++) t->col[i + j + 1] =
            V8_HI(t->col[i + j + 1], a->l[i], a->l[j]);
        *even = V8_LO(V8_ADD(*even, *even), a->l[i], a->l[i]);
        *odd = V8_HI(V8_ADD(*odd, *odd), a->l[i], a->l[i]);
        if (2 * i < 7)
            fp52_wide_digit(t, 2 * i);
        if (2 * i + 1 < 7)
            fp52_wide_digit(t, 2 * i + 1);
    }
}

/* Other work to spread over a reduction: called with i = first .. first + 7. NULL for none. */
typedef void fp52_fill(void *ctx, int i);

/* How many limbs a reduction removes. The short one takes 16 multiply-adds less, but divides by less: factors
 * a p and b p give up to a b p / 2^364 = 106514 a b, times p. */
#define FP52_FULL  8
#define FP52_SHORT 7

/* Adds x c, of two limbs each, to columns 0 .. 3. */
FP52_INLINE void fp52_mul_two(v8 col[4], v8 x0, v8 x1, const uint64_t c[2])
{
    const v8 c0 = v8_set1(c[0]), c1 = v8_set1(c[1]);
    col[0] = V8_LO(col[0], x0, c0);
    col[1] = V8_LO(col[1], x0, c1);
    col[1] = V8_HI(col[1], x0, c0);
    col[2] = V8_HI(col[2], x0, c1);
    col[1] = V8_LO(col[1], x1, c0);
    col[2] = V8_LO(col[2], x1, c1);
    col[2] = V8_HI(col[2], x1, c0);
    col[3] = V8_HI(col[3], x1, c1);
}

/* Replaces the four lowest limbs by a multiple of 2^208: m by m v, where v = 2^-208 mod p, taken between -p
 * and 0, is e0 - e1 X + e2 X^2 - e3 X^3 with X = 2^104. The halves of m = m0 + m1 X meet those of v in three
 * products instead of four (Karatsuba), of which the signs of v let all but one share their columns:
 *     m (e0 - e1 X) = (1 - X) (m0 e0 + m1 e1 X) + X (m0 + m1) (e0 - e1)
 * and the same for e2 and e3, times X^2: 48 multiply-adds instead of 64, and some 30 additions. What is below
 * 0 is made up for by (X^2 - X) p. Digits 4 .. 6 follow. */
FP52_INLINE void fp52_fold_halves(fp52_wide *t)
{
    const uint64_t *v = fp52_table(FP52_FOLD_HALVES), *start = fp52_table(FP52_P_NEGATIVE);
    const uint64_t *even = v + 8, *odd = v + 10; /* e0 - e1 and e2 - e3 */
    v8 *col = t->col + 4, *digit = t->digit, d[10], low, high;
    d[0] = d[1] = _mm512_setzero_si512();
    FP52_UNROLL for (int i = 0; i < 8; i++) d[i + 2] = v8_set1(start[i]);
    low = V8_ADD(v8_mask52(digit[0]), v8_mask52(digit[2]));
    high = V8_ADD(V8_ADD(v8_mask52(digit[1]), v8_mask52(digit[3])), V8_SRL(low, 52));
    __mmask8 out = _mm512_test_epi64_mask(high, v8_set1((uint64_t)1 << 52));
    FP52_UNROLL for (int i = 0; i < 4; i++)
        fp52_mul_two(d + 2 * i, digit[2 * (i & 1)], digit[2 * (i & 1) + 1], v + 2 * i);
    fp52_mul_two(col + 2, low, high, even);
    fp52_mul_two(col + 6, low, high, odd);
    FP52_UNROLL for (int i = 0; i < 2; i++)
    {
        col[4 + i] = V8_ADD(col[4 + i], _mm512_maskz_set1_epi64(out, (long long)even[i]));
        col[8 + i] = V8_ADD(col[8 + i], _mm512_maskz_set1_epi64(out, (long long)odd[i]));
    }
    FP52_UNROLL for (int i = 0; i < 10; i++) col[i] = V8_ADD(col[i], d[i]);
    FP52_UNROLL for (int i = 0; i < 10; i++) col[i + 2] = V8_SUB(col[i + 2], d[i]);
    FP52_UNROLL for (int i = 4; i < 7; i++) fp52_wide_digit(t, i);
}

/* r = t / 2^(52 limbs), open, below 8 p more: the low limbs but one are replaced at once by their residues at
 * that one, without a chain from one to the next; a Montgomery step removes it. halves: the first four as
 * above, where the reduction is full and nothing is to be spread over it: there they gain nothing. Columns
 * may be signed, and t negative: the result is then above t / 2^(52 limbs) and may be negative. Short: |t| <
 * 2^780, and nothing in column 15. */
FP52_INLINE void fp52_reduce(fp52 *r, fp52_wide *t, int limbs, int halves, fp52_fill *fill, void *ctx,
                             int first)
{
    const uint64_t *fold = fp52_table(FP52_FOLD + 8 * (FP52_FULL - limbs)), *p = fp52_table(FP52_P);
    const int c = limbs - 1, folded = halves && limbs == FP52_FULL && !fill ? 4 : 0;
    v8 x, m;
    if (folded)
        fp52_fold_halves(t);
    t->col[c] = V8_ADD(t->col[c], V8_SRA(t->digit[c - 1], 52));
    FP52_UNROLL for (int i = folded; i < c; i++)
    {
        FP52_UNROLL for (int j = 0; j < 8; j++) t->col[c + j] =
            V8_LO(t->col[c + j], t->digit[i], v8_set1(fold[8 * i + j]));
        FP52_UNROLL for (int j = 0; j < 8; j++) t->col[limbs + j] =
            V8_HI(t->col[limbs + j], t->digit[i], v8_set1(fold[8 * i + j]));
        if (fill)
            fill(ctx, first + i);
    }
    x = t->col[c];
    m = V8_LO(_mm512_setzero_si512(), x, v8_set1(FP52_N0));
    FP52_UNROLL for (int j = 1; j < 8; j++) t->col[c + j] = V8_LO(t->col[c + j], m, v8_set1(p[j]));
    FP52_UNROLL for (int j = 0; j < 8; j++) t->col[limbs + j] = V8_HI(t->col[limbs + j], m, v8_set1(p[j]));
    x = V8_LO(x, m, v8_set1(p[0]));
    FP52_UNROLL for (int i = c; fill && i < 8; i++) fill(ctx, first + i);
    FP52_UNROLL for (int j = 0; j < 8; j++) r->l[j] = t->col[limbs + j];
    r->l[0] = V8_ADD(r->l[0], V8_SRA(x, 52));
}

/* Factors strict, or loose where the form allows (FP52_STRICT), below 2^416; their product below 2^795, or
 * 2^780 where it is short. Results open, below 8 p + the product / 2^(52 limbs): 9 p where it is full; and
 * start added to them, or twice start to a square, where it is not NULL: from the beginning, or last where
 * halves leave no registers for it. */
FP52_INLINE void fp52_mul_fill(fp52 *r, const fp52 *a, const fp52 *b, const uint64_t start[8], int limbs,
                               fp52_fill *fill, void *ctx, int first)
{
    fp52_wide t;
    fp52 x;
    fp52_wide_start(&t, FP52_STRICT ? NULL : start, limbs);
    fp52_wide_mul(&t, a, b);
    fp52_reduce(&x, &t, limbs, FP52_STRICT, fill, ctx, first);
    FP52_UNROLL for (int i = 0; FP52_STRICT && start && i < 8; i++) x.l[i] =
        V8_ADD(x.l[i], v8_set1(fp52_table(start)[i]));
    *r = x;
}
FP52_INLINE void fp52_sqr_fill(fp52 *r, const fp52 *a, const uint64_t start[8], int limbs, fp52_fill *fill,
                               void *ctx)
{
    fp52_wide t;
    fp52 x;
    fp52_wide_start(&t, start, limbs);
    fp52_wide_sqr(&t, a);
    fp52_reduce(&x, &t, limbs, FP52_STRICT, fill, ctx, 0);
    *r = x;
}
FP52_INLINE void fp52_mul_open(fp52 *r, const fp52 *a, const fp52 *b)
{
    fp52_mul_fill(r, a, b, NULL, FP52_FULL, NULL, NULL, 0);
}

/* Lanes whose value, strict and below 10 p, is 0 mod p. */
static inline __mmask8 fp52_zero_mask(const fp52 *a)
{
    __mmask8 zero = 0;
    for (int k = 0; k < 10; k++) {
        __mmask8 m = 0xff;
        for (int i = 0; i < 8; i++)
            m &= _mm512_cmpeq_epi64_mask(a->l[i], v8_set1(FP52_MULTIPLES[8 * k + i]));
        zero |= m;
    }
    return zero;
}

/* Eight rows of eight words and back: r[i] lane j <-> r[j] lane i. */
FP52_INLINE void v8_transpose(v8 r[8])
{
    v8 a0 = _mm512_unpacklo_epi64(r[0], r[1]), a1 = _mm512_unpackhi_epi64(r[0], r[1]);
    v8 a2 = _mm512_unpacklo_epi64(r[2], r[3]), a3 = _mm512_unpackhi_epi64(r[2], r[3]);
    v8 a4 = _mm512_unpacklo_epi64(r[4], r[5]), a5 = _mm512_unpackhi_epi64(r[4], r[5]);
    v8 a6 = _mm512_unpacklo_epi64(r[6], r[7]), a7 = _mm512_unpackhi_epi64(r[6], r[7]);
    v8 b0 = _mm512_shuffle_i64x2(a0, a2, 0x88), b1 = _mm512_shuffle_i64x2(a0, a2, 0xdd);
    v8 b2 = _mm512_shuffle_i64x2(a4, a6, 0x88), b3 = _mm512_shuffle_i64x2(a4, a6, 0xdd);
    v8 c0 = _mm512_shuffle_i64x2(a1, a3, 0x88), c1 = _mm512_shuffle_i64x2(a1, a3, 0xdd);
    v8 c2 = _mm512_shuffle_i64x2(a5, a7, 0x88), c3 = _mm512_shuffle_i64x2(a5, a7, 0xdd);
    r[0] = _mm512_shuffle_i64x2(b0, b2, 0x88), r[4] = _mm512_shuffle_i64x2(b0, b2, 0xdd);
    r[2] = _mm512_shuffle_i64x2(b1, b3, 0x88), r[6] = _mm512_shuffle_i64x2(b1, b3, 0xdd);
    r[1] = _mm512_shuffle_i64x2(c0, c2, 0x88), r[5] = _mm512_shuffle_i64x2(c0, c2, 0xdd);
    r[3] = _mm512_shuffle_i64x2(c1, c3, 0x88), r[7] = _mm512_shuffle_i64x2(c1, c3, 0xdd);
}

/* One element of blst, 48 bytes, times 2^shift (28 or 0) as eight strict limbs. */
FP52_INLINE v8 fp52_slice(const fp *a, int shift)
{
    static const uint8_t pick28[64] __attribute__((aligned(64))) = {
        63, 63, 63, 63, 0,  1,  2,  3,  3,  4,  5,  6,  7,  8,  9,  10, 9,  10, 11, 12, 13, 14,
        15, 16, 16, 17, 18, 19, 20, 21, 22, 23, 22, 23, 24, 25, 26, 27, 28, 29, 29, 30, 31, 32,
        33, 34, 35, 36, 35, 36, 37, 38, 39, 40, 41, 42, 42, 43, 44, 45, 46, 47, 63, 63};
    static const uint8_t pick0[64] __attribute__((aligned(64))) = {
        0,  1,  2,  3,  4,  5,  6,  7,  6,  7,  8,  9,  10, 11, 12, 13, 13, 14, 15, 16, 17, 18,
        19, 20, 19, 20, 21, 22, 23, 24, 25, 26, 26, 27, 28, 29, 30, 31, 32, 33, 32, 33, 34, 35,
        36, 37, 38, 39, 39, 40, 41, 42, 43, 44, 45, 46, 45, 46, 47, 63, 63, 63, 63, 63};
    v8 x = _mm512_maskz_loadu_epi64(0x3f, a);
    x = _mm512_permutexvar_epi8(_mm512_load_si512(shift ? pick28 : pick0), x);
    x = _mm512_srlv_epi64(x, shift ? _mm512_set_epi64(0, 4, 0, 4, 0, 4, 0, 4)
                                   : _mm512_set_epi64(4, 0, 4, 0, 4, 0, 4, 0));
    return v8_mask52(x);
}

/* The canonical words of a strict value below 2^bits p. */
static inline void fp52_canonical_below(fp *r, const uint64_t limb[8], int bits)
{
    uint64_t w[7] = {0};
    for (int i = 0; i < 8; i++) {
        int bit = 52 * i;
        unsigned __int128 x = (unsigned __int128)limb[i] << bit % 64,
                          s = (unsigned __int128)w[bit / 64] + (uint64_t)x;
        w[bit / 64] = (uint64_t)s;
        w[bit / 64 + 1] += (uint64_t)(x >> 64) + (uint64_t)(s >> 64);
    }
    for (int k = bits - 1; k >= 0; k--) {
        uint64_t d[7];
        unsigned __int128 borrow = 0;
        for (int i = 0; i < 7; i++) {
            uint64_t pi = i < 6 ? FP52_P_WORDS[i] : 0, below = i ? FP52_P_WORDS[i - 1] : 0;
            uint64_t shifted = k ? pi << k | below >> (64 - k) : pi;
            unsigned __int128 s = (unsigned __int128)w[i] - shifted - borrow;
            d[i] = (uint64_t)s;
            borrow = s >> 64 & 1;
        }
        if (!borrow)
            memcpy(w, d, sizeof w);
    }
    memcpy(r->l, w, sizeof r->l);
}

/* The same of one below 2^416. */
static inline void fp52_canonical(fp *r, const uint64_t limb[8])
{
    fp52_canonical_below(r, limb, 36);
}

static inline void fp52_limbs(uint64_t limb[8], const fp *a)
{
    for (int i = 0; i < 8; i++) {
        int bit = 52 * i;
        unsigned __int128 x = a->l[bit / 64];
        if (bit / 64 < 5)
            x |= (unsigned __int128)a->l[bit / 64 + 1] << 64;
        limb[i] = (uint64_t)(x >> bit % 64) & (((uint64_t)1 << 52) - 1);
    }
}
#endif
