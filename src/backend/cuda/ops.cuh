// Plain operations of the interface: host memory in and out.
#pragma once
#include "context.cuh"

namespace gpu
{
cuzk_status op_fr(cuzk_device *dev, cuzk_field_op op, cuzk_fr *r, const cuzk_fr *a, const cuzk_fr *b,
                  size_t n, cuzk_error *err);
cuzk_status op_fp(cuzk_device *dev, cuzk_field_op op, uint64_t (*r)[6], const uint64_t (*a)[6],
                  const uint64_t (*b)[6], size_t n, cuzk_error *err);
cuzk_status op_fp2(cuzk_device *dev, cuzk_field_op op, uint64_t (*r)[12], const uint64_t (*a)[12],
                   const uint64_t (*b)[12], size_t n, cuzk_error *err);
cuzk_status op_ntt(cuzk_device *dev, cuzk_ntt_kind kind, cuzk_fr *a, uint32_t log_n, cuzk_error *err);
cuzk_status op_quotient(cuzk_device *dev, cuzk_scalar *h, const cuzk_fr *a, const cuzk_fr *b, uint32_t log_n,
                        cuzk_error *err);
cuzk_status op_multiply(cuzk_device *dev, const cuzk_circuit_view *circuit, const cuzk_witness_view *witness,
                        cuzk_fr *a, cuzk_fr *b, cuzk_error *err);
cuzk_status op_msm_g1(cuzk_device *dev, cuzk_g1_affine *out, const cuzk_g1_affine *bases,
                      const cuzk_scalar *k, size_t n, cuzk_error *err);
cuzk_status op_msm_g2(cuzk_device *dev, cuzk_g2_affine *out, const cuzk_g2_affine *bases,
                      const cuzk_scalar *k, size_t n, cuzk_error *err);
cuzk_status op_subset_g1(cuzk_device *dev, cuzk_g1_affine *out, const cuzk_g1_affine *bases,
                         const uint64_t *bits, size_t n, cuzk_error *err);
cuzk_status op_subset_g2(cuzk_device *dev, cuzk_g2_affine *out, const cuzk_g2_affine *bases,
                         const uint64_t *bits, size_t n, cuzk_error *err);
cuzk_status op_fixed_g1(cuzk_device *dev, uint8_t *r96, const cuzk_fr *k, size_t n, cuzk_error *err);
cuzk_status op_fixed_g2(cuzk_device *dev, uint8_t *r192, const cuzk_fr *k, size_t n, cuzk_error *err);
} // namespace gpu
