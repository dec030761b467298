#include "r1cs/cache.h"
#include "base/hash.h"
#include "base/mem.h"

/* ---- writing ---- */
typedef struct cache_writer {
    file_writer file;
    sha256 hash;
    uint64_t at;
} cache_writer;

static void put(cache_writer *w, const void *data, uint64_t bytes)
{
    static const uint8_t zero[CACHE_ALIGN];
    if (!bytes)
        return;
    file_write(&w->file, data, bytes);
    sha256_update(&w->hash, data, bytes);
    w->at += bytes;
    uint64_t pad = -w->at % CACHE_ALIGN;
    file_write(&w->file, zero, pad);
    sha256_update(&w->hash, zero, pad);
    w->at += pad;
}

/* Takes the next place in the file for bytes. */
static uint64_t reserve(uint64_t *at, uint64_t bytes)
{
    uint64_t start = *at;
    *at = (start + bytes + CACHE_ALIGN - 1) / CACHE_ALIGN * CACHE_ALIGN;
    return start;
}

static void plan_segment(cache_segment *c, const r1cs_segment *s, const r1cs_part *p, uint64_t *at)
{
    *c = (cache_segment){s->first_row,    s->rows,         s->count,        s->aux_base,
                         s->aux_stride,   s->field_base,   s->field_stride, s->input_base,
                         s->input_stride, s->import_count, p->path_count};
    c->repeat_node = p->repeat_node;
    c->repeated = p->repeated;
    for (int m = 0; m < 3; m++) {
        uint64_t nnz = segment_matrix(s, m)->row[s->rows];
        c->row_at[m] = reserve(at, (s->rows + 1) * 4);
        c->col_at[m] = reserve(at, nnz * 4);
        c->coef_at[m] = reserve(at, nnz * 4);
    }
    c->imports_at = reserve(at, s->count * s->import_count * 4);
    c->kind_at = reserve(at, words_for(s->aux_stride) * 8);
    c->rank_at = reserve(at, (words_for(s->aux_stride) + 1) * 4);
    c->path_at = reserve(at, p->path_count * sizeof(path_change));
}

static void put_segment(cache_writer *w, const r1cs_segment *s, const r1cs_part *p)
{
    for (int i = 0; i < 3; i++) {
        const cuzk_matrix *m = segment_matrix(s, i);
        put(w, m->row, (s->rows + 1) * 4);
        put(w, m->col, (uint64_t)m->row[s->rows] * 4);
        put(w, m->coef, (uint64_t)m->row[s->rows] * 4);
    }
    put(w, s->imports, s->count * s->import_count * 4);
    put(w, p->kind, words_for(s->aux_stride) * 8);
    put(w, p->rank, (words_for(s->aux_stride) + 1) * 4);
    put(w, p->path, p->path_count * sizeof(path_change));
}

cuzk_status r1cs_save(const r1cs *r, const char *path, cuzk_error *err)
{
    cache_writer w = {0};
    cache_header h = {.version = CACHE_VERSION, .order = CACHE_ORDER, .counts = r->counts};
    size_t table_bytes = r->segments * sizeof(cache_segment);
    cache_segment *table = mem_calloc(r->segments + 1, sizeof(cache_segment));
    if (!table)
        return mem_error(err, table_bytes, "the cache file of a circuit");
    memcpy(h.magic, CACHE_MAGIC, sizeof(h.magic));
    memcpy(h.name, r->name, sizeof(h.name));
    h.segments = r->segments;
    h.dictionary_count = r->dictionary_count;
    h.node_count = r->node_count;
    h.names_size = r->names_size;
    uint64_t at = 0;
    reserve(&at, sizeof(h));
    h.segment_at = reserve(&at, table_bytes);
    h.dictionary_at = reserve(&at, r->dictionary_count * sizeof(fr));
    h.node_at = reserve(&at, r->node_count * sizeof(path_node));
    h.names_at = reserve(&at, r->names_size);
    for (size_t i = 0; i < r->segments; i++)
        plan_segment(&table[i], &r->segment[i], &r->part[i], &at);
    h.file_size = at;

    cuzk_status status = file_writer_open(&w.file, path, err);
    if (status != CUZK_OK) {
        mem_free(table);
        return status;
    }
    sha256_init(&w.hash);
    put(&w, &h, sizeof(h));
    put(&w, table, table_bytes);
    put(&w, r->dictionary, r->dictionary_count * sizeof(fr));
    put(&w, r->node, r->node_count * sizeof(path_node));
    put(&w, r->names, r->names_size);
    for (size_t i = 0; i < r->segments; i++)
        put_segment(&w, &r->segment[i], &r->part[i]);
    sha256_final(&w.hash, h.sha256);
    file_write_at(&w.file, offsetof(cache_header, sha256), h.sha256, sizeof(h.sha256));
    mem_free(table);
    return file_writer_commit(&w.file, err);
}

/* ---- opening ---- */
static cuzk_status bad(cuzk_error *err, const char *path, const char *what)
{
    return cuzk_error_set(err, CUZK_BAD_INPUT,
                          "%s is not a usable circuit cache: %s; delete it and it is made anew", path, what);
}

/* Pointer to count elements of size bytes at an offset of the file; NULL if they do not lie inside. */
static const void *place(const file_map *m, uint64_t at, uint64_t count, uint64_t size)
{
    if (at % CACHE_ALIGN || at > m->size || count > (m->size - at) / size)
        return NULL;
    return m->data + at;
}

