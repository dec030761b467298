/* Groth16 over BLS12-381: parameter files, setup, proving, verification.
 * Source: J. Groth, "On the Size of Pairing-Based Non-interactive Arguments", EUROCRYPT 2016; the file layout
 * is bellperson's (docs/formats.md). */
#ifndef GROTH16_GROTH16_H
#define GROTH16_GROTH16_H
#include "base/clock.h"
#include "curve/curve.h"
#include "cuzk/backend.h"
#include "r1cs/r1cs.h"

#define GROTH16_PROOF_BYTES 192

typedef struct verifying_key {
    g1_affine alpha_g1, beta_g1, delta_g1;
    g2_affine beta_g2, gamma_g2, delta_g2;
    uint32_t ic_count;
    g1_affine *ic;
    blst_fp12 alpha_beta; /* e(alpha, beta), made once */
    g2_affine gamma_neg, delta_neg;
} verifying_key;
/* Reads a .vk from memory: curve and subgroup of every point are checked, infinity is refused. *used: bytes
 * read. */
cuzk_status vk_parse(verifying_key *vk, const uint8_t *data, size_t size, size_t *used,
                     cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status vk_open(verifying_key *vk, const char *path, cuzk_error *err) CUZK_MUST_CHECK;
/* The same from a parameter file, which begins with its key. */
cuzk_status vk_open_params(verifying_key *vk, const char *path, cuzk_error *err) CUZK_MUST_CHECK;
void vk_clear(verifying_key *vk);
/* Bytes of a .vk: 96*3 + 192*3 + 4 + 96 * ic_count. */
size_t vk_bytes(const verifying_key *vk);
void vk_encode(uint8_t *out, const verifying_key *vk);
#define VK_HEAD_BYTES (3 * 96 + 3 * 192 + 4) /* up to the ic points */
/* A .vk whose points are set; makes the derived members. vk->ic is taken over. */
void vk_finish(verifying_key *vk);

/* An opened .params file: lengths are checked against the file's size before anything is read. The map gives
 * the queries their addresses; the bytes are read by q.read, so that a file cut while in use is an error and
 * not a SIGBUS. */
typedef struct params {
    file_map map;
    char *path;
    verifying_key vk;
    cuzk_query_view q; /* into the map */
} params;
cuzk_status params_open(params **out, const char *path, cuzk_error *err) CUZK_MUST_CHECK;
void params_close(params *p);
/* Reads size bytes at offset. Thread-safe. CUZK_BAD_INPUT where the file has been cut since it was opened. */
cuzk_status params_read(const params *p, void *dst, uint64_t offset, size_t size,
                        cuzk_error *err) CUZK_MUST_CHECK;
/* The sections of the file after the key, in its order. */
typedef struct params_section {
    const char *name; /* "h", "l", "a", "b_g1", "b_g2" */
    uint64_t offset, count;
    uint32_t point_bytes;
} params_section;
#define PARAMS_SECTIONS 5
void params_get_section(const params *p, int i, params_section *out);
/* Does it fit the circuit: counts of inputs, aux, densities, domain? */
cuzk_status params_match(const params *p, const r1cs *r, cuzk_error *err) CUZK_MUST_CHECK;
/* Every point: encoding, curve, subgroup. progress (may be NULL) is called with done and total. */
typedef void progress_fn(void *ctx, uint64_t done, uint64_t total);
cuzk_status params_check(const params *p, pool *pl, progress_fn *progress, void *ctx,
                         cuzk_error *err) CUZK_MUST_CHECK;
/* First 16 bytes of BLAKE2b-512 of the file, and its SHA-256 if sha256 is not NULL. */
cuzk_status params_digest(const params *p, uint8_t blake2b_head[16], uint8_t sha256[32],
                          progress_fn *progress, void *ctx, cuzk_error *err) CUZK_MUST_CHECK;

typedef struct toxic_waste {
    fr alpha, beta, gamma, delta, tau;
} toxic_waste;
/* fr("alpha") and so on, as golden/README.md states: public, for tests only. */
void toxic_waste_test(toxic_waste *t);
cuzk_status toxic_waste_random(toxic_waste *t, cuzk_error *err) CUZK_MUST_CHECK; /* wipe with mem_wipe */
/* fr(label): SHA-256("cuzk-test-srs:" label), two top bits cleared, little-endian. */
void test_fr(fr *out, const char *label);
/* Writes .params and .vk (temporary names, renamed). */
cuzk_status groth16_setup(const r1cs *r, const toxic_waste *t, const char *params_path, const char *vk_path,
                          pool *p, progress_fn *progress, void *ctx, cuzk_error *err) CUZK_MUST_CHECK;

typedef struct groth16_times { /* milliseconds */
    double multiply, quotient, msm_h, msm_l, msm_a, msm_b_g1, msm_b_g2, finish, verify, total;
} groth16_times;
/* r, s: NULL for fresh randomness from the kernel (always, outside tests). The proof is verified before it is
 * returned; an invalid one is CUZK_INVALID_PROOF and out is wiped. times may be NULL. */
typedef struct groth16_prover groth16_prover; /* a device, a key on it, a verifying key */
cuzk_status groth16_prover_create(groth16_prover **out, const cuzk_backend *backend, cuzk_device *device,
                                  const r1cs *r, const params *p, cuzk_error *err) CUZK_MUST_CHECK;
void groth16_prover_destroy(groth16_prover *g);
/* Which plan the device chose for the key, in words, and the device memory it holds. */
const char *groth16_prover_plan(const groth16_prover *g);
uint64_t groth16_prover_bytes(const groth16_prover *g);
cuzk_status groth16_prove(groth16_prover *g, const witness *w, const fr *r, const fr *s,
                          uint8_t out[GROTH16_PROOF_BYTES], groth16_times *times, const cancel_token *cancel,
                          cuzk_error *err) CUZK_MUST_CHECK;
/* The two halves, for pipelines: start returns when the device is free for the next witness; finish assembles
 * the proof and verifies it. */
typedef struct groth16_job groth16_job;
cuzk_status groth16_prove_start(groth16_prover *g, groth16_job **out, const witness *w,
                                const cancel_token *cancel, cuzk_error *err) CUZK_MUST_CHECK;
/* The same for several witnesses that share each pass over the queries: jobs receives count of them, each to
 * be finished by groth16_prove_finish, or none on failure. */
cuzk_status groth16_prove_batch_start(groth16_prover *g, groth16_job **jobs, const witness *const *w,
                                      uint32_t count, const cancel_token *cancel,
                                      cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status groth16_prove_finish(groth16_job *job, const fr *r, const fr *s, uint8_t out[GROTH16_PROOF_BYTES],
                                 groth16_times *times, cuzk_error *err) CUZK_MUST_CHECK; /* frees job */

/* Several proofs that share each pass over the queries: what a device that streams them wants. r, s: count
 * values or NULL. out: count proofs. times (may be NULL): count entries. On failure *bad (may be NULL) is the
 * first proof that failed by itself, or count where the device failed; every proof of out is wiped. */
cuzk_status groth16_prove_batch(groth16_prover *g, const witness *const *w, uint32_t count, const fr *r,
                                const fr *s, uint8_t *out, groth16_times *times, uint32_t *bad,
                                const cancel_token *cancel, cuzk_error *err) CUZK_MUST_CHECK;

/* CUZK_OK: valid. CUZK_INVALID_PROOF: it does not decode or does not verify. inputs: ic_count - 1 values
 * (without the constant one), canonical. */
cuzk_status groth16_verify(const verifying_key *vk, const uint8_t proof[GROTH16_PROOF_BYTES],
                           const fr *inputs, size_t n, cuzk_error *err) CUZK_MUST_CHECK;
/* Several proofs of one key at once by a random linear combination; on failure *bad is the first invalid one.
 * inputs: count * n values. */
cuzk_status groth16_verify_batch(const verifying_key *vk, const uint8_t *proofs, size_t count,
                                 const fr *inputs, size_t n, size_t *bad, cuzk_error *err) CUZK_MUST_CHECK;
/* ---- pieces that other provers of the same proof system share (circom's) ---- */
/* The smallest k with 2^k >= rows. */
unsigned domain_log_for(uint64_t rows);
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
