/* Blocks of growing size (64 KiB to 1 MiB) in a list; what fits no block gets one of its own. */
#include "filecoin/arena.h"
#include "base/mem.h"
#include <stdint.h>

typedef struct arena_block {
    struct arena_block *next;
    size_t size, used;
    _Alignas(16) uint8_t data[];
} arena_block;
struct arena {
    arena_block *first;
    size_t next_size, held, limit;
};

arena *arena_create(void)
{
    arena *a = mem_calloc(1, sizeof *a);
    if (a) {
        a->next_size = 64u << 10;
        a->limit = SIZE_MAX;
    }
    return a;
}

void arena_limit(arena *a, size_t bytes)
{
    a->limit = bytes;
}

void *arena_alloc(arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + 15) & ~(size_t)15;
    arena_block *b = a->first;
    if (!b || b->size - b->used < bytes) {
        size_t size = bytes > a->next_size ? bytes : a->next_size;
        if (size > a->limit || a->held > a->limit - size)
            return NULL;
        arena_block *fresh = mem_alloc(sizeof *fresh + size);
        if (!fresh)
            return NULL;
        fresh->size = size;
        fresh->used = 0;
        fresh->next = b;
        a->first = fresh;
        a->held += size;
        if (a->next_size < 1u << 20)
            a->next_size *= 2;
        b = fresh;
    }
    void *p = b->data + b->used;
    b->used += bytes;
    return p;
}

size_t arena_bytes(const arena *a)
{
    return a->held;
}

void arena_destroy(arena *a)
{
    if (!a)
        return;
    for (arena_block *b = a->first; b;) {
        arena_block *next = b->next;
        mem_free(b);
        b = next;
    }
    mem_free(a);
}
