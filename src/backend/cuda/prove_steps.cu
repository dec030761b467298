// The steps of a proof on the device.
#include "fields.cuh"
#include "prove.cuh"
#include "witness.cuh"
#include <chrono>

namespace gpu
{
double now_ms()
{
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}
cuzk_status check_witness(context &c, const cuzk_device_key *key, const cuzk_witness_view *w)
{
    const cuzk_circuit_view &v = key->view;
    if (w->inputs != v.inputs || w->aux != v.aux || w->fields != v.fields)
        return fail(
            c.err, CUZK_INVALID_ARGUMENT,
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
    context d = c; // the same operation, ordered behind the transfers
    d.stream = stream;
    GPU_TRY(clear_tail(d, job->bits, key->view.aux));
    if (job->scalars != job->values)
        GPU_TRY(fields_to_scalars(d, job->scalars, job->values, w.fields + w.inputs));
    job->times.bytes_to_device += key->words * 8 + (w.fields + w.inputs) * 32;
    job->times.upload += now_ms() - start;
    return CUZK_OK;
}
cuzk_status make_h(context &c, cuzk_device_key *key, cuzk_device_job *job, uint4 *h)
{
    arena_mark mark(c);
    uint4 *a, *b, *spare = nullptr;
    GPU_TRY(take(c, &a, (size_t)2 << key->log));
    GPU_TRY(take(c, &b, (size_t)2 << key->log));
    // rows written in order are written fast, but then the transforms cannot work in place
    if (c.mem->left() >= aligned(vector_bytes(key)))
        GPU_TRY(take(c, &spare, (size_t)2 << key->log));
    double start = now_ms();
    device_witness w = {job->bits, job->values, key->view.fields};
    GPU_TRY(circuit_multiply(c, key->circuit, w, a, b, key->log, spare == nullptr));
    GPU_TRY(synchronize(c));
    GPU_TRY(check_cancel(c));
    double middle = now_ms();
    GPU_TRY(ntt_quotient(c, a, b, h, key->log, spare));
    if (job->scalars == job->values)
        GPU_TRY(fields_to_scalars(c, job->values, job->values, key->view.fields + key->view.inputs));
    GPU_TRY(synchronize(c));
    job->times.spmv += middle - start;
    job->times.quotient += now_ms() - middle;
    return check_cancel(c);
}
// Keeps a sum until prove_finish joins it.
template <class F>
static cuzk_status keep(context &c, std::vector<window_sums<F>> &out, const window_sums<F> &sum)
{
    try {
        out.push_back(sum);
    } catch (...) {
        return fail(c.err, CUZK_OUT_OF_MEMORY, "memory for sums could not be had");
    }
    return CUZK_OK;
}
// The wide terms first .. first + n - 1 of the query's list, over the bases of t.
template <class F>
static cuzk_status sum_wide_terms(context &c, const key_query &q, cuzk_device_job *job, size_t first,
                                  size_t n, msm_terms<F> t, std::vector<window_sums<F>> &out)
{
    window_sums<F> sum;
    t.scalars = job->scalars + (q.scalar_index ? 0 : 2 * first); // term i of L is field wire i
    t.scalar_index = q.scalar_index ? q.scalar_index + first : nullptr;
    t.n = n;
    GPU_TRY(msm_sum<F>(c, t, &sum));
    return keep(c, out, sum);
}
template <class F>
static cuzk_status sum_h(context &c, const query_chunk &k, const uint8_t *points, bool turned,
                         const uint4 *h_scalars, std::vector<window_sums<F>> &out)
{
    window_sums<F> sum;
    msm_terms<F> t;
    t.bases = points;
    t.scalars = h_scalars;
    t.n = k.points;
    t.turned = turned;
    GPU_TRY(msm_sum<F>(c, t, &sum));
    return keep(c, out, sum);
}
template <class F>
static cuzk_status sum_wires(context &c, const key_query &q, cuzk_device_job *job, const query_chunk &k,
                             const uint8_t *points, bool bits_only, std::vector<window_sums<F>> &out)
{
    // lists and ranks count from the query's first point
    const void *bases = (const void *)((uintptr_t)points - k.base * q.point_bytes);
    window_sums<F> sum;
    subset_terms<F> s;
    s.bases = bases;
    s.bits = job->bits + k.word;
    s.mask = q.mask ? q.mask + k.word : nullptr;
    s.rank = q.rank ? q.rank + k.word : nullptr;
    s.words = k.words;
    s.first = q.mask ? q.first : 64 * k.word;
    GPU_TRY(subset_sum<F>(c, s, &sum));
    GPU_TRY(keep(c, out, sum));
    if (bits_only)
        return CUZK_OK;
    msm_terms<F> t;
    if (q.wide_points) { // the chunk is the whole query
        t.bases = q.wide_points;
        t.stride = q.wide;
        t.copies = q.wide_copies;
        t.windows = q.wide_windows;
        t.turned = true;
    } else {
        t.bases = bases;
        t.base_index = q.base_index + k.wide;
    }
    return sum_wide_terms<F>(c, q, job, k.wide, k.wides, t, out);
}
static double *time_of(cuzk_device_job *job, int query)
{
    double *const where[QUERIES] = {&job->times.msm_h, &job->times.msm_l, &job->times.msm_a,
                                    &job->times.msm_b_g1, &job->times.msm_b_g2};
    return where[query];
}
cuzk_status sum_chunk(context &c, cuzk_device_key *key, cuzk_device_job *job, int query,
                      const query_chunk &chunk, const uint8_t *points, bool turned, const uint4 *h_scalars,
                      bool bits_only)
{
    double start = now_ms();
    const key_query &q = key->query[query];
    if (query == QUERY_H)
        GPU_TRY(sum_h<fp>(c, chunk, points, turned, h_scalars, job->g1[QUERY_H]));
    else if (query == QUERY_B_G2)
        GPU_TRY(sum_wires<fp2>(c, q, job, chunk, points, bits_only, job->g2));
    else
        GPU_TRY(sum_wires<fp>(c, q, job, chunk, points, bits_only, job->g1[query]));
    *time_of(job, query) += now_ms() - start;
    return check_cancel(c);
}
cuzk_status sum_wide(context &c, cuzk_device_key *key, cuzk_device_job *job, int query, const uint8_t *points)
{
    double start = now_ms();
    const key_query &q = key->query[query];
    msm_terms<fp> g1;
    msm_terms<fp2> g2;
    g1.bases = g2.bases = points;
    if (query == QUERY_B_G2)
        GPU_TRY(sum_wide_terms<fp2>(c, q, job, 0, q.wide, g2, job->g2));
    else
        GPU_TRY(sum_wide_terms<fp>(c, q, job, 0, q.wide, g1, job->g1[query]));
    *time_of(job, query) += now_ms() - start;
    return check_cancel(c);
}
} // namespace gpu
