/* Fp products with MULX, ADCX and ADOX, for code reached where cpu_get()->adx says so.
 *
 * blst's own product is of the same kind; this one is inlined and leaves out the last subtraction where the
 * caller can do without. Row by row: add a * b[i], then m * p with m = -t / p mod 2^64, shift. The top limb
 * of p is below 2^61, so that a row never carries out of seven limbs.
 *
 * Bounds: for a * b < k p^2 the lazy product is below (1 + 0.102 k) p; k up to 9 keeps it below 2p. */
#ifndef FIELD_FP_ADX_H
#define FIELD_FP_ADX_H
#include "field/field.h"
#if defined(__x86_64__)
#define FP_ADX 1

static const uint64_t FP_P[6] = {0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624,
                                 0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a};

/* t += a * b[i], the carry out in A */
#define ROW_(i)                                                                                              \
    "movq 8*" #i "(%[b]), %%rdx\n\t"                                                                         \
    "xorl %k[lo], %k[lo]\n\t"                                                                                \
    "mulxq 0(%[a]), %[lo], %[A]\n\t"                                                                         \
    "adoxq %[lo], %[t0]\n\t"                                                                                 \
    "adcxq %[A], %[t1]\n\t"                                                                                  \
    "mulxq 8(%[a]), %[lo], %[A]\n\t"                                                                         \
    "adoxq %[lo], %[t1]\n\t"                                                                                 \
    "adcxq %[A], %[t2]\n\t"                                                                                  \
    "mulxq 16(%[a]), %[lo], %[A]\n\t"                                                                        \
    "adoxq %[lo], %[t2]\n\t"                                                                                 \
    "adcxq %[A], %[t3]\n\t"                                                                                  \
    "mulxq 24(%[a]), %[lo], %[A]\n\t"                                                                        \
    "adoxq %[lo], %[t3]\n\t"                                                                                 \
    "adcxq %[A], %[t4]\n\t"                                                                                  \
    "mulxq 32(%[a]), %[lo], %[A]\n\t"                                                                        \
    "adoxq %[lo], %[t4]\n\t"                                                                                 \
    "adcxq %[A], %[t5]\n\t"                                                                                  \
    "mulxq 40(%[a]), %[lo], %[A]\n\t"                                                                        \
    "adoxq %[lo], %[t5]\n\t"                                                                                 \
    "movl $0, %k[lo]\n\t"                                                                                    \
    "adcxq %[lo], %[A]\n\t"                                                                                  \
    "adoxq %[lo], %[A]\n\t"

/* t = (t + m p) / 2^64, with the carry A of the row */
#define REDUCE_                                                                                              \
    "movq %[n0], %%rdx\n\t"                                                                                  \
    "imulq %[t0], %%rdx\n\t"                                                                                 \
    "xorl %k[lo], %k[lo]\n\t"                                                                                \
    "mulxq %[p], %[lo], %[s]\n\t"                                                                            \
    "adcxq %[t0], %[lo]\n\t"                                                                                 \
    "movq %[s], %[t0]\n\t"                                                                                   \
    "adcxq %[t1], %[t0]\n\t"                                                                                 \
    "mulxq 8+%[p], %[lo], %[t1]\n\t"                                                                         \
    "adoxq %[lo], %[t0]\n\t"                                                                                 \
    "adcxq %[t2], %[t1]\n\t"                                                                                 \
    "mulxq 16+%[p], %[lo], %[t2]\n\t"                                                                        \
    "adoxq %[lo], %[t1]\n\t"                                                                                 \
    "adcxq %[t3], %[t2]\n\t"                                                                                 \
    "mulxq 24+%[p], %[lo], %[t3]\n\t"                                                                        \
    "adoxq %[lo], %[t2]\n\t"                                                                                 \
    "adcxq %[t4], %[t3]\n\t"                                                                                 \
    "mulxq 32+%[p], %[lo], %[t4]\n\t"                                                                        \
    "adoxq %[lo], %[t3]\n\t"                                                                                 \
    "adcxq %[t5], %[t4]\n\t"                                                                                 \
    "mulxq 40+%[p], %[lo], %[t5]\n\t"                                                                        \
    "adoxq %[lo], %[t4]\n\t"                                                                                 \
    "movl $0, %k[lo]\n\t"                                                                                    \
    "adcxq %[lo], %[t5]\n\t"                                                                                 \
    "adoxq %[A], %[t5]\n\t"

