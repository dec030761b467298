// Multiples of the generators.
#include "fixed_base.cuh"
#include "fr.cuh"

namespace gpu
{
constexpr size_t FIXED_CHUNK = 1 << 19; // scalars at once
static fixed_table &table_of(cuzk_device *dev, const fp *)
{
    return dev->fixed->g1;
}
static fixed_table &table_of(cuzk_device *dev, const fp2 *)
{
    return dev->fixed->g2;
}
void fixed_release(cuzk_device *dev)
{
    if (dev->fixed) {
        device_free(dev, dev->fixed->g1.points, dev->fixed->g1.bytes);
        device_free(dev, dev->fixed->g2.points, dev->fixed->g2.bytes);
        delete dev->fixed;
        dev->fixed = nullptr;
    }
}
// Step k of the table: entries 2^k + j = 2^k + j for j = 1 .. 2^k in every window.
static __global__ void list_table_step(uint32_t *vals, int bits, int k, uint32_t n)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t w = i >> k, j = (i & ((1u << k) - 1)) + 1;
    vals[2 * i] = (w << bits) + (1u << k);
    vals[2 * i + 1] = (w << bits) + j;
}
template <class F> __global__ void store_table_step(uint4 *table, point_src s, int bits, int k, uint32_t n)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t w = i >> k, j = (i & ((1u << k) - 1)) + 1, d = (1u << k) + j;
    if (d >> bits)
        return;
    uint4 *p = table + 2 * F::QUADS * (size_t)((w << bits) + d);
    store_words(p, 1, load_x<F>(s, i));
    store_words(p + F::QUADS, 1, load_y<F>(s, i));
}
template <class F> static cuzk_status fill_table(context &c, uint4 *points, int bits)
{
    int windows = 256 / bits;
    uint32_t most = (uint32_t)windows << (bits - 1);
    arena_mark mark(c);
    run_scratch<F> w;
    GPU_TRY(w.init(c, 2 * (size_t)most, 16));
    affine<F> g = generator<F>();
    xyzz<F> p;
    set_infinity(p);
    point_add_affine(p, g.x, g.y);
    GPU_CUDA(c, cudaMemsetAsync(points, 0, ((size_t)windows << bits) * sizeof g, c.stream));
    for (int i = 0; i < windows; i++) {
        affine<F> a = to_affine(p);
        GPU_TRY(upload(c, points + 2 * F::QUADS * (((size_t)i << bits) + 1), &a, sizeof a, c.stream));
        for (int q = 0; q < bits; q++)
            point_dbl(p);
    }
    for (int k = 0; k < bits; k++) {
        uint32_t n = (uint32_t)windows << k;
        GPU_LAUNCH(list_table_step, div_up(n, 256), 256, 0, c.stream, w.val[0], bits, k, n);
        GPU_CHECK_LAUNCH(c);
        GPU_TRY(sum_pairs<F>(c, w, packed_points<F>(points), w.val[0], n));
        GPU_LAUNCH((store_table_step<F>), div_up(n, 256), 256, 0, c.stream, points,
                   plane_points<F>(w.points[0], n), bits, k, n);
        GPU_CHECK_LAUNCH(c);
    }
    return synchronize(c);
}
static __global__ void list_digits(const uint4 *k, uint32_t n, int bits, uint32_t *keys, uint32_t *vals)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    fr a = from_mont(load_fr(k + 2 * (size_t)i));
    uint32_t windows = 256 / bits, per = 32 / bits;
    UNROLL for (int q = 0; q < 8; q++) for (uint32_t z = 0; z < per; z++)
    {
        uint32_t w = q * per + z, d = (a.l[q] >> (z * bits)) & ((1u << bits) - 1);
        keys[(size_t)i * windows + w] = i;
        vals[(size_t)i * windows + w] = (w << bits) + d;
    }
}
template <class F> size_t fixed_run<F>::bytes(const cuzk_device *dev, size_t chunk, int bits)
{
    return run_scratch<F>::bytes(dev, chunk * (256 / bits), chunk);
}
template <class F> cuzk_status fixed_run<F>::init(context &c, size_t chunk)
{
    table = &table_of(c.dev, (const F *)nullptr);
    return w.init(c, chunk * (256 / table->bits), chunk);
}
template <class F> cuzk_status fixed_run<F>::multiply(context &c, const uint4 *k, size_t m, uint4 *sums)
{
    GPU_LAUNCH(list_digits, div_up(m, 256), 256, 0, c.stream, k, (uint32_t)m, table->bits, w.key[0],
               w.val[0]);
    GPU_CHECK_LAUNCH(c);
    return sum_runs<F>(c, w, packed_points<F>(table->points), m * (256 / table->bits), (uint32_t)m, sums, m,
                       0);
}
template <class F> cuzk_status fixed_prepare(context &c, int bits)
{
    if (!c.dev->fixed)
        c.dev->fixed = new (std::nothrow) fixed_tables;
    if (!c.dev->fixed)
        return fail(c.err, CUZK_OUT_OF_MEMORY, "memory could not be had");
    fixed_table &t = table_of(c.dev, (const F *)nullptr);
    if (t.bits >= bits)
        return CUZK_OK;
    GPU_TRY(use_scratch(c, run_scratch<F>::bytes(c.dev, (size_t)(256 / bits) << bits, 16)));
    device_free(c.dev, t.points, t.bytes);
    t = fixed_table();
    size_t bytes = (size_t)(256 / bits) << bits;
    bytes *= sizeof(affine<F>);
    void *p;
    GPU_TRY(device_alloc(c, &p, bytes));
    cuzk_status s = fill_table<F>(c, (uint4 *)p, bits);
    if (s != CUZK_OK) {
        device_free(c.dev, p, bytes);
        return s;
    }
    t.bits = bits;
    t.points = (uint4 *)p;
    t.bytes = bytes;
    return CUZK_OK;
}
template <class F> cuzk_status fixed_base(context &c, uint8_t *out, const cuzk_fr *k, size_t n)
{
    GPU_TRY(fixed_prepare<F>(c, n < 1 << 14 ? 8 : 16));
    int bits = table_of(c.dev, (const F *)nullptr).bits;
    size_t chunk = std::min(std::max<size_t>(n, 1), FIXED_CHUNK), room, point = sizeof(affine<F>);
    auto bytes = [&] {
        return fixed_run<F>::bytes(c.dev, chunk, bits) + 2 * aligned(chunk * point) + aligned(chunk * 32);
    };
    GPU_TRY(available(c, &room));
    room += c.on->scratch.size;
    while (chunk > 1024 && bytes() > room)
        chunk /= 2;
    GPU_TRY(use_scratch(c, bytes()));
    fixed_run<F> run;
    uint4 *scalars, *sums, *encoded;
    GPU_TRY(take(c, &scalars, 2 * chunk));
    GPU_TRY(take(c, &sums, 2 * F::QUADS * chunk));
    GPU_TRY(take(c, &encoded, 2 * F::QUADS * chunk));
    GPU_TRY(run.init(c, chunk));
    for (size_t at = 0; at < n; at += chunk) {
        size_t m = std::min(chunk, n - at);
        GPU_TRY(upload(c, scalars, k + at, 32 * m, c.stream));
        GPU_TRY(run.multiply(c, scalars, m, sums));
        GPU_TRY(encode_points<F>(c, encoded, sums, m));
        GPU_TRY(download(c, out + at * point, encoded, m * point));
    }
    return CUZK_OK;
}
template struct fixed_run<fp>;
template struct fixed_run<fp2>;
template cuzk_status fixed_prepare<fp>(context &, int);
template cuzk_status fixed_prepare<fp2>(context &, int);
template cuzk_status fixed_base<fp>(context &, uint8_t *, const cuzk_fr *, size_t);
template cuzk_status fixed_base<fp2>(context &, uint8_t *, const cuzk_fr *, size_t);
} // namespace gpu
