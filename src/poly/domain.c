/* Evaluation domains: roots, coset constants, the table of twiddles. */
#include "base/cpu.h"
#include "base/mem.h"
#include "poly/poly_private.h"

static size_t twiddle_count(unsigned log_n)
{
    return log_n ? (size_t)1 << (log_n - 1) : 1;
}
size_t domain_memory(unsigned log_n)
{
    int vector = cpu_get()->ifma && log_n >= NTT_IFMA_MIN_LOG;
    return sizeof(domain) + (vector ? ntt_tables_memory(log_n) : twiddle_count(log_n) * sizeof(fr));
}
unsigned domain_log(const domain *d)
{
    return d->log_n;
}
size_t domain_size(const domain *d)
{
    return (size_t)1 << d->log_n;
}
const fr *domain_root(const domain *d)
{
    return &d->root;
}

typedef struct fill_job {
    fr *low, *high;
    const fr *power;
} fill_job;

static void fill_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    const fill_job *j = ctx;
    (void)worker;
    for (size_t i = first; i < end; i++)
        fr_mul(&j->high[i], &j->low[i], j->power);
}

/* Doubles the table level by level: rev of 2^m + i is rev of i plus the level's own power. */
static void fill_twiddles(fr *twiddle, unsigned log_n, const fr *root, pool *p)
{
    fr step = *root;
    twiddle[0] = FR_ONE;
    if (log_n < 2)
        return;
    fr powers[DOMAIN_MAX_LOG]; /* powers[m] = w^(n / 2^(m+2)), the factor of entry 2^m */
    for (unsigned m = log_n - 1; m-- > 0;) {
        powers[m] = step;
        fr_sqr(&step, &step);
    }
    for (unsigned m = 0; m + 1 < log_n; m++) {
        size_t half = (size_t)1 << m;
        fill_job j = {twiddle, twiddle + half, &powers[m]};
        pool_for_range(half < 8192 ? NULL : p, half, 4096, fill_range, &j);
    }
}

const fr *domain_twiddles(const domain *d, pool *p)
{
    domain *cache = (domain *)d; /* the table is made once, whoever asks first */
    pthread_mutex_lock(&cache->lock);
    if (!cache->twiddle) {
        fr *t = big_alloc(twiddle_count(d->log_n) * sizeof(fr));
        if (t)
            fill_twiddles(t, d->log_n, &d->root, p);
        cache->twiddle = t;
    }
    pthread_mutex_unlock(&cache->lock);
    return d->twiddle;
}

cuzk_status domain_create(domain **out, unsigned log_n, unsigned generator, cuzk_error *err)
{
    unsigned limit = generator == 5 ? DOMAIN_MAX_LOG - 1 : DOMAIN_MAX_LOG; /* 5's coset needs a 2n-th root */
    if (generator != 5 && generator != 7)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "a domain's generator is 5 or 7, not %u",
                              generator);
    if (log_n > limit)
        return cuzk_error_set(err, CUZK_UNSUPPORTED,
                              "a domain of 2^%u is larger than 2^%u, the field's largest", log_n, limit);
    domain *d = mem_calloc(1, sizeof *d);
    if (!d)
        return mem_error(err, sizeof *d, "a domain");
    d->log_n = log_n;
    pthread_mutex_init(&d->lock, NULL);
    fr_root_of_unity(&d->root, log_n, generator);
    if (generator == 5)
        fr_root_of_unity(&d->coset, log_n + 1, generator);
    else
        fr_from_u64(&d->coset, generator);
    fr_inv(&d->coset_inv, &d->coset);
    fr_from_u64(&d->n_inv, (uint64_t)1 << log_n);
    fr_inv(&d->n_inv, &d->n_inv);
    d->vanish_inv = d->coset;
    for (unsigned i = 0; i < log_n; i++)
        fr_sqr(&d->vanish_inv, &d->vanish_inv);
    fr_sub(&d->vanish_inv, &d->vanish_inv, &FR_ONE);
    fr_inv(&d->vanish_inv, &d->vanish_inv);
    cuzk_status st = CUZK_OK;
    if (cpu_get()->ifma && log_n >= NTT_IFMA_MIN_LOG)
        st = ntt_tables_create(&d->ifma, d, err); /* the scalar form's table waits until somebody asks */
    else if (!domain_twiddles(d, NULL))
        st = mem_error(err, twiddle_count(log_n) * sizeof(fr), "a table of twiddles");
    if (st) {
        domain_destroy(d);
        return st;
    }
    *out = d;
    return CUZK_OK;
}

void domain_destroy(domain *d)
{
    if (!d)
        return;
    ntt_tables_destroy(d->ifma);
    if (d->twiddle)
        big_free(d->twiddle, twiddle_count(d->log_n) * sizeof(fr));
    pthread_mutex_destroy(&d->lock);
    mem_free(d);
}
