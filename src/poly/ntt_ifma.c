/* Transforms with AVX-512 IFMA, in place, in two passes over memory.
 *
 * The vector is a matrix of R rows and C columns, row by row. The index r C + c of the input and k + R m of
 * the output, w the root:  X[k + R m] = sum_c w_C^(c m) w^(c k) sum_r x[r C + c] w_R^(r k). The first pass
 * transforms columns, eight at a time, and multiplies by w^(c k) (the twist); the second transforms rows,
 * eight at a time. Results stand in bit-reversed order: row p holds k = rev p, column q holds m = rev q. The
 * way back does the same in reverse. For natural order rows and columns are stored in theirs, which leaves
 * squares to be turned (quotient_ifma.c): the rows of a tile are then C numbers apart, where bit reversal
 * has them n / 16 apart, in the same sets of every cache.
 *
 * Between the passes a tile of eight rows and eight columns lies transposed: piece j, at row p + j, holds
 * column g + j, as four vectors of words with the rows in the lanes. Numbers there are below 2^256, not below
 * r.
 *
 * Multiplications by powers of the coset generator ride along: what depends on the row or column alone is put
 * into the start or the step of the twist's powers, the rest is one product by a constant. */
#include "base/mem.h"
#include "poly/fft_ifma.h"
#include "poly/poly_private.h"

struct ntt_tables {
    size_t rows, columns, bytes;
    fr52_const *roots;     /* w_R^e */
    fr52_const eighth[8];  /* see fft_roots; of which three are used */
    fr52_const *coset_row; /* g^(C r), by row r */
    fr52_const *coset[2];  /* g^(R rev q) and its inverse, by column q */
    fr *power[2];          /* w^i and w^-i, i < R */
    fr *coset_power[2];    /* g^i and g^-i, i < R */
};

/* As fr52_mont_mul, strict: below 6/5 r where both factors are below 2^256. */
static inline void mont_mul(fr52 *r, const fr52 *a, const fr52 *b)
{
    fr52_mont_mul(r, a, b);
    fr52_carry(r);
}

static void from_blst(fr52 *r, const fr52 *a)
{
    fr52 k;
    fr52_set1(&k, FR52_FROM_BLST);
    mont_mul(r, a, &k);
}

/* Eight neighbours in radix 2^260. */
static void load_mont(fr52 *r, const fr *a)
{
    fr52 t;
    fr52_load(&t, a);
    from_blst(r, &t);
}

/* One number in all lanes, in radix 2^260. */
static void set_mont(fr52 *r, const fr *a)
{
    v8 w[4];
    fr52 t;
    for (int i = 0; i < 4; i++)
        w[i] = v8_set1(a->l[i]);
    fr52_from_words(&t, w);
    from_blst(r, &t);
}

/* Powers base^i, i < n. */
static void fill_powers(fr *out, const fr *base, size_t n)
{
    fr x = FR_ONE;
    for (size_t i = 0; i < n; i++) {
        out[i] = x;
        fr_mul(&x, &x, base);
    }
}

static void set_constants(fr52_const *const out[8], const fr w[8])
{
    fr52 t;
    fr52_consts c;
    load_mont(&t, w);
    fr52_canonical(&t);
    fr52_prepare(&c, &t, 0);
    for (size_t l = 0; l < 8; l++) {
        for (int k = 0; k < 25; k++)
            out[l]->row[k / 5][k % 5] = ((const uint64_t *)&c.rows.row[k / 5].l[k % 5])[l];
        for (int k = 0; k < 6; k++)
            out[l]->start[k] = ((const uint64_t *)&c.start[k])[l];
    }
}

