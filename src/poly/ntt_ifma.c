/* Transforms with AVX-512 IFMA, in place, in two passes over memory.
 *
 * The vector is a matrix of R rows and C columns, row by row. The index r C + c of the input and k + R m of
 * the output, w the root:  X[k + R m] = sum_c w_C^(c m) w^(c k) sum_r x[r C + c] w_R^(r k). The first pass
 * transforms columns, eight at a time, and multiplies by w^(c k) (the twist); the second transforms rows,
 * eight at a time. Results stand in bit-reversed order: row p holds k = rev p, column q holds m = rev q. The
 * way back does the same in reverse.
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
    fr52_const *roots;      /* w_R^e */
    fr52_const *coset_row;  /* g^(C r), by row r */
    fr52_const *coset[2];   /* g^(R rev q) and its inverse, by column q */
    scalar *power[2];       /* w^i and w^-i, i < R, plain */
    scalar *coset_power[2]; /* g^i and g^-i, i < R, plain */
};

static void to_limbs(uint64_t limb[5], const scalar *a)
{
    const uint64_t m = ((uint64_t)1 << 52) - 1;
    limb[0] = a->l[0] & m;
    limb[1] = (a->l[0] >> 52 | a->l[1] << 12) & m;
    limb[2] = (a->l[1] >> 40 | a->l[2] << 24) & m;
    limb[3] = (a->l[2] >> 28 | a->l[3] << 36) & m;
    limb[4] = a->l[3] >> 16;
}

static void load_plain(fr52 *r, const scalar *a)
{
    fr t[8];
    memcpy(t, a, sizeof t);
    fr52_load(r, t);
}

/* Powers base^i, i < n (a multiple of 8), as plain numbers. */
static void fill_powers(scalar *out, const fr *base, size_t n)
{
    fr x = FR_ONE;
    for (size_t i = 0; i < n; i++) {
        fr_to_scalar(&out[i], &x);
        fr_mul(&x, &x, base);
    }
}

/* Constants base^i, at i or at rev i. */
static void fill_constants(fr52_const *out, const fr *base, size_t n, int reversed)
{
    unsigned log = (unsigned)__builtin_ctzll(n);
    fr x = FR_ONE;
    for (size_t i = 0; i < n; i += 8) {
        scalar plain[8];
        fr52 w;
        fr52_consts c;
        for (size_t l = 0; l < 8; l++) {
            fr_to_scalar(&plain[l], &x);
            fr_mul(&x, &x, base);
        }
        load_plain(&w, plain);
        fr52_prepare(&c, &w);
        for (size_t l = 0; l < 8; l++) {
            fr52_const *o = &out[reversed ? reverse_bits(i + l, log) : i + l];
            for (int k = 0; k < 5; k++) {
                o->w[k] = ((const uint64_t *)&c.w.l[k])[l];
                o->q[k] = ((const uint64_t *)&c.q.l[k])[l];
            }
        }
    }
}

cuzk_status ntt_tables_create(struct ntt_tables **out, const domain *d, cuzk_error *err)
{
    size_t rows = (size_t)1 << (d->log_n + 1) / 2, columns = ((size_t)1 << d->log_n) / rows;
    size_t bytes = sizeof(struct ntt_tables) + 64 + (2 * rows + 2 * columns) * sizeof(fr52_const) +
                   4 * rows * sizeof(scalar);
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
    t->power[0] = (scalar *)(t->coset[1] + columns);
    t->power[1] = t->power[0] + rows;
    t->coset_power[0] = t->power[1] + rows;
    t->coset_power[1] = t->coset_power[0] + rows;
    fr x, inverse;
    uint64_t e = columns;
    fr_pow(&x, &d->root, &e, 1);
    fill_constants(t->roots, &x, rows, 0);
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
           4 * rows * sizeof(scalar);
}

