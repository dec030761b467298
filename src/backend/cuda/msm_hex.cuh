// Digits of scalars in the Eisenstein integers Z[w], w^2 + w + 1 = 0.
//
// w acts on points of both groups as (x, y) -> (beta x, y), which multiplies by -z^2 (z the parameter of the
// curve, r = z^4 - z^2 + 1). Six units act for free, so that digits of a given number need a third of the
// buckets that they need with two units.
//
// Measure v = a + b w by |v|, the largest less the smallest of (a - b, b, -a); these add up to 0, and |.| is
// a norm whose unit ball, a hexagon, tiles the plane when moved by Z[w]. So for every K there is a D_i in
// Z[w] with |K / m^i - D_i| <= 1 + e (e stands for the rounding of the decision, below 2^-26). Let D_0 = K
// and, where |K| < m^n, D_n = 0. The digits d_i = D_i - m D_(i+1), i < n, make K = sum d_i m^i, and |d_i| is
// at most |D_i - K / m^i| + m |K / m^(i+1) - D_(i+1)| <= (m + 1)(1 + e) < m + 2, so it is at most m + 1. Each
// digit depends on the fractions of K / m^i and K / m^(i+1) only: nothing is carried, and any group of
// windows can be made alone.
//
// K is the scalar less the multiple of pi = z^2 + w next to it (pi generates what acts as 0), which leaves
// |K| at most z^2 (1 + e): n digits need an m with m^n > z^2.
//
// The unit that turns a digit != 0 into x + y (1 + w) with x > 0 and y >= 0 is unique; (x, y) is the bucket:
// 2x + y <= m + 1, x + 2y <= m + 1. Buckets are counted row by row, y = 0 first.
#pragma once
#include "carry.cuh"

