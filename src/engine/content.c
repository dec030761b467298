#include "engine/content.h"
#include "base/encode.h"
#include "base/hash.h"
#include "base/mem.h"
#include "filecoin/post.h"
#include <string.h>

#define MAX_VANILLA 100000
#define VERSION     1

/* ---- the envelope ---- */

static cuzk_status check_32(engine_bytes b, const char *name, cuzk_error *err)
{
    if (b.size == 32)
        return CUZK_OK;
    return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "%s must be 32 bytes, not %zu", name, b.size);
}

static cuzk_status wrong_size(uint64_t size, const char *name, cuzk_error *err)
{
    return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "sector_size %llu does not belong to %s",
                          (unsigned long long)size, name);
}

static cuzk_status unregistered(uint64_t number, const char *what, cuzk_error *err)
{
    return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "registered_proof %llu is not a registered %s proof",
                          (unsigned long long)number, what);
}

static cuzk_status check_post(request_content *c, const engine_request *q, cuzk_error *err)
{
    const registered_post *p = post_by_number(q->registered_proof);
    if (!p)
        return unregistered(q->registered_proof, "PoSt", err);
    if (p->winning != (q->proof_kind == KIND_WINNING))
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "registered_proof %llu is %s, but proof_kind says otherwise",
                              (unsigned long long)q->registered_proof, p->name);
    if (q->sector_size && q->sector_size != p->sector_size)
        return wrong_size(q->sector_size, p->name, err);
    if (!q->vanilla_count)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "vanilla_proofs is empty: a PoSt needs one for each sector");
    c->circuit = circuit_find(p->winning ? CIRCUIT_WINNING : CIRCUIT_WINDOW, p->sector_size);
    c->partitions = post_partitions(p, q->vanilla_count);
    return check_32(q->randomness, "randomness", err);
}

static cuzk_status check_update(request_content *c, const engine_request *q, cuzk_error *err)
{
    const registered_update *u = update_by_number(q->registered_proof);
    if (!u)
        return unregistered(q->registered_proof, "update", err);
    if (q->sector_size && q->sector_size != u->sector_size)
        return wrong_size(q->sector_size, u->name, err);
    if (q->vanilla_count != u->partitions)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "vanilla_proofs has %zu entries; %s has %u partitions", q->vanilla_count,
                              u->name, u->partitions);
    c->circuit = circuit_find(CIRCUIT_UPDATE, u->sector_size);
    c->partitions = u->partitions;
    cuzk_status s = check_32(q->comm_r_old, "comm_r_old", err);
    if (!s)
        s = check_32(q->comm_r_new, "comm_r_new", err);
    return s ? s : check_32(q->comm_d_new, "comm_d_new", err);
}

static cuzk_status check_porep(request_content *c, const engine_request *q, cuzk_error *err)
{
    const registered_seal *p = seal_by_number(q->registered_proof);
    if (!p)
        return unregistered(q->registered_proof, "seal", err);
    if (q->sector_size && q->sector_size != p->sector_size)
        return wrong_size(q->sector_size, p->name, err);
    if (!q->vanilla_proof.size)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "vanilla_proof is empty: a PoRep needs its C1 document there");
    c->circuit = circuit_find(CIRCUIT_POREP, p->sector_size);
    c->partitions = p->partitions;
    return CUZK_OK;
}

static cuzk_status check_envelope(request_content *c, const engine_request *q, cuzk_error *err)
{
    if (!q->request_id || !*q->request_id)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "request_id is empty");
    if (strlen(q->request_id) >= STORE_NAME_LIMIT)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "request_id is longer than %d bytes",
                              STORE_NAME_LIMIT - 1);
    if (!utf8_is_valid(q->request_id))
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "request_id is not UTF-8");
    if (q->priority > PRIORITY_CRITICAL)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "priority %u is not one of proving.proto",
                              q->priority);
    if (q->vanilla_count > MAX_VANILLA)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "vanilla_proofs has %zu entries; at most %d are taken", q->vanilla_count,
                              MAX_VANILLA);
    switch (q->proof_kind) {
    case KIND_POREP:
        return check_porep(c, q, err);
    case KIND_UPDATE:
        return check_update(c, q, err);
    case KIND_WINDOW:
    case KIND_WINNING:
        return check_post(c, q, err);
    default:
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "proof_kind %u is not one of proving.proto",
                              q->proof_kind);
    }
}

/* ---- bytes ---- */

/* Layout, little-endian: u32 version, kind, partition_index, count of vanilla proofs; u64 sector_size,
 * registered_proof, miner_id, sector_number; then, each with a u64 length: vanilla_proof, randomness,
 * comm_r_old, comm_r_new, comm_d_new, the vanilla proofs. */
#define HEAD        48
#define FIXED_BLOBS 5

