/* The compact witness of PoRep. One task a challenge; within it the labels come first, for the Poseidon part
 * then runs on all columns and all paths of the challenge side by side. Nothing is allocated after
 * witness_init. */
#include "base/encode.h"
#include "filecoin/circuits/porep_circuit.h"
#include <assert.h>
#include <stdatomic.h>

/* Poseidon work of a challenge: the parents' columns and paths, then its own column and path, then tree R's
 * path. */
enum { OWN = POREP_COLUMN_PARENTS, COLUMNS, TREE_R = COLUMNS, PATHS };

typedef struct wires {
    uint64_t aux, fields;
} wires;

typedef struct job {
    witness *w;
    const porep_c1 *c1;
    const porep_challenge *challenge; /* the partition's */
    const poseidon_set *ps;
    const poseidon *column_hash;
    merkle_shape tree_d, tree;
    uint32_t layers;
    wires base, stride, hash,
        path; /* of challenge 0; of a challenge; of a column's hash; of a Poseidon path */
    const cancel_token *cancel;
    atomic_int stop; /* from cancel_check */
    _Atomic uint32_t
        bad; /* first challenge with a value that is no field element or a path of wrong length, + 1 */
} job;

static wires wires_add(wires a, wires b)
{
    return (wires){a.aux + b.aux, a.fields + b.fields};
}

/* Wires of merkle_synth on a Poseidon tree: index bits, siblings, insertion, hash. */
static wires path_wires(const merkle_shape *s, const poseidon_set *ps)
{
    wires n = {0};
    for (uint32_t level = 0; level < merkle_levels(s); level++) {
        unsigned arity = merkle_arity(s, level), bits = (unsigned)__builtin_ctz(arity), picks;
        picks = arity == 2 ? 2 : arity == 4 ? 8 : 20;
        if (arity == 8)
            bits += 2; /* b0 nor b1, b0 and b1 */
        unsigned fields = arity - 1 + picks + poseidon_wires(poseidon_get(ps, arity, POSEIDON_MERKLE));
        n = wires_add(n, (wires){bits + fields, fields});
    }
    return n;
}

static wires wires_of(const wcursor *c)
{
    return (wires){c->aux, c->field};
}
static void cursor_at(wcursor *c, witness *w, wires at)
{
    wcursor_init(c, w, at.aux, at.fields);
}

static int write_field(wcursor *c, fr *out, const uint8_t bytes[32])
{
    if (fr_from_bytes(out, bytes))
        return -1;
    wcursor_field(c, out);
    return 0;
}

/* ---- one challenge ---- */
typedef struct challenge_state {
    const porep_challenge *v;
    const porep_column *column[COLUMNS];
    const merkle_proof *path[PATHS];
    wcursor column_cursor[COLUMNS], tree_r_cursor;
    wcursor *cursor[PATHS];
    fr preimage[COLUMNS * POREP_MAX_LAYERS]; /* columns, layers values each */
    fr hash[COLUMNS];
    uint8_t replica_id[32];
} challenge_state;

static void challenge_open(challenge_state *s, const job *j, const porep_challenge *v)
{
    s->v = v;
    for (unsigned k = 0; k < COLUMNS; k++) {
        s->column[k] = k < POREP_DRG_PARENTS ? &v->drg[k]
                       : k < OWN             ? &v->exp[k - POREP_DRG_PARENTS]
                                             : &v->c_x;
        s->path[k] = &s->column[k]->inclusion;
        s->cursor[k] = &s->column_cursor[k];
    }
    s->path[TREE_R] = &v->comm_r_last;
    s->cursor[TREE_R] = &s->tree_r_cursor;
    memcpy(s->replica_id, j->c1->replica_id, 32);
}

static int challenge_fits(const challenge_state *s, const job *j)
{
    uint32_t levels = merkle_levels(&j->tree);
    for (unsigned k = 0; k < PATHS; k++)
        if (s->path[k]->levels != levels)
            return 0;
    return s->v->comm_d.levels == merkle_levels(&j->tree_d) && s->v->layers == j->layers;
}

static void challenge_inputs(const challenge_state *s, const job *j, fr *input)
{
    fr_from_u64(&input[POREP_INPUT_LEAF_D], merkle_proof_index(&j->tree_d, &s->v->comm_d));
    for (unsigned k = 0; k < POREP_COLUMN_PARENTS; k++)
        fr_from_u64(&input[POREP_INPUT_PARENTS + k], merkle_proof_index(&j->tree, s->path[k]));
    fr_from_u64(&input[POREP_INPUT_CHALLENGE], s->v->labeling[0].node);
    fr_from_u64(&input[POREP_INPUT_LEAF_R], merkle_proof_index(&j->tree, s->path[TREE_R]));
    fr_from_u64(&input[POREP_INPUT_COLUMN], merkle_proof_index(&j->tree, s->path[OWN]));
}