namespace gpu
{
constexpr int MIN_DIGITS = 9, MAX_DIGITS = 40; // at least: weights have 16 bits
constexpr uint32_t NO_BUCKET = 0xffffffffu;

// z^2 has the limbs 0, 1, Z2_2, Z2_3.
constexpr uint32_t Z2_2 = 0x0001a402u, Z2_3 = 0xac45a401u;
// floor(2^287 / z^2)
#define Z2_INVERSE_LIMBS 0x01a75a5cu, 0x7b67f717u, 0xb1fb7291u, 0xf00fd56eu, 0xbe35f678u

struct hex_plan {
    int sets, copies, digits; // digit s + c sets of a scalar meets copy c of its base in set s
    uint32_t radix;           // m, odd
    uint32_t half;            // (m + 1) / 2: x is at most this, y is less
    uint32_t bend;            // up to this row the left end of the hexagon's edge 2x + y counts
    uint32_t buckets;
    uint32_t reciprocal[5]; // floor(2^287 / m^digits)
    uint32_t offset[5];     // see hex_fraction
};

// ---- buckets ----
HD uint32_t hex_row(const hex_plan &p, uint32_t y) // buckets of the rows before row y
{
    return y <= p.bend ? y * p.half - (y * y >> 2) : p.buckets - (p.half - y) * (p.half - y + 1);
}
HD uint32_t hex_row_length(const hex_plan &p, uint32_t y)
{
    uint32_t n = 2 * p.half, u = (n - y) / 2, v = n - 2 * y;
    return u < v ? u : v;
}
// The bucket of a + b w = (-1)^minus w^turn (x + y (1 + w)); NO_BUCKET for 0.
HD uint32_t hex_bucket(const hex_plan &p, int32_t a, int32_t b, uint32_t &turn, bool &minus)
{
    int32_t x = a - b, y = b;
    turn = 0;
    if (x == 0 || (y != 0 && (x ^ y) < 0)) { // not both of one sign
        x = b;
        y = -a;
        turn = 1;
        if (x == 0 || (y != 0 && (x ^ y) < 0)) {
            x = -a;
            y = a - b;
            turn = 2;
        }
    }
    minus = x < 0;
    uint32_t u = minus ? -x : x, v = minus ? -y : y;
    return u ? hex_row(p, v) + u - 1 : NO_BUCKET;
}

// ---- digits ----
// The corner (ca, cb) of the unit square next to (fa, fb), both fractions of 2^30 (2^30 itself may occur).
HD void hex_round(uint32_t fa, uint32_t fb, uint32_t &ca, uint32_t &cb)
{
    constexpr int32_t ONE = 1 << 30;
    int32_t s = (int32_t)(fa - 2 * fb), t = (int32_t)(fb - 2 * fa);
    uint32_t both = fa + fb >= (uint32_t)ONE;
    ca = s >= 0 && t <= -ONE ? 1 : t >= 0 && s <= -ONE ? 0 : both;
    cb = s >= 0 && t <= -ONE ? 0 : t >= 0 && s <= -ONE ? 1 : both;
}
// acc[0 .. 2 count - 1] += (b[0], b[2], ...) a, the carry into the next limb.
HD void mad_span(uint32_t *acc, const uint32_t *b, uint32_t a, int count)
{
    UNROLL for (int j = 0; j < count; j++)
    {
        acc[2 * j] = j ? madclo_cc(b[2 * j], a, acc[2 * j]) : madlo_cc(b[0], a, acc[0]);
        acc[2 * j + 1] = madchi_cc(b[2 * j], a, acc[2 * j + 1]);
    }
    acc[2 * count] = addc(acc[2 * count], 0);
}
// Limbs DROPPED to LIMBS - 1 of a b (N limbs by 5), without the products that begin below: too small by less
// than DROPPED + 1 units of the second of these limbs. Two accumulators, as in fp.cuh.
template <int N, int DROPPED, int LIMBS>
HD void product(uint32_t (&out)[LIMBS - DROPPED], const uint32_t *a, const uint32_t *b)
{
    constexpr int SIZE = LIMBS - DROPPED;
    uint32_t sum[2][SIZE + 2]; // products at even and at odd places
    UNROLL for (int q = 0; q < SIZE + 2; q++) sum[0][q] = sum[1][q] = 0;
    UNROLL for (int i = 0; i < N; i++)
    {
        int first = i < DROPPED ? DROPPED - i : 0, end = i + 5 > LIMBS ? LIMBS - i : 5;
        UNROLL for (int h = 0; h < 2; h++)
        {
            int j = first + h, place = i + j - DROPPED;
            if (j < end)
                mad_span(sum[place & 1] + place, b + j, a[i], (end - j + 1) / 2);
        }
    }
    out[0] = add_cc(sum[0][0], sum[1][0]);
    UNROLL for (int q = 1; q < SIZE - 1; q++) out[q] = addc_cc(sum[0][q], sum[1][q]);
    out[SIZE - 1] = addc(sum[0][SIZE - 1], sum[1][SIZE - 1]);
}
// k < r as a + b w modulo pi, |a + b w| <= z^2 (1 + e); two's complement.
HD void hex_split(const uint32_t (&k)[8], uint32_t (&a)[4], uint32_t (&b)[4])
{
    // q = floor(k / z^2) or, where k / z^2 is less than 2^-28 above an integer, one less; k - q z^2 is then
    // below z^2 (1 + 2^-28)
    constexpr uint32_t inverse[5] = {Z2_INVERSE_LIMBS};
    uint32_t t[6], q[4], rest[4];
    product<5, 4, 10>(t, k + 3, inverse); // k / 2^96 times 2^287 / z^2: q begins at bit 191
    UNROLL for (int i = 0; i < 4; i++) q[i] = t[i + 1] >> 31 | t[i + 2] << 1;
    uint64_t q0 = (uint64_t)q[0] * Z2_2;
    rest[0] = k[0];
    rest[1] = sub_cc(k[1], q[0]);
    rest[2] = subc_cc(k[2], q[1]);
    rest[3] = subc(k[3], q[2]);
    rest[2] = sub_cc(rest[2], (uint32_t)q0);
    rest[3] = subc(rest[3], (uint32_t)(q0 >> 32));
    rest[3] -= q[0] * Z2_3 + q[1] * Z2_2;
    // k = rest - q w modulo pi, a point of the parallelogram 1, -w times z^2; the corner next to it is a
    // multiple of pi
    constexpr uint32_t scale = (uint32_t)((1ull << 62) / Z2_3);
    uint32_t fa = (uint32_t)(((uint64_t)rest[3] * scale) >> 32),
             fb = (1u << 30) - (uint32_t)(((uint64_t)q[3] * scale) >> 32), ca, cb;
    hex_round(fa, fb, ca, cb);
    uint32_t up = 1 - cb, all = 0u - ca, some = 0u - up; // less ca pi, plus up pi w; pi w = -1 + (z^2 - 1) w
    a[0] = sub_cc(rest[0], up);
    a[1] = subc_cc(rest[1], ca);
    a[2] = subc_cc(rest[2], all & Z2_2);
    a[3] = subc(rest[3], all & Z2_3);
    b[0] = sub_cc(0, q[0]);
    b[1] = subc_cc(up, q[1]);
    b[2] = subc_cc(some & Z2_2, q[2]);
    b[3] = subc(some & Z2_3, q[3]);
    b[0] = sub_cc(b[0], ca + up);
    b[1] = subc_cc(b[1], 0);
    b[2] = subc_cc(b[2], 0);
    b[3] = subc(b[3], 0);
}
// f = a / (2 m^digits) modulo 1 in units of 2^-160, too large by less than what an a larger by 0.3 would
// give, and not too small: what is cut off below (less than 6 units) is made up for by a quarter of what
// 1 gives (2^17 units and more).
HD void hex_fraction(const hex_plan &p, const uint32_t (&a)[4], uint32_t (&f)[5])
{
    uint32_t u[4] = {a[0], a[1], a[2], a[3] ^ 0x80000000u}, t[6]; // a + 2^127; the offset takes it back
    product<4, 3, 9>(t, u, p.reciprocal);
    f[0] = add_cc(t[1], p.offset[0]);
    UNROLL for (int i = 1; i < 4; i++) f[i] = addc_cc(t[i + 1], p.offset[i]);
    f[4] = addc(t[5], p.offset[4]);
}
// Multiplies a fraction and returns the integer part.
HD uint32_t hex_times(uint32_t (&f)[5], uint32_t m)
{
    uint64_t t = (uint64_t)f[0] * m;
    f[0] = (uint32_t)t;
    UNROLL for (int i = 1; i < 5; i++)
    {
        t = (uint64_t)f[i] * m + (t >> 32);
        f[i] = (uint32_t)t;
    }
    return (uint32_t)(t >> 32);
}
// Where digits begin: digit first is the next after a product with factor, 2 m^(digits - 1 - first) modulo
// 2^160. The same bits as after so many single steps, so that neighbouring groups of windows agree.
struct hex_start {
    int first;
    uint32_t factor[5];
};
// The digits of a scalar from digit start.first down.
struct hex_digits {
    uint32_t a[5], b[5], ca, cb, radix;
    int at; // the digit that next makes
    HD hex_digits(const hex_plan &p, const hex_start &start, const uint32_t (&k)[8])
    {
        uint32_t x[4], y[4];
        hex_split(k, x, y);
        hex_fraction(p, x, a);
        hex_fraction(p, y, b);
        ca = a[4] >> 31; // halves at first: |K / m^digits| is below 1, and a negative part is one of 1/2 to 1
        cb = b[4] >> 31;
        radix = 2 * p.radix;
        at = start.first;
        if (at == p.digits - 1)
            return;
        uint32_t f[5], g[5];
        product<5, 0, 5>(f, a, start.factor);
        product<5, 0, 5>(g, b, start.factor);
        UNROLL for (int i = 0; i < 5; i++)
        {
            a[i] = f[i];
            b[i] = g[i];
        }
        radix = p.radix;
        hex_round(a[4] >> 2, b[4] >> 2, ca, cb);
    }
    HD void next(const hex_plan &p, int32_t &da, int32_t &db)
    {
        da = (int32_t)(hex_times(a, radix) - ca * radix);
        db = (int32_t)(hex_times(b, radix) - cb * radix);
        radix = p.radix;
        hex_round(a[4] >> 2, b[4] >> 2, ca, cb);
        if (at-- == 0) // D_0 is K itself, what is left of its fraction is the offset
            return;
        da += (int32_t)ca;
        db += (int32_t)cb;
    }
};

// msm_plan.cu: the least odd m with m^digits > z^2 (1 + 2^-20); power: that power (may be NULL).
uint32_t hex_radix(int digits, uint32_t (*power)[5] = nullptr);
hex_plan plan_hex(int sets, int copies);
hex_start start_hex(const hex_plan &p, int first);
} // namespace gpu
