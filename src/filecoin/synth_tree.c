/* Trees of synthetic inputs: see synth_tree.h. Levels are hashed upward, eight nodes at a time. */
#include "filecoin/synth_tree.h"
#include "base/encode.h"
#include "base/hash.h"
#include "base/mem.h"
#include <assert.h>
#include <string.h>

void synth_draw(uint8_t out[32], const uint8_t key[32], uint32_t tag, uint32_t level, uint64_t index)
{
    uint8_t message[48];
    memcpy(message, key, 32);
    store_le32(message + 32, tag);
    store_le32(message + 36, level);
    store_le64(message + 40, index);
    sha256_digest(out, message, sizeof message);
    out[31] &= 0x3f;
}

static unsigned log2_of(uint64_t power)
{
    return (unsigned)__builtin_ctzll(power);
}

/* Hashes n <= 8 nodes of the same arity. Children are below r by construction. */
static void hash_nodes(uint8_t *out, const merkle_shape *s, const poseidon_set *ps, const uint8_t *children,
                       unsigned arity, size_t n)
{
    if (s->hash == MERKLE_SHA256) {
        for (size_t i = 0; i < n; i++)
            merkle_node_hash(out + 32 * i, MERKLE_SHA256, ps, children + 32 * arity * i, arity);
        return;
    }
    fr in[8 * 8], hash[8];
    assert(arity <= 8 && n <= 8);
    for (size_t i = 0; i < n * arity; i++)
        if (fr_from_bytes(&in[i], children + 32 * i))
            assert(!"a node below r");
    poseidon_hash_many(hash, poseidon_get(ps, arity, POSEIDON_MERKLE), in, n);
    for (size_t i = 0; i < n; i++)
        fr_to_bytes(out + 32 * i, &hash[i]);
}

/* ---- sparse ---- */

typedef struct sparse_level {
    size_t count;
    uint64_t *index;
    uint8_t *value;
    size_t *first; /* of a node's known children in the level below */
} sparse_level;
struct synth_sparse {
    merkle_shape shape;
    uint8_t key[32];
    uint32_t tag, levels;
    const poseidon_set *ps;
    arena *memory;
    sparse_level level[MERKLE_MAX_LEVELS + 1];
};

/* The children of node i of a level: those that are known, the others drawn. */
static void sparse_children(const synth_sparse *t, uint8_t *out, uint32_t level, size_t i)
{
    const sparse_level *up = &t->level[level], *down = &t->level[level - 1];
    unsigned arity = merkle_arity(&t->shape, level - 1);
    size_t k = up->first[i];
    for (unsigned j = 0; j < arity; j++) {
        uint64_t child = up->index[i] * arity + j;
        if (k < down->count && down->index[k] == child)
            memcpy(out + 32 * j, down->value + 32 * k++, 32);
        else
            synth_draw(out + 32 * j, t->key, t->tag, level - 1, child);
    }
}

typedef struct sparse_job {
    synth_sparse *t;
    uint32_t level;
} sparse_job;

static void sparse_hash(void *ctx, size_t first, size_t end, unsigned worker)
{
    (void)worker;
    sparse_job *job = ctx;
    synth_sparse *t = job->t;
    unsigned arity = merkle_arity(&t->shape, job->level - 1);
    uint8_t children[8 * 8 * 32];
    for (size_t i = first; i < end; i += 8) {
        size_t n = end - i < 8 ? end - i : 8;
        for (size_t k = 0; k < n; k++)
            sparse_children(t, children + 32 * arity * k, job->level, i + k);
        hash_nodes(t->level[job->level].value + 32 * i, &t->shape, t->ps, children, arity, n);
    }
}

static int sparse_level_alloc(synth_sparse *t, uint32_t level, size_t room)
{
    sparse_level *l = &t->level[level];
    l->index = arena_alloc(t->memory, room * sizeof *l->index);
    l->value = arena_alloc(t->memory, room * 32);
    l->first = arena_alloc(t->memory, room * sizeof *l->first);
    return l->index && l->value && l->first ? 0 : -1;
}

