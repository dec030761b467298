/* What the scalar and the vector form of execution share: where a repetition lies, and values of runs. */
#ifndef R1CS_SPMV_RUN_H
#define R1CS_SPMV_RUN_H
#include "r1cs/spmv.h"

typedef struct spmv_place {
    const spmv *s;
    const cuzk_segment *seg;
    uint64_t repetition;
    uint64_t bit_base[2]; /* by bit 31 of a position */
    const fr *local_field, *local_input;
} spmv_place;

/* Where a row of the first repetition goes; of another one: row + repetition * stride. */
static inline fr *spmv_row_at(const spmv_out *o, uint64_t row)
{
    return o->base + fr_place(&o->order, o->first + row);
}

static inline void spmv_place_init(spmv_place *p, const spmv *s, const cuzk_segment *seg, uint64_t repetition)
{
    p->s = s;
    p->seg = seg;
    p->repetition = repetition;
    p->bit_base[0] = 0;
    p->bit_base[1] = seg->aux_base + repetition * seg->aux_stride;
    p->local_field = (const fr *)s->witness->field + seg->field_base + repetition * seg->field_stride;
    p->local_input = (const fr *)s->witness->input + seg->input_base + repetition * seg->input_stride;
}

/* Address of a field wire or input (no import), and how far the next repetition's lies from it. */
static inline const fr *spmv_value_stride(const spmv_place *p, uint32_t col, size_t *bytes)
{
    uint32_t index = CUZK_COL_INDEX(col);
    *bytes = 0;
    switch (CUZK_COL_CLASS(col)) {
    case CUZK_COL_LOCAL:
        *bytes = p->seg->field_stride * sizeof(fr);
        return &p->local_field[index];
    case CUZK_COL_INPUT:
        if (col & CUZK_COL_FIELD) {
            *bytes = p->seg->input_stride * sizeof(fr);
            return &p->local_input[index];
        }
        return (const fr *)&p->s->witness->input[index];
    default:
        return (const fr *)&p->s->witness->field[index];
    }
}

/* n <= 64 bits from bit i on. */
static inline uint64_t spmv_bits(const uint64_t *bits, uint64_t i, unsigned n)
{
    uint64_t word = i >> 6, shift = i & 63, v = bits[word] >> shift;
    if (shift + n > 64)
        v |= bits[word + 1] << (64 - shift);
    return n == 64 ? v : v & ((1ull << n) - 1);
}

/* Every other bit, from the lowest on. */
static inline uint64_t spmv_even_bits(uint64_t v)
{
    v &= 0x5555555555555555u;
    v = (v | v >> 1) & 0x3333333333333333u;
    v = (v | v >> 2) & 0x0f0f0f0f0f0f0f0fu;
    v = (v | v >> 4) & 0x00ff00ff00ff00ffu;
    v = (v | v >> 8) & 0x0000ffff0000ffffu;
    return (v | v >> 16) & 0xffffffffu;
}

static inline uint32_t spmv_reverse(uint32_t v)
{
    v = __builtin_bswap32(v);
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    return (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
}

/* The integer that a run's bits spell, the base of its positions given. */
static inline uint64_t spmv_run_value(const spmv *s, uint64_t base, const bit_run *r)
{
    uint64_t i = base + (r->pos & ~POS_LOCAL), v;
    if (r->flags & RUN_ALTERNATE)
        v = spmv_even_bits(spmv_bits(s->bits, i, 2u * r->length - 1));
    else
        v = spmv_bits(s->bits, i, r->length);
    if (r->flags & RUN_REVERSED)
        v = spmv_reverse((uint32_t)v) >> (32 - r->length);
    return v;
}
#endif
