/* Merkle trees of sectors that nobody sealed. Private to the synthetic inputs.
 *
 * A sparse tree knows some leaves; every node outside their paths is drawn from a key, so that a tree of 2^31
 * leaves costs as much as the paths in it. A table tree holds every leaf, but few different ones: they repeat
 * with a period, or each fills a block of the sector. */
#ifndef FILECOIN_SYNTH_TREE_H
#define FILECOIN_SYNTH_TREE_H
#include "base/pool.h"
#include "filecoin/arena.h"
#include "gadgets/merkle.h"

/* 32 bytes below 2^254 that depend on the key and on three numbers alone. */
void synth_draw(uint8_t out[32], const uint8_t key[32], uint32_t tag, uint32_t level, uint64_t index);

typedef struct synth_sparse synth_sparse;
/* n >= 1 leaves: numbers ascending, no two alike; values of 32 bytes, below r in Poseidon trees. */
cuzk_status synth_sparse_create(synth_sparse **out, const merkle_shape *s, const uint8_t key[32],
                                uint32_t tag, const uint64_t *index, const uint8_t *value, size_t n,
                                const poseidon_set *ps, pool *p, cuzk_error *err) CUZK_MUST_CHECK;
void synth_sparse_destroy(synth_sparse *t);
const uint8_t *synth_sparse_root(const synth_sparse *t);
/* The proof of one of the known leaves; siblings in the arena. -1: no memory. */
int synth_sparse_proof(const synth_sparse *t, merkle_proof *out, uint64_t index, arena *a);

typedef struct synth_table synth_table;
typedef enum synth_order { SYNTH_PERIODIC, SYNTH_BLOCKED } synth_order;
/* count: a power of two, at most the number of leaves. Periodic: leaf i is value[i % count]; blocked: leaf i
 * is value[i / (leaves / count)]. */
cuzk_status synth_table_create(synth_table **out, const merkle_shape *s, synth_order order,
                               const uint8_t *value, size_t count, const poseidon_set *ps, pool *p,
                               cuzk_error *err) CUZK_MUST_CHECK;
void synth_table_destroy(synth_table *t);
const uint8_t *synth_table_root(const synth_table *t);
/* Node index of a level; level 0 holds the leaves. */
const uint8_t *synth_table_node(const synth_table *t, uint32_t level, uint64_t index);
int synth_table_proof(const synth_table *t, merkle_proof *out, uint64_t index, arena *a);
#endif
