/* Sums of eight repetitions at once, one in each lane, with 52-bit limbs.
 *
 * A row's products with field wires are accumulated without any reduction, low and high halves apart; then
 * one Montgomery step divides by 2^260. The coefficients carry a factor 2^4, so that the result is in the
 * form with 2^256 that memory holds. What needs no product (fields with coefficient 1 or -1, the constant,
 * small integers times a coefficient) is added above the 260 bits that the step removes. */
#include "r1cs/spmv_run.h"
#include <immintrin.h>

enum { LANES = SPMV_LANES, LIMBS = 5 };
#define MASK52 0xfffffffffffffu

static const uint64_t MODULUS[LIMBS] = {0xfffff00000001u, 0x2fffe5bfefffu, 0x9a1d80553bda4u, 0x7d483339d8080u,
                                        0x73eda753299du};
#define MODULUS_INVERSE 0xffffeffffffffu /* -1 / r mod 2^52 */
#define MODULUS_BARRETT 0x8d54253b7fb78u /* floor(2^306 / r) */

/* Terms between two carries: a column grows by less than 10 * 2^52 with each, and lanes have 63 bits and a
 * sign. */
#define WIDE_TERMS 64

typedef __m512i v8;

static inline v8 splat(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

/* ---- memory ---- */
/* Eight elements, bytes apart, as four vectors of limbs. */
static inline void load8(v8 l[4], const fr *p, size_t bytes)
{
    const char *at = (const char *)p;
    v8 z[4], t[4];
    for (int i = 0; i < 4; i++) {
        z[i] = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(at + (size_t)i * bytes)));
        z[i] =
            _mm512_inserti64x4(z[i], _mm256_loadu_si256((const __m256i *)(at + (size_t)(i + 4) * bytes)), 1);
    }
    t[0] = _mm512_unpacklo_epi64(z[0], z[1]);
    t[1] = _mm512_unpackhi_epi64(z[0], z[1]);
    t[2] = _mm512_unpacklo_epi64(z[2], z[3]);
    t[3] = _mm512_unpackhi_epi64(z[2], z[3]);
    const v8 even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13),
             odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    l[0] = _mm512_permutex2var_epi64(t[0], even, t[2]);
    l[1] = _mm512_permutex2var_epi64(t[1], even, t[3]);
    l[2] = _mm512_permutex2var_epi64(t[0], odd, t[2]);
    l[3] = _mm512_permutex2var_epi64(t[1], odd, t[3]);
}

static inline void put(fr *to, __m256i v, int stream)
{
    if (stream)
        _mm256_stream_si256((__m256i *)to, v);
    else
        _mm256_storeu_si256((__m256i *)to, v);
}

/* The reverse: lane i goes to the row's place in repetition i. */
static inline void store8(const spmv_out *out, uint64_t row, const v8 l[4], int stream)
{
    v8 u0 = _mm512_unpacklo_epi64(l[0], l[1]), u1 = _mm512_unpackhi_epi64(l[0], l[1]);
    v8 u2 = _mm512_unpacklo_epi64(l[2], l[3]), u3 = _mm512_unpackhi_epi64(l[2], l[3]);
    const v8 low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
             high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    v8 e[4] = {_mm512_permutex2var_epi64(u0, low, u2), _mm512_permutex2var_epi64(u1, low, u3),
               _mm512_permutex2var_epi64(u0, high, u2), _mm512_permutex2var_epi64(u1, high, u3)};
    for (size_t i = 0; i < 4; i++) { /* e holds elements 0 and 2, 1 and 3, 4 and 6, 5 and 7 */
        size_t lane = (i & 1) + (i & 2) * 2;
        put(spmv_row_at(out, row + lane * out->stride), _mm512_castsi512_si256(e[i]), stream);
        put(spmv_row_at(out, row + (lane + 2) * out->stride), _mm512_extracti64x4_epi64(e[i], 1), stream);
    }
}

/* Limbs of 52 bits; bits above are left in x, which multiplications ignore. */
static inline void split(v8 x[LIMBS], const v8 l[4])
{
    x[0] = l[0];
    x[1] = _mm512_or_si512(_mm512_srli_epi64(l[0], 52), _mm512_slli_epi64(l[1], 12));
    x[2] = _mm512_or_si512(_mm512_srli_epi64(l[1], 40), _mm512_slli_epi64(l[2], 24));
    x[3] = _mm512_or_si512(_mm512_srli_epi64(l[2], 28), _mm512_slli_epi64(l[3], 36));
    x[4] = _mm512_srli_epi64(l[3], 16);
}

