/* Cache files: what is saved is what is opened, and no file that was cut, changed or made up is believed. */
#include "base/mem.h"
#include "r1cs/cache.h"
#include "support/math.h"
#include "support/random_system.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64], other[64];
static random_system sys;
static r1cs *made;
static uint8_t made_digest[32];

static void digest(uint8_t out[32], const r1cs *r)
{
    cuzk_error err;
    if (r1cs_digest(r, out, 0, NULL, NULL, NULL, &err) != CUZK_OK)
        fail_msg("digest: %s", err.message);
}

static int setup(void **state)
{
    (void)state;
    cuzk_error err;
    snprintf(path, sizeof(path), "/tmp/cuzk-test-cache-%d", (int)getpid());
    snprintf(other, sizeof(other), "/tmp/cuzk-test-cache-%d-other", (int)getpid());
    sys = (random_system){.seed = 11, .count = 5, .imports = 3, .globals = 30, .tail = 20, .rows = 60};
    if (r1cs_compile(&made, "cached", random_system_synth, &sys, &err) != CUZK_OK)
        return 1;
    digest(made_digest, made);
    return r1cs_save(made, path, &err) != CUZK_OK;
}

static int teardown(void **state)
{
    (void)state;
    r1cs_destroy(made);
    random_system_clear(&sys);
    unlink(path);
    unlink(other);
    return 0;
}

static uint8_t *content(size_t *size)
{
    uint8_t *data;
    cuzk_error err;
    if (file_read(&data, size, path, (size_t)1 << 28, &err) != CUZK_OK)
        fail_msg("%s", err.message);
    return data;
}

