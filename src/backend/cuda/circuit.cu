// Compiled circuits on the device.
#include "circuit.cuh"

namespace gpu
{
// ---- loading ----
static uint64_t entries(const cuzk_matrix &m, uint64_t rows)
{
    return rows ? m.row[rows] : 0;
}
struct column_limits {
    uint64_t inputs, aux, fields;
};
// The largest index that a column may name, given where the last repetition of its segment begins.
static bool column_ok(uint32_t col, const cuzk_segment &s, const column_limits &n)
{
    uint64_t i = CUZK_COL_INDEX(col), last = s.count - 1;
    bool field = col & CUZK_COL_FIELD;
    switch (CUZK_COL_CLASS(col)) {
    case CUZK_COL_GLOBAL:
        return i < (field ? n.fields : n.aux);
    case CUZK_COL_LOCAL:
        return field ? i + s.field_base + last * s.field_stride < n.fields
                     : i + s.aux_base + last * s.aux_stride < n.aux;
    case CUZK_COL_INPUT:
        return i + (field ? s.input_base + last * s.input_stride : 0) < n.inputs;
    default:
        return i < s.import_count;
    }
}
static bool import_ok(uint32_t col, const column_limits &n)
{
    uint64_t i = CUZK_COL_INDEX(col);
    if (CUZK_COL_CLASS(col) == CUZK_COL_GLOBAL)
        return i < (col & CUZK_COL_FIELD ? n.fields : n.aux);
    return CUZK_COL_CLASS(col) == CUZK_COL_INPUT && i < n.inputs;
}
static cuzk_status check_matrix(context &c, const cuzk_circuit_view *v, size_t index, const cuzk_matrix &m)
{
    const cuzk_segment &s = v->segments[index];
    column_limits n = {v->inputs, v->aux, v->fields};
    for (uint64_t j = 0; j < s.rows; j++)
        if (m.row[j] > m.row[j + 1])
            return fail(c.err, CUZK_INCONSISTENT,
                        "circuit: segment %zu: row offsets do not ascend at row %llu", index,
                        (unsigned long long)j);
    for (uint64_t t = 0, e = entries(m, s.rows); t < e; t++)
        if (m.coef[t] >= v->dictionary_count || !column_ok(m.col[t], s, n))
            return fail(c.err, CUZK_INCONSISTENT,
                        "circuit: segment %zu: term %llu names a wire or a coefficient that does "
                        "not exist",
                        index, (unsigned long long)t);
    return CUZK_OK;
}
cuzk_status circuit_check(context &c, const cuzk_circuit_view *v)
{
    column_limits n = {v->inputs, v->aux, v->fields};
    if (v->inputs == 0 || v->constraints == 0 || v->aux > UINT32_MAX || v->constraints > UINT32_MAX)
        return fail(c.err, CUZK_INCONSISTENT, "circuit: it has %llu inputs, %llu wires and %llu rows",
                    (unsigned long long)v->inputs, (unsigned long long)v->aux,
                    (unsigned long long)v->constraints);
    for (size_t i = 0; i < v->segment_count; i++) {
        const cuzk_segment &s = v->segments[i];
        if (s.count == 0 || s.rows == 0)
            continue;
        if (s.rows > UINT32_MAX || s.first_row > v->constraints ||
            s.count > (v->constraints - s.first_row) / s.rows)
            return fail(c.err, CUZK_INCONSISTENT, "circuit: segment %zu reaches past the last row", i);
        for (uint64_t k = 0; k < s.count * s.import_count; k++)
            if (!import_ok(s.imports[k], n))
                return fail(c.err, CUZK_INCONSISTENT, "circuit: segment %zu: import %llu names no wire", i,
                            (unsigned long long)k);
        GPU_TRY(check_matrix(c, v, i, s.a));
        GPU_TRY(check_matrix(c, v, i, s.b));
    }
    return CUZK_OK;
}
static size_t long_rows(const cuzk_matrix &m, uint64_t rows)
{
    size_t n = 0;
    for (uint64_t j = 0; j < rows; j++)
        n += m.row[j + 1] - m.row[j] > LONG_ROW;
    return n;
}
static size_t matrix_bytes(const cuzk_matrix &m, uint64_t rows)
{
    return aligned((rows + 1) * 4) + 2 * aligned(entries(m, rows) * 4) + aligned(long_rows(m, rows) * 4);
}
size_t circuit_bytes(const cuzk_circuit_view *v)
{
    size_t n = aligned(v->dictionary_count * 32);
    for (size_t i = 0; i < v->segment_count; i++) {
        const cuzk_segment &s = v->segments[i];
        if (s.rows && s.count)
            n +=
                matrix_bytes(s.a, s.rows) + matrix_bytes(s.b, s.rows) + aligned(s.count * s.import_count * 4);
    }
    return n;
}
namespace
{
struct placer { // copies arrays one behind the other
    context &c;
    uint8_t *at;
    cuzk_status put(const void *src, size_t bytes, const void **where)
    {
        *where = at;
        if (bytes)
            GPU_TRY(upload(c, at, src, bytes, c.stream));
        at += aligned(bytes);
        return CUZK_OK;
    }
    cuzk_status put_matrix(const cuzk_matrix &m, uint64_t rows, device_matrix *d)
    {
        GPU_TRY(put(m.row, (rows + 1) * 4, (const void **)&d->row));
        GPU_TRY(put(m.col, entries(m, rows) * 4, (const void **)&d->col));
        GPU_TRY(put(m.coef, entries(m, rows) * 4, (const void **)&d->coef));
        std::vector<uint32_t> list;
        try {
            list.reserve(long_rows(m, rows));
        } catch (...) {
            return fail(c.err, CUZK_OUT_OF_MEMORY, "memory for the circuit's long rows could not be had");
        }
        for (uint64_t j = 0; j < rows; j++)
            if (m.row[j + 1] - m.row[j] > LONG_ROW)
                list.push_back((uint32_t)j);
        d->long_count = (uint32_t)list.size();
        return put(list.data(), list.size() * 4, (const void **)&d->long_row);
    }
};
} // namespace
static cuzk_status place_circuit(context &c, device_circuit *out, const cuzk_circuit_view *v)
{
    placer p = {c, (uint8_t *)out->memory};
    GPU_TRY(p.put(v->dictionary, v->dictionary_count * 32, (const void **)&out->dictionary));
    for (size_t i = 0; i < v->segment_count; i++) {
        const cuzk_segment &s = v->segments[i];
        if (!s.rows || !s.count)
            continue;
        device_segment d = {};
        d.first_row = s.first_row;
        d.rows = s.rows;
        d.count = s.count;
        d.aux_base = s.aux_base;
        d.aux_stride = s.aux_stride;
        d.field_base = s.field_base;
        d.field_stride = s.field_stride;
        d.input_base = s.input_base;
        d.input_stride = s.input_stride;
        d.import_count = s.import_count;
        GPU_TRY(p.put(s.imports, s.count * s.import_count * 4, (const void **)&d.imports));
        GPU_TRY(p.put_matrix(s.a, s.rows, &d.a));
        GPU_TRY(p.put_matrix(s.b, s.rows, &d.b));
        try {
            out->segments.push_back(d);
        } catch (...) {
            return fail(c.err, CUZK_OUT_OF_MEMORY, "memory for the circuit's segments could not be had");
        }
    }
    return synchronize(c);
}
cuzk_status circuit_load(context &c, device_circuit *out, const cuzk_circuit_view *v)
{
    out->bytes = circuit_bytes(v);
    out->constraints = v->constraints;
    GPU_TRY(device_alloc(c, &out->memory, out->bytes));
    cuzk_status s = place_circuit(c, out, v);
    if (s != CUZK_OK)
        circuit_unload(c.dev, out);
    return s;
}
void circuit_unload(cuzk_device *dev, device_circuit *circuit)
{
    device_free(dev, circuit->memory, circuit->bytes);
    circuit->memory = nullptr;
    circuit->segments.clear();
}
} // namespace gpu
