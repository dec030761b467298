/* A naive Groth16 over circuits of a few hundred rows, for comparison: no transform, no sum over points. It
 * reads the system from the bytes of a .r1cs file, evaluates every polynomial at tau term by term, and makes
 * each point by one multiplication of the generator. Knowing the secrets of the setup, it also writes down
 * the one proof that belongs to a witness, r and s. */
#ifndef SUPPORT_REF_GROTH16_H
#define SUPPORT_REF_GROTH16_H
#include "groth16/groth16.h"
#include "support/random_system.h"

typedef struct ref_row {
    uint32_t n[3];
    uint32_t *wire[3];
    fr *coef[3];
} ref_row;
typedef struct ref_system {
    uint32_t inputs, wires, rows; /* wires: inputs, then aux */
    unsigned log_n;
    ref_row *row;
    fr *value;              /* of the wires */
    fr *a, *b, *c;          /* A_j(tau) and so on */
    fr a_tau, b_tau, c_tau; /* of the witness */
    fr vanishing;           /* tau^n - 1 */
} ref_system;
/* r and w may be of any circuit; t.tau is where the polynomials are evaluated. */
void ref_system_make(ref_system *s, const r1cs *r, const witness *w, const toxic_waste *t);
void ref_system_clear(ref_system *s);
/* The exponents of a section of the parameter file in order ("h", "l", "a", "b_g1", "b_g2"), zeros left out
 * of a and b. Free with free(). */
fr *ref_section(const ref_system *s, const toxic_waste *t, const char *name, size_t *count);
/* ic_j = exponent * generator. */
fr *ref_ic(const ref_system *s, const toxic_waste *t);
void ref_prove(uint8_t proof[GROTH16_PROOF_BYTES], const ref_system *s, const toxic_waste *t, const fr *r,
               const fr *k);
void ref_g1(g1_affine *out, const fr *k); /* k * generator */
void ref_g2(g2_affine *out, const fr *k);

/* A random circuit in its compiled form (under cs_repeat) with its witness. */
typedef struct test_circuit {
    random_system unrolled;
    r1cs *r;
    witness w;
} test_circuit;
void test_circuit_make(test_circuit *c, random_system shape);
/* The same with one more row, (sum of the wires that no row mentions) * 0 = 0: a setup refuses such wires. */
void test_circuit_make_closed(test_circuit *c, random_system shape);
void test_circuit_clear(test_circuit *c);
/* A path in a new folder of its own under $TMPDIR, for the life of the process. */
const char *test_path(const char *name);
#endif
