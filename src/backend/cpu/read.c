/* Reading encoded queries: borrowed from memory, or copied by the view's reader. */
#include "backend/cpu/cpu.h"
#include <string.h>

cuzk_status query_reader_init(query_reader *r, const cuzk_query_view *view, size_t bytes, cuzk_error *err)
{
    *r = (query_reader){.view = view, .capacity = bytes};
    if (!view->read)
        return CUZK_OK;
    r->buffer = big_alloc(bytes);
    return r->buffer ? CUZK_OK : mem_error(err, bytes, "reading a query");
}

void query_reader_clear(query_reader *r)
{
    if (r->buffer)
        big_free(r->buffer, r->capacity);
    memset(r, 0, sizeof(*r));
}

cuzk_status query_reader_get(query_reader *r, const uint8_t **out, const uint8_t *src, size_t size,
                             cuzk_error *err)
{
    *out = src;
    if (!r->view->read || size == 0)
        return CUZK_OK;
    *out = r->buffer;
    return r->view->read(r->view->read_ctx, r->buffer, src, size, err);
}
