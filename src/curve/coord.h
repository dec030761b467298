/* Decoding of coordinates, shared by the two groups. */
#ifndef CURVE_COORD_H
#define CURVE_COORD_H
#include "field/field.h"

/* 48 bytes big-endian; -1 if the value is not below p, which any of the three flag bits makes it. */
int fp_read(fp *r, const uint8_t in[48]);
extern const fp FP_ONE;
#endif
