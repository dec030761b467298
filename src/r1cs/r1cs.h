/* Rank-1 constraint systems: a streaming builder, compiled matrices, compact witnesses.
 *
 * Variables. A var is a column as the digests count it: inputs 0, 1, 2 ... (input 0 is the constant one), aux
 * wires index | VAR_AUX. A wire is boolean (its value is 0 or 1 by construction of the circuit: one bit of
 * storage) or a field element; the kind is fixed when it is allocated. Inputs are field elements.
 *
 * Repetition. Large circuits repeat a body (a challenge, a sector) many times, with the same rows on shifted
 * wires. cs_repeat states that: the body is synthesised once and stored once, whatever the count. Inside the
 * body a row may mention (a) wires and inputs allocated by the body: they shift from one repetition to the
 * next; (b) wires and inputs allocated before the repeat: they are shared; (c) imports: per-repetition wires
 * from before, given as a table. Inside the body wires have the numbers of repetition 0; those of repetition
 * i follow at a stride of (wires after the repeat - wires before it) / count. */
#ifndef R1CS_R1CS_H
#define R1CS_R1CS_H
#include "base/file.h"
#include "base/pool.h"
#include "cuzk/types.h"
#include "field/field.h"
#include "field/order.h"

typedef uint32_t var;
#define VAR_AUX 0x80000000u
#define VAR_ONE 0u

/* ---- linear combinations ---- */
typedef struct lc_term {
    var v;
    fr c;
} lc_term;
/* A growable sum of terms in any order, like terms allowed; finished (sorted, merged, zeros dropped) by
 * cs_enforce. */
typedef struct lc {
    lc_term *t;
    uint32_t n, cap;
    uint32_t failed; /* memory ran out: the sum is incomplete and cs_enforce fails the circuit */
} lc;
void lc_init(lc *l);  /* no allocation */
void lc_clear(lc *l); /* frees; l may be used again */
void lc_reset(lc *l); /* n = 0, keeps memory */
void lc_add(lc *l, var v, const fr *c);
void lc_add_one(lc *l, var v);                       /* coefficient 1 */
void lc_sub_one(lc *l, var v);                       /* coefficient -1 */
void lc_add_lc(lc *l, const lc *o, const fr *scale); /* l += scale * o; scale NULL is 1 */
void lc_scale(lc *l, const fr *c);
void lc_copy(lc *to, const lc *from);
void lc_compact(lc *l); /* sorted by var, merged, zeros dropped */

/* ---- builder ---- */
typedef struct cs cs;
var cs_alloc_bit(cs *c);
var cs_alloc_field(cs *c);
var cs_alloc_input(cs *c);
/* Row (a) * (b) = (c). The three are read, compacted in place and may be reused afterwards. */
void cs_enforce(cs *c, lc *a, lc *b, lc *d);
/* Names for people: the path of a row in messages ("challenge_0/labels/..."). Cheap; literal strings only
 * (kept by pointer); index < 0 for none. */
void cs_push(cs *c, const char *name, int64_t index);
void cs_pop(cs *c);
/* body(cs, ctx) synthesised once, standing for count repetitions. imports: count * import_count vars (row
 * major), NULL if import_count is 0; inside the body cs_import(c, k) is the var that stands for import k. Not
 * nested. count 0 does nothing. In paths the number of the repetition is appended to the innermost name
 * pushed before the repeat: cs_push(c, "challenge", -1), cs_repeat(c, ...) gives "challenge_7/...". */
void cs_repeat(cs *c, uint64_t count, void (*body)(cs *c, void *ctx), void *ctx, const var *imports,
               uint32_t import_count);
var cs_import(cs *c, uint32_t k);
uint32_t cs_input_count(const cs *c);
uint64_t cs_aux_count(const cs *c);

/* ---- the compiled circuit ---- */
typedef struct r1cs r1cs; /* immutable; in memory or mapped from its cache file */
typedef void circuit_fn(cs *c, void *ctx);

/* Runs synth and compiles what it states; the closing rows of the public inputs (input_i) * 0 = 0 are
 * appended. name is stored. Memory failures inside the builder surface here. */
cuzk_status r1cs_compile(r1cs **out, const char *name, circuit_fn *synth, void *ctx,
                         cuzk_error *err) CUZK_MUST_CHECK;
void r1cs_destroy(r1cs *r);
cuzk_status r1cs_save(const r1cs *r, const char *path, cuzk_error *err) CUZK_MUST_CHECK;
/* Maps a cache file; checks version, name, lengths and (when verify) the digest of the content. */
cuzk_status r1cs_open(r1cs **out, const char *path, const char *name, int verify,
                      cuzk_error *err) CUZK_MUST_CHECK;

typedef struct r1cs_counts {
    uint64_t inputs, aux, constraints; /* constraints include the closing rows */
    uint64_t nnz_a, nnz_b, nnz_c, distinct_coefficients;
    uint64_t a_aux_density, b_aux_density, b_input_density;
    uint64_t bits, fields; /* aux wires by kind */
} r1cs_counts;
void r1cs_get_counts(const r1cs *r, r1cs_counts *out);
const char *r1cs_name(const r1cs *r);

