/* Any circuit: verifying keys and proofs, and circuits stated by calls, with their setup, witnesses and
 * proofs.
 *
 * Field elements cross this interface as 32 bytes, little-endian, canonical; a value that is not below the
 * order of the field is CUZK_BAD_INPUT. */
#ifndef CUZK_PROVER_H
#define CUZK_PROVER_H
#include "cuzk/cuzk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- verifying ---- */
typedef struct cuzk_vk cuzk_vk; /* immutable; shared freely between threads */
/* Every point is checked. The file may be a .vk or a .params, which begins with one. */
CUZK_API cuzk_status cuzk_vk_open(cuzk_vk **out, const char *path, cuzk_error *err) CUZK_MUST_CHECK;
CUZK_API void cuzk_vk_close(cuzk_vk *vk);
CUZK_API size_t cuzk_vk_inputs(const cuzk_vk *vk); /* public inputs, without the constant one */
/* CUZK_OK: valid. CUZK_INVALID_PROOF: it does not decode or does not verify. CUZK_BAD_INPUT: a wrong size, or
 * an input that is no field element. CUZK_INCONSISTENT: another number of inputs than the key has. */
CUZK_API cuzk_status cuzk_verify(const cuzk_vk *vk, const uint8_t *proof, size_t proof_size,
                                 const uint8_t (*inputs)[32], size_t input_count,
                                 cuzk_error *err) CUZK_MUST_CHECK;
/* count proofs one after the other, each with input_count inputs, at about a third of the cost. *bad (may be
 * NULL): the first invalid one. */
CUZK_API cuzk_status cuzk_verify_batch(const cuzk_vk *vk, const uint8_t *proofs, size_t proofs_size,
                                       size_t count, const uint8_t (*inputs)[32], size_t input_count,
                                       size_t *bad, cuzk_error *err) CUZK_MUST_CHECK;

/* ---- stating a circuit ---- */
typedef struct cuzk_circuit cuzk_circuit; /* immutable; shared freely between threads */
typedef struct cuzk_builder cuzk_builder; /* lives during the call of a cuzk_synth_fn */
typedef uint32_t cuzk_var;
#define CUZK_ONE 0u /* the constant one */
typedef struct cuzk_term {
    cuzk_var v;
    uint8_t coefficient[32];
} cuzk_term;
/* Wires in order. The value of a bit is 0 or 1; the circuit must say so by a row (v * v = v), the builder
 * does not. */
CUZK_API cuzk_var cuzk_alloc_input(cuzk_builder *b); /* public */
CUZK_API cuzk_var cuzk_alloc_bit(cuzk_builder *b);
CUZK_API cuzk_var cuzk_alloc_field(cuzk_builder *b);
/* Row: (sum of a) * (sum of b) = (sum of c). Like terms may repeat. */
CUZK_API void cuzk_enforce(cuzk_builder *b, const cuzk_term *a, size_t a_count, const cuzk_term *b_terms,
                           size_t b_count, const cuzk_term *c, size_t c_count);
typedef void cuzk_synth_fn(cuzk_builder *b, void *ctx);
/* Runs synth once and compiles what it states. A coefficient that is no field element, or memory that is
 * missing, surfaces here. */
CUZK_API cuzk_status cuzk_circuit_create(cuzk_circuit **out, const char *name, cuzk_synth_fn *synth,
                                         void *synth_ctx, cuzk_error *err) CUZK_MUST_CHECK;
CUZK_API void cuzk_circuit_destroy(cuzk_circuit *circuit);
typedef struct cuzk_counts {
    uint64_t inputs, wires,
        constraints; /* inputs with the constant one; constraints with one more row an input */
} cuzk_counts;
CUZK_API void cuzk_circuit_counts(const cuzk_circuit *circuit, cuzk_counts *out);
/* Writes the parameters and, where vk_path is not NULL, the key. test: the secrets are derived from public
 * labels, so that others get the same bytes; such parameters prove nothing to anyone. Otherwise they are
 * random and forgotten: whoever runs this could have kept them, so parameters that others are to trust need a
 * ceremony. */
CUZK_API cuzk_status cuzk_setup(cuzk_ctx *ctx, const cuzk_circuit *circuit, int test, const char *params_path,
                                const char *vk_path, cuzk_progress_fn *progress, void *progress_ctx,
                                cuzk_error *err) CUZK_MUST_CHECK;

/* ---- proving ---- */
typedef struct cuzk_witness cuzk_witness;
CUZK_API cuzk_status cuzk_witness_create(cuzk_witness **out, const cuzk_circuit *circuit,
                                         cuzk_error *err) CUZK_MUST_CHECK;
CUZK_API void cuzk_witness_destroy(cuzk_witness *w); /* wiped */
/* Sets a wire; what is never set is 0. A bit takes 0 and 1 only. */
CUZK_API cuzk_status cuzk_witness_set(cuzk_witness *w, cuzk_var v, const uint8_t value[32],
                                      cuzk_error *err) CUZK_MUST_CHECK;
/* CUZK_UNSATISFIED names the first row that does not hold. */
CUZK_API cuzk_status cuzk_witness_check(const cuzk_witness *w, cuzk_error *err) CUZK_MUST_CHECK;

typedef struct cuzk_prover cuzk_prover; /* a circuit and its parameters on the context's device */
CUZK_API cuzk_status cuzk_prover_open(cuzk_prover **out, cuzk_ctx *ctx, const cuzk_circuit *circuit,
                                      const char *params_path, cuzk_error *err) CUZK_MUST_CHECK;
CUZK_API void cuzk_prover_close(cuzk_prover *p);
/* The proof has been verified when it is returned; CUZK_UNSATISFIED where the witness is wrong. */
CUZK_API cuzk_status cuzk_prove(cuzk_prover *p, uint8_t proof[CUZK_PROOF_BYTES], const cuzk_witness *w,
                                const cuzk_stop *stop, cuzk_error *err) CUZK_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
