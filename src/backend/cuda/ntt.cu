// Transforms: plans, tables, small sizes, the quotient.
#include "fr_fixed.cuh"
#include "ntt_pass.cuh"

namespace gpu
{
// ---- plans ----
// Levels of each pass, first to last. The last pass has 6 or 9, so that the table needs no deeper nodes.
static int plan_passes(int log, int *pass)
{
    static const uint8_t plans[][4] = {{6, 6},    {7, 6},    {8, 6},    {6, 9},    {7, 9},      {8, 9},
                                       {9, 9},    {7, 6, 6}, {8, 6, 6}, {6, 6, 9}, {7, 6, 9},   {7, 7, 9},
                                       {6, 9, 9}, {7, 9, 9}, {8, 9, 9}, {9, 9, 9}, {7, 6, 6, 9}};
    int n = 0;
    for (; n < 4 && plans[log - 12][n]; n++)
        pass[n] = plans[log - 12][n];
    return n;
}

// ---- tables ----
fr ntt_root(int log)
{
    constexpr uint32_t c[8] = FR_ROOT32;
    fr a = fr_const(c);
    for (int i = 32; i > log; i--)
        a = mul_reduce(a, a);
    return a;
}
fr ntt_size_inverse(int log)
{
    fr one;
    set_one(one);
    return inv(pow(reduce(add(one, one)), (uint64_t)log));
}
// small: w^i, w^(1024 i), w^(2^20 i) for i < 1024, w = the root of order 2^(log + 1)
static __global__ void fill_powers(uint4 *powers, uint32_t nodes, int node_bits, const uint4 *small)
{
    uint32_t b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b > nodes)
        return;
    uint32_t r = b < nodes ? __brev(b) >> (32 - node_bits) : nodes; // the last entry: powers of the 8th root
    for (uint32_t k = 1; k < 8; k++) {
        uint32_t e = k * r;
        fr v = mul_reduce(
            mul_reduce(load_fr(small + 2 * (e & 1023)), load_fr(small + 2 * (1024 + ((e >> 10) & 1023)))),
            load_fr(small + 2 * (2048 + (e >> 20))));
        store_fr(powers + 2 * ((size_t)(k - 1) * (nodes + 1) + b), v);
    }
}
static __global__ void fill_lower(uint4 *lower, uint32_t lower_nodes, const uint4 *powers, uint32_t nodes)
{
    uint32_t b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b > lower_nodes)
        return;
    for (int k = 0; k < 7; k++) {
        fr w = load_fr(powers + 2 * ((size_t)k * (nodes + 1) + (b < lower_nodes ? b : nodes)));
        store_fr(lower + 2 * ((size_t)k * (lower_nodes + 1) + b), lower_factor(w));
    }
}
static size_t plane_bytes(int nodes_log)
{
    return 7 * (((size_t)1 << nodes_log) + 1) * 32;
}
void ntt_release(cuzk_device *dev)
{
    if (dev->tables) {
        device_free(dev, dev->tables->powers, dev->tables->bytes);
        delete dev->tables;
        dev->tables = nullptr;
    }
}
#ifndef GPU_LOWER_LOG
#define GPU_LOWER_LOG 22
#endif
// log2 of the nodes whose powers are kept for mul_split, for transforms up to 2^log. Not those of the deepest
// stage, which uses each power for one element of a tile: to read two takes longer than it saves. All others
// of 2^27 on the coset take 940 MB; no more than a 128th of the memory that can be had (117 MB of 24 GiB),
// but always all of the column passes, whose kernels do not know otherwise.
static int choose_lower(int log, size_t room)
{
    int columns = 0, n = std::min(GPU_LOWER_LOG, log - 4);
    for (int l = NTT_SMALL_LOG + 1; l <= log; l++) {
        int pass[4], last = plan_passes(l, pass) - 1, depth = 0;
        for (int i = 0; i < last; i++) {
            depth += pass[i]; // its deepest stage has 3, 1 or 2 levels; one more for the coset
            columns = std::max(columns, depth + 1 - (pass[i] % 3 ? pass[i] % 3 : 3));
        }
    }
    while (n > columns && plane_bytes(n) > room / 128)
        n--;
    return std::max(n, columns);
}
static cuzk_status fill_tables(context &c, ntt_tables *t)
{
    static_assert(sizeof(fr) == 32, "one element is two 16-byte words");
    std::vector<fr> small;
    try {
        small.resize(3072);
    } catch (...) {
        return fail(c.err, CUZK_OUT_OF_MEMORY, "memory for a table of roots of unity could not be had");
    }
    fr w = ntt_root(t->log + 1);
    for (int z = 0; z < 3; z++) {
        fr v;
        set_one(v);
        for (int i = 0; i < 1024; i++) {
            small[1024 * z + i] = v;
            v = mul_reduce(v, w);
        }
        w = v;
    }
    void *d;
    GPU_TRY(device_alloc(c, &d, 3072 * 32));
    cuzk_status s = upload(c, d, small.data(), 3072 * 32, c.stream);
    if (s == CUZK_OK) {
        GPU_LAUNCH(fill_powers, t->nodes / 256 + 1, 256, 0, c.stream, t->powers, t->nodes, t->log - 2,
                   (const uint4 *)d);
        GPU_LAUNCH(fill_lower, (1u << t->lower_log) / 256 + 1, 256, 0, c.stream, t->lower, 1u << t->lower_log,
                   (const uint4 *)t->powers, t->nodes);
        s = synchronize(c);
    }
    device_free(c.dev, d, 3072 * 32);
    return s;
}
cuzk_status ntt_prepare(context &c, int log)
{
    if (log < 0 || log > NTT_MAX_LOG)
        return fail(c.err, CUZK_UNSUPPORTED,
                    "a transform of 2^%d elements is outside what this back end does (2^%d)", log,
                    NTT_MAX_LOG);
    log = log < NTT_MIN_TABLE_LOG ? NTT_MIN_TABLE_LOG : log;
    if (c.dev->tables && c.dev->tables->log >= log)
        return CUZK_OK;
    GPU_TRY(synchronize(c));
    ntt_release(c.dev);
    size_t room;
    GPU_TRY(available(c, &room));
    ntt_tables *t = new (std::nothrow) ntt_tables;
    if (!t)
        return fail(c.err, CUZK_OUT_OF_MEMORY, "memory could not be had");
    t->log = log;
    t->nodes = 1u << (log - 2);
    t->lower_log = choose_lower(log, room);
    t->bytes = plane_bytes(log - 2) + plane_bytes(t->lower_log) + NTT_SCALES * 512;
    void *p = nullptr;
    cuzk_status s = device_alloc(c, &p, t->bytes);
    if (s == CUZK_OK) {
        t->powers = (uint4 *)p;
        t->lower = t->powers + plane_bytes(log - 2) / 16;
        t->scales = t->lower + plane_bytes(t->lower_log) / 16;
        s = fill_tables(c, t);
    }
    if (s != CUZK_OK) {
        device_free(c.dev, p, t->bytes);
        delete t;
        return s;
    }
    c.dev->tables = t;
    return CUZK_OK;
}
// factor (times w_16^k on the coset) for the top stage of an inverse
static cuzk_status set_scale(context &c, ntt_slot slot, const fr &factor, bool coset, const uint4 **out)
{
    fr h[16], v = factor, w = ntt_root(4);
    for (int k = 0; k < 8; k++) {
        h[k] = v;
        h[k + 8] = lower_factor(v);
        if (coset)
            v = mul_reduce(w, v);
    }
    uint4 *d = c.dev->tables->scales + 32 * slot;
    GPU_TRY(upload(c, d, h, sizeof h, c.stream));
    *out = d;
    return CUZK_OK;
}

