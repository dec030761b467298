/* Shared by the files of src/groth16. */
#ifndef GROTH16_GROTH16_INTERNAL_H
#define GROTH16_GROTH16_INTERNAL_H
#include "groth16/groth16.h"

/* What is wrong with a point, for a code of g1_decode_check or g2_decode_check; never NULL. */
const char *point_fault(int code);
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
#endif
