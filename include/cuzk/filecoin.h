/* Filecoin's proofs: a request in, checked and proved partition by partition; and verification from public
 * data. */
#ifndef CUZK_FILECOIN_H
#define CUZK_FILECOIN_H
#include "cuzk/cuzk.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cuzk_bytes {
    const uint8_t *data;
    size_t size;
} cuzk_bytes;

/* ---- proving ---- */
typedef enum cuzk_kind { CUZK_POREP, CUZK_WINNING_POST, CUZK_WINDOW_POST, CUZK_SECTOR_UPDATE } cuzk_kind;
/* What is to be proved. Members that a kind does not use stay zero. */
typedef struct cuzk_request {
    cuzk_kind kind;
    int has_registered_proof; /* PoRep: 0, the document says it; a number given besides must agree */
    uint64_t registered_proof;
    uint64_t sector_size;             /* 0: derived */
    uint64_t miner_id, sector_number; /* PoRep: miner_id 0: the replica id is taken as the document has it */
    cuzk_bytes document;              /* PoRep: the C1 document, bare or as Curio wraps it */
    const cuzk_bytes *vanilla;        /* PoSt: one proof a sector; update: one a partition */
    size_t vanilla_count;
    const uint8_t *randomness;                           /* PoSt: 32 bytes */
    const uint8_t *comm_r_old, *comm_r_new, *comm_d_new; /* update: 32 bytes each */
} cuzk_request;

typedef struct cuzk_task cuzk_task;
/* Parses the request and checks its vanilla proofs: CUZK_BAD_INPUT or CUZK_INCONSISTENT name the member and
 * the place. The request's bytes may be freed afterwards. */
CUZK_API cuzk_status cuzk_task_create(cuzk_task **out, cuzk_ctx *ctx, const cuzk_request *request,
                                      cuzk_error *err) CUZK_MUST_CHECK;
CUZK_API void cuzk_task_destroy(cuzk_task *task);
CUZK_API const char *cuzk_task_circuit(const cuzk_task *task); /* "porep-32g" */
CUZK_API uint32_t cuzk_task_partitions(const cuzk_task *task);
/* One partition. The parameters of the last circuit stay loaded in the context. */
CUZK_API cuzk_status cuzk_task_prove_partition(cuzk_task *task, uint32_t partition,
                                               uint8_t proof[CUZK_PROOF_BYTES], const cuzk_stop *stop,
                                               cuzk_error *err) CUZK_MUST_CHECK;
/* All partitions in order; size must be cuzk_task_partitions * CUZK_PROOF_BYTES. */
CUZK_API cuzk_status cuzk_task_prove(cuzk_task *task, uint8_t *proof, size_t size, cuzk_progress_fn *progress,
                                     void *progress_ctx, const cuzk_stop *stop,
                                     cuzk_error *err) CUZK_MUST_CHECK;
/* Verifies a proof against the public data of the task. */
CUZK_API cuzk_status cuzk_task_verify(cuzk_task *task, const uint8_t *proof, size_t size,
                                      cuzk_error *err) CUZK_MUST_CHECK;

/* ---- verifying from what the chain knows ---- */
typedef struct cuzk_porep_public {
    uint64_t registered_proof, miner_id, sector_number;
    uint8_t comm_r[32], comm_d[32], ticket[32], seed[32];
} cuzk_porep_public;
CUZK_API cuzk_status cuzk_porep_verify(cuzk_ctx *ctx, const cuzk_porep_public *data, const uint8_t *proof,
                                       size_t size, cuzk_error *err) CUZK_MUST_CHECK;
typedef struct cuzk_sector {
    uint64_t sector_id;
    uint8_t comm_r[32];
} cuzk_sector;
typedef struct cuzk_post_public {
    uint64_t registered_proof;
    uint8_t randomness[32];
    const cuzk_sector *sectors; /* in any order */
    size_t sector_count;
} cuzk_post_public;
CUZK_API cuzk_status cuzk_post_verify(cuzk_ctx *ctx, const cuzk_post_public *data, const uint8_t *proof,
                                      size_t size, cuzk_error *err) CUZK_MUST_CHECK;
typedef struct cuzk_update_public {
    uint64_t registered_proof;
    uint8_t comm_r_old[32], comm_r_new[32], comm_d_new[32];
} cuzk_update_public;
CUZK_API cuzk_status cuzk_update_verify(cuzk_ctx *ctx, const cuzk_update_public *data, const uint8_t *proof,
                                        size_t size, cuzk_error *err) CUZK_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
