/* Scalars as sums of digits in the Eisenstein integers Z[w], w^2 + w + 1 = 0, which act on points of the
 * r-order subgroup by the endomorphism: w P = -z^2 P (curve/coord.h). Z[w] has six units, and multiplying a
 * point by one costs nothing once its three values of x are at hand, so that digits of norm N need N / 6
 * buckets where signed digits need N / 2: a window less, or a third of the buckets.
 *
 * An element a + b w is worked on as the triple (p, q, s) = (a - b, b, -a), whose sum is 0: the units are the
 * triples of 1, -1 and 0. The radix is an integer m, the digits are those with max - min <= m of the triple
 * (a hexagon, the points nearest to 0 modulo m). They come from balanced digits of a and b, lowest first:
 * where max - min > m, m is taken from the largest and given to the smallest, and the next digit gets that
 * unit in exchange. One such step is enough: with M = max, L = -min, mid = L - M and m < M + L <= 3 m / 2 + 3
 * the differences become 2 m - M - L, 2 M - L - m and m - 2 L + M, none of them above m since M <= 2 L, L <=
 * 2 M and 2 M - L <= 3 M / 2 <= 2 m. The highest digit needs no step if 3 (z^2 / 2 + 1) / m^(windows - 1) +
 * m / (m - 1) <= m.
 *
 * Exactly one of (p, q), (q, s), (s, p) is (x, y) with x > 0 <= y or x < 0 >= y; the digit is then w^rot
 * (x + y (1 + w)) with rot = 0, 1, 2. Buckets are the (x, y) with x > 0, y >= 0, 2 x + y <= m and x + 2 y <=
 * m, counted along x, row by row. */
#ifndef MSM_HEXAGON_H
#define MSM_HEXAGON_H
#include "msm/glv.h"

#define HEXAGON_LEAST 10 /* windows */
#define HEXAGON_MOST  65

typedef struct hexagon {
    unsigned windows;
    uint32_t radix; /* m, even */
    uint32_t buckets;
    uint32_t long_rows;   /* rows y <= long_rows = m / 3 hold (m - y) / 2 buckets, the others m - 2 y */
    uint32_t short_first; /* row y of the others starts at short_first + y (m + 1 - y) */
    uint64_t balance[3];  /* sum of m / 2 at every digit, limbs of 52 bits */
    uint64_t scale[3];    /* floor(2^260 / m^windows) */
    uint64_t balance64[3], scale64[3]; /* the same in words, and floor(2^320 / m^windows) */
} hexagon;

/* m; 0 where there is none for so many windows. */
uint32_t hexagon_radix(unsigned windows);
/* 0 where there is no radix. */
int hexagon_init(hexagon *h, unsigned windows);

static inline uint32_t hexagon_rows(const hexagon *h)
{
    return h->radix / 2;
}
/* The bits of x and of y: both are at most m / 2. */
#define HEXAGON_LOG 12
static inline unsigned hexagon_log(const hexagon *h)
{
    unsigned log = 0;
    while ((uint32_t)1 << log <= hexagon_rows(h))
        log++;
    return log;
}
static inline uint32_t hexagon_row_length(const hexagon *h, uint32_t y)
{
    return y <= h->long_rows ? (h->radix - y) / 2 : h->radix - 2 * y;
}
/* The number of the bucket (x, y). */
static inline uint32_t hexagon_bucket(const hexagon *h, uint32_t x, uint32_t y)
{
    uint32_t row =
        y <= h->long_rows ? y * (h->radix / 2) - y * y / 4 : h->short_first + y * (h->radix + 1 - y);
    return row + x - 1;
}

/* What a term does in a window: bucket << 3 | turn | negative, or HEXAGON_NONE. The turn is where w^rot x
 * lies in a quad {x, y, w x, w^2 x} (lanes_ifma.h), times 2: 0, 4 or 6. */
#define HEXAGON_NONE 0xffffffffu
/* The codes of one scalar, the lowest window first, stride apart. */
void hexagon_codes(uint32_t *code, size_t stride, const hexagon *h, const scalar *k);
void hexagon_codes_ref(uint32_t *code, size_t stride, const hexagon *h, const scalar *k);
/* The codes of `count` (1 to 16) canonical scalars side by side; words[i][l] is word i of scalar l, all
 * sixteen set. */
void hexagon_codes_ifma(uint32_t *code, size_t stride, unsigned count, const hexagon *h,
                        const uint64_t words[4][16]);
#endif
