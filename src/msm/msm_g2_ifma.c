/* G2 sums with AVX-512 IFMA: see lanes_ifma.h, lists_ifma.h, windows_ifma.h, subset_ifma.h. */
#include "base/cpu.h"
#include "base/mem.h"
#include "curve/coord.h"
#include "field/fp2_52.h"
#include "msm/hexagon.h"
#include "msm/msm_private.h"

#define FE_PARTS  2
#define FE_STRICT 1
typedef union fe {
    v8 l[16];
    fp2_52 e;
} fe;
#define FE_LIFT       FP52_P
#define FE_SHORT_LIFT FP52_SHORT_LIFT
#define FE_Y_LIFT     FP52_Y_LIFT
#define FE_X_LESS     FP52_X_LESS
#define FE_MUL_FILL(r, a, b, lift, limbs, fill, ctx)                                                         \
    fp2_52_mul_fill(&(r)->e, &(a)->e, &(b)->e, lift, limbs, fill, ctx)
#define FE_SQR_FILL(r, a, start, limbs, fill, ctx)                                                           \
    fp2_52_sqr_fill(&(r)->e, &(a)->e, FP52_Y_SUB, start, limbs, fill, ctx)

FP52_INLINE void fe_carry_factor(fe *r)
{
    fp52_carry(&r->e.c[0]);
    fp52_carry(&r->e.c[1]);
}
FP52_INLINE void fe_set_one(fe *r)
{
    fp52_set1(&r->e.c[0], FP52_ONE);
    FP52_UNROLL for (int i = 8; i < 16; i++) r->l[i] = _mm512_setzero_si512();
}

#define AFFINE             g2_affine
#define JACOBIAN           g2
#define AFFINE_IS_INF(a)   (fp2_is_zero(&(a)->x) && fp2_is_zero(&(a)->y))
#define coord_endomorphism fp2_endomorphism
#define COORD_TURN         FP_BETA2
#define COORD_NEG(r, a)    blst_fp2_cneg(r, a, 1)
#define POINT_FROM_AFFINE  g2_from_affine
#define POINT_TO_AFFINE    g2_to_affine
#define POINT_DOUBLE       blst_p2_double
#define POINT_ADD          g2_add
#define POINT_MUL_U32      g2_mul_u32
#define POINT_ADD_AFFINE   g2_add_affine

/* Sets every lane to 2^780 / lane 0, a product, as a factor; 0 if that is 0. */
static int fe_invert_lane(fe *a)
{
    fp2 v;
    fe t;
    fp52 scale;
    uint64_t limb[8];
    for (int h = 0; h < 2; h++) {
        for (int i = 0; i < 8; i++)
            limb[i] = (uint64_t)a->l[8 * h + i][0];
        fp52_canonical_below(&v.fp[h], limb, 5);
    }
    if (fp2_is_zero(&v))
        return 0;
    blst_fp2_eucl_inverse(&v, &v);
    fp52_set1(&scale, FP52_INVERSE);
    for (int h = 0; h < 2; h++) {
        fp52_limbs(limb, &v.fp[h]);
        fp52_set1(&t.e.c[h], limb);
        fp52_mul_open(&a->e.c[h], &t.e.c[h], &scale);
    }
    fe_carry_factor(a);
    return 1;
}

static __mmask8 fe_zero_mask(const fe *a)
{
    fp52 t, one;
    __mmask8 zero = 0xff;
    fp52_set1(&one, FP52_ONE);
    for (int h = 0; h < 2; h++) {
        fp52_mul_open(&t, &a->e.c[h], &one);
        fp52_carry(&t);
        zero &= fp52_zero_mask(&t);
    }
    return zero;
}

struct point52;
static void point_out(g2_affine *r, const struct point52 *p);

#include "msm/lanes_ifma.h"

/* A row as a point of blst; the way back is point_in. */
static void point_out(g2_affine *r, const point52 *p)
{
    fp k;
    memcpy(&k, FP52_X_OUT, sizeof k);
    for (int h = 0; h < 2; h++) {
        fp52_canonical(&r->x.fp[h], p->x + 8 * h);
        blst_fp_mul(&r->x.fp[h], &r->x.fp[h], &k);
        fp52_canonical(&r->y.fp[h], p->y + 8 * h);
    }
}

/* Two points that stand for none: the generator and its double. */
static void points_none(point52 r[2])
{
    g2 d;
    g2_affine a;
    g2_to_affine(&a, blst_p2_generator());
    point_in(&r[0], &a);
    blst_p2_double(&d, blst_p2_generator());
    g2_to_affine(&a, &d);
    point_in(&r[1], &a);
}

#include "msm/lists_ifma.h"
#include "msm/subset_ifma.h"
#include "msm/windows_ifma.h"

#include "msm/sum_ifma.h"

#include "msm/fixed_ifma.h"

cuzk_status msm_g2_ifma(g2 *out, const g2_affine *bases, const uint32_t *index, const scalar *k, size_t n,
                        pool *p, const cancel_token *cancel, cuzk_error *err)
{
    return sum(out, bases, index, k, n, NULL, p, cancel, err);
}

cuzk_status msm_g2_subset_ifma(g2 *out, const g2_affine *bases, const uint64_t *bits, size_t n, pool *p,
                               const cancel_token *cancel, cuzk_error *err)
{
    return subset(out, bases, bits, n, p, cancel, err);
}

cuzk_status g2_fixed_base_ifma(g2_affine *r, const g2_affine *base, const fr *k, size_t n, pool *p,
                               cuzk_error *err)
{
    return fixed_base(r, base, k, n, p, err);
}
