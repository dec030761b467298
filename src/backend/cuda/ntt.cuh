// Number-theoretic transforms over Fr on the device.
//
// A forward transform takes natural order to bit-reversed order, the inverse takes it back. A product of
// transforms needs no reversal between them. The coset is that of the 2n-th root of unity w: it costs nothing
// extra here, and a quotient does not depend on the coset. op_ntt adds reversal and the coset of 7 (device
// functions below).
#pragma once
#include "context.cuh"
#include "fr.cuh"

namespace gpu
{
constexpr int NTT_MAX_LOG = 28, NTT_SMALL_LOG = 11, NTT_MIN_TABLE_LOG = 13;

// Powers of roots of unity, for all transforms up to 2^log.
struct ntt_tables {
    int log = 0;
    uint32_t nodes = 0; // 2^(log - 2); plane k has nodes + 1 entries
    int lower_log = 0;  // plane k of lower has 2^lower_log + 1 entries
    uint4 *powers = nullptr;
    uint4 *lower = nullptr;  // for mul_split: the first powers of each plane, and its last
    uint4 *scales = nullptr; // NTT_SCALES sets of 8 factors and as many for mul_split
    size_t bytes = 0;
};
// Makes the device's tables serve 2^log (at most NTT_MAX_LOG).
cuzk_status ntt_prepare(context &c, int log);
void ntt_release(cuzk_device *dev);

// x: 2^log lazy or canonical values, transformed to out (may be x), canonical. factor: multiplies the
// inverse's result.
enum ntt_slot { SLOT_PLAIN, SLOT_QUOTIENT_C, SLOT_QUOTIENT_H, NTT_SCALES };
cuzk_status ntt_forward(context &c, const uint4 *x, uint4 *out, int log, bool coset);
cuzk_status ntt_inverse(context &c, const uint4 *x, uint4 *out, int log, bool coset, const fr &factor,
                        ntt_slot slot);
// h = (a b - c) / (x^n - 1) where c interpolates a b: canonical integers in natural order into h, from a and
// b (destroyed). h, a, b: 2^log values each. spare NULL: a and b are in bit-reversed order; otherwise in
// natural order, and spare is room for 2^log values.
cuzk_status ntt_quotient(context &c, uint4 *a, uint4 *b, uint4 *h, int log, uint4 *spare);

cuzk_status ntt_reverse(context &c, uint4 *x, int log);                       // bit-reversal in place
cuzk_status ntt_scale_powers(context &c, uint4 *x, size_t n, const fr &base); // x[i] *= base^i
fr ntt_root(int log);
fr ntt_size_inverse(int log);
} // namespace gpu
