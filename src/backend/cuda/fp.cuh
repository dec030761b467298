// The base field of BLS12-381: twelve 32-bit limbs, Montgomery radix 2^384, values in [0, p).
//
// A product keeps two accumulators, for limbs at even and at odd positions, so that every partial product is
// one wide multiply-add with a carry chain along its own accumulator; reduction rows are interleaved. This is
// 0.98 of what the multiplier pipe can do. Karatsuba and the FP64 pipe were measured and are not faster
// inside the sums.
#pragma once
#include "carry.cuh"
#include "constants.cuh"

namespace gpu
{
struct alignas(16) fp {
    uint32_t l[12];
    static constexpr int QUADS = 3; // 16-byte words
};

HD void set_zero(fp &r)
{
    UNROLL for (int i = 0; i < 12; i++) r.l[i] = 0;
}
HD fp fp_const(const uint32_t (&c)[12])
{
    fp r;
    UNROLL for (int i = 0; i < 12; i++) r.l[i] = c[i];
    return r;
}
HD void set_one(fp &r)
{
    constexpr uint32_t c[12] = FP_ONE;
    r = fp_const(c);
}
HD bool is_zero(const fp &a)
{
    uint32_t t = 0;
    UNROLL for (int i = 0; i < 12; i++) t |= a.l[i];
    return t == 0;
}
HD bool equal(const fp &a, const fp &b)
{
    uint32_t t = 0;
    UNROLL for (int i = 0; i < 12; i++) t |= a.l[i] ^ b.l[i];
    return t == 0;
}
// [0, 2p) -> [0, p)
HD fp reduce_once(const fp &a)
{
    constexpr uint32_t p[12] = FP_P32;
    fp t;
    t.l[0] = sub_cc(a.l[0], p[0]);
    UNROLL for (int i = 1; i < 12; i++) t.l[i] = subc_cc(a.l[i], p[i]);
    uint32_t borrow = subc(0, 0);
    UNROLL for (int i = 0; i < 12; i++) t.l[i] = borrow ? a.l[i] : t.l[i];
    return t;
}
HD fp add(const fp &a, const fp &b)
{
    fp t;
    t.l[0] = add_cc(a.l[0], b.l[0]);
    UNROLL for (int i = 1; i < 11; i++) t.l[i] = addc_cc(a.l[i], b.l[i]);
    t.l[11] = addc(a.l[11], b.l[11]);
    return reduce_once(t);
}
// a + (p & mask), modulo 2^384
HD fp add_masked_p(const fp &a, uint32_t mask)
{
    constexpr uint32_t p[12] = FP_P32;
    fp t;
    t.l[0] = add_cc(a.l[0], p[0] & mask);
    UNROLL for (int i = 1; i < 11; i++) t.l[i] = addc_cc(a.l[i], p[i] & mask);
    t.l[11] = addc(a.l[11], p[11] & mask);
    return t;
}
HD fp sub(const fp &a, const fp &b)
{
    fp t;
    t.l[0] = sub_cc(a.l[0], b.l[0]);
    UNROLL for (int i = 1; i < 12; i++) t.l[i] = subc_cc(a.l[i], b.l[i]);
    uint32_t borrow = subc(0, 0);
    return add_masked_p(t, borrow);
}
HD fp dbl(const fp &a)
{
    return add(a, a);
}
HD fp neg(const fp &a)
{
    constexpr uint32_t p[12] = FP_P32;
    fp t;
    t.l[0] = sub_cc(p[0], a.l[0]);
    UNROLL for (int i = 1; i < 11; i++) t.l[i] = subc_cc(p[i], a.l[i]);
    t.l[11] = subc(p[11], a.l[11]);
    return is_zero(a) ? a : t;
}

// The device's product: 12 rows of a * b[i], a reduction row after each. X holds even positions, Y odd ones.
HD fp mul_chain(const fp &a, const fp &b)
{
    constexpr uint32_t p[13] = FP_P32; // p[12] = 0
    uint32_t X[12], Y[12];
    UNROLL for (int j = 0; j < 12; j += 2)
    { // plain 64-bit products where nothing is added: one instruction each
        uint64_t u = (uint64_t)a.l[j] * b.l[0], v = (uint64_t)a.l[j + 1] * b.l[0];
        X[j] = (uint32_t)u;
        X[j + 1] = (uint32_t)(u >> 32);
        Y[j] = (uint32_t)v;
        Y[j + 1] = (uint32_t)(v >> 32);
    }
    uint32_t m = X[0] * FP_NINV32;
    mad_row<12>(Y, p + 1, m);
    mad_row<12>(X, p, m);
    Y[11] = addc(Y[11], 0);
    UNROLL for (int i = 1; i < 12; i++)
    {
        uint32_t N[12], bi = b.l[i];
        uint64_t top = (uint64_t)a.l[11] * bi;
        Y[0] = add_cc(Y[0], X[1]);
        UNROLL for (int j = 0; j < 10; j += 2)
        {
            N[j] = madclo_cc(a.l[j + 1], bi, X[j + 2]);
            N[j + 1] = madchi_cc(a.l[j + 1], bi, X[j + 3]);
        }
        N[10] = addc_cc((uint32_t)top, 0);
        N[11] = addc((uint32_t)(top >> 32), 0);
        mad_row<12>(Y, a.l, bi);
        N[11] = addc(N[11], 0);
        m = Y[0] * FP_NINV32;
        mad_row<12>(N, p + 1, m);
        mad_row<12>(Y, p, m);
        N[11] = addc(N[11], 0);
        UNROLL for (int j = 0; j < 12; j++)
        {
            X[j] = Y[j];
            Y[j] = N[j];
        }
    }
    fp r;
    r.l[0] = add_cc(Y[0], X[1]);
    UNROLL for (int j = 1; j < 11; j++) r.l[j] = addc_cc(Y[j], X[j + 1]);
    r.l[11] = addc(Y[11], 0);
    return reduce_once(r);
}

// T / 2^384 mod p for T < p 2^384
HD fp redc_chain(const uint32_t (&T)[24])
{
    constexpr uint32_t p[13] = FP_P32;
    uint32_t X[12], Y[12];
    UNROLL for (int k = 0; k < 12; k++) X[k] = T[k];
    uint32_t m = X[0] * FP_NINV32;
    UNROLL for (int j = 0; j < 12; j += 2)
    {
        uint64_t u = (uint64_t)p[j + 1] * m;
        Y[j] = (uint32_t)u;
        Y[j + 1] = (uint32_t)(u >> 32);
    }
    mad_row<12>(X, p, m);
    Y[11] = addc(Y[11], 0);
    UNROLL for (int i = 1; i < 12; i++)
    {
        uint32_t N[12];
        m = (Y[0] + X[1]) * FP_NINV32;
        uint64_t top = (uint64_t)p[11] * m;
        Y[0] = add_cc(Y[0], X[1]);
        UNROLL for (int j = 0; j < 10; j += 2)
        {
            N[j] = madclo_cc(p[j + 1], m, X[j + 2]);
            N[j + 1] = madchi_cc(p[j + 1], m, X[j + 3]);
        }
        N[10] = addc_cc((uint32_t)top, 0);
        N[11] = addc((uint32_t)(top >> 32), 0);
        mad_row<12>(Y, p, m);
        N[11] = addc(N[11], 0);
        UNROLL for (int j = 0; j < 12; j++)
        {
            X[j] = Y[j];
            Y[j] = N[j];
        }
    }
    fp r;
    r.l[0] = add_cc(Y[0], X[1]);
    UNROLL for (int j = 1; j < 11; j++) r.l[j] = addc_cc(Y[j], X[j + 1]);
    r.l[11] = addc(Y[11], 0);
    r.l[0] = add_cc(r.l[0], T[12]);
    UNROLL for (int j = 1; j < 11; j++) r.l[j] = addc_cc(r.l[j], T[12 + j]);
    r.l[11] = addc(r.l[11], T[23]);
    return reduce_once(r);
}

// A product or a sum of products before its reduction.
struct alignas(16) fp_wide {
    uint32_t l[24];
};
// a b without reduction, for any a, b below 2^384.
HD fp_wide wide_chain(const fp &a, const fp &b)
{
    uint32_t E[24], O[24]; // products at even and at odd positions
    UNROLL for (int k = 12; k < 24; k++) E[k] = O[k] = 0;
    UNROLL for (int j = 0; j < 12; j += 2)
    {
        uint64_t u = (uint64_t)a.l[j] * b.l[0], v = (uint64_t)a.l[j + 1] * b.l[0];
        E[j] = (uint32_t)u;
        E[j + 1] = (uint32_t)(u >> 32);
        O[j + 1] = (uint32_t)v;
        O[j + 2] = (uint32_t)(v >> 32);
    }
    O[13] = 0;
    UNROLL for (int i = 0; i < 12; i += 2)
    {
        if (i) {
            mad_row<12>(E + i, a.l, b.l[i]);
            E[i + 12] = addc(E[i + 12], 0);
            mad_row<12>(O + i + 1, a.l + 1, b.l[i]);
            O[i + 13] = addc(O[i + 13], 0);
        }
        mad_row<12>(O + i + 1, a.l, b.l[i + 1]);
        O[i + 13] = addc(O[i + 13], 0);
        mad_row<12>(E + i + 2, a.l + 1, b.l[i + 1]);
        if (i < 10)
            E[i + 14] = addc(E[i + 14], 0);
    }
    fp_wide t;
    t.l[0] = E[0];
    t.l[1] = add_cc(E[1], O[1]);
    UNROLL for (int k = 2; k < 23; k++) t.l[k] = addc_cc(E[k], O[k]);
    t.l[23] = addc(E[23], O[23]);
    return t;
}
// a - b modulo 2^768; the borrow as 0 or -1
HD uint32_t wide_sub(fp_wide &a, const fp_wide &b)
{
    a.l[0] = sub_cc(a.l[0], b.l[0]);
    UNROLL for (int i = 1; i < 24; i++) a.l[i] = subc_cc(a.l[i], b.l[i]);
    return subc(0, 0);
}
// a + b below 2p, not reduced
HD fp add_lazy(const fp &a, const fp &b)
{
    fp t;
    t.l[0] = add_cc(a.l[0], b.l[0]);
    UNROLL for (int i = 1; i < 11; i++) t.l[i] = addc_cc(a.l[i], b.l[i]);
    t.l[11] = addc(a.l[11], b.l[11]);
    return t;
}

// One row of the triangle of a square: L[i+j .. ] += a[i] a[j] for j = i + first, i + first + 2, ...; lanes
// that are still empty take the plain product.
HD void square_row(uint32_t (&L)[24], const uint32_t *a, int i, int first)
{
    int carry_at = 0;
    UNROLL for (int j = i + first; j < 12; j += 2)
    {
        int q = i + j;
        if (i == 0 || j == 11) {
            uint64_t u = (uint64_t)a[i] * a[j];
            if (i == 0) {
                L[q] = (uint32_t)u;
                L[q + 1] = (uint32_t)(u >> 32);
            } else {
                L[q] = j != i + first ? addc_cc((uint32_t)u, L[q]) : add_cc((uint32_t)u, L[q]);
                L[q + 1] = addc((uint32_t)(u >> 32), 0);
            }
            carry_at = 0;
        } else {
            L[q] = j == i + first ? madlo_cc(a[i], a[j], L[q]) : madclo_cc(a[i], a[j], L[q]);
            L[q + 1] = madchi_cc(a[i], a[j], L[q + 1]);
            carry_at = q + 2;
        }
    }
    if (carry_at && carry_at < 24)
        L[carry_at] = addc(L[carry_at], 0);
}
// 66 products off the diagonal, doubled, 12 squares, then the reduction
HD fp sqr_chain(const fp &x)
{
    const uint32_t *a = x.l;
    uint32_t E[24], O[24], T[24];
    UNROLL for (int k = 0; k < 24; k++) E[k] = O[k] = 0;
    UNROLL for (int i = 0; i < 11; i++)
    {
        square_row(O, a, i, 1);
        square_row(E, a, i, 2);
    }
    T[0] = 0;
    T[1] = add_cc(E[1], O[1]);
    UNROLL for (int k = 2; k < 23; k++) T[k] = addc_cc(E[k], O[k]);
    T[23] = addc(E[23], O[23]);
    T[1] = add_cc(T[1], T[1]);
    UNROLL for (int k = 2; k < 23; k++) T[k] = addc_cc(T[k], T[k]);
    T[23] = addc(T[23], T[23]);
    T[0] = madlo_cc(a[0], a[0], T[0]);
    T[1] = madchi_cc(a[0], a[0], T[1]);
    UNROLL for (int i = 1; i < 12; i++)
    {
        T[2 * i] = madclo_cc(a[i], a[i], T[2 * i]);
        T[2 * i + 1] = madchi_cc(a[i], a[i], T[2 * i + 1]);
    }
    return redc_chain(T);
}

#ifdef __CUDA_ARCH__
HD fp mul(const fp &a, const fp &b)
{
    return mul_chain(a, b);
}
HD fp sqr(const fp &a)
{
    return sqr_chain(a);
}
#else
// On the host: six 64-bit limbs, operand scanning.
HD fp mul(const fp &a_, const fp &b_)
{
    const uint64_t p[6] = FP_P64;
    uint64_t a[6], b[6], t[8] = {0};
    memcpy(a, a_.l, 48);
    memcpy(b, b_.l, 48);
    for (int i = 0; i < 6; i++) {
        unsigned __int128 c = 0;
        for (int j = 0; j < 6; j++) {
            c += (unsigned __int128)a[j] * b[i] + t[j];
            t[j] = (uint64_t)c;
            c >>= 64;
        }
        c += t[6];
        t[6] = (uint64_t)c;
        t[7] = (uint64_t)(c >> 64);
        uint64_t m = t[0] * FP_NINV64;
        c = (unsigned __int128)m * p[0] + t[0];
        c >>= 64;
        for (int j = 1; j < 6; j++) {
            c += (unsigned __int128)m * p[j] + t[j];
            t[j - 1] = (uint64_t)c;
            c >>= 64;
        }
        c += t[6];
        t[5] = (uint64_t)c;
        t[6] = t[7] + (uint64_t)(c >> 64);
    }
    fp r;
    memcpy(r.l, t, 48);
    return reduce_once(r);
}
HD fp sqr(const fp &a)
{
    return mul(a, a);
}
#endif

// Out of and into Montgomery form.
HD fp from_mont(const fp &a)
{
    fp one;
    set_zero(one);
    one.l[0] = 1;
    return mul(a, one);
}
HD fp to_mont(const fp &a)
{
    constexpr uint32_t c[12] = FP_R2;
    return mul(a, fp_const(c));
}
HD bool is_canonical(const fp &a)
{
    constexpr uint32_t p[12] = FP_P32;
    (void)sub_cc(a.l[0], p[0]);
    UNROLL for (int i = 1; i < 12; i++)(void) subc_cc(a.l[i], p[i]);
    return subc(0, 0) != 0;
}
} // namespace gpu