#define FIRST_ROW_                                                                                           \
    "movq 0(%[b]), %%rdx\n\t"                                                                                \
    "xorl %k[lo], %k[lo]\n\t"                                                                                \
    "mulxq 0(%[a]), %[t0], %[t1]\n\t"                                                                        \
    "mulxq 8(%[a]), %[lo], %[t2]\n\t"                                                                        \
    "adoxq %[lo], %[t1]\n\t"                                                                                 \
    "mulxq 16(%[a]), %[lo], %[t3]\n\t"                                                                       \
    "adoxq %[lo], %[t2]\n\t"                                                                                 \
    "mulxq 24(%[a]), %[lo], %[t4]\n\t"                                                                       \
    "adoxq %[lo], %[t3]\n\t"                                                                                 \
    "mulxq 32(%[a]), %[lo], %[t5]\n\t"                                                                       \
    "adoxq %[lo], %[t4]\n\t"                                                                                 \
    "mulxq 40(%[a]), %[lo], %[A]\n\t"                                                                        \
    "adoxq %[lo], %[t5]\n\t"                                                                                 \
    "movl $0, %k[lo]\n\t"                                                                                    \
    "adoxq %[lo], %[A]\n\t"

static inline __attribute__((always_inline)) void fp_mul_lazy_adx(fp *r, const fp *a, const fp *b)
{
    static const uint64_t n0 = 0x89f3fffcfffcfffd;
    uint64_t t0, t1, t2, t3, t4, t5, A, lo, s;
    __asm__(FIRST_ROW_ REDUCE_ ROW_(1) REDUCE_ ROW_(2) REDUCE_ ROW_(3) REDUCE_ ROW_(4) REDUCE_ ROW_(5) REDUCE_
            : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [t5] "=&r"(t5),
              [A] "=&r"(A), [lo] "=&r"(lo), [s] "=&r"(s)
            : [a] "r"(a), [b] "r"(b), [p] "m"(FP_P), [n0] "m"(n0), "m"(*a), "m"(*b)
            : "rdx", "cc");
    r->l[0] = t0, r->l[1] = t1, r->l[2] = t2, r->l[3] = t3, r->l[4] = t4, r->l[5] = t5;
}

/* t < 2p to t < p */
static inline __attribute__((always_inline)) void fp_canonical_adx(fp *r, const fp *a)
{
    uint64_t t0 = a->l[0], t1 = a->l[1], t2 = a->l[2], t3 = a->l[3], t4 = a->l[4], t5 = a->l[5];
    uint64_t s0 = t0, s1 = t1, s2 = t2, s3 = t3, s4 = t4, s5 = t5;
    __asm__("subq %[p], %[s0]\n\t"
            "sbbq 8+%[p], %[s1]\n\t"
            "sbbq 16+%[p], %[s2]\n\t"
            "sbbq 24+%[p], %[s3]\n\t"
            "sbbq 32+%[p], %[s4]\n\t"
            "sbbq 40+%[p], %[s5]\n\t"
            "cmovcq %[t0], %[s0]\n\t"
            "cmovcq %[t1], %[s1]\n\t"
            "cmovcq %[t2], %[s2]\n\t"
            "cmovcq %[t3], %[s3]\n\t"
            "cmovcq %[t4], %[s4]\n\t"
            "cmovcq %[t5], %[s5]\n\t"
            : [s0] "+&r"(s0), [s1] "+&r"(s1), [s2] "+&r"(s2), [s3] "+&r"(s3), [s4] "+&r"(s4), [s5] "+&r"(s5)
            : [t0] "rm"(t0), [t1] "rm"(t1), [t2] "rm"(t2), [t3] "rm"(t3), [t4] "rm"(t4), [t5] "rm"(t5),
              [p] "m"(FP_P)
            : "cc");
    r->l[0] = s0, r->l[1] = s1, r->l[2] = s2, r->l[3] = s3, r->l[4] = s4, r->l[5] = s5;
}

