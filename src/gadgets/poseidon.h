/* Poseidon over Fr as neptune (strength standard, S-box x^5): the hash, its circuit, its witness.
 * Constants are generated from the specification (Grain LFSR, Cauchy MDS, sparse factorisation); source:
 * Grassi et al., "Poseidon", USENIX Security 2021, and neptune's specification. */
#ifndef GADGETS_POSEIDON_H
#define GADGETS_POSEIDON_H
#include "r1cs/r1cs.h"

typedef struct poseidon poseidon; /* constants of one arity and domain tag; immutable */
typedef enum poseidon_domain { POSEIDON_MERKLE, POSEIDON_SNAP_GEN } poseidon_domain;
/* Constants for every arity in use (1, 2, 4, 8, 11 for Merkle; SnapDeals' own). One set serves all threads.
 */
typedef struct poseidon_set poseidon_set;
cuzk_status poseidon_set_create(poseidon_set **out, cuzk_error *err) CUZK_MUST_CHECK;
void poseidon_set_destroy(poseidon_set *s);
const poseidon *poseidon_get(const poseidon_set *s, unsigned arity,
                             poseidon_domain domain); /* NULL: not in the set */

void poseidon_hash(fr *out, const poseidon *p, const fr *in);     /* arity elements */
void poseidon_hash_ref(fr *out, const poseidon *p, const fr *in); /* unoptimised rounds: MDS in full */
/* n independent hashes: in holds n * arity elements, out n. Eight at a time where the processor has IFMA. */
void poseidon_hash_many(fr *out, const poseidon *p, const fr *in, size_t n);
/* Rows of poseidon_hash_circuit for allocated inputs; returns the output wire. */
var poseidon_synth(cs *c, const poseidon *p, const var *in);
/* Values of the same wires. */
void poseidon_witness(wcursor *w, const poseidon *p, const fr *in, fr *out);
/* n independent hashes, the i-th written at w[i]. in: n * arity elements, out: n. */
void poseidon_witness_many(wcursor *const *w, const poseidon *p, const fr *in, fr *out, size_t n);
unsigned poseidon_wires(const poseidon *p); /* field wires that synth allocates */
unsigned poseidon_arity(const poseidon *p);
#define POSEIDON_MAX_ARITY 16
#endif
