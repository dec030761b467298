/* The rows of PoRep (stacked DRG): commitments and replica id first, then one body for all challenges. Order
 * of wires and rows is that of storage-proofs-porep's circuit. */
#include "filecoin/circuits/porep_circuit.h"
#include <assert.h>

typedef struct body {
    const porep_circuit *circuit;
    merkle_shape tree_d, tree; /* tree C and tree R have one shape */
    uint32_t layers;
    var comm_d, comm_c, comm_r_last;
    boolean replica_id[256]; /* as SHA-256 reads it */
} body;

typedef struct column {
    var row[POREP_MAX_LAYERS];
} column;

static var column_hash(cs *c, const body *b, const char *name, int64_t index, const var *row)
{
    cs_push(c, name, index);
    var h = poseidon_synth(c, poseidon_get(b->circuit->ps, b->layers, POSEIDON_MERKLE), row);
    cs_pop(c);
    return h;
}

static void inclusion(cs *c, const body *b, const char *name, int64_t index, const merkle_shape *s, var leaf,
                      var root)
{
    cs_push(c, name, index);
    merkle_synth(c, s, b->circuit->ps, leaf, root);
    cs_pop(c);
}

/* The labels of a parent on every layer, and the proof that their hash is in tree C. */
static void parent_column(cs *c, const body *b, unsigned k, column *out)
{
    int drg = k < POREP_DRG_PARENTS;
    int64_t index = drg ? k : k - POREP_DRG_PARENTS;
    for (uint32_t i = 0; i < b->layers; i++)
        out->row[i] = cs_alloc_field(c);
    var h = column_hash(c, b, drg ? "drg_parent_constraint" : "exp_parent_constraint", index, out->row);
    inclusion(c, b, drg ? "drg_parent_inclusion" : "exp_parent_inclusion", index, &b->tree, h, b->comm_c);
}

static var label(cs *c, const body *b, uint32_t layer, const column parent[POREP_COLUMN_PARENTS],
                 const boolean node[64])
{
    boolean bits[POREP_COLUMN_PARENTS][256], message[POREP_LABEL_BYTES * 8], *p = message;
    cs_push(c, "labeling", layer);
    for (unsigned k = 0; k < porep_label_columns(layer); k++) {
        boolean le[FR_BITS];
        cs_push(c, "parent_bits", k);
        num_to_bits_le(c, parent[k].row[porep_parent_layer(layer, k) - 1], le);
        reverse_bit_numbering(bits[k], le, FR_BITS);
        cs_pop(c);
    }
    memcpy(p, b->replica_id, sizeof(b->replica_id));
    p += 256;
    for (int i = 31; i >= 0; i--)
        *p++ = boolean_constant(layer >> i & 1);
    for (int i = 63; i >= 0; i--)
        *p++ = node[i];
    while (p < message + 512)
        *p++ = boolean_constant(0);
    for (unsigned i = 0; i < POREP_PARENTS; i++, p += 256)
        memcpy(p, bits[porep_label_parent(layer, i)], sizeof(bits[0]));
    var l = sha256_num_synth(c, message, POREP_LABEL_BYTES * 8);
    cs_pop(c);
    return l;
}

/* (key + value) * 1 = encoded */
static var encode(cs *c, var key, var value)
{
    lc x, y, z;
    lc_init(&x);
    lc_init(&y);
    lc_init(&z);
    var encoded = cs_alloc_field(c);
    lc_add_one(&x, key);
    lc_add_one(&x, value);
    lc_add_one(&y, VAR_ONE);
    lc_add_one(&z, encoded);
    cs_push(c, "encode_node", -1);
    cs_enforce(c, &x, &y, &z);
    cs_pop(c);
    lc_clear(&x);
    lc_clear(&y);
    lc_clear(&z);
    return encoded;
}

static void challenge(cs *c, void *ctx)
{
    const body *b = ctx;
    column parent[POREP_COLUMN_PARENTS], own;
    boolean node[64];
    var data_leaf = cs_alloc_field(c);
    inclusion(c, b, "comm_d_inclusion", -1, &b->tree_d, data_leaf, b->comm_d);
    for (unsigned k = 0; k < POREP_COLUMN_PARENTS; k++)
        parent_column(c, b, k, &parent[k]);
    cs_push(c, "challenge input", -1);
    boolean_alloc_many(c, node, 64);
    pack_into_inputs(c, node, 64);
    cs_pop(c);
    for (uint32_t layer = 1; layer <= b->layers; layer++)
        own.row[layer - 1] = label(c, b, layer, parent, node);
    var encoded = encode(c, own.row[b->layers - 1], data_leaf);
    inclusion(c, b, "comm_r_last_data_inclusion", -1, &b->tree, encoded, b->comm_r_last);
    var h = column_hash(c, b, "c_x_column_hash", -1, own.row);
    inclusion(c, b, "c_x_inclusion", -1, &b->tree, h, b->comm_c);
}

void porep_synthesize(cs *c, void *ctx)
{
    const porep_circuit *circuit = ctx;
    const circuit_info *info = circuit->info;
    body b = {.circuit = circuit, .layers = info->layers};
    boolean bits[FR_BITS];
    assert(info->kind == CIRCUIT_POREP && info->layers >= 1 && info->layers <= POREP_MAX_LAYERS);
    merkle_shape_sha256(&b.tree_d, info->sector_size);
    merkle_shape_poseidon(&b.tree, info->sector_size);

    var replica_id = cs_alloc_field(c);
    inputize_synth(c, replica_id);
    cs_push(c, "replica_id_bits", -1);
    num_to_bits_le(c, replica_id, bits);
    cs_pop(c);
    reverse_bit_numbering(b.replica_id, bits, FR_BITS);
    b.comm_d = cs_alloc_field(c);
    inputize_synth(c, b.comm_d);
    var comm_r = cs_alloc_field(c);
    inputize_synth(c, comm_r);
    b.comm_r_last = cs_alloc_field(c);
    b.comm_c = cs_alloc_field(c);
    cs_push(c, "H_comm_c_comm_r_last", -1);
    var hash =
        poseidon_synth(c, poseidon_get(circuit->ps, 2, POSEIDON_MERKLE), (var[]){b.comm_c, b.comm_r_last});
    cs_pop(c);
    equal_synth(c, comm_r, hash);

    cs_push(c, "challenge", -1);
    cs_repeat(c, info->challenges, challenge, &b, NULL, 0);
    cs_pop(c);
}
