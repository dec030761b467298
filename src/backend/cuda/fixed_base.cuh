// Multiples of the generators, for setup: windows of a table and the batched additions of runs.cuh.
#pragma once
#include "points.cuh"
#include "runs.cuh"

namespace gpu
{
// Table w * 2^bits + d holds d 2^(bits w) times the generator.
struct fixed_table {
    int bits = 0;
    uint4 *points = nullptr;
    size_t bytes = 0;
};
struct fixed_tables {
    fixed_table g1, g2;
};
void fixed_release(cuzk_device *dev);
// out[i] = k[i] * generator in uncompressed encoding; host memory, k in Montgomery form.
template <class F> cuzk_status fixed_base(context &c, uint8_t *out, const cuzk_fr *k, size_t n);
} // namespace gpu
