/* Chunks, worker memory, and the translation of rows into plans. */
#include "base/cpu.h"
#include "base/mem.h"
#include "r1cs/spmv.h"

static const cuzk_matrix *matrix_of(const cuzk_segment *s, unsigned which)
{
    return which == 0 ? &s->a : which == 1 ? &s->b : &s->c;
}

static uint64_t nnz_between(const spmv *s, const cuzk_segment *seg, uint64_t first, uint64_t end)
{
    uint64_t n = 0;
    for (unsigned m = 0; m < s->matrices; m++)
        n += matrix_of(seg, m)->row[end] - matrix_of(seg, m)->row[first];
    return n;
}

/* ---- chunks ---- */
/* Calls once per chunk; with out NULL only counts. *largest: most non-zeros of a chunk. */
static size_t cut(const spmv *s, spmv_chunk *out, uint64_t *largest)
{
    enum { WORK = 1 << 20 }; /* non-zeros of a task, about */
    size_t n = 0;
    for (size_t k = 0; k < s->circuit->segment_count; k++) {
        const cuzk_segment *seg = &s->circuit->segments[k];
        for (uint64_t first = 0, end; first < seg->rows; first = end) {
            end = first + 1;
            while (end < seg->rows && end - first < CHUNK_ROWS &&
                   nnz_between(s, seg, first, end + 1) <= CHUNK_NNZ)
                end++;
            uint64_t nnz = nnz_between(s, seg, first, end), step = WORK / (nnz + end - first);
            if (nnz > *largest)
                *largest = nnz;
            step = step < SPMV_LANES ? SPMV_LANES : step / SPMV_LANES * SPMV_LANES;
            for (uint64_t i = 0; i < seg->count; i += step, n++)
                if (out)
                    out[n] = (spmv_chunk){(uint32_t)k,
                                          (uint32_t)first,
                                          (uint32_t)end,
                                          0,
                                          i,
                                          seg->count - i < step ? seg->count : i + step};
        }
    }
    return n;
}

/* ---- coefficients ---- */
static uint64_t hash_fr(const fr *c)
{
    uint64_t h =
        c->l[0] * 0x9e3779b97f4a7c15u ^ c->l[1] * 0xc2b2ae3d27d4eb4fu ^ c->l[3] * 0x165667b19e3779f9u;
    return h ^ h >> 32;
}

/* Fills twice by looking every double up. */
static int find_doubles(spmv *s)
{
    const fr *dictionary = (const fr *)s->circuit->dictionary;
    size_t n = s->circuit->dictionary_count, slots = 64;
    while (slots < 2 * n)
        slots *= 2;
    uint32_t *slot = mem_calloc(slots, sizeof(uint32_t));
    if (!slot)
        return 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = hash_fr(&dictionary[i]) & (slots - 1);
        while (slot[at])
            at = (at + 1) & (slots - 1);
        slot[at] = (uint32_t)i + 1;
    }
    for (size_t i = 0; i < n; i++) {
        fr twice;
        fr_add(&twice, &dictionary[i], &dictionary[i]);
        size_t at = hash_fr(&twice) & (slots - 1);
        while (slot[at] && !fr_eq(&dictionary[slot[at] - 1], &twice))
            at = (at + 1) & (slots - 1);
        s->twice[i] = slot[at] ? slot[at] - 1 : NO_CONSTANT;
    }
    mem_free(slot);
    return 1;
}

static void to_limbs52(uint64_t to[5], const fr *c)
{
    to[0] = c->l[0] & 0xfffffffffffffu;
    to[1] = (c->l[0] >> 52 | c->l[1] << 12) & 0xfffffffffffffu;
    to[2] = (c->l[1] >> 40 | c->l[2] << 24) & 0xfffffffffffffu;
    to[3] = (c->l[2] >> 28 | c->l[3] << 36) & 0xfffffffffffffu;
    to[4] = c->l[3] >> 16;
}

