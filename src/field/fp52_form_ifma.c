/* Both forms of the products of Fp against the clock. */
#include "base/clock.h"
#include "field/fp52.h"
#include "field/fp52_form.h"

FP52_INLINE void product(fp52 *r, const fp52 *a, const fp52 *b, int halves)
{
    fp52_wide t;
    fp52 x;
    fp52_wide_start(&t, NULL, FP52_FULL);
    if (halves)
        fp52_wide_by_halves(&t, a, b);
    else
        fp52_wide_by_rows(&t, a, b);
    fp52_reduce(&x, &t, FP52_FULL, halves, NULL, NULL, 0);
    if (halves)
        fp52_carry(&x);
    else
        fp52_carry_loose(&x);
    *r = x;
}

/* As the sums use them: out of line, and independent of each other. */
static __attribute__((noinline)) void by_rows(fp52 *r, const fp52 *a, const fp52 *b)
{
    product(r, a, b, 0);
}
static __attribute__((noinline)) void by_halves(fp52 *r, const fp52 *a, const fp52 *b)
{
    product(r, a, b, 1);
}

/* Nanoseconds of 64 products. */
static uint64_t took(void (*mul)(fp52 *, const fp52 *, const fp52 *), fp52 v[10])
{
    uint64_t start = clock_ns();
    for (int i = 0; i < 64; i++)
        mul(&v[2 + i % 8], &v[0], &v[1]);
    return clock_ns() - start;
}

int fp52_halves_pay_ifma(void)
{
    fp52 v[10];
    uint64_t rows = UINT64_MAX, halves = UINT64_MAX;
    fp52_set1(&v[0], FP52_ONE);
    fp52_set1(&v[1], FP52_INVERSE);
    for (int i = 0; i < 12; i++) {
        uint64_t r = took(by_rows, v), h = took(by_halves, v);
        rows = r < rows ? r : rows;
        halves = h < halves ? h : halves;
    }
    return halves < rows;
}
