#include "r1cs/row_value.h"

static void global_value(fr *out, const witness *w, uint32_t col)
{
    uint64_t index = CUZK_COL_INDEX(col);
    if (CUZK_COL_CLASS(col) == CUZK_COL_INPUT)
        *out = w->input[index];
    else if (col & CUZK_COL_FIELD)
        *out = w->field[index];
    else
        *out = w->bits[index / 64] >> (index & 63) & 1 ? FR_ONE : FR_ZERO;
}

void col_value(fr *out, const r1cs_segment *s, const witness *w, uint64_t repetition, uint32_t col)
{
    uint64_t index = CUZK_COL_INDEX(col);
    switch (CUZK_COL_CLASS(col)) {
    case CUZK_COL_LOCAL:
        if (col & CUZK_COL_FIELD) {
            *out = w->field[s->field_base + repetition * s->field_stride + index];
            return;
        }
        index += s->aux_base + repetition * s->aux_stride;
        *out = w->bits[index / 64] >> (index & 63) & 1 ? FR_ONE : FR_ZERO;
        return;
    case CUZK_COL_INPUT:
        *out = w->input[index + (col & CUZK_COL_FIELD ? s->input_base + repetition * s->input_stride : 0)];
        return;
    case CUZK_COL_IMPORT:
        global_value(out, w, s->imports[repetition * s->import_count + index]);
        return;
    default:
        global_value(out, w, col);
    }
}

void row_value(fr *out, const r1cs *r, const r1cs_segment *s, const cuzk_matrix *m, const witness *w,
               uint64_t repetition, uint64_t row)
{
    fr sum = FR_ZERO, x;
    for (uint32_t k = m->row[row]; k < m->row[row + 1]; k++) {
        col_value(&x, s, w, repetition, m->col[k]);
        fr_mul(&x, &x, &r->dictionary[m->coef[k]]);
        fr_add(&sum, &sum, &x);
    }
    *out = sum;
}

cuzk_status witness_fits(const r1cs *r, const witness *w, cuzk_error *err)
{
    const r1cs_counts *n = &r->counts;
    if (w->inputs != n->inputs || w->aux != n->aux || w->fields != n->fields)
        return cuzk_error_set(
            err, CUZK_INVALID_ARGUMENT,
            "a witness with %llu inputs and %llu wires (%llu wide) does not fit circuit %s: "
            "%llu, %llu (%llu)",
            (unsigned long long)w->inputs, (unsigned long long)w->aux, (unsigned long long)w->fields, r->name,
            (unsigned long long)n->inputs, (unsigned long long)n->aux, (unsigned long long)n->fields);
    if (!fr_is_one(&w->input[0]))
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "input 0 of a witness must be 1");
    return CUZK_OK;
}

void r1cs_multiply_ref(const r1cs *r, const witness *w, int matrix, fr *out)
{
    for (size_t k = 0; k < r->segments; k++) {
        const r1cs_segment *s = &r->segment[k];
        for (uint64_t i = 0; i < s->count; i++)
            for (uint64_t row = 0; row < s->rows; row++)
                row_value(&out[s->first_row + i * s->rows + row], r, s, segment_matrix(s, matrix), w, i, row);
    }
}
