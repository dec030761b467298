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

/* Second bytes that follow a leading byte lie in 80..bf, but for those that would make a long form of a short
 * one (c0, c1, e0, f0), a surrogate (ed) or a number beyond 10ffff (f4). */
size_t utf8_length(const char *text)
{
    const uint8_t *s = (const uint8_t *)text;
    if (s[0] < 0x80)
        return s[0] != 0;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    uint8_t low = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : 0x80;
    uint8_t high = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : 0xbf;
    size_t n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

int utf8_is_valid(const char *text)
{
    size_t n;
    while ((n = utf8_length(text)))
        text += n;
    return !*text;
}

void utf8_clean(char *text)
{
    while (*text) {
        size_t n = utf8_length(text);
        if (!n)
            *text = '?';
        text += n ? n : 1;
    }
}
