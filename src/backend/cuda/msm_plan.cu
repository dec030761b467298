// How the sums of msm.cuh cut their scalars, by their size.
#include "msm.cuh"
#include "msm_hex.cuh"
#include <math.h>

namespace gpu
{
// Windows for all copies together, by the size of the sum: measured on an H200.
static int signed_windows(size_t n, int copies)
{
    static const uint8_t best[] = {32, 32, 32, 32, 32, 32, 32, 32, 32, 30, 28, 26, 24, 23, 22,
                                   20, 18, 17, 17, 16, 16, 15, 15, 14, 13, 13, 12, 12, 11};
    int lg = 0;
    while (((size_t)1 << (lg + 1)) <= n && lg < 28)
        lg++;
    int w = std::max(1, (best[lg] + copies / 2) / copies);
    while (copy_bits(copies) > 22 * w) // a bucket index must fit the sort key comfortably
        w++;
    return w;
}
// Least additions: one a reference, and so many a bucket: two in the reduction, the rest stands for what
// short runs cost beside.
static int turned_windows(size_t n, int copies, double *of_best = nullptr)
{
    double each = n >= (size_t)1 << 23 ? 4.5 : 7, least = INFINITY;
    int best = 1, most = (32 + copies - 1) / copies; // more than 32 digits do not pay
    for (int sets = (MIN_DIGITS + copies - 1) / copies; sets <= most && sets * copies <= MAX_DIGITS; sets++) {
        double radix = exp2(127.43 / (sets * copies)) + 1;
        double cost = sets * ((double)n * copies + each * radix * (radix / 6 + 0.5));
        if (cost < least) {
            least = cost;
            best = sets;
        }
    }
    if (of_best)
        *of_best = least;
    return best;
}
int msm_windows(size_t n, int copies, bool turned)
{
    return turned ? turned_windows(n, copies) : signed_windows(n, copies);
}

int msm_copies(size_t n, int most)
{
    double cost, least = INFINITY;
    int best = 1;
    for (int copies = 1; copies <= most; copies++) {
        (void)turned_windows(n, copies, &cost);
        cost *= 1 + 0.01 * copies; // each must save a hundredth
        if (cost < least) {
            least = cost;
            best = copies;
        }
    }
    return best;
}
// Signed windows: r / 2 is 0.906 times 2^254, and the recoding of make_digits adds 2^254 (1 + 2^-w + 2^-2w +
// ...), which must stay below 2^255: w is at least 4.
bool msm_can_cut(int windows, int copies, bool turned)
{
    if (windows < 1 || windows > MAX_WINDOWS || copies < 1)
        return false;
    int digits = windows * copies, bits = copy_bits(copies);
    return turned ? digits >= MIN_DIGITS && digits <= MAX_DIGITS
                  : bits >= 4 * windows && bits <= 24 * windows;
}

// ---- Eisenstein digits ----
uint32_t hex_radix(int digits, uint32_t (*power)[5])
{
    uint32_t m = (uint32_t)exp2(127.42 / digits) | 1;
    for (m = m > 4 ? m - 2 : 3;; m += 2) {
        uint32_t p[5] = {1};
        for (int i = 0; i < digits; i++)
            (void)hex_times(p, m);
        if (power)
            memcpy(*power, p, sizeof p);
        if (p[4] || p[3] > Z2_3 + (1u << 12))
            return m;
    }
}
hex_plan plan_hex(int sets, int copies)
{
    hex_plan p;
    uint32_t power[5], rest[6] = {1};
    memset(&p, 0, sizeof p);
    p.sets = sets;
    p.copies = copies;
    p.digits = sets * copies;
    p.radix = hex_radix(p.digits, &power);
    p.half = (p.radix + 1) / 2;
    p.bend = (p.radix + 1) / 3 + 1;
    p.buckets = p.bend * p.half - p.bend * p.bend / 4 + (p.half - p.bend) * (p.half - p.bend + 1);
    for (int bit = 287; bit > 0; bit--) { // long division: rest is below the power
        uint32_t t[6], borrow = 0;
        for (int i = 5; i >= 0; i--)
            rest[i] = rest[i] << 1 | (i ? rest[i - 1] >> 31 : 0);
        for (int i = 0; i < 6; i++) {
            uint64_t d = (uint64_t)rest[i] - (i < 5 ? power[i] : 0) - borrow;
            t[i] = (uint32_t)d;
            borrow = (uint32_t)(d >> 63);
        }
        if (!borrow)
            memcpy(rest, t, sizeof t);
        for (int i = 4; i >= 0; i--)
            p.reciprocal[i] = p.reciprocal[i] << 1 | (i ? p.reciprocal[i - 1] >> 31 : !borrow);
    }
    // a quarter of what 1 gives, less what 2^127 gives
    uint64_t carry = 0;
    for (int i = 0; i < 5; i++) {
        uint32_t quarter = i == 0 ? p.reciprocal[4] >> 2 : 0,
                 half = p.reciprocal[i] >> 1 | (i < 4 ? p.reciprocal[i + 1] << 31 : 0);
        uint64_t d = (uint64_t)quarter - half - carry;
        p.offset[i] = (uint32_t)d;
        carry = d >> 63;
    }
    return p;
}
hex_start start_hex(const hex_plan &p, int first)
{
    hex_start s = {first, {2}};
    for (int i = first; i < p.digits - 1; i++)
        (void)hex_times(s.factor, p.radix);
    return s;
}
} // namespace gpu
