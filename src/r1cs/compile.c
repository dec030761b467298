/* The compiled circuit: making it from a synthesis, its plain accessors, and its end. */
#include "base/mem.h"
#include "r1cs/builder.h"
#include <stdio.h>

cuzk_status r1cs_new(r1cs **out, const char *name, cuzk_error *err)
{
    *out = NULL;
    if (!*name || strlen(name) >= R1CS_NAME_MAX)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "the name of a circuit has 1 to %d characters",
                              R1CS_NAME_MAX - 1);
    r1cs *r = mem_calloc(1, sizeof(r1cs));
    if (!r)
        return mem_error(err, sizeof(r1cs), "a circuit");
    if (pthread_mutex_init(&r->lock, NULL)) {
        mem_free(r);
        return mem_error(err, sizeof(r1cs), "the lock of a circuit");
    }
    strcpy(r->name, name);
    *out = r;
    return CUZK_OK;
}

static void free_arrays(r1cs *r)
{
    for (size_t i = 0; i < r->segments; i++) {
        r1cs_segment *s = &r->segment[i];
        for (int m = 0; m < 3; m++) {
            mem_free((void *)segment_matrix(s, m)->row);
            mem_free((void *)segment_matrix(s, m)->col);
            mem_free((void *)segment_matrix(s, m)->coef);
        }
        mem_free((void *)s->imports);
        mem_free(r->part[i].kind);
        mem_free(r->part[i].rank);
        mem_free(r->part[i].path);
    }
    mem_free(r->dictionary);
    mem_free(r->node);
    mem_free(r->names);
}

void r1cs_destroy(r1cs *r)
{
    if (!r)
        return;
    if (!r->mapped)
        free_arrays(r);
    mem_free(r->segment);
    mem_free(r->part);
    mem_free(atomic_load(&r->field_map));
    mem_free(atomic_load(&r->a_density));
    mem_free(atomic_load(&r->b_density));
    mem_free(atomic_load(&r->b_input_density));
    mem_free(atomic_load(&r->canonical));
    if (r->mapped)
        file_map_close(&r->map);
    pthread_mutex_destroy(&r->lock);
    mem_free(r);
}

/* One row (input_i) * 0 = 0 per public input keeps the inputs' polynomials independent. */
static void close_inputs(cs *c)
{
    lc a, none;
    lc_init(&a);
    lc_init(&none);
    for (var v = 0; v < c->inputs; v++) {
        lc_reset(&a);
        lc_add_one(&a, v);
        cs_enforce(c, &a, &none, &none);
    }
    lc_clear(&a);
}

cuzk_status r1cs_compile(r1cs **out, const char *name, circuit_fn *synth, void *ctx, cuzk_error *err)
{
    r1cs *r;
    *out = NULL;
    cuzk_status status = r1cs_new(&r, name, err);
    if (status != CUZK_OK)
        return status;
    cs c;
    cs_init(&c, r);
    synth(&c, ctx);
    c.names.depth = 0;
    cs_push(&c, "public input", -1);
    close_inputs(&c);
    cs_close_segment(&c, 1, NULL, 0);
    if (c.status != CUZK_OK) {
        status = cuzk_error_set(err, c.status, "%s", c.error.message);
        goto exit;
    }
    r->counts.inputs = c.inputs;
    r->counts.aux = c.aux;
    r->counts.fields = c.fields;
    r->counts.bits = c.aux - c.fields;
    r->counts.constraints = c.rows;
    r->dictionary = c.dict.value;
    status = r1cs_count(r, &c.dict, err);
    r->dictionary = c.dict.value;
    r->dictionary_count = c.dict.count;
    c.dict.value = NULL;
    r->node = c.names.node;
    r->node_count = (uint32_t)c.names.node_count;
    r->names = c.names.text;
    r->names_size = (uint32_t)c.names.text_size;
    c.names.node = NULL;
    c.names.text = NULL;
exit:
    cs_clear(&c);
    if (status == CUZK_OK)
        *out = r;
    else
        r1cs_destroy(r);
    return status;
}

void r1cs_get_counts(const r1cs *r, r1cs_counts *out)
{
    *out = r->counts;
}
const char *r1cs_name(const r1cs *r)
{
    return r->name;
}
size_t r1cs_segment_count(const r1cs *r)
{
    return r->segments;
}
const r1cs_segment *r1cs_segment_at(const r1cs *r, size_t i)
{
    return &r->segment[i];
}
const fr *r1cs_dictionary(const r1cs *r, size_t *count)
{
    *count = r->dictionary_count;
    return r->dictionary;
}