static inline __attribute__((always_inline)) void fp_mul_adx(fp *r, const fp *a, const fp *b)
{
    fp t;
    fp_mul_lazy_adx(&t, a, b);
    fp_canonical_adx(r, &t);
}

/* a - b for canonical a and b: adding p back carries exactly where the difference borrowed. */
static inline __attribute__((always_inline)) void fp_sub_adx(fp *r, const fp *a, const fp *b)
{
    uint64_t t0 = a->l[0], t1 = a->l[1], t2 = a->l[2], t3 = a->l[3], t4 = a->l[4], t5 = a->l[5];
    uint64_t s0, s1, s2, s3, s4, s5;
    __asm__("subq 0(%[b]), %[t0]\n\t"
            "sbbq 8(%[b]), %[t1]\n\t"
            "sbbq 16(%[b]), %[t2]\n\t"
            "sbbq 24(%[b]), %[t3]\n\t"
            "sbbq 32(%[b]), %[t4]\n\t"
            "sbbq 40(%[b]), %[t5]\n\t"
            "movq %[t0], %[s0]\n\t"
            "movq %[t1], %[s1]\n\t"
            "movq %[t2], %[s2]\n\t"
            "movq %[t3], %[s3]\n\t"
            "movq %[t4], %[s4]\n\t"
            "movq %[t5], %[s5]\n\t"
            "addq %[p], %[s0]\n\t"
            "adcq 8+%[p], %[s1]\n\t"
            "adcq 16+%[p], %[s2]\n\t"
            "adcq 24+%[p], %[s3]\n\t"
            "adcq 32+%[p], %[s4]\n\t"
            "adcq 40+%[p], %[s5]\n\t"
            "cmovcq %[s0], %[t0]\n\t"
            "cmovcq %[s1], %[t1]\n\t"
            "cmovcq %[s2], %[t2]\n\t"
            "cmovcq %[s3], %[t3]\n\t"
            "cmovcq %[s4], %[t4]\n\t"
            "cmovcq %[s5], %[t5]\n\t"
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4), [t5] "+&r"(t5),
              [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3), [s4] "=&r"(s4), [s5] "=&r"(s5)
            : [b] "r"(b), "m"(*b), [p] "m"(FP_P)
            : "cc");
    r->l[0] = t0, r->l[1] = t1, r->l[2] = t2, r->l[3] = t3, r->l[4] = t4, r->l[5] = t5;
}

/* a - b + p, below 2p for canonical a and b */
static inline __attribute__((always_inline)) void fp_sub_lazy_adx(fp *r, const fp *a, const fp *b)
{
    uint64_t t0 = a->l[0], t1 = a->l[1], t2 = a->l[2], t3 = a->l[3], t4 = a->l[4], t5 = a->l[5];
    __asm__("addq %[p], %[t0]\n\t"
            "adcq 8+%[p], %[t1]\n\t"
            "adcq 16+%[p], %[t2]\n\t"
            "adcq 24+%[p], %[t3]\n\t"
            "adcq 32+%[p], %[t4]\n\t"
            "adcq 40+%[p], %[t5]\n\t"
            "subq 0(%[b]), %[t0]\n\t"
            "sbbq 8(%[b]), %[t1]\n\t"
            "sbbq 16(%[b]), %[t2]\n\t"
            "sbbq 24(%[b]), %[t3]\n\t"
            "sbbq 32(%[b]), %[t4]\n\t"
            "sbbq 40(%[b]), %[t5]\n\t"
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4), [t5] "+&r"(t5)
            : [b] "r"(b), "m"(*b), [p] "m"(FP_P)
            : "cc");
    r->l[0] = t0, r->l[1] = t1, r->l[2] = t2, r->l[3] = t3, r->l[4] = t4, r->l[5] = t5;
}
#undef ROW_
#undef REDUCE_
#undef FIRST_ROW_
#endif
#endif
