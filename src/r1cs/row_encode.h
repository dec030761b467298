/* Rows as bytes, the encoding that the digests and circom's .r1cs share: for A, B and C in turn u32 LE number
 * of terms, then for each term u32 LE column and 32 bytes LE coefficient, columns ascending, like terms
 * merged. */
#ifndef R1CS_ROW_ENCODE_H
#define R1CS_ROW_ENCODE_H
#include "r1cs/r1cs_internal.h"

typedef struct row_encoder {
    const r1cs *r;
    const uint8_t *canonical;
    uint32_t aux_column; /* column of aux wire 0 */
    col_resolver *resolver;
} row_encoder;

/* Rows first .. end - 1 of the whole system. */
typedef struct row_piece {
    uint64_t first, end;
    uint8_t *data;
    size_t bytes, cap;
    int failed;
} row_piece;

cuzk_status row_encoder_init(row_encoder *e, const r1cs *r, uint32_t aux_column,
                             cuzk_error *err) CUZK_MUST_CHECK;
void row_encoder_clear(row_encoder *e);
/* Plans a piece that starts at row first, ends at last or before and takes about max_bytes (one row at
 * least); gets its buffer. */
cuzk_status row_piece_plan(row_piece *p, const row_encoder *e, uint64_t first, uint64_t last,
                           size_t max_bytes, cuzk_error *err) CUZK_MUST_CHECK;
/* Fills the buffer; several pieces may be filled at once. */
void row_piece_encode(row_piece *p, const row_encoder *e);
void row_piece_clear(row_piece *p);
#endif
