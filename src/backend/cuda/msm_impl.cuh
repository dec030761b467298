// Implementation of msm.cuh; compiled once per field by msm_g1.cu and msm_g2.cu.
//
// Digits come in two kinds. Turned bases: msm_hex.cuh. Signed windows: a scalar k (or its negation, whichever
// is smaller) plus a constant is cut into digits d - 2^(w-1), so that a window of w bits needs 2^(w-1)
// buckets. References are sorted by (window, bucket); runs.cuh sums the buckets. Buckets are reduced by rows
// and columns: with bucket d = h L + l, sum d S_d = L sum_h h (row h) + sum_l l (column l), with bucket x + y
// (1 + w), sum_x x (column x) + (1 + w) sum_y y (row y); rows and columns are runs again.
#pragma once
#include "msm.cuh"
#include "msm_hex.cuh"
#include "sort.cuh"
#include "witness.cuh"

namespace gpu
{
// ---- windows ----
struct window_plan {
    int windows, copies, bits;
    int off[MAX_WINDOWS + 1], width[MAX_WINDOWS];
    uint32_t first_bucket[MAX_WINDOWS + 1];
    uint32_t recode[10]; // sum of 2^(top bit of each window)
};
static window_plan plan_windows(int windows, int copies)
{
    window_plan p;
    memset(&p, 0, sizeof p);
    p.windows = windows;
    p.copies = copies;
    p.bits = copy_bits(copies);
    int o = 0;
    for (int i = 0; i < windows; i++) {
        int w = p.bits / windows + (i < p.bits % windows);
        p.off[i] = o;
        p.width[i] = w;
        p.first_bucket[i + 1] = p.first_bucket[i] + (1u << (w - 1)) + 1; // bucket 0 stays empty
        o += w;
        for (int c = 0; c < copies; c++) {
            int b = c * p.bits + o - 1;
            p.recode[b >> 5] |= 1u << (b & 31);
        }
    }
    p.off[windows] = o;
    return p;
}
struct digit_args {
    const uint4 *scalars;
    const uint32_t *base_index, *scalar_index;
    size_t stride;
    uint32_t n, none; // none: the key of zero digits, behind all buckets
    int first, count; // windows
    uint32_t *keys, *vals;
};
static __global__ void make_digits(window_plan P, digit_args D)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= D.n)
        return;
    const uint32_t r[8] = FR_P32;
    size_t at = 2 * (size_t)(D.scalar_index ? D.scalar_index[i] : i);
    uint32_t base = D.base_index ? D.base_index[i] : i;
    uint4 a = D.scalars[at], b = D.scalars[at + 1];
    uint32_t k[11] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, 0, 0, 0}, t[8];
    t[0] = sub_cc(r[0], k[0]);
    UNROLL for (int q = 1; q < 7; q++) t[q] = subc_cc(r[q], k[q]);
    t[7] = subc(r[7], k[7]);
    bool negated =
        t[7] < k[7]; // r - k < k by the top limb: |k| < 2^254 - 2^224, so that the top window has no carry
    UNROLL for (int q = 0; q < 8; q++) k[q] = negated ? t[q] : k[q];
    k[0] = add_cc(k[0], P.recode[0]);
    UNROLL for (int q = 1; q < 9; q++) k[q] = addc_cc(k[q], P.recode[q]);
    k[9] = addc(k[9], P.recode[9]);
    for (int g = 0; g < D.count; g++)
        for (int c = 0; c < P.copies; c++) {
            int o = P.off[D.first + g] + c * P.bits, w = P.width[D.first + g], q = o >> 5;
            uint32_t lo = 0, hi = 0;
            UNROLL for (int z = 0; z < 10; z++)
            {
                if (z == q) {
                    lo = k[z];
                    hi = k[z + 1];
                }
            }
            uint32_t v = (uint32_t)((((uint64_t)hi << 32) | lo) >> (o & 31)) & ((1u << w) - 1);
            int32_t d = (int32_t)v - (1 << (w - 1));
            bool minus = negated ^ (d < 0);
            uint32_t m = d < 0 ? -d : d;
            size_t p = (size_t)(g * P.copies + c) * D.n + i;
            uint32_t bucket = P.first_bucket[D.first + g] - P.first_bucket[D.first] + m;
            D.keys[p] = m ? bucket : D.none;
            D.vals[p] = ((uint32_t)(c * D.stride) + base) | (minus ? 0x80000000u : 0u);
        }
}
static __global__ void make_hex_digits(hex_plan P, hex_start start, digit_args D)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= D.n)
        return;
    size_t at = 2 * (size_t)(D.scalar_index ? D.scalar_index[i] : i);
    uint32_t base = D.base_index ? D.base_index[i] : i;
    uint4 a = D.scalars[at], b = D.scalars[at + 1];
    uint32_t k[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
    int copy = P.copies - 1, set = D.first + D.count - 1;
    hex_digits digits(P, start, k);
    for (; digits.at >= D.first; set--) {
        int32_t x, y;
        digits.next(P, x, y);
        if (set < 0) {
            set = P.sets - 1;
            copy--;
        }
        if (set < D.first || set >= D.first + D.count)
            continue;
        uint32_t turn;
        bool minus;
        uint32_t bucket = hex_bucket(P, x, y, turn, minus);
        size_t p = (size_t)((set - D.first) * P.copies + copy) * D.n + i;
        D.keys[p] = bucket == NO_BUCKET ? D.none : (uint32_t)(set - D.first) * P.buckets + bucket;
        D.vals[p] = (((uint32_t)(copy * D.stride) + base) * 4 + turn) | (minus ? 0x80000000u : 0u);
    }
}

