/* Poseidon: golden hashes, the optimised forms against the specification's rounds, the circuit against the
 * witness. */
#include "base/cpu.h"
#include "base/encode.h"
#include "base/mem.h"
#include "gadgets/poseidon_private.h"
#include "support/data.h"
#include "support/gadget.h"
#include "support/math.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka.h needs the above */
#include <cmocka.h>

static poseidon_set *set;
static const struct {
    unsigned arity;
    poseidon_domain domain;
} KINDS[] = {{1, POSEIDON_MERKLE},  {2, POSEIDON_MERKLE},  {4, POSEIDON_MERKLE},  {8, POSEIDON_MERKLE},
             {11, POSEIDON_MERKLE}, {16, POSEIDON_MERKLE}, {2, POSEIDON_SNAP_GEN}};
#define KIND_COUNT (sizeof KINDS / sizeof *KINDS)

static int open_set(void **state)
{
    (void)state;
    cuzk_error err;
    return poseidon_set_create(&set, &err) != CUZK_OK;
}

static int close_set(void **state)
{
    (void)state;
    poseidon_set_destroy(set);
    return 0;
}

static const poseidon *kind(size_t i)
{
    const poseidon *p = poseidon_get(set, KINDS[i].arity, KINDS[i].domain);
    assert_non_null(p);
    return p;
}

static void expect_equal(const fr *a, const fr *b, const char *what, size_t i)
{
    uint8_t x[32], y[32];
    char hx[65], hy[65];
    if (fr_eq(a, b))
        return;
    fr_to_bytes(x, a);
    fr_to_bytes(y, b);
    hex_encode(hx, x, 32);
    hex_encode(hy, y, 32);
    fail_msg("%s %zu: %s, not %s", what, i, hx, hy);
}

static void golden_hashes(void **state)
{
    (void)state;
    json_t *cases = test_data_json("poseidon.json"), *c;
    size_t i, k;
    assert_true(json_array_size(cases) >= 6);
    json_array_foreach(cases, i, c)
    {
        fr in[POSEIDON_MAX_ARITY], want, got;
        uint8_t bytes[32];
        const unsigned arity = (unsigned)test_json_int(c, "arity");
        const poseidon *p =
            poseidon_get(set, arity, json_object_get(c, "domain_tag") ? POSEIDON_SNAP_GEN : POSEIDON_MERKLE);
        assert_non_null(p);
        assert_int_equal(p->full, test_json_int(c, "full_rounds"));
        assert_int_equal(p->partial, test_json_int(c, "partial_rounds"));
        for (k = 0; k < arity; k++) {
            hex_decode(bytes, 32, json_string_value(json_array_get(json_object_get(c, "inputs"), k)));
            assert_int_equal(fr_from_bytes(&in[k], bytes), 0);
        }
        test_json_hex(bytes, 32, c, "hash");
        assert_int_equal(fr_from_bytes(&want, bytes), 0);
        poseidon_hash(&got, p, in);
        expect_equal(&got, &want, "golden hash", i);
        poseidon_hash_ref(&got, p, in);
        expect_equal(&got, &want, "golden hash, reference form,", i);
    }
    json_decref(cases);
}

static void sizes(void **state)
{
    /* Rounds and wires as published for this strength. */
    static const unsigned partial[] = {55, 55, 56, 57, 57, 59, 55}, wires[] = {0, 311, 377, 505, 0, 761, 311};
    (void)state;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        assert_int_equal(kind(i)->full, 8);
        assert_int_equal(kind(i)->partial, partial[i]);
        assert_int_equal(poseidon_arity(kind(i)), KINDS[i].arity);
        if (wires[i])
            assert_int_equal(poseidon_wires(kind(i)), wires[i]);
    }
    assert_null(poseidon_get(set, 3, POSEIDON_MERKLE));
    assert_null(poseidon_get(set, 8, POSEIDON_SNAP_GEN));
}

