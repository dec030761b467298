// Sums of runs of points by pairwise affine additions: the core of every multi-scalar multiplication.
//
// Input: n references to points, sorted by key. Output: for each key the sum of its points. A round adds
// neighbours within each run, which halves the runs; the inversions of a round are one batch: a forward pass
// multiplies up the denominators, a few levels of batch inversion invert the products of all threads, a
// backward pass makes the sums. Infinity, equal and opposite points are recognised (their denominator is
// replaced), so every input is summed exactly.
#pragma once
#include "context.cuh"
#include "curve.cuh"

namespace gpu
{
// One round: total pairs; descriptor j holds the first element of pair j, bit 31 set if it has a partner.
template <class F> struct round_args {
    point_src src;
    const uint32_t *vals, *desc; // vals: element to base index, bit 31: negated (first round only)
    uint32_t total, per_thread, threads;
    uint4 *product; // of each thread's denominators
    uint4 *out;     // planes of total points; x j holds the product before pair j until its sum is written
};

// Scratch of a sum over up to elements references and keys keys, taken from the arena.
template <class F> struct run_scratch {
    size_t elements = 0, keys = 0;
    uint32_t *key[2], *val[2], *desc, *off[2], *count;
    uint4 *points[2], *product, *level_prefix, *level_product;
    unsigned long long *totals;
    static size_t bytes(const cuzk_device *dev, size_t elements, size_t keys);
    cuzk_status init(context &c, size_t elements, size_t keys);
};

// Sums the runs of w.key[0] / w.val[0] (sorted by key, n of them; keys >= nkeys are left out) and writes
// point k to position at + k of out, planes of out_points points. Keys without a reference are not written.
// shift >= 0: the key of reference i is i >> shift, whatever w.key[0] holds. Swaps buffers of w.
template <class F>
cuzk_status sum_runs(context &c, run_scratch<F> &w, const point_src &src, size_t n, uint32_t nkeys,
                     uint4 *out, size_t out_points, size_t at, int shift = -1);

// Sums pairs of base points: result j = src[vals[2j]] + src[vals[2j+1]], as planes of n points in
// w.points[0].
template <class F>
cuzk_status sum_pairs(context &c, run_scratch<F> &w, const point_src &src, const uint32_t *vals, uint32_t n);
} // namespace gpu
