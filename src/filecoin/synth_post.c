/* Synthetic PoSt: a sparse tree R per sector, which knows the challenged leaves. Challenges follow from the
 * randomness and the sector's number, so nothing goes in a circle. */
#include "base/mem.h"
#include "filecoin/synth_private.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct maker {
    synth_vanilla *v;
    const registered_post *post;
    const synth_options *o;
    const poseidon_set *ps;
    merkle_shape shape;
    size_t sector_bytes; /* of one sector's proof */
    _Atomic int failed;
} maker;

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The sector's tree over its challenged leaves. */
static cuzk_status sector_tree(const maker *m, synth_sparse **tree, const uint8_t key[32],
                               const uint64_t *challenge)
{
    uint64_t leaf[POST_MAX_CHALLENGES];
    uint8_t value[POST_MAX_CHALLENGES * 32];
    size_t n = 0;
    memcpy(leaf, challenge, m->post->challenges * sizeof *leaf);
    qsort(leaf, m->post->challenges, sizeof *leaf, compare_u64);
    for (uint32_t i = 0; i < m->post->challenges; i++)
        if (!n || leaf[i] != leaf[n - 1])
            leaf[n++] = leaf[i];
    for (size_t i = 0; i < n; i++)
        synth_draw(value + 32 * i, key, SYNTH_REPLICA, 0, leaf[i]);
    return synth_sparse_create(tree, &m->shape, key, SYNTH_TREE_R, leaf, value, n, m->ps, NULL, NULL);
}

/* sector_id, comm_r, [[inclusion proofs], comm_c, comm_r_last] */
static void make_sector(void *ctx, size_t i, unsigned worker)
{
    (void)worker;
    maker *m = ctx;
    post_public_sector *s = &m->v->sectors[i];
    uint8_t key[32], comm_c[32], *at = m->v->data + i * (8 + m->sector_bytes);
    uint64_t challenge[POST_MAX_CHALLENGES];
    synth_sparse *tree = NULL;
    arena *a = arena_create();
    s->sector_id = m->o->sector + i;
    synth_key(key, m->post->name, m->post->sector_size, m->o, s->sector_id);
    synth_draw(comm_c, key, SYNTH_COMM_C, 0, 0);
    post_challenges(challenge, m->post, m->v->randomness, s->sector_id, i);
    if (!a || sector_tree(m, &tree, key, challenge) != CUZK_OK)
        goto exit;
    synth_comm_r(s->comm_r, m->ps, comm_c, synth_sparse_root(tree));
    at = synth_u64_put(at, m->sector_bytes);
    at = synth_u64_put(at, s->sector_id);
    at = synth_bytes_put(at, s->comm_r, 32);
    at = synth_u64_put(at, 1);
    at = synth_u64_put(at, m->post->challenges);
    for (uint32_t k = 0; k < m->post->challenges; k++) {
        merkle_proof proof;
        if (synth_sparse_proof(tree, &proof, challenge[k], a))
            goto exit;
        at = synth_proof_put(at, &m->shape, &proof);
    }
    at = synth_bytes_put(at, comm_c, 32);
    synth_bytes_put(at, synth_sparse_root(tree), 32);
    synth_sparse_destroy(tree);
    arena_destroy(a);
    return;
exit:
    atomic_store(&m->failed, 1);
    synth_sparse_destroy(tree);
    arena_destroy(a);
}

cuzk_status synth_post(synth_vanilla *out, const registered_post *post, const synth_options *o,
                       const poseidon_set *ps, pool *p, cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    maker m = {.v = out, .post = post, .o = o, .ps = ps};
    size_t count = o->sectors ? o->sectors : 1;
    if (post->winning && count != 1)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "%s is about one sector, not %zu", post->name,
                              count);
    if (merkle_shape_poseidon(&m.shape, post->sector_size))
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "%s: unknown sector size", post->name);
    m.sector_bytes = 8 + 32 + 8 + 8 + post->challenges * synth_proof_bytes(&m.shape) + 64;
    if (count > SIZE_MAX / 2 / (8 + m.sector_bytes) || o->sector > UINT64_MAX - count)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "%zu sectors are too many", count);
    out->count = count;
    out->size = count * (8 + m.sector_bytes);
    out->data = mem_alloc(out->size);
    out->sectors = mem_calloc(count, sizeof *out->sectors);
    if (!out->data || !out->sectors) {
        cuzk_status st = mem_error(err, out->size, "synthetic vanilla proofs");
        synth_vanilla_clear(out);
        return st;
    }
    uint8_t key[32];
    synth_key(key, post->name, post->sector_size, o, o->sector);
    synth_draw(out->randomness, key, SYNTH_RANDOMNESS, 0, 0);
    pool_for(p, count, make_sector, &m);
    if (atomic_load(&m.failed)) {
        synth_vanilla_clear(out);
        return mem_error(err, m.sector_bytes, "a synthetic sector");
    }
    return CUZK_OK;
}
