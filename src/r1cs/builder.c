/* The streaming builder: wires, rows, repetition. Rows go straight into the compressed form of the segment
 * under construction; nothing is kept that the compiled circuit does not hold. */
#include "r1cs/builder.h"
#include "base/mem.h"
#include <stdarg.h>
#include <stdio.h>

/* A segment's non-zeros are numbered by 32 bits; a plain segment is split long before. */
#define SPLIT_NNZ (1u << 30)

int vec_grow(void *array, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap)
        return 1;
    size_t n = *cap < 64 ? 64 : *cap;
    while (n < need)
        n += n / 2;
    void *p;
    memcpy(&p, array, sizeof(p));
    p = n > SIZE_MAX / size ? NULL : mem_realloc(p, n * size);
    if (!p)
        return 0;
    memcpy(array, &p, sizeof(p));
    *cap = n;
    return 1;
}

void cs_fail(cs *c, cuzk_status status, const char *format, ...)
{
    if (c->status != CUZK_OK)
        return;
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    c->status = cuzk_error_set(&c->error, status, "%s", text);
}

void cs_fail_memory(cs *c)
{
    cs_fail(c, CUZK_OUT_OF_MEMORY, "cannot get memory for the rows of circuit %s", c->r->name);
}

/* ---- segments ---- */
static void open_segment_clear(open_segment *s)
{
    for (int m = 0; m < 3; m++) {
        mem_free(s->row[m].p);
        mem_free(s->col[m].p);
        mem_free(s->coef[m].p);
    }
    mem_free(s->kind);
    mem_free(s->rank.p);
    mem_free(s->path);
    *s = (open_segment){0};
}

static void open_segment_start(cs *c)
{
    open_segment *s = &c->seg;
    *s = (open_segment){0};
    s->first_row = c->rows;
    s->aux_base = c->aux;
    s->field_base = c->fields;
    s->input_base = c->inputs;
    c->names.moved = 1;
    for (int m = 0; m < 3; m++)
        if (!vec32_push(&s->row[m], 0))
            cs_fail_memory(c);
}

void cs_init(cs *c, r1cs *r)
{
    *c = (cs){0};
    c->r = r;
    c->inputs = 1;
    if (!dictionary_init(&c->dict))
        cs_fail_memory(c);
    open_segment_start(c);
    c->seg.input_base = 0;
}

void cs_clear(cs *c)
{
    open_segment_clear(&c->seg);
    dictionary_clear(&c->dict);
    names_clear(&c->names);
}

/* Gives a growing array to the compiled circuit, cut to its length. */
static void *take(void *p, size_t bytes)
{
    void *cut = mem_realloc(p, bytes);
    return cut ? cut : p;
}

static const uint32_t *take32(vec32 *v)
{
    uint32_t *p = take(v->p, v->n * sizeof(uint32_t));
    *v = (vec32){0};
    return p;
}

static int encode_var(cs *c, var v, uint32_t *col);

/* The import table as columns; every entry must exist before the repeat. */
static uint32_t *encode_imports(cs *c, uint64_t count, const var *imports, uint32_t import_count)
{
    if (count > SIZE_MAX / sizeof(uint32_t) / import_count)
        return NULL;
    uint32_t *table = mem_alloc(count * import_count * sizeof(uint32_t));
    if (!table)
        return NULL;
    for (uint64_t i = 0; i < count * import_count; i++)
        if (!encode_var(c, imports[i], &table[i])) {
            cs_fail(c, CUZK_INVALID_ARGUMENT,
                    "import %u of repetition %llu is a wire that does not exist (%08x)",
                    (unsigned)(i % import_count), (unsigned long long)(i / import_count), imports[i]);
            table[i] = COL_INPUT;
        }
    return table;
}

static int push_segment(cs *c, r1cs_segment **s, r1cs_part **p)
{
    r1cs *r = c->r;
    size_t cap = c->segment_cap, cap2 = cap;
    if (!vec_grow(&r->segment, &cap, r->segments + 1, sizeof(r1cs_segment)) ||
        !vec_grow(&r->part, &cap2, r->segments + 1, sizeof(r1cs_part)))
        return 0;
    c->segment_cap = cap;
    *s = &r->segment[r->segments];
    *p = &r->part[r->segments];
    r->segments++;
    **s = (r1cs_segment){0};
    **p = (r1cs_part){.repeat_node = PATH_NONE};
    return 1;
}