static int sparse_build(synth_sparse *t, pool *p)
{
    for (uint32_t level = 1; level <= t->levels; level++) {
        const sparse_level *down = &t->level[level - 1];
        sparse_level *up = &t->level[level];
        unsigned shift = log2_of(merkle_arity(&t->shape, level - 1));
        if (sparse_level_alloc(t, level, down->count))
            return -1;
        for (size_t k = 0; k < down->count; k++) {
            uint64_t parent = down->index[k] >> shift;
            if (up->count && up->index[up->count - 1] == parent)
                continue;
            up->index[up->count] = parent;
            up->first[up->count++] = k;
        }
        sparse_job job = {t, level};
        pool_for_range(p, up->count, 8, sparse_hash, &job);
    }
    return 0;
}

cuzk_status synth_sparse_create(synth_sparse **out, const merkle_shape *s, const uint8_t key[32],
                                uint32_t tag, const uint64_t *index, const uint8_t *value, size_t n,
                                const poseidon_set *ps, pool *p, cuzk_error *err)
{
    *out = NULL;
    synth_sparse *t = mem_calloc(1, sizeof *t);
    if (!t)
        return mem_error(err, sizeof *t, "a synthetic tree");
    t->shape = *s;
    t->tag = tag;
    t->levels = merkle_levels(s);
    t->ps = ps;
    t->memory = arena_create();
    memcpy(t->key, key, 32);
    if (!t->memory || sparse_level_alloc(t, 0, n))
        goto no_memory;
    t->level[0].count = n;
    memcpy(t->level[0].index, index, n * sizeof *index);
    memcpy(t->level[0].value, value, n * 32);
    if (sparse_build(t, p))
        goto no_memory;
    assert(t->level[t->levels].count == 1);
    *out = t;
    return CUZK_OK;
no_memory:
    synth_sparse_destroy(t);
    return mem_error(err, n * 64, "a synthetic tree");
}

void synth_sparse_destroy(synth_sparse *t)
{
    if (!t)
        return;
    arena_destroy(t->memory);
    mem_free(t);
}

const uint8_t *synth_sparse_root(const synth_sparse *t)
{
    return t->level[t->levels].value;
}

/* Position of a node among the known ones of its level. */
static size_t sparse_find(const sparse_level *l, uint64_t index)
{
    size_t low = 0, high = l->count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (l->index[middle] <= index)
            low = middle;
        else
            high = middle;
    }
    assert(l->index[low] == index);
    return low;
}

/* Everything but the own node of a row of children. */
static uint8_t *siblings_of(arena *a, const uint8_t *children, unsigned arity, unsigned position)
{
    uint8_t *s = arena_alloc(a, 32 * (size_t)(arity - 1));
    if (s) {
        memcpy(s, children, 32 * (size_t)position);
        memcpy(s + 32 * (size_t)position, children + 32 * (size_t)(position + 1),
               32 * (size_t)(arity - 1 - position));
    }
    return s;
}

int synth_sparse_proof(const synth_sparse *t, merkle_proof *out, uint64_t index, arena *a)
{
    out->levels = t->levels;
    memcpy(out->leaf, t->level[0].value + 32 * sparse_find(&t->level[0], index), 32);
    memcpy(out->root, synth_sparse_root(t), 32);
    for (uint32_t level = 0; level < t->levels; level++) {
        unsigned arity = merkle_arity(&t->shape, level);
        uint8_t children[8 * 32];
        unsigned position = (unsigned)(index & (arity - 1));
        index >>= log2_of(arity);
        sparse_children(t, children, level + 1, sparse_find(&t->level[level + 1], index));
        out->level[level].position = position;
        out->level[level].siblings = siblings_of(a, children, arity, position);
        if (!out->level[level].siblings)
            return -1;
    }
    return 0;
}

/* ---- tables ---- */

struct synth_table {
    merkle_shape shape;
    synth_order order;
    const poseidon_set *ps;
    uint32_t levels;
    arena *memory;
    struct {
        size_t count;
        unsigned shift; /* blocked: nodes of the level per entry, as a power of two */
        uint8_t *value;
    } level[MERKLE_MAX_LEVELS + 1];
};

const uint8_t *synth_table_node(const synth_table *t, uint32_t level, uint64_t index)
{
    size_t entry = t->order == SYNTH_PERIODIC ? (size_t)(index & (t->level[level].count - 1))
                                              : (size_t)(index >> t->level[level].shift);
    return t->level[level].value + 32 * entry;
}

typedef struct table_job {
    synth_table *t;
    uint32_t level;
} table_job;

