/* Booleans of a circuit as bellperson's Boolean: a constant, an allocated bit, or its negation (which costs nothing).
 * Order of wires and rows in every gadget follows bellpepper-core 0.2 and filecoin's gadgets exactly: the golden digests
 * decide. */
#ifndef GADGETS_BOOLEAN_H
#define GADGETS_BOOLEAN_H
#include "r1cs/r1cs.h"

typedef enum boolean_kind { BOOL_FALSE, BOOL_TRUE, BOOL_IS, BOOL_NOT } boolean_kind;
typedef struct boolean {
    var v; /* for BOOL_IS and BOOL_NOT */
    uint8_t kind;
} boolean;
boolean boolean_constant(int value);
boolean boolean_not(boolean b);
/* Allocates a bit and its boolean constraint (1 - a) * a = 0. */
boolean boolean_alloc(cs *c);
boolean boolean_xor(cs *c, boolean a, boolean b);
boolean boolean_and(cs *c, boolean a, boolean b);
void boolean_enforce_equal(cs *c, boolean a, boolean b);
/* l += coefficient * b */
void lc_add_boolean(lc *l, boolean b, const fr *coefficient);
/* Packs bits into public inputs, Fr capacity (254) a piece, as bellpepper's multipack::pack_into_inputs. */
void pack_into_inputs(cs *c, const boolean *bits, size_t n);
/* One field wire from at most 254 bits (multipack::pack_bits). */
var pack_bits(cs *c, const boolean *bits, size_t n);
/* The allocated number's 255 bits, least significant first, as AllocatedNum::to_bits_le (not strict): 255 boolean wires
 * and one packing row. field_into_boolean_vec_le and the strict form are separate. */
void num_to_bits_le(cs *c, var num, boolean out[255]);
void num_to_bits_le_strict(cs *c, var num, boolean out[255]);
#endif
