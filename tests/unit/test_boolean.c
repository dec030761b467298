/* Booleans: every operation on every kind of operand, for every value, against the truth; packing and bits.
 */
#include "base/encode.h"
#include "gadgets/boolean.h"
#include "support/gadget.h"
#include "support/math.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
/* cmocka.h needs the above */
#include <cmocka.h>

enum { XOR, AND, OR, CH, MAJ, OPERATIONS };
static const int operands_of[] = {[XOR] = 2, [AND] = 2, [OR] = 2, [CH] = 3, [MAJ] = 3};

static int truth(int operation, const int *x)
{
    switch (operation) {
    case XOR:
        return x[0] ^ x[1];
    case AND:
        return x[0] & x[1];
    case OR:
        return x[0] | x[1];
    case CH:
        return x[0] ? x[1] : x[2];
    default:
        return x[0] + x[1] + x[2] >= 2;
    }
}

/* Wires 0..2 are the operands, 3 is the expected result; whatever the operation allocates follows. */
typedef struct operation {
    int which;
    boolean_kind kind[3];
} operation;

static boolean operand(boolean_kind kind, boolean wire)
{
    return kind == BOOL_IS    ? wire
           : kind == BOOL_NOT ? boolean_not(wire)
                              : boolean_constant(kind == BOOL_TRUE);
}

static void operation_synth(cs *c, void *ctx)
{
    const operation *o = ctx;
    boolean wire[4], x[3], out;
    boolean_alloc_many(c, wire, 4);
    for (int i = 0; i < 3; i++)
        x[i] = operand(o->kind[i], wire[i]);
    switch (o->which) {
    case XOR:
        out = boolean_xor(c, x[0], x[1]);
        break;
    case AND:
        out = boolean_and(c, x[0], x[1]);
        break;
    case OR:
        out = boolean_or(c, x[0], x[1]);
        break;
    case CH:
        out = boolean_ch(c, x[0], x[1], x[2]);
        break;
    default:
        out = boolean_maj(c, x[0], x[1], x[2]);
    }
    boolean_enforce_equal(c, out, wire[3]);
}

/* For every value of the operands exactly one value of the other wires satisfies, and it holds the true
 * result. */
static void try_operation(const operation *o)
{
    gadget g;
    gadget_open(&g, operation_synth, (void *)o);
    unsigned extra = (unsigned)g.n.aux - 3;
    assert_in_range(g.n.aux, 4, 6);
    assert_int_equal(g.n.fields, 0);
    for (unsigned v = 0; v < 8; v++) {
        int x[3], solutions = 0;
        for (int i = 0; i < 3; i++) {
            int bit = (int)(v >> i & 1);
            gadget_set_bit(&g, (uint64_t)i, bit);
            x[i] = o->kind[i] == BOOL_IS ? bit : o->kind[i] == BOOL_NOT ? !bit : o->kind[i] == BOOL_TRUE;
        }
        for (unsigned rest = 0; rest < 1u << extra; rest++) {
            for (unsigned i = 0; i < extra; i++)
                gadget_set_bit(&g, 3 + i, (int)(rest >> i & 1));
            if (!gadget_satisfied(&g))
                continue;
            solutions++;
            if ((int)(rest & 1) != truth(o->which, x))
                fail_msg("operation %d on kinds %d %d %d: wrong result for values %u", o->which, o->kind[0],
                         o->kind[1], o->kind[2], v);
        }
        if (solutions != 1)
            fail_msg("operation %d on kinds %d %d %d, values %u: %d solutions", o->which, o->kind[0],
                     o->kind[1], o->kind[2], v, solutions);
    }
    gadget_close(&g);
}

static void operations(void **state)
{
    (void)state;
    for (int which = 0; which < OPERATIONS; which++)
        for (int kinds = 0; kinds < (operands_of[which] == 2 ? 16 : 64); kinds++) {
            operation o = {which, {kinds & 3, kinds >> 2 & 3, kinds >> 4 & 3}};
            try_operation(&o);
        }
}