void cs_close_segment(cs *c, uint64_t count, const var *imports, uint32_t import_count)
{
    open_segment *o = &c->seg;
    uint64_t stride = c->aux - o->aux_base, fields = c->fields - o->field_base,
             inputs = c->inputs - o->input_base;
    if (c->status == CUZK_OK && (o->rows || stride || inputs)) {
        r1cs_segment *s;
        r1cs_part *p;
        if (stride > (COL_LIMIT - o->aux_base) / count || inputs > (COL_LIMIT - o->input_base) / count) {
            cs_fail(c, CUZK_UNSUPPORTED, "circuit %s has more than %u wires", c->r->name, COL_LIMIT);
            return;
        }
        if (!vec32_push(&o->rank, (uint32_t)fields) || !push_segment(c, &s, &p)) {
            cs_fail_memory(c);
            return;
        }
        *s = (r1cs_segment){o->first_row,  o->rows, count,         o->aux_base, stride,
                            o->field_base, fields,  o->input_base, inputs,      import_count};
        cuzk_matrix *m[3] = {&s->a, &s->b, &s->c};
        for (int i = 0; i < 3; i++) {
            m[i]->row = take32(&o->row[i]);
            m[i]->col = take32(&o->col[i]);
            m[i]->coef = take32(&o->coef[i]);
        }
        p->kind = take(o->kind, words_for(stride) * 8);
        p->rank = (uint32_t *)take32(&o->rank);
        p->path = take(o->path, o->path_count * sizeof(path_change));
        p->path_count = o->path_count;
        o->kind = NULL;
        o->path = NULL;
        if (import_count) {
            c->aux = o->aux_base; /* the table may name only wires from before */
            c->inputs = o->input_base;
            c->repeating = 0;
            s->imports = encode_imports(c, count, imports, import_count);
            if (!s->imports)
                cs_fail_memory(c);
        }
        c->rows += o->rows * count;
        c->aux = o->aux_base + stride * count;
        c->fields = o->field_base + fields * count;
        c->inputs = o->input_base + inputs * count;
    }
    open_segment_clear(o);
    open_segment_start(c);
}

void cs_repeat(cs *c, uint64_t count, void (*body)(cs *c, void *ctx), void *ctx, const var *imports,
               uint32_t import_count)
{
    if (c->repeating)
        cs_fail(c, CUZK_INVALID_ARGUMENT, "a repeat inside a repeat");
    if (import_count >= COL_LIMIT)
        cs_fail(c, CUZK_INVALID_ARGUMENT, "a repeat with %u imports", import_count);
    if (c->status != CUZK_OK || !count)
        return;
    cs_close_segment(c, 1, NULL, 0);
    uint32_t node = PATH_NONE;
    if (c->status == CUZK_OK && !names_node(&c->names, &node))
        cs_fail_memory(c);
    size_t before = c->r->segments;
    c->repeating = 1;
    c->import_count = import_count;
    body(c, ctx);
    cs_close_segment(c, count, imports, import_count);
    c->repeating = 0;
    if (c->r->segments > before) {
        c->r->part[before].repeat_node = node;
        c->r->part[before].repeated = 1;
    }
}

var cs_import(cs *c, uint32_t k)
{
    if (!c->repeating || k >= c->import_count)
        cs_fail(c, CUZK_INVALID_ARGUMENT, "import %u is not given to this repeat", k);
    return VAR_IMPORT | (k & (COL_LIMIT - 1));
}

/* ---- wires ---- */
static var alloc_aux(cs *c, unsigned kind)
{
    open_segment *s = &c->seg;
    uint64_t local = c->aux - s->aux_base;
    if (c->status != CUZK_OK)
        return VAR_AUX;
    if (c->aux >= COL_LIMIT) {
        cs_fail(c, CUZK_UNSUPPORTED, "circuit %s has more than %u wires", c->r->name, COL_LIMIT);
        return VAR_AUX;
    }
    if (!(local & 63)) {
        if (!vec_grow(&s->kind, &s->kind_cap, local / 64 + 1, sizeof(uint64_t)) ||
            !vec32_push(&s->rank, (uint32_t)(c->fields - s->field_base))) {
            cs_fail_memory(c);
            return VAR_AUX;
        }
        s->kind[local / 64] = 0;
    }
    s->kind[local / 64] |= (uint64_t)kind << (local & 63);
    c->fields += kind;
    return VAR_AUX | (var)c->aux++;
}

var cs_alloc_bit(cs *c)
{
    return alloc_aux(c, 0);
}
var cs_alloc_field(cs *c)
{
    return alloc_aux(c, 1);
}

var cs_alloc_input(cs *c)
{
    if (c->inputs >= COL_LIMIT) {
        cs_fail(c, CUZK_UNSUPPORTED, "circuit %s has more than %u inputs", c->r->name, COL_LIMIT);
        return VAR_ONE;
    }
    return (var)c->inputs++;
}

