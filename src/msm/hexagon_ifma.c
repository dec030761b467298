/* Hexagonal digits of sixteen scalars at a time with AVX-512 IFMA. */
#include "field/fp52.h"
#include "msm/hexagon.h"

#define LIMB52      (((uint64_t)1 << 52) - 1)
#define LIMB(x, i)  ((uint64_t)((x) >> 52 * (i)) & LIMB52)
#define HALF_Z2_TOP ((uint64_t)(GLV_Z2 >> 105)) /* the top limb of z^2 / 2 */

FP52_INLINE void scalar_limbs(v8 k[5], const uint64_t words[4][16], int first)
{
    v8 w[4];
    for (int i = 0; i < 4; i++)
        w[i] = _mm512_loadu_si512(words[i] + first);
    k[0] = v8_mask52(w[0]);
    k[1] = v8_mask52(_mm512_or_si512(V8_SRL(w[0], 52), _mm512_slli_epi64(w[1], 12)));
    k[2] = v8_mask52(_mm512_or_si512(V8_SRL(w[1], 40), _mm512_slli_epi64(w[2], 24)));
    k[3] = v8_mask52(_mm512_or_si512(V8_SRL(w[2], 28), _mm512_slli_epi64(w[3], 36)));
    k[4] = V8_SRL(w[3], 16);
}

/* Makes limbs 0 and 1 strict; the last keeps the sign. */
FP52_INLINE void limbs_carry(v8 a[3])
{
    a[1] = V8_ADD(a[1], V8_SRA(a[0], 52));
    a[2] = V8_ADD(a[2], V8_SRA(a[1], 52));
    a[0] = v8_mask52(a[0]);
    a[1] = v8_mask52(a[1]);
}

FP52_INLINE void limbs_add(v8 a[3], __mmask8 which, u128 value)
{
    for (int i = 0; i < 3; i++)
        a[i] = _mm512_mask_add_epi64(a[i], which, a[i], v8_set1(LIMB(value, i)));
}
FP52_INLINE void limbs_sub(v8 a[3], __mmask8 which, u128 value)
{
    for (int i = 0; i < 3; i++)
        a[i] = _mm512_mask_sub_epi64(a[i], which, a[i], v8_set1(LIMB(value, i)));
}

/* k = a + b w with |a|, |b| <= z^2 / 2 + 2^106, in signed limbs. The quotient by z^2 is rounded from the
 * upper limbs of k and corrected where the rest shows that it is one off. */
FP52_INLINE void hexagon_split(v8 a[3], v8 b[3], const v8 k[5])
{
    /* floor(2^260 / z^2) */
    static const uint64_t inverse[3] = {0xe522f6cfee2e0, 0x1e01faadd63f6, 0x17c6becf};
    const v8 zero = _mm512_setzero_si512();
    v8 c[4] = {v8_set1((uint64_t)1 << 51), zero, zero, zero}, p[3] = {zero, zero, zero};
    FP52_UNROLL for (int i = 0; i < 3; i++)
    {
        FP52_UNROLL for (int m = 0; m < 3; m++)
        {
            v8 v = v8_set1(inverse[m]);
            if (i + m >= 2)
                c[i + m - 2] = V8_LO(c[i + m - 2], k[2 + i], v);
            if (i + m >= 1)
                c[i + m - 1] = V8_HI(c[i + m - 1], k[2 + i], v);
        }
    }
    v8 q[3] = {V8_ADD(c[1], V8_SRL(c[0], 52)), c[2], c[3]};
    limbs_carry(q);
    FP52_UNROLL for (int i = 0; i < 3; i++)
    {
        FP52_UNROLL for (int m = 0; i + m < 3; m++)
        {
            v8 v = v8_set1(LIMB(GLV_Z2, m));
            p[i + m] = V8_LO(p[i + m], q[i], v);
            if (i + m < 2)
                p[i + m + 1] = V8_HI(p[i + m + 1], q[i], v);
        }
    }
    for (int i = 0; i < 3; i++)
        a[i] = V8_SUB(k[i], p[i]);
    limbs_carry(a);
    a[2] = V8_SRA(_mm512_slli_epi64(a[2], 12), 12); /* the rest is known modulo 2^156 */
    const v8 most = v8_set1(HALF_Z2_TOP), one = v8_set1(1);
    __mmask8 above = _mm512_cmpgt_epi64_mask(a[2], most),
             below = _mm512_cmplt_epi64_mask(a[2], V8_SUB(zero, most));
    limbs_sub(a, above, GLV_Z2);
    limbs_add(a, below, GLV_Z2);
    q[0] = _mm512_mask_add_epi64(q[0], above, q[0], one);
    q[0] = _mm512_mask_sub_epi64(q[0], below, q[0], one);
    __mmask8 large = _mm512_cmpgt_epi64_mask(q[2], most); /* subtract 1 + (z^2 - 1) z^2 = r */
    a[0] = _mm512_mask_sub_epi64(a[0], large, a[0], one);
    limbs_sub(q, large, GLV_Z2 - 1);
    for (int i = 0; i < 3; i++)
        b[i] = V8_SUB(zero, q[i]);
}