static void put_blob(uint8_t **at, engine_bytes b)
{
    store_le64(*at, b.size);
    if (b.size)
        memcpy(*at + 8, b.data, b.size);
    *at += 8 + b.size;
}

cuzk_status content_encode(request_content *out, const engine_request *q, cuzk_error *err)
{
    memset(out, 0, sizeof(*out));
    cuzk_status s = check_envelope(out, q, err);
    if (s)
        return s;
    if (!out->circuit)
        return cuzk_error_set(err, CUZK_UNSUPPORTED, "there is no circuit for sectors of %llu bytes",
                              (unsigned long long)q->sector_size);
    const engine_bytes fixed[FIXED_BLOBS] = {q->vanilla_proof, q->randomness, q->comm_r_old, q->comm_r_new,
                                             q->comm_d_new};
    size_t size = HEAD;
    for (size_t i = 0; i < FIXED_BLOBS; i++)
        size += 8 + fixed[i].size;
    for (size_t i = 0; i < q->vanilla_count; i++)
        size += 8 + q->vanilla_proofs[i].size;
    out->bytes = mem_alloc(size);
    out->size = size;
    if (!out->bytes)
        return mem_error(err, size, "a job's input");
    uint8_t *at = out->bytes;
    store_le32(at, VERSION);
    store_le32(at + 4, q->proof_kind);
    store_le32(at + 8, q->partition_index);
    store_le32(at + 12, (uint32_t)q->vanilla_count);
    store_le64(at + 16, q->sector_size);
    store_le64(at + 24, q->registered_proof);
    store_le64(at + 32, q->miner_id);
    store_le64(at + 40, q->sector_number);
    at += HEAD;
    for (size_t i = 0; i < FIXED_BLOBS; i++)
        put_blob(&at, fixed[i]);
    for (size_t i = 0; i < q->vanilla_count; i++)
        put_blob(&at, q->vanilla_proofs[i]);
    sha256_digest(out->digest, out->bytes, size);
    return CUZK_OK;
}

static int take_blob(const uint8_t **at, const uint8_t *end, proof_bytes *out)
{
    if ((size_t)(end - *at) < 8)
        return -1;
    uint64_t n = load_le64(*at);
    *at += 8;
    if (n > (uint64_t)(end - *at))
        return -1;
    *out = (proof_bytes){*at, (size_t)n};
    *at += n;
    return 0;
}

static void take_32(uint8_t out[32], proof_bytes b)
{
    if (b.size == 32)
        memcpy(out, b.data, 32);
}

static cuzk_status damaged(cuzk_error *err)
{
    return cuzk_error_set(err, CUZK_BAD_INPUT, "the stored input of the job is damaged");
}

cuzk_status content_decode(decoded_request *out, const uint8_t *bytes, size_t size, cuzk_error *err)
{
    static const circuit_kind KINDS[ENGINE_KINDS] = {CIRCUIT_POREP, CIRCUIT_POREP, CIRCUIT_UPDATE,
                                                     CIRCUIT_WINDOW, CIRCUIT_WINNING};
    memset(out, 0, sizeof(*out));
    if (size < HEAD)
        return damaged(err);
    if (load_le32(bytes) != VERSION)
        return cuzk_error_set(err, CUZK_UNSUPPORTED, "the job was stored by another version of the daemon");
    uint32_t kind = load_le32(bytes + 4), count = load_le32(bytes + 12);
    if (!kind || kind >= ENGINE_KINDS || count > MAX_VANILLA)
        return damaged(err);
    const uint8_t *at = bytes + HEAD, *end = bytes + size;
    proof_bytes fixed[FIXED_BLOBS];
    out->vanilla = mem_calloc(count, sizeof(*out->vanilla));
    if (!out->vanilla)
        return mem_error(err, count * sizeof(*out->vanilla), "a job's input");
    int bad = 0;
    for (size_t i = 0; i < FIXED_BLOBS && !bad; i++)
        bad = take_blob(&at, end, &fixed[i]);
    for (size_t i = 0; i < count && !bad; i++)
        bad = take_blob(&at, end, &out->vanilla[i]);
    if (bad || at != end) {
        mem_free(out->vanilla);
        out->vanilla = NULL;
        return damaged(err);
    }
    out->request = (proof_request){.kind = KINDS[kind],
                                   .has_registered = 1,
                                   .sector_size = load_le64(bytes + 16),
                                   .registered_proof = load_le64(bytes + 24),
                                   .miner_id = load_le64(bytes + 32),
                                   .sector_number = load_le64(bytes + 40),
                                   .c1 = fixed[0],
                                   .vanilla = out->vanilla,
                                   .vanilla_count = count,
                                   .has_randomness = fixed[1].size == 32};
    take_32(out->request.randomness, fixed[1]);
    take_32(out->request.comm_r_old, fixed[2]);
    take_32(out->request.comm_r_new, fixed[3]);
    take_32(out->request.comm_d_new, fixed[4]);
    return CUZK_OK;
}
