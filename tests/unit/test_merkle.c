/* Merkle trees: shapes, paths of random sparse trees, insertion, selection, and the circuits of all of it. */
#include "base/cpu.h"
#include "gadgets/merkle.h"
#include "support/gadget.h"
#include "support/math.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka.h needs the above */
#include <cmocka.h>

#define KIB 1024ull
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
static const uint64_t SIZES[] = {KIB,     2 * KIB,  4 * KIB,   8 * KIB,  16 * KIB, 32 * KIB,
                                 8 * MIB, 16 * MIB, 512 * MIB, 32 * GIB, 64 * GIB};
#define SIZE_COUNT (sizeof SIZES / sizeof *SIZES)

static poseidon_set *set;
static chacha_rng rng;

static int open_set(void **state)
{
    (void)state;
    cuzk_error err;
    math_rng(&rng, 11);
    return poseidon_set_create(&set, &err) != CUZK_OK;
}

static int close_set(void **state)
{
    (void)state;
    poseidon_set_destroy(set);
    return 0;
}

static void random_node(uint8_t out[32])
{
    fr v;
    math_fr(&v, &rng);
    fr_to_bytes(out, &v);
    out[31] &= 0x3f; /* a value that a SHA-256 node may have */
}

typedef struct path {
    merkle_proof p;
    uint8_t siblings[MERKLE_MAX_LEVELS][32 * POSEIDON_MAX_ARITY];
} path;

/* The root over leaf, positions and siblings, computed apart from the code under test's own verification. */
static void finish_path(path *x, const merkle_shape *s)
{
    uint8_t node[32], children[32 * POSEIDON_MAX_ARITY];
    memcpy(node, x->p.leaf, 32);
    for (uint32_t i = 0; i < x->p.levels; i++) {
        const uint32_t arity = merkle_arity(s, i);
        for (uint32_t j = 0, k = 0; j < arity; j++)
            memcpy(children + 32 * j, j == x->p.level[i].position ? node : x->siblings[i] + 32 * k++, 32);
        assert_int_equal(merkle_node_hash(node, s->hash, set, children, arity), 0);
    }
    memcpy(x->p.root, node, 32);
}

static void random_path(path *x, const merkle_shape *s)
{
    memset(x, 0, sizeof *x);
    x->p.levels = merkle_levels(s);
    random_node(x->p.leaf);
    for (uint32_t i = 0; i < x->p.levels; i++) {
        const uint32_t arity = merkle_arity(s, i);
        for (uint32_t j = 0; j + 1 < arity; j++)
            random_node(x->siblings[i] + 32 * j);
        x->p.level[i] = (merkle_level){chacha_rng_u32(&rng) % arity, x->siblings[i]};
    }
    finish_path(x, s);
}

static void shapes(void **state)
{
    merkle_shape s;
    (void)state;
    for (size_t i = 0; i < SIZE_COUNT; i++) {
        unsigned bits = (unsigned)__builtin_ctzll(SIZES[i] / 32);
        assert_int_equal(merkle_shape_poseidon(&s, SIZES[i]), 0);
        assert_int_equal(merkle_index_bits(&s, merkle_levels(&s)), bits);
        assert_int_equal(merkle_shape_sha256(&s, SIZES[i]), 0);
        assert_int_equal(merkle_levels(&s), bits);
        assert_int_equal(merkle_index_bits(&s, merkle_levels(&s)), bits);
        assert_int_equal(merkle_sibling_count(&s, merkle_levels(&s)), bits);
    }
    assert_int_equal(merkle_shape_poseidon(&s, 32 * GIB), 0);
    assert_int_equal(s.base_levels, 9);
    assert_int_equal(merkle_levels(&s), 10);
    assert_int_equal(merkle_arity(&s, 9), 8);
    assert_int_equal(merkle_shape_poseidon(&s, 64 * GIB), 0);
    assert_int_equal(merkle_levels(&s), 11);
    assert_int_equal(merkle_arity(&s, 10), 2);
    assert_int_equal(merkle_shape_poseidon(&s, 4 * KIB), 0);
    assert_int_equal(merkle_arity(&s, 2), 2);
    static const uint64_t unknown[] = {0, 1, 2047, 2 * GIB, 128 * GIB, UINT64_MAX};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        assert_int_equal(merkle_shape_poseidon(&s, unknown[i]), -1);
        assert_int_equal(merkle_shape_sha256(&s, unknown[i]), -1);
    }
}

