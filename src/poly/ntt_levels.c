/* The butterflies of a pass, with blst's field. */
#define el_mul       fr_mul
#define el_add       fr_add
#define el_sub       fr_sub
#define LEVELS(name) name##_portable
#include "poly/ntt_levels_impl.h"
