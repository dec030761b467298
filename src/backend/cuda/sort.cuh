// Sorting and prefix sums, by CUB on the device.
#pragma once
#include "context.cuh"

namespace gpu
{
// out[i] = in[0] + ... + in[i-1]; the arrays do not overlap.
cuzk_status prefix_sum(context &c, const uint32_t *in, uint32_t *out, size_t n);
// Sorts n pairs by the low key bits. The pointers are swapped so that key[0] and val[0] hold the result.
cuzk_status sort_pairs(context &c, uint32_t *key[2], uint32_t *val[2], size_t n, int bits);
// Arena bytes that sort_pairs and prefix_sum may take for themselves.
size_t sort_bytes(size_t n);
} // namespace gpu
