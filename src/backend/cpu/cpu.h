/* The CPU back end: the oracle of every other one. Private to src/backend/cpu.
 *
 * A proof is: a = A w and b = B w (src/r1cs), the quotient (src/poly), and a sum over each query. A query
 * holds a point for every wire that its density names; walk.c splits the witness into what a query's sum
 * needs: a bitmap of the points to be added as they are, and a list of (position, scalar) for the wide
 * values. sum_impl.h adds them up, from points kept decoded or streamed from the file. */
#ifndef BACKEND_CPU_CPU_H
#define BACKEND_CPU_CPU_H
#include "backend/cancel.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/pool.h"
#include "curve/curve.h"
#include "cuzk/backend.h"
#include "msm/msm.h"
#include "poly/poly.h"

struct cuzk_device {
    pool *pool;
    cuzk_device_options options;
};

/* One query of a key. points is NULL while the query is streamed. */
typedef struct cpu_query {
    const char *name;
    const uint8_t *encoded;
    uint64_t count;
    int keep;     /* decoded when a second proof shows that it pays */
    void *points; /* g1_affine or g2_affine */
} cpu_query;

enum { QUERY_H, QUERY_L, QUERY_A, QUERY_B_G1, QUERY_B_G2, QUERY_COUNT };

struct cuzk_device_key {
    cuzk_device *device;
    cuzk_circuit_view circuit;
    cuzk_query_view view;
    cpu_query query[QUERY_COUNT];
    domain *domain;
    uint64_t bytes;  /* as planned */
    uint64_t proofs; /* made so far */
};

struct cuzk_device_job {
    cuzk_sums sums;
    cuzk_device_times times;
};

/* What an operation looks at to stop early. */
typedef struct cpu_stop {
    cuzk_cancel_fn *fn;
    void *ctx;
    const cancel_token *token; /* where fn is cancel_token_poll */
} cpu_stop;
cpu_stop cpu_stop_make(cuzk_cancel_fn *fn, void *ctx);
cuzk_status cpu_stop_check(const cpu_stop *stop, cuzk_error *err); /* CUZK_CANCELLED or CUZK_DEADLINE */

/* ---- prove.c ---- */
/* a = A w, b = B w, rows 0 .. constraints - 1, in the given order. */
cuzk_status cpu_multiply(const cuzk_circuit_view *c, const cuzk_witness_view *w, fr *a, fr *b, fr_order order,
                         pool *p, cuzk_error *err) CUZK_MUST_CHECK;

/* ---- walk.c ---- */
/* Which wires have a point in a query. Inputs come first; input_density or density NULL means all. */
typedef struct query_shape {
    uint64_t inputs; /* 0 where the query holds no inputs at all */
    const uint64_t *input_density;
    uint64_t aux;
    const uint64_t *density;
} query_shape;
uint64_t query_shape_count(const query_shape *s);
/* A walk over a query's points in order, a piece at a time. */
typedef struct query_walk {
    const query_shape *shape;
    const cuzk_witness_view *w;
    const uint64_t *field_map;
    uint64_t input_word, aux_word; /* next 64 wires */
    uint64_t field_rank;           /* field wires before aux_word */
    uint64_t first;                /* number of the piece's first point */
} query_walk;
typedef struct query_piece {
    uint64_t first, count; /* points first .. first + count - 1 */
    uint64_t *bits;        /* point first + i is added as it is */
    uint64_t set;          /* bits set */
    uint32_t *position;    /* wide terms: point first + position[i] times value[i] */
    const cuzk_fr **value;
    uint64_t wide;
    uint64_t capacity; /* of points; a multiple of 64, at least 128 */
    pool *pool;        /* lends the memory */
} query_piece;
cuzk_status query_piece_init(query_piece *q, pool *p, uint64_t capacity, cuzk_error *err) CUZK_MUST_CHECK;
void query_piece_clear(query_piece *q);
void query_walk_init(query_walk *k, const query_shape *shape, const cuzk_witness_view *w,
                     const uint64_t *field_map);
/* Fills the next piece; 0 when there is none. */
int query_walk_next(query_walk *k, query_piece *q);

/* ---- read.c ---- */
/* Points of a streamed query that are read and added up at a time: 2^least, or a sixteenth of a large query
 * up to 2^22. Larger pieces cost memory, smaller ones time: a sum of few points spends more on its buckets.
 */
uint64_t query_stream_piece(uint64_t count, unsigned least);
/* Pieces of an encoded query, read by the view's reader or borrowed from memory. */
typedef struct query_reader {
    const cuzk_query_view *view;
    uint8_t *buffer;
    size_t capacity;
    pool *pool;
} query_reader;
cuzk_status query_reader_init(query_reader *r, pool *p, const cuzk_query_view *view, size_t bytes,
                              cuzk_error *err) CUZK_MUST_CHECK;
void query_reader_clear(query_reader *r);
/* *out: size bytes (at most the capacity) that stand at src; valid until the next call. */
cuzk_status query_reader_get(query_reader *r, const uint8_t **out, const uint8_t *src, size_t size,
                             cuzk_error *err);

