/* Chunks, worker memory, and the translation of rows into plans. */
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
            if (!step)
                step = 1;
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

static void classify(spmv *s)
{
    for (size_t i = 0; i < s->circuit->dictionary_count; i++) {
        s->power[i] = NO_POWER;
        for (unsigned minus = 0; minus < 2; minus++) {
            fr c;
            scalar v;
            memcpy(&c, &s->circuit->dictionary[i], sizeof(c));
            if (minus)
                fr_neg(&c, &c);
            fr_to_scalar(&v, &c);
            int ones = 0, at = 0;
            for (int k = 0; k < 4; k++) {
                ones += __builtin_popcountll(v.l[k]);
                if (v.l[k])
                    at = 64 * k + __builtin_ctzll(v.l[k]);
            }
            if (ones == 1 && at < 255) {
                s->power[i] = (uint16_t)(at | (int)minus << 8);
                break;
            }
        }
    }
}

/* ---- memory ---- */
static void *carve(uint8_t **at, size_t bytes)
{
    void *p = *at;
    *at += (bytes + 63) / 64 * 64;
    return p;
}

/* Lays the workers' arrays out from base; returns the bytes they take. */
static size_t lay_out(spmv *s, uint8_t *base, uint64_t largest)
{
    uint8_t *at = base;
    for (unsigned i = 0; i < s->workers; i++) {
        spmv_worker ignored, *w = base ? &s->worker[i] : &ignored;
        for (unsigned m = 0; m < s->matrices; m++) {
            w->plan[m].table = carve(&at, CHUNK_ROWS * sizeof(table_row));
            w->plan[m].copy = carve(&at, CHUNK_ROWS * sizeof(copy_row));
            w->plan[m].sum = carve(&at, CHUNK_ROWS * sizeof(sum_row));
            w->plan[m].run = carve(&at, largest * sizeof(bit_run));
            w->plan[m].term = carve(&at, largest * sizeof(field_term));
            w->row_value[m] = carve(&at, CHUNK_ROWS * sizeof(fr));
        }
        w->pattern = carve(&at, PATTERNS * sizeof(*w->pattern));
        w->pattern_key = carve(&at, PATTERNS * sizeof(*w->pattern_key));
        w->pattern_slot = carve(&at, 2 * PATTERNS * sizeof(*w->pattern_slot));
    }
    return (size_t)(at - base);
}

cuzk_status spmv_init(spmv *s, const cuzk_circuit_view *c, const cuzk_witness_view *w, unsigned matrices,
                      unsigned workers, cuzk_error *err)
{
    static const uint64_t no_bits[2];
    uint64_t largest = 0;
    *s = (spmv){.circuit = c, .witness = w, .matrices = matrices, .workers = workers};
    s->bits = w->aux ? w->bits : no_bits;
    s->stream = c->constraints >= (uint64_t)1 << 20;
    s->chunks = cut(s, NULL, &largest);
    s->chunk = mem_alloc(s->chunks * sizeof(spmv_chunk));
    s->power = mem_alloc(c->dictionary_count * sizeof(uint16_t));
    s->worker = mem_calloc(workers, sizeof(spmv_worker));
    s->memory_bytes = lay_out(s, NULL, largest);
    s->memory = big_alloc(s->memory_bytes);
    if (!s->chunk || !s->power || !s->worker || !s->memory) {
        size_t bytes = s->memory_bytes;
        spmv_clear(s);
        return mem_error(err, bytes, "the product of a circuit with its witness");
    }
    lay_out(s, s->memory, largest);
    cut(s, s->chunk, &largest);
    classify(s);
    return CUZK_OK;
}

