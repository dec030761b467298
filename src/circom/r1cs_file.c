/* circom's .r1cs and .wtns. */
#include "base/encode.h"
#include "base/mem.h"
#include "circom/circom.h"

/* A linear combination at *at: count, then (wire, value) each. Advances; -1 if it leaves the section. */
static int skip_lc(const uint8_t **at, const uint8_t *end, uint32_t wires, uint64_t *terms)
{
    if ((size_t)(end - *at) < 4)
        return -1;
    uint64_t n = load_le32(*at);
    *at += 4;
    if (n > (uint64_t)(end - *at) / 36)
        return -1;
    for (uint64_t i = 0; i < n; i++, *at += 36)
        if (load_le32(*at) >= wires)
            return -1;
    *terms += n;
    return 0;
}

static cuzk_status check_rows(circom_r1cs *r, cuzk_error *err)
{
    const uint8_t *at = r->f.section[2], *end = at + r->f.size[2];
    r->rows = at;
    for (uint32_t row = 0; row < r->constraints; row++)
        for (int m = 0; m < 3; m++)
            if (skip_lc(&at, end, r->wires, &r->terms[m]))
                return cuzk_error_set(err, CUZK_BAD_INPUT,
                                      "%s: constraint %u is cut short or names a wire beyond %u", r->f.path,
                                      row, r->wires);
    return CUZK_OK;
}

cuzk_status circom_r1cs_open(circom_r1cs *r, const char *path, cuzk_error *err)
{
    memset(r, 0, sizeof(*r));
    cuzk_status s = binfile_open(&r->f, path, "r1cs", 1, 1u << 1 | 1u << 2, err);
    if (s)
        return s;
    const uint8_t *h = r->f.section[1];
    uint64_t size = r->f.size[1];
    uint32_t n8 = size >= 4 ? load_le32(h) : 0;
    s = binfile_check_scalar_field(&r->f, n8, h + 4, size >= 4 ? (size_t)(size - 4) : 0, err);
    if (!s && size < 36 + 28)
        s = cuzk_error_set(err, CUZK_BAD_INPUT, "%s: the header is cut short", path);
    if (!s) {
        h += 36;
        r->wires = load_le32(h);
        r->public_outputs = load_le32(h + 4);
        r->public_inputs = load_le32(h + 8);
        r->private_inputs = load_le32(h + 12);
        r->labels = load_le64(h + 16);
        r->constraints = load_le32(h + 24);
        if ((uint64_t)r->public_outputs + r->public_inputs >= r->wires)
            s = cuzk_error_set(err, CUZK_BAD_INPUT,
                               "%s: %u outputs and %u public inputs do not fit into %u wires", path,
                               r->public_outputs, r->public_inputs, r->wires);
    }
    /* Section 3 names a label for each wire: a number of wires that the file cannot back is not believed. */
    if (!s && (r->wires >= VAR_AUX || (r->f.section[3] && r->f.size[3] != (uint64_t)r->wires * 8)))
        s = cuzk_error_set(err, CUZK_BAD_INPUT, "%s: %u wires do not fit to the file's other sections", path,
                           r->wires);
    if (!s)
        s = check_rows(r, err);
    if (s)
        circom_r1cs_close(r);
    return s;
}

void circom_r1cs_close(circom_r1cs *r)
{
    binfile_close(&r->f);
}

cuzk_status circom_r1cs_each(const circom_r1cs *r, circom_term_fn *term, void *ctx, cuzk_error *err)
{
    const uint8_t *at = r->rows;
    for (uint32_t row = 0; row < r->constraints; row++) {
        for (int m = 0; m < 3; m++) {
            uint32_t n = load_le32(at);
            at += 4;
            for (uint32_t i = 0; i < n; i++, at += 36) {
                fr v;
                if (fr_from_bytes(&v, at + 4))
                    return cuzk_error_set(err, CUZK_BAD_INPUT,
                                          "%s: a coefficient of constraint %u is not below the prime",
                                          r->f.path, row);
                term(ctx, m, row, load_le32(at), &v);
            }
        }
    }
    return CUZK_OK;
}

/* ---- as a circuit of this project ---- */

typedef struct compile_state {
    const circom_r1cs *r;
    cs *c;
    lc lc[3];
    uint32_t row;
    uint32_t inputs;
    cuzk_status status;
    cuzk_error *err;
} compile_state;

