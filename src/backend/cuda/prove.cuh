// Proofs on a key: from compact witnesses to the five sums.
#pragma once
#include "key.cuh"

struct cuzk_device_job {
    cuzk_device_key *key = nullptr;
    cuzk_witness_view view = {}; // its arrays are borrowed until the job ends
    // What prove_finish joins: several sums a query (bits, wide terms, chunks).
    std::vector<gpu::window_sums<gpu::fp>> g1[4]; // h, l, a, b_g1
    std::vector<gpu::window_sums<gpu::fp2>> g2;
    cuzk_device_times times = {};
    // while it runs
    uint64_t *bits = nullptr;
    uint4 *values = nullptr, *scalars = nullptr; // as in witness_slot
};

namespace gpu
{
cuzk_status prove_start(cuzk_device_key *key, cuzk_device_job **out, const cuzk_witness_view *witness,
                        cuzk_cancel_fn *cancel, void *cancel_ctx, cuzk_error *err);
cuzk_status prove_finish(cuzk_device_job *job, cuzk_sums *sums, cuzk_device_times *times, cuzk_error *err);
cuzk_status prove_batch(cuzk_device_key *key, const cuzk_witness_view *witnesses, uint32_t count,
                        cuzk_sums *sums, cuzk_device_times *times, cuzk_cancel_fn *cancel, void *cancel_ctx,
                        cuzk_error *err);

// prove_steps.cu: the device's part, under the device's lock.
cuzk_status check_witness(context &c, const cuzk_device_key *key, const cuzk_witness_view *w);
cuzk_status load_witness(context &c, cuzk_device_key *key, cuzk_device_job *job, cudaStream_t stream);
// a = A w, b = B w, h from them; the witness becomes scalars. h: 2^log values from the arena.
cuzk_status make_h(context &c, cuzk_device_key *key, cuzk_device_job *job, uint4 *h);
// Adds the sums of one chunk whose points lie at points; h_scalars: of the chunk's first term of the H query,
// the only one whose points may be turned. bits_only: the wide terms are summed later, by sum_wide.
cuzk_status sum_chunk(context &c, cuzk_device_key *key, cuzk_device_job *job, int query,
                      const query_chunk &chunk, const uint8_t *points, bool turned, const uint4 *h_scalars,
                      bool bits_only = false);
// Adds the sum of all wide terms of a query, whose points lie packed in the order of its list.
cuzk_status sum_wide(context &c, cuzk_device_key *key, cuzk_device_job *job, int query,
                     const uint8_t *points);
double now_ms();

// prove_streamed.cu: several proofs that share each pass over queries that are not resident.
cuzk_status prove_streamed(context &c, cuzk_device_key *key, cuzk_device_job *const *jobs, uint32_t count);

// host_g2.cu: the B sum in G2 on the host, as the engines of today do it.
cuzk_status host_sum_b_g2(const cuzk_device_key *key, const cuzk_witness_view *w, xyzz<fp2> *out,
                          cuzk_error *err);
} // namespace gpu
