/* WinningPoSt and WindowPoSt as proof tasks. */
#include "base/mem.h"
#include "filecoin/post.h"
#include "filecoin/task_private.h"

static cuzk_status post_of_request(const registered_post **out, const proof_request *q, cuzk_error *err)
{
    const int winning = q->kind == CIRCUIT_WINNING;
    const char *const kind = winning ? "WinningPoSt" : "WindowPoSt";
    if (!q->has_registered)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "registered_proof is missing: a %s needs it", kind);
    const registered_post *post = post_by_number(q->registered_proof);
    if (!post)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "registered_proof %llu is no registered PoSt proof (0 to 14)",
                              (unsigned long long)q->registered_proof);
    if (!post->winning != !winning)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "registered_proof %u is %s, but the request is for a %s", post->number,
                              post->name, kind);
    if (q->sector_size && q->sector_size != post->sector_size)
        return cuzk_error_set(
            err, CUZK_INVALID_ARGUMENT, "sector_size is %llu, but %s is for sectors of %llu bytes",
            (unsigned long long)q->sector_size, post->name, (unsigned long long)post->sector_size);
    if (!q->has_randomness)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "randomness is missing: a %s needs it", kind);
    *out = post;
    return CUZK_OK;
}

static cuzk_status post_task_parse(proof_task *t, const proof_request *q, cuzk_error *err)
{
    const registered_post *post = NULL;
    post_input *in = NULL;
    cuzk_status s = post_of_request(&post, q, err);
    if (s == CUZK_OK)
        s = post_parse(&in, post, q->randomness, q->vanilla, q->vanilla_count, err);
    if (s != CUZK_OK)
        return s;
    t->data = in;
    t->circuit = in->circuit;
    t->partitions = in->partitions;
    t->bytes = in->bytes;
    return CUZK_OK;
}

static void post_task_destroy(proof_task *t)
{
    post_free(t->data);
}

static cuzk_status post_task_check(const proof_task *t, int64_t partition, pool *p,
                                   const cancel_token *cancel, cuzk_error *err)
{
    return post_check_until(t->data, partition, t->ps, p, cancel, err);
}

static cuzk_status post_task_witness(const proof_task *t, uint32_t partition, const r1cs *r, witness *w,
                                     pool *p, const cancel_token *cancel, cuzk_error *err)
{
    return post_witness(w, r, t->data, partition, t->ps, p, cancel, err);
}

static cuzk_status post_task_inputs(const proof_task *t, uint32_t partition, fr **inputs, size_t *count,
                                    cuzk_error *err)
{
    const size_t n = post_public_input_count(t->circuit);
    fr *out = mem_alloc(n * sizeof *out);
    if (!out)
        return mem_error(err, n * sizeof *out, "public inputs");
    cuzk_status s = post_input_public(out, n, t->data, partition, err);
    if (s != CUZK_OK) {
        mem_free(out);
        return s;
    }
    *inputs = out;
    *count = n;
    return CUZK_OK;
}

const proof_task_ops post_task_ops = {
    .parse = post_task_parse,
    .destroy = post_task_destroy,
    .check = post_task_check,
    .witness = post_task_witness,
    .inputs = post_task_inputs,
};