static inline void join(v8 l[4], const v8 x[LIMBS])
{
    l[0] = _mm512_or_si512(x[0], _mm512_slli_epi64(x[1], 52));
    l[1] = _mm512_or_si512(_mm512_srli_epi64(x[1], 12), _mm512_slli_epi64(x[2], 40));
    l[2] = _mm512_or_si512(_mm512_srli_epi64(x[2], 24), _mm512_slli_epi64(x[3], 28));
    l[3] = _mm512_or_si512(_mm512_srli_epi64(x[3], 36), _mm512_slli_epi64(x[4], 16));
}

/* A field wire of all lanes. */
static inline void load_value(v8 x[LIMBS], const spmv_place *p, uint32_t col)
{
    size_t bytes;
    const fr *v = spmv_value_stride(p, col, &bytes);
    v8 l[4];
    if (bytes) {
        load8(l, v, bytes);
    } else {
        for (int i = 0; i < 4; i++)
            l[i] = splat(v->l[i]);
    }
    split(x, l);
}

/* ---- sums ---- */
/* What lies above the Montgomery step: six limbs, loosely carried. */
typedef struct upper {
    v8 l[LIMBS + 1];
} upper;

static inline void carry(v8 *l, int n)
{
    for (int i = 0; i + 1 < n; i++) {
        l[i + 1] = _mm512_add_epi64(l[i + 1], _mm512_srai_epi64(l[i], 52));
        l[i] = _mm512_and_si512(l[i], splat(MASK52));
    }
}

static inline void upper_add(upper *u, const v8 x[LIMBS])
{
    for (int i = 0; i < LIMBS; i++)
        u->l[i] = _mm512_add_epi64(u->l[i], _mm512_and_si512(x[i], splat(MASK52)));
}

static inline void upper_sub(upper *u, const v8 x[LIMBS])
{
    for (int i = 0; i < LIMBS; i++)
        u->l[i] = _mm512_add_epi64(
            u->l[i], _mm512_sub_epi64(splat(MODULUS[i]), _mm512_and_si512(x[i], splat(MASK52))));
}

/* u += coefficient * v, v below 2^32. */
static inline void upper_add_small(upper *u, const uint64_t c[LIMBS], v8 v)
{
    for (int i = 0; i < LIMBS; i++) {
        u->l[i] = _mm512_madd52lo_epu64(u->l[i], v, splat(c[i]));
        u->l[i + 1] = _mm512_madd52hi_epu64(u->l[i + 1], v, splat(c[i]));
    }
}

/* Products, low and high halves apart. */
typedef struct products {
    v8 low[2 * LIMBS - 1], high[2 * LIMBS - 1];
} products;

/* u += a / 2^260 mod r. */
static void products_reduce(upper *u, const products *a)
{
    v8 t[2 * LIMBS + 1];
    t[0] = a->low[0];
    for (int i = 1; i < 2 * LIMBS - 1; i++)
        t[i] = _mm512_add_epi64(a->low[i], a->high[i - 1]);
    t[2 * LIMBS - 1] = a->high[2 * LIMBS - 2];
    for (int i = 0; i < LIMBS; i++) {
        v8 m = _mm512_madd52lo_epu64(_mm512_setzero_si512(), t[i], splat(MODULUS_INVERSE));
        for (int j = 0; j < LIMBS; j++)
            t[i + j] = _mm512_madd52lo_epu64(t[i + j], m, splat(MODULUS[j]));
        for (int j = 0; j < LIMBS; j++)
            t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], m, splat(MODULUS[j]));
        t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srli_epi64(t[i], 52));
    }
    carry(t + LIMBS, LIMBS);
    for (int i = 0; i < LIMBS; i++)
        u->l[i] = _mm512_add_epi64(u->l[i], t[LIMBS + i]);
}

/* x minus r where that is not negative. */
static inline void subtract_modulus(v8 x[LIMBS + 1])
{
    v8 d[LIMBS];
    for (int i = 0; i < LIMBS; i++)
        d[i] = _mm512_sub_epi64(x[i], splat(MODULUS[i]));
    for (int i = 0; i + 1 < LIMBS; i++) {
        d[i + 1] = _mm512_add_epi64(d[i + 1], _mm512_srai_epi64(d[i], 52));
        d[i] = _mm512_and_si512(d[i], splat(MASK52));
    }
    __mmask8 keep = _mm512_movepi64_mask(d[LIMBS - 1]); /* negative */
    for (int i = 0; i < LIMBS; i++)
        x[i] = _mm512_mask_mov_epi64(d[i], keep, x[i]);
}

