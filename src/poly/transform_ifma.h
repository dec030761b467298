/* What the transforms with AVX-512 IFMA share: tables, the twist, tiles in memory.
 *
 * The vector is a matrix of R rows and C columns, R = C or 2 C. The index r C + c of the input and k + R m of
 * the output, w the root:  X[k + R m] = sum_c w_C^(c m) w^(c k) sum_r x[r C + c] w_R^(r k). The first pass
 * transforms columns, eight at a time, and multiplies by w^(c k) (the twist); the second transforms rows,
 * eight at a time. Row p then holds k = rev p, or k = p in natural order; column q holds m = rev q. The way
 * back does the same in reverse.
 *
 * Between passes of the quotient a vector lies column by column of tiles: eight columns are a block,
 * contiguous; eight rows of it are a tile of 2 KiB. Passes over columns read and write one block after the
 * other, passes over rows whole tiles. (In the usual order, row by row, a pass over columns touches 256 bytes
 * of a row, which lie pages apart: 54 instead of 128 GB/s on sixteen threads.) As input (field/order.h) a
 * tile holds its eight rows, eight numbers each; between passes it holds pieces, four vectors of words each:
 * piece j is column j, with the rows in the lanes, or row j, with the columns in the lanes. Numbers there are
 * below 2^256, not below r. (Natural transforms have room for limbs: ntt_ifma.c.) What is not read again soon
 * is stored past the caches; a fence follows before other threads look.
 *
 * Multiplications by powers of the coset generator ride along: what depends on the row or column alone is put
 * into the start or the step of the twist's powers, the rest is one product by a constant. */
#ifndef POLY_TRANSFORM_IFMA_H
#define POLY_TRANSFORM_IFMA_H
#include "poly/fft_ifma.h"
#include "poly/poly_private.h"
#include <stdatomic.h>

struct ntt_tables {
    size_t rows, columns, bytes;
    fr52_const *roots;     /* w_R^e */
    fr52_const eighth[8];  /* see fft_roots; of which three are used */
    fr52_const *coset_row; /* g^(C r), by row r */
    fr52_const *coset[2];  /* g^(R rev q) and its inverse, by column q */
    fr *power[2];          /* w^i and w^-i, i < R */
    fr *coset_power[2];    /* g^i and g^-i, i < R */
};

/* A transform of a domain in one direction, with what rides along. */
typedef struct transform {
    const struct ntt_tables *t;
    unsigned row_log, column_log;
    fft_roots roots;
    const fr52_const *row_in; /* constants by row, on the way in, or NULL */
    const fr52_const
        *column_io;        /* constants by column, out of the second pass or into the way back, or NULL */
    const fr *lane;        /* factor of the twist by column (first pass) or by k (way back), or NULL */
    fr step, start;        /* further factors of the twist: step^k start */
    int has_step, natural; /* natural: rows in natural order */
} transform;

static inline transform transform_of(const domain *d, ntt_direction dir)
{
    transform s = {.t = d->ifma, .row_log = ntt_row_log(d->log_n), .start = FR_ONE};
    s.column_log = d->log_n - s.row_log;
    s.roots = (fft_roots){s.t->roots, s.t->eighth, s.t->rows, dir == NTT_INVERSE};
    return s;
}

/* ---- the twist ---- */
/* As fr52_mont_mul, strict: below 6/5 r where both factors are below 2^256. */
static inline void mont_mul(fr52 *r, const fr52 *a, const fr52 *b)
{
    fr52_mont_mul(r, a, b);
    fr52_carry(r);
}

static inline void from_blst(fr52 *r, const fr52 *a)
{
    fr52 k;
    fr52_set1(&k, FR52_FROM_BLST);
    mont_mul(r, a, &k);
}

/* Eight neighbours in radix 2^260. */
static inline void load_mont(fr52 *r, const fr *a)
{
    fr52 t;
    fr52_load(&t, a);
    from_blst(r, &t);
}

/* One number in all lanes, in radix 2^260. */
static inline void set_mont(fr52 *r, const fr *a)
{
    v8 w[4];
    fr52 t;
    for (int i = 0; i < 4; i++)
        w[i] = v8_set1(a->l[i]);
    fr52_from_words(&t, w);
    from_blst(r, &t);
}

/* The twist of eight numbers: number j times base^j, an own constant, and times a power that all share and
 * that advances from eight to eight. The power is prepared for its eight products. */
typedef struct twist {
    fr52_consts base[8]; /* [0] is not used */
    fr52_rows next;
    fr52 power; /* in radix 2^260, strict, below 2^256 */
} twist;

