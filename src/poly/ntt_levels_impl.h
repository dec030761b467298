/* The butterflies of a pass. Included with el_mul, el_add, el_sub (Fr) and LEVELS(name), the name of what is
 * defined. */
#include "poly/poly_private.h"

/* Constant of block i: w^rev(i), or its inverse up to sign. Entries 2^m .. 2^(m+1) - 1 read backwards are the
 * negated inverses, so that one table serves both directions; entry 0 is 1 in both. */
static inline const fr *constant(const fr *twiddle, size_t i, ntt_direction dir)
{
    if (dir == NTT_FORWARD || i < 2)
        return &twiddle[i];
    return &twiddle[i ^ (((size_t)1 << (63 - __builtin_clzll(i))) - 1)];
}

static inline void butterfly_ct(fr *x, fr *y, const fr *w, int negated)
{
    fr t;
    el_mul(&t, y, w);
    if (negated) {
        el_add(y, x, &t);
        el_sub(x, x, &t);
    } else {
        el_sub(y, x, &t);
        el_add(x, x, &t);
    }
}

static inline void butterfly_gs(fr *x, fr *y, const fr *w, int negated)
{
    fr t;
    if (negated)
        el_sub(&t, y, x);
    else
        el_sub(&t, x, y);
    el_add(x, x, y);
    el_mul(y, &t, w);
}

/* The levels of a pass on `rows` rows of `width` elements; block: index of the whole among the blocks of its
 * level. */
void LEVELS(levels_nr)(fr *x, size_t rows, size_t width, size_t block, const fr *twiddle, ntt_direction dir)
{
    size_t half = rows * width / 2;
    for (size_t count = 1; count < rows; count *= 2, half /= 2, block *= 2) {
        fr *lo = x;
        for (size_t i = 0; i < count; i++, lo += 2 * half) {
            size_t k = block + i;
            if (!k) {
                for (size_t j = 0; j < half; j++) {
                    fr t = lo[j + half];
                    el_sub(&lo[j + half], &lo[j], &t);
                    el_add(&lo[j], &lo[j], &t);
                }
                continue;
            }
            const fr *w = constant(twiddle, k, dir);
            for (size_t j = 0; j < half; j++)
                butterfly_ct(&lo[j], &lo[j + half], w, dir == NTT_INVERSE);
        }
    }
}

void LEVELS(levels_rn)(fr *x, size_t rows, size_t width, size_t block, const fr *twiddle, ntt_direction dir)
{
    size_t half = width;
    for (size_t count = rows / 2; count; count /= 2, half *= 2) {
        fr *lo = x;
        for (size_t i = 0; i < count; i++, lo += 2 * half) {
            size_t k = block * count + i;
            if (!k) {
                for (size_t j = 0; j < half; j++) {
                    fr t = lo[j + half];
                    el_sub(&lo[j + half], &lo[j], &t);
                    el_add(&lo[j], &lo[j], &t);
                }
                continue;
            }
            const fr *w = constant(twiddle, k, dir);
            for (size_t j = 0; j < half; j++)
                butterfly_gs(&lo[j], &lo[j + half], w, dir == NTT_INVERSE);
        }
    }
}
