// Points over a field F (fp: G1, fp2: G2): XYZZ coordinates for the few additions that are not batched, and
// where affine coordinates lie in memory. An affine point whose x is zero is infinity: no point of the
// r-order subgroup has x = 0.
#pragma once
#include "fp2.cuh"

namespace gpu
{
template <class F> struct affine {
    F x, y;
};
// x = X/ZZ, y = Y/ZZZ, ZZ^3 = ZZZ^2; ZZ = 0 is infinity.
template <class F> struct xyzz {
    F x, y, zz, zzz;
};
template <class F> HD void set_infinity(xyzz<F> &a)
{
    set_zero(a.x);
    set_zero(a.y);
    set_zero(a.zz);
    set_zero(a.zzz);
}
template <class F> HD void point_dbl(xyzz<F> &a)
{
    if (is_zero(a.zz))
        return;
    F u = dbl(a.y), v = sqr(u), w = mul(u, v), s = mul(a.x, v), m = sqr(a.x);
    m = add(dbl(m), m);
    F x = sub(sqr(m), dbl(s));
    a.y = sub(mul(m, sub(s, x)), mul(w, a.y));
    a.x = x;
    a.zz = mul(v, a.zz);
    a.zzz = mul(w, a.zzz);
}
template <class F> HD void point_add_affine(xyzz<F> &a, const F &x2, const F &y2)
{
    if (is_zero(x2))
        return;
    if (is_zero(a.zz)) {
        a.x = x2;
        a.y = y2;
        set_one(a.zz);
        set_one(a.zzz);
        return;
    }
    F p = sub(mul(x2, a.zz), a.x), r = sub(mul(y2, a.zzz), a.y);
    if (is_zero(p)) {
        if (is_zero(r))
            point_dbl(a);
        else
            set_infinity(a);
        return;
    }
    F pp = sqr(p), ppp = mul(p, pp), q = mul(a.x, pp);
    F x = sub(sub(sqr(r), ppp), dbl(q));
    a.y = sub(mul(r, sub(q, x)), mul(a.y, ppp));
    a.x = x;
    a.zz = mul(a.zz, pp);
    a.zzz = mul(a.zzz, ppp);
}
template <class F> HD void point_add(xyzz<F> &a, const xyzz<F> &b)
{
    if (is_zero(b.zz))
        return;
    if (is_zero(a.zz)) {
        a = b;
        return;
    }
    F u1 = mul(a.x, b.zz), p = sub(mul(b.x, a.zz), u1);
    F s1 = mul(a.y, b.zzz), r = sub(mul(b.y, a.zzz), s1);
    if (is_zero(p)) {
        if (is_zero(r))
            point_dbl(a);
        else
            set_infinity(a);
        return;
    }
    F pp = sqr(p), ppp = mul(p, pp), q = mul(u1, pp);
    F x = sub(sub(sqr(r), ppp), dbl(q));
    a.y = sub(mul(r, sub(q, x)), mul(s1, ppp));
    a.x = x;
    a.zz = mul(mul(a.zz, b.zz), pp);
    a.zzz = mul(mul(a.zzz, b.zzz), ppp);
}
template <class F> HD affine<F> to_affine(const xyzz<F> &a)
{
    affine<F> r;
    F i = inv(a.zzz), t = sqr(mul(a.zz, i)); // zz / zzz = 1/z
    r.x = mul(a.x, t);
    r.y = mul(a.y, i);
    return r; // infinity gives zeros, since inv(0) = 0
}

// k (x, y); top: the highest bit of k that may be set.
template <class F> HD xyzz<F> point_times(const F &x, const F &y, const uint32_t *k, int top)
{
    xyzz<F> a;
    set_infinity(a);
    for (int b = top; b >= 0; b--) {
        point_dbl(a);
        if ((k[b >> 5] >> (b & 31)) & 1)
            point_add_affine(a, x, y);
    }
    return a;
}
template <class F> inline affine<F> generator()
{
    static const uint32_t g1[2][12] = G1_GENERATOR, g2[2][2][12] = G2_GENERATOR;
    if constexpr (F::QUADS == 3)
        return {fp_const(g1[0]), fp_const(g1[1])};
    else
        return {fp2{fp_const(g2[0][0]), fp_const(g2[0][1])}, fp2{fp_const(g2[1][0]), fp_const(g2[1][1])}};
}

// x of the point times w, the cube root of unity that msm_hex.cuh explains.
HD fp times_beta(const fp &x)
{
    constexpr uint32_t beta[12] = FP_BETA;
    return mul(x, fp_const(beta));
}
HD fp2 times_beta(const fp2 &x)
{
    constexpr uint32_t beta[12] = FP_BETA_G2;
    return fp2{mul_call(x.c0, fp_const(beta)), mul_call(x.c1, fp_const(beta))};
}

// Where affine points lie: 16-byte word q of x of point i at p[i * point + q * word], of y at p[(i | turn) *
// point + yo + q * word].
struct point_src {
    const uint4 *p;
    size_t point, word, yo;
    uint32_t turn;
};
template <class F> HD point_src packed_points(const void *p)
{
    return point_src{(const uint4 *)p, 2 * F::QUADS, 1, (size_t)F::QUADS, 0};
}
// Turned points: x, beta x, beta^2 x, y. Point 4 i + t is point i times w^t, t < 3 (msm_hex.cuh).
template <class F> HD point_src turned_points(const void *p)
{
    return point_src{(const uint4 *)p, (size_t)F::QUADS, 1, 0, 3};
}
// n points as planes of 16-byte words: neighbouring threads read neighbouring words.
template <class F> HD point_src plane_points(const uint4 *p, size_t n)
{
    return point_src{p, 1, n, F::QUADS * n, 0};
}
template <class F> HD F load_words(const uint4 *p, size_t word)
{
    F r;
    uint32_t *l = (uint32_t *)&r;
    UNROLL for (int k = 0; k < F::QUADS; k++)
    {
        uint4 v = p[k * word];
        l[4 * k] = v.x;
        l[4 * k + 1] = v.y;
        l[4 * k + 2] = v.z;
        l[4 * k + 3] = v.w;
    }
    return r;
}
template <class F> HD void store_words(uint4 *p, size_t word, const F &a)
{
    const uint32_t *l = (const uint32_t *)&a;
    UNROLL for (int k = 0; k < F::QUADS; k++) p[k * word] =
        uint4{l[4 * k], l[4 * k + 1], l[4 * k + 2], l[4 * k + 3]};
}
template <class F> HD F load_x(const point_src &s, size_t i)
{
    return load_words<F>(s.p + i * s.point, s.word);
}
template <class F> HD F load_y(const point_src &s, size_t i)
{
    return load_words<F>(s.p + (i | s.turn) * s.point + s.yo, s.word);
}
} // namespace gpu
