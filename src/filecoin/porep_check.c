/* The vanilla check of a C1: everything the circuit will demand, in plain hashing, so that a wrong document
 * is an error with a place rather than an unsatisfied circuit. One task per challenge.
 *
 * Labels: SHA-256(replica_id || layer || node || 20 zero bytes || 37 parents), two bits cleared; the parents
 * are the DRG parents' labels of the same layer and, from the second layer on, the expander parents' labels
 * of the one before, repeated to fill 37. Encoding: replica leaf = data leaf + the last layer's label. */
#include "base/encode.h"
#include "base/hash.h"
#include "base/mem.h"
#include "filecoin/porep_label.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void porep_label_parents(uint8_t out[POREP_PARENTS * 32], const uint8_t *const drg[POREP_DRG_PARENTS],
                         const uint8_t *const exp[POREP_EXP_PARENTS], uint32_t layer)
{
    unsigned period = layer == 0 ? POREP_DRG_PARENTS : POREP_DRG_PARENTS + POREP_EXP_PARENTS;
    for (unsigned i = 0; i < POREP_PARENTS; i++) {
        unsigned k = i % period;
        const uint8_t *label = k < POREP_DRG_PARENTS ? drg[k] + 32 * (size_t)layer
                                                     : exp[k - POREP_DRG_PARENTS] + 32 * (size_t)(layer - 1);
        memcpy(out + 32 * i, label, 32);
    }
}

void porep_label(uint8_t out[32], const uint8_t replica_id[32], uint32_t layer_index, uint64_t node,
                 const uint8_t parents[POREP_PARENTS * 32])
{
    uint8_t head[64] = {0};
    memcpy(head, replica_id, 32);
    store_be32(head + 32, layer_index);
    store_be32(head + 36, (uint32_t)(node >> 32));
    store_be32(head + 40, (uint32_t)node);
    sha256 s;
    sha256_init(&s);
    sha256_update(&s, head, 64);
    sha256_update(&s, parents, POREP_PARENTS * 32);
    sha256_final(&s, out);
    out[31] &= 0x3f;
}

int porep_column_hash(uint8_t out[32], const poseidon_set *ps, const uint8_t *rows, uint32_t layers)
{
    fr in[POREP_MAX_LAYERS], h;
    for (uint32_t i = 0; i < layers; i++)
        if (fr_from_bytes(&in[i], rows + 32 * (size_t)i))
            return -1;
    poseidon_hash(&h, poseidon_get(ps, layers, POSEIDON_MERKLE), in);
    fr_to_bytes(out, &h);
    return 0;
}

/* ---- one challenge ---- */

typedef struct check {
    const porep_c1 *c;
    const porep_graph *graph;
    const poseidon_set *ps;
    merkle_shape shape_d, shape_r;
    uint32_t first_partition;
    const uint64_t *challenge; /* of the partitions checked, in order */
    pthread_mutex_t lock;
    size_t failed; /* the first task that failed, SIZE_MAX: none */
    cuzk_error error;
} check;

typedef struct place {
    const check *k;
    uint32_t partition, index; /* of the challenge in its partition */
    uint64_t node;
    cuzk_error *err;
} place;

static int fail(const place *at, const char *format, ...) CUZK_PRINTF(2, 3);
static int fail(const place *at, const char *format, ...)
{
    char sentence[400];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    cuzk_error_set(at->err, CUZK_INCONSISTENT, "C1: partition %u, challenge %u (node %llu): %s",
                   at->partition, at->index, (unsigned long long)at->node, sentence);
    return -1;
}

/* Where a proof stands and what it is a proof in; that it hashes to its root is seen later, for many at once.
 */
static int check_position(const place *at, const char *field, const merkle_shape *shape,
                          const merkle_proof *p, uint64_t node, const uint8_t root[32], const char *root_name)
{
    uint64_t leads = merkle_proof_index(shape, p);
    if (leads != node)
        return fail(at, "%s: its path leads to node %llu, not to node %llu", field, (unsigned long long)leads,
                    (unsigned long long)node);
    if (memcmp(p->root, root, 32))
        return fail(at, "%s: its root is not %s", field, root_name);
    return 0;
}

