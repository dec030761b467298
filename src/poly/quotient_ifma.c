/* The quotient by six transforms (see quotient.c) in four passes over memory, with AVX-512 IFMA: columns on
 * the way to coefficients, of a, b and their product; rows of a and b, to coefficients and on to the coset;
 * columns of both, their product and its way to coefficients; rows of the two products and their difference.
 * All scalings ride along with the transforms. */
#include "base/mem.h"
#include "poly/transform_ifma.h"

typedef struct quotient_job {
    fr *a, *b, *extra;
    fr52 *buffers;
    int stream;          /* results past the caches: the arrays lie on lines of the cache */
    transform in, coset; /* of a and b: to coefficients, on to the coset */
    transform product,
        coset_product; /* of the products: to coefficients, times what makes the difference h */
} quotient_job;

/* A worker's two columns. */
static void buffers_of(const quotient_job *j, unsigned worker, fr52 **x, fr52 **y)
{
    size_t rows = j->in.t->rows;
    *x = j->buffers + 2 * worker * rows;
    *y = *x + rows;
}

static void columns_in(void *ctx, size_t task, unsigned worker)
{
    const quotient_job *j = ctx;
    size_t rows = j->in.t->rows, g = 8 * task;
    fr52 *x, *y;
    buffers_of(j, worker, &x, &y);
    for (size_t r = 0; r < rows; r++) {
        fr52 t;
        fr52_load(&x[r], tile_at(&j->in, j->a, r, g));
        fr52_load(&t, tile_at(&j->in, j->b, r, g));
        fr52_mont_mul(&y[r], &x[r], &t);
    }
    dif(y, rows, &j->product.roots, NULL);
    columns_store(j->extra, y, &j->product, g, j->stream);
    dif(x, rows, &j->in.roots, NULL);
    columns_store(j->a, x, &j->in, g, 0);
    for (size_t r = 0; r < rows; r++)
        fr52_load(&x[r], tile_at(&j->in, j->b, r, g));
    dif(x, rows, &j->in.roots, NULL);
    columns_store(j->b, x, &j->in, g, 0);
    _mm_sfence();
}

/* Rows of a, then those of b. */
static void rows_to_coset(void *ctx, size_t task, unsigned worker)
{
    const quotient_job *j = ctx;
    size_t columns = j->in.t->columns, tasks = j->in.t->rows / 8, p = 8 * (task % tasks);
    fr *v = task < tasks ? j->a : j->b;
    fr52 *x, *y;
    buffers_of(j, worker, &x, &y);
    rows_load(x, v, &j->in, p);
    dif(x, columns, &j->in.roots, NULL);
    for (size_t q = 0; q < columns; q++)
        fr52_mul_const(&x[q], &x[q], &j->coset.column_io[q]);
    dit(x, columns, &j->coset.roots, NULL);
    rows_store(v, x, &j->coset, p, j->stream);
    _mm_sfence();
}

/* A factor below 23/4 r from what a transform leaves. */
static inline void factor(fr52 *r)
{
    fr52_reduce_positive(r);
    fr52_carry_loose(r);
}

/* The product of two factors is below 2 r. */
static void columns_product(void *ctx, size_t task, unsigned worker)
{
    const quotient_job *j = ctx;
    size_t rows = j->in.t->rows, g = 8 * task;
    fr52 *x, *y;
    buffers_of(j, worker, &x, &y);
    column_load(x, j->a, &j->coset, g);
    dit(x, rows, &j->coset.roots, NULL);
    column_load(y, j->b, &j->coset, g);
    dit(y, rows, &j->coset.roots, NULL);
    for (size_t r = 0; r < rows; r++) {
        factor(&x[r]);
        factor(&y[r]);
        fr52_mont_mul(&x[r], &x[r], &y[r]);
    }
    dif(x, rows, &j->coset_product.roots, NULL);
    columns_store(j->b, x, &j->coset_product, g, 0);
}

/* The differences, in natural order, to a, which nobody needs any more. */
static void rows_out(void *ctx, size_t task, unsigned worker)
{
    const quotient_job *j = ctx;
    const transform *s = &j->coset_product;
    size_t rows = s->t->rows, columns = s->t->columns, k = 8 * task;
    fr52 *x, *y;
    buffers_of(j, worker, &x, &y);
    rows_load(x, j->b, s, k);
    dif(x, columns, &s->roots, NULL);
    rows_load(y, j->extra, s, k);
    dif(y, columns, &s->roots, NULL);
    for (size_t m = 0; m < columns; m++) {
        size_t at = reverse_bits(m, s->column_log);
        fr52 t, u = y[at];
        fr52_mul_const(&t, &x[at], &s->column_io[at]);
        fr52_reduce(&u);
        fr52_difference(&t, &t, &u);
        fr52_canonical(&t);
        fr52_store(j->a + m * rows + k, &t, j->stream);
    }
    _mm_sfence();
}

/* 2^-252, in blst's form: takes numbers to plain integers and back the 2^4 that a product of two numbers in
 * blst's form by radix 2^260 lacks. */
static const fr PLAIN_PRODUCT = {{16}};

/* Two columns for every thread. */
size_t quotient_memory_ifma(unsigned log_n, unsigned threads)
{
    return (size_t)threads * (2 * sizeof(fr52)) << ntt_row_log(log_n);
}

cuzk_status quotient_ifma(const domain *d, fr *a, fr *b, fr *extra, pool *p, cuzk_error *err)
{
    size_t rows = d->ifma->rows, columns = d->ifma->columns,
           bytes = quotient_memory_ifma(d->log_n, pool_size(p));
    quotient_job j = {.a = a, .b = b, .extra = extra};
    const cancel_token *stop = pool_watched(p);
    j.stream = !(((uintptr_t)a | (uintptr_t)b | (uintptr_t)extra) & 63);
    j.in = transform_of(d, NTT_INVERSE);
    j.in.start = d->n_inv;
    j.coset = transform_of(d, NTT_FORWARD);
    j.coset.column_io = d->ifma->coset[0];
    j.coset.lane = d->ifma->coset_power[0];
    j.product = transform_of(d, NTT_INVERSE);
    j.product.natural = 1;
    fr_mul(&j.product.start, &d->n_inv, &d->vanish_inv);
    fr_mul(&j.product.start, &j.product.start, &PLAIN_PRODUCT);
    j.coset_product = j.product;
    j.coset_product.has_step = 1;
    j.coset_product.step = d->coset_inv;
    j.coset_product.column_io = d->ifma->coset[1];
    if (!(j.buffers = pool_take(p, bytes)))
        return mem_error(err, bytes, "the buffers of a transform");
    pool_for_until(p, stop, columns / 8, columns_in, &j);
    pool_for_until(p, stop, rows / 4, rows_to_coset, &j);
    pool_for_until(p, stop, columns / 8, columns_product, &j);
    pool_for_until(p, stop, rows / 8, rows_out, &j);
    pool_give(p, j.buffers, bytes);
    return CUZK_OK;
}