// ---- reduction of the buckets ----
// Runs weighed 1 .. H, then runs weighed 1 .. L - 1. Signed windows: H rows of L buckets, then columns;
// turned bases: columns x = 1 .. H, then rows y = 1 .. L - 1.
struct reduction {
    uint32_t buckets, L, H, first_bucket;
    uint32_t first_element, first_key; // in the lists of all windows
    HD uint32_t keys() const { return H + L - 1; }
};
struct reductions {
    reduction w[MAX_WINDOWS];
};
static __global__ void list_rows_and_columns(reduction c, uint32_t *keys, uint32_t *vals)
{
    uint32_t d = blockIdx.x * blockDim.x + threadIdx.x;
    if (d >= c.buckets)
        return;
    uint32_t h = d / c.L, l = d % c.L, rows = c.buckets - c.L;
    if (h) {
        keys[c.first_element + d - c.L] = c.first_key + h - 1;
        vals[c.first_element + d - c.L] = c.first_bucket + d;
    }
    if (l) {
        uint32_t p = c.first_element + rows + (l - 1) * c.H + h;
        keys[p] = c.first_key + c.H + l - 1;
        vals[p] = c.first_bucket + d;
    }
}
// The same for turned bases, all windows: column x has a bucket more than row x.
static __global__ void list_hex_rows_and_columns(hex_plan P, uint32_t *keys, uint32_t *vals)
{
    size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t h = P.half, cell = (uint32_t)(t % ((size_t)h * h)), set = (uint32_t)(t / ((size_t)h * h));
    uint32_t x = cell % h + 1, y = cell / h;
    if (set >= (uint32_t)P.sets || x > hex_row_length(P, y))
        return;
    uint32_t in_row = hex_row(P, y) + x - 1, in_column = hex_row(P, x) - h + x - 1 + y;
    size_t first = (size_t)set * (2 * P.buckets - h);
    uint32_t key = set * (2 * h - 1);
    keys[first + in_column] = key + x - 1;
    vals[first + in_column] = set * P.buckets + in_row;
    if (y) {
        keys[first + P.buckets + in_row - h] = key + h + y - 1;
        vals[first + P.buckets + in_row - h] = set * P.buckets + in_row;
    }
}
template <class F>
__global__ void weigh_rows_and_columns(point_src s, reductions all, int windows, xyzz<F> *out, uint32_t pad)
{ // for each window pad runs weighed 1 .. H, then pad runs weighed 1 .. L - 1
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= 2 * windows * pad)
        return;
    reduction c = all.w[t / pad / 2];
    uint32_t i = t % pad, second = t / pad % 2;
    xyzz<F> a;
    set_infinity(a);
    if (i < (second ? c.L - 1 : c.H)) {
        uint32_t weight = i + 1, key = c.first_key + i + (second ? c.H : 0);
        F x = load_x<F>(s, key), y = load_y<F>(s, key);
        a = point_times(x, y, &weight, 15);
    }
    out[t] = a;
}
template <class F>
__global__ void fold_sums(const xyzz<F> *in, xyzz<F> *out, uint32_t n, uint32_t factor, uint32_t windows)
{
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x, m = n / factor;
    if (t >= windows * m)
        return;
    uint32_t w = t / m, i = t % m;
    xyzz<F> a = in[w * n + i];
    for (uint32_t k = 1; k < factor; k++)
        point_add(a, in[w * n + i + k * m]);
    out[t] = a;
}
template <class F> __global__ void lift_points(point_src s, uint32_t n, xyzz<F> *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    xyzz<F> a;
    set_infinity(a);
    point_add_affine(a, load_x<F>(s, i), load_y<F>(s, i));
    out[i] = a;
}
// n points (a power of two) of each set down to their sum, downloaded.
template <class F>
static cuzk_status fold(context &c, xyzz<F> *a, xyzz<F> *b, uint32_t n, int sets, xyzz<F> *sums)
{
    while (n > 1) {
        uint32_t factor = n < 8 ? n : 8;
        GPU_LAUNCH((fold_sums<F>), div_up((size_t)sets * n / factor, 32), 32, 0, c.stream, a, b, n, factor,
                   (uint32_t)sets);
        GPU_CHECK_LAUNCH(c);
        std::swap(a, b);
        n /= factor;
    }
    return download(c, sums, a, sets * sizeof *a);
}

