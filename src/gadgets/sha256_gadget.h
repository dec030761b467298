/* SHA-256 in a circuit: rows as bellpepper's sha256 gadget states them, and the witness written word by word
 * from the hash's own state. */
#ifndef GADGETS_SHA256_GADGET_H
#define GADGETS_SHA256_GADGET_H
#include "gadgets/boolean.h"

/* bits: n of them, a multiple of 8, the most significant of each byte first (big-endian input); out likewise.
 * Padding is constant. */
void sha256_synth(cs *c, const boolean *bits, size_t n, boolean out[256]);
/* The same wires' values: data is the message (n / 8 bytes); constant, where not NULL, has 1 bits at message
 * bits that are constants of the circuit (same byte order), which allocate less; no message bit may be a
 * negated wire. digest receives the hash. */
void sha256_witness(wcursor *w, const uint8_t *data, size_t bytes, const uint8_t *constant,
                    uint8_t digest[32]);

/* Sha256Function::hash_circuit: the digest's first 254 bits, little-endian, as one field wire. */
var sha256_num_synth(cs *c, const boolean *bits, size_t n);
void sha256_num_witness(wcursor *w, const uint8_t *data, size_t bytes, const uint8_t *constant, fr *out);
#endif
