#include "base/mem.h"
#include "curve/curve.h"
#define FIXED(GROUP)                                                                                         \
    cuzk_status GROUP##_fixed_base_many(GROUP##_affine *r, const GROUP##_affine *base, const fr *k,          \
                                        size_t n, pool *p, cuzk_error *err)                                  \
    {                                                                                                        \
        GROUP t, b;                                                                                          \
        (void)p;                                                                                             \
        (void)err;                                                                                           \
        scalar s;                                                                                            \
        GROUP##_from_affine(&b, base);                                                                       \
        for (size_t i = 0; i < n; i++) {                                                                     \
            fr_to_scalar(&s, &k[i]);                                                                         \
            GROUP##_mul(&t, &b, &s);                                                                         \
            GROUP##_to_affine(&r[i], &t);                                                                    \
        }                                                                                                    \
        return CUZK_OK;                                                                                      \
    }
FIXED(g1)
FIXED(g2)