/* The columns of a challenge: c_x, the DRG parents, the expander parents. */
#define COLUMNS      (1 + POREP_DRG_PARENTS + POREP_EXP_PARENTS)
#define COLUMN_FIELD 64
static void column_field(char out[COLUMN_FIELD], unsigned i)
{
    if (i == 0)
        snprintf(out, COLUMN_FIELD, "replica_column_proofs.c_x");
    else if (i <= POREP_DRG_PARENTS)
        snprintf(out, COLUMN_FIELD, "replica_column_proofs.drg_parents[%u]", i - 1);
    else
        snprintf(out, COLUMN_FIELD, "replica_column_proofs.exp_parents[%u]", i - 1 - POREP_DRG_PARENTS);
}

static void list_columns(const porep_challenge *ch, const porep_column *out[COLUMNS])
{
    out[0] = &ch->c_x;
    for (unsigned i = 0; i < POREP_DRG_PARENTS; i++)
        out[1 + i] = &ch->drg[i];
    for (unsigned i = 0; i < POREP_EXP_PARENTS; i++)
        out[1 + POREP_DRG_PARENTS + i] = &ch->exp[i];
}

static int check_column_positions(const place *at, const porep_column *const col[COLUMNS],
                                  const uint8_t comm_c[32])
{
    uint32_t node[COLUMNS];
    char name[COLUMN_FIELD + 16];
    node[0] = (uint32_t)at->node;
    porep_graph_parents(at->k->graph, (uint32_t)at->node, node + 1, node + 1 + POREP_DRG_PARENTS);
    for (unsigned i = 0; i < COLUMNS; i++) {
        column_field(name, i);
        if (col[i]->index != node[i])
            return fail(at, "%s: column of node %u, %s says node %u", name, col[i]->index,
                        i ? "the graph" : "the challenge", node[i]);
        strcat(name, ".inclusion_proof");
        if (check_position(at, name, &at->k->shape_r, &col[i]->inclusion, node[i], comm_c,
                           "comm_c of the partition"))
            return -1;
    }
    return 0;
}

static int check_column_hashes(const place *at, const porep_column *const col[COLUMNS], uint32_t layers)
{
    fr in[COLUMNS * POREP_MAX_LAYERS], hash[COLUMNS];
    char name[COLUMN_FIELD];
    for (unsigned i = 0; i < COLUMNS; i++)
        for (uint32_t k = 0; k < layers; k++)
            if (fr_from_bytes(&in[i * layers + k], col[i]->rows + 32 * (size_t)k)) {
                column_field(name, i);
                return fail(at, "%s: the label of layer %u is not below r", name, k + 1);
            }
    poseidon_hash_many(hash, poseidon_get(at->k->ps, layers, POSEIDON_MERKLE), in, COLUMNS);
    for (unsigned i = 0; i < COLUMNS; i++) {
        uint8_t bytes[32];
        fr_to_bytes(bytes, &hash[i]);
        if (memcmp(bytes, col[i]->inclusion.leaf, 32)) {
            column_field(name, i);
            return fail(at, "%s: the column does not hash to the leaf of its inclusion proof", name);
        }
    }
    return 0;
}

static int check_paths(const place *at, const porep_challenge *ch, const porep_column *const col[COLUMNS])
{
    static const char words[] = "leaf and path do not hash to the root";
    const merkle_proof *proofs[1 + COLUMNS];
    uint8_t ok[1 + COLUMNS];
    char name[COLUMN_FIELD];
    if (!merkle_proof_verify(&at->k->shape_d, at->k->ps, &ch->comm_d))
        return fail(at, "comm_d_proofs: %s", words);
    proofs[0] = &ch->comm_r_last;
    for (unsigned i = 0; i < COLUMNS; i++)
        proofs[1 + i] = &col[i]->inclusion;
    merkle_proof_verify_many(ok, &at->k->shape_r, at->k->ps, proofs, 1 + COLUMNS);
    if (!ok[0])
        return fail(at, "comm_r_last_proof: %s", words);
    for (unsigned i = 0; i < COLUMNS; i++)
        if (!ok[1 + i]) {
            column_field(name, i);
            return fail(at, "%s.inclusion_proof: %s", name, words);
        }
    return 0;
}

