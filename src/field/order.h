/* Orders of long vectors of field elements in memory: the usual one, and the one that passes over columns of
 * a matrix like (poly/transform_ifma.h): of a vector that is a matrix of 2^row_log rows and 2^column_log
 * columns, row by row, eight columns after the other, each with its rows in order, eight elements of each. */
#ifndef FIELD_ORDER_H
#define FIELD_ORDER_H
#include <stddef.h>

typedef struct fr_order {
    unsigned row_log, column_log; /* column_log at least 3; { 0, 3 } is the usual order */
} fr_order;
#define FR_USUAL_ORDER ((fr_order){0, 3})

/* Where element i lies. Eight elements from a multiple of eight on are neighbours in every order. */
static inline size_t fr_place(const fr_order *o, size_t i)
{
    size_t column = i & (((size_t)1 << o->column_log) - 1);
    return (column >> 3) << (o->row_log + 3) | (i >> o->column_log) << 3 | (i & 7);
}
#endif
