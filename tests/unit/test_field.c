/* The scalar field: encodings, inversion, decimal numbers, roots of unity. Oracles: blst, __int128 arithmetic
 * on small numbers, and identities. */
#include "support/math.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char MODULUS_DECIMAL[] =
    "52435875175126190479447740508185965837690552500527637822603658699938581184513";
/* r - 1, r and 2^256 - 1, little-endian */
static const uint8_t R_BYTES[32] = {0x01, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xfe, 0x5b, 0xfe,
                                    0xff, 0x02, 0xa4, 0xbd, 0x53, 0x05, 0xd8, 0xa1, 0x09, 0x08, 0xd8,
                                    0x39, 0x33, 0x48, 0x7d, 0x9d, 0x29, 0x53, 0xa7, 0xed, 0x73};

static void constants_are_what_they_say(void **state)
{
    fr t;
    (void)state;
    fr_from_u64(&t, 1);
    assert_true(fr_eq(&t, &FR_ONE) && fr_is_one(&t));
    fr_from_u64(&t, 2);
    assert_true(fr_eq(&t, &FR_TWO));
    fr_neg(&t, &FR_ONE);
    assert_true(fr_eq(&t, &FR_MINUS_ONE));
    fr_add(&t, &t, &FR_ONE);
    assert_true(fr_is_zero(&t) && fr_eq(&t, &FR_ZERO));
    fr_neg(&t, &FR_ZERO);
    assert_true(fr_is_zero(&t)); /* canonical: never r itself */
}

static void bytes_reject_values_from_r_up(void **state)
{
    uint8_t b[32], out[32];
    fr t = FR_TWO;
    scalar s;
    (void)state;
    memcpy(b, R_BYTES, 32);
    assert_int_equal(fr_from_bytes(&t, b), -1);
    assert_true(fr_eq(&t, &FR_TWO)); /* untouched */
    fr_from_bytes_reduce(&t, b);
    assert_true(fr_is_zero(&t));
    b[0] = 0;
    assert_int_equal(fr_from_bytes(&t, b), 0);
    assert_true(fr_eq(&t, &FR_MINUS_ONE));
    fr_to_bytes(out, &t);
    assert_memory_equal(out, b, 32);
    b[0] = 2;
    assert_int_equal(fr_from_bytes(&t, b), -1);
    fr_from_bytes_reduce(&t, b);
    assert_true(fr_is_one(&t));
    memset(b, 0xff, 32); /* 2^256 - 1 = 2 r + ... */
    assert_int_equal(fr_from_bytes(&t, b), -1);
    fr_from_bytes_reduce(&t, b);
    fr power = FR_ONE;
    for (int i = 0; i < 256; i++)
        fr_add(&power, &power, &power);
    fr_sub(&power, &power, &FR_ONE);
    assert_true(fr_eq(&t, &power));
    memcpy(&s, R_BYTES, 32);
    assert_false(scalar_is_canonical(&s));
    s.l[0]--;
    assert_true(scalar_is_canonical(&s));
    memset(&s, 0xff, sizeof s);
    assert_false(scalar_is_canonical(&s));
}

static void encodings_round_trip(void **state)
{
    chacha_rng rng;
    (void)state;
    math_rng(&rng, 1);
    for (int i = 0; i < 1000; i++) {
        fr a, b;
        scalar s;
        uint8_t bytes[32];
        char text[80];
        blst_scalar blst;
        math_fr(&a, &rng);
        fr_to_bytes(bytes, &a);
        blst_scalar_from_fr(&blst, &a);
        assert_memory_equal(bytes, blst.b, 32);
        assert_int_equal(fr_from_bytes(&b, bytes), 0);
        assert_true(fr_eq(&a, &b));
        fr_to_scalar(&s, &a);
        assert_memory_equal(&s, bytes, 32);
        assert_true(scalar_is_canonical(&s));
        fr_from_scalar(&b, &s);
        assert_true(fr_eq(&a, &b));
        fr_to_decimal(text, &a);
        assert_int_equal(fr_from_decimal(&b, text, strlen(text), 0), 0);
        assert_true(fr_eq(&a, &b));
    }
}

static void inverses(void **state)
{
    enum { N = 257 };
    fr a[N], inv[N], scratch[N], t;
    chacha_rng rng;
    (void)state;
    math_rng(&rng, 2);
    fr_inv(&t, &FR_ZERO);
    assert_true(fr_is_zero(&t));
    for (int zeros = 0; zeros < 3; zeros++) {
        for (int i = 0; i < N; i++) {
            math_fr(&a[i], &rng);
            if (zeros == 2 || (zeros == 1 && i % 7 == 0))
                a[i] = FR_ZERO;
        }
        fr_batch_inv(inv, a, N, scratch);
        for (int i = 0; i < N; i++) {
            fr_inv(&t, &a[i]);
            assert_true(fr_eq(&t, &inv[i]));
            fr_mul(&t, &t, &a[i]);
            assert_true(fr_is_zero(&a[i]) ? fr_is_zero(&t) : fr_is_one(&t));
        }
        fr_batch_inv(a, a, N, scratch); /* in place */
        assert_memory_equal(a, inv, sizeof a);
    }
    fr_batch_inv(a, a, 0, scratch);
}

