// Lists of wires: see witness.cuh.
#include "sort.cuh"
#include "witness.cuh"

namespace gpu
{
static __global__ void count_words(const uint64_t *mask, const uint64_t *mask2, uint32_t words,
                                   uint32_t *count)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= words)
        count[i] = i < words ? (uint32_t)__popcll(mask[i] & (mask2 ? mask2[i] : ~0ull)) : 0;
}
cuzk_status rank_words(context &c, const uint64_t *mask, const uint64_t *mask2, size_t words, uint32_t *rank)
{
    arena_mark mark(c);
    uint32_t *count;
    GPU_TRY(take(c, &count, words + 1));
    GPU_LAUNCH(count_words, div_up(words + 1, 256), 256, 0, c.stream, mask, mask2, (uint32_t)words, count);
    GPU_CHECK_LAUNCH(c);
    return prefix_sum(c, count, rank, words + 1);
}
static __global__ void list_words(const uint64_t *fields, const uint32_t *field_rank, const uint64_t *density,
                                  const uint32_t *density_rank, const uint32_t *pos, uint32_t words,
                                  uint32_t first, uint32_t *base, uint32_t *scalar)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words)
        return;
    uint64_t f = fields[i], d = density ? density[i] : ~0ull, v = f & d;
    uint32_t p = pos[i], at = first + (density ? density_rank[i] : 64 * i);
    for (; v; v &= v - 1, p++) {
        uint64_t below = (v & (0 - v)) - 1;
        base[p] = at + (uint32_t)__popcll(d & below);
        if (scalar)
            scalar[p] = field_rank[i] + (uint32_t)__popcll(f & below);
    }
}
cuzk_status list_fields(context &c, const uint64_t *fields, const uint32_t *field_rank,
                        const uint64_t *density, const uint32_t *density_rank, const uint32_t *pos,
                        size_t words, uint32_t first, uint32_t *base, uint32_t *scalar)
{
    if (words == 0)
        return CUZK_OK;
    GPU_LAUNCH(list_words, div_up(words, 256), 256, 0, c.stream, fields, field_rank, density, density_rank,
               pos, (uint32_t)words, first, base, scalar);
    GPU_CHECK_LAUNCH(c);
    return CUZK_OK;
}
// Each thread lists one word into shared memory; the block writes its part of the list out at once.
constexpr uint32_t LIST_THREADS = 128;
constexpr size_t LIST_BYTES = LIST_THREADS * 64 * 4;
static __global__ void list_words_of_bits(const uint64_t *bits, const uint64_t *mask, const uint32_t *rank,
                                          uint32_t words, uint32_t base, const uint32_t *pos, uint32_t *list)
{
    GPU_DYNAMIC_SHARED(shared);
    uint32_t *own = (uint32_t *)shared, i0 = blockIdx.x * blockDim.x, i = i0 + threadIdx.x, begin = pos[i0],
             count = pos[i0 + blockDim.x < words ? i0 + blockDim.x : words] - begin;
    if (i < words) {
        uint64_t m = mask ? mask[i] : ~0ull;
        uint32_t p = pos[i] - begin, first = mask ? base + rank[i] : base + 64 * i;
        for (uint64_t v = bits[i] & m; v; v &= v - 1, p++) {
            uint64_t below = (v & (0 - v)) - 1; // the bits under the lowest one set
            own[p] = first + (uint32_t)__popcll(m & below);
        }
    }
    __syncthreads();
    for (uint32_t p = threadIdx.x; p < count; p += blockDim.x)
        list[begin + p] = own[p];
}
cuzk_status list_bits(context &c, const uint64_t *bits, const uint64_t *mask, const uint32_t *rank,
                      size_t words, uint32_t first, const uint32_t *pos, uint32_t *list)
{
    if (words == 0)
        return CUZK_OK;
    GPU_LAUNCH_SYNC(list_words_of_bits, div_up(words, LIST_THREADS), LIST_THREADS, LIST_BYTES, c.stream, bits,
                    mask, rank, (uint32_t)words, first, pos, list);
    GPU_CHECK_LAUNCH(c);
    return CUZK_OK;
}
static __global__ void clear_bits(uint64_t *word, uint64_t keep)
{
    *word &= keep;
}
cuzk_status clear_tail(context &c, uint64_t *bits, uint64_t count)
{
    if (count % 64 == 0)
        return CUZK_OK;
    GPU_LAUNCH(clear_bits, 1, 1, 0, c.stream, bits + count / 64, ((uint64_t)1 << (count % 64)) - 1);
    GPU_CHECK_LAUNCH(c);
    return CUZK_OK;
}
} // namespace gpu
