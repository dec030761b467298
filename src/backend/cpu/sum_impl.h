/* The sum over a query, for one group: included by sum_g1.c and sum_g2.c, which define
 *   G             g1 or g2, also the prefix of the curve's functions
 *   OF_G(name)    name_g1 or name_g2
 *   SUBSET        msm_g1_subset or msm_g2_subset
 *   ENCODED       bytes of an encoded point
 *   PUBLIC        cuzk_g1_affine or cuzk_g2_affine
 * Points kept decoded are used where they lie. Streamed ones are read in pieces of the query's order, and
 * only the points that the witness needs are decoded. Wide terms are collected over the pieces, since a sum
 * of many scalars costs less for each of them. */
#include "backend/cpu/cpu.h"
#include <string.h>

#define CONCAT_(a, b) a##_##b
#define CONCAT(a, b)  CONCAT_(a, b)
#define FN(name)      CONCAT(G, name)

#define KEPT_PIECE  ((uint64_t)1 << 23) /* points walked at a time where nothing is read */
#define WIDE_STREAM ((uint64_t)1 << 18) /* wide terms collected before they are added up */
#define WIDE_KEPT   ((uint64_t)1 << 22)

typedef FN(affine) point;

/* What has been added up for one witness, and the wide terms that wait. */
typedef struct total {
    G sum;
    query_walk walk;
    uint64_t n, capacity;
    const cuzk_fr **value;
    uint32_t *index; /* kept points */
    point *base;     /* streamed points */
} total;

typedef struct sum_job {
    const cuzk_device_key *key;
    const cpu_query *q;
    const point *kept; /* NULL: streamed */
    const cpu_stop *stop;
    query_piece piece;
    query_reader reader;
    uint64_t stream_piece; /* points read at a time */
    point *decoded;
    uint32_t *list; /* positions of the set bits */
    uint64_t *ones; /* a bitmap of ones */
    scalar *k;      /* scalars of the wide terms under way */
    uint64_t wide_capacity;
    total *totals;
    uint32_t count;
} sum_job;

static void sum_job_clear(sum_job *j)
{
    query_piece_clear(&j->piece);
    query_reader_clear(&j->reader);
    pool *p = j->key->device->pool;
    pool_give(p, j->decoded, j->stream_piece * sizeof(point));
    pool_give(p, j->list, j->stream_piece * sizeof(uint32_t));
    pool_give(p, j->ones, j->stream_piece / 8);
    pool_give(p, j->k, j->wide_capacity * sizeof(scalar));
    for (uint32_t i = 0; j->totals && i < j->count; i++) {
        pool_give(p, j->totals[i].value, j->wide_capacity * sizeof(cuzk_fr *));
        pool_give(p, j->totals[i].index, j->wide_capacity * sizeof(uint32_t));
        pool_give(p, j->totals[i].base, j->wide_capacity * sizeof(point));
    }
    mem_free(j->totals);
}

static cuzk_status sum_job_init(sum_job *j, const query_shape *shape, const cuzk_witness_view *w,
                                cuzk_error *err)
{
    const cuzk_circuit_view *c = &j->key->circuit;
    uint64_t wide = c->fields + c->inputs, cap = j->kept ? WIDE_KEPT : WIDE_STREAM;
    uint64_t piece = j->kept ? KEPT_PIECE : j->stream_piece, all = (j->q->count + 63) / 64 * 64 + 64;
    pool *p = j->key->device->pool;
    j->wide_capacity = wide < cap ? wide : cap;
    cuzk_status s = query_piece_init(&j->piece, p, piece < all ? piece : (all < 128 ? 128 : all), err);
    if (s != CUZK_OK)
        return s;
    j->totals = mem_calloc(j->count, sizeof(total));
    j->k = pool_take(p, j->wide_capacity * sizeof(scalar));
    int ok = j->totals && j->k;
    for (uint32_t i = 0; ok && i < j->count; i++) {
        total *t = &j->totals[i];
        query_walk_init(&t->walk, shape, &w[i], c->field_map);
        t->value = pool_take(p, j->wide_capacity * sizeof(cuzk_fr *));
        if (j->kept)
            t->index = pool_take(p, j->wide_capacity * sizeof(uint32_t));
        else
            t->base = pool_take(p, j->wide_capacity * sizeof(point));
        ok = t->value && (t->index || t->base);
    }
    if (ok && !j->kept) {
        s = query_reader_init(&j->reader, p, &j->key->view, j->stream_piece * ENCODED, err);
        if (s != CUZK_OK)
            return s;
        j->decoded = pool_take(p, j->stream_piece * sizeof(point));
        j->list = pool_take(p, j->stream_piece * sizeof(uint32_t));
        j->ones = pool_take(p, j->stream_piece / 8);
        ok = j->decoded && j->list && j->ones;
        if (ok)
            memset(j->ones, 0xff, j->stream_piece / 8);
    }
    return ok ? CUZK_OK : mem_error(err, j->wide_capacity * (sizeof(scalar) + 12), "the sum over a query");
}