/* Message bits of a label that are constants: bit 255 of every field element, the layer, the padding of the
 * node. */
static void label_constants(uint8_t mask[POREP_LABEL_BYTES])
{
    memset(mask, 0, POREP_LABEL_BYTES);
    for (unsigned i = 0; i < 2 + POREP_PARENTS; i++)
        mask[32 * i + 31] = 0x80;
    memset(mask + 32, 0xff, 4);
    memset(mask + 44, 0xff, 20);
}

static void store_be64(uint8_t *p, uint64_t v)
{
    store_be32(p, (uint32_t)(v >> 32));
    store_be32(p + 4, (uint32_t)v);
}

/* Bits of the parents, hash, label of every layer; the labels become the own column's preimage. */
static void write_labels(challenge_state *s, const job *j, wcursor *c)
{
    uint8_t message[POREP_LABEL_BYTES], mask[POREP_LABEL_BYTES];
    fr *own = s->preimage + OWN * j->layers;
    label_constants(mask);
    memcpy(message, s->replica_id, 32);
    memset(message + 32, 0, 32);
    store_be64(message + 36, s->v->labeling[0].node);
    for (uint32_t layer = 1; layer <= j->layers; layer++) {
        const uint8_t *parent[POREP_COLUMN_PARENTS];
        for (unsigned k = 0; k < porep_label_columns(layer); k++) {
            parent[k] = s->column[k]->rows + 32 * (porep_parent_layer(layer, k) - 1);
            num_to_bits_le_witness(c, parent[k]);
        }
        store_be32(message + 32, layer);
        for (unsigned i = 0; i < POREP_PARENTS; i++)
            memcpy(message + 64 + 32 * i, parent[porep_label_parent(layer, i)], 32);
        sha256_num_witness(c, message, sizeof(message), mask, &own[layer - 1]);
    }
}

/* The parents' columns begin at at; returns where the last one's wires end. */
static int write_columns(challenge_state *s, const job *j, wires at, wires *end)
{
    wires each = wires_add(wires_add((wires){j->layers, j->layers}, j->hash), j->path);
    for (unsigned k = 0; k < POREP_COLUMN_PARENTS; k++) {
        cursor_at(&s->column_cursor[k], j->w, at);
        for (uint32_t i = 0; i < j->layers; i++)
            if (write_field(&s->column_cursor[k], &s->preimage[k * j->layers + i],
                            s->column[k]->rows + 32 * i))
                return -1;
        at = wires_add(at, each);
    }
    *end = at;
    return 0;
}

static int challenge_witness(const job *j, const porep_challenge *v, wires at, fr *input)
{
    challenge_state s;
    wcursor c;
    fr data_leaf, encoded;
    challenge_open(&s, j, v);
    if (!challenge_fits(&s, j))
        return -1;
    challenge_inputs(&s, j, input);

    cursor_at(&c, j->w, at);
    if (write_field(&c, &data_leaf, v->comm_d.leaf))
        return -1;
    merkle_witness(&c, &j->tree_d, j->ps, &v->comm_d, NULL);
    wcursor_finish(&c);

    wires next;
    if (write_columns(&s, j, wires_of(&c), &next))
        return -1;
    cursor_at(&c, j->w, next);
    wcursor_bits(&c, v->labeling[0].node, 64);
    write_labels(&s, j, &c);
    fr_add(&encoded, &s.preimage[COLUMNS * j->layers - 1], &data_leaf);
    wcursor_field(&c, &encoded);
    wcursor_finish(&c);

    /* Tree R's path, then the own column's hash and path. */
    cursor_at(&s.tree_r_cursor, j->w, wires_of(&c));
    cursor_at(&s.column_cursor[OWN], j->w, wires_add(wires_of(&c), j->path));
    poseidon_witness_many(s.cursor, j->column_hash, s.preimage, s.hash, COLUMNS);
    merkle_witness_many(s.cursor, &j->tree, j->ps, s.path, NULL, PATHS);
    for (unsigned k = 0; k < PATHS; k++)
        wcursor_finish(s.cursor[k]);
    assert(s.cursor[OWN]->aux == at.aux + j->stride.aux &&
           s.cursor[OWN]->field == at.fields + j->stride.fields);
    assert(s.cursor[TREE_R]->aux + j->hash.aux + j->path.aux == s.cursor[OWN]->aux);
    return 0;
}

