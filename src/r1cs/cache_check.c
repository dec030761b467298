/* A mapped circuit is believed only after this: afterwards no index in it can lead outside an array. */
#include "r1cs/cache.h"

/* Where the wires end that a segment's rows may mention. */
typedef struct bounds {
    uint64_t aux, fields, inputs;                   /* global */
    uint64_t local_aux, local_fields, local_inputs; /* per repetition; 0 in a plain segment */
    uint64_t imports, dictionary;
} bounds;

static int column_is_good(const bounds *b, uint32_t col)
{
    uint64_t index = CUZK_COL_INDEX(col);
    int flag = (col & CUZK_COL_FIELD) != 0;
    switch (CUZK_COL_CLASS(col)) {
    case CUZK_COL_GLOBAL:
        return index < (flag ? b->fields : b->aux);
    case CUZK_COL_LOCAL:
        return index < (flag ? b->local_fields : b->local_aux);
    case CUZK_COL_INPUT:
        return index < (flag ? b->local_inputs : b->inputs);
    default:
        return !flag && index < b->imports;
    }
}

static const char *check_matrix(const cuzk_matrix *m, uint64_t rows, const bounds *b)
{
    if (m->row[0])
        return "the rows of a matrix do not begin at 0";
    for (uint64_t i = 0; i < rows; i++)
        if (m->row[i] > m->row[i + 1])
            return "the rows of a matrix are out of order";
    for (uint32_t k = 0; k < m->row[rows]; k++) {
        if (!column_is_good(b, m->col[k]))
            return "a term mentions a wire that does not exist";
        if (m->coef[k] >= b->dictionary)
            return "a term has a coefficient that does not exist";
    }
    return NULL;
}

static const char *check_kinds(const r1cs_segment *s, const r1cs_part *p)
{
    size_t words = words_for(s->aux_stride);
    uint64_t fields = 0;
    for (size_t w = 0; w < words; w++) {
        if (p->rank[w] != fields)
            return "the ranks of field wires are wrong";
        fields += (uint64_t)__builtin_popcountll(p->kind[w]);
    }
    if (p->rank[words] != fields || fields != s->field_stride)
        return "the ranks of field wires are wrong";
    if (s->aux_stride % 64 && p->kind[words - 1] >> (s->aux_stride % 64))
        return "there are kinds of wires that do not exist";
    return NULL;
}

static const char *check_names(const r1cs *r)
{
    if (r->node_count && (!r->names_size || r->names[r->names_size - 1]))
        return "the names do not end";
    for (uint32_t i = 0; i < r->node_count; i++)
        if ((r->node[i].parent != PATH_NONE && r->node[i].parent >= i) || r->node[i].name >= r->names_size)
            return "the names are not a tree";
    return NULL;
}

static const char *check_path(const r1cs *r, const r1cs_segment *s, const r1cs_part *p)
{
    uint64_t row = 0;
    for (uint64_t i = 0; i < p->path_count; i++) {
        const path_change *c = &p->path[i];
        if (c->row < row || c->row >= s->rows || (c->node != PATH_NONE && c->node >= r->node_count))
            return "the names of rows are out of order";
        row = c->row;
    }
    if (p->path_count && p->path[0].row)
        return "the names of rows are out of order";
    return NULL;
}

/* The running totals before a segment. */
typedef struct totals {
    uint64_t rows, aux, fields, inputs;
} totals;

static int segment_follows(const r1cs_segment *s, totals *t)
{
    if (s->first_row != t->rows || s->aux_base != t->aux || s->field_base != t->fields ||
        s->input_base != t->inputs)
        return 0;
    if (s->aux_stride > (COL_LIMIT - t->aux) / s->count ||
        s->input_stride > (COL_LIMIT - t->inputs) / s->count)
        return 0;
    t->rows += s->rows * s->count; /* both below 2^32 */
    t->aux += s->aux_stride * s->count;
    t->fields += s->field_stride * s->count;
    t->inputs += s->input_stride * s->count;
    return t->rows < (uint64_t)1 << 40;
}

static const char *check_segment(const r1cs *r, size_t i, totals *t)
{
    const r1cs_segment *s = &r->segment[i];
    const r1cs_part *p = &r->part[i];
    totals before = *t;
    if (!segment_follows(s, t))
        return "its segments do not follow each other";
    if (p->repeated > 1 || (!p->repeated && (s->count != 1 || s->import_count)) ||
        (p->repeat_node != PATH_NONE && p->repeat_node >= r->node_count))
        return "a plain segment is repeated";
    bounds b = {before.aux, before.fields, before.inputs, .dictionary = r->dictionary_count};
    for (uint64_t k = 0; k < s->count * s->import_count; k++)
        if (!column_is_good(&b, s->imports[k]))
            return "an import is a wire that does not exist";
    if (p->repeated) {
        b.local_aux = s->aux_stride;
        b.local_fields = s->field_stride;
        b.local_inputs = s->input_stride;
        b.imports = s->import_count;
    } else {
        b.aux = t->aux;
        b.fields = t->fields;
        b.inputs = t->inputs;
    }
    const char *wrong = check_kinds(s, p);
    for (int m = 0; m < 3 && !wrong; m++)
        wrong = check_matrix(segment_matrix(s, m), s->rows, &b);
    return wrong ? wrong : check_path(r, s, p);
}

static const char *check_dictionary(const r1cs *r)
{
    if (!fr_eq(&r->dictionary[0], &FR_ONE) || !fr_eq(&r->dictionary[1], &FR_MINUS_ONE))
        return "its coefficients do not begin with 1 and -1";
    for (uint32_t i = 0; i < r->dictionary_count; i++) {
        scalar s;
        memcpy(&s, &r->dictionary[i], sizeof(s));
        if (!scalar_is_canonical(&s) || fr_is_zero(&r->dictionary[i]))
            return "a coefficient is out of range";
    }
    return NULL;
}

cuzk_status cache_check(const r1cs *r, cuzk_error *err)
{
    totals t = {0};
    const char *wrong = check_dictionary(r);
    if (!wrong)
        wrong = check_names(r);
    for (size_t i = 0; i < r->segments && !wrong; i++)
        wrong = check_segment(r, i, &t);
    const r1cs_counts *n = &r->counts;
    if (!wrong &&
        (t.rows != n->constraints || t.aux != n->aux || t.fields != n->fields || t.inputs != n->inputs ||
         n->bits != n->aux - n->fields || !n->inputs || n->constraints < n->inputs))
        wrong = "its counts do not match its segments";
    return wrong ? cuzk_error_set(err, CUZK_BAD_INPUT, "%s", wrong) : CUZK_OK;
}
