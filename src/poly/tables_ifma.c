/* The tables of a transform: powers of the root, of the coset generator, and starts of the twists. */
#include "base/mem.h"
#include "poly/transform_ifma.h"

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
    size_t rows = (size_t)1 << ntt_row_log(d->log_n), columns = ((size_t)1 << d->log_n) / rows;
    size_t bytes = ntt_tables_memory(d->log_n);
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
    size_t rows = (size_t)1 << ntt_row_log(log_n), columns = ((size_t)1 << log_n) / rows;
    return sizeof(struct ntt_tables) + 64 + (2 * rows + 2 * columns) * sizeof(fr52_const) +
           4 * rows * sizeof(fr);
}
