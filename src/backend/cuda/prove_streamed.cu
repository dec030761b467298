// Proofs with queries that are not resident: each pass over a query serves a group of proofs. A chunk of points is uploaded
// and decoded while the sums over the one before run; the scalars of h wait on the host where there are several proofs.
#include "points.cuh"
#include "prove.cuh"
#include <thread>

namespace gpu
{
namespace
{
// The upload of one chunk, on a thread of its own so that copying from the file runs beside the sums.
struct chunk_upload {
    context c;
    cuzk_error err;
    cuzk_status status = CUZK_OK;
    std::thread thread;
    bool begun = false;
    void begin(const context &from, const cuzk_device_key *key, int query, const query_chunk &k, uint8_t *buffer)
    {
        c = from;
        err.status = CUZK_OK;
        err.message[0] = 0;
        c.err = &err;
        begun = true;
        auto work = [this, key, query, &k, buffer] {
            const key_query &q = key->query[query];
            status = context_begin(c, c.dev, &err);
            if (status == CUZK_OK)
                status = upload_query(c, buffer, &key->queries, q.encoded + k.base * q.point_bytes,
                                      k.points * q.point_bytes, c.dev->copy_stream);
            if (status == CUZK_OK && cudaStreamSynchronize(c.dev->copy_stream) != cudaSuccess)
                status = cuda_failed(c, cudaGetLastError(), "upload of a query");
        };
        try {
            thread = std::thread(work);
        } catch (...) {
            work();
        }
    }
    cuzk_status wait(cuzk_error *to)
    {
        if (thread.joinable())
            thread.join();
        begun = false;
        return status == CUZK_OK ? CUZK_OK : fail(to, status, "%s", err.message);
    }
    ~chunk_upload()
    {
        if (thread.joinable())
            thread.join();
    }
};
struct step {
    int query;
    const query_chunk *chunk;
};
} // namespace

static cuzk_status sum_step(context &c, cuzk_device_key *key, cuzk_device_job *const *jobs, uint32_t count, const step &s,
                            uint8_t *buffer, uint4 *scalars, unsigned long long *problem)
{
    const key_query &q = key->query[s.query];
    bool check = c.dev->options.check_points;
    GPU_CUDA(c, cudaMemsetAsync(problem, 0xff, sizeof *problem, c.stream));
    if (s.query == QUERY_B_G2)
        GPU_TRY(decode_points<fp2>(c, buffer, s.chunk->points, s.chunk->base, check, problem));
    else
        GPU_TRY(decode_points<fp>(c, buffer, s.chunk->points, s.chunk->base, check, problem));
    unsigned long long found;
    GPU_TRY(download(c, &found, problem, sizeof found));
    GPU_TRY(report_problem(c, q.name, found));
    for (uint32_t i = 0; i < count; i++) {
        const uint4 *h = jobs[i]->h ? jobs[i]->h + 2 * s.chunk->base : scalars;
        if (s.query == QUERY_H && jobs[i]->h_host) {
            GPU_TRY(upload(c, scalars, jobs[i]->h_host + 32 * s.chunk->base, 32 * s.chunk->points, c.stream));
            jobs[i]->times.bytes_to_device += 32 * s.chunk->points;
        }
        GPU_TRY(sum_chunk(c, key, jobs[i], s.query, *s.chunk, buffer, h));
        jobs[i]->times.bytes_to_device += s.chunk->points * q.point_bytes / count;
    }
    return CUZK_OK;
}
static cuzk_status pass_over_queries(context &c, cuzk_device_key *key, cuzk_device_job *const *jobs, uint32_t count)
{
    std::vector<step> steps;
    try {
        for (int i = 0; i < QUERIES; i++)
            if (i != QUERY_B_G2 || !c.dev->options.b_g2_on_host)
                for (const query_chunk &k : key->query[i].chunks)
                    steps.push_back(step{i, &k});
    } catch (...) {
        return fail(c.err, CUZK_OUT_OF_MEMORY, "memory for the plan of a proof could not be had");
    }
    arena_mark mark(c);
    uint8_t *buffer[2];
    uint4 *scalars = nullptr;
    unsigned long long *problem;
    GPU_TRY(take(c, &buffer[0], key->chunk_bytes));
    GPU_TRY(take(c, &buffer[1], key->chunk_bytes));
    GPU_TRY(take(c, &problem, 1));
    if (count > 1)
        GPU_TRY(take(c, &scalars, 2 * key->chunk_points));
    chunk_upload ahead;
    if (!steps.empty())
        ahead.begin(c, key, steps[0].query, *steps[0].chunk, buffer[0]);
    for (size_t i = 0; i < steps.size(); i++) {
        double start = now_ms();
        GPU_TRY(ahead.wait(c.err));
        for (uint32_t j = 0; j < count; j++)
            jobs[j]->times.upload += (now_ms() - start) / count;
        if (i + 1 < steps.size())
            ahead.begin(c, key, steps[i + 1].query, *steps[i + 1].chunk, buffer[(i + 1) & 1]);
        GPU_TRY(sum_step(c, key, jobs, count, steps[i], buffer[i & 1], scalars, problem));
    }
    return CUZK_OK;
}
// h of every proof of the group: one stays on the device, several go to the host.
static cuzk_status prepare_group(context &c, cuzk_device_key *key, cuzk_device_job *const *jobs, uint32_t count)
{
    uint4 *h = nullptr;
    if (count == 1)
        GPU_TRY(take(c, &h, (size_t)2 << key->log));
    for (uint32_t i = 0; i < count; i++) {
        arena_mark mark(c);
        cuzk_device_job *job = jobs[i];
        if (count > 1)
            GPU_TRY(take(c, &h, (size_t)2 << key->log));
        GPU_TRY(load_witness(c, key, job, c.stream));
        GPU_TRY(make_h(c, key, job, h));
        if (count > 1) {
            GPU_TRY(download(c, job->h_host, h, vector_bytes(key)));
            job->times.bytes_from_device += vector_bytes(key);
        } else {
            job->h = h;
        }
    }
    return CUZK_OK;
}
static cuzk_status prove_group(context &c, cuzk_device_key *key, cuzk_device_job *const *jobs, uint32_t count)
{
    arena_mark mark(c);
    for (uint32_t i = 0; i < count; i++) {
        GPU_TRY(take(c, &jobs[i]->bits, key->words + 1));
        GPU_TRY(take(c, &jobs[i]->values, 2 * (key->view.fields + key->view.inputs)));
    }
    GPU_TRY(prepare_group(c, key, jobs, count));
    return pass_over_queries(c, key, jobs, count);
}
cuzk_status prove_streamed(context &c, cuzk_device_key *key, cuzk_device_job *const *jobs, uint32_t count)
{
    GPU_TRY(use_scratch(c, key->scratch_min, key->scratch_want));
    size_t own = witness_bytes(key) + 512, spare = c.mem->left() > key->scratch_min ? c.mem->left() - key->scratch_min : 0;
    uint32_t most = (uint32_t)std::min<size_t>(1 + spare / 2 / own, 16);
    cuzk_status s = CUZK_OK;
    for (uint32_t at = 0; at < count && s == CUZK_OK;) {
        uint32_t n = std::min(most, count - at), got = 0;
        if (n > 1) // as many as the host has room for
            while (got < n && (jobs[at + got]->h_host = (uint8_t *)malloc(vector_bytes(key))))
                got++;
        n = got > 1 ? got : 1;
        if (n == 1) {
            free(jobs[at]->h_host);
            jobs[at]->h_host = nullptr;
        }
        s = prove_group(c, key, jobs + at, n);
        for (uint32_t i = 0; i < n; i++) {
            free(jobs[at + i]->h_host);
            jobs[at + i]->h_host = nullptr;
            jobs[at + i]->h = nullptr;
        }
        at += n;
    }
    return s;
}
} // namespace gpu
