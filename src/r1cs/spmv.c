/* Execution of plans. */
#include "r1cs/spmv.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* 2^512 mod r and 2^768 mod r: turn an integer (and 2^256 times an integer) into Montgomery form. */
static const fr R2 = {{0xc999e990f3f29c6du, 0x2b6cedcb87925c23u, 0x05d314967254398fu, 0x0748d9d99f59ff11u}};
static const fr R3 = {{0xc62c1807439b73afu, 0x1b3e0d188cf06990u, 0x73d13c71c7b5f418u, 0x6e2a5bb9c8db33e9u}};
static const uint64_t MODULUS[4] = {0xffffffff00000001u, 0x53bda402fffe5bfeu, 0x3339d80809a1d805u,
                                    0x73eda753299d7d48u};
#define MODULUS_INVERSE 0xfffffffeffffffffu /* -1 / r mod 2^64 */

typedef unsigned __int128 u128;

/* Where a repetition lies. */
typedef struct place {
    const spmv *s;
    const cuzk_segment *seg;
    uint64_t repetition;
    uint64_t bit_base[2]; /* by bit 31 of a position */
    const fr *local_field, *local_input;
} place;

static inline uint64_t bit_at(const place *p, uint32_t pos)
{
    uint64_t i = p->bit_base[pos >> 31] + (pos & ~POS_LOCAL);
    return p->s->bits[i >> 6] >> (i & 63) & 1;
}

/* ---- table rows ---- */
static void execute_table(const place *p, const spmv_worker *w, const spmv_plan *plan, fr *out)
{
    for (uint32_t k = 0; k < plan->tables; k++) {
        const table_row *t = &plan->table[k];
        uint64_t which = bit_at(p, t->pos[0]) + 2 * bit_at(p, t->pos[1]);
        out[t->row] = w->pattern[t->pattern][which];
    }
}

#if defined(__SSE2__)
/* The same past the cache: the results of a large circuit are read much later. */
static void stream_table(const place *p, const spmv_worker *w, const spmv_plan *plan, fr *out)
{
    for (uint32_t k = 0; k < plan->tables; k++) {
        const table_row *t = &plan->table[k];
        uint64_t which = bit_at(p, t->pos[0]) + 2 * bit_at(p, t->pos[1]);
        const __m128i *from = (const __m128i *)&w->pattern[t->pattern][which];
        __m128i *to = (__m128i *)&out[t->row];
        _mm_stream_si128(to, from[0]);
        _mm_stream_si128(to + 1, from[1]);
    }
}
#endif

/* ---- field wires ---- */
/* Value of a column that is not a bit of this circuit's own numbering; bits come as 0 or 1. */
static const fr *global_value(const place *p, uint32_t col)
{
    const cuzk_witness_view *w = p->s->witness;
    uint32_t index = CUZK_COL_INDEX(col);
    if (CUZK_COL_CLASS(col) == CUZK_COL_INPUT)
        return (const fr *)&w->input[index];
    if (col & CUZK_COL_FIELD)
        return (const fr *)&w->field[index];
    return p->s->bits[index / 64] >> (index & 63) & 1 ? &FR_ONE : &FR_ZERO;
}

static inline const fr *value_at(const place *p, uint32_t col)
{
    uint32_t index = CUZK_COL_INDEX(col);
    switch (CUZK_COL_CLASS(col)) {
    case CUZK_COL_LOCAL:
        return &p->local_field[index];
    case CUZK_COL_INPUT:
        return col & CUZK_COL_FIELD ? &p->local_input[index] : (const fr *)&p->s->witness->input[index];
    case CUZK_COL_IMPORT:
        return global_value(p, p->seg->imports[p->repetition * p->seg->import_count + index]);
    default:
        return (const fr *)&p->s->witness->field[index];
    }
}

