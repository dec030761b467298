// Sums over turned bases on the emulated device: the digits and buckets of msm_hex.cuh against their
// definition, and msm_sum over turned and plain bases against a known multiple of the generator.
#include "copies.cuh"
#include "fr.cuh"
#include "msm.cuh"
#include "msm_hex.cuh"
#include "points.cuh"

using namespace gpu;

extern "C" const cuzk_backend *cuzk_backend_entry(cuzk_error *err);

static int failures, checks;
#define CHECK(condition, ...)                                                                                \
    do {                                                                                                     \
        checks++;                                                                                            \
        if (!(condition) && failures++ < 20) {                                                               \
            printf("%s:%d: %s: ", __FILE__, __LINE__, #condition);                                           \
            printf(__VA_ARGS__);                                                                             \
            printf("\n");                                                                                    \
        }                                                                                                    \
    } while (0)

// ---- scalars: integers below r ----
static uint64_t state = 1;
static uint32_t random_word()
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 32);
}
static fr random_scalar()
{
    fr k;
    for (uint32_t &l : k.l)
        l = random_word();
    k.l[7] &= 0x7fffffff;
    return reduce(k);
}
static fr small_scalar(int64_t v)
{
    fr k, zero;
    set_zero(k);
    set_zero(zero);
    uint64_t m = (uint64_t)(v < 0 ? -v : v);
    k.l[0] = (uint32_t)m;
    k.l[1] = (uint32_t)(m >> 32);
    return v < 0 ? reduce(sub(zero, k)) : k;
}
static fr plus(const fr &a, const fr &b)
{
    return reduce(add(a, b));
}
static fr minus(const fr &a, const fr &b)
{
    return reduce(sub(a, b));
}
static fr times(const fr &a, const fr &b)
{
    return mul_reduce(to_mont(a), b);
}
static fr power(const fr &a, uint64_t e)
{
    return from_mont(pow(to_mont(a), e));
}
static fr z_squared()
{
    fr r;
    set_zero(r);
    r.l[1] = 1;
    r.l[2] = Z2_2;
    r.l[3] = Z2_3;
    return r;
}
// a + b w as it acts on points
static fr eisenstein(const fr &a, const fr &b)
{
    return minus(a, times(b, z_squared()));
}
// About n thirds of z^2: a corner of the cell is at one and two thirds.
static fr thirds(unsigned n, unsigned of)
{
    fr z = z_squared(), r;
    set_zero(r);
    uint64_t rest = 0;
    for (int i = 4; i >= 0; i--) {
        uint64_t t = rest << 32 | (i < 4 ? (uint64_t)z.l[i] : 0);
        r.l[i] = (uint32_t)(t / of);
        rest = t % of;
    }
    return times(r, small_scalar(n));
}
static std::vector<fr> notable_scalars()
{
    std::vector<fr> k;
    fr z = z_squared();
    for (int d = -3; d <= 3; d++) {
        k.push_back(small_scalar(d));
        k.push_back(plus(z, small_scalar(d)));
        k.push_back(minus(small_scalar(d), z));
        for (unsigned of : {2, 3, 5})
            for (unsigned i = 0; i <= of; i++)
                for (unsigned j = 0; j <= of; j++)
                    for (int e = -2; e <= 2; e++)
                        k.push_back(eisenstein(plus(thirds(i, of), small_scalar(d)),
                                               minus(small_scalar(e), thirds(j, of))));
    }
    for (int bit = 0; bit < 255; bit++) {
        k.push_back(power(small_scalar(2), (uint64_t)bit));
        k.push_back(minus(small_scalar(0), k.back()));
    }
    fr half = small_scalar(-1); // the integers beside r / 2, the largest ones of signed windows
    for (int q = 0; q < 8; q++)
        half.l[q] = half.l[q] >> 1 | (q < 7 ? half.l[q + 1] << 31 : 0);
    for (int d = -2; d <= 3; d++)
        k.insert(k.begin(), plus(half, small_scalar(d)));
    for (int i = 0; i < 2000; i++) {
        k.push_back(random_scalar());
        if (i % 4 == 0) // short ones
            for (int q = 1 + i / 4 % 7; q < 8; q++)
                k.back().l[q] = 0;
    }
    return k;
}

