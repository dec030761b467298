/* Reading encoded queries: borrowed from memory, or copied by the view's reader. */
#include "backend/cpu/cpu.h"
#include <string.h>
#include <sys/mman.h>

cuzk_status query_reader_init(query_reader *r, pool *p, const cuzk_query_view *view, size_t bytes,
                              cuzk_error *err)
{
    *r = (query_reader){.view = view, .capacity = bytes, .pool = p};
    if (!view->read)
        return CUZK_OK;
    r->buffer = pool_take(p, bytes);
    return r->buffer ? CUZK_OK : mem_error(err, bytes, "reading a query");
}

void query_reader_clear(query_reader *r)
{
    if (r->buffer)
        pool_give(r->pool, r->buffer, r->capacity);
    memset(r, 0, sizeof(*r));
}

uint64_t query_stream_piece(uint64_t count, unsigned least)
{
    uint64_t piece = (uint64_t)1 << least, most = (uint64_t)1 << 22;
    while (piece < most && piece < count / 16)
        piece *= 2;
    return piece;
}

/* Tells the system that a range of a mapped file will be read next; touches nothing, and may fail without
 * harm. */
static void announce(const uint8_t *src, size_t size)
{
    uintptr_t page = 4096, start = (uintptr_t)src & ~(page - 1);
    madvise((void *)start, (uintptr_t)src + size - start, MADV_WILLNEED);
}

cuzk_status query_reader_get(query_reader *r, const uint8_t **out, const uint8_t *src, size_t size,
                             cuzk_error *err)
{
    *out = src;
    if (!r->view->read || size == 0)
        return CUZK_OK;
    *out = r->buffer;
    cuzk_status s = r->view->read(r->view->read_ctx, r->buffer, src, size, err);
    if (s == CUZK_OK)
        announce(src + size, size);
    return s;
}
