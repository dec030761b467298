/* The check of SnapDeals' vanilla proofs: what the circuit will state, outside of it. */
#include "base/mem.h"
#include "filecoin/update.h"
#include <stdatomic.h>

#define GROUP 8 /* challenges whose hashes go side by side */

typedef struct check {
    const update_input *in;
    const poseidon_set *ps;
    uint32_t first; /* partition of task 0 */
    uint32_t tasks_each;
    fr phi;
    uint64_t *leaf;       /* challenges of every partition that is checked */
    _Atomic uint64_t bad; /* lowest wrong (partition, challenge), UINT64_MAX for none */
} check;

static void note(check *c, uint32_t partition, uint32_t challenge)
{
    const uint64_t place = (uint64_t)partition << 32 | challenge;
    uint64_t seen = atomic_load(&c->bad);
    while (place < seen && !atomic_compare_exchange_weak(&c->bad, &seen, place))
        ;
}

static int is_hash_of(const poseidon_set *ps, const uint8_t *value, const uint8_t *left, const uint8_t *right)
{
    uint8_t pair[64], hash[32];
    memcpy(pair, left, 32);
    memcpy(pair + 32, right, 32);
    return !merkle_node_hash(hash, MERKLE_POSEIDON, ps, pair, 2) && !memcmp(hash, value, 32);
}

/* The root that the apex leaves and the highest levels of the first challenge's path lead to. */
static int apex_leads_to_root(const check *c, uint32_t k)
{
    const update_shape *s = &c->in->shape;
    const update_partition *p = &c->in->partition[k];
    uint8_t node[UPDATE_MAX_APEX * 32], pair[64];
    fr t;
    memcpy(node, p->apex, 32 * (size_t)s->apex_leaves);
    for (uint32_t i = 0; i < s->apex_leaves; i++)
        if (fr_from_bytes(&t, node + 32 * i))
            return 0;
    for (uint32_t n = s->apex_leaves; n > 1; n /= 2)
        for (uint32_t i = 0; i < n / 2; i++)
            merkle_node_hash(node + 32 * i, MERKLE_SHA256, c->ps, node + 64 * i, 2);
    for (uint32_t i = 0; i < s->partition_bits; i++) {
        const uint32_t right = k >> i & 1;
        memcpy(pair + 32 * right, node, 32);
        memcpy(pair + 32 * !right,
               p->challenge[0].d_new.level[s->challenge_bits - s->partition_bits + i].siblings, 32);
        merkle_node_hash(node, MERKLE_SHA256, c->ps, pair, 2);
    }
    return !memcmp(node, c->in->pub.comm_d_new, 32);
}

static cuzk_status check_commitments(const check *c, uint32_t k, cuzk_error *err)
{
    const update_input *in = c->in;
    const update_partition *p = &in->partition[k];
    if (!is_hash_of(c->ps, in->pub.comm_r_old, p->comm_c, p->challenge[0].r_old.root))
        return cuzk_error_set(err, CUZK_INCONSISTENT,
                              "partition %u: comm_r_old is not the hash of comm_c and the old replica's root",
                              k);
    if (!is_hash_of(c->ps, in->pub.comm_r_new, p->comm_c, p->challenge[0].r_new.root))
        return cuzk_error_set(err, CUZK_INCONSISTENT,
                              "partition %u: comm_r_new is not the hash of comm_c and the new replica's root",
                              k);
    if (!apex_leads_to_root(c, k))
        return cuzk_error_set(err, CUZK_INCONSISTENT,
                              "partition %u: the apex leaves do not lead to comm_d_new", k);
    return CUZK_OK;
}

/* The new replica's leaf is the old one's plus rho times the new data's. */
static int leaf_is_encoded(const check *c, const update_challenge *ch, uint64_t leaf)
{
    fr rho, r_old, d_new, r_new;
    if (fr_from_bytes(&r_old, ch->r_old.leaf) || fr_from_bytes(&d_new, ch->d_new.leaf) ||
        fr_from_bytes(&r_new, ch->r_new.leaf))
        return 0;
    update_rho(&rho, &c->in->shape, c->ps, &c->phi, c->in->pub.h, leaf);
    fr_mul(&d_new, &d_new, &rho);
    fr_add(&r_old, &r_old, &d_new);
    return fr_eq(&r_old, &r_new);
}

