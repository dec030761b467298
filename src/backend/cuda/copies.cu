// Multiples of turned points: doublings and additions a point a thread, then one inversion for a few points.
#include "copies.cuh"
#include "msm_hex.cuh"
#include "points.cuh"

namespace gpu
{
#ifdef __CUDACC__
constexpr size_t COPY_CHUNK = 1 << 18;
#else
constexpr size_t COPY_CHUNK = 400; // of the emulation: small cases meet several chunks
#endif
constexpr uint32_t POINTS_AN_INVERSION = 16;

struct multiplier {
    uint32_t l[5];
    int top; // the highest bit
};
template <class F> __global__ void multiply_each(point_src s, multiplier m, uint32_t n, xyzz<F> *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    F x = load_x<F>(s, 4 * (size_t)i), y = load_y<F>(s, 4 * (size_t)i);
    out[i] = point_times(x, y, m.l, m.top);
}
template <class F> __global__ void turn_each(const xyzz<F> *in, F *prefix, uint32_t n, uint4 *out)
{
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    if (t >= n)
        return;
    F product;
    set_one(product);
    for (uint32_t i = t; i < n; i += step) {
        F d = in[i].zzz;
        prefix[i] = product;
        if (!is_zero(d))
            product = mul(product, d);
    }
    F u = inv(product);
    for (uint32_t k = (n - 1 - t) / step + 1; k-- > 0;) {
        uint32_t i = t + k * step;
        xyzz<F> a = in[i];
        F x = a.x, y = a.y;
        if (is_zero(a.zz)) {
            set_zero(x);
            set_zero(y);
        } else {
            F v = mul(u, prefix[i]), w = mul(a.zz, v); // 1 / zzz and its root, zz / zzz
            u = mul(u, a.zzz);
            x = mul(x, sqr(w));
            y = mul(y, v);
        }
        store_turned(out + (size_t)i * 4 * F::QUADS, x, y);
    }
}
template <class F> size_t copy_bytes(size_t n)
{
    n = std::min(n, COPY_CHUNK);
    return aligned(n * sizeof(xyzz<F>)) + aligned(n * sizeof(F));
}
template <class F>
cuzk_status multiply_turned(context &c, void *out, const void *in, size_t n, uint32_t radix, int exponent)
{
    arena_mark mark(c);
    size_t chunk = std::min(n, COPY_CHUNK);
    xyzz<F> *multiple;
    F *prefix;
    multiplier m = {{1}, 159};
    for (int i = 0; i < exponent; i++)
        (void)hex_times(m.l, radix);
    while (m.top > 0 && !((m.l[m.top >> 5] >> (m.top & 31)) & 1))
        m.top--;
    GPU_TRY(take(c, &multiple, chunk));
    GPU_TRY(take(c, &prefix, chunk));
    for (size_t at = 0; at < n; at += chunk) {
        uint32_t k = (uint32_t)std::min(chunk, n - at);
        const uint4 *from = (const uint4 *)in + at * 4 * F::QUADS;
        GPU_LAUNCH((multiply_each<F>), div_up(k, 64), 64, 0, c.stream, turned_points<F>(from), m, k,
                   multiple);
        GPU_CHECK_LAUNCH(c);
        GPU_LAUNCH((turn_each<F>), div_up(k, 32 * POINTS_AN_INVERSION), 32, 0, c.stream, multiple, prefix, k,
                   (uint4 *)out + at * 4 * F::QUADS);
        GPU_CHECK_LAUNCH(c);
    }
    return CUZK_OK;
}
template size_t copy_bytes<fp>(size_t);
template size_t copy_bytes<fp2>(size_t);
template cuzk_status multiply_turned<fp>(context &, void *, const void *, size_t, uint32_t, int);
template cuzk_status multiply_turned<fp2>(context &, void *, const void *, size_t, uint32_t, int);
} // namespace gpu
