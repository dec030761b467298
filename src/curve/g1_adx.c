/* Affine additions in batches in G1 with the field of fp_adx.h. */
#include "curve/as_g1.h"

#include "curve/batch_private.h"
#ifdef FP_ADX
#undef coord_sub
#undef coord_mul
#undef coord_sqr
#undef coord_mul_lazy
#undef coord_sub_lazy
#define coord_sub       fp_sub_adx
#define coord_mul       mul
#define coord_sqr(r, a) mul(r, a, a)
#define coord_mul_lazy  mul_lazy
#define coord_sub_lazy  fp_sub_lazy_adx
#define BATCH_ADD       g1_batch_add_adx

/* Inlined: calls and copies through memory cost a tenth. */
static inline __attribute__((always_inline)) void mul(fp *r, const fp *a, const fp *b)
{
    fp_mul_adx(r, a, b);
}
static inline __attribute__((always_inline)) void mul_lazy(fp *r, const fp *a, const fp *b)
{
    fp_mul_lazy_adx(r, a, b);
}

#include "curve/batch_impl.h"
#endif