/* Coefficients for the vector form, where it is of use. */
static int make_wide(spmv *s)
{
    enum { MOST = 1 << 16 }; /* beyond it the table costs more cache than it saves work */
    size_t n = s->circuit->dictionary_count;
    int repeated = 0;
    for (size_t i = 0; i < s->circuit->segment_count; i++)
        repeated |= s->circuit->segments[i].count >= SPMV_LANES;
    if (!cpu_get()->ifma || !repeated || n > MOST)
        return 1;
    s->wide_plain = mem_alloc(n * sizeof(*s->wide_plain));
    s->wide_product = mem_alloc(n * sizeof(*s->wide_product));
    if (!s->wide_plain || !s->wide_product)
        return 0;
    for (size_t i = 0; i < n; i++) {
        fr c;
        memcpy(&c, &s->circuit->dictionary[i], sizeof(c));
        to_limbs52(s->wide_plain[i], &c);
        for (int k = 0; k < 4; k++)
            fr_add(&c, &c, &c);
        to_limbs52(s->wide_product[i], &c);
    }
    return 1;
}

/* ---- memory ---- */
/* Takes the next place of a block; with base NULL only its size grows. */
static void *carve(uint8_t *base, size_t *at, size_t bytes)
{
    void *p = base ? base + *at : NULL;
    *at += (bytes + 63) / 64 * 64;
    return p;
}

/* Lays the workers' arrays out from base; returns the bytes they take. */
static size_t lay_out(spmv *s, uint8_t *base, uint64_t largest)
{
    size_t at = 0;
    for (unsigned i = 0; i < s->workers; i++) {
        spmv_worker ignored, *w = base ? &s->worker[i] : &ignored;
        for (unsigned m = 0; m < s->matrices; m++) {
            spmv_plan *p = &w->plan[m];
            p->one = carve(base, &at, CHUNK_ROWS * sizeof(table_row1));
            p->two = carve(base, &at, CHUNK_ROWS * sizeof(table_row2));
            p->three = carve(base, &at, CHUNK_ROWS * sizeof(table_row3));
            p->copy = carve(base, &at, CHUNK_ROWS * sizeof(copy_row));
            p->sum = carve(base, &at, CHUNK_ROWS * sizeof(sum_row));
            p->run = carve(base, &at, largest * sizeof(bit_run));
            p->term = carve(base, &at, largest * sizeof(field_term));
            w->row_value[m] = carve(base, &at, SPMV_LANES * CHUNK_ROWS * sizeof(fr));
        }
        w->pattern = carve(base, &at, PATTERNS * sizeof(*w->pattern));
        w->pattern_key = carve(base, &at, PATTERNS * sizeof(*w->pattern_key));
        w->pattern_slot = carve(base, &at, 2 * PATTERNS * sizeof(*w->pattern_slot));
    }
    return at;
}

cuzk_status spmv_init(spmv *s, const cuzk_circuit_view *c, const cuzk_witness_view *w, unsigned matrices,
                      pool *p, cuzk_error *err)
{
    static const uint64_t no_bits[2];
    uint64_t largest = 0;
    *s = (spmv){.circuit = c, .witness = w, .matrices = matrices, .workers = pool_size(p), .pool = p};
    s->bits = w->aux ? w->bits : no_bits;
    s->stream = c->constraints >= (uint64_t)1 << 20;
    s->chunks = cut(s, NULL, &largest);
    s->chunk = mem_alloc(s->chunks * sizeof(spmv_chunk));
    s->twice = mem_alloc(c->dictionary_count * sizeof(uint32_t));
    s->worker = mem_calloc(s->workers, sizeof(spmv_worker));
    s->memory_bytes = lay_out(s, NULL, largest);
    s->memory = pool_take(p, s->memory_bytes);
    if (!s->chunk || !s->twice || !s->worker || !s->memory || !find_doubles(s) || !make_wide(s)) {
        size_t bytes = s->memory_bytes;
        spmv_clear(s);
        return mem_error(err, bytes, "the product of a circuit with its witness");
    }
    lay_out(s, s->memory, largest);
    for (unsigned i = 0; i < s->workers; i++)
        memset(s->worker[i].pattern_slot, 0, 2 * PATTERNS * sizeof(*s->worker[i].pattern_slot));
    cut(s, s->chunk, &largest);
    return CUZK_OK;
}

