/* Circuits stated by calls: the builder, setup, witnesses and proofs. */
#include "cuzk/prover.h"
#include "api/api.h"
#include "base/mem.h"

struct cuzk_builder {
    cs *cs;
    cuzk_synth_fn *synth;
    void *ctx;
    lc l[3];
    uint64_t rows, bad_row; /* first row with a coefficient that is no field element, from 1; 0: none */
    uint64_t unknown_row;   /* likewise with a wire that was never allocated */
};

struct cuzk_circuit {
    r1cs *r;
};

struct cuzk_witness {
    const r1cs *r;
    const uint64_t *field_map;
    witness w;
    uint32_t *rank; /* field wires before each word of the map */
};

struct cuzk_prover {
    cuzk_ctx *ctx;
    params *p;
    groth16_prover *g;
};

/* ---- stating ---- */
cuzk_var cuzk_alloc_input(cuzk_builder *b)
{
    return cs_alloc_input(b->cs);
}

cuzk_var cuzk_alloc_bit(cuzk_builder *b)
{
    return cs_alloc_bit(b->cs);
}

cuzk_var cuzk_alloc_field(cuzk_builder *b)
{
    return cs_alloc_field(b->cs);
}

static int is_allocated(const cuzk_builder *b, cuzk_var v)
{
    return v & VAR_AUX ? (v & ~VAR_AUX) < cs_aux_count(b->cs) : v < cs_input_count(b->cs);
}

static void read_terms(cuzk_builder *b, lc *l, const cuzk_term *t, size_t n)
{
    lc_reset(l);
    for (size_t i = 0; i < n; i++) {
        fr c;
        if (!is_allocated(b, t[i].v)) {
            if (!b->unknown_row)
                b->unknown_row = b->rows;
        } else if (fr_from_bytes(&c, t[i].coefficient)) {
            if (!b->bad_row)
                b->bad_row = b->rows;
        } else {
            lc_add(l, t[i].v, &c);
        }
    }
}

void cuzk_enforce(cuzk_builder *b, const cuzk_term *a, size_t a_count, const cuzk_term *b_terms,
                  size_t b_count, const cuzk_term *c, size_t c_count)
{
    b->rows++;
    read_terms(b, &b->l[0], a, a_count);
    read_terms(b, &b->l[1], b_terms, b_count);
    read_terms(b, &b->l[2], c, c_count);
    cs_enforce(b->cs, &b->l[0], &b->l[1], &b->l[2]);
}

static void run_synth(cs *c, void *ctx)
{
    cuzk_builder *b = ctx;
    b->cs = c;
    b->synth(b, b->ctx);
}

cuzk_status cuzk_circuit_create(cuzk_circuit **out, const char *name, cuzk_synth_fn *synth, void *synth_ctx,
                                cuzk_error *err)
{
    *out = NULL;
    cuzk_circuit *circuit = mem_calloc(1, sizeof(*circuit));
    if (!circuit)
        return mem_error(err, sizeof(*circuit), "a circuit");
    cuzk_builder b = {.synth = synth, .ctx = synth_ctx};
    for (int i = 0; i < 3; i++)
        lc_init(&b.l[i]);
    cuzk_status s = r1cs_compile(&circuit->r, name, run_synth, &b, err);
    for (int i = 0; i < 3; i++)
        lc_clear(&b.l[i]);
    if (s == CUZK_OK && b.unknown_row)
        s = cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                           "row %llu of circuit %s names a wire that was not allocated",
                           (unsigned long long)b.unknown_row - 1, name);
    if (s == CUZK_OK && b.bad_row)
        s = cuzk_error_set(
            err, CUZK_BAD_INPUT,
            "row %llu of circuit %s has a coefficient that is not below the order of the field",
            (unsigned long long)b.bad_row - 1, name);
    if (s != CUZK_OK) {
        cuzk_circuit_destroy(circuit);
        return s;
    }
    *out = circuit;
    return CUZK_OK;
}

void cuzk_circuit_destroy(cuzk_circuit *circuit)
{
    if (!circuit)
        return;
    r1cs_destroy(circuit->r);
    mem_free(circuit);
}

void cuzk_circuit_counts(const cuzk_circuit *circuit, cuzk_counts *out)
{
    r1cs_counts n;
    r1cs_get_counts(circuit->r, &n);
    *out = (cuzk_counts){n.inputs, n.aux, n.constraints};
}

cuzk_status cuzk_setup(cuzk_ctx *ctx, const cuzk_circuit *circuit, int test, const char *params_path,
                       const char *vk_path, cuzk_progress_fn *progress, void *progress_ctx, cuzk_error *err)
{
    toxic_waste t;
    cuzk_status s = CUZK_OK;
    if (test)
        toxic_waste_test(&t);
    else
        s = toxic_waste_random(&t, err);
    if (s == CUZK_OK)
        s = groth16_setup(circuit->r, &t, params_path, vk_path, ctx->pool, progress, progress_ctx, err);
    mem_wipe(&t, sizeof(t));
    return s;
}

