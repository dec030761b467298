/* PoSt: parsing the vanilla proofs, challenges, public inputs. */
#include "filecoin/post.h"
#include "base/encode.h"
#include "base/hash.h"
#include "base/mem.h"
#include "filecoin/bincode.h"
#include <stdlib.h>

/* Sectors that a partition of the circuit holds. A WinningPoSt has one sector. */
static uint32_t sectors_per_partition(const registered_post *post)
{
    return post->winning ? 1 : post->sectors;
}

uint32_t post_partitions(const registered_post *post, size_t sector_count)
{
    const uint32_t n = sectors_per_partition(post);
    return (uint32_t)((sector_count + n - 1) / n);
}

void post_challenges(uint64_t *out, const registered_post *post, const uint8_t randomness[32],
                     uint64_t sector_id, uint64_t sector_index)
{
    uint8_t message[48], digest[32];
    const uint64_t first = post->winning || post->per_sector_challenges ? 0 : sector_index * post->challenges;
    memcpy(message, randomness, 32);
    store_le64(message + 32, sector_id);
    for (uint32_t i = 0; i < post->challenges; i++) {
        store_le64(message + 40, first + i);
        sha256_digest(digest, message, sizeof message);
        out[i] = load_le64(digest) % (post->sector_size / 32);
    }
}

/* ---- parsing ---- */

static cuzk_status parse_sector(post_input *in, post_sector *s, const proof_bytes *bytes, size_t number,
                                cuzk_error *err)
{
    bincode b;
    bincode_init(&b, bytes->data, bytes->size);
    s->sector_id = bincode_u64(&b, "sector_id");
    if (b.status != CUZK_OK)
        return bincode_error(&b, err, "vanilla proof %zu", number);
    bincode_node(&b, s->comm_r, "comm_r");
    bincode_length(&b, 1, "the list of sector proofs");
    bincode_length(&b, in->challenges, "the list of inclusion proofs");
    if (b.status == CUZK_OK) {
        s->inclusion = arena_alloc(in->arena, in->challenges * sizeof *s->inclusion);
        if (!s->inclusion)
            return mem_error(err, in->challenges * sizeof *s->inclusion, "vanilla proofs");
    }
    for (uint32_t i = 0; i < in->challenges && b.status == CUZK_OK; i++) {
        bincode_merkle_proof(&b, &s->inclusion[i], &in->shape, in->arena, "the inclusion proof");
        if (b.status != CUZK_OK)
            return bincode_error(&b, err, "sector %llu, challenge %u", (unsigned long long)s->sector_id, i);
    }
    bincode_node(&b, s->comm_c, "comm_c");
    bincode_node(&b, s->comm_r_last, "comm_r_last");
    bincode_end(&b);
    if (b.status != CUZK_OK)
        return bincode_error(&b, err, "sector %llu", (unsigned long long)s->sector_id);
    return CUZK_OK;
}

static int compare_sectors(const void *a, const void *b)
{
    const post_sector *x = a, *y = b;
    return (x->sector_id > y->sector_id) - (x->sector_id < y->sector_id);
}

static cuzk_status parse_sectors(post_input *in, const proof_bytes *proofs, cuzk_error *err)
{
    in->arena = arena_create();
    in->sector = mem_calloc(in->sector_count, sizeof *in->sector);
    if (!in->arena || !in->sector)
        return mem_error(err, in->sector_count * sizeof *in->sector, "vanilla proofs");
    for (size_t i = 0; i < in->sector_count; i++) {
        cuzk_status status = parse_sector(in, &in->sector[i], &proofs[i], i, err);
        if (status != CUZK_OK)
            return status;
    }
    qsort(in->sector, in->sector_count, sizeof *in->sector, compare_sectors);
    for (size_t i = 1; i < in->sector_count; i++)
        if (in->sector[i].sector_id == in->sector[i - 1].sector_id)
            return cuzk_error_set(err, CUZK_INCONSISTENT, "sector %llu: its vanilla proof is given twice",
                                  (unsigned long long)in->sector[i].sector_id);
    in->bytes = sizeof *in + in->sector_count * sizeof *in->sector + arena_bytes(in->arena);
    return CUZK_OK;
}

static cuzk_status check_request(const registered_post *post, const uint8_t randomness[32], size_t count,
                                 cuzk_error *err)
{
    fr t;
    if (!count)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "%s: no vanilla proof is given", post->name);
    if (post->winning && count != 1)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "%s takes the vanilla proof of one sector, %zu are given", post->name, count);
    if (count > UINT32_MAX)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "%s: %zu vanilla proofs are too many", post->name,
                              count);
    if (fr_from_bytes(&t, randomness))
        return cuzk_error_set(
            err, CUZK_INVALID_ARGUMENT,
            "randomness is not a field element (it is not below r): the chain clears the two "
            "highest bits of its last byte");
    return CUZK_OK;
}