void spmv_clear(spmv *s)
{
    for (unsigned i = 0; s->worker && s->matrices == 3 && i < s->workers; i++)
        for (unsigned m = 0; m < 3; m++) /* values of a check */
            if (s->worker[i].row_value[m])
                mem_wipe(s->worker[i].row_value[m], SPMV_LANES * CHUNK_ROWS * sizeof(fr));
    mem_free(s->chunk);
    mem_free(s->twice);
    mem_free(s->wide_product);
    mem_free(s->wide_plain);
    mem_free(s->worker);
    pool_give(s->pool, s->memory, s->memory_bytes);
    *s = (spmv){0};
}

/* ---- patterns ---- */
static void coefficient(fr *out, const spmv *s, uint32_t coef)
{
    if (coef == NO_CONSTANT)
        *out = FR_ZERO;
    else
        memcpy(out, &s->circuit->dictionary[coef], sizeof(*out));
}

/* key: coefficients of up to three bits, then of the constant. */
static uint32_t pattern_index(const spmv *s, spmv_worker *w, const uint32_t key[4])
{
    uint64_t h = key[0] * 0x9e3779b97f4a7c15u ^ key[1] * 0xc2b2ae3d27d4eb4fu ^ key[2] * 0xd6e8feb86659fd93u ^
                 key[3] * 0x165667b19e3779f9u;
    uint32_t at = (uint32_t)(h >> 40) & (2 * PATTERNS - 1);
    for (; w->pattern_slot[at]; at = (at + 1) & (2 * PATTERNS - 1)) {
        uint32_t i = w->pattern_slot[at] - 1;
        if (!memcmp(w->pattern_key[i], key, sizeof(w->pattern_key[i])))
            return i;
    }
    uint32_t i = w->patterns++;
    w->pattern_slot[at] = i + 1;
    memcpy(w->pattern_key[i], key, sizeof(w->pattern_key[i]));
    fr *v = w->pattern[i], c;
    coefficient(&v[0], s, key[3]);
    for (uint32_t k = 0; k < 3; k++) {
        coefficient(&c, s, key[k]);
        for (uint32_t n = 1u << k, j = 0; j < n; j++)
            fr_add(&v[n + j], &v[j], &c);
    }
    return i;
}

/* ---- rows ---- */
static int is_bit(uint32_t col)
{
    return CUZK_COL_CLASS(col) <= CUZK_COL_LOCAL && !(col & CUZK_COL_FIELD);
}
static int is_constant(uint32_t col)
{
    return col == CUZK_COL_INPUT << 30;
}
static uint32_t bit_position(uint32_t col)
{
    return CUZK_COL_INDEX(col) | (CUZK_COL_CLASS(col) == CUZK_COL_LOCAL ? POS_LOCAL : 0);
}

/* A table row if the terms allow it. usual: the class bit of positions in one and two. */
static int translate_table(const spmv *s, spmv_worker *w, spmv_plan *p, uint32_t row, const uint32_t *col,
                           const uint32_t *coef, uint32_t n, uint32_t usual)
{
    uint32_t key[4] = {NO_CONSTANT, NO_CONSTANT, NO_CONSTANT, NO_CONSTANT}, pos[3] = {0}, bits = 0,
             unusual = 0;
    if (n > 4)
        return 0;
    for (uint32_t k = 0; k < n; k++) {
        if (is_constant(col[k]) && key[3] == NO_CONSTANT) {
            key[3] = coef[k];
        } else if (is_bit(col[k]) && bits < 3) {
            key[bits] = coef[k];
            pos[bits] = bit_position(col[k]);
            unusual |= (pos[bits++] ^ usual) & POS_LOCAL;
        } else {
            return 0;
        }
    }
    uint32_t pattern = pattern_index(s, w, key);
    if (unusual || bits == 3 || !bits)
        p->three[p->threes++] = (table_row3){row, pattern, {pos[0], pos[1], pos[2]}};
    else if (bits == 2)
        p->two[p->twos++] = (table_row2){row, pattern, {pos[0] & ~POS_LOCAL, pos[1] & ~POS_LOCAL}};
    else
        p->one[p->ones++] = (table_row1){row, pattern, pos[0] & ~POS_LOCAL};
    return 1;
}

