// A key on the device: the circuit, the queries (resident or streamed), and which wire meets which point.
#pragma once
#include "circuit.cuh"
#include "msm.cuh"
#include "ntt.cuh"
#include <condition_variable>

namespace gpu
{
enum query_index { QUERY_H, QUERY_L, QUERY_A, QUERY_B_G1, QUERY_B_G2, QUERIES };

// A piece of a query: points base .. base + points - 1, and the terms that meet them.
struct query_chunk {
    size_t base, points;
    size_t word, words; // of the bitmap of aux wires
    size_t wide, wides; // of the list of wide terms
};
struct key_query {
    const char *name = "";
    size_t point_bytes = 96;
    const uint8_t *encoded = nullptr;
    size_t count = 0;
    uint8_t *resident = nullptr; // packed affine points or turned ones, or NULL: streamed
    bool turned = false;         // resident points take twice the room, sums over them a tenth less time
    // aux wires: where a bit is set in mask (NULL: everywhere) there is a point, the first after first ones
    const uint64_t *mask = nullptr;
    const uint32_t *rank = nullptr;
    size_t first = 0;
    const uint32_t *base_index = nullptr, *scalar_index = nullptr; // wide terms, ascending
    size_t wide = 0;
    // The points of the wide terms once more where memory allows: turned, in the order of the list, with
    // wide_copies copies for wide_windows windows (msm.cuh).
    uint8_t *wide_points = nullptr;
    int wide_copies = 0, wide_windows = 0;
    std::vector<query_chunk> chunks;
    size_t resident_bytes() const { return count * point_bytes * (turned ? 2 : 1); }
    size_t wide_bytes() const { return wide_copies * wide * point_bytes * 2; }
};
// Device memory of one witness.
struct witness_slot {
    uint64_t *bits = nullptr;
    uint4 *values = nullptr;  // field wires, then inputs, in Montgomery form
    uint4 *scalars = nullptr; // the same as integers; values itself where there is no side lane
    bool taken = false;
};
constexpr int SLOTS = 2;
} // namespace gpu

struct cuzk_device_key {
    cuzk_device *dev = nullptr;
    cuzk_circuit_view view = {};
    cuzk_query_view queries = {};
    gpu::device_circuit circuit;
    int log = 0;      // of the domain
    size_t words = 0; // of a bitmap of aux wires
    gpu::key_query query[gpu::QUERIES];
    bool streamed = false;
    size_t chunk_points = 0; // streamed: the most points of a chunk, but for inputs
    size_t chunk_bytes = 0;  // streamed: the largest chunk
    size_t gather_bytes =
        0; // streamed: room for the points of a query's wide terms; larger ones are not gathered
    size_t scratch_min = 0, scratch_want = 0;
    size_t sum_bytes = 0;     // streamed: of these, what the sums want
    size_t side_bytes = 0;    // scratch of the side lane; 0: all sums on the main one
    uint8_t *lists = nullptr; // masks, ranks, lists
    size_t lists_bytes = 0, resident_bytes = 0;
    gpu::witness_slot slot[gpu::SLOTS];
    size_t slot_bytes = 0;
    int slots = 0;
    std::mutex slot_lock;
    std::condition_variable slot_free;
};

namespace gpu
{
cuzk_status key_load(cuzk_device *dev, cuzk_device_key **out, const cuzk_circuit_view *circuit,
                     const cuzk_query_view *queries, char *plan, size_t plan_size, cuzk_error *err);
void key_unload(cuzk_device_key *key);
uint64_t key_bytes(const cuzk_device_key *key);
inline size_t vector_bytes(const cuzk_device_key *k)
{
    return (size_t)32 << k->log;
}
inline size_t witness_bytes(const cuzk_device_key *k)
{
    return aligned(k->words * 8 + 8) +
           (k->side_bytes ? 2 : 1) * aligned((k->view.fields + k->view.inputs) * 32);
}
} // namespace gpu