// ---- the sum ----
// How scalars are cut: windows, or sets of buckets, for all copies together.
struct msm_cut {
    int windows, copies;
    bool turned;
};
template <class F> struct msm_sizes {
    msm_cut cut;
    window_plan plan; // signed windows
    hex_plan hex;     // turned bases
    reductions red;
    int group; // windows sorted together
    uint32_t first_bucket[MAX_WINDOWS + 1];
    uint32_t buckets, group_buckets, reduce_keys, reduce_elements, pad;
    size_t elements; // references sorted at a time, or elements of the reduction
    size_t bytes;
};
// The reduction of each window, and where its buckets begin.
template <class F> static void reduction_sizes(msm_sizes<F> &s)
{
    for (int i = 0; i < s.cut.windows; i++) {
        reduction &r = s.red.w[i];
        uint32_t elements;
        if (s.cut.turned) {
            r.buckets = s.hex.buckets;
            r.L = r.H = s.hex.half;
            elements = 2 * r.buckets - r.H;
        } else {
            r.buckets = (1u << (s.plan.width[i] - 1)) + 1;
            r.L = 1u << (s.plan.width[i] / 2);
            r.H = (r.buckets - 1) / r.L;
            elements = r.buckets - r.L + (r.L - 1) * r.H;
        }
        r.first_bucket = s.first_bucket[i] = s.buckets;
        r.first_element = s.reduce_elements;
        r.first_key = s.reduce_keys;
        s.buckets += r.buckets;
        s.reduce_elements += elements;
        s.reduce_keys += r.keys();
        while (s.pad < std::max(r.H, r.L - 1))
            s.pad *= 2;
    }
    s.first_bucket[s.cut.windows] = s.buckets;
}
template <class F>
static msm_sizes<F> msm_size(const cuzk_device *dev, size_t n, const msm_cut &cut, int group)
{
    msm_sizes<F> s;
    int windows = cut.windows;
    memset(&s, 0, sizeof s);
    s.cut = cut;
    s.group = group;
    s.pad = 1;
    if (cut.turned)
        s.hex = plan_hex(windows, cut.copies);
    else
        s.plan = plan_windows(windows, cut.copies);
    reduction_sizes(s);
    for (int i = 0; i < windows; i += group) {
        uint32_t b = s.first_bucket[std::min(i + group, windows)] - s.first_bucket[i];
        s.group_buckets = std::max(s.group_buckets, b);
    }
    s.elements = std::max(n * group * cut.copies, (size_t)s.reduce_elements);
    s.bytes = run_scratch<F>::bytes(dev, s.elements, std::max(s.group_buckets, s.reduce_keys) + 1) +
              aligned((size_t)s.buckets * 32 * F::QUADS) + aligned((size_t)s.reduce_keys * 32 * F::QUADS) +
              aligned((size_t)windows * 2 * s.pad * sizeof(xyzz<F>)) * 9 / 8 + 1024;
    return s;
}
// The largest group of windows that fits; 0 if none does.
template <class F>
static int choose_group(const cuzk_device *dev, size_t n, const msm_cut &cut, size_t budget,
                        size_t references)
{
    constexpr size_t MOST = ((size_t)1 << 31) - 1; // runs count references in 31 bits
    references = std::min(references, MOST);
    if (n * cut.copies >= (size_t)1 << (cut.turned ? 29 : 30))
        return 0; // a reference has 31 bits, with turned bases two for the turn
    for (int passes = 1; passes <= cut.windows; passes++) {
        int group = (cut.windows + passes - 1) / passes;
        if (n * group * cut.copies > references && group > 1)
            continue;
        if (msm_size<F>(dev, n, cut, group).bytes <= budget)
            return group;
    }
    return 0;
}
template <class F>
size_t msm_bytes(const cuzk_device *dev, size_t n, int copies, size_t references, bool turned, int windows)
{
    msm_cut cut = {windows ? windows : msm_windows(n, copies, turned), copies, turned};
    return msm_size<F>(dev, n, cut, choose_group<F>(dev, n, cut, SIZE_MAX, references)).bytes;
}
// The buckets of all windows, a group at a time.
template <class F>
static cuzk_status sum_buckets(context &c, const msm_terms<F> &t, size_t begin, size_t n,
                               const msm_sizes<F> &s, run_scratch<F> &w, uint4 *buckets)
{
    int copies = s.cut.copies;
    size_t record = (t.turned ? 4 : 2) * F::QUADS;
    digit_args d;
    d.scalars = t.scalars + (t.scalar_index ? 0 : 2 * begin);
    d.base_index = t.base_index ? t.base_index + begin : nullptr;
    d.scalar_index = t.scalar_index ? t.scalar_index + begin : nullptr;
    d.stride = t.stride;
    d.n = (uint32_t)n;
    const uint4 *base = (const uint4 *)t.bases + (t.base_index ? 0 : record * begin);
    point_src src = t.turned ? turned_points<F>(base) : packed_points<F>(base);
    for (int w0 = 0; w0 < s.cut.windows; w0 += s.group) {
        int g = std::min(s.group, s.cut.windows - w0), bits = 1;
        size_t refs = n * g * copies;
        d.first = w0;
        d.count = g;
        d.none = s.first_bucket[w0 + g] - s.first_bucket[w0];
        d.keys = w.key[0];
        d.vals = w.val[0];
        while ((1ull << bits) <= d.none)
            bits++;
        if (t.turned)
            GPU_LAUNCH(make_hex_digits, div_up(n, 256), 256, 0, c.stream, s.hex,
                       start_hex(s.hex, (copies - 1) * s.hex.sets + w0 + g - 1), d);
        else
            GPU_LAUNCH(make_digits, div_up(n, 256), 256, 0, c.stream, s.plan, d);
        GPU_CHECK_LAUNCH(c);
        GPU_TRY(sort_pairs(c, w.key, w.val, refs, bits));
        GPU_TRY(sum_runs<F>(c, w, src, refs, d.none, buckets, s.buckets, s.first_bucket[w0]));
    }
    return CUZK_OK;
}
// Rows and columns of the buckets.
template <class F>
static cuzk_status sum_rows_and_columns(context &c, const msm_sizes<F> &s, run_scratch<F> &w, uint4 *buckets,
                                        uint4 *sums)
{
    if (s.cut.turned) {
        size_t cells = (size_t)s.hex.half * s.hex.half * s.cut.windows;
        GPU_LAUNCH(list_hex_rows_and_columns, div_up(cells, 256), 256, 0, c.stream, s.hex, w.key[0],
                   w.val[0]);
        GPU_CHECK_LAUNCH(c);
    }
    for (int i = 0; i < s.cut.windows && !s.cut.turned; i++) {
        GPU_LAUNCH(list_rows_and_columns, div_up(s.red.w[i].buckets, 256), 256, 0, c.stream, s.red.w[i],
                   w.key[0], w.val[0]);
        GPU_CHECK_LAUNCH(c);
    }
    return sum_runs<F>(c, w, plane_points<F>(buckets, s.buckets), s.reduce_elements, s.reduce_keys, sums,
                       s.reduce_keys, 0);
}
// The sum of a window from the weighed sums of its two kinds of runs.
template <class F> static xyzz<F> join_kinds(const msm_sizes<F> &s, int window, xyzz<F> first, xyzz<F> second)
{
    if (s.cut.turned) { // columns, and 1 + w times the rows
        point_add(first, second);
        second.x = times_beta(second.x);
    } else {
        for (uint32_t weight = 1; weight < s.red.w[window].L; weight *= 2)
            point_dbl(first);
    }
    point_add(first, second);
    return first;
}
template <class F>
static cuzk_status msm_chunk(context &c, const msm_terms<F> &t, size_t begin, size_t n, const msm_sizes<F> &s,
                             window_sums<F> *out)
{
    arena_mark mark(c);
    run_scratch<F> w;
    uint4 *buckets, *sums;
    xyzz<F> *xa, *xb;
    int windows = s.cut.windows;
    GPU_TRY(take(c, &buckets, (size_t)s.buckets * 2 * F::QUADS));
    GPU_TRY(take(c, &sums, (size_t)s.reduce_keys * 2 * F::QUADS));
    GPU_TRY(take(c, &xa, (size_t)windows * 2 * s.pad));
    GPU_TRY(take(c, &xb, (size_t)windows * 2 * s.pad / std::min(s.pad, 8u)));
    GPU_TRY(w.init(c, s.elements, std::max(s.group_buckets, s.reduce_keys) + 1));
    GPU_CUDA(c, cudaMemsetAsync(buckets, 0, (size_t)s.buckets * 32 * F::QUADS, c.stream));
    GPU_CUDA(c, cudaMemsetAsync(sums, 0, (size_t)s.reduce_keys * 32 * F::QUADS, c.stream));
    GPU_TRY(sum_buckets(c, t, begin, n, s, w, buckets));
    GPU_TRY(sum_rows_and_columns(c, s, w, buckets, sums));
    GPU_LAUNCH((weigh_rows_and_columns<F>), div_up((size_t)windows * 2 * s.pad, 32), 32, 0, c.stream,
               plane_points<F>(sums, s.reduce_keys), s.red, windows, xa, s.pad);
    GPU_CHECK_LAUNCH(c);
    xyzz<F> folded[2 * MAX_WINDOWS];
    GPU_TRY(fold(c, xa, xb, s.pad, 2 * windows, folded));
    for (int i = 0; i < windows; i++)
        point_add(out->sum[i], join_kinds(s, i, folded[2 * i], folded[2 * i + 1]));
    return CUZK_OK;
}
template <class F> cuzk_status msm_sum(context &c, const msm_terms<F> &t, window_sums<F> *out)
{
    msm_cut cut = {t.windows ? t.windows : msm_windows(t.n, t.copies, t.turned), t.copies, t.turned};
    if (!msm_can_cut(cut.windows, t.copies, t.turned))
        return fail(c.err, CUZK_INVALID_ARGUMENT, "a sum cannot be cut into %d windows with %d copies",
                    cut.windows, t.copies);
    bool fixed = t.turned && t.copies > 1; // the copies were made for these windows
    size_t chunk = t.n;
    int group = 0;
    // Below 2^14 terms the buckets themselves are what does not fit: take narrower windows.
    while (chunk && !(group = choose_group<F>(c.dev, chunk, cut, c.mem->left(), SIZE_MAX))) {
        if (chunk <= 64 && (fixed || cut.windows * t.copies >= 32))
            return fail(c.err, CUZK_OUT_OF_MEMORY,
                        "%zu bytes of device memory are too few for a sum of %zu terms", c.mem->left(), t.n);
        chunk = std::max((chunk + 1) / 2, (size_t)64);
        if (!fixed)
            cut.windows = msm_windows(chunk, t.copies, t.turned);
    }
    window_sums_clear(*out, cut.windows);
    if (chunk == 0)
        return CUZK_OK;
    msm_sizes<F> s = msm_size<F>(c.dev, chunk, cut, group);
    memcpy(out->width, s.plan.width, sizeof s.plan.width);
    out->radix = s.hex.radix;
    out->buckets = s.buckets;
    for (size_t begin = 0; begin < t.n; begin += chunk)
        GPU_TRY(msm_chunk<F>(c, t, begin, std::min(chunk, t.n - begin), s, out));
    return CUZK_OK;
}

