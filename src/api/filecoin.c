/* Filecoin's proofs behind the public header: thin over src/filecoin/task.h. */
#include "cuzk/filecoin.h"
#include "api/api.h"
#include "base/mem.h"
#include "filecoin/porep.h"
#include "filecoin/post.h"
#include "filecoin/task.h"
#include "filecoin/update.h"

struct cuzk_task {
    cuzk_ctx *ctx;
    proof_task *task;
};

/* ---- requests ---- */
static void copy32(uint8_t out[32], const uint8_t *in)
{
    if (in)
        memcpy(out, in, 32);
}

static cuzk_status convert_request(proof_request *q, proof_bytes **vanilla, const cuzk_request *r,
                                   cuzk_error *err)
{
    static const circuit_kind kinds[] = {[CUZK_POREP] = CIRCUIT_POREP,
                                         [CUZK_WINNING_POST] = CIRCUIT_WINNING,
                                         [CUZK_WINDOW_POST] = CIRCUIT_WINDOW,
                                         [CUZK_SECTOR_UPDATE] = CIRCUIT_UPDATE};
    *vanilla = NULL;
    if ((unsigned)r->kind > CUZK_SECTOR_UPDATE)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "kind %u is none of the four kinds of proof",
                              (unsigned)r->kind);
    if (r->kind == CUZK_SECTOR_UPDATE && (!r->comm_r_old || !r->comm_r_new || !r->comm_d_new))
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "an update needs comm_r_old, comm_r_new and comm_d_new");
    if (r->vanilla_count && !r->vanilla)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "vanilla is missing");
    *q = (proof_request){.kind = kinds[r->kind],
                         .has_registered = r->has_registered_proof,
                         .registered_proof = r->registered_proof,
                         .sector_size = r->sector_size,
                         .miner_id = r->miner_id,
                         .sector_number = r->sector_number,
                         .c1 = {r->document.data, r->document.size},
                         .vanilla_count = r->vanilla_count,
                         .has_randomness = r->randomness != NULL};
    copy32(q->randomness, r->randomness);
    copy32(q->comm_r_old, r->comm_r_old);
    copy32(q->comm_r_new, r->comm_r_new);
    copy32(q->comm_d_new, r->comm_d_new);
    *vanilla = mem_calloc(r->vanilla_count ? r->vanilla_count : 1, sizeof(proof_bytes));
    if (!*vanilla)
        return mem_error(err, r->vanilla_count * sizeof(proof_bytes), "a request");
    for (size_t i = 0; i < r->vanilla_count; i++)
        (*vanilla)[i] = (proof_bytes){r->vanilla[i].data, r->vanilla[i].size};
    q->vanilla = *vanilla;
    return CUZK_OK;
}

cuzk_status cuzk_task_create(cuzk_task **out, cuzk_ctx *ctx, const cuzk_request *request, cuzk_error *err)
{
    *out = NULL;
    proof_request q;
    proof_bytes *vanilla;
    cuzk_task *t = mem_calloc(1, sizeof(*t));
    if (!t)
        return mem_error(err, sizeof(*t), "a task");
    t->ctx = ctx;
    cuzk_status s = convert_request(&q, &vanilla, request, err);
    if (s == CUZK_OK)
        s = proof_task_parse(&t->task, &q, ctx->ps, err);
    mem_free(vanilla);
    if (s == CUZK_OK)
        s = proof_task_check(t->task, -1, ctx->pool, err);
    if (s != CUZK_OK) {
        cuzk_task_destroy(t);
        return s;
    }
    *out = t;
    return CUZK_OK;
}

void cuzk_task_destroy(cuzk_task *task)
{
    if (!task)
        return;
    proof_task_destroy(task->task);
    mem_free(task);
}

const char *cuzk_task_circuit(const cuzk_task *task)
{
    return proof_task_circuit(task->task)->name;
}

uint32_t cuzk_task_partitions(const cuzk_task *task)
{
    return proof_task_partitions(task->task);
}

