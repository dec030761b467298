// Inversion in Fp by divsteps (Bernstein, Yang: "Fast constant-time gcd computation and modular inversion",
// 2019), thirty steps a matrix, on thirteen signed 30-bit limbs.
#pragma once
#include "fp.cuh"

namespace gpu
{
struct divstep_matrix {
    int32_t u, v, q, r;
};
// Thirty half-delta divsteps on the low words of f and g.
HD divstep_matrix divsteps30(int32_t &delta, uint32_t f, uint32_t g)
{
    int32_t u = 1, v = 0, q = 0, r = 1;
    for (int k = 0; k < 30; k++) {
        bool odd = g & 1, swap = odd && delta > 0;
        uint32_t of = f;
        int32_t ou = u, ov = v;
        f = swap ? g : f;
        u = swap ? q : u;
        v = swap ? r : v;
        uint32_t af = swap ? 0u - of : of;
        int32_t au = swap ? -ou : ou, av = swap ? -ov : ov;
        g += odd ? af : 0u;
        q += odd ? au : 0;
        r += odd ? av : 0;
        delta = (swap ? -delta : delta) + 2;
        g >>= 1;
        u = (int32_t)((uint32_t)u << 1);
        v = (int32_t)((uint32_t)v << 1);
    }
    return divstep_matrix{u, v, q, r};
}
// 1 / a in Montgomery form; 0 for 0.
HD fp inv(const fp &a)
{
    constexpr int32_t p30[13] = FP_P30;
    const int32_t M = (1 << 30) - 1;
    int32_t f[13], g[13], d[13], e[13];
    UNROLL for (int i = 0; i < 13; i++)
    {
        int bit = 30 * i, w = bit >> 5, s = bit & 31;
        uint64_t v = a.l[w];
        if (w + 1 < 12)
            v |= (uint64_t)a.l[w + 1] << 32;
        g[i] = (int32_t)((v >> s) & M);
        f[i] = p30[i];
        d[i] = 0;
        e[i] = i == 0;
    }
    int32_t delta = 1; // twice the delta of the paper
    for (int it = 0; it < 32; it++) {
        divstep_matrix t =
            divsteps30(delta, (uint32_t)f[0] | (uint32_t)f[1] << 30, (uint32_t)g[0] | (uint32_t)g[1] << 30);
        int64_t cf = (int64_t)t.u * f[0] + (int64_t)t.v * g[0],
                cg = (int64_t)t.q * f[0] + (int64_t)t.r * g[0];
        int64_t cd = (int64_t)t.u * d[0] + (int64_t)t.v * e[0],
                ce = (int64_t)t.q * d[0] + (int64_t)t.r * e[0];
        cf >>= 30;
        cg >>= 30;
        // multiples of p that make d and e divisible by 2^30 and keep them in range
        int32_t sd = d[12] >> 31, se = e[12] >> 31;
        int32_t md = (t.u & sd) + (t.v & se), me = (t.q & sd) + (t.r & se);
        md -= (int32_t)(((uint32_t)cd * FP_PINV30 + (uint32_t)md) & M);
        me -= (int32_t)(((uint32_t)ce * FP_PINV30 + (uint32_t)me) & M);
        cd += (int64_t)p30[0] * md;
        ce += (int64_t)p30[0] * me;
        cd >>= 30;
        ce >>= 30;
        int32_t nz = 0;
        UNROLL for (int i = 1; i < 13; i++)
        {
            cf += (int64_t)t.u * f[i] + (int64_t)t.v * g[i];
            cg += (int64_t)t.q * f[i] + (int64_t)t.r * g[i];
            cd += (int64_t)t.u * d[i] + (int64_t)t.v * e[i] + (int64_t)p30[i] * md;
            ce += (int64_t)t.q * d[i] + (int64_t)t.r * e[i] + (int64_t)p30[i] * me;
            f[i - 1] = (int32_t)cf & M;
            g[i - 1] = (int32_t)cg & M;
            d[i - 1] = (int32_t)cd & M;
            e[i - 1] = (int32_t)ce & M;
            cf >>= 30;
            cg >>= 30;
            cd >>= 30;
            ce >>= 30;
            nz |= g[i - 1];
        }
        f[12] = (int32_t)cf;
        g[12] = (int32_t)cg;
        d[12] = (int32_t)cd;
        e[12] = (int32_t)ce;
        nz |= g[12];
        if (!nz)
            break;
    }
    // d lies in (-2p, p); times the sign of f it is the inverse
    int32_t sf = f[12] >> 31, c = 0;
    UNROLL for (int i = 0; i < 13; i++)
    {
        c += (d[i] ^ sf) - sf;
        if (i < 12) {
            d[i] = c & M;
            c >>= 30;
        } else {
            d[i] = c;
        }
    }
    fp r;
    set_zero(r);
    UNROLL for (int i = 0; i < 13; i++)
    {
        int bit = 30 * i, w = bit >> 5, s = bit & 31;
        uint64_t v = (uint64_t)(uint32_t)d[i] << s;
        r.l[w] |= (uint32_t)v;
        if (w + 1 < 12)
            r.l[w + 1] |= (uint32_t)(v >> 32);
    }
    r = add_masked_p(r, (uint32_t)((int32_t)r.l[11] >> 31));
    r = add_masked_p(r, (uint32_t)((int32_t)r.l[11] >> 31));
    r = reduce_once(r);
    constexpr uint32_t r3[12] = FP_R3;
    return mul(r, fp_const(r3));
}
} // namespace gpu
