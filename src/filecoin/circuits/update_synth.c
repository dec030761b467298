/* The rows of EmptySectorUpdate. Order of wires and rows is that of storage-proofs-update: public values,
 * commitments, the partition's part of the new data's tree, the challenges' bits; then one body a challenge,
 * to which the bits of its leaf's number come as imports. */
#include "filecoin/update.h"
#include <assert.h>

typedef struct body {
    update_shape s;
    const poseidon_set *ps;
    const poseidon *randomness; /* with SnapDeals' domain tag */
    boolean partition_bits[4], h_bits[UPDATE_H_VALUES];
    var partition, comm_r_old, comm_d_new, comm_r_new, phi, root_r_old, root_r_new;
    var apex[UPDATE_MAX_APEX], partition_path[4];
} body;

/* (sum of bits) * 1 = v, as a row of its own. */
static void enforce_packed(cs *c, const boolean *bits, size_t n, var v)
{
    lc l[3];
    for (int i = 0; i < 3; i++)
        lc_init(&l[i]);
    lc_add_packed(&l[0], bits, n);
    lc_add_one(&l[1], VAR_ONE);
    lc_add_one(&l[2], v);
    cs_enforce(c, &l[0], &l[1], &l[2]);
    for (int i = 0; i < 3; i++)
        lc_clear(&l[i]);
}

/* A wire for a * b. */
static var product_synth(cs *c, var a, var b)
{
    lc l[3];
    var v = cs_alloc_field(c);
    for (int i = 0; i < 3; i++)
        lc_init(&l[i]);
    lc_add_one(&l[0], a);
    lc_add_one(&l[1], b);
    lc_add_one(&l[2], v);
    cs_enforce(c, &l[0], &l[1], &l[2]);
    for (int i = 0; i < 3; i++)
        lc_clear(&l[i]);
    return v;
}

/* A wire for a sum. */
static var sum_synth(cs *c, const var *terms, size_t n)
{
    lc l[3];
    var v = cs_alloc_field(c);
    for (int i = 0; i < 3; i++)
        lc_init(&l[i]);
    for (size_t i = 0; i < n; i++)
        lc_add_one(&l[0], terms[i]);
    lc_add_one(&l[1], VAR_ONE);
    lc_add_one(&l[2], v);
    cs_enforce(c, &l[0], &l[1], &l[2]);
    for (int i = 0; i < 3; i++)
        lc_clear(&l[i]);
    return v;
}

static var pair_hash(cs *c, const char *name, int64_t index, const poseidon *p, var left, var right)
{
    const var in[2] = {left, right};
    cs_push(c, name, index);
    var out = poseidon_synth(c, p, in);
    cs_pop(c);
    return out;
}

static var public_field(cs *c, const char *name)
{
    var v = cs_alloc_field(c);
    cs_push(c, name, -1);
    inputize_synth(c, v);
    cs_pop(c);
    return v;
}

/* k and h select come packed in one input; the partition is packed again from its bits. */
static void public_values(cs *c, body *b)
{
    boolean bits[4 + UPDATE_H_VALUES];
    const uint32_t n = b->s.partition_bits;
    var packed = public_field(c, "k_and_h_select (public input)");
    cs_push(c, "k_and_h_select_bit", -1);
    boolean_alloc_many(c, bits, n + UPDATE_H_VALUES);
    cs_pop(c);
    cs_push(c, "k_and_h_select binary decomp", -1);
    enforce_packed(c, bits, n + UPDATE_H_VALUES, packed);
    cs_pop(c);
    memcpy(b->partition_bits, bits, n * sizeof *bits);
    memcpy(b->h_bits, bits + n, sizeof b->h_bits);
    cs_push(c, "pack partition bits", -1);
    b->partition = pack_bits(c, b->partition_bits, n);
    cs_pop(c);
    b->comm_r_old = public_field(c, "comm_r_old_input");
    b->comm_d_new = public_field(c, "comm_d_new_input");
    b->comm_r_new = public_field(c, "comm_r_new_input");
    b->phi = pair_hash(c, "phi", -1, b->randomness, b->comm_d_new, b->comm_r_old);
}

static void commitments(cs *c, body *b)
{
    const poseidon *p = poseidon_get(b->ps, 2, POSEIDON_MERKLE);
    var comm_c = cs_alloc_field(c);
    b->root_r_old = cs_alloc_field(c);
    b->root_r_new = cs_alloc_field(c);
    for (uint32_t i = 0; i < b->s.apex_leaves; i++)
        b->apex[i] = cs_alloc_field(c);
    for (uint32_t i = 0; i < b->s.partition_bits; i++)
        b->partition_path[i] = cs_alloc_field(c);
    equal_synth(c, pair_hash(c, "comm_r_old_calc", -1, p, comm_c, b->root_r_old), b->comm_r_old);
    equal_synth(c, pair_hash(c, "comm_r_new_calc", -1, p, comm_c, b->root_r_new), b->comm_r_new);
}

/* The apex leaves are hashed to the partition's root, from where one path leads to comm_d_new. */
static void apex_tree(cs *c, body *b)
{
    var node[UPDATE_MAX_APEX];
    cs_push(c, "apex_gadget", -1);
    memcpy(node, b->apex, b->s.apex_leaves * sizeof *node);
    for (uint32_t n = b->s.apex_leaves; n > 1; n /= 2) {
        for (uint32_t i = 0; i < n / 2; i++) {
            cs_push(c, "apex_tree generation hash", i);
            node[i] = merkle_node_synth(c, MERKLE_SHA256, b->ps, &node[2 * i], 2);
            cs_pop(c);
        }
    }
    cs_push(c, "partition-tree por", -1);
    merkle_synth_bits(c, &b->s.tree_d, b->s.partition_bits, b->ps, b->partition_bits, node[0],
                      b->partition_path, b->comm_d_new);
    cs_pop(c);
    cs_pop(c);
}

