/* One proof request, whatever its kind: parsed and checked once, then proved partition by partition. What the
 * shell tool, the library and the daemon share. */
#ifndef FILECOIN_TASK_H
#define FILECOIN_TASK_H
#include "base/clock.h"
#include "base/pool.h"
#include "filecoin/registry.h"
#include "gadgets/poseidon.h"

typedef struct proof_bytes {
    const uint8_t *data;
    size_t size;
} proof_bytes;

/* The request as it came: the fields of SubmitProofRequest that say what is to be proved. */
typedef struct proof_request {
    circuit_kind kind;
    int has_registered; /* PoRep: the document says which proof; a number given besides must agree */
    uint64_t registered_proof;
    uint64_t sector_size;             /* 0: derive */
    uint64_t miner_id, sector_number; /* miner_id 0: replica_id of a PoRep is not recomputed */
    proof_bytes c1;                   /* PoRep */
    const proof_bytes *vanilla;       /* PoSt: one a sector; SnapDeals: one a partition */
    size_t vanilla_count;
    int has_randomness;
    uint8_t randomness[32];
    uint8_t comm_r_old[32], comm_r_new[32], comm_d_new[32];
    uint32_t h;                 /* SnapDeals h select; 0: the registered default */
    const cancel_token *cancel; /* looked at while parsing; NULL: never */
} proof_request;

typedef struct proof_task proof_task;
/* Parses; request's bytes may be freed afterwards. */
cuzk_status proof_task_parse(proof_task **out, const proof_request *request, const poseidon_set *ps,
                             cuzk_error *err) CUZK_MUST_CHECK;
/* Checks the vanilla proofs; to be called once before any witness. partition < 0: all. */
cuzk_status proof_task_check(const proof_task *t, int64_t partition, pool *p,
                             cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status proof_task_check_until(const proof_task *t, int64_t partition, pool *p,
                                   const cancel_token *cancel, cuzk_error *err) CUZK_MUST_CHECK;
void proof_task_destroy(proof_task *t);
const circuit_info *proof_task_circuit(const proof_task *t);
uint32_t proof_task_partitions(const proof_task *t);
/* *w is made here, whatever it held (witness_clear; nothing to clear after a failure). */
cuzk_status proof_task_witness(const proof_task *t, uint32_t partition, const r1cs *r, witness *w, pool *p,
                               const cancel_token *cancel, cuzk_error *err) CUZK_MUST_CHECK;
/* Public inputs without the constant one, from public data alone; *count and *inputs (mem_free). */
cuzk_status proof_task_inputs(const proof_task *t, uint32_t partition, fr **inputs, size_t *count,
                              cuzk_error *err) CUZK_MUST_CHECK;
size_t proof_task_bytes(const proof_task *t);
/* The PoRep inside (NULL for other kinds): for tools that print identity. */
struct porep_c1;
const struct porep_c1 *proof_task_porep(const proof_task *t);
#endif