// ---- passes ----
static cuzk_status run_pass(context &c, int levels, bool contiguous, int mode, const pass_args &P, int log)
{
    if (contiguous)
        return run_deepest_pass(c, levels, mode, P, log);
    if (mode == PASS_FORWARD || mode == PASS_INVERSE)
        return run_column_pass(c, levels, mode, P, log);
    return run_minus_pass(c, levels, mode, P, log);
}

// ---- small sizes: one block, radix 2 ----
struct small_args {
    const uint4 *in;
    uint4 *out;
    const uint4 *powers;
    uint32_t nodes, coset;
    int log;
    uint32_t inverse, scaled, natural; // natural: the input of an inverse is not reversed
    fr factor;
    const uint4 *times, *minus; // as PASS_TIMES and PASS_MINUS, or NULL
};
static __global__ void __launch_bounds__(256) transform_small(small_args S)
{
    GPU_DYNAMIC_SHARED(shared);
    uint32_t n = 1u << S.log;
    size_t plane = 2 * (size_t)(S.nodes + 1);
    for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) {
        uint32_t j = S.natural && S.log ? __brev(i) >> (32 - S.log) : i;
        fr x = load_fr(S.in + 2 * j);
        if (S.times)
            x = mul(reduce(load_fr(S.times + 2 * j)), x);
        store_fr(shared + 2 * i, x);
    }
    __syncthreads();
    for (int level = 0; level < S.log; level++) {
        int d = S.inverse ? S.log - 1 - level : level;
        uint32_t half = n >> (d + 1);
        for (uint32_t i = threadIdx.x; i < n / 2; i += blockDim.x) {
            uint32_t b = i / half, j = i % half, p = 2 * b * half + j, q = p + half,
                     node = (S.coset << d) | b;
            fr x = load_fr(shared + 2 * p), y = load_fr(shared + 2 * q);
            if (S.inverse) { // the fourth power of the conjugate is minus the inverse
                fr w = load_power(S.powers + 2 * (size_t)conjugate_node(node, S.nodes) + 3 * plane);
                store_fr(shared + 2 * p, add(x, y));
                store_fr(shared + 2 * q, mul(w, sub(y, x)));
            } else {
                y = mul(load_power(S.powers + 2 * (size_t)node + 3 * plane), y);
                store_fr(shared + 2 * p, add(x, y));
                store_fr(shared + 2 * q, sub(x, y));
            }
        }
        __syncthreads();
    }
    for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) {
        fr x = load_fr(shared + 2 * i);
        if (S.scaled)
            x = mul(S.factor, x);
        if (S.minus)
            x = sub(x, load_fr(S.minus + 2 * i));
        store_fr(S.out + 2 * i, reduce(x));
    }
}
static cuzk_status run_small(context &c, small_args S)
{
    const ntt_tables *t = c.dev->tables;
    S.powers = t->powers;
    S.nodes = t->nodes;
    size_t bytes = (size_t)32 << S.log;
    GPU_CUDA(c,
             cudaFuncSetAttribute(transform_small, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    GPU_LAUNCH_SYNC(transform_small, 1, 256, bytes, c.stream, S);
    GPU_CHECK_LAUNCH(c);
    return CUZK_OK;
}

// ---- transforms ----
static pass_args pass_on(context &c, const uint4 *in, uint4 *out, int log, bool coset)
{
    const ntt_tables *t = c.dev->tables;
    pass_args P = {};
    P.in = in;
    P.out = out;
    P.powers = t->powers;
    P.nodes = t->nodes;
    P.lower = t->lower;
    P.lower_nodes = 1u << t->lower_log;
    P.lower_log = std::min(t->lower_log, log - 4);
    P.coset = coset;
    return P;
}
static cuzk_status forward_passes(context &c, const uint4 *x, uint4 *out, int log, bool coset)
{
    int pass[4], n = plan_passes(log, pass), depth = 0;
    for (int i = 0; i < n; i++) {
        pass_args P = pass_on(c, i ? out : x, out, log, coset);
        P.depth = depth;
        P.low = log - depth - pass[i];
        depth += pass[i];
        P.last = depth == log;
        GPU_TRY(run_pass(c, pass[i], depth == log, PASS_FORWARD, P, log));
    }
    return CUZK_OK;
}
cuzk_status ntt_forward(context &c, const uint4 *x, uint4 *out, int log, bool coset)
{
    if (log > NTT_SMALL_LOG)
        return forward_passes(c, x, out, log, coset);
    small_args S = {};
    S.in = x;
    S.out = out;
    S.log = log;
    S.coset = coset;
    return run_small(c, S);
}
namespace
{
struct inverse_args {
    const uint4 *in = nullptr;
    uint4 *work = nullptr; // what the passes write, but for the last
    uint4 *out = nullptr;
    bool coset = false, natural = false;            // natural: work is not in
    const uint4 *scale = nullptr;                   // NULL: the result is n times the inverse
    const fr *factor = nullptr;                     // the same for small sizes
    const uint4 *times = nullptr, *minus = nullptr; // as in the passes
};
} // namespace
static cuzk_status inverse_small(context &c, const inverse_args &I, int log)
{
    small_args S = {};
    S.in = I.in;
    S.out = I.out;
    S.log = log;
    S.coset = I.coset;
    S.inverse = 1;
    S.natural = I.natural;
    S.scaled = I.factor != nullptr;
    if (I.factor)
        S.factor = *I.factor;
    S.times = I.times;
    S.minus = I.minus;
    return run_small(c, S);
}
static cuzk_status inverse_passes(context &c, const inverse_args &I, int log)
{
    if (log <= NTT_SMALL_LOG)
        return inverse_small(c, I, log);
    int pass[4], n = plan_passes(log, pass), depth = log;
    for (int i = n - 1; i >= 0; i--) {
        bool deepest = depth == log;
        depth -= pass[i];
        pass_args P = pass_on(c, deepest ? I.in : I.work, depth == 0 ? I.out : I.work, log, I.coset);
        P.depth = depth;
        P.low = log - depth - pass[i];
        P.last = depth == 0;
        P.log = log;
        P.scale = I.scale;
        int mode = PASS_INVERSE;
        if (deepest && I.natural)
            mode |= PASS_NATURAL;
        if (deepest && I.times) {
            mode |= PASS_TIMES;
            P.other = I.times;
        }
        if (depth == 0 && I.minus) {
            mode |= PASS_MINUS;
            P.other = I.minus;
        }
        GPU_TRY(run_pass(c, pass[i], deepest, mode, P, log));
    }
    return CUZK_OK;
}
cuzk_status ntt_inverse(context &c, const uint4 *x, uint4 *out, int log, bool coset, const fr &factor,
                        ntt_slot slot)
{
    inverse_args I;
    I.in = x;
    I.work = I.out = out;
    I.coset = coset;
    I.factor = &factor;
    if (log > NTT_SMALL_LOG)
        GPU_TRY(set_scale(c, slot, factor, coset, &I.scale));
    return inverse_passes(c, I, log);
}
// On the coset w H, w^n = -1, so x^n - 1 = -2 there: h = (AB mod (x^n + 1) - AB mod (x^n - 1)) / -2. The
// inverses of a and b are left unscaled; the scale factors are plain integers, so that the results leave
// Montgomery form.
cuzk_status ntt_quotient(context &c, uint4 *a, uint4 *b, uint4 *h, int log, uint4 *spare)
{
    fr half = ntt_size_inverse(1), zero, minus_half;
    set_zero(zero);
    minus_half = reduce(sub(zero, half));
    fr factor_c = from_mont(mul_reduce(minus_half, ntt_size_inverse(log)));
    fr factor_h = from_mont(mul_reduce(minus_half, ntt_size_inverse(3 * log)));
    const uint4 *scale_c = nullptr, *scale_h = nullptr;
    if (log > NTT_SMALL_LOG) {
        GPU_TRY(set_scale(c, SLOT_QUOTIENT_C, factor_c, false, &scale_c));
        GPU_TRY(set_scale(c, SLOT_QUOTIENT_H, factor_h, true, &scale_h));
    }
    inverse_args I; // c into h
    I.natural = spare != nullptr;
    I.in = a;
    I.times = b;
    I.work = I.out = h;
    I.scale = scale_c;
    I.factor = &factor_c;
    GPU_TRY(inverse_passes(c, I, log));
    uint4 *from[2] = {a, b}, *to[2] = {spare ? spare : a, spare ? a : b};
    for (int i = 0; i < 2; i++) {
        inverse_args V;
        V.natural = spare != nullptr;
        V.in = from[i];
        V.work = V.out = to[i];
        GPU_TRY(inverse_passes(c, V, log));
        GPU_TRY(ntt_forward(c, to[i], to[i], log, true));
    }
    inverse_args H;
    H.in = H.work = to[1];
    H.times = to[0];
    H.out = h;
    H.minus = h;
    H.coset = true;
    H.scale = scale_h;
    H.factor = &factor_h;
    return inverse_passes(c, H, log);
}

// ---- order and coset of the public interface ----
static __global__ void reverse_order(uint4 *x, int log)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >> log)
        return;
    size_t j = log ? __brev((unsigned)i) >> (32 - log) : 0;
    if (i >= j)
        return;
    fr a = load_fr(x + 2 * i), b = load_fr(x + 2 * j);
    store_fr(x + 2 * i, b);
    store_fr(x + 2 * j, a);
}
cuzk_status ntt_reverse(context &c, uint4 *x, int log)
{
    GPU_LAUNCH(reverse_order, div_up((size_t)1 << log, 256), 256, 0, c.stream, x, log);
    GPU_CHECK_LAUNCH(c);
    return CUZK_OK;
}
static __global__ void scale_powers(uint4 *x, size_t n, fr base)
{
    size_t begin = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 32;
    if (begin >= n)
        return;
    fr v = pow(base, begin);
    for (size_t i = begin; i < begin + 32 && i < n; i++) {
        store_fr(x + 2 * i, mul_reduce(v, load_fr(x + 2 * i)));
        v = mul_reduce(v, base);
    }
}
cuzk_status ntt_scale_powers(context &c, uint4 *x, size_t n, const fr &base)
{
    GPU_LAUNCH(scale_powers, div_up(div_up(n, 32), 128), 128, 0, c.stream, x, n, base);
    GPU_CHECK_LAUNCH(c);
    return CUZK_OK;
}
} // namespace gpu
