/* Points outside the subgroup among many inside, alone and such that cancel. */
#include "base/mem.h"
#include "curve/subgroup.h"
#include "support/math.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const size_t sizes[] = {0, 1, 255, 256, 257, 2047, 2048, 2049, 4096, 5000, 32768};

/* Points of the curve outside the subgroup, by their x. */
static void outside_g1(g1_affine *p, unsigned number)
{
    uint8_t x[48] = {0x80};
    for (unsigned seen = 0;; x[47]++) {
        if (blst_p1_uncompress(p, x) == BLST_SUCCESS && !blst_p1_affine_in_g1(p) && seen++ == number)
            return;
    }
}

static void outside_g2(g2_affine *p, unsigned number)
{
    uint8_t x[96] = {0x80};
    for (unsigned seen = 0;; x[95]++) {
        if (blst_p2_uncompress(p, x) == BLST_SUCCESS && !blst_p2_affine_in_g2(p) && seen++ == number)
            return;
    }
}

#define CASES(G, LARGEST)                                                                                    \
    static void alone_##G(void **state)                                                                      \
    {                                                                                                        \
        chacha_rng rng;                                                                                      \
        (void)state;                                                                                         \
        math_rng(&rng, 70);                                                                                  \
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && sizes[i] <= LARGEST; i++) {               \
            size_t n = sizes[i];                                                                             \
            G##_affine *p = calloc(n + 1, sizeof(*p)), bad;                                                  \
            void *scratch = malloc(G##_subgroup_scratch(n));                                                 \
            math_##G##_points(p, n, &rng);                                                                   \
            if (n > 3)                                                                                       \
                memset(&p[2], 0, sizeof(p[2])); /* infinity belongs to it */                                 \
            assert_int_equal(G##_subgroup_find(p, n, scratch, &rng), -1);                                    \
            for (unsigned k = 0; n && k < 4; k++) {                                                          \
                size_t at = k == 0 ? 0 : k == 1 ? n - 1 : chacha_rng_u32(&rng) % n;                          \
                G##_affine kept = p[at];                                                                     \
                outside_##G(&bad, k);                                                                        \
                p[at] = bad;                                                                                 \
                assert_int_equal(G##_subgroup_find(p, n, scratch, &rng), at);                                \
                p[at] = kept;                                                                                \
            }                                                                                                \
            free(p), free(scratch);                                                                          \
        }                                                                                                    \
    }                                                                                                        \
    /* P and -P, P three times over, everything outside: no choice of places helps. */                       \
    static void several_##G(void **state)                                                                    \
    {                                                                                                        \
        enum { N = 4096 };                                                                                   \
        chacha_rng rng;                                                                                      \
        G##_affine *p = calloc(N, sizeof(*p)), bad;                                                          \
        void *scratch = malloc(G##_subgroup_scratch(N));                                                     \
        (void)state;                                                                                         \
        math_rng(&rng, 71);                                                                                  \
        math_##G##_points(p, N, &rng);                                                                       \
        outside_##G(&bad, 0);                                                                                \
        for (int trial = 0; trial < 40; trial++) {                                                           \
            size_t at = chacha_rng_u32(&rng) % (N / 2), other = N / 2 + chacha_rng_u32(&rng) % (N / 2);      \
            G##_affine first = p[at], second = p[other];                                                     \
            p[at] = bad;                                                                                     \
            G##_affine_neg(&p[other], &bad);                                                                 \
            ptrdiff_t found = G##_subgroup_find(p, N, scratch, &rng);                                        \
            assert_true(found == (ptrdiff_t)at || found == (ptrdiff_t)other);                                \
            p[at] = first, p[other] = second;                                                                \
        }                                                                                                    \
        for (size_t i = 0; i < N; i++) {                                                                     \
            p[i] = bad;                                                                                      \
            if (i % 2)                                                                                       \
                G##_affine_neg(&p[i], &bad);                                                                 \
        }                                                                                                    \
        assert_true(G##_subgroup_find(p, N, scratch, &rng) >= 0);                                            \
        free(p), free(scratch);                                                                              \
    }
CASES(g1, 32768)
CASES(g2, 5000)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_g1),
        cmocka_unit_test(several_g1),
        cmocka_unit_test(alone_g2),
        cmocka_unit_test(several_g2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