size_t r1cs_memory(const r1cs *r)
{
    size_t bytes =
        sizeof(r1cs) + r->dictionary_count * sizeof(fr) + r->node_count * sizeof(path_node) + r->names_size;
    for (size_t i = 0; i < r->segments; i++) {
        const r1cs_segment *s = &r->segment[i];
        bytes += sizeof(*s) + sizeof(r1cs_part) + s->count * s->import_count * 4;
        bytes += words_for(s->aux_stride) * 12 + 4 + r->part[i].path_count * sizeof(path_change);
        for (int m = 0; m < 3; m++) {
            const cuzk_matrix *x = segment_matrix(s, m);
            if (x->row)
                bytes += (s->rows + 1) * 4 + (size_t)x->row[s->rows] * 8;
        }
    }
    return bytes;
}

cuzk_status r1cs_view(const r1cs *r, cuzk_circuit_view *out, cuzk_error *err)
{
    cuzk_status status = r1cs_make_maps(r, err);
    if (status != CUZK_OK)
        return status;
    *out = (cuzk_circuit_view){
        .inputs = r->counts.inputs,
        .aux = r->counts.aux,
        .fields = r->counts.fields,
        .constraints = r->counts.constraints,
        .segment_count = r->segments,
        .segments = r->segment,
        .dictionary_count = r->dictionary_count,
        .dictionary = (const cuzk_fr *)r->dictionary,
        .field_map = atomic_load(&r->field_map),
        .a_density = atomic_load(&r->a_density),
        .b_density = atomic_load(&r->b_density),
        .b_input_density = atomic_load(&r->b_input_density),
    };
    return CUZK_OK;
}

const uint8_t *r1cs_canonical(const r1cs *r)
{
    uint8_t *table = atomic_load(&r->canonical);
    if (table)
        return table;
    table = mem_alloc((size_t)r->dictionary_count * 32);
    if (!table)
        return NULL;
    for (uint32_t i = 0; i < r->dictionary_count; i++)
        fr_to_bytes(table + 32 * (size_t)i, &r->dictionary[i]);
    uint8_t *expected = NULL;
    if (!atomic_compare_exchange_strong(&((r1cs *)r)->canonical, &expected, table)) {
        mem_free(table);
        return expected;
    }
    return table;
}

/* ---- names ---- */
static size_t put_path(const r1cs *r, uint32_t node, uint32_t numbered, uint64_t number, char *out,
                       size_t size)
{
    uint32_t chain[64];
    size_t depth = 0, used = 0;
    for (; node != PATH_NONE && depth < 64; node = r->node[node].parent)
        chain[depth++] = node;
    out[0] = 0;
    while (depth-- && used < size) {
        const path_node *n = &r->node[chain[depth]];
        int w = snprintf(out + used, size - used, "%s%s", used ? "/" : "", r->names + n->name);
        used += w > 0 ? (size_t)w : 0;
        if (n->index >= 0 && used < size)
            used += (size_t)snprintf(out + used, size - used, "_%lld", (long long)n->index);
        if (chain[depth] == numbered && used < size)
            used += (size_t)snprintf(out + used, size - used, "_%llu", (unsigned long long)number);
    }
    return used;
}

void r1cs_row_path(const r1cs *r, uint64_t row, char *out, size_t out_size)
{
    if (!out_size)
        return;
    out[0] = 0;
    if (row >= r->counts.constraints)
        return;
    row_place at = r1cs_find_row(r, row);
    const r1cs_part *p = &r->part[at.segment];
    uint64_t low = 0, high = p->path_count; /* the last change at or before the row */
    if (!high)
        return;
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        if (p->path[middle].row <= at.row)
            low = middle;
        else
            high = middle;
    }
    size_t used = 0;
    if (p->repeated && p->repeat_node == PATH_NONE) {
        used = (size_t)snprintf(out, out_size, "repetition_%llu/", (unsigned long long)at.repetition);
        if (used >= out_size)
            return;
    }
    put_path(r, p->path[low].node, p->repeated ? p->repeat_node : PATH_NONE, at.repetition, out + used,
             out_size - used);
}
