#include "gadgets/uint32.h"
#include <assert.h>

void multieq_init(multieq *m, cs *c)
{
    m->c = c;
    m->bits_used = 0;
    lc_init(&m->left);
    lc_init(&m->right);
    lc_init(&m->one);
    m->power[0] = FR_ONE;
    for (int i = 0; i < FR_BITS; i++)
        fr_add(&m->power[i + 1], &m->power[i], &m->power[i]);
}

static void multieq_state(multieq *m)
{
    lc_add_one(&m->one, VAR_ONE);
    cs_enforce(m->c, &m->left, &m->one, &m->right);
    lc_reset(&m->left);
    lc_reset(&m->right);
    lc_reset(&m->one);
    m->bits_used = 0;
}

void multieq_finish(multieq *m)
{
    if (m->bits_used)
        multieq_state(m);
    lc_clear(&m->left);
    lc_clear(&m->right);
    lc_clear(&m->one);
}

void uint32_constant(uint32_gadget *out, uint32_t value)
{
    for (int i = 0; i < 32; i++)
        out->bit[i] = boolean_constant(value >> i & 1);
}

void uint32_from_bits_be(uint32_gadget *out, const boolean bits[32])
{
    for (int i = 0; i < 32; i++)
        out->bit[i] = bits[31 - i];
}

void uint32_to_bits_be(boolean out[32], const uint32_gadget *a)
{
    for (int i = 0; i < 32; i++)
        out[i] = a->bit[31 - i];
}

void uint32_rotr(uint32_gadget *out, const uint32_gadget *a, unsigned by)
{
    for (unsigned i = 0; i < 32; i++)
        out->bit[i] = a->bit[(i + by) % 32];
}

void uint32_shr(uint32_gadget *out, const uint32_gadget *a, unsigned by)
{
    for (unsigned i = 0; i < 32; i++)
        out->bit[i] = i + by < 32 ? a->bit[i + by] : boolean_constant(0);
}

void uint32_xor(cs *c, uint32_gadget *out, const uint32_gadget *a, const uint32_gadget *b)
{
    for (int i = 0; i < 32; i++)
        out->bit[i] = boolean_xor(c, a->bit[i], b->bit[i]);
}

void uint32_ch(cs *c, uint32_gadget *out, const uint32_gadget *a, const uint32_gadget *b,
               const uint32_gadget *d)
{
    for (int i = 0; i < 32; i++)
        out->bit[i] = boolean_ch(c, a->bit[i], b->bit[i], d->bit[i]);
}

void uint32_maj(cs *c, uint32_gadget *out, const uint32_gadget *a, const uint32_gadget *b,
                const uint32_gadget *d)
{
    for (int i = 0; i < 32; i++)
        out->bit[i] = boolean_maj(c, a->bit[i], b->bit[i], d->bit[i]);
}

static int all_constant(uint32_t *sum, const uint32_gadget *const *operand, unsigned n)
{
    *sum = 0;
    for (unsigned k = 0; k < n; k++)
        for (int i = 0; i < 32; i++) {
            if (!boolean_is_constant(operand[k]->bit[i]))
                return 0;
            *sum += (uint32_t)(operand[k]->bit[i].kind == BOOL_TRUE) << i;
        }
    return 1;
}

void uint32_addmany(multieq *m, uint32_gadget *out, const uint32_gadget *const *operand, unsigned n)
{
    assert(n >= 2 && n <= 10);
    uint32_t constant;
    if (all_constant(&constant, operand, n)) {
        uint32_constant(out, constant);
        return;
    }
    unsigned bits = uint32_sum_bits(n);
    boolean result[36];
    boolean_alloc_many(m->c, result, bits);
    if (m->bits_used + bits >= FR_CAPACITY)
        multieq_state(m);
    const fr *power = m->power + m->bits_used;
    for (unsigned k = 0; k < n; k++)
        for (int i = 0; i < 32; i++)
            lc_add_boolean(&m->left, operand[k]->bit[i], &power[i]);
    for (unsigned i = 0; i < bits; i++)
        lc_add_boolean(&m->right, result[i], &power[i]);
    m->bits_used += bits;
    memcpy(out->bit, result, sizeof(out->bit));
}