static void expect_bad(const path *x, const merkle_shape *s, const char *what, uint32_t level)
{
    const merkle_proof *one = &x->p;
    uint8_t ok;
    if (merkle_proof_verify(s, set, one))
        fail_msg("%s on level %u is not noticed", what, level);
    merkle_proof_verify_many(&ok, s, set, &one, 1);
    if (ok)
        fail_msg("%s on level %u is not noticed among many", what, level);
}

static void tamper(path *x, const merkle_shape *s)
{
    uint8_t *modulus_or_more = x->siblings[0];
    for (uint32_t i = 0; i < x->p.levels; i++) {
        x->siblings[i][5] ^= 1;
        expect_bad(x, s, "a changed sibling", i);
        x->siblings[i][5] ^= 1;
        const uint32_t kept = x->p.level[i].position;
        x->p.level[i].position = (kept + 1) % merkle_arity(s, i);
        expect_bad(x, s, "another position", i);
        x->p.level[i].position = merkle_arity(s, i);
        expect_bad(x, s, "a position beyond the arity", i);
        x->p.level[i].position = kept;
    }
    x->p.leaf[0] ^= 1;
    expect_bad(x, s, "a changed leaf", 0);
    x->p.leaf[0] ^= 1;
    x->p.root[0] ^= 1;
    expect_bad(x, s, "a changed root", 0);
    x->p.root[0] ^= 1;
    x->p.levels--;
    expect_bad(x, s, "a missing level", x->p.levels);
    x->p.levels++;
    uint8_t kept[32];
    memcpy(kept, modulus_or_more, 32);
    memset(modulus_or_more, 0xff, 32);
    expect_bad(x, s, "a sibling above r", 0);
    memcpy(modulus_or_more, kept, 32);
    assert_true(merkle_proof_verify(s, set, &x->p));
}

static void verification(void **state)
{
    path x;
    merkle_shape s;
    (void)state;
    for (size_t i = 0; i < SIZE_COUNT; i++) {
        for (int sha = 0; sha < 2; sha++) {
            assert_int_equal(sha ? merkle_shape_sha256(&s, SIZES[i]) : merkle_shape_poseidon(&s, SIZES[i]),
                             0);
            random_path(&x, &s);
            assert_true(merkle_proof_verify(&s, set, &x.p));
            tamper(&x, &s);
            uint64_t index = merkle_proof_index(&s, &x.p), want = 0;
            for (uint32_t k = x.p.levels; k-- > 0;)
                want = want * merkle_arity(&s, k) + x.p.level[k].position;
            assert_true(index == want && index < SIZES[i] / 32);
        }
    }
}

static void verification_of_many(void **state)
{
    enum { N = 21 };
    path *x = calloc(N, sizeof *x);
    const merkle_proof *p[N];
    uint8_t ok[N];
    merkle_shape s;
    (void)state;
    assert_non_null(x);
    assert_int_equal(merkle_shape_poseidon(&s, 64 * GIB), 0);
    for (size_t i = 0; i < N; i++) {
        random_path(&x[i], &s);
        p[i] = &x[i].p;
    }
    for (int portable = 0; portable < 2; portable++) {
        cpu_force(portable ? CPU_PORTABLE : CPU_ALL);
        for (size_t bad = 0; bad <= N; bad++) {
            /* One wrong path, in turns by its root, by a value above r, by a sibling: the others stay right.
             */
            uint8_t *node = bad == N ? NULL : bad % 3 == 0 ? x[bad].p.root : x[bad].siblings[bad % 11];
            if (node)
                node[bad % 3 == 1 ? 31 : 3] ^= bad % 3 == 1 ? 0x80 : 1;
            merkle_proof_verify_many(ok, &s, set, p, N);
            for (size_t i = 0; i < N; i++)
                assert_int_equal(ok[i], i != bad);
            if (node)
                node[bad % 3 == 1 ? 31 : 3] ^= bad % 3 == 1 ? 0x80 : 1;
        }
    }
    cpu_force(CPU_ALL);
    free(x);
}

/* ---- insertion and selection ---- */

typedef struct choice {
    unsigned arity, bits;
    int insertion;
} choice;

