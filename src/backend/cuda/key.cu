// Loading a key: counts, lists of terms, a memory plan, the points.
#include "copies.cuh"
#include "key.cuh"
#include "msm_hex.cuh"
#include "points.cuh"
#include "sort.cuh"
#include "witness.cuh"

// The most points of a streamed chunk; the emulation sets a few, so that small queries have many chunks.
#ifndef GPU_CHUNK_POINTS
#define GPU_CHUNK_POINTS ((size_t)1 << 24)
#endif

namespace gpu
{
// ---- shapes: which points a query holds, and how it is cut into chunks ----
static inline uint64_t word_at(const uint64_t *mask, size_t i, uint64_t aux)
{
    uint64_t all = (i + 1) * 64 <= aux ? ~0ull : ((uint64_t)1 << (aux % 64)) - 1;
    return (mask ? mask[i] : ~0ull) & all;
}
static uint64_t count_bits(const uint64_t *mask, uint64_t n)
{
    uint64_t c = 0;
    for (size_t i = 0; i < (n + 63) / 64; i++)
        c += (uint64_t)__builtin_popcountll(word_at(mask, i, n));
    return c;
}
// inputs: points and wide terms of the inputs, all in the first chunk. chunk: most points of one (0: no
// limit).
static cuzk_status shape_wires(context &c, key_query &q, const cuzk_circuit_view &v, const uint64_t *density,
                               size_t inputs, size_t chunk)
{
    size_t words = (v.aux + 63) / 64, step = chunk > inputs + 64 ? (chunk - inputs) / 64 : 1;
    size_t points = inputs, wides = inputs;
    q.first = inputs;
    q.chunks.clear();
    query_chunk k = {0, 0, 0, 0, 0, 0};
    try {
        for (size_t i = 0; i < words; i++) {
            uint64_t d = word_at(density, i, v.aux);
            if (chunk && i == k.word + step) {
                k.points = points - k.base;
                k.words = i - k.word;
                k.wides = wides - k.wide;
                q.chunks.push_back(k);
                k = query_chunk{points, 0, i, 0, wides, 0};
            }
            points += (size_t)__builtin_popcountll(d);
            wides += (size_t)__builtin_popcountll(d & v.field_map[i]);
        }
        k.points = points - k.base;
        k.words = words - k.word;
        k.wides = wides - k.wide;
        q.chunks.push_back(k);
    } catch (...) {
        return fail(c.err, CUZK_OUT_OF_MEMORY, "memory for the plan of a query could not be had");
    }
    q.wide = wides;
    return CUZK_OK;
}
static cuzk_status shape_h(context &c, key_query &q, size_t chunk)
{
    q.chunks.clear();
    try {
        for (size_t at = 0, n = chunk ? chunk : q.count; at < q.count; at += n)
            q.chunks.push_back(query_chunk{at, std::min(n, q.count - at), 0, 0, 0, 0});
    } catch (...) {
        return fail(c.err, CUZK_OUT_OF_MEMORY, "memory for the plan of a query could not be had");
    }
    return CUZK_OK;
}
static cuzk_status shape_queries(context &c, cuzk_device_key *k, size_t chunk)
{
    const cuzk_circuit_view &v = k->view;
    size_t b_inputs = count_bits(v.b_input_density, v.inputs);
    GPU_TRY(shape_h(c, k->query[QUERY_H], chunk));
    GPU_TRY(shape_wires(c, k->query[QUERY_L], v, nullptr, 0, chunk));
    GPU_TRY(shape_wires(c, k->query[QUERY_A], v, v.a_density, v.inputs, chunk));
    GPU_TRY(shape_wires(c, k->query[QUERY_B_G1], v, v.b_density, b_inputs, chunk));
    return shape_wires(c, k->query[QUERY_B_G2], v, v.b_density, b_inputs, chunk / 2);
}
static void name_queries(cuzk_device_key *k)
{
    const cuzk_query_view &q = k->queries;
    const char *names[QUERIES] = {"h", "l", "a", "b_g1", "b_g2"};
    const uint8_t *data[QUERIES] = {q.h, q.l, q.a, q.b_g1, q.b_g2};
    uint64_t counts[QUERIES] = {q.h_count, q.l_count, q.a_count, q.b_g1_count, q.b_g2_count};
    for (int i = 0; i < QUERIES; i++) {
        k->query[i].name = names[i];
        k->query[i].encoded = data[i];
        k->query[i].count = counts[i];
        k->query[i].point_bytes = i == QUERY_B_G2 ? 192 : 96;
    }
}
static cuzk_status check_counts(context &c, cuzk_device_key *k)
{
    const cuzk_circuit_view &v = k->view;
    uint64_t need[QUERIES] = {((uint64_t)1 << k->log) - 1, v.aux, v.inputs + count_bits(v.a_density, v.aux),
                              count_bits(v.b_input_density, v.inputs) + count_bits(v.b_density, v.aux), 0};
    need[QUERY_B_G2] = need[QUERY_B_G1];
    for (int i = 0; i < QUERIES; i++)
        if (k->query[i].count != need[i])
            return fail(c.err, CUZK_INVALID_ARGUMENT, "the %s query has %llu points, the circuit needs %llu",
                        k->query[i].name, (unsigned long long)k->query[i].count, (unsigned long long)need[i]);
    if (count_bits(v.field_map, v.aux) != v.fields)
        return fail(c.err, CUZK_INCONSISTENT, "circuit: the map of field wires does not have %llu bits set",
                    (unsigned long long)v.fields);
    return CUZK_OK;
}

// ---- lists on the device ----
static cuzk_status list_bytes(cuzk_device_key *k)
{
    size_t words = aligned(k->words * 8), ranks = aligned((k->words + 1) * 4);
    k->lists_bytes = 2 * (words + ranks) + aligned(k->view.fields * 4) +
                     2 * aligned(k->query[QUERY_A].wide * 4) + 2 * aligned(k->query[QUERY_B_G1].wide * 4) +
                     256;
    return CUZK_OK;
}
namespace
{
struct list_builder {
    context &c;
    cuzk_device_key *k;
    uint8_t *at;
    uint64_t *fields;
    uint32_t *field_rank, *pos;
    template <class T> T *place(size_t n)
    {
        T *p = (T *)at;
        at += aligned(n * sizeof(T));
        return p;
    }
    // The list of a query that leaves wires out; inputs: which of them it holds (NULL: all).
    cuzk_status list(key_query &q, const uint64_t *density, const uint64_t *inputs)
    {
        uint64_t *mask = place<uint64_t>(k->words);
        uint32_t *rank = place<uint32_t>(k->words + 1);
        uint32_t *base = place<uint32_t>(q.wide), *scalar = place<uint32_t>(q.wide);
        GPU_TRY(upload(c, mask, density, k->words * 8, c.stream));
        GPU_TRY(clear_tail(c, mask, k->view.aux));
        GPU_TRY(rank_words(c, mask, nullptr, k->words, rank));
        GPU_TRY(rank_words(c, fields, mask, k->words, pos));
        GPU_TRY(list_fields(c, fields, field_rank, mask, rank, pos, k->words, (uint32_t)q.first,
                            base + q.first, scalar + q.first));
        std::vector<uint32_t> own[2];
        try {
            for (uint64_t i = 0; i < k->view.inputs; i++)
                if (!inputs || (inputs[i / 64] >> (i % 64)) & 1) {
                    own[0].push_back((uint32_t)own[0].size());
                    own[1].push_back((uint32_t)(k->view.fields + i));
                }
        } catch (...) {
            return fail(c.err, CUZK_OUT_OF_MEMORY, "memory for the list of inputs could not be had");
        }
        GPU_TRY(upload(c, base, own[0].data(), own[0].size() * 4, c.stream));
        GPU_TRY(upload(c, scalar, own[1].data(), own[1].size() * 4, c.stream));
        q.mask = mask;
        q.rank = rank;
        q.base_index = base;
        q.scalar_index = scalar;
        return CUZK_OK;
    }
};
} // namespace
static cuzk_status build_lists(context &c, cuzk_device_key *k)
{
    const cuzk_circuit_view &v = k->view;
    void *p;
    GPU_TRY(
        use_scratch(c, aligned(k->words * 8) + 3 * aligned((k->words + 1) * 4) + sort_bytes(k->words + 1)));
    GPU_TRY(device_alloc(c, &p, k->lists_bytes));
    k->lists = (uint8_t *)p;
    list_builder b = {c, k, k->lists, nullptr, nullptr, nullptr};
    GPU_TRY(take(c, &b.fields, k->words));
    GPU_TRY(take(c, &b.field_rank, k->words + 1));
    GPU_TRY(take(c, &b.pos, k->words + 1));
    GPU_TRY(upload(c, b.fields, v.field_map, k->words * 8, c.stream));
    GPU_TRY(clear_tail(c, b.fields, v.aux));
    GPU_TRY(rank_words(c, b.fields, nullptr, k->words, b.field_rank));
    uint32_t *base = b.place<uint32_t>(v.fields); // of L: scalar i of the list is field wire i
    GPU_TRY(
        list_fields(c, b.fields, b.field_rank, nullptr, nullptr, b.field_rank, k->words, 0, base, nullptr));
    k->query[QUERY_L].base_index = base;
    GPU_TRY(b.list(k->query[QUERY_A], v.a_density, nullptr));
    GPU_TRY(b.list(k->query[QUERY_B_G1], v.b_density, v.b_input_density));
    key_query &g1 = k->query[QUERY_B_G1], &g2 = k->query[QUERY_B_G2];
    g2.mask = g1.mask;
    g2.rank = g1.rank;
    g2.base_index = g1.base_index;
    g2.scalar_index = g1.scalar_index;
    return synchronize(c);
}

// ---- memory plan ----
template <class F> static size_t wide_sum(const cuzk_device_key *k, const key_query &q, size_t points)
{
    if (q.wide_copies)
        return msm_bytes<F>(k->dev, q.wide, q.wide_copies, MSM_REFERENCES, true, q.wide_windows);
    return msm_bytes<F>(k->dev, std::max(std::min(points, q.wide), (size_t)1), 1);
}
// What the sums over up to points wires take at full speed: half of the bits set, or all wide terms.
static size_t wire_sums(const cuzk_device_key *k, size_t points)
{
    size_t most = 1;
    for (int i = QUERY_L; i < QUERIES; i++) {
        const key_query &q = k->query[i];
        size_t n = std::min(points, q.count), half = n / 2 + n / 64 + 4096;
        if (i == QUERY_B_G2)
            most = std::max({most, subset_bytes<fp2>(k->dev, half), wide_sum<fp2>(k, q, n)});
        else
            most = std::max({most, subset_bytes<fp>(k->dev, half), wide_sum<fp>(k, q, n)});
    }
    return most + 3 * aligned(k->words * 8) + ((size_t)8 << 20);
}
// The least with which sums over copies can be made: their windows are fixed, however few terms are taken.
static size_t least_wide_sum(const cuzk_device_key *k)
{
    size_t most = 0;
    for (int i = QUERY_L; i < QUERIES; i++) {
        const key_query &q = k->query[i];
        size_t n = std::min(q.wide, (size_t)64);
        if (!q.wide_copies)
            continue;
        most = std::max(most, i == QUERY_B_G2
                                  ? msm_bytes<fp2>(k->dev, n, q.wide_copies, 1, true, q.wide_windows)
                                  : msm_bytes<fp>(k->dev, n, q.wide_copies, 1, true, q.wide_windows));
    }
    return most;
}
constexpr size_t SMALL = (size_t)64 << 20; // what a sum takes beside its own estimate, more than enough
// Scratch that a proof needs at least and at best, beside what the key holds.
static void scratch_sizes(cuzk_device_key *k)
{
    size_t vec = aligned(vector_bytes(k)), chunk = k->chunk_points;
    size_t largest = std::max(k->query[QUERY_H].count, k->query[QUERY_A].count);
    size_t points = k->streamed ? 2 * aligned(k->chunk_bytes) + aligned(k->gather_bytes) + 4096 : 0;
    bool turned = k->query[QUERY_H].turned;
    size_t terms = k->streamed ? std::min(chunk, largest) : turned ? k->query[QUERY_H].count : largest;
    size_t own = k->streamed ? witness_bytes(k) + 4096 : 0;
    constexpr size_t FEW = (size_t)64 << 20; // references sorted at a time where memory is short
    size_t sum = msm_bytes<fp>(k->dev, terms, 1, k->streamed ? FEW : MSM_REFERENCES, turned);
    if (!k->side_bytes)
        sum = std::max(sum, wire_sums(k, k->streamed ? chunk : k->view.aux));
    k->sum_bytes = sum + SMALL;
    k->scratch_min =
        own + vec + points + std::max({2 * vec, std::min(sum, 4 * SMALL), least_wide_sum(k)}) + 4096;
    k->scratch_want = own + vec + points + std::max(2 * vec, k->sum_bytes) + 4096;
}
// The side lane pays where the witness is small enough to be kept twice, as values and as integers.
static size_t side_size(const cuzk_device_key *k)
{
    constexpr size_t MOST = (size_t)512 << 20;
    return (k->view.fields + k->view.inputs) * 32 > MOST ? 0 : wire_sums(k, k->view.aux) + ((size_t)64 << 20);
}
// How many copies of the points of wide terms are kept beside the queries; most 0: none, not even turned.
static void plan_wide(cuzk_device_key *k, int most)
{
    for (int i = QUERY_L; i < QUERIES; i++) {
        key_query &q = k->query[i];
        q.wide_copies = q.wide_windows = 0;
        if (most && q.wide && (i != QUERY_B_G2 || !k->dev->options.b_g2_on_host)) {
            int copies = msm_copies(q.wide, most);
            if (q.wide * copies >= (size_t)1 << 29) // 31 bits for a reference
                continue;
            q.wide_copies = copies;
            q.wide_windows = msm_windows(q.wide, copies, true);
        }
    }
}
// The bytes of a plan with all queries beside the scratch of full speed, h turned (attempt 0), or with little
// scratch and ever fewer witness buffers and lanes.
static size_t plan_resident(cuzk_device_key *k, int attempt, size_t room)
{
    int less = std::max(attempt - 1, 0);
    size_t resident = 0;
    k->query[QUERY_H].turned = attempt == 0 && k->log < 29; // 31 bits for a reference
    k->slots = SLOTS - less / 2;
    k->side_bytes = less % 2 ? 0 : side_size(k);
    scratch_sizes(k);
    for (const key_query &q : k->query)
        resident += q.resident_bytes() + aligned(q.wide_bytes());
    if (k->dev->options.b_g2_on_host)
        resident -= k->query[QUERY_B_G2].resident_bytes();
    size_t scratch =
        attempt ? std::max(k->scratch_min, std::min(k->scratch_want, room / 8)) : k->scratch_want;
    k->resident_bytes = resident;
    return resident + aligned(k->lists_bytes) + k->slots * witness_bytes(k) + k->side_bytes + scratch;
}
// Spends spare bytes on scratch where more windows of h can then be sorted together: their rounds are longer.
static void sort_more(cuzk_device_key *k, size_t spare)
{
    const key_query &h = k->query[QUERY_H];
    int windows = msm_windows(h.count, 1, h.turned);
    for (int passes = 1; passes <= windows; passes++) {
        size_t sum = msm_bytes<fp>(k->dev, h.count, 1, h.count * div_up(windows, passes), h.turned) + SMALL,
               more = sum > k->sum_bytes ? sum - k->sum_bytes : 0;
        if (more <= spare) {
            k->scratch_want += more;
            k->sum_bytes += more;
            return;
        }
    }
}
constexpr int MOST_COPIES = 8; // of the points of wide terms; more save a hundredth or two
static cuzk_status plan_memory(context &c, cuzk_device_key *k)
{
    size_t room, fixed = aligned(k->lists_bytes);
    GPU_TRY(available(c, &room)); // the circuit and the tables are loaded, scratch is dropped
    k->streamed = false;
    for (int most = MOST_COPIES; most && !k->dev->options.stream_queries; most /= 2) {
        plan_wide(k, most);
        size_t bytes = plan_resident(k, 0, room);
        if (bytes > room)
            continue;
        sort_more(k, room - bytes);
        return shape_queries(c, k, 0);
    }
    plan_wide(k, 0);
    for (int attempt = 0; attempt <= 2 * SLOTS && !k->dev->options.stream_queries; attempt++)
        if (plan_resident(k, attempt, room) <= room)
            return shape_queries(c, k, 0);
    k->streamed = true;
    k->query[QUERY_H].turned = false;
    k->side_bytes = 0;
    k->slots = 0;
    k->resident_bytes = 0;
    size_t most = std::max(k->query[QUERY_H].count, k->query[QUERY_A].count);
    constexpr size_t LARGEST = GPU_CHUNK_POINTS, SMALLEST = LARGEST < 4096 ? LARGEST : 4096,
                     GATHERED = (size_t)512 << 20;
    size_t first = SMALLEST;
    while (first < LARGEST && first < most)
        first *= 2;
    for (size_t chunk = first; chunk >= SMALLEST; chunk /= 2) {
        k->chunk_points = chunk;
        k->chunk_bytes = 0;
        GPU_TRY(shape_queries(c, k, chunk));
        for (const key_query &q : k->query)
            for (const query_chunk &p : q.chunks)
                k->chunk_bytes = std::max(k->chunk_bytes, p.points * q.point_bytes);
        k->gather_bytes = 0;
        for (const key_query &q : k->query)
            if (q.wide * q.point_bytes <= GATHERED)
                k->gather_bytes = std::max(k->gather_bytes, q.wide * q.point_bytes);
        scratch_sizes(k);
        if (fixed + k->scratch_want <= room) { // more witnesses and h at a time with what is left
            constexpr size_t WITNESSES = (size_t)4 << 30;
            k->scratch_want +=
                std::min(room - fixed - k->scratch_want,
                         3 * aligned(vector_bytes(k)) + std::min(30 * witness_bytes(k), WITNESSES));
            return CUZK_OK;
        }
        if (chunk == SMALLEST && fixed + k->scratch_min <= room)
            return CUZK_OK;
    }
    return fail(c.err, CUZK_OUT_OF_MEMORY,
                "CUDA device %d: this circuit needs at least %zu MiB of device memory beside its "
                "matrices, %zu MiB can be had",
                k->dev->ordinal, (fixed + k->scratch_min) >> 20, room >> 20);
}

// ---- points ----
// A query piece by piece, so that kernels run beside the transfers; turned ones are decoded in piece.
constexpr size_t PIECE = (size_t)256 << 20, TURNED_PIECE = (size_t)64 << 20;
static cuzk_status load_query(context &c, cuzk_device_key *k, int query, uint8_t *piece,
                              unsigned long long *problem)
{
    key_query &q = k->query[query];
    void *p;
    GPU_TRY(device_alloc(c, &p, q.resident_bytes()));
    q.resident = (uint8_t *)p;
    size_t step = q.turned ? TURNED_PIECE : PIECE;
    bool check = k->dev->options.check_points;
    step -= step % q.point_bytes;
    for (size_t at = 0; at < q.count * q.point_bytes; at += step) {
        size_t n = std::min(step, q.count * q.point_bytes - at);
        uint8_t *to = q.turned ? piece : q.resident + at;
        GPU_TRY(upload_query(c, to, &k->queries, q.encoded + at, n, c.stream));
        if (query == QUERY_B_G2)
            GPU_TRY(decode_points<fp2>(c, to, n / 192, at / 192, check, problem));
        else
            GPU_TRY(decode_points<fp>(c, to, n / 96, at / 96, check, problem));
        if (q.turned)
            GPU_TRY(turn_points<fp>(c, q.resident + 2 * at, to, n / 96));
    }
    return CUZK_OK;
}
// The wide terms' points turned, and their copies.
template <class F> static cuzk_status load_wide(context &c, key_query &q)
{
    void *p;
    size_t words = q.wide * 4 * F::QUADS; // of a copy
    if (!q.wide_copies)
        return CUZK_OK;
    GPU_TRY(device_alloc(c, &p, q.wide_bytes()));
    q.wide_points = (uint8_t *)p;
    GPU_TRY(use_scratch(c, copy_bytes<F>(q.wide)));
    GPU_TRY(turn_points<F>(c, p, q.resident, q.wide, q.base_index));
    uint4 *copy = (uint4 *)p;
    uint32_t radix = hex_radix(q.wide_copies * q.wide_windows);
    for (int i = 1; i < q.wide_copies; i++, copy += words)
        GPU_TRY(multiply_turned<F>(c, copy + words, copy, q.wide, radix, q.wide_windows));
    return CUZK_OK;
}
static cuzk_status load_points(context &c, cuzk_device_key *k)
{
    unsigned long long *problem, found[QUERIES];
    uint8_t *piece;
    const key_query &h = k->query[QUERY_H]; // the only one that is turned as a whole
    size_t piece_bytes = h.turned ? std::min(TURNED_PIECE, h.count * h.point_bytes) : 0;
    GPU_TRY(use_scratch(c, 4096 + aligned(piece_bytes)));
    GPU_TRY(take(c, &problem, QUERIES));
    GPU_TRY(take(c, &piece, piece_bytes));
    GPU_CUDA(c, cudaMemsetAsync(problem, 0xff, sizeof found, c.stream));
    for (int i = 0; i < QUERIES; i++)
        if (i != QUERY_B_G2 || !k->dev->options.b_g2_on_host)
            GPU_TRY(load_query(c, k, i, piece, problem + i));
    GPU_TRY(download(c, found, problem, sizeof found));
    for (int i = 0; i < QUERIES; i++)
        GPU_TRY(report_problem(c, k->query[i].name, found[i]));
    for (int i = QUERY_L; i < QUERY_B_G2; i++)
        GPU_TRY(load_wide<fp>(c, k->query[i]));
    return load_wide<fp2>(c, k->query[QUERY_B_G2]);
}
static cuzk_status make_slots(context &c, cuzk_device_key *k)
{
    size_t bits = aligned(k->words * 8 + 8);
    k->slot_bytes = witness_bytes(k);
    for (int i = 0; i < k->slots; i++) {
        void *p;
        GPU_TRY(device_alloc(c, &p, k->slot_bytes));
        k->slot[i].bits = (uint64_t *)p;
        k->slot[i].values = k->slot[i].scalars = (uint4 *)((uint8_t *)p + bits);
        if (k->side_bytes)
            k->slot[i].scalars = k->slot[i].values + aligned((k->view.fields + k->view.inputs) * 32) / 16;
    }
    return CUZK_OK;
}
static cuzk_status load(context &c, cuzk_device_key *k)
{
    while (((uint64_t)1 << k->log) < k->view.constraints)
        k->log++;
    k->words = (k->view.aux + 63) / 64;
    name_queries(k);
    GPU_TRY(circuit_check(c, &k->view));
    GPU_TRY(check_counts(c, k));
    GPU_TRY(shape_queries(c, k, 0));
    GPU_TRY(list_bytes(k));
    drop_scratch(k->dev, k->dev->main);
    drop_scratch(k->dev, k->dev->side);
    GPU_TRY(ntt_prepare(c, k->log));
    GPU_TRY(circuit_load(c, &k->circuit, &k->view));
    GPU_TRY(plan_memory(c, k));
    GPU_TRY(build_lists(c, k));
    if (!k->streamed) {
        GPU_TRY(load_points(c, k));
        GPU_TRY(make_slots(c, k));
    }
    if (k->side_bytes) {
        context side;
        GPU_TRY(context_begin(side, k->dev, k->dev->side, c.err));
        GPU_TRY(use_scratch(side, k->side_bytes));
    }
    return use_scratch(c, k->scratch_min, k->scratch_want);
}
static void describe_plan(const cuzk_device_key *k, char *plan, size_t size)
{
    if (!plan || !size)
        return;
    size_t scratch = (k->dev->main.scratch.size + k->dev->side.scratch.size) >> 20, held = key_bytes(k) >> 20;
    char turned[64] = "";
    int copies = 0;
    for (const key_query &q : k->query)
        copies = std::max(copies, q.wide_copies);
    if (copies)
        snprintf(turned, sizeof turned, ", %swide terms turned, %d cop%s",
                 k->query[QUERY_H].turned ? "h and " : "", copies, copies == 1 ? "y" : "ies");
    else if (k->query[QUERY_H].turned)
        snprintf(turned, sizeof turned, ", h turned");
    if (k->streamed)
        snprintf(plan, size, "queries streamed in chunks of %zu points; %zu MiB held, %zu MiB of scratch",
                 k->chunk_points, held, scratch);
    else
        snprintf(plan, size,
                 "all queries resident%s; %zu MiB held, %zu MiB of scratch, %d witness buffers, %s", turned,
                 held, scratch, k->slots, k->side_bytes ? "two lanes" : "one lane");
}
cuzk_status key_load(cuzk_device *dev, cuzk_device_key **out, const cuzk_circuit_view *circuit,
                     const cuzk_query_view *queries, char *plan, size_t plan_size, cuzk_error *err)
{
    *out = nullptr;
    context c;
    std::scoped_lock guard(dev->main.lock, dev->side.lock);
    GPU_TRY(context_begin(c, dev, dev->main, err));
    cuzk_device_key *k = new (std::nothrow) cuzk_device_key;
    if (!k)
        return fail(err, CUZK_OUT_OF_MEMORY, "memory for a key could not be had");
    k->dev = dev;
    k->view = *circuit;
    k->queries = *queries;
    cuzk_status s = load(c, k);
    if (s != CUZK_OK) {
        key_unload(k);
        return s;
    }
    describe_plan(k, plan, plan_size);
    *out = k;
    return CUZK_OK;
}
void key_unload(cuzk_device_key *k)
{
    if (!k)
        return;
    cuzk_device *dev = k->dev;
    (void)cudaSetDevice(dev->ordinal);
    (void)cudaStreamSynchronize(dev->main.stream);
    (void)cudaStreamSynchronize(dev->side.stream);
    circuit_unload(dev, &k->circuit);
    device_free(dev, k->lists, k->lists_bytes);
    for (key_query &q : k->query) {
        device_free(dev, q.resident, q.resident_bytes());
        device_free(dev, q.wide_points, q.wide_bytes());
    }
    for (witness_slot &s : k->slot)
        device_free(dev, s.bits, k->slot_bytes);
    delete k;
}
uint64_t key_bytes(const cuzk_device_key *k)
{
    uint64_t n = k->circuit.bytes + k->lists_bytes + k->slots * k->slot_bytes;
    for (const key_query &q : k->query)
        n += (q.resident ? q.resident_bytes() : 0) + (q.wide_points ? q.wide_bytes() : 0);
    return n;
}
} // namespace gpu