uint32_t cs_input_count(const cs *c)
{
    return (uint32_t)c->inputs;
}
uint64_t cs_aux_count(const cs *c)
{
    return c->aux;
}

/* ---- rows ---- */
static int local_kind(const open_segment *s, uint64_t local, uint32_t *rank)
{
    uint64_t word = s->kind[local / 64], bit = 1ull << (local & 63);
    if (!(word & bit))
        return 0;
    *rank = s->rank.p[local / 64] + (uint32_t)__builtin_popcountll(word & (bit - 1));
    return 1;
}

/* The column that stands for v; 0 if there is no such wire here. */
static int encode_var(cs *c, var v, uint32_t *col)
{
    const open_segment *s = &c->seg;
    if (v & VAR_AUX) {
        uint64_t index = v & ~VAR_AUX;
        if (index >= c->aux)
            return 0;
        if (index < s->aux_base) {
            uint64_t rank;
            *col = r1cs_wire_rank(c->r, index, &rank) ? COL_GLOBAL | CUZK_COL_FIELD | (uint32_t)rank
                                                      : COL_GLOBAL | (uint32_t)index;
            return 1;
        }
        uint64_t local = index - s->aux_base;
        uint32_t rank, base = c->repeating ? COL_LOCAL : COL_GLOBAL;
        if (local_kind(s, local, &rank))
            *col = base | CUZK_COL_FIELD | (c->repeating ? rank : (uint32_t)s->field_base + rank);
        else
            *col = base | (uint32_t)(c->repeating ? local : index);
        return 1;
    }
    if (v & VAR_IMPORT) {
        uint32_t k = v & ~VAR_IMPORT;
        *col = COL_IMPORT | k;
        return c->repeating && k < c->import_count;
    }
    if (v >= c->inputs)
        return 0;
    if (c->repeating && v >= s->input_base)
        *col = COL_INPUT | CUZK_COL_FIELD | (v - (uint32_t)s->input_base);
    else
        *col = COL_INPUT | v;
    return 1;
}

static int encode_row(cs *c, int matrix, lc *l)
{
    open_segment *s = &c->seg;
    lc_compact(l);
    if (l->failed) {
        cs_fail_memory(c);
        return 0;
    }
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t col, coef = dictionary_intern(&c->dict, &l->t[i].c);
        if (!encode_var(c, l->t[i].v, &col)) {
            cs_fail(c, CUZK_INVALID_ARGUMENT,
                    "row %llu of circuit %s mentions a wire that does not exist (%08x)",
                    (unsigned long long)(s->first_row + s->rows), c->r->name, l->t[i].v);
            return 0;
        }
        if (coef == UINT32_MAX || !vec32_push(&s->col[matrix], col) || !vec32_push(&s->coef[matrix], coef)) {
            cs_fail_memory(c);
            return 0;
        }
    }
    if (s->col[matrix].n > UINT32_MAX) {
        cs_fail(c, CUZK_UNSUPPORTED, "a repeated part of circuit %s is too large", c->r->name);
        return 0;
    }
    if (!vec32_push(&s->row[matrix], (uint32_t)s->col[matrix].n)) {
        cs_fail_memory(c);
        return 0;
    }
    return 1;
}

/* Records where the path of the rows changes. */
static void note_path(cs *c)
{
    open_segment *s = &c->seg;
    uint32_t node;
    c->names.moved = 0;
    if (!names_node(&c->names, &node) ||
        !vec_grow(&s->path, &s->path_cap, s->path_count + 1, sizeof(path_change))) {
        cs_fail_memory(c);
        return;
    }
    if (!s->path_count || s->path[s->path_count - 1].node != node)
        s->path[s->path_count++] = (path_change){(uint32_t)s->rows, node};
}

void cs_enforce(cs *c, lc *a, lc *b, lc *d)
{
    if (c->status != CUZK_OK)
        return;
    open_segment *s = &c->seg;
    if (!c->repeating && (s->col[0].n > SPLIT_NNZ || s->col[1].n > SPLIT_NNZ || s->col[2].n > SPLIT_NNZ))
        cs_close_segment(c, 1, NULL, 0);
    if (c->names.moved)
        note_path(c);
    if (s->rows >= UINT32_MAX - 1) {
        cs_fail(c, CUZK_UNSUPPORTED, "a repeated part of circuit %s is too large", c->r->name);
        return;
    }
    if (encode_row(c, 0, a) && encode_row(c, 1, b) && encode_row(c, 2, d))
        s->rows++;
}

void cs_push(cs *c, const char *name, int64_t index)
{
    if (!names_push(&c->names, name, index))
        cs_fail_memory(c);
}

void cs_pop(cs *c)
{
    names_pop(&c->names);
}