/* One labeling proof against the columns that its parents come from. */
static int check_labeling(const place *at, const char *field, const porep_labeling *l, uint32_t layer,
                          const uint8_t parents[POREP_PARENTS * 32])
{
    if (l->layer_index != layer + 1)
        return fail(at, "%s.layer_index is %u, not %u", field, l->layer_index, layer + 1);
    if (l->node != at->node)
        return fail(at, "%s.node is %llu", field, (unsigned long long)l->node);
    for (unsigned i = 0; i < POREP_PARENTS; i++)
        if (memcmp(l->parents + 32 * i, parents + 32 * i, 32))
            return fail(at, "%s.parents[%u] is not the label that the parent's column holds", field, i);
    return 0;
}

static int check_labels(const place *at, const porep_challenge *ch)
{
    const uint8_t *drg[POREP_DRG_PARENTS], *exp[POREP_EXP_PARENTS];
    uint8_t parents[POREP_PARENTS * 32], label[32] = {0};
    char name[64];
    for (unsigned i = 0; i < POREP_DRG_PARENTS; i++)
        drg[i] = ch->drg[i].rows;
    for (unsigned i = 0; i < POREP_EXP_PARENTS; i++)
        exp[i] = ch->exp[i].rows;
    for (uint32_t layer = 0; layer < ch->layers; layer++) {
        snprintf(name, sizeof name, "labeling_proofs[%u]", layer);
        porep_label_parents(parents, drg, exp, layer);
        if (check_labeling(at, name, &ch->labeling[layer], layer, parents))
            return -1;
        porep_label(label, at->k->c->replica_id, layer + 1, at->node, parents);
        if (memcmp(label, ch->c_x.rows + 32 * (size_t)layer, 32))
            return fail(at, "%s: the label is not that of column c_x at layer %u", name, layer + 1);
    }
    if (check_labeling(at, "encoding_proof", &ch->encoding, ch->layers - 1, parents))
        return -1;
    fr key, data, sum;
    uint8_t encoded[32];
    if (fr_from_bytes(&key, label) || fr_from_bytes(&data, ch->comm_d.leaf))
        return fail(at, "comm_d_proofs.leaf is not below r");
    fr_add(&sum, &key, &data);
    fr_to_bytes(encoded, &sum);
    if (memcmp(encoded, ch->comm_r_last.leaf, 32))
        return fail(at, "encoding_proof: data and key do not add up to comm_r_last_proof.leaf");
    return 0;
}

static int check_comm_r(const place *at, const uint8_t comm_c[32], const uint8_t comm_r_last[32])
{
    fr in[2], h;
    uint8_t comm_r[32];
    if (fr_from_bytes(&in[0], comm_c) || fr_from_bytes(&in[1], comm_r_last))
        return fail(at, "the roots of trees C and R are not below r");
    poseidon_hash(&h, poseidon_get(at->k->ps, 2, POSEIDON_MERKLE), in);
    fr_to_bytes(comm_r, &h);
    if (memcmp(comm_r, at->k->c->comm_r, 32))
        return fail(at, "comm_r is not the hash of the roots of trees C and R");
    return 0;
}

static int check_challenge(const place *at)
{
    const porep_c1 *c = at->k->c;
    const porep_challenge *first = c->challenge + (size_t)at->partition * c->challenges;
    const porep_challenge *ch = first + at->index;
    const uint8_t *comm_c = first->c_x.inclusion.root, *comm_r_last = first->comm_r_last.root;
    const porep_column *col[COLUMNS];
    list_columns(ch, col);
    if (check_position(at, "comm_d_proofs", &at->k->shape_d, &ch->comm_d, at->node, c->comm_d, "comm_d"))
        return -1;
    if (at->index == 0 && check_comm_r(at, comm_c, comm_r_last))
        return -1;
    if (check_position(at, "comm_r_last_proof", &at->k->shape_r, &ch->comm_r_last, at->node, comm_r_last,
                       "comm_r_last of the partition"))
        return -1;
    if (check_column_positions(at, col, comm_c) || check_column_hashes(at, col, ch->layers) ||
        check_paths(at, ch, col))
        return -1;
    return check_labels(at, ch);
}

