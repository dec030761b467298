/* SHA-256, FIPS 180-4. */
#include "base/cpu.h"
#include "base/encode.h"
#include "base/hash.h"
#include "base/sha256_private.h"
#include <string.h>

const uint32_t SHA256_K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
const uint32_t SHA256_IV[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static uint32_t rotr(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

void sha256_compress_ref(uint32_t state[8], const uint8_t *blocks, size_t count)
{
    for (; count; count--, blocks += 64) {
        uint32_t w[64], s[8];
        for (unsigned i = 0; i < 16; i++)
            w[i] = load_be32(blocks + 4 * i);
        for (unsigned i = 16; i < 64; i++) {
            uint32_t s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
            uint32_t s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        memcpy(s, state, sizeof(s));
        for (unsigned i = 0; i < 64; i++) {
            uint32_t s1 = rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25);
            uint32_t ch = (s[4] & s[5]) ^ (~s[4] & s[6]);
            uint32_t t1 = s[7] + s1 + ch + SHA256_K[i] + w[i];
            uint32_t s0 = rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22);
            uint32_t maj = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
            memmove(s + 1, s, 7 * sizeof(uint32_t));
            s[4] += t1;
            s[0] = t1 + s0 + maj;
        }
        for (unsigned i = 0; i < 8; i++)
            state[i] += s[i];
    }
}

void sha256_compress(uint32_t state[8], const uint8_t *blocks, size_t count)
{
#if defined(__x86_64__)
    if (cpu_get()->sha_ni) {
        sha256_compress_shani(state, blocks, count);
        return;
    }
#endif
    sha256_compress_ref(state, blocks, count);
}

void sha256_init(sha256 *s)
{
    memset(s, 0, sizeof(*s));
    memcpy(s->state, SHA256_IV, sizeof(s->state));
}

void sha256_update(sha256 *s, const void *data, size_t bytes)
{
    const uint8_t *d = data;
    s->length += bytes;
    if (s->used) {
        size_t k = 64 - s->used < bytes ? 64 - s->used : bytes;
        memcpy(s->block + s->used, d, k);
        s->used += k;
        d += k;
        bytes -= k;
        if (s->used < 64)
            return;
        sha256_compress(s->state, s->block, 1);
        s->used = 0;
    }
    sha256_compress(s->state, d, bytes / 64);
    d += bytes / 64 * 64;
    bytes %= 64;
    if (bytes)
        memcpy(s->block, d, bytes);
    s->used = bytes;
}

void sha256_final(sha256 *s, uint8_t out[32])
{
    uint64_t bits = s->length * 8;
    uint8_t padding[72] = {0x80};
    size_t n = (s->used < 56 ? 56 : 120) - s->used;
    store_be32(padding + n, (uint32_t)(bits >> 32));
    store_be32(padding + n + 4, (uint32_t)bits);
    sha256_update(s, padding, n + 8);
    for (unsigned i = 0; i < 8; i++)
        store_be32(out + 4 * i, s->state[i]);
}

void sha256_digest(uint8_t out[32], const void *data, size_t bytes)
{
    sha256 s;
    sha256_init(&s);
    sha256_update(&s, data, bytes);
    sha256_final(&s, out);
}
