/* The names under which code shared by the two groups is compiled for G2. */
#include "curve/coord.h"
#include "curve/curve.h"

#define GROUP              g2
#define AFFINE             g2_affine
#define JACOBIAN           g2
#define BLST(f)            blst_p2_##f
#define IN_GROUP           blst_p2_affine_in_g2
#define HALF               96 /* bytes of an encoded coordinate */
#define BATCH_SIZE         G2_BATCH
#define COORD              fp2
#define COORD_ONE          ((fp2){{FP_ONE, {{0}}}})
#define coord_add          blst_fp2_add
#define coord_sub          blst_fp2_sub
#define coord_mul          blst_fp2_mul
#define coord_sqr          blst_fp2_sqr
#define coord_mul_lazy     coord_mul
#define coord_sub_lazy     coord_sub
#define coord_inv          blst_fp2_eucl_inverse
#define coord_triple       blst_fp2_mul_by_3
#define coord_neg(r, a)    blst_fp2_cneg(r, a, 1)
#define coord_cneg         blst_fp2_cneg
#define coord_is_zero      fp2_is_zero
#define coord_read         fp2_read
#define coord_endomorphism fp2_endomorphism
#include "curve/as_names.h"
