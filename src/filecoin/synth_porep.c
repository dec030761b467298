/* A synthetic PoRep: the C1 of a sector that was never sealed.
 *
 * data -> comm_d -> replica id -> challenges -> parents' columns (drawn) -> labels of the challenged nodes,
 * layer by layer in the order of nodes, since a parent may itself be challenged -> trees C and R over the
 * nodes met -> comm_r. */
#include "base/encode.h"
#include "base/mem.h"
#include "filecoin/porep_label.h"
#include "filecoin/synth_private.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define DATA_PERIOD         1024
#define WHOLE_MAX           (8u << 20) /* bytes of a sector that is sealed in full */
#define PARENTS             (POREP_DRG_PARENTS + POREP_EXP_PARENTS)
#define NODES_PER_CHALLENGE (1 + PARENTS)

typedef struct maker {
    porep_c1 *c;
    arena *memory; /* becomes c->arena */
    const poseidon_set *ps;
    uint8_t key[32];
    merkle_shape shape_d, shape_r;
    porep_graph *graph;
    synth_table *data;
    synth_sparse *tree_c, *tree_r;
    uint32_t layers;
    int whole;         /* every node is labeled */
    size_t challenges; /* of all partitions */
    uint64_t *challenge;
    uint64_t *node; /* every node that matters, ascending */
    size_t nodes;
    uint8_t *rows; /* of each node: layers * 32 bytes */
    uint8_t *column_hash;
    uint64_t *labeled; /* nodes with labels from their parents, ascending: the challenged ones */
    size_t labeled_count;
    uint32_t *parents; /* PARENTS each */
    uint8_t *replica;  /* leaves of tree R */
} maker;

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static size_t sort_unique(uint64_t *v, size_t n)
{
    size_t k = 0;
    qsort(v, n, sizeof *v, compare_u64);
    for (size_t i = 0; i < n; i++)
        if (!k || v[i] != v[k - 1])
            v[k++] = v[i];
    return k;
}

static size_t position(const uint64_t *v, size_t n, uint64_t x)
{
    const uint64_t *p = bsearch(&x, v, n, sizeof *v, compare_u64);
    assert(p);
    return (size_t)(p - v);
}

static uint8_t *row_of(const maker *m, uint64_t node)
{
    size_t i = m->whole ? (size_t)node : position(m->node, m->nodes, node);
    return m->rows + 32 * (size_t)m->layers * i;
}

static void *memory_for(maker *m, size_t n, size_t bytes)
{
    return arena_alloc(m->memory, n * bytes);
}

/* Data and identity. */
static cuzk_status make_identity(maker *m, const synth_options *o, pool *p, cuzk_error *err)
{
    porep_c1 *c = m->c;
    uint64_t leaves = c->seal->sector_size / 32;
    size_t period = leaves < DATA_PERIOD ? (size_t)leaves : DATA_PERIOD;
    uint8_t value[DATA_PERIOD * 32];
    for (size_t i = 0; i < period; i++)
        synth_draw(value + 32 * i, m->key, SYNTH_DATA, 0, i);
    cuzk_status st = synth_table_create(&m->data, &m->shape_d, SYNTH_PERIODIC, value, period, m->ps, p, err);
    if (st != CUZK_OK)
        return st;
    memcpy(c->comm_d, synth_table_root(m->data), 32);
    synth_draw(c->ticket, m->key, SYNTH_TICKET, 0, 0);
    synth_draw(c->seed, m->key, SYNTH_SEED, 0, 0);
    porep_replica_id(c->replica_id, o->miner_id, o->sector, c->ticket, c->comm_d, c->seal);
    return CUZK_OK;
}

static cuzk_status make_challenges(maker *m, cuzk_error *err)
{
    const porep_c1 *c = m->c;
    cuzk_status st = CUZK_OK;
    for (uint32_t k = 0; st == CUZK_OK && k < c->partitions; k++)
        st = porep_challenges(m->challenge + (size_t)k * c->challenges, c->seal, k, c->replica_id, c->seed,
                              c->comm_r, err);
    return st;
}

static void find_parents(void *ctx, size_t first, size_t end, unsigned worker)
{
    (void)worker;
    maker *m = ctx;
    for (size_t i = first; i < end; i++)
        porep_graph_parents(m->graph, (uint32_t)m->labeled[i], m->parents + PARENTS * i,
                            m->parents + PARENTS * i + POREP_DRG_PARENTS);
}

/* The nodes that get labels, their parents, and the union of both. Node 0, which has no parents, is never
 * challenged: its labels are drawn. */