// ---- digits ----
static int32_t norm(int32_t a, int32_t b)
{
    int32_t p = a - b, q = b, s = -a;
    return std::max({p, q, s}) - std::min({p, q, s});
}
static void check_bucket(const hex_plan &p, int32_t x, int32_t y, uint32_t number)
{
    int32_t a = x + y, b = y; // x + y (1 + w)
    for (uint32_t turn = 0; turn < 3; turn++) {
        for (int minus = 0; minus < 2; minus++) {
            uint32_t t;
            bool m;
            uint32_t got = minus ? hex_bucket(p, -a, -b, t, m) : hex_bucket(p, a, b, t, m);
            CHECK(got == number && t == turn && m == (minus != 0), "%d + %d (1 + w), radix %u", x, y,
                  p.radix);
        }
        int32_t next = -b; // times w
        b = a - b;
        a = next;
    }
}
static void test_buckets()
{
    for (int digits = MIN_DIGITS; digits <= MAX_DIGITS; digits++) {
        hex_plan p = plan_hex(digits, 1);
        uint32_t n = 0, bound = p.radix + 1, turn;
        bool minus;
        for (uint32_t y = 0; y < p.half; y++) {
            uint32_t length = hex_row_length(p, y);
            CHECK(hex_row(p, y) == n, "row %u of %d digits", y, digits);
            CHECK(length > 0 && 2 * length + y <= bound && length + 2 * y <= bound, "row %u", y);
            CHECK(2 * (length + 1) + y > bound || length + 1 + 2 * y > bound, "row %u", y);
            uint32_t step = p.buckets < 60000 ? 1 : length / 3 + 1;
            for (uint32_t x = 1; x < length; x += step)
                check_bucket(p, (int32_t)x, (int32_t)y, n + x - 1);
            n += length;
            check_bucket(p, (int32_t)length, (int32_t)y, n - 1);
        }
        CHECK(n == p.buckets, "%d digits", digits);
        CHECK(hex_row_length(p, p.half) == 0 && hex_row(p, p.half) == n, "%d digits", digits);
        CHECK(hex_bucket(p, 0, 0, turn, minus) == NO_BUCKET, "zero");
        CHECK(p.radix % 2 == 1 && hex_radix(digits) == p.radix, "%d digits", digits);
    }
}
static void check_digits(const hex_plan &p, const fr &k)
{
    fr sum = small_scalar(0), radix = small_scalar(p.radix);
    int32_t a[MAX_DIGITS], b[MAX_DIGITS], c, d, largest = 0;
    hex_digits all(p, start_hex(p, p.digits - 1), k.l);
    for (int i = p.digits - 1; i >= 0; i--) {
        all.next(p, a[i], b[i]);
        sum = plus(times(sum, radix), eisenstein(small_scalar(a[i]), small_scalar(b[i])));
        largest = std::max(largest, norm(a[i], b[i]));
    }
    CHECK(equal(sum, k), "%d digits of %08x...%08x", p.digits, k.l[7], k.l[0]);
    CHECK(largest <= (int32_t)p.radix + 1, "%d digits of %08x...%08x", p.digits, k.l[7], k.l[0]);
    for (int first : {0, 1, p.digits / 2, p.digits - 2}) { // those of a group of windows
        hex_digits some(p, start_hex(p, first), k.l);
        for (int i = first; i >= 0; i--) {
            some.next(p, c, d);
            CHECK(c == a[i] && d == b[i], "digit %d of %d from %d", i, p.digits, first);
        }
    }
}
static void test_digits()
{
    std::vector<fr> k = notable_scalars();
    for (int digits = MIN_DIGITS; digits <= MAX_DIGITS; digits++) {
        hex_plan p = plan_hex(digits, 1);
        for (size_t i = 0; i < k.size(); i++)
            if (i % 8 == (size_t)digits % 8 || digits == 11 || digits == 40)
                check_digits(p, k[i]);
        // beside the points where a rounding turns: halves and thirds of powers of the radix
        for (int e = 1; e < digits; e++) {
            fr unit = power(small_scalar(p.radix), (uint64_t)e), part[3];
            part[0] = times(minus(unit, small_scalar(1)), power(small_scalar(2), 0));
            for (int d = 2; d <= 3; d++) { // unit / d rounded, for units that are not too large
                part[d - 1] = unit;
                uint64_t rest = 0;
                for (int i = 7; i >= 0; i--) {
                    uint64_t t = rest << 32 | unit.l[i];
                    part[d - 1].l[i] = (uint32_t)(t / (uint64_t)d);
                    rest = t % (uint64_t)d;
                }
            }
            for (int i = 0; i < 27; i++)
                check_digits(p, eisenstein(plus(part[i % 3], small_scalar(i / 9 - 1)),
                                           minus(part[i / 3 % 3], small_scalar(i % 2))));
        }
    }
}