/* Column encoding, matrices and segments: cuzk/types.h. */
typedef cuzk_matrix r1cs_matrix;
typedef cuzk_segment r1cs_segment;
size_t r1cs_segment_count(const r1cs *r);
const r1cs_segment *r1cs_segment_at(const r1cs *r, size_t i);
/* The dictionary: index 0 is 1, index 1 is -1. */
const fr *r1cs_dictionary(const r1cs *r, size_t *count);
size_t r1cs_memory(const r1cs *r); /* bytes of the compiled form */
/* Everything a back end reads, maps included (made on first use). Borrowed from r. */
cuzk_status r1cs_view(const r1cs *r, cuzk_circuit_view *out, cuzk_error *err) CUZK_MUST_CHECK;

/* Kinds of the aux wires, one bit each (1 = field), ceil(aux / 64) words; made on first use and kept. NULL on
 * failure. */
const uint64_t *r1cs_field_map(const r1cs *r);
/* Aux wires with a non-zero coefficient in A (B), one bit each; likewise inputs of B (A's are all set by the
 * closing rows). These say which points the A and B queries hold. */
const uint64_t *r1cs_a_density(const r1cs *r);
const uint64_t *r1cs_b_density(const r1cs *r);
const uint64_t *r1cs_b_input_density(const r1cs *r);

/* Digest as golden/structure states it: SHA-256 over all rows and per block of rows_per_block rows (0: none).
 * report is called once a block. path of a row: for messages. */
typedef void r1cs_block_fn(void *ctx, uint64_t block, uint64_t first_row, const char *path,
                           const uint8_t sha256[32]);
cuzk_status r1cs_digest(const r1cs *r, uint8_t rows_sha256[32], uint64_t rows_per_block,
                        r1cs_block_fn *report, void *ctx, pool *p, cuzk_error *err) CUZK_MUST_CHECK;
/* circom .r1cs v1 with wires: inputs (the constant first), then aux. */
cuzk_status r1cs_write_circom(const r1cs *r, const char *path, cuzk_error *err) CUZK_MUST_CHECK;
/* Name path of a row, from the names pushed while compiling ("" after opening from a cache without names). */
void r1cs_row_path(const r1cs *r, uint64_t row, char *out, size_t out_size);

/* ---- compact witness ---- */
typedef struct witness {
    uint64_t inputs, aux, fields;
    fr *input;      /* inputs values; input[0] = 1 */
    uint64_t *bits; /* one bit per aux wire; 0 at field wires */
    fr *field;      /* values of the field wires, in order */
    size_t bytes;   /* allocated */
} witness;
/* Sized for the circuit; zeroed, input[0] = 1. */
cuzk_status witness_init(witness *w, uint64_t inputs, uint64_t aux, uint64_t fields,
                         cuzk_error *err) CUZK_MUST_CHECK;
void witness_clear(witness *w); /* wipes and frees */
/* Value of any wire. */
void witness_value(fr *out, const r1cs *r, const witness *w, var v);

/* SHA-256 of all inputs, of all aux values (32 bytes LE each), of aux in blocks; counts of aux zeros and
 * ones. */
typedef struct witness_digest {
    uint8_t inputs[32], aux[32];
    uint64_t zero, one;
} witness_digest;
typedef void witness_block_fn(void *ctx, uint64_t block, const uint8_t sha256[32]);
cuzk_status witness_get_digest(witness_digest *out, const r1cs *r, const witness *w, uint64_t aux_per_block,
                               witness_block_fn *report, void *ctx, cuzk_error *err) CUZK_MUST_CHECK;
/* snarkjs .wtns v2: inputs then aux. */
cuzk_status witness_write_wtns(const r1cs *r, const witness *w, const char *path,
                               cuzk_error *err) CUZK_MUST_CHECK;

/* A writing position inside a witness. Several threads may write disjoint ranges of the same witness at once:
 * whole 64-bit words are stored, the shared ones at both ends are merged atomically. */
typedef struct wcursor {
    witness *w;
    uint64_t aux;     /* next aux wire */
    uint64_t field;   /* next field wire */
    uint64_t pending; /* bits not yet stored; the lowest belongs to wire aux - pending_bits */
    unsigned pending_bits;
    int first; /* the next word to be stored may be shared with another cursor */
} wcursor;
void wcursor_init(wcursor *c, witness *w, uint64_t aux, uint64_t field);
void wcursor_finish(wcursor *c); /* stores what is pending */
/* n <= 64 boolean wires, the lowest bit first; higher bits of v must be 0. */
void wcursor_bits(wcursor *c, uint64_t v, unsigned n);
void wcursor_bytes(wcursor *c, const uint8_t *bytes, size_t n); /* 8n wires, lowest bit of each byte first */
void wcursor_field(wcursor *c, const fr *v);

/* a = A w, b = B w for all rows (constraints many; the caller pads). Montgomery form. One pass over both
 * matrices. */
cuzk_status r1cs_multiply(const r1cs *r, const witness *w, fr *a, fr *b, pool *p,
                          cuzk_error *err) CUZK_MUST_CHECK;
/* The same from views (of a back end), into vectors of the given order; densities and field map are not read.
 * The shapes must match. */
cuzk_status r1cs_multiply_view(const cuzk_circuit_view *c, const cuzk_witness_view *w, fr *a, fr *b,
                               fr_order order, pool *p, cuzk_error *err) CUZK_MUST_CHECK;
cuzk_witness_view witness_view(const witness *w); /* borrowed */
/* Checks every row; CUZK_UNSATISFIED names the first failing row and its path. */
cuzk_status r1cs_check(const r1cs *r, const witness *w, pool *p, cuzk_error *err) CUZK_MUST_CHECK;
#endif