/* Opens bytes as a cache file. */
static cuzk_status open_bytes(r1cs **r, const uint8_t *data, size_t size, int verify, cuzk_error *err)
{
    FILE *f = fopen(other, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    fclose(f);
    *r = NULL;
    return r1cs_open(r, other, "cached", verify, err);
}

static void test_saved_equals_opened(void **state)
{
    (void)state;
    r1cs *r;
    cuzk_error err;
    uint8_t x[32];
    char a[128], b[128];
    for (int verify = 0; verify < 2; verify++) {
        if (r1cs_open(&r, path, verify ? "cached" : NULL, verify, &err) != CUZK_OK)
            fail_msg("open: %s", err.message);
        r1cs_counts n, m;
        r1cs_get_counts(r, &n);
        r1cs_get_counts(made, &m);
        assert_memory_equal(&n, &m, sizeof(n));
        assert_string_equal(r1cs_name(r), "cached");
        digest(x, r);
        assert_memory_equal(x, made_digest, 32);
        for (uint64_t row = 0; row < n.constraints; row++) {
            r1cs_row_path(r, row, a, sizeof(a));
            r1cs_row_path(made, row, b, sizeof(b));
            assert_string_equal(a, b);
        }
        cuzk_circuit_view v;
        assert_int_equal(r1cs_view(r, &v, &err), CUZK_OK);
        assert_memory_equal(v.field_map, r1cs_field_map(made), (n.aux + 63) / 64 * 8);
        assert_memory_equal(v.a_density, r1cs_a_density(made), (n.aux + 63) / 64 * 8);
        assert_memory_equal(v.b_density, r1cs_b_density(made), (n.aux + 63) / 64 * 8);
        assert_memory_equal(v.b_input_density, r1cs_b_input_density(made), (n.inputs + 63) / 64 * 8);
        /* A mapped circuit can be saved again: the same bytes. */
        size_t size, size2;
        uint8_t *data = content(&size), *again;
        assert_int_equal(r1cs_save(r, other, &err), CUZK_OK);
        assert_int_equal(file_read(&again, &size2, other, (size_t)1 << 28, &err), CUZK_OK);
        assert_int_equal(size, size2);
        assert_memory_equal(data, again, size);
        mem_free(data);
        mem_free(again);
        r1cs_destroy(r);
    }
}

static void test_wrong_files(void **state)
{
    (void)state;
    r1cs *r;
    cuzk_error err;
    assert_int_equal(r1cs_open(&r, "/tmp/cuzk-no-such-file", "cached", 1, &err), CUZK_NOT_FOUND);
    assert_null(r);
    assert_int_equal(r1cs_open(&r, path, "another", 1, &err), CUZK_BAD_INPUT);
    assert_non_null(strstr(err.message, path));
    assert_int_equal(open_bytes(&r, (const uint8_t *)"<html>", 6, 1, &err), CUZK_BAD_INPUT);
    assert_int_equal(open_bytes(&r, (const uint8_t *)"", 0, 1, &err), CUZK_BAD_INPUT);
    assert_int_not_equal(r1cs_save(made, "/tmp/cuzk-no-such-folder/x", &err), CUZK_OK);
}

static void test_cut_short(void **state)
{
    (void)state;
    size_t size;
    uint8_t *data = content(&size);
    for (size_t k = 0; k < size; k += k < 1024 ? 7 : 509)
        for (int verify = 0; verify < 2; verify++) {
            r1cs *r;
            cuzk_error err;
            assert_int_equal(open_bytes(&r, data, k, verify, &err), CUZK_BAD_INPUT);
            assert_null(r);
        }
    /* The same with a header that states the shorter length. */
    for (size_t k = sizeof(cache_header); k < size; k += 997) {
        uint8_t *cut = mem_alloc(k);
        uint64_t stated = k;
        r1cs *r;
        cuzk_error err;
        memcpy(cut, data, k);
        memcpy(cut + offsetof(cache_header, file_size), &stated, 8);
        assert_int_equal(open_bytes(&r, cut, k, 0, &err), CUZK_BAD_INPUT);
        mem_free(cut);
    }
    mem_free(data);
}

/* Everything that reads a circuit, to see it stay inside its arrays (under a sanitizer that is a proof). */
static void exercise(const r1cs *r)
{
    cuzk_circuit_view v;
    r1cs_counts n;
    witness w;
    cuzk_error err;
    uint8_t rows[32];
    char name[64];
    if (r1cs_view(r, &v, &err) != CUZK_OK)
        return;
    r1cs_get_counts(r, &n);
    for (uint64_t row = 0; row < n.constraints; row += 17)
        r1cs_row_path(r, row, name, sizeof(name));
    assert_int_equal(r1cs_digest(r, rows, 16, NULL, NULL, NULL, &err), CUZK_OK);
    assert_int_equal(witness_init(&w, n.inputs, n.aux, n.fields, &err), CUZK_OK);
    fr *a = mem_alloc(n.constraints * sizeof(fr)), *b = mem_alloc(n.constraints * sizeof(fr));
    assert_int_equal(r1cs_multiply(r, &w, a, b, NULL, &err), CUZK_OK);
    mem_free(a);
    mem_free(b);
    witness_clear(&w);
}

static void test_changed_bytes(void **state)
{
    (void)state;
    size_t size;
    uint8_t *data = content(&size);
    chacha_rng rng;
    unsigned believed = 0;
    math_rng(&rng, 4);
    for (int k = 0; k < 3000; k++) {
        size_t at = k < 600 ? (size_t)k : chacha_rng_u64(&rng) % size;
        uint8_t before = data[at], flip = (uint8_t)(1u << (chacha_rng_u32(&rng) & 7));
        r1cs *r;
        cuzk_error err;
        if (k % 3 == 0)
            flip = 0xff;
        data[at] ^= flip;
        if (k % 8 == 0) {
            assert_int_equal(open_bytes(&r, data, size, 1, &err), CUZK_BAD_INPUT);
            assert_null(r);
        }
        cuzk_status status = open_bytes(&r, data, size, 0, &err);
        if (status == CUZK_OK) {
            believed++;
            exercise(r);
            r1cs_destroy(r);
        } else {
            assert_int_equal(status, CUZK_BAD_INPUT);
        }
        data[at] = before;
    }
    assert_true(believed > 0); /* a changed coefficient cannot be seen without the digest */
    mem_free(data);
}

static void test_memory_failures(void **state)
{
    (void)state;
    uint64_t n, at = 1;
    do {
        r1cs *r;
        cuzk_error err;
        mem_fault_set(at, 1);
        cuzk_status status = r1cs_open(&r, path, "cached", 1, &err);
        if (status == CUZK_OK)
            status = r1cs_save(r, other, &err);
        n = mem_fault_count();
        mem_fault_set(0, 0);
        r1cs_destroy(r);
        assert_true(status == CUZK_OK ? n < at : n >= at);
        if (status != CUZK_OK)
            assert_int_equal(status, CUZK_OUT_OF_MEMORY);
    } while (at++ <= n);
    assert_true(at > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saved_equals_opened), cmocka_unit_test(test_wrong_files),
        cmocka_unit_test(test_cut_short),           cmocka_unit_test(test_changed_bytes),
        cmocka_unit_test(test_memory_failures),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
