/* The wires of SHA-256, from the words of the hash's own state.
 *
 * A word carries, beside its value, which of its bits are constants of the circuit and which are negated
 * wires (the exclusive or with a true constant): the first rounds after the initial state, the padding and
 * the zeros that a shift brings in allocate fewer wires, and a negated wire's value is the complement of the
 * bit. In most words neither exists, and an operation writes its 32 wires at once. */
#include "base/encode.h"
#include "base/sha256_private.h"
#include "gadgets/sha256_gadget.h"
#include "gadgets/uint32.h"

typedef struct word {
    uint32_t v;        /* value */
    uint32_t constant; /* bits that are constants */
    uint32_t negated;  /* bits that are negated wires; none of them constant */
} word;

static inline word word_constant(uint32_t v)
{
    return (word){v, UINT32_MAX, 0};
}
static inline word word_wires(uint32_t v)
{
    return (word){v, 0, 0};
}

static inline uint32_t rotr(uint32_t x, unsigned by)
{
    return x >> by | x << (32 - by);
}

static inline word word_rotr(word x, unsigned by)
{
    return (word){rotr(x.v, by), rotr(x.constant, by), rotr(x.negated, by)};
}

static inline word word_shr(word x, unsigned by)
{
    return (word){x.v >> by, x.constant >> by | ~(UINT32_MAX >> by), x.negated >> by};
}

/* Writes the bits of v at the ones of mask. v is 0 elsewhere. */
static inline void write_masked(wcursor *w, uint32_t v, uint32_t mask)
{
    if (mask == UINT32_MAX) {
        wcursor_bits(w, v, 32);
        return;
    }
    if (!mask)
        return;
    /* Holes are few: close them from the highest down. */
    unsigned n = 32 - (unsigned)__builtin_clz(mask);
    for (uint32_t hole = ~mask & (UINT32_MAX >> (32 - n)); hole;) {
        unsigned at = 31 - (unsigned)__builtin_clz(hole);
        uint32_t low = ((uint32_t)1 << at) - 1;
        v = (v & low) | (v >> 1 & ~low);
        hole &= low;
        n--;
    }
    wcursor_bits(w, v, n);
}

static inline word word_xor(wcursor *w, word a, word b)
{
    word out = {.v = a.v ^ b.v, .constant = a.constant & b.constant};
    uint32_t mask = ~(a.constant | b.constant);
    write_masked(w, (out.v ^ a.negated ^ b.negated) & mask, mask);
    out.negated = (a.negated ^ b.negated ^ (a.constant & a.v) ^ (b.constant & b.v)) & ~out.constant;
    return out;
}

static inline word sigma(wcursor *w, word x, unsigned p, unsigned q, word third)
{
    return word_xor(w, word_xor(w, word_rotr(x, p), word_rotr(x, q)), third);
}

/* ---- choice and majority where constants take part: bit by bit, the cases of boolean_ch and boolean_maj
 * ---- */
typedef struct bit {
    unsigned v, constant, negated;
} bit;
typedef struct bit_run {
    uint64_t v;
    unsigned n;
} bit_run;

static bit bit_at(word x, int i)
{
    return (bit){x.v >> i & 1, x.constant >> i & 1, x.negated >> i & 1};
}

static void bit_put(word *x, int i, bit b)
{
    x->v |= (uint32_t)b.v << i;
    x->constant |= (uint32_t)b.constant << i;
    x->negated |= (uint32_t)b.negated << i;
}

static void run_add(bit_run *r, unsigned v)
{
    r->v |= (uint64_t)v << r->n++;
}

static bit bit_not(bit a)
{
    return (bit){!a.v, a.constant, !a.constant && !a.negated};
}

static int bit_is(bit a, unsigned constant)
{
    return a.constant && a.v == constant;
}

static bit bit_and(bit_run *r, bit a, bit b)
{
    if (bit_is(a, 0) || bit_is(b, 1))
        return a;
    if (bit_is(b, 0) || bit_is(a, 1))
        return b;
    run_add(r, a.v & b.v);
    return (bit){a.v & b.v, 0, 0};
}