/* ---- decoding ---- */
static cuzk_status bad_point(const cpu_query *q, uint64_t at, cuzk_error *err)
{
    return cuzk_error_set(err, CUZK_BAD_INPUT,
                          "point %llu of the %s query is not valid: the parameters are damaged",
                          (unsigned long long)at, q->name);
}

/* out[i] = point first + list[i], whose encodings start at in. */
static cuzk_status decode_list(const sum_job *j, point *out, const uint8_t *in, const uint32_t *list,
                               uint64_t n, cuzk_error *err)
{
    ptrdiff_t bad = FN(decode_many)(out, in, list, n, j->key->device->pool);
    return bad < 0 ? CUZK_OK : bad_point(j->q, j->piece.first + list[bad], err);
}

/* ---- adding up ---- */
typedef struct convert_job {
    scalar *k;
    const cuzk_fr **value;
} convert_job;

static void convert_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    (void)worker;
    const convert_job *c = ctx;
    for (size_t i = first; i < end; i++)
        fr_to_scalar(&c->k[i], (const fr *)c->value[i]);
}

static cuzk_status flush_wide(sum_job *j, total *t, cuzk_error *err)
{
    if (t->n == 0)
        return CUZK_OK;
    pool *p = j->key->device->pool;
    convert_job c = {j->k, t->value};
    pool_for_range(p, t->n, 1024, convert_range, &c);
    G part;
    cuzk_status s =
        OF_G(msm)(&part, j->kept ? j->kept : t->base, t->index, j->k, t->n, p, j->stop->token, err);
    if (s == CUZK_OK)
        FN(add)(&t->sum, &t->sum, &part);
    t->n = 0;
    return s;
}

static cuzk_status take_wide(sum_job *j, total *t, const uint8_t *encoded, cuzk_error *err)
{
    const query_piece *q = &j->piece;
    for (uint64_t i = 0; i < q->wide;) {
        uint64_t room = j->wide_capacity - t->n, n = q->wide - i < room ? q->wide - i : room;
        memcpy(t->value + t->n, q->value + i, n * sizeof(cuzk_fr *));
        if (j->kept) {
            for (uint64_t k = 0; k < n; k++)
                t->index[t->n + k] = (uint32_t)(q->first + q->position[i + k]);
        } else {
            cuzk_status s = decode_list(j, t->base + t->n, encoded, q->position + i, n, err);
            if (s != CUZK_OK)
                return s;
        }
        t->n += n;
        i += n;
        if (t->n == j->wide_capacity) {
            cuzk_status s = flush_wide(j, t, err);
            if (s != CUZK_OK)
                return s;
        }
    }
    return CUZK_OK;
}

static cuzk_status take_bits(sum_job *j, total *t, const uint8_t *encoded, cuzk_error *err)
{
    const query_piece *q = &j->piece;
    if (q->set == 0)
        return CUZK_OK;
    pool *p = j->key->device->pool;
    cuzk_status s;
    G part;
    if (j->kept) {
        s = SUBSET(&part, j->kept + q->first, q->bits, q->count, p, j->stop->token, err);
    } else {
        uint64_t n = 0;
        for (uint64_t w = 0; w < (q->count + 63) / 64; w++) {
            for (uint64_t left = q->bits[w]; left; left &= left - 1)
                j->list[n++] = (uint32_t)(64 * w + (uint64_t)__builtin_ctzll(left));
        }
        s = decode_list(j, j->decoded, encoded, j->list, n, err);
        if (s == CUZK_OK)
            s = SUBSET(&part, j->decoded, j->ones, n, p, j->stop->token, err);
    }
    if (s == CUZK_OK)
        FN(add)(&t->sum, &t->sum, &part);
    return s;
}

/* One piece for every witness; *more is 0 after the last. */
static cuzk_status take_piece(sum_job *j, int *more, cuzk_error *err)
{
    const uint8_t *encoded = NULL;
    *more = 0;
    for (uint32_t i = 0; i < j->count; i++) {
        total *t = &j->totals[i];
        if (!query_walk_next(&t->walk, &j->piece))
            return CUZK_OK; /* all walks have the same shape and end together */
        const query_piece *q = &j->piece;
        if (q->first + q->count > j->q->count)
            return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                                  "the %s query has %llu points, the circuit needs more", j->q->name,
                                  (unsigned long long)j->q->count);
        cuzk_status s = cpu_stop_check(j->stop, err);
        if (s == CUZK_OK && !j->kept && !encoded)
            s = query_reader_get(&j->reader, &encoded, j->q->encoded + q->first * ENCODED, q->count * ENCODED,
                                 err);
        if (s == CUZK_OK)
            s = take_bits(j, t, encoded, err);
        if (s == CUZK_OK)
            s = take_wide(j, t, encoded, err);
        if (s != CUZK_OK)
            return s;
    }
    *more = 1;
    return CUZK_OK;
}

