/* Products of Fp by halves against those by rows: limbs and carries at their edges, factors of all sizes. */
#include "base/cpu.h"
#include "field/fp52.h"
#include "support/math.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static chacha_rng rng;

#define LIMB (((uint64_t)1 << 52) - 1)

/* Strict limbs, the last one below 2^top_bits: random, or 0, 1 or all ones, which makes sums of halves carry
 * from limb to limb and out of the last one. */
static void pick(fp52 *v, unsigned top_bits)
{
    for (int i = 0; i < 8; i++)
        for (int l = 0; l < 8; l++) {
            uint64_t most = i < 7 ? LIMB : ((uint64_t)1 << top_bits) - 1;
            uint32_t how = chacha_rng_u32(&rng) % 8;
            ((uint64_t *)&v->l[i])[l] = how == 0   ? 0
                                        : how == 1 ? 1
                                        : how < 5  ? most
                                                   : chacha_rng_u64(&rng) & most;
        }
}

static unsigned carries(const fp52 *v, int lane)
{
    unsigned __int128 sum = 0;
    for (int i = 0; i < 4; i++)
        sum = (sum >> 52) + ((const uint64_t *)&v->l[i])[lane] + ((const uint64_t *)&v->l[i + 4])[lane];
    return (unsigned)(sum >> 52);
}

/* Two results that are the same modulo p. */
static void assert_same(const fp52 r[2])
{
    for (int l = 0; l < 8; l++) {
        fp have[2];
        for (int form = 0; form < 2; form++) {
            uint64_t limb[8];
            for (int i = 0; i < 8; i++)
                limb[i] = (uint64_t)r[form].l[i][l];
            fp52_canonical(&have[form], limb);
        }
        assert_memory_equal(&have[0], &have[1], sizeof have[0]);
    }
}

/* seen[ca][cb]: lanes in which the sums of the halves of a and b carried out. */
static void compare(unsigned a_bits, unsigned b_bits, int limbs, const uint64_t start[8], size_t seen[2][2])
{
    fp52 a, b, r[2];
    fp52_wide t[2];
    pick(&a, a_bits);
    pick(&b, b_bits);
    for (int form = 0; form < 2; form++) {
        fp52_wide_start(&t[form], start, limbs);
        if (form)
            fp52_wide_by_halves(&t[form], &a, &b);
        else
            fp52_wide_by_rows(&t[form], &a, &b);
        fp52_reduce(&r[form], &t[form], limbs, form, NULL, NULL, 0);
        fp52_carry(&r[form]);
    }
    assert_same(r);
    for (int l = 0; l < 8; l++)
        seen[carries(&a, l)][carries(&b, l)]++;
}

static void halves_as_rows(void **state)
{
    size_t seen[2][2] = {{0}};
    (void)state;
    for (int round = 0; round < 3000; round++) {
        compare(16, 46, FP52_FULL, NULL, seen);
        compare(46, 16, FP52_FULL, FP52_Y_ADD, seen);
        compare(30, 36, FP52_FULL, FP52_Y_ADD, seen);
        compare(22, 22, FP52_SHORT, NULL, seen);
        compare(1, 51, FP52_FULL, NULL, seen);
    }
    for (int i = 0; i < 4; i++)
        assert_true(seen[i >> 1][i & 1] > 1000);
}

/* Columns of which the low ones are at their edges: all that a reduction replaces, at its most and least. The
 * result is not negative, and below 9 p. */
static void low_limbs(void **state)
{
    (void)state;
    for (int round = 0; round < 3000; round++) {
        fp52 low, r[2];
        fp52_wide t[2];
        pick(&low, 52);
        for (int form = 0; form < 2; form++) {
            fp52_wide_start(&t[form], NULL, FP52_FULL);
            for (int i = 0; i < 8; i++) {
                t[form].col[i] = low.l[i];
                if (i < 7)
                    fp52_wide_digit(&t[form], i);
            }
            fp52_reduce(&r[form], &t[form], FP52_FULL, form, NULL, NULL, 0);
            fp52_carry(&r[form]);
            for (int l = 0; l < 8; l++)
                assert_in_range(((const uint64_t *)&r[form].l[7])[l], 0, FP52_MULTIPLES[8 * 9 + 7]);
        }
        assert_same(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_as_rows),
        cmocka_unit_test(low_limbs),
    };
    if (!cpu_get()->ifma) {
        puts("skipped: this processor has no AVX-512 IFMA");
        return 0;
    }
    math_rng(&rng, 52);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
