/* Shared by the files of src/groth16. */
#ifndef GROTH16_GROTH16_INTERNAL_H
#define GROTH16_GROTH16_INTERNAL_H
#include "groth16/groth16.h"

/* What is wrong with a point, for a code of g1_decode_check or g2_decode_check; never NULL. */
const char *point_fault(int code);
/* The smallest k with 2^k >= rows. */
unsigned domain_log_for(uint64_t rows);
/* If the bytes are text (an error page, a JSON answer), a sentence part that quotes the beginning; else an
 * empty string. */
void describe_text(char *out, size_t out_size, const uint8_t *data, size_t size);

/* A_j(tau), B_j(tau), C_j(tau) for every input and aux wire j: inputs first, then aux in order. */
typedef struct qap_values {
    uint64_t count;
    fr *a, *b, *c;
} qap_values;
/* tau must not lie in the domain of size 2^log_n. */
cuzk_status qap_evaluate(qap_values *out, const r1cs *r, const fr *tau, unsigned log_n, pool *p,
                         cuzk_error *err);
void qap_values_clear(qap_values *q);

/* Decoded and checked: curve, subgroup, no infinity. */
typedef struct proof_points {
    g1_affine a, c;
    g2_affine b;
} proof_points;
cuzk_status proof_decode(proof_points *out, const uint8_t proof[GROTH16_PROOF_BYTES], cuzk_error *err);
void proof_encode(uint8_t proof[GROTH16_PROOF_BYTES], const proof_points *p);

/* The proof of what the device summed up, with the key's points and the blinding r, s. */
void proof_assemble(proof_points *out, const verifying_key *vk, const cuzk_sums *sums, const fr *r,
                    const fr *s);
#endif
