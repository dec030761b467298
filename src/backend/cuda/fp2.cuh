// Fp2 = Fp[u] / (u^2 + 1). The same names as in fp.cuh, so that the code of sums is written once for both
// curves.
#pragma once
#include "fp_inv.cuh"

namespace gpu
{
struct alignas(16) fp2 {
    fp c0, c1;
    static constexpr int QUADS = 6;
};
HD void set_zero(fp2 &r)
{
    set_zero(r.c0);
    set_zero(r.c1);
}
HD void set_one(fp2 &r)
{
    set_one(r.c0);
    set_zero(r.c1);
}
HD bool is_zero(const fp2 &a)
{
    return is_zero(a.c0) && is_zero(a.c1);
}
HD bool equal(const fp2 &a, const fp2 &b)
{
    return equal(a.c0, b.c0) && equal(a.c1, b.c1);
}
HD fp2 add(const fp2 &a, const fp2 &b)
{
    return fp2{add(a.c0, b.c0), add(a.c1, b.c1)};
}
HD fp2 sub(const fp2 &a, const fp2 &b)
{
    return fp2{sub(a.c0, b.c0), sub(a.c1, b.c1)};
}
HD fp2 dbl(const fp2 &a)
{
    return add(a, a);
}
HD fp2 neg(const fp2 &a)
{
    return fp2{neg(a.c0), neg(a.c1)};
}
// An out-of-line Fp product: inlined three times each, the six products of an addition outgrow the
// instruction cache.
#ifdef __CUDACC__
static __device__ __host__ __noinline__ fp mul_call(fp a, fp b)
{
    return mul(a, b);
}
static __device__ __host__ __noinline__ fp_wide wide_call(fp a, fp b)
{
    return wide_chain(a, b);
}
static __device__ __host__ __noinline__ fp redc_call(fp_wide t)
{
    return redc_chain(t.l);
}
#else
HD fp_wide wide_call(const fp &a, const fp &b)
{
    return wide_chain(a, b);
}
HD fp redc_call(const fp_wide &t)
{
    return redc_chain(t.l);
}
HD fp mul_call(const fp &a, const fp &b)
{
    return mul(a, b);
}
#endif
HD fp2 mul_apart(const fp2 &a, const fp2 &b)
{
    fp t0 = mul_call(a.c0, b.c0), t1 = mul_call(a.c1, b.c1);
    fp s = mul_call(add(a.c0, a.c1), add(b.c0, b.c1));
    return fp2{sub(t0, t1), sub(sub(s, t0), t1)};
}
// Three products, two reductions.
HD fp2 mul_chain(const fp2 &a, const fp2 &b)
{
    constexpr uint32_t p[13] = FP_P32;
    fp_wide t0 = wide_call(a.c0, b.c0), t1 = wide_call(a.c1, b.c1);
    fp_wide t2 = wide_call(add_lazy(a.c0, a.c1), add_lazy(b.c0, b.c1));
    (void)wide_sub(t2, t0);
    (void)wide_sub(t2, t1); // a0 b1 + a1 b0, below 2p^2 < p 2^384
    uint32_t negative = wide_sub(t0, t1);
    t0.l[12] = add_cc(t0.l[12], p[0] & negative); // + p 2^384
    UNROLL for (int i = 1; i < 11; i++) t0.l[12 + i] = addc_cc(t0.l[12 + i], p[i] & negative);
    t0.l[23] = addc(t0.l[23], p[11] & negative);
    return fp2{redc_call(t0), redc_call(t2)};
}
#ifdef __CUDA_ARCH__
HD fp2 mul(const fp2 &a, const fp2 &b)
{
    return mul_chain(a, b);
}
#else
HD fp2 mul(const fp2 &a, const fp2 &b)
{
    return mul_apart(a, b);
}
#endif
HD fp2 sqr(const fp2 &a)
{
    fp t = mul_call(a.c0, a.c1);
    return fp2{mul_call(add_lazy(a.c0, a.c1), sub(a.c0, a.c1)), dbl(t)};
}
HD fp2 conj(const fp2 &a)
{
    return fp2{a.c0, neg(a.c1)};
}
HD fp2 inv(const fp2 &a)
{
    fp n = inv(add(sqr(a.c0), sqr(a.c1)));
    return fp2{mul(a.c0, n), neg(mul(a.c1, n))};
}
HD fp2 from_mont(const fp2 &a)
{
    return fp2{from_mont(a.c0), from_mont(a.c1)};
}
HD fp2 to_mont(const fp2 &a)
{
    return fp2{to_mont(a.c0), to_mont(a.c1)};
}
HD bool is_canonical(const fp2 &a)
{
    return is_canonical(a.c0) && is_canonical(a.c1);
}
} // namespace gpu
