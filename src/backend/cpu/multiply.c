/* a = A w and b = B w, row by row, from the compiled segments. */
#include "backend/cpu/cpu.h"

typedef struct multiply_job {
    const cuzk_circuit_view *c;
    const cuzk_witness_view *w;
    const cuzk_segment *s;
    fr *a, *b;
} multiply_job;

/* A wire's value: a field element, or where it is a bit FR_ONE or NULL for 0. */
static inline const fr *bit_value(const cuzk_witness_view *w, uint64_t aux)
{
    return w->bits[aux / 64] >> (aux % 64) & 1 ? &FR_ONE : NULL;
}

static const fr *column_value(const multiply_job *j, uint64_t rep, uint32_t col)
{
    const cuzk_segment *s = j->s;
    const cuzk_witness_view *w = j->w;
    uint64_t i = CUZK_COL_INDEX(col);
    switch (CUZK_COL_CLASS(col)) {
    case CUZK_COL_GLOBAL:
        return col & CUZK_COL_FIELD ? (const fr *)&w->field[i] : bit_value(w, i);
    case CUZK_COL_LOCAL:
        if (col & CUZK_COL_FIELD)
            return (const fr *)&w->field[s->field_base + rep * s->field_stride + i];
        return bit_value(w, s->aux_base + rep * s->aux_stride + i);
    case CUZK_COL_INPUT:
        if (col & CUZK_COL_FIELD)
            i += s->input_base + rep * s->input_stride;
        return (const fr *)&w->input[i];
    default:
        return column_value(j, rep, s->imports[rep * s->import_count + i]);
    }
}

static void row_product(fr *out, const multiply_job *j, const cuzk_matrix *m, uint64_t rep, uint64_t row)
{
    const fr *dictionary = (const fr *)j->c->dictionary;
    fr sum = FR_ZERO, t;
    for (uint32_t k = m->row[row]; k < m->row[row + 1]; k++) {
        const fr *v = column_value(j, rep, m->col[k]);
        if (!v)
            continue;
        uint32_t coef = m->coef[k];
        if (coef == 0) {
            fr_add(&sum, &sum, v);
        } else if (coef == 1) {
            fr_sub(&sum, &sum, v);
        } else if (v == &FR_ONE) {
            fr_add(&sum, &sum, &dictionary[coef]);
        } else {
            fr_mul(&t, v, &dictionary[coef]);
            fr_add(&sum, &sum, &t);
        }
    }
    *out = sum;
}

static void multiply_rows(void *ctx, size_t first, size_t end, unsigned worker)
{
    (void)worker;
    const multiply_job *j = ctx;
    uint64_t rep = first / j->s->rows, row = first % j->s->rows;
    for (size_t i = first; i < end; i++) {
        row_product(&j->a[j->s->first_row + i], j, &j->s->a, rep, row);
        row_product(&j->b[j->s->first_row + i], j, &j->s->b, rep, row);
        if (++row == j->s->rows)
            row = 0, rep++;
    }
}

cuzk_status cpu_multiply(const cuzk_circuit_view *c, const cuzk_witness_view *w, fr *a, fr *b, pool *p,
                         cuzk_error *err)
{
    if (w->inputs != c->inputs || w->aux != c->aux || w->fields != c->fields)
        return cuzk_error_set(
            err, CUZK_INVALID_ARGUMENT,
            "the witness has %llu inputs, %llu wires and %llu field wires, the circuit %llu, %llu and "
            "%llu",
            (unsigned long long)w->inputs, (unsigned long long)w->aux, (unsigned long long)w->fields,
            (unsigned long long)c->inputs, (unsigned long long)c->aux, (unsigned long long)c->fields);
    for (size_t i = 0; i < c->segment_count; i++) {
        multiply_job j = {c, w, &c->segments[i], a, b};
        pool_for_range(p, j.s->rows * j.s->count, 2048, multiply_rows, &j);
    }
    return CUZK_OK;
}
