// Implementation of runs.cuh; compiled once per field by runs_g1.cu and runs_g2.cu.
#pragma once
#include "runs.cuh"
#include "sort.cuh"

namespace gpu
{
template <class F> constexpr int ROUND_THREADS = 64;
// Blocks of 64 threads an SM: as many warps as the registers of one addition allow.
template <class F> constexpr int ROUND_BLOCKS = F::QUADS == 3 ? 8 : 4;
template <class F> constexpr int FORWARD_BLOCKS = F::QUADS == 3 ? 12 : 5; // less to hold than an addition
constexpr uint32_t PAIRED = 0x80000000u, INDEX = 0x7fffffffu;

// ---- one round ----
template <bool FIRST> HD bool pair_of(const uint32_t *vals, uint32_t d, uint32_t &e1, uint32_t &e2)
{
    uint32_t i = d & INDEX, paired = d >> 31;
    e1 = FIRST ? vals[i] : i;
    e2 = FIRST ? vals[i + paired] : i + paired;
    return paired;
}
template <bool FIRST> HD size_t element(uint32_t e)
{
    return FIRST ? e & INDEX : e;
}
template <bool FIRST> HD size_t element_of_y(const point_src &s, uint32_t e)
{
    return FIRST ? (e & INDEX) | s.turn : e; // only a first round reads turned points
}
template <class F, bool FIRST> HD F element_y(const point_src &s, uint32_t e)
{
    F y = load_y<F>(s, element<FIRST>(e));
    if (FIRST && (e >> 31))
        y = neg(y);
    return y;
}
enum pair_kind { PLAIN, FIRST_INFINITE, SECOND_INFINITE, EQUAL_POINTS, OPPOSITE_POINTS };
// The denominator of the slope, or 1 where there is none.
template <class F, bool FIRST>
HD pair_kind denominator(const point_src &s, const F &x1, const F &x2, uint32_t e1, uint32_t e2, F &d)
{
    d = sub(x2, x1);
    bool inf1 = is_zero(x1), inf2 = is_zero(x2), same = is_zero(d);
    if (!(inf1 | inf2 | same))
        return PLAIN;
    if (inf1 || inf2) {
        set_one(d);
        return inf1 ? FIRST_INFINITE : SECOND_INFINITE;
    }
    F y1 = element_y<F, FIRST>(s, e1), y2 = element_y<F, FIRST>(s, e2);
    if (equal(y1, y2)) {
        d = dbl(y1); // y = 0 does not happen in a group of odd order
        return EQUAL_POINTS;
    }
    set_one(d);
    return OPPOSITE_POINTS;
}
// Copies to shared memory that run while the thread computes. Through L1: half of a 32-byte sector is used by
// the next word's copy; past L1 it is slower.
HD void copy_async(uint4 *shared, const uint4 *global)
{
#ifdef __CUDA_ARCH__
    uint32_t a = (uint32_t)__cvta_generic_to_shared(shared);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(a), "l"(global) : "memory");
#else
    *shared = *global;
#endif
}
HD void copy_commit()
{
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
HD void copy_wait_all_but_one()
{
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
}
HD void copy_wait_all()
{
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
// The pair that a thread adds at step k, its copies in flight. Every slot belongs to one thread: no barrier
// is needed.
template <class F, bool FIRST> struct pair_loader {
    static constexpr int Q = F::QUADS, T = ROUND_THREADS<F>;
    const round_args<F> &R;
    uint32_t base, step;
    uint4 *slot; // planes: prefix, x1, x2, y1, y2
    HD pair_loader(const round_args<F> &r, uint4 *s)
        : R(r), base(blockIdx.x * blockDim.x * r.per_thread + threadIdx.x), step(blockDim.x), slot(s)
    {
    }
    HD uint32_t index(int k) const { return base + (uint32_t)k * step; }
    HD bool inside(int k) const { return k >= 0 && k < (int)R.per_thread && index(k) < R.total; }
    HD uint32_t descriptor(int k) const { return inside(k) ? R.desc[index(k)] : 0; }
    HD void words(int plane, const uint4 *p, size_t word) const
    {
        UNROLL for (int z = 0; z < Q; z++) copy_async(slot + (plane * Q + z) * T, p + z * word);
    }
    HD void load_xs(int k, uint32_t e1, uint32_t e2) const
    {
        if (inside(k)) {
            if (k)
                words(0, R.out + index(k), R.total);
            words(1, R.src.p + element<FIRST>(e1) * R.src.point, R.src.word);
            words(2, R.src.p + element<FIRST>(e2) * R.src.point, R.src.word);
        }
        copy_commit();
    }
    HD void load_ys(int k, uint32_t e1, uint32_t e2) const
    {
        if (inside(k)) {
            words(3, R.src.p + element_of_y<FIRST>(R.src, e1) * R.src.point + R.src.yo, R.src.word);
            words(4, R.src.p + element_of_y<FIRST>(R.src, e2) * R.src.point + R.src.yo, R.src.word);
        }
        copy_commit();
    }
    // The x of a pair into the first two planes.
    HD void load_pair(int k, bool paired, uint32_t e1, uint32_t e2) const
    {
        if (paired && inside(k)) {
            words(0, R.src.p + element<FIRST>(e1) * R.src.point, R.src.word);
            words(1, R.src.p + element<FIRST>(e2) * R.src.point, R.src.word);
        }
        copy_commit();
    }
    HD F get(int plane) const { return load_words<F>(slot + plane * Q * T, T); }
};
// The products of each thread's denominators, those before each pair in the place of its sum. The next pair's
// x are copied while this one is multiplied: the points of a first round lie scattered, and a thread that
// waited for each of them would do little else.
template <class F, bool FIRST>
__global__ void __launch_bounds__(ROUND_THREADS<F>, FORWARD_BLOCKS<F>) round_forward(round_args<F> R)
{
    __shared__ uint4 shared[2 * F::QUADS * ROUND_THREADS<F>];
    pair_loader<F, FIRST> L(R, shared + threadIdx.x);
    uint32_t e1, e2, n1, n2, d2;
    bool paired = pair_of<FIRST>(R.vals, L.descriptor(0), e1, e2);
    L.load_pair(0, paired, e1, e2);
    bool next_paired = pair_of<FIRST>(R.vals, L.descriptor(1), n1, n2);
    d2 = L.descriptor(2);
    F acc;
    set_one(acc);
#pragma unroll 1
    for (int k = 0; L.inside(k); k++) {
        F d;
        copy_wait_all();
        if (paired) {
            F x1 = L.get(0), x2 = L.get(1);
            denominator<F, FIRST>(R.src, x1, x2, e1, e2, d);
        }
        L.load_pair(k + 1, next_paired, n1, n2);
        if (paired) {
            if (k == 0) {
                acc = d;
            } else {
                store_words(R.out + L.index(k), R.total, acc);
                acc = mul(acc, d);
            }
        }
        e1 = n1;
        e2 = n2;
        paired = next_paired;
        next_paired = pair_of<FIRST>(R.vals, d2, n1, n2);
        d2 = L.descriptor(k + 3);
    }
    store_words(R.product + blockIdx.x * blockDim.x + threadIdx.x, R.threads, acc);
}
template <class F, bool FIRST>
__global__ void __launch_bounds__(ROUND_THREADS<F>, ROUND_BLOCKS<F>) round_backward(round_args<F> R)
{
    __shared__ uint4 shared[5 * F::QUADS * ROUND_THREADS<F>];
    pair_loader<F, FIRST> L(R, shared + threadIdx.x);
    F u = load_words<F>(R.product + blockIdx.x * blockDim.x + threadIdx.x, R.threads);
    int k = (int)R.per_thread - 1;
    uint32_t e1, e2, n1, n2, d2;
    bool paired = pair_of<FIRST>(R.vals, L.descriptor(k), e1, e2);
    L.load_xs(k, e1, e2);
    L.load_ys(k, e1, e2);
    bool next_paired = pair_of<FIRST>(R.vals, L.descriptor(k - 1), n1, n2);
    d2 = L.descriptor(k - 2);
#pragma unroll 1
    for (; k >= 0; k--) {
        uint32_t j = L.index(k);
        bool in = j < R.total, active = paired && in;
        copy_wait_all_but_one();
        F x1 = L.get(1), x2 = L.get(2), d = x1, iv = u;
        pair_kind kind = PLAIN;
        if (active) {
            kind = denominator<F, FIRST>(R.src, x1, x2, e1, e2, d);
            if (k) {
                iv = mul(u, L.get(0));
                u = mul(u, d);
            }
        }
        L.load_xs(k - 1, n1, n2);
        copy_wait_all_but_one();
        F y1 = L.get(3), y2 = L.get(4), x3 = x1, y3;
        if (FIRST && (e1 >> 31))
            y1 = neg(y1);
        if (FIRST && (e2 >> 31))
            y2 = neg(y2);
        y3 = y1;
        F num = sub(y2, y1);
        L.load_ys(k - 1, n1, n2);
        if (active) {
            if (kind == EQUAL_POINTS) {
                num = sqr(x1);
                num = add(dbl(num), num);
            }
            F lambda = mul(num, iv);
            x3 = sub(sub(sqr(lambda), x1), x2);
            y3 = sub(mul(lambda, sub(x1, x3)), y1);
            if (kind == FIRST_INFINITE) {
                x3 = x2;
                y3 = element_y<F, FIRST>(R.src, e2);
            } else if (kind == SECOND_INFINITE) {
                x3 = x1;
                y3 = y1;
            } else if (kind == OPPOSITE_POINTS) {
                set_zero(x3);
                set_zero(y3);
            }
        }
        if (in) {
            store_words(R.out + j, R.total, x3);
            store_words(R.out + j + (size_t)F::QUADS * R.total, R.total, y3);
        }
        e1 = n1;
        e2 = n2;
        paired = next_paired;
        next_paired = pair_of<FIRST>(R.vals, d2, n1, n2);
        d2 = L.descriptor(k - 3);
    }
}

// ---- batch inversion of n values in planes ----
template <class F>
__global__ void invert_forward(const uint4 *in, uint4 *prefix, uint4 *product, uint32_t n, uint32_t per,
                               uint32_t threads)
{
    uint32_t base = blockIdx.x * blockDim.x * per + threadIdx.x;
    F acc;
    set_one(acc);
    for (uint32_t k = 0; k < per; k++) {
        uint32_t j = base + k * blockDim.x;
        if (j >= n)
            break;
        store_words(prefix + j, n, acc);
        acc = mul(acc, load_words<F>(in + j, n));
    }
    store_words(product + blockIdx.x * blockDim.x + threadIdx.x, threads, acc);
}
template <class F>
__global__ void invert_backward(uint4 *in, const uint4 *prefix, const uint4 *product, uint32_t n,
                                uint32_t per, uint32_t threads)
{
    uint32_t base = blockIdx.x * blockDim.x * per + threadIdx.x;
    F u = load_words<F>(product + blockIdx.x * blockDim.x + threadIdx.x, threads);
    for (int k = (int)per - 1; k >= 0; k--) {
        uint32_t j = base + (uint32_t)k * blockDim.x;
        if (j >= n)
            continue;
        F v = load_words<F>(in + j, n), p = load_words<F>(prefix + j, n);
        store_words(in + j, n, mul(u, p));
        u = mul(u, v);
    }
}
template <class F> __global__ void invert_each(uint4 *in, uint32_t n)
{
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n)
        store_words(in + t, n, inv(load_words<F>(in + t, n)));
}
template <class F>
static cuzk_status invert_planes(context &c, uint4 *in, uint32_t n, uint4 *prefix, uint4 *product)
{
    uint32_t direct = (uint32_t)c.dev->processors * 128; // one inversion a thread fills the device
    if (n <= direct) {
        GPU_LAUNCH((invert_each<F>), div_up(n, 32), 32, 0, c.stream, in, n);
        GPU_CHECK_LAUNCH(c);
        return CUZK_OK;
    }
    uint32_t per = 16;
    while (per > 4 && n / per < direct / 2)
        per /= 2;
    uint32_t blocks = (uint32_t)div_up(n, 64 * per), threads = blocks * 64;
    GPU_LAUNCH((invert_forward<F>), blocks, 64, 0, c.stream, in, prefix, product, n, per, threads);
    GPU_CHECK_LAUNCH(c);
    GPU_TRY(invert_planes<F>(c, product, threads, prefix + F::QUADS * (size_t)n,
                             product + F::QUADS * (size_t)threads));
    GPU_LAUNCH((invert_backward<F>), blocks, 64, 0, c.stream, in, prefix, product, n, per, threads);
    GPU_CHECK_LAUNCH(c);
    return CUZK_OK;
}

// ---- bookkeeping ----
// Up to this length a few threads list all pairs of a run; the emulation takes less, so that small cases meet
// both ways.
#ifndef GPU_SHORT_RUN
#define GPU_SHORT_RUN 16384
#endif
constexpr unsigned long long SHORT_RUN = GPU_SHORT_RUN;
// Each thread looks at so many keys: with one, starting threads would take longer than reading.
constexpr uint32_t BOUND_KEYS = 8;
static __global__ void run_bounds(const uint32_t *key, uint32_t n, uint32_t nkeys, uint32_t *off)
{
    uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) * BOUND_KEYS, keys[BOUND_KEYS], next = 0;
    if (i >= n)
        return;
    UNROLL for (uint32_t j = 0; j < BOUND_KEYS; j += 4)
    {
        uint4 v = {nkeys, nkeys, nkeys, nkeys};
        if (n - i >= BOUND_KEYS)
            v = *(const uint4 *)(key + i + j);
        keys[j] = v.x;
        keys[j + 1] = v.y;
        keys[j + 2] = v.z;
        keys[j + 3] = v.w;
    }
    if (n - i < BOUND_KEYS)
        UNROLL for (uint32_t j = 0; j < BOUND_KEYS; j++) if (i + j < n) keys[j] = key[i + j];
    if (i)
        next = (key[i - 1] < nkeys ? key[i - 1] : nkeys) + 1;
    UNROLL for (uint32_t j = 0; j < BOUND_KEYS; j++)
    {
        uint32_t b = keys[j] < nkeys ? keys[j] : nkeys;
        for (; i + j < n && next <= b; next++)
            off[next] = i + j;
    }
    if (n - i <= BOUND_KEYS)
        for (; next <= nkeys; next++)
            off[next] = n;
}
static __global__ void even_bounds(uint32_t n, uint32_t nkeys, int shift, uint32_t *off)
{
    uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k <= nkeys)
        off[k] = k < nkeys ? k << shift : n;
}
// totals[r] = sum over runs of ceil(length / 2^r); totals[32] = the longest run; totals[33] = references kept
static __global__ void run_totals(const uint32_t *off, uint32_t nkeys, unsigned long long *totals)
{
    uint32_t s[32] = {0}, longest = 0, t = blockIdx.x * blockDim.x + threadIdx.x;
    for (uint32_t b = t; b < nkeys; b += gridDim.x * blockDim.x) {
        uint32_t l = off[b + 1] - off[b];
        longest = l > longest ? l : longest;
        UNROLL for (int r = 0; r < 32; r++) s[r] += (uint32_t)(((uint64_t)l + (1ull << r) - 1) >> r);
    }
    if (t == 0)
        totals[33] = off[nkeys];
    UNROLL for (int r = 0; r < 32; r++)
    {
#ifdef __CUDA_ARCH__
        s[r] = __reduce_add_sync(0xffffffffu, s[r]); // one atomic a warp
        if (threadIdx.x & 31)
            continue;
#endif
        if (s[r])
            atomicAdd(&totals[r], (unsigned long long)s[r]);
    }
#ifdef __CUDA_ARCH__
    longest = __reduce_max_sync(0xffffffffu, longest);
    if (threadIdx.x & 31)
        return;
#endif
    atomicMax((unsigned *)(totals + 32), longest);
}
static __global__ void run_halve(const uint32_t *off, uint32_t nkeys, uint32_t *count)
{
    uint32_t b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b <= nkeys)
        count[b] = b < nkeys ? (off[b + 1] - off[b] + 1) >> 1 : 0;
}
static __global__ void run_pairs(const uint32_t *key, uint32_t n, const uint32_t *off,
                                 const uint32_t *next_off, uint32_t *desc, uint32_t *next_key)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t b = key[i], r = i - off[b];
    if (r & 1)
        return;
    uint32_t j = next_off[b] + (r >> 1);
    desc[j] = i | (i + 1 < off[b + 1] ? PAIRED : 0u);
    next_key[j] = b;
}
template <class F>
__global__ void run_scatter(point_src s, const uint32_t *key, uint32_t n, uint4 *out, size_t out_points,
                            size_t at)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    size_t b = at + key[i];
    store_words(out + b, out_points, load_x<F>(s, i));
    store_words(out + b + F::QUADS * out_points, out_points, load_y<F>(s, i));
}
// The same where no run is long: all pairs of several rounds at once, 2^lanes threads a run, and no keys
// beside the offsets. scan[q (keys + 1) + b] counts the pairs of all rounds before and of round q in runs
// before b.
struct round_lists {
    uint32_t keys;
    int lanes, rounds;
    uint32_t before[32]; // pairs of the rounds before this one
};
static __global__ void list_rounds(const uint32_t *off, const uint32_t *scan, round_lists L, uint32_t *desc,
                                   uint32_t *later_desc)
{
    size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >> L.lanes >= L.keys)
        return;
    uint32_t b = (uint32_t)(t >> L.lanes), lane = (uint32_t)t & ((1u << L.lanes) - 1), step = 1u << L.lanes,
             first = off[b], length = off[b + 1] - first, at = scan[b];
    for (int q = 0; q < L.rounds; q++) {
        scan += (size_t)L.keys + 1;
        uint32_t next = q + 1 < L.rounds ? scan[b] : 0, pairs = (length + 1) >> 1;
        uint32_t *to = q ? later_desc + (at - L.before[1]) : desc + at;
        for (uint32_t p = lane; p < pairs; p += step)
            to[p] = (first + 2 * p) | (2 * p + 1 < length ? PAIRED : 0u);
        first = at - L.before[q];
        length = pairs;
        at = next;
    }
}
static __global__ void take_offsets(const uint32_t *scan, uint32_t before, uint32_t nkeys, uint32_t *off)
{
    uint32_t b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b <= nkeys)
        off[b] = scan[b] - before;
}
template <class F>
__global__ void scatter_runs(point_src s, const uint32_t *off, uint32_t nkeys, uint4 *out, size_t out_points,
                             size_t at)
{
    uint32_t b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= nkeys || off[b] == off[b + 1])
        return;
    store_words(out + at + b, out_points, load_x<F>(s, off[b]));
    store_words(out + at + b + F::QUADS * out_points, out_points, load_y<F>(s, off[b]));
}
static __global__ void list_pairs(uint32_t *desc, uint32_t n)
{
    uint32_t j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < n)
        desc[j] = (2 * j) | PAIRED;
}

