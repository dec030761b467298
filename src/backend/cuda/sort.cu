// Sorting and prefix sums.
#include "sort.cuh"
#ifdef __CUDACC__
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#endif

namespace gpu
{
size_t sort_bytes(size_t n)
{
    return (16u << 20) + n / 4;
}
namespace
{
struct halved_length {
    const uint32_t *off;
    uint32_t keys;
    HD uint32_t operator()(uint32_t i) const
    {
        uint32_t q = i / (keys + 1), b = i - q * (keys + 1);
        return b == keys ? 0 : (off[b + 1] - off[b] + (2u << q) - 1) >> (q + 1);
    }
};
} // namespace
#ifdef __CUDACC__
cuzk_status halved_offsets(context &c, const uint32_t *off, uint32_t keys, int rounds, uint32_t *out)
{
    arena_mark mark(c);
    auto in =
        thrust::make_transform_iterator(thrust::counting_iterator<uint32_t>(0), halved_length{off, keys});
    size_t bytes = 0;
    uint32_t n = (keys + 1) * (uint32_t)rounds;
    void *temp;
    GPU_CUDA(c, cub::DeviceScan::ExclusiveSum(nullptr, bytes, in, out, n, c.stream));
    GPU_TRY(arena_take(c, &temp, bytes));
    GPU_CUDA(c, cub::DeviceScan::ExclusiveSum(temp, bytes, in, out, n, c.stream));
    return CUZK_OK;
}
cuzk_status prefix_sum(context &c, const uint32_t *in, uint32_t *out, size_t n)
{
    arena_mark mark(c);
    size_t bytes = 0;
    void *temp;
    GPU_CUDA(c, cub::DeviceScan::ExclusiveSum(nullptr, bytes, in, out, n, c.stream));
    GPU_TRY(arena_take(c, &temp, bytes));
    GPU_CUDA(c, cub::DeviceScan::ExclusiveSum(temp, bytes, in, out, n, c.stream));
    return CUZK_OK;
}
cuzk_status sort_pairs(context &c, uint32_t *key[2], uint32_t *val[2], size_t n, int bits)
{
    arena_mark mark(c);
    cub::DoubleBuffer<uint32_t> k(key[0], key[1]), v(val[0], val[1]);
    uint32_t count = (uint32_t)n; // CUB sorts smaller tiles by 64-bit counts
    size_t bytes = 0;
    void *temp;
    GPU_CUDA(c, cub::DeviceRadixSort::SortPairs(nullptr, bytes, k, v, count, 0, bits, c.stream));
    GPU_TRY(arena_take(c, &temp, bytes));
    GPU_CUDA(c, cub::DeviceRadixSort::SortPairs(temp, bytes, k, v, count, 0, bits, c.stream));
    key[0] = k.Current();
    key[1] = k.Alternate();
    val[0] = v.Current();
    val[1] = v.Alternate();
    return CUZK_OK;
}
#else
cuzk_status halved_offsets(context &c, const uint32_t *off, uint32_t keys, int rounds, uint32_t *out)
{
    halved_length length = {off, keys};
    uint32_t s = 0;
    if (!emu_launch_allowed())
        return synchronize(c);
    for (uint32_t i = 0; i < (keys + 1) * (uint32_t)rounds; i++) {
        out[i] = s;
        s += length(i);
    }
    return CUZK_OK;
}
cuzk_status prefix_sum(context &c, const uint32_t *in, uint32_t *out, size_t n)
{
    uint32_t s = 0;
    if (!emu_launch_allowed())
        return synchronize(c);
    for (size_t i = 0; i < n; i++) {
        uint32_t t = in[i];
        out[i] = s;
        s += t;
    }
    return CUZK_OK;
}
cuzk_status sort_pairs(context &c, uint32_t *key[2], uint32_t *val[2], size_t n, int bits)
{
    if (!emu_launch_allowed())
        return synchronize(c);
    uint32_t mask = bits >= 32 ? 0xffffffffu : (1u << bits) - 1;
    std::vector<std::pair<uint32_t, uint32_t>> t(n);
    for (size_t i = 0; i < n; i++)
        t[i] = {key[0][i], val[0][i]};
    std::stable_sort(t.begin(), t.end(),
                     [mask](const auto &a, const auto &b) { return (a.first & mask) < (b.first & mask); });
    for (size_t i = 0; i < n; i++) {
        key[1][i] = t[i].first;
        val[1][i] = t[i].second;
    }
    std::swap(key[0], key[1]);
    std::swap(val[0], val[1]);
    return CUZK_OK;
}
#endif
} // namespace gpu
