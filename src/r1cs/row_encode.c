#include "r1cs/row_encode.h"
#include "base/encode.h"
#include "base/mem.h"

cuzk_status row_encoder_init(row_encoder *e, const r1cs *r, uint32_t aux_column, cuzk_error *err)
{
    *e = (row_encoder){.r = r, .aux_column = aux_column};
    e->canonical = r1cs_canonical(r);
    e->resolver = mem_calloc(r->segments + 1, sizeof(col_resolver));
    if (!e->canonical || !e->resolver) {
        row_encoder_clear(e);
        return mem_error(err, (size_t)r->dictionary_count * 32, "the coefficients of a circuit");
    }
    for (size_t i = 0; i < r->segments; i++) {
        if (!r->segment[i].c.row) {
            row_encoder_clear(e);
            return cuzk_error_set(err, CUZK_UNSUPPORTED, "circuit %s was opened without its matrix C",
                                  r->name);
        }
        cuzk_status status = col_resolver_init(&e->resolver[i], r, i, err);
        if (status != CUZK_OK) {
            row_encoder_clear(e);
            return status;
        }
    }
    return CUZK_OK;
}

void row_encoder_clear(row_encoder *e)
{
    for (size_t i = 0; e->resolver && i < e->r->segments; i++)
        col_resolver_clear(&e->resolver[i]);
    mem_free(e->resolver);
    *e = (row_encoder){0};
}

/* Most bytes that rows first .. end - 1 of a repetition take. */
static uint64_t span_bytes(const r1cs_segment *s, uint64_t first, uint64_t end)
{
    uint64_t terms = (uint64_t)(s->a.row[end] - s->a.row[first]) + (s->b.row[end] - s->b.row[first]) +
                     (s->c.row[end] - s->c.row[first]);
    return terms * ENCODED_TERM + (end - first) * 12;
}

cuzk_status row_piece_plan(row_piece *p, const row_encoder *e, uint64_t first, uint64_t last,
                           size_t max_bytes, cuzk_error *err)
{
    uint64_t bytes = 0, row = first;
    while (row < last && bytes < max_bytes) {
        row_place at = r1cs_find_row(e->r, row);
        const r1cs_segment *s = &e->r->segment[at.segment];
        uint64_t end = s->rows - at.row > last - row ? at.row + (last - row) : s->rows;
        if (bytes + span_bytes(s, at.row, end) > max_bytes) {
            uint64_t low = at.row, high = end; /* the most rows that fit */
            while (high - low > 1) {
                uint64_t middle = low + (high - low) / 2;
                if (bytes + span_bytes(s, at.row, middle) <= max_bytes)
                    low = middle;
                else
                    high = middle;
            }
            end = low;
            if (end == at.row && row == first)
                end++;
            bytes += span_bytes(s, at.row, end);
            row += end - at.row;
            break;
        }
        bytes += span_bytes(s, at.row, end);
        row += end - at.row;
    }
    p->first = first;
    p->end = row;
    p->bytes = 0;
    if (bytes > p->cap) {
        mem_free(p->data);
        p->cap = 0;
        p->data = mem_alloc(bytes);
        if (!p->data)
            return mem_error(err, bytes, "encoded rows");
        p->cap = bytes;
    }
    return CUZK_OK;
}

void row_piece_clear(row_piece *p)
{
    mem_free(p->data);
    *p = (row_piece){0};
}

static inline uint8_t *put_term(uint8_t *to, uint32_t column, const uint8_t *coefficient)
{
    store_le32(to, column);
    memcpy(to + 4, coefficient, 32);
    return to + ENCODED_TERM;
}

static inline uint32_t column_of(const row_encoder *e, var v)
{
    return v & VAR_AUX ? e->aux_column + (v & ~VAR_AUX) : v;
}

static uint8_t *encode_resolved(uint8_t *to, const row_encoder *e, const lc *l)
{
    store_le32(to, l->n);
    to += 4;
    for (uint32_t i = 0; i < l->n; i++) {
        uint8_t coefficient[32];
        fr_to_bytes(coefficient, &l->t[i].c);
        to = put_term(to, column_of(e, l->t[i].v), coefficient);
    }
    return to;
}

static uint8_t *encode_stored(uint8_t *to, const row_encoder *e, const col_resolver *c, const cuzk_matrix *m,
                              uint64_t repetition, uint64_t row)
{
    const uint32_t *field_aux = c->field_aux;
    uint32_t local = e->aux_column + (uint32_t)(c->s->aux_base + repetition * c->s->aux_stride);
    uint32_t k = m->row[row], end = m->row[row + 1];
    store_le32(to, end - k);
    to += 4;
    for (; k < end; k++) {
        uint32_t col = m->col[k], index = CUZK_COL_INDEX(col), column;
        if (CUZK_COL_CLASS(col) == CUZK_COL_LOCAL)
            column = local + (col & CUZK_COL_FIELD ? field_aux[index] : index);
        else if (CUZK_COL_CLASS(col) == CUZK_COL_GLOBAL && !(col & CUZK_COL_FIELD))
            column = e->aux_column + index;
        else
            column = column_of(e, col_resolve(c, repetition, col));
        to = put_term(to, column, e->canonical + 32 * (size_t)m->coef[k]);
    }
    return to;
}

void row_piece_encode(row_piece *p, const row_encoder *e)
{
    uint8_t *to = p->data;
    lc terms;
    lc_init(&terms);
    for (uint64_t row = p->first; row < p->end;) {
        row_place at = r1cs_find_row(e->r, row);
        const col_resolver *c = &e->resolver[at.segment];
        const r1cs_segment *s = c->s;
        uint64_t end = s->rows - at.row > p->end - row ? at.row + (p->end - row) : s->rows;
        row += end - at.row;
        for (uint64_t i = at.row; i < end; i++) {
            for (int which = 0; which < 3; which++) {
                const cuzk_matrix *m = segment_matrix(s, which);
                if (s->import_count && row_has_imports(m, i)) {
                    row_terms(&terms, c, m, at.repetition, i);
                    to = encode_resolved(to, e, &terms);
                } else {
                    to = encode_stored(to, e, c, m, at.repetition, i);
                }
            }
        }
    }
    p->failed = (int)terms.failed;
    lc_clear(&terms);
    p->bytes = (size_t)(to - p->data);
}
