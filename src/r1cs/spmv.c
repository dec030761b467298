/* Execution of plans. */
#include "r1cs/spmv_run.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static const uint64_t MODULUS[4] = {0xffffffff00000001u, 0x53bda402fffe5bfeu, 0x3339d80809a1d805u,
                                    0x73eda753299d7d48u};
#define MODULUS_INVERSE 0xfffffffeffffffffu /* -1 / r mod 2^64 */
#define MODULUS_BARRETT 0x8d54253b7fb78ddfu /* floor(2^318 / r) */

typedef unsigned __int128 u128;

static inline uint64_t bit_at(const spmv_place *p, uint32_t pos)
{
    uint64_t i = p->bit_base[pos >> 31] + (pos & ~POS_LOCAL);
    return p->s->bits[i >> 6] >> (i & 63) & 1;
}

/* ---- table rows ---- */
/* Results of a large circuit are read much later: they go past the cache. */
static inline __attribute__((always_inline)) void put(fr *to, const fr *from, int stream)
{
#if defined(__SSE2__)
    if (stream) {
        _mm_stream_si128((__m128i *)to, ((const __m128i *)from)[0]);
        _mm_stream_si128((__m128i *)to + 1, ((const __m128i *)from)[1]);
        return;
    }
#endif
    (void)stream;
    *to = *from;
}

static inline __attribute__((always_inline)) void
table_rows(const spmv_place *p, const spmv_worker *w, const spmv_plan *plan, const spmv_out *out, int stream)
{
    const uint64_t *bits = p->s->bits, base = p->bit_base[p->seg->count > 1];
    for (const table_row1 *t = plan->one, *end = t + plan->ones; t < end; t++) {
        uint64_t i = base + t->pos;
        put(spmv_row_at(out, t->row), &w->pattern[t->pattern][bits[i >> 6] >> (i & 63) & 1], stream);
    }
    for (const table_row2 *t = plan->two, *end = t + plan->twos; t < end; t++) {
        uint64_t i = base + t->pos[0], k = base + t->pos[1];
        uint64_t which = (bits[i >> 6] >> (i & 63) & 1) + 2 * (bits[k >> 6] >> (k & 63) & 1);
        put(spmv_row_at(out, t->row), &w->pattern[t->pattern][which], stream);
    }
    for (const table_row3 *t = plan->three, *end = t + plan->threes; t < end; t++) {
        uint64_t which = bit_at(p, t->pos[0]) + 2 * bit_at(p, t->pos[1]) + 4 * bit_at(p, t->pos[2]);
        put(spmv_row_at(out, t->row), &w->pattern[t->pattern][which], stream);
    }
}

static void tables(const spmv_place *p, const spmv_worker *w, const spmv_plan *plan, const spmv_out *out)
{
    table_rows(p, w, plan, out, 0);
}
static void tables_past_cache(const spmv_place *p, const spmv_worker *w, const spmv_plan *plan,
                              const spmv_out *out)
{
    table_rows(p, w, plan, out, 1);
}

/* ---- field wires ---- */
/* Value of a column that is not a bit of this circuit's own numbering; bits come as 0 or 1. */
static const fr *global_value(const spmv_place *p, uint32_t col)
{
    const cuzk_witness_view *w = p->s->witness;
    uint32_t index = CUZK_COL_INDEX(col);
    if (CUZK_COL_CLASS(col) == CUZK_COL_INPUT)
        return (const fr *)&w->input[index];
    if (col & CUZK_COL_FIELD)
        return (const fr *)&w->field[index];
    return p->s->bits[index / 64] >> (index & 63) & 1 ? &FR_ONE : &FR_ZERO;
}

static inline const fr *value_at(const spmv_place *p, uint32_t col)
{
    size_t bytes;
    if (CUZK_COL_CLASS(col) == CUZK_COL_LOCAL)
        return &p->local_field[CUZK_COL_INDEX(col)];
    if (CUZK_COL_CLASS(col) == CUZK_COL_IMPORT)
        return global_value(p, p->seg->imports[p->repetition * p->seg->import_count + CUZK_COL_INDEX(col)]);
    return spmv_value_stride(p, col, &bytes);
}