/* Wires that bellpepper's gadgets allocate on wires without constants, with any negations. */
static void operation_costs(void **state)
{
    static const int wires[] = {[XOR] = 1, [AND] = 1, [OR] = 1, [CH] = 1, [MAJ] = 2};
    (void)state;
    for (int which = 0; which < OPERATIONS; which++)
        for (int kinds = 0; kinds < 8; kinds++) {
            gadget g;
            operation o = {which,
                           {BOOL_IS + (kinds & 1), BOOL_IS + (kinds >> 1 & 1), BOOL_IS + (kinds >> 2)}};
            gadget_open(&g, operation_synth, &o);
            assert_int_equal(g.n.aux, 4 + wires[which]);
            /* one row a wire, the equality, the closing row of the constant */
            assert_int_equal(g.n.constraints, 4 + wires[which] + 2);
            gadget_close(&g);
        }
}

/* ---- equality ---- */
static void equal_circuit(cs *c, void *ctx)
{
    const boolean_kind *kind = ctx;
    boolean wire[2];
    boolean_alloc_many(c, wire, 2);
    boolean_enforce_equal(c, operand(kind[0], wire[0]), operand(kind[1], wire[1]));
}

static void equality(void **state)
{
    (void)state;
    for (int kinds = 0; kinds < 16; kinds++) {
        boolean_kind kind[2] = {kinds & 3, kinds >> 2};
        gadget g;
        gadget_open(&g, equal_circuit, kind);
        for (int v = 0; v < 4; v++) {
            int x[2];
            for (int i = 0; i < 2; i++) {
                gadget_set_bit(&g, (uint64_t)i, v >> i & 1);
                x[i] = kind[i] == BOOL_IS    ? v >> i & 1
                       : kind[i] == BOOL_NOT ? !(v >> i & 1)
                                             : kind[i] == BOOL_TRUE;
            }
            assert_int_equal(gadget_satisfied(&g), x[0] == x[1]);
        }
        gadget_close(&g);
    }
}

/* ---- numbers ---- */
typedef struct number_test {
    int strict;
} number_test;

static void number_circuit(cs *c, void *ctx)
{
    boolean bits[FR_BITS];
    var num = cs_alloc_field(c);
    if (((number_test *)ctx)->strict)
        num_to_bits_le_strict(c, num, bits);
    else
        num_to_bits_le(c, num, bits);
}

static const char R_HEX[] = "01000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73";

static void number_values(void **state)
{
    (void)state;
    chacha_rng rng;
    math_rng(&rng, 1);
    for (int strict = 0; strict < 2; strict++) {
        gadget g;
        number_test t = {strict};
        gadget_open(&g, number_circuit, &t);
        assert_int_equal(g.n.fields, 1);
        for (int i = 0; i < 40; i++) {
            fr v;
            uint8_t bytes[32];
            if (i == 0)
                v = FR_ZERO;
            else if (i == 1)
                v = FR_ONE;
            else if (i == 2)
                v = FR_MINUS_ONE;
            else
                math_fr(&v, &rng);
            fr_to_bytes(bytes, &v);
            memset(g.w.bits, 0, (g.n.aux + 63) / 64 * 8);
            wcursor c;
            wcursor_init(&c, &g.w, 0, 0);
            wcursor_field(&c, &v);
            if (strict)
                num_to_bits_le_strict_witness(&c, bytes);
            else
                num_to_bits_le_witness(&c, bytes);
            wcursor_finish(&c);
            assert_int_equal(c.aux, g.n.aux);
            assert_true(gadget_satisfied(&g));
            uint64_t wire = 1 + chacha_rng_u64(&rng) % (g.n.aux - 1);
            gadget_set_bit(&g, wire, !gadget_bit(&g, wire));
            assert_false(gadget_satisfied(&g));
        }
        gadget_close(&g);
    }
}

