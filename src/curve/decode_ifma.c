/* Decoding of points with AVX-512 IFMA: eight numbers at a time are turned round, compared with p and taken
 * to blst's form by one product. */
#include "curve/curve_private.h"
#include "field/fp52.h"

/* Eight numbers of 48 bytes, big-endian, as strict limbs; each ends a window of 64 bytes, or (head) begins
 * it. */
static void read_limbs(fp52 *r, const uint8_t *const window[8], int head)
{
    /* for each byte of the limbs, of which every second one starts in the middle of a byte, the byte of a
     * little-endian number that holds it; 63: none */
    static const uint8_t pick[64] = {0,  1,  2,  3,  4,  5,  6,  7,  6,  7,  8,  9,  10, 11, 12, 13,
                                     13, 14, 15, 16, 17, 18, 19, 20, 19, 20, 21, 22, 23, 24, 25, 26,
                                     26, 27, 28, 29, 30, 31, 32, 33, 32, 33, 34, 35, 36, 37, 38, 39,
                                     39, 40, 41, 42, 43, 44, 45, 46, 45, 46, 47, 63, 63, 63, 63, 63};
    v8 from = _mm512_sub_epi8(_mm512_set1_epi8(head ? 47 : 63), _mm512_loadu_si512(pick));
    for (int l = 0; l < 8; l++) {
        v8 x = _mm512_maskz_permutexvar_epi8(~(__mmask64)0 >> 5, from, _mm512_loadu_si512(window[l]));
        r->l[l] = v8_mask52(_mm512_srlv_epi64(x, _mm512_set_epi64(4, 0, 4, 0, 4, 0, 4, 0)));
    }
    v8_transpose(r->l);
}

/* Lanes with a < m. Strict limbs. r = a - m, strict where it is not negative. */
static __mmask8 subtract(fp52 *r, const fp52 *a, const uint64_t m[8])
{
    for (int i = 0; i < 8; i++)
        r->l[i] = V8_SUB(a->l[i], v8_set1(m[i]));
    fp52_carry(r);
    return _mm512_movepi64_mask(r->l[7]);
}

/* Of a value below 8 p and a little: canonical. Multiples are taken off by the top limb, where it is above
 * theirs by more than limbs below, which may be negative meanwhile, can take from it: what is left is less
 * than p / 1000 above p. */
static void reduce(fp52 *r)
{
    fp52 less;
    fp52_carry(r);
    for (int k = 4; k; k /= 2) {
        const uint64_t *m = FP52_MULTIPLES + 8 * k;
        __mmask8 above = _mm512_cmpgt_epi64_mask(r->l[7], v8_set1(m[7] + 64));
        for (int i = 0; i < 8; i++)
            r->l[i] = _mm512_mask_sub_epi64(r->l[i], above, r->l[i], v8_set1(m[i]));
    }
    fp52_carry(r);
    __mmask8 below = subtract(&less, r, FP52_P);
    for (int i = 0; i < 8; i++)
        r->l[i] = _mm512_mask_mov_epi64(less.l[i], below, r->l[i]);
}

static void to_words(v8 w[6], const fp52 *a)
{
    const v8 *l = a->l;
    w[0] = _mm512_or_si512(l[0], _mm512_slli_epi64(l[1], 52));
    w[1] = _mm512_or_si512(V8_SRL(l[1], 12), _mm512_slli_epi64(l[2], 40));
    w[2] = _mm512_or_si512(V8_SRL(l[2], 24), _mm512_slli_epi64(l[3], 28));
    w[3] = _mm512_or_si512(V8_SRL(l[3], 36), _mm512_slli_epi64(l[4], 16));
    w[4] = _mm512_or_si512(V8_SRL(l[4], 48),
                           _mm512_or_si512(_mm512_slli_epi64(l[5], 4), _mm512_slli_epi64(l[6], 56)));
    w[5] = _mm512_or_si512(V8_SRL(l[6], 8), _mm512_slli_epi64(l[7], 44));
}

int curve_decode8_ifma(fp *out, const uint8_t *const in[8], int parts)
{
    v8 w[24], any = _mm512_setzero_si512();
    fp52 scale;
    fp52_set1(&scale, FP52_DECODE);
    for (int k = 0; k < parts; k++) {
        int head = !k, place = parts == 2 ? k : k ^ 1; /* in Fp2 the second part comes first */
        const uint8_t *window[8];
        fp52 x, unused;
        for (int l = 0; l < 8; l++)
            window[l] = in[l] + (head ? 0 : 48 * k - 16);
        read_limbs(&x, window, head);
        if (subtract(&unused, &x, FP52_P) != 0xff) /* flags are bits above those of p */
            return 0;
        for (int i = 0; i < 8; i++)
            any = _mm512_or_si512(any, x.l[i]);
        fp52_mul_open(&x, &x, &scale);
        reduce(&x);
        to_words(w + 6 * place, &x);
    }
    if (_mm512_test_epi64_mask(any, any) != 0xff) /* zeros without the flag of infinity */
        return 0;
    int words = 6 * parts;
    for (int first = 0; first < words; first += 8) {
        v8 rows[8];
        for (int i = 0; i < 8; i++)
            rows[i] = first + i < words ? w[first + i] : _mm512_setzero_si512();
        v8_transpose(rows);
        __mmask8 some = first + 8 <= words ? 0xff : 0x0f;
        for (int l = 0; l < 8; l++)
            _mm512_mask_storeu_epi64((uint64_t *)(out + l * parts) + first, some, rows[l]);
    }
    return 1;
}
