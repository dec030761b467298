/* SnapDeals as a proof task. */
#include "base/mem.h"
#include "filecoin/task_private.h"
#include "filecoin/update.h"

static cuzk_status public_of_request(update_public *out, const proof_request *q, cuzk_error *err)
{
    if (!q->has_registered)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "registered_proof is missing: a SnapDeals update needs it");
    const registered_update *u = update_by_number(q->registered_proof);
    if (!u)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "registered_proof %llu is no registered update proof (0 to 4)",
                              (unsigned long long)q->registered_proof);
    if (q->sector_size && q->sector_size != u->sector_size)
        return cuzk_error_set(
            err, CUZK_INVALID_ARGUMENT, "sector_size is %llu, but %s is for sectors of %llu bytes",
            (unsigned long long)q->sector_size, u->name, (unsigned long long)u->sector_size);
    *out = (update_public){.update = u, .h = q->h};
    memcpy(out->comm_r_old, q->comm_r_old, 32);
    memcpy(out->comm_d_new, q->comm_d_new, 32);
    memcpy(out->comm_r_new, q->comm_r_new, 32);
    return CUZK_OK;
}

static cuzk_status update_task_parse(proof_task *t, const proof_request *q, cuzk_error *err)
{
    update_public pub;
    update_input *in = NULL;
    cuzk_status s = public_of_request(&pub, q, err);
    if (s == CUZK_OK)
        s = update_parse(&in, &pub, q->vanilla, q->vanilla_count, err);
    if (s != CUZK_OK)
        return s;
    t->data = in;
    t->circuit = in->circuit;
    t->partitions = in->shape.partitions;
    t->bytes = in->bytes;
    return CUZK_OK;
}

static void update_task_destroy(proof_task *t)
{
    update_free(t->data);
}

static cuzk_status update_task_check(const proof_task *t, int64_t partition, pool *p,
                                     const cancel_token *cancel, cuzk_error *err)
{
    return update_check_until(t->data, partition, t->ps, p, cancel, err);
}

static cuzk_status update_task_witness(const proof_task *t, uint32_t partition, const r1cs *r, witness *w,
                                       pool *p, const cancel_token *cancel, cuzk_error *err)
{
    return update_witness(w, r, t->data, partition, t->ps, p, cancel, err);
}

static cuzk_status update_task_inputs(const proof_task *t, uint32_t partition, fr **inputs, size_t *count,
                                      cuzk_error *err)
{
    const update_input *in = t->data;
    const size_t n = update_public_input_count(t->circuit);
    fr *out = mem_alloc(n * sizeof *out);
    if (!out)
        return mem_error(err, n * sizeof *out, "public inputs");
    cuzk_status s = update_public_inputs(out, n, &in->pub, partition, err);
    if (s != CUZK_OK) {
        mem_free(out);
        return s;
    }
    *inputs = out;
    *count = n;
    return CUZK_OK;
}

const proof_task_ops update_task_ops = {
    .parse = update_task_parse,
    .destroy = update_task_destroy,
    .check = update_task_check,
    .witness = update_task_witness,
    .inputs = update_task_inputs,
};
