/* PoRep on every shape of tree, with a sub and a top level among them (64 GiB has both): whole random trees
 * of the small sizes, challenges and parents at random, labels computed as sealing does; the witness must
 * satisfy every row. */
#include "base/encode.h"
#include "base/hash.h"
#include "filecoin/porep.h"
#include "support/golden.h"
#include "support/math.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the above */
#include <cmocka.h>

enum { LAYERS = 2, CHALLENGES = 2, PARENTS = POREP_DRG_PARENTS + POREP_EXP_PARENTS, MAX_NODES = 1024 };
typedef uint8_t node[32];

typedef struct tree {
    merkle_shape shape;
    uint32_t leaves;
    node *level[MERKLE_MAX_LEVELS + 1]; /* level 0: the leaves */
} tree;

static poseidon_set *ps;

static void tree_build(tree *t, node *leaves, uint32_t n)
{
    t->leaves = n;
    t->level[0] = leaves;
    for (uint32_t k = 0; k < merkle_levels(&t->shape); k++) {
        uint32_t arity = merkle_arity(&t->shape, k);
        assert_int_equal(n % arity, 0);
        n /= arity;
        t->level[k + 1] = calloc(n, 32);
        assert_non_null(t->level[k + 1]);
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(
                merkle_node_hash(t->level[k + 1][i], t->shape.hash, ps, t->level[k][i * arity], arity), 0);
    }
    assert_int_equal(n, 1);
}

static void tree_clear(tree *t)
{
    for (uint32_t k = 1; k <= merkle_levels(&t->shape); k++)
        free(t->level[k]);
}

static const uint8_t *tree_root(const tree *t)
{
    return t->level[merkle_levels(&t->shape)][0];
}

/* siblings: room for the path's. */
static uint8_t *tree_prove(const tree *t, uint32_t leaf, merkle_proof *p, uint8_t *siblings)
{
    memcpy(p->leaf, t->level[0][leaf], 32);
    memcpy(p->root, tree_root(t), 32);
    p->levels = merkle_levels(&t->shape);
    for (uint32_t k = 0; k < p->levels; k++) {
        uint32_t arity = merkle_arity(&t->shape, k), first = leaf / arity * arity;
        p->level[k] = (merkle_level){.position = leaf % arity, .siblings = siblings};
        for (uint32_t i = first; i < first + arity; i++)
            if (i != leaf) {
                memcpy(siblings, t->level[k][i], 32);
                siblings += 32;
            }
        leaf /= arity;
    }
    return siblings;
}

typedef struct sector {
    node data[MAX_NODES], column_hash[MAX_NODES], replica[MAX_NODES];
    node label[MAX_NODES][LAYERS];
    uint8_t siblings[CHALLENGES * (PARENTS + 3) * MERKLE_MAX_LEVELS * 7 * 32];
    porep_challenge challenge[CHALLENGES];
    uint32_t index[CHALLENGES], parent[CHALLENGES][PARENTS];
    porep_c1 c1;
} sector;

static void random_node(node out, chacha_rng *rng)
{
    fr v;
    math_fr(&v, rng);
    fr_to_bytes(out, &v);
}

static void seal_node(sector *s, uint32_t index, const uint32_t parent[PARENTS])
{
    for (uint32_t layer = 1; layer <= LAYERS; layer++) {
        uint8_t message[39 * 32] = {0};
        unsigned distinct = layer == 1 ? POREP_DRG_PARENTS : PARENTS;
        memcpy(message, s->c1.replica_id, 32);
        store_be32(message + 32, layer);
        store_be32(message + 40, index);
        for (unsigned i = 0; i < 37; i++) {
            unsigned k = i % distinct;
            uint32_t from = k < POREP_DRG_PARENTS ? layer - 1 : layer - 2;
            memcpy(message + 64 + 32 * i, s->label[parent[k]][from], 32);
        }
        sha256_digest(s->label[index][layer - 1], message, sizeof message);
        s->label[index][layer - 1][31] &= 0x3f;
    }
}

static void encode_node(node out, const node key, const node data)
{
    fr a, b;
    assert_int_equal(fr_from_bytes(&a, key), 0);
    assert_int_equal(fr_from_bytes(&b, data), 0);
    fr_add(&a, &a, &b);
    fr_to_bytes(out, &a);
}

