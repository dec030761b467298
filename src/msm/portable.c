#include "msm/msm_private.h"
#define PORTABLE(GROUP, AFFINE, JACOBIAN)                                                                    \
    cuzk_status msm_##GROUP##_portable(JACOBIAN *out, const AFFINE *bases, const uint32_t *index,            \
                                       const scalar *k, size_t n, pool *p, const cancel_token *cancel,       \
                                       cuzk_error *err)                                                      \
    {                                                                                                        \
        (void)p;                                                                                             \
        (void)cancel;                                                                                        \
        (void)err;                                                                                           \
        msm_##GROUP##_ref(out, bases, index, k, n);                                                          \
        return CUZK_OK;                                                                                      \
    }                                                                                                        \
    cuzk_status msm_##GROUP##_subset_portable(JACOBIAN *out, const AFFINE *bases, const uint64_t *bits,      \
                                              size_t n, pool *p, const cancel_token *cancel,                 \
                                              cuzk_error *err)                                               \
    {                                                                                                        \
        (void)p;                                                                                             \
        (void)cancel;                                                                                        \
        (void)err;                                                                                           \
        memset(out, 0, sizeof *out);                                                                         \
        for (size_t i = 0; i < n; i++)                                                                       \
            if (bits[i / 64] >> (i % 64) & 1)                                                                \
                GROUP##_add_affine(out, out, &bases[i]);                                                     \
        return CUZK_OK;                                                                                      \
    }
PORTABLE(g1, g1_affine, g1)
PORTABLE(g2, g2_affine, g2)
