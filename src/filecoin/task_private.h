/* What each kind of proof implements for filecoin/task.h. */
#ifndef FILECOIN_TASK_PRIVATE_H
#define FILECOIN_TASK_PRIVATE_H
#include "filecoin/task.h"

typedef struct proof_task_ops {
    /* Fills circuit, partitions, data and bytes. destroy is called also after a failure. */
    cuzk_status (*parse)(proof_task *t, const proof_request *request, cuzk_error *err);
    void (*destroy)(proof_task *t);
    cuzk_status (*check)(const proof_task *t, int64_t partition, pool *p, const cancel_token *cancel,
                         cuzk_error *err);
    cuzk_status (*witness)(const proof_task *t, uint32_t partition, const r1cs *r, witness *w, pool *p,
                           const cancel_token *cancel, cuzk_error *err);
    cuzk_status (*inputs)(const proof_task *t, uint32_t partition, fr **inputs, size_t *count,
                          cuzk_error *err);
} proof_task_ops;

struct proof_task {
    const proof_task_ops *ops;
    const poseidon_set *ps;
    const circuit_info *circuit;
    uint32_t partitions;
    void *data; /* the kind's own */
    size_t bytes;
};
extern const proof_task_ops porep_task_ops, post_task_ops, update_task_ops;
#endif
