/* r1cs_multiply and r1cs_check: chunks by the pool, rows by spmv. */
#include "r1cs/r1cs_internal.h"
#include "r1cs/row_value.h"
#include "r1cs/spmv.h"
#include <stdlib.h>

typedef struct run {
    spmv *s;
    fr *out[2];              /* multiply */
    fr_order order;          /* of out */
    _Atomic uint64_t failed; /* check: first row known to fail */
} run;

static void multiply_chunk(void *ctx, size_t task, unsigned worker)
{
    run *j = ctx;
    const spmv_chunk *c = &j->s->chunk[task];
    const cuzk_segment *seg = &j->s->circuit->segments[c->segment];
    spmv_worker *w = &j->s->worker[worker];
    spmv_translate(j->s, w, c);
    for (uint64_t i = c->repetition; i < c->repetition_end; i += SPMV_LANES) {
        uint64_t row = seg->first_row + i * seg->rows + c->first, left = c->repetition_end - i;
        for (unsigned m = 0; m < 2; m++)
            spmv_execute(j->s, w, &w->plan[m], seg, i, left < SPMV_LANES ? (unsigned)left : SPMV_LANES,
                         &(spmv_out){j->out[m], row, seg->rows, j->order});
    }
    spmv_flush(j->s);
}

cuzk_status r1cs_multiply_view(const cuzk_circuit_view *c, const cuzk_witness_view *w, fr *a, fr *b,
                               fr_order order, pool *p, cuzk_error *err)
{
    spmv s;
    cuzk_status status = spmv_init(&s, c, w, 2, p, err);
    if (status != CUZK_OK)
        return status;
    run j = {.s = &s, .out = {a, b}, .order = order};
    pool_for_until(p, pool_watched(p), s.chunks, multiply_chunk, &j);
    spmv_clear(&s);
    return CUZK_OK;
}

/* The view without its maps, which a product does not need. */
static cuzk_circuit_view bare_view(const r1cs *r)
{
    return (cuzk_circuit_view){
        .inputs = r->counts.inputs,
        .aux = r->counts.aux,
        .fields = r->counts.fields,
        .constraints = r->counts.constraints,
        .segment_count = r->segments,
        .segments = r->segment,
        .dictionary_count = r->dictionary_count,
        .dictionary = (const cuzk_fr *)r->dictionary,
    };
}

cuzk_witness_view witness_view(const witness *w)
{
    return (cuzk_witness_view){.inputs = w->inputs,
                               .aux = w->aux,
                               .fields = w->fields,
                               .input = (const cuzk_fr *)w->input,
                               .bits = w->bits,
                               .field = (const cuzk_fr *)w->field};
}

cuzk_status r1cs_multiply(const r1cs *r, const witness *w, fr *a, fr *b, pool *p, cuzk_error *err)
{
    cuzk_status status = witness_fits(r, w, err);
    if (status != CUZK_OK)
        return status;
    cuzk_circuit_view c = bare_view(r);
    cuzk_witness_view v = witness_view(w);
    return r1cs_multiply_view(&c, &v, a, b, FR_USUAL_ORDER, p, err);
}

static int row_holds(const fr *a, const fr *b, const fr *c)
{
    fr x;
    if (fr_is_zero(a) || fr_is_zero(b))
        return fr_is_zero(c);
    if (fr_is_one(b))
        return fr_eq(a, c);
    if (fr_is_one(a))
        return fr_eq(b, c);
    fr_mul(&x, a, b);
    return fr_eq(&x, c);
}

static void note_failure(run *j, uint64_t row)
{
    uint64_t seen = atomic_load(&j->failed);
    while (row < seen && !atomic_compare_exchange_weak(&j->failed, &seen, row))
        ;
}

static void check_chunk(void *ctx, size_t task, unsigned worker)
{
    run *j = ctx;
    const spmv_chunk *c = &j->s->chunk[task];
    const cuzk_segment *seg = &j->s->circuit->segments[c->segment];
    spmv_worker *w = &j->s->worker[worker];
    spmv_translate(j->s, w, c);
    for (uint64_t i = c->repetition; i < c->repetition_end; i += SPMV_LANES) {
        uint64_t left = c->repetition_end - i, first = seg->first_row + i * seg->rows + c->first;
        unsigned n = left < SPMV_LANES ? (unsigned)left : SPMV_LANES;
        if (first >= atomic_load(&j->failed))
            return;
        for (unsigned m = 0; m < 3; m++)
            spmv_execute(j->s, w, &w->plan[m], seg, i, n,
                         &(spmv_out){w->row_value[m], 0, CHUNK_ROWS, FR_USUAL_ORDER});
        for (unsigned lane = 0; lane < n; lane++) {
            const fr *v[3];
            uint64_t k = 0, rows = c->end - c->first;
            for (unsigned m = 0; m < 3; m++)
                v[m] = w->row_value[m] + lane * CHUNK_ROWS;
            while (k < rows && row_holds(&v[0][k], &v[1][k], &v[2][k]))
                k++;
            if (k < rows)
                note_failure(j, first + lane * seg->rows + k);
        }
    }
}

cuzk_status r1cs_check(const r1cs *r, const witness *w, pool *p, cuzk_error *err)
{
    spmv s;
    cuzk_status status = witness_fits(r, w, err);
    if (status != CUZK_OK)
        return status;
    for (size_t i = 0; i < r->segments; i++)
        if (!r->segment[i].c.row)
            return cuzk_error_set(err, CUZK_UNSUPPORTED, "circuit %s was opened without its matrix C",
                                  r->name);
    cuzk_circuit_view c = bare_view(r);
    cuzk_witness_view v = witness_view(w);
    status = spmv_init(&s, &c, &v, 3, p, err);
    if (status != CUZK_OK)
        return status;
    s.stream = 0; /* the rows are looked at at once */
    run j = {.s = &s};
    atomic_store(&j.failed, UINT64_MAX);
    pool_for(p, s.chunks, check_chunk, &j);
    spmv_clear(&s);
    uint64_t row = atomic_load(&j.failed);
    if (row == UINT64_MAX)
        return CUZK_OK;
    char path[300];
    r1cs_row_path(r, row, path, sizeof(path));
    return cuzk_error_set(err, CUZK_UNSATISFIED, "row %llu of circuit %s does not hold%s%s",
                          (unsigned long long)row, r->name, *path ? ": " : "", path);
}
