/* Merkle paths in a circuit and the values of their wires. */
#include "gadgets/merkle.h"
#include "gadgets/sha256_gadget.h"
#include <assert.h>

#define NODE_BITS   255 /* of a field element taken apart */
#define DIGEST_BITS 254 /* of a SHA-256 digest that are kept */

static unsigned arity_bits(uint32_t arity)
{
    return (unsigned)__builtin_ctz(arity);
}

void equal_synth(cs *c, var a, var b)
{
    lc l[3];
    for (int i = 0; i < 3; i++)
        lc_init(&l[i]);
    lc_add_one(&l[0], a);
    lc_add_one(&l[1], VAR_ONE);
    lc_add_one(&l[2], b);
    cs_enforce(c, &l[0], &l[1], &l[2]);
    for (int i = 0; i < 3; i++)
        lc_clear(&l[i]);
}

void inputize_synth(cs *c, var a)
{
    equal_synth(c, cs_alloc_input(c), a);
}

/* ---- nodes ---- */

/* The children's bits are hashed byte by byte, the highest bit of each byte first; the digest's bits are
 * packed the same way without the two highest of its last byte. */
static var sha256_node_synth(cs *c, const var *in, unsigned arity)
{
    boolean message[POSEIDON_MAX_ARITY * 256], bits[256], digest[256];
    for (unsigned i = 0; i < arity; i++) {
        cs_push(c, "num_into_bits", i);
        num_to_bits_le(c, in[i], bits);
        cs_pop(c);
        bits[NODE_BITS] = boolean_constant(0);
        for (unsigned j = 0; j < 256; j++)
            message[256 * i + j] = bits[j ^ 7];
    }
    cs_push(c, "hash", -1);
    sha256_synth(c, message, 256 * (size_t)arity, digest);
    cs_pop(c);
    for (unsigned j = 0; j < 256; j++)
        bits[j] = digest[j ^ 7];
    return pack_bits(c, bits, DIGEST_BITS);
}

static void sha256_node_witness(wcursor *w, const fr *in, unsigned arity, fr *out)
{
    uint8_t message[POSEIDON_MAX_ARITY * 32], constant[POSEIDON_MAX_ARITY * 32], digest[32];
    memset(constant, 0, sizeof constant);
    for (unsigned i = 0; i < arity; i++) {
        uint8_t *node = message + 32 * i;
        fr_to_bytes(node, &in[i]);
        wcursor_bytes(w, node, 31);
        wcursor_bits(w, node[31], NODE_BITS % 8);
        constant[32 * i + 31] = 0x80;
    }
    sha256_witness(w, message, 32 * (size_t)arity, constant, digest);
    digest[31] &= 0x3f;
    fr_from_bytes(out, digest);
    wcursor_field(w, out);
}

var merkle_node_synth(cs *c, merkle_hash hash, const poseidon_set *ps, const var *in, unsigned arity)
{
    if (hash == MERKLE_SHA256)
        return sha256_node_synth(c, in, arity);
    return poseidon_synth(c, poseidon_get(ps, arity, POSEIDON_MERKLE), in);
}

void merkle_node_witness(wcursor *w, merkle_hash hash, const poseidon_set *ps, const fr *in, unsigned arity,
                         fr *out)
{
    if (hash == MERKLE_SHA256)
        sha256_node_witness(w, in, arity, out);
    else
        poseidon_witness(w, poseidon_get(ps, arity, POSEIDON_MERKLE), in, out);
}

/* ---- paths that allocate their own bits and siblings ---- */

static var level_synth(cs *c, const merkle_shape *s, const poseidon_set *ps, var node, uint32_t arity,
                       boolean *bits)
{
    var siblings[POSEIDON_MAX_ARITY], inserted[POSEIDON_MAX_ARITY];
    for (unsigned i = 0; i < arity_bits(arity); i++)
        bits[i] = boolean_alloc(c);
    for (unsigned i = 0; i + 1 < arity; i++)
        siblings[i] = cs_alloc_field(c);
    insert_synth(c, inserted, node, bits, siblings, arity);
    cs_push(c, "computation of commitment hash", -1);
    node = merkle_node_synth(c, s->hash, ps, inserted, arity);
    cs_pop(c);
    return node;
}

