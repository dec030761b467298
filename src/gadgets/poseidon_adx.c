/* Poseidon's rounds with MULX, ADCX and ADOX. A sum of products is reduced once, limb by limb: row i adds the
 * i-th limb of every second factor times its first factor, then one Montgomery step clears the lowest limb.
 */
#include "field/fr_adx.h"
#include "gadgets/poseidon_private.h"
#if defined(FR_ADX)

typedef struct wide {
    uint64_t t0, t1, t2, t3, t4, t5;
} wide;

/* s += a * limb */
static inline __attribute__((always_inline)) void add_row(wide *s, const fr *a, uint64_t limb)
{
    uint64_t lo, hi;
    __asm__("xorl %k[lo], %k[lo]\n\t"
            "mulxq 0(%[a]), %[lo], %[hi]\n\t"
            "adoxq %[lo], %[t0]\n\t"
            "adcxq %[hi], %[t1]\n\t"
            "mulxq 8(%[a]), %[lo], %[hi]\n\t"
            "adoxq %[lo], %[t1]\n\t"
            "adcxq %[hi], %[t2]\n\t"
            "mulxq 16(%[a]), %[lo], %[hi]\n\t"
            "adoxq %[lo], %[t2]\n\t"
            "adcxq %[hi], %[t3]\n\t"
            "mulxq 24(%[a]), %[lo], %[hi]\n\t"
            "adoxq %[lo], %[t3]\n\t"
            "adcxq %[hi], %[t4]\n\t"
            "movl $0, %k[lo]\n\t"
            "adoxq %[lo], %[t4]\n\t"
            "adcxq %[lo], %[t5]\n\t"
            "adoxq %[lo], %[t5]\n\t"
            : [t0] "+&r"(s->t0), [t1] "+&r"(s->t1), [t2] "+&r"(s->t2), [t3] "+&r"(s->t3), [t4] "+&r"(s->t4),
              [t5] "+&r"(s->t5), [lo] "=&r"(lo), [hi] "=&r"(hi)
            : [a] "r"(a), "d"(limb), "m"(*a)
            : "cc");
}

/* s = (s + k r) / 2^64 with the k that makes it exact. */
static inline __attribute__((always_inline)) void reduce_row(wide *s)
{
    add_row(s, (const fr *)FR_R, s->t0 * 0xfffffffeffffffffull);
    *s = (wide){s->t1, s->t2, s->t3, s->t4, s->t5, 0};
}

static inline void subtract_if_not_less(wide *s, const uint64_t m[5])
{
    wide d;
    uint64_t keep;
    d.t5 = 0;
    __asm__("subq 0(%[m]), %[d0]\n\t"
            "sbbq 8(%[m]), %[d1]\n\t"
            "sbbq 16(%[m]), %[d2]\n\t"
            "sbbq 24(%[m]), %[d3]\n\t"
            "sbbq 32(%[m]), %[d4]\n\t"
            "sbbq %[keep], %[keep]\n\t"
            : [d0] "=&r"(d.t0), [d1] "=&r"(d.t1), [d2] "=&r"(d.t2), [d3] "=&r"(d.t3), [d4] "=&r"(d.t4),
              [keep] "=&r"(keep)
            : [m] "r"(m), "0"(s->t0), "1"(s->t1), "2"(s->t2), "3"(s->t3), "4"(s->t4),
              "m"(*(const uint64_t(*)[5])m)
            : "cc");
    s->t0 = keep ? s->t0 : d.t0;
    s->t1 = keep ? s->t1 : d.t1;
    s->t2 = keep ? s->t2 : d.t2;
    s->t3 = keep ? s->t3 : d.t3;
    s->t4 = keep ? s->t4 : d.t4;
}

/* n <= 20 products below r^2 each: below 10.1 r when reduced. */
static inline void dot(fr *out, const fr *state, const fr *column, size_t stride, unsigned n)
{
    static const uint64_t multiples[4][5] = {
        {0xfffffff800000008, 0x9ded2017fff2dff7, 0x99cec0404d0ec02a, 0x9f6d3a994cebea41, 0x3},
        {0xfffffffc00000004, 0x4ef6900bfff96ffb, 0xcce7602026876015, 0xcfb69d4ca675f520, 0x1},
        {0xfffffffe00000002, 0xa77b4805fffcb7fd, 0x6673b0101343b00a, 0xe7db4ea6533afa90, 0x0},
        {0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48, 0x0}};
    wide s = {0, 0, 0, 0, 0, 0};
    for (int limb = 0; limb < 4; limb++) {
        for (unsigned i = 0; i < n; i++)
            add_row(&s, &state[i], column[i * stride].l[limb]);
        reduce_row(&s);
    }
    for (int i = 0; i < 4; i++)
        subtract_if_not_less(&s, multiples[i]);
    *out = (fr){{s.t0, s.t1, s.t2, s.t3}};
}

#define POSEIDON_MUL     fr_mul_adx
#define POSEIDON_ADD     fr_add_adx
#define POSEIDON_DOT     dot
#define POSEIDON_PERMUTE poseidon_permute_adx
#include "gadgets/poseidon_rounds.h"
#endif
