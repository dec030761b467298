/* Work memory that is used again. Blocks given back wait for the next taker with whatever was in them,
 * instead of going to the system, which would clear every page anew: a sum of 2^18 points spends a tenth of
 * its time on that otherwise, and a proof of 130 million constraints seconds. Blocks are cut and joined, so
 * that what one step of a proof leaves serves the next whatever sizes that asks for. One owner (a pool),
 * several threads. */
#ifndef BASE_BLOCKS_H
#define BASE_BLOCKS_H
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCKS_MOST 1024

typedef struct block {
    void *at;
    size_t bytes;  /* in huge pages, those asked for rounded up */
    uint64_t used; /* order of use; 0: taken */
} block;

typedef struct blocks {
    pthread_mutex_t lock;
    block list[BLOCKS_MOST]; /* taken and waiting */
    size_t count;
    size_t limit, taken, waiting; /* bytes; none waits while taken + waiting would exceed the limit */
    uint64_t clock;
} blocks;

void blocks_init(blocks *b); /* limit 0: nothing is kept */
void blocks_destroy(blocks *b);
/* At least `bytes`, 64-byte aligned, not zeroed; NULL without memory. blocks_give takes the same size. */
void *blocks_take(blocks *b, size_t bytes);
void blocks_give(blocks *b, void *p, size_t bytes);
void blocks_raise_limit(blocks *b, size_t limit); /* to at least this */
void blocks_trim(blocks *b);                      /* all that waits goes back */
size_t blocks_waiting(blocks *b);
size_t blocks_taken(blocks *b);
#endif