static void table_children(const synth_table *t, uint8_t *out, uint32_t level, uint64_t node)
{
    unsigned arity = merkle_arity(&t->shape, level - 1);
    for (unsigned j = 0; j < arity; j++)
        memcpy(out + 32 * j, synth_table_node(t, level - 1, node * arity + j), 32);
}

static void table_hash(void *ctx, size_t first, size_t end, unsigned worker)
{
    (void)worker;
    table_job *job = ctx;
    synth_table *t = job->t;
    unsigned arity = merkle_arity(&t->shape, job->level - 1);
    unsigned shift = t->order == SYNTH_BLOCKED ? t->level[job->level].shift : 0;
    uint8_t children[8 * 8 * 32];
    for (size_t i = first; i < end; i += 8) {
        size_t n = end - i < 8 ? end - i : 8;
        for (size_t k = 0; k < n; k++)
            table_children(t, children + 32 * arity * k, job->level, (uint64_t)(i + k) << shift);
        hash_nodes(t->level[job->level].value + 32 * i, &t->shape, t->ps, children, arity, n);
    }
}

static int table_build(synth_table *t, unsigned leaf_bits, pool *p)
{
    unsigned bits = leaf_bits; /* the level has 2^bits nodes */
    for (uint32_t level = 1; level <= t->levels; level++) {
        unsigned arity_bits = log2_of(merkle_arity(&t->shape, level - 1));
        size_t below = t->level[level - 1].count, count;
        bits -= arity_bits;
        if (t->order == SYNTH_PERIODIC)
            count = below >> arity_bits ? below >> arity_bits : 1;
        else
            count = below >> bits ? (size_t)1 << bits : below; /* a node may not be larger than its block */
        t->level[level].count = count;
        t->level[level].shift = bits - log2_of(count);
        t->level[level].value = arena_alloc(t->memory, count * 32);
        if (!t->level[level].value)
            return -1;
        table_job job = {t, level};
        pool_for_range(p, count, 8, table_hash, &job);
    }
    return 0;
}

cuzk_status synth_table_create(synth_table **out, const merkle_shape *s, synth_order order,
                               const uint8_t *value, size_t count, const poseidon_set *ps, pool *p,
                               cuzk_error *err)
{
    *out = NULL;
    synth_table *t = mem_calloc(1, sizeof *t);
    if (!t)
        return mem_error(err, sizeof *t, "a synthetic tree");
    unsigned leaf_bits = 0;
    t->shape = *s;
    t->order = order;
    t->ps = ps;
    t->levels = merkle_levels(s);
    t->memory = arena_create();
    for (uint32_t level = 0; level < t->levels; level++)
        leaf_bits += log2_of(merkle_arity(s, level));
    assert(count && !(count & (count - 1)) && count <= 1ull << leaf_bits);
    t->level[0].count = count;
    t->level[0].shift = leaf_bits - log2_of(count);
    t->level[0].value = t->memory ? arena_alloc(t->memory, count * 32) : NULL;
    if (t->level[0].value) {
        memcpy(t->level[0].value, value, count * 32);
        if (!table_build(t, leaf_bits, p)) {
            *out = t;
            return CUZK_OK;
        }
    }
    synth_table_destroy(t);
    return mem_error(err, count * 64, "a synthetic tree");
}

void synth_table_destroy(synth_table *t)
{
    if (!t)
        return;
    arena_destroy(t->memory);
    mem_free(t);
}

const uint8_t *synth_table_root(const synth_table *t)
{
    return t->level[t->levels].value;
}

int synth_table_proof(const synth_table *t, merkle_proof *out, uint64_t index, arena *a)
{
    out->levels = t->levels;
    memcpy(out->leaf, synth_table_node(t, 0, index), 32);
    memcpy(out->root, synth_table_root(t), 32);
    for (uint32_t level = 0; level < t->levels; level++) {
        unsigned arity = merkle_arity(&t->shape, level), position = (unsigned)(index & (arity - 1));
        uint8_t children[8 * 32];
        index >>= log2_of(arity);
        table_children(t, children, level + 1, index);
        out->level[level].position = position;
        out->level[level].siblings = siblings_of(a, children, arity, position);
        if (!out->level[level].siblings)
            return -1;
    }
    return 0;
}
