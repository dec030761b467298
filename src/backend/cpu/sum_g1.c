/* Sums over the queries in G1. */
#define G          g1
#define OF_G(name) name##_g1
#define SUBSET     msm_g1_subset
#define ENCODED    96
#define PUBLIC     cuzk_g1_affine
#include "backend/cpu/sum_impl.h"

static cuzk_status sum_h_streamed(g1 *sum, const cuzk_device_key *key, const cpu_query *q, const scalar *k,
                                  const cpu_stop *stop, cuzk_error *err)
{
    query_reader r;
    uint64_t piece = query_stream_piece(q->count, 19);
    pool *p = key->device->pool;
    g1_affine *points = pool_take(p, piece * sizeof(g1_affine));
    cuzk_status s = query_reader_init(&r, p, &key->view, piece * ENCODED, err);
    if (s == CUZK_OK && !points)
        s = mem_error(err, piece * sizeof(g1_affine), "a piece of the h query");
    for (uint64_t first = 0; s == CUZK_OK && first < q->count; first += piece) {
        uint64_t n = q->count - first < piece ? q->count - first : piece;
        const uint8_t *in;
        g1 part;
        s = cpu_stop_check(stop, err);
        if (s == CUZK_OK)
            s = query_reader_get(&r, &in, q->encoded + first * ENCODED, n * ENCODED, err);
        if (s == CUZK_OK)
            s = decode_piece(points, key, q, in, first, n, err);
        if (s == CUZK_OK)
            s = msm_g1(&part, points, NULL, k + first, n, p, stop->token, err);
        if (s == CUZK_OK)
            g1_add(sum, sum, &part);
    }
    query_reader_clear(&r);
    pool_give(p, points, piece * sizeof(g1_affine));
    return s;
}

cuzk_status cpu_sum_h(cuzk_g1_affine *out, const cuzk_device_key *key, const scalar *k, const cpu_stop *stop,
                      cuzk_error *err)
{
    const cpu_query *q = &key->query[QUERY_H];
    g1 sum = {0};
    cuzk_status s;
    if (q->points)
        s = msm_g1(&sum, q->points, NULL, k, q->count, key->device->pool, stop->token, err);
    else
        s = sum_h_streamed(&sum, key, q, k, stop, err);
    if (s == CUZK_OK)
        g1_to_affine((g1_affine *)out, &sum);
    return s;
}
