/* Circuits of circom 2 over BLS12-381, in the files of iden3 and snarkjs 0.7: .r1cs v1, .wtns v2, .zkey
 * (Groth16), and the JSON of proofs, public signals and verification keys.
 *
 * Wires: 0 is the constant one, then public outputs and inputs, then the rest. Field elements in files are
 * little-endian; in a .zkey points are Montgomery limbs (all zeros is infinity) and coefficients carry the
 * factor R^2. The domain's root is 5^((r-1)/2^k); H is on the odd coset of the doubled domain.
 *
 * Every file is mapped, and every count and length is checked against the file's size before it is used. A
 * file over another field gets a sentence that says so. */
#ifndef CIRCOM_CIRCOM_H
#define CIRCOM_CIRCOM_H
#include "base/pool.h"
#include "groth16/groth16.h"

/* ---- sections that all these files consist of ---- */
#define BINFILE_MAX_SECTIONS 32
typedef struct binfile {
    file_map map;
    char *path;
    uint32_t version;
    const uint8_t *section[BINFILE_MAX_SECTIONS]; /* by type; NULL: not there */
    uint64_t size[BINFILE_MAX_SECTIONS];
} binfile;
/* magic: "r1cs", "wtns" or "zkey". A section that is missing (of those named in required, a mask by type),
 * twice, or longer than the file is an error. */
cuzk_status binfile_open(binfile *f, const char *path, const char *magic, uint32_t max_version,
                         uint32_t required, cuzk_error *err) CUZK_MUST_CHECK;
void binfile_close(binfile *f);
/* The prime of a header: 32 bytes, the scalar field of BLS12-381. */
cuzk_status binfile_check_scalar_field(const binfile *f, uint32_t n8, const uint8_t *prime, size_t available,
                                       cuzk_error *err) CUZK_MUST_CHECK;

/* ---- .r1cs ---- */
typedef struct circom_r1cs {
    binfile f;
    uint32_t wires, public_outputs, public_inputs, private_inputs, constraints;
    uint64_t labels;
    const uint8_t *rows; /* of section 2, checked: every term's wire and length */
    uint64_t terms[3];
} circom_r1cs;
cuzk_status circom_r1cs_open(circom_r1cs *r, const char *path, cuzk_error *err) CUZK_MUST_CHECK;
void circom_r1cs_close(circom_r1cs *r);
/* Calls term for every term, in the file's order. */
typedef void circom_term_fn(void *ctx, int matrix, uint32_t row, uint32_t wire, const fr *value);
cuzk_status circom_r1cs_each(const circom_r1cs *r, circom_term_fn *term, void *ctx,
                             cuzk_error *err) CUZK_MUST_CHECK;
/* Compiles it for groth16_setup and groth16_prove with .params files; every wire is a field element. */
cuzk_status circom_r1cs_compile(r1cs **out, const circom_r1cs *r, cuzk_error *err) CUZK_MUST_CHECK;

/* ---- .wtns ---- */
/* count values (the constant one first); big_free(*values, count * sizeof(fr)). */
cuzk_status circom_wtns_read(fr **values, uint32_t *count, const char *path, cuzk_error *err) CUZK_MUST_CHECK;
/* As the compact witness of a circuit made by circom_r1cs_compile. */
cuzk_status circom_witness(witness *w, const r1cs *r, const fr *values, uint32_t count,
                           cuzk_error *err) CUZK_MUST_CHECK;

/* ---- .zkey ---- */
typedef struct circom_zkey {
    binfile f;
    uint32_t wires, publics, domain; /* publics: without the constant one */
    unsigned domain_log;
    verifying_key vk;
    const uint8_t *coefs; /* coef_count entries of 44 bytes: matrix, row, wire, value */
    uint32_t coef_count;
    const uint8_t *a, *b1, *b2, *l, *h; /* points in the map, not aligned */
} circom_zkey;
cuzk_status circom_zkey_open(circom_zkey *z, const char *path, cuzk_error *err) CUZK_MUST_CHECK;
void circom_zkey_close(circom_zkey *z);
/* Every point: curve and subgroup. */
cuzk_status circom_zkey_check(const circom_zkey *z, pool *p, cuzk_error *err) CUZK_MUST_CHECK;
/* r, s: NULL for randomness from the kernel. Verified before it is returned; values that do not satisfy the
 * circuit are CUZK_UNSATISFIED. */
cuzk_status circom_prove(const circom_zkey *z, const fr *values, uint32_t count, const fr *r, const fr *s,
                         uint8_t out[GROTH16_PROOF_BYTES], pool *p, cuzk_error *err) CUZK_MUST_CHECK;
/* A .zkey of a circuit, without contributions of others. */
cuzk_status circom_setup(const circom_r1cs *r, const toxic_waste *t, const char *zkey_path, pool *p,
                         cuzk_error *err) CUZK_MUST_CHECK;

/* ---- JSON (needs libjansson for reading) ---- */
cuzk_status circom_write_proof(const char *path, const uint8_t proof[GROTH16_PROOF_BYTES],
                               cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status circom_write_public(const char *path, const fr *values, size_t count,
                                cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status circom_write_vkey(const char *path, const verifying_key *vk, cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status circom_read_proof(uint8_t proof[GROTH16_PROOF_BYTES], const char *path,
                              cuzk_error *err) CUZK_MUST_CHECK;
/* *values: mem_free. Numbers as decimal strings, < r. */
cuzk_status circom_read_public(fr **values, size_t *count, const char *path, cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status circom_read_vkey(verifying_key *vk, const char *path, cuzk_error *err) CUZK_MUST_CHECK;
#endif
