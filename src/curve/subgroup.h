/* Membership of many points in the subgroup of order r, at a fraction of the cost of asking each.
 *
 * The points are put into groups of SUBGROUP_GROUP at random, each group is summed by batches of additions,
 * and the sums are asked. A single point outside the subgroup always spoils its sum. Several may cancel, but
 * only within a group: however they were chosen, at most one of the n / SUBGROUP_GROUP places for the last of
 * them makes every sum fit. Rounds repeat until the chance that wrong points pass is below 2^-60. */
#ifndef CURVE_SUBGROUP_H
#define CURVE_SUBGROUP_H
#include "base/hash.h"
#include "curve/curve.h"

#define SUBGROUP_GROUP 256  /* points a sum */
#define SUBGROUP_PLAIN 2048 /* up to here each point is asked */

/* Scratch for n points. */
size_t g1_subgroup_scratch(size_t n);
size_t g2_subgroup_scratch(size_t n);
/* The points must lie on the curve; infinity belongs to the subgroup. Returns the index of a point outside,
 * the lowest of those that a round finds, or -1. rng: seeded from the kernel where the points are somebody
 * else's. */
ptrdiff_t g1_subgroup_find(const g1_affine *p, size_t n, void *scratch, chacha_rng *rng);
ptrdiff_t g2_subgroup_find(const g2_affine *p, size_t n, void *scratch, chacha_rng *rng);
#endif
