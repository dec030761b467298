// Starting and finishing proofs.
#include "prove.cuh"
#include <thread>

namespace gpu
{
// ---- witness buffers of a key whose queries are resident: one is filled while the other is proved ----
static witness_slot *take_slot(cuzk_device_key *key)
{
    std::unique_lock<std::mutex> guard(key->slot_lock);
    for (;;) {
        for (int i = 0; i < key->slots; i++)
            if (!key->slot[i].taken) {
                key->slot[i].taken = true;
                return &key->slot[i];
            }
        key->slot_free.wait(guard);
    }
}
static void give_slot(cuzk_device_key *key, witness_slot *slot)
{
    {
        std::lock_guard<std::mutex> guard(key->slot_lock);
        slot->taken = false;
    }
    key->slot_free.notify_one();
}
static cuzk_status sum_queries(context &c, cuzk_device_key *key, cuzk_device_job *job, int first, int last,
                               const uint4 *h)
{
    for (int i = first; i <= last; i++) {
        if (!key->query[i].resident)
            continue; // b_g2 on the host
        for (const query_chunk &k : key->query[i].chunks)
            GPU_TRY(sum_chunk(c, key, job, i, k, key->query[i].resident, key->query[i].turned, h));
    }
    return CUZK_OK;
}
namespace
{
// The sums over L, A and B on the side lane, on a thread of their own.
struct side_sums {
    context c;
    cuzk_error err;
    cuzk_status status = CUZK_OK;
    std::thread thread;
    bool begun = false;
    void begin(const context &from, cuzk_device_key *key, cuzk_device_job *job)
    {
        c = from;
        err.status = CUZK_OK;
        err.message[0] = 0;
        try {
            thread = std::thread([this, key, job] { status = run(key, job); });
            begun = true;
        } catch (...) { // no thread to be had: the main lane does it
        }
    }
    cuzk_status run(cuzk_device_key *key, cuzk_device_job *job)
    {
        std::lock_guard<std::mutex> guard(key->dev->side.lock);
        GPU_TRY(context_begin(c, key->dev, key->dev->side, &err));
        GPU_TRY(use_scratch(c, key->side_bytes));
        return sum_queries(c, key, job, QUERY_L, QUERY_B_G2, nullptr);
    }
    void wait()
    {
        if (thread.joinable())
            thread.join();
    }
    ~side_sums() { wait(); }
};
} // namespace
static cuzk_status prove_main(context &c, cuzk_device_key *key, cuzk_device_job *job, bool all)
{
    uint4 *h;
    std::lock_guard<std::mutex> guard(key->dev->main.lock);
    GPU_TRY(context_begin(c, key->dev, key->dev->main, c.err)); // it may have been lost while we waited
    GPU_TRY(check_cancel(c));
    GPU_TRY(use_scratch(c, key->scratch_min, key->scratch_want));
    GPU_TRY(take(c, &h, (size_t)2 << key->log));
    GPU_TRY(make_h(c, key, job, h));
    return sum_queries(c, key, job, QUERY_H, all ? QUERY_B_G2 : QUERY_H, h);
}
// Again on the main lane, where the side lane had too little memory for this key.
static cuzk_status repeat_side(context &c, cuzk_device_key *key, cuzk_device_job *job)
{
    for (int i = QUERY_L; i < QUERY_B_G2; i++)
        job->g1[i].clear();
    job->g2.clear();
    std::lock_guard<std::mutex> guard(key->dev->main.lock);
    GPU_TRY(context_begin(c, key->dev, key->dev->main, c.err));
    GPU_TRY(use_scratch(c, key->scratch_min, key->scratch_want));
    return sum_queries(c, key, job, QUERY_L, QUERY_B_G2, nullptr);
}
static cuzk_status prove_resident(context &c, cuzk_device_key *key, cuzk_device_job *job)
{
    side_sums side;
    if (key->side_bytes)
        side.begin(c, key, job);
    cuzk_status s = prove_main(c, key, job, !side.begun);
    side.wait();
    if (s != CUZK_OK || side.status == CUZK_OK)
        return s;
    if (side.status == CUZK_OUT_OF_MEMORY)
        return repeat_side(c, key, job);
    return fail(c.err, side.status, "%s", side.err.message);
}
static cuzk_status start(context &c, cuzk_device_key *key, cuzk_device_job *job)
{
    if (key->streamed) {
        std::lock_guard<std::mutex> guard(key->dev->main.lock);
        GPU_TRY(context_begin(c, key->dev, key->dev->main, c.err));
        return prove_streamed(c, key, &job, 1);
    }
    witness_slot *slot = take_slot(key);
    job->bits = slot->bits;
    job->values = slot->values;
    job->scalars = slot->scalars;
    double begin = now_ms();
    cuzk_status s = load_witness(c, key, job, key->dev->copy_stream);
    if (s == CUZK_OK) {
        cudaError_t e = cudaStreamSynchronize(key->dev->copy_stream);
        s = e == cudaSuccess ? CUZK_OK : cuda_failed(c, e, "upload of a witness");
    }
    job->times.upload = now_ms() - begin;
    if (s == CUZK_OK)
        s = prove_resident(c, key, job);
    give_slot(key, slot);
    return s;
}
static cuzk_device_job *new_job(cuzk_device_key *key, const cuzk_witness_view *w)
{
    cuzk_device_job *job = new (std::nothrow) cuzk_device_job;
    if (job) {
        job->key = key;
        job->view = *w;
    }
    return job;
}
cuzk_status prove_start(cuzk_device_key *key, cuzk_device_job **out, const cuzk_witness_view *witness,
                        cuzk_cancel_fn *cancel, void *cancel_ctx, cuzk_error *err)
{
    *out = nullptr;
    context c;
    GPU_TRY(context_begin(c, key->dev, key->dev->main, err));
    c.cancel = cancel;
    c.cancel_ctx = cancel_ctx;
    GPU_TRY(check_cancel(c));
    GPU_TRY(check_witness(c, key, witness));
    cuzk_device_job *job = new_job(key, witness);
    if (!job)
        return fail(err, CUZK_OUT_OF_MEMORY, "memory for a proof could not be had");
    cuzk_status s = start(c, key, job);
    if (s != CUZK_OK) {
        delete job;
        return s;
    }
    *out = job;
    return CUZK_OK;
}

// ---- finish: joins window sums on the host ----
template <class F> static affine<F> join_all(const std::vector<window_sums<F>> &parts)
{
    xyzz<F> r;
    set_infinity(r);
    for (const window_sums<F> &p : parts)
        point_add(r, window_sums_join(p));
    return to_affine(r);
}
cuzk_status prove_finish(cuzk_device_job *job, cuzk_sums *sums, cuzk_device_times *times, cuzk_error *err)
{
    static_assert(sizeof(affine<fp>) == sizeof(cuzk_g1_affine) &&
                      sizeof(affine<fp2>) == sizeof(cuzk_g2_affine),
                  "the device's points are those of cuzk/types.h");
    double begin = now_ms();
    cuzk_g1_affine *const where[4] = {&sums->h, &sums->l, &sums->a, &sums->b_g1};
    for (int i = 0; i < 4; i++) {
        affine<fp> p = join_all(job->g1[i]);
        memcpy(where[i], &p, sizeof p);
    }
    affine<fp2> b;
    cuzk_status s = CUZK_OK;
    if (job->key->dev->options.b_g2_on_host) {
        xyzz<fp2> r;
        s = host_sum_b_g2(job->key, &job->view, &r, err);
        b = to_affine(r);
        job->times.msm_b_g2 = now_ms() - begin;
    } else {
        b = join_all(job->g2);
    }
    memcpy(&sums->b_g2, &b, sizeof b);
    cuzk_device_times &t = job->times;
    t.total = t.upload + t.spmv + t.quotient + t.msm_h + t.msm_l + t.msm_a + t.msm_b_g1 + t.msm_b_g2;
    if (times)
        *times = t;
    delete job;
    return s;
}
static cuzk_status run_streamed_batch(context &c, cuzk_device_key *key, const cuzk_witness_view *w,
                                      uint32_t count, cuzk_sums *sums, cuzk_device_times *times)
{
    std::vector<cuzk_device_job *> jobs;
    cuzk_status s = CUZK_OK;
    try {
        jobs.reserve(count);
    } catch (...) {
        return fail(c.err, CUZK_OUT_OF_MEMORY, "memory for %u proofs could not be had", count);
    }
    for (uint32_t i = 0; i < count && s == CUZK_OK; i++) {
        cuzk_device_job *job = new_job(key, &w[i]);
        if (job)
            jobs.push_back(job);
        else
            s = fail(c.err, CUZK_OUT_OF_MEMORY, "memory for a proof could not be had");
    }
    if (s == CUZK_OK) {
        std::lock_guard<std::mutex> guard(key->dev->main.lock);
        s = context_begin(c, key->dev, key->dev->main, c.err);
        if (s == CUZK_OK)
            s = prove_streamed(c, key, jobs.data(), count);
    }
    for (uint32_t i = 0; i < jobs.size(); i++) {
        if (s == CUZK_OK)
            s = prove_finish(jobs[i], &sums[i], times ? &times[i] : nullptr, c.err);
        else
            delete jobs[i];
    }
    return s;
}
cuzk_status prove_batch(cuzk_device_key *key, const cuzk_witness_view *witnesses, uint32_t count,
                        cuzk_sums *sums, cuzk_device_times *times, cuzk_cancel_fn *cancel, void *cancel_ctx,
                        cuzk_error *err)
{
    context c;
    GPU_TRY(context_begin(c, key->dev, key->dev->main, err));
    c.cancel = cancel;
    c.cancel_ctx = cancel_ctx;
    for (uint32_t i = 0; i < count; i++)
        GPU_TRY(check_witness(c, key, &witnesses[i]));
    if (key->streamed && count > 0)
        return run_streamed_batch(c, key, witnesses, count, sums, times);
    for (uint32_t i = 0; i < count; i++) {
        cuzk_device_job *job;
        GPU_TRY(prove_start(key, &job, &witnesses[i], cancel, cancel_ctx, err));
        GPU_TRY(prove_finish(job, &sums[i], times ? &times[i] : nullptr, err));
    }
    return CUZK_OK;
}
} // namespace gpu
