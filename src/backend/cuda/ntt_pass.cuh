// What a pass of a transform is told, and the functions that run one: each set of kernels is compiled apart,
// since the compiler takes its time over them.
#pragma once
#include "ntt.cuh"

namespace gpu
{
// PASS_NATURAL: the deepest pass of an inverse reads natural order, and writes elsewhere than it reads.
enum pass_mode { PASS_FORWARD = 1, PASS_INVERSE = 2, PASS_TIMES = 4, PASS_MINUS = 8, PASS_NATURAL = 16 };
struct pass_args {
    const uint4 *in;
    uint4 *out;
    const uint4 *powers, *lower;
    uint32_t nodes;
    uint32_t lower_nodes; // plane k of lower has that many entries and one
    uint32_t lower_log;   // the deepest stage whose powers are in lower, one less for the coset
    uint32_t low;         // log2 of the distance between neighbours of this pass
    uint32_t depth;       // levels above this pass
    uint32_t coset;       // 0 or 1
    uint32_t last;        // the result is made canonical
    uint32_t log;         // of the transform
    const uint4 *scale;   // 8 factors for the top stage of an inverse, 8 for mul_split; or NULL
    const uint4 *other;   // PASS_TIMES: factor of the input; PASS_MINUS: subtrahend of the result
};

#ifdef __CUDACC__
static __device__ __forceinline__ fr load_power(const uint4 *p)
{
    uint4 a = __ldg(p), b = __ldg(p + 1);
    return fr{{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
}
#else
inline fr load_power(const uint4 *p)
{
    return load_fr(p);
}
#endif
// The node whose powers are the inverses, up to the rotation.
HD uint32_t conjugate_node(uint32_t b, uint32_t nodes)
{
#ifdef __CUDA_ARCH__
    return b ? b ^ ((1u << (31 - __clz((int)b))) - 1) : nodes;
#else
    return b ? b ^ ((1u << (31 - __builtin_clz(b))) - 1) : nodes;
#endif
}

// The last pass of a forward transform, the first of an inverse.
cuzk_status run_deepest_pass(context &c, int levels, int mode, const pass_args &P, int log);
// Any other that is forward or inverse and nothing else.
cuzk_status run_column_pass(context &c, int levels, int mode, const pass_args &P, int log);
// The last pass of an inverse, with a subtraction behind it.
cuzk_status run_minus_pass(context &c, int levels, int mode, const pass_args &P, int log);
} // namespace gpu