/* acc += a * b */
static inline void wide_add(uint64_t acc[9], const fr *a, const fr *b)
{
    for (int i = 0; i < 4; i++) {
        u128 carry = 0;
        for (int j = 0; j < 4; j++) {
            carry += (u128)a->l[i] * b->l[j] + acc[i + j];
            acc[i + j] = (uint64_t)carry;
            carry >>= 64;
        }
        for (int j = i + 4; j < 9; j++) {
            carry += acc[j];
            acc[j] = (uint64_t)carry;
            carry >>= 64;
        }
    }
}

static int below_modulus(const uint64_t v[5])
{
    if (v[4])
        return 0;
    for (int i = 3; i >= 0; i--)
        if (v[i] != MODULUS[i])
            return v[i] < MODULUS[i];
    return 0;
}

/* acc / 2^256 mod r, for at most WIDE_TERMS products: the quotient is below 5 r. */
#define WIDE_TERMS 8
static void wide_reduce(fr *out, uint64_t acc[9])
{
    for (int i = 0; i < 4; i++) {
        uint64_t m = acc[i] * MODULUS_INVERSE;
        u128 carry = 0;
        for (int j = 0; j < 4; j++) {
            carry += (u128)m * MODULUS[j] + acc[i + j];
            acc[i + j] = (uint64_t)carry;
            carry >>= 64;
        }
        for (int j = i + 4; j < 9; j++) {
            carry += acc[j];
            acc[j] = (uint64_t)carry;
            carry >>= 64;
        }
    }
    uint64_t *v = acc + 4;
    while (!below_modulus(v)) {
        uint64_t borrow = 0;
        for (int i = 0; i < 5; i++) {
            u128 d = (u128)v[i] - (i < 4 ? MODULUS[i] : 0) - borrow;
            v[i] = (uint64_t)d;
            borrow = (uint64_t)(d >> 64) & 1;
        }
    }
    memcpy(out, v, sizeof(*out));
}

static void add_terms(fr *sum, const place *p, const field_term *t, const field_term *end)
{
    const fr *dictionary = (const fr *)p->s->circuit->dictionary;
    uint64_t acc[9] = {0};
    unsigned products = 0;
    fr x;
    for (; t < end; t++) {
        const fr *v;
        switch (t->kind) {
        case TERM_PLUS:
            fr_add(sum, sum, value_at(p, t->col));
            continue;
        case TERM_MINUS:
            fr_sub(sum, sum, value_at(p, t->col));
            continue;
        case TERM_BIT:
            if (bit_at(p,
                       CUZK_COL_INDEX(t->col) | (CUZK_COL_CLASS(t->col) == CUZK_COL_LOCAL ? POS_LOCAL : 0)))
                fr_add(sum, sum, &dictionary[t->coef]);
            continue;
        default:
            v = value_at(p, t->col);
        }
        wide_add(acc, v, &dictionary[t->coef]);
        if (++products == WIDE_TERMS) {
            wide_reduce(&x, acc);
            fr_add(sum, sum, &x);
            memset(acc, 0, sizeof(acc));
            products = 0;
        }
    }
    if (products) {
        wide_reduce(&x, acc);
        fr_add(sum, sum, &x);
    }
}

/* ---- runs of bits ---- */
/* n <= 64 bits from bit i on. */
static inline uint64_t bits_at(const uint64_t *bits, uint64_t i, unsigned n)
{
    uint64_t word = i >> 6, shift = i & 63, v = bits[word] >> shift;
    if (shift + n > 64)
        v |= bits[word + 1] << (64 - shift);
    return n == 64 ? v : v & ((1ull << n) - 1);
}

/* Every other bit, from the lowest on. */
static inline uint64_t even_bits(uint64_t v)
{
    v &= 0x5555555555555555u;
    v = (v | v >> 1) & 0x3333333333333333u;
    v = (v | v >> 2) & 0x0f0f0f0f0f0f0f0fu;
    v = (v | v >> 4) & 0x00ff00ff00ff00ffu;
    v = (v | v >> 8) & 0x0000ffff0000ffffu;
    return (v | v >> 16) & 0xffffffffu;
}