static bit bit_ch(bit_run *r, bit a, bit b, bit c)
{
    if (bit_is(a, 0))
        return c;
    if (a.constant && b.constant && c.constant)
        return b;
    if (bit_is(b, 0))
        return bit_and(r, bit_not(a), c);
    if (bit_is(c, 0))
        return bit_and(r, a, b);
    if (bit_is(c, 1))
        return bit_not(bit_and(r, a, bit_not(b)));
    if (bit_is(b, 1))
        return bit_not(bit_and(r, bit_not(a), bit_not(c)));
    unsigned v = a.v ? b.v : c.v;
    run_add(r, v);
    return (bit){v, 0, 0};
}

static bit bit_maj(bit_run *r, bit a, bit b, bit c)
{
    const bit operand[3] = {a, b, c};
    for (int i = 0; i < 3; i++)
        if (bit_is(operand[i], 0))
            return bit_and(r, operand[i == 0], operand[i == 2 ? 1 : 2]);
    for (int i = 2; i >= 0; i--)
        if (bit_is(operand[i], 1))
            return bit_not(bit_and(r, bit_not(operand[i == 0]), bit_not(operand[i == 2 ? 1 : 2])));
    unsigned v = a.v + b.v + c.v >= 2;
    run_add(r, v);
    run_add(r, b.v & c.v);
    return (bit){v, 0, 0};
}

static word by_bits(wcursor *w, bit (*f)(bit_run *r, bit a, bit b, bit c), word a, word b, word c)
{
    word out = {0};
    bit_run r = {0};
    for (int i = 0; i < 32; i++)
        bit_put(&out, i, f(&r, bit_at(a, i), bit_at(b, i), bit_at(c, i)));
    if (r.n)
        wcursor_bits(w, r.v, r.n);
    return out;
}

static inline word word_ch(wcursor *w, word a, word b, word c)
{
    if (a.constant | b.constant | c.constant)
        return by_bits(w, bit_ch, a, b, c);
    uint32_t v = (a.v & b.v) ^ (~a.v & c.v);
    wcursor_bits(w, v, 32);
    return word_wires(v);
}

/* Bit i to position 2i. */
static inline uint64_t spread(uint32_t v)
{
    uint64_t x = v;
    x = (x | x << 16) & 0x0000ffff0000ffff;
    x = (x | x << 8) & 0x00ff00ff00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
    x = (x | x << 2) & 0x3333333333333333;
    return (x | x << 1) & 0x5555555555555555;
}

static inline word word_maj(wcursor *w, word a, word b, word c)
{
    if (a.constant | b.constant | c.constant)
        return by_bits(w, bit_maj, a, b, c);
    uint32_t both = b.v & c.v, v = (a.v & (b.v ^ c.v)) ^ both;
    wcursor_bits(w, spread(v) | spread(both) << 1, 64);
    return word_wires(v);
}

/* constant: the bits that are constant in every operand. */
static inline word word_sum(wcursor *w, uint64_t sum, uint32_t constant, unsigned operands)
{
    if (constant == UINT32_MAX)
        return word_constant((uint32_t)sum);
    wcursor_bits(w, sum, uint32_sum_bits(operands));
    return word_wires((uint32_t)sum);
}

/* A word of the state that is still a sum. */
typedef struct deferred {
    uint64_t sum;
    uint32_t constant;
    unsigned operands; /* 1: a word, not a sum */
    word w;
} deferred;

static inline word deferred_get(wcursor *w, const deferred *d)
{
    return d->operands == 1 ? d->w : word_sum(w, d->sum, d->constant, d->operands);
}

static inline word deferred_add(wcursor *w, const deferred *d, word x)
{
    return word_sum(w, d->sum + x.v, d->constant & x.constant, d->operands + 1);
}

static inline word add_one(wcursor *w, word a, word b)
{
    return word_sum(w, (uint64_t)a.v + b.v, a.constant & b.constant, 2);
}

