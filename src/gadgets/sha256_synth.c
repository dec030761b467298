/* The rows of SHA-256. What a word of the state is a sum of, is added up late: a and e of one round are sums
 * that the next round allocates when it needs their bits, and the last ones absorb the chaining value. */
#include "base/sha256_private.h"
#include "gadgets/sha256_gadget.h"
#include "gadgets/uint32.h"
#include <assert.h>

/* (x rotr p) ^ (x rotr q) ^ (x rotr s, or x shr s) */
static void sigma(cs *c, uint32_gadget *out, const uint32_gadget *x, unsigned p, unsigned q, unsigned s,
                  int shift)
{
    uint32_gadget first, second;
    uint32_rotr(&first, x, p);
    uint32_rotr(&second, x, q);
    uint32_xor(c, &first, &first, &second);
    if (shift)
        uint32_shr(&second, x, s);
    else
        uint32_rotr(&second, x, s);
    uint32_xor(c, out, &first, &second);
}

static void extend(multieq *m, uint32_gadget w[64])
{
    for (int i = 16; i < 64; i++) {
        uint32_gadget s0, s1;
        cs_push(m->c, "w extension", i);
        sigma(m->c, &s0, &w[i - 15], 7, 18, 3, 1);
        sigma(m->c, &s1, &w[i - 2], 17, 19, 10, 1);
        uint32_addmany(m, &w[i], (const uint32_gadget *[]){&w[i - 16], &s0, &w[i - 7], &s1}, 4);
        cs_pop(m->c);
    }
}

/* A word of the state: its bits, or the operands that it is the sum of. */
typedef struct deferred {
    uint32_gadget part[8];
    unsigned n; /* 1: the word itself */
} deferred;

static void deferred_set(deferred *d, const uint32_gadget *const *part, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        d->part[i] = *part[i];
    d->n = n;
}

/* extra: one more operand, or NULL. */
static void deferred_get(multieq *m, uint32_gadget *out, const deferred *d, const uint32_gadget *extra)
{
    const uint32_gadget *operand[9];
    unsigned n = d->n;
    if (n == 1 && !extra) {
        *out = d->part[0];
        return;
    }
    for (unsigned i = 0; i < n; i++)
        operand[i] = &d->part[i];
    if (extra)
        operand[n++] = extra;
    uint32_addmany(m, out, operand, n);
}

typedef struct state {
    deferred a, e;
    uint32_gadget b, c, d, f, g, h;
} state;

static void compression_round(multieq *m, state *s, const uint32_gadget *k, const uint32_gadget *w)
{
    uint32_gadget a, e, s0, s1, ch, maj;
    deferred_get(m, &e, &s->e, NULL);
    sigma(m->c, &s1, &e, 6, 11, 25, 0);
    uint32_ch(m->c, &ch, &e, &s->f, &s->g);
    deferred_get(m, &a, &s->a, NULL);
    sigma(m->c, &s0, &a, 2, 13, 22, 0);
    uint32_maj(m->c, &maj, &a, &s->b, &s->c);
    deferred_set(&s->e, (const uint32_gadget *[]){&s->h, &s1, &ch, k, w, &s->d}, 6);
    deferred_set(&s->a, (const uint32_gadget *[]){&s->h, &s1, &ch, k, w, &s0, &maj}, 7);
    s->h = s->g, s->g = s->f, s->f = e;
    s->d = s->c, s->c = s->b, s->b = a;
}

static void add_one(multieq *m, uint32_gadget *chain, const uint32_gadget *word)
{
    uint32_gadget sum;
    uint32_addmany(m, &sum, (const uint32_gadget *[]){chain, word}, 2);
    *chain = sum;
}

static void compress(cs *c, uint32_gadget chain[8], const boolean block[512])
{
    uint32_gadget w[64], k, sum;
    multieq m;
    state s = {.b = chain[1], .c = chain[2], .d = chain[3], .f = chain[5], .g = chain[6], .h = chain[7]};
    for (int i = 0; i < 16; i++)
        uint32_from_bits_be(&w[i], block + 32 * i);
    multieq_init(&m, c);
    extend(&m, w);
    deferred_set(&s.a, (const uint32_gadget *[]){&chain[0]}, 1);
    deferred_set(&s.e, (const uint32_gadget *[]){&chain[4]}, 1);
    for (int i = 0; i < 64; i++) {
        cs_push(c, "compression round", i);
        uint32_constant(&k, SHA256_K[i]);
        compression_round(&m, &s, &k, &w[i]);
        cs_pop(c);
    }
    cs_push(c, "new h", -1);
    deferred_get(&m, &sum, &s.a, &chain[0]);
    chain[0] = sum;
    add_one(&m, &chain[1], &s.b);
    add_one(&m, &chain[2], &s.c);
    add_one(&m, &chain[3], &s.d);
    deferred_get(&m, &sum, &s.e, &chain[4]);
    chain[4] = sum;
    add_one(&m, &chain[5], &s.f);
    add_one(&m, &chain[6], &s.g);
    add_one(&m, &chain[7], &s.h);
    multieq_finish(&m);
    cs_pop(c);
}

/* Bit i of the padded message: the message, a one, zeros, the length. */
static boolean padded_bit(const boolean *bits, size_t n, size_t total, size_t i)
{
    if (i < n)
        return bits[i];
    if (i == n)
        return boolean_constant(1);
    return boolean_constant(i + 64 >= total && (uint64_t)n >> (total - 1 - i) & 1);
}

void sha256_synth(cs *c, const boolean *bits, size_t n, boolean out[256])
{
    assert(n % 8 == 0);
    uint32_gadget chain[8];
    boolean block[512];
    size_t total = (n + 1 + 64 + 511) / 512 * 512;
    for (int i = 0; i < 8; i++)
        uint32_constant(&chain[i], SHA256_IV[i]);
    for (size_t first = 0; first < total; first += 512) {
        for (size_t i = 0; i < 512; i++)
            block[i] = padded_bit(bits, n, total, first + i);
        cs_push(c, "block", (int64_t)(first / 512));
        compress(c, chain, block);
        cs_pop(c);
    }
    for (int i = 0; i < 8; i++)
        uint32_to_bits_be(out + 32 * i, &chain[i]);
}

var sha256_num_synth(cs *c, const boolean *bits, size_t n)
{
    boolean digest[256], le[256];
    cs_push(c, "hash", -1);
    sha256_synth(c, bits, n, digest);
    cs_pop(c);
    reverse_bit_numbering(le, digest, 256);
    return pack_bits(c, le, FR_CAPACITY);
}
