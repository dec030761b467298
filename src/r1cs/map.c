/* Wires and rows of a compiled circuit: kinds, ranks, columns as vars, densities, counts. */
#include "base/mem.h"
#include "r1cs/builder.h"

/* ---- segments ---- */
size_t r1cs_segment_of_aux(const r1cs *r, uint64_t index)
{
    size_t low = 0, high = r->segments; /* the last segment that begins at or before index */
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (r->segment[middle].aux_base <= index)
            low = middle;
        else
            high = middle;
    }
    return low;
}

row_place r1cs_find_row(const r1cs *r, uint64_t row)
{
    size_t low = 0, high = r->segments;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (r->segment[middle].first_row <= row)
            low = middle;
        else
            high = middle;
    }
    uint64_t in = row - r->segment[low].first_row;
    return (row_place){low, in / r->segment[low].rows, in % r->segment[low].rows};
}

/* ---- ranks ---- */
int r1cs_wire_rank(const r1cs *r, uint64_t index, uint64_t *rank)
{
    size_t i = r1cs_segment_of_aux(r, index);
    const r1cs_segment *s = &r->segment[i];
    uint64_t in = index - s->aux_base, repetition = 0;
    if (s->count > 1) {
        repetition = in / s->aux_stride;
        in %= s->aux_stride;
    }
    uint64_t word = r->part[i].kind[in / 64], bit = 1ull << (in & 63);
    if (!(word & bit))
        return 0;
    *rank = s->field_base + repetition * s->field_stride + r->part[i].rank[in / 64] +
            (uint64_t)__builtin_popcountll(word & (bit - 1));
    return 1;
}

uint64_t part_select(const r1cs_part *p, uint64_t words, uint64_t rank)
{
    uint64_t low = 0, high = words; /* the last word with at most rank field wires before it that holds one */
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        if (p->rank[middle] <= rank)
            low = middle;
        else
            high = middle;
    }
    uint64_t word = p->kind[low];
    for (uint64_t skip = rank - p->rank[low]; skip; skip--)
        word &= word - 1;
    return low * 64 + (uint64_t)__builtin_ctzll(word);
}

uint64_t r1cs_wire_select(const r1cs *r, uint64_t rank)
{
    size_t low = 0, high = r->segments;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (r->segment[middle].field_base <= rank)
            low = middle;
        else
            high = middle;
    }
    const r1cs_segment *s = &r->segment[low];
    uint64_t in = rank - s->field_base, repetition = 0;
    if (s->count > 1) {
        repetition = in / s->field_stride;
        in %= s->field_stride;
    }
    return s->aux_base + repetition * s->aux_stride +
           part_select(&r->part[low], words_for(s->aux_stride), in);
}