typedef struct pass {
    const struct ntt_tables *t;
    unsigned row_log, column_log;
    fr *a;
    fr52 *buffers;
    fft_roots roots;
    const fr52_const *row_in; /* constants by row on the way in (first pass), or NULL */
    const fr52_const
        *column_io;     /* constants by column, out of the second pass or into the way back, or NULL */
    const scalar *lane; /* factor of the twist by column (first pass) or by k (way back), or NULL */
    fr step, start;     /* further factors of the twist: step^k start */
    int has_step;
} pass;

/* As fr52_mont_mul, with a result that is a factor again. */
static inline void mont_mul(fr52 *r, const fr52 *a, const fr52 *b)
{
    fr52_mont_mul(r, a, b);
    fr52_carry_loose(r);
}

static void mont_plain(fr52 *r, const fr *a) /* a Montgomery: its plain value in radix 2^260, in all lanes */
{
    scalar s;
    uint64_t limb[5];
    fr52 square;
    fr_to_scalar(&s, a);
    to_limbs(limb, &s);
    fr52_set1(r, limb);
    fr52_set1(&square, FR52_SQUARE);
    mont_mul(r, r, &square);
}

/* Eight series of powers P[j] = start V^(j spread), of which all advance by the factor next. V in radix
 * 2^260. */
typedef struct powers {
    fr52 p[8];
    fr52_consts next;
} powers;

/* P[j] = first * base^j; next = the plain number of advance. All in radix 2^260. */
static void powers_start(powers *s, const fr52 *first, const fr52 *base, const fr52 *advance)
{
    fr52 one, plain;
    uint64_t limb[5] = {1, 0, 0, 0, 0};
    s->p[0] = *first;
    for (int j = 1; j < 8; j++)
        mont_mul(&s->p[j], &s->p[j - 1], base);
    fr52_set1(&one, limb);
    fr52_mont_mul(&plain, advance, &one);
    fr52_canonical(&plain);
    fr52_prepare(&s->next, &plain);
}

/* start * lane, in radix 2^260. */
static void twist_first(fr52 *r, const pass *s, const fr52 *lane_plain)
{
    fr52 start;
    mont_plain(&start, &s->start);
    if (lane_plain) {
        fr52 t, square;
        fr52_set1(&square, FR52_SQUARE);
        mont_mul(&t, lane_plain, &square);
        mont_mul(&start, &start, &t);
    }
    *r = start;
}

static void plain_to_mont(fr52 *r, const fr52 *plain)
{
    fr52 square;
    fr52_set1(&square, FR52_SQUARE);
    mont_mul(r, plain, &square);
}

/* The twist's powers for columns g .. g + 7: those of k0 + j R / 8 for j < 8, advancing by k0. */
static void column_powers(powers *s, const pass *j, size_t g)
{
    fr52 w, plain, first, spread;
    load_plain(&plain, &j->t->power[j->roots.sign][g]);
    plain_to_mont(&w, &plain);
    if (j->has_step) {
        fr52 step;
        mont_plain(&step, &j->step);
        mont_mul(&w, &w, &step);
    }
    if (j->lane)
        load_plain(&plain, &j->lane[g]);
    twist_first(&first, j, j->lane ? &plain : NULL);
    spread = w;
    for (size_t i = 8; i < j->t->rows; i *= 2)
        mont_mul(&spread, &spread, &spread);
    powers_start(s, &first, &spread, &w);
}

/* Those for rows p .. p + 7: of columns 8 i + j, advancing by i. */
static void row_powers(powers *s, const pass *j, size_t p)
{
    scalar k[8], lane[8];
    fr52 v, v8th, plain, first;
    for (size_t l = 0; l < 8; l++) {
        size_t index = reverse_bits(p + l, j->row_log);
        k[l] = j->t->power[j->roots.sign][index];
        if (j->lane)
            lane[l] = j->lane[index];
    }
    load_plain(&plain, k);
    plain_to_mont(&v, &plain);
    if (j->lane)
        load_plain(&plain, lane);
    twist_first(&first, j, j->lane ? &plain : NULL);
    v8th = v;
    for (int i = 0; i < 3; i++)
        mont_mul(&v8th, &v8th, &v8th);
    powers_start(s, &first, &v, &v8th);
}

