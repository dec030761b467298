// A w and B w of the emulated device against sums term by term: rows of all kinds and lengths, segments of
// all shapes, in natural and in bit-reversed order.
#include "circuit.cuh"

using namespace gpu;

extern "C" const cuzk_backend *cuzk_backend_entry(cuzk_error *err);

static uint64_t state = 1;
static uint32_t random_word()
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 32);
}
static uint32_t below(uint32_t n)
{
    return random_word() % n;
}
static fr random_value()
{
    fr r;
    for (uint32_t &l : r.l)
        l = random_word();
    r.l[7] &= 0x3fffffff;
    return r;
}

// What the columns of a row name.
enum row_kind { BITS, BITS_AND_SHARED, ANY, ROW_KINDS };
struct shape {
    uint32_t rows, count;
    bool strides; // no: all repetitions name the same wires
};
static const shape shapes[] = {{1, 1, true},    {31, 2, true},    {33, 1, false}, {128, 3, true},
                               {129, 60, true}, {300, 20, false}, {5, 400, true}};
constexpr uint32_t SHAPES = sizeof shapes / sizeof *shapes, COEFFICIENTS = 40, IMPORTS = 7, LOCALS = 50;

struct matrix {
    std::vector<uint32_t> row = {0}, col, coef;
    void term(uint32_t column, uint32_t coefficient)
    {
        col.push_back(column);
        coef.push_back(coefficient);
    }
    void end_row() { row.push_back((uint32_t)col.size()); }
    cuzk_matrix view() const { return {row.data(), col.data(), coef.data()}; }
};
struct system_of_rows {
    matrix m[SHAPES][2];
    std::vector<uint32_t> imports[SHAPES];
    cuzk_segment segments[SHAPES] = {};
    cuzk_circuit_view view = {};
    std::vector<fr> dictionary, values; // values: field wires, inputs
    std::vector<uint64_t> bits;