// ---- sums ----
template <class F> static xyzz<F> multiple(const fr &k)
{
    xyzz<F> r;
    affine<F> g = generator<F>();
    set_infinity(r);
    for (int i = 254; i >= 0; i--) {
        point_dbl(r);
        if ((k.l[i >> 5] >> (i & 31)) & 1)
            point_add_affine(r, g.x, g.y);
    }
    return r;
}
enum { P_RANDOM, P_EQUAL, P_OPPOSITE, P_INFINITE, P_SOME_INFINITE, P_KINDS };
enum { K_RANDOM, K_ZERO, K_ONE, K_LAST, K_SHORT, K_ONE_BUCKET, K_NOTABLE, K_KINDS };
struct sum_case {
    size_t n;
    int points, scalars, copies, windows; // windows 0: chosen
    bool turned, indexed;
    size_t room; // bytes of scratch that are left; 0: all
};
template <class F> struct sum_test {
    context c;
    std::vector<fr> factor; // of the pool's points
    std::vector<affine<F>> pool;
    std::vector<fr> notable = notable_scalars();
    fr factor_of(const sum_case &t, size_t i) const
    {
        fr k = factor[t.points == P_EQUAL ? 0 : t.points == P_OPPOSITE ? i & ~(size_t)1 : i];
        if (t.points == P_INFINITE || (t.points == P_SOME_INFINITE && i % 3 == 0))
            set_zero(k);
        return t.points == P_OPPOSITE && i % 2 ? minus(small_scalar(0), k) : k;
    }
    affine<F> point_of(const sum_case &t, size_t i, const fr &copy, bool first) const
    {
        if (!first)
            return to_affine(multiple<F>(times(copy, factor_of(t, i))));
        affine<F> p = pool[t.points == P_EQUAL ? 0 : t.points == P_OPPOSITE ? i & ~(size_t)1 : i];
        if (t.points == P_OPPOSITE && i % 2)
            p.y = neg(p.y);
        if (t.points == P_INFINITE || (t.points == P_SOME_INFINITE && i % 3 == 0)) {
            set_zero(p.x);
            set_zero(p.y);
        }
        return p;
    }
    fr scalar_of(const sum_case &t, size_t i) const
    {
        switch (t.scalars) {
        case K_ZERO:
            return small_scalar(0);
        case K_ONE:
            return small_scalar(1);
        case K_LAST:
            return small_scalar(-1);
        case K_SHORT:
            return small_scalar((int64_t)(i * 40503 % 65536) - 32768);
        case K_ONE_BUCKET:
            return small_scalar((int64_t)5 << 40);
        case K_NOTABLE:
            return notable[i % notable.size()];
        default:
            return random_scalar();
        }
    }
    void make_pool(size_t n)
    {
        for (size_t i = 0; i < n; i++) {
            factor.push_back(random_scalar());
            pool.push_back(to_affine(multiple<F>(factor.back())));
        }
    }
    // One copy made from the one before on the device.
    cuzk_status check_copy(const sum_case &t, int windows, const uint4 *from, const uint4 *want)
    {
        arena_mark mark(c);
        size_t record = 4 * F::QUADS;
        uint4 *made;
        GPU_TRY(take(c, &made, t.n * record));
        CHECK(c.mem->left() >= copy_bytes<F>(t.n), "%zu", t.n);
        GPU_TRY(multiply_turned<F>(c, made, from, t.n, hex_radix(windows * t.copies), windows));
        for (size_t i = 0; i < t.n; i++)
            CHECK(!memcmp(made + i * record, want + i * record, record * sizeof *made),
                  "copy of point %zu of %zu, %d copies", i, t.n, t.copies);
        return CUZK_OK;
    }
    // The bases, turned where they are to be, with all copies.
    cuzk_status make_bases(const sum_case &t, int windows, uint4 **bases)
    {
        size_t record = (t.turned ? 4 : 2) * F::QUADS, packed = 2 * F::QUADS;
        uint4 *p;
        fr step = t.turned ? power(small_scalar(hex_radix(windows * t.copies)), (uint64_t)windows)
                           : power(small_scalar(2), (uint64_t)copy_bits(t.copies)),
           copy = small_scalar(1);
        GPU_TRY(take(c, bases, t.n * t.copies * record + 1));
        GPU_TRY(take(c, &p, t.n * packed + 1));
        for (int i = 0; i < t.copies; i++, copy = times(copy, step)) {
            std::vector<affine<F>> host(t.n);
            for (size_t j = 0; j < t.n; j++)
                host[j] = point_of(t, j, copy, i == 0);
            GPU_TRY(upload(c, p, host.data(), t.n * sizeof(affine<F>), c.stream));
            uint4 *to = *bases + i * t.n * record;
            if (t.turned) {
                GPU_TRY(turn_points<F>(c, to, p, t.n));
                if (i)
                    GPU_TRY(check_copy(t, windows, to - t.n * record, to));
            } else if (t.n)
                memcpy(to, p, t.n * sizeof(affine<F>));
        }
        return CUZK_OK;
    }
    cuzk_status run(const sum_case &t)
    {
        arena_mark mark(c);
        msm_terms<F> m;
        uint4 *bases, *scalars, *away;
        uint32_t *index[2] = {nullptr, nullptr};
        int windows = t.windows ? t.windows : msm_windows(t.n, t.copies, t.turned);
        std::vector<fr> k(t.n);
        fr sum = small_scalar(0);
        GPU_TRY(make_bases(t, windows, &bases));
        GPU_TRY(take(c, &scalars, 2 * t.n + 1));
        for (size_t i = 0; i < t.n; i++)
            k[i] = scalar_of(t, i);
        if (t.n)
            memcpy((void *)scalars, k.data(), 32 * t.n);
        for (int q = 0; q < 2; q++)
            GPU_TRY(take(c, &index[q], t.n + 1));
        for (size_t i = 0; i < t.n; i++) { // 7 and 5 do not divide the sizes used
            index[0][i] = (uint32_t)(t.indexed ? i * 7 % t.n : i);
            index[1][i] = (uint32_t)(t.indexed ? i * 5 % t.n : i);
            sum = plus(sum, times(factor_of(t, index[0][i]), k[index[1][i]]));
        }
        if (t.room && c.mem->left() > t.room)
            GPU_TRY(take(c, &away, (c.mem->left() - t.room) / 256 * 16)); // in units of the arena
        m.bases = bases;
        m.scalars = scalars;
        m.base_index = t.indexed ? index[0] : nullptr;
        m.scalar_index = t.indexed ? index[1] : nullptr;
        m.n = m.stride = t.n;
        m.copies = t.copies;
        m.windows = t.room && t.copies == 1 ? 0 : windows; // short of memory it may take others
        m.turned = t.turned;
        window_sums<F> w;
        GPU_TRY(msm_sum<F>(c, m, &w));
        affine<F> got = to_affine(window_sums_join(w)), want = to_affine(multiple<F>(sum));
        CHECK(equal(got.x, want.x) && equal(got.y, want.y),
              "G%d, %s bases, %zu terms, points %d, scalars %d, %d copies, %d windows, %zu bytes",
              F::QUADS / 3, t.turned ? "turned" : "plain", t.n, t.points, t.scalars, t.copies, w.windows,
              t.room);
        return CUZK_OK;
    }
    void check(const sum_case &t)
    {
        cuzk_status s = run(t);
        CHECK(s == CUZK_OK, "%zu terms, %d copies, %d windows: %s", t.n, t.copies, t.windows, c.err->message);
    }
    void all(size_t largest)
    {
        for (size_t n : {(size_t)0, (size_t)1, (size_t)2, (size_t)31, largest})
            for (int points = 0; points < P_KINDS; points++)
                for (int scalars = 0; scalars < K_KINDS; scalars++)
                    if (n < largest || !points || !scalars)
                        check({n, points, scalars, 1, 0, true, n > 2 && (points + scalars) % 2 == 1, 0});
        for (int copies = 1; copies <= 3; copies++)
            for (int digits : {15, 20, 39}) {
                check({31, P_SOME_INFINITE, K_RANDOM, copies, digits / copies, true, false, 0});
                check({31, P_RANDOM, K_NOTABLE, copies, digits / copies, true, true, 0});
                check({31, P_RANDOM, K_RANDOM, copies, 20, false, true, 0});
            }
        // the narrowest signed windows: of four bits
        const int narrow[][2] = {{1, 40}, {2, 32}, {3, 21}, {5, 12}};
        for (const int(&cut)[2] : narrow)
            check({31, P_RANDOM, K_NOTABLE, cut[0], cut[1], false, false, 0});
        for (int windows : {17, 20, 27, 32, 40})
            check({largest, P_SOME_INFINITE, K_RANDOM, 1, windows, true, false, 0});
        // several groups of windows, then several chunks of terms
        for (int copies = 1; copies <= 2; copies++) {
            int windows = copies > 1 ? msm_windows(largest, copies, true) : 0; // made for the copies
            size_t least = msm_bytes<F>(c.dev, 64, copies, 1, true, windows),
                   most = msm_bytes<F>(c.dev, largest, copies, SIZE_MAX, true);
            CHECK(least < most, "%zu, %zu", least, most);
            for (int part = 0; part < 4; part++)
                check({largest, P_RANDOM, K_RANDOM, copies, 0, true, false,
                       least + (most - least) * (size_t)part / 4});
            sum_case none = {largest, P_RANDOM, K_RANDOM, copies, 0, true, false, least - 4096};
            CHECK(run(none) == CUZK_OUT_OF_MEMORY, "%d copies", copies);
        }
    }
};
template <class F> static void test_sums(cuzk_device *dev, size_t largest)
{
    sum_test<F> t;
    cuzk_error err = {};
    std::lock_guard<std::mutex> guard(dev->main.lock);
    CHECK(context_begin(t.c, dev, dev->main, &err) == CUZK_OK, "%s", err.message);
    CHECK(use_scratch(t.c, (size_t)1 << 29) == CUZK_OK, "%s", err.message);
    t.make_pool(largest);
    t.all(largest);
    sum_case few = {31, P_RANDOM, K_RANDOM, 5, 1, true, false, 0},
             many = {31, P_RANDOM, K_RANDOM, 2, 21, true, false, 0},
             narrow = {31, P_RANDOM, K_RANDOM, 3, 24, false, false, 0},
             wide = {31, P_RANDOM, K_RANDOM, 1, 10, false, false, 0};
    for (const sum_case &s : {few, many, narrow, wide}) {
        CHECK(t.run(s) == CUZK_INVALID_ARGUMENT, "%d copies, %d windows: %s", s.copies, s.windows,
              err.message);
        CHECK(!strncmp(err.message, "a sum cannot be cut into", 24), "%s", err.message);
    }
}
int main()
{
    cuzk_error err = {};
    cuzk_device *dev = nullptr;
    const cuzk_backend *backend = cuzk_backend_entry(&err);
    test_buckets();
    test_digits();
    if (!backend || backend->device_open(&dev, 0, nullptr, &err) != CUZK_OK) {
        printf("cannot open: %s\n", err.message);
        return 1;
    }
    test_sums<fp>(dev, 1000);
    test_sums<fp2>(dev, 237);
    backend->device_close(dev);
    printf("%d checks, %d wrong\n", checks, failures);
    return failures != 0;
}
