/* Transforms in natural order with AVX-512 IFMA: columns into scratch, rows from there back. */
#include "base/mem.h"
#include "poly/transform_ifma.h"

typedef struct natural_job {
    transform s;
    fr *a;
    fr52 *scratch; /* the rows of the second pass, eight in the lanes, one after the other */
    fr52 *buffers;
    int stream; /* a lies on lines of the cache: results go past it */
} natural_job;

/* Twists a transformed column and turns it into eight numbers of every row, as limbs: a quarter more memory
 * than words, but less to do. */
static void columns_out(const natural_job *j, const fr52 *x, size_t g)
{
    const transform *s = &j->s;
    size_t eighth = s->t->rows / 8;
    twist tw;
    column_twist(&tw, s, g);
    for (size_t k = 0; k < eighth; k++) {
        const fr52 *from = &x[reverse_bits(k, s->row_log - 3)];
        v8 limb[5][8];
        fr52_rows power;
        twist_next(&power, &tw);
        for (size_t i = 0; i < 8; i += 2) {
            fr52 y[2];
            twist_two(y, &from[fft8_place(i, 1) * eighth], &from[fft8_place(i + 1, 1) * eighth], &tw, i,
                      &power, 1);
            for (size_t l = 0; l < 5; l++)
                limb[l][i] = y[0].l[l], limb[l][i + 1] = y[1].l[l];
        }
        fr52 *to = j->scratch + k * s->t->columns + g;
        for (size_t l = 0; l < 5; l++)
            store_turned(&to->l[l], sizeof *to, limb[l], 1);
    }
}

static void columns_pass(void *ctx, size_t task, size_t next, unsigned worker)
{
    const natural_job *j = ctx;
    const transform *s = &j->s;
    size_t rows = s->t->rows, columns = s->t->columns, g = 8 * task;
    fr52 *x = j->buffers + worker * rows;
    for (size_t r = 0; r < rows; r++) {
        const fr *row = j->a + r * columns + g;
        for (size_t i = 0; i < 4; i++)
            _mm_prefetch((const char *)(row + 16 * columns) + 64 * i, _MM_HINT_T1);
        fr52_load(&x[r], row);
        if (s->row_in)
            fr52_mul_const(&x[r], &x[r], &s->row_in[r]);
    }
    fft_ahead ahead = {(const char *)(j->a + 8 * next), 8 * columns * sizeof(fr), columns * sizeof(fr), 0,
                       rows};
    dif(x, rows, &s->roots, &ahead);
    columns_out(j, x, g);
}

static void rows_pass(void *ctx, size_t task, size_t next, unsigned worker)
{
    const natural_job *j = ctx;
    const transform *s = &j->s;
    size_t rows = s->t->rows, columns = s->t->columns, k = 8 * task;
    fr52 *x = j->buffers + worker * rows;
    /* one piece after the other */
    fft_ahead ahead = {(const char *)(j->scratch + next * columns), 8 * 256, 256, 0,
                       columns * sizeof(fr52) / 256};
    dif_from(x, j->scratch + task * columns, columns, &s->roots, &ahead);
    for (size_t m = 0; m < columns; m++) {
        size_t at = reverse_bits(m, s->column_log);
        fr52 t = x[at];
        if (s->column_io)
            fr52_mul_const(&t, &t, &s->column_io[at]);
        fr52_canonical(&t);
        fr52_store(j->a + m * rows + k, &t, j->stream);
    }
}

cuzk_status ntt_ifma(const domain *d, fr *a, ntt_direction dir, int coset, pool *p, cuzk_error *err)
{
    natural_job j = {.s = transform_of(d, dir), .a = a, .stream = !((uintptr_t)a & 63)};
    const cancel_token *stop = pool_watched(p);
    j.s.natural = 1;
    if (dir == NTT_INVERSE)
        j.s.start = d->n_inv;
    if (coset && dir == NTT_FORWARD) {
        j.s.row_in = d->ifma->coset_row;
        j.s.lane = d->ifma->coset_power[0];
    }
    if (coset && dir == NTT_INVERSE) {
        j.s.has_step = 1;
        j.s.step = d->coset_inv;
        j.s.column_io = d->ifma->coset[1];
    }
    size_t bytes = (sizeof(fr52) / 8) << d->log_n, buffer_bytes = pool_size(p) * d->ifma->rows * sizeof(fr52);
    j.scratch = pool_take(p, bytes);
    j.buffers = pool_take(p, buffer_bytes);
    if (j.scratch && j.buffers) {
        pool_for_ahead(p, stop, d->ifma->columns / 8, columns_pass, &j);
        pool_for_ahead(p, stop, d->ifma->rows / 8, rows_pass, &j);
    }
    cuzk_status st = j.scratch && j.buffers ? CUZK_OK : mem_error(err, bytes, "scratch of a transform");
    pool_give(p, j.buffers, buffer_bytes);
    pool_give(p, j.scratch, bytes);
    return st;
}