/* All in radix 2^260. */
static inline void twist_start(twist *s, const fr52 *first, const fr52 *base, const fr52 *advance)
{
    fr52 x = *base, c = *advance;
    fr52_canonical(&c);
    fr52_prepare_rows(&s->next, &c);
    for (int j = 1; j < 8; j++) {
        c = x;
        fr52_canonical(&c);
        fr52_prepare(&s->base[j], &c, 1);
        mont_mul(&x, &x, base);
    }
    s->power = *first;
}

/* The factor of a lane, where there is one, times start. */
static inline void twist_first(fr52 *r, const transform *s, const fr *lane)
{
    set_mont(r, &s->start);
    if (lane) {
        fr52 t;
        load_mont(&t, lane);
        mont_mul(r, r, &t);
    }
}

/* The twist for columns g .. g + 7: numbers k0 + j R / 8, advancing by k0; in natural order 8 k0 + j. */
static inline void column_twist(twist *s, const transform *j, size_t g)
{
    fr52 w, first, base;
    load_mont(&w, &j->t->power[j->roots.sign][g]);
    if (j->has_step) {
        fr52 step;
        set_mont(&step, &j->step);
        mont_mul(&w, &w, &step);
    }
    twist_first(&first, j, j->lane ? &j->lane[g] : NULL);
    base = w;
    for (size_t i = 8; i < (j->natural ? 64 : j->t->rows); i *= 2)
        mont_mul(&base, &base, &base);
    if (j->natural)
        twist_start(s, &first, &w, &base);
    else
        twist_start(s, &first, &base, &w);
}

/* That for rows p .. p + 7: columns 8 i + j, advancing by i. */
static inline void row_twist(twist *s, const transform *j, size_t p)
{
    fr k[8], lane[8];
    fr52 v, v8th, first;
    for (size_t l = 0; l < 8; l++) {
        size_t index = reverse_bits(p + l, j->row_log);
        k[l] = j->t->power[j->roots.sign][index];
        if (j->lane)
            lane[l] = j->lane[index];
    }
    load_mont(&v, k);
    twist_first(&first, j, j->lane ? lane : NULL);
    v8th = v;
    for (int i = 0; i < 3; i++)
        mont_mul(&v8th, &v8th, &v8th);
    twist_start(s, &first, &v, &v8th);
}

/* The shared power as a constant; it advances. */
static inline void twist_next(fr52_rows *power, twist *s)
{
    fr52_prepare_rows(power, &s->power);
    fr52_mul_rows(&s->power, &s->power, &s->next, NULL);
    fr52_below(&s->power);
}

/* Numbers j and j + 1 of eight, j even: y = x base^j power, in [-3, 3) r where open, otherwise strict and
 * below 2^256. Side by side, since the processor does not look far enough ahead to begin one while it waits
 * for the other. */
FP52_INLINE void twist_two(fr52 y[2], const fr52 *x0, const fr52 *x1, const twist *s, size_t j,
                           const fr52_rows *power, int open)
{
    const uint64_t *start = open ? FR52_3R_NEGATIVE : NULL;
    if (j) {
        fr52_mul_consts(&y[0], x0, &s->base[j]);
    } else {
        y[0] = *x0;
        if (open)
            fr52_reduce_positive(&y[0]);
        FP52_UNROLL for (int i = 0; !open && i < 5; i++) y[0].l[i] = V8_ADD(y[0].l[i], v8_set1(FR52_17R[i]));
    }
    fr52_mul_consts(&y[1], x1, &s->base[j + 1]);
    fr52_mul_rows(&y[0], &y[0], power, start);
    fr52_mul_rows(&y[1], &y[1], power, start);
    if (open)
        return;
    fr52_below(&y[0]);
    fr52_below(&y[1]);
}

/* ---- tasks ---- */
/* Tasks that know which one their worker does next, whose memory they fetch while they compute: next is task
 * where there is none. */
typedef void ahead_fn(void *ctx, size_t task, size_t next, unsigned worker);
typedef struct ahead_job {
    ahead_fn *fn;
    void *ctx;
    size_t tasks;
    _Atomic size_t begun;
    const cancel_token *stop;
} ahead_job;

static inline void ahead_run(void *ctx, size_t task, unsigned worker)
{
    ahead_job *j = ctx;
    (void)task;
    for (size_t now = atomic_fetch_add(&j->begun, 1), next; now < j->tasks && !cancel_check(j->stop);
         now = next) {
        next = atomic_fetch_add(&j->begun, 1);
        j->fn(j->ctx, now, next < j->tasks ? next : now, worker);
    }
    _mm_sfence();
}

