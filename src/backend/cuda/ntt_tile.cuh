// One pass of a transform: K of its levels on tiles of 2^TILE_LOG elements, eight elements a thread, radix-8
// stages in registers, exchanges through shared memory.
//
// The transform is a tree of remainders: node b at depth d stands for a factor X^(n/2^d) - c of X^n - 1 (of
// X^n + 1 for the coset, with index b + 2^d). A radix-8 stage there multiplies inputs 1..7 by the powers of
// c_b = w_(8 2^d)^(brev_d(b)). c_b does not depend on d, so that one table powers[k][b] serves every size,
// both directions (c_b^-k is the power of another node times w_8^-k, which is a rotation of the eight inputs)
// and the coset.
#pragma once
#include "fr_fixed.cuh"
#include "ntt_pass.cuh"

namespace gpu
{
constexpr int TILE_LOG = 10, TILE_THREADS = 1 << (TILE_LOG - 3), TILE_BLOCKS = 1 << (12 - TILE_LOG);
constexpr int TILE_PLANE =
    9 << (TILE_LOG - 3); // 16-byte words of one half of the elements, padded against conflicts
constexpr size_t TILE_BYTES = 2 * TILE_PLANE * 16;

HD void dft8(fr *x)
{ // outputs in bit-reversed order; four products
    constexpr uint32_t C[3][8][8] = FR_DFT8;
    fr t;
    UNROLL for (int k = 0; k < 4; k++)
    {
        t = sub(x[k], x[k + 4]);
        x[k] = add(x[k], x[k + 4]);
        x[k + 4] = t;
    }
    t = sub(x[0], x[2]);
    x[0] = add(x[0], x[2]);
    x[2] = t;
    t = mul_rows(C[0], sub(x[1], x[3]));
    x[1] = add(x[1], x[3]);
    x[3] = t;
    t = sub(x[0], x[1]);
    x[0] = add(x[0], x[1]);
    x[1] = t;
    t = sub(x[2], x[3]);
    x[2] = add(x[2], x[3]);
    x[3] = t;
    x[6] = mul_rows(C[0], x[6]);
    t = mul_rows(C[2], sub(x[5], x[7]));
    x[5] = mul_rows(C[1], add(x[5], x[7]));
    x[7] = sub(x[5], t);
    x[5] = add(x[5], t);
    t = sub(x[4], x[6]);
    x[4] = add(x[4], x[6]);
    x[6] = t;
    t = sub(x[4], x[5]);
    x[4] = add(x[4], x[5]);
    x[5] = t;
    t = sub(x[6], x[7]);
    x[6] = add(x[6], x[7]);
    x[7] = t;
}
HD void idft8(fr *x)
{ // eight times the inverse of dft8
    constexpr uint32_t C[3][8][8] = FR_IDFT8;
    fr t;
    UNROLL for (int k = 0; k < 8; k += 2)
    {
        t = sub(x[k], x[k + 1]);
        x[k] = add(x[k], x[k + 1]);
        x[k + 1] = t;
    }
    x[3] = mul_rows(C[0], x[3]);
    t = sub(x[0], x[2]);
    x[0] = add(x[0], x[2]);
    x[2] = t;
    t = sub(x[1], x[3]);
    x[1] = add(x[1], x[3]);
    x[3] = t;
    t = mul_rows(C[0], sub(x[4], x[6]));
    x[4] = add(x[4], x[6]);
    x[6] = t;
    t = mul_rows(C[2], sub(x[5], x[7]));
    x[5] = mul_rows(C[1], add(x[5], x[7]));
    x[7] = sub(x[5], t);
    x[5] = add(x[5], t);
    UNROLL for (int k = 0; k < 4; k++)
    {
        t = sub(x[k], x[k + 4]);
        x[k] = add(x[k], x[k + 4]);
        x[k + 4] = t;
    }
}
// X'_m = X_(m-1), with value m at its bit-reversed position
HD void rotate8(fr *x)
{
    fr t = x[7];
    x[7] = x[3];
    x[3] = x[5];
    x[5] = x[1];
    x[1] = x[6];
    x[6] = x[2];
    x[2] = x[4];
    x[4] = x[0];
    x[0] = t;
}
HD void dft4(fr *x)
{
    constexpr uint32_t C[3][8][8] = FR_DFT8;
    fr t;
    t = sub(x[0], x[2]);
    x[0] = add(x[0], x[2]);
    x[2] = t;
    t = mul_rows(C[0], sub(x[1], x[3]));
    x[1] = add(x[1], x[3]);
    x[3] = t;
    t = sub(x[0], x[1]);
    x[0] = add(x[0], x[1]);
    x[1] = t;
    t = sub(x[2], x[3]);
    x[2] = add(x[2], x[3]);
    x[3] = t;
}
HD void idft4(fr *x)
{
    constexpr uint32_t C[3][8][8] = FR_IDFT8;
    fr t;
    t = sub(x[0], x[1]);
    x[0] = add(x[0], x[1]);
    x[1] = t;
    t = mul_rows(C[0], sub(x[2], x[3]));
    x[2] = add(x[2], x[3]);
    x[3] = t;
    t = sub(x[0], x[2]);
    x[0] = add(x[0], x[2]);
    x[2] = t;
    t = sub(x[1], x[3]);
    x[1] = add(x[1], x[3]);
    x[3] = t;
}
HD void rotate4(fr *x)
{
    fr t = x[3];
    x[3] = x[1];
    x[1] = x[2];
    x[2] = x[0];
    x[0] = t;
}
// CONT: the tile's elements are contiguous (the deepest pass); otherwise columns of 2^(TILE_LOG - K)
// neighbours. NATURAL, in the deepest pass: the tile's columns are neighbours in the natural order of what it
// reads, each contiguous in what it writes.
template <int K, bool CONT, bool NATURAL> struct tile {
    static constexpr int COLUMN_LOG = TILE_LOG - K, THREAD_LOG = K - 3, REST = K % 3;
    static constexpr bool BY_COLUMN = CONT && !NATURAL; // neighbouring threads lie in a column
    uint32_t t, c, outer, low, from = 0;
    size_t base;
    uint4 *sm;
    __device__ __forceinline__ tile(const pass_args &P, uint4 *shared) : sm(shared)
    {
        uint32_t tid = threadIdx.x;
        if (NATURAL) {
            c = tid & ((1u << COLUMN_LOG) - 1);
            t = tid >> COLUMN_LOG;
            low = P.log - K; // of what it reads
            from = (blockIdx.x << COLUMN_LOG) + c;
            outer = __brev(from) >> (32 - low);
            base = (size_t)outer << K;
        } else if (CONT) {
            t = tid & ((1u << THREAD_LOG) - 1);
            c = tid >> THREAD_LOG;
            outer = (blockIdx.x << COLUMN_LOG) + c;
            base = (size_t)outer << K;
            low = 0;
        } else {
            c = tid & ((1u << COLUMN_LOG) - 1);
            t = tid >> COLUMN_LOG;
            low = P.low;
            uint32_t g = low - COLUMN_LOG;
            outer = blockIdx.x >> g;
            base = ((size_t)outer << (K + low)) + ((blockIdx.x & ((1u << g) - 1)) << COLUMN_LOG) + c;
        }
    }
    // Row of element e when the stage's three index bits lie at position p.
    __device__ __forceinline__ uint32_t row(int e, int p) const
    {
        return ((t >> p) << (p + 3)) | ((uint32_t)e << p) | (t & ((1u << p) - 1));
    }
    __device__ __forceinline__ size_t at(int e, int p) const
    {
        return base + ((size_t)row(e, p) << (NATURAL ? 0 : low));
    }
    __device__ __forceinline__ size_t read_at(int e, int p) const
    {
        return NATURAL ? ((size_t)(__brev(row(e, p)) >> (32 - K)) << low) + from : at(e, p);
    }
    __device__ __forceinline__ uint32_t slot(int e, int p) const
    {
        uint32_t r = row(e, p), i = BY_COLUMN ? (c << K) + r : (r << COLUMN_LOG) + c;
        return i + (i >> 3);
    }
    // Each thread later overwrites only slots that it has read: one barrier an exchange is enough.
    __device__ __forceinline__ void exchange(fr *x, int p, int q) const
    {
        UNROLL for (int e = 0; e < 8; e++)
        {
            uint32_t i = slot(e, p);
            sm[i] = uint4{x[e].l[0], x[e].l[1], x[e].l[2], x[e].l[3]};
            sm[i + TILE_PLANE] = uint4{x[e].l[4], x[e].l[5], x[e].l[6], x[e].l[7]};
        }
        int m = p > q ? p : q;
        if (BY_COLUMN ? m <= 3 && THREAD_LOG >= 3 : m + COLUMN_LOG <= 5)
            __syncwarp();
        else
            __syncthreads();
        UNROLL for (int e = 0; e < 8; e++)
        {
            uint32_t i = slot(e, q);
            uint4 a = sm[i], b = sm[i + TILE_PLANE];
            x[e] = fr{{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
        }
    }
    __device__ __forceinline__ uint32_t node(const pass_args &P, int level, uint32_t in) const
    {
        return (P.coset << (P.depth + level)) | (outer << level) | in;
    }
    // The powers of the deepest stage on their way to L2 while the tile loads.
    __device__ __forceinline__ void prefetch(const pass_args &P, bool inverse) const
    {
#ifdef __CUDA_ARCH__
        if (REST)
            return;
        uint32_t b = node(P, K - 3, t);
        if (inverse)
            b = conjugate_node(b, P.nodes);
        const uint4 *w = P.powers + 2 * (size_t)b;
        size_t plane = 2 * (size_t)(P.nodes + 1);
        UNROLL for (int k = 0; k < 7; k++) asm volatile("prefetch.global.L2 [%0];" ::"l"(w + k * plane));
#else
        (void)P;
        (void)inverse;
#endif
    }
    // Whether the powers of a stage are known for mul_split. All those of columns are; the branch is the same
    // for all threads.
    __device__ __forceinline__ bool in_lower(const pass_args &P, int level) const
    {
        return !CONT || P.depth + level + P.coset <= P.lower_log;
    }
    static __device__ __forceinline__ void multiply(const uint4 *w, size_t plane, fr *x)
    {
        UNROLL for (int k = 1; k < 8; k++) x[k] = mul(load_power(w + (k - 1) * plane), x[k]);
    }
    static __device__ __forceinline__ void multiply_split(const uint4 *v, size_t lower_plane, const uint4 *w,
                                                          size_t plane, fr *x)
    {
        UNROLL for (int k = 1; k < 8; k++)
        {
            if (k > 1)
                after(x[k], x[k - 1]);
            x[k] = mul_split(load_power(v + (k - 1) * lower_plane), load_power(w + (k - 1) * plane), x[k]);
        }
    }
    // x times the k-th power of a node of columns; lower_b is the same node's place in P.lower.
    static __device__ __forceinline__ fr times_power(const pass_args &P, uint32_t b, uint32_t lower_b, int k,
                                                     const fr &x)
    {
        static_assert(!CONT || !REST, "the powers of the deepest pass are not all in P.lower");
        return mul_split(load_power(P.lower + 2 * (lower_b + (k - 1) * (size_t)(P.lower_nodes + 1))),
                         load_power(P.powers + 2 * (b + (k - 1) * (size_t)(P.nodes + 1))), x);
    }
    __device__ __forceinline__ void forward(const pass_args &P, fr *x) const
    {
        size_t plane = 2 * (size_t)(P.nodes + 1);
#pragma unroll 1
        for (int p = K - 3;; p -= 3) {
            uint32_t b = node(P, K - 3 - p, t >> p);
            if (b) {
                if (in_lower(P, K - 3 - p))
                    multiply_split(P.lower + 2 * (size_t)b, 2 * (size_t)(P.lower_nodes + 1),
                                   P.powers + 2 * (size_t)b, plane, x);
                else
                    multiply(P.powers + 2 * (size_t)b, plane, x);
            }
            dft8(x);
            if (p < 3)
                break;
            exchange(x, p, p - 3);
        }
        if (REST == 2) {
            exchange(x, REST, 0);
            UNROLL for (int h = 0; h < 2; h++)
            {
                uint32_t b = node(P, K - 2, 2 * t + h);
                UNROLL for (int k = 1; k < 4; k++) x[4 * h + k] = times_power(P, b, b, 2 * k, x[4 * h + k]);
                dft4(x + 4 * h);
            }
        }
        if (REST == 1) {
            exchange(x, REST, 0);
            UNROLL for (int h = 0; h < 4; h++)
            {
                uint32_t b = node(P, K - 1, 4 * t + h);
                fr v = times_power(P, b, b, 4, x[2 * h + 1]);
                x[2 * h + 1] = sub(x[2 * h], v);
                x[2 * h] = add(x[2 * h], v);
            }
        }
    }
    __device__ __forceinline__ void inverse(const pass_args &P, fr *x) const
    {
        size_t plane = 2 * (size_t)(P.nodes + 1);
        if (REST == 2) {
            UNROLL for (int h = 0; h < 2; h++)
            {
                uint32_t b = node(P, K - 2, 2 * t + h);
                rotate4(x + 4 * h);
                idft4(x + 4 * h);
                UNROLL for (int k = 1; k < 4; k++) x[4 * h + k] = times_power(
                    P, conjugate_node(b, P.nodes), conjugate_node(b, P.lower_nodes), 2 * k, x[4 * h + k]);
            }
            exchange(x, 0, REST);
        }
        if (REST == 1) {
            UNROLL for (int h = 0; h < 4; h++)
            {
                uint32_t b = node(P, K - 1, 4 * t + h);
                fr v = sub(x[2 * h + 1], x[2 * h]);
                x[2 * h] = add(x[2 * h], x[2 * h + 1]);
                x[2 * h + 1] =
                    times_power(P, conjugate_node(b, P.nodes), conjugate_node(b, P.lower_nodes), 4, v);
            }
            exchange(x, 0, REST);
        }
#pragma unroll 1
        for (int p = REST;; p += 3) {
            bool top = !CONT && p == K - 3 && P.depth == 0, scaled = top && P.scale, plain = top && !P.coset;
            uint32_t b = node(P, K - 3 - p, t >> p);
            if (!plain)
                rotate8(x);
            idft8(x);
            if (scaled || !plain) {
                const uint4 *w = scaled ? P.scale + 2 : P.powers + 2 * (size_t)conjugate_node(b, P.nodes);
                if (scaled)
                    x[0] = mul_split(load_power(P.scale + 16), load_power(P.scale), x[0]);
                if (in_lower(P, K - 3 - p)) {
                    const uint4 *v =
                        scaled ? P.scale + 18 : P.lower + 2 * (size_t)conjugate_node(b, P.lower_nodes);
                    multiply_split(v, scaled ? 2 : 2 * (size_t)(P.lower_nodes + 1), w, scaled ? 2 : plane, x);
                } else {
                    multiply(w, plane, x);
                }
            }
            if (p == K - 3)
                break;
            exchange(x, p, p + 3);
        }
    }
};
template <int K, bool CONT, int MODE>
__global__ void __launch_bounds__(TILE_THREADS, TILE_BLOCKS) transform_pass(pass_args P)
{
    GPU_DYNAMIC_SHARED(shared);
    tile<K, CONT, (MODE & PASS_NATURAL) != 0> T(P, shared);
    fr x[8];
    constexpr int TOP = K - 3, FIRST = MODE & PASS_INVERSE ? 0 : TOP, LAST = MODE & PASS_FORWARD ? 0 : TOP;
    if (CONT)
        T.prefetch(P, MODE & PASS_INVERSE);
    UNROLL for (int e = 0; e < 8; e++) x[e] = load_fr(P.in + 2 * T.read_at(e, FIRST));
    if (MODE & PASS_TIMES) {
        UNROLL for (int e = 0; e < 8; e++) x[e] =
            mul(reduce(load_fr(P.other + 2 * T.read_at(e, FIRST))), x[e]);
    }
    if (MODE & PASS_INVERSE)
        T.inverse(P, x);
    else
        T.forward(P, x);
    if (MODE & PASS_MINUS) {
        UNROLL for (int e = 0; e < 8; e++) x[e] = sub(x[e], load_fr(P.other + 2 * T.at(e, LAST)));
    }
    if (P.last) {
        UNROLL for (int e = 0; e < 8; e++) x[e] = reduce(x[e]);
    }
    UNROLL for (int e = 0; e < 8; e++) store_fr(P.out + 2 * T.at(e, LAST), x[e]);
}
template <int K, bool CONT, int MODE> static cuzk_status launch_pass(context &c, const pass_args &P, int log)
{ // the attribute is set at every launch: it belongs to the device, and costs less than a microsecond
    GPU_CUDA(c, cudaFuncSetAttribute(transform_pass<K, CONT, MODE>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, (int)TILE_BYTES));
    GPU_LAUNCH_SYNC((transform_pass<K, CONT, MODE>), 1u << (log - TILE_LOG), TILE_THREADS, TILE_BYTES,
                    c.stream, P);
    GPU_CHECK_LAUNCH(c);
    return CUZK_OK;
}
inline cuzk_status no_pass(context &c, int levels)
{
    return fail(c.err, CUZK_UNSUPPORTED, "no kernel for a pass of %d levels", levels);
}
// A statement of the functions that choose a pass.
#define PASS(K, CONT, MODE)                                                                                  \
    if (levels == K && mode == (MODE))                                                                       \
        return launch_pass<K, CONT, (MODE)>(c, P, log);
} // namespace gpu
