/* G1 sums with AVX-512 IFMA: see lanes_ifma.h, lists_ifma.h, windows_ifma.h, subset_ifma.h. Template,
 * included by g1_rows_ifma.c and g1_halves_ifma.c, which choose the form of products (field/fp52.h) and the
 * name G1_FORM. */
#include "base/cpu.h"
#include "base/mem.h"
#include "curve/coord.h"
#include "field/fp52.h"
#include "msm/hexagon.h"
#include "msm/msm_private.h"

#define FE_PARTS                                      1
#define FE_STRICT                                     FP52_STRICT
#define FE_LIFT                                       NULL
#define FE_SHORT_LIFT                                 NULL
#define FE_Y_LIFT                                     FP52_Y_ADD
#define FE_X_LESS                                     FP52_X_LESS_HALF
#define FE_MUL_FILL(r, a, b, start, limbs, fill, ctx) fp52_mul_fill(r, a, b, start, limbs, fill, ctx, 0)
#define FE_SQR_FILL(r, a, start, limbs, fill, ctx)    fp52_sqr_fill(r, a, start, limbs, fill, ctx)
typedef fp52 fe;

FP52_INLINE void fe_carry_factor(fe *r)
{
    fp52_carry_factor(r);
}
FP52_INLINE void fe_set_one(fe *r)
{
    fp52_set1(r, FP52_ONE);
}

#define AFFINE             g1_affine
#define JACOBIAN           g1
#define AFFINE_IS_INF(a)   (fp_is_zero(&(a)->x) && fp_is_zero(&(a)->y))
#define coord_endomorphism fp_endomorphism
#define COORD_TURN         FP_BETA
#define COORD_NEG(r, a)    blst_fp_cneg(r, a, 1)
#define POINT_FROM_AFFINE  g1_from_affine
#define POINT_TO_AFFINE    g1_to_affine
#define POINT_DOUBLE       blst_p1_double
#define POINT_ADD          g1_add
#define POINT_MUL_U32      g1_mul_u32
#define POINT_ADD_AFFINE   g1_add_affine

/* Sets every lane to 2^780 / lane 0, a product, as a factor; 0 if that is 0. */
static int fe_invert_lane(fe *a)
{
    uint64_t limb[8];
    fp v;
    fe t, scale;
    for (int i = 0; i < 8; i++)
        limb[i] = (uint64_t)a->l[i][0] & (((uint64_t)1 << 52) - 1);
    fp52_canonical_below(&v, limb, 5);
    if (fp_is_zero(&v))
        return 0;
    blst_fp_eucl_inverse(&v, &v);
    fp52_limbs(limb, &v);
    fp52_set1(&t, limb);
    fp52_set1(&scale, FP52_INVERSE);
    fp52_mul_open(a, &t, &scale);
    fe_carry_factor(a);
    return 1;
}

static __mmask8 fe_zero_mask(const fe *a)
{
    fe t, one;
    fe_set_one(&one);
    fp52_mul_open(&t, a, &one);
    fp52_carry(&t);
    return fp52_zero_mask(&t);
}

struct point52;
static void point_out(g1_affine *r, const struct point52 *p);

#include "msm/lanes_ifma.h"

/* A row as a point of blst; the way back is point_in. */
static void point_out(g1_affine *r, const point52 *p)
{
    fp k;
    memcpy(&k, FP52_X_OUT, sizeof k);
    fp52_canonical(&r->x, p->x);
    blst_fp_mul(&r->x, &r->x, &k);
    fp52_canonical(&r->y, p->y);
}

/* Two points that stand for none: the generator and its double. */
static void points_none(point52 r[2])
{
    g1 d;
    g1_affine a;
    g1_to_affine(&a, blst_p1_generator());
    point_in(&r[0], &a);
    blst_p1_double(&d, blst_p1_generator());
    g1_to_affine(&a, &d);
    point_in(&r[1], &a);
}

#include "msm/lists_ifma.h"
#include "msm/subset_ifma.h"
#include "msm/windows_ifma.h"

#include "msm/sum_ifma.h"

#include "msm/fixed_ifma.h"

const g1_form G1_FORM = {sum, subset, fixed_base};
