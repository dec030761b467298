#include "msm/hexagon.h"

/* m by the number of windows: the least even m whose highest digit needs no step, from HEXAGON_LEAST windows
 * on; 0 where there is none with m^windows <= 2^130, which the vector form needs. */
static const uint16_t radices[] = {
    7140, 3188, 1628, 922, 566, 372, 258, 186, 140, 108, 86, 70, 58, 48, 42, 36, 32, 28, 24,
    22,   20,   18,   0,   0,   14,  0,   12,  0,   0,   10, 0,  0,  0,  8,  0,  0,  0,  0,
    0,    0,    6,    0,   0,   0,   0,   0,   0,   0,   0,  0,  0,  0,  0,  0,  0,  4,
};
_Static_assert(sizeof radices / sizeof *radices == HEXAGON_MOST - HEXAGON_LEAST + 1, "one for every number");

uint32_t hexagon_radix(unsigned windows)
{
    return windows < HEXAGON_LEAST || windows > HEXAGON_MOST ? 0 : radices[windows - HEXAGON_LEAST];
}

/* The power of 2 that five limbs of so many bits stand below, over m^windows: the floor of floors is the
 * floor. */
static void reciprocal(uint64_t r[3], unsigned bits, const hexagon *h)
{
    uint64_t number[6] = {0, 0, 0, 0, 0, 1};
    for (unsigned w = 0; w < h->windows; w++) {
        u128 rest = 0;
        for (int i = 6; i-- > 0;) {
            rest = rest << bits | number[i];
            number[i] = (uint64_t)(rest / h->radix);
            rest %= h->radix;
        }
    }
    for (int i = 0; i < 3; i++)
        r[i] = number[i];
}

static void balance(uint64_t r[3], unsigned bits, const hexagon *h)
{
    for (unsigned w = 0; w < h->windows; w++) {
        u128 carry = h->radix / 2;
        for (int i = 0; i < 3; i++) {
            carry += (u128)r[i] * h->radix;
            r[i] = (uint64_t)carry & (~(uint64_t)0 >> (64 - bits));
            carry >>= bits;
        }
    }
}

int hexagon_init(hexagon *h, unsigned windows)
{
    uint32_t m = hexagon_radix(windows), y = m / 3 + 1;
    *h = (hexagon){.windows = windows, .radix = m, .long_rows = m / 3};
    if (!m)
        return 0;
    h->short_first = y * (m / 2) - y * y / 4 - y * (m + 1 - y);
    h->buckets = hexagon_bucket(h, 1, m / 2); /* where one more row would start */
    reciprocal(h->scale, 52, h);
    reciprocal(h->scale64, 64, h);
    balance(h->balance, 52, h);
    balance(h->balance64, 64, h);
    return 1;
}

typedef struct triple {
    int p, q, s;
} triple;

static uint32_t code_of(const hexagon *h, triple t)
{
    const int pair[3][2] = {{t.p, t.q}, {t.q, t.s}, {t.s, t.p}};
    static const uint32_t turn[3] = {0, 4, 6};
    for (uint32_t rot = 0; rot < 3; rot++) {
        int x = pair[rot][0], y = pair[rot][1];
        if (x > 0 && y >= 0)
            return hexagon_bucket(h, (uint32_t)x, (uint32_t)y) << 3 | turn[rot];
        if (x < 0 && y <= 0)
            return hexagon_bucket(h, (uint32_t)-x, (uint32_t)-y) << 3 | turn[rot] | 1;
    }
    return HEXAGON_NONE;
}

/* The lowest balanced digit of a signed number, which it is taken from. */
static int balanced_digit(__int128 *a, int m)
{
    int d = (int)(*a % m);
    if (d < -m / 2)
        d += m;
    else if (d >= m / 2)
        d -= m;
    *a = (*a - d) / m;
    return d;
}

void hexagon_codes_ref(uint32_t *code, size_t stride, const hexagon *h, const scalar *k)
{
    glv_part part[2];
    glv_split(part, k);
    int m = (int)h->radix;
    __int128 a = part[0].negative ? -(__int128)part[0].magnitude : (__int128)part[0].magnitude;
    __int128 b = part[1].negative ? (__int128)part[1].magnitude : -(__int128)part[1].magnitude;
    triple carry = {0, 0, 0};
    for (unsigned w = 0; w < h->windows; w++, code += stride) {
        int last = w + 1 == h->windows;
        int da = last ? (int)a : balanced_digit(&a, m), db = last ? (int)b : balanced_digit(&b, m);
        triple t = {da - db + carry.p, db + carry.q, -da + carry.s};
        int max = t.p > t.q ? t.p : t.q, min = t.p < t.q ? t.p : t.q;
        max = t.s > max ? t.s : max;
        min = t.s < min ? t.s : min;
        carry = (triple){0, 0, 0};
        if (max - min > m && !last) {
            int *const part_of[3] = {&t.p, &t.q, &t.s}, *const carry_of[3] = {&carry.p, &carry.q, &carry.s};
            int high = t.q == max ? 1 : t.s == max ? 2 : 0, low = t.q == min ? 1 : t.s == min ? 2 : 0;
            *part_of[high] -= m;
            *part_of[low] += m;
            *carry_of[high] = 1;
            *carry_of[low] = -1;
        }
        *code = code_of(h, t);
    }
}