// ---- subset sums ----
// Sums of so many parts of a subset are made by rounds, and joined by full additions.
inline uint32_t subset_keys(size_t n)
{
    return n < SUBSET_KEYS * 4 ? 4096 : SUBSET_KEYS;
}
template <class F>
static cuzk_status subset_chunk(context &c, const subset_terms<F> &t, size_t begin, size_t words, uint32_t n,
                                const uint32_t *pos, window_sums<F> *out)
{
    arena_mark mark(c);
    run_scratch<F> w;
    uint4 *sums;
    xyzz<F> *xa, *xb;
    if (n == 0)
        return CUZK_OK;
    uint32_t keys = subset_keys(n);
    GPU_TRY(take(c, &sums, (size_t)keys * 2 * F::QUADS));
    GPU_TRY(take(c, &xa, keys));
    GPU_TRY(take(c, &xb, keys));
    GPU_TRY(w.init(c, n, keys));
    int shift = 0;
    while ((n >> shift) >= keys)
        shift++;
    GPU_TRY(list_bits(c, t.bits + begin, t.mask ? t.mask + begin : nullptr, t.mask ? t.rank + begin : nullptr,
                      words, (uint32_t)(t.first + (t.mask ? 0 : 64 * begin)), pos, w.val[0]));
    GPU_CUDA(c, cudaMemsetAsync(sums, 0, (size_t)keys * 32 * F::QUADS, c.stream));
    GPU_TRY(sum_runs<F>(c, w, packed_points<F>(t.bases), n, ((n - 1) >> shift) + 1, sums, keys, 0, shift));
    GPU_LAUNCH((lift_points<F>), keys / 32, 32, 0, c.stream, plane_points<F>(sums, keys), keys, xa);
    GPU_CHECK_LAUNCH(c);
    xyzz<F> sum;
    GPU_TRY(fold(c, xa, xb, keys, 1, &sum));
    point_add(out->sum[0], sum);
    return CUZK_OK;
}
template <class F> cuzk_status subset_sum(context &c, const subset_terms<F> &t, window_sums<F> *out)
{
    arena_mark mark(c);
    window_sums_clear(*out, 1);
    out->width[0] = 1;
    uint32_t *pos;
    GPU_TRY(take(c, &pos, t.words + 1));
    size_t chunk = t.words;
    for (size_t begin = 0; begin < t.words;) {
        size_t words = std::min(chunk, t.words - begin);
        uint32_t n;
        GPU_TRY(rank_words(c, t.bits + begin, t.mask ? t.mask + begin : nullptr, words, pos));
        GPU_TRY(download(c, &n, pos + words, sizeof n));
        GPU_TRY(check_cancel(c));
        size_t need = run_scratch<F>::bytes(c.dev, n, subset_keys(n)) +
                      subset_keys(n) * (32 * F::QUADS + 2 * sizeof(xyzz<F>));
        if (need + 1024 > c.mem->left() && words > 1) {
            chunk = (words + 1) / 2;
            continue;
        }
        GPU_TRY(subset_chunk<F>(c, t, begin, words, n, pos, out));
        begin += words;
    }
    return CUZK_OK;
}

// ---- host side ----
template <class F> void window_sums_clear(window_sums<F> &s, int windows)
{
    s.windows = windows;
    s.radix = 0;
    s.buckets = 0;
    for (int i = 0; i < MAX_WINDOWS; i++) {
        s.width[i] = 0;
        set_infinity(s.sum[i]);
    }
}
template <class F> xyzz<F> window_sums_join(const window_sums<F> &s)
{
    xyzz<F> r;
    set_infinity(r);
    for (int i = s.windows - 1; i >= 0; i--) {
        xyzz<F> once = r;
        for (int q = 0; q < s.width[i]; q++) // the sums so far times 2^width or radix
            point_dbl(r);
        for (int q = 30 - __builtin_clz(s.radix | 1); q >= 0; q--) {
            point_dbl(r);
            if ((s.radix >> q) & 1)
                point_add(r, once);
        }
        point_add(r, s.sum[i]);
    }
    return r;
}
} // namespace gpu
