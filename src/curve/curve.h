/* Points of G1 and G2. Affine points are blst's: Montgomery coordinates, infinity is all zeros. Sums that may
 * meet infinity, equal or opposite points are exact everywhere in this project; blst_p1s_to_affine and its
 * Pippenger are not used, since they are wrong when a batch holds infinity. */
#ifndef CURVE_CURVE_H
#define CURVE_CURVE_H
#include "base/pool.h"
#include "field/field.h"

typedef blst_p1_affine g1_affine;
typedef blst_p2_affine g2_affine;
typedef blst_p1 g1; /* Jacobian; Z = 0 is infinity */
typedef blst_p2 g2;

int g1_affine_is_inf(const g1_affine *p);
int g2_affine_is_inf(const g2_affine *p);
void g1_affine_neg(g1_affine *r, const g1_affine *p);
void g2_affine_neg(g2_affine *r, const g2_affine *p);
void g1_add(g1 *r, const g1 *a, const g1 *b);
void g1_add_affine(g1 *r, const g1 *a, const g1_affine *b);
void g2_add(g2 *r, const g2 *a, const g2 *b);
void g2_add_affine(g2 *r, const g2 *a, const g2_affine *b);
void g1_mul(g1 *r, const g1 *a, const scalar *k); /* not constant time */
void g1_mul_u32(g1 *r, const g1 *a, uint32_t k);  /* of any point of the curve; not constant time */
void g2_mul(g2 *r, const g2 *a, const scalar *k);
void g2_mul_u32(g2 *r, const g2 *a, uint32_t k);
/* Secret scalars (r, s of a proof; toxic waste): constant time. */
void g1_mul_secret(g1 *r, const g1 *a, const scalar *k);
void g2_mul_secret(g2 *r, const g2 *a, const scalar *k);
void g1_from_affine(g1 *r, const g1_affine *a);
void g2_from_affine(g2 *r, const g2_affine *a);
void g1_to_affine(g1_affine *r, const g1 *a);
void g2_to_affine(g2_affine *r, const g2 *a);
/* Batches, infinities included, one inversion a batch. r and a do not overlap. */
void g1_batch_to_affine(g1_affine *r, const g1 *a, size_t n);
void g2_batch_to_affine(g2_affine *r, const g2 *a, size_t n);

/* Uncompressed big-endian encoding: 96 and 192 bytes, flag bits as in the serialisation of blst. Decoding
 * checks the form and that coordinates are < p; _check adds curve and subgroup. Return 0, or -1 form, -2 not
 * on the curve, -3 outside the subgroup. */
void g1_encode(uint8_t out[96], const g1_affine *p);
void g2_encode(uint8_t out[192], const g2_affine *p);
int g1_decode(g1_affine *r, const uint8_t in[96]);
int g2_decode(g2_affine *r, const uint8_t in[192]);
int g1_decode_check(g1_affine *r, const uint8_t in[96]);
int g2_decode_check(g2_affine *r, const uint8_t in[192]);
/* Compressed: 48 and 96 bytes; decoding finds y and checks curve and subgroup. */
void g1_compress(uint8_t out[48], const g1_affine *p);
void g2_compress(uint8_t out[96], const g2_affine *p);
int g1_decompress(g1_affine *r, const uint8_t in[48]);
int g2_decompress(g2_affine *r, const uint8_t in[96]);
/* Decodes the n points list[i] (i, without a list) of an array of encoded ones on a pool, form checks only;
 * returns the first i that is bad or -1. */
ptrdiff_t g1_decode_many(g1_affine *r, const uint8_t *in, const uint32_t *list, size_t n, pool *p);
ptrdiff_t g2_decode_many(g2_affine *r, const uint8_t *in, const uint32_t *list, size_t n, pool *p);

/* Affine additions in batches: out[i] = a[i] + b[i], one inversion for each BATCH of them. Exact for
 * infinite, equal and opposite points. out[i] may be where a[i] or b[i] lies, and must not be an operand of
 * another addition. */
#define G1_BATCH     2048
#define G2_BATCH     1024
#define BATCH_CHAINS 2
typedef struct point_ref {
    const void *x; /* its coordinates; they need not lie together */
    uintptr_t y;   /* the lowest bit set: minus the point */
} point_ref;
typedef struct g1_batch { /* scratch: 200 KB, meant for the second-level cache */
    fp d[G1_BATCH], product[G1_BATCH + BATCH_CHAINS];
    uint8_t kind[G1_BATCH];
} g1_batch;
typedef struct g2_batch {
    fp2 d[G2_BATCH], product[G2_BATCH + BATCH_CHAINS];
    uint8_t kind[G2_BATCH];
} g2_batch;
static inline point_ref g1_ref(const g1_affine *p, unsigned minus)
{
    return (point_ref){&p->x, (uintptr_t)&p->y | minus};
}
static inline point_ref g2_ref(const g2_affine *p, unsigned minus)
{
    return (point_ref){&p->x, (uintptr_t)&p->y | minus};
}
/* The point that a reference stands for. r may be where it lies. */
void g1_ref_get(g1_affine *r, point_ref p);
void g2_ref_get(g2_affine *r, point_ref p);
void g1_batch_add(g1_affine *const *out, const point_ref *a, const point_ref *b, size_t n, g1_batch *scratch);
void g2_batch_add(g2_affine *const *out, const point_ref *a, const point_ref *b, size_t n, g2_batch *scratch);

/* r[i] = k[i] * base for many scalars (setup): fixed-base windows, batch-affine sums. r may hold infinities;
 * base lies in the subgroup. Make many at a time: each call makes its own table. The choice of the form is in
 * src/msm/fixed.c. */
cuzk_status g1_fixed_base_many(g1_affine *r, const g1_affine *base, const fr *k, size_t n, pool *p,
                               cuzk_error *err);
cuzk_status g2_fixed_base_many(g2_affine *r, const g2_affine *base, const fr *k, size_t n, pool *p,
                               cuzk_error *err);
cuzk_status g1_fixed_base_portable(g1_affine *r, const g1_affine *base, const fr *k, size_t n, pool *p,
                                   cuzk_error *err);
cuzk_status g2_fixed_base_portable(g2_affine *r, const g2_affine *base, const fr *k, size_t n, pool *p,
                                   cuzk_error *err);
#endif
