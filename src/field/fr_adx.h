/* Fr with MULX, ADCX and ADOX, for code reached where cpu_get()->adx says so: inlined, unlike blst's. The
 * product goes row by row as in fp_adx.h; values are canonical. */
#ifndef FIELD_FR_ADX_H
#define FIELD_FR_ADX_H
#include "field/field.h"
#if defined(__x86_64__)
#define FR_ADX 1

static const uint64_t FR_R[4] = {0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805,
                                 0x73eda753299d7d48};

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
    "movl $0, %k[lo]\n\t"                                                                                    \
    "adcxq %[lo], %[A]\n\t"                                                                                  \
    "adoxq %[lo], %[A]\n\t"

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
    "movl $0, %k[lo]\n\t"                                                                                    \
    "adcxq %[lo], %[t3]\n\t"                                                                                 \
    "adoxq %[A], %[t3]\n\t"

#define FIRST_ROW_                                                                                           \
    "movq 0(%[b]), %%rdx\n\t"                                                                                \
    "xorl %k[lo], %k[lo]\n\t"                                                                                \
    "mulxq 0(%[a]), %[t0], %[t1]\n\t"                                                                        \
    "mulxq 8(%[a]), %[lo], %[t2]\n\t"                                                                        \
    "adoxq %[lo], %[t1]\n\t"                                                                                 \
    "mulxq 16(%[a]), %[lo], %[t3]\n\t"                                                                       \
    "adoxq %[lo], %[t2]\n\t"                                                                                 \
    "mulxq 24(%[a]), %[lo], %[A]\n\t"                                                                        \
    "adoxq %[lo], %[t3]\n\t"                                                                                 \
    "movl $0, %k[lo]\n\t"                                                                                    \
    "adoxq %[lo], %[A]\n\t"

/* The last subtraction, t - r where that does not borrow, into s. */
#define CANONICAL_                                                                                           \
    "movq %[t0], %[s]\n\t"                                                                                   \
    "movq %[t1], %[A]\n\t"                                                                                   \
    "movq %[t2], %[lo]\n\t"                                                                                  \
    "movq %[t3], %%rdx\n\t"                                                                                  \
    "subq %[p], %[s]\n\t"                                                                                    \
    "sbbq 8+%[p], %[A]\n\t"                                                                                  \
    "sbbq 16+%[p], %[lo]\n\t"                                                                                \
    "sbbq 24+%[p], %%rdx\n\t"                                                                                \
    "cmovncq %[s], %[t0]\n\t"                                                                                \
    "cmovncq %[A], %[t1]\n\t"                                                                                \
    "cmovncq %[lo], %[t2]\n\t"                                                                               \
    "cmovncq %%rdx, %[t3]\n\t"

static inline __attribute__((always_inline)) void fr_mul_adx(fr *r, const fr *a, const fr *b)
{
    static const uint64_t n0 = 0xfffffffeffffffff;
    uint64_t t0, t1, t2, t3, A, lo, s;
    __asm__(FIRST_ROW_ REDUCE_ ROW_(1) REDUCE_ ROW_(2) REDUCE_ ROW_(3) REDUCE_ CANONICAL_
            : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [A] "=&r"(A), [lo] "=&r"(lo),
              [s] "=&r"(s)
            : [a] "r"(a), [b] "r"(b), [p] "m"(FR_R), [n0] "m"(n0), "m"(*a), "m"(*b)
            : "rdx", "cc");
    r->l[0] = t0, r->l[1] = t1, r->l[2] = t2, r->l[3] = t3;
}
#undef ROW_
#undef REDUCE_
#undef FIRST_ROW_
#undef CANONICAL_

/* Sums stay below 2^256: r is below 2^255. */
static inline __attribute__((always_inline)) void fr_add_adx(fr *r, const fr *a, const fr *b)
{
    uint64_t t0 = a->l[0], t1 = a->l[1], t2 = a->l[2], t3 = a->l[3], s0, s1, s2, s3;
    __asm__("addq 0(%[b]), %[t0]\n\t"
            "adcq 8(%[b]), %[t1]\n\t"
            "adcq 16(%[b]), %[t2]\n\t"
            "adcq 24(%[b]), %[t3]\n\t"
            "movq %[t0], %[s0]\n\t"
            "movq %[t1], %[s1]\n\t"
            "movq %[t2], %[s2]\n\t"
            "movq %[t3], %[s3]\n\t"
            "subq %[p], %[s0]\n\t"
            "sbbq 8+%[p], %[s1]\n\t"
            "sbbq 16+%[p], %[s2]\n\t"
            "sbbq 24+%[p], %[s3]\n\t"
            "cmovncq %[s0], %[t0]\n\t"
            "cmovncq %[s1], %[t1]\n\t"
            "cmovncq %[s2], %[t2]\n\t"
            "cmovncq %[s3], %[t3]\n\t"
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [s0] "=&r"(s0), [s1] "=&r"(s1),
              [s2] "=&r"(s2), [s3] "=&r"(s3)
            : [b] "r"(b), "m"(*b), [p] "m"(FR_R)
            : "cc");
    r->l[0] = t0, r->l[1] = t1, r->l[2] = t2, r->l[3] = t3;
}

/* Adding r back carries exactly where the difference borrowed. */
static inline __attribute__((always_inline)) void fr_sub_adx(fr *r, const fr *a, const fr *b)
{
    uint64_t t0 = a->l[0], t1 = a->l[1], t2 = a->l[2], t3 = a->l[3], s0, s1, s2, s3;
    __asm__("subq 0(%[b]), %[t0]\n\t"
            "sbbq 8(%[b]), %[t1]\n\t"
            "sbbq 16(%[b]), %[t2]\n\t"
            "sbbq 24(%[b]), %[t3]\n\t"
            "movq %[t0], %[s0]\n\t"
            "movq %[t1], %[s1]\n\t"
            "movq %[t2], %[s2]\n\t"
            "movq %[t3], %[s3]\n\t"
            "addq %[p], %[s0]\n\t"
            "adcq 8+%[p], %[s1]\n\t"
            "adcq 16+%[p], %[s2]\n\t"
            "adcq 24+%[p], %[s3]\n\t"
            "cmovcq %[s0], %[t0]\n\t"
            "cmovcq %[s1], %[t1]\n\t"
            "cmovcq %[s2], %[t2]\n\t"
            "cmovcq %[s3], %[t3]\n\t"
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [s0] "=&r"(s0), [s1] "=&r"(s1),
              [s2] "=&r"(s2), [s3] "=&r"(s3)
            : [b] "r"(b), "m"(*b), [p] "m"(FR_R)
            : "cc");
    r->l[0] = t0, r->l[1] = t1, r->l[2] = t2, r->l[3] = t3;
}
#endif
#endif
