/* The butterflies of a pass, with the field of fr_adx.h. */
#include "field/fr_adx.h"
#ifdef FR_ADX
#define el_mul       fr_mul_adx
#define el_add       fr_add_adx
#define el_sub       fr_sub_adx
#define LEVELS(name) name##_adx
#include "poly/ntt_levels_impl.h"
#endif
