/* Merkle paths in a circuit: storage-proofs-core's PoRCircuit and its insertion gadget, for trees of any
 * shape (base, sub and top arities), with Poseidon or SHA-256 (binary, truncated to 254 bits) nodes. */
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
/* Shape of the Poseidon trees (C and R last) and of the binary SHA-256 tree (D) of a sector of this many
 * bytes. */
int merkle_shape_poseidon(merkle_shape *s, uint64_t sector_bytes);
int merkle_shape_sha256(merkle_shape *s, uint64_t sector_bytes);
uint32_t merkle_levels(const merkle_shape *s);                /* base_levels + sub + top levels */
uint32_t merkle_arity(const merkle_shape *s, uint32_t level); /* level 0 is the leaves' */
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
/* n proofs of one shape; ok[i] is what merkle_proof_verify answers. Poseidon trees eight at a time where
 * possible. */
void merkle_proof_verify_many(uint8_t *ok, const merkle_shape *s, const poseidon_set *ps,
                              const merkle_proof *const *p, size_t n);

/* Vanilla hash of arity nodes. 0, or -1 when a Poseidon input is not a field element. */
int merkle_node_hash(uint8_t out[32], merkle_hash hash, const poseidon_set *ps, const uint8_t *nodes,
                     unsigned arity);

/* ---- circuit ----
 * Each synth has a witness twin that writes the same wires in the same order. Inputs (public) are never
 * written here: who fills the witness sets them. */

/* insert: storage-proofs-core gadgets/insertion.rs. arity 2, 4 or 8 (specialised there) or another power of
 * two up to POSEIDON_MAX_ARITY; index_bits are allocated, lowest first. */
void insert_synth(cs *c, var *out /* arity */, var element, const boolean *index_bits, const var *siblings,
                  unsigned arity);
void insert_witness(wcursor *w, fr *out, const fr *element, unsigned position, const fr *siblings,
                    unsigned arity);
#define SELECT_MAX_BITS 10
/* select: one of 2^bit_count wires by its number's bits, lowest first. */
var select_synth(cs *c, const var *from, const boolean *bits, unsigned bit_count);
void select_witness(wcursor *w, fr *out, const fr *from, uint64_t index, unsigned bit_count);
/* A node from its arity children: hash_multi_leaf_circuit (Poseidon; SHA-256 takes each child apart into
 * bits). */
var merkle_node_synth(cs *c, merkle_hash hash, const poseidon_set *ps, const var *in, unsigned arity);
void merkle_node_witness(wcursor *w, merkle_hash hash, const poseidon_set *ps, const fr *in, unsigned arity,
                         fr *out);
/* (a) * 1 = (b), and the public input that equals a wire: (input) * 1 = (a), as AllocatedNum::inputize. */
void equal_synth(cs *c, var a, var b);
void inputize_synth(cs *c, var a);

/* PoRCircuit, private: the leaf and the root are wires of the caller; allocates per level the index bits, the
 * siblings, the insertion, the hash; then the public input that packs the index bits (the leaf's number) and
 * the equality of root. The witness takes siblings and positions from p; leaf is p->leaf; root (may be NULL)
 * receives the computed root. */
void merkle_synth(cs *c, const merkle_shape *s, const poseidon_set *ps, var leaf, var root);
void merkle_witness(wcursor *w, const merkle_shape *s, const poseidon_set *ps, const merkle_proof *p,
                    fr *root);
/* n paths of one shape at once, the i-th written at w[i]: the same wires, hashed eight at a time where
 * possible. root: n elements or NULL. */
void merkle_witness_many(wcursor *const *w, const merkle_shape *s, const poseidon_set *ps,
                         const merkle_proof *const *p, fr *root, size_t n);
/* por_no_challenge_input: index bits (lowest first) and siblings (level by level) are wires of the caller.
 * levels: only the first so many of the shape; the last level ends at root. */
void merkle_synth_bits(cs *c, const merkle_shape *s, uint32_t levels, const poseidon_set *ps,
                       const boolean *bits, var leaf, const var *siblings, var root);
void merkle_witness_bits(wcursor *w, const merkle_shape *s, uint32_t levels, const poseidon_set *ps,
                         uint64_t index, const fr *leaf, const fr *siblings, fr *root);
unsigned merkle_sibling_count(const merkle_shape *s, uint32_t levels); /* of the first levels together */
unsigned merkle_index_bits(const merkle_shape *s, uint32_t levels);
#endif