static const char *read_header(const file_map *m, cache_header *h, const char *name)
{
    if (m->size < sizeof(*h))
        return "it is shorter than its header";
    memcpy(h, m->data, sizeof(*h));
    if (memcmp(h->magic, CACHE_MAGIC, sizeof(h->magic)))
        return "the first bytes are wrong";
    if (h->version != CACHE_VERSION)
        return "it has another version";
    if (h->order != CACHE_ORDER)
        return "it was written on a machine of another byte order";
    if (h->file_size != m->size)
        return "its length is not the one it states";
    if (!*h->name || !memchr(h->name, 0, sizeof(h->name)) || (name && strcmp(h->name, name)))
        return "it holds another circuit";
    if (h->dictionary_count < 2 || h->dictionary_count > UINT32_MAX || h->node_count > UINT32_MAX ||
        h->names_size > UINT32_MAX)
        return "a count is out of range";
    return NULL;
}

static const char NO_MEMORY[] = "there is no memory for its segments";

static const char *map_segment(r1cs *r, size_t i, const cache_segment *c)
{
    const file_map *f = &r->map;
    r1cs_segment *s = &r->segment[i];
    r1cs_part *p = &r->part[i];
    if (!c->count || c->rows >= UINT32_MAX || c->aux_stride > COL_LIMIT || c->field_stride > c->aux_stride ||
        c->input_stride > COL_LIMIT || c->import_count >= COL_LIMIT || c->count > COL_LIMIT)
        return "a segment's size is out of range";
    *s = (r1cs_segment){c->first_row,  c->rows,         c->count,      c->aux_base,     c->aux_stride,
                        c->field_base, c->field_stride, c->input_base, c->input_stride, c->import_count};
    cuzk_matrix *m[3] = {&s->a, &s->b, &s->c};
    for (int k = 0; k < 3; k++) {
        m[k]->row = place(f, c->row_at[k], c->rows + 1, 4);
        if (!m[k]->row)
            return "rows lie outside the file";
        m[k]->col = place(f, c->col_at[k], m[k]->row[c->rows], 4);
        m[k]->coef = place(f, c->coef_at[k], m[k]->row[c->rows], 4);
        if (!m[k]->col || !m[k]->coef)
            return "terms lie outside the file";
    }
    s->imports = place(f, c->imports_at, c->count * c->import_count, 4);
    p->kind = (uint64_t *)place(f, c->kind_at, words_for(c->aux_stride), 8);
    p->rank = (uint32_t *)place(f, c->rank_at, words_for(c->aux_stride) + 1, 4);
    p->path = (path_change *)place(f, c->path_at, c->path_count, sizeof(path_change));
    p->path_count = c->path_count;
    p->repeat_node = c->repeat_node;
    p->repeated = c->repeated;
    if (!s->imports || !p->kind || !p->rank || !p->path)
        return "a table lies outside the file";
    return NULL;
}

static const char *map_arrays(r1cs *r, const cache_header *h)
{
    const file_map *f = &r->map;
    const cache_segment *table = place(f, h->segment_at, h->segments, sizeof(cache_segment));
    r->counts = h->counts;
    r->dictionary = (fr *)place(f, h->dictionary_at, h->dictionary_count, sizeof(fr));
    r->dictionary_count = (uint32_t)h->dictionary_count;
    r->node = (path_node *)place(f, h->node_at, h->node_count, sizeof(path_node));
    r->node_count = (uint32_t)h->node_count;
    r->names = (char *)place(f, h->names_at, h->names_size, 1);
    r->names_size = (uint32_t)h->names_size;
    if (!table || !r->dictionary || !r->node || !r->names)
        return "a table lies outside the file";
    r->segment = mem_calloc(h->segments + 1, sizeof(r1cs_segment));
    r->part = mem_calloc(h->segments + 1, sizeof(r1cs_part));
    if (!r->segment || !r->part)
        return NO_MEMORY;
    for (size_t i = 0; i < h->segments; i++) {
        const char *wrong = map_segment(r, i, &table[i]);
        if (wrong)
            return wrong;
    }
    r->segments = h->segments;
    return NULL;
}

static int digest_matches(const file_map *m, const cache_header *h)
{
    static const uint8_t zero[32];
    const size_t at = offsetof(cache_header, sha256), after = at + sizeof(h->sha256);
    sha256 hash;
    uint8_t digest[32];
    sha256_init(&hash);
    sha256_update(&hash, m->data, at);
    sha256_update(&hash, zero, sizeof(zero));
    sha256_update(&hash, m->data + after, m->size - after);
    sha256_final(&hash, digest);
    return !memcmp(digest, h->sha256, sizeof(digest));
}

cuzk_status r1cs_open(r1cs **out, const char *path, const char *name, int verify, cuzk_error *err)
{
    r1cs *r = NULL;
    file_map map;
    cache_header h;
    *out = NULL;
    cuzk_status status = file_map_open(&map, path, err);
    if (status != CUZK_OK)
        return status;
    const char *wrong = read_header(&map, &h, name);
    if (!wrong && verify && !digest_matches(&map, &h))
        wrong = "its digest does not match its content";
    if (wrong) {
        file_map_close(&map);
        return bad(err, path, wrong);
    }
    status = r1cs_new(&r, h.name, err);
    if (status != CUZK_OK) {
        file_map_close(&map);
        return status;
    }
    r->map = map;
    r->mapped = 1;
    wrong = map_arrays(r, &h);
    status = wrong == NO_MEMORY
                 ? mem_error(err, h.segments * (sizeof(r1cs_segment) + sizeof(r1cs_part)), "a circuit")
             : wrong ? bad(err, path, wrong)
                     : cache_check(r, err);
    if (status != CUZK_OK) {
        if (!wrong)
            cuzk_error_prefix(err, "%s is not a usable circuit cache", path);
        r1cs_destroy(r);
        return status;
    }
    *out = r;
    return CUZK_OK;
}
