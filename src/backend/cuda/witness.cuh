// Which scalar meets which point: the query of aux wires holds only those with a non-zero coefficient,
// boolean wires are summed as subsets and field wires as products. The lists are made once a key, on the
// device.
#pragma once
#include "context.cuh"

namespace gpu
{
// count[i] = set bits of words before word i, for i <= words; mask2 (may be NULL) is taken along by and.
cuzk_status rank_words(context &c, const uint64_t *mask, const uint64_t *mask2, size_t words, uint32_t *rank);
// Lists the field wires of a query in order: for each bit set in fields & density (density NULL: all),
// base[j] = first + its rank in density (its position if NULL), scalar[j] (scalar may be NULL) = its rank
// among the field wires. pos: rank_words of both masks.
cuzk_status list_fields(context &c, const uint64_t *fields, const uint32_t *field_rank,
                        const uint64_t *density, const uint32_t *density_rank, const uint32_t *pos,
                        size_t words, uint32_t first, uint32_t *base, uint32_t *scalar);
// The expansion of a bitmap: for each bit set in bits & mask (NULL: all), in order, list[j] = first + its
// rank in mask (rank[i] before word i; its position if mask is NULL). pos: rank_words of both.
cuzk_status list_bits(context &c, const uint64_t *bits, const uint64_t *mask, const uint32_t *rank,
                      size_t words, uint32_t first, const uint32_t *pos, uint32_t *list);
// Clears the bits behind count in an array of 64-bit words.
cuzk_status clear_tail(context &c, uint64_t *bits, uint64_t count);
} // namespace gpu
