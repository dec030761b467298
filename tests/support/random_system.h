/* Random constraint systems with a satisfying witness: the same body stated once under cs_repeat or written
 * out count times. Written out, the builder also evaluates every row by itself, term by term, from the sums
 * as they were before cs_enforce saw them: an oracle that shares nothing with the compiled form. */
#ifndef SUPPORT_RANDOM_SYSTEM_H
#define SUPPORT_RANDOM_SYSTEM_H
#include "base/hash.h"
#include "r1cs/r1cs.h"

typedef struct random_system {
    /* What to make. */
    uint64_t seed;
    uint32_t count, imports; /* repetitions; imports each */
    uint32_t globals, tail;  /* rows before and after the repeat */
    uint32_t rows;           /* of the body */
    int bits_only;           /* body wires are boolean */
    int no_inputs;           /* only the constant one */
    int linear;              /* rows of the kind A * 0 = 0 and A * 1 = C only */
    int unrolled;
    /* What the unrolled form leaves behind. */
    fr *input, *aux;
    uint8_t *is_field;
    uint32_t inputs, aux_count;
    fr *a, *b, *c;
    uint32_t row_count;
    /* Internal. */
    cs *cs;
    chacha_rng rng, values;
    uint32_t repetition;
    var *table;          /* imports */
    var *shared, *local; /* wires to choose from */
    uint32_t shared_count, local_count;
    lc l[3];
} random_system;

/* A circuit_fn; ctx is a random_system. */
void random_system_synth(cs *c, void *ctx);
void random_system_clear(random_system *s);
/* The witness that belongs to it (made by a run with unrolled set). */
void random_system_witness(const random_system *s, witness *w);
#endif
