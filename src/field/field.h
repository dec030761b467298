/* The scalar field Fr and the base fields Fp, Fp2 of BLS12-381: blst's types and representation
 * (little-endian 64-bit limbs, Montgomery form, canonical). These are the scalar forms; eight-lane IFMA forms
 * are private to the parts that use them (src/field/fp52.h, fr52.h), reached through cpu_get(). */
#ifndef FIELD_FIELD_H
#define FIELD_FIELD_H
#include "blst.h"
#include "blst_aux.h"
#include "cuzk/status.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef blst_fr fr;   /* Montgomery, < r */
typedef blst_fp fp;   /* Montgomery, < p */
typedef blst_fp2 fp2; /* c0 + c1 u */
/* A canonical integer < r as four little-endian limbs: what an MSM multiplies by. */
typedef struct scalar {
    uint64_t l[4];
} scalar;

extern const fr FR_ZERO, FR_ONE, FR_MINUS_ONE, FR_TWO;

static inline void fr_add(fr *r, const fr *a, const fr *b)
{
    blst_fr_add(r, a, b);
}
static inline void fr_sub(fr *r, const fr *a, const fr *b)
{
    blst_fr_sub(r, a, b);
}
static inline void fr_mul(fr *r, const fr *a, const fr *b)
{
    blst_fr_mul(r, a, b);
}
static inline void fr_sqr(fr *r, const fr *a)
{
    blst_fr_sqr(r, a);
}
static inline void fr_neg(fr *r, const fr *a)
{
    blst_fr_cneg(r, a, 1);
}
static inline int fr_is_zero(const fr *a)
{
    return !(a->l[0] | a->l[1] | a->l[2] | a->l[3]);
}
static inline int fr_eq(const fr *a, const fr *b)
{
    return !memcmp(a, b, sizeof(fr));
}
static inline int fr_is_one(const fr *a)
{
    return fr_eq(a, &FR_ONE);
}
void fr_inv(fr *r, const fr *a); /* 0 for 0 */
void fr_pow(fr *r, const fr *a, const uint64_t *exponent, size_t limbs);
void fr_from_u64(fr *r, uint64_t v);
/* 32 bytes little-endian. fr_from_bytes returns 0, or -1 for a value >= r (r is then untouched). */
int fr_from_bytes(fr *r, const uint8_t in[32]);
void fr_from_bytes_reduce(fr *r, const uint8_t in[32]); /* any 256-bit value, taken mod r */
void fr_to_bytes(uint8_t out[32], const fr *a);
void fr_to_scalar(scalar *r, const fr *a);
void fr_from_scalar(fr *r, const scalar *a);
int scalar_is_canonical(const scalar *a);
/* r[i] = 1 / a[i] for non-zero a[i], 0 for 0; r may be a; scratch of n elements. */
void fr_batch_inv(fr *r, const fr *a, size_t n, fr *scratch);
/* Uniform non-zero element from the kernel; returns 0 on success. */
int fr_random(fr *r);
/* From a decimal number of any length without sign; returns 0 on success (value taken mod r only if reduce).
 */
int fr_from_decimal(fr *r, const char *text, size_t n, int reduce);
void fr_to_decimal(char out[80], const fr *a);
/* Primitive 2^k-th root of unity (k <= 32): generator^((r-1)/2^k), generator 7 (bellperson) or 5 (snarkjs).
 */
void fr_root_of_unity(fr *r, unsigned k, unsigned generator);
#endif
