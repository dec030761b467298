/* The public transforms: choice of the form for this processor. */
#include "base/cpu.h"
#include "poly/poly_private.h"

static int vector_form(const domain *d)
{
    return d->ifma && cpu_get()->ifma;
}

static cuzk_status transform(const domain *d, fr *a, ntt_direction dir, int coset, pool *p, cuzk_error *err)
{
    return (vector_form(d) ? ntt_ifma : ntt_portable)(d, a, dir, coset, p, err);
}

cuzk_status ntt_forward(const domain *d, fr *a, pool *p, cuzk_error *err)
{
    return transform(d, a, NTT_FORWARD, 0, p, err);
}

cuzk_status ntt_inverse(const domain *d, fr *a, pool *p, cuzk_error *err)
{
    return transform(d, a, NTT_INVERSE, 0, p, err);
}

cuzk_status ntt_coset_forward(const domain *d, fr *a, pool *p, cuzk_error *err)
{
    return transform(d, a, NTT_FORWARD, 1, p, err);
}

cuzk_status ntt_coset_inverse(const domain *d, fr *a, pool *p, cuzk_error *err)
{
    return transform(d, a, NTT_INVERSE, 1, p, err);
}

fr_order domain_order(const domain *d)
{
    if (!vector_form(d))
        return FR_USUAL_ORDER;
    return (fr_order){ntt_row_log(d->log_n), d->log_n - ntt_row_log(d->log_n)};
}

typedef struct arrange_job {
    fr *to;
    const fr *from;
    fr_order order;
} arrange_job;

static void arrange_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    const arrange_job *j = ctx;
    (void)worker;
    for (size_t i = first; i < end; i++)
        j->to[fr_place(&j->order, i)] = j->from[i];
}

void domain_arrange(const domain *d, fr *to, const fr *from, pool *p)
{
    pool_for_range(p, domain_size(d), 4096, arrange_range, &(arrange_job){to, from, domain_order(d)});
}

cuzk_status quotient(const domain *d, fr *a, fr *b, fr *extra, pool *p, cuzk_error *err)
{
    return (vector_form(d) ? quotient_ifma : quotient_portable)(d, a, b, extra, p, err);
}

size_t quotient_memory(unsigned log_n, unsigned threads)
{
    return cpu_get()->ifma && log_n >= NTT_IFMA_MIN_LOG ? quotient_memory_ifma(log_n, threads) : 0;
}
