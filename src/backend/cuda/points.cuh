// Encoded points on the device: decoding and checking parameter files, encoding what setup makes.
#pragma once
#include "context.cuh"
#include "curve.cuh"

namespace gpu
{
// Decodes n uncompressed big-endian points in place: packed affine points in Montgomery form. *problem
// (device memory) must be all ones; afterwards it is that or the least of (first_index + i) * 4 + code over
// bad points: 1 form, 2 not on the curve, 3 outside the subgroup. check: also curve and subgroup.
template <class F>
cuzk_status decode_points(context &c, void *points, size_t n, uint64_t first_index, bool check,
                          unsigned long long *problem);
// n packed points as turned ones (curve.cuh), those that index lists where it is not NULL; the arrays do not
// overlap.
template <class F>
cuzk_status turn_points(context &c, void *turned, const void *packed, size_t n,
                        const uint32_t *index = nullptr);
template <class F> HD void store_turned(uint4 *record, const F &x, const F &y)
{
    F t = times_beta(x);
    store_words(record, 1, x);
    store_words(record + F::QUADS, 1, t);
    store_words(record + 2 * F::QUADS, 1, neg(add(x, t))); // 1 + beta + beta^2 = 0
    store_words(record + 3 * F::QUADS, 1, y);
}
// The sentence for a problem found in the named query; CUZK_OK for none.
cuzk_status report_problem(context &c, const char *query, unsigned long long problem);
// Encodes n points given as planes into out (device memory, 96 or 192 bytes a point).
template <class F> cuzk_status encode_points(context &c, void *out, const uint4 *planes, size_t n);
} // namespace gpu