/* ---- witnesses ---- */
static cuzk_status make_ranks(cuzk_witness *w, uint64_t aux, cuzk_error *err)
{
    uint64_t words = (aux + 63) / 64;
    uint32_t rank = 0;
    w->field_map = r1cs_field_map(w->r);
    w->rank = mem_calloc(words + 1, sizeof(uint32_t));
    if (!w->field_map || !w->rank)
        return mem_error(err, words * sizeof(uint32_t), "a witness");
    for (uint64_t i = 0; i < words; i++) {
        w->rank[i] = rank;
        rank += (uint32_t)__builtin_popcountll(w->field_map[i]);
    }
    return CUZK_OK;
}

cuzk_status cuzk_witness_create(cuzk_witness **out, const cuzk_circuit *circuit, cuzk_error *err)
{
    *out = NULL;
    r1cs_counts n;
    r1cs_get_counts(circuit->r, &n);
    cuzk_witness *w = mem_calloc(1, sizeof(*w));
    if (!w)
        return mem_error(err, sizeof(*w), "a witness");
    w->r = circuit->r;
    cuzk_status s = witness_init(&w->w, n.inputs, n.aux, n.fields, err);
    if (s == CUZK_OK)
        s = make_ranks(w, n.aux, err);
    if (s != CUZK_OK) {
        cuzk_witness_destroy(w);
        return s;
    }
    *out = w;
    return CUZK_OK;
}

void cuzk_witness_destroy(cuzk_witness *w)
{
    if (!w)
        return;
    witness_clear(&w->w);
    mem_free(w->rank);
    mem_free(w);
}

cuzk_status cuzk_witness_set(cuzk_witness *w, cuzk_var v, const uint8_t value[32], cuzk_error *err)
{
    fr x;
    uint64_t i = v & ~VAR_AUX;
    if (i >= (v & VAR_AUX ? w->w.aux : w->w.inputs) || v == CUZK_ONE)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "%s %llu cannot be set",
                              v & VAR_AUX ? "wire" : "input", (unsigned long long)i);
    if (fr_from_bytes(&x, value))
        return cuzk_error_set(err, CUZK_BAD_INPUT, "the value of %s %llu is not below the order of the field",
                              v & VAR_AUX ? "wire" : "input", (unsigned long long)i);
    uint64_t word = i / 64, bit = (uint64_t)1 << i % 64;
    if (!(v & VAR_AUX)) {
        w->w.input[i] = x;
    } else if (w->field_map[word] & bit) {
        w->w.field[w->rank[word] + (uint32_t)__builtin_popcountll(w->field_map[word] & (bit - 1))] = x;
    } else if (fr_is_zero(&x) || fr_is_one(&x)) {
        w->w.bits[word] = fr_is_one(&x) ? w->w.bits[word] | bit : w->w.bits[word] & ~bit;
    } else {
        return cuzk_error_set(err, CUZK_BAD_INPUT, "wire %llu is a bit: it takes 0 or 1",
                              (unsigned long long)i);
    }
    return CUZK_OK;
}

cuzk_status cuzk_witness_check(const cuzk_witness *w, cuzk_error *err)
{
    return r1cs_check(w->r, &w->w, NULL, err);
}

/* ---- proving ---- */
cuzk_status cuzk_prover_open(cuzk_prover **out, cuzk_ctx *ctx, const cuzk_circuit *circuit,
                             const char *params_path, cuzk_error *err)
{
    *out = NULL;
    cuzk_prover *p = mem_calloc(1, sizeof(*p));
    if (!p)
        return mem_error(err, sizeof(*p), "a prover");
    p->ctx = ctx;
    cuzk_status s = params_open(&p->p, params_path, err);
    pthread_mutex_lock(&ctx->lock);
    if (s == CUZK_OK)
        s = groth16_prover_create(&p->g, ctx->backend, ctx->device, circuit->r, p->p, err);
    pthread_mutex_unlock(&ctx->lock);
    if (s != CUZK_OK) {
        params_close(p->p);
        mem_free(p);
        return s;
    }
    *out = p;
    return CUZK_OK;
}

void cuzk_prover_close(cuzk_prover *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->ctx->lock);
    groth16_prover_destroy(p->g);
    pthread_mutex_unlock(&p->ctx->lock);
    params_close(p->p);
    mem_free(p);
}

cuzk_status cuzk_prove(cuzk_prover *p, uint8_t proof[CUZK_PROOF_BYTES], const cuzk_witness *w,
                       const cuzk_stop *stop, cuzk_error *err)
{
    pthread_mutex_lock(&p->ctx->lock);
    cuzk_status s = groth16_prove(p->g, &w->w, NULL, NULL, proof, NULL, api_token(stop), err);
    pthread_mutex_unlock(&p->ctx->lock);
    return s;
}
