#include "support/math.h"
#include "base/mem.h"

void math_rng(chacha_rng *rng, uint64_t seed)
{
    uint8_t key[32] = "math";
    memcpy(key + 8, &seed, sizeof seed);
    chacha_rng_init(rng, key, 8);
}

void math_fr(fr *r, chacha_rng *rng)
{
    uint8_t b[32];
    chacha_rng_bytes(rng, b, sizeof b);
    fr_from_bytes_reduce(r, b);
}

void math_scalar(scalar *r, chacha_rng *rng)
{
    fr t;
    math_fr(&t, rng);
    fr_to_scalar(r, &t);
}

#define POINTS(GROUP, GENERATOR)                                                                             \
    void math_##GROUP##_points(GROUP##_affine *r, size_t n, chacha_rng *rng)                                 \
    {                                                                                                        \
        GROUP at, step[16], *all = mem_alloc((n ? n : 1) * sizeof *all);                                     \
        scalar k;                                                                                            \
        math_scalar(&k, rng);                                                                                \
        GROUP##_mul(&at, GENERATOR(), &k);                                                                   \
        for (int i = 0; i < 16; i++) {                                                                       \
            math_scalar(&k, rng);                                                                            \
            GROUP##_mul(&step[i], GENERATOR(), &k);                                                          \
        }                                                                                                    \
        for (size_t i = 0; i < n; i++) {                                                                     \
            GROUP##_add(&at, &at, &step[chacha_rng_u32(rng) % 16]);                                          \
            all[i] = at;                                                                                     \
        }                                                                                                    \
        GROUP##_batch_to_affine(r, all, n);                                                                  \
        mem_free(all);                                                                                       \
    }

POINTS(g1, blst_p1_generator)
POINTS(g2, blst_p2_generator)