/* Edges first: all zero, all r - 1, one of each; then random. */
static void preimage(fr *in, unsigned n, size_t round, chacha_rng *rng)
{
    for (unsigned i = 0; i < n; i++) {
        if (round == 0)
            in[i] = FR_ZERO;
        else if (round == 1)
            in[i] = FR_MINUS_ONE;
        else if (round == 2)
            in[i] = i % 2 ? FR_ONE : FR_ZERO;
        else
            math_fr(&in[i], rng);
    }
}

static void forms_agree(void **state)
{
    (void)state;
    chacha_rng rng;
    math_rng(&rng, 1);
    for (size_t i = 0; i < KIND_COUNT; i++) {
        for (size_t round = 0; round < 40; round++) {
            fr in[POSEIDON_MAX_ARITY], a, b;
            preimage(in, KINDS[i].arity, round, &rng);
            poseidon_hash_ref(&b, kind(i), in);
            for (int portable = 0; portable < 2; portable++) {
                cpu_force(portable ? CPU_PORTABLE : CPU_ALL);
                poseidon_hash(&a, kind(i), in);
                cpu_force(CPU_ALL);
                expect_equal(&a, &b, "hash of arity", KINDS[i].arity);
            }
        }
    }
}

static void many_hashes(void **state)
{
    (void)state;
    chacha_rng rng;
    fr in[25 * POSEIDON_MAX_ARITY], out[26], want;
    math_rng(&rng, 2);
    for (int portable = 0; portable < 2; portable++) {
        cpu_force(portable ? CPU_PORTABLE : CPU_ALL);
        for (size_t i = 0; i < KIND_COUNT; i++) {
            for (size_t n = 0; n <= 25; n++) {
                const unsigned arity = KINDS[i].arity;
                for (size_t k = 0; k < n; k++) /* edges in some lanes, random values in others */
                    preimage(in + k * arity, arity, (k + n) % 6, &rng);
                out[n] = FR_TWO;
                poseidon_hash_many(out, kind(i), in, n);
                for (size_t k = 0; k < n; k++) {
                    poseidon_hash(&want, kind(i), in + k * arity);
                    expect_equal(&out[k], &want, "hash among many", k);
                }
                expect_equal(&out[n], &FR_TWO, "element behind the last of", n);
            }
        }
    }
    cpu_force(CPU_ALL);
}

/* ---- circuit ---- */

typedef struct hash_circuit {
    const poseidon *p;
    unsigned before; /* boolean wires that come first */
} hash_circuit;

static void hash_synth(cs *c, void *ctx)
{
    const hash_circuit *h = ctx;
    var in[POSEIDON_MAX_ARITY];
    for (unsigned i = 0; i < h->before; i++)
        cs_alloc_bit(c);
    for (unsigned i = 0; i < h->p->arity; i++)
        in[i] = cs_alloc_field(c);
    poseidon_synth(c, h->p, in);
}

static void write_wires(gadget *g, const hash_circuit *h, const fr *in, fr *out)
{
    wcursor w;
    wcursor_init(&w, &g->w, 0, 0);
    for (unsigned i = 0; i < h->before; i++)
        wcursor_bits(&w, 1, 1);
    for (unsigned i = 0; i < h->p->arity; i++)
        wcursor_field(&w, &in[i]);
    poseidon_witness(&w, h->p, in, out);
    wcursor_finish(&w);
    assert_int_equal(w.aux, g->n.aux);
    assert_int_equal(w.field, g->n.fields);
}