/* y = x power, strict, below 2^256; the power advances. */
static inline void twist(fr52 *y, const fr52 *x, fr52 *power, const fr52_consts *next)
{
    fr52 t = *x;
    fr52_carry_loose(&t);
    fr52_mont_mul(y, &t, power);
    fr52_carry(y);
    fr52_mul_consts(power, power, next);
    fr52_carry_loose(power);
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

static void forward_columns(void *ctx, size_t task, unsigned worker)
{
    const pass *s = ctx;
    size_t rows = s->t->rows, columns = s->t->columns, g = 8 * task;
    fr52 *x = s->buffers + worker * rows;
    powers pw;
    for (size_t r = 0; r < rows; r++) {
        const fr *row = s->a + r * columns + g;
        for (size_t i = 0; i < 4; i++)
            _mm_prefetch((const char *)(row + 16 * columns) + 64 * i, _MM_HINT_T1);
        fr52_load(&x[r], row);
        if (s->row_in)
            fr52_mul_const(&x[r], &x[r], &s->row_in[r]);
    }
    dif(x, rows, &s->roots);
    column_powers(&pw, s, g);
    for (size_t k0 = 0; k0 < rows / 8; k0++) {
        size_t p = 8 * reverse_bits(k0, s->row_log - 3);
        fr52 y[8];
        for (size_t j = 0; j < 8; j++) {
            size_t at = (j & 1) << 2 | (j & 2) | j >> 2; /* row p + at holds k0 + j R / 8 */
            twist(&y[at], &x[p + at], &pw.p[j], &pw.next);
        }
        tile_store(s->a + p * columns + g, columns, y);
    }
}

static void forward_rows(void *ctx, size_t task, unsigned worker)
{
    const pass *s = ctx;
    size_t columns = s->t->columns;
    fr52 *x = s->buffers + worker * s->t->rows;
    fr *a = s->a + 8 * task * columns;
    for (size_t c = 0; c < columns; c++)
        piece_load(&x[c], a + (c & 7) * columns + (c & ~(size_t)7));
    dif(x, columns, &s->roots);
    for (size_t q = 0; q < columns; q += 8) {
        for (size_t j = 0; j < 8; j++) {
            if (s->column_io)
                fr52_mul_open(&x[q + j], &x[q + j], &s->column_io[q + j]);
            fr52_canonical(&x[q + j]);
        }
        rows_store(a + q, columns, &x[q]);
    }
}

static void back_rows(void *ctx, size_t task, unsigned worker)
{
    const pass *s = ctx;
    size_t columns = s->t->columns;
    fr52 *x = s->buffers + worker * s->t->rows;
    fr *a = s->a + 8 * task * columns;
    powers pw;
    for (size_t q = 0; q < columns; q += 8) {
        rows_load(&x[q], a + q, columns);
        for (size_t j = 0; s->column_io && j < 8; j++)
            fr52_mul_const(&x[q + j], &x[q + j], &s->column_io[q + j]);
    }
    dit(x, columns, &s->roots);
    row_powers(&pw, s, 8 * task);
    for (size_t c = 0; c < columns; c += 8) {
        fr52 y[8];
        for (size_t j = 0; j < 8; j++) {
            twist(&y[j], &x[c + j], &pw.p[j], &pw.next);
        }
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

/* Natural to bit-reversed order, of a (coset: of a[i] g^i). */
cuzk_status ntt_nr_forward_ifma(const domain *d, fr *a, int coset, pool *p, cuzk_error *err)
{
    pass s = {.a = a, .start = FR_ONE};
    if (coset) {
        s.row_in = d->ifma->coset_row;
        s.lane = d->ifma->coset_power[0];
    }
    return run(&s, d, 0, p, err);
}

/* Natural to bit-reversed order; result i is multiplied by factor and, for a coset, by g^-i. */
cuzk_status ntt_nr_inverse_ifma(const domain *d, fr *a, const fr *factor, int coset, pool *p, cuzk_error *err)
{
    pass s = {.a = a, .start = *factor, .roots.sign = 1};
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