cuzk_status post_parse(post_input **out, const registered_post *post, const uint8_t randomness[32],
                       const proof_bytes *proofs, size_t count, cuzk_error *err)
{
    *out = NULL;
    cuzk_status status = check_request(post, randomness, count, err);
    if (status != CUZK_OK)
        return status;
    post_input *in = mem_calloc(1, sizeof *in);
    if (!in)
        return mem_error(err, sizeof *in, "vanilla proofs");
    in->post = post;
    in->circuit = circuit_find(post->winning ? CIRCUIT_WINNING : CIRCUIT_WINDOW, post->sector_size);
    memcpy(in->randomness, randomness, 32);
    in->challenges = post->challenges;
    in->sector_count = count;
    in->partitions = post_partitions(post, count);
    if (!in->circuit || merkle_shape_poseidon(&in->shape, post->sector_size))
        status = cuzk_error_set(err, CUZK_UNSUPPORTED, "%s: there is no circuit for sectors of %llu bytes",
                                post->name, (unsigned long long)post->sector_size);
    else
        status = parse_sectors(in, proofs, err);
    if (status != CUZK_OK) {
        post_free(in);
        return status;
    }
    *out = in;
    return CUZK_OK;
}

void post_free(post_input *in)
{
    if (!in)
        return;
    arena_destroy(in->arena);
    mem_free(in->sector);
    mem_free(in);
}

/* ---- public inputs ---- */

size_t post_public_input_count(const circuit_info *ci)
{
    /* comm_r and the leaves of every sector; a WinningPoSt states each of its challenges as a sector. */
    return ci->kind == CIRCUIT_WINNING ? 2 * (size_t)ci->challenges
                                       : ci->sectors * (size_t)(1 + ci->challenges);
}

static int compare_public(const void *a, const void *b)
{
    const post_public_sector *const *x = a, *const *y = b;
    return ((*x)->sector_id > (*y)->sector_id) - ((*x)->sector_id < (*y)->sector_id);
}

static cuzk_status sector_inputs(fr *out, const post_public *pub, const post_public_sector *s, uint64_t index,
                                 cuzk_error *err)
{
    uint64_t leaf[POST_MAX_CHALLENGES];
    fr comm_r;
    if (fr_from_bytes(&comm_r, s->comm_r))
        return cuzk_error_set(err, CUZK_BAD_INPUT,
                              "sector %llu: comm_r is not a field element (it is not below r)",
                              (unsigned long long)s->sector_id);
    post_challenges(leaf, pub->post, pub->randomness, s->sector_id, index);
    for (uint32_t i = 0; i < pub->post->challenges; i++) {
        if (i == 0 || pub->post->winning)
            *out++ = comm_r;
        fr_from_u64(out++, leaf[i]);
    }
    return CUZK_OK;
}

static cuzk_status partition_inputs(fr *out, const post_public *pub, const post_public_sector *const *sorted,
                                    uint32_t partition, size_t n, cuzk_error *err)
{
    const uint32_t per = sectors_per_partition(pub->post);
    const size_t width = n / per, first = (size_t)partition * per;
    for (uint32_t i = 0; i < per; i++) {
        if (first + i >= pub->sector_count) {
            memcpy(out + i * width, out + (i - 1) * width, width * sizeof *out);
            continue;
        }
        cuzk_status status = sector_inputs(out + i * width, pub, sorted[first + i], first + i, err);
        if (status != CUZK_OK)
            return status;
    }
    return CUZK_OK;
}

cuzk_status post_public_inputs(fr *out, size_t n, const post_public *pub, uint32_t partition, cuzk_error *err)
{
    const registered_post *post = pub->post;
    const circuit_info *ci =
        circuit_find(post->winning ? CIRCUIT_WINNING : CIRCUIT_WINDOW, post->sector_size);
    if (!pub->sector_count)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "%s: no sector is given", post->name);
    cuzk_status status = check_request(post, pub->randomness, pub->sector_count, err);
    if (status != CUZK_OK)
        return status;
    if (!ci || n != post_public_input_count(ci) || post->challenges > POST_MAX_CHALLENGES)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "%s does not have %zu public inputs", post->name,
                              n);
    if (partition >= post_partitions(post, pub->sector_count))
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "partition %u: %zu sectors make %u partitions",
                              partition, pub->sector_count, post_partitions(post, pub->sector_count));
    const post_public_sector **sorted = mem_calloc(pub->sector_count, sizeof *sorted);
    if (!sorted)
        return mem_error(err, pub->sector_count * sizeof *sorted, "public inputs");
    for (size_t i = 0; i < pub->sector_count; i++)
        sorted[i] = &pub->sectors[i];
    qsort(sorted, pub->sector_count, sizeof *sorted, compare_public);
    for (size_t i = 1; i < pub->sector_count && status == CUZK_OK; i++)
        if (sorted[i]->sector_id == sorted[i - 1]->sector_id)
            status = cuzk_error_set(err, CUZK_INCONSISTENT, "sector %llu is listed twice",
                                    (unsigned long long)sorted[i]->sector_id);
    if (status == CUZK_OK)
        status = partition_inputs(out, pub, sorted, partition, n, err);
    mem_free(sorted);
    return status;
}

cuzk_status post_input_public(fr *out, size_t n, const post_input *in, uint32_t partition, cuzk_error *err)
{
    post_public pub = {.post = in->post, .sector_count = in->sector_count};
    memcpy(pub.randomness, in->randomness, 32);
    post_public_sector *list = mem_calloc(in->sector_count, sizeof *list);
    if (!list)
        return mem_error(err, in->sector_count * sizeof *list, "public inputs");
    for (size_t i = 0; i < in->sector_count; i++) {
        list[i].sector_id = in->sector[i].sector_id;
        memcpy(list[i].comm_r, in->sector[i].comm_r, 32);
    }
    pub.sectors = list;
    cuzk_status status = post_public_inputs(out, n, &pub, partition, err);
    mem_free(list);
    return status;
}
