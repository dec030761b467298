// Multi-scalar multiplication in G2.
#include "msm_impl.cuh"

namespace gpu
{
template cuzk_status msm_sum<fp2>(context &, const msm_terms<fp2> &, window_sums<fp2> *);
template size_t msm_bytes<fp2>(const cuzk_device *, size_t, int, size_t, bool, int);
template cuzk_status subset_sum<fp2>(context &, const subset_terms<fp2> &, window_sums<fp2> *);
template void window_sums_clear<fp2>(window_sums<fp2> &, int);
template xyzz<fp2> window_sums_join<fp2>(const window_sums<fp2> &);
} // namespace gpu
