/* Booleans of a circuit as bellperson's Boolean: a constant, an allocated bit, or its negation (which costs
 * nothing). Order of wires and rows in every gadget follows bellpepper-core 0.2 and filecoin's gadgets
 * exactly: the golden digests decide. Every gadget that allocates has a witness twin that writes the same
 * wires in the same order; those of one bit are left to the caller (one call of wcursor_bits). */
#ifndef GADGETS_BOOLEAN_H
#define GADGETS_BOOLEAN_H
#include "r1cs/r1cs.h"

typedef enum boolean_kind { BOOL_FALSE, BOOL_TRUE, BOOL_IS, BOOL_NOT } boolean_kind;
typedef struct boolean {
    var v; /* for BOOL_IS and BOOL_NOT */
    uint8_t kind;
} boolean;
#define FR_BITS     255 /* bits of the modulus */
#define FR_CAPACITY 254 /* bits that always fit */

boolean boolean_constant(int value);
boolean boolean_of(var bit); /* an allocated bit as it is */
boolean boolean_not(boolean b);
static inline int boolean_is_constant(boolean b)
{
    return b.kind <= BOOL_TRUE;
}
/* Allocates a bit and its boolean constraint (1 - a) * a = 0. */
boolean boolean_alloc(cs *c);
/* The same, and the bit is 0 unless must_be_false is: (1 - must_be_false - a) * a = 0. */
boolean boolean_alloc_conditionally(cs *c, var must_be_false);
/* Constants fold and negations pass through: a wire is allocated only where both operands are wires. Its
 * value: for boolean_and that of the result; for boolean_xor the exclusive or of the operands' wires (the
 * negations move to the result). */
boolean boolean_xor(cs *c, boolean a, boolean b);
boolean boolean_and(cs *c, boolean a, boolean b);
boolean boolean_or(cs *c, boolean a, boolean b);
/* (a and b) xor (not a and c). */
boolean boolean_ch(cs *c, boolean a, boolean b, boolean d);
/* (a and b) xor (a and c) xor (b and c). */
boolean boolean_maj(cs *c, boolean a, boolean b, boolean d);
/* Row (nothing) * (nothing) = a - b. Two different constants cannot be made equal: the row states 0 = 1 or 0
 * = -1, which no witness satisfies. */
void boolean_enforce_equal(cs *c, boolean a, boolean b);
/* l += coefficient * b */
void lc_add_boolean(lc *l, boolean b, const fr *coefficient);
/* l += 2^0 b0 + 2^1 b1 + ... */
void lc_add_packed(lc *l, const boolean *bits, size_t n);

/* n fresh bits (u64_into_boolean_vec_le, field_into_boolean_vec_le, UInt64::alloc ...): each with its
 * constraint. */
void boolean_alloc_many(cs *c, boolean *out, size_t n);
/* Packs bits into public inputs, Fr capacity (254) a piece, as bellpepper's multipack::pack_into_inputs. The
 * inputs' values are set by whoever fills the witness. */
void pack_into_inputs(cs *c, const boolean *bits, size_t n);
/* One field wire from at most 254 bits (multipack::pack_bits). */
var pack_bits(cs *c, const boolean *bits, size_t n);
/* The allocated number's 255 bits, least significant first, as AllocatedNum::to_bits_le (not strict): 255
 * boolean wires and one packing row. field_into_boolean_vec_le is boolean_alloc_many(c, out, 255). */
void num_to_bits_le(cs *c, var num, boolean out[255]);
/* bytes: the value, 32 bytes little-endian, canonical. */
void num_to_bits_le_witness(wcursor *w, const uint8_t bytes[32]);
/* to_bits_le_strict: the bits are those of the canonical value; wires of the comparison with r - 1 lie
 * between them. */
void num_to_bits_le_strict(cs *c, var num, boolean out[255]);
void num_to_bits_le_strict_witness(wcursor *w, const uint8_t bytes[32]);
/* Filecoin's reverse_bit_numbering: pads to whole bytes with constant zeros and turns the bits of each byte
 * around, so that little-endian bits become what SHA-256 reads. out: 8 * ceil(n / 8); returns that number.
 * out must not be in. */
size_t reverse_bit_numbering(boolean *out, const boolean *in, size_t n);
#endif
