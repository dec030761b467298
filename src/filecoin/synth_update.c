/* Synthetic SnapDeals: old replica and new data have uniform leaves, so the new replica's leaves r + rho(i) d
 * depend on the h highest bits of i alone. All three roots are known before the challenges that follow from
 * them. */
#include "base/mem.h"
#include "filecoin/synth_private.h"
#include <assert.h>
#include <string.h>

typedef struct maker {
    synth_vanilla *v;
    update_shape shape;
    const poseidon_set *ps;
    uint8_t comm_c[32];
    synth_table *r_old, *d_new, *r_new;
    arena *scratch;
} maker;

/* The distinct leaves of the new replica, in the order of their blocks. */
static cuzk_status new_replica(maker *m, const uint8_t old_leaf[32], const uint8_t data_leaf[32], pool *p,
                               cuzk_error *err)
{
    update_public *pub = &m->v->update;
    size_t blocks = (size_t)1 << pub->h;
    unsigned shift = m->shape.challenge_bits - pub->h;
    fr phi, rho, r, d;
    cuzk_status st = update_phi(&phi, m->ps, pub->comm_d_new, pub->comm_r_old, err);
    uint8_t *value = arena_alloc(m->scratch, 32 * blocks);
    if (st != CUZK_OK)
        return st;
    if (!value)
        return mem_error(err, 32 * blocks, "a synthetic update");
    for (size_t i = 0; i < blocks; i++) {
        update_rho(&rho, &m->shape, m->ps, &phi, pub->h, (uint64_t)i << shift);
        int bad = fr_from_bytes(&r, old_leaf) || fr_from_bytes(&d, data_leaf);
        assert(!bad);
        (void)bad;
        fr_mul(&d, &d, &rho);
        fr_add(&r, &r, &d);
        fr_to_bytes(value + 32 * i, &r);
    }
    return synth_table_create(&m->r_new, &m->shape.tree_r, SYNTH_BLOCKED, value, blocks, m->ps, p, err);
}

static cuzk_status make_trees(maker *m, const uint8_t key[32], pool *p, cuzk_error *err)
{
    uint8_t old_leaf[32], data_leaf[32];
    update_public *pub = &m->v->update;
    synth_draw(m->comm_c, key, SYNTH_COMM_C, 0, 0);
    synth_draw(old_leaf, key, SYNTH_REPLICA, 0, 0);
    synth_draw(data_leaf, key, SYNTH_DATA, 0, 0);
    cuzk_status st =
        synth_table_create(&m->r_old, &m->shape.tree_r, SYNTH_PERIODIC, old_leaf, 1, m->ps, p, err);
    if (st == CUZK_OK)
        st = synth_table_create(&m->d_new, &m->shape.tree_d, SYNTH_PERIODIC, data_leaf, 1, m->ps, p, err);
    if (st != CUZK_OK)
        return st;
    synth_comm_r(pub->comm_r_old, m->ps, m->comm_c, synth_table_root(m->r_old));
    memcpy(pub->comm_d_new, synth_table_root(m->d_new), 32);
    st = new_replica(m, old_leaf, data_leaf, p, err);
    if (st == CUZK_OK)
        synth_comm_r(pub->comm_r_new, m->ps, m->comm_c, synth_table_root(m->r_new));
    return st;
}

static size_t partition_bytes(const update_shape *s)
{
    size_t challenge = 2 * synth_proof_bytes(&s->tree_r) + synth_proof_bytes(&s->tree_d);
    return 32 + 8 + 32 * (size_t)s->apex_leaves + 8 + s->challenges * challenge;
}

/* comm_c, [apex leaves], [(old replica, new data, new replica)] */
static cuzk_status make_partition(maker *m, uint8_t *at, uint32_t k, cuzk_error *err)
{
    const update_shape *s = &m->shape;
    uint64_t leaf[UPDATE_MAX_CHALLENGES];
    uint32_t apex_level = s->challenge_bits - s->partition_bits - s->apex_bits;
    cuzk_status st = update_challenges(leaf, s, m->ps, m->v->update.comm_r_new, k, err);
    if (st != CUZK_OK)
        return st;
    at = synth_u64_put(at, partition_bytes(s));
    at = synth_bytes_put(at, m->comm_c, 32);
    at = synth_u64_put(at, s->apex_leaves);
    for (uint32_t i = 0; i < s->apex_leaves; i++)
        at =
            synth_bytes_put(at, synth_table_node(m->d_new, apex_level, (uint64_t)k * s->apex_leaves + i), 32);
    at = synth_u64_put(at, s->challenges);
    for (uint32_t i = 0; i < s->challenges; i++) {
        merkle_proof proof;
        const synth_table *const tree[] = {m->r_old, m->d_new, m->r_new};
        for (int t = 0; t < 3; t++) {
            if (synth_table_proof(tree[t], &proof, leaf[i], m->scratch))
                return mem_error(err, arena_bytes(m->scratch), "a synthetic update");
            at = synth_proof_put(at, t == 1 ? &s->tree_d : &s->tree_r, &proof);
        }
    }
    return CUZK_OK;
}

cuzk_status synth_update(synth_vanilla *out, const registered_update *update, const synth_options *o,
                         const poseidon_set *ps, pool *p, cuzk_error *err)
{
    memset(out, 0, sizeof *out);
    maker m = {.v = out, .ps = ps};
    uint8_t key[32];
    cuzk_status st = CUZK_OK;
    if (update_shape_of(&m.shape, update->sector_size))
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "%s: unknown sector size", update->name);
    size_t each = 8 + partition_bytes(&m.shape);
    out->update.update = update;
    out->update.h = circuit_find(CIRCUIT_UPDATE, update->sector_size)->h;
    out->count = m.shape.partitions;
    out->size = out->count * each;
    out->data = mem_alloc(out->size);
    m.scratch = arena_create();
    if (!out->data || !m.scratch)
        st = mem_error(err, out->size, "a synthetic update");
    synth_key(key, "update", update->sector_size, o, o->sector);
    if (st == CUZK_OK)
        st = make_trees(&m, key, p, err);
    for (uint32_t k = 0; st == CUZK_OK && k < m.shape.partitions; k++)
        st = make_partition(&m, out->data + k * each, k, err);
    synth_table_destroy(m.r_old);
    synth_table_destroy(m.d_new);
    synth_table_destroy(m.r_new);
    arena_destroy(m.scratch);
    if (st != CUZK_OK)
        synth_vanilla_clear(out);
    return st;
}
