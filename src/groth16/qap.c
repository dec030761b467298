/* The polynomials of a circuit at one point: A_j(tau) = sum over the rows i of A_ij L_i(tau), with the
 * Lagrange coefficients L_i(tau) = (tau^n - 1) / n * w^i / (tau - w^i). The three matrices are walked at the
 * same time by different threads; the segments are never unrolled. */
#include "base/mem.h"
#include "groth16/groth16_internal.h"
#include "poly/poly.h"

#define LAGRANGE_PIECE 1024

typedef struct lagrange_job {
    fr *l;
    fr root, tau, scale; /* scale = (tau^n - 1) / n */
} lagrange_job;

static void lagrange_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    (void)worker;
    const lagrange_job *j = ctx;
    fr w, d[LAGRANGE_PIECE], scratch[LAGRANGE_PIECE];
    uint64_t exponent = first;
    fr_pow(&w, &j->root, &exponent, 1);
    for (size_t at = first; at < end; at += LAGRANGE_PIECE) {
        size_t n = end - at < LAGRANGE_PIECE ? end - at : LAGRANGE_PIECE;
        for (size_t i = 0; i < n; i++) {
            fr_mul(&j->l[at + i], &w, &j->scale);
            fr_sub(&d[i], &j->tau, &w);
            fr_mul(&w, &w, &j->root);
        }
        fr_batch_inv(d, d, n, scratch);
        for (size_t i = 0; i < n; i++)
            fr_mul(&j->l[at + i], &j->l[at + i], &d[i]);
    }
}

static cuzk_status lagrange(fr *l, uint64_t rows, const fr *tau, unsigned log_n, pool *p, cuzk_error *err)
{
    lagrange_job j = {.l = l, .tau = *tau};
    fr n, t = *tau;
    fr_root_of_unity(&j.root, log_n, 7);
    for (unsigned i = 0; i < log_n; i++)
        fr_sqr(&t, &t);
    fr_sub(&t, &t, &FR_ONE);
    if (fr_is_zero(&t))
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "tau lies in the domain of the circuit");
    fr_from_u64(&n, (uint64_t)1 << log_n);
    fr_inv(&n, &n);
    fr_mul(&j.scale, &t, &n);
    pool_for_range(p, rows, 16 * LAGRANGE_PIECE, lagrange_range, &j);
    return CUZK_OK;
}

typedef struct column_job {
    const cuzk_circuit_view *c;
    const fr *l;
    const uint32_t *field_aux; /* aux index of each field wire */
    fr *out[3];
} column_job;

static uint64_t column_wire(const column_job *j, const cuzk_segment *s, uint64_t rep, uint32_t col)
{
    uint64_t i = CUZK_COL_INDEX(col), inputs = j->c->inputs;
    switch (CUZK_COL_CLASS(col)) {
    case CUZK_COL_GLOBAL:
        return inputs + (col & CUZK_COL_FIELD ? j->field_aux[i] : i);
    case CUZK_COL_LOCAL:
        return inputs + (col & CUZK_COL_FIELD ? j->field_aux[s->field_base + rep * s->field_stride + i]
                                              : s->aux_base + rep * s->aux_stride + i);
    case CUZK_COL_INPUT:
        return col & CUZK_COL_FIELD ? s->input_base + rep * s->input_stride + i : i;
    default:
        return column_wire(j, s, rep, s->imports[rep * s->import_count + i]);
    }
}

static void add_segment(const column_job *j, const cuzk_segment *s, const cuzk_matrix *m, fr *out)
{
    const fr *dictionary = (const fr *)j->c->dictionary;
    const fr *l = j->l + s->first_row;
    for (uint64_t rep = 0; rep < s->count; rep++) {
        for (uint64_t row = 0; row < s->rows; row++, l++) {
            for (uint32_t k = m->row[row]; k < m->row[row + 1]; k++) {
                fr *o = &out[column_wire(j, s, rep, m->col[k])], t;
                uint32_t coef = m->coef[k];
                if (coef == 0) {
                    fr_add(o, o, l);
                } else if (coef == 1) {
                    fr_sub(o, o, l);
                } else {
                    fr_mul(&t, l, &dictionary[coef]);
                    fr_add(o, o, &t);
                }
            }
        }
    }
}

static void add_matrix(void *ctx, size_t task, unsigned worker)
{
    (void)worker;
    const column_job *j = ctx;
    for (size_t i = 0; i < j->c->segment_count; i++) {
        const cuzk_segment *s = &j->c->segments[i];
        add_segment(j, s, task == 0 ? &s->a : task == 1 ? &s->b : &s->c, j->out[task]);
    }
}

void qap_values_clear(qap_values *q)
{
    size_t bytes = q->count * sizeof(fr);
    big_free(q->a, bytes);
    big_free(q->b, bytes);
    big_free(q->c, bytes);
    memset(q, 0, sizeof(*q));
}

cuzk_status qap_evaluate(qap_values *out, const r1cs *r, const fr *tau, unsigned log_n, pool *p,
                         cuzk_error *err)
{
    memset(out, 0, sizeof(*out));
    cuzk_circuit_view c;
    cuzk_status s = r1cs_view(r, &c, err);
    if (s != CUZK_OK)
        return s;
    for (size_t i = 0; i < c.segment_count; i++) {
        if (c.segments[i].rows && !c.segments[i].c.row)
            return cuzk_error_set(
                err, CUZK_INVALID_ARGUMENT,
                "the compiled circuit %s was stored without its C matrix, which a setup needs", r1cs_name(r));
    }
    uint64_t wires = c.inputs + c.aux;
    size_t bytes = wires * sizeof(fr), l_bytes = c.constraints * sizeof(fr),
           map_bytes = c.fields * sizeof(uint32_t);
    fr *l = big_alloc(l_bytes);
    uint32_t *field_aux = big_alloc(map_bytes);
    *out = (qap_values){wires, big_alloc(bytes), big_alloc(bytes), big_alloc(bytes)};
    if (!l || !field_aux || !out->a || !out->b || !out->c) {
        s = mem_error(err, 3 * bytes + l_bytes, "the circuit's polynomials");
        goto exit;
    }
    uint64_t rank = 0;
    for (uint64_t w = 0; w < (c.aux + 63) / 64; w++) {
        for (uint64_t left = c.field_map[w]; left && rank < c.fields; left &= left - 1)
            field_aux[rank++] = (uint32_t)(64 * w + (uint64_t)__builtin_ctzll(left));
    }
    s = lagrange(l, c.constraints, tau, log_n, p, err);
    if (s != CUZK_OK)
        goto exit;
    column_job j = {&c, l, field_aux, {out->a, out->b, out->c}};
    pool_for(p, 3, add_matrix, &j);
exit:
    big_free(l, l_bytes);
    big_free(field_aux, map_bytes);
    if (s != CUZK_OK)
        qap_values_clear(out);
    return s;
}
