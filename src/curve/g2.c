/* G2: y^2 = x^3 + 4 (1 + u) over Fp2. An encoded coordinate holds c1 before c0. */
#include "base/encode.h"
#include "base/mem.h"
#include "curve/coord.h"
#include "curve/curve.h"
#include <stdatomic.h>

static int fp2_read(fp2 *r, const uint8_t in[96])
{
    return fp_read(&r->fp[1], in) | fp_read(&r->fp[0], in + 48);
}

#define GROUP             g2
#define AFFINE            g2_affine
#define JACOBIAN          g2
#define BLST(f)           blst_p2_##f
#define IN_GROUP          blst_p2_affine_in_g2
#define COORD             fp2
#define COORD_ONE         ((fp2){{FP_ONE, {{0}}}})
#define coord_mul         blst_fp2_mul
#define coord_sqr         blst_fp2_sqr
#define coord_inv         blst_fp2_eucl_inverse
#define coord_neg(r, a)   blst_fp2_cneg(r, a, 1)
#define HALF              96
#define coord_read(r, in) fp2_read(r, in)
#include "curve/group_impl.h"
