/* From a compact witness to the terms of a query's sum, 64 wires at a time. */
#include "backend/cpu/cpu.h"
#include "base/cpu.h"
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

static uint64_t words(uint64_t bits)
{
    return (bits + 63) / 64;
}

/* The word's bits that belong to one of n wires. */
static uint64_t valid_mask(uint64_t n, uint64_t word)
{
    uint64_t left = n - 64 * word;
    return left >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << left) - 1;
}

static uint64_t density_word(const uint64_t *density, uint64_t n, uint64_t word)
{
    uint64_t mask = valid_mask(n, word);
    return density ? density[word] & mask : mask;
}

/* Moves the bits of x that stand under the mask together at the low end (H. S. Warren, Hacker's Delight,
 * 7-4). */
static uint64_t compress_portable(uint64_t x, uint64_t mask)
{
    uint64_t mk = ~mask << 1; /* zeros to the right of each bit are counted by parity prefixes */
    for (unsigned i = 0; i < 6; i++) {
        uint64_t mp = mk ^ mk << 1;
        mp ^= mp << 2;
        mp ^= mp << 4;
        mp ^= mp << 8;
        mp ^= mp << 16;
        mp ^= mp << 32;
        uint64_t mv = mp & mask; /* bits to move by 2^i */
        mask = (mask ^ mv) | mv >> (1u << i);
        uint64_t t = x & mv;
        x = (x ^ t) | t >> (1u << i);
        mk &= ~mp;
    }
    return x;
}

#if defined(__x86_64__)
__attribute__((target("bmi2"))) static uint64_t compress_bmi2(uint64_t x, uint64_t mask)
{
    return _pext_u64(x, mask);
}
/* Processors that have the instruction but no AVX-512 may take longer over it than over the portable form. */
static int has_compress(void)
{
    return cpu_get()->bmi2 && cpu_get()->avx512;
}
#else
#define compress_bmi2  compress_portable
#define has_compress() 0
#endif

static uint64_t compress(uint64_t x, uint64_t mask)
{
    x &= mask;
    if (mask == ~(uint64_t)0 || x == 0)
        return x;
    return has_compress() ? compress_bmi2(x, mask) : compress_portable(x, mask);
}

uint64_t query_shape_count(const query_shape *s)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < words(s->inputs); i++)
        n += (uint64_t)__builtin_popcountll(density_word(s->input_density, s->inputs, i));
    for (uint64_t i = 0; i < words(s->aux); i++)
        n += (uint64_t)__builtin_popcountll(density_word(s->density, s->aux, i));
    return n;
}

cuzk_status query_piece_init(query_piece *q, pool *p, uint64_t capacity, cuzk_error *err)
{
    memset(q, 0, sizeof(*q));
    q->capacity = capacity;
    q->pool = p;
    q->bits = pool_take(p, (capacity / 64 + 1) * sizeof(uint64_t));
    q->position = pool_take(p, capacity * sizeof(uint32_t));
    q->value = pool_take(p, capacity * sizeof(q->value[0]));
    if (q->bits && q->position && q->value)
        return CUZK_OK;
    query_piece_clear(q);
    return mem_error(err, capacity * 12, "a piece of a query");
}

void query_piece_clear(query_piece *q)
{
    pool_give(q->pool, q->bits, (q->capacity / 64 + 1) * sizeof(uint64_t));
    pool_give(q->pool, q->position, q->capacity * sizeof(uint32_t));
    pool_give(q->pool, q->value, q->capacity * sizeof(q->value[0]));
    memset(q, 0, sizeof(*q));
}

void query_walk_init(query_walk *k, const query_shape *shape, const cuzk_witness_view *w,
                     const uint64_t *field_map)
{
    *k = (query_walk){.shape = shape, .w = w, .field_map = field_map};
}

/* Adds 64 wires: density d, kinds, bits, and the values of the word's field wires. */
static void take_word(query_piece *q, uint64_t d, uint64_t field, uint64_t bits, const cuzk_fr *values)
{
    uint64_t chosen = compress(bits & ~field, d);
    if (chosen) {
        uint64_t at = q->count / 64, shift = q->count % 64;
        q->bits[at] |= chosen << shift;
        if (shift)
            q->bits[at + 1] |= chosen >> (64 - shift);
        q->set += (uint64_t)__builtin_popcountll(chosen);
    }
    /* circuits over the field: counting bits would take longer than the rest */
    if ((d & field) == ~(uint64_t)0) {
        for (uint32_t i = 0; i < 64; i++) {
            q->position[q->wide] = (uint32_t)q->count + i;
            q->value[q->wide++] = values + i;
        }
        q->count += 64;
        return;
    }
    for (uint64_t left = d & field; left; left &= left - 1) {
        uint64_t below = (left & -left) - 1;
        q->position[q->wide] = (uint32_t)(q->count + (uint64_t)__builtin_popcountll(d & below));
        q->value[q->wide] = values + __builtin_popcountll(field & below);
        q->wide++;
    }
    q->count += (uint64_t)__builtin_popcountll(d);
}

int query_walk_next(query_walk *k, query_piece *q)
{
    const query_shape *s = k->shape;
    memset(q->bits, 0, (q->capacity / 64 + 1) * sizeof(uint64_t));
    q->first = k->first;
    q->count = q->set = q->wide = 0;
    for (; k->input_word < words(s->inputs) && q->count + 64 <= q->capacity; k->input_word++)
        take_word(q, density_word(s->input_density, s->inputs, k->input_word), ~(uint64_t)0, 0,
                  k->w->input + 64 * k->input_word);
    if (k->input_word < words(s->inputs)) {
        k->first += q->count;
        return 1;
    }
    for (; k->aux_word < words(s->aux) && q->count + 64 <= q->capacity; k->aux_word++) {
        uint64_t field = k->field_map[k->aux_word] & valid_mask(s->aux, k->aux_word);
        take_word(q, density_word(s->density, s->aux, k->aux_word), field, k->w->bits[k->aux_word],
                  k->w->field + k->field_rank);
        k->field_rank += (uint64_t)__builtin_popcountll(field);
    }
    k->first += q->count;
    return q->count > 0;
}
