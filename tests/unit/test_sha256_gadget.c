/* SHA-256 in a circuit: digests, constants anywhere in the message, tampered wires, and the golden count of
 * rows. */
#include "base/hash.h"
#include "gadgets/sha256_gadget.h"
#include "support/gadget.h"
#include "support/math.h"
#include <setjmp.h>
#include <stdarg.h>
/* cmocka.h needs the two above */
#include <cmocka.h>

enum { MAX_BYTES = 256 };

typedef struct message {
    size_t bytes;
    uint8_t data[MAX_BYTES], constant[MAX_BYTES];
    int check_digest; /* rows that hold the output to the hash of data */
    int as_number;
} message;

static int message_bit(const uint8_t *bytes, size_t i)
{
    return bytes[i / 8] >> (7 - i % 8) & 1;
}

static void message_circuit(cs *c, void *ctx)
{
    const message *m = ctx;
    boolean bits[MAX_BYTES * 8], out[256];
    uint8_t digest[32];
    for (size_t i = 0; i < 8 * m->bytes; i++)
        bits[i] = message_bit(m->constant, i) ? boolean_constant(message_bit(m->data, i)) : boolean_alloc(c);
    if (m->as_number) {
        (void)sha256_num_synth(c, bits, 8 * m->bytes);
        return;
    }
    sha256_synth(c, bits, 8 * m->bytes, out);
    if (!m->check_digest)
        return;
    sha256_digest(digest, m->data, m->bytes);
    for (size_t i = 0; i < 256; i++)
        boolean_enforce_equal(c, out[i], boolean_constant(message_bit(digest, i)));
}

/* The message's own wires, then the hash's. constant is passed as NULL where it is all zeros. */
static void fill(gadget *g, const message *m, uint8_t digest[32])
{
    int any = 0;
    wcursor c;
    wcursor_init(&c, &g->w, 0, 0);
    for (size_t i = 0; i < 8 * m->bytes; i++) {
        any |= message_bit(m->constant, i);
        if (!message_bit(m->constant, i))
            wcursor_bits(&c, (uint64_t)message_bit(m->data, i), 1);
    }
    if (m->as_number) {
        fr number;
        sha256_num_witness(&c, m->data, m->bytes, any ? m->constant : NULL, &number);
        fr_to_bytes(digest, &number);
    } else {
        sha256_witness(&c, m->data, m->bytes, any ? m->constant : NULL, digest);
    }
    wcursor_finish(&c);
    assert_int_equal(c.aux, g->n.aux);
    assert_int_equal(c.field, g->n.fields);
}

static void try_message(message *m, chacha_rng *rng)
{
    gadget g;
    uint8_t want[32], got[32];
    m->check_digest = 1;
    gadget_open(&g, message_circuit, m);
    fill(&g, m, got);
    sha256_digest(want, m->data, m->bytes);
    assert_memory_equal(got, want, 32);
    assert_true(gadget_satisfied(&g));
    for (int i = 0; i < 3 && g.n.aux; i++) {
        uint64_t wire = chacha_rng_u64(rng) % g.n.aux;
        gadget_set_bit(&g, wire, !gadget_bit(&g, wire));
        if (gadget_satisfied(&g))
            fail_msg("%zu bytes: wire %llu is not bound", m->bytes, (unsigned long long)wire);
        gadget_set_bit(&g, wire, !gadget_bit(&g, wire));
    }
    gadget_close(&g);
}

static void lengths(void **state)
{
    static const size_t sizes[] = {0, 1, 3, 31, 32, 55, 56, 63, 64, 65, 119, 120, 128, 191};
    (void)state;
    chacha_rng rng;
    math_rng(&rng, 3);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        message m = {.bytes = sizes[k]};
        chacha_rng_bytes(&rng, m.data, m.bytes);
        try_message(&m, &rng);
    }
}

enum {
    ALL,
    ONE_BIT,
    ALL_BUT_ONE_BIT,
    SPARSE,
    HALF,
    DENSE,
    FIELD_ELEMENTS,
    WHOLE_WORDS,
    LAST_BLOCK,
    PATTERNS
};

