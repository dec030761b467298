// Sums of runs of points of G1.
#include "runs_impl.cuh"

namespace gpu
{
template struct run_scratch<fp>;
template cuzk_status sum_runs<fp>(context &, run_scratch<fp> &, const point_src &, size_t, uint32_t, uint4 *,
                                  size_t, size_t, int);
template cuzk_status sum_pairs<fp>(context &, run_scratch<fp> &, const point_src &, const uint32_t *,
                                   uint32_t);
} // namespace gpu