static void check_task(void *ctx, size_t task, unsigned worker)
{
    (void)worker;
    check *k = ctx;
    cuzk_error err;
    place at = {.k = k,
                .partition = k->first_partition + (uint32_t)(task / k->c->challenges),
                .index = (uint32_t)(task % k->c->challenges),
                .node = k->challenge[task],
                .err = &err};
    /* Tasks are handed out in order, so a failure with a lower number may still come, but none that is later
     * counts. */
    pthread_mutex_lock(&k->lock);
    int skip = k->failed < task;
    pthread_mutex_unlock(&k->lock);
    if (skip || !check_challenge(&at))
        return;
    pthread_mutex_lock(&k->lock);
    if (task < k->failed) {
        k->failed = task;
        k->error = err;
    }
    pthread_mutex_unlock(&k->lock);
}

/* ---- the document ---- */

static cuzk_status check_identity(const porep_c1 *c, cuzk_error *err)
{
    const struct {
        const char *name;
        const uint8_t *value;
    } values[] = {{"comm_r", c->comm_r}, {"comm_d", c->comm_d}, {"replica_id", c->replica_id}};
    for (size_t i = 0; i < 3; i++) {
        fr v;
        if (fr_from_bytes(&v, values[i].value))
            return cuzk_error_set(err, CUZK_INCONSISTENT, "C1: %s is not a field element (it is not below r)",
                                  values[i].name);
    }
    return CUZK_OK;
}

cuzk_status porep_check(const porep_c1 *c, int64_t partition, const poseidon_set *ps, pool *p,
                        cuzk_error *err)
{
    return porep_check_until(c, partition, ps, p, NULL, err);
}

cuzk_status porep_check_until(const porep_c1 *c, int64_t partition, const poseidon_set *ps, pool *p,
                              const cancel_token *cancel, cuzk_error *err)
{
    if (partition >= (int64_t)c->partitions)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "partition %lld: %s has %u partitions",
                              (long long)partition, c->seal->name, c->partitions);
    cuzk_status st = check_identity(c, err);
    if (st != CUZK_OK)
        return st;
    uint32_t first = partition < 0 ? 0 : (uint32_t)partition, count = partition < 0 ? c->partitions : 1;
    size_t tasks = (size_t)count * c->challenges;
    check k = {.c = c, .ps = ps, .first_partition = first, .failed = SIZE_MAX};
    porep_graph *graph = NULL;
    uint64_t *challenge = mem_calloc(tasks, sizeof *challenge);
    if (!challenge)
        return mem_error(err, tasks * sizeof *challenge, "the challenges");
    st = porep_graph_create(&graph, c->seal, err);
    for (uint32_t i = 0; st == CUZK_OK && i < count; i++)
        st = porep_challenges(challenge + (size_t)i * c->challenges, c->seal, first + i, c->replica_id,
                              c->seed, c->comm_r, err);
    if (st != CUZK_OK)
        goto exit;
    k.graph = graph;
    k.challenge = challenge;
    merkle_shape_sha256(&k.shape_d, c->seal->sector_size);
    merkle_shape_poseidon(&k.shape_r, c->seal->sector_size);
    pthread_mutex_init(&k.lock, NULL);
    pool_for_until(p, cancel, tasks, check_task, &k);
    pthread_mutex_destroy(&k.lock);
    if (k.failed != SIZE_MAX) {
        st = k.error.status;
        if (err)
            *err = k.error;
    } else {
        st = cancel_status(cancel, "the check of the C1 document", err);
    }
exit:
    porep_graph_destroy(graph);
    mem_free(challenge);
    return st;
}
