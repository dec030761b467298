/* The witness of EmptySectorUpdate: what stands before the challenges is one task, each challenge another. */
#include "base/mem.h"
#include "filecoin/update.h"
#include <assert.h>
#include <stdatomic.h>

typedef struct job {
    witness *w;
    const update_input *in;
    const update_partition *part;
    const poseidon_set *ps;
    const cancel_token *cancel;
    const r1cs_segment *body; /* the challenges' rows: where their wires begin */
    uint32_t k;
    unsigned h_index;
    fr phi;
    uint64_t leaf[UPDATE_MAX_CHALLENGES];
    atomic_int stop;
} job;

/* A value that was checked to be a field element, as a wire. */
static void load(fr *out, const uint8_t bytes[32])
{
    int bad = fr_from_bytes(out, bytes);
    assert(!bad);
    (void)bad;
}

static void put(wcursor *w, fr *out, const uint8_t bytes[32])
{
    load(out, bytes);
    wcursor_field(w, out);
}

static void pair_hash(wcursor *w, const poseidon *p, const fr *left, const fr *right, fr *out)
{
    const fr in[2] = {*left, *right};
    poseidon_witness(w, p, in, out);
}

/* ---- before the challenges ---- */

static void public_values(const job *j, wcursor *w, fr *comm_r_new)
{
    const update_public *pub = &j->in->pub;
    const unsigned bits = j->in->shape.partition_bits;
    fr v, comm_r_old, comm_d_new;
    wcursor_field(w, &j->w->input[1]);
    wcursor_bits(w, j->k | 1ull << (bits + j->h_index), bits + UPDATE_H_VALUES);
    fr_from_u64(&v, j->k);
    wcursor_field(w, &v);
    put(w, &comm_r_old, pub->comm_r_old);
    put(w, &comm_d_new, pub->comm_d_new);
    put(w, comm_r_new, pub->comm_r_new);
    pair_hash(w, poseidon_get(j->ps, 2, POSEIDON_SNAP_GEN), &comm_d_new, &comm_r_old, &v);
}

static void commitments(const job *j, wcursor *w, fr *apex, fr *partition_path)
{
    const update_shape *s = &j->in->shape;
    const update_challenge *first = &j->part->challenge[0];
    const poseidon *p = poseidon_get(j->ps, 2, POSEIDON_MERKLE);
    fr comm_c, root_old, root_new, v;
    put(w, &comm_c, j->part->comm_c);
    put(w, &root_old, first->r_old.root);
    put(w, &root_new, first->r_new.root);
    for (uint32_t i = 0; i < s->apex_leaves; i++)
        put(w, &apex[i], j->part->apex + 32 * i);
    for (uint32_t i = 0; i < s->partition_bits; i++)
        put(w, &partition_path[i], first->d_new.level[s->challenge_bits - s->partition_bits + i].siblings);
    pair_hash(w, p, &comm_c, &root_old, &v);
    pair_hash(w, p, &comm_c, &root_new, &v);
}

static void apex_tree(const job *j, wcursor *w, const fr *apex, const fr *partition_path)
{
    const update_shape *s = &j->in->shape;
    fr node[UPDATE_MAX_APEX];
    memcpy(node, apex, s->apex_leaves * sizeof *node);
    for (uint32_t n = s->apex_leaves; n > 1; n /= 2)
        for (uint32_t i = 0; i < n / 2; i++)
            merkle_node_witness(w, MERKLE_SHA256, j->ps, &node[2 * i], 2, &node[i]);
    merkle_witness_bits(w, &s->tree_d, s->partition_bits, j->ps, j->k, &node[0], partition_path, NULL);
}

static void challenge_bits(const job *j, wcursor *w, const fr *comm_r_new)
{
    const uint32_t digests = update_digests(&j->in->shape);
    uint8_t bytes[32];
    fr index, digest;
    for (uint32_t i = 0; i < digests; i++) {
        fr_from_u64(&index, (uint64_t)j->k * digests + i);
        wcursor_field(w, &index);
        pair_hash(w, poseidon_get(j->ps, 2, POSEIDON_SNAP_GEN), comm_r_new, &index, &digest);
        fr_to_bytes(bytes, &digest);
        num_to_bits_le_witness(w, bytes);
    }
}

static void write_prefix(const job *j)
{
    wcursor w;
    fr comm_r_new, apex[UPDATE_MAX_APEX], partition_path[4];
    wcursor_init(&w, j->w, 0, 0);
    public_values(j, &w, &comm_r_new);
    commitments(j, &w, apex, partition_path);
    apex_tree(j, &w, apex, partition_path);
    challenge_bits(j, &w, &comm_r_new);
    assert(w.aux == j->body->aux_base && w.field == j->body->field_base);
    wcursor_finish(&w);
}

/* ---- challenges ---- */

static void high_bits(const job *j, wcursor *w, uint64_t leaf, fr *out)
{
    const update_shape *s = &j->in->shape;
    fr high;
    for (unsigned i = 0; i < UPDATE_H_VALUES; i++) {
        fr_from_u64(&high, leaf >> (s->challenge_bits - s->h[i]));
        wcursor_field(w, &high);
        wcursor_field(w, i == j->h_index ? &high : &FR_ZERO);
        if (i == j->h_index)
            *out = high;
    }
    wcursor_field(w, out);
}

