/* Sums over the queries in G2. */
#define G          g2
#define OF_G(name) name##_g2
#define SUBSET     msm_g2_subset
#define ENCODED    192
#define PUBLIC     cuzk_g2_affine
#include "backend/cpu/sum_impl.h"
