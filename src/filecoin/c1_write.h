/* Writes a C1 document, compact and in the order of members that the sealing library writes. */
#ifndef FILECOIN_C1_WRITE_H
#define FILECOIN_C1_WRITE_H
#include "filecoin/porep.h"

typedef void c1_sink(void *ctx, const void *data, size_t bytes);
/* wrapped: the outer document around the base64 of the inner one, with c's sector number; else the inner one
 * alone. The text is handed out in pieces; a sink remembers its own failures. */
void porep_c1_write(const porep_c1 *c, int wrapped, c1_sink *sink, void *ctx);
#endif
