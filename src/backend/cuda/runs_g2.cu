// Sums of runs of points of G2.
#include "runs_impl.cuh"

namespace gpu
{
template struct run_scratch<fp2>;
template cuzk_status sum_runs<fp2>(context &, run_scratch<fp2> &, const point_src &, size_t, uint32_t,
                                   uint4 *, size_t, size_t, int);
template cuzk_status sum_pairs<fp2>(context &, run_scratch<fp2> &, const point_src &, const uint32_t *,
                                    uint32_t);
} // namespace gpu
