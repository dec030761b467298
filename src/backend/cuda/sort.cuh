// Sorting and prefix sums, by CUB on the device.
#pragma once
#include "context.cuh"

namespace gpu
{
// out[i] = in[0] + ... + in[i-1]; the arrays do not overlap.
cuzk_status prefix_sum(context &c, const uint32_t *in, uint32_t *out, size_t n);
// The places of runs that shrink by halves: with length(b) = off[b + 1] - off[b], the exclusive prefix sums
// of ceil(length(b) / 2^r), r = 1 .. rounds one after the other, for each r all b < keys and a zero.
cuzk_status halved_offsets(context &c, const uint32_t *off, uint32_t keys, int rounds, uint32_t *out);
// Sorts n pairs by the low key bits. The pointers are swapped so that key[0] and val[0] hold the result.
cuzk_status sort_pairs(context &c, uint32_t *key[2], uint32_t *val[2], size_t n, int bits);
// Arena bytes that the functions above may take for themselves.
size_t sort_bytes(size_t n);
} // namespace gpu