static inline void pool_for_ahead(pool *p, const cancel_token *stop, size_t tasks, ahead_fn *fn, void *ctx)
{
    ahead_job j = {.fn = fn, .ctx = ctx, .tasks = tasks, .stop = stop};
    pool_for_until(p, stop, pool_size(p), ahead_run, &j);
}

/* ---- tiles ---- */
/* The tile of rows r .. r + 7 and columns c .. c + 7; with other r, row or piece r of that block. */
static inline fr *tile_at(const transform *s, const fr *a, size_t r, size_t c)
{
    return (fr *)a + c * s->t->rows + 8 * r;
}

/* Words of eight numbers below 2^256 of a row with columns in the lanes, or of a column with rows in them, on
 * their way to the pieces of a tile, each transposed. Words at once, not limbs, since they are fewer. */
typedef struct tile {
    v8 word[4][8];
} tile;

FP52_INLINE void tile_put(tile *t, size_t j, const fr52 *x)
{
    v8 w[4];
    fr52_to_words(w, x);
    FP52_UNROLL for (int i = 0; i < 4; i++) t->word[i][j] = w[i];
}

/* Eight vectors, transposed, to memory that is `stride` bytes apart. */
FP52_INLINE void store_turned(void *at, size_t stride, const v8 from[8], int stream)
{
    v8 t[8];
    FP52_UNROLL for (size_t i = 0; i < 8; i++) t[i] = from[i];
    v8_transpose(t);
    FP52_UNROLL for (size_t i = 0; i < 8; i++)
    {
        if (stream)
            _mm512_stream_si512((void *)((char *)at + stride * i), t[i]);
        else
            _mm512_storeu_si512((char *)at + stride * i, t[i]);
    }
}

static inline void tile_store(fr *at, const tile *t, int stream)
{
    for (size_t i = 0; i < 4; i++)
        store_turned((char *)at + 64 * i, 8 * sizeof(fr), t->word[i], stream);
}

static inline void piece_load(fr52 *r, const fr *a)
{
    v8 w[4];
    for (size_t i = 0; i < 4; i++)
        w[i] = _mm512_loadu_si512((const char *)a + 64 * i);
    fr52_from_words(r, w);
}

/* Twists a transformed column and stores it as a block of pieces that are columns. */
static inline void columns_store(fr *a, const fr52 *x, const transform *s, size_t g, int stream)
{
    size_t rows = s->t->rows;
    twist tw;
    column_twist(&tw, s, g);
    for (size_t k0 = 0; k0 < rows / 8; k0++) {
        /* k0 + j R / 8 lies at place rev j of tile p, 8 k0 + j at place p of the tiles' eighth rev j */
        size_t p = reverse_bits(k0, s->row_log - 3), far = s->natural ? rows / 8 : 1;
        const fr52 *first = &x[s->natural ? p : 8 * p];
        tile t;
        fr52_rows power;
        twist_next(&power, &tw);
        for (size_t j = 0; j < 8; j += 2) {
            fr52 y[2];
            size_t at0 = fft8_place(j, 1), at1 = fft8_place(j + 1, 1);
            twist_two(y, &first[at0 * far], &first[at1 * far], &tw, j, &power, 0);
            tile_put(&t, s->natural ? j : at0, &y[0]);
            tile_put(&t, s->natural ? j + 1 : at1, &y[1]);
        }
        tile_store(tile_at(s, a, 8 * (s->natural ? k0 : p), g), &t, stream);
    }
}

/* Rows p .. p + 7 from pieces that are columns, and a column from pieces that are rows. */
static inline void rows_load(fr52 *x, const fr *a, const transform *s, size_t p)
{
    for (size_t c = 0; c < s->t->columns; c++)
        piece_load(&x[c], tile_at(s, a, p + (c & 7), c & ~(size_t)7));
}
static inline void column_load(fr52 *x, const fr *a, const transform *s, size_t g)
{
    for (size_t p = 0; p < s->t->rows; p++)
        piece_load(&x[p], tile_at(s, a, p, g));
}

/* Twists rows p .. p + 7, transformed back, and stores them as pieces that are rows. */
static inline void rows_store(fr *a, const fr52 *x, const transform *s, size_t p, int stream)
{
    size_t columns = s->t->columns;
    twist tw;
    row_twist(&tw, s, p);
    for (size_t c = 0; c < columns; c += 8) {
        tile t;
        fr52_rows power;
        twist_next(&power, &tw);
        for (size_t j = 0; j < 8; j += 2) {
            fr52 y[2];
            twist_two(y, &x[c + j], &x[c + j + 1], &tw, j, &power, 0);
            tile_put(&t, j, &y[0]);
            tile_put(&t, j + 1, &y[1]);
        }
        tile_store(tile_at(s, a, p, c), &t, stream);
    }
}
#endif
