/* Subgroup membership of many points of G1. */
#define AFFINE   g1_affine
#define BATCH    g1_batch
#define FN(name) g1_##name
#define IN_GROUP blst_p1_affine_in_g1
#include "curve/subgroup_impl.h"