/* ---- proving ---- */
static cuzk_status prove_loaded(cuzk_task *task, uint32_t partition, uint8_t *proof,
                                const cancel_token *token, cuzk_error *err)
{
    cuzk_ctx *ctx = task->ctx;
    cuzk_status s = api_load(ctx, proof_task_circuit(task->task), err);
    if (s != CUZK_OK)
        return s;
    witness w;
    s = proof_task_witness(task->task, partition, ctx->loaded.r, &w, ctx->pool, token, err);
    if (s == CUZK_OK)
        s = groth16_prove(ctx->loaded.g, &w, NULL, NULL, proof, NULL, token, err);
    witness_clear(&w);
    if (s != CUZK_OK)
        cuzk_error_prefix(err, "partition %u", partition);
    return s;
}

cuzk_status cuzk_task_prove_partition(cuzk_task *task, uint32_t partition, uint8_t proof[CUZK_PROOF_BYTES],
                                      const cuzk_stop *stop, cuzk_error *err)
{
    pthread_mutex_lock(&task->ctx->lock);
    cuzk_status s = prove_loaded(task, partition, proof, api_token(stop), err);
    pthread_mutex_unlock(&task->ctx->lock);
    return s;
}

static cuzk_status check_size(uint32_t partitions, size_t size, cuzk_error *err)
{
    if (size == (size_t)partitions * CUZK_PROOF_BYTES)
        return CUZK_OK;
    return cuzk_error_set(err, CUZK_BAD_INPUT, "a proof of %u partition%s has %zu bytes, not %zu", partitions,
                          partitions == 1 ? "" : "s", (size_t)partitions * CUZK_PROOF_BYTES, size);
}

cuzk_status cuzk_task_prove(cuzk_task *task, uint8_t *proof, size_t size, cuzk_progress_fn *progress,
                            void *progress_ctx, const cuzk_stop *stop, cuzk_error *err)
{
    uint32_t n = cuzk_task_partitions(task);
    cuzk_status s = check_size(n, size, err);
    for (uint32_t k = 0; s == CUZK_OK && k < n; k++) {
        s = cuzk_task_prove_partition(task, k, proof + (size_t)k * CUZK_PROOF_BYTES, stop, err);
        if (s == CUZK_OK && progress)
            progress(progress_ctx, k + 1, n);
    }
    return s;
}

/* ---- verifying ---- */
typedef cuzk_status inputs_fn(const void *data, uint32_t partition, fr **inputs, size_t *count,
                              cuzk_error *err);

static cuzk_status verify_all(const cuzk_ctx *ctx, const circuit_info *info, uint32_t partitions,
                              inputs_fn *get, const void *data, const uint8_t *proof, size_t size,
                              cuzk_error *err)
{
    verifying_key vk = {0};
    cuzk_status s = check_size(partitions, size, err);
    if (s == CUZK_OK)
        s = api_open_vk(&vk, ctx, info, err);
    for (uint32_t k = 0; s == CUZK_OK && k < partitions; k++) {
        fr *inputs = NULL;
        size_t n = 0;
        s = get(data, k, &inputs, &n, err);
        if (s == CUZK_OK)
            s = groth16_verify(&vk, proof + (size_t)k * CUZK_PROOF_BYTES, inputs, n, err);
        mem_free(inputs);
        if (s != CUZK_OK)
            cuzk_error_prefix(err, "partition %u", k);
    }
    vk_clear(&vk);
    return s;
}

static cuzk_status inputs_of_task(const void *data, uint32_t partition, fr **inputs, size_t *count,
                                  cuzk_error *err)
{
    return proof_task_inputs(data, partition, inputs, count, err);
}

cuzk_status cuzk_task_verify(cuzk_task *task, const uint8_t *proof, size_t size, cuzk_error *err)
{
    return verify_all(task->ctx, proof_task_circuit(task->task), cuzk_task_partitions(task), inputs_of_task,
                      task->task, proof, size, err);
}

static fr *make_inputs(size_t n, size_t *count, cuzk_error *err)
{
    fr *x = mem_calloc(n ? n : 1, sizeof(fr));
    *count = n;
    if (!x)
        (void)mem_error(err, n * sizeof(fr), "public inputs");
    return x;
}