static void flush_row(compile_state *t)
{
    cs_enforce(t->c, &t->lc[0], &t->lc[1], &t->lc[2]);
    for (int m = 0; m < 3; m++)
        lc_reset(&t->lc[m]);
    t->row++;
}

static void add_term(void *ctx, int matrix, uint32_t row, uint32_t wire, const fr *value)
{
    compile_state *t = ctx;
    while (t->row < row)
        flush_row(t);
    lc_add(&t->lc[matrix], wire < t->inputs ? wire : (wire - t->inputs) | VAR_AUX, value);
}

static void synthesize(cs *c, void *ctx)
{
    compile_state *t = ctx;
    t->c = c;
    for (uint32_t i = 1; i < t->inputs; i++)
        cs_alloc_input(c);
    for (uint32_t i = t->inputs; i < t->r->wires; i++)
        cs_alloc_field(c);
    t->status = circom_r1cs_each(t->r, add_term, t, t->err);
    while (t->row < t->r->constraints)
        flush_row(t);
}

cuzk_status circom_r1cs_compile(r1cs **out, const circom_r1cs *r, cuzk_error *err)
{
    *out = NULL;
    compile_state t = {.r = r, .inputs = 1 + r->public_outputs + r->public_inputs, .err = err};
    for (int m = 0; m < 3; m++)
        lc_init(&t.lc[m]);
    cuzk_status s = r1cs_compile(out, "circom", synthesize, &t, err);
    for (int m = 0; m < 3; m++)
        lc_clear(&t.lc[m]);
    if (!s && t.status) {
        r1cs_destroy(*out);
        *out = NULL;
        s = t.status;
    }
    return s;
}

/* ---- .wtns ---- */

cuzk_status circom_wtns_read(fr **values, uint32_t *count, const char *path, cuzk_error *err)
{
    *values = NULL;
    *count = 0;
    binfile f;
    cuzk_status s = binfile_open(&f, path, "wtns", 2, 1u << 1 | 1u << 2, err);
    if (s)
        return s;
    const uint8_t *h = f.section[1];
    uint32_t n8 = f.size[1] >= 4 ? load_le32(h) : 0, n = 0;
    s = binfile_check_scalar_field(&f, n8, h + 4, f.size[1] >= 4 ? (size_t)(f.size[1] - 4) : 0, err);
    if (!s && f.size[1] < 40)
        s = cuzk_error_set(err, CUZK_BAD_INPUT, "%s: the header is cut short", path);
    if (!s) {
        n = load_le32(h + 36);
        if (!n || f.size[2] != (uint64_t)n * 32)
            s = cuzk_error_set(err, CUZK_BAD_INPUT,
                               "%s: %u values are %llu bytes, but the section holds %llu", path, n,
                               (unsigned long long)n * 32, (unsigned long long)f.size[2]);
    }
    fr *v = s ? NULL : big_alloc((size_t)n * sizeof(fr));
    if (!s && !v)
        s = mem_error(err, (size_t)n * sizeof(fr), "a witness");
    for (uint32_t i = 0; i < n && !s; i++)
        if (fr_from_bytes(&v[i], f.section[2] + (size_t)i * 32))
            s = cuzk_error_set(err, CUZK_BAD_INPUT, "%s: value %u is not below the prime", path, i);
    if (!s && !fr_is_one(&v[0]))
        s = cuzk_error_set(err, CUZK_BAD_INPUT, "%s: the first value must be 1", path);
    binfile_close(&f);
    if (s) {
        big_free(v, (size_t)n * sizeof(fr));
        return s;
    }
    *values = v;
    *count = n;
    return CUZK_OK;
}

cuzk_status circom_witness(witness *w, const r1cs *r, const fr *values, uint32_t count, cuzk_error *err)
{
    r1cs_counts n;
    r1cs_get_counts(r, &n);
    if (count != n.inputs + n.aux)
        return cuzk_error_set(err, CUZK_INCONSISTENT, "the witness has %u values, the circuit %llu wires",
                              count, (unsigned long long)(n.inputs + n.aux));
    cuzk_status s = witness_init(w, n.inputs, n.aux, n.fields, err);
    if (s)
        return s;
    memcpy(w->input, values, (size_t)n.inputs * sizeof(fr));
    memcpy(w->field, values + n.inputs, (size_t)n.aux * sizeof(fr));
    return CUZK_OK;
}