static cuzk_status explain(const check *c, uint32_t k, uint32_t i, cuzk_error *err)
{
    static const char *const name[] = {"old replica", "new data", "new replica"};
    const update_input *in = c->in;
    const update_partition *p = &in->partition[k];
    const update_challenge *ch = &p->challenge[i];
    const merkle_proof *proof[] = {&ch->r_old, &ch->d_new, &ch->r_new};
    const uint8_t *root[] = {p->challenge[0].r_old.root, in->pub.comm_d_new, p->challenge[0].r_new.root};
    const uint64_t leaf = c->leaf[(k - c->first) * in->shape.challenges + i];
    for (int t = 0; t < 3; t++) {
        const merkle_shape *s = t == 1 ? &in->shape.tree_d : &in->shape.tree_r;
        const uint64_t shown = merkle_proof_index(s, proof[t]);
        if (shown != leaf)
            return cuzk_error_set(
                err, CUZK_INCONSISTENT,
                "partition %u, challenge %u: the path in the %s is that of leaf %llu, but comm_r_new "
                "asks for leaf %llu",
                k, i, name[t], (unsigned long long)shown, (unsigned long long)leaf);
        if (memcmp(proof[t]->root, root[t], 32))
            return cuzk_error_set(err, CUZK_INCONSISTENT,
                                  "partition %u, challenge %u: the path in the %s has another root", k, i,
                                  name[t]);
        if (!merkle_proof_verify(s, c->ps, proof[t]))
            return cuzk_error_set(
                err, CUZK_INCONSISTENT,
                "partition %u, challenge %u: leaf and path in the %s do not lead to the root", k, i, name[t]);
    }
    return cuzk_error_set(
        err, CUZK_INCONSISTENT,
        "partition %u, challenge %u: the new replica's leaf is not the encoding of the new data "
        "(h = %u)",
        k, i, in->pub.h);
}

static void check_group(void *ctx, size_t task, unsigned worker)
{
    check *c = ctx;
    (void)worker;
    const update_input *in = c->in;
    const uint32_t k = c->first + (uint32_t)(task / c->tasks_each), total = in->shape.challenges;
    const uint32_t first = (uint32_t)(task % c->tasks_each) * GROUP,
                   n = total - first < GROUP ? total - first : GROUP;
    const update_partition *p = &in->partition[k];
    const uint64_t *leaf = &c->leaf[(k - c->first) * total + first];
    const merkle_proof *proof[3][GROUP];
    uint8_t ok[3][GROUP];
    for (uint32_t i = 0; i < n; i++) {
        const update_challenge *ch = &p->challenge[first + i];
        proof[0][i] = &ch->r_old, proof[1][i] = &ch->d_new, proof[2][i] = &ch->r_new;
    }
    for (int t = 0; t < 3; t++)
        merkle_proof_verify_many(ok[t], t == 1 ? &in->shape.tree_d : &in->shape.tree_r, c->ps, proof[t], n);
    for (uint32_t i = 0; i < n; i++) {
        const update_challenge *ch = &p->challenge[first + i];
        int good = ok[0][i] && ok[1][i] && ok[2][i] && leaf_is_encoded(c, ch, leaf[i]);
        good = good && merkle_proof_index(&in->shape.tree_r, &ch->r_old) == leaf[i];
        good = good && merkle_proof_index(&in->shape.tree_d, &ch->d_new) == leaf[i];
        good = good && merkle_proof_index(&in->shape.tree_r, &ch->r_new) == leaf[i];
        good = good && !memcmp(ch->r_old.root, p->challenge[0].r_old.root, 32);
        good = good && !memcmp(ch->r_new.root, p->challenge[0].r_new.root, 32);
        good = good && !memcmp(ch->d_new.root, in->pub.comm_d_new, 32);
        if (!good)
            note(c, k, first + i);
    }
}

static cuzk_status check_partitions(check *c, uint32_t count, pool *p, const cancel_token *cancel,
                                    cuzk_error *err)
{
    const update_input *in = c->in;
    for (uint32_t k = c->first; k < c->first + count; k++) {
        cuzk_status status = update_challenges(&c->leaf[(size_t)(k - c->first) * in->shape.challenges],
                                               &in->shape, c->ps, in->pub.comm_r_new, k, err);
        if (status == CUZK_OK)
            status = check_commitments(c, k, err);
        if (status != CUZK_OK)
            return status;
    }
    pool_for_until(p, cancel, (size_t)count * c->tasks_each, check_group, c);
    const uint64_t bad = atomic_load(&c->bad);
    if (bad == UINT64_MAX)
        return cancel_status(cancel, "the check of the vanilla proofs", err);
    return explain(c, (uint32_t)(bad >> 32), (uint32_t)bad, err);
}

cuzk_status update_check(const update_input *in, int64_t partition, const poseidon_set *ps, pool *p,
                         cuzk_error *err)
{
    return update_check_until(in, partition, ps, p, NULL, err);
}

cuzk_status update_check_until(const update_input *in, int64_t partition, const poseidon_set *ps, pool *p,
                               const cancel_token *cancel, cuzk_error *err)
{
    const uint32_t partitions = in->shape.partitions, count = partition < 0 ? partitions : 1;
    check c = {.in = in, .ps = ps, .first = partition < 0 ? 0 : (uint32_t)partition};
    if (partition >= (int64_t)partitions)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "partition %lld: %s has %u", (long long)partition,
                              in->circuit->name, partitions);
    c.tasks_each = (in->shape.challenges + GROUP - 1) / GROUP;
    c.leaf = mem_calloc((size_t)count * in->shape.challenges, sizeof *c.leaf);
    if (!c.leaf)
        return mem_error(err, (size_t)count * in->shape.challenges * sizeof *c.leaf, "challenges");
    atomic_init(&c.bad, UINT64_MAX);
    cuzk_status status = update_phi(&c.phi, ps, in->pub.comm_d_new, in->pub.comm_r_old, err);
    if (status == CUZK_OK)
        status = check_partitions(&c, count, p, cancel, err);
    mem_free(c.leaf);
    return status;
}