/* How many terms from the first on make a run with this step between wires, coefficients doubling or halving.
 */
static uint32_t run_length(const spmv *s, const uint32_t *col, const uint32_t *coef, uint32_t n,
                           uint32_t step, int up)
{
    uint32_t k = 1;
    while (k < n && k < RUN_MAX && col[k] == col[0] + k * step && is_bit(col[k]) &&
           (up ? s->twice[coef[k - 1]] == coef[k] : s->twice[coef[k]] == coef[k - 1]))
        k++;
    return k;
}

static uint32_t translate_run(const spmv *s, bit_run *out, const uint32_t *col, const uint32_t *coef,
                              uint32_t n)
{
    uint32_t best = 0, flags = 0;
    for (uint32_t f = 0; f < 4; f++) {
        uint32_t k = run_length(s, col, coef, n, f & RUN_ALTERNATE ? 2 : 1, !(f & RUN_REVERSED));
        if (k > best) {
            best = k;
            flags = f;
        }
    }
    *out = (bit_run){bit_position(col[0]), coef[flags & RUN_REVERSED ? best - 1 : 0], best, flags};
    return best;
}

/* Terms of field wires: the products, or the others. */
static void translate_terms(spmv_plan *p, const uint32_t *col, const uint32_t *coef, uint32_t n, int products)
{
    for (uint32_t k = 0; k < n; k++) {
        uint32_t kind = coef[k] == 0 ? TERM_PLUS : coef[k] == 1 ? TERM_MINUS : TERM_PRODUCT;
        if (is_bit(col[k]) || is_constant(col[k]) || (kind == TERM_PRODUCT) != products)
            continue;
        p->term[p->terms++] = (field_term){col[k], coef[k], kind};
        p->imports |= CUZK_COL_CLASS(col[k]) == CUZK_COL_IMPORT;
    }
}

static void translate_sum(const spmv *s, spmv_plan *p, uint32_t row, const uint32_t *col,
                          const uint32_t *coef, uint32_t n)
{
    sum_row *out = &p->sum[p->sums++];
    out->row = row;
    out->constant = NO_CONSTANT;
    for (uint32_t k = 0; k < n;) {
        if (is_bit(col[k])) {
            k += translate_run(s, &p->run[p->runs++], col + k, coef + k, n - k);
            continue;
        }
        if (is_constant(col[k]))
            out->constant = coef[k];
        k++;
    }
    translate_terms(p, col, coef, n, 1);
    out->products_end = p->terms;
    translate_terms(p, col, coef, n, 0);
    out->runs_end = p->runs;
    out->terms_end = p->terms;
}

static void translate_matrix(const spmv *s, spmv_worker *w, spmv_plan *p, const cuzk_matrix *m,
                             const spmv_chunk *c, uint32_t usual)
{
    p->ones = p->twos = p->threes = p->copies = p->sums = p->runs = p->terms = 0;
    p->imports = 0;
    for (uint32_t row = c->first; row < c->end; row++) {
        const uint32_t *col = m->col + m->row[row], *coef = m->coef + m->row[row];
        uint32_t n = m->row[row + 1] - m->row[row], to = row - c->first;
        if (translate_table(s, w, p, to, col, coef, n, usual))
            continue;
        if (n == 1 && *coef == 0)
            p->copy[p->copies++] = (copy_row){to, *col};
        else
            translate_sum(s, p, to, col, coef, n);
    }
}

void spmv_translate(const spmv *s, spmv_worker *w, const spmv_chunk *c)
{
    const cuzk_segment *seg = &s->circuit->segments[c->segment];
    if (w->patterns > PATTERNS - 3 * CHUNK_ROWS) {
        memset(w->pattern_slot, 0, 2 * PATTERNS * sizeof(*w->pattern_slot));
        w->patterns = 0;
    }
    for (unsigned m = 0; m < s->matrices; m++)
        translate_matrix(s, w, &w->plan[m], matrix_of(seg, m), c, seg->count > 1 ? POS_LOCAL : 0);
}
