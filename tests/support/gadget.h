/* Small circuits for tests of gadgets: compile, fill wires, ask whether they satisfy. */
#ifndef SUPPORT_GADGET_H
#define SUPPORT_GADGET_H
#include "r1cs/r1cs.h"

typedef struct gadget {
    r1cs *r;
    r1cs_counts n;
    witness w;
} gadget;
/* Fails the test if the circuit does not compile. The witness is zeroed. */
void gadget_open(gadget *g, circuit_fn *synth, void *ctx);
void gadget_close(gadget *g);
int gadget_satisfied(const gadget *g);
/* Sets or reads a boolean wire. */
void gadget_set_bit(gadget *g, uint64_t aux, int value);
int gadget_bit(const gadget *g, uint64_t aux);
#endif