/* ---- columns ---- */
cuzk_status col_resolver_init(col_resolver *c, const r1cs *r, size_t segment, cuzk_error *err)
{
    const r1cs_segment *s = &r->segment[segment];
    const r1cs_part *p = &r->part[segment];
    *c = (col_resolver){.r = r, .s = s};
    c->field_aux_bytes = s->field_stride * sizeof(uint32_t);
    c->field_aux = mem_alloc(c->field_aux_bytes);
    if (!c->field_aux)
        return mem_error(err, c->field_aux_bytes, "the field wires of a circuit");
    uint32_t n = 0;
    for (size_t w = 0; w < words_for(s->aux_stride); w++)
        for (uint64_t bits = p->kind[w]; bits; bits &= bits - 1)
            c->field_aux[n++] = (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(bits);
    return CUZK_OK;
}

void col_resolver_clear(col_resolver *c)
{
    mem_free(c->field_aux);
    *c = (col_resolver){0};
}

static var global_var(const col_resolver *c, uint32_t col)
{
    uint64_t index = CUZK_COL_INDEX(col);
    if (CUZK_COL_CLASS(col) == CUZK_COL_INPUT)
        return (var)index;
    if (!(col & CUZK_COL_FIELD))
        return VAR_AUX | (var)index;
    uint64_t in = index - c->s->field_base;
    if (c->s->count == 1 && index >= c->s->field_base && in < c->s->field_stride)
        return VAR_AUX | (var)(c->s->aux_base + c->field_aux[in]);
    return VAR_AUX | (var)r1cs_wire_select(c->r, index);
}

var col_resolve(const col_resolver *c, uint64_t repetition, uint32_t col)
{
    const r1cs_segment *s = c->s;
    uint32_t index = CUZK_COL_INDEX(col);
    switch (CUZK_COL_CLASS(col)) {
    case CUZK_COL_LOCAL:
        return VAR_AUX | (var)(s->aux_base + repetition * s->aux_stride +
                               (col & CUZK_COL_FIELD ? c->field_aux[index] : index));
    case CUZK_COL_INPUT:
        if (col & CUZK_COL_FIELD)
            return (var)(s->input_base + repetition * s->input_stride + index);
        return index;
    case CUZK_COL_IMPORT:
        return global_var(c, s->imports[repetition * s->import_count + index]);
    default:
        return global_var(c, col);
    }
}

void row_terms(lc *l, const col_resolver *c, const cuzk_matrix *m, uint64_t repetition, uint64_t row)
{
    lc_reset(l);
    for (uint32_t k = m->row[row]; k < m->row[row + 1]; k++)
        lc_add(l, col_resolve(c, repetition, m->col[k]), &c->r->dictionary[m->coef[k]]);
    lc_compact(l);
}

/* ---- densities and counts ---- */
typedef struct survey {
    r1cs *r;
    dictionary *dict;                     /* NULL: densities only */
    uint64_t *density[2], *input_density; /* of A and B; of B */
    uint64_t *local;                      /* one repetition's wires */
    uint8_t *used;                        /* coefficients */
    size_t used_cap;
    uint64_t nnz[3];
    lc terms;
    int failed;
} survey;

static inline void set_bit(uint64_t *map, uint64_t i)
{
    map[i / 64] |= 1ull << (i & 63);
}

static void or_bits(uint64_t *to, uint64_t offset, const uint64_t *from, uint64_t n)
{
    unsigned shift = offset & 63;
    to += offset / 64;
    for (size_t w = 0; w < words_for(n); w++) {
        to[w] |= from[w] << shift;
        if (shift && from[w] >> (64 - shift))
            to[w + 1] |= from[w] >> (64 - shift);
    }
}

static void mark_coefficient(survey *v, uint32_t coef)
{
    if (coef >= v->used_cap) {
        size_t before = v->used_cap;
        if (!vec_grow(&v->used, &v->used_cap, (size_t)coef + 1, 1)) {
            v->failed = 1;
            return;
        }
        memset(v->used + before, 0, v->used_cap - before);
    }
    v->used[coef] = 1;
}

static void mark_var(survey *v, int matrix, var x)
{
    if (matrix == 2)
        return;
    if (x & VAR_AUX)
        set_bit(v->density[matrix], x & ~VAR_AUX);
    else if (matrix == 1)
        set_bit(v->input_density, x);
}

/* A row whose terms differ from one repetition to the next. */
static void survey_imports(survey *v, const col_resolver *c, int matrix, uint64_t row)
{
    const cuzk_matrix *m = segment_matrix(c->s, matrix);
    uint32_t stored = m->row[row + 1] - m->row[row];
    int marked = !v->dict;
    for (uint64_t i = 0; i < c->s->count; i++) {
        row_terms(&v->terms, c, m, i, row);
        v->failed |= v->terms.failed;
        v->nnz[matrix] += v->terms.n;
        for (uint32_t k = 0; k < v->terms.n; k++) {
            mark_var(v, matrix, v->terms.t[k].v);
            if (v->dict && v->terms.n != stored) {
                uint32_t coef = dictionary_intern(v->dict, &v->terms.t[k].c);
                v->failed |= coef == UINT32_MAX;
                if (coef != UINT32_MAX)
                    mark_coefficient(v, coef);
                v->r->dictionary = v->dict->value; /* it may have moved */
            }
        }
        if (!marked && v->terms.n == stored) { /* nothing merged: the coefficients are the stored ones */
            for (uint32_t k = m->row[row]; k < m->row[row + 1]; k++)
                mark_coefficient(v, m->coef[k]);
            marked = 1;
        }
    }
}

static void survey_matrix(survey *v, const col_resolver *c, int matrix)
{
    const cuzk_matrix *m = segment_matrix(c->s, matrix);
    const r1cs_segment *s = c->s;
    for (uint64_t row = 0; row < s->rows && !v->failed; row++) {
        if (s->import_count && row_has_imports(m, row)) {
            survey_imports(v, c, matrix, row);
            continue;
        }
        v->nnz[matrix] += s->count * (m->row[row + 1] - m->row[row]);
        for (uint32_t k = m->row[row]; k < m->row[row + 1]; k++) {
            uint32_t col = m->col[k], index = CUZK_COL_INDEX(col);
            if (v->dict && (m->coef[k] >= v->used_cap || !v->used[m->coef[k]]))
                mark_coefficient(v, m->coef[k]);
            if (matrix == 2)
                continue;
            if (CUZK_COL_CLASS(col) == CUZK_COL_LOCAL)
                set_bit(v->local, col & CUZK_COL_FIELD ? c->field_aux[index] : index);
            else if (CUZK_COL_CLASS(col) != CUZK_COL_INPUT || !(col & CUZK_COL_FIELD))
                mark_var(v, matrix, col_resolve(c, 0, col));
            else
                for (uint64_t i = 0; i < s->count; i++)
                    mark_var(v, matrix, col_resolve(c, i, col));
        }
    }
}

static cuzk_status survey_segment(survey *v, size_t segment, cuzk_error *err)
{
    const r1cs_segment *s = &v->r->segment[segment];
    size_t bytes = words_for(s->aux_stride) * 8 + 8;
    col_resolver c;
    cuzk_status status = col_resolver_init(&c, v->r, segment, err);
    if (status != CUZK_OK)
        return status;
    v->local = mem_calloc(1, bytes);
    if (!v->local) {
        status = mem_error(err, bytes, "the densities of a circuit");
        goto exit;
    }
    for (int matrix = 0; matrix < (v->dict ? 3 : 2); matrix++) {
        memset(v->local, 0, bytes);
        survey_matrix(v, &c, matrix);
        for (uint64_t i = 0; i < s->count && matrix < 2; i++)
            or_bits(v->density[matrix], s->aux_base + i * s->aux_stride, v->local, s->aux_stride);
    }
    if (v->failed)
        status = mem_error(err, bytes, "the densities of a circuit");
exit:
    mem_free(v->local);
    v->local = NULL;
    col_resolver_clear(&c);
    return status;
}

static uint64_t popcount_map(const uint64_t *map, uint64_t bits)
{
    uint64_t n = 0;
    for (size_t w = 0; w < words_for(bits); w++)
        n += (uint64_t)__builtin_popcountll(map[w]);
    return n;
}

static uint64_t *make_field_map(const r1cs *r)
{
    uint64_t *map = mem_calloc(words_for(r->counts.aux) + 1, 8);
    for (size_t k = 0; map && k < r->segments; k++) {
        const r1cs_segment *s = &r->segment[k];
        for (uint64_t i = 0; i < s->count; i++)
            or_bits(map, s->aux_base + i * s->aux_stride, r->part[k].kind, s->aux_stride);
    }
    return map;
}

/* Publishes a map, or frees it where another thread was faster. */
static void publish(_Atomic(uint64_t *) *slot, uint64_t *map)
{
    uint64_t *expected = NULL;
    if (!atomic_compare_exchange_strong(slot, &expected, map))
        mem_free(map);
}

static cuzk_status make_densities(r1cs *r, dictionary *dict, r1cs_counts *counts, cuzk_error *err)
{
    survey v = {.r = r, .dict = dict};
    cuzk_status status = CUZK_OK;
    size_t bytes = (words_for(r->counts.aux) + 1) * 8;
    v.density[0] = mem_calloc(1, bytes);
    v.density[1] = mem_calloc(1, bytes);
    v.input_density = mem_calloc(words_for(r->counts.inputs) + 1, 8);
    if (!v.density[0] || !v.density[1] || !v.input_density)
        status = mem_error(err, 2 * bytes, "the densities of a circuit");
    for (size_t k = 0; k < r->segments && status == CUZK_OK; k++)
        status = survey_segment(&v, k, err);
    if (status == CUZK_OK) {
        *counts = r->counts;
        counts->nnz_a = v.nnz[0];
        counts->nnz_b = v.nnz[1];
        counts->nnz_c = v.nnz[2];
        counts->a_aux_density = popcount_map(v.density[0], r->counts.aux);
        counts->b_aux_density = popcount_map(v.density[1], r->counts.aux);
        counts->b_input_density = popcount_map(v.input_density, r->counts.inputs);
        counts->distinct_coefficients = 0;
        for (size_t i = 0; i < v.used_cap; i++)
            counts->distinct_coefficients += v.used[i];
        publish(&r->a_density, v.density[0]);
        publish(&r->b_density, v.density[1]);
        publish(&r->b_input_density, v.input_density);
    } else {
        mem_free(v.density[0]);
        mem_free(v.density[1]);
        mem_free(v.input_density);
    }
    mem_free(v.used);
    lc_clear(&v.terms);
    return status;
}

cuzk_status r1cs_count(r1cs *r, dictionary *dict, cuzk_error *err)
{
    r1cs_counts counts;
    cuzk_status status = make_densities(r, dict, &counts, err);
    if (status == CUZK_OK)
        r->counts = counts;
    return status;
}

cuzk_status r1cs_make_maps(const r1cs *r, cuzk_error *err)
{
    r1cs *w = (r1cs *)r; /* the maps are a cache inside an object that is otherwise immutable */
    cuzk_status status = CUZK_OK;
    pthread_mutex_lock(&w->lock);
    if (!atomic_load(&w->field_map)) {
        uint64_t *map = make_field_map(r);
        if (map)
            publish(&w->field_map, map);
        else
            status = mem_error(err, r->counts.aux / 8, "the kinds of a circuit's wires");
    }
    if (status == CUZK_OK && !atomic_load(&w->b_input_density)) {
        r1cs_counts seen;
        status = make_densities(w, NULL, &seen, err);
        if (status == CUZK_OK &&
            (seen.a_aux_density != r->counts.a_aux_density || seen.b_aux_density != r->counts.b_aux_density ||
             seen.b_input_density != r->counts.b_input_density))
            status = cuzk_error_set(err, CUZK_BAD_INPUT,
                                    "the densities of circuit %s differ from its cache file's", r->name);
    }
    pthread_mutex_unlock(&w->lock);
    return status;
}

const uint64_t *r1cs_field_map(const r1cs *r)
{
    return r1cs_make_maps(r, NULL) == CUZK_OK ? atomic_load(&r->field_map) : NULL;
}
const uint64_t *r1cs_a_density(const r1cs *r)
{
    return r1cs_make_maps(r, NULL) == CUZK_OK ? atomic_load(&r->a_density) : NULL;
}
const uint64_t *r1cs_b_density(const r1cs *r)
{
    return r1cs_make_maps(r, NULL) == CUZK_OK ? atomic_load(&r->b_density) : NULL;
}
const uint64_t *r1cs_b_input_density(const r1cs *r)
{
    return r1cs_make_maps(r, NULL) == CUZK_OK ? atomic_load(&r->b_input_density) : NULL;
}
