// Measuring what a proof does with its wires: A w from bits and field elements, and the expansion of a bitmap
// into the list of the points that its sums read.
#include "bench_job.cuh"
#include "circuit.cuh"
#include "witness.cuh"

namespace gpu
{
namespace
{
// Rows as those of SHA-256: three bits with coefficients 1, -1 and 2 in A, a bit and the constant one in B;
// one row of 64 has a field wire in A.
constexpr uint32_t ROWS = 4096, FIELDS = ROWS / 64;
struct rows_of_bits {
    std::vector<uint32_t> row[2], col[2], coef[2];
    fr dictionary[3], input;
    cuzk_segment segment = {};
    cuzk_circuit_view view = {};
    explicit rows_of_bits(size_t n)
    {
        for (uint32_t z = 0; z < 2; z++)
            row[z].push_back(0);
        for (uint32_t r = 0; r < ROWS; r++) {
            for (uint32_t k = 0; k < 3; k++)
                term(0, CUZK_COL_LOCAL << 30 | wire(r, k), k);
            if (r % 64 == 0)
                term(0, CUZK_COL_LOCAL << 30 | CUZK_COL_FIELD | r / 64, 2);
            term(1, CUZK_COL_LOCAL << 30 | wire(r, 0), 0);
            term(1, CUZK_COL_INPUT << 30, 0);
            for (int z = 0; z < 2; z++)
                row[z].push_back((uint32_t)col[z].size());
        }
        set_one(dictionary[0]);
        set_zero(dictionary[1]);
        dictionary[1] = reduce(sub(dictionary[1], dictionary[0]));
        dictionary[2] = reduce(add(dictionary[0], dictionary[0]));
        set_one(input);
        segment.rows = ROWS;
        segment.count = n / ROWS;
        segment.aux_stride = ROWS;
        segment.field_stride = FIELDS;
        segment.a = cuzk_matrix{row[0].data(), col[0].data(), coef[0].data()};
        segment.b = cuzk_matrix{row[1].data(), col[1].data(), coef[1].data()};
        view.inputs = 1;
        view.aux = view.constraints = n;
        view.fields = n / 64;
        view.segment_count = 1;
        view.segments = &segment;
        view.dictionary_count = 3;
        view.dictionary = (const cuzk_fr *)dictionary;
    }
    static uint32_t wire(uint32_t r, uint32_t k) { return (r + 32 * k) % ROWS; }
    void term(int z, uint32_t column, uint32_t coefficient)
    {
        col[z].push_back(column);
        coef[z].push_back(coefficient);
    }
};
} // namespace
static bool random_bit(size_t i)
{
    return mix(mix(BASE_SEED) + i / 64) >> (i % 64) & 1;
}
// Row i of A w by itself.
static fr expected_row(const rows_of_bits &rows, size_t i)
{
    uint32_t r = (uint32_t)(i % ROWS);
    fr s;
    set_zero(s);
    for (uint32_t k = 0; k < 3; k++)
        if (random_bit(i - r + rows.wire(r, k)))
            s = add(s, rows.dictionary[k]);
    if (r % 64 == 0) {
        fr v = random_fr(SCALAR_SEED, i / 64);
        s = add(s, add(v, v));
    }
    return reduce(s);
}
static cuzk_status check_rows(context &c, const rows_of_bits &rows, const uint4 *a, int log, bool reversed,
                              bool *right)
{
    size_t n = (size_t)1 << log;
    *right = true;
    for (uint64_t k = 0; k < 64; k++) {
        size_t i = k < 2 ? k * (n - 1) : mix(k) % n, at = 0;
        i -= k & 1 ? 0 : i % 64; // half of them with a field wire
        for (int q = 0; q < log; q++)
            at |= (i >> q & 1) << (reversed ? log - 1 - q : q);
        fr got, want = expected_row(rows, i);
        GPU_TRY(download(c, &got, a + 2 * at, 32));
        *right = *right && equal(got, want);
    }
    return CUZK_OK;
}
cuzk_status bench_spmv(bench_job &b)
{
    context &c = b.c;
    size_t n = b.n(), words = div_up(n, 64);
    if (n < ROWS)
        return fail(c.err, CUZK_INVALID_ARGUMENT, "a product is measured from 2^12 rows on");
    rows_of_bits rows(n);
    device_circuit circuit;
    uint64_t *bits;
    uint4 *values, *x, *y;
    GPU_TRY(use_scratch(c, 2 * aligned(32 * n) + aligned(8 * words) + aligned(n / 2 + 32) + 65536));
    GPU_TRY(take(c, &x, 2 * n));
    GPU_TRY(take(c, &y, 2 * n));
    GPU_TRY(take(c, &bits, words));
    GPU_TRY(take(c, &values, 2 * (n / 64 + 1)));
    GPU_LAUNCH(fill_bits, div_up(words, 256), 256, 0, c.stream, bits, words, BASE_SEED);
    GPU_LAUNCH(fill_random, div_up(n / 64, 256), 256, 0, c.stream, values, n / 64, SCALAR_SEED, (size_t)0);
    GPU_CHECK_LAUNCH(c);
    GPU_TRY(upload(c, values + n / 32, &rows.input, 32, c.stream));
    GPU_TRY(circuit_check(c, &rows.view));
    GPU_TRY(circuit_load(c, &circuit, &rows.view));
    bool right = false;
    cuzk_status s = b.t.run(c, b.repeat, [&] {
        return circuit_multiply(c, circuit, device_witness{bits, values, n / 64}, x, y, (int)b.log,
                                !b.variant);
    });
    if (s == CUZK_OK)
        s = check_rows(c, rows, x, (int)b.log, !b.variant, &right);
    circuit_unload(c.dev, &circuit);
    GPU_TRY(s);
    // rows and columns stay in the caches: what must move is the two results and the witness
    b.needs(64.0 * (double)n + (double)n / 8 + (double)n / 2, LIMIT_MEMORY);
    snprintf(b.note, b.note_size, "%.1f GB/s, %.1f G terms a second, %s", b.work / b.t.ms[0] / 1e6,
             (double)(rows.col[0].size() + rows.col[1].size()) * (double)(n / ROWS) / b.t.ms[0] / 1e6,
             right ? "result right" : "RESULT WRONG");
    return CUZK_OK;
}
cuzk_status bench_expand(bench_job &b)
{
    context &c = b.c;
    size_t n = b.n(), words = div_up(n, 64);
    uint64_t *bits;
    uint32_t *pos, *list, count = 0;
    if (b.log < 6 || b.log > 31)
        return fail(c.err, CUZK_INVALID_ARGUMENT, "a bitmap is measured from 2^6 to 2^31 bits");
    GPU_TRY(use_scratch(c, aligned(8 * words) + aligned(4 * words + 4) + aligned(4 * n) + 4 * words +
                               ((size_t)32 << 20)));
    GPU_TRY(take(c, &bits, words));
    GPU_TRY(take(c, &pos, words + 1));
    GPU_TRY(take(c, &list, n));
    GPU_LAUNCH(fill_bits, div_up(words, 256), 256, 0, c.stream, bits, words, BASE_SEED);
    GPU_CHECK_LAUNCH(c);
    GPU_TRY(b.t.run(c, b.repeat, [&]() -> cuzk_status {
        GPU_TRY(rank_words(c, bits, nullptr, words, pos));
        return list_bits(c, bits, nullptr, nullptr, words, 7, pos, list);
    }));
    bool right = true;
    GPU_TRY(download(c, &count, pos + words, 4));
    for (uint64_t k = 0; k < 64; k++) { // the list from the start of some words on
        size_t word = mix(k) % words;
        uint32_t at, got[64];
        GPU_TRY(download(c, &at, pos + word, 4));
        GPU_TRY(download(c, got, list + at, 4 * std::min<size_t>(64, count - at)));
        for (size_t i = 64 * word, j = 0; i < 64 * word + 64; i++)
            if (random_bit(i))
                right = right && got[j++] == 7 + i;
    }
    // the bitmap twice, counts and ranks written and read, the list written
    b.needs(16.0 * (double)words + 16.0 * (double)words + 4.0 * count, LIMIT_MEMORY);
    snprintf(b.note, b.note_size, "%u bits set, %.1f GB/s, %.1f G bits a second, %s", count,
             b.work / b.t.ms[0] / 1e6, (double)n / b.t.ms[0] / 1e6, right ? "result right" : "RESULT WRONG");
    return CUZK_OK;
}
} // namespace gpu