/* Constants base^i, i < n (a multiple of 8), at i or at rev i. */
static void fill_constants(fr52_const *out, const fr *base, size_t n, int reversed)
{
    unsigned log = (unsigned)__builtin_ctzll(n);
    fr x = FR_ONE;
    for (size_t i = 0; i < n; i += 8) {
        fr powers[8];
        fr52_const *to[8];
        for (size_t l = 0; l < 8; l++) {
            powers[l] = x;
            to[l] = &out[reversed ? reverse_bits(i + l, log) : i + l];
            fr_mul(&x, &x, base);
        }
        set_constants(to, powers);
    }
}

/* See fft_roots. */
static void fill_eighth(fr52_const out[8], const fr *root, size_t n)
{
    uint64_t e = n / 8;
    fr z, inverse, half, w[8];
    fr52_const *to[8];
    fr_pow(&z, root, &e, 1);
    fr_inv(&inverse, &z);
    fr_add(&half, &FR_ONE, &FR_ONE);
    fr_inv(&half, &half);
    fr_add(&w[0], &z, &inverse);
    fr_sub(&w[1], &z, &inverse);
    fr_sub(&w[2], &inverse, &z);
    for (size_t l = 0; l < 8; l++) {
        if (l < 3)
            fr_mul(&w[l], &w[l], &half);
        else
            w[l] = w[0];
        to[l] = &out[l];
    }
    set_constants(to, w);
}

cuzk_status ntt_tables_create(struct ntt_tables **out, const domain *d, cuzk_error *err)
{
    size_t rows = (size_t)1 << (d->log_n + 1) / 2, columns = ((size_t)1 << d->log_n) / rows;
    size_t bytes = sizeof(struct ntt_tables) + 64 + (2 * rows + 2 * columns) * sizeof(fr52_const) +
                   4 * rows * sizeof(fr);
    struct ntt_tables *t = big_alloc(bytes);
    if (!t)
        return mem_error(err, bytes, "the tables of a transform");
    t->rows = rows;
    t->columns = columns;
    t->bytes = bytes;
    t->roots = (fr52_const *)((char *)t + (sizeof *t + 63) / 64 * 64);
    t->coset_row = t->roots + rows;
    t->coset[0] = t->coset_row + rows;
    t->coset[1] = t->coset[0] + columns;
    t->power[0] = (fr *)(t->coset[1] + columns);
    t->power[1] = t->power[0] + rows;
    t->coset_power[0] = t->power[1] + rows;
    t->coset_power[1] = t->coset_power[0] + rows;
    fr x, inverse;
    uint64_t e = columns;
    fr_pow(&x, &d->root, &e, 1);
    fill_constants(t->roots, &x, rows, 0);
    fill_eighth(t->eighth, &x, rows);
    fr_pow(&x, &d->coset, &e, 1);
    fill_constants(t->coset_row, &x, rows, 0);
    e = rows;
    fr_pow(&x, &d->coset, &e, 1);
    fill_constants(t->coset[0], &x, columns, 1);
    fr_pow(&x, &d->coset_inv, &e, 1);
    fill_constants(t->coset[1], &x, columns, 1);
    fr_inv(&inverse, &d->root);
    fill_powers(t->power[0], &d->root, rows);
    fill_powers(t->power[1], &inverse, rows);
    fill_powers(t->coset_power[0], &d->coset, rows);
    fill_powers(t->coset_power[1], &d->coset_inv, rows);
    *out = t;
    return CUZK_OK;
}

void ntt_tables_destroy(struct ntt_tables *t)
{
    if (t)
        big_free(t, t->bytes);
}

size_t ntt_tables_memory(unsigned log_n)
{
    size_t rows = (size_t)1 << (log_n + 1) / 2, columns = ((size_t)1 << log_n) / rows;
    return sizeof(struct ntt_tables) + 64 + (2 * rows + 2 * columns) * sizeof(fr52_const) +
           4 * rows * sizeof(fr);
}

