/* Groups of five rows: four bits b (b - 1) = 0, and one link of the chain x, x^2, x^4, ... whose last value
 * is public. */
#include "mixed.h"

#define BITS 4u

static size_t groups(unsigned log)
{
    return (((size_t)1 << log) - 2) / (BITS + 1); /* two rows close the inputs */
}

static void mixed_circuit(cs *c, void *ctx)
{
    const unsigned *log = ctx;
    lc a, b, d;
    lc_init(&a);
    lc_init(&b);
    lc_init(&d);
    var out = cs_alloc_input(c), v = cs_alloc_field(c);
    for (size_t left = groups(*log); left; left--) {
        for (unsigned i = 0; i < BITS; i++) {
            var bit = cs_alloc_bit(c);
            lc_reset(&a);
            lc_reset(&b);
            lc_reset(&d);
            lc_add_one(&a, bit);
            lc_add_one(&b, bit);
            lc_sub_one(&b, VAR_ONE);
            cs_enforce(c, &a, &b, &d);
        }
        var next = left == 1 ? out : cs_alloc_field(c);
        lc_reset(&a);
        lc_reset(&d);
        lc_add_one(&a, v);
        lc_add_one(&d, next);
        cs_enforce(c, &a, &a, &d);
        v = next;
    }
    lc_clear(&a);
    lc_clear(&b);
    lc_clear(&d);
}

cuzk_status mixed_compile(r1cs **out, unsigned log, cuzk_error *err)
{
    if (log < 3 || log > 26)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "a mixed circuit has 2^3 to 2^26 rows");
    return r1cs_compile(out, "mixed", mixed_circuit, &log, err);
}

cuzk_status mixed_witness(witness *w, const r1cs *r, cuzk_error *err)
{
    r1cs_counts n;
    r1cs_get_counts(r, &n);
    cuzk_status s = witness_init(w, n.inputs, n.aux, n.fields, err);
    if (s != CUZK_OK)
        return s;
    wcursor at;
    fr v = {{3, 1, 4, 1}};
    uint64_t random = 88172645463325252u; /* xorshift: any bits do */
    wcursor_init(&at, w, 0, 0);
    wcursor_field(&at, &v);
    for (uint64_t left = n.bits / BITS; left; left--) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        wcursor_bits(&at, random >> 32 & ((1u << BITS) - 1), BITS);
        fr_sqr(&v, &v);
        if (left > 1)
            wcursor_field(&at, &v);
    }
    wcursor_finish(&at);
    w->input[1] = v;
    return CUZK_OK;
}