void merkle_synth(cs *c, const merkle_shape *s, const poseidon_set *ps, var leaf, var root)
{
    boolean bits[3 * MERKLE_MAX_LEVELS];
    const uint32_t levels = merkle_levels(s);
    unsigned used = 0;
    var node = leaf;
    for (uint32_t i = 0; i < levels; i++) {
        const int base = i < s->base_levels;
        cs_push(c, base ? "base" : i == s->base_levels ? "sub" : "top", -1);
        cs_push(c, "merkle tree hash", base ? (int64_t)i : 0);
        node = level_synth(c, s, ps, node, merkle_arity(s, i), bits + used);
        used += arity_bits(merkle_arity(s, i));
        cs_pop(c);
        cs_pop(c);
    }
    cs_push(c, "path", -1);
    pack_into_inputs(c, bits, used);
    cs_pop(c);
    equal_synth(c, node, root);
}

/* The wires of a level before its hash; in receives the arity children. */
static void level_witness(wcursor *w, const merkle_level *l, const fr *node, uint32_t arity, fr *in)
{
    fr siblings[POSEIDON_MAX_ARITY];
    wcursor_bits(w, l->position, arity_bits(arity));
    for (unsigned i = 0; i + 1 < arity; i++) {
        int bad = fr_from_bytes(&siblings[i], l->siblings + 32 * i);
        assert(!bad); /* the proof was verified */
        (void)bad;
        wcursor_field(w, &siblings[i]);
    }
    insert_witness(w, in, node, l->position, siblings, arity);
}

void merkle_witness(wcursor *w, const merkle_shape *s, const poseidon_set *ps, const merkle_proof *p,
                    fr *root)
{
    merkle_witness_many(&w, s, ps, &p, root, 1);
}

void merkle_witness_many(wcursor *const *w, const merkle_shape *s, const poseidon_set *ps,
                         const merkle_proof *const *p, fr *root, size_t n)
{
    fr node[8], in[8 * POSEIDON_MAX_ARITY];
    const uint32_t levels = merkle_levels(s);
    for (size_t first = 0; first < n; first += 8) {
        const size_t group = n - first < 8 ? n - first : 8;
        for (size_t i = 0; i < group; i++)
            fr_from_bytes(&node[i], p[first + i]->leaf);
        for (uint32_t k = 0; k < levels; k++) {
            const uint32_t arity = merkle_arity(s, k);
            for (size_t i = 0; i < group; i++)
                level_witness(w[first + i], &p[first + i]->level[k], &node[i], arity, &in[i * arity]);
            if (s->hash == MERKLE_POSEIDON)
                poseidon_witness_many(w + first, poseidon_get(ps, arity, POSEIDON_MERKLE), in, node, group);
            else
                for (size_t i = 0; i < group; i++)
                    sha256_node_witness(w[first + i], &in[i * arity], arity, &node[i]);
        }
        if (root)
            memcpy(root + first, node, group * sizeof *node);
    }
}

/* ---- paths whose bits and siblings the caller allocated ---- */

void merkle_synth_bits(cs *c, const merkle_shape *s, uint32_t levels, const poseidon_set *ps,
                       const boolean *bits, var leaf, const var *siblings, var root)
{
    var node = leaf, inserted[POSEIDON_MAX_ARITY];
    for (uint32_t i = 0; i < levels; i++) {
        const uint32_t arity = merkle_arity(s, i);
        cs_push(c, "merkle proof insert", i);
        insert_synth(c, inserted, node, bits, siblings, arity);
        cs_pop(c);
        cs_push(c, "merkle proof hash", i);
        node = merkle_node_synth(c, s->hash, ps, inserted, arity);
        cs_pop(c);
        bits += arity_bits(arity);
        siblings += arity - 1;
    }
    equal_synth(c, node, root);
}

void merkle_witness_bits(wcursor *w, const merkle_shape *s, uint32_t levels, const poseidon_set *ps,
                         uint64_t index, const fr *leaf, const fr *siblings, fr *root)
{
    fr node = *leaf, inserted[POSEIDON_MAX_ARITY];
    for (uint32_t i = 0; i < levels; i++) {
        const uint32_t arity = merkle_arity(s, i);
        insert_witness(w, inserted, &node, (unsigned)(index & (arity - 1)), siblings, arity);
        merkle_node_witness(w, s->hash, ps, inserted, arity, &node);
        index >>= arity_bits(arity);
        siblings += arity - 1;
    }
    if (root)
        *root = node;
}
