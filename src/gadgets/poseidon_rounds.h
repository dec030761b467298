/* The rounds of the optimised permutation, one hash at a time, on the arithmetic that the including file
 * names: POSEIDON_MUL(r, a, b), POSEIDON_ADD(r, a, b), POSEIDON_DOT(r, state, column, stride, n): the sum of
 * state[i] * column[i * stride] and POSEIDON_PERMUTE, the name of what is defined here. */
#include "gadgets/poseidon_private.h"

static inline void record(fr **w, const fr *v)
{
    if (*w)
        *(*w)++ = *v;
}

/* x = (x + before)^5 + after; before is NULL where the input is a combination that has its own wire. */
static inline void s_box(fr **w, fr *x, const fr *before, const fr *after)
{
    fr square, fourth, base = *x;
    if (before)
        POSEIDON_ADD(&base, &base, before);
    else
        record(w, &base);
    POSEIDON_MUL(&square, &base, &base);
    record(w, &square);
    POSEIDON_MUL(&fourth, &square, &square);
    record(w, &fourth);
    POSEIDON_MUL(x, &fourth, &base);
    if (after)
        POSEIDON_ADD(x, x, after);
    record(w, x);
}

static void layer_dense(fr *state, const fr *m, unsigned n)
{
    fr sum[POSEIDON_MAX_WIDTH];
    for (unsigned j = 0; j < n; j++)
        POSEIDON_DOT(&sum[j], state, m + j, n, n);
    memcpy(state, sum, n * sizeof *state);
}

/* A block of partial rounds. y holds the elements without an S-box, then the block's S-box outputs. Returns
 * where the next block's factors begin. */
static const fr *partial_block(fr **w, fr *state, const fr *mix, const fr *key, unsigned n, unsigned rounds)
{
    fr y[POSEIDON_MAX_ARITY + POSEIDON_BLOCK], *x = y + n - 1, t;
    memcpy(y, state + 1, (n - 1) * sizeof *y);
    for (unsigned k = 0; k < rounds; k++) {
        s_box(w, &state[0], NULL, key++);
        x[k] = state[0];
        POSEIDON_DOT(&state[0], y, mix, 1, n + k);
        mix += n + k;
    }
    for (unsigned j = 1; j < n; j++, mix += rounds) {
        POSEIDON_DOT(&t, x, mix, 1, rounds);
        POSEIDON_ADD(&state[j], &state[j], &t);
    }
    return mix;
}

/* wires: where to record; NULL for the hash alone. */
void POSEIDON_PERMUTE(fr *wires, const poseidon *p, const fr *in, fr *out)
{
    const unsigned n = p->width, half = p->full / 2;
    const fr *key = p->keys + 2 * n;
    fr state[POSEIDON_MAX_WIDTH], **w = &wires;
    state[0] = p->first;
    for (unsigned i = 1; i < n; i++) {
        state[i] = in[i - 1];
        s_box(w, &state[i], &p->keys[i], &p->keys[n + i]);
    }
    layer_dense(state, p->mds, n);
    for (unsigned r = 1; r < half; r++) {
        for (unsigned i = 0; i < n; i++)
            s_box(w, &state[i], NULL, key++);
        layer_dense(state, r == half - 1 ? p->pre_sparse : p->mds, n);
    }
    const fr *mix = p->mix;
    for (unsigned r = 0, rounds; r < p->partial; r += rounds, key += rounds) {
        rounds = p->partial - r < POSEIDON_BLOCK ? p->partial - r : POSEIDON_BLOCK;
        mix = partial_block(w, state, mix, key, n, rounds);
    }
    for (unsigned r = 0; r < half; r++) {
        const int last = r == half - 1;
        for (unsigned i = 0; i < n; i++)
            s_box(w, &state[i], NULL, last ? NULL : key++);
        layer_dense(state, p->mds, n);
    }
    record(w, &state[1]);
    *out = state[1];
}
