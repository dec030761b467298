/* Scalars split by the endomorphism.
 *
 * With z the parameter of the curve and r = z^4 - z^2 + 1, every k < r is k0 + k1 z^2 (mod r) with both parts
 * at most z^2 / 2 + 1 < 0.674 * 2^127 in absolute value; z^2 P is minus the endomorphism of P
 * (curve/coord.h), for P in the subgroup. */
#ifndef MSM_GLV_H
#define MSM_GLV_H
#include "field/field.h"

typedef unsigned __int128 u128;

#define GLV_Z2 ((u128)0xac45a4010001a402 << 64 | 0x0000000100000000)
#define GLV_MU ((u128)0xbe35f678f00fd56e << 64 | 0xb1fb72917b67f717) /* floor(2^255 / z^2) */

typedef struct glv_part {
    u128 magnitude;
    unsigned negative;
} glv_part;

/* The high and the low half of a product. */
static inline u128 u128_mul(u128 a, u128 b, u128 *low)
{
    uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64), b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
    u128 p00 = (u128)a0 * b0, p01 = (u128)a0 * b1, p10 = (u128)a1 * b0, p11 = (u128)a1 * b1;
    u128 middle = (p00 >> 64) + (uint64_t)p01 + (uint64_t)p10;
    *low = middle << 64 | (uint64_t)p00;
    return p11 + (p01 >> 64) + (p10 >> 64) + (middle >> 64);
}

/* Any k below 2^256 modulo r. */
static inline void glv_reduce(scalar *k)
{
    const u128 r_low = (u128)0x53bda402fffe5bfe << 64 | 0xffffffff00000001;
    const u128 r_high = (u128)0x73eda753299d7d48 << 64 | 0x3339d80809a1d805;
    if (__builtin_expect(k->l[3] < (uint64_t)(r_high >> 64), 1))
        return;
    u128 low = (u128)k->l[1] << 64 | k->l[0], high = (u128)k->l[3] << 64 | k->l[2];
    while (high > r_high || (high == r_high && low >= r_low)) {
        high -= r_high + (low < r_low);
        low -= r_low;
    }
    *k = (scalar){{(uint64_t)low, (uint64_t)(low >> 64), (uint64_t)high, (uint64_t)(high >> 64)}};
}

/* For any k below 2^256: what is not below r is reduced first. */
static inline void glv_split(glv_part part[2], const scalar *any)
{
    scalar k = *any;
    glv_reduce(&k);
    u128 low = (u128)k.l[1] << 64 | k.l[0], high = (u128)k.l[3] << 64 | k.l[2], unused, p;
    /* q = floor(floor(k / 2^127) mu / 2^128) is floor(k / z^2) or up to 2 less */
    u128 q = u128_mul(high << 1 | low >> 127, GLV_MU, &unused);
    high -= u128_mul(q, GLV_Z2, &p);
    high -= low < p;
    low -= p;
    while (high || low >= GLV_Z2) {
        high -= low < GLV_Z2;
        low -= GLV_Z2;
        q++;
    }
    part[0].negative = low > GLV_Z2 >> 1;
    part[1].negative = 0;
    if (part[0].negative) {
        low = GLV_Z2 - low;
        q++;
    }
    if (q > GLV_Z2 >> 1) { /* subtract 1 + (z^2 - 1) z^2 = r */
        q = GLV_Z2 - 1 - q;
        part[1].negative = 1;
        if (part[0].negative)
            low++;
        else if (low)
            low--;
        else
            low = 1, part[0].negative = 1;
    }
    part[0].magnitude = low;
    part[1].magnitude = q;
}

#endif
