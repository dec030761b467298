/* ChaCha as a generator (RFC 8439's block function with a 64-bit counter) and the kernel's randomness. */
#include "base/encode.h"
#include "base/hash.h"
#include <errno.h>
#include <string.h>
#include <sys/random.h>

static uint32_t rotl(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static void quarter(uint32_t *x, unsigned a, unsigned b, unsigned c, unsigned d)
{
    x[a] += x[b];
    x[d] = rotl(x[d] ^ x[a], 16);
    x[c] += x[d];
    x[b] = rotl(x[b] ^ x[c], 12);
    x[a] += x[b];
    x[d] = rotl(x[d] ^ x[a], 8);
    x[c] += x[d];
    x[b] = rotl(x[b] ^ x[c], 7);
}

void chacha_block(uint8_t out[64], const uint8_t key[32], uint64_t counter, uint64_t stream, int rounds)
{
    uint32_t in[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, x[16];
    for (unsigned i = 0; i < 8; i++)
        in[4 + i] = load_le32(key + 4 * i);
    in[12] = (uint32_t)counter;
    in[13] = (uint32_t)(counter >> 32);
    in[14] = (uint32_t)stream;
    in[15] = (uint32_t)(stream >> 32);
    memcpy(x, in, sizeof(x));
    for (int r = 0; r < rounds; r += 2) {
        for (unsigned i = 0; i < 4; i++)
            quarter(x, i, i + 4, i + 8, i + 12);
        for (unsigned i = 0; i < 4; i++)
            quarter(x, i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12);
    }
    for (unsigned i = 0; i < 16; i++)
        store_le32(out + 4 * i, x[i] + in[i]);
}

void chacha_rng_init(chacha_rng *r, const uint8_t key[32], int rounds)
{
    memset(r, 0, sizeof(*r));
    memcpy(r->key, key, 32);
    r->rounds = rounds;
    r->used = 64;
}

uint32_t chacha_rng_u32(chacha_rng *r)
{
    uint8_t b[4];
    chacha_rng_bytes(r, b, 4);
    return load_le32(b);
}

uint64_t chacha_rng_u64(chacha_rng *r)
{
    uint64_t low = chacha_rng_u32(r);
    return low | (uint64_t)chacha_rng_u32(r) << 32;
}

void chacha_rng_bytes(chacha_rng *r, void *out, size_t bytes)
{
    uint8_t *o = out;
    while (bytes) {
        if (r->used == 64) {
            chacha_block(r->block, r->key, r->counter++, 0, r->rounds);
            r->used = 0;
        }
        size_t k = (size_t)(64 - r->used) < bytes ? (size_t)(64 - r->used) : bytes;
        memcpy(o, r->block + r->used, k);
        r->used += (int)k;
        o += k;
        bytes -= k;
    }
}

int random_bytes(void *out, size_t bytes)
{
    uint8_t *o = out;
    while (bytes) {
        ssize_t k = getrandom(o, bytes < 256 ? bytes : 256, 0);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return -1;
        o += k;
        bytes -= (size_t)k;
    }
    return 0;
}
