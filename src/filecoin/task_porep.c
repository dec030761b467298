/* PoRep as a proof task. */
#include "base/encode.h"
#include "base/mem.h"
#include "filecoin/porep.h"
#include "filecoin/task_private.h"
#include <string.h>

static cuzk_status agree_with_request(const porep_c1 *c, const proof_request *q, cuzk_error *err)
{
    if (q->has_registered && q->registered_proof != c->seal->number)
        return cuzk_error_set(err, CUZK_INCONSISTENT,
                              "registered_proof is %llu in the request, but the C1 document holds %s (%u)",
                              (unsigned long long)q->registered_proof, c->seal->name, c->seal->number);
    if (q->sector_size && q->sector_size != c->seal->sector_size)
        return cuzk_error_set(err, CUZK_INCONSISTENT,
                              "sector_size is %llu in the request, but the C1 document's is %llu",
                              (unsigned long long)q->sector_size, (unsigned long long)c->seal->sector_size);
    return CUZK_OK;
}

static cuzk_status check_replica_id(const porep_c1 *c, const proof_request *q, cuzk_error *err)
{
    if (!q->miner_id)
        return CUZK_OK;
    uint64_t sector = c->has_sector ? c->sector_number : q->sector_number;
    uint8_t id[32];
    porep_replica_id(id, q->miner_id, sector, c->ticket, c->comm_d, c->seal);
    if (!memcmp(id, c->replica_id, 32))
        return CUZK_OK;
    char want[65], have[65];
    hex_encode(want, id, 32);
    hex_encode(have, c->replica_id, 32);
    return cuzk_error_set(
        err, CUZK_INCONSISTENT,
        "replica_id: the C1 document holds %s, but miner %llu, sector %llu and its ticket and comm_d give %s",
        have, (unsigned long long)q->miner_id, (unsigned long long)sector, want);
}

static cuzk_status porep_parse(proof_task *t, const proof_request *q, cuzk_error *err)
{
    if (!q->c1.size)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "vanilla_proof is empty: a PoRep needs its C1 document there");
    porep_c1 *c = NULL;
    cuzk_status s = porep_c1_parse_until(&c, q->c1.data, q->c1.size, q->cancel, err);
    if (s)
        return s;
    t->data = c;
    t->circuit = c->circuit;
    t->partitions = c->partitions;
    t->bytes = c->bytes;
    s = agree_with_request(c, q, err);
    return s ? s : check_replica_id(c, q, err);
}

static void porep_destroy(proof_task *t)
{
    porep_c1_free(t->data);
}

static cuzk_status porep_task_check(const proof_task *t, int64_t partition, pool *p,
                                    const cancel_token *cancel, cuzk_error *err)
{
    return porep_check_until(t->data, partition, t->ps, p, cancel, err);
}

static cuzk_status porep_task_witness(const proof_task *t, uint32_t partition, const r1cs *r, witness *w,
                                      pool *p, const cancel_token *cancel, cuzk_error *err)
{
    return porep_witness(w, r, t->data, partition, t->ps, p, cancel, err);
}

static cuzk_status porep_task_inputs(const proof_task *t, uint32_t partition, fr **inputs, size_t *count,
                                     cuzk_error *err)
{
    const porep_c1 *c = t->data;
    porep_public pub = {.seal = c->seal};
    memcpy(pub.replica_id, c->replica_id, 32);
    memcpy(pub.comm_r, c->comm_r, 32);
    memcpy(pub.comm_d, c->comm_d, 32);
    memcpy(pub.seed, c->seed, 32);
    *count = porep_public_input_count(c->circuit);
    *inputs = mem_alloc(*count * sizeof(fr));
    if (!*inputs)
        return mem_error(err, *count * sizeof(fr), "public inputs");
    return porep_public_inputs(*inputs, *count, &pub, partition, err);
}

const proof_task_ops porep_task_ops = {
    .parse = porep_parse,
    .destroy = porep_destroy,
    .check = porep_task_check,
    .witness = porep_task_witness,
    .inputs = porep_task_inputs,
};