static void choice_synth(cs *c, void *ctx)
{
    const choice *k = ctx;
    boolean bits[SELECT_MAX_BITS];
    var in[1 << 7], out[8];
    for (unsigned i = 0; i < k->bits; i++)
        bits[i] = boolean_of(cs_alloc_bit(c));
    for (unsigned i = 0; i < k->arity; i++)
        in[i] = cs_alloc_field(c);
    if (k->insertion)
        insert_synth(c, out, in[0], bits, in + 1, k->arity);
    else
        select_synth(c, in, bits, k->bits);
}

static void choices(const choice *k, unsigned rows)
{
    gadget g;
    fr in[1 << 7], out[8], one;
    gadget_open(&g, choice_synth, (void *)k);
    assert_int_equal(g.n.constraints, rows + 1);
    for (unsigned i = 0; i < k->arity; i++)
        math_fr(&in[i], &rng);
    for (unsigned position = 0; position < k->arity; position++) {
        wcursor w;
        wcursor_init(&w, &g.w, 0, 0);
        memset(g.w.bits, 0, (g.n.aux + 63) / 64 * 8);
        if (k->bits)
            wcursor_bits(&w, position, k->bits);
        for (unsigned i = 0; i < k->arity; i++)
            wcursor_field(&w, &in[i]);
        if (k->insertion)
            insert_witness(&w, out, &in[0], position, in + 1, k->arity);
        else
            select_witness(&w, &one, in, position, k->bits);
        wcursor_finish(&w);
        assert_int_equal(w.aux, g.n.aux);
        assert_true(gadget_satisfied(&g));
        if (!k->insertion) {
            assert_true(fr_eq(&one, &in[position]));
            continue;
        }
        for (unsigned i = 0, sibling = 1; i < k->arity; i++)
            assert_true(fr_eq(&out[i], i == position ? &in[0] : &in[sibling++]));
        for (uint64_t i = k->arity; i < g.n.fields; i++) { /* no free wire */
            const fr kept = g.w.field[i];
            fr_add(&g.w.field[i], &kept, &FR_ONE);
            assert_false(gadget_satisfied(&g));
            g.w.field[i] = kept;
        }
    }
    gadget_close(&g);
}

static void insertion_and_selection(void **state)
{
    (void)state;
    choices(&(choice){2, 1, 1}, 2);
    choices(&(choice){4, 2, 1}, 8);
    choices(&(choice){8, 3, 1}, 22);
    for (unsigned bits = 0; bits <= 7; bits++)
        choices(&(choice){1u << bits, bits, 0}, (1u << bits) - 1);
}

/* ---- paths ---- */

typedef struct path_circuit {
    merkle_shape s;
    int given; /* bits and siblings are the caller's */
} path_circuit;

static void path_synth(cs *c, void *ctx)
{
    const path_circuit *k = ctx;
    const uint32_t levels = merkle_levels(&k->s);
    var leaf = cs_alloc_field(c), root = cs_alloc_field(c), siblings[7 * MERKLE_MAX_LEVELS];
    boolean bits[64];
    if (!k->given) {
        merkle_synth(c, &k->s, set, leaf, root);
        return;
    }
    boolean_alloc_many(c, bits, merkle_index_bits(&k->s, levels));
    for (unsigned i = 0; i < merkle_sibling_count(&k->s, levels); i++)
        siblings[i] = cs_alloc_field(c);
    merkle_synth_bits(c, &k->s, levels, set, bits, leaf, siblings, root);
}

static void write_path(gadget *g, const path_circuit *k, const path *x)
{
    const uint32_t levels = merkle_levels(&k->s);
    fr leaf, root, computed, siblings[7 * MERKLE_MAX_LEVELS], *next = siblings;
    wcursor w;
    memset(g->w.bits, 0, (g->n.aux + 63) / 64 * 8);
    wcursor_init(&w, &g->w, 0, 0);
    assert_int_equal(fr_from_bytes(&leaf, x->p.leaf) | fr_from_bytes(&root, x->p.root), 0);
    wcursor_field(&w, &leaf);
    wcursor_field(&w, &root);
    if (k->given) {
        wcursor_bits(&w, merkle_proof_index(&k->s, &x->p), merkle_index_bits(&k->s, levels));
        for (uint32_t i = 0; i < levels; i++)
            for (uint32_t j = 0; j + 1 < merkle_arity(&k->s, i); j++)
                assert_int_equal(fr_from_bytes(next++, x->siblings[i] + 32 * j), 0);
        for (const fr *v = siblings; v < next; v++)
            wcursor_field(&w, v);
        merkle_witness_bits(&w, &k->s, levels, set, merkle_proof_index(&k->s, &x->p), &leaf, siblings,
                            &computed);
    } else {
        merkle_witness(&w, &k->s, set, &x->p, &computed);
        fr_from_u64(&g->w.input[1], merkle_proof_index(&k->s, &x->p));
    }
    wcursor_finish(&w);
    assert_int_equal(w.aux, g->n.aux);
    assert_int_equal(w.field, g->n.fields);
    assert_true(fr_eq(&computed, &root));
}

