/* The check of PoSt's vanilla proofs: what the circuit will state, outside of it. Eight sectors at a time, so
 * that their hashes go side by side. */
#include "base/mem.h"
#include "filecoin/post.h"
#include <stdatomic.h>

#define GROUP 8

typedef struct check {
    const post_input *in;
    const poseidon_set *ps;
    size_t first, count; /* sectors */
    _Atomic size_t bad;  /* lowest position of a wrong sector, SIZE_MAX for none */
} check;

static void report(check *c, size_t sector)
{
    size_t seen = atomic_load(&c->bad);
    while (sector < seen && !atomic_compare_exchange_weak(&c->bad, &seen, sector))
        ;
}

/* What is wrong with a sector; CUZK_OK if nothing. Slow: one hash after the other. */
static cuzk_status explain(const check *c, size_t index, cuzk_error *err)
{
    const post_input *in = c->in;
    const post_sector *s = &in->sector[index];
    const unsigned long long id = s->sector_id;
    uint64_t leaf[POST_MAX_CHALLENGES];
    uint8_t pair[64], hash[32];
    memcpy(pair, s->comm_c, 32);
    memcpy(pair + 32, s->comm_r_last, 32);
    if (merkle_node_hash(hash, MERKLE_POSEIDON, c->ps, pair, 2) || memcmp(hash, s->comm_r, 32))
        return cuzk_error_set(err, CUZK_INCONSISTENT,
                              "sector %llu: comm_r is not the hash of comm_c and comm_r_last", id);
    post_challenges(leaf, in->post, in->randomness, s->sector_id, index);
    for (uint32_t k = 0; k < in->challenges; k++) {
        const merkle_proof *p = &s->inclusion[k];
        const unsigned long long shown = merkle_proof_index(&in->shape, p);
        if (memcmp(p->root, s->comm_r_last, 32))
            return cuzk_error_set(err, CUZK_INCONSISTENT,
                                  "sector %llu, challenge %u: the root of the path is not comm_r_last", id,
                                  k);
        if (shown != leaf[k])
            return cuzk_error_set(
                err, CUZK_INCONSISTENT,
                "sector %llu, challenge %u: the path is that of leaf %llu, but the randomness asks "
                "for leaf %llu",
                id, k, shown, (unsigned long long)leaf[k]);
        if (!merkle_proof_verify(&in->shape, c->ps, p))
            return cuzk_error_set(err, CUZK_INCONSISTENT,
                                  "sector %llu, challenge %u: leaf and path do not lead to the root", id, k);
    }
    return CUZK_OK;
}

static int leaves_match(const check *c, size_t index)
{
    const post_input *in = c->in;
    const post_sector *s = &in->sector[index];
    uint64_t leaf[POST_MAX_CHALLENGES];
    post_challenges(leaf, in->post, in->randomness, s->sector_id, index);
    for (uint32_t k = 0; k < in->challenges; k++)
        if (merkle_proof_index(&in->shape, &s->inclusion[k]) != leaf[k] ||
            memcmp(s->inclusion[k].root, s->comm_r_last, 32))
            return 0;
    return 1;
}

static void check_group(void *ctx, size_t task, unsigned worker)
{
    check *c = ctx;
    (void)worker;
    const size_t first = c->first + task * GROUP, left = c->first + c->count - first;
    const size_t n = left < GROUP ? left : GROUP;
    const merkle_proof *proof[GROUP];
    uint8_t ok[GROUP];
    fr pair[2 * GROUP], hash[GROUP];
    if (first > atomic_load(&c->bad))
        return;
    for (size_t i = 0; i < n; i++) {
        const post_sector *s = &c->in->sector[first + i];
        if (fr_from_bytes(&pair[2 * i], s->comm_c) || fr_from_bytes(&pair[2 * i + 1], s->comm_r_last)) {
            report(c, first + i);
            return;
        }
    }
    poseidon_hash_many(hash, poseidon_get(c->ps, 2, POSEIDON_MERKLE), pair, n);
    for (size_t i = 0; i < n; i++) {
        uint8_t comm_r[32];
        fr_to_bytes(comm_r, &hash[i]);
        if (memcmp(comm_r, c->in->sector[first + i].comm_r, 32) || !leaves_match(c, first + i))
            report(c, first + i);
    }
    for (uint32_t k = 0; k < c->in->challenges; k++) {
        for (size_t i = 0; i < n; i++)
            proof[i] = &c->in->sector[first + i].inclusion[k];
        merkle_proof_verify_many(ok, &c->in->shape, c->ps, proof, n);
        for (size_t i = 0; i < n; i++)
            if (!ok[i])
                report(c, first + i);
    }
}

cuzk_status post_check(const post_input *in, int64_t partition, const poseidon_set *ps, pool *p,
                       cuzk_error *err)
{
    return post_check_until(in, partition, ps, p, NULL, err);
}

cuzk_status post_check_until(const post_input *in, int64_t partition, const poseidon_set *ps, pool *p,
                             const cancel_token *cancel, cuzk_error *err)
{
    check c = {.in = in, .ps = ps, .first = 0, .count = in->sector_count};
    const size_t per = in->post->winning ? 1 : in->post->sectors;
    if (partition >= (int64_t)in->partitions)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "partition %lld: there are %u",
                              (long long)partition, in->partitions);
    if (partition >= 0) {
        c.first = (size_t)partition * per;
        c.count = in->sector_count - c.first < per ? in->sector_count - c.first : per;
    }
    atomic_init(&c.bad, SIZE_MAX);
    pool_for_until(p, cancel, (c.count + GROUP - 1) / GROUP, check_group, &c);
    size_t bad = atomic_load(&c.bad);
    if (bad == SIZE_MAX)
        return cancel_status(cancel, "the check of the vanilla proofs", err);
    cuzk_status status = explain(&c, bad, err);
    if (status == CUZK_OK) /* the two forms of the check disagree: never let it pass */
        status = cuzk_error_set(err, CUZK_INCONSISTENT, "sector %llu: its vanilla proof does not hold",
                                (unsigned long long)in->sector[bad].sector_id);
    return status;
}
