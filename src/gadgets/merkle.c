/* Merkle trees outside the circuit: shapes, node hashes, verification of a path. */
#include "gadgets/merkle.h"
#include "base/hash.h"
#include <assert.h>

static unsigned log2_of(uint64_t power)
{
    return (unsigned)__builtin_ctzll(power);
}

int merkle_shape_poseidon(merkle_shape *s, uint64_t sector_bytes)
{
    static const struct {
        uint64_t bytes;
        uint8_t sub, top;
    } shapes[] = {
        {1ull << 10, 4, 0},   {2ull << 10, 0, 0},  {4ull << 10, 2, 0},  {8ull << 10, 4, 0},
        {16ull << 10, 8, 0},  {32ull << 10, 8, 2}, {8ull << 20, 0, 0},  {16ull << 20, 2, 0},
        {512ull << 20, 0, 0}, {32ull << 30, 8, 0}, {64ull << 30, 8, 2},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (shapes[i].bytes != sector_bytes)
            continue;
        const uint64_t leaves = sector_bytes / 32;
        const unsigned upper =
            (shapes[i].sub ? log2_of(shapes[i].sub) : 0) + (shapes[i].top ? log2_of(shapes[i].top) : 0);
        *s = (merkle_shape){MERKLE_POSEIDON, 8, shapes[i].sub, shapes[i].top, (log2_of(leaves) - upper) / 3};
        return 0;
    }
    return -1;
}

int merkle_shape_sha256(merkle_shape *s, uint64_t sector_bytes)
{
    merkle_shape known;
    if (merkle_shape_poseidon(&known, sector_bytes))
        return -1;
    *s = (merkle_shape){MERKLE_SHA256, 2, 0, 0, log2_of(sector_bytes / 32)};
    return 0;
}

uint32_t merkle_levels(const merkle_shape *s)
{
    return s->base_levels + !!s->sub + !!s->top;
}

uint32_t merkle_arity(const merkle_shape *s, uint32_t level)
{
    if (level < s->base_levels)
        return s->base;
    return level == s->base_levels && s->sub ? s->sub : s->top;
}

unsigned merkle_sibling_count(const merkle_shape *s, uint32_t levels)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < levels; i++)
        count += merkle_arity(s, i) - 1;
    return count;
}

unsigned merkle_index_bits(const merkle_shape *s, uint32_t levels)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < levels; i++)
        count += log2_of(merkle_arity(s, i));
    return count;
}

uint64_t merkle_proof_index(const merkle_shape *s, const merkle_proof *p)
{
    uint64_t index = 0;
    unsigned shift = 0;
    for (uint32_t i = 0; i < p->levels; i++) {
        index |= (uint64_t)p->level[i].position << shift;
        shift += log2_of(merkle_arity(s, i));
    }
    return index;
}

int merkle_node_hash(uint8_t out[32], merkle_hash hash, const poseidon_set *ps, const uint8_t *nodes,
                     unsigned arity)
{
    fr in[POSEIDON_MAX_ARITY], value;
    if (hash == MERKLE_SHA256) {
        sha256_digest(out, nodes, 32 * (size_t)arity);
        out[31] &= 0x3f;
        return 0;
    }
    for (unsigned i = 0; i < arity; i++)
        if (fr_from_bytes(&in[i], nodes + 32 * i))
            return -1;
    poseidon_hash(&value, poseidon_get(ps, arity, POSEIDON_MERKLE), in);
    fr_to_bytes(out, &value);
    return 0;
}

/* Every value a field element, every position below its arity, as many levels as the tree has. */
static int proof_is_canonical(const merkle_shape *s, const merkle_proof *p)
{
    fr t;
    if (p->levels != merkle_levels(s) || fr_from_bytes(&t, p->leaf) || fr_from_bytes(&t, p->root))
        return 0;
    for (uint32_t i = 0; i < p->levels; i++) {
        const uint32_t arity = merkle_arity(s, i);
        if (p->level[i].position >= arity)
            return 0;
        for (uint32_t j = 0; j + 1 < arity; j++)
            if (fr_from_bytes(&t, p->level[i].siblings + 32 * j))
                return 0;
    }
    return 1;
}

int merkle_proof_verify(const merkle_shape *s, const poseidon_set *ps, const merkle_proof *p)
{
    uint8_t nodes[32 * POSEIDON_MAX_ARITY], current[32];
    if (!proof_is_canonical(s, p))
        return 0;
    memcpy(current, p->leaf, 32);
    for (uint32_t i = 0; i < p->levels; i++) {
        const merkle_level *l = &p->level[i];
        const uint32_t arity = merkle_arity(s, i);
        memcpy(nodes, l->siblings, 32 * l->position);
        memcpy(nodes + 32 * l->position, current, 32);
        memcpy(nodes + 32 * (l->position + 1), l->siblings + 32 * l->position,
               32 * (arity - 1 - l->position));
        if (merkle_node_hash(current, s->hash, ps, nodes, arity))
            return 0;
    }
    return !memcmp(current, p->root, 32);
}

static void verify_group(uint8_t *ok, const merkle_shape *s, const poseidon_set *ps,
                         const merkle_proof *const *p, size_t n)
{
    fr node[8], in[8 * POSEIDON_MAX_ARITY], root;
    size_t alive[8], count = 0;
    for (size_t i = 0; i < n; i++) {
        ok[i] = (uint8_t)proof_is_canonical(s, p[i]);
        if (ok[i]) {
            fr_from_bytes(&node[count], p[i]->leaf);
            alive[count++] = i;
        }
    }
    for (uint32_t k = 0; k < merkle_levels(s); k++) {
        const uint32_t arity = merkle_arity(s, k);
        for (size_t i = 0; i < count; i++) {
            const merkle_level *l = &p[alive[i]]->level[k];
            fr *children = &in[i * arity];
            for (uint32_t j = 0; j < arity; j++)
                if (j != l->position)
                    fr_from_bytes(&children[j], l->siblings + 32 * (j - (j > l->position)));
            children[l->position] = node[i];
        }
        poseidon_hash_many(node, poseidon_get(ps, arity, POSEIDON_MERKLE), in, count);
    }
    for (size_t i = 0; i < count; i++) {
        fr_from_bytes(&root, p[alive[i]]->root);
        ok[alive[i]] = (uint8_t)fr_eq(&root, &node[i]);
    }
}

void merkle_proof_verify_many(uint8_t *ok, const merkle_shape *s, const poseidon_set *ps,
                              const merkle_proof *const *p, size_t n)
{
    if (s->hash != MERKLE_POSEIDON) {
        for (size_t i = 0; i < n; i++)
            ok[i] = (uint8_t)merkle_proof_verify(s, ps, p[i]);
        return;
    }
    for (size_t i = 0; i < n; i += 8)
        verify_group(ok + i, s, ps, p + i, n - i < 8 ? n - i : 8);
}