/* ---- sum_g1.c, sum_g2.c ---- */
/* Sum over a query of the walk's terms, one result for each of the count witnesses. */
cuzk_status cpu_sum_g1(cuzk_g1_affine *out, size_t stride, const cuzk_device_key *key, int query,
                       const query_shape *shape, const cuzk_witness_view *w, uint32_t count,
                       const cpu_stop *stop, cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status cpu_sum_g2(cuzk_g2_affine *out, size_t stride, const cuzk_device_key *key, int query,
                       const query_shape *shape, const cuzk_witness_view *w, uint32_t count,
                       const cpu_stop *stop, cuzk_error *err) CUZK_MUST_CHECK;
/* Sum of k[i] * h[i] over the whole H query. */
cuzk_status cpu_sum_h(cuzk_g1_affine *out, const cuzk_device_key *key, const scalar *k, const cpu_stop *stop,
                      cuzk_error *err) CUZK_MUST_CHECK;
/* Decodes a whole query into points; the error names the point. */
cuzk_status cpu_decode_g1(g1_affine *out, const cuzk_device_key *key, int query, const cpu_stop *stop,
                          cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status cpu_decode_g2(g2_affine *out, const cuzk_device_key *key, int query, const cpu_stop *stop,
                          cuzk_error *err) CUZK_MUST_CHECK;

/* Checks every point of a query: form, curve, subgroup. */
cuzk_status cpu_check_g1(const cuzk_device_key *key, int query, cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status cpu_check_g2(const cuzk_device_key *key, int query, cuzk_error *err) CUZK_MUST_CHECK;

/* ---- key.c ---- */
/* Decodes the queries that the plan keeps and that are not there yet. */
cuzk_status cpu_key_decode(cuzk_device_key *key, const cpu_stop *stop, cuzk_error *err) CUZK_MUST_CHECK;

/* ---- key.c, prove.c, ops.c: the table's functions ---- */
cuzk_status cpu_key_load(cuzk_device *device, cuzk_device_key **out, const cuzk_circuit_view *circuit,
                         const cuzk_query_view *queries, char *plan, size_t plan_size, cuzk_error *err);
void cpu_key_unload(cuzk_device_key *key);
uint64_t cpu_key_bytes(const cuzk_device_key *key);
cuzk_status cpu_prove_start(cuzk_device_key *key, cuzk_device_job **out, const cuzk_witness_view *witness,
                            cuzk_cancel_fn *cancel, void *cancel_ctx, cuzk_error *err);
cuzk_status cpu_prove_finish(cuzk_device_job *job, cuzk_sums *sums, cuzk_device_times *times,
                             cuzk_error *err);
cuzk_status cpu_prove_batch(cuzk_device_key *key, const cuzk_witness_view *witnesses, uint32_t count,
                            cuzk_sums *sums, cuzk_device_times *times, cuzk_cancel_fn *cancel,
                            void *cancel_ctx, cuzk_error *err);
cuzk_status cpu_op_fr(cuzk_device *device, cuzk_field_op op, cuzk_fr *r, const cuzk_fr *a, const cuzk_fr *b,
                      size_t n, cuzk_error *err);
cuzk_status cpu_op_fp(cuzk_device *device, cuzk_field_op op, uint64_t (*r)[6], const uint64_t (*a)[6],
                      const uint64_t (*b)[6], size_t n, cuzk_error *err);
cuzk_status cpu_op_fp2(cuzk_device *device, cuzk_field_op op, uint64_t (*r)[12], const uint64_t (*a)[12],
                       const uint64_t (*b)[12], size_t n, cuzk_error *err);
cuzk_status cpu_op_ntt(cuzk_device *device, cuzk_ntt_kind kind, cuzk_fr *a, uint32_t log_n, cuzk_error *err);
cuzk_status cpu_op_quotient(cuzk_device *device, cuzk_scalar *h, const cuzk_fr *a, const cuzk_fr *b,
                            uint32_t log_n, cuzk_error *err);
cuzk_status cpu_op_multiply(cuzk_device *device, const cuzk_circuit_view *circuit,
                            const cuzk_witness_view *witness, cuzk_fr *a, cuzk_fr *b, cuzk_error *err);
cuzk_status cpu_op_msm_g1(cuzk_device *device, cuzk_g1_affine *out, const cuzk_g1_affine *bases,
                          const cuzk_scalar *k, size_t n, cuzk_error *err);
cuzk_status cpu_op_msm_g2(cuzk_device *device, cuzk_g2_affine *out, const cuzk_g2_affine *bases,
                          const cuzk_scalar *k, size_t n, cuzk_error *err);
cuzk_status cpu_op_subset_g1(cuzk_device *device, cuzk_g1_affine *out, const cuzk_g1_affine *bases,
                             const uint64_t *bits, size_t n, cuzk_error *err);
cuzk_status cpu_op_subset_g2(cuzk_device *device, cuzk_g2_affine *out, const cuzk_g2_affine *bases,
                             const uint64_t *bits, size_t n, cuzk_error *err);
cuzk_status cpu_op_fixed_g1(cuzk_device *device, uint8_t *r96, const cuzk_fr *k, size_t n, cuzk_error *err);
cuzk_status cpu_op_fixed_g2(cuzk_device *device, uint8_t *r192, const cuzk_fr *k, size_t n, cuzk_error *err);
#endif