/* The fractions (a + balance) / m^windows in units of 2^-156, too large by less than 2^26. Since m^windows <=
 * 2^130 that changes none of the digits that come out when they are multiplied by m again and again. */
FP52_INLINE void digits_start(v8 x[3], const hexagon *h, v8 a[3])
{
    /* what is cut off below and the rounding of scale make less than 2^26 - 1024 */
    v8 c[3] = {v8_set1(((uint64_t)1 << 26) - 1024), _mm512_setzero_si512(), _mm512_setzero_si512()};
    for (int i = 0; i < 3; i++)
        a[i] = V8_ADD(a[i], v8_set1(h->balance[i]));
    limbs_carry(a);
    FP52_UNROLL for (int i = 0; i < 3; i++)
    {
        FP52_UNROLL for (int k = 0; k < 3; k++)
        {
            v8 s = v8_set1(h->scale[k]);
            if (i + k >= 2)
                c[i + k - 2] = V8_LO(c[i + k - 2], a[i], s);
            if (i + k >= 1 && i + k < 4)
                c[i + k - 1] = V8_HI(c[i + k - 1], a[i], s);
        }
    }
    limbs_carry(c);
    for (int i = 0; i < 3; i++)
        x[i] = v8_mask52(c[i]);
}

/* The next digit from the top, in 0 .. m - 1. */
FP52_INLINE __m256i digits_next(v8 x[3], v8 m)
{
    const v8 zero = _mm512_setzero_si512();
    v8 t1 = V8_HI(V8_LO(zero, x[1], m), x[0], m), t2 = V8_HI(V8_LO(zero, x[2], m), x[1], m);
    v8 d = V8_HI(zero, x[2], m);
    t2 = V8_ADD(t2, V8_SRL(t1, 52));
    x[0] = V8_LO(zero, x[0], m);
    x[1] = v8_mask52(t1);
    x[2] = v8_mask52(t2);
    return _mm512_cvtepi64_epi32(V8_ADD(d, V8_SRL(t2, 52)));
}

/* Codes of sixteen digits a + b w: see hexagon.h. */
FP52_INLINE __m512i codes_of(const hexagon *h, __m512i a, __m512i b)
{
    const __m512i zero = _mm512_setzero_si512();
    __m512i p = _mm512_sub_epi32(a, b), q = b, s = _mm512_sub_epi32(zero, a);
    /* x and y have one sign or y is 0: what is left of the three is the one farthest from 0, the one before
     * it where two are */
    __m512i p_far = _mm512_abs_epi32(p), q_far = _mm512_abs_epi32(q), s_far = _mm512_abs_epi32(s);
    __m512i most = _mm512_max_epi32(_mm512_max_epi32(p_far, q_far), s_far);
    __mmask16 first = _mm512_mask_cmpneq_epi32_mask(_mm512_cmpeq_epi32_mask(s_far, most), q_far, most);
    __mmask16 second = _mm512_mask_cmpneq_epi32_mask(_mm512_cmpeq_epi32_mask(p_far, most), s_far, most);
    __m512i x = _mm512_mask_mov_epi32(_mm512_mask_mov_epi32(s, second, q), first, p);
    __m512i y = _mm512_mask_mov_epi32(_mm512_mask_mov_epi32(p, second, s), first, q);
    __m512i code = _mm512_srli_epi32(x, 31); /* the sign */
    code = _mm512_or_si512(code, _mm512_mask_mov_epi32(_mm512_maskz_set1_epi32((__mmask16)~first, 6), second,
                                                       _mm512_set1_epi32(4)));
    x = _mm512_abs_epi32(x);
    y = _mm512_abs_epi32(y);
    __m512i square = _mm512_mullo_epi32(y, y), ym = _mm512_mullo_epi32(y, _mm512_set1_epi32((int)h->radix));
    __m512i row = _mm512_sub_epi32(_mm512_srli_epi32(ym, 1), _mm512_srli_epi32(square, 2));
    __mmask16 is_short = _mm512_cmpgt_epi32_mask(y, _mm512_set1_epi32((int)h->long_rows));
    __m512i other = _mm512_add_epi32(_mm512_add_epi32(ym, y), _mm512_set1_epi32((int)h->short_first));
    row = _mm512_mask_sub_epi32(row, is_short, other, square);
    row = _mm512_add_epi32(row, _mm512_sub_epi32(x, _mm512_set1_epi32(1)));
    code = _mm512_or_si512(code, _mm512_slli_epi32(row, 3));
    return _mm512_mask_set1_epi32(code, _mm512_testn_epi32_mask(x, x), -1);
}

