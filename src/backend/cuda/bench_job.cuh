// What the measurements share: inputs drawn from an index, a clock, and how far from the device's limit a
// result is.
#pragma once
#include "bench.cuh"
#include "fr.cuh"
#include "prove.cuh"

namespace gpu
{
HD uint64_t mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}
HD fr random_fr(uint64_t seed, uint64_t i)
{
    fr a;
    for (int q = 0; q < 4; q++) {
        uint64_t v = mix(mix(seed) + 4 * i + q);
        a.l[2 * q] = (uint32_t)v;
        a.l[2 * q + 1] = (uint32_t)(v >> 32);
    }
    a.l[7] &= 0x7fffffff;
    return reduce(a); // below 2^255 < 2r
}
static __global__ void fill_random(uint4 *x, size_t n, uint64_t seed, size_t first)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        store_fr(x + 2 * i, random_fr(seed, first + i));
}
static __global__ void fill_bits(uint64_t *x, size_t words, uint64_t seed)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < words)
        x[i] = mix(mix(seed) + i);
}
// Limits of an H200, measured: products of a field, memory (read and written), upload from pinned memory.
struct device_limit {
    double rate; // a second
    const char *what;
};
constexpr device_limit LIMIT_FP = {27e9, "27 G Fp products a second"},
                       LIMIT_FR = {64e9, "64 G Fr products a second"}, LIMIT_MEMORY = {4.29e12, "4.29 TB/s"},
                       LIMIT_UPLOAD = {55e9, "55 GB/s"};
struct timer {
    std::vector<double> ms;
    template <class Run> cuzk_status run(context &c, uint32_t repeat, Run f)
    {
        for (uint32_t i = 0; i <= repeat; i++) {
            GPU_TRY(synchronize(c));
            double t = now_ms();
            GPU_TRY(f());
            GPU_TRY(synchronize(c));
            if (i)
                ms.push_back(now_ms() - t);
        }
        std::sort(ms.begin(), ms.end());
        return CUZK_OK;
    }
};
struct bench_job {
    context c;
    uint32_t log, variant, repeat;
    timer t;
    char *note;
    size_t note_size;
    double work = 0; // in units of the limit
    device_limit limit = {0, nullptr};
    size_t n() const { return (size_t)1 << log; }
    void needs(double units, const device_limit &of)
    {
        work = units;
        limit = of;
    }
};
constexpr uint64_t BASE_SEED = 11, SCALAR_SEED = 23;

// bench_wires.cu
cuzk_status bench_spmv(bench_job &b);
cuzk_status bench_expand(bench_job &b);
} // namespace gpu
