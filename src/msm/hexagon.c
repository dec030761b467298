#include "msm/hexagon.h"

/* m by the number of windows: the least even m whose highest digit needs no step, for windows from
 * HEXAGON_LEAST on; 0 where m^windows would be too large for the arithmetic of the vector form (2^129.9). */
static const uint16_t radices[] = {7140, 3188, 1628, 922, 566, 372, 258, 186, 140, 108, 86, 70, 58, 48, 42,
                                   36,   0,    28,   24,  22,  20,  18,  0,   0,   14,  0,  12, 0,  0,  10};

uint32_t hexagon_radix(unsigned windows)
{
    return windows < HEXAGON_LEAST || windows > HEXAGON_MOST ? 0 : radices[windows - HEXAGON_LEAST];
}

int hexagon_init(hexagon *h, unsigned windows)
{
    const uint64_t limb = ((uint64_t)1 << 52) - 1;
    uint32_t m = hexagon_radix(windows), y = m / 3 + 1;
    *h = (hexagon){.windows = windows, .radix = m, .long_rows = m / 3};
    if (!m)
        return 0;
    h->short_first = y * (m / 2) - y * y / 4 - y * (m + 1 - y);
    h->buckets = hexagon_bucket(h, 1, m / 2); /* where one more row would start */
    /* 2^260 in limbs, divided by m again and again: the floor of floors is the floor */
    uint64_t scale[6] = {0, 0, 0, 0, 0, 1};
    for (unsigned w = 0; w < windows; w++) {
        u128 rest = 0;
        for (int i = 6; i-- > 0;) {
            rest = rest << 52 | scale[i];
            scale[i] = (uint64_t)(rest / m);
            rest %= m;
        }
        u128 carry = m / 2;
        for (int i = 0; i < 3; i++) {
            carry += (u128)h->balance[i] * m;
            h->balance[i] = (uint64_t)carry & limb;
            carry >>= 52;
        }
    }
    for (int i = 0; i < 3; i++)
        h->scale[i] = scale[i];
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
