/* Bit reversal and multiplication by powers: the work between transforms. */
#include "poly/poly_private.h"

#define TILE_LOG 4 /* tiles of 16 by 16: rows of 512 bytes, two tiles of 8 KiB in the first-level cache */
#define TILE     ((size_t)1 << TILE_LOG)

typedef struct reverse_job {
    fr *a;
    unsigned log_n;
} reverse_job;

static void load_tile(fr tile[TILE][TILE], const fr *a, size_t middle, unsigned log_n)
{
    for (size_t hi = 0; hi < TILE; hi++)
        memcpy(tile[hi], a + (hi << (log_n - TILE_LOG)) + (middle << TILE_LOG), sizeof tile[hi]);
}

/* Writes a tile whose elements (hi, lo) go to (rev lo, rev hi). */
static void store_tile(fr *a, fr tile[TILE][TILE], size_t middle, unsigned log_n)
{
    for (size_t hi = 0; hi < TILE; hi++) {
        fr *row = a + (hi << (log_n - TILE_LOG)) + (middle << TILE_LOG);
        size_t from = reverse_bits(hi, TILE_LOG);
        for (size_t lo = 0; lo < TILE; lo++)
            row[lo] = tile[reverse_bits(lo, TILE_LOG)][from];
    }
}

static void reverse_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    const reverse_job *j = ctx;
    fr one[TILE][TILE], other[TILE][TILE];
    (void)worker;
    for (size_t m = first; m < end; m++) {
        size_t r = reverse_bits(m, j->log_n - 2 * TILE_LOG);
        if (m > r)
            continue;
        load_tile(one, j->a, m, j->log_n);
        if (m != r) {
            load_tile(other, j->a, r, j->log_n);
            store_tile(j->a, other, m, j->log_n);
        }
        store_tile(j->a, one, r, j->log_n);
    }
}

void bit_reverse(fr *a, unsigned log_n, pool *p)
{
    if (log_n >= 2 * TILE_LOG) {
        reverse_job j = {a, log_n};
        pool_for_range_until(p, pool_watched(p), (size_t)1 << (log_n - 2 * TILE_LOG), 16, reverse_range, &j);
        return;
    }
    for (size_t i = 0; i < (size_t)1 << log_n; i++) {
        size_t k = reverse_bits(i, log_n);
        if (i < k) {
            fr t = a[i];
            a[i] = a[k], a[k] = t;
        }
    }
}

#define POWERS_LOG 8

typedef struct scale_job {
    fr *a;
    unsigned log_n, chunk_log;
    int reversed;
    fr factor, base;
    fr table[1 << POWERS_LOG]; /* the powers within a chunk */
} scale_job;

static void scale_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    const scale_job *j = ctx;
    size_t chunk = (size_t)1 << j->chunk_log;
    (void)worker;
    for (size_t c = first; c < end; c++) {
        fr at, t;
        uint64_t e = j->reversed ? reverse_bits(c, j->log_n - j->chunk_log) : (uint64_t)c << j->chunk_log;
        fr_pow(&at, &j->base, &e, 1);
        fr_mul(&at, &at, &j->factor);
        for (size_t i = 0; i < chunk; i++) {
            fr *x = &j->a[(c << j->chunk_log) + i];
            fr_mul(&t, &at, &j->table[i]);
            fr_mul(x, x, &t);
        }
    }
}

static void scale_constant(void *ctx, size_t first, size_t end, unsigned worker)
{
    const scale_job *j = ctx;
    (void)worker;
    for (size_t i = first; i < end; i++)
        fr_mul(&j->a[i], &j->a[i], &j->factor);
}

void scale_powers(fr *a, unsigned log_n, const fr *factor, const fr *base, int reversed, pool *p)
{
    scale_job j = {a, log_n, log_n < POWERS_LOG ? log_n : POWERS_LOG, reversed, *factor, *base, {{{0}}}};
    size_t chunk = (size_t)1 << j.chunk_log, n = (size_t)1 << log_n;
    fr step = *base;
    if (fr_is_one(base)) {
        pool_for_range_until(p, pool_watched(p), n, 4096, scale_constant, &j);
        return;
    }
    for (unsigned i = j.chunk_log; reversed && i < log_n; i++)
        fr_sqr(&step, &step);
    j.table[0] = FR_ONE;
    for (size_t i = 1; i < chunk; i++)
        fr_mul(&j.table[i], &j.table[i - 1], &step);
    if (reversed)
        bit_reverse(j.table, j.chunk_log, NULL);
    pool_for_range_until(p, pool_watched(p), n >> j.chunk_log, 16, scale_range, &j);
}
