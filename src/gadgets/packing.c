/* Between bits and field elements. */
#include "base/encode.h"
#include "gadgets/boolean.h"
#include <assert.h>

/* (sum of bits) * 1 = out */
static void packing_row(cs *c, const boolean *bits, size_t n, var out)
{
    lc a, b, d;
    lc_init(&a);
    lc_init(&b);
    lc_init(&d);
    lc_add_packed(&a, bits, n);
    lc_add_one(&b, VAR_ONE);
    lc_add_one(&d, out);
    cs_enforce(c, &a, &b, &d);
    lc_clear(&a);
    lc_clear(&b);
    lc_clear(&d);
}

void pack_into_inputs(cs *c, const boolean *bits, size_t n)
{
    for (size_t first = 0; first < n; first += FR_CAPACITY)
        packing_row(c, bits + first, n - first < FR_CAPACITY ? n - first : FR_CAPACITY, cs_alloc_input(c));
}

var pack_bits(cs *c, const boolean *bits, size_t n)
{
    assert(n <= FR_CAPACITY);
    var out = cs_alloc_field(c);
    packing_row(c, bits, n, out);
    return out;
}

/* (nothing) * (nothing) = (sum of bits) - num */
static void unpacking_row(cs *c, const boolean bits[FR_BITS], var num)
{
    lc a, b, d;
    lc_init(&a);
    lc_init(&b);
    lc_init(&d);
    lc_add_packed(&d, bits, FR_BITS);
    lc_sub_one(&d, num);
    cs_enforce(c, &a, &b, &d);
    lc_clear(&a);
    lc_clear(&b);
    lc_clear(&d);
}

void num_to_bits_le(cs *c, var num, boolean out[FR_BITS])
{
    boolean_alloc_many(c, out, FR_BITS);
    unpacking_row(c, out, num);
}

void num_to_bits_le_witness(wcursor *w, const uint8_t bytes[32])
{
    wcursor_bits(w, load_le64(bytes), 64);
    wcursor_bits(w, load_le64(bytes + 8), 64);
    wcursor_bits(w, load_le64(bytes + 16), 64);
    wcursor_bits(w, load_le64(bytes + 24), 63);
}

/* ---- strict ----
 * From the highest bit down, a bit where r - 1 has a one is free; a bit where it has a zero must be zero if
 * all bits so far at ones of r - 1 were ones. That conjunction is extended once for each run of ones. */
static const uint64_t R_MINUS_1[4] = {0xffffffff00000000, 0x53bda402fffe5bfe, 0x3339d80809a1d805,
                                      0x73eda753299d7d48};

static int limb_bit(const uint64_t *limbs, int i)
{
    return (int)(limbs[i >> 6] >> (i & 63) & 1);
}

void num_to_bits_le_strict(cs *c, var num, boolean out[FR_BITS])
{
    boolean last_run = boolean_constant(1), run[FR_BITS];
    size_t run_length = 0;
    for (int i = FR_BITS - 1; i >= 0; i--) {
        if (limb_bit(R_MINUS_1, i)) {
            run[run_length++] = out[i] = boolean_alloc(c);
            continue;
        }
        if (run_length) {
            boolean all = run[0];
            for (size_t k = 1; k < run_length; k++)
                all = boolean_and(c, all, run[k]);
            /* A constant on the first run: no wire. */
            last_run = boolean_and(c, all, last_run);
            run_length = 0;
        }
        out[i] = boolean_alloc_conditionally(c, last_run.v);
    }
    unpacking_row(c, out, num);
}

void num_to_bits_le_strict_witness(wcursor *w, const uint8_t bytes[32])
{
    uint64_t value[4];
    for (int i = 0; i < 4; i++)
        value[i] = load_le64(bytes + 8 * i);
    int first_run = 1, last_run = 1, run[FR_BITS];
    size_t run_length = 0;
    for (int i = FR_BITS - 1; i >= 0; i--) {
        int bit = limb_bit(value, i);
        if (limb_bit(R_MINUS_1, i)) {
            run[run_length++] = bit;
        } else if (run_length) {
            int all = run[0];
            for (size_t k = 1; k < run_length; k++)
                wcursor_bits(w, (uint64_t)(all &= run[k]), 1);
            if (!first_run)
                wcursor_bits(w, (uint64_t)(all & last_run), 1);
            last_run &= all;
            first_run = 0;
            run_length = 0;
        }
        wcursor_bits(w, (uint64_t)bit, 1);
    }
}

size_t reverse_bit_numbering(boolean *out, const boolean *in, size_t n)
{
    size_t bytes = (n + 7) / 8;
    for (size_t i = 0; i < 8 * bytes; i++) {
        size_t from = i / 8 * 8 + 7 - i % 8;
        out[i] = from < n ? in[from] : boolean_constant(0);
    }
    return 8 * bytes;
}
