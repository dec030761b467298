/* The names under which code shared by the two groups is compiled for G1. */
#include "curve/coord.h"
#include "curve/curve.h"

#define GROUP              g1
#define AFFINE             g1_affine
#define JACOBIAN           g1
#define BLST(f)            blst_p1_##f
#define IN_GROUP           blst_p1_affine_in_g1
#define HALF               48 /* bytes of an encoded coordinate */
#define BATCH_SIZE         G1_BATCH
#define COORD              fp
#define COORD_ONE          FP_ONE
#define coord_add          blst_fp_add
#define coord_sub          blst_fp_sub
#define coord_mul          blst_fp_mul
#define coord_sqr          blst_fp_sqr
#define coord_mul_lazy     coord_mul
#define coord_sub_lazy     coord_sub
#define coord_inv          blst_fp_eucl_inverse
#define coord_triple       blst_fp_mul_by_3
#define coord_neg(r, a)    blst_fp_cneg(r, a, 1)
#define coord_cneg         blst_fp_cneg
#define coord_is_zero      fp_is_zero
#define coord_read         fp_read
#define coord_endomorphism fp_endomorphism
#include "curve/as_names.h"
