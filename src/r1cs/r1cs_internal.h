/* The compiled circuit from inside: what builder, cache file, digests, products and checks share. */
#ifndef R1CS_INTERNAL_H
#define R1CS_INTERNAL_H
#include "r1cs/r1cs.h"
#include <pthread.h>
#include <stdatomic.h>

#define COL_GLOBAL 0u
#define COL_LOCAL  (1u << 30)
#define COL_INPUT  (2u << 30)
#define COL_IMPORT (3u << 30)
#define COL_LIMIT  (1u << 29) /* first index that a column cannot hold */

/* Stands for import k inside a repeat's body: no input has so high a number. */
#define VAR_IMPORT 0x40000000u

#define R1CS_NAME_MAX 64 /* of a circuit, the final 0 included */
#define PATH_NONE     UINT32_MAX

/* A node of the tree of names: one cs_push. */
typedef struct path_node {
    uint32_t parent; /* PATH_NONE at the top */
    uint32_t name;   /* offset in the string table */
    int64_t index;   /* < 0: none */
} path_node;

/* From row on (within its segment), rows lie under node. */
typedef struct path_change {
    uint32_t row, node;
} path_change;

/* What a segment has beside the rows: kinds of the wires that one repetition allocates, and names. */
typedef struct r1cs_part {
    uint64_t *kind; /* one bit per wire, 1 = field; ceil(aux_stride / 64) words */
    uint32_t *rank; /* field wires before each word; one more entry than words, the last the total */
    path_change *path;
    uint64_t path_count;
    uint32_t repeat_node; /* node that bears the number of the repetition, or PATH_NONE */
    uint32_t repeated;    /* 1: made by cs_repeat */
} r1cs_part;

struct r1cs {
    char name[R1CS_NAME_MAX];
    r1cs_counts counts;
    size_t segments;
    r1cs_segment *segment;
    r1cs_part *part;
    uint32_t dictionary_count;
    fr *dictionary;
    path_node *node;
    uint32_t node_count;
    char *names; /* string table */
    uint32_t names_size;
    file_map map; /* the cache file; its bytes hold all arrays when mapped is set */
    int mapped;

    /* Made on first use, published under the lock. */
    pthread_mutex_t lock;
    _Atomic(uint64_t *) field_map, a_density, b_density, b_input_density;
    _Atomic(uint8_t *) canonical; /* dictionary_count * 32 bytes */
};

static inline const cuzk_matrix *segment_matrix(const r1cs_segment *s, int which)
{
    return which == 0 ? &s->a : which == 1 ? &s->b : &s->c;
}
static inline size_t words_for(uint64_t bits)
{
    return (size_t)((bits + 63) / 64);
}

/* An empty circuit of this name. */
cuzk_status r1cs_new(r1cs **out, const char *name, cuzk_error *err) CUZK_MUST_CHECK;

/* ---- wires (map.c) ---- */
/* The segment that allocates aux wire index; it must exist. */
size_t r1cs_segment_of_aux(const r1cs *r, uint64_t index);
/* 1 and its rank if aux wire index is a field element, else 0 (rank untouched). */
int r1cs_wire_rank(const r1cs *r, uint64_t index, uint64_t *rank);
/* The aux index of a field wire. */
uint64_t r1cs_wire_select(const r1cs *r, uint64_t rank);
/* Index within the repetition of its field wire number rank. */
uint64_t part_select(const r1cs_part *p, uint64_t words, uint64_t rank);
/* Makes the maps that are missing; safe from several threads. */
cuzk_status r1cs_make_maps(const r1cs *r, cuzk_error *err) CUZK_MUST_CHECK;

/* Columns of a segment as vars. */
typedef struct col_resolver {
    const r1cs *r;
    const r1cs_segment *s;
    uint32_t *field_aux; /* index within the repetition of each of its field wires */
    size_t field_aux_bytes;
} col_resolver;
cuzk_status col_resolver_init(col_resolver *c, const r1cs *r, size_t segment,
                              cuzk_error *err) CUZK_MUST_CHECK;
void col_resolver_clear(col_resolver *c);
var col_resolve(const col_resolver *c, uint64_t repetition, uint32_t col);

/* Row of a segment's matrix in one repetition as terms: imports resolved, ascending, merged, zeros dropped. l
 * is replaced. */
void row_terms(lc *l, const col_resolver *c, const cuzk_matrix *m, uint64_t repetition, uint64_t row);
/* 1 if the row mentions imports, so that its terms differ in order from the stored ones. */
static inline int row_has_imports(const cuzk_matrix *m, uint64_t row)
{
    for (uint32_t k = m->row[row]; k < m->row[row + 1]; k++)
        if (m->col[k] >= COL_IMPORT)
            return 1;
    return 0;
}

/* Segment and place of a row. */
typedef struct row_place {
    size_t segment;
    uint64_t repetition, row;
} row_place;
row_place r1cs_find_row(const r1cs *r, uint64_t row);

/* 32 canonical bytes for every entry of the dictionary; NULL without memory. */
const uint8_t *r1cs_canonical(const r1cs *r);

/* Row of encoded terms (digest and circom): u32 count, then u32 column and 32 bytes each. */
#define ENCODED_TERM 36u
#endif
