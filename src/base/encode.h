/* Text encodings and little-endian access. */
#ifndef BASE_ENCODE_H
#define BASE_ENCODE_H
#include <stddef.h>
#include <stdint.h>

void hex_encode(char *out /* 2n + 1 */, const void *data, size_t n);
/* Decodes exactly n bytes from 2n digits (an optional 0x before them); returns 0 on success. */
int hex_decode(void *out, size_t n, const char *text);
/* Decodes standard base64 (padding required, no white space) into out (3 * (n / 4) bytes); returns the length
 * or -1, and then *bad_at is the offset of the first wrong character. */
ptrdiff_t base64_decode(uint8_t *out, const char *text, size_t n, size_t *bad_at);

/* Bytes of the UTF-8 character at text (1 to 4); 0 at the end, or where there is none. */
size_t utf8_length(const char *text);
int utf8_is_valid(const char *text);
/* Puts '?' in place of each byte that belongs to no character. */
void utf8_clean(char *text);

static inline uint32_t load_le32(const void *p)
{
    const uint8_t *b = p;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}
static inline uint64_t load_le64(const void *p)
{
    const uint8_t *b = p;
    return (uint64_t)load_le32(b) | (uint64_t)load_le32(b + 4) << 32;
}
static inline uint32_t load_be32(const void *p)
{
    const uint8_t *b = p;
    return (uint32_t)b[3] | (uint32_t)b[2] << 8 | (uint32_t)b[1] << 16 | (uint32_t)b[0] << 24;
}
static inline void store_le32(void *p, uint32_t v)
{
    uint8_t *b = p;
    b[0] = (uint8_t)v, b[1] = (uint8_t)(v >> 8), b[2] = (uint8_t)(v >> 16), b[3] = (uint8_t)(v >> 24);
}
static inline void store_le64(void *p, uint64_t v)
{
    store_le32(p, (uint32_t)v);
    store_le32((uint8_t *)p + 4, (uint32_t)(v >> 32));
}
static inline void store_be32(void *p, uint32_t v)
{
    uint8_t *b = p;
    b[3] = (uint8_t)v, b[2] = (uint8_t)(v >> 8), b[1] = (uint8_t)(v >> 16), b[0] = (uint8_t)(v >> 24);
}
#endif