static cuzk_status collect_nodes(maker *m, pool *p, cuzk_error *err)
{
    size_t all = (size_t)(m->c->seal->sector_size / 32), most = m->whole ? all - 1 : m->challenges;
    size_t room = m->whole ? all : NODES_PER_CHALLENGE * most;
    m->labeled = memory_for(m, most, sizeof *m->labeled);
    m->parents = memory_for(m, most, PARENTS * sizeof *m->parents);
    m->node = memory_for(m, room, sizeof *m->node);
    if (!m->labeled || !m->parents || !m->node)
        return mem_error(err, room * sizeof *m->node, "synthetic nodes");
    for (size_t i = 0; i < most; i++)
        m->labeled[i] = m->whole ? i + 1 : m->challenge[i];
    m->labeled_count = sort_unique(m->labeled, most);
    pool_for_range(p, m->labeled_count, 16, find_parents, m);
    if (m->whole) {
        for (size_t i = 0; i < all; i++)
            m->node[i] = i;
        m->nodes = all;
    } else {
        size_t n = 0;
        for (size_t i = 0; i < m->labeled_count; i++) {
            m->node[n++] = m->labeled[i];
            for (unsigned k = 0; k < PARENTS; k++)
                m->node[n++] = m->parents[PARENTS * i + k];
        }
        m->nodes = sort_unique(m->node, n);
    }
    m->rows = memory_for(m, m->nodes, 32 * (size_t)m->layers);
    m->column_hash = memory_for(m, m->nodes, 32);
    m->replica = memory_for(m, m->labeled_count, 32);
    if (!m->rows || !m->column_hash || !m->replica)
        return mem_error(err, m->nodes * 32 * m->layers, "synthetic labels");
    return CUZK_OK;
}

/* The columns of the parents of a labeled node. */
static void parent_rows(const maker *m, size_t labeled, const uint8_t *drg[POREP_DRG_PARENTS],
                        const uint8_t *exp[POREP_EXP_PARENTS])
{
    const uint32_t *parent = m->parents + PARENTS * labeled;
    for (unsigned i = 0; i < POREP_DRG_PARENTS; i++)
        drg[i] = row_of(m, parent[i]);
    for (unsigned i = 0; i < POREP_EXP_PARENTS; i++)
        exp[i] = row_of(m, parent[POREP_DRG_PARENTS + i]);
}

static void draw_labels(void *ctx, size_t first, size_t end, unsigned worker)
{
    (void)worker;
    maker *m = ctx;
    for (size_t i = first; i < end; i++)
        for (uint32_t layer = 0; layer < m->layers; layer++)
            synth_draw(m->rows + 32 * (i * m->layers + layer), m->key, SYNTH_LABEL, layer, m->node[i]);
}

static void make_labels(maker *m, pool *p)
{
    pool_for_range(p, m->nodes, 64, draw_labels, m);
    for (uint32_t layer = 0; layer < m->layers; layer++)
        for (size_t i = 0; i < m->labeled_count; i++) {
            const uint8_t *drg[POREP_DRG_PARENTS], *exp[POREP_EXP_PARENTS];
            uint8_t parents[POREP_PARENTS * 32];
            uint64_t node = m->labeled[i];
            parent_rows(m, i, drg, exp);
            porep_label_parents(parents, drg, exp, layer);
            porep_label(row_of(m, node) + 32 * (size_t)layer, m->c->replica_id, layer + 1, node, parents);
        }
    for (size_t i = 0; i < m->labeled_count; i++) {
        fr key, data;
        uint64_t node = m->labeled[i];
        int bad = fr_from_bytes(&key, row_of(m, node) + 32 * (size_t)(m->layers - 1)) ||
                  fr_from_bytes(&data, synth_table_node(m->data, 0, node));
        assert(!bad);
        (void)bad;
        fr_add(&key, &key, &data);
        fr_to_bytes(m->replica + 32 * i, &key);
    }
}

static void hash_columns(void *ctx, size_t first, size_t end, unsigned worker)
{
    (void)worker;
    maker *m = ctx;
    fr in[8 * POREP_MAX_LAYERS], hash[8];
    for (size_t i = first; i < end; i += 8) {
        size_t n = end - i < 8 ? end - i : 8;
        for (size_t k = 0; k < n * m->layers; k++) {
            int bad = fr_from_bytes(&in[k], m->rows + 32 * (i * m->layers + k));
            assert(!bad);
            (void)bad;
        }
        poseidon_hash_many(hash, poseidon_get(m->ps, m->layers, POSEIDON_MERKLE), in, n);
        for (size_t k = 0; k < n; k++)
            fr_to_bytes(m->column_hash + 32 * (i + k), &hash[k]);
    }
}

static cuzk_status make_trees(maker *m, pool *p, cuzk_error *err)
{
    pool_for_range(p, m->nodes, 8, hash_columns, m);
    cuzk_status st = synth_sparse_create(&m->tree_c, &m->shape_r, m->key, SYNTH_TREE_C, m->node,
                                         m->column_hash, m->nodes, m->ps, p, err);
    if (st == CUZK_OK)
        st = synth_sparse_create(&m->tree_r, &m->shape_r, m->key, SYNTH_TREE_R, m->labeled, m->replica,
                                 m->labeled_count, m->ps, p, err);
    if (st == CUZK_OK)
        synth_comm_r(m->c->comm_r, m->ps, synth_sparse_root(m->tree_c), synth_sparse_root(m->tree_r));
    return st;
}

static int make_column(maker *m, porep_column *c, uint64_t node)
{
    c->index = (uint32_t)node;
    c->rows = row_of(m, node);
    return synth_sparse_proof(m->tree_c, &c->inclusion, node, m->memory);
}

