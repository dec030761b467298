#include "base/blocks.h"
#include "base/mem.h"

#define LEAST ((size_t)1 << 20) /* smaller ones are the heap's */

void blocks_init(blocks *b)
{
    *b = (blocks){0};
    pthread_mutex_init(&b->lock, NULL);
}

static void remove_at(blocks *b, size_t i)
{
    b->list[i] = b->list[--b->count];
}

/* Frees waiting blocks, those not used for longest first, until `bytes` more fit the limit. */
static void make_room(blocks *b, size_t bytes)
{
    while (b->waiting && (b->taken + bytes > b->limit || b->waiting > b->limit - b->taken - bytes)) {
        size_t oldest = b->count;
        for (size_t i = 0; i < b->count; i++)
            if (b->list[i].used && (oldest == b->count || b->list[i].used < b->list[oldest].used))
                oldest = i;
        b->waiting -= b->list[oldest].bytes;
        big_free(b->list[oldest].at, b->list[oldest].bytes);
        remove_at(b, oldest);
    }
}

void blocks_destroy(blocks *b)
{
    b->limit = 0;
    make_room(b, 0);
    pthread_mutex_destroy(&b->lock);
}

/* The smallest waiting block that is not more than twice as large. */
static block *find_fit(blocks *b, size_t bytes)
{
    block *best = NULL;
    for (size_t i = 0; i < b->count; i++) {
        block *c = &b->list[i];
        if (c->used && c->bytes >= bytes && c->bytes <= 2 * bytes && (!best || c->bytes < best->bytes))
            best = c;
    }
    return best;
}

void *blocks_take(blocks *b, size_t bytes)
{
    if (bytes < LEAST)
        return big_alloc(bytes);
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
        big_free(p, bytes);
    } else {
        block *c = &b->list[i];
        c->used = ++b->clock;
        b->taken -= c->bytes;
        b->waiting += c->bytes;
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
