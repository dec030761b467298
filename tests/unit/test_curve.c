/* Points of both groups: complete addition, multiplication, encodings, batches. The oracles are blst's group
 * law and one-by-one multiplication. Each test is written once for both groups. */
#include "base/cpu.h"
#include "base/mem.h"
#include "curve/coord.h"
#include "support/math.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static pool *three;

static void set_inf(void *p, size_t n)
{
    memset(p, 0, n);
}

static const uint8_t FP_MODULUS[48] = {
    0x1a, 0x01, 0x11, 0xea, 0x39, 0x7f, 0xe6, 0x9a, 0x4b, 0x1b, 0xa7, 0xb6, 0x43, 0x4b, 0xac, 0xd7,
    0x64, 0x77, 0x4b, 0x84, 0xf3, 0x85, 0x12, 0xbf, 0x67, 0x30, 0xd2, 0xa0, 0xf6, 0xb0, 0xf6, 0x24,
    0x1e, 0xab, 0xff, 0xfe, 0xb1, 0x53, 0xff, 0xff, 0xb9, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xaa, 0xab};

#define GROUP_TESTS(G, BLST, GENERATOR, COORD_BYTES, BATCH)                                                  \
    static void G##_assert_equal(const G *a, const G *b)                                                     \
    {                                                                                                        \
        assert_true(BLST##_is_equal(a, b));                                                                  \
    }                                                                                                        \
                                                                                                             \
    static void G##_addition_is_complete(void **state)                                                       \
    {                                                                                                        \
        chacha_rng rng;                                                                                      \
        G##_affine p[2], minus, inf, r;                                                                      \
        G a, b, sum, twice, zero;                                                                            \
        (void)state;                                                                                         \
        math_rng(&rng, 20);                                                                                  \
        math_##G##_points(p, 2, &rng);                                                                       \
        set_inf(&inf, sizeof inf);                                                                           \
        set_inf(&zero, sizeof zero);                                                                         \
        assert_true(G##_affine_is_inf(&inf) && !G##_affine_is_inf(&p[0]));                                   \
        G##_affine_neg(&minus, &p[0]);                                                                       \
        G##_from_affine(&a, &p[0]);                                                                          \
        G##_from_affine(&b, &minus);                                                                         \
        BLST##_double(&twice, &a);                                                                           \
        G##_add(&sum, &a, &a);                                                                               \
        G##_assert_equal(&sum, &twice);                                                                      \
        G##_add_affine(&sum, &a, &p[0]);                                                                     \
        G##_assert_equal(&sum, &twice);                                                                      \
        G##_add(&sum, &a, &b);                                                                               \
        assert_true(BLST##_is_inf(&sum));                                                                    \
        G##_add_affine(&sum, &a, &minus);                                                                    \
        assert_true(BLST##_is_inf(&sum));                                                                    \
        G##_to_affine(&r, &sum);                                                                             \
        assert_true(G##_affine_is_inf(&r));                                                                  \
        G##_add(&sum, &a, &zero);                                                                            \
        G##_assert_equal(&sum, &a);                                                                          \
        G##_add(&sum, &zero, &a);                                                                            \
        G##_assert_equal(&sum, &a);                                                                          \
        G##_add_affine(&sum, &a, &inf);                                                                      \
        G##_assert_equal(&sum, &a);                                                                          \
        G##_add_affine(&sum, &zero, &p[0]);                                                                  \
        G##_assert_equal(&sum, &a);                                                                          \
        G##_add_affine(&sum, &zero, &inf);                                                                   \
        assert_true(BLST##_is_inf(&sum));                                                                    \
        G##_from_affine(&sum, &inf);                                                                         \
        assert_true(BLST##_is_inf(&sum));                                                                    \
        G##_affine_neg(&r, &inf);                                                                            \
        assert_true(G##_affine_is_inf(&r));                                                                  \
        G##_to_affine(&r, &twice);                                                                           \
        G##_from_affine(&sum, &r);                                                                           \
        G##_assert_equal(&sum, &twice);                                                                      \
    }                                                                                                        \
                                                                                                             \
    static void G##_multiplication(void **state)                                                             \
    {                                                                                                        \
        chacha_rng rng;                                                                                      \
        G g = *GENERATOR(), r, s, sum, zero;                                                                 \
        scalar k = {{0}}, m;                                                                                 \
        (void)state;                                                                                         \
        math_rng(&rng, 21);                                                                                  \
        set_inf(&sum, sizeof sum);                                                                           \
        set_inf(&zero, sizeof zero);                                                                         \
        for (k.l[0] = 0; k.l[0] < 40; k.l[0]++) {                                                            \
            G##_mul(&r, &g, &k);                                                                             \
            G##_mul_secret(&s, &g, &k);                                                                      \
            G##_assert_equal(&r, &sum);                                                                      \
            G##_assert_equal(&s, &sum);                                                                      \
            G##_mul_u32(&s, &g, (uint32_t)k.l[0]);                                                           \
            G##_assert_equal(&s, &sum);                                                                      \
            G##_mul_u32(&r, &zero, (uint32_t)k.l[0]);                                                        \
            assert_true(BLST##_is_inf(&r));                                                                  \
            G##_mul(&r, &zero, &k);                                                                          \
            assert_true(BLST##_is_inf(&r));                                                                  \
            G##_add(&sum, &sum, &g);                                                                         \
        }                                                                                                    \
        k.l[0] = UINT32_MAX;                                                                                 \
        G##_mul(&r, &g, &k);                                                                                 \
        s = g; /* in place */                                                                                \
        G##_mul_u32(&s, &s, UINT32_MAX);                                                                     \
        G##_assert_equal(&r, &s);                                                                            \
        fr_to_scalar(&m, &FR_MINUS_ONE);                                                                     \
        G##_mul(&r, &g, &m);                                                                                 \
        G##_add(&r, &r, &g);                                                                                 \
        assert_true(BLST##_is_inf(&r));                                                                      \
        for (int i = 0; i < 50; i++) { /* (a + b) g = a g + b g */                                           \
            fr a, b;                                                                                         \
            math_fr(&a, &rng);                                                                               \
            math_fr(&b, &rng);                                                                               \
            fr_to_scalar(&k, &a);                                                                            \
            fr_to_scalar(&m, &b);                                                                            \
            G##_mul(&r, &g, &k);                                                                             \
            G##_mul(&s, &g, &m);                                                                             \
            G##_add(&sum, &r, &s);                                                                           \
            fr_add(&a, &a, &b);                                                                              \
            fr_to_scalar(&k, &a);                                                                            \
            G##_mul(&r, &g, &k);                                                                             \
            G##_assert_equal(&r, &sum);                                                                      \
            g = sum;                                                                                         \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    static void G##_encodings(void **state)                                                                  \
    {                                                                                                        \
        enum { N = 50, U = 2 * COORD_BYTES, C = COORD_BYTES };                                               \
        chacha_rng rng;                                                                                      \
        G##_affine p[N], r;                                                                                  \
        uint8_t u[U], v[U], c[C];                                                                            \
        (void)state;                                                                                         \
        math_rng(&rng, 22);                                                                                  \
        math_##G##_points(p, N, &rng);                                                                       \
        set_inf(&p[7], sizeof p[7]);                                                                         \
        for (int i = 0; i < N; i++) {                                                                        \
            G##_encode(u, &p[i]);                                                                            \
            BLST##_affine_serialize(v, &p[i]);                                                               \
            assert_memory_equal(u, v, U);                                                                    \
            memset(&r, 0xee, sizeof r);                                                                      \
            assert_int_equal(G##_decode(&r, u), 0);                                                          \
            assert_memory_equal(&r, &p[i], sizeof r);                                                        \
            memset(&r, 0xee, sizeof r);                                                                      \
            assert_int_equal(G##_decode_check(&r, u), 0);                                                    \
            assert_memory_equal(&r, &p[i], sizeof r);                                                        \
            G##_compress(c, &p[i]);                                                                          \
            memset(&r, 0xee, sizeof r);                                                                      \
            assert_int_equal(G##_decompress(&r, c), 0);                                                      \
            assert_memory_equal(&r, &p[i], sizeof r);                                                        \
            c[0] ^= 0x20; /* the other root */                                                               \
            if (i == 7) {                                                                                    \
                assert_int_equal(G##_decompress(&r, c), -1);                                                 \
                continue;                                                                                    \
            }                                                                                                \
            assert_int_equal(G##_decompress(&r, c), 0);                                                      \
            G##_affine_neg(&r, &r);                                                                          \
            assert_memory_equal(&r, &p[i], sizeof r);                                                        \
            for (int flag = 0x20; flag < 0x100; flag *= 2) { /* any flag on an uncompressed point */         \
                memcpy(v, u, U);                                                                             \
                v[0] |= (uint8_t)flag;                                                                       \
                assert_int_equal(G##_decode(&r, v), -1);                                                     \
            }                                                                                                \
            c[0] &= 0x7f; /* not marked as compressed */                                                     \
            assert_int_equal(G##_decompress(&r, c), -1);                                                     \
        }                                                                                                    \
        memset(u, 0, U); /* zeros are not infinity: it has its flag */                                       \
        assert_int_equal(G##_decode(&r, u), -1);                                                             \
        u[0] = 0x40;                                                                                         \
        assert_int_equal(G##_decode_check(&r, u), 0);                                                        \
        assert_true(G##_affine_is_inf(&r));                                                                  \
        for (int i = 0; i < U; i++) {                                                                        \
            u[i] ^= 1;                                                                                       \
            assert_int_equal(G##_decode(&r, u), -1);                                                         \
            u[i] ^= 1;                                                                                       \
        }                                                                                                    \
        for (int at = 0; at < U; at += 48) { /* a coordinate of p */                                         \
            G##_encode(u, &p[0]);                                                                            \
            memcpy(u + at, FP_MODULUS, 48);                                                                  \
            assert_int_equal(G##_decode(&r, u), -1);                                                         \
            u[at + 47]--; /* p - 1 */                                                                        \
            assert_int_equal(G##_decode(&r, u), 0);                                                          \
            assert_int_equal(G##_decode_check(&r, u), -2);                                                   \
        }                                                                                                    \
        G##_encode(u, &p[0]);                                                                                \
        u[U - 1] ^= 1;                                                                                       \
        assert_int_equal(G##_decode(&r, u), 0);                                                              \
        assert_int_equal(G##_decode_check(&r, u), -2);                                                       \
        int found[4] = {0}; /* random compressed points: off the curve, or on it but outside the subgroup */ \
        for (int i = 0; i < 64; i++) {                                                                       \
            chacha_rng_bytes(&rng, c, C);                                                                    \
            c[0] = (uint8_t)(0x80 | (c[0] & 0x0f));                                                          \
            if (C == 96)                                                                                     \
                c[48] &= 0x0f;                                                                               \
            int rc = G##_decompress(&r, c);                                                                  \
            assert_in_range(-rc, 2, 3);                                                                      \
            found[-rc]++;                                                                                    \
        }                                                                                                    \
        assert_true(found[2] > 10 && found[3] > 10);                                                         \
    }                                                                                                        \
                                                                                                             \
    static void G##_decode_many_points(void **state)                                                         \
    {                                                                                                        \
        enum { N = 20000, U = 2 * COORD_BYTES };                                                             \
        chacha_rng rng;                                                                                      \
        G##_affine *p = mem_alloc(N * sizeof *p), *r = mem_alloc(N * sizeof *r);                             \
        uint8_t *u = mem_alloc((size_t)N * U);                                                               \
        (void)state;                                                                                         \
        math_rng(&rng, 23);                                                                                  \
        math_##G##_points(p, N, &rng);                                                                       \
        set_inf(&p[100], sizeof p[100]);                                                                     \
        for (size_t i = 0; i < N; i++)                                                                       \
            G##_encode(u + i * U, &p[i]);                                                                    \
        assert_int_equal(G##_decode_many(r, u, NULL, N, three), -1);                                         \
        assert_memory_equal(r, p, N * sizeof *p);                                                            \
        assert_int_equal(G##_decode_many(r, u, NULL, 0, three), -1);                                         \
        for (int round = 0; round < 20; round++) { /* two bad ones: the first is reported */                 \
            size_t x = chacha_rng_u32(&rng) % N, y = chacha_rng_u32(&rng) % N;                               \
            uint8_t saved[2] = {u[x * U], u[y * U]};                                                         \
            u[x * U] = u[y * U] = 0xff;                                                                      \
            assert_int_equal(G##_decode_many(r, u, NULL, N, round % 2 ? three : NULL), x < y ? x : y);       \
            u[x * U] = saved[0];                                                                             \
            if (x != y)                                                                                      \
                u[y * U] = saved[1];                                                                         \
        }                                                                                                    \
        mem_free(p), mem_free(r), mem_free(u);                                                               \
    }                                                                                                        \
                                                                                                             \
    /* Numbers at the ends of their range, off the curve too, and bad ones, in any order: as one by one. */  \
    static void G##_decode_some_points(void **state)                                                         \
    {                                                                                                        \
        enum { N = 256, M = 37, U = 2 * COORD_BYTES };                                                       \
        static uint8_t u[N * U];                                                                             \
        static G##_affine all[M];                                                                            \
        static const uint8_t edge[] = {0x1a, 0x01, 0x11, 0xea, 0x39, 0x7f, 0xe6, 0x9a, 0x4b, 0x1b};          \
        chacha_rng rng;                                                                                      \
        (void)state;                                                                                         \
        math_rng(&rng, 24);                                                                                  \
        for (size_t i = 0; i < N * (U / 48); i++) {                                                          \
            uint8_t *v = u + 48 * i;                                                                         \
            uint32_t kind = chacha_rng_u32(&rng) % 6;                                                        \
            chacha_rng_bytes(&rng, v, 48);                                                                   \
            v[0] %= 0x1a;                                                                                    \
            if (kind == 0) /* small */                                                                       \
                memset(v, 0, 48 - chacha_rng_u32(&rng) % 3);                                                 \
            if (kind == 1) { /* p with its lowest bytes changed, mostly below */                             \
                memcpy(v, FP_MODULUS, 48);                                                                   \
                v[47 - chacha_rng_u32(&rng) % 48] -= (uint8_t)(chacha_rng_u32(&rng) % 3);                    \
            }                                                                                                \
            if (kind == 2) { /* 2^k - 1 */                                                                   \
                memset(v, 0xff, 48);                                                                         \
                memset(v, 0, 1 + chacha_rng_u32(&rng) % 47);                                                 \
            }                                                                                                \
            if (kind == 3)                                                                                   \
                memcpy(v, edge, sizeof edge);                                                                \
        }                                                                                                    \
        for (int round = 0; round < 400; round++) {                                                          \
            uint32_t list[M];                                                                                \
            size_t good = 0;                                                                                 \
            for (size_t i = 0; i < M; i++)                                                                   \
                list[i] = chacha_rng_u32(&rng) % N;                                                          \
            G##_affine r;                                                                                    \
            while (good < M && !G##_decode(&r, u + list[good] * U))                                          \
                all[good++] = r;                                                                             \
            static G##_affine some[M];                                                                       \
            memset(some, 0xee, sizeof some);                                                                 \
            assert_int_equal(G##_decode_many(some, u, list, M, NULL), good < M ? (ptrdiff_t)good : -1);      \
            assert_memory_equal(some, all, good * sizeof *some);                                             \
            for (size_t i = 0; i < M; i++) /* where none is bad */                                           \
                for (size_t k = 0; good < M && k < U; k += 48)                                               \
                    if (i >= good && u[list[i] * U + k] >= 0x1a)                                             \
                        u[list[i] * U + k] = 0x19;                                                           \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    static void G##_batch_to_affine_with_infinities(void **state)                                            \
    {                                                                                                        \
        enum { N = 2100 };                                                                                   \
        static G p[N];                                                                                       \
        static G##_affine r[N], one;                                                                         \
        chacha_rng rng;                                                                                      \
        (void)state;                                                                                         \
        math_rng(&rng, 24);                                                                                  \
        for (int kind = 0; kind < 3; kind++) {                                                               \
            G at = *GENERATOR();                                                                             \
            for (int i = 0; i < N; i++) {                                                                    \
                BLST##_double(&at, &at);                                                                     \
                p[i] = at;                                                                                   \
                if (kind == 2 || (kind == 1 && chacha_rng_u32(&rng) % 3 == 0))                               \
                    set_inf(&p[i].z, sizeof p[i].z); /* x and y of an infinity may be anything */            \
            }                                                                                                \
            G##_batch_to_affine(r, p, N);                                                                    \
            for (int i = 0; i < N; i++) {                                                                    \
                G##_to_affine(&one, &p[i]);                                                                  \
                assert_memory_equal(&one, &r[i], sizeof one);                                                \
            }                                                                                                \
        }                                                                                                    \
        G##_batch_to_affine(r, p, 0);                                                                        \
    }                                                                                                        \
                                                                                                             \
    /* Every pair of a small set with signs, infinities, equal and opposite points; in place and apart. */   \
    static void G##_batch_addition(void **state)                                                             \
    {                                                                                                        \
        enum { SET = 6, N = BATCH + 77 };                                                                    \
        G##_batch *scratch = big_alloc(sizeof *scratch);                                                     \
        static G##_affine set[SET], left[N], right[N], copy[N], *out[N];                                     \
        static point_ref a[N], b[N];                                                                         \
        chacha_rng rng;                                                                                      \
        (void)state;                                                                                         \
        math_rng(&rng, 25);                                                                                  \
        math_##G##_points(set, SET, &rng);                                                                   \
        set_inf(&set[0], sizeof set[0]);                                                                     \
        G##_affine_neg(&set[2], &set[1]);                                                                    \
        for (int round = 0; round < 4; round++) {                                                            \
            size_t n = round == 3 ? 1 : round == 2 ? BATCH : N;                                              \
            for (size_t i = 0; i < n; i++) {                                                                 \
                size_t x = round ? chacha_rng_u32(&rng) % SET : i % SET,                                     \
                       y = round ? chacha_rng_u32(&rng) % SET : i / SET % SET;                               \
                left[i] = copy[i] = set[x];                                                                  \
                right[i] = set[y];                                                                           \
                a[i] = G##_ref(&left[i], chacha_rng_u32(&rng) % 2);                                          \
                b[i] = G##_ref(&right[i], chacha_rng_u32(&rng) % 2);                                         \
                out[i] = i % 3 ? &left[i] : &right[i];                                                       \
                if (i % 3 == 0)                                                                              \
                    copy[i] = right[i];                                                                      \
            }                                                                                                \
            static G expected[N];                                                                            \
            for (size_t i = 0; i < n; i++) {                                                                 \
                G##_affine t;                                                                                \
                G##_ref_get(&t, a[i]);                                                                       \
                G##_from_affine(&expected[i], &t);                                                           \
                G##_ref_get(&t, b[i]);                                                                       \
                G##_add_affine(&expected[i], &expected[i], &t);                                              \
            }                                                                                                \
            G##_batch_add(out, a, b, n, scratch);                                                            \
            for (size_t i = 0; i < n; i++) {                                                                 \
                G##_affine t;                                                                                \
                G##_to_affine(&t, &expected[i]);                                                             \
                assert_memory_equal(&t, out[i], sizeof t);                                                   \
            }                                                                                                \
        }                                                                                                    \
        G##_batch_add(out, a, b, 0, scratch);                                                                \
        big_free(scratch, sizeof *scratch);                                                                  \
    }                                                                                                        \
                                                                                                             \
    static void G##_fixed_base(void **state)                                                                 \
    {                                                                                                        \
        static const size_t sizes[] = {0, 1, 2, 33, 1000, BATCH + 1};                                        \
        chacha_rng rng;                                                                                      \
        (void)state;                                                                                         \
        math_rng(&rng, 26);                                                                                  \
        G##_affine base, inf;                                                                                \
        math_##G##_points(&base, 1, &rng);                                                                   \
        set_inf(&inf, sizeof inf);                                                                           \
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {                                          \
            size_t n = sizes[s];                                                                             \
            fr *k = mem_alloc((n + 1) * sizeof *k);                                                          \
            G##_affine *r = mem_alloc((n + 1) * sizeof *r), t;                                               \
            for (size_t i = 0; i < n; i++) {                                                                 \
                math_fr(&k[i], &rng);                                                                        \
                if (i < 20)                                                                                  \
                    fr_from_u64(&k[i], i);                                                                   \
                else if (i < 40)                                                                             \
                    fr_from_u64(&k[i], (uint64_t)1 << (i + 20)), fr_neg(&k[i], &k[i]);                       \
            }                                                                                                \
            assert_int_equal(G##_fixed_base_many(r, &base, k, n, s % 2 ? three : NULL, NULL), CUZK_OK);      \
            for (size_t i = 0; i<n; i += n> 100 && i > 60 ? 37 : 1) {                                        \
                G b, e;                                                                                      \
                scalar c;                                                                                    \
                G##_from_affine(&b, &base);                                                                  \
                fr_to_scalar(&c, &k[i]);                                                                     \
                G##_mul(&e, &b, &c);                                                                         \
                G##_to_affine(&t, &e);                                                                       \
                assert_memory_equal(&t, &r[i], sizeof t);                                                    \
            }                                                                                                \
            for (int same = 0; same < 3; same++) { /* one value for all */                                   \
                const fr *value = same == 0 ? &FR_ZERO : same == 1 ? &FR_ONE : &FR_MINUS_ONE;                \
                for (size_t i = 0; i < n; i++)                                                               \
                    k[i] = *value;                                                                           \
                assert_int_equal(G##_fixed_base_many(r, &base, k, n, three, NULL), CUZK_OK);                 \
                memset(&t, 0, sizeof t);                                                                     \
                if (same)                                                                                    \
                    t = base;                                                                                \
                if (same == 2)                                                                               \
                    G##_affine_neg(&t, &base);                                                               \
                for (size_t i = 0; i < n; i++)                                                               \
                    assert_memory_equal(&t, &r[i], sizeof t);                                                \
            }                                                                                                \
            assert_int_equal(G##_fixed_base_many(r, &inf, k, n, three, NULL), CUZK_OK);                      \
            for (size_t i = 0; i < n; i++)                                                                   \
                assert_true(G##_affine_is_inf(&r[i]));                                                       \
            mem_free(k), mem_free(r);                                                                        \
        }                                                                                                    \
        fr one = FR_ONE;                                                                                     \
        cuzk_error err;                                                                                      \
        mem_fault_set(1, 1);                                                                                 \
        assert_int_equal(G##_fixed_base_many(&inf, &base, &one, 1, NULL, &err), CUZK_OUT_OF_MEMORY);         \
        mem_fault_set(0, 0);                                                                                 \
    }

GROUP_TESTS(g1, blst_p1, blst_p1_generator, 48, G1_BATCH)
GROUP_TESTS(g2, blst_p2, blst_p2_generator, 96, G2_BATCH)

/* The endomorphism multiplies by -z^2. */
static void endomorphisms(void **state)
{
    chacha_rng rng;
    fr z, t;
    scalar k;
    (void)state;
    math_rng(&rng, 27);
    fr_from_u64(&z, 0xd201000000010000);
    fr_sqr(&t, &z);
    fr_neg(&t, &t);
    fr_to_scalar(&k, &t);
    g1_affine p1, q1;
    g1 a1, b1;
    math_g1_points(&p1, 1, &rng);
    q1 = p1;
    fp_endomorphism(&q1.x, &p1.x);
    g1_from_affine(&a1, &p1);
    g1_mul(&b1, &a1, &k);
    g1_from_affine(&a1, &q1);
    assert_true(blst_p1_is_equal(&a1, &b1));
    g2_affine p2, q2;
    g2 a2, b2;
    math_g2_points(&p2, 1, &rng);
    q2 = p2;
    fp2_endomorphism(&q2.x, &p2.x);
    g2_from_affine(&a2, &p2);
    g2_mul(&b2, &a2, &k);
    g2_from_affine(&a2, &q2);
    assert_true(blst_p2_is_equal(&a2, &b2));
}

static int open_pool(void **state)
{
    (void)state;
    return (int)pool_create(&three, 3, NULL);
}

static int close_pool(void **state)
{
    (void)state;
    pool_destroy(three);
    return 0;
}

#define LIST(G)                                                                                              \
    cmocka_unit_test(G##_addition_is_complete), cmocka_unit_test(G##_multiplication),                        \
        cmocka_unit_test(G##_encodings), cmocka_unit_test(G##_decode_many_points),                           \
        cmocka_unit_test(G##_decode_some_points), cmocka_unit_test(G##_batch_to_affine_with_infinities),     \
        cmocka_unit_test(G##_batch_addition), cmocka_unit_test(G##_fixed_base)

int main(void)
{
    const struct CMUnitTest tests[] = {LIST(g1), LIST(g2), cmocka_unit_test(endomorphisms)};
    int failed = cmocka_run_group_tests(tests, open_pool, close_pool);
    if (cpu_get()->adx) {
        cpu_force(CPU_PORTABLE);
        failed += cmocka_run_group_tests_name("without ADX", tests, open_pool, close_pool);
    }
    return failed;
}
