/* Poseidon over Fr: the hash, its circuit, its witness. The circuit is the one with a wire for every S-box
 * input: each S-box takes the linear combination before it into a wire of its own (one row), then squares
 * twice and multiplies (three rows). Hash and witness are one routine: what the witness records is the hash's
 * own state. */
#include "base/cpu.h"
#include "gadgets/poseidon_private.h"
#include <assert.h>

/* ---- wires ---- */

/* The wires of a hash are all field elements: their place is taken at once, and written through a pointer
 * that moves along, or is NULL where nothing is recorded. */
static fr *reserve(wcursor *w, unsigned wires)
{
    fr *at = w->w->field + w->field;
    assert(w->field + wires <= w->w->fields);
    w->field += wires;
    for (; wires >= 64; wires -= 64)
        wcursor_bits(w, 0, 64);
    wcursor_bits(w, 0, wires);
    return at;
}

/* ---- arithmetic of one hash at a time ---- */

static inline void dot(fr *out, const fr *state, const fr *column, size_t stride, unsigned n)
{
    fr sum, t;
    fr_mul(&sum, &state[0], &column[0]);
    for (unsigned i = 1; i < n; i++) {
        fr_mul(&t, &state[i], &column[i * stride]);
        fr_add(&sum, &sum, &t);
    }
    *out = sum;
}

#define POSEIDON_MUL     fr_mul
#define POSEIDON_ADD     fr_add
#define POSEIDON_DOT     dot
#define POSEIDON_PERMUTE poseidon_permute_scalar
#include "gadgets/poseidon_rounds.h"

static void permute(fr *wires, const poseidon *p, const fr *in, fr *out)
{
#if defined(__x86_64__)
    if (cpu_get()->adx && cpu_get()->bmi2) {
        poseidon_permute_adx(wires, p, in, out);
        return;
    }
#endif
    poseidon_permute_scalar(wires, p, in, out);
}

void poseidon_hash(fr *out, const poseidon *p, const fr *in)
{
    permute(NULL, p, in, out);
}

void poseidon_witness(wcursor *w, const poseidon *p, const fr *in, fr *out)
{
    permute(reserve(w, poseidon_wires(p)), p, in, out);
}

void poseidon_hash_ref(fr *out, const poseidon *p, const fr *in)
{
    const unsigned n = p->width, half = p->full / 2;
    const fr *key = p->round_keys;
    fr state[POSEIDON_MAX_WIDTH], t;
    state[0] = p->tag;
    memcpy(state + 1, in, p->arity * sizeof *in);
    for (unsigned r = 0; r < p->full + p->partial; r++) {
        const int partial = r >= half && r < half + p->partial;
        for (unsigned i = 0; i < n; i++) {
            fr_add(&state[i], &state[i], key++);
            if (i && partial)
                continue;
            fr_sqr(&t, &state[i]);
            fr_sqr(&t, &t);
            fr_mul(&state[i], &t, &state[i]);
        }
        layer_dense(state, p->mds, n);
    }
    *out = state[1];
}

/* ---- many at once ---- */

#if defined(__x86_64__)
static int has_lanes(const poseidon *p)
{
    return p->lanes && cpu_get()->ifma;
}
#else
#define has_lanes(p)                                 0
#define poseidon_permute_ifma(record_at, p, in, out) ((void)(record_at), (void)(in), (void)(out))
#endif

/* Up to eight hashes in the lanes of one. Lanes that are left over repeat the first hash and record the same
 * values at its place again. */
static void permute_group(fr *const *at, const poseidon *p, const fr *in, fr *out, size_t n)
{
    fr padded[8 * POSEIDON_MAX_ARITY], result[8], *place[8];
    if (n == 8) {
        poseidon_permute_ifma(at, p, in, out);
        return;
    }
    for (size_t i = 0; i < 8; i++) {
        memcpy(padded + i * p->arity, in + (i < n ? i : 0) * p->arity, p->arity * sizeof *in);
        place[i] = at ? at[i < n ? i : 0] : NULL;
    }
    poseidon_permute_ifma(at ? place : NULL, p, padded, result);
    memcpy(out, result, n * sizeof *out);
}

