/* Constants and vector forms of SHA-256, private to src/base and the SHA-256 gadget's witness. */
#ifndef BASE_SHA256_PRIVATE_H
#define BASE_SHA256_PRIVATE_H
#include <stddef.h>
#include <stdint.h>
extern const uint32_t SHA256_K[64], SHA256_IV[8];
void sha256_compress_shani(uint32_t state[8], const uint8_t *blocks, size_t count);
#endif
