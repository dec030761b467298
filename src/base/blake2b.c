/* BLAKE2b, RFC 7693, with key, salt and personalisation. */
#include "base/encode.h"
#include "base/hash.h"
#include <assert.h>
#include <string.h>

static const uint64_t IV[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                               0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                               0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
static const uint8_t SIGMA[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                      {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                      {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                      {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                      {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                      {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                      {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                      {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                      {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                      {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

static uint64_t rotr(uint64_t x, unsigned n)
{
    return x >> n | x << (64 - n);
}

static void mix(uint64_t *v, unsigned a, unsigned b, unsigned c, unsigned d, uint64_t x, uint64_t y)
{
    v[a] += v[b] + x;
    v[d] = rotr(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = rotr(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = rotr(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotr(v[b] ^ v[c], 63);
}

static void compress(blake2b *b, const uint8_t *block, int last)
{
    uint64_t v[16], m[16];
    memcpy(v, b->h, sizeof(b->h));
    memcpy(v + 8, IV, sizeof(IV));
    v[12] ^= b->t[0];
    v[13] ^= b->t[1];
    if (last)
        v[14] = ~v[14];
    for (unsigned i = 0; i < 16; i++)
        m[i] = load_le64(block + 8 * i);
    for (unsigned r = 0; r < 12; r++) {
        const uint8_t *s = SIGMA[r % 10];
        for (unsigned i = 0; i < 4; i++)
            mix(v, i, i + 4, i + 8, i + 12, m[s[2 * i]], m[s[2 * i + 1]]);
        for (unsigned i = 0; i < 4; i++)
            mix(v, i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12, m[s[2 * i + 8]], m[s[2 * i + 9]]);
    }
    for (unsigned i = 0; i < 8; i++)
        b->h[i] ^= v[i] ^ v[i + 8];
}

void blake2b_init_personal(blake2b *b, size_t out_bytes, const void *key, size_t key_bytes,
                           const uint8_t salt[16], const uint8_t personal[16])
{
    assert(out_bytes >= 1 && out_bytes <= 64 && key_bytes <= 64);
    memset(b, 0, sizeof(*b));
    b->out = out_bytes;
    uint8_t block[64] = {(uint8_t)out_bytes, (uint8_t)key_bytes, 1, 1};
    if (salt)
        memcpy(block + 32, salt, 16);
    if (personal)
        memcpy(block + 48, personal, 16);
    for (unsigned i = 0; i < 8; i++)
        b->h[i] = IV[i] ^ load_le64(block + 8 * i);
    if (key_bytes) {
        memcpy(b->block, key, key_bytes);
        b->used = 128;
    }
}

void blake2b_init(blake2b *b, size_t out_bytes, const void *key, size_t key_bytes)
{
    blake2b_init_personal(b, out_bytes, key, key_bytes, NULL, NULL);
}

static void count(blake2b *b, uint64_t bytes)
{
    b->t[0] += bytes;
    b->t[1] += b->t[0] < bytes;
}

void blake2b_update(blake2b *b, const void *data, size_t bytes)
{
    const uint8_t *d = data;
    while (bytes) {
        if (b->used == 128) { /* kept back until more comes: the last block is compressed by final */
            count(b, 128);
            compress(b, b->block, 0);
            b->used = 0;
        }
        if (b->used == 0 && bytes > 128) {
            count(b, 128);
            compress(b, d, 0);
            d += 128;
            bytes -= 128;
            continue;
        }
        size_t k = 128 - b->used < bytes ? 128 - b->used : bytes;
        memcpy(b->block + b->used, d, k);
        b->used += k;
        d += k;
        bytes -= k;
    }
}

void blake2b_final(blake2b *b, uint8_t *out)
{
    count(b, b->used);
    memset(b->block + b->used, 0, 128 - b->used);
    compress(b, b->block, 1);
    uint8_t full[64];
    for (unsigned i = 0; i < 8; i++)
        store_le64(full + 8 * i, b->h[i]);
    memcpy(out, full, b->out);
}