typedef struct pass {
    const struct ntt_tables *t;
    unsigned row_log, column_log;
    fr *a;
    fr52 *buffers;
    fft_roots roots;
    const fr52_const *row_in; /* constants by row on the way in (first pass), or NULL */
    const fr52_const
        *column_io;        /* constants by column, out of the second pass or into the way back, or NULL */
    const fr *lane;        /* factor of the twist by column (first pass) or by k (way back), or NULL */
    fr step, start;        /* further factors of the twist: step^k start */
    int has_step, squares; /* squares: results in the order that ntt_turn_ifma takes */
} pass;

/* The twist of eight numbers: number j times base^j, an own constant, and times a power that all share and
 * that advances from eight to eight. The power is prepared for its eight products. */
typedef struct twist {
    fr52_consts base[8]; /* [0] is not used */
    fr52_rows next;
    fr52 power; /* in radix 2^260, strict, below 2^256 */
} twist;

/* All in radix 2^260. */
static void twist_start(twist *s, const fr52 *first, const fr52 *base, const fr52 *advance)
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
static void twist_first(fr52 *r, const pass *s, const fr *lane)
{
    set_mont(r, &s->start);
    if (lane) {
        fr52 t;
        load_mont(&t, lane);
        mont_mul(r, r, &t);
    }
}

/* The twist for columns g .. g + 7: numbers k0 + j R / 8, advancing by k0; for squares 8 k0 + j. */
static void column_twist(twist *s, const pass *j, size_t g)
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
    for (size_t i = 8; i < (j->squares ? 64 : j->t->rows); i *= 2)
        mont_mul(&base, &base, &base);
    if (j->squares)
        twist_start(s, &first, &w, &base);
    else
        twist_start(s, &first, &base, &w);
}

/* That for rows p .. p + 7: columns 8 i + j, advancing by i. */
static void row_twist(twist *s, const pass *j, size_t p)
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
    fr52_mul_rows(&s->power, &s->power, &s->next);
    fr52_below(&s->power);
}

/* y = x base^j power, strict, below 2^256. */
static inline void twist_one(fr52 *y, const fr52 *x, const twist *s, size_t j, const fr52_rows *power)
{
    if (j) {
        fr52_mul_consts(y, x, &s->base[j]);
    } else {
        FP52_UNROLL for (int i = 0; i < 5; i++) y->l[i] = V8_ADD(x->l[i], v8_set1(FR52_17R[i]));
    }
    fr52_mul_rows(y, y, power);
    fr52_below(y);
}

/* A tile: x[j] holds row j with columns in the lanes, or column j with rows in the lanes; words of numbers
 * below 2^256 go to and from its pieces, each transposed. */
static void tile_store(fr *a, size_t stride, fr52 x[8])
{
    v8 w[4][8];
    for (int j = 0; j < 8; j++) {
        v8 t[4];
        fr52_to_words(t, &x[j]);
        for (int i = 0; i < 4; i++)
            w[i][j] = t[i];
    }
    for (int i = 0; i < 4; i++)
        v8_transpose(w[i]);
    for (size_t j = 0; j < 8; j++)
        for (size_t i = 0; i < 4; i++)
            _mm512_storeu_si512((char *)(a + j * stride) + 64 * i, w[i][j]);
}

static inline void piece_load(fr52 *r, const fr *a)
{
    v8 w[4];
    for (size_t i = 0; i < 4; i++)
        w[i] = _mm512_loadu_si512((const char *)a + 64 * i);
    fr52_from_words(r, w);
}

/* Two neighbours of eight rows: rows[l] points to element q of row l. */
static void rows_store(fr *first_row, size_t stride, fr52 x[8])
{
    v8 w[8];
    for (size_t q = 0; q < 8; q += 2) {
        fr52_to_words(w, &x[q]);
        fr52_to_words(w + 4, &x[q + 1]);
        v8_transpose(w);
        for (size_t l = 0; l < 8; l++)
            _mm512_storeu_si512(first_row + l * stride + q, w[l]);
    }
}

