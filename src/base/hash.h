/* Small hashes and generators: SHA-256 (FIPS 180-4), BLAKE2b (RFC 7693), ChaCha (RFC 8439 block). */
#ifndef BASE_HASH_H
#define BASE_HASH_H
#include <stddef.h>
#include <stdint.h>

typedef struct sha256 {
    uint32_t state[8];
    uint64_t length;
    uint8_t block[64];
    size_t used;
} sha256;
void sha256_init(sha256 *s);
void sha256_update(sha256 *s, const void *data, size_t bytes);
void sha256_final(sha256 *s, uint8_t out[32]);
void sha256_digest(uint8_t out[32], const void *data, size_t bytes);
/* Compresses blocks (64 bytes each) into state; SHA-NI where the processor has it. */
void sha256_compress(uint32_t state[8], const uint8_t *blocks, size_t count);
void sha256_compress_ref(uint32_t state[8], const uint8_t *blocks, size_t count);

typedef struct blake2b {
    uint64_t h[8], t[2];
    uint8_t block[128];
    size_t used, out;
} blake2b;
/* out_bytes 1..64; key may be NULL when key_bytes is 0 (at most 64). */
void blake2b_init(blake2b *b, size_t out_bytes, const void *key, size_t key_bytes);
/* The same with 16 bytes of salt and 16 of personalisation, either NULL. */
void blake2b_init_personal(blake2b *b, size_t out_bytes, const void *key, size_t key_bytes,
                           const uint8_t salt[16], const uint8_t personal[16]);
void blake2b_update(blake2b *b, const void *data, size_t bytes);
void blake2b_final(blake2b *b, uint8_t *out);

/* ChaCha with the given number of rounds (8 or 20), 64-bit block counter and 64-bit stream id in the nonce
 * words, as rand_chacha lays them out. */
void chacha_block(uint8_t out[64], const uint8_t key[32], uint64_t counter, uint64_t stream, int rounds);
typedef struct chacha_rng {
    uint8_t key[32], block[64];
    uint64_t counter;
    int rounds, used; /* used: bytes of block already given out */
} chacha_rng;
void chacha_rng_init(chacha_rng *r, const uint8_t key[32], int rounds);
uint32_t chacha_rng_u32(chacha_rng *r);
uint64_t chacha_rng_u64(chacha_rng *r); /* low word first */
void chacha_rng_bytes(chacha_rng *r, void *out, size_t bytes);
/* Kernel randomness; returns 0 on success. */
int random_bytes(void *out, size_t bytes);
#endif