static void powers(void **state)
{
    chacha_rng rng;
    fr a, p, q = FR_ONE;
    uint64_t minus_two[4], e;
    (void)state;
    math_rng(&rng, 3);
    math_fr(&a, &rng);
    for (e = 0; e < 70; e++) {
        fr_pow(&p, &a, &e, 1);
        assert_true(fr_eq(&p, &q));
        fr_mul(&q, &q, &a);
    }
    fr_pow(&p, &a, NULL, 0);
    assert_true(fr_is_one(&p));
    memcpy(minus_two, R_BYTES, 32);
    minus_two[0] -= 2; /* Fermat; borrows nothing beyond the low limb */
    fr_pow(&p, &a, minus_two, 4);
    fr_inv(&q, &a);
    assert_true(fr_eq(&p, &q));
}

static void decimal(void **state)
{
    static const char *const bad[] = {
        "", "-1", "+1", " 1", "1 ", "0x10", "1.0", "12a", "99999999999999999999z"};
    char text[80], huge[400];
    fr a, b;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int reduce = 0; reduce < 2; reduce++)
            assert_int_equal(fr_from_decimal(&a, bad[i], strlen(bad[i]), reduce), -1);
    assert_int_equal(fr_from_decimal(&a, MODULUS_DECIMAL, strlen(MODULUS_DECIMAL), 0), -1);
    assert_int_equal(fr_from_decimal(&a, MODULUS_DECIMAL, strlen(MODULUS_DECIMAL), 1), 0);
    assert_true(fr_is_zero(&a));
    fr_to_decimal(text, &FR_MINUS_ONE);
    assert_memory_equal(text, MODULUS_DECIMAL, strlen(MODULUS_DECIMAL) - 1);
    assert_string_equal(text + strlen(MODULUS_DECIMAL) - 1, "2");
    assert_int_equal(fr_from_decimal(&a, text, strlen(text), 0), 0);
    assert_true(fr_eq(&a, &FR_MINUS_ONE));
    fr_to_decimal(text, &FR_ZERO);
    assert_string_equal(text, "0");
    assert_int_equal(fr_from_decimal(&a, "0000000000000000000000000000000000000000000000007", 49, 0), 0);
    fr_from_u64(&b, 7);
    assert_true(fr_eq(&a, &b));
    memset(huge, '9', sizeof huge); /* 10^400 - 1 */
    assert_int_equal(fr_from_decimal(&a, huge, sizeof huge, 0), -1);
    assert_int_equal(fr_from_decimal(&a, huge, sizeof huge, 1), 0);
    fr ten, power = FR_ONE;
    fr_from_u64(&ten, 10);
    for (int i = 0; i < 400; i++)
        fr_mul(&power, &power, &ten);
    fr_sub(&power, &power, &FR_ONE);
    assert_true(fr_eq(&a, &power));
}

static void roots_of_unity(void **state)
{
    (void)state;
    for (unsigned generator = 5; generator <= 7; generator += 2)
        for (unsigned k = 0; k <= 32; k++) {
            fr w, half;
            fr_root_of_unity(&w, k, generator);
            half = w;
            for (unsigned i = 1; i < k; i++)
                fr_sqr(&half, &half);
            assert_true(fr_eq(&half, k ? &FR_MINUS_ONE : &FR_ONE)); /* of order exactly 2^k */
            if (k) {
                fr next;
                fr_root_of_unity(&next, k - 1, generator);
                fr_sqr(&w, &w);
                assert_true(fr_eq(&w, &next));
            }
        }
    /* The published 2^32-nd root of the field's usual libraries is 7^((r-1)/2^32). */
    static const uint8_t root[32] = {0x2b, 0x0d, 0x9f, 0x43, 0x1f, 0x97, 0x29, 0x38, 0xb9, 0x80, 0x22,
                                     0x8c, 0x50, 0x83, 0x36, 0xb6, 0xb4, 0x13, 0xc8, 0x22, 0x19, 0x68,
                                     0x9b, 0xd0, 0x20, 0x1f, 0xe8, 0xdf, 0x9e, 0xa1, 0xa2, 0x16};
    fr w;
    uint8_t b[32];
    fr_root_of_unity(&w, 32, 7);
    fr_to_bytes(b, &w);
    assert_memory_equal(b, root, 32);
}

static void random_elements(void **state)
{
    fr a, b;
    (void)state;
    assert_int_equal(fr_random(&a), 0);
    assert_int_equal(fr_random(&b), 0);
    assert_false(fr_is_zero(&a) || fr_is_zero(&b) || fr_eq(&a, &b));
    int high = 0;
    for (int i = 0; i < 256; i++) {
        uint8_t bytes[32];
        assert_int_equal(fr_random(&a), 0);
        fr_to_bytes(bytes, &a);
        assert_int_equal(fr_from_bytes(&b, bytes), 0);
        high += bytes[31] >= 0x3a; /* half of the range */
    }
    assert_in_range(high, 64, 192); /* eight standard deviations */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_what_they_say),
        cmocka_unit_test(bytes_reject_values_from_r_up),
        cmocka_unit_test(encodings_round_trip),
        cmocka_unit_test(inverses),
        cmocka_unit_test(powers),
        cmocka_unit_test(decimal),
        cmocka_unit_test(roots_of_unity),
        cmocka_unit_test(random_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
