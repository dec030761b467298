/* What the files of src/curve share. */
#ifndef CURVE_CURVE_PRIVATE_H
#define CURVE_CURVE_PRIVATE_H
#include "curve/curve.h"

/* Decodes eight points of `parts` numbers each, 2 in G1, 4 in G2, to out, one after the other. 0, with out
 * spoilt, where one of them has a flag, a coordinate that is not below p, or zeros alone: these are for the
 * caller to look at one by one. Every number but the first is read with the 16 bytes before it, the first
 * with the 16 after it. */
int curve_decode8_ifma(fp *out, const uint8_t *const in[8], int parts);
#endif