    static uint32_t column(row_kind kind)
    {
        uint32_t local_bit = CUZK_COL_LOCAL << 30 | below(LOCALS), bit = CUZK_COL_GLOBAL << 30 | below(200),
                 field = CUZK_COL_GLOBAL << 30 | CUZK_COL_FIELD | below(100),
                 input = CUZK_COL_INPUT << 30 | below(20);
        uint32_t local_field = CUZK_COL_LOCAL << 30 | CUZK_COL_FIELD | below(LOCALS),
                 local_input = CUZK_COL_INPUT << 30 | CUZK_COL_FIELD | below(5),
                 import = CUZK_COL_IMPORT << 30 | below(IMPORTS);
        uint32_t of[] = {local_bit, bit, field, input, local_field, local_input, import};
        return of[kind == BITS ? 0 : kind == BITS_AND_SHARED ? below(4) : below(7)];
    }
    void make_segment(uint32_t z, uint64_t &first)
    {
        const shape &s = shapes[z];
        cuzk_segment &g = segments[z];
        g.first_row = first;
        g.rows = s.rows;
        g.count = s.count;
        g.aux_base = 17 * z;
        g.field_base = 3 * z;
        g.input_base = z;
        g.aux_stride = s.strides ? 37 : 0;
        g.field_stride = s.strides ? 5 : 0;
        g.input_stride = s.strides ? 1 : 0;
        g.import_count = IMPORTS;
        first += (uint64_t)s.rows * s.count;
        for (uint32_t k = 0; k < IMPORTS * s.count; k++) {
            uint32_t of[] = {below(200), CUZK_COL_FIELD | below(100), CUZK_COL_INPUT << 30 | below(20)};
            imports[z].push_back(of[below(3)]);
        }
        g.imports = imports[z].data();
        for (uint32_t r = 0; r < s.rows; r++)
            for (matrix &a : m[z]) {
                uint32_t length[] = {below(4), below(5), below(LONG_ROW + 2), below(100)};
                row_kind kind = (row_kind)below(ROW_KINDS);
                for (uint32_t k = 0, n = length[below(4)]; k < n; k++)
                    a.term(column(kind), below(COEFFICIENTS));
                a.end_row();
            }
        g.a = m[z][0].view();
        g.b = m[z][1].view();
    }
    system_of_rows()
    {
        fr one, zero;
        set_one(one);
        set_zero(zero);
        dictionary = {one, reduce(sub(zero, one))};
        while (dictionary.size() < COEFFICIENTS)
            dictionary.push_back(random_value());
        view.aux = 40000;
        view.fields = 6000;
        view.inputs = 1100;
        for (uint64_t i = 0; i < view.fields + view.inputs; i++)
            values.push_back(random_value());
        for (uint64_t i = 0; i < view.aux / 64 + 1; i++)
            bits.push_back((uint64_t)random_word() << 32 | random_word());
        for (uint32_t z = 0; z < SHAPES; z++)
            make_segment(z, view.constraints);
        view.segment_count = SHAPES;
        view.segments = segments;
        view.dictionary_count = COEFFICIENTS;
        view.dictionary = (const cuzk_fr *)dictionary.data();
    }
    fr wire(const cuzk_segment &s, uint64_t repetition, uint32_t col) const
    {
        uint64_t i = CUZK_COL_INDEX(col);
        bool field = col & CUZK_COL_FIELD, local = CUZK_COL_CLASS(col) == CUZK_COL_LOCAL;
        if (CUZK_COL_CLASS(col) == CUZK_COL_IMPORT)
            return wire(s, repetition, s.imports[repetition * s.import_count + i]);
        if (CUZK_COL_CLASS(col) == CUZK_COL_INPUT)
            return values[view.fields + i + (field ? s.input_base + repetition * s.input_stride : 0)];
        if (field)
            return values[i + (local ? s.field_base + repetition * s.field_stride : 0)];
        i += local ? s.aux_base + repetition * s.aux_stride : 0;
        fr v;
        set_zero(v);
        if (bits[i / 64] >> (i % 64) & 1)
            set_one(v);
        return v;
    }
    fr expected(const cuzk_segment &s, const cuzk_matrix &a, uint64_t repetition, uint64_t row) const
    {
        fr sum;
        set_zero(sum);
        for (uint32_t k = a.row[row]; k < a.row[row + 1]; k++)
            sum = reduce(add(sum, mul_reduce(dictionary[a.coef[k]], wire(s, repetition, a.col[k]))));
        return sum;
    }
};
static uint64_t place(uint64_t i, int log, bool reversed)
{
    uint64_t r = 0;
    for (int q = 0; q < log; q++)
        r |= (i >> q & 1) << (log - 1 - q);
    return reversed ? r : i;
}
// Wrong values of both results.
static uint64_t compare(const system_of_rows &t, const std::vector<fr> (&got)[2], int log, bool reversed)
{
    uint64_t wrong = 0;
    fr zero;
    set_zero(zero);
    for (int z = 0; z < 2; z++) {
        for (const cuzk_segment &s : t.segments)
            for (uint64_t j = 0; j < s.rows * s.count; j++) {
                fr want = t.expected(s, z ? s.b : s.a, j / s.rows, j % s.rows);
                if (equal(want, got[z][place(s.first_row + j, log, reversed)]))
                    continue;
                if (wrong++ < 10)
                    printf("%s, %s, segment of %u rows: repetition %u, row %u differs\n", z ? "B" : "A",
                           reversed ? "reversed" : "natural", (unsigned)s.rows, (unsigned)(j / s.rows),
                           (unsigned)(j % s.rows));
            }
        for (uint64_t i = t.view.constraints; i >> log == 0; i++)
            wrong += !equal(zero, got[z][place(i, log, reversed)]);
    }
    return wrong;
}
static cuzk_status multiply(context &c, const system_of_rows &t, std::vector<fr> (&out)[2], int log,
                            bool reversed)
{
    size_t n = (size_t)1 << log;
    uint64_t *bits;
    uint4 *values, *a, *b;
    device_circuit circuit;
    arena_mark mark(c);
    GPU_TRY(circuit_check(c, &t.view));
    GPU_TRY(take(c, &bits, t.bits.size()));
    GPU_TRY(take(c, &values, 2 * t.values.size()));
    GPU_TRY(take(c, &a, 2 * n));
    GPU_TRY(take(c, &b, 2 * n));
    GPU_TRY(upload(c, bits, t.bits.data(), 8 * t.bits.size(), c.stream));
    GPU_TRY(upload(c, values, t.values.data(), 32 * t.values.size(), c.stream));
    GPU_TRY(circuit_load(c, &circuit, &t.view));
    cuzk_status s =
        circuit_multiply(c, circuit, device_witness{bits, values, t.view.fields}, a, b, log, reversed);
    for (int z = 0; z < 2 && s == CUZK_OK; z++) {
        out[z].resize(n);
        s = download(c, out[z].data(), z ? b : a, 32 * n);
    }
    circuit_unload(c.dev, &circuit);
    return s;
}
static uint64_t test(cuzk_device *dev, const system_of_rows &t)
{
    cuzk_error err = {};
    context c;
    uint64_t wrong = 0;
    int log = 0;
    while (t.view.constraints >> log)
        log++;
    std::lock_guard<std::mutex> guard(dev->main.lock);
    cuzk_status s = context_begin(c, dev, dev->main, &err);
    if (s == CUZK_OK)
        s = use_scratch(c, (size_t)64 << 20);
    for (bool reversed : {false, true}) {
        std::vector<fr> out[2];
        if (s == CUZK_OK)
            s = multiply(c, t, out, log, reversed);
        if (s == CUZK_OK)
            wrong += compare(t, out, log, reversed);
    }
    if (s != CUZK_OK)
        printf("%s\n", err.message);
    return wrong + (s != CUZK_OK);
}
int main()
{
    cuzk_error err = {};
    cuzk_device *dev = nullptr;
    const cuzk_backend *backend = cuzk_backend_entry(&err);
    if (!backend || backend->device_open(&dev, 0, nullptr, &err) != CUZK_OK) {
        printf("cannot open: %s\n", err.message);
        return 1;
    }
    system_of_rows t;
    uint64_t wrong = test(dev, t);
    backend->device_close(dev);
    printf("%llu rows, %llu wrong\n", (unsigned long long)t.view.constraints, (unsigned long long)wrong);
    return wrong != 0;
}
