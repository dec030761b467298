// The B sum in G2 on the host: for comparison with engines that leave it there, and for devices that are
// short of memory. Each thread takes ranges of points: ones are added as they are, wide scalars go to the
// buckets of its own Pippenger sum.
#include "prove.cuh"
#include <atomic>
#include <thread>

namespace gpu
{
namespace
{
constexpr size_t RANGE_WORDS = 1024; // aux words a piece of work
constexpr int WINDOW = 8, WINDOWS = 32;
struct host_term {
    affine<fp2> p;
    fr k; // canonical
};
fp read_be(const uint8_t *p)
{
    fp r;
    for (int i = 0; i < 12; i++) {
        uint32_t w;
        memcpy(&w, p + 44 - 4 * i, 4);
        r.l[i] = __builtin_bswap32(w);
    }
    return r;
}
bool decode_g2(affine<fp2> *out, const uint8_t *p)
{
    uint8_t first[48];
    memcpy(first, p, 48);
    uint8_t flags = first[0] & 0xe0;
    first[0] &= 0x1f;
    affine<fp2> a = {{read_be(p + 48), read_be(first)}, {read_be(p + 144), read_be(p + 96)}};
    if (flags == 0x40 && is_zero(a.x) && is_zero(a.y)) {
        *out = a;
        return true;
    }
    out->x = to_mont(a.x);
    out->y = to_mont(a.y);
    return flags == 0 && is_canonical(a.x) && is_canonical(a.y);
}
struct worker {
    const cuzk_device_key *key;
    const cuzk_witness_view *w;
    std::atomic<size_t> *next;
    const size_t *field_rank, *point_rank; // before each range
    size_t ranges;
    xyzz<fp2> ones;
    std::vector<xyzz<fp2>> buckets; // WINDOWS * 255
    std::vector<uint8_t> encoded;
    cuzk_status status = CUZK_OK;
    cuzk_error err;