static void fill_nodes(sector *s, uint32_t nodes, chacha_rng *rng)
{
    random_node(s->c1.replica_id, rng);
    for (uint32_t i = 0; i < nodes; i++) {
        random_node(s->data[i], rng);
        for (int k = 0; k < LAYERS; k++)
            random_node(s->label[i][k], rng);
    }
    /* Challenges at the ends of the sector and, for the parents, anywhere but at challenged nodes. */
    s->index[0] = chacha_rng_u32(rng) % 2 ? 0 : chacha_rng_u32(rng) % (nodes / 2);
    s->index[1] = nodes - 1 - chacha_rng_u32(rng) % 2;
    for (int c = 0; c < CHALLENGES; c++)
        for (int k = 0; k < PARENTS; k++)
            do
                s->parent[c][k] = chacha_rng_u32(rng) % nodes;
            while (s->parent[c][k] == s->index[0] || s->parent[c][k] == s->index[1]);
    for (int c = 0; c < CHALLENGES; c++)
        seal_node(s, s->index[c], s->parent[c]);
    for (uint32_t i = 0; i < nodes; i++) {
        assert_int_equal(merkle_node_hash(s->column_hash[i], MERKLE_POSEIDON, ps, s->label[i][0], LAYERS), 0);
        encode_node(s->replica[i], s->label[i][LAYERS - 1], s->data[i]);
    }
}

static uint8_t *prove_column(sector *s, const tree *c, uint32_t index, porep_column *out, uint8_t *siblings)
{
    out->index = index;
    out->rows = s->label[index][0];
    return tree_prove(c, index, &out->inclusion, siblings);
}

static void make_document(sector *s, const circuit_info *info, chacha_rng *rng)
{
    uint32_t nodes = (uint32_t)(info->sector_size / 32);
    tree d, c, r;
    uint8_t *siblings = s->siblings;
    node pair[2];
    merkle_shape_sha256(&d.shape, info->sector_size);
    merkle_shape_poseidon(&c.shape, info->sector_size);
    r.shape = c.shape;
    fill_nodes(s, nodes, rng);
    tree_build(&d, s->data, nodes);
    tree_build(&c, s->column_hash, nodes);
    tree_build(&r, s->replica, nodes);
    for (int i = 0; i < CHALLENGES; i++) {
        porep_challenge *v = &s->challenge[i];
        siblings = tree_prove(&d, s->index[i], &v->comm_d, siblings);
        siblings = tree_prove(&r, s->index[i], &v->comm_r_last, siblings);
        siblings = prove_column(s, &c, s->index[i], &v->c_x, siblings);
        for (int k = 0; k < PARENTS; k++)
            siblings =
                prove_column(s, &c, s->parent[i][k],
                             k < POREP_DRG_PARENTS ? &v->drg[k] : &v->exp[k - POREP_DRG_PARENTS], siblings);
        v->layers = LAYERS;
        v->labeling[0].node = s->index[i];
    }
    memcpy(s->c1.comm_d, tree_root(&d), 32);
    memcpy(pair[0], tree_root(&c), 32);
    memcpy(pair[1], tree_root(&r), 32);
    assert_int_equal(merkle_node_hash(s->c1.comm_r, MERKLE_POSEIDON, ps, pair[0], 2), 0);
    s->c1.circuit = info;
    s->c1.partitions = 1;
    s->c1.challenges = CHALLENGES;
    s->c1.challenge = s->challenge;
    tree_clear(&d);
    tree_clear(&c);
    tree_clear(&r);
}

static void expect_inputs(const sector *s, const witness *w)
{
    const fr *input = w->input + 4;
    fr want;
    for (int i = 0; i < CHALLENGES; i++)
        for (int k = 0; k < PARENTS + 4; k++, input++) {
            fr_from_u64(&want, k >= 1 && k <= PARENTS ? s->parent[i][k - 1] : s->index[i]);
            assert_true(fr_eq(input, &want));
        }
}

static void every_shape(void **state)
{
    static const char *const names[] = {"porep-2k", "porep-4k", "porep-16k", "porep-32k"};
    (void)state;
    chacha_rng rng;
    math_rng(&rng, 11);
    sector *s = calloc(1, sizeof *s);
    assert_non_null(s);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        porep_circuit circuit = {circuit_by_name(names[i]), ps};
        assert_non_null(circuit.info);
        r1cs *r = golden_compile(names[i], porep_synthesize, &circuit);
        for (int run = 0; run < 2; run++) {
            witness w;
            cuzk_error err;
            make_document(s, circuit.info, &rng);
            if (porep_witness(&w, r, &s->c1, 0, ps, NULL, NULL, &err) != CUZK_OK)
                fail_msg("%s: %s", names[i], err.message);
            if (r1cs_check(r, &w, NULL, &err) != CUZK_OK)
                fail_msg("%s: %s", names[i], err.message);
            expect_inputs(s, &w);
            witness_clear(&w);
        }
        r1cs_destroy(r);
    }
    free(s);
}

static int open_set(void **state)
{
    (void)state;
    cuzk_error err;
    return poseidon_set_create(&ps, &err) == CUZK_OK ? 0 : -1;
}

static int close_set(void **state)
{
    (void)state;
    poseidon_set_destroy(ps);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_shape)};
    return cmocka_run_group_tests(tests, open_set, close_set);
}
