/* SHA-256 with the processor's SHA instructions: state as ABEF and CDGH, four rounds of message schedule a
 * step. */
#include "base/sha256_private.h"
#if defined(__x86_64__)
#include <immintrin.h>

#define ROUNDS(w, k)                                                                                         \
    do {                                                                                                     \
        __m128i sum = _mm_add_epi32(w, _mm_loadu_si128((const __m128i *)(SHA256_K + (k))));                  \
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);                                                       \
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));                              \
    } while (0)

/* The next four schedule words from the last sixteen. */
#define SCHEDULE(w0, w1, w2, w3)                                                                             \
    _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4)), w3)

void sha256_compress_shani(uint32_t state[8], const uint8_t *blocks, size_t count)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    __m128i dcba = _mm_loadu_si128((const __m128i *)state),
            hgfe = _mm_loadu_si128((const __m128i *)(state + 4));
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (; count; count--, blocks += 64) {
        const __m128i abef_in = abef, cdgh_in = cdgh, *in = (const __m128i *)blocks;
        __m128i w0 = _mm_shuffle_epi8(_mm_loadu_si128(in), swap),
                w1 = _mm_shuffle_epi8(_mm_loadu_si128(in + 1), swap);
        __m128i w2 = _mm_shuffle_epi8(_mm_loadu_si128(in + 2), swap),
                w3 = _mm_shuffle_epi8(_mm_loadu_si128(in + 3), swap);
        ROUNDS(w0, 0);
        ROUNDS(w1, 4);
        ROUNDS(w2, 8);
        ROUNDS(w3, 12);
        for (int k = 16; k < 64; k += 16) {
            w0 = SCHEDULE(w0, w1, w2, w3);
            ROUNDS(w0, k);
            w1 = SCHEDULE(w1, w2, w3, w0);
            ROUNDS(w1, k + 4);
            w2 = SCHEDULE(w2, w3, w0, w1);
            ROUNDS(w2, k + 8);
            w3 = SCHEDULE(w3, w0, w1, w2);
            ROUNDS(w3, k + 12);
        }
        abef = _mm_add_epi32(abef, abef_in);
        cdgh = _mm_add_epi32(cdgh, cdgh_in);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#endif
