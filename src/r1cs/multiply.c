#include "r1cs/row_value.h"

#define CHUNK_ROWS 1024u

typedef struct chunk_run {
    const r1cs *r;
    const witness *w;
    fr *a, *b;               /* multiply */
    _Atomic uint64_t failed; /* check: first failing row */
} chunk_run;

static void multiply_rows(void *ctx, size_t first, size_t end, unsigned worker)
{
    chunk_run *c = ctx;
    (void)worker;
    for (uint64_t row = first; row < end; row++) {
        row_place at = r1cs_find_row(c->r, row);
        const r1cs_segment *s = &c->r->segment[at.segment];
        row_value(&c->a[row], c->r, s, &s->a, c->w, at.repetition, at.row);
        row_value(&c->b[row], c->r, s, &s->b, c->w, at.repetition, at.row);
    }
}

cuzk_status r1cs_multiply(const r1cs *r, const witness *w, fr *a, fr *b, pool *p, cuzk_error *err)
{
    cuzk_status status = witness_fits(r, w, err);
    if (status != CUZK_OK)
        return status;
    chunk_run c = {.r = r, .w = w, .a = a, .b = b};
    pool_for_range(p, r->counts.constraints, CHUNK_ROWS, multiply_rows, &c);
    return CUZK_OK;
}

static void check_rows(void *ctx, size_t first, size_t end, unsigned worker)
{
    chunk_run *c = ctx;
    (void)worker;
    for (uint64_t row = first; row < end && row < atomic_load(&c->failed); row++) {
        row_place at = r1cs_find_row(c->r, row);
        const r1cs_segment *s = &c->r->segment[at.segment];
        fr x, y, z;
        row_value(&x, c->r, s, &s->a, c->w, at.repetition, at.row);
        row_value(&y, c->r, s, &s->b, c->w, at.repetition, at.row);
        row_value(&z, c->r, s, &s->c, c->w, at.repetition, at.row);
        fr_mul(&x, &x, &y);
        if (fr_eq(&x, &z))
            continue;
        uint64_t seen = atomic_load(&c->failed);
        while (row < seen && !atomic_compare_exchange_weak(&c->failed, &seen, row))
            ;
        return;
    }
}

cuzk_status r1cs_check(const r1cs *r, const witness *w, pool *p, cuzk_error *err)
{
    cuzk_status status = witness_fits(r, w, err);
    if (status != CUZK_OK)
        return status;
    for (size_t i = 0; i < r->segments; i++)
        if (!r->segment[i].c.row)
            return cuzk_error_set(err, CUZK_UNSUPPORTED, "circuit %s was opened without its matrix C",
                                  r->name);
    chunk_run c = {.r = r, .w = w};
    atomic_store(&c.failed, UINT64_MAX);
    pool_for_range(p, r->counts.constraints, CHUNK_ROWS, check_rows, &c);
    uint64_t row = atomic_load(&c.failed);
    if (row == UINT64_MAX)
        return CUZK_OK;
    char path[300];
    r1cs_row_path(r, row, path, sizeof(path));
    return cuzk_error_set(err, CUZK_UNSATISFIED, "row %llu of circuit %s does not hold%s%s",
                          (unsigned long long)row, r->name, *path ? ": " : "", path);
}
