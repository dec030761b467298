/* SnapDeals (EmptySectorUpdate): vanilla proofs, their check, the public inputs, the circuit. */
#ifndef FILECOIN_UPDATE_H
#define FILECOIN_UPDATE_H
#include "filecoin/task.h"
#include "gadgets/boolean.h"
#include "gadgets/merkle.h"

#define UPDATE_MAX_APEX       128
#define UPDATE_MAX_CHALLENGES 86
#define UPDATE_H_VALUES       6 /* values of h that a circuit offers; the public input selects one */
/* What a sector size fixes; made by update_shape. */
typedef struct update_shape {
    uint32_t partitions, challenges; /* challenges per partition */
    uint32_t challenge_bits;         /* bits of a leaf's number */
    uint32_t partition_bits;         /* its highest bits */
    uint32_t apex_bits,
        apex_leaves; /* a partition's nodes of tree D that the circuit hashes up to its root */
    uint32_t h[UPDATE_H_VALUES];
    merkle_shape tree_r, tree_d;
} update_shape;
/* -1: no such sector size. */
int update_shape_of(update_shape *s, uint64_t sector_size);

typedef struct update_challenge {
    merkle_proof r_old, d_new, r_new;
} update_challenge;
typedef struct update_partition {
    uint8_t comm_c[32];
    uint8_t *apex;               /* shape.apex_leaves * 32 bytes */
    update_challenge *challenge; /* shape.challenges of them */
} update_partition;
/* What the chain knows of an update. */
typedef struct update_public {
    const registered_update *update;
    uint8_t comm_r_old[32], comm_d_new[32], comm_r_new[32];
    uint32_t h; /* 0: the registered default */
} update_public;
typedef struct update_input {
    update_public pub; /* h is set */
    const circuit_info *circuit;
    update_shape shape;
    update_partition *partition; /* shape.partitions of them */
    void *arena;
    size_t bytes;
} update_input;
/* Parses one vanilla proof a partition, in order; count must be the number of partitions. The bytes may be
 * freed afterwards. Errors name partition, challenge and tree. */
cuzk_status update_parse(update_input **out, const update_public *pub, const proof_bytes *proofs,
                         size_t count, cuzk_error *err) CUZK_MUST_CHECK;
void update_free(update_input *in);

/* Hashes that the challenges of a partition are cut from. */
uint32_t update_digests(const update_shape *s);
/* Challenged leaves of a partition; they depend on comm_r_new alone. */
cuzk_status update_challenges(uint64_t *out /* shape.challenges */, const update_shape *s,
                              const poseidon_set *ps, const uint8_t comm_r_new[32], uint32_t partition,
                              cuzk_error *err) CUZK_MUST_CHECK;
/* rho of a leaf: what its new data is multiplied with. phi = H(comm_d_new, comm_r_old), rho = H(phi, the h
 * highest bits of the leaf's number). */
cuzk_status update_phi(fr *phi, const poseidon_set *ps, const uint8_t comm_d_new[32],
                       const uint8_t comm_r_old[32], cuzk_error *err) CUZK_MUST_CHECK;
void update_rho(fr *rho, const update_shape *s, const poseidon_set *ps, const fr *phi, uint32_t h,
                uint64_t leaf);

cuzk_status update_check(const update_input *in, int64_t partition, const poseidon_set *ps, pool *p,
                         cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status update_check_until(const update_input *in, int64_t partition, const poseidon_set *ps, pool *p,
                               const cancel_token *cancel, cuzk_error *err) CUZK_MUST_CHECK;
/* k and h select packed, comm_r_old, comm_d_new, comm_r_new. */
#define UPDATE_PUBLIC_INPUTS 4
size_t update_public_input_count(const circuit_info *ci);
cuzk_status update_public_inputs(fr *out, size_t n, const update_public *pub, uint32_t partition,
                                 cuzk_error *err) CUZK_MUST_CHECK;

/* ---- circuit (src/filecoin/circuits/) ---- */
typedef struct update_circuit {
    const circuit_info *info;
    const poseidon_set *ps;
} update_circuit;
void update_synthesize(cs *c, void *ctx); /* a circuit_fn; ctx is an update_circuit */
cuzk_status update_witness(witness *w, const r1cs *r, const update_input *in, uint32_t partition,
                           const poseidon_set *ps, pool *p, const cancel_token *cancel,
                           cuzk_error *err) CUZK_MUST_CHECK;
#endif
