// Multiples of arrays of turned points: the copies of msm.cuh.
#pragma once
#include "context.cuh"
#include "curve.cuh"

namespace gpu
{
// out[i] = radix^exponent in[i] for n turned points, a chunk at a time; the power is below 2^160. Takes
// copy_bytes from the arena.
template <class F>
cuzk_status multiply_turned(context &c, void *out, const void *in, size_t n, uint32_t radix, int exponent);
template <class F> size_t copy_bytes(size_t n);
} // namespace gpu
