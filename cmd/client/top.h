/* cuzk top: the picture (top_view.c), and the terminal on which it is drawn again and again (cmd_top.c). */
#ifndef CLIENT_TOP_H
#define CLIENT_TOP_H
#include "proving.pb-c.h"
#include <stddef.h>
#include <stdint.h>

#define TOP_HISTORY 600 /* answers kept for the rate: ten minutes at the usual interval */
#define TOP_JOBS    200 /* jobs asked for */

typedef struct view {
    int terminal; /* drawn in place and cut to the window; else printed whole */
    int rows, columns, line;
    uint64_t at_ns[TOP_HISTORY], completed[TOP_HISTORY];
    size_t seen;
} view;

/* Takes an answer into the history from which the rate comes. */
void top_count(view *v, const Cuzk__V1__GetStatusResponse *r, uint64_t now_ns);
void top_show(view *v, const Cuzk__V1__GetStatusResponse *r, const char *address);
/* One line of the screen: cut at the width, the rest of the line cleared, nothing that would steer a
 * terminal. */
void top_line(view *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
#endif