/* gcc leaves these short loops alone at -O2, at more than twice the time. */
#define UNROLL _Pragma("GCC unroll 8")

/* acc += a * b */
static __attribute__((noinline)) void wide_add(uint64_t acc[9], const fr *a, const fr *b)
{
    uint64_t t[8];
    u128 c = 0;
    UNROLL for (int j = 0; j < 4; j++)
    {
        c += (u128)a->l[0] * b->l[j];
        t[j] = (uint64_t)c;
        c >>= 64;
    }
    t[4] = (uint64_t)c;
    UNROLL for (int i = 1; i < 4; i++)
    {
        c = 0;
        UNROLL for (int j = 0; j < 4; j++)
        {
            c += (u128)a->l[i] * b->l[j] + t[i + j];
            t[i + j] = (uint64_t)c;
            c >>= 64;
        }
        t[i + 4] = (uint64_t)c;
    }
    c = 0;
    UNROLL for (int i = 0; i < 8; i++)
    {
        c += (u128)acc[i] + t[i];
        acc[i] = (uint64_t)c;
        c >>= 64;
    }
    acc[8] += (uint64_t)c;
}

/* A sum that is not yet reduced: below 2^60 * 2^256. */
typedef struct total {
    uint64_t l[5];
} total;

static inline void total_add(total *t, const uint64_t *v, uint64_t top)
{
    u128 c = 0;
    UNROLL for (int i = 0; i < 4; i++)
    {
        c += (u128)t->l[i] + v[i];
        t->l[i] = (uint64_t)c;
        c >>= 64;
    }
    t->l[4] += top + (uint64_t)c;
}

/* t += r - v */
static inline void total_sub(total *t, const fr *v)
{
    uint64_t d[4], borrow = 0;
    UNROLL for (int i = 0; i < 4; i++)
    {
        u128 x = (u128)MODULUS[i] - v->l[i] - borrow;
        d[i] = (uint64_t)x;
        borrow = (uint64_t)(x >> 64) & 1;
    }
    total_add(t, d, 0);
}

/* t += v * small */
static inline void total_add_small(total *t, const fr *v, uint64_t small)
{
    u128 c = 0;
    UNROLL for (int i = 0; i < 4; i++)
    {
        c += (u128)v->l[i] * small + t->l[i];
        t->l[i] = (uint64_t)c;
        c >>= 64;
    }
    t->l[4] += (uint64_t)c;
}

static inline int below_modulus(const total *t)
{
    if (t->l[4])
        return 0;
    for (int i = 3; i >= 0; i--)
        if (t->l[i] != MODULUS[i])
            return t->l[i] < MODULUS[i];
    return 0;
}

static void total_reduce(fr *out, total *t)
{
    uint64_t times =
        (uint64_t)((u128)(t->l[4] << 2 | t->l[3] >> 62) * MODULUS_BARRETT >> 64); /* at most 2 too small */
    do {
        uint64_t borrow = 0;
        u128 c = 0;
        UNROLL for (int i = 0; i < 4; i++)
        {
            c += (u128)MODULUS[i] * times;
            u128 x = (u128)t->l[i] - (uint64_t)c - borrow;
            t->l[i] = (uint64_t)x;
            borrow = (uint64_t)(x >> 64) & 1;
            c >>= 64;
        }
        t->l[4] -= (uint64_t)c + borrow;
        times = 1;
    } while (!below_modulus(t));
    memcpy(out, t->l, sizeof(*out));
}

