// Proofs with queries that are not resident: each pass over a query serves a group of proofs. A chunk of
// points is uploaded and decoded while the sums over the one before run; the scalars of h wait on the host
// where there are several proofs.
#include "points.cuh"
#include "prove.cuh"
#include <stdlib.h>
#include <sys/mman.h>
#include <thread>

namespace gpu
{
// Proofs of a group: their sums over a chunk take several times as long as the upload of the next one, and
// more proofs would only want more memory on the host.
constexpr uint32_t GROUP = 4;
namespace
{
// The upload of one chunk, on a thread of its own so that copying from the file runs beside the sums.
struct chunk_upload {
    context c;
    cuzk_error err;
    cuzk_status status = CUZK_OK;
    std::thread thread;
    bool begun = false;
    void begin(const context &from, const cuzk_device_key *key, int query, const query_chunk &k,
               uint8_t *buffer)
    {
        c = from;
        err.status = CUZK_OK;
        err.message[0] = 0;
        c.err = &err;
        begun = true;
        auto work = [this, key, query, &k, buffer] {
            const key_query &q = key->query[query];
            status = context_begin(c, c.dev, c.dev->main, &err);
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

// Points of wide terms are few and the same for every proof: they are gathered as their chunks come by and
// summed at once.
static __global__ void gather_points(const uint4 *points, const uint32_t *index, size_t n, uint32_t base,
                                     int quads, uint4 *out)
{
    size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x, i = t / quads, q = t % quads;
    if (i < n)
        out[t] = points[(size_t)(index[i] - base) * quads + q];
}
namespace
{
struct pass { // what the steps of a pass share
    uint8_t *buffer[2];
    uint8_t *wide;  // gathered points of the query under way
    uint4 *scalars; // of the chunk of the H query
    unsigned long long *problem;
};
} // namespace
static bool gathers(const cuzk_device_key *key, int query)
{
    const key_query &q = key->query[query];
    return query != QUERY_H && q.chunks.size() > 1 && q.wide * q.point_bytes <= key->gather_bytes;
}
static cuzk_status gather_step(context &c, cuzk_device_key *key, cuzk_device_job *const *jobs, uint32_t count,
                               const step &s, const uint8_t *buffer, uint8_t *wide)
{
    const key_query &q = key->query[s.query];
    int quads = (int)(q.point_bytes / 16);
    if (s.chunk->wides) {
        GPU_LAUNCH(gather_points, div_up(s.chunk->wides * quads, 256), 256, 0, c.stream,
                   (const uint4 *)buffer, q.base_index + s.chunk->wide, s.chunk->wides,
                   (uint32_t)s.chunk->base, quads, (uint4 *)(wide + s.chunk->wide * q.point_bytes));
        GPU_CHECK_LAUNCH(c);
    }
    if (s.chunk == &q.chunks.back())
        for (uint32_t i = 0; i < count; i++)
            GPU_TRY(sum_wide(c, key, jobs[i], s.query, wide));
    return CUZK_OK;
}
static cuzk_status sum_step(context &c, cuzk_device_key *key, cuzk_device_job *const *jobs, uint32_t count,
                            const step &s, uint8_t *buffer, const pass &p)
{
    uint4 *scalars = p.scalars;
    unsigned long long *problem = p.problem;
    bool gather = gathers(key, s.query);
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
        GPU_TRY(sum_chunk(c, key, jobs[i], s.query, *s.chunk, buffer, h, gather));
        jobs[i]->times.bytes_to_device += s.chunk->points * q.point_bytes / count;
    }
    if (gather)
        return gather_step(c, key, jobs, count, s, buffer, p.wide);
    return CUZK_OK;
}
static cuzk_status pass_over_queries(context &c, cuzk_device_key *key, cuzk_device_job *const *jobs,
                                     uint32_t count)
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
    pass p = {};
    GPU_TRY(take(c, &p.buffer[0], key->chunk_bytes));
    GPU_TRY(take(c, &p.buffer[1], key->chunk_bytes));
    GPU_TRY(take(c, &p.problem, 1));
    GPU_TRY(take(c, &p.wide, key->gather_bytes));
    if (count > 1)
        GPU_TRY(take(c, &p.scalars, 2 * key->chunk_points));
    chunk_upload ahead;
    if (!steps.empty())
        ahead.begin(c, key, steps[0].query, *steps[0].chunk, p.buffer[0]);
    for (size_t i = 0; i < steps.size(); i++) {
        double start = now_ms();
        GPU_TRY(ahead.wait(c.err));
        for (uint32_t j = 0; j < count; j++)
            jobs[j]->times.upload += (now_ms() - start) / count;
        if (i + 1 < steps.size())
            ahead.begin(c, key, steps[i + 1].query, *steps[i + 1].chunk, p.buffer[(i + 1) & 1]);
        GPU_TRY(sum_step(c, key, jobs, count, steps[i], p.buffer[i & 1], p));
    }
    return CUZK_OK;
}
// h of every proof of the group: one stays on the device, several go to the host.
static cuzk_status prepare_group(context &c, cuzk_device_key *key, cuzk_device_job *const *jobs,
                                 uint32_t count)
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
        jobs[i]->scalars = jobs[i]->values;
    }
    GPU_TRY(prepare_group(c, key, jobs, count));
    return pass_over_queries(c, key, jobs, count);
}
// Host memory in huge pages: gigabytes are written once and read once.
static uint8_t *host_vector(size_t bytes)
{
    constexpr size_t HUGE = 2 << 20;
    void *p = nullptr;
    if (posix_memalign(&p, HUGE, div_up(bytes, HUGE) * HUGE))
        return nullptr;
    (void)madvise(p, bytes, MADV_HUGEPAGE);
    return (uint8_t *)p;
}
namespace
{
struct host_vectors { // the scalars of h of a group's proofs, used again by the next group
    uint8_t *v[GROUP] = {};
    uint32_t count = 0;
    void reserve(uint32_t n, size_t bytes)
    {
        while (count < n && (v[count] = host_vector(bytes)))
            count++;
    }
    ~host_vectors()
    {
        for (uint32_t i = 0; i < count; i++)
            free(v[i]);
    }
};
} // namespace
cuzk_status prove_streamed(context &c, cuzk_device_key *key, cuzk_device_job *const *jobs, uint32_t count)
{
    GPU_TRY(use_scratch(c, key->scratch_min, key->scratch_want));
    size_t own = witness_bytes(key) + 512,
           spare = c.mem->left() > key->scratch_min ? c.mem->left() - key->scratch_min : 0;
    uint32_t most = (uint32_t)std::min<size_t>(1 + spare / 2 / own, GROUP);
    host_vectors host;
    if (most > 1 && count > 1)
        host.reserve(std::min(most, count), vector_bytes(key));
    most = host.count > 1 ? std::min(most, host.count) : 1;
    cuzk_status s = CUZK_OK;
    for (uint32_t at = 0; at < count && s == CUZK_OK;) {
        uint32_t groups = (uint32_t)div_up(count - at, most), n = (uint32_t)div_up(count - at, groups);
        for (uint32_t i = 0; i < n; i++)
            jobs[at + i]->h_host = n > 1 ? host.v[i] : nullptr;
        s = prove_group(c, key, jobs + at, n);
        for (uint32_t i = 0; i < n; i++) {
            jobs[at + i]->h_host = nullptr;
            jobs[at + i]->h = nullptr;
        }
        at += n;
    }
    return s;
}
} // namespace gpu
