/* Oracles: the textbook transform and the quotient by seven transforms. */
#include "poly/poly_private.h"

static void transform_ref(fr *a, unsigned log_n, const fr *root)
{
    size_t n = (size_t)1 << log_n;
    for (size_t i = 0; i < n; i++) {
        size_t j = reverse_bits(i, log_n);
        if (i < j) {
            fr t = a[i];
            a[i] = a[j], a[j] = t;
        }
    }
    for (size_t half = 1; half < n; half *= 2) {
        fr step = *root;
        for (size_t m = n / (2 * half); m > 1; m /= 2)
            fr_sqr(&step, &step);
        for (size_t k = 0; k < n; k += 2 * half) {
            fr w = FR_ONE, t;
            for (size_t j = k; j < k + half; j++) {
                fr_mul(&t, &a[j + half], &w);
                fr_sub(&a[j + half], &a[j], &t);
                fr_add(&a[j], &a[j], &t);
                fr_mul(&w, &w, &step);
            }
        }
    }
}

void ntt_forward_ref(const domain *d, fr *a)
{
    transform_ref(a, d->log_n, &d->root);
}

void ntt_inverse_ref(const domain *d, fr *a)
{
    fr inv;
    fr_inv(&inv, &d->root);
    transform_ref(a, d->log_n, &inv);
    for (size_t i = 0; i < domain_size(d); i++)
        fr_mul(&a[i], &a[i], &d->n_inv);
}

static void shift_ref(fr *a, size_t n, const fr *g)
{
    fr power = FR_ONE;
    for (size_t i = 0; i < n; i++) {
        fr_mul(&a[i], &a[i], &power);
        fr_mul(&power, &power, g);
    }
}

void quotient_ref(const domain *d, fr *a, fr *b, fr *c)
{
    size_t n = domain_size(d);
    fr *each[3] = {a, b, c};
    for (int k = 0; k < 3; k++) {
        ntt_inverse_ref(d, each[k]);
        shift_ref(each[k], n, &d->coset);
        ntt_forward_ref(d, each[k]);
    }
    for (size_t i = 0; i < n; i++) {
        fr_mul(&a[i], &a[i], &b[i]);
        fr_sub(&a[i], &a[i], &c[i]);
        fr_mul(&a[i], &a[i], &d->vanish_inv); /* x^n - 1 is one constant on the coset */
    }
    ntt_inverse_ref(d, a);
    shift_ref(a, n, &d->coset_inv);
}
