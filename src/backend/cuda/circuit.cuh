// A compiled circuit on the device: the matrices A and B, and A w, B w from a compact witness.
#pragma once
#include "context.cuh"
#include "fr.cuh"

namespace gpu
{
// Rows of more terms take a warp each.
constexpr uint32_t LONG_ROW = 8;
struct device_matrix {
    const uint32_t *row, *col, *coef;
    const uint32_t *long_row; // which rows have more than LONG_ROW terms
    uint32_t long_count;
};
struct device_segment {
    uint64_t first_row, rows, count;
    uint64_t aux_base, aux_stride, field_base, field_stride, input_base, input_stride;
    uint64_t import_count;
    const uint32_t *imports;
    device_matrix a, b;
};
struct device_circuit {
    std::vector<device_segment> segments;
    const uint4 *dictionary = nullptr;
    void *memory = nullptr;
    size_t bytes = 0;
    uint64_t constraints = 0;
};
// Checks the view (offsets ascend, columns and coefficients lie inside): nothing from outside may make a
// kernel read past its arrays. Bytes that the circuit takes on the device.
cuzk_status circuit_check(context &c, const cuzk_circuit_view *view);
size_t circuit_bytes(const cuzk_circuit_view *view);
cuzk_status circuit_load(context &c, device_circuit *out, const cuzk_circuit_view *view);
void circuit_unload(cuzk_device *dev, device_circuit *circuit);

// A witness on the device: values holds the field wires, then the inputs.
struct device_witness {
    const uint64_t *bits;
    const uint4 *values; // Montgomery form
    uint64_t fields;
};
// a = A w, b = B w: 2^log canonical values each, zero behind the constraints; bit-reversed order if reversed.
cuzk_status circuit_multiply(context &c, const device_circuit &circuit, const device_witness &w, uint4 *a,
                             uint4 *b, int log, bool reversed);
} // namespace gpu