static void constants(uint8_t mask[MAX_BYTES], size_t bytes, int pattern, chacha_rng *rng)
{
    size_t bit = chacha_rng_u32(rng) % (8 * bytes);
    memset(mask, pattern == ALL || pattern == ALL_BUT_ONE_BIT ? 0xff : 0, MAX_BYTES);
    if (pattern == ONE_BIT || pattern == ALL_BUT_ONE_BIT)
        mask[bit / 8] ^= (uint8_t)(1 << bit % 8);
    for (size_t i = 0; i < bytes; i++) {
        uint8_t x = (uint8_t)chacha_rng_u32(rng), y = (uint8_t)chacha_rng_u32(rng),
                z = (uint8_t)chacha_rng_u32(rng);
        if (pattern == SPARSE)
            mask[i] = x & y & z;
        else if (pattern == HALF)
            mask[i] = x;
        else if (pattern == DENSE)
            mask[i] = x | y | z;
        else if (pattern == FIELD_ELEMENTS)
            mask[i] = i % 32 == 31 ? 0x80 : 0;
        else if (pattern == WHOLE_WORDS && i % 8 < 4)
            mask[i] = 0xff;
        else if (pattern == LAST_BLOCK && i >= bytes / 64 * 64)
            mask[i] = 0xff;
    }
}

static void constants_mixed_in(void **state)
{
    static const size_t sizes[] = {1, 8, 55, 64, 100};
    (void)state;
    chacha_rng rng;
    math_rng(&rng, 4);
    for (int pattern = 0; pattern < PATTERNS; pattern++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            message m = {.bytes = sizes[k]};
            chacha_rng_bytes(&rng, m.data, m.bytes);
            constants(m.constant, m.bytes, pattern, &rng);
            try_message(&m, &rng);
        }
}

/* A constant message costs nothing at all. */
static void constant_message(void **state)
{
    (void)state;
    message m = {.bytes = 70, .data = "constant", .check_digest = 1};
    gadget g;
    memset(m.constant, 0xff, sizeof m.constant);
    gadget_open(&g, message_circuit, &m);
    assert_int_equal(g.n.aux, 0);
    assert_int_equal(g.n.constraints, 1);
    assert_true(gadget_satisfied(&g));
    gadget_close(&g);
}

/* 64 free bytes: the rows that bellpepper states for its padded hash. */
static void row_count(void **state)
{
    (void)state;
    message m = {.bytes = 64};
    gadget g;
    gadget_open(&g, message_circuit, &m);
    assert_int_equal(g.n.constraints, 512 + 44874 + 1);
    gadget_close(&g);
}

/* The digest of another message cannot be claimed. */
static void other_digest(void **state)
{
    (void)state;
    message m = {.bytes = 40, .data = "one message", .check_digest = 1}, other = m;
    uint8_t digest[32];
    gadget g;
    gadget_open(&g, message_circuit, &m);
    other.data[0] ^= 1;
    fill(&g, &other, digest);
    assert_false(gadget_satisfied(&g));
    gadget_close(&g);
}

static void number(void **state)
{
    (void)state;
    chacha_rng rng;
    math_rng(&rng, 5);
    for (int i = 0; i < 6; i++) {
        message m = {.bytes = 64, .as_number = 1};
        uint8_t want[32], got[32];
        gadget g;
        chacha_rng_bytes(&rng, m.data, m.bytes);
        constants(m.constant, m.bytes, i % 2 ? FIELD_ELEMENTS : SPARSE, &rng);
        gadget_open(&g, message_circuit, &m);
        fill(&g, &m, got);
        sha256_digest(want, m.data, m.bytes);
        want[31] &= 0x3f;
        assert_memory_equal(got, want, 32);
        assert_true(gadget_satisfied(&g));
        fr_add(&g.w.field[0], &g.w.field[0], &FR_ONE);
        assert_false(gadget_satisfied(&g));
        gadget_close(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths),   cmocka_unit_test(constants_mixed_in), cmocka_unit_test(constant_message),
        cmocka_unit_test(row_count), cmocka_unit_test(other_digest),       cmocka_unit_test(number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
