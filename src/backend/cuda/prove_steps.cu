// The steps of a proof on the device.
#include "fields.cuh"
#include "prove.cuh"
#include "witness.cuh"
#include <chrono>

namespace gpu
{
double now_ms()
{
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
cuzk_status check_witness(context &c, const cuzk_device_key *key, const cuzk_witness_view *w)
{
    const cuzk_circuit_view &v = key->view;
    if (w->inputs != v.inputs || w->aux != v.aux || w->fields != v.fields)
        return fail(c.err, CUZK_INVALID_ARGUMENT,
                    "the witness has %llu inputs, %llu wires and %llu field values, the circuit %llu, %llu and %llu",
                    (unsigned long long)w->inputs, (unsigned long long)w->aux, (unsigned long long)w->fields,
                    (unsigned long long)v.inputs, (unsigned long long)v.aux, (unsigned long long)v.fields);
    return CUZK_OK;
}
cuzk_status load_witness(context &c, cuzk_device_key *key, cuzk_device_job *job, cudaStream_t stream)
{
    const cuzk_witness_view &w = job->view;
    double start = now_ms();
    GPU_TRY(upload(c, job->bits, w.bits, key->words * 8, stream));
    GPU_TRY(upload(c, job->values, w.field, w.fields * 32, stream));
    GPU_TRY(upload(c, job->values + 2 * w.fields, w.input, w.inputs * 32, stream));
    job->times.bytes_to_device += key->words * 8 + (w.fields + w.inputs) * 32;
    job->times.upload += now_ms() - start;
    return CUZK_OK;
}
cuzk_status make_h(context &c, cuzk_device_key *key, cuzk_device_job *job, uint4 *h)
{
    arena_mark mark(c);
    uint4 *a, *b;
    GPU_TRY(take(c, &a, (size_t)2 << key->log));
    GPU_TRY(take(c, &b, (size_t)2 << key->log));
    double start = now_ms();
    GPU_TRY(clear_tail(c, job->bits, key->view.aux));
    device_witness w = {job->bits, job->values, key->view.fields};
    GPU_TRY(circuit_multiply(c, key->circuit, w, a, b, key->log, true));
    GPU_TRY(synchronize(c));
    GPU_TRY(check_cancel(c));
    double middle = now_ms();
    GPU_TRY(ntt_quotient(c, a, b, h, key->log));
    GPU_TRY(fields_to_scalars(c, job->values, key->view.fields + key->view.inputs));
    GPU_TRY(synchronize(c));
    job->times.spmv += middle - start;
    job->times.quotient += now_ms() - middle;
    return check_cancel(c);
}
template <class F>
static cuzk_status sum_terms(context &c, cuzk_device_key *key, cuzk_device_job *job, int query, const query_chunk &k,
                             const uint8_t *points, const uint4 *h_scalars, std::vector<window_sums<F>> &out)
{
    const key_query &q = key->query[query];
    std::vector<window_sums<F>> sums;
    try {
        sums.resize(2);
        out.reserve(out.size() + 2);
    } catch (...) {
        return fail(c.err, CUZK_OUT_OF_MEMORY, "memory for sums could not be had");
    }
    msm_terms<F> t;
    if (query == QUERY_H) {
        t.bases = points;
        t.scalars = h_scalars;
        t.n = k.points;
        GPU_TRY(msm_sum<F>(c, t, &sums[0]));
        out.push_back(sums[0]);
        return CUZK_OK;
    }
    // lists and ranks count from the query's first point
    const void *bases = (const void *)((uintptr_t)points - k.base * q.point_bytes);
    subset_terms<F> s;
    s.bases = bases;
    s.bits = job->bits + k.word;
    s.mask = q.mask ? q.mask + k.word : nullptr;
    s.rank = q.rank ? q.rank + k.word : nullptr;
    s.words = k.words;
    s.first = q.mask ? q.first : 64 * k.word;
    GPU_TRY(subset_sum<F>(c, s, &sums[0]));
    t.bases = bases;
    t.scalars = job->values + (q.scalar_index ? 0 : 2 * k.wide);
    t.base_index = q.base_index + k.wide;
    t.scalar_index = q.scalar_index ? q.scalar_index + k.wide : nullptr;
    t.n = k.wides;
    GPU_TRY(msm_sum<F>(c, t, &sums[1]));
    out.push_back(sums[0]);
    out.push_back(sums[1]);
    return CUZK_OK;
}
cuzk_status sum_chunk(context &c, cuzk_device_key *key, cuzk_device_job *job, int query, const query_chunk &chunk,
                      const uint8_t *points, const uint4 *h_scalars)
{
    double start = now_ms();
    if (query == QUERY_B_G2)
        GPU_TRY(sum_terms<fp2>(c, key, job, query, chunk, points, h_scalars, job->g2));
    else
        GPU_TRY(sum_terms<fp>(c, key, job, query, chunk, points, h_scalars, job->g1[query]));
    double *const where[QUERIES] = {&job->times.msm_h, &job->times.msm_l, &job->times.msm_a, &job->times.msm_b_g1,
                                    &job->times.msm_b_g2};
    *where[query] += now_ms() - start;
    return check_cancel(c);
}
} // namespace gpu
