/* An arena: many small blocks that are freed together. For vanilla proofs, whose parts share one lifetime. */
#ifndef FILECOIN_ARENA_H
#define FILECOIN_ARENA_H
#include <stddef.h>

typedef struct arena arena;
arena *arena_create(void); /* NULL: no memory */
/* 16-byte aligned, uninitialised; NULL: no memory, or more bytes in all than the limit. */
void *arena_alloc(arena *a, size_t bytes);
void arena_limit(arena *a, size_t bytes); /* default: none */
size_t arena_bytes(const arena *a);       /* held from the system */
void arena_destroy(arena *a);             /* NULL allowed */
#endif