/* Random bits of every challenge, cut from hashes of comm_r_new and a counter. */
static void challenge_bits(cs *c, const body *b, var *out)
{
    const uint32_t random = b->s.challenge_bits - b->s.partition_bits, each = FR_CAPACITY / random;
    const uint32_t digests = update_digests(&b->s);
    boolean bits[FR_BITS];
    fr factor, offset;
    uint32_t done = 0;
    cs_push(c, "gen_challenge_bits", -1);
    for (uint32_t j = 0; j < digests; j++) {
        lc l[3];
        for (int i = 0; i < 3; i++)
            lc_init(&l[i]);
        var index = cs_alloc_field(c);
        fr_from_u64(&factor, digests);
        fr_from_u64(&offset, j);
        lc_add(&l[0], b->partition, &factor);
        lc_add(&l[0], VAR_ONE, &offset);
        lc_add_one(&l[1], VAR_ONE);
        lc_add_one(&l[2], index);
        cs_enforce(c, &l[0], &l[1], &l[2]);
        for (int i = 0; i < 3; i++)
            lc_clear(&l[i]);
        var digest = pair_hash(c, "digest", j, b->randomness, b->comm_r_new, index);
        cs_push(c, "digest_bits", j);
        boolean_alloc_many(c, bits, FR_BITS);
        enforce_packed(c, bits, FR_BITS, digest);
        cs_pop(c);
        for (uint32_t i = 0; i < each && done < b->s.challenges; i++, done++)
            for (uint32_t k = 0; k < random; k++)
                out[done * random + k] = bits[i * random + k].v;
    }
    cs_pop(c);
}

/* The h highest bits of the leaf's number for the h that is selected: each candidate times its select bit,
 * summed. */
static var high_bits(cs *c, const body *b, const boolean *bits)
{
    var candidate[UPDATE_H_VALUES];
    cs_push(c, "get_challenge_high_bits", -1);
    for (uint32_t i = 0; i < UPDATE_H_VALUES; i++) {
        var high = pack_bits(c, bits + b->s.challenge_bits - b->s.h[i], b->s.h[i]);
        candidate[i] = product_synth(c, high, b->h_bits[i].v);
    }
    var sum = sum_synth(c, candidate, UPDATE_H_VALUES);
    cs_pop(c);
    return sum;
}

static void path_synth(cs *c, const body *b, const char *name, const merkle_shape *s, uint32_t levels,
                       const boolean *bits, var leaf, var root)
{
    var siblings[7 * MERKLE_MAX_LEVELS];
    for (uint32_t i = 0; i < merkle_sibling_count(s, levels); i++)
        siblings[i] = cs_alloc_field(c);
    cs_push(c, name, -1);
    merkle_synth_bits(c, s, levels, b->ps, bits, leaf, siblings, root);
    cs_pop(c);
}

static void challenge(cs *c, void *ctx)
{
    const body *b = ctx;
    const update_shape *s = &b->s;
    const uint32_t random = s->challenge_bits - s->partition_bits, below_apex = random - s->apex_bits;
    boolean bits[64];
    for (uint32_t i = 0; i < random; i++)
        bits[i] = boolean_of(cs_import(c, i));
    memcpy(bits + random, b->partition_bits, s->partition_bits * sizeof *bits);
    var rho = pair_hash(c, "rho", -1, b->randomness, b->phi, high_bits(c, b, bits));
    var sum[2] = {cs_alloc_field(c)}, d_new = cs_alloc_field(c);
    cs_push(c, "leaf_r_new", -1);
    sum[1] = product_synth(c, d_new, rho);
    var r_new = sum_synth(c, sum, 2);
    cs_pop(c);
    path_synth(c, b, "por tree_r_old", &s->tree_r, merkle_levels(&s->tree_r), bits, sum[0], b->root_r_old);
    path_synth(c, b, "por tree_r_new", &s->tree_r, merkle_levels(&s->tree_r), bits, r_new, b->root_r_new);
    cs_push(c, "select_apex_leaf", -1);
    var apex = select_synth(c, b->apex, bits + below_apex, s->apex_bits);
    cs_pop(c);
    path_synth(c, b, "por to_apex_leaf", &s->tree_d, below_apex, bits, d_new, apex);
}

void update_synthesize(cs *c, void *ctx)
{
    const update_circuit *circuit = ctx;
    body b = {.ps = circuit->ps, .randomness = poseidon_get(circuit->ps, 2, POSEIDON_SNAP_GEN)};
    var bits[UPDATE_MAX_CHALLENGES * 32];
    int unknown = update_shape_of(&b.s, circuit->info->sector_size);
    assert(!unknown); /* registered sizes only */
    (void)unknown;
    public_values(c, &b);
    commitments(c, &b);
    apex_tree(c, &b);
    challenge_bits(c, &b, bits);
    cs_push(c, "challenge", -1);
    cs_repeat(c, b.s.challenges, challenge, &b, bits, b.s.challenge_bits - b.s.partition_bits);
    cs_pop(c);
}
