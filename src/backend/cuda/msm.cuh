// Multi-scalar multiplication and subset sums on the device.
#pragma once
#include "runs.cuh"

namespace gpu
{
constexpr int MAX_WINDOWS = 40;

// What the device leaves to the host: one sum a window, to be joined by doublings (radix 0) or by products
// with radix.
template <class F> struct window_sums {
    int windows = 0, width[MAX_WINDOWS];
    uint32_t radix = 0;
    size_t buckets = 0; // of all windows
    xyzz<F> sum[MAX_WINDOWS];
};
template <class F> void window_sums_clear(window_sums<F> &s, int windows);
template <class F> xyzz<F> window_sums_join(const window_sums<F> &s);

// Sum over i < n of scalars[s(i)] * bases[b(i)], where b and s are the index lists or, where those are NULL,
// i itself. bases: packed affine points. copies > 1: copy c of the bases, stride points on, holds 2^(c *
// bits) times each with bits = copy_bits(copies), which lets fewer and larger sets of buckets do.
//
// turned: the bases are turned points (curve.cuh), which take twice the room; digits are then Eisenstein
// integers (msm_hex.cuh), which need a third of the buckets. Copy c holds radix^(c * windows) times each,
// with radix = hex_radix(windows * copies), and windows must be given where there are copies.
template <class F> struct msm_terms {
    const void *bases = nullptr;
    const uint4 *scalars = nullptr; // canonical
    const uint32_t *base_index = nullptr, *scalar_index = nullptr;
    size_t n = 0, stride = 0;
    int copies = 1;
    int windows = 0; // for all copies together; 0: chosen by the size
    bool turned = false;
};
inline int copy_bits(int copies)
{
    return (255 + copies - 1) / copies;
}
int msm_windows(size_t n, int copies, bool turned); // what windows 0 stands for
bool msm_can_cut(int windows, int copies, bool turned);
int msm_copies(size_t n, int most); // how many copies of turned bases are worth their memory, up to most

// Adds to out (which must be clear or hold a sum of the same call). Takes scratch from the arena, sorts as
// many windows together as fit there, and chunks of the terms where not even one does; CUZK_OUT_OF_MEMORY if
// not even a small chunk does.
template <class F> cuzk_status msm_sum(context &c, const msm_terms<F> &t, window_sums<F> *out);
// Arena bytes with which n terms are summed at full speed, or with at most so many references sorted at a
// time.
#ifdef __CUDACC__
constexpr size_t MSM_REFERENCES = (size_t)400 << 20;
#else
constexpr size_t MSM_REFERENCES = 128; // of the emulation: plans with several groups of windows
#endif
template <class F>
size_t msm_bytes(const cuzk_device *dev, size_t n, int copies, size_t references = MSM_REFERENCES,
                 bool turned = false, int windows = 0);

// Sum of the base points whose bit is set. bits: words 64-bit words; mask (may be NULL) has a bit for each
// position that has a base at all, and rank[i] bases precede word i; without mask position i is base i. first
// is added to the base.
template <class F> struct subset_terms {
    const void *bases = nullptr;
    const uint64_t *bits = nullptr, *mask = nullptr;
    const uint32_t *rank = nullptr;
    size_t words = 0, first = 0;
};
constexpr uint32_t SUBSET_KEYS = 65536; // the most runs that a subset is cut into
template <class F> size_t subset_bytes(const cuzk_device *dev, size_t n) // arena bytes for n points, about
{
    return run_scratch<F>::bytes(dev, n, SUBSET_KEYS) + SUBSET_KEYS * (32 * F::QUADS + 2 * sizeof(xyzz<F>)) +
           4096;
}
template <class F> cuzk_status subset_sum(context &c, const subset_terms<F> &t, window_sums<F> *out);
} // namespace gpu
