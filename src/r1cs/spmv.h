/* Products of the compiled matrices with a compact witness.
 *
 * Work is cut into chunks of template rows. A chunk is translated once into a plan and then executed for each
 * of its repetitions. Rows fall into three kinds: table rows   at most three bits and a constant, whatever
 * the coefficients: one of eight values made beforehand copies       one field wire with coefficient 1 sums
 * everything else. Consecutive bits whose coefficients double from one to the next (how packed words look,
 * also where a word is counted at several places of the same row) are one small integer times the first
 * coefficient; everything is added up unreduced and reduced once.
 */
#ifndef R1CS_SPMV_H
#define R1CS_SPMV_H
#include "r1cs/r1cs.h"

/* Rows of one or two bits of the segment's usual class: local where it is repeated, global where it is not.
 */
typedef struct table_row1 {
    uint32_t row, pattern, pos;
} table_row1;
typedef struct table_row2 {
    uint32_t row, pattern, pos[2];
} table_row2;
/* The others. Bit 31 of a position: relative to the repetition's first wire. */
#define POS_LOCAL 0x80000000u
typedef struct table_row3 {
    uint32_t row, pattern, pos[3];
} table_row3;

typedef struct copy_row {
    uint32_t row, col;
} copy_row;

enum { RUN_REVERSED = 1, RUN_ALTERNATE = 2 };
#define RUN_MAX 32u
/* Bits pos, pos + 1 ... (ALTERNATE: pos, pos + 2 ...); the first has coefficient coef, each next one twice
 * the last (REVERSED: the last has coef). */
typedef struct bit_run {
    uint32_t pos, coef, length, flags;
} bit_run;

typedef enum term_kind { TERM_PLUS, TERM_MINUS, TERM_PRODUCT } term_kind;
typedef struct field_term {
    uint32_t col, coef, kind;
} field_term;

typedef struct sum_row {
    uint32_t row, constant; /* coefficient of input 0, or NO_CONSTANT */
    /* Where the row's runs and terms end; they begin where the last row's end. Products come before the other
     * terms. */
    uint32_t runs_end, products_end, terms_end;
} sum_row;
#define NO_CONSTANT UINT32_MAX

/* One matrix of a chunk. */
typedef struct spmv_plan {
    table_row1 *one;
    table_row2 *two;
    table_row3 *three;
    copy_row *copy;
    sum_row *sum;
    bit_run *run;
    field_term *term;
    uint32_t ones, twos, threes, copies, sums, runs, terms;
    int imports; /* a term is an import: its place has no stride */
} spmv_plan;

/* Repetitions that are executed side by side. */
#define SPMV_LANES 8u
#define CHUNK_ROWS 512u
#define CHUNK_NNZ  8192u
#define PATTERNS   2048u /* of a worker; a chunk makes at most 3 * CHUNK_ROWS */

/* What a worker needs; allocated before the work starts. */
typedef struct spmv_worker {
    spmv_plan plan[3];
    fr (*pattern)[8]; /* PATTERNS, values by bit 0 + 2 * bit 1 + 4 * bit 2 */
    uint32_t (*pattern_key)[4];
    uint32_t *pattern_slot; /* 2 * PATTERNS, index + 1 */
    uint32_t patterns;
    fr *row_value[3]; /* for checks: SPMV_LANES * CHUNK_ROWS each */
} spmv_worker;

typedef struct spmv_chunk {
    uint32_t segment, first, end; /* template rows */
    uint32_t reserved;
    uint64_t repetition, repetition_end;
} spmv_chunk;

/* Where results go: row i of the first repetition to element first + i of a vector in some order, that of the
 * next one stride further on. */
typedef struct spmv_out {
    fr *base;
    uint64_t first, stride;
    fr_order order;
} spmv_out;

typedef struct spmv {
    const cuzk_circuit_view *circuit;
    const cuzk_witness_view *witness;
    const uint64_t *bits;
    unsigned matrices; /* 2: A and B; 3: C too */
    uint32_t *twice;   /* index of twice a coefficient, or NO_CONSTANT */
    /* Coefficients in 52-bit limbs, for the vector form: times 2^4 for products, plain for sums. NULL: scalar
     * form. */
    uint64_t (*wide_product)[5], (*wide_plain)[5];
    spmv_chunk *chunk;
    size_t chunks;
    spmv_worker *worker;
    unsigned workers;
    void *memory; /* all of the workers' arrays, lent by the pool */
    pool *pool;
    size_t memory_bytes;
    int stream; /* results go past the cache */
} spmv;

cuzk_status spmv_init(spmv *s, const cuzk_circuit_view *c, const cuzk_witness_view *w, unsigned matrices,
                      pool *p, cuzk_error *err) CUZK_MUST_CHECK;
void spmv_clear(spmv *s);
/* Translates a chunk into the worker's plans. */
void spmv_translate(const spmv *s, spmv_worker *w, const spmv_chunk *c);
/* Executes one plan for n <= SPMV_LANES repetitions. */
void spmv_execute(const spmv *s, const spmv_worker *w, const spmv_plan *p, const cuzk_segment *seg,
                  uint64_t repetition, unsigned n, const spmv_out *out);
/* After the last execution of a task: makes what went past the cache visible to other threads. */
void spmv_flush(const spmv *s);
/* The sums of a plan without imports for SPMV_LANES repetitions. */
void spmv_sums_ifma(const spmv *s, const spmv_plan *plan, const cuzk_segment *seg, uint64_t repetition,
                    const spmv_out *out);
#endif