/* The siblings' wires, then the path's. */
static void write_path(const job *j, wcursor *w, const merkle_shape *s, uint32_t levels,
                       const merkle_proof *p, uint64_t index, const fr *leaf)
{
    fr siblings[7 * MERKLE_MAX_LEVELS], *next = siblings;
    for (uint32_t i = 0; i < levels; i++)
        for (uint32_t k = 0; k + 1 < merkle_arity(s, i); k++)
            put(w, next++, p->level[i].siblings + 32 * k);
    merkle_witness_bits(w, s, levels, j->ps, index, leaf, siblings, NULL);
}

static void write_challenge(const job *j, uint32_t i)
{
    const update_shape *s = &j->in->shape;
    const update_challenge *c = &j->part->challenge[i];
    const uint64_t leaf = j->leaf[i];
    const uint32_t below_apex = s->challenge_bits - s->partition_bits - s->apex_bits;
    fr high, rho, r_old, d_new, r_new, apex[UPDATE_MAX_APEX], v;
    wcursor w;
    wcursor_init(&w, j->w, j->body->aux_base + i * j->body->aux_stride,
                 j->body->field_base + i * j->body->field_stride);
    high_bits(j, &w, leaf, &high);
    pair_hash(&w, poseidon_get(j->ps, 2, POSEIDON_SNAP_GEN), &j->phi, &high, &rho);
    put(&w, &r_old, c->r_old.leaf);
    put(&w, &d_new, c->d_new.leaf);
    fr_mul(&v, &d_new, &rho);
    wcursor_field(&w, &v);
    fr_add(&r_new, &r_old, &v);
    wcursor_field(&w, &r_new);
    write_path(j, &w, &s->tree_r, merkle_levels(&s->tree_r), &c->r_old, leaf, &r_old);
    write_path(j, &w, &s->tree_r, merkle_levels(&s->tree_r), &c->r_new, leaf, &r_new);
    for (uint32_t k = 0; k < s->apex_leaves; k++)
        load(&apex[k], j->part->apex + 32 * k);
    select_witness(&w, &v, apex, leaf >> below_apex & (s->apex_leaves - 1), s->apex_bits);
    write_path(j, &w, &s->tree_d, below_apex, &c->d_new, leaf & ((1ull << below_apex) - 1), &d_new);
    assert(w.aux == j->body->aux_base + (i + 1) * j->body->aux_stride);
    assert(w.field == j->body->field_base + (i + 1) * j->body->field_stride);
    wcursor_finish(&w);
}

static void write_task(void *ctx, size_t task, unsigned worker)
{
    job *j = ctx;
    (void)worker;
    if (atomic_load(&j->stop))
        return;
    if (cancel_check(j->cancel))
        atomic_store(&j->stop, 1);
    else if (task == 0)
        write_prefix(j);
    else
        write_challenge(j, (uint32_t)task - 1);
}

static const r1cs_segment *find_body(const r1cs *r, const update_shape *s)
{
    for (size_t i = 0; i < r1cs_segment_count(r); i++) {
        const r1cs_segment *g = r1cs_segment_at(r, i);
        if (g->count == s->challenges && g->import_count == s->challenge_bits - s->partition_bits)
            return g;
    }
    return NULL;
}

static unsigned h_index_of(const update_shape *s, uint32_t h)
{
    unsigned i = 0;
    while (i + 1 < UPDATE_H_VALUES && s->h[i] != h)
        i++;
    return i;
}

cuzk_status update_witness(witness *w, const r1cs *r, const update_input *in, uint32_t partition,
                           const poseidon_set *ps, pool *p, const cancel_token *cancel, cuzk_error *err)
{
    const circuit_info *info = in->circuit;
    const update_shape *s = &in->shape;
    job j = {
        .w = w, .in = in, .ps = ps, .cancel = cancel, .k = partition, .h_index = h_index_of(s, in->pub.h)};
    r1cs_counts n;
    r1cs_get_counts(r, &n);
    if (partition >= s->partitions)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "partition %u: %s has %u", partition, info->name,
                              s->partitions);
    j.part = &in->partition[partition];
    j.body = find_body(r, s);
    if (!j.body || n.inputs != 1 + UPDATE_PUBLIC_INPUTS ||
        n.aux != j.body->aux_base + s->challenges * j.body->aux_stride)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "%s is not the circuit %s", r1cs_name(r),
                              info->name);
    cuzk_status status = update_challenges(j.leaf, s, ps, in->pub.comm_r_new, partition, err);
    if (status == CUZK_OK)
        status = update_phi(&j.phi, ps, in->pub.comm_d_new, in->pub.comm_r_old, err);
    if (status == CUZK_OK)
        status = witness_init(w, n.inputs, n.aux, n.fields, err);
    if (status != CUZK_OK)
        return status;
    status = update_public_inputs(w->input + 1, UPDATE_PUBLIC_INPUTS, &in->pub, partition, err);
    if (status == CUZK_OK) {
        pool_for(p, 1 + (size_t)s->challenges, write_task, &j);
        if (atomic_load(&j.stop))
            status = cuzk_error_set(err, cancel_check(cancel) == 2 ? CUZK_DEADLINE : CUZK_CANCELLED,
                                    "the witness of %s, partition %u, was stopped", info->name, partition);
    }
    if (status != CUZK_OK)
        witness_clear(w);
    return status;
}
