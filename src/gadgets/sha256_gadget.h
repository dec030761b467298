/* SHA-256 in a circuit: rows as bellpepper's sha256 gadget states them, and the witness written word by word from the
 * hash's own state. */
#ifndef GADGETS_SHA256_GADGET_H
#define GADGETS_SHA256_GADGET_H
#include "gadgets/boolean.h"

/* A 32-bit word, bits least significant first, as UInt32. */
typedef struct uint32_gadget {
    boolean bit[32];
} uint32_gadget;
/* bits: n of them, a multiple of 8, the most significant of each byte first (big-endian input); out likewise. Padding
 * is constant. */
void sha256_synth(cs *c, const boolean *bits, size_t n, boolean out[256]);
/* The same wires' values: data is the message (n / 8 bytes); constant, where not NULL, has 1 bits at message bits that
 * are constants of the circuit (same byte order), which allocate less. digest receives the hash. */
void sha256_witness(wcursor *w, const uint8_t *data, size_t bytes, const uint8_t *constant, uint8_t digest[32]);
#endif
