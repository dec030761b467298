// Measuring operations: see bench.cuh. Bases are k_i times the generator with k_i drawn from i, so that a sum
// is known to be (sum k_i s_i) times the generator.
#include "bench_job.cuh"
#include "fields.cuh"
#include "fixed_base.cuh"
#include "fr_fixed.cuh"
#include "msm.cuh"
#include "msm_hex.cuh"
#include "ntt.cuh"
#include "points.cuh"
#include "sort.cuh"

namespace gpu
{
// out[t] = sum over i = t, t + threads, ... of k_i s_i; s NULL: of k_i whose bit is set
static __global__ void sum_products(const uint4 *s, const uint64_t *bits, size_t n, uint64_t seed, uint4 *out)
{
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    fr acc;
    set_zero(acc);
    for (size_t i = t; i < n; i += step) {
        fr k = random_fr(seed, i); // read as Montgomery form
        if (s)
            acc = add(acc, mul(k, load_fr(s + 2 * i))); // k / R times s R
        else if ((bits[i >> 6] >> (i & 63)) & 1)
            acc = add(acc, from_mont(k));
    }
    store_fr(out + 2 * t, reduce(acc));
}
template <class T>
static __global__ void __launch_bounds__(128) multiply_chain(const T *in, T *out, int rounds)
{
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    T y = in[t & 1023], x = in[(t + 1) & 1023];
#pragma unroll 1
    for (int i = 0; i < rounds; i++)
        x = mul(y, x);
    out[t] = x;
}
// The same by factors known beforehand, as in transforms.
struct by_rows {
    static HD fr product(const fr &, const fr &, const fr &x)
    {
        constexpr uint32_t C[8][8] = FR_SEVEN_ROWS;
        return mul_rows(C, x);
    }
};
struct by_split {
    static HD fr product(const fr &v, const fr &w, const fr &x) { return mul_split(v, w, x); }
};
template <class Way>
static __global__ void __launch_bounds__(128) multiply_fixed(fr v, fr w, const fr *in, fr *out, int rounds)
{
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    fr x = in[t & 1023];
#pragma unroll 1
    for (int i = 0; i < rounds; i++)
        x = Way::product(v, w, x);
    out[t] = x;
}
static __global__ void scale_all(uint4 *x, size_t n, fr factor)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        store_fr(x + 2 * i, mul_reduce(factor, load_fr(x + 2 * i)));
}
static __global__ void multiply_values(const uint4 *a, const uint4 *b, uint4 *out, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        store_fr(out + 2 * i, mul_reduce(load_fr(a + 2 * i), load_fr(b + 2 * i)));
}
static __global__ void planes_to_packed(point_src s, size_t n, int quads, uint4 *out)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int q = 0; q < 2 * quads; q++)
            out[i * 2 * quads + q] = s.p[i + q * n];
}

constexpr uint32_t SUM_THREADS = 8192;

// An affine addition in runs in units of an Fp product: five products, one square (0.82), the inversion among
// the five; over Fp2 a product is three without reduction and two reductions.
template <class F> constexpr double ADDITION = F::QUADS == 3 ? 5.82 : 14.0;

