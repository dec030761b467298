/* 32-bit words of a circuit, least significant bit first, and sums of them. Private to the gadgets. */
#ifndef GADGETS_UINT32_H
#define GADGETS_UINT32_H
#include "gadgets/boolean.h"

typedef struct uint32_gadget {
    boolean bit[32];
} uint32_gadget;

/* Equalities of small numbers, several packed into one row while their bits fit into the field (MultiEq). */
typedef struct multieq {
    cs *c;
    lc left, right, one;
    unsigned bits_used;
    fr power[FR_BITS + 1]; /* of two */
} multieq;
void multieq_init(multieq *m, cs *c);
void multieq_finish(multieq *m); /* states what is pending and frees */

void uint32_constant(uint32_gadget *out, uint32_t value);
/* bits: the most significant first. */
void uint32_from_bits_be(uint32_gadget *out, const boolean bits[32]);
void uint32_to_bits_be(boolean out[32], const uint32_gadget *a);
void uint32_rotr(uint32_gadget *out, const uint32_gadget *a, unsigned by);
void uint32_shr(uint32_gadget *out, const uint32_gadget *a, unsigned by);
void uint32_xor(cs *c, uint32_gadget *out, const uint32_gadget *a, const uint32_gadget *b);
void uint32_ch(cs *c, uint32_gadget *out, const uint32_gadget *a, const uint32_gadget *b,
               const uint32_gadget *d);
void uint32_maj(cs *c, uint32_gadget *out, const uint32_gadget *a, const uint32_gadget *b,
                const uint32_gadget *d);
/* Sum modulo 2^32 of n = 2 .. 10 operands. All carries are allocated (and dropped); constants only: no wire,
 * no row. */
void uint32_addmany(multieq *m, uint32_gadget *out, const uint32_gadget *const *operand, unsigned n);
/* Bits of the widest sum of n words. */
static inline unsigned uint32_sum_bits(unsigned n)
{
    return 64 - (unsigned)__builtin_clzll((uint64_t)n * UINT32_MAX);
}
#endif
