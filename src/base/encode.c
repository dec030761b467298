#include "base/encode.h"

static const char DIGITS[] = "0123456789abcdef";

void hex_encode(char *out, const void *data, size_t n)
{
    const uint8_t *b = data;
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = DIGITS[b[i] >> 4];
        out[2 * i + 1] = DIGITS[b[i] & 15];
    }
    out[2 * n] = 0;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

int hex_decode(void *out, size_t n, const char *text)
{
    uint8_t *b = out;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        text += 2;
    for (size_t i = 0; i < n; i++) {
        int high = hex_value(text[2 * i]);
        int low = high < 0 ? -1 : hex_value(text[2 * i + 1]);
        if (low < 0)
            return -1;
        b[i] = (uint8_t)(high << 4 | low);
    }
    return text[2 * n] ? -1 : 0;
}

static int base64_value(unsigned char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+')
        return 62;
    return c == '/' ? 63 : -1;
}

ptrdiff_t base64_decode(uint8_t *out, const char *text, size_t n, size_t *bad_at)
{
    size_t used = 0;
    if (n % 4) {
        *bad_at = n;
        return -1;
    }
    for (size_t i = 0; i < n; i += 4) {
        uint32_t word = 0;
        int padding = 0;
        for (size_t k = 0; k < 4; k++) {
            unsigned char c = (unsigned char)text[i + k];
            int v = base64_value(c);
            /* '=' may only fill the last one or two places of the last group. */
            if (c == '=' && i + 4 == n && k >= 2) {
                padding++;
                v = 0;
            } else if (v < 0 || padding) {
                *bad_at = i + k;
                return -1;
            }
            word = word << 6 | (uint32_t)v;
        }
        if ((padding == 1 && (word & 0xff)) || (padding == 2 && (word & 0xffff))) {
            *bad_at = i + 3 - (size_t)padding; /* bits that would be lost */
            return -1;
        }
        out[used++] = (uint8_t)(word >> 16);
        if (padding < 2)
            out[used++] = (uint8_t)(word >> 8);
        if (padding < 1)
            out[used++] = (uint8_t)word;
    }
    return (ptrdiff_t)used;
}
