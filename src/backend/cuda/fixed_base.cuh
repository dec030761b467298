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
// Makes the table of the generator; empties the scratch block.
template <class F> cuzk_status fixed_prepare(context &c, int bits);
// Multiples of up to chunk scalars at a time, in scratch taken from the arena.
template <class F> struct fixed_run {
    run_scratch<F> w;
    const fixed_table *table = nullptr;
    static size_t bytes(const cuzk_device *dev, size_t chunk, int bits);
    cuzk_status init(context &c, size_t chunk);
    // sums: planes of m points; k: device memory, Montgomery form
    cuzk_status multiply(context &c, const uint4 *k, size_t m, uint4 *sums);
};
// out[i] = k[i] * generator in uncompressed encoding; host memory, k in Montgomery form.
template <class F> cuzk_status fixed_base(context &c, uint8_t *out, const cuzk_fr *k, size_t n);
} // namespace gpu