    void add_wide(const affine<fp2> &p, const cuzk_fr &value)
    {
        fr k;
        memcpy(&k, &value, 32);
        k = from_mont(k);
        const uint8_t *digits =
            (const uint8_t *)k.l; // one byte a window; this code runs on little-endian hosts only
        for (int i = 0; i < WINDOWS; i++)
            if (digits[i])
                point_add_affine(buckets[255 * i + digits[i] - 1], p.x, p.y);
    }
    cuzk_status point(size_t i, affine<fp2> *p)
    {
        if (decode_g2(p, encoded.data() + 192 * i))
            return CUZK_OK;
        return fail(&err, CUZK_BAD_INPUT,
                    "parameters: a point of the b_g2 query is not a well-formed encoding");
    }
    cuzk_status read(size_t first, size_t n)
    {
        const key_query &q = key->query[QUERY_B_G2];
        encoded.resize(192 * n);
        if (key->queries.read)
            return key->queries.read(key->queries.read_ctx, encoded.data(), q.encoded + 192 * first, 192 * n,
                                     &err);
        memcpy(encoded.data(), q.encoded + 192 * first, 192 * n);
        return CUZK_OK;
    }
    cuzk_status range(size_t r)
    {
        const cuzk_circuit_view &v = key->view;
        size_t begin = r * RANGE_WORDS, end = std::min(begin + RANGE_WORDS, key->words), at = 0;
        size_t field = field_rank[r];
        GPU_TRY(read(point_rank[r], point_rank[r + 1] - point_rank[r]));
        for (size_t i = begin; i < end; i++) {
            uint64_t live = i + 1 < key->words || v.aux % 64 == 0 ? ~0ull : ((uint64_t)1 << (v.aux % 64)) - 1;
            uint64_t d = v.b_density[i] & live, f = v.field_map[i] & live;
            for (uint64_t m = d | f; m; m &= m - 1) {
                uint64_t bit = m & (0 - m);
                affine<fp2> p;
                if (d & bit) {
                    if ((f | w->bits[i]) & bit) {
                        GPU_TRY(point(at, &p));
                        if (f & bit)
                            add_wide(p, w->field[field]);
                        else
                            point_add_affine(ones, p.x, p.y);
                    }
                    at++;
                }
                field += (f & bit) != 0;
            }
        }
        return CUZK_OK;
    }
    cuzk_status inputs()
    {
        const key_query &q = key->query[QUERY_B_G2];
        size_t at = 0;
        GPU_TRY(read(0, q.first));
        for (uint64_t i = 0; i < key->view.inputs; i++)
            if ((key->view.b_input_density[i / 64] >> (i % 64)) & 1) {
                affine<fp2> p;
                GPU_TRY(point(at++, &p));
                add_wide(p, w->input[i]);
            }
        return CUZK_OK;
    }
    void run(bool first)
    {
        try {
            xyzz<fp2> zero;
            set_infinity(zero);
            ones = zero;
            buckets.assign(255 * WINDOWS, zero);
            if (first)
                status = inputs();
            for (size_t r; status == CUZK_OK && (r = (*next)++) < ranges;)
                status = range(r);
        } catch (...) {
            status = fail(&err, CUZK_OUT_OF_MEMORY, "memory for the sum over b_g2 could not be had");
        }
    }
    void add_to(xyzz<fp2> *out) const
    {
        xyzz<fp2> sum;
        set_infinity(sum);
        for (int i = WINDOWS - 1; i >= 0; i--) {
            xyzz<fp2> run, all;
            set_infinity(run);
            set_infinity(all);
            for (int b = 0; b < WINDOW; b++)
                point_dbl(sum);
            for (int d = 254; d >= 0; d--) {
                point_add(run, buckets[255 * i + d]);
                point_add(all, run);
            }
            point_add(sum, all);
        }
        point_add(*out, sum);
        point_add(*out, ones);
    }
};
} // namespace

static void rank_ranges(const cuzk_device_key *key, size_t *fields, size_t *points)
{
    const cuzk_circuit_view &v = key->view;
    size_t f = 0, p = key->query[QUERY_B_G2].first, r = 0;
    for (size_t i = 0; i < key->words; i++) {
        uint64_t live = i + 1 < key->words || v.aux % 64 == 0 ? ~0ull : ((uint64_t)1 << (v.aux % 64)) - 1;
        if (i % RANGE_WORDS == 0) {
            fields[r] = f;
            points[r++] = p;
        }
        f += (size_t)__builtin_popcountll(v.field_map[i] & live);
        p += (size_t)__builtin_popcountll(v.b_density[i] & live);
    }
    fields[r] = f;
    points[r] = p;
}
static cuzk_status sum_by_workers(const cuzk_device_key *key, const cuzk_witness_view *w, xyzz<fp2> *out,
                                  cuzk_error *err)
{
    size_t ranges = div_up(key->words, RANGE_WORDS);
    std::vector<size_t> fields(ranges + 1), points(ranges + 1);
    rank_ranges(key, fields.data(), points.data());
    unsigned n = key->dev->options.threads ? key->dev->options.threads : std::thread::hardware_concurrency();
    n = std::max(1u, std::min<unsigned>(n, (unsigned)ranges + 1));
    std::vector<worker> workers(n);
    std::vector<std::thread> team(n);
    std::atomic<size_t> next(0);
    for (unsigned i = 0; i < n; i++) {
        workers[i].key = key;
        workers[i].w = w;
        workers[i].next = &next;
        workers[i].field_rank = fields.data();
        workers[i].point_rank = points.data();
        workers[i].ranges = ranges;
        workers[i].err.message[0] = 0;
    }
    for (unsigned i = 1; i < n; i++) {
        try {
            team[i] = std::thread(&worker::run, &workers[i], false);
        } catch (...) { // the others take its ranges
            set_infinity(workers[i].ones);
        }
    }
    workers[0].run(true);
    cuzk_status s = CUZK_OK;
    set_infinity(*out);
    for (unsigned i = 0; i < n; i++) {
        if (team[i].joinable())
            team[i].join();
        if (s == CUZK_OK && workers[i].status != CUZK_OK)
            s = fail(err, workers[i].status, "%s", workers[i].err.message);
        if (s == CUZK_OK && !workers[i].buckets.empty())
            workers[i].add_to(out);
    }
    return s;
}
cuzk_status host_sum_b_g2(const cuzk_device_key *key, const cuzk_witness_view *w, xyzz<fp2> *out,
                          cuzk_error *err)
{
    try {
        return sum_by_workers(key, w, out, err);
    } catch (...) {
        return fail(err, CUZK_OUT_OF_MEMORY, "memory for the sum over b_g2 could not be had");
    }
}
} // namespace gpu