static int make_challenge(maker *m, size_t i)
{
    porep_challenge *h = &m->c->challenge[i];
    const uint8_t *drg[POREP_DRG_PARENTS], *exp[POREP_EXP_PARENTS];
    uint64_t node = m->challenge[i];
    size_t labeled = position(m->labeled, m->labeled_count, node);
    const uint32_t *parent = m->parents + PARENTS * labeled;
    int bad = synth_table_proof(m->data, &h->comm_d, node, m->memory) ||
              synth_sparse_proof(m->tree_r, &h->comm_r_last, node, m->memory) ||
              make_column(m, &h->c_x, node);
    for (unsigned k = 0; !bad && k < POREP_DRG_PARENTS; k++)
        bad = make_column(m, &h->drg[k], parent[k]);
    for (unsigned k = 0; !bad && k < POREP_EXP_PARENTS; k++)
        bad = make_column(m, &h->exp[k], parent[POREP_DRG_PARENTS + k]);
    h->layers = m->layers;
    parent_rows(m, labeled, drg, exp);
    for (uint32_t layer = 0; !bad && layer < m->layers; layer++) {
        uint8_t *parents = arena_alloc(m->memory, POREP_PARENTS * 32);
        if (!parents)
            return -1;
        porep_label_parents(parents, drg, exp, layer);
        h->labeling[layer] = (porep_labeling){layer + 1, POREP_PARENTS, node, parents};
    }
    h->encoding = h->labeling[m->layers - 1];
    return bad;
}

static cuzk_status maker_init(maker *m, porep_c1 *c, const registered_seal *seal, const synth_options *o,
                              const poseidon_set *ps, cuzk_error *err)
{
    m->c = c;
    m->ps = ps;
    m->memory = arena_create();
    c->seal = seal;
    c->circuit = circuit_find(CIRCUIT_POREP, seal->sector_size);
    c->partitions = seal->partitions;
    c->challenges = seal->challenges;
    c->has_sector = 1;
    c->sector_number = o->sector;
    c->sector_size = seal->sector_size;
    m->layers = c->circuit->layers;
    m->challenges = (size_t)seal->partitions * seal->challenges;
    merkle_shape_sha256(&m->shape_d, seal->sector_size);
    merkle_shape_poseidon(&m->shape_r, seal->sector_size);
    synth_key(m->key, seal->name, seal->sector_size, o, o->sector);
    c->challenge = mem_calloc(m->challenges, sizeof *c->challenge);
    m->challenge = m->memory ? memory_for(m, m->challenges, sizeof *m->challenge) : NULL;
    if (!c->challenge || !m->challenge)
        return mem_error(err, m->challenges * sizeof *c->challenge, "a synthetic PoRep");
    cuzk_status st = porep_graph_create(&m->graph, seal, err);
    return st == CUZK_OK && m->whole ? porep_graph_tabulate(m->graph, err) : st;
}

static cuzk_status make_all(maker *m, const synth_options *o, pool *p, cuzk_error *err)
{
    cuzk_status st = make_identity(m, o, p, err);
    if (st == CUZK_OK && !m->whole)
        st = make_challenges(m, err);
    if (st == CUZK_OK)
        st = collect_nodes(m, p, err);
    if (st != CUZK_OK)
        return st;
    make_labels(m, p);
    st = make_trees(m, p, err);
    if (st == CUZK_OK && m->whole)
        st = make_challenges(m, err);
    for (size_t i = 0; st == CUZK_OK && i < m->challenges; i++)
        if (make_challenge(m, i))
            st = mem_error(err, arena_bytes(m->memory), "a synthetic PoRep");
    return st;
}

cuzk_status synth_porep(porep_c1 **out, const registered_seal *seal, const synth_options *o,
                        const poseidon_set *ps, pool *p, cuzk_error *err)
{
    *out = NULL;
    maker m = {.whole = seal->version == POREP_SYNTHETIC || seal->version == POREP_NON_INTERACTIVE};
    if (m.whole && seal->sector_size > WHOLE_MAX)
        return cuzk_error_set(err, CUZK_UNSUPPORTED,
                              "%s: its challenges are drawn from comm_r, so a sealed sector is needed",
                              seal->name);
    porep_c1 *c = mem_calloc(1, sizeof *c);
    if (!c)
        return mem_error(err, sizeof *c, "a synthetic PoRep");
    cuzk_status st = maker_init(&m, c, seal, o, ps, err);
    if (st == CUZK_OK)
        st = make_all(&m, o, p, err);
    porep_graph_destroy(m.graph);
    synth_table_destroy(m.data);
    synth_sparse_destroy(m.tree_c);
    synth_sparse_destroy(m.tree_r);
    c->arena = m.memory;
    if (st != CUZK_OK) {
        porep_c1_free(c);
        return st;
    }
    c->bytes = sizeof *c + m.challenges * sizeof *c->challenge + arena_bytes(m.memory);
    *out = c;
    return CUZK_OK;
}
