#include "filecoin/task.h"
#include "base/encode.h"
#include "base/mem.h"
#include "filecoin/task_private.h"
#include <string.h>

static const proof_task_ops *const OPS[] = {
    [CIRCUIT_POREP] = &porep_task_ops,
    [CIRCUIT_WINNING] = &post_task_ops,
    [CIRCUIT_WINDOW] = &post_task_ops,
    [CIRCUIT_UPDATE] = &update_task_ops,
};

cuzk_status proof_task_parse(proof_task **out, const proof_request *request, const poseidon_set *ps,
                             cuzk_error *err)
{
    *out = NULL;
    unsigned kind = (unsigned)request->kind;
    if (kind >= sizeof(OPS) / sizeof(OPS[0]) || !OPS[kind])
        return cuzk_error_set(err, CUZK_UNSUPPORTED, "this kind of proof is not supported");
    proof_task *t = mem_calloc(1, sizeof(*t));
    if (!t)
        return mem_error(err, sizeof(*t), "a proof request");
    t->ops = OPS[kind];
    t->ps = ps;
    cuzk_status s = t->ops->parse(t, request, err);
    if (s) {
        proof_task_destroy(t);
        return s;
    }
    *out = t;
    return CUZK_OK;
}

cuzk_status proof_task_check(const proof_task *t, int64_t partition, pool *p, cuzk_error *err)
{
    return proof_task_check_until(t, partition, p, NULL, err);
}

cuzk_status proof_task_check_until(const proof_task *t, int64_t partition, pool *p,
                                   const cancel_token *cancel, cuzk_error *err)
{
    return t->ops->check(t, partition, p, cancel, err);
}

void proof_task_destroy(proof_task *t)
{
    if (!t)
        return;
    t->ops->destroy(t);
    mem_free(t);
}

const circuit_info *proof_task_circuit(const proof_task *t)
{
    return t->circuit;
}
uint32_t proof_task_partitions(const proof_task *t)
{
    return t->partitions;
}
size_t proof_task_bytes(const proof_task *t)
{
    return t->bytes;
}

static cuzk_status partition_in_range(const proof_task *t, uint32_t partition, cuzk_error *err)
{
    if (partition < t->partitions)
        return CUZK_OK;
    return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                          "partition %u was asked for, but the proof has %u (0 to %u)", partition,
                          t->partitions, t->partitions - 1);
}

cuzk_status proof_task_witness(const proof_task *t, uint32_t partition, const r1cs *r, witness *w, pool *p,
                               const cancel_token *cancel, cuzk_error *err)
{
    *w = (witness){0};
    cuzk_status s = partition_in_range(t, partition, err);
    return s ? s : t->ops->witness(t, partition, r, w, p, cancel, err);
}

cuzk_status proof_task_inputs(const proof_task *t, uint32_t partition, fr **inputs, size_t *count,
                              cuzk_error *err)
{
    *inputs = NULL;
    *count = 0;
    cuzk_status s = partition_in_range(t, partition, err);
    return s ? s : t->ops->inputs(t, partition, inputs, count, err);
}

const struct porep_c1 *proof_task_porep(const proof_task *t)
{
    return t->circuit->kind == CIRCUIT_POREP ? t->data : NULL;
}
