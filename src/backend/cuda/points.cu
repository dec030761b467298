// Encoded points: see points.cuh. The encoding is that of the parameter files: coordinates big-endian, in Fp2
// c1 first; in the first byte 0x80 means compressed, 0x40 infinity, 0x20 the sign of a compressed y.
#include "points.cuh"

namespace gpu
{
HD uint32_t swap_bytes(uint32_t v)
{
#ifdef __CUDA_ARCH__
    return __byte_perm(v, 0, 0x0123);
#else
    return __builtin_bswap32(v);
#endif
}
HD fp read_fp(const uint32_t *w)
{
    fp r;
    UNROLL for (int i = 0; i < 12; i++) r.l[i] = swap_bytes(w[11 - i]);
    return r;
}
HD void read_coordinate(fp &r, const uint32_t *w)
{
    r = read_fp(w);
}
HD void read_coordinate(fp2 &r, const uint32_t *w)
{
    r.c1 = read_fp(w);
    r.c0 = read_fp(w + 12);
}
HD void write_fp(uint32_t *w, const fp &a)
{
    UNROLL for (int i = 0; i < 12; i++) w[11 - i] = swap_bytes(a.l[i]);
}
HD void write_coordinate(uint32_t *w, const fp &a)
{
    write_fp(w, a);
}
HD void write_coordinate(uint32_t *w, const fp2 &a)
{
    write_fp(w, a.c1);
    write_fp(w + 12, a.c0);
}
HD void curve_b(fp &r)
{
    set_one(r);
    r = dbl(dbl(r));
}
HD void curve_b(fp2 &r)
{
    curve_b(r.c0);
    r.c1 = r.c0;
}
// Out of line: inlined they take the compiler a minute, and checks are rare.
#ifdef __CUDACC__
#define OUT_OF_LINE static __device__ __noinline__
#else
#define OUT_OF_LINE static inline
#endif
template <class F> OUT_OF_LINE void double_call(xyzz<F> &a)
{
    point_dbl(a);
}
template <class F> OUT_OF_LINE void add_call(xyzz<F> &a, const xyzz<F> &b)
{
    point_add(a, b);
}
template <class F> static __device__ xyzz<F> times_curve_x(const xyzz<F> &p)
{
    xyzz<F> r = p;
    for (int i = 62; i >= 0; i--) {
        double_call(r);
        if ((CURVE_X >> i) & 1)
            add_call(r, p);
    }
    return r;
}
// M. Scott, "A note on group membership tests for G1, G2 and GT on BLS pairing-friendly curves", 2021: a
// point P of the curve is in G1 exactly if (beta x, y) = -X^2 P, and of the twist in G2 exactly if psi(P) =
// -X P (the parameter is -X).
static __device__ bool in_subgroup(const fp &x, const fp &y)
{
    constexpr uint32_t beta[12] = FP_BETA;
    xyzz<fp> p;
    set_infinity(p);
    point_add_affine(p, x, y);
    p = times_curve_x(times_curve_x(p));
    point_add_affine(p, mul(fp_const(beta), x), y);
    return is_zero(p.zz);
}
static __device__ bool in_subgroup(const fp2 &x, const fp2 &y)
{
    constexpr uint32_t px[2][12] = FP2_PSI_X, py[2][12] = FP2_PSI_Y;
    xyzz<fp2> p;
    set_infinity(p);
    point_add_affine(p, x, y);
    p = times_curve_x(p);
    point_add_affine(p, mul(conj(x), fp2{fp_const(px[0]), fp_const(px[1])}),
                     mul(conj(y), fp2{fp_const(py[0]), fp_const(py[1])}));
    return is_zero(p.zz);
}
template <class F>
__global__ void decode_kernel(uint32_t *points, size_t n, uint64_t first, unsigned long long *problem)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    constexpr int WORDS = 8 * F::QUADS; // 32-bit words of a point
    uint32_t w[WORDS], rest = 0;
    const uint4 *p = (const uint4 *)(points + i * WORDS);
    UNROLL for (int q = 0; q < WORDS / 4; q++)
    {
        uint4 v = p[q];
        w[4 * q] = v.x;
        w[4 * q + 1] = v.y;
        w[4 * q + 2] = v.z;
        w[4 * q + 3] = v.w;
    }
    uint32_t flags = w[0] & 0xe0;
    w[0] &= ~0xe0u;
    UNROLL for (int q = 0; q < WORDS; q++) rest |= w[q];
    affine<F> a;
    read_coordinate(a.x, w);
    read_coordinate(a.y, w + WORDS / 2);
    bool infinite = flags == 0x40 && rest == 0, good = flags == 0 && is_canonical(a.x) && is_canonical(a.y);
    // no point of the subgroup has x = 0, and sums read such a point as infinity
    good = good && !is_zero(a.x);
    a.x = to_mont(a.x);
    a.y = to_mont(a.y);
    if (!good) {
        if (!infinite)
            atomicMin(problem, (unsigned long long)((first + i) * 4 + 1));
        set_zero(a.x);
        set_zero(a.y);
    }
    store_words((uint4 *)(points + i * WORDS), 1, a.x);
    store_words((uint4 *)(points + i * WORDS + WORDS / 2), 1, a.y);
}
template <class F>
__global__ void __launch_bounds__(128)
    check_kernel(const uint32_t *points, size_t n, uint64_t first, unsigned long long *problem)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    point_src s = packed_points<F>(points);
    F x = load_x<F>(s, i), y = load_y<F>(s, i), b;
    if (is_zero(x))
        return;
    curve_b(b);
    if (!equal(sqr(y), add(mul(sqr(x), x), b)))
        atomicMin(problem, (unsigned long long)((first + i) * 4 + 2));
    else if (!in_subgroup(x, y))
        atomicMin(problem, (unsigned long long)((first + i) * 4 + 3));
}
template <class F> __global__ void turn_kernel(uint4 *out, point_src s, const uint32_t *index, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    size_t from = index ? index[i] : i;
    store_turned(out + i * 4 * F::QUADS, load_x<F>(s, from), load_y<F>(s, from));
}
template <class F> __global__ void encode_kernel(uint32_t *out, point_src s, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    constexpr int WORDS = 8 * F::QUADS;
    F x = load_x<F>(s, i), y = load_y<F>(s, i);
    uint32_t w[WORDS];
    write_coordinate(w, from_mont(x));
    write_coordinate(w + WORDS / 2, from_mont(y));
    if (is_zero(x))
        w[0] = 0x40;
    uint4 *o = (uint4 *)(out + i * WORDS);
    UNROLL for (int q = 0; q < WORDS / 4; q++) o[q] =
        uint4{w[4 * q], w[4 * q + 1], w[4 * q + 2], w[4 * q + 3]};
}
template <class F>
cuzk_status decode_points(context &c, void *points, size_t n, uint64_t first_index, bool check,
                          unsigned long long *problem)
{
    if (n == 0)
        return CUZK_OK;
    GPU_LAUNCH((decode_kernel<F>), div_up(n, 128), 128, 0, c.stream, (uint32_t *)points, n, first_index,
               problem);
    GPU_CHECK_LAUNCH(c);
    if (check) {
        GPU_LAUNCH((check_kernel<F>), div_up(n, 128), 128, 0, c.stream, (const uint32_t *)points, n,
                   first_index, problem);
        GPU_CHECK_LAUNCH(c);
    }
    return CUZK_OK;
}
template <class F>
cuzk_status turn_points(context &c, void *turned, const void *packed, size_t n, const uint32_t *index)
{
    if (n == 0)
        return CUZK_OK;
    GPU_LAUNCH((turn_kernel<F>), div_up(n, 128), 128, 0, c.stream, (uint4 *)turned, packed_points<F>(packed),
               index, n);
    GPU_CHECK_LAUNCH(c);
    return CUZK_OK;
}
cuzk_status report_problem(context &c, const char *query, unsigned long long problem)
{
    static const char *const text[4] = {"", "is not a well-formed encoding", "is not on the curve",
                                        "is outside the subgroup of order r"};
    if (problem == ~0ull)
        return CUZK_OK;
    return fail(c.err, CUZK_BAD_INPUT, "parameters: point %llu of the %s query %s", problem / 4, query,
                text[problem & 3]);
}
template <class F> cuzk_status encode_points(context &c, void *out, const uint4 *planes, size_t n)
{
    GPU_LAUNCH((encode_kernel<F>), div_up(n, 128), 128, 0, c.stream, (uint32_t *)out,
               plane_points<F>(planes, n), n);
    GPU_CHECK_LAUNCH(c);
    return CUZK_OK;
}
template cuzk_status decode_points<fp>(context &, void *, size_t, uint64_t, bool, unsigned long long *);
template cuzk_status decode_points<fp2>(context &, void *, size_t, uint64_t, bool, unsigned long long *);
template cuzk_status turn_points<fp>(context &, void *, const void *, size_t, const uint32_t *);
template cuzk_status turn_points<fp2>(context &, void *, const void *, size_t, const uint32_t *);
template cuzk_status encode_points<fp>(context &, void *, const uint4 *, size_t);
template cuzk_status encode_points<fp2>(context &, void *, const uint4 *, size_t);
} // namespace gpu
