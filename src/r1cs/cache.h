/* The cache file of a compiled circuit, version 1. All numbers little-endian; arrays are 64-byte aligned and
 * used in place once the file is mapped.
 *
 *   cache_header
 *   cache_segment[segments]
 *   dictionary: fr[dictionary_count], Montgomery form; entry 0 is 1, entry 1 is -1
 *   names: path_node[node_count], then the string table
 *   for each segment: row, col, coef of A, B and C; imports; kind; rank; path
 *
 * The digest is the SHA-256 of the whole file with the digest's own 32 bytes zero. */
#ifndef R1CS_CACHE_H
#define R1CS_CACHE_H
#include "r1cs/r1cs_internal.h"

#define CACHE_MAGIC   "cuzkr1cs"
#define CACHE_VERSION 1u
#define CACHE_ORDER   0x01020304u /* reads otherwise on a host of another byte order */
#define CACHE_ALIGN   64u

typedef struct cache_header {
    char magic[8];
    uint32_t version, order;
    uint64_t file_size;
    uint8_t sha256[32];
    char name[R1CS_NAME_MAX];
    r1cs_counts counts;
    uint64_t segments, dictionary_count, node_count, names_size;
    uint64_t segment_at, dictionary_at, node_at, names_at; /* offsets */
} cache_header;

typedef struct cache_segment {
    uint64_t first_row, rows, count;
    uint64_t aux_base, aux_stride, field_base, field_stride, input_base, input_stride;
    uint64_t import_count, path_count;
    uint64_t row_at[3], col_at[3], coef_at[3], imports_at, kind_at, rank_at, path_at;
    uint32_t repeat_node, repeated;
} cache_segment;

/* CUZK_OK if every offset, index and order in a mapped circuit is within its bounds (cache_check.c). */
cuzk_status cache_check(const r1cs *r, cuzk_error *err) CUZK_MUST_CHECK;
#endif
