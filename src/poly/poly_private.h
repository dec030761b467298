/* What the files of src/poly share.
 *
 * The transform is the Cooley-Tukey one whose butterfly at block i of level l, of 2^l blocks, multiplies by
 * the single constant w_l^rev(i): natural order in, bit-reversed order out. The constants of every level are
 * a prefix of one table, twiddle[i] = w^(rev(i)) with i < n/2, read in order. Run backwards (Gentleman-Sande)
 * it takes bit-reversed order to natural order; with inverse constants both undo the other. */
#ifndef POLY_POLY_PRIVATE_H
#define POLY_POLY_PRIVATE_H
#include "field/fr_adx.h"
#include "poly/poly.h"
#include <pthread.h>

struct domain {
    unsigned log_n;
    fr root, coset, coset_inv;
    fr n_inv;                /* 1 / n */
    fr vanish_inv;           /* 1 / (coset^n - 1) */
    pthread_mutex_t lock;    /* of twiddle while it is made */
    fr *twiddle;             /* see domain_twiddles */
    struct ntt_tables *ifma; /* of the vector form, or NULL */
};

/* The table: n / 2 entries (one for n = 1), made where it is first used; NULL if memory could not be had. */
const fr *domain_twiddles(const domain *d, pool *p);

typedef enum ntt_direction { NTT_FORWARD, NTT_INVERSE } ntt_direction;
/* Unscaled transforms; nr: natural to bit-reversed order, rn: bit-reversed to natural. */
cuzk_status ntt_nr_portable(const domain *d, fr *a, ntt_direction dir, pool *p, cuzk_error *err);
cuzk_status ntt_rn_portable(const domain *d, fr *a, ntt_direction dir, pool *p, cuzk_error *err);
/* The levels of a pass on `rows` rows of `width` elements; block: index of the whole among the blocks of its
 * level. */
typedef void ntt_levels_fn(fr *x, size_t rows, size_t width, size_t block, const fr *twiddle,
                           ntt_direction dir);
ntt_levels_fn levels_nr_portable, levels_rn_portable;
#ifdef FR_ADX
ntt_levels_fn levels_nr_adx, levels_rn_adx;
#endif

/* Either, by passes of at most pass_log levels: few on small sizes is what tests need. */
cuzk_status ntt_passes(const domain *d, fr *a, ntt_direction dir, int backwards, unsigned pass_log, pool *p,
                       cuzk_error *err);
void bit_reverse(fr *a, unsigned log_n, pool *p);
/* a[i] *= factor * base^i, or base^rev(i) where reversed. */
void scale_powers(fr *a, unsigned log_n, const fr *factor, const fr *base, int reversed, pool *p);

cuzk_status ntt_portable(const domain *d, fr *a, ntt_direction dir, int coset, pool *p, cuzk_error *err);
cuzk_status quotient_portable(const domain *d, fr *a, fr *b, fr *extra, pool *p, cuzk_error *err);

/* The vector form: for domains that have tables, on a processor that has the instructions. Results are
 * canonical. */
#define NTT_IFMA_MIN_LOG 6
/* Rows of its matrix, as many as columns or twice as many. */
static inline unsigned ntt_row_log(unsigned log_n)
{
    return (log_n + 1) / 2;
}
cuzk_status ntt_tables_create(struct ntt_tables **out, const domain *d, cuzk_error *err);
void ntt_tables_destroy(struct ntt_tables *t);
size_t ntt_tables_memory(unsigned log_n);
cuzk_status ntt_ifma(const domain *d, fr *a, ntt_direction dir, int coset, pool *p, cuzk_error *err);
size_t quotient_memory_ifma(unsigned log_n, unsigned threads);
cuzk_status quotient_ifma(const domain *d, fr *a, fr *b, fr *extra, pool *p, cuzk_error *err);

/* The low `bits` bits of v in reverse order. */
static inline size_t reverse_bits(size_t v, unsigned bits)
{
    uint64_t x = v;
    if (!bits)
        return 0;
    x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
    return (size_t)(__builtin_bswap64(x) >> (64 - bits));
}
#endif
