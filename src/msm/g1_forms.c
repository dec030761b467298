/* The vector forms of the sums in G1, and which of them this processor is quicker with. */
#include "field/fp52_form.h"
#include "msm/msm_private.h"
#include <pthread.h>

#if defined(__x86_64__)
static const g1_form *in_use;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void choose(void)
{
    in_use = fp52_halves_pay_ifma() ? &G1_BY_HALVES : &G1_BY_ROWS;
}

const g1_form *g1_form_in_use(void)
{
    pthread_once(&once, choose);
    return in_use;
}

void g1_form_force(const g1_form *form)
{
    pthread_once(&once, choose);
    in_use = form;
}

cuzk_status msm_g1_ifma(g1 *out, const g1_affine *bases, const uint32_t *index, const scalar *k, size_t n,
                        pool *p, const cancel_token *cancel, cuzk_error *err)
{
    return g1_form_in_use()->sum(out, bases, index, k, n, NULL, p, cancel, err);
}

cuzk_status msm_g1_ifma_tuned(g1 *out, const g1_affine *bases, const scalar *k, size_t n,
                              const msm_tuning *tuning, pool *p, cuzk_error *err)
{
    return g1_form_in_use()->sum(out, bases, NULL, k, n, tuning, p, NULL, err);
}

cuzk_status msm_g1_subset_ifma(g1 *out, const g1_affine *bases, const uint64_t *bits, size_t n, pool *p,
                               const cancel_token *cancel, cuzk_error *err)
{
    return g1_form_in_use()->subset(out, bases, bits, n, p, cancel, err);
}

cuzk_status g1_fixed_base_ifma(g1_affine *r, const g1_affine *base, const fr *k, size_t n, pool *p,
                               cuzk_error *err)
{
    return g1_form_in_use()->fixed_base(r, base, k, n, p, err);
}
#endif
