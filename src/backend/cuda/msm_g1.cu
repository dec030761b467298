// Multi-scalar multiplication in G1.
#include "msm_impl.cuh"

namespace gpu
{
template cuzk_status msm_sum<fp>(context &, const msm_terms<fp> &, window_sums<fp> *);
template size_t msm_bytes<fp>(const cuzk_device *, size_t, int, size_t, bool, int);
template cuzk_status subset_sum<fp>(context &, const subset_terms<fp> &, window_sums<fp> *);
template void window_sums_clear<fp>(window_sums<fp> &, int);
template xyzz<fp> window_sums_join<fp>(const window_sums<fp> &);
} // namespace gpu
