/* The stacked graph: DRSample parents inside a layer, expander parents into the layer before.
 *
 * DRG parents of a node are drawn by ChaCha8 seeded with (domain seed, node) in a metagraph of five nodes for
 * each; the node before is always one of them: the first since version 1.1.0, the last before. Expander
 * parents come from a permutation of all 8 * nodes edges: a three-round Feistel network of BLAKE2b, walked
 * until it lands in range. Version 1.0.0 cut the permuted edge to 32 bits, which 32 GiB and 64 GiB graphs
 * keep. */
#include "base/encode.h"
#include "base/hash.h"
#include "base/mem.h"
#include "filecoin/porep.h"
#include <assert.h>
#include <string.h>

#define FEISTEL_ROUNDS 3
struct porep_graph {
    uint64_t nodes, edges;
    uint64_t key[FEISTEL_ROUNDS];
    unsigned half_bits;
    uint8_t drg_seed[28];
    int legacy;
    uint64_t *table; /* the round function's values, where they were tabulated */
};

static void domain_seed(uint8_t out[32], const char *tag, const uint8_t porep_id[32])
{
    sha256 s;
    sha256_init(&s);
    sha256_update(&s, tag, strlen(tag));
    sha256_update(&s, porep_id, 32);
    sha256_final(&s, out);
}

cuzk_status porep_graph_create(porep_graph **out, const registered_seal *seal, cuzk_error *err)
{
    *out = NULL;
    porep_graph *g = mem_calloc(1, sizeof *g);
    if (!g)
        return mem_error(err, sizeof *g, "the graph");
    g->nodes = seal->sector_size / 32;
    g->edges = g->nodes * POREP_EXP_PARENTS;
    g->legacy = seal->legacy_graph;
    /* The network works on an even number of bits that can hold every edge. */
    g->half_bits = 1;
    while (1ull << 2 * g->half_bits < g->edges)
        g->half_bits++;
    uint8_t porep_id[32], seed[32];
    porep_porep_id(porep_id, seal);
    domain_seed(seed, "Filecoin_Feistel", porep_id);
    for (int i = 0; i < FEISTEL_ROUNDS; i++)
        g->key[i] = load_le64(seed + 8 * i);
    domain_seed(seed, "Filecoin_DRSample", porep_id);
    memcpy(g->drg_seed, seed, sizeof g->drg_seed);
    *out = g;
    return CUZK_OK;
}

void porep_graph_destroy(porep_graph *g)
{
    if (g)
        mem_free(g->table);
    mem_free(g);
}

static void store_be64(uint8_t *p, uint64_t v)
{
    store_be32(p, (uint32_t)(v >> 32));
    store_be32(p + 4, (uint32_t)v);
}

static uint64_t round_function(const porep_graph *g, int round, uint64_t right)
{
    uint8_t data[16], hash[64];
    blake2b b;
    store_be64(data, right);
    store_be64(data + 8, g->key[round]);
    blake2b_init(&b, 64, NULL, 0);
    blake2b_update(&b, data, 16);
    blake2b_final(&b, hash);
    return ((uint64_t)load_be32(hash) << 32 | load_be32(hash + 4)) & ((1ull << g->half_bits) - 1);
}

cuzk_status porep_graph_tabulate(porep_graph *g, cuzk_error *err)
{
    size_t values = (size_t)1 << g->half_bits;
    if (g->table)
        return CUZK_OK;
    g->table = mem_calloc(FEISTEL_ROUNDS * values, sizeof *g->table);
    if (!g->table)
        return mem_error(err, FEISTEL_ROUNDS * values * sizeof *g->table, "the graph's table");
    for (int i = 0; i < FEISTEL_ROUNDS; i++)
        for (size_t k = 0; k < values; k++)
            g->table[(size_t)i << g->half_bits | k] = round_function(g, i, k);
    return CUZK_OK;
}

static uint64_t feistel_encode(const porep_graph *g, uint64_t index)
{
    uint64_t mask = (1ull << g->half_bits) - 1;
    uint64_t left = index >> g->half_bits & mask, right = index & mask;
    for (int i = 0; i < FEISTEL_ROUNDS; i++) {
        uint64_t f = g->table ? g->table[(size_t)i << g->half_bits | right] : round_function(g, i, right);
        uint64_t next = left ^ f;
        left = right;
        right = next;
    }
    return left << g->half_bits | right;
}

static void exp_parents(const porep_graph *g, uint32_t node, uint32_t exp[POREP_EXP_PARENTS])
{
    for (unsigned i = 0; i < POREP_EXP_PARENTS; i++) {
        uint64_t edge = (uint64_t)node * POREP_EXP_PARENTS + i;
        do
            edge = feistel_encode(g, edge);
        while (edge >= g->edges);
        exp[i] = g->legacy ? (uint32_t)edge / POREP_EXP_PARENTS : (uint32_t)(edge / POREP_EXP_PARENTS);
    }
}

/* ceil(log2(n)), n >= 1. The original takes an f64 logarithm; below 2^34 that rounds to the same integer. */
static unsigned ceil_log2(uint64_t n)
{
    return n <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(n - 1);
}

static void drg_parents(const porep_graph *g, uint32_t node, uint32_t drg[POREP_DRG_PARENTS])
{
    if (node < 2) {
        memset(drg, 0, POREP_DRG_PARENTS * sizeof *drg);
        return;
    }
    const unsigned m = POREP_DRG_PARENTS - 1;
    uint8_t seed[32];
    memcpy(seed, g->drg_seed, 28);
    store_le32(seed + 28, node);
    chacha_rng rng;
    chacha_rng_init(&rng, seed, 8);
    uint64_t meta = (uint64_t)node * m;
    unsigned buckets = ceil_log2(meta);
    uint32_t *drawn = g->legacy ? drg : drg + 1;
    for (unsigned i = 0; i < m; i++) {
        unsigned bucket = (unsigned)(chacha_rng_u64(&rng) % buckets) + 1;
        uint64_t largest = 1ull << bucket < meta ? 1ull << bucket : meta;
        uint64_t smallest = largest >> 1 > 2 ? largest >> 1 : 2;
        uint64_t distance = smallest + chacha_rng_u64(&rng) % (largest - smallest + 1);
        uint32_t parent = (uint32_t)((meta - distance) / m);
        drawn[i] = parent == node ? node - 1 : parent;
    }
    drg[g->legacy ? m : 0] = node - 1;
}

void porep_graph_parents(const porep_graph *g, uint32_t node, uint32_t drg[POREP_DRG_PARENTS],
                         uint32_t exp[POREP_EXP_PARENTS])
{
    assert(node < g->nodes);
    if (drg)
        drg_parents(g, node, drg);
    if (exp)
        exp_parents(g, node, exp);
}
