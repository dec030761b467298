/* Choosing among wires by index bits: insertion of a node among its siblings, and selection of one of many.
 * All of it is made of picks: c = condition ? a : b, stated as (b - a) * condition = (b - c). */
#include "gadgets/merkle.h"
#include <assert.h>

/* Conditions: the three index bits, and for arity 8 two products of the lower ones. */
enum { B0, B1, B2, NOR, AND };
/* Operands: A is the node, B .. H the siblings in order; T + k is the result of the k-th pick. */
enum { A, B, C, D, E, F, G, H, T };
#define NO 0xff

typedef struct pick {
    uint8_t condition, then, otherwise, out; /* out: position in the result, or NO */
} pick;

static const pick PICKS_2[] = {{B0, B, A, 0}, {B0, A, B, 1}};
static const pick PICKS_4[] = {
    {B0, B, A, NO}, {B1, B, T + 0, 0}, {B0, A, B, NO}, {B1, C, T + 2, 1},
    {B0, D, A, NO}, {B1, T + 4, C, 2}, {B0, A, D, NO}, {B1, T + 6, D, 3},
};
static const pick PICKS_8[] = {
    {NOR, A, B, NO}, {B2, B, T + 0, 0},                       /* position 0 */
    {B0, A, B, NO},  {B1, C, T + 2, NO},  {B2, C, T + 3, 1},  /* 1 */
    {B0, D, A, NO},  {B1, T + 5, C, NO},  {B2, D, T + 6, 2},  /* 2 */
    {AND, A, D, NO}, {B2, E, T + 8, 3},                       /* 3 */
    {NOR, A, F, NO}, {B2, T + 10, E, 4},                      /* 4 */
    {B0, A, F, NO},  {B1, G, T + 12, NO}, {B2, T + 13, F, 5}, /* 5 */
    {B0, H, A, NO},  {B1, T + 15, G, NO}, {B2, T + 16, G, 6}, /* 6 */
    {AND, A, H, NO}, {B2, T + 18, H, 7},                      /* 7 */
};
#define MAX_PICKS (sizeof PICKS_8 / sizeof *PICKS_8)

static const pick *plan_of(unsigned arity, unsigned *count)
{
    *count = arity == 2   ? sizeof PICKS_2 / sizeof(pick)
             : arity == 4 ? sizeof PICKS_4 / sizeof(pick)
                          : MAX_PICKS;
    return arity == 2 ? PICKS_2 : arity == 4 ? PICKS_4 : PICKS_8;
}

static var pick_synth(cs *c, boolean condition, var then, var otherwise, lc l[3])
{
    var v = cs_alloc_field(c);
    for (int i = 0; i < 3; i++)
        lc_reset(&l[i]);
    lc_add_one(&l[0], otherwise);
    lc_sub_one(&l[0], then);
    lc_add_boolean(&l[1], condition, &FR_ONE);
    lc_add_one(&l[2], otherwise);
    lc_sub_one(&l[2], v);
    cs_enforce(c, &l[0], &l[1], &l[2]);
    return v;
}

/* (1 - a) * (1 - b) = c, or (a) * (b) = c; c is a bit because a and b are. */
static boolean product_synth(cs *c, boolean a, boolean b, int negated, lc l[3])
{
    boolean out = {cs_alloc_bit(c), BOOL_IS};
    for (int i = 0; i < 3; i++)
        lc_reset(&l[i]);
    lc_add_boolean(&l[0], negated ? boolean_not(a) : a, &FR_ONE);
    lc_add_boolean(&l[1], negated ? boolean_not(b) : b, &FR_ONE);
    lc_add_one(&l[2], out.v);
    cs_enforce(c, &l[0], &l[1], &l[2]);
    return out;
}

static void lcs_init(lc l[3])
{
    for (int i = 0; i < 3; i++)
        lc_init(&l[i]);
}

static void lcs_clear(lc l[3])
{
    for (int i = 0; i < 3; i++)
        lc_clear(&l[i]);
}

void insert_synth(cs *c, var *out, var element, const boolean *index_bits, const var *siblings,
                  unsigned arity)
{
    unsigned count;
    const pick *plan = plan_of(arity, &count);
    boolean condition[5];
    var operand[T + MAX_PICKS];
    lc l[3];
    assert(arity == 2 || arity == 4 || arity == 8);
    lcs_init(l);
    for (unsigned i = 0; 1u << i < arity; i++)
        condition[i] = index_bits[i];
    if (arity == 8) {
        condition[NOR] = product_synth(c, index_bits[0], index_bits[1], 1, l);
        condition[AND] = product_synth(c, index_bits[0], index_bits[1], 0, l);
    }
    operand[A] = element;
    memcpy(&operand[B], siblings, (arity - 1) * sizeof *siblings);
    for (unsigned k = 0; k < count; k++) {
        const pick *p = &plan[k];
        operand[T + k] = pick_synth(c, condition[p->condition], operand[p->then], operand[p->otherwise], l);
        if (p->out != NO)
            out[p->out] = operand[T + k];
    }
    lcs_clear(l);
}

void insert_witness(wcursor *w, fr *out, const fr *element, unsigned position, const fr *siblings,
                    unsigned arity)
{
    unsigned count;
    const pick *plan = plan_of(arity, &count);
    const unsigned b0 = position & 1, b1 = position >> 1 & 1, b2 = position >> 2 & 1;
    const uint8_t condition[5] = {(uint8_t)b0, (uint8_t)b1, (uint8_t)b2, !(b0 | b1), b0 & b1};
    const fr *operand[T + MAX_PICKS];
    if (arity == 8)
        wcursor_bits(w, condition[NOR] | (uint64_t)condition[AND] << 1, 2);
    operand[A] = element;
    for (unsigned i = 0; i + 1 < arity; i++)
        operand[B + i] = &siblings[i];
    for (unsigned k = 0; k < count; k++) {
        const pick *p = &plan[k];
        operand[T + k] = operand[condition[p->condition] ? p->then : p->otherwise];
        wcursor_field(w, operand[T + k]);
        if (p->out != NO)
            out[p->out] = *operand[T + k];
    }
}

/* The top bit halves the candidates first; level by level each pair that differs in it becomes one. */
var select_synth(cs *c, const var *from, const boolean *bits, unsigned bit_count)
{
    var state[1u << SELECT_MAX_BITS];
    lc l[3];
    assert(bit_count <= SELECT_MAX_BITS);
    lcs_init(l);
    memcpy(state, from, sizeof(var) << bit_count);
    for (unsigned i = bit_count; i-- > 0;)
        for (unsigned j = 0; j < 1u << i; j++)
            state[j] = pick_synth(c, bits[i], state[(1u << i) + j], state[j], l);
    lcs_clear(l);
    return state[0];
}

void select_witness(wcursor *w, fr *out, const fr *from, uint64_t index, unsigned bit_count)
{
    for (unsigned i = bit_count; i-- > 0;) {
        const uint64_t high = index >> i << i;
        for (unsigned j = 0; j < 1u << i; j++)
            wcursor_field(w, &from[high + j]);
    }
    *out = from[index];
}
