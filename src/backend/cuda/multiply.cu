// A w and B w on the device.
//
// Most rows are short: a few bits, each repetition its own, beside wires that all repetitions share. The
// thread of such a row tabulates its (at most eight) values and then only looks up bits, repetition after
// repetition. A long row, hundreds of bits that make up one number, takes a warp; where one thread summed it,
// 31 others waited. What is neither is summed term by term.
#include "circuit.cuh"

namespace gpu
{
struct multiply_args {
    device_segment s;
    device_witness w;
    const uint4 *dictionary;
    uint4 *a, *b;
    int log;
    uint32_t reversed;
    uint32_t per, row_blocks; // repetitions a thread, blocks for all rows of one repetition
};
// Where a row of a repetition is written.
static __device__ __forceinline__ uint4 *row_place(const multiply_args &R, uint4 *out, uint32_t repetition,
                                                   uint32_t row)
{
    uint64_t i = R.s.first_row + (uint64_t)repetition * R.s.rows + row;
    if (R.reversed && R.log)
        i = __brev((unsigned)i) >> (32 - R.log);
    return out + 2 * i;
}

// ---- terms ----
HD bool is_local_bit(uint32_t col)
{
    return col >> 29 == CUZK_COL_LOCAL << 1;
}
HD bool is_shared(uint32_t col) // the same wire in all repetitions
{
    uint32_t cls = CUZK_COL_CLASS(col);
    return cls == CUZK_COL_GLOBAL || (cls == CUZK_COL_INPUT && !(col & CUZK_COL_FIELD));
}
HD uint32_t read_bit_word(const device_witness &w, uint32_t wire)
{
    return ((const uint32_t *)w.bits)[wire >> 5];
}
// Adds coefficient * wire to acc (lazy).
HD void add_term(fr &acc, const multiply_args &R, uint32_t repetition, uint32_t col, uint32_t coef)
{
    const device_segment &s = R.s;
    const device_witness &w = R.w;
    uint32_t cls = CUZK_COL_CLASS(col);
    if (cls == CUZK_COL_IMPORT) {
        col = s.imports[repetition * s.import_count + CUZK_COL_INDEX(col)];
        cls = CUZK_COL_CLASS(col);
    }
    uint64_t i = CUZK_COL_INDEX(col);
    bool field = col & CUZK_COL_FIELD, local = cls == CUZK_COL_LOCAL;
    fr v;
    if (cls == CUZK_COL_INPUT) {
        v = load_fr(w.values + 2 * (w.fields + i + (field ? s.input_base + repetition * s.input_stride : 0)));
    } else if (field) {
        v = load_fr(w.values + 2 * (i + (local ? s.field_base + repetition * s.field_stride : 0)));
    } else { // a boolean wire: its coefficient or nothing
        uint32_t wire = (uint32_t)(i + (local ? s.aux_base + repetition * s.aux_stride : 0));
        if ((read_bit_word(w, wire) >> (wire & 31)) & 1)
            acc = add(acc, load_fr(R.dictionary + 2 * (size_t)coef));
        return;
    }
    if (coef == 0)
        acc = add(acc, v);
    else if (coef == 1)
        acc = sub(acc, v);
    else
        acc = add(acc, mul(load_fr(R.dictionary + 2 * (size_t)coef), v));
}

// ---- short rows ----
constexpr uint32_t THREADS = 128, TABLE_BITS = 3;
// A plane holds one half of an entry for all threads. Lanes 2 i and 2 i + 1 read the halves of one entry, so
// these lie four words apart modulo the banks.
constexpr uint32_t PLANE = THREADS + 4, PLANES = 2 << TABLE_BITS;
constexpr size_t TABLE_BYTES = PLANES * PLANE * sizeof(uint4) + 2 * THREADS;
struct row_table {
    uint4 *own; // of one thread
    HD fr get(uint32_t entry) const
    {
        uint4 a = own[2 * entry * PLANE], b = own[(2 * entry + 1) * PLANE];
        return fr{{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
    }
    HD void put(uint32_t entry, const fr &v) const
    {
        own[2 * entry * PLANE] = uint4{v.l[0], v.l[1], v.l[2], v.l[3]};
        own[(2 * entry + 1) * PLANE] = uint4{v.l[4], v.l[5], v.l[6], v.l[7]};
    }
};
// The bits of a row that has a table: the places of their wires, and the words that hold them.
struct row_bits {
    uint32_t count, wire[TABLE_BITS], word[TABLE_BITS];
    HD void load(const device_witness &w)
    {
        UNROLL for (uint32_t q = 0; q < TABLE_BITS; q++) word[q] = q < count ? read_bit_word(w, wire[q]) : 0;
    }
    HD uint32_t index() const
    {
        uint32_t i = 0;
        UNROLL for (uint32_t q = 0; q < TABLE_BITS; q++) i |= (word[q] >> (wire[q] & 31) & 1) << q;
        return i;
    }
    HD void move(uint32_t by) { UNROLL for (uint32_t q = 0; q < TABLE_BITS; q++) wire[q] += by; }
};
// Tabulates the row; false if it has a term that does not allow it. Long rows count as empty here.
HD bool make_table(const multiply_args &R, const device_matrix &m, uint32_t row, const row_table &table,
                   row_bits &bits)
{
    fr v;
    set_zero(v);
    table.put(0, v);
    bits.count = 0;
    UNROLL for (uint32_t q = 0; q < TABLE_BITS; q++) bits.wire[q] = 0;
    uint32_t k = m.row[row], end = m.row[row + 1];
    if (end - k > LONG_ROW)
        return true;
    for (; k < end; k++) {
        uint32_t col = m.col[k], coef = m.coef[k], entries = 1u << bits.count;
        bool bit = is_local_bit(col);
        if (bit ? bits.count == TABLE_BITS : !is_shared(col))
            return false;
        if (bit) {
            v = load_fr(R.dictionary + 2 * (size_t)coef);
            UNROLL for (uint32_t q = 0; q < TABLE_BITS; q++) if (q == bits.count) bits.wire[q] =
                (uint32_t)(CUZK_COL_INDEX(col) + R.s.aux_base);
            bits.count++;
        } else {
            set_zero(v);
            add_term(v, R, 0, col, coef);
        }
        for (uint32_t i = 0; i < entries; i++)
            table.put(bit ? entries + i : i, reduce(add(table.get(i), v)));
    }
    return true;
}
HD fr row_value(const multiply_args &R, const device_matrix &m, uint32_t repetition, uint32_t row)
{
    fr acc;
    set_zero(acc);
    for (uint32_t k = m.row[row], end = m.row[row + 1]; k < end; k++)
        add_term(acc, R, repetition, m.col[k], m.coef[k]);
    return reduce(acc);
}
// Even blocks: rows of A into a, odd ones: of B into b. Two lanes write a value, so that each store fills
// whole sectors: lane 2 i the first half of row i of its warp, then of row i + 16, lane 2 i + 1 the second.
static __global__ void __launch_bounds__(THREADS, 6) multiply_rows(multiply_args R)
{
    GPU_DYNAMIC_SHARED(shared);
    const device_matrix &m = blockIdx.x & 1 ? R.s.b : R.s.a;
    uint4 *out = blockIdx.x & 1 ? R.b : R.a;
    uint32_t block = blockIdx.x >> 1, t = threadIdx.x, rows = (uint32_t)R.s.rows;
    uint32_t chunk = block / R.row_blocks, first = (block - chunk * R.row_blocks) * THREADS;
    uint32_t repetition = chunk * R.per, stride = (uint32_t)R.s.aux_stride,
             end = R.s.count - repetition < R.per ? (uint32_t)R.s.count : repetition + R.per;
    uint8_t *choice = (uint8_t *)(shared + PLANES * PLANE); // the entries to be written: of two repetitions
    row_table table = {shared + t};
    row_bits bits = {};
    bool inside = first + t < rows, tabled = inside && make_table(R, m, first + t, table, bits);
    if (tabled) {
        bits.move(repetition * stride);
        bits.load(R.w);
    }
    for (; repetition < end; repetition++) {
        uint8_t *now = choice + (repetition & 1) * THREADS;
        if (tabled) {
            now[t] = (uint8_t)bits.index();
            bits.move(stride);
            if (repetition + 1 < end)
                bits.load(R.w);
        } else if (inside) { // the other entry may still be read
            table.put(repetition & 1, row_value(R, m, repetition, first + t));
            now[t] = repetition & 1;
        }
        __syncwarp();
        UNROLL for (uint32_t z = 0; z < 32; z += 16)
        {
            uint32_t half = t & 1, i = (t & ~31u) + z + ((t & 31) >> 1);
            if (first + i < rows)
                row_place(R, out, repetition, first + i)[half] = shared[(2 * now[i] + half) * PLANE + i];
        }
    }
}

// ---- long rows ----
// A warp sums a row of A or, behind those, of B; neighbouring warps take repetitions of the same row.
static __global__ void __launch_bounds__(THREADS) multiply_long_rows(multiply_args R)
{
    GPU_DYNAMIC_SHARED(shared);
    uint32_t t = threadIdx.x, lane = t & 31, count = (uint32_t)R.s.count;
    uint64_t i = (uint64_t)blockIdx.x * (THREADS / 32) + t / 32,
             rows_of_a = (uint64_t)R.s.a.long_count * count;
    bool second = i >= rows_of_a;
    const device_matrix &m = second ? R.s.b : R.s.a;
    i -= second ? rows_of_a : 0;
    if (i >= (uint64_t)m.long_count * count)
        return;
    uint32_t listed = (uint32_t)(i / count), repetition = (uint32_t)(i - (uint64_t)listed * count),
             row = m.long_row[listed], k = m.row[row] + lane, end = m.row[row + 1];
    row_table sum = {shared + t};
    fr acc;
    set_zero(acc);
    uint32_t col = k < end ? m.col[k] : 0, coef = k < end ? m.coef[k] : 0;
    while (k < end) {
        uint32_t next = k + 32, next_col = next < end ? m.col[next] : 0, // on their way meanwhile
            next_coef = next < end ? m.coef[next] : 0;
        add_term(acc, R, repetition, col, coef);
        k = next;
        col = next_col;
        coef = next_coef;
    }
    for (uint32_t d = 16; d; d /= 2) {
        sum.put(0, acc);
        __syncwarp();
        if (lane < d)
            acc = add(acc, row_table{sum.own + d}.get(0));
        __syncwarp();
    }
    if (lane == 0)
        store_fr(row_place(R, second ? R.b : R.a, repetition, row), reduce(acc));
}
static __global__ void clear_rows(uint4 *out, uint64_t first, int log, uint32_t reversed)
{
    uint64_t i = first + (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >> log)
        return;
    if (reversed && log)
        i = __brev((unsigned)i) >> (32 - log);
    out[2 * i] = uint4{0, 0, 0, 0};
    out[2 * i + 1] = uint4{0, 0, 0, 0};
}
// As many repetitions a thread as leave the device busy.
static void spread(const context &c, multiply_args &R)
{
    uint64_t busy = (uint64_t)c.dev->processors * 2048, per = 2 * R.s.rows * R.s.count / busy;
    per = std::min<uint64_t>(std::max<uint64_t>(per, 1), 32);
    R.per = (uint32_t)div_up(R.s.count, div_up(R.s.count, per));
    R.row_blocks = (uint32_t)div_up(R.s.rows, THREADS);
}
cuzk_status circuit_multiply(context &c, const device_circuit &circuit, const device_witness &w, uint4 *a,
                             uint4 *b, int log, bool reversed)
{
    uint64_t rest = ((uint64_t)1 << log) - circuit.constraints;
    for (uint4 *out : {a, b})
        if (rest) {
            GPU_LAUNCH(clear_rows, div_up(rest, 256), 256, 0, c.stream, out, circuit.constraints, log,
                       (uint32_t)reversed);
            GPU_CHECK_LAUNCH(c);
        }
    for (const device_segment &s : circuit.segments) {
        multiply_args R = {s, w, circuit.dictionary, a, b, log, reversed, 0, 0};
        spread(c, R);
        GPU_LAUNCH_SYNC(multiply_rows, 2 * R.row_blocks * div_up(s.count, R.per), THREADS, TABLE_BYTES,
                        c.stream, R);
        GPU_CHECK_LAUNCH(c);
        uint64_t warps = ((uint64_t)s.a.long_count + s.b.long_count) * s.count;
        if (warps) {
            GPU_LAUNCH_SYNC(multiply_long_rows, div_up(warps, THREADS / 32), THREADS,
                            2 * PLANE * sizeof(uint4), c.stream, R);
            GPU_CHECK_LAUNCH(c);
        }
    }
    return CUZK_OK;
}
} // namespace gpu
