// The scalar field of BLS12-381: eight 32-bit limbs, Montgomery radix 2^256.
//
// "Lazy" values lie in [0, 2r), which fits 256 bits; add, sub and mul keep to that range, reduce() makes them
// canonical. r = 1 mod 2^32 and its second limb is 2^32 - 1, so that a reduction row needs no product for
// either: 112 wide products instead of 128.
#pragma once
#include "carry.cuh"
#include "constants.cuh"

namespace gpu
{
struct alignas(16) fr {
    uint32_t l[8];
};
HD fr fr_const(const uint32_t (&c)[8])
{
    fr r;
    UNROLL for (int i = 0; i < 8; i++) r.l[i] = c[i];
    return r;
}
HD void set_zero(fr &r)
{
    UNROLL for (int i = 0; i < 8; i++) r.l[i] = 0;
}
HD void set_one(fr &r)
{
    constexpr uint32_t c[8] = FR_ONE;
    r = fr_const(c);
}
HD bool equal(const fr &a, const fr &b)
{
    uint32_t t = 0;
    UNROLL for (int i = 0; i < 8; i++) t |= a.l[i] ^ b.l[i];
    return t == 0;
}
HD bool is_zero(const fr &a)
{
    uint32_t t = 0;
    UNROLL for (int i = 0; i < 8; i++) t |= a.l[i];
    return t == 0;
}
// [0, 2r) -> [0, r)
HD fr reduce(const fr &a)
{
    constexpr uint32_t p[8] = FR_P32;
    fr t;
    t.l[0] = sub_cc(a.l[0], p[0]);
    UNROLL for (int i = 1; i < 8; i++) t.l[i] = subc_cc(a.l[i], p[i]);
    uint32_t borrow = subc(0, 0);
    UNROLL for (int i = 0; i < 8; i++) t.l[i] = borrow ? a.l[i] : t.l[i];
    return t;
}
HD fr add(const fr &a, const fr &b)
{
    constexpr uint32_t p[8] = FR_2P32;
    fr s, t;
    s.l[0] = add_cc(a.l[0], b.l[0]);
    UNROLL for (int i = 1; i < 8; i++) s.l[i] = addc_cc(a.l[i], b.l[i]);
    uint32_t c = addc(0, 0);
    t.l[0] = sub_cc(s.l[0], p[0]);
    UNROLL for (int i = 1; i < 8; i++) t.l[i] = subc_cc(s.l[i], p[i]);
    c = subc(c, 0);
    UNROLL for (int i = 0; i < 8; i++) t.l[i] = c ? s.l[i] : t.l[i];
    return t;
}
#ifdef __CUDACC__
// 0 that the assembler cannot see: it would split products with a value that it knows to be a negation, and
// lose the fused wide multiply-add.
static __device__ __constant__ uint32_t fr_zero = 0;
#endif
#ifdef __CUDA_ARCH__
#define HIDDEN_ZERO fr_zero
#else
#define HIDDEN_ZERO 0u
#endif
// A carry is added together with one of these. The multiplier is what is scarce, and the assembler likes to
// have it add a carry to a single register, but it cannot do so with a constant. What is added to one word
// comes to 0 modulo 2^32 before that word's own carry matters.
constexpr uint32_t HALF = 0x80000000u, QUARTER = 0x40000000u;
// a += p or a -= p for constants p, where with is not HALF. Predicated on the device: a mask would take eight
// more instructions.
#ifdef __CUDA_ARCH__
#define FR_IF(name, op, P)                                                                                   \
    HD void name(fr &a, uint32_t with)                                                                       \
    {                                                                                                        \
        constexpr uint32_t p[8] = P;                                                                         \
        asm volatile("{\n\t.reg .pred q;\n\tsetp.ne.u32 q, %8, %17;\n\t"                                     \
                     "@q " op ".cc.u32 %0, %0, %9;\n\t@q " op "c.cc.u32 %1, %1, %10;\n\t"                    \
                     "@q " op "c.cc.u32 %2, %2, %11;\n\t@q " op "c.cc.u32 %3, %3, %12;\n\t"                  \
                     "@q " op "c.cc.u32 %4, %4, %13;\n\t@q " op "c.cc.u32 %5, %5, %14;\n\t"                  \
                     "@q " op "c.cc.u32 %6, %6, %15;\n\t@q " op "c.u32 %7, %7, %16;\n\t}"                    \
                     : "+r"(a.l[0]), "+r"(a.l[1]), "+r"(a.l[2]), "+r"(a.l[3]), "+r"(a.l[4]), "+r"(a.l[5]),   \
                       "+r"(a.l[6]), "+r"(a.l[7])                                                            \
                     : "r"(with), "n"(p[0]), "n"(p[1]), "n"(p[2]), "n"(p[3]), "n"(p[4]), "n"(p[5]),          \
                       "n"(p[6]), "n"(p[7]), "n"(HALF));                                                     \
    }
FR_IF(add_2r_if, "add", FR_2P32)
FR_IF(subtract_r_if, "sub", FR_P32)
#undef FR_IF
#else
HD void add_2r_if(fr &a, uint32_t with)
{
    constexpr uint32_t p[8] = FR_2P32;
    a.l[0] = add_cc(a.l[0], with != HALF ? p[0] : 0);
    for (int i = 1; i < 8; i++)
        a.l[i] = addc_cc(a.l[i], with != HALF ? p[i] : 0);
}
HD void subtract_r_if(fr &a, uint32_t with)
{
    constexpr uint32_t p[8] = FR_P32;
    a.l[0] = sub_cc(a.l[0], with != HALF ? p[0] : 0);
    for (int i = 1; i < 8; i++)
        a.l[i] = subc_cc(a.l[i], with != HALF ? p[i] : 0);
}
#endif
HD fr sub(const fr &a, const fr &b)
{
    fr t;
    t.l[0] = sub_cc(a.l[0], b.l[0]);
    UNROLL for (int i = 1; i < 8; i++) t.l[i] = subc_cc(a.l[i], b.l[i]);
    add_2r_if(t, subc(HALF, 0));
    return t;
}
// m = -y modulo 2^32, and high = m - 1, or 0 for y = 0. Two additions: the multiplier is what is scarce, and
// the assembler likes to give it comparisons and selections.
HD uint32_t negate_word(uint32_t y, uint32_t &high)
{
    uint32_t m = sub_cc(HIDDEN_ZERO, y);
    high = subc(m, 0);
    return m;
}
// The odd half of the reduction row m * r, m = -y0: limb 1 times m is m 2^32 - m.
HD void fr_reduce_odd(uint32_t *N, uint32_t y0, uint32_t m, uint32_t high)
{
    constexpr uint32_t p[8] = FR_P32;
    N[0] = add_cc(N[0], y0);
    N[1] = addc_cc(N[1], high);
    UNROLL for (int j = 2; j < 8; j += 2)
    {
        N[j] = madclo_cc(p[j + 1], m, N[j]);
        N[j + 1] = madchi_cc(p[j + 1], m, N[j + 1]);
    }
}
HD void fr_reduce_even(uint32_t *Y, uint32_t m)
{
    constexpr uint32_t p[8] = FR_P32;
    (void)add_cc(Y[0], m);
    Y[1] = addc_cc(Y[1], 0);
    UNROLL for (int j = 2; j < 8; j += 2)
    {
        Y[j] = madclo_cc(p[j], m, Y[j]);
        Y[j + 1] = madchi_cc(p[j], m, Y[j + 1]);
    }
}
// w x / 2^256 for w in [0, r) and any 256-bit x: in [0, 2r).
HD fr mul_chain(const fr &w, const fr &x)
{
    const uint32_t *a = w.l;
    uint32_t X[8], Y[8];
    UNROLL for (int j = 0; j < 8; j += 2)
    {
        uint64_t u = (uint64_t)a[j] * x.l[0], v = (uint64_t)a[j + 1] * x.l[0];
        X[j] = (uint32_t)u;
        X[j + 1] = (uint32_t)(u >> 32);
        Y[j] = (uint32_t)v;
        Y[j + 1] = (uint32_t)(v >> 32);
    }
    uint32_t high, m = negate_word(X[0], high);
    fr_reduce_odd(Y, X[0], m, high);
    fr_reduce_even(X, m);
    Y[7] = addc(Y[7], 0);
    UNROLL for (int i = 1; i < 8; i++)
    {
        uint32_t N[8], bi = x.l[i];
        uint64_t top = (uint64_t)a[7] * bi;
        Y[0] = add_cc(Y[0], X[1]);
        UNROLL for (int j = 0; j < 6; j += 2)
        {
            N[j] = madclo_cc(a[j + 1], bi, X[j + 2]);
            N[j + 1] = madchi_cc(a[j + 1], bi, X[j + 3]);
        }
        N[6] = addc_cc((uint32_t)top, 0);
        N[7] = addc((uint32_t)(top >> 32), 0);
        mad_row<8>(Y, a, bi);
        N[7] = addc(N[7], HALF);
        m = negate_word(Y[0], high);
        fr_reduce_odd(N, Y[0], m, high);
        fr_reduce_even(Y, m);
        N[7] = addc(N[7], i < 7 ? HALF : QUARTER);
        UNROLL for (int j = 0; j < 8; j++)
        {
            X[j] = Y[j];
            Y[j] = N[j];
        }
    }
    fr r;
    r.l[0] = add_cc(Y[0], X[1]);
    UNROLL for (int j = 1; j < 7; j++) r.l[j] = addc_cc(Y[j], X[j + 1]);
    r.l[7] = addc(Y[7], QUARTER);
    return r;
}
#ifdef __CUDA_ARCH__
HD fr mul(const fr &w, const fr &x)
{
    return mul_chain(w, x);
}
#else
// On the host: four 64-bit limbs, the same range.
HD fr mul(const fr &a_, const fr &b_)
{
    const uint64_t p[4] = FR_P64;
    uint64_t a[4], b[4], t[6] = {0};
    memcpy(a, a_.l, 32);
    memcpy(b, b_.l, 32);
    for (int i = 0; i < 4; i++) {
        unsigned __int128 c = 0;
        for (int j = 0; j < 4; j++) {
            c += (unsigned __int128)a[j] * b[i] + t[j];
            t[j] = (uint64_t)c;
            c >>= 64;
        }
        c += t[4];
        t[4] = (uint64_t)c;
        t[5] = (uint64_t)(c >> 64);
        uint64_t m = t[0] * 0xfffffffeffffffffull;
        c = (unsigned __int128)m * p[0] + t[0];
        c >>= 64;
        for (int j = 1; j < 4; j++) {
            c += (unsigned __int128)m * p[j] + t[j];
            t[j - 1] = (uint64_t)c;
            c >>= 64;
        }
        c += t[4];
        t[3] = (uint64_t)c;
        t[4] = t[5] + (uint64_t)(c >> 64);
    }
    fr r;
    memcpy(r.l, t, 32);
    return r;
}
#endif
// Canonical result for any lazy inputs.
HD fr mul_reduce(const fr &a, const fr &b)
{
    return reduce(mul(reduce(a), b));
}
HD fr pow(fr a, uint64_t e)
{
    fr r;
    set_one(r);
    for (; e; e >>= 1) {
        if (e & 1)
            r = mul_reduce(r, a);
        a = mul_reduce(a, a);
    }
    return r;
}
// a^(r-2); 0 for 0.
HD fr inv(const fr &a)
{
    constexpr uint32_t p[8] = FR_P32;
    fr r;
    set_one(r);
    for (int i = 254; i >= 0; i--) {
        uint32_t w = p[i >> 5];
        if ((i >> 5) == 0)
            w = 0xffffffffu; // r - 2 = ...fffffffe ffffffff
        if ((i >> 5) == 1)
            w = 0xfffffffeu;
        r = mul_reduce(r, r);
        if ((w >> (i & 31)) & 1)
            r = mul_reduce(r, a);
    }
    return r;
}
// Montgomery to canonical integer and back.
HD fr from_mont(const fr &a)
{
    fr one;
    set_zero(one);
    one.l[0] = 1;
    return reduce(mul(one, a));
}
HD fr to_mont(const fr &a)
{
    constexpr uint32_t c[8] = FR_R2;
    return reduce(mul(fr_const(c), a));
}

HD fr load_fr(const uint4 *p)
{
    uint4 a = p[0], b = p[1];
    fr r;
    r.l[0] = a.x;
    r.l[1] = a.y;
    r.l[2] = a.z;
    r.l[3] = a.w;
    r.l[4] = b.x;
    r.l[5] = b.y;
    r.l[6] = b.z;
    r.l[7] = b.w;
    return r;
}
HD void store_fr(uint4 *p, const fr &a)
{
    p[0] = uint4{a.l[0], a.l[1], a.l[2], a.l[3]};
    p[1] = uint4{a.l[4], a.l[5], a.l[6], a.l[7]};
}
} // namespace gpu
