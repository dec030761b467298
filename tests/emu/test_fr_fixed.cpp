// Products by factors known beforehand against the Montgomery product: fr_fixed.cuh, both its carry chains,
// as the device has them, and its host forms. What is compared is canonical; that a result is in its range is
// checked apart.
#include "fr_fixed.cuh"

using namespace gpu;

static int failures;
static uint64_t state = 1;
static fr random_words()
{
    fr a;
    for (uint32_t &l : a.l) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        l = (uint32_t)(state >> 32);
    }
    return a;
}
static bool below(const fr &a, const fr &b)
{
    for (int i = 7; i >= 0; i--)
        if (a.l[i] != b.l[i])
            return a.l[i] < b.l[i];
    return false;
}
static fr offset(const fr &a, int k)
{ // a + k, no carry past the lowest 64 bits
    fr r = a;
    uint64_t low = (r.l[0] | (uint64_t)r.l[1] << 32) + (uint64_t)(int64_t)k;
    r.l[0] = (uint32_t)low;
    r.l[1] = (uint32_t)(low >> 32);
    return r;
}
static void print(const char *name, const fr &a)
{
    printf("  %s ", name);
    for (int i = 7; i >= 0; i--)
        printf("%08x", a.l[i]);
    printf("\n");
}
static void check(const char *what, const fr &w, const fr &x, const fr &got, const fr &limit)
{
    fr want = reduce(mul(w, x));
    if (below(got, limit) && equal(want, reduce(got)))
        return;
    printf("%s:\n", what);
    print("w", w);
    print("x", x);
    print("got", got);
    print("want", want);
    failures++;
}
// C[k] = w 2^(32 k + 64 - 256) for the Montgomery form w
static void make_rows(const fr &w, uint32_t (&C)[8][8])
{
    fr two_32;
    set_zero(two_32);
    two_32.l[1] = 1;
    for (int k = 0; k < 8; k++) {
        fr e, c = w;
        set_zero(e);
        if (k < 6)
            e.l[k + 2] = 1;
        if (k != 6)
            c = reduce(mul(w, k < 6 ? e : to_mont(two_32)));
        memcpy(C[k], c.l, 32);
    }
}

int main()
{
    constexpr uint32_t p32[8] = FR_P32, twice32[8] = FR_2P32, dft8[3][8][8] = FR_DFT8,
                       idft8[3][8][8] = FR_IDFT8;
    const fr r = fr_const(p32), twice = fr_const(twice32);
    fr zero, ones, half, rows_limit = r;
    set_zero(zero);
    set_zero(half);
    half.l[7] = 0x80000000u;
    rows_limit.l[7] += 8; // 2^-29 r is below 4 * 2^224
    memset(&ones, 0xff, sizeof ones);
    std::vector<fr> w = {zero, offset(zero, 1), offset(r, -1), offset(r, -2)};
    std::vector<fr> x = {zero, offset(zero, 1), offset(r, -1), r, offset(r, 1), offset(twice, -1), twice,
                         half, offset(half, 1), ones};
    for (int i = 0; i < 8; i++) {
        fr e = zero;
        e.l[i] = 1;
        w.push_back(e);
        e.l[i] = 0xffffffffu;
        x.push_back(e);
    }
    for (int i = 0; i < 300; i++) {
        x.push_back(random_words());
        fr a = random_words();
        a.l[7] &= 0x7fffffffu;
        w.push_back(reduce(a));
    }
    for (const fr &a : w) {
        uint32_t C[8][8];
        make_rows(a, C);
        fr v = lower_factor(a);
        for (const fr &b : x) {
            check("mul_split_chain", a, b, mul_split_chain(v, a, b), twice);
            check("mul_split", a, b, mul_split(v, a, b), twice);
            check("mul_rows_chain", a, b, mul_rows_chain(C, b), rows_limit);
            check("mul_rows", a, b, mul_rows(C, b), twice);
        }
    }
    for (int k = 0; k < 6; k++)
        for (const fr &b : x) {
            const uint32_t(&C)[8][8] = k < 3 ? dft8[k] : idft8[k - 3];
            check("constants of the 8-point transform", fr_const(C[6]), b, mul_rows_chain(C, b), rows_limit);
        }
    printf("%zu factors, %zu values, %d wrong\n", w.size(), x.size(), failures);
    return failures != 0;
}