/* v + r is the other 255-bit form of a small v: loose bits admit it, strict ones must not. */
static void number_not_canonical(void **state)
{
    (void)state;
    uint8_t r[32];
    assert_int_equal(hex_decode(r, 32, R_HEX), 0);
    for (int strict = 0; strict < 2; strict++)
        for (unsigned v = 0; v < 5; v++) {
            gadget g;
            number_test t = {strict};
            uint8_t bytes[32];
            fr value;
            gadget_open(&g, number_circuit, &t);
            memcpy(bytes, r, 32);
            bytes[0] = (uint8_t)(bytes[0] + v);
            fr_from_u64(&value, v);
            wcursor c;
            wcursor_init(&c, &g.w, 0, 0);
            wcursor_field(&c, &value);
            if (strict)
                num_to_bits_le_strict_witness(&c, bytes);
            else
                num_to_bits_le_witness(&c, bytes);
            wcursor_finish(&c);
            assert_int_equal(gadget_satisfied(&g), !strict);
            gadget_close(&g);
        }
}

/* ---- packing ---- */
typedef struct packing {
    size_t bits;
    int into_inputs;
} packing;

static void packing_circuit(cs *c, void *ctx)
{
    const packing *p = ctx;
    boolean *bits = calloc(p->bits ? p->bits : 1, sizeof *bits);
    assert_non_null(bits);
    boolean_alloc_many(c, bits, p->bits);
    if (p->into_inputs)
        pack_into_inputs(c, bits, p->bits);
    else
        (void)pack_bits(c, bits, p->bits);
    free(bits);
}

/* Number of bits first .. first + n - 1 of the witness. */
static void packed_value(fr *out, const gadget *g, size_t first, size_t n)
{
    uint8_t bytes[32] = {0};
    for (size_t i = 0; i < n; i++)
        bytes[i / 8] |= (uint8_t)(gadget_bit(g, first + i) << (i % 8));
    assert_int_equal(fr_from_bytes(out, bytes), 0);
}

static void packing_values(void **state)
{
    static const size_t sizes[] = {0, 1, 7, 64, 253, 254, 255, 508, 509, 600};
    (void)state;
    chacha_rng rng;
    math_rng(&rng, 2);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int into_inputs = 0; into_inputs < 2; into_inputs++) {
            packing p = {sizes[k], into_inputs};
            size_t pieces = (p.bits + FR_CAPACITY - 1) / FR_CAPACITY;
            if (!into_inputs && pieces > 1)
                continue;
            gadget g;
            gadget_open(&g, packing_circuit, &p);
            assert_int_equal(g.n.inputs, 1 + (into_inputs ? pieces : 0));
            assert_int_equal(g.n.fields, !into_inputs);
            for (size_t i = 0; i < p.bits; i++)
                gadget_set_bit(&g, i, (int)(chacha_rng_u32(&rng) & 1));
            fr *packed = into_inputs ? g.w.input + 1 : g.w.field;
            for (size_t i = 0; i < pieces; i++)
                packed_value(&packed[i], &g, i * FR_CAPACITY,
                             p.bits - i * FR_CAPACITY < FR_CAPACITY ? p.bits - i * FR_CAPACITY : FR_CAPACITY);
            assert_true(gadget_satisfied(&g));
            if (p.bits) {
                fr_add(&packed[pieces - 1], &packed[pieces - 1], &FR_ONE);
                assert_false(gadget_satisfied(&g));
            }
            gadget_close(&g);
        }
}

static void reversed_bytes(void **state)
{
    (void)state;
    boolean in[255], out[256];
    for (unsigned i = 0; i < 255; i++)
        in[i] = boolean_of(VAR_AUX | i);
    assert_int_equal(reverse_bit_numbering(out, in, 255), 256);
    assert_int_equal(out[0].v, VAR_AUX | 7);
    assert_int_equal(out[7].v, VAR_AUX | 0);
    assert_int_equal(out[8].v, VAR_AUX | 15);
    assert_int_equal(out[248].kind, BOOL_FALSE);
    assert_int_equal(out[249].v, VAR_AUX | 254);
    assert_int_equal(reverse_bit_numbering(out, in, 0), 0);
    assert_int_equal(reverse_bit_numbering(out, in, 8), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations),
        cmocka_unit_test(operation_costs),
        cmocka_unit_test(equality),
        cmocka_unit_test(number_values),
        cmocka_unit_test(number_not_canonical),
        cmocka_unit_test(packing_values),
        cmocka_unit_test(reversed_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
