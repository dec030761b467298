// Products of Fr by factors known beforehand: the constants of a transform.
//
// A Montgomery product takes its factor w once and divides by 2^256: eight rows of reduction, six wide
// products each. Where w is known, multiples of it by powers of two can be kept beside it, and few rows are
// left: the upper digits of x meet a factor that is already multiplied by their weight. All of w below are
// canonical, x is any 256-bit value.
#pragma once
#include "fr.cuh"

namespace gpu
{
// w x, C[k] = w 2^(32 k + 64) mod r: 76 wide products instead of 112. The sum of the eight rows is below
// 2^35 r, and two rows of reduction add less than 2^64 r: the result is below (1 + 2^-29) r.
HD fr mul_rows_chain(const uint32_t (&C)[8][8], const fr &x)
{
    constexpr uint32_t p[8] = FR_P32;
    uint32_t E[9], O[9]; // word j of the sum is E[j], and O[j - 1]
    UNROLL for (int j = 0; j < 8; j += 2)
    {
        uint64_t u = (uint64_t)C[0][j] * x.l[0], v = (uint64_t)C[0][j + 1] * x.l[0];
        E[j] = (uint32_t)u;
        E[j + 1] = (uint32_t)(u >> 32);
        O[j] = (uint32_t)v;
        O[j + 1] = (uint32_t)(v >> 32);
    }
    E[8] = O[8] = 0;
    UNROLL for (int i = 1; i < 8; i++)
    {
        mad_row<8>(E, C[i], x.l[i]);
        E[8] = addc(E[8], HALF);
        mad_row<8>(O, C[i] + 1, x.l[i]);
        if (i > 1) // two upper limbs are below 2^31
            O[8] = addc(O[8], HALF);
    }
    uint32_t high, m = negate_word(E[0], high);
    fr_reduce_odd(O, E[0], m, high);
    O[8] = addc(O[8], QUARTER);
    fr_reduce_even(E, m);
    E[8] = addc(E[8], HALF);
    // The second row: O is even now, E from word 2 on is odd.
    uint32_t y = O[0] + E[1];
    m = negate_word(y, high);
    uint64_t top = (uint64_t)p[7] * m;
    (void)add_cc(O[0], E[1]);
    E[2] = addc_cc(E[2], y);
    E[3] = addc_cc(E[3], high);
    UNROLL for (int j = 4; j < 8; j += 2)
    {
        E[j] = madclo_cc(p[j - 1], m, E[j]);
        E[j + 1] = madchi_cc(p[j - 1], m, E[j + 1]);
    }
    E[8] = addc_cc(E[8], (uint32_t)top);
    uint32_t last = addc((uint32_t)(top >> 32), HALF);
    (void)add_cc(y, m);
    O[1] = addc_cc(O[1], 0);
    UNROLL for (int j = 2; j < 8; j += 2)
    {
        O[j] = madclo_cc(p[j], m, O[j]);
        O[j + 1] = madchi_cc(p[j], m, O[j + 1]);
    }
    O[8] = addc(O[8], QUARTER);
    fr r;
    r.l[0] = add_cc(E[2], O[1]);
    UNROLL for (int j = 1; j < 7; j++) r.l[j] = addc_cc(E[j + 2], O[j + 1]);
    r.l[7] = addc(last, O[8]);
    return r;
}
// w x / 2^256 from w and v = w / 2^128 mod r: 88 wide products. The lower half of x meets v, so that four
// rows of reduction are left. Their result is below v + (x / 2^256) w + r < 3r. Where its upper limb, or what
// is above, shows that it is at least 2^255, which is above r, r is subtracted; if not it is below 2^255 +
// 2^224, which is below 2r: in [0, 2r) both times.
HD fr mul_split_chain(const fr &v, const fr &w, const fr &x)
{
    uint32_t X[8], Y[8], top = 0, over = 0; // the next row's upper product, the carry into it added
    UNROLL for (int i = 0; i < 4; i++)
    {
        uint32_t N[8], a = x.l[i], b = x.l[i + 4];
        if (i == 0) {
            UNROLL for (int j = 0; j < 8; j += 2)
            {
                uint64_t e = (uint64_t)v.l[j] * a, o = (uint64_t)v.l[j + 1] * a;
                Y[j] = (uint32_t)e;
                Y[j + 1] = (uint32_t)(e >> 32);
                N[j] = (uint32_t)o;
                N[j + 1] = (uint32_t)(o >> 32);
            }
        } else {
            Y[0] = add_cc(Y[0], X[1]);
            UNROLL for (int j = 0; j < 6; j += 2)
            {
                N[j] = madclo_cc(v.l[j + 1], a, X[j + 2]);
                N[j + 1] = madchi_cc(v.l[j + 1], a, X[j + 3]);
            }
            N[6] = addc_cc(top, 0);
            N[7] = addc(over, HALF);
            mad_row<8>(Y, v.l, a);
            N[7] = addc(N[7], HALF);
        }
        mad_row<8>(N, w.l + 1, b); // no carry: all so far is below 2 * 2^32 r + 2^257 < 2^288
        mad_row<8>(Y, w.l, b);
        N[7] = addc(N[7], i ? QUARTER : HALF);
        uint32_t high, y = Y[0], m = negate_word(y, high);
        fr_reduce_even(Y, m);
        N[7] = addc(N[7], i ? QUARTER : HALF);
        uint64_t next = i < 3 ? (uint64_t)v.l[7] * x.l[i + 1] : 0;
        fr_reduce_odd(N, y, m, high);
        top = (uint32_t)next;
        over = addc((uint32_t)(next >> 32), HALF);
        UNROLL for (int j = 0; j < 8; j++)
        {
            X[j] = Y[j];
            Y[j] = N[j];
        }
    }
    over += Y[7] >> 31;
    fr r;
    r.l[0] = add_cc(Y[0], X[1]);
    UNROLL for (int j = 1; j < 7; j++) r.l[j] = addc_cc(Y[j], X[j + 1]);
    r.l[7] = addc(Y[7], 0);
    subtract_r_if(r, over);
    return r;
}
// Lets nothing be done with x before y is known. The assembler would mix products until it has to keep
// carries and limbs elsewhere; one at a time leaves it enough to do.
HD void after(fr &x, const fr &y)
{
    x.l[0] |= y.l[0] & HIDDEN_ZERO;
}
// v for w
HD fr lower_factor(const fr &w)
{
    fr e;
    set_zero(e);
    e.l[4] = 1;
    return reduce(mul(w, e));
}
#ifdef __CUDA_ARCH__
HD fr mul_rows(const uint32_t (&C)[8][8], const fr &x)
{
    return mul_rows_chain(C, x);
}
HD fr mul_split(const fr &v, const fr &w, const fr &x)
{
    return mul_split_chain(v, w, x);
}
#else
// On the host: by 64-bit limbs. Row 6 is the Montgomery form.
HD fr mul_rows(const uint32_t (&C)[8][8], const fr &x)
{
    return mul(fr_const(C[6]), x);
}
HD fr mul_split(const fr &v_, const fr &w_, const fr &x_)
{
    const uint64_t p[4] = FR_P64;
    uint64_t v[4], w[4], x[4], t[6] = {0};
    memcpy(v, v_.l, 32);
    memcpy(w, w_.l, 32);
    memcpy(x, x_.l, 32);
    auto add_product = [&](const uint64_t *a, uint64_t b) {
        unsigned __int128 c = 0;
        for (int j = 0; j < 4; j++) {
            c += (unsigned __int128)a[j] * b + t[j];
            t[j] = (uint64_t)c;
            c >>= 64;
        }
        c += t[4];
        t[4] = (uint64_t)c;
        t[5] += (uint64_t)(c >> 64);
    };
    for (int i = 0; i < 2; i++) {
        add_product(v, x[i]);
        add_product(w, x[i + 2]);
        add_product(p, t[0] * 0xfffffffeffffffffull);
        for (int j = 0; j < 5; j++)
            t[j] = t[j + 1];
        t[5] = 0;
    }
    fr r;
    memcpy(r.l, t, 32);
    subtract_r_if(r, HALF + ((uint32_t)t[4] | r.l[7] >> 31));
    return r;
}
#endif
} // namespace gpu
