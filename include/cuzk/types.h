/* Plain data types shared by the public headers: field elements, points, views of circuits and witnesses. */
#ifndef CUZK_TYPES_H
#define CUZK_TYPES_H
#include "cuzk/status.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Little-endian 64-bit limbs in Montgomery form (R = 2^256 for Fr, 2^384 for Fp), canonical: blst's memory
 * layout. An affine point of all zeros is infinity. */
typedef struct cuzk_fr {
    uint64_t l[4];
} cuzk_fr;
typedef struct cuzk_g1_affine {
    uint64_t x[6], y[6];
} cuzk_g1_affine;
typedef struct cuzk_g2_affine {
    uint64_t x[2][6], y[2][6]; /* c0, c1 */
} cuzk_g2_affine;
/* Canonical integer < r, little-endian limbs. */
typedef struct cuzk_scalar {
    uint64_t l[4];
} cuzk_scalar;

/* Columns of a compiled row: class in bits 31..30, kind in bit 29, index in bits 28..0.
 * The index of a boolean wire is its aux index; that of a field wire its rank among the field wires; of an
 * input its number. Local indices count from the first wire (field wire, input) of the repetition. */
#define CUZK_COL_CLASS(c) ((uint32_t)(c) >> 30)
#define CUZK_COL_GLOBAL   0u
#define CUZK_COL_LOCAL    1u
#define CUZK_COL_INPUT    2u /* with bit 29: local input; without: global input */
#define CUZK_COL_IMPORT   3u /* index into the repetition's imports */
#define CUZK_COL_FIELD    (1u << 29)
#define CUZK_COL_INDEX(c) ((uint32_t)(c)&0x1fffffffu)

typedef struct cuzk_matrix {
    const uint32_t *row; /* rows + 1 offsets into col and coef */
    const uint32_t *col;
    const uint32_t *coef; /* index into the dictionary */
} cuzk_matrix;

/* Rows that stand count times; each repetition shifts local wires, field ranks and inputs by the strides.
 * Repetition i holds rows first_row + i * rows .. + rows - 1. */
typedef struct cuzk_segment {
    uint64_t first_row, rows, count;
    uint64_t aux_base, aux_stride, field_base, field_stride, input_base, input_stride;
    uint64_t import_count;
    const uint32_t *imports; /* count * import_count columns, each of class GLOBAL or INPUT (global) */
    cuzk_matrix a, b, c;     /* c may be absent (NULL members) */
} cuzk_segment;

/* A compiled circuit as a device reads it. The closing rows of the public inputs are among the rows. */
typedef struct cuzk_circuit_view {
    uint64_t inputs, aux, fields, constraints;
    size_t segment_count;
    const cuzk_segment *segments;
    size_t dictionary_count;
    const cuzk_fr *dictionary;             /* index 0 is 1, index 1 is -1 */
    const uint64_t *field_map;             /* one bit per aux wire: 1 = field element */
    const uint64_t *a_density, *b_density; /* one bit per aux wire: non-zero in A (B) */
    const uint64_t *b_input_density;       /* one bit per input; A holds all inputs */
} cuzk_circuit_view;

/* A compact witness. bits hold 0 at field wires. */
typedef struct cuzk_witness_view {
    uint64_t inputs, aux, fields;
    const cuzk_fr *input; /* input[0] = 1 */
    const uint64_t *bits;
    const cuzk_fr *field;
} cuzk_witness_view;

#ifdef __cplusplus
}
#endif
#endif