static inline uint32_t reverse32(uint32_t v)
{
    v = __builtin_bswap32(v);
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    return (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
}

static inline uint64_t run_value(const place *p, const bit_run *r)
{
    uint64_t i = p->bit_base[r->pos >> 31] + (r->pos & ~POS_LOCAL), v;
    if (r->flags & RUN_ALTERNATE)
        v = even_bits(bits_at(p->s->bits, i, 2u * r->length - 1));
    else
        v = bits_at(p->s->bits, i, r->length);
    if (r->flags & RUN_REVERSED)
        v = reverse32((uint32_t)v) >> (32 - r->length);
    return v;
}

/* Digits of 32 bits that have not been carried: digit k counts 2^(32 k). */
enum { DIGITS = 10 };

/* The sum of the digits, in Montgomery form. */
static void from_digits(fr *out, const int64_t digit[DIGITS])
{
    uint64_t v[5];
    int64_t carry = 0;
    for (int k = 0; k < DIGITS; k++) {
        int64_t d = digit[k] + carry;
        uint64_t low = (uint32_t)d;
        v[k / 2] = k & 1 ? v[k / 2] | low << 32 : low;
        carry = d >> 32;
    }
    int minus = carry < 0;
    if (minus) {
        uint64_t borrow = 1;
        for (int k = 0; k < 5; k++) {
            v[k] = ~v[k] + borrow;
            borrow = borrow && !v[k];
        }
    }
    fr low, high = {{v[4], 0, 0, 0}};
    memcpy(&low, v, sizeof(low));
    fr_mul(&low, &low, &R2);
    if (v[4]) {
        fr_mul(&high, &high, &R3);
        fr_add(&low, &low, &high);
    }
    if (minus)
        fr_neg(&low, &low);
    *out = low;
}

static void add_runs(fr *sum, const place *p, const bit_run *r, const bit_run *end)
{
    int64_t digit[DIGITS] = {0};
    fr x;
    for (; r < end; r++) {
        uint64_t v = run_value(p, r) << (r->shift & 31);
        int64_t *d = &digit[r->shift >> 5], minus = -(int64_t)(r->flags & RUN_MINUS);
        d[0] += ((int64_t)(v & 0xffffffffu) ^ minus) - minus;
        d[1] += ((int64_t)(v >> 32) ^ minus) - minus;
    }
    from_digits(&x, digit);
    fr_add(sum, sum, &x);
}

static void execute_sums(const place *p, const spmv_plan *plan, fr *out)
{
    const bit_run *run = plan->run;
    const field_term *term = plan->term;
    for (uint32_t k = 0; k < plan->sums; k++) {
        const sum_row *r = &plan->sum[k];
        const bit_run *run_end = plan->run + r->runs_end;
        const field_term *term_end = plan->term + r->terms_end;
        fr sum = FR_ZERO;
        if (r->constant != NO_CONSTANT)
            memcpy(&sum, &p->s->circuit->dictionary[r->constant], sizeof(sum));
        if (run < run_end)
            add_runs(&sum, p, run, run_end);
        if (term < term_end)
            add_terms(&sum, p, term, term_end);
        out[r->row] = sum;
        run = run_end;
        term = term_end;
    }
}

void spmv_execute(const spmv *s, const spmv_worker *w, const spmv_plan *plan, const cuzk_segment *seg,
                  uint64_t repetition, fr *out)
{
    place p = {.s = s, .seg = seg, .repetition = repetition};
    p.bit_base[1] = seg->aux_base + repetition * seg->aux_stride;
    p.local_field = (const fr *)s->witness->field + seg->field_base + repetition * seg->field_stride;
    p.local_input = (const fr *)s->witness->input + seg->input_base + repetition * seg->input_stride;
#if defined(__SSE2__)
    if (s->stream && !((uintptr_t)out & 15))
        stream_table(&p, w, plan, out);
    else
#endif
        execute_table(&p, w, plan, out);
    for (uint32_t k = 0; k < plan->copies; k++)
        out[plan->copy[k].row] = *value_at(&p, plan->copy[k].col);
    execute_sums(&p, plan, out);
}