void hexagon_codes_ifma(uint32_t *code, size_t stride, unsigned count, const hexagon *h,
                        const uint64_t words[4][16])
{
    const __mmask16 present = (__mmask16)((1u << count) - 1);
    const int m = (int)h->radix;
    __m512i ca = _mm512_setzero_si512(), cb = ca;
    uint32_t digit[2][HEXAGON_MOST][16];
    v8 x[4][3];
    FP52_UNROLL for (int g = 0; g < 2; g++)
    {
        v8 k[5], a[3], b[3];
        scalar_limbs(k, words, 8 * g);
        hexagon_split(a, b, k);
        digits_start(x[g], h, a);
        digits_start(x[2 + g], h, b);
    }
    for (unsigned w = h->windows; w-- > 0;) {
        FP52_UNROLL for (int i = 0; i < 4; i++) _mm256_storeu_si256(
            (__m256i *)(digit[i >> 1][w] + 8 * (i & 1)), digits_next(x[i], v8_set1((uint64_t)m)));
    }
    for (unsigned w = 0; w < h->windows; w++) {
        const __m512i half = _mm512_set1_epi32(m / 2), one = _mm512_set1_epi32(1),
                      full = _mm512_set1_epi32(m);
        __m512i a = _mm512_sub_epi32(_mm512_add_epi32(_mm512_loadu_si512(digit[0][w]), ca), half);
        __m512i b = _mm512_sub_epi32(_mm512_add_epi32(_mm512_loadu_si512(digit[1][w]), cb), half);
        __m512i p = _mm512_sub_epi32(a, b), s = _mm512_sub_epi32(_mm512_setzero_si512(), a);
        __m512i high = _mm512_max_epi32(_mm512_max_epi32(p, b), s);
        __m512i low = _mm512_min_epi32(_mm512_min_epi32(p, b), s);
        __mmask16 far = _mm512_cmpgt_epi32_mask(_mm512_sub_epi32(high, low), full);
        if (w + 1 == h->windows)
            far = 0;
        __mmask16 b_high = _mm512_mask_cmpeq_epi32_mask(far, b, high);
        __mmask16 b_low = _mm512_mask_cmpeq_epi32_mask(far, b, low);
        __mmask16 s_high = _mm512_mask_cmpeq_epi32_mask(far & (__mmask16)~b_high, s, high);
        __mmask16 s_low = _mm512_mask_cmpeq_epi32_mask(far & (__mmask16)~b_low, s, low);
        /* the unit that the next digit gets is 1 at the largest and -1 at the smallest; a = -s */
        cb = _mm512_mask_mov_epi32(_mm512_maskz_mov_epi32(b_high, one), b_low, _mm512_set1_epi32(-1));
        ca = _mm512_mask_mov_epi32(_mm512_maskz_mov_epi32(s_low, one), s_high, _mm512_set1_epi32(-1));
        b = _mm512_mask_sub_epi32(_mm512_mask_add_epi32(b, b_low, b, full), b_high, b, full);
        a = _mm512_mask_add_epi32(_mm512_mask_sub_epi32(a, s_low, a, full), s_high, a, full);
        _mm512_mask_storeu_epi32(code + w * stride, present, codes_of(h, a, b));
    }
}