/* t += acc / 2^256 (Montgomery), for at most WIDE_TERMS products; acc is spoilt. */
#define WIDE_TERMS 64
static void wide_reduce(total *t, uint64_t acc[9])
{
    u128 c;
    uint64_t top = 0; /* carried into acc[i + 4] */
    UNROLL for (int i = 0; i < 4; i++)
    {
        uint64_t m = acc[i] * MODULUS_INVERSE;
        c = 0;
        UNROLL for (int j = 0; j < 4; j++)
        {
            c += (u128)m * MODULUS[j] + acc[i + j];
            acc[i + j] = (uint64_t)c;
            c >>= 64;
        }
        c += (u128)acc[i + 4] + top;
        acc[i + 4] = (uint64_t)c;
        top = (uint64_t)(c >> 64);
    }
    total_add(t, acc + 4, acc[8] + top);
}

static void add_products(total *sum, const spmv_place *p, const field_term *t, const field_term *end)
{
    const fr *dictionary = (const fr *)p->s->circuit->dictionary;
    while (t < end) {
        uint64_t acc[9] = {0};
        const field_term *stop = end - t > WIDE_TERMS ? t + WIDE_TERMS : end;
        for (; t < stop; t++)
            wide_add(acc, value_at(p, t->col), &dictionary[t->coef]);
        wide_reduce(sum, acc);
    }
}

static void add_others(total *sum, const spmv_place *p, const field_term *t, const field_term *end)
{
    for (; t < end; t++) {
        const fr *v = value_at(p, t->col);
        if (t->kind == TERM_PLUS)
            total_add(sum, v->l, 0);
        else
            total_sub(sum, v);
    }
}

/* ---- rows ---- */
static void add_runs(total *sum, const spmv_place *p, const bit_run *r, const bit_run *end)
{
    const fr *dictionary = (const fr *)p->s->circuit->dictionary;
    for (; r < end; r++)
        total_add_small(sum, &dictionary[r->coef], spmv_run_value(p->s, p->bit_base[r->pos >> 31], r));
}

static void execute_sums(const spmv_place *p, const spmv_plan *plan, const spmv_out *out)
{
    const bit_run *run = plan->run;
    const field_term *term = plan->term;
    for (uint32_t k = 0; k < plan->sums; k++) {
        const sum_row *r = &plan->sum[k];
        const bit_run *run_end = plan->run + r->runs_end;
        const field_term *others = plan->term + r->products_end, *term_end = plan->term + r->terms_end;
        total sum = {{0}};
        if (r->constant != NO_CONSTANT)
            memcpy(sum.l, &p->s->circuit->dictionary[r->constant], sizeof(fr));
        if (run < run_end)
            add_runs(&sum, p, run, run_end);
        add_products(&sum, p, term, others);
        add_others(&sum, p, others, term_end);
        total_reduce(spmv_row_at(out, r->row), &sum);
        run = run_end;
        term = term_end;
    }
}

static inline __attribute__((always_inline)) void copy_rows(const spmv_place *p, const spmv_plan *plan,
                                                            const spmv_out *out, int stream)
{
    for (const copy_row *c = plan->copy, *end = c + plan->copies; c < end; c++)
        put(spmv_row_at(out, c->row), value_at(p, c->col), stream);
}

void spmv_execute(const spmv *s, const spmv_worker *w, const spmv_plan *plan, const cuzk_segment *seg,
                  uint64_t repetition, unsigned n, const spmv_out *out)
{
    spmv_place p;
    int stream = s->stream && !((uintptr_t)out->base & 15);
    int vector =
        n == SPMV_LANES && s->wide_plain && !plan->imports && plan->runs + plan->terms <= 2 * CHUNK_NNZ;
    for (unsigned i = 0; i < n; i++) {
        spmv_out to = *out;
        to.first += i * out->stride;
        spmv_place_init(&p, s, seg, repetition + i);
        if (stream) {
            tables_past_cache(&p, w, plan, &to);
            copy_rows(&p, plan, &to, 1);
        } else {
            tables(&p, w, plan, &to);
            copy_rows(&p, plan, &to, 0);
        }
        if (!vector)
            execute_sums(&p, plan, &to);
    }
    if (vector && plan->sums)
        spmv_sums_ifma(s, plan, seg, repetition, out);
}

void spmv_flush(const spmv *s)
{
#if defined(__SSE2__)
    if (s->stream)
        _mm_sfence();
#endif
    (void)s;
}
