/* Oracles: bit by bit, one complete addition at a time. */
#include "msm/msm.h"

#define REF(GROUP, AFFINE, JACOBIAN, DOUBLE)                                                                 \
    void msm_##GROUP##_ref(JACOBIAN *out, const AFFINE *bases, const uint32_t *index, const scalar *k,       \
                           size_t n)                                                                         \
    {                                                                                                        \
        JACOBIAN sum;                                                                                        \
        memset(&sum, 0, sizeof sum);                                                                         \
        for (int bit = 255; bit >= 0; bit--) {                                                               \
            DOUBLE(&sum, &sum);                                                                              \
            for (size_t i = 0; i < n; i++)                                                                   \
                if (k[i].l[bit / 64] >> (bit % 64) & 1)                                                      \
                    GROUP##_add_affine(&sum, &sum, &bases[index ? index[i] : i]);                            \
        }                                                                                                    \
        *out = sum;                                                                                          \
    }

REF(g1, g1_affine, g1, blst_p1_double)
REF(g2, g2_affine, g2, blst_p2_double)