/* at: where each hash's wires go, or NULL. */
static void permute_some(fr *const *at, const poseidon *p, const fr *in, fr *out, size_t n)
{
    if (has_lanes(p) && n >= 3) { /* eight at once cost about as much as two one after the other */
        permute_group(at, p, in, out, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        permute(at ? at[i] : NULL, p, in + i * p->arity, out + i);
}

void poseidon_hash_many(fr *out, const poseidon *p, const fr *in, size_t n)
{
    for (size_t i = 0; i < n; i += 8)
        permute_some(NULL, p, in + i * p->arity, out + i, n - i < 8 ? n - i : 8);
}

void poseidon_witness_many(wcursor *const *w, const poseidon *p, const fr *in, fr *out, size_t n)
{
    const unsigned wires = poseidon_wires(p);
    fr *at[8];
    for (size_t i = 0; i < n; i += 8) {
        const size_t group = n - i < 8 ? n - i : 8;
        for (size_t k = 0; k < group; k++)
            at[k] = reserve(w[i + k], wires);
        permute_some(at, p, in + i * p->arity, out + i, group);
    }
}

unsigned poseidon_arity(const poseidon *p)
{
    return p->arity;
}

unsigned poseidon_wires(const poseidon *p)
{
    return 3 * p->arity + 4 * ((p->full - 1) * p->width + p->partial) + 1;
}

/* ---- the circuit ---- */

typedef struct synth {
    cs *c;
    const poseidon *p;
    lc state[POSEIDON_MAX_WIDTH]; /* each element as a combination of wires */
    lc next[POSEIDON_MAX_WIDTH];
    lc a, b, d;
} synth;

static void set_wire(lc *l, var v)
{
    lc_reset(l);
    lc_add_one(l, v);
}

/* The combination's value as a wire. */
static var allocate(synth *s, lc *l)
{
    var v = cs_alloc_field(s->c);
    lc_copy(&s->a, l);
    set_wire(&s->b, VAR_ONE);
    set_wire(&s->d, v);
    cs_enforce(s->c, &s->a, &s->b, &s->d);
    return v;
}

/* A wire for the square of a combination. */
static var square(synth *s, const lc *l)
{
    var v = cs_alloc_field(s->c);
    lc_copy(&s->a, l);
    lc_copy(&s->b, l);
    set_wire(&s->d, v);
    cs_enforce(s->c, &s->a, &s->b, &s->d);
    return v;
}

/* The state's i-th element through its S-box; input: the wire of an element of the preimage in the first
 * round. */
static void synth_s_box(synth *s, unsigned i, const fr *before, const fr *after)
{
    lc *l = &s->state[i], wire;
    fr negative;
    lc_init(&wire);
    cs_push(s->c, "quintic s-box", i);
    if (before) {
        lc_add(l, VAR_ONE, before);
    } else {
        var v = allocate(s, l);
        set_wire(l, v);
    }
    set_wire(&wire, square(s, l));
    var fourth = square(s, &wire);
    var fifth = cs_alloc_field(s->c);
    lc_copy(&s->a, l);
    set_wire(&s->b, fourth);
    set_wire(&s->d, fifth);
    if (after) {
        fr_neg(&negative, after);
        lc_add(&s->d, VAR_ONE, &negative);
    }
    cs_enforce(s->c, &s->a, &s->b, &s->d);
    set_wire(l, fifth);
    lc_clear(&wire);
    cs_pop(s->c);
}

static void synth_dense(synth *s, const fr *m)
{
    const unsigned n = s->p->width;
    for (unsigned j = 0; j < n; j++) {
        lc_reset(&s->next[j]);
        for (unsigned i = 0; i < n; i++)
            lc_add_lc(&s->next[j], &s->state[i], &m[i * n + j]);
    }
    for (unsigned j = 0; j < n; j++)
        lc_copy(&s->state[j], &s->next[j]);
}

static void synth_sparse(synth *s, const fr *m)
{
    const unsigned n = s->p->width;
    lc *sum = &s->next[0];
    lc_reset(sum);
    for (unsigned i = 0; i < n; i++)
        lc_add_lc(sum, &s->state[i], &m[i]);
    lc_compact(sum);
    for (unsigned i = 1; i < n; i++)
        lc_add_lc(&s->state[i], &s->state[0], &m[n + i - 1]);
    lc_copy(&s->state[0], sum);
}

static void synth_full_round(synth *s, const char *name, int64_t index, const fr **key, const fr *m, int last)
{
    cs_push(s->c, name, index);
    for (unsigned i = 0; i < s->p->width; i++)
        synth_s_box(s, i, NULL, last ? NULL : (*key)++);
    synth_dense(s, m);
    cs_pop(s->c);
}

static void synth_first_round(synth *s, const var *in)
{
    const poseidon *p = s->p;
    cs_push(s->c, "first round", -1);
    lc_add(&s->state[0], VAR_ONE, &p->first);
    for (unsigned i = 1; i < p->width; i++) {
        set_wire(&s->state[i], in[i - 1]);
        synth_s_box(s, i, &p->keys[i], &p->keys[p->width + i]);
    }
    synth_dense(s, p->mds);
    cs_pop(s->c);
}

var poseidon_synth(cs *c, const poseidon *p, const var *in)
{
    const unsigned half = p->full / 2;
    const fr *key = p->keys + 2 * p->width;
    synth s = {.c = c, .p = p};
    synth_first_round(&s, in);
    for (unsigned r = 1; r < half; r++)
        synth_full_round(&s, "initial full round", r, &key, r == half - 1 ? p->pre_sparse : p->mds, 0);
    for (unsigned r = 0; r < p->partial; r++) {
        cs_push(c, "partial round", r);
        synth_s_box(&s, 0, NULL, key++);
        synth_sparse(&s, &p->sparse[r * (2 * p->width - 1)]);
        cs_pop(c);
    }
    for (unsigned r = 0; r < half - 1; r++)
        synth_full_round(&s, "final full round", r, &key, p->mds, 0);
    synth_full_round(&s, "terminal full round", -1, &key, p->mds, 1);
    cs_push(c, "hash result", -1);
    var out = allocate(&s, &s.state[1]);
    cs_pop(c);
    for (unsigned i = 0; i < p->width; i++)
        lc_clear(&s.state[i]), lc_clear(&s.next[i]);
    lc_clear(&s.a), lc_clear(&s.b), lc_clear(&s.d);
    return out;
}
