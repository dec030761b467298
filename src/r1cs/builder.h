/* The builder's state, shared by builder.c (rows, wires, repeats), dictionary.c and names.c. */
#ifndef R1CS_BUILDER_H
#define R1CS_BUILDER_H
#include "r1cs/r1cs_internal.h"

typedef struct vec32 {
    uint32_t *p;
    size_t n, cap;
} vec32;

/* Distinct coefficients by open addressing; slot 0 is free, else index + 1. */
typedef struct dictionary {
    fr *value;
    size_t cap;
    uint32_t count;
    uint32_t *slot;
    uint32_t slots; /* power of two */
} dictionary;

typedef struct name_frame {
    const char *name;
    int64_t index;
    uint32_t node; /* PATH_NONE until a row is stated under it */
} name_frame;

typedef struct names {
    name_frame *frame;
    size_t depth, frame_cap;
    path_node *node;
    size_t node_count, node_cap;
    char *text;
    size_t text_size, text_cap;
    struct name_slot {
        const char *pointer;
        uint32_t offset;
    } * slot; /* literals already in the table, by address */
    size_t slots, used;
    int moved; /* a push or pop since the last row */
} names;

/* The segment under construction. */
typedef struct open_segment {
    uint64_t first_row, rows;
    uint64_t aux_base, field_base, input_base;
    vec32 row[3], col[3], coef[3];
    uint64_t *kind;
    size_t kind_cap;
    vec32 rank;
    path_change *path;
    size_t path_count, path_cap;
} open_segment;

struct cs {
    uint64_t aux, fields, rows; /* rows: of closed segments */
    uint64_t inputs;
    dictionary dict;
    names names;
    open_segment seg;
    int repeating;
    uint32_t import_count;
    r1cs *r; /* receives closed segments */
    size_t segment_cap;
    lc constant;        /* empty */
    cuzk_status status; /* first failure; everything after it is ignored */
    cuzk_error error;
};

/* Makes room for need elements of size bytes; 0 on failure. */
int vec_grow(void *array, size_t *cap, size_t need, size_t size);
static inline int vec32_push(vec32 *v, uint32_t x)
{
    if (v->n == v->cap && !vec_grow(&v->p, &v->cap, v->n + 1, sizeof(uint32_t)))
        return 0;
    v->p[v->n++] = x;
    return 1;
}

int dictionary_init(dictionary *d);
void dictionary_clear(dictionary *d);
/* Index of c, added if new; UINT32_MAX without memory. */
uint32_t dictionary_intern(dictionary *d, const fr *c);

void names_clear(names *n);
int names_push(names *n, const char *name, int64_t index);
void names_pop(names *n);
/* Node of the current path, made if necessary; 0 without memory. */
int names_node(names *n, uint32_t *node);

/* Non-zeros, densities and distinct coefficients of the finished circuit (map.c). */
cuzk_status r1cs_count(r1cs *r, dictionary *dict, cuzk_error *err) CUZK_MUST_CHECK;

void cs_init(cs *c, r1cs *r);
void cs_clear(cs *c);
void cs_fail(cs *c, cuzk_status status, const char *format, ...) CUZK_PRINTF(3, 4);
void cs_fail_memory(cs *c);
/* Ends the segment under construction as count repetitions and starts a plain one. */
void cs_close_segment(cs *c, uint64_t count, const var *imports, uint32_t import_count);
#endif
