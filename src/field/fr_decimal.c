/* Scalars as decimal numbers, the way circom's JSON files write them. */
#include "field/field.h"

/* a = a * 10^digits + v on five limbs; the caller keeps a below 2^256, so that the fifth limb takes the
 * overflow. */
static void mul_add(uint64_t a[5], uint64_t factor, uint64_t v)
{
    unsigned __int128 t = v;
    for (int i = 0; i < 5; i++) {
        t += (unsigned __int128)a[i] * factor;
        a[i] = (uint64_t)t;
        t >>= 64;
    }
}

int fr_from_decimal(fr *r, const char *text, size_t n, int reduce)
{
    fr acc = FR_ZERO;
    uint64_t exact[5] = {0};
    int over = 0;
    if (!n)
        return -1;
    for (size_t i = 0; i < n;) {
        uint64_t v = 0, factor = 1;
        for (size_t end = n - i > 18 ? i + 18 : n; i < end; i++) {
            if (text[i] < '0' || text[i] > '9')
                return -1;
            v = v * 10 + (uint64_t)(text[i] - '0');
            factor *= 10;
        }
        if (reduce) {
            fr f, w;
            fr_from_u64(&f, factor);
            fr_from_u64(&w, v);
            fr_mul(&acc, &acc, &f);
            fr_add(&acc, &acc, &w);
        } else if (!over) {
            mul_add(exact, factor, v);
            over = exact[4] != 0;
        }
    }
    if (!reduce) {
        scalar s;
        memcpy(s.l, exact, sizeof s.l);
        if (over || !scalar_is_canonical(&s))
            return -1;
        fr_from_scalar(&acc, &s);
    }
    *r = acc;
    return 0;
}

void fr_to_decimal(char out[80], const fr *a)
{
    scalar s;
    char digits[80];
    size_t n = 0;
    fr_to_scalar(&s, a);
    do {
        unsigned __int128 t = 0;
        for (int i = 4; i-- > 0;) {
            t = t << 64 | s.l[i];
            s.l[i] = (uint64_t)(t / 10);
            t %= 10;
        }
        digits[n++] = (char)('0' + (int)t);
    } while (s.l[0] | s.l[1] | s.l[2] | s.l[3]);
    for (size_t i = 0; i < n; i++)
        out[i] = digits[n - 1 - i];
    out[n] = 0;
}
