/* Feeds a C1 document to the parser: the JSON library's events in, base64 decoded in pieces for the wrapped
 * form, so that the inner 51 MB never exist in one piece. */
#include "base/encode.h"
#include "base/mem.h"
#include "filecoin/c1_parser.h"
#include <string.h>

void porep_c1_free(porep_c1 *c)
{
    if (!c)
        return;
    mem_free(c->challenge);
    arena_destroy(c->arena);
    mem_free(c);
}

#if CUZK_HAVE_YAJL
#include <yajl/yajl_parse.h>

/* The library does not look whether it got memory. So its blocks are kept in a list, and a failure leaves it
 * by a jump to read_text, which frees them all; nothing else is held by the frames that are jumped over. */
typedef struct block {
    struct block *previous, *next;
} block;

static void block_link(c1_parser *p, block *b)
{
    b->previous = NULL;
    b->next = p->blocks;
    if (b->next)
        b->next->previous = b;
    p->blocks = b;
}

static void block_unlink(c1_parser *p, block *b)
{
    if (b->previous)
        b->previous->next = b->next;
    else
        p->blocks = b->next;
    if (b->next)
        b->next->previous = b->previous;
}

static void *on_realloc(void *ctx, void *data, size_t bytes)
{
    c1_parser *p = ctx;
    block *old = data ? (block *)data - 1 : NULL;
    if (old)
        block_unlink(p, old);
    block *b = mem_realloc(old, sizeof *b + bytes);
    if (!b) {
        if (old)
            block_link(p, old);
        p->status = mem_error(p->err, bytes, "the JSON parser");
        longjmp(p->out_of_memory, 1);
    }
    block_link(p, b);
    return b + 1;
}

static void *on_malloc(void *ctx, size_t bytes)
{
    return on_realloc(ctx, NULL, bytes);
}

static void on_free(void *ctx, void *data)
{
    if (!data)
        return;
    block_unlink(ctx, (block *)data - 1);
    mem_free((block *)data - 1);
}

static int on_null(void *ctx)
{
    return c1_literal(ctx, "null");
}
static int on_boolean(void *ctx, int value)
{
    return c1_literal(ctx, value ? "true" : "false");
}
static int on_number(void *ctx, const char *text, size_t n)
{
    return c1_number(ctx, text, n);
}
static int on_string(void *ctx, const unsigned char *text, size_t n)
{
    return c1_string(ctx, (const char *)text, n);
}
static int on_key(void *ctx, const unsigned char *text, size_t n)
{
    return c1_key(ctx, (const char *)text, n);
}
static int on_start_map(void *ctx)
{
    return c1_begin_object(ctx);
}
static int on_end_map(void *ctx)
{
    return c1_end_object(ctx);
}
static int on_start_array(void *ctx)
{
    return c1_begin_array(ctx);
}
static int on_end_array(void *ctx)
{
    c1_parser *p = ctx;
    if (p->cancel && ++p->arrays % 256 == 0) {
        p->status = cancel_status(p->cancel, "reading the C1 document", p->err);
        if (p->status != CUZK_OK)
            return 0;
    }
    return c1_end_array(p);
}
static const yajl_callbacks CALLBACKS = {on_null,    on_boolean,     NULL,         NULL,
                                         on_number,  on_string,      on_start_map, on_key,
                                         on_end_map, on_start_array, on_end_array};

/* Feeds one piece; offset is where it stands in the text. text NULL: the end. */
static cuzk_status feed(c1_parser *p, yajl_handle h, const uint8_t *text, size_t n, uint64_t offset)
{
    yajl_status st = text ? yajl_parse(h, text, n) : yajl_complete_parse(h);
    if (p->status != CUZK_OK)
        return p->status;
    if (st == yajl_status_ok)
        return CUZK_OK;
    if (!text) {
        if (!offset)
            c1_fail(p, CUZK_BAD_INPUT, "it is empty");
        else
            c1_fail(p, CUZK_BAD_INPUT, "the text is cut short here, at byte %llu",
                    (unsigned long long)offset);
        return p->status;
    }
    unsigned char *why = yajl_get_error(h, 0, text, n);
    size_t k = why ? strcspn((const char *)why, "\n") : 0;
    c1_fail(p, CUZK_BAD_INPUT, "not JSON at byte %llu: %.*s",
            (unsigned long long)(offset + yajl_get_bytes_consumed(h)), (int)k, why ? (const char *)why : "");
    if (why)
        yajl_free_error(h, why);
    return p->status;
}

