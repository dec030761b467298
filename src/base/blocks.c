#include "base/blocks.h"
#include "base/mem.h"

#define LEAST ((size_t)1 << 18) /* smaller ones are the heap's, larger ones whole pages */

void blocks_init(blocks *b)
{
    *b = (blocks){0};
    pthread_mutex_init(&b->lock, NULL);
}

static void remove_at(blocks *b, size_t i)
{
    b->list[i] = b->list[--b->count];
}

/* Frees as much of what waits, what was not used for longest first, as lets `bytes` more fit the limit. */
static void make_room(blocks *b, size_t bytes)
{
    while (b->waiting && b->taken + b->waiting + bytes > b->limit) {
        size_t oldest = b->count, cut = big_whole_pages(b->taken + b->waiting + bytes - b->limit);
        for (size_t i = 0; i < b->count; i++)
            if (b->list[i].used && (oldest == b->count || b->list[i].used < b->list[oldest].used))
                oldest = i;
        block *c = &b->list[oldest];
        if (cut > c->bytes)
            cut = c->bytes;
        c->bytes -= cut;
        b->waiting -= cut;
        big_free((char *)c->at + c->bytes, cut);
        if (!c->bytes)
            remove_at(b, oldest);
    }
}

void blocks_destroy(blocks *b)
{
    b->limit = 0;
    make_room(b, 0);
    pthread_mutex_destroy(&b->lock);
}

/* The smallest waiting block that is large enough; what it has too much goes on waiting. */
static block *find_fit(blocks *b, size_t bytes)
{
    block *best = NULL;
    for (size_t i = 0; i < b->count; i++) {
        block *c = &b->list[i];
        if (c->used && c->bytes >= bytes && (!best || c->bytes < best->bytes))
            best = c;
    }
    if (best && best->bytes > bytes && b->count < BLOCKS_MOST) {
        b->list[b->count++] = (block){(char *)best->at + bytes, best->bytes - bytes, best->used};
        best->bytes = bytes;
    }
    return best;
}

/* Joins a waiting block with those that wait on either side of it. */
static void join(blocks *b, size_t at)
{
    for (size_t i = 0; i < b->count; i++) {
        block *c = &b->list[at], *d = &b->list[i];
        int before = (char *)d->at + d->bytes == (char *)c->at,
            after = (char *)c->at + c->bytes == (char *)d->at;
        if (!d->used || (!before && !after))
            continue;
        d->at = before ? d->at : c->at;
        d->bytes += c->bytes;
        d->used = c->used > d->used ? c->used : d->used;
        remove_at(b, at);
        at = i == b->count ? at : i; /* the last one took the place of the one removed */
        i = (size_t)-1;
    }
}

void *blocks_take(blocks *b, size_t bytes)
{
    if (bytes < LEAST || bytes > PTRDIFF_MAX)
        return big_alloc(bytes);
    bytes = big_whole_pages(bytes);
    pthread_mutex_lock(&b->lock);
    block *c = find_fit(b, bytes);
    void *p = NULL;
    if (c) {
        c->used = 0;
        b->waiting -= c->bytes;
        b->taken += c->bytes;
        p = c->at;
    } else {
        make_room(b, bytes);
        p = big_alloc(bytes);
        if (!p && b->waiting) { /* perhaps what waits is what is lacking */
            size_t limit = b->limit;
            b->limit = 0;
            make_room(b, bytes);
            b->limit = limit;
            p = big_alloc(bytes);
        }
        if (p && b->count < BLOCKS_MOST) {
            b->list[b->count++] = (block){p, bytes, 0};
            b->taken += bytes;
        }
    }
    pthread_mutex_unlock(&b->lock);
    return p;
}

void blocks_give(blocks *b, void *p, size_t bytes)
{
    if (!p)
        return;
    if (bytes < LEAST) {
        big_free(p, bytes);
        return;
    }
    pthread_mutex_lock(&b->lock);
    size_t i = 0;
    while (i < b->count && b->list[i].at != p)
        i++;
    if (i == b->count) { /* there was no place to note it */
        big_free(p, big_whole_pages(bytes));
    } else {
        block *c = &b->list[i];
        c->used = ++b->clock;
        b->taken -= c->bytes;
        b->waiting += c->bytes;
        join(b, i);
        make_room(b, 0);
    }
    pthread_mutex_unlock(&b->lock);
}

void blocks_raise_limit(blocks *b, size_t limit)
{
    pthread_mutex_lock(&b->lock);
    if (limit > b->limit)
        b->limit = limit;
    pthread_mutex_unlock(&b->lock);
}

void blocks_trim(blocks *b)
{
    pthread_mutex_lock(&b->lock);
    size_t limit = b->limit;
    b->limit = 0;
    make_room(b, 0);
    b->limit = limit;
    pthread_mutex_unlock(&b->lock);
}

size_t blocks_waiting(blocks *b)
{
    pthread_mutex_lock(&b->lock);
    size_t n = b->waiting;
    pthread_mutex_unlock(&b->lock);
    return n;
}

size_t blocks_taken(blocks *b)
{
    pthread_mutex_lock(&b->lock);
    size_t n = b->taken;
    pthread_mutex_unlock(&b->lock);
    return n;
}
