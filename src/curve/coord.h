/* Coordinates of points: what blst does not offer, for code shared by the two groups. */
#ifndef CURVE_COORD_H
#define CURVE_COORD_H
#include "field/field.h"

extern const fp FP_ONE;
/* Cube roots of unity: (FP_BETA x, y) in G1 and (FP_BETA2 x, y) in G2 are both -z^2 times (x, y), z the
 * parameter of the curve. */
extern const fp FP_BETA, FP_BETA2;

/* Big-endian bytes (c1 before c0); -1 if a value is not below p, which any of the three flag bits makes it.
 */
int fp_read(fp *r, const uint8_t in[48]);
int fp2_read(fp2 *r, const uint8_t in[96]);

static inline int fp_is_zero(const fp *a)
{
    return !(a->l[0] | a->l[1] | a->l[2] | a->l[3] | a->l[4] | a->l[5]);
}
static inline int fp2_is_zero(const fp2 *a)
{
    return fp_is_zero(&a->fp[0]) & fp_is_zero(&a->fp[1]);
}
static inline void fp_endomorphism(fp *r, const fp *x)
{
    blst_fp_mul(r, x, &FP_BETA);
}
static inline void fp2_endomorphism(fp2 *r, const fp2 *x)
{
    blst_fp_mul(&r->fp[0], &x->fp[0], &FP_BETA2);
    blst_fp_mul(&r->fp[1], &x->fp[1], &FP_BETA2);
}
#endif