static void circuit_and_witness(void **state)
{
    (void)state;
    chacha_rng rng;
    math_rng(&rng, 3);
    for (size_t i = 0; i < KIND_COUNT; i++) {
        hash_circuit h = {kind(i), (unsigned)i * 11};
        gadget g;
        fr in[POSEIDON_MAX_ARITY], out, want;
        gadget_open(&g, hash_synth, &h);
        assert_int_equal(g.n.fields, h.p->arity + poseidon_wires(h.p));
        assert_int_equal(g.n.bits, h.before);
        /* A row for every wire of the hash, and the closing row of the constant one. */
        assert_int_equal(g.n.constraints, poseidon_wires(h.p) + 1);
        for (size_t round = 0; round < 6; round++) {
            preimage(in, h.p->arity, round, &rng);
            write_wires(&g, &h, in, &out);
            poseidon_hash_ref(&want, h.p, in);
            expect_equal(&out, &want, "output of arity", h.p->arity);
            expect_equal(&g.w.field[g.n.fields - 1], &want, "last wire of arity", h.p->arity);
            assert_true(gadget_satisfied(&g));
        }
        /* No wire is free: with any one changed some row fails. */
        for (uint64_t k = 0; k < g.n.fields; k++) {
            const fr kept = g.w.field[k];
            fr_add(&g.w.field[k], &kept, &FR_ONE);
            if (gadget_satisfied(&g))
                fail_msg("arity %u: wire %llu may have another value", h.p->arity, (unsigned long long)k);
            g.w.field[k] = kept;
        }
        gadget_close(&g);
    }
}

/* Recorded eight at a time at odd places of one witness: the same wires as one by one. */
static void witnesses(size_t N)
{
    chacha_rng rng;
    math_rng(&rng, 4);
    for (size_t i = 0; i < KIND_COUNT; i++) {
        const poseidon *p = kind(i);
        const uint64_t wires = poseidon_wires(p), stride = wires + 3;
        fr *in = calloc(N * p->arity, sizeof *in), out[32], single[32];
        witness a, b;
        wcursor cursor[32], *at[32];
        cuzk_error err;
        assert_true(in && N <= 32);
        assert_int_equal(witness_init(&a, 1, 5 + N * stride, N * wires, &err), CUZK_OK);
        assert_int_equal(witness_init(&b, 1, 5 + N * stride, N * wires, &err), CUZK_OK);
        for (size_t k = 0; k < N; k++) {
            wcursor c;
            preimage(in + k * p->arity, p->arity, k, &rng);
            wcursor_init(&c, &b, 5 + k * stride, k * wires);
            wcursor_bits(&c, 5, 3);
            cpu_force(k % 2 ? CPU_PORTABLE : CPU_ALL); /* every form must record the same */
            poseidon_witness(&c, p, in + k * p->arity, &single[k]);
            cpu_force(CPU_ALL);
            wcursor_finish(&c);
            at[k] = &cursor[k];
            wcursor_init(at[k], &a, 5 + k * stride, k * wires);
            wcursor_bits(at[k], 5, 3);
        }
        poseidon_witness_many(at, p, in, out, N);
        for (size_t k = 0; k < N; k++) {
            assert_int_equal(cursor[k].aux, 5 + (k + 1) * stride);
            wcursor_finish(at[k]);
            expect_equal(&out[k], &single[k], "output", k);
        }
        for (size_t k = 0; k < N * wires; k++)
            expect_equal(&a.field[k], &b.field[k], "wire", k);
        assert_memory_equal(a.bits, b.bits, (5 + N * stride) / 64 * 8);
        witness_clear(&a);
        witness_clear(&b);
        free(in);
    }
}

static void many_witnesses(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 9; n++) /* full and partly filled groups */
        witnesses(n);
    witnesses(19);
    witnesses(32);
}

static void no_memory(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        poseidon_set *s = NULL;
        cuzk_error err;
        mem_fault_set(n, 0);
        cuzk_status status = poseidon_set_create(&s, &err);
        uint64_t made = mem_fault_count();
        mem_fault_set(0, 0);
        if (status == CUZK_OK) {
            poseidon_set_destroy(s);
            assert_true(made < n && n > 2);
            break;
        }
        assert_int_equal(status, CUZK_OUT_OF_MEMORY);
        assert_null(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_hashes),  cmocka_unit_test(sizes),
        cmocka_unit_test(forms_agree),    cmocka_unit_test(many_hashes),
        cmocka_unit_test(many_witnesses), cmocka_unit_test(circuit_and_witness),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, open_set, close_set);
}