static void extend(wcursor *w, word x[64])
{
    for (int i = 16; i < 64; i++) {
        word s0 = sigma(w, x[i - 15], 7, 18, word_shr(x[i - 15], 3));
        word s1 = sigma(w, x[i - 2], 17, 19, word_shr(x[i - 2], 10));
        x[i] = word_sum(w, (uint64_t)x[i - 16].v + s0.v + x[i - 7].v + s1.v,
                        x[i - 16].constant & s0.constant & x[i - 7].constant & s1.constant, 4);
    }
}

static void compress(wcursor *w, word chain[8], word x[64])
{
    deferred da = {.operands = 1, .w = chain[0]}, de = {.operands = 1, .w = chain[4]};
    word b = chain[1], c = chain[2], d = chain[3], f = chain[5], g = chain[6], h = chain[7];
    extend(w, x);
    for (int i = 0; i < 64; i++) {
        word e = deferred_get(w, &de);
        word s1 = sigma(w, e, 6, 11, word_rotr(e, 25));
        word ch = word_ch(w, e, f, g);
        word a = deferred_get(w, &da);
        word s0 = sigma(w, a, 2, 13, word_rotr(a, 22));
        word maj = word_maj(w, a, b, c);
        uint64_t t = (uint64_t)h.v + s1.v + ch.v + SHA256_K[i] + x[i].v;
        uint32_t constant = h.constant & s1.constant & ch.constant & x[i].constant;
        de = (deferred){.sum = t + d.v, .constant = constant & d.constant, .operands = 6};
        da = (deferred){
            .sum = t + s0.v + maj.v, .constant = constant & s0.constant & maj.constant, .operands = 7};
        h = g, g = f, f = e;
        d = c, c = b, b = a;
    }
    chain[0] = deferred_add(w, &da, chain[0]);
    chain[1] = add_one(w, chain[1], b);
    chain[2] = add_one(w, chain[2], c);
    chain[3] = add_one(w, chain[3], d);
    chain[4] = deferred_add(w, &de, chain[4]);
    chain[5] = add_one(w, chain[5], f);
    chain[6] = add_one(w, chain[6], g);
    chain[7] = add_one(w, chain[7], h);
}

/* The padded message's bytes from first on, 64 of them; constant likewise: all ones in the padding. */
static void padded_block(uint8_t block[64], uint8_t mask[64], const uint8_t *data, const uint8_t *constant,
                         size_t bytes, size_t first, size_t total)
{
    size_t have = first >= bytes ? 0 : bytes - first < 64 ? bytes - first : 64;
    memset(block, 0, 64);
    memset(mask, 0xff, 64);
    if (have)
        memcpy(block, data + first, have);
    if (have && constant)
        memcpy(mask, constant + first, have);
    else
        memset(mask, 0, have);
    if (have < 64 && first + have == bytes)
        block[have] = 0x80;
    if (first + 64 == total) {
        store_be32(block + 56, (uint32_t)((uint64_t)bytes >> 29));
        store_be32(block + 60, (uint32_t)(bytes << 3));
    }
}

void sha256_witness(wcursor *w, const uint8_t *data, size_t bytes, const uint8_t *constant,
                    uint8_t digest[32])
{
    word chain[8], x[64];
    uint8_t block[64], mask[64];
    size_t total = (bytes + 1 + 8 + 63) / 64 * 64;
    for (int i = 0; i < 8; i++)
        chain[i] = word_constant(SHA256_IV[i]);
    for (size_t first = 0; first < total; first += 64) {
        padded_block(block, mask, data, constant, bytes, first, total);
        for (int i = 0; i < 16; i++)
            x[i] = (word){load_be32(block + 4 * i), load_be32(mask + 4 * i), 0};
        compress(w, chain, x);
    }
    for (int i = 0; i < 8; i++)
        store_be32(digest + 4 * i, chain[i].v);
}

void sha256_num_witness(wcursor *w, const uint8_t *data, size_t bytes, const uint8_t *constant, fr *out)
{
    uint8_t digest[32];
    sha256_witness(w, data, bytes, constant, digest);
    digest[31] &= 0x3f;
    fr_from_bytes(out, digest);
    wcursor_field(w, out);
}