/* Below r, and back to 64-bit limbs. */
static void upper_reduce(v8 l[4], upper *u)
{
    v8 *x = u->l, p[LIMBS + 1];
    carry(x, LIMBS + 1);
    /* quotient by r, at most 2 too small: value / 2^254 times 2^254 / r */
    v8 top = _mm512_or_si512(_mm512_slli_epi64(x[5], 6), _mm512_srli_epi64(x[4], 46));
    v8 q = _mm512_madd52hi_epu64(_mm512_setzero_si512(), top, splat(MODULUS_BARRETT));
    for (int i = 0; i <= LIMBS; i++)
        p[i] = _mm512_setzero_si512();
    for (int i = 0; i < LIMBS; i++) {
        p[i] = _mm512_madd52lo_epu64(p[i], q, splat(MODULUS[i]));
        p[i + 1] = _mm512_madd52hi_epu64(p[i + 1], q, splat(MODULUS[i]));
    }
    for (int i = 0; i <= LIMBS; i++)
        x[i] = _mm512_sub_epi64(x[i], p[i]);
    carry(x, LIMBS + 1); /* limb 5 is 0 now */
    subtract_modulus(x);
    subtract_modulus(x);
    join(l, x);
}

/* At most WIDE_TERMS products; the accumulators stay in registers. */
static void sum_products(products *out, const spmv_place *p, const field_term *t, const field_term *end)
{
    v8 low[2 * LIMBS - 1], high[2 * LIMBS - 1];
#pragma GCC unroll 9
    for (int i = 0; i < 2 * LIMBS - 1; i++)
        low[i] = high[i] = _mm512_setzero_si512();
    for (; t < end; t++) {
        const uint64_t *c = p->s->wide_product[t->coef];
        v8 x[LIMBS];
        load_value(x, p, t->col);
#pragma GCC unroll 5
        for (int j = 0; j < LIMBS; j++) {
            v8 y = splat(c[j]);
#pragma GCC unroll 5
            for (int i = 0; i < LIMBS; i++) {
                low[i + j] = _mm512_madd52lo_epu64(low[i + j], x[i], y);
                high[i + j] = _mm512_madd52hi_epu64(high[i + j], x[i], y);
            }
        }
    }
#pragma GCC unroll 9
    for (int i = 0; i < 2 * LIMBS - 1; i++) {
        out->low[i] = low[i];
        out->high[i] = high[i];
    }
}

static void add_products(upper *u, const spmv_place *p, const field_term *t, const field_term *end)
{
    while (t < end) {
        const field_term *stop = end - t > WIDE_TERMS ? t + WIDE_TERMS : end;
        products a;
        sum_products(&a, p, t, stop);
        products_reduce(u, &a);
        carry(u->l, LIMBS + 1);
        t = stop;
    }
}

static void add_others(upper *u, const spmv_place *p, const field_term *t, const field_term *end)
{
    for (unsigned n = 1; t < end; t++, n++) {
        v8 x[LIMBS];
        load_value(x, p, t->col);
        if (t->kind == TERM_PLUS)
            upper_add(u, x);
        else
            upper_sub(u, x);
        if (n % WIDE_TERMS == 0)
            carry(u->l, LIMBS + 1);
    }
    carry(u->l, LIMBS + 1);
}

static void add_runs(upper *u, const spmv_place *place, const bit_run *r, const bit_run *end)
{
    for (unsigned n = 0; r < end; r++) {
        uint64_t v[LANES];
        for (unsigned i = 0; i < LANES; i++)
            v[i] = spmv_run_value(
                place->s, place->bit_base[r->pos >> 31] + (r->pos >> 31 ? i * place->seg->aux_stride : 0), r);
        upper_add_small(u, place->s->wide_plain[r->coef], _mm512_loadu_si512(v));
        if (++n == WIDE_TERMS) {
            carry(u->l, LIMBS + 1);
            n = 0;
        }
    }
    carry(u->l, LIMBS + 1);
}

void spmv_sums_ifma(const spmv *s, const spmv_plan *plan, const cuzk_segment *seg, uint64_t repetition,
                    const spmv_out *out)
{
    spmv_place p;
    spmv_place_init(&p, s, seg, repetition);
    int stream = s->stream && !((uintptr_t)out->base & 31);
    const bit_run *run = plan->run;
    const field_term *term = plan->term;
    for (uint32_t k = 0; k < plan->sums; k++) {
        const sum_row *r = &plan->sum[k];
        const bit_run *run_end = plan->run + r->runs_end;
        const field_term *others = plan->term + r->products_end, *term_end = plan->term + r->terms_end;
        upper u;
        v8 l[4];
        for (int i = 0; i <= LIMBS; i++)
            u.l[i] = _mm512_setzero_si512();
        for (int i = 0; i < LIMBS && r->constant != NO_CONSTANT; i++)
            u.l[i] = splat(s->wide_plain[r->constant][i]);
        if (run < run_end)
            add_runs(&u, &p, run, run_end);
        add_products(&u, &p, term, others);
        add_others(&u, &p, others, term_end);
        upper_reduce(l, &u);
        store8(out, r->row, l, stream);
        run = run_end;
        term = term_end;
    }
}
