/* Merkle paths in a circuit: storage-proofs-core's PoRCircuit and its insertion gadget, for trees of any shape
 * (base, sub and top arities), with Poseidon or SHA-256 (binary, truncated to 254 bits) nodes. */
#ifndef GADGETS_MERKLE_H
#define GADGETS_MERKLE_H
#include "gadgets/boolean.h"
#include "gadgets/poseidon.h"

typedef enum merkle_hash { MERKLE_POSEIDON, MERKLE_SHA256 } merkle_hash;
/* A tree's shape: base levels of arity base, then one level of arity sub and one of arity top (0: none). */
typedef struct merkle_shape {
    merkle_hash hash;
    uint32_t base, sub, top;
    uint32_t base_levels;
} merkle_shape;
/* Shape of the Poseidon trees (C and R last) and of the binary SHA-256 tree (D) of a sector of this many bytes. */
void merkle_shape_poseidon(merkle_shape *s, uint64_t sector_bytes);
void merkle_shape_sha256(merkle_shape *s, uint64_t sector_bytes);
uint32_t merkle_levels(const merkle_shape *s);                 /* base_levels + sub + top levels */
uint32_t merkle_arity(const merkle_shape *s, uint32_t level);  /* level 0 is the leaves' */
#define MERKLE_MAX_LEVELS 40

/* Vanilla: the siblings of one level (arity - 1) and the position of the node among them. */
typedef struct merkle_level {
    uint32_t position;
    const uint8_t *siblings; /* (arity - 1) * 32 bytes */
} merkle_level;
typedef struct merkle_proof {
    uint8_t root[32], leaf[32];
    uint32_t levels;
    merkle_level level[MERKLE_MAX_LEVELS];
} merkle_proof;
uint64_t merkle_proof_index(const merkle_shape *s, const merkle_proof *p); /* the leaf's number */
/* Recomputes the root; 1 if it equals p->root. Values >= r are refused (0). */
int merkle_proof_verify(const merkle_shape *s, const poseidon_set *ps, const merkle_proof *p);

/* insert: storage-proofs-core gadgets/insertion.rs. */
void insert_synth(cs *c, var *out /* arity */, var element, const boolean *index_bits, const var *siblings, unsigned arity);
void insert_witness(wcursor *w, fr *out, const fr *element, unsigned position, const fr *siblings, unsigned arity);
#endif