static inline void add_product(uint64_t x[3], int at, u128 product)
{
    for (u128 carry = product; at < 3; at++) {
        carry += x[at];
        x[at] = (uint64_t)carry;
        carry >>= 64;
    }
}

/* The fraction (a + balance) / m^windows in units of 2^-192: a little more than the truth, by at most 16,
 * which changes none of the digits. */
static void fraction(uint64_t x[3], const hexagon *h, const glv_part *part, unsigned negative)
{
    const uint64_t word[2] = {(uint64_t)part->magnitude, (uint64_t)(part->magnitude >> 64)};
    uint64_t a[3];
    __int128 t = 0;
    for (int i = 0; i < 3; i++, t >>= 64) {
        uint64_t w = i < 2 ? word[i] : 0;
        t += (__int128)h->balance64[i] + (negative ? -(__int128)w : (__int128)w);
        a[i] = (uint64_t)t;
    }
    /* words 2 to 4 of the product; what is left out below makes at most 3 */
    x[0] = 8;
    x[1] = x[2] = 0;
    add_product(x, 0, (u128)a[0] * h->scale64[1] >> 64);
    add_product(x, 0, (u128)a[1] * h->scale64[0] >> 64);
    add_product(x, 0, (u128)a[0] * h->scale64[2]);
    add_product(x, 0, (u128)a[1] * h->scale64[1]);
    add_product(x, 0, (u128)a[2] * h->scale64[0]);
    add_product(x, 1, (u128)a[1] * h->scale64[2]);
    add_product(x, 1, (u128)a[2] * h->scale64[1]);
    add_product(x, 2, (u128)a[2] * h->scale64[2]);
}

static inline int next_digit(uint64_t x[3], uint64_t m)
{
    u128 t = 0;
    for (int i = 0; i < 3; i++) {
        t += (u128)x[i] * m;
        x[i] = (uint64_t)t;
        t >>= 64;
    }
    return (int)t;
}

/* code_of without branches, which no processor foresees here. */
static inline uint32_t quick_code(const hexagon *h, int a, int b)
{
    int p = a - b, s = -a;
    int first = ((p > 0) & (b >= 0)) | ((p < 0) & (b <= 0));
    int second = (((b > 0) & (s >= 0)) | ((b < 0) & (s <= 0))) & !first;
    int x = first ? p : second ? b : s, y = first ? b : second ? s : p;
    uint32_t sign = (uint32_t)x >> 31, turn = first ? 0 : second ? 4 : 6;
    x = x < 0 ? -x : x;
    y = y < 0 ? -y : y;
    uint32_t code = hexagon_bucket(h, (uint32_t)x, (uint32_t)y) << 3 | turn | sign;
    return x ? code : HEXAGON_NONE;
}

void hexagon_codes(uint32_t *code, size_t stride, const hexagon *h, const scalar *k)
{
    glv_part part[2];
    uint64_t x[2][3];
    int16_t digit[2][HEXAGON_MOST];
    int m = (int)h->radix, ca = 0, cb = 0;
    glv_split(part, k);
    fraction(x[0], h, &part[0], part[0].negative);
    fraction(x[1], h, &part[1], !part[1].negative);
    for (unsigned w = h->windows; w-- > 0;) {
        digit[0][w] = (int16_t)(next_digit(x[0], h->radix) - m / 2);
        digit[1][w] = (int16_t)(next_digit(x[1], h->radix) - m / 2);
    }
    for (unsigned w = 0; w < h->windows; w++, code += stride) {
        int a = digit[0][w] + ca, b = digit[1][w] + cb, p = a - b, s = -a;
        int high = p > b ? p : b, low = p < b ? p : b;
        high = s > high ? s : high;
        low = s < low ? s : low;
        int far = (high - low > m) & (w + 1 < h->windows);
        int b_high = far & (b == high), b_low = far & (b == low);
        cb = b_high - b_low;
        ca = (far & (s == low) & !b_low) - (far & (s == high) & !b_high);
        *code = quick_code(h, a - ca * m, b - cb * m);
    }
}