static void paths(void **state)
{
    static const uint64_t sizes[] = {2 * KIB, 4 * KIB, 32 * KIB};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (int sha = 0; sha < (i == 0 ? 2 : 1); sha++) {
            for (int given = 0; given < 2; given++) {
                path_circuit k = {.given = given};
                path x;
                gadget g;
                assert_int_equal(
                    sha ? merkle_shape_sha256(&k.s, sizes[i]) : merkle_shape_poseidon(&k.s, sizes[i]), 0);
                gadget_open(&g, path_synth, &k);
                assert_int_equal(g.n.inputs, given ? 1 : 2);
                for (int round = 0; round < 4; round++) {
                    random_path(&x, &k.s);
                    write_path(&g, &k, &x);
                    assert_true(gadget_satisfied(&g));
                }
                fr_add(&g.w.field[1], &g.w.field[1], &FR_ONE); /* another root */
                assert_false(gadget_satisfied(&g));
                write_path(&g, &k, &x);
                fr_add(&g.w.field[0], &g.w.field[0], &FR_ONE); /* another leaf */
                assert_false(gadget_satisfied(&g));
                write_path(&g, &k, &x);
                if (!given) { /* another public position */
                    fr_add(&g.w.input[1], &g.w.input[1], &FR_ONE);
                    assert_false(gadget_satisfied(&g));
                }
                gadget_close(&g);
            }
        }
    }
}

/* Several paths side by side: the same wires as one after the other. */
static void many_paths(void **state)
{
    enum { N = 11 };
    path_circuit k = {.given = 0};
    path *x = calloc(N, sizeof *x);
    const merkle_proof *p[N];
    gadget g;
    witness many, single;
    wcursor cursor[N], *at[N];
    fr root[N];
    cuzk_error err;
    (void)state;
    assert_non_null(x);
    for (int sha = 0; sha < 2; sha++) {
        assert_int_equal(sha ? merkle_shape_sha256(&k.s, KIB) : merkle_shape_poseidon(&k.s, 32 * KIB), 0);
        gadget_open(&g, path_synth, &k);
        const uint64_t aux = g.n.aux - 2, fields = g.n.fields - 2;
        gadget_close(&g);
        assert_int_equal(witness_init(&many, 1, N * aux, N * fields, &err), CUZK_OK);
        assert_int_equal(witness_init(&single, 1, N * aux, N * fields, &err), CUZK_OK);
        for (size_t i = 0; i < N; i++) {
            wcursor c;
            random_path(&x[i], &k.s);
            p[i] = &x[i].p;
            at[i] = &cursor[i];
            wcursor_init(at[i], &many, i * aux, i * fields);
            wcursor_init(&c, &single, i * aux, i * fields);
            merkle_witness(&c, &k.s, set, p[i], NULL);
            wcursor_finish(&c);
        }
        merkle_witness_many(at, &k.s, set, p, root, N);
        for (size_t i = 0; i < N; i++) {
            uint8_t bytes[32];
            wcursor_finish(at[i]);
            fr_to_bytes(bytes, &root[i]);
            assert_memory_equal(bytes, p[i]->root, 32);
        }
        assert_memory_equal(many.field, single.field, N * fields * sizeof(fr));
        assert_memory_equal(many.bits, single.bits, (N * aux + 63) / 64 * 8);
        witness_clear(&many);
        witness_clear(&single);
    }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes),
        cmocka_unit_test(verification),
        cmocka_unit_test(verification_of_many),
        cmocka_unit_test(insertion_and_selection),
        cmocka_unit_test(paths),
        cmocka_unit_test(many_paths),
    };
    return cmocka_run_group_tests(tests, open_set, close_set);
}