static yajl_handle handle_create(c1_parser *p)
{
    yajl_alloc_funcs functions = {on_malloc, on_realloc, on_free, p};
    yajl_handle h = yajl_alloc(&CALLBACKS, &functions, p);
    yajl_config(h, yajl_dont_validate_strings, 1);
    return h;
}

/* Characters of base64 decoded at a time: a multiple of four that stays in cache. */
#define PIECE (64u << 10)

static void unwrap_pieces(c1_parser *p, yajl_handle h, uint8_t *buffer, const char *text, size_t n)
{
    uint64_t offset = 0;
    if (n % 4) {
        c1_fail(p, CUZK_BAD_INPUT, "bad base64: %zu characters are not a multiple of 4 (cut short?)", n);
        return;
    }
    for (size_t at = 0; at < n; at += PIECE) {
        size_t k = n - at < PIECE ? n - at : PIECE, bad = 0;
        ptrdiff_t got = base64_decode(buffer, text + at, k, &bad);
        if (got < 0 || (at + k < n && text[at + k - 1] == '=')) {
            c1_fail(p, CUZK_BAD_INPUT, "bad base64 at character %zu", at + (got < 0 ? bad : k - 1));
            return;
        }
        if (feed(p, h, buffer, (size_t)got, offset) != CUZK_OK)
            return;
        offset += (uint64_t)got;
    }
    feed(p, h, NULL, 0, offset);
}

/* Reads the inner document with the same parser, whose frame is set aside meanwhile. */
static int unwrap(c1_parser *p, const char *text, size_t n)
{
    c1_frame outer = p->frame[0]; /* a wrapped document stands at depth 1 */
    uint8_t *buffer = on_malloc(p, PIECE / 4 * 3);
    yajl_handle h = handle_create(p);
    p->wrapped = 1;
    p->depth = 0;
    unwrap_pieces(p, h, buffer, text, n);
    p->wrapped = 0;
    p->depth = 1;
    p->frame[0] = outer;
    yajl_free(h);
    on_free(p, buffer);
    return p->status == CUZK_OK;
}

static cuzk_status read_text(c1_parser *p, const uint8_t *text, size_t size)
{
    if (!setjmp(p->out_of_memory)) {
        yajl_handle h = handle_create(p);
        if (feed(p, h, text, size, 0) == CUZK_OK)
            feed(p, h, NULL, 0, size);
        yajl_free(h);
    }
    while (p->blocks) {
        block *b = p->blocks;
        block_unlink(p, b);
        mem_free(b);
    }
    return p->status;
}

cuzk_status porep_c1_parse_until(porep_c1 **out, const uint8_t *text, size_t size, const cancel_token *cancel,
                                 cuzk_error *err)
{
    *out = NULL;
    c1_parser *p = mem_calloc(1, sizeof *p);
    porep_c1 *c = mem_calloc(1, sizeof *c);
    arena *a = arena_create();
    cuzk_status st;
    if (!p || !c || !a) {
        st = mem_error(err, sizeof *p, "a C1 document");
        goto exit;
    }
    p->c1 = c;
    p->arena = a;
    p->err = err;
    p->cancel = cancel;
    p->unwrap = unwrap;
    st = read_text(p, text, size);
    if (st == CUZK_OK)
        st = c1_finish(p);
    if (st != CUZK_OK)
        goto exit;
    c->arena = a;
    c->bytes = sizeof *c + p->capacity * sizeof *c->challenge + arena_bytes(a);
    a = NULL;
    *out = c;
    c = NULL;
exit:
    arena_destroy(a);
    porep_c1_free(c);
    mem_free(p);
    return st;
}
#else
cuzk_status porep_c1_parse_until(porep_c1 **out, const uint8_t *text, size_t size, const cancel_token *cancel,
                                 cuzk_error *err)
{
    (void)text, (void)size, (void)cancel;
    *out = NULL;
    return cuzk_error_set(
        err, CUZK_UNSUPPORTED,
        "C1 documents cannot be read: this build has no libyajl (install libyajl-dev and build again)");
}
#endif

cuzk_status porep_c1_parse(porep_c1 **out, const uint8_t *text, size_t size, cuzk_error *err)
{
    return porep_c1_parse_until(out, text, size, NULL, err);
}