// ---- host side ----
struct run_sizes {
    size_t half, threads, off, list;
};
static run_sizes sizes_of(const cuzk_device *dev, size_t elements, size_t keys)
{
    run_sizes s;
    s.half = elements / 2 + keys + 64;
    size_t few = (size_t)dev->processors * 4096; // threads of a round whose per_thread is below 32
    size_t quarter = s.half / 4;
    s.threads =
        (s.half / 32 > (quarter < few ? quarter : few) ? s.half / 32 : (quarter < few ? quarter : few)) + 128;
    s.off = keys + 2;
    s.list = std::max(elements, s.off); // offsets of a round fit where keys were
    return s;
}
template <class F> size_t run_scratch<F>::bytes(const cuzk_device *dev, size_t elements, size_t keys)
{
    run_sizes s = sizes_of(dev, elements, keys);
    size_t point = 32 * F::QUADS, coordinate = 16 * F::QUADS;
    return 2 * aligned(s.list * 4) + 2 * aligned(elements * 4) + 3 * aligned(s.off * 4) +
           aligned(s.half * 4) + aligned(s.half * point) + aligned((s.half / 2 + keys + 64) * point) +
           aligned(s.threads * coordinate) + aligned((s.threads + s.threads / 2) * coordinate) +
           aligned((s.threads / 2 + 512) * coordinate) + 512 + sort_bytes(elements);
}
template <class F> cuzk_status run_scratch<F>::init(context &c, size_t n, size_t k)
{
    elements = n;
    keys = k;
    run_sizes s = sizes_of(c.dev, n, k);
    for (int i = 0; i < 2; i++) {
        GPU_TRY(take(c, &key[i], s.list));
        GPU_TRY(take(c, &val[i], n));
        GPU_TRY(take(c, &off[i], s.off));
    }
    GPU_TRY(take(c, &count, s.off));
    GPU_TRY(take(c, &desc, s.half));
    GPU_TRY(take(c, &points[0], s.half * 2 * F::QUADS));
    GPU_TRY(take(c, &points[1], (s.half / 2 + k + 64) * 2 * F::QUADS));
    GPU_TRY(take(c, &product, s.threads * F::QUADS));
    GPU_TRY(take(c, &level_prefix, (s.threads + s.threads / 2) * F::QUADS));
    GPU_TRY(take(c, &level_product, (s.threads / 2 + 512) * F::QUADS));
    return take(c, &totals, 34);
}
template <class F> static cuzk_status run_round(context &c, run_scratch<F> &w, bool first, round_args<F> R)
{
    // Up to 32 pairs a thread, and so many that the blocks fill the device a whole number of times.
    uint32_t resident = (uint32_t)c.dev->processors * ROUND_THREADS<F> * ROUND_BLOCKS<F>,
             waves = (uint32_t)div_up(R.total, (size_t)32 * resident),
             per =
                 waves > 8 ? 32 : std::max<uint32_t>((uint32_t)div_up(R.total, (size_t)waves * resident), 4);
    uint32_t blocks = (uint32_t)div_up(R.total, (size_t)ROUND_THREADS<F> * per);
    R.per_thread = per;
    R.threads = blocks * ROUND_THREADS<F>;
    R.product = w.product;
    if (first)
        GPU_LAUNCH((round_forward<F, true>), blocks, ROUND_THREADS<F>, 0, c.stream, R);
    else
        GPU_LAUNCH((round_forward<F, false>), blocks, ROUND_THREADS<F>, 0, c.stream, R);
    GPU_CHECK_LAUNCH(c);
    GPU_TRY(invert_planes<F>(c, w.product, R.threads, w.level_prefix, w.level_product));
    if (first)
        GPU_LAUNCH((round_backward<F, true>), blocks, ROUND_THREADS<F>, 0, c.stream, R);
    else
        GPU_LAUNCH((round_backward<F, false>), blocks, ROUND_THREADS<F>, 0, c.stream, R);
    GPU_CHECK_LAUNCH(c);
    return CUZK_OK;
}
// What the rounds of a sum share.
template <class F> struct run_sum {
    run_scratch<F> &w;
    point_src s; // the elements of the next round
    uint32_t nkeys;
    unsigned long long totals[34]; // see run_totals
    int rounds = 1;
    bool first = true;
    cuzk_status round(context &c, const uint32_t *desc, uint32_t total)
    {
        round_args<F> R = {};
        R.src = s;
        R.vals = w.val[0];
        R.desc = desc;
        R.total = total;
        R.out = w.points[0];
        GPU_TRY(run_round<F>(c, w, first, R));
        s = plane_points<F>(w.points[0], total);
        std::swap(w.points[0], w.points[1]);
        first = false;
        return CUZK_OK;
    }
};
// No run is long: pairs are listed for as many rounds at a time as fit in the memory of the keys, which are
// not needed any more.
template <class F> static cuzk_status sum_short_runs(context &c, run_sum<F> &sum)
{
    run_scratch<F> &w = sum.w;
    uint32_t nkeys = sum.nkeys;
    size_t list = std::max(w.elements, w.keys + 2), stride = (size_t)nkeys + 1;
    for (int r = 1; r <= sum.rounds;) {
        round_lists L = {nkeys, 0, 1, {0}};
        size_t later = 0;
        L.before[1] = (uint32_t)sum.totals[r];
        for (; r + L.rounds <= sum.rounds && (L.rounds + 1) * stride <= list; L.rounds++) {
            later += (size_t)sum.totals[r + L.rounds];
            if (later > list)
                break;
            L.before[L.rounds + 1] = L.before[1] + (uint32_t)later;
        }
        while (L.lanes < 8 && sum.totals[r - 1] >> (L.lanes + 4) > nkeys) // some steps a thread
            L.lanes++;
        GPU_TRY(halved_offsets(c, w.off[0], nkeys, L.rounds, w.key[0]));
        GPU_LAUNCH(list_rounds, div_up((size_t)nkeys << L.lanes, 256), 256, 0, c.stream, w.off[0], w.key[0],
                   L, w.desc, w.key[1]);
        GPU_CHECK_LAUNCH(c);
        GPU_LAUNCH(take_offsets, div_up(stride, 256), 256, 0, c.stream, w.key[0] + (L.rounds - 1) * stride,
                   L.before[L.rounds - 1], nkeys, w.off[0]);
        GPU_CHECK_LAUNCH(c);
        for (int q = 0; q < L.rounds; q++, r++)
            GPU_TRY(
                sum.round(c, q ? w.key[1] + (L.before[q] - L.before[1]) : w.desc, (uint32_t)sum.totals[r]));
    }
    return CUZK_OK;
}
// Each thread takes an element, whatever the length of its run. The keys go along.
template <class F> static cuzk_status sum_long_runs(context &c, run_sum<F> &sum)
{
    run_scratch<F> &w = sum.w;
    size_t current = (size_t)sum.totals[33];
    for (int r = 1; r <= sum.rounds; r++) {
        GPU_LAUNCH(run_halve, div_up(sum.nkeys + 1, 256), 256, 0, c.stream, w.off[0], sum.nkeys, w.count);
        GPU_CHECK_LAUNCH(c);
        GPU_TRY(prefix_sum(c, w.count, w.off[1], sum.nkeys + 1));
        GPU_LAUNCH(run_pairs, div_up(current, 256), 256, 0, c.stream, w.key[0], (uint32_t)current, w.off[0],
                   w.off[1], w.desc, w.key[1]);
        GPU_CHECK_LAUNCH(c);
        current = (size_t)sum.totals[r];
        GPU_TRY(sum.round(c, w.desc, (uint32_t)current));
        std::swap(w.key[0], w.key[1]);
        std::swap(w.off[0], w.off[1]);
    }
    return CUZK_OK;
}
template <class F>
cuzk_status sum_runs(context &c, run_scratch<F> &w, const point_src &src, size_t n, uint32_t nkeys,
                     uint4 *out, size_t out_points, size_t at, int shift)
{
    if (n == 0)
        return CUZK_OK;
    if (shift >= 0)
        GPU_LAUNCH(even_bounds, div_up(nkeys + 1, 256), 256, 0, c.stream, (uint32_t)n, nkeys, shift,
                   w.off[0]);
    else
        GPU_LAUNCH(run_bounds, div_up(n, 256 * BOUND_KEYS), 256, 0, c.stream, w.key[0], (uint32_t)n, nkeys,
                   w.off[0]);
    GPU_CHECK_LAUNCH(c);
    run_sum<F> sum = {w, src, nkeys, {0}};
    GPU_CUDA(c, cudaMemsetAsync(w.totals, 0, sizeof sum.totals, c.stream));
    GPU_LAUNCH(run_totals, 2 * c.dev->processors, 256, 0, c.stream, w.off[0], nkeys, w.totals);
    GPU_CHECK_LAUNCH(c);
    GPU_TRY(download(c, sum.totals, w.totals, sizeof sum.totals));
    GPU_TRY(check_cancel(c));
    if (sum.totals[33] == 0)
        return CUZK_OK;
    while ((1ull << sum.rounds) < sum.totals[32])
        sum.rounds++;
    uint4 *points[2] = {w.points[0], w.points[1]};
    bool by_run = shift >= 0 || sum.totals[32] <= SHORT_RUN;
    cuzk_status s = by_run ? sum_short_runs(c, sum) : sum_long_runs(c, sum);
    w.points[0] = points[0]; // the larger one, where the next sum begins
    w.points[1] = points[1];
    GPU_TRY(s);
    uint32_t left = (uint32_t)sum.totals[sum.rounds];
    if (by_run)
        GPU_LAUNCH((scatter_runs<F>), div_up(nkeys, 256), 256, 0, c.stream, sum.s, w.off[0], nkeys, out,
                   out_points, at);
    else
        GPU_LAUNCH((run_scatter<F>), div_up(left, 256), 256, 0, c.stream, sum.s, w.key[0], left, out,
                   out_points, at);
    GPU_CHECK_LAUNCH(c);
    return CUZK_OK;
}
template <class F>
cuzk_status sum_pairs(context &c, run_scratch<F> &w, const point_src &src, const uint32_t *vals, uint32_t n)
{
    GPU_LAUNCH(list_pairs, div_up(n, 256), 256, 0, c.stream, w.desc, n);
    GPU_CHECK_LAUNCH(c);
    round_args<F> R = {};
    R.src = src;
    R.vals = vals;
    R.desc = w.desc;
    R.total = n;
    R.out = w.points[0];
    return run_round<F>(c, w, true, R);
}
} // namespace gpu
