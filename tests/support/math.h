/* Deterministic field elements and points for tests. */
#ifndef SUPPORT_MATH_H
#define SUPPORT_MATH_H
#include "base/hash.h"
#include "curve/curve.h"

void math_rng(chacha_rng *rng, uint64_t seed);
void math_fr(fr *r, chacha_rng *rng);
void math_scalar(scalar *r, chacha_rng *rng);
/* n distinct points of the subgroup, each a random multiple of the generator plus a running sum: quick for
 * large n. */
void math_g1_points(g1_affine *r, size_t n, chacha_rng *rng);
void math_g2_points(g2_affine *r, size_t n, chacha_rng *rng);
#endif