static void rows_load(fr52 x[8], const fr *first_row, size_t stride)
{
    v8 w[8];
    for (size_t q = 0; q < 8; q += 2) {
        for (size_t l = 0; l < 8; l++)
            w[l] = _mm512_loadu_si512(first_row + l * stride + q);
        v8_transpose(w);
        fr52_from_words(&x[q], w);
        fr52_from_words(&x[q + 1], w + 4);
    }
}

static inline size_t reverse3(size_t j)
{
    return (j & 1) << 2 | (j & 2) | j >> 2;
}

/* The first of the eight rows of a task, and how far apart they are. For squares of C numbers row k < C is
 * the first half of row k of a matrix of C rows, row C + k, where there is one, the second. */
static inline size_t task_row(const pass *s, size_t task, size_t *apart)
{
    size_t rows = s->t->rows, columns = s->t->columns, k = 8 * task;
    *apart = s->squares ? rows / columns : 1;
    return k < columns || !s->squares ? k * *apart : (k - columns) * *apart + 1;
}

static void forward_columns(void *ctx, size_t task, unsigned worker)
{
    const pass *s = ctx;
    size_t rows = s->t->rows, columns = s->t->columns, g = 8 * task;
    fr52 *x = s->buffers + worker * rows;
    twist tw;
    for (size_t r = 0; r < rows; r++) {
        const fr *row = s->a + r * columns + g;
        for (size_t i = 0; i < 4; i++)
            _mm_prefetch((const char *)(row + 16 * columns) + 64 * i, _MM_HINT_T1);
        fr52_load(&x[r], row);
        if (s->row_in)
            fr52_mul_const(&x[r], &x[r], &s->row_in[r]);
    }
    dif(x, rows, &s->roots);
    column_twist(&tw, s, g);
    for (size_t k0 = 0; k0 < rows / 8; k0++) {
        size_t p = reverse_bits(k0, s->row_log - 3), apart, row = task_row(s, s->squares ? k0 : p, &apart);
        fr52 y[8];
        fr52_rows power;
        twist_next(&power, &tw);
        for (size_t j = 0; j < 8; j++) {
            size_t at = reverse3(j); /* where k0 + j R / 8 is in its block, 8 k0 + j among the blocks */
            if (s->squares)
                twist_one(&y[j], &x[at * (rows / 8) + p], &tw, j, &power);
            else
                twist_one(&y[at], &x[8 * p + at], &tw, j, &power);
        }
        tile_store(s->a + row * columns + g, apart * columns, y);
    }
}

static void forward_rows(void *ctx, size_t task, unsigned worker)
{
    const pass *s = ctx;
    size_t columns = s->t->columns, apart, row = task_row(s, task, &apart), stride = apart * columns;
    fr52 *x = s->buffers + worker * s->t->rows;
    fr *a = s->a + row * columns;
    for (size_t c = 0; c < columns; c++)
        piece_load(&x[c], a + (c & 7) * stride + (c & ~(size_t)7));
    dif(x, columns, &s->roots);
    /* natural order of m: number m + j, m a multiple of 8, is at rev m + (C / 8) rev j */
    size_t spread = s->squares ? columns / 8 : 1;
    for (size_t q = 0; q < columns; q += 8) {
        size_t first = s->squares ? reverse_bits(q / 8, s->column_log - 3) : q;
        fr52 y[8];
        for (size_t j = 0; j < 8; j++) {
            size_t at = first + spread * (s->squares ? reverse3(j) : j);
            fr52 t = x[at];
            if (s->column_io)
                fr52_mul_const(&t, &t, &s->column_io[at]);
            fr52_canonical(&t);
            y[j] = t;
        }
        rows_store(a + q, stride, y);
    }
}