static void run_challenge(void *ctx, size_t i, unsigned worker)
{
    job *j = ctx;
    (void)worker;
    int stop = cancel_check(j->cancel);
    if (stop)
        atomic_store(&j->stop, stop);
    if (atomic_load(&j->stop))
        return;
    wires at = {j->base.aux + i * j->stride.aux, j->base.fields + i * j->stride.fields};
    fr *input = j->w->input + POREP_FIRST_CHALLENGE_INPUT + i * POREP_CHALLENGE_INPUTS;
    if (challenge_witness(j, &j->challenge[i], at, input))
        atomic_store(&j->bad, (uint32_t)i + 1);
}

/* ---- what comes before the challenges ---- */
static int write_commitments(job *j)
{
    const porep_c1 *c1 = j->c1;
    fr *input = j->w->input, c_and_r[2], hash;
    wcursor c;
    wcursor_init(&c, j->w, 0, 0);
    if (write_field(&c, &input[POREP_INPUT_REPLICA_ID], c1->replica_id))
        return -1;
    num_to_bits_le_witness(&c, c1->replica_id);
    if (write_field(&c, &input[POREP_INPUT_COMM_D], c1->comm_d) ||
        write_field(&c, &input[POREP_INPUT_COMM_R], c1->comm_r) ||
        write_field(&c, &c_and_r[1], j->challenge->comm_r_last.root) ||
        write_field(&c, &c_and_r[0], j->challenge->c_x.inclusion.root))
        return -1;
    poseidon_witness(&c, poseidon_get(j->ps, 2, POSEIDON_MERKLE), c_and_r, &hash);
    wcursor_finish(&c);
    j->base = wires_of(&c);
    return 0;
}

static cuzk_status check_arguments(const r1cs *r, const r1cs_counts *n, const porep_c1 *c1,
                                   uint32_t partition, cuzk_error *err)
{
    const circuit_info *info = c1->circuit;
    if (partition >= c1->partitions)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "partition %u of %u", partition, c1->partitions);
    /* Circuits of two sizes may have as many inputs: the name tells them apart, and with it the number of
     * wires. */
    if (strcmp(r1cs_name(r), info->name) || c1->challenges != info->challenges ||
        n->inputs != POREP_FIRST_CHALLENGE_INPUT + (uint64_t)info->challenges * POREP_CHALLENGE_INPUTS)
        return cuzk_error_set(
            err, CUZK_INVALID_ARGUMENT,
            "the circuit is %s with %llu inputs, the document is for %s with %u challenges a partition",
            r1cs_name(r), (unsigned long long)n->inputs, info->name, c1->challenges);
    return CUZK_OK;
}

cuzk_status porep_witness(witness *w, const r1cs *r, const porep_c1 *c1, uint32_t partition,
                          const poseidon_set *ps, pool *p, const cancel_token *cancel, cuzk_error *err)
{
    r1cs_counts n;
    r1cs_get_counts(r, &n);
    *w = (witness){0};
    cuzk_status st = check_arguments(r, &n, c1, partition, err);
    if (st != CUZK_OK)
        return st;
    const circuit_info *info = c1->circuit;
    job j = {.w = w,
             .c1 = c1,
             .challenge = c1->challenge + (size_t)partition * c1->challenges,
             .ps = ps,
             .layers = info->layers,
             .cancel = cancel};
    merkle_shape_sha256(&j.tree_d, info->sector_size);
    merkle_shape_poseidon(&j.tree, info->sector_size);
    j.column_hash = poseidon_get(ps, info->layers, POSEIDON_MERKLE);
    uint64_t hash = poseidon_wires(j.column_hash);
    j.hash = (wires){hash, hash};
    j.path = path_wires(&j.tree, ps);

    st = witness_init(w, n.inputs, n.aux, n.fields, err);
    if (st != CUZK_OK)
        return st;
    if (write_commitments(&j)) {
        st =
            cuzk_error_set(err, CUZK_INCONSISTENT, "a commitment is not a field element (it is not below r)");
        goto exit;
    }
    j.stride =
        (wires){(n.aux - j.base.aux) / info->challenges, (n.fields - j.base.fields) / info->challenges};
    pool_for(p, info->challenges, run_challenge, &j);
    if (atomic_load(&j.stop))
        st = cuzk_error_set(err, j.stop == 2 ? CUZK_DEADLINE : CUZK_CANCELLED,
                            "the witness was not finished: %s",
                            j.stop == 2 ? "the deadline has passed" : "cancelled");
    else if (atomic_load(&j.bad))
        st = cuzk_error_set(
            err, CUZK_INCONSISTENT,
            "partition %u, challenge %u: a value is not below r, or a path or the layers do not have "
            "the circuit's length",
            partition, j.bad - 1);
exit:
    if (st != CUZK_OK)
        witness_clear(w);
    return st;
}
