/* Values of single rows, term by term: the oracle of the fast product, and what error messages are made from.
 */
#ifndef R1CS_ROW_VALUE_H
#define R1CS_ROW_VALUE_H
#include "r1cs/r1cs_internal.h"

/* Value of a stored column in one repetition. */
void col_value(fr *out, const r1cs_segment *s, const witness *w, uint64_t repetition, uint32_t col);
/* out = row * witness. */
void row_value(fr *out, const r1cs *r, const r1cs_segment *s, const cuzk_matrix *m, const witness *w,
               uint64_t repetition, uint64_t row);
/* CUZK_INVALID_ARGUMENT unless w has the circuit's shape and input[0] = 1. */
cuzk_status witness_fits(const r1cs *r, const witness *w, cuzk_error *err) CUZK_MUST_CHECK;
/* r1cs_multiply for any of the matrices (0, 1, 2) by row_value. */
void r1cs_multiply_ref(const r1cs *r, const witness *w, int matrix, fr *out);
#endif