static cuzk_status inputs_of_porep(const void *data, uint32_t partition, fr **inputs, size_t *count,
                                   cuzk_error *err)
{
    const porep_public *p = data;
    const circuit_info *info = circuit_find(CIRCUIT_POREP, p->seal->sector_size);
    *inputs = make_inputs(porep_public_input_count(info), count, err);
    return *inputs ? porep_public_inputs(*inputs, *count, p, partition, err) : CUZK_OUT_OF_MEMORY;
}

cuzk_status cuzk_porep_verify(cuzk_ctx *ctx, const cuzk_porep_public *data, const uint8_t *proof, size_t size,
                              cuzk_error *err)
{
    porep_public p = {.seal = seal_by_number(data->registered_proof)};
    if (!p.seal)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "registered_proof %llu is no registered seal proof (0 to 19)",
                              (unsigned long long)data->registered_proof);
    copy32(p.comm_r, data->comm_r);
    copy32(p.comm_d, data->comm_d);
    copy32(p.seed, data->seed);
    porep_replica_id(p.replica_id, data->miner_id, data->sector_number, data->ticket, data->comm_d, p.seal);
    return verify_all(ctx, circuit_find(CIRCUIT_POREP, p.seal->sector_size), p.seal->partitions,
                      inputs_of_porep, &p, proof, size, err);
}

static const circuit_info *post_circuit_of(const registered_post *post)
{
    return circuit_find(post->winning ? CIRCUIT_WINNING : CIRCUIT_WINDOW, post->sector_size);
}

static cuzk_status inputs_of_post(const void *data, uint32_t partition, fr **inputs, size_t *count,
                                  cuzk_error *err)
{
    const post_public *p = data;
    *inputs = make_inputs(post_public_input_count(post_circuit_of(p->post)), count, err);
    return *inputs ? post_public_inputs(*inputs, *count, p, partition, err) : CUZK_OUT_OF_MEMORY;
}

cuzk_status cuzk_post_verify(cuzk_ctx *ctx, const cuzk_post_public *data, const uint8_t *proof, size_t size,
                             cuzk_error *err)
{
    post_public p = {.post = post_by_number(data->registered_proof), .sector_count = data->sector_count};
    if (!p.post)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "registered_proof %llu is no registered PoSt proof (0 to 14)",
                              (unsigned long long)data->registered_proof);
    if (data->sector_count == 0 || !data->sectors)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "a PoSt is about at least one sector");
    copy32(p.randomness, data->randomness);
    post_public_sector *sectors = mem_calloc(data->sector_count, sizeof(*sectors));
    if (!sectors)
        return mem_error(err, data->sector_count * sizeof(*sectors), "sectors");
    for (size_t i = 0; i < data->sector_count; i++) {
        sectors[i].sector_id = data->sectors[i].sector_id;
        copy32(sectors[i].comm_r, data->sectors[i].comm_r);
    }
    p.sectors = sectors;
    cuzk_status s = verify_all(ctx, post_circuit_of(p.post), post_partitions(p.post, p.sector_count),
                               inputs_of_post, &p, proof, size, err);
    mem_free(sectors);
    return s;
}

static cuzk_status inputs_of_update(const void *data, uint32_t partition, fr **inputs, size_t *count,
                                    cuzk_error *err)
{
    const update_public *p = data;
    *inputs = make_inputs(UPDATE_PUBLIC_INPUTS, count, err);
    return *inputs ? update_public_inputs(*inputs, *count, p, partition, err) : CUZK_OUT_OF_MEMORY;
}

cuzk_status cuzk_update_verify(cuzk_ctx *ctx, const cuzk_update_public *data, const uint8_t *proof,
                               size_t size, cuzk_error *err)
{
    update_public p = {.update = update_by_number(data->registered_proof)};
    if (!p.update)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "registered_proof %llu is no registered update proof (0 to 4)",
                              (unsigned long long)data->registered_proof);
    copy32(p.comm_r_old, data->comm_r_old);
    copy32(p.comm_r_new, data->comm_r_new);
    copy32(p.comm_d_new, data->comm_d_new);
    return verify_all(ctx, circuit_find(CIRCUIT_UPDATE, p.update->sector_size), p.update->partitions,
                      inputs_of_update, &p, proof, size, err);
}
