/* Poseidon's constants, shared by the scalar and the eight-lane form. */
#ifndef GADGETS_POSEIDON_PRIVATE_H
#define GADGETS_POSEIDON_PRIVATE_H
#include "gadgets/poseidon.h"

#define POSEIDON_MAX_WIDTH (POSEIDON_MAX_ARITY + 1)

/* A round is S-boxes, then round keys, then a linear layer. The keys are moved behind the S-boxes of the
 * round before (through the inverse of its linear layer), and from the partial rounds' keys only the first
 * element's is left; the linear layers of the partial rounds are factored so that only one row and one column
 * are dense.
 * The hash takes the partial rounds in blocks: within a block the elements without an S-box stand still, and
 * the first one is a sum over them and over the S-box outputs x_0 .. x_k of the block so far; after it each
 * of the others receives its sum over the x. That needs fewer reductions than the circuit's form. */
#define POSEIDON_BLOCK 4
struct poseidon {
    poseidon_domain domain;
    unsigned arity, width, full, partial; /* rounds */
    fr tag;                               /* the state's first element */
    fr *keys; /* compressed: width before the first S-boxes, then one per S-box but those of the last round */
    fr *mds;  /* width * width, symmetric */
    fr *pre_sparse; /* width * width: the linear layer before the first partial round */
    fr *sparse; /* partial * (2 * width - 1): the first column, then the first row without its first element
                 */
    fr *mix;    /* per block: for each of its rounds n - 1 factors of the others, k of the earlier x, one of
                   x_k; then for each of the others its factors of the block's x */
    fr *round_keys; /* width * (full + partial): as specified, for the reference form */
    fr first;       /* the tag after the first round's S-box and keys: a constant */
    void *lanes;    /* constants of the eight-lane form; NULL where the processor lacks it */
};

size_t poseidon_mix_count(const poseidon *p); /* elements of mix */
/* One hash, the wires recorded from that place on (NULL: the hash alone); with blst's arithmetic and with
 * MULX, ADCX and ADOX (poseidon_adx.c). */
void poseidon_permute_scalar(fr *wires, const poseidon *p, const fr *in, fr *out);
void poseidon_permute_adx(fr *wires, const poseidon *p, const fr *in, fr *out);
/* Eight hashes at once (poseidon_ifma.c). in: 8 * arity elements; out: 8. The wires of hash i are written
 * from record_at[i] on; NULL: the hash alone. */
void poseidon_permute_ifma(fr *const record_at[8], const poseidon *p, const fr *in, fr *out);
/* Makes p->lanes, a block of mem_alloc; returns 0, or -1 without memory. */
int poseidon_prepare_ifma(poseidon *p);
#endif