// (sum k_i s_i) G as an affine point
template <class F>
static cuzk_status expected_sum(bench_job &b, const uint4 *s, const uint64_t *bits, size_t n, affine<F> *out)
{
    context &c = b.c;
    arena_mark mark(c);
    uint4 *part;
    GPU_TRY(take(c, &part, 2 * SUM_THREADS));
    GPU_LAUNCH(sum_products, SUM_THREADS / 128, 128, 0, c.stream, s, bits, n, BASE_SEED, part);
    GPU_CHECK_LAUNCH(c);
    std::vector<fr> h(SUM_THREADS);
    GPU_TRY(download(c, h.data(), part, 32 * SUM_THREADS));
    fr sum;
    set_zero(sum);
    for (const fr &v : h)
        sum = add(sum, v);
    sum = reduce(sum);
    affine<F> g = generator<F>();
    *out = to_affine(point_times(g.x, g.y, sum.l, 254));
    return CUZK_OK;
}
// n bases, all multiplied by factor where that is not NULL; packed points or turned ones
template <class F>
static cuzk_status make_bases(bench_job &b, uint4 *bases, size_t n, const fr *factor, bool turned)
{
    context &c = b.c;
    arena_mark mark(c);
    size_t chunk = std::min<size_t>(n, 1 << 19);
    fixed_run<F> run;
    uint4 *k, *sums, *packed;
    GPU_TRY(take(c, &k, 2 * chunk));
    GPU_TRY(take(c, &sums, 2 * F::QUADS * chunk));
    GPU_TRY(take(c, &packed, turned ? 2 * F::QUADS * chunk : 0));
    GPU_TRY(run.init(c, chunk));
    for (size_t at = 0; at < n; at += chunk) {
        size_t m = std::min(chunk, n - at);
        GPU_LAUNCH(fill_random, div_up(m, 256), 256, 0, c.stream, k, m, BASE_SEED, at);
        GPU_CHECK_LAUNCH(c);
        if (factor) {
            GPU_LAUNCH(scale_all, div_up(m, 256), 256, 0, c.stream, k, m, *factor);
            GPU_CHECK_LAUNCH(c);
        }
        GPU_TRY(run.multiply(c, k, m, sums));
        GPU_LAUNCH(planes_to_packed, div_up(m, 256), 256, 0, c.stream, plane_points<F>(sums, m), m, F::QUADS,
                   turned ? packed : bases + at * 2 * F::QUADS);
        GPU_CHECK_LAUNCH(c);
        if (turned)
            GPU_TRY(turn_points<F>(c, bases + at * 4 * F::QUADS, packed, m));
    }
    return synchronize(c);
}
template <class F>
static void report_sum(bench_job &b, const window_sums<F> &w, const affine<F> &want, const char *what)
{
    affine<F> got = to_affine(window_sums_join(w));
    bool ok = equal(got.x, want.x) && equal(got.y, want.y);
    snprintf(b.note, b.note_size, "%s%s", what, ok ? "result right" : "RESULT WRONG");
}
// The bases of a sum and their copies; those of turned bases fit windows sets.
template <class F>
static cuzk_status make_copies(bench_job &b, uint4 *bases, size_t n, int copies, bool turned, int windows)
{
    size_t words = n * (turned ? 4 : 2) * F::QUADS;
    fr step, factor;
    set_zero(step);
    step.l[0] = turned ? hex_radix(windows * copies) : 2;
    step = pow(to_mont(step), turned ? windows : copy_bits(copies));
    set_one(factor);
    for (int i = 0; i < copies; i++) {
        GPU_TRY(make_bases<F>(b, bases + i * words, n, i ? &factor : nullptr, turned));
        factor = mul_reduce(factor, step);
    }
    return CUZK_OK;
}
// Scratch for as many windows together as memory has room for beside own bytes.
template <class F>
static cuzk_status msm_room(context &c, size_t n, int copies, bool turned, int windows, size_t own,
                            size_t *bytes)
{
    size_t room;
    GPU_TRY(available(c, &room));
    room += c.on->scratch.size;
    for (int passes = 1; passes <= windows; passes++) {
        *bytes = msm_bytes<F>(c.dev, n, copies, n * copies * div_up(windows, passes), turned, windows);
        if (own + *bytes <= room)
            break;
    }
    return CUZK_OK;
}
// variant: copies of the bases, windows in the byte above, PLAIN_BASES for bases that are not turned.
constexpr uint32_t PLAIN_BASES = 1 << 16;
template <class F> static cuzk_status bench_msm(bench_job &b)
{
    context &c = b.c;
    bool turned = !(b.variant & PLAIN_BASES);
    size_t n = b.n(), point = sizeof(affine<F>) * (turned ? 2 : 1);
    int copies = b.variant & 255 ? (int)(b.variant & 255) : 1, windows = (int)(b.variant >> 8 & 255);
    if (!windows)
        windows = msm_windows(n, copies, turned);
    if (!msm_can_cut(windows, copies, turned))
        return fail(c.err, CUZK_INVALID_ARGUMENT, "%d copies and %d windows cannot be measured", copies,
                    windows);
    GPU_TRY(fixed_prepare<F>(c, 16));
    size_t own = aligned(n * copies * point) + aligned(32 * n);
    size_t work = 0;
    GPU_TRY(msm_room<F>(c, n, copies, turned, windows, own, &work));
    work = std::max(work, fixed_run<F>::bytes(c.dev, 1 << 19, 16) + ((size_t)500 << 19));
    GPU_TRY(use_scratch(c, own + ((size_t)64 << 20), own + work));
    uint4 *bases, *s;
    GPU_TRY(take(c, &bases, n * copies * point / 16));
    GPU_TRY(take(c, &s, 2 * n));
    GPU_TRY(make_copies<F>(b, bases, n, copies, turned, windows));
    GPU_LAUNCH(fill_random, div_up(n, 256), 256, 0, c.stream, s, n, SCALAR_SEED, (size_t)0);
    GPU_CHECK_LAUNCH(c);
    affine<F> want;
    GPU_TRY(expected_sum<F>(b, s, nullptr, n, &want));
    msm_terms<F> t;
    t.bases = bases;
    t.scalars = s;
    t.n = t.stride = n;
    t.copies = copies;
    t.windows = windows;
    t.turned = turned;
    std::vector<window_sums<F>> w(1);
    GPU_TRY(b.t.run(c, b.repeat, [&] { return msm_sum<F>(c, t, &w[0]); }));
    // two for each bucket, one less for the first of its points
    double additions = (double)n * copies * w[0].windows + (double)w[0].buckets;
    b.needs(additions * ADDITION<F>, LIMIT_FP);
    char what[80];
    snprintf(what, sizeof what, "%s bases, %d windows, %d copies, ", turned ? "turned" : "plain",
             w[0].windows, copies);
    report_sum<F>(b, w[0], want, what);
    return CUZK_OK;
}
template <class F> static cuzk_status bench_subset(bench_job &b)
{
    context &c = b.c;
    size_t n = b.n(), point = sizeof(affine<F>), words = div_up(n, 64);
    GPU_TRY(fixed_prepare<F>(c, 16));
    size_t own = aligned(n * point) + aligned(8 * words);
    size_t work = std::max(subset_bytes<F>(c.dev, n / 2 + n / 64 + 4096) + ((size_t)64 << 20),
                           fixed_run<F>::bytes(c.dev, 1 << 19, 16) + ((size_t)200 << 19));
    GPU_TRY(use_scratch(c, own + ((size_t)64 << 20), own + work));
    uint4 *bases;
    uint64_t *bits;
    GPU_TRY(take(c, &bases, n * 2 * F::QUADS));
    GPU_TRY(take(c, &bits, words));
    GPU_TRY(make_bases<F>(b, bases, n, nullptr, false));
    GPU_LAUNCH(fill_bits, div_up(words, 256), 256, 0, c.stream, bits, words, SCALAR_SEED);
    GPU_CHECK_LAUNCH(c);
    affine<F> want;
    GPU_TRY(expected_sum<F>(b, nullptr, bits, n, &want));
    subset_terms<F> t;
    t.bases = bases;
    t.bits = bits;
    t.words = words;
    std::vector<window_sums<F>> w(1);
    GPU_TRY(b.t.run(c, b.repeat, [&] { return subset_sum<F>(c, t, &w[0]); }));
    b.needs((double)n / 2 * ADDITION<F>, LIMIT_FP);
    report_sum<F>(b, w[0], want, "half of the points, ");
    return CUZK_OK;
}
// ---- transforms: checked by evaluation at a random point ----
static __global__ void evaluate(const uint4 *x, size_t n, fr z, uint4 *part, int chunk)
{
    size_t j = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (j * chunk >= n)
        return;
    fr s;
    set_zero(s);
    for (int i = chunk - 1; i >= 0; i--)
        if (j * chunk + i < n)
            s = add(mul(z, s), load_fr(x + 2 * (j * chunk + i)));
    store_fr(part + 2 * j, mul_reduce(s, pow(z, j * chunk)));
}
static __global__ void add_all(const uint4 *p, size_t n, uint4 *out)
{
    fr s;
    set_zero(s);
    for (size_t i = threadIdx.x; i < n; i += blockDim.x)
        s = add(s, load_fr(p + 2 * i));
    store_fr(out + 2 * threadIdx.x, reduce(s));
}
// The polynomial with coefficients x at z, canonical.
static cuzk_status value_at(context &c, const uint4 *x, size_t n, const fr &z, fr *out)
{
    arena_mark mark(c);
    constexpr int CHUNK = 64, SUMS = 256;
    size_t parts = div_up(n, CHUNK);
    uint4 *part, *sum;
    GPU_TRY(take(c, &part, 2 * parts));
    GPU_TRY(take(c, &sum, 2 * SUMS));
    GPU_LAUNCH(evaluate, div_up(parts, 128), 128, 0, c.stream, x, n, z, part, CHUNK);
    GPU_CHECK_LAUNCH(c);
    GPU_LAUNCH(add_all, 1, SUMS, 0, c.stream, part, parts, sum);
    GPU_CHECK_LAUNCH(c);
    fr h[SUMS];
    GPU_TRY(download(c, h, sum, sizeof h));
    set_zero(*out);
    for (const fr &v : h)
        *out = add(*out, v);
    *out = reduce(*out);
    return CUZK_OK;
}
// Products of a transform in units of a Montgomery product, of 112 wide ones: for eight elements in three
// levels seven by powers (88, but for the deepest stage) and four by constants (76).
static double transform_products(int log)
{
    double by_powers = 7 * (88.0 * (log - 3) + 112.0 * 3), by_constants = 4 * 76.0 * log;
    return (by_powers + by_constants) / 112 / 24 * (double)((size_t)1 << log);
}
static cuzk_status bench_ntt(bench_job &b, bool inverse)
{
    context &c = b.c;
    size_t n = b.n();
    int log = (int)b.log;
    bool coset = b.variant;
    GPU_TRY(ntt_prepare(c, log));
    GPU_TRY(use_scratch(c, 2 * aligned(32 * n) + n + 65536));
    uint4 *x, *y;
    GPU_TRY(take(c, &x, 2 * n));
    GPU_TRY(take(c, &y, 2 * n));
    GPU_LAUNCH(fill_random, div_up(n, 256), 256, 0, c.stream, x, n, SCALAR_SEED, (size_t)0);
    GPU_CHECK_LAUNCH(c);
    fr factor = ntt_size_inverse(log), got, want, z;
    GPU_TRY(b.t.run(c, b.repeat, [&] {
        return inverse ? ntt_inverse(c, x, y, log, coset, factor, SLOT_PLAIN)
                       : ntt_forward(c, x, y, log, coset);
    }));
    b.needs(transform_products(log) + (inverse ? (double)n : 0), LIMIT_FR);
    // position p of the bit-reversed side is the value at w^brev(p), times the root of order 2n on the coset
    size_t p = mix(7) % n, r = 0;
    for (int i = 0; i < log; i++)
        r |= (p >> i & 1) << (log - 1 - i);
    z = pow(ntt_root(log), r);
    if (coset)
        z = mul_reduce(z, ntt_root(log + 1));
    const uint4 *coefficients = inverse ? y : x, *values = inverse ? x : y;
    GPU_TRY(value_at(c, coefficients, n, z, &want));
    GPU_TRY(download(c, &got, values + 2 * p, 32));
    snprintf(b.note, b.note_size, "%s%s", coset ? "coset, " : "",
             equal(got, want) ? "result right" : "RESULT WRONG");
    return CUZK_OK;
}
// A(z) B(z) - C(z) = h(z) (z^n - 1) at a random z; C(z) by the checked inverse of the product of values.
static cuzk_status bench_h(bench_job &b)
{
    context &c = b.c;
    size_t n = b.n();
    int log = (int)b.log;
    GPU_TRY(ntt_prepare(c, log));
    bool natural = b.variant;
    GPU_TRY(use_scratch(c, (natural ? 4 : 3) * aligned(32 * n) + n + 65536));
    uint4 *x, *y, *h, *spare = nullptr;
    GPU_TRY(take(c, &x, 2 * n));
    GPU_TRY(take(c, &y, 2 * n));
    GPU_TRY(take(c, &h, 2 * n));
    if (natural)
        GPU_TRY(take(c, &spare, 2 * n));
    auto fill = [&] {
        GPU_LAUNCH(fill_random, div_up(n, 256), 256, 0, c.stream, x, n, SCALAR_SEED, (size_t)0);
        GPU_LAUNCH(fill_random, div_up(n, 256), 256, 0, c.stream, y, n, SCALAR_SEED + 1, (size_t)0);
    };
    for (uint32_t i = 0; i <= b.repeat; i++) {
        fill();
        GPU_TRY(synchronize(c));
        double t = now_ms();
        GPU_TRY(ntt_quotient(c, x, y, h, log, spare));
        GPU_TRY(synchronize(c));
        if (i)
            b.t.ms.push_back(now_ms() - t);
    }
    std::sort(b.t.ms.begin(), b.t.ms.end());
    b.needs(6 * transform_products(log) + 4 * (double)n, LIMIT_FR);
    fr z = random_fr(5, 0), zn = z, hz, az, bz, cz, one, factor = ntt_size_inverse(log);
    for (int i = 0; i < log; i++)
        zn = mul_reduce(zn, zn);
    set_one(one);
    GPU_TRY(value_at(c, h, n, z, &hz)); // h holds integers: the value is h(z) without the Montgomery factor
    hz = to_mont(hz);
    fill();
    if (natural) {
        GPU_TRY(ntt_reverse(c, x, log));
        GPU_TRY(ntt_reverse(c, y, log));
    }
    GPU_LAUNCH(multiply_values, div_up(n, 256), 256, 0, c.stream, x, y, h, n);
    GPU_CHECK_LAUNCH(c);
    GPU_TRY(ntt_inverse(c, h, h, log, false, factor, SLOT_PLAIN));
    GPU_TRY(value_at(c, h, n, z, &cz));
    GPU_TRY(ntt_inverse(c, x, x, log, false, factor, SLOT_PLAIN));
    GPU_TRY(value_at(c, x, n, z, &az));
    GPU_TRY(ntt_inverse(c, y, y, log, false, factor, SLOT_PLAIN));
    GPU_TRY(value_at(c, y, n, z, &bz));
    fr left = reduce(sub(mul_reduce(az, bz), cz)), right = mul_reduce(hz, reduce(sub(zn, one)));
    snprintf(b.note, b.note_size, "%s%s", natural ? "from natural order, " : "",
             equal(left, right) ? "result right" : "RESULT WRONG");
    return CUZK_OK;
}
// ---- limits of the device ----
template <class T> static cuzk_status bench_multiply(bench_job &b)
{
    context &c = b.c;
    int blocks = c.dev->processors * 8, rounds = 4000;
    GPU_TRY(use_scratch(c, (size_t)blocks * 128 * sizeof(T) + 1024 * sizeof(T)));
    T *in, *out;
    GPU_TRY(take(c, &in, 1024));
    GPU_TRY(take(c, &out, (size_t)blocks * 128));
    GPU_CUDA(c, cudaMemsetAsync(in, 0x11, 1024 * sizeof(T), c.stream));
    GPU_TRY(b.t.run(c, b.repeat, [&] {
        GPU_LAUNCH((multiply_chain<T>), blocks, 128, 0, c.stream, in, out, rounds);
        GPU_CHECK_LAUNCH(c);
        return CUZK_OK;
    }));
    double products = (double)blocks * 128 * rounds;
    b.needs(products * (sizeof(T) == sizeof(fp2) ? 2.4 : 1), sizeof(T) == sizeof(fr) ? LIMIT_FR : LIMIT_FP);
    snprintf(b.note, b.note_size, "%.2f G products a second", products / b.t.ms[0] / 1e6);
    return CUZK_OK;
}
// Products by seven: wide is how many of the multiplier's products each takes, 112 without a factor known.
template <class Way> static cuzk_status bench_fixed(bench_job &b, int wide)
{
    context &c = b.c;
    constexpr uint32_t seven[8] = FR_SEVEN;
    int blocks = c.dev->processors * 8, rounds = 4000;
    GPU_TRY(use_scratch(c, (size_t)blocks * 128 * sizeof(fr) + 1024 * sizeof(fr)));
    uint4 *in, *out;
    GPU_TRY(take(c, &in, 2 * 1024));
    GPU_TRY(take(c, &out, (size_t)blocks * 128 * 2));
    GPU_LAUNCH(fill_random, 4, 256, 0, c.stream, in, (size_t)1024, SCALAR_SEED, (size_t)0);
    GPU_CHECK_LAUNCH(c);
    fr w = fr_const(seven), v = lower_factor(w), got;
    GPU_TRY(b.t.run(c, b.repeat, [&] {
        GPU_LAUNCH((multiply_fixed<Way>), blocks, 128, 0, c.stream, v, w, (const fr *)in, (fr *)out, rounds);
        GPU_CHECK_LAUNCH(c);
        return CUZK_OK;
    }));
    size_t at = mix(9) % 1024;
    GPU_TRY(download(c, &got, out + 2 * at, 32));
    fr want = mul_reduce(pow(w, (uint64_t)rounds), random_fr(SCALAR_SEED, at));
    double products = (double)blocks * 128 * rounds;
    b.needs(products * wide / 112, LIMIT_FR);
    snprintf(b.note, b.note_size, "%.2f G products a second, %s", products / b.t.ms[0] / 1e6,
             equal(reduce(got), want) ? "result right" : "RESULT WRONG");
    return CUZK_OK;
}
static cuzk_status bench_copy(bench_job &b, bool up)
{
    context &c = b.c;
    size_t bytes = b.n();
    GPU_TRY(use_scratch(c, 2 * aligned(bytes)));
    uint8_t *x, *y;
    GPU_TRY(take(c, &x, bytes));
    GPU_TRY(take(c, &y, bytes));
    std::vector<uint8_t> host(up ? bytes : 0, 3);
    GPU_TRY(b.t.run(c, b.repeat, [&]() -> cuzk_status {
        if (up)
            return upload(c, x, host.data(), bytes, c.stream);
        GPU_CUDA(c, cudaMemcpyAsync(y, x, bytes, cudaMemcpyDeviceToDevice, c.stream));
        return CUZK_OK;
    }));
    b.needs((double)bytes * (up ? 1 : 2), up ? LIMIT_UPLOAD : LIMIT_MEMORY);
    snprintf(b.note, b.note_size, "%.1f GB/s", b.work / b.t.ms[0] / 1e6);
    return CUZK_OK;
}
template <class F> static cuzk_status bench_points(bench_job &b, bool check)
{
    context &c = b.c;
    size_t n = b.n();
    GPU_TRY(fixed_prepare<F>(c, 16));
    size_t work = fixed_run<F>::bytes(c.dev, 1 << 19, 16) + ((size_t)200 << 19);
    GPU_TRY(use_scratch(c, 2 * aligned(n * sizeof(affine<F>)) + work));
    uint4 *k, *sums, *encoded, *points;
    unsigned long long *problem, found;
    fixed_run<F> run;
    size_t chunk = std::min<size_t>(n, 1 << 19), rounds = n / chunk;
    GPU_TRY(take(c, &encoded, n * 2 * F::QUADS));
    GPU_TRY(take(c, &points, n * 2 * F::QUADS));
    GPU_TRY(take(c, &problem, 1));
    GPU_TRY(take(c, &k, 2 * chunk));
    GPU_TRY(take(c, &sums, 2 * F::QUADS * chunk));
    GPU_TRY(run.init(c, chunk));
    double start = now_ms();
    for (size_t i = 0; i < rounds; i++) {
        GPU_LAUNCH(fill_random, div_up(chunk, 256), 256, 0, c.stream, k, chunk, BASE_SEED, i * chunk);
        GPU_TRY(run.multiply(c, k, chunk, sums));
        GPU_TRY(encode_points<F>(c, encoded + i * chunk * 2 * F::QUADS, sums, chunk));
    }
    GPU_TRY(synchronize(c));
    double made = now_ms() - start;
    GPU_CUDA(c, cudaMemsetAsync(problem, 0xff, 8, c.stream));
    GPU_TRY(b.t.run(c, b.repeat, [&]() -> cuzk_status {
        GPU_CUDA(c,
                 cudaMemcpyAsync(points, encoded, n * sizeof(affine<F>), cudaMemcpyDeviceToDevice, c.stream));
        return decode_points<F>(c, points, n, 0, check, problem);
    }));
    GPU_TRY(download(c, &found, problem, sizeof found));
    // a check multiplies by the curve's parameter, of 64 bits and 6 ones, twice in G1 and once in G2: 8.5
    // products a doubling, 13.6 an addition
    double times = F::QUADS == 3 ? 2 * (63 * 8.5 + 5 * 13.6) : 2.4 * (63 * 8.5 + 5 * 13.6);
    if (check)
        b.needs((double)n * times, LIMIT_FP);
    else // copied and decoded: both read and write
        b.needs((double)n * 4 * sizeof(affine<F>), LIMIT_MEMORY);
    snprintf(b.note, b.note_size, "made in %.1f ms, %s", made, found == ~0ull ? "all good" : "RESULT WRONG");
    return CUZK_OK;
}
static cuzk_status run_bench(bench_job &b, const char *op)
{
    struct {
        const char *name;
        cuzk_status (*run)(bench_job &);
    } static const table[] = {
        {"copy", [](bench_job &j) { return bench_copy(j, false); }},
        {"upload", [](bench_job &j) { return bench_copy(j, true); }},
        {"fp-mul", bench_multiply<fp>},
        {"fr-mul", bench_multiply<fr>},
        {"fr-mul-rows", [](bench_job &j) { return bench_fixed<by_rows>(j, 76); }},
        {"fr-mul-split", [](bench_job &j) { return bench_fixed<by_split>(j, 88); }},
        {"fp2-mul", bench_multiply<fp2>},
        {"ntt", [](bench_job &j) { return bench_ntt(j, false); }},
        {"ntt-inverse", [](bench_job &j) { return bench_ntt(j, true); }},
        {"h", bench_h},
        {"msm-g1", bench_msm<fp>},
        {"msm-g2", bench_msm<fp2>},
        {"subset-g1", bench_subset<fp>},
        {"subset-g2", bench_subset<fp2>},
        {"spmv", bench_spmv},
        {"witness-expand", bench_expand},
        {"decode-g1", [](bench_job &j) { return bench_points<fp>(j, false); }},
        {"check-g1", [](bench_job &j) { return bench_points<fp>(j, true); }},
        {"decode-g2", [](bench_job &j) { return bench_points<fp2>(j, false); }},
        {"check-g2", [](bench_job &j) { return bench_points<fp2>(j, true); }},
    };
    for (const auto &t : table)
        if (!strcmp(op, t.name))
            return t.run(b);
    return fail(b.c.err, CUZK_INVALID_ARGUMENT, "there is no operation %.40s to measure", op);
}
static cuzk_status bench(cuzk_device *dev, const char *operation, uint32_t log, uint32_t variant,
                         uint32_t repeat, double *best, double *median, char *note, size_t note_size,
                         cuzk_error *err)
{
    std::lock_guard<std::mutex> guard(dev->main.lock);
    bench_job b;
    GPU_TRY(context_begin(b.c, dev, dev->main, err));
    if (log > 34 || repeat == 0)
        return fail(err, CUZK_INVALID_ARGUMENT, "a size of 2^%u cannot be measured", log);
    b.log = log;
    b.variant = variant;
    b.repeat = repeat;
    b.note = note;
    b.note_size = note_size;
    note[0] = 0;
    drop_scratch(dev, dev->main); // a sum before may have taken all memory that tables need
    GPU_TRY(run_bench(b, operation));
    size_t used = strlen(note);
    if (b.work > 0)
        snprintf(note + used, note_size - used, ", %.2f of the limit of %s: %.3f ms",
                 b.work / b.limit.rate * 1e3 / b.t.ms.front(), b.limit.what, b.work / b.limit.rate * 1e3);
    *best = b.t.ms.front();
    *median = b.t.ms[b.t.ms.size() / 2];
    return CUZK_OK;
}
} // namespace gpu

extern "C" __attribute__((visibility("default"))) cuzk_backend_bench_fn cuzk_backend_bench;
cuzk_status cuzk_backend_bench(cuzk_device *dev, const char *operation, uint32_t log, uint32_t variant,
                               uint32_t repeat, double *best, double *median, char *note, size_t note_size,
                               cuzk_error *err)
{
    try {
        return gpu::bench(dev, operation, log, variant, repeat, best, median, note, note_size, err);
    } catch (...) {
        return gpu::fail(err, CUZK_OUT_OF_MEMORY, "memory for a measurement could not be had");
    }
}
