/* Subgroup membership of many points of G2. */
#define AFFINE   g2_affine
#define BATCH    g2_batch
#define FN(name) g2_##name
#define IN_GROUP blst_p2_affine_in_g2
#include "curve/subgroup_impl.h"
