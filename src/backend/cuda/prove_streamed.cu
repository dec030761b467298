// Proofs with queries that are not resident. Proofs are made in groups: the H query is read once for each few
// proofs whose h fit on the device together (the sums over it take longer than its upload, even for one), the
// other queries once for the whole group. A chunk of points is uploaded while the sums over the one before,
// or the transforms of the next proof, run.
#include "points.cuh"
#include "prove.cuh"
#include <thread>

namespace gpu
{
constexpr uint32_t MOST_H = 4; // more would hardly save time
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
    uint32_t first, count; // the proofs it serves
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
struct group { // proofs that share passes, and the memory of the passes
    cuzk_device_job *const *jobs;
    uint32_t count, h_count; // h_count: how many h are held at a time
    uint4 *h[MOST_H];
    uint8_t *buffer[2];
    uint8_t *wide; // gathered points of the query under way
    unsigned long long *problem;
};
} // namespace
static bool gathers(const cuzk_device_key *key, int query)
{
    const key_query &q = key->query[query];
    return query != QUERY_H && q.chunks.size() > 1 && q.wide * q.point_bytes <= key->gather_bytes;
}
static cuzk_status gather_step(context &c, cuzk_device_key *key, const group &g, const step &s,
                               const uint8_t *buffer)
{
    const key_query &q = key->query[s.query];
    int quads = (int)(q.point_bytes / 16);
    if (s.chunk->wides) {
        GPU_LAUNCH(gather_points, div_up(s.chunk->wides * quads, 256), 256, 0, c.stream,
                   (const uint4 *)buffer, q.base_index + s.chunk->wide, s.chunk->wides,
                   (uint32_t)s.chunk->base, quads, (uint4 *)(g.wide + s.chunk->wide * q.point_bytes));
        GPU_CHECK_LAUNCH(c);
        GPU_TRY(synchronize(c)); // the buffer is written next
    }
    if (s.chunk == &q.chunks.back())
        for (uint32_t i = 0; i < s.count; i++)
            GPU_TRY(sum_wide(c, key, g.jobs[s.first + i], s.query, g.wide));
    return CUZK_OK;
}
// Turns a decoded chunk of the H query where the memory that transforms have left is enough for that and for
// sums of a few windows at a time; *turned is NULL otherwise.
static cuzk_status turn_chunk(context &c, const query_chunk &chunk, const uint8_t *packed, uint8_t **turned)
{
    constexpr size_t FEW = (size_t)32 << 20; // references sorted at a time
    size_t bytes = aligned(chunk.points * 192);
    *turned = nullptr;
    if (c.mem->left() < bytes + msm_bytes<fp>(c.dev, chunk.points, 1, FEW, true))
        return CUZK_OK;
    GPU_TRY(take(c, turned, bytes));
    return turn_points<fp>(c, *turned, packed, chunk.points);
}
static cuzk_status sum_step(context &c, cuzk_device_key *key, const group &g, const step &s, uint8_t *buffer)
{
    bool gather = gathers(key, s.query), check = c.dev->options.check_points;
    const key_query &q = key->query[s.query];
    GPU_CUDA(c, cudaMemsetAsync(g.problem, 0xff, sizeof *g.problem, c.stream));
    if (s.query == QUERY_B_G2)
        GPU_TRY(decode_points<fp2>(c, buffer, s.chunk->points, s.chunk->base, check, g.problem));
    else
        GPU_TRY(decode_points<fp>(c, buffer, s.chunk->points, s.chunk->base, check, g.problem));
    unsigned long long found;
    GPU_TRY(download(c, &found, g.problem, sizeof found));
    GPU_TRY(report_problem(c, q.name, found));
    arena_mark mark(c);
    uint8_t *turned = nullptr;
    if (s.query == QUERY_H)
        GPU_TRY(turn_chunk(c, *s.chunk, buffer, &turned));
    for (uint32_t i = 0; i < s.count; i++) {
        cuzk_device_job *job = g.jobs[s.first + i];
        const uint4 *h = s.query == QUERY_H ? g.h[i] + 2 * s.chunk->base : nullptr;
        GPU_TRY(sum_chunk(c, key, job, s.query, *s.chunk, turned ? turned : buffer, turned != nullptr, h,
                          gather));
        job->times.bytes_to_device += s.chunk->points * q.point_bytes / s.count;
    }
    return gather ? gather_step(c, key, g, s, buffer) : CUZK_OK;
}
static cuzk_status list_steps(context &c, const cuzk_device_key *key, const group &g,
                              std::vector<step> &steps)
{
    try {
        for (uint32_t at = 0; at < g.count; at += g.h_count)
            for (const query_chunk &k : key->query[QUERY_H].chunks)
                steps.push_back(step{QUERY_H, &k, at, std::min(g.h_count, g.count - at)});
        for (int i = QUERY_L; i < QUERIES; i++)
            if (i != QUERY_B_G2 || !c.dev->options.b_g2_on_host)
                for (const query_chunk &k : key->query[i].chunks)
                    steps.push_back(step{i, &k, 0, g.count});
    } catch (...) {
        return fail(c.err, CUZK_OUT_OF_MEMORY, "memory for the plan of a proof could not be had");
    }
    return CUZK_OK;
}
static cuzk_status run_steps(context &c, cuzk_device_key *key, const group &g, const std::vector<step> &steps)
{
    chunk_upload ahead;
    ahead.begin(c, key, steps[0].query, *steps[0].chunk, g.buffer[0]);
    for (size_t i = 0; i < steps.size(); i++) {
        const step &s = steps[i];
        if (s.query == QUERY_H && s.chunk->base == 0)
            for (uint32_t j = 0; j < s.count; j++) {
                GPU_TRY(load_witness(c, key, g.jobs[s.first + j], c.stream));
                GPU_TRY(make_h(c, key, g.jobs[s.first + j], g.h[j]));
            }
        double start = now_ms();
        GPU_TRY(ahead.wait(c.err));
        for (uint32_t j = 0; j < s.count; j++)
            g.jobs[s.first + j]->times.upload += (now_ms() - start) / s.count;
        if (i + 1 < steps.size())
            ahead.begin(c, key, steps[i + 1].query, *steps[i + 1].chunk, g.buffer[(i + 1) & 1]);
        GPU_TRY(sum_step(c, key, g, s, g.buffer[i & 1]));
    }
    return CUZK_OK;
}
static cuzk_status prove_group(context &c, cuzk_device_key *key, cuzk_device_job *const *jobs, uint32_t count)
{
    arena_mark mark(c);
    group g = {};
    std::vector<step> steps;
    g.jobs = jobs;
    g.count = count;
    for (uint32_t i = 0; i < count; i++) {
        GPU_TRY(take(c, &jobs[i]->bits, key->words + 1));
        GPU_TRY(take(c, &jobs[i]->values, 2 * (key->view.fields + key->view.inputs)));
        jobs[i]->scalars = jobs[i]->values;
    }
    for (uint8_t *&buffer : g.buffer)
        GPU_TRY(take(c, &buffer, key->chunk_bytes));
    GPU_TRY(take(c, &g.problem, 1));
    GPU_TRY(take(c, &g.wide, key->gather_bytes));
    size_t vector = aligned(vector_bytes(key)), work = std::max(2 * vector, key->sum_bytes);
    do
        GPU_TRY(take(c, &g.h[g.h_count++], (size_t)2 << key->log));
    while (g.h_count < std::min(count, MOST_H) && c.mem->left() >= vector + work);
    GPU_TRY(list_steps(c, key, g, steps));
    return run_steps(c, key, g, steps);
}
cuzk_status prove_streamed(context &c, cuzk_device_key *key, cuzk_device_job *const *jobs, uint32_t count)
{
    GPU_TRY(use_scratch(c, key->scratch_min, key->scratch_want));
    size_t spare = c.mem->left() > key->scratch_min ? c.mem->left() - key->scratch_min : 0;
    // witnesses may take half of what the sums would like to have
    uint32_t most = (uint32_t)std::min<size_t>(1 + spare / 2 / (witness_bytes(key) + 512), count);
    for (uint32_t at = 0; at < count;) {
        uint32_t groups = (uint32_t)div_up(count - at, most), n = (uint32_t)div_up(count - at, groups);
        GPU_TRY(prove_group(c, key, jobs + at, n));
        at += n;
    }
    return CUZK_OK;
}
} // namespace gpu