void spmv_clear(spmv *s)
{
    mem_free(s->chunk);
    mem_free(s->power);
    mem_free(s->worker);
    if (s->memory)
        mem_wipe(s->memory, s->memory_bytes); /* row values of a check */
    big_free(s->memory, s->memory_bytes);
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

static uint32_t pattern_index(const spmv *s, spmv_worker *w, const uint32_t key[3])
{
    uint64_t h = key[0] * 0x9e3779b97f4a7c15u ^ key[1] * 0xc2b2ae3d27d4eb4fu ^ key[2] * 0x165667b19e3779f9u;
    uint32_t at = (uint32_t)(h >> 40) & (2 * PATTERNS - 1);
    for (; w->pattern_slot[at]; at = (at + 1) & (2 * PATTERNS - 1)) {
        uint32_t i = w->pattern_slot[at] - 1;
        if (!memcmp(w->pattern_key[i], key, sizeof(w->pattern_key[i])))
            return i;
    }
    uint32_t i = w->patterns++;
    w->pattern_slot[at] = i + 1;
    memcpy(w->pattern_key[i], key, sizeof(w->pattern_key[i]));
    fr c[2], *v = w->pattern[i];
    coefficient(&v[0], s, key[2]);
    coefficient(&c[0], s, key[0]);
    coefficient(&c[1], s, key[1]);
    fr_add(&v[1], &v[0], &c[0]);
    fr_add(&v[2], &v[0], &c[1]);
    fr_add(&v[3], &v[1], &c[1]);
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

/* A table row if the terms allow it. */
static int translate_table(const spmv *s, spmv_worker *w, table_row *out, const uint32_t *col,
                           const uint32_t *coef, uint32_t n)
{
    uint32_t key[3] = {NO_CONSTANT, NO_CONSTANT, NO_CONSTANT}, bits = 0;
    if (n > 3)
        return 0;
    out->pos[0] = out->pos[1] = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (is_constant(col[k])) {
            if (key[2] != NO_CONSTANT)
                return 0;
            key[2] = coef[k];
        } else if (is_bit(col[k]) && bits < 2) {
            key[bits] = coef[k];
            out->pos[bits++] = bit_position(col[k]);
        } else {
            return 0;
        }
    }
    out->pattern = pattern_index(s, w, key);
    return 1;
}

/* How many terms from the first on make a run with this step between wires and between powers. */
static uint32_t run_length(const spmv *s, const uint32_t *col, const uint32_t *coef, uint32_t n,
                           uint32_t step, int up)
{
    uint32_t k = 1;
    uint16_t power = s->power[coef[0]];
    while (k < n && k < RUN_MAX && col[k] == col[0] + k * step && is_bit(col[k]) &&
           s->power[coef[k]] == (uint16_t)(up ? power + k : power - k) &&
           (s->power[coef[k]] & 0x100) == (power & 0x100))
        k++;
    return k;
}

static uint32_t translate_run(const spmv *s, bit_run *out, const uint32_t *col, const uint32_t *coef,
                              uint32_t n)
{
    uint32_t best = 0, flags = 0;
    for (uint32_t f = 0; f < 4; f++) {
        uint32_t k = run_length(s, col, coef, n, f & 1 ? 2 : 1, !(f & 2));
        if (k > best) {
            best = k;
            flags = (f & 1 ? RUN_ALTERNATE : 0) | (f & 2 ? RUN_REVERSED : 0);
        }
    }
    uint16_t low = s->power[coef[flags & RUN_REVERSED ? best - 1 : 0]];
    *out = (bit_run){bit_position(col[0]), (uint8_t)best, (uint8_t)low,
                     (uint8_t)(flags | (low & 0x100 ? RUN_MINUS : 0)), 0};
    return best;
}

static term_kind kind_of(uint32_t col, uint32_t coef)
{
    if (CUZK_COL_CLASS(col) == CUZK_COL_IMPORT)
        return TERM_IMPORT;
    if (is_bit(col))
        return TERM_BIT;
    return coef == 0 ? TERM_PLUS : coef == 1 ? TERM_MINUS : TERM_PRODUCT;
}

static void translate_sum(const spmv *s, spmv_plan *p, uint32_t row, const uint32_t *col,
                          const uint32_t *coef, uint32_t n)
{
    sum_row *out = &p->sum[p->sums++];
    out->row = row;
    out->constant = NO_CONSTANT;
    for (uint32_t k = 0; k < n;) {
        if (is_constant(col[k]) && out->constant == NO_CONSTANT) {
            out->constant = coef[k++];
        } else if (is_bit(col[k]) && s->power[coef[k]] != NO_POWER) {
            k += translate_run(s, &p->run[p->runs++], col + k, coef + k, n - k);
        } else {
            p->term[p->terms++] = (field_term){col[k], coef[k], kind_of(col[k], coef[k])};
            k++;
        }
    }
    out->runs_end = p->runs;
    out->terms_end = p->terms;
}

static void translate_matrix(const spmv *s, spmv_worker *w, spmv_plan *p, const cuzk_matrix *m,
                             uint32_t first, uint32_t end)
{
    p->tables = p->copies = p->sums = p->runs = p->terms = 0;
    for (uint32_t row = first; row < end; row++) {
        const uint32_t *col = m->col + m->row[row], *coef = m->coef + m->row[row];
        uint32_t n = m->row[row + 1] - m->row[row];
        table_row *t = &p->table[p->tables];
        if (translate_table(s, w, t, col, coef, n)) {
            t->row = row - first;
            p->tables++;
        } else if (n == 1 && *coef == 0 && CUZK_COL_CLASS(*col) != CUZK_COL_IMPORT) {
            p->copy[p->copies++] = (copy_row){row - first, *col};
        } else {
            translate_sum(s, p, row - first, col, coef, n);
        }
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
        translate_matrix(s, w, &w->plan[m], matrix_of(seg, m), c->first, c->end);
}