static void back_rows(void *ctx, size_t task, unsigned worker)
{
    const pass *s = ctx;
    size_t columns = s->t->columns;
    fr52 *x = s->buffers + worker * s->t->rows;
    fr *a = s->a + 8 * task * columns;
    twist tw;
    for (size_t q = 0; q < columns; q += 8) {
        rows_load(&x[q], a + q, columns);
        for (size_t j = 0; s->column_io && j < 8; j++)
            fr52_mul_const(&x[q + j], &x[q + j], &s->column_io[q + j]);
    }
    dit(x, columns, &s->roots);
    row_twist(&tw, s, 8 * task);
    for (size_t c = 0; c < columns; c += 8) {
        fr52 y[8];
        fr52_rows power;
        twist_next(&power, &tw);
        for (size_t j = 0; j < 8; j++)
            twist_one(&y[j], &x[c + j], &tw, j, &power);
        tile_store(a + c, columns, y); /* piece j: row p + j, columns in the lanes */
    }
}

static void back_columns(void *ctx, size_t task, unsigned worker)
{
    const pass *s = ctx;
    size_t rows = s->t->rows, columns = s->t->columns, g = 8 * task;
    fr52 *x = s->buffers + worker * rows;
    for (size_t p = 0; p < rows; p++) {
        const fr *row = s->a + p * columns + g;
        for (size_t i = 0; i < 4; i++)
            _mm_prefetch((const char *)(row + 16 * columns) + 64 * i, _MM_HINT_T1);
        piece_load(&x[p], row);
    }
    dit(x, rows, &s->roots);
    for (size_t r = 0; r < rows; r++) {
        fr52_canonical(&x[r]);
        fr52_store(s->a + r * columns + g, &x[r]);
    }
}

static cuzk_status run(pass *s, const domain *d, int backwards, pool *p, cuzk_error *err)
{
    s->t = d->ifma;
    s->row_log = (d->log_n + 1) / 2;
    s->column_log = d->log_n - s->row_log;
    s->roots.table = s->t->roots;
    s->roots.eighth = s->t->eighth;
    s->roots.n = s->t->rows;
    size_t bytes = pool_size(p) * s->t->rows * sizeof(fr52), rows = s->t->rows / 8,
           columns = s->t->columns / 8;
    s->buffers = pool_take(p, bytes);
    if (!s->buffers)
        return mem_error(err, bytes, "the buffers of a transform");
    const cancel_token *stop = pool_watched(p);
    pool_for_until(p, stop, backwards ? rows : columns, backwards ? back_rows : forward_columns, s);
    pool_for_until(p, stop, backwards ? columns : rows, backwards ? back_columns : forward_rows, s);
    pool_give(p, s->buffers, bytes);
    return CUZK_OK;
}

/* Of a (coset: of a[i] g^i). */
cuzk_status ntt_nr_forward_ifma(const domain *d, fr *a, int coset, int squares, pool *p, cuzk_error *err)
{
    pass s = {.a = a, .start = FR_ONE, .squares = squares};
    if (coset) {
        s.row_in = d->ifma->coset_row;
        s.lane = d->ifma->coset_power[0];
    }
    return run(&s, d, 0, p, err);
}

/* Result i is multiplied by factor and, for a coset, by g^-i. */
cuzk_status ntt_nr_inverse_ifma(const domain *d, fr *a, const fr *factor, int coset, int squares, pool *p,
                                cuzk_error *err)
{
    pass s = {.a = a, .start = *factor, .roots.sign = 1, .squares = squares};
    if (coset) {
        s.has_step = 1;
        s.step = d->coset_inv;
        s.column_io = d->ifma->coset[1];
    }
    return run(&s, d, 0, p, err);
}

/* Bit-reversed to natural order, of a (coset: of a[i] g^i). */
cuzk_status ntt_rn_forward_ifma(const domain *d, fr *a, int coset, pool *p, cuzk_error *err)
{
    pass s = {.a = a, .start = FR_ONE};
    if (coset) {
        s.column_io = d->ifma->coset[0];
        s.lane = d->ifma->coset_power[0];
    }
    return run(&s, d, 1, p, err);
}
