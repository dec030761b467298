/* Evaluation domains and number-theoretic transforms over Fr.
 *
 * A domain of size n = 2^k has root w = 7^((r-1)/2^k) (bellperson's; or 5's for snarkjs) and coset generator
 * g. Forward: a[i] <- sum_j a[j] w^(ij); inverse undoes it, with the 1/n. Natural order in and out unless the
 * name says otherwise. */
#ifndef POLY_POLY_H
#define POLY_POLY_H
#include "base/pool.h"
#include "field/field.h"
#include "field/order.h"

typedef struct domain domain; /* tables; read-only after creation, shared freely between threads */
#define DOMAIN_MAX_LOG 32

/* generator: 7 or 5. The coset generator is 7 for 7 and, for 5 (snarkjs), the 2n-th root of unity. */
cuzk_status domain_create(domain **out, unsigned log_n, unsigned generator, cuzk_error *err) CUZK_MUST_CHECK;
void domain_destroy(domain *d);
unsigned domain_log(const domain *d);
size_t domain_size(const domain *d);
const fr *domain_root(const domain *d);
size_t domain_memory(unsigned log_n); /* bytes that a domain of this size holds */

cuzk_status ntt_forward(const domain *d, fr *a, pool *p, cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status ntt_inverse(const domain *d, fr *a, pool *p, cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status ntt_coset_forward(const domain *d, fr *a, pool *p, cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status ntt_coset_inverse(const domain *d, fr *a, pool *p, cuzk_error *err) CUZK_MUST_CHECK;
void ntt_forward_ref(const domain *d, fr *a); /* textbook radix 2 */
void ntt_inverse_ref(const domain *d, fr *a);

/* The order that quotient takes its inputs in, and a copy of n elements in that order. */
fr_order domain_order(const domain *d);
void domain_arrange(const domain *d, fr *to, const fr *from, pool *p);

/* The quotient of Groth16: from a = A w and b = B w in evaluation form (rows, zero-padded to n), the n - 1
 * coefficients of h = (A(x) B(x) - C(x)) / (x^n - 1), where C interpolates a*b on the domain. Six transforms
 * (DESIGN: C = AB mod (x^n - 1), the coset gives AB mod (x^n - g^n), h = difference / (g^n - 1)).
 * A token that the pool watches stops it: the result is then nothing (pool_watch).
 * In: a, b, in the domain's order. Out: a holds h as canonical scalars in a[0 .. n-2], in the usual order,
 * a[n-1] = 0. b is scratch. extra: n elements of scratch. */
cuzk_status quotient(const domain *d, fr *a, fr *b, fr *extra, pool *p, cuzk_error *err) CUZK_MUST_CHECK;
/* What it takes beside the three arrays, but for some hundred KiB of every thread. */
size_t quotient_memory(unsigned log_n, unsigned threads);
/* Seven transforms from a, b and c, all on the coset; result in Montgomery form in a. */
void quotient_ref(const domain *d, fr *a, fr *b, fr *c);
#endif