cuzk_status OF_G(cpu_sum)(PUBLIC *out, size_t stride, const cuzk_device_key *key, int query,
                          const query_shape *shape, const cuzk_witness_view *w, uint32_t count,
                          const cpu_stop *stop, cuzk_error *err)
{
    sum_job j = {.key = key,
                 .q = &key->query[query],
                 .kept = key->query[query].points,
                 .stream_piece = query_stream_piece(key->query[query].count, 17),
                 .stop = stop,
                 .count = count};
    cuzk_status s = sum_job_init(&j, shape, w, err);
    for (int more = 1; s == CUZK_OK && more;)
        s = take_piece(&j, &more, err);
    for (uint32_t i = 0; s == CUZK_OK && i < count; i++) {
        s = flush_wide(&j, &j.totals[i], err);
        point a;
        FN(to_affine)(&a, &j.totals[i].sum);
        memcpy((char *)out + i * stride, &a, sizeof(a));
    }
    sum_job_clear(&j);
    return s;
}

/* ---- whole queries ---- */
typedef struct check_job {
    point *out;
    const uint8_t *in;
    _Atomic uint64_t bad;
} check_job;

static void check_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    (void)worker;
    check_job *d = ctx;
    for (size_t i = first; i < end; i++) {
        if (FN(decode_check)(&d->out[i], d->in + i * ENCODED) == 0)
            continue;
        uint64_t seen = atomic_load(&d->bad);
        while (i < seen && !atomic_compare_exchange_weak(&d->bad, &seen, i))
            ;
        return;
    }
}

static cuzk_status check_piece(point *scratch, const cuzk_device_key *key, const cpu_query *q,
                               const uint8_t *in, uint64_t first, uint64_t n, cuzk_error *err)
{
    check_job d = {.out = scratch, .in = in, .bad = UINT64_MAX};
    pool_for_range(key->device->pool, n, 64, check_range, &d);
    return d.bad == UINT64_MAX ? CUZK_OK : bad_point(q, first + d.bad, err);
}

static cuzk_status decode_piece(point *out, const cuzk_device_key *key, const cpu_query *q, const uint8_t *in,
                                uint64_t first, uint64_t n, cuzk_error *err)
{
    ptrdiff_t bad = FN(decode_many)(out, in, NULL, n, key->device->pool);
    return bad < 0 ? CUZK_OK : bad_point(q, first + (uint64_t)bad, err);
}

/* Goes over the whole query; out NULL: checks, and keeps nothing. */
static cuzk_status all_pieces(point *out, const cuzk_device_key *key, int query, const cpu_stop *stop,
                              cuzk_error *err)
{
    const cpu_query *q = &key->query[query];
    query_reader r;
    uint64_t piece = query_stream_piece(q->count, 17);
    pool *p = key->device->pool;
    point *scratch = out ? NULL : pool_take(p, piece * sizeof(point));
    cuzk_status s = query_reader_init(&r, p, &key->view, piece * ENCODED, err);
    if (s == CUZK_OK && !out && !scratch)
        s = mem_error(err, piece * sizeof(point), "checking a query");
    for (uint64_t first = 0; s == CUZK_OK && first < q->count; first += piece) {
        uint64_t n = q->count - first < piece ? q->count - first : piece;
        const uint8_t *in;
        s = cpu_stop_check(stop, err);
        if (s == CUZK_OK)
            s = query_reader_get(&r, &in, q->encoded + first * ENCODED, n * ENCODED, err);
        if (s == CUZK_OK)
            s = out ? decode_piece(out + first, key, q, in, first, n, err)
                    : check_piece(scratch, key, q, in, first, n, err);
    }
    query_reader_clear(&r);
    pool_give(p, scratch, piece * sizeof(point));
    return s;
}

cuzk_status OF_G(cpu_decode)(point *out, const cuzk_device_key *key, int query, const cpu_stop *stop,
                             cuzk_error *err)
{
    return all_pieces(out, key, query, stop, err);
}

cuzk_status OF_G(cpu_check)(const cuzk_device_key *key, int query, cuzk_error *err)
{
    cpu_stop never = {NULL, NULL, NULL};
    return all_pieces(NULL, key, query, &never, err);
}
