/* The public side of a PoSt: sector numbers and their comm_r, from a JSON file. */
#ifndef CLI_SECTORS_H
#define CLI_SECTORS_H
#include "filecoin/post.h"

/* A JSON array of {"sector_id": N, "comm_r": HEX}, or an object with such an array as "sectors". *out:
 * mem_free. */
cuzk_status sectors_read(const char *path, post_public_sector **out, size_t *count,
                         cuzk_error *err) CUZK_MUST_CHECK;
#endif
