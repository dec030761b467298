/* src/base against published vectors and its own contracts. */
#include "base/clock.h"
#include "base/cpu.h"
#include "base/encode.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json_write.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/pool.h"
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void expect_hex(const uint8_t *data, size_t n, const char *hex)
{
    char text[2 * 64 + 1];
    hex_encode(text, data, n);
    assert_string_equal(text, hex);
}

static void test_sha256_vectors(void **state)
{
    (void)state;
    uint8_t out[32];
    sha256_digest(out, "abc", 3);
    expect_hex(out, 32, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_digest(out, "", 0);
    expect_hex(out, 32, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256_digest(out, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56);
    expect_hex(out, 32, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    sha256 s;
    sha256_init(&s);
    for (int i = 0; i < 1000000; i++)
        sha256_update(&s, "a", 1);
    sha256_final(&s, out);
    expect_hex(out, 32, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_sha256_forms_agree(void **state)
{
    (void)state;
    uint8_t data[64 * 9];
    for (unsigned round = 0; round < 200; round++) {
        assert_int_equal(random_bytes(data, sizeof(data)), 0);
        uint32_t a[8], b[8];
        memcpy(a, data, sizeof(a));
        memcpy(b, data, sizeof(b));
        size_t blocks = round % 10;
        sha256_compress(a, data, blocks);
        sha256_compress_ref(b, data, blocks);
        assert_memory_equal(a, b, sizeof(a));
    }
}

static void test_blake2b_vectors(void **state)
{
    (void)state;
    uint8_t out[64], key[64], data[256];
    blake2b b;
    blake2b_init(&b, 64, NULL, 0);
    blake2b_update(&b, "abc", 3);
    blake2b_final(&b, out);
    expect_hex(out, 64,
               "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
               "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
    for (unsigned i = 0; i < 256; i++)
        data[i] = (uint8_t)i;
    memcpy(key, data, 64);
    /* The keyed vectors published with the function: lengths 0 and 255. */
    blake2b_init(&b, 64, key, 64);
    blake2b_final(&b, out);
    expect_hex(out, 64,
               "10ebb67700b1868efb4417987acf4690ae9d972fb7a590c2f02871799aaa4786"
               "b5e996e8f0f4eb981fc214b005f42d2ff4233499391653df7aefcbc13fc51568");
    blake2b_init(&b, 64, key, 64);
    for (unsigned i = 0; i < 255; i++) /* one byte at a time: every buffer position */
        blake2b_update(&b, data + i, 1);
    blake2b_final(&b, out);
    expect_hex(out, 64,
               "142709d62e28fcccd0af97fad0f8465b971e82201dc51070faa0372aa43e9248"
               "4be1c1e73ba10906d5d1853db6a4106e0a7bf9800d373d6dee2d46d62ef2a461");
}

static void test_chacha_vectors(void **state)
{
    (void)state;
    uint8_t key[32] = {0}, out[64];
    chacha_block(out, key, 0, 0, 20);
    expect_hex(out, 64,
               "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
               "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586");
    chacha_block(out, key, 0, 0, 8);
    expect_hex(out, 64,
               "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"
               "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42");
    chacha_rng r;
    chacha_rng_init(&r, key, 20);
    assert_int_equal(chacha_rng_u32(&r), 0xade0b876u);
    uint8_t bytes[130];
    chacha_rng_init(&r, key, 20);
    chacha_rng_bytes(&r, bytes, 130);
    chacha_block(out, key, 1, 0, 20);
    assert_memory_equal(bytes + 64, out, 64);
}

static void test_encodings(void **state)
{
    (void)state;
    uint8_t out[16];
    size_t bad = 99;
    assert_int_equal(hex_decode(out, 2, "0xBEef"), 0);
    assert_int_equal(out[0], 0xbe);
    assert_int_equal(hex_decode(out, 2, "beef0"), -1);
    assert_int_equal(hex_decode(out, 2, "bee"), -1);
    assert_int_equal(hex_decode(out, 2, "bexf"), -1);
    assert_int_equal(base64_decode(out, "Zm9vYmE=", 8, &bad), 5);
    assert_memory_equal(out, "fooba", 5);
    assert_int_equal(base64_decode(out, "Zm9vYg==", 8, &bad), 4);
    assert_int_equal(base64_decode(out, "", 0, &bad), 0);
    assert_int_equal(base64_decode(out, "Zm9*", 4, &bad), -1);
    assert_int_equal(bad, 3);
    assert_int_equal(base64_decode(out, "Zm=vYg==", 8, &bad), -1);
    assert_int_equal(bad, 2);
    assert_int_equal(base64_decode(out, "Zm9vYh==", 8, &bad), -1); /* lost bits */
    assert_int_equal(base64_decode(out, "Zm9vY", 5, &bad), -1);
}

static void add_task(void *ctx, size_t task, unsigned worker)
{
    (void)worker;
    atomic_fetch_add((atomic_ullong *)ctx, task + 1);
}

static void add_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    (void)worker;
    for (size_t i = first; i < end; i++)
        atomic_fetch_add((atomic_ullong *)ctx, i + 1);
}

static void test_pool(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 5; threads++) {
        pool *p;
        assert_int_equal(pool_create(&p, threads, NULL), CUZK_OK);
        assert_int_equal(pool_size(p), threads);
        for (size_t n = 0; n < 300; n += 7) {
            atomic_ullong sum = 0;
            pool_for(p, n, add_task, &sum);
            assert_int_equal(sum, n * (n + 1) / 2);
            sum = 0;
            pool_for_range(p, n, 3, add_range, &sum);
            assert_int_equal(sum, n * (n + 1) / 2);
        }
        pool_destroy(p);
    }
    atomic_ullong sum = 0;
    pool_for(NULL, 10, add_task, &sum);
    assert_int_equal(sum, 55);
}

static void test_pool_memory_failures(void **state)
{
    (void)state;
    for (uint64_t n = 1;; n++) {
        pool *p = NULL;
        mem_fault_set(n, 0);
        cuzk_error e = {0};
        cuzk_status s = pool_create(&p, 4, &e);
        int reached = mem_fault_count() >= n;
        mem_fault_set(0, 0);
        if (s == CUZK_OK) {
            assert_false(reached);
            pool_destroy(p);
            break;
        }
        assert_int_equal(s, CUZK_OUT_OF_MEMORY);
        assert_null(p);
        assert_true(strlen(e.message) > 10);
    }
}

static void temporary_dir(char *dir, size_t size)
{
    const char *base = getenv("TMPDIR");
    snprintf(dir, size, "%s/cuzk-test-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(dir));
}

static void test_file_writer(void **state)
{
    (void)state;
    char dir[200], path[256], other[256];
    temporary_dir(dir, sizeof(dir));
    snprintf(path, sizeof(path), "%s/a", dir);
    file_writer w;
    assert_int_equal(file_writer_open(&w, path, NULL), CUZK_OK);
    assert_false(file_exists(path));
    uint8_t *block = mem_calloc(1, 3 << 20);
    file_write(&w, "12345", 5);
    file_write(&w, block, 3 << 20);
    file_write(&w, "end", 3);
    file_write_at(&w, 1, "xy", 2);
    assert_int_equal(file_writer_commit(&w, NULL), CUZK_OK);
    uint8_t *data;
    size_t size;
    assert_int_equal(file_read(&data, &size, path, 4 << 20, NULL), CUZK_OK);
    assert_int_equal(size, 8 + (3 << 20));
    assert_memory_equal(data, "1xy45", 5);
    assert_memory_equal(data + size - 3, "end", 3);
    mem_free(data);
    cuzk_error e;
    assert_int_equal(file_read(&data, &size, path, 1000, &e), CUZK_BAD_INPUT);
    file_map m;
    assert_int_equal(file_map_open(&m, path, NULL), CUZK_OK);
    assert_false(file_map_changed(&m));
    assert_int_equal(truncate(path, 100), 0);
    assert_true(file_map_changed(&m));
    file_map_close(&m);
    file_map_close(&m);
    snprintf(other, sizeof(other), "%s/missing/b", dir);
    assert_int_equal(file_writer_open(&w, other, &e), CUZK_NOT_FOUND);
    assert_int_equal(file_map_open(&m, other, &e), CUZK_NOT_FOUND);
    snprintf(other, sizeof(other), "%s/missing", dir);
    assert_int_equal(file_make_dirs(other, NULL), CUZK_OK);
    assert_int_equal(file_map_open(&m, other, &e), CUZK_IO_ERROR); /* a folder */
    mem_free(block);
    unlink(path);
    rmdir(other);
    rmdir(dir);
}

/* A full disk, by the limit on a file's size: nothing is left under either name. */
static void test_file_writer_of_two(void **state)
{
    (void)state;
    char dir[200], path[256];
    temporary_dir(dir, sizeof(dir));
    snprintf(path, sizeof(path), "%s/shared", dir);
    file_writer a, b;
    assert_int_equal(file_writer_open(&a, path, NULL), CUZK_OK);
    assert_int_equal(file_writer_open(&b, path, NULL), CUZK_OK);
    assert_string_not_equal(a.temporary, b.temporary);
    file_write(&a, "first", 5);
    file_write(&b, "second one", 10);
    uint8_t *data;
    size_t size;
    assert_int_equal(file_writer_commit(&b, NULL), CUZK_OK);
    assert_int_equal(file_read(&data, &size, path, 100, NULL), CUZK_OK);
    assert_int_equal(size, 10);
    mem_free(data);
    assert_int_equal(file_writer_commit(&a, NULL), CUZK_OK);
    assert_int_equal(file_read(&data, &size, path, 100, NULL), CUZK_OK);
    assert_memory_equal(data, "first", 6);
    mem_free(data);
    unlink(path);
    assert_int_equal(rmdir(dir), 0); /* empty */
}

static void test_file_place(void **state)
{
    (void)state;
    char dir[200], path[256];
    cuzk_error e = {0};
    temporary_dir(dir, sizeof(dir));
    snprintf(path, sizeof(path), "%s/a", dir);
    assert_int_equal(file_check_place(path, &e), CUZK_OK);
    assert_false(file_exists(path));
    assert_int_equal(file_check_place(dir, &e), CUZK_INVALID_ARGUMENT);
    assert_int_equal(rmdir(dir), 0); /* empty */
    assert_int_equal(file_check_place(path, &e), CUZK_NOT_FOUND);
    assert_int_equal(file_save("/dev/null", "x", 1, &e), CUZK_OK); /* and stays what it is */
    struct stat st;
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(file_save("/dev/full", "x", 1, &e), CUZK_IO_ERROR);
}

static void test_clock_far_away(void **state)
{
    (void)state;
    uint64_t now = clock_ns(), soon = clock_in_ms(1000);
    assert_true(soon >= now + 1000000000u && soon < now + 60000000000u);
    assert_true(clock_in_ms(UINT64_MAX) == UINT64_MAX);
    assert_true(clock_in_ms(UINT64_MAX / 1000000u) == UINT64_MAX); /* the product fits, the sum does not */
}

static void test_file_writer_full_disk(void **state)
{
    (void)state;
    char dir[200], path[256];
    temporary_dir(dir, sizeof(dir));
    snprintf(path, sizeof(path), "%s/full", dir);
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 1 << 20;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    uint8_t *block = mem_calloc(1, 3 << 20);
    file_writer w;
    cuzk_error e = {0};
    assert_int_equal(file_writer_open(&w, path, NULL), CUZK_OK);
    file_write(&w, block, 3 << 20);
    assert_int_equal(file_writer_commit(&w, &e), CUZK_IO_ERROR);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_non_null(strstr(e.message, "full"));
    mem_free(block);
    assert_int_equal(rmdir(dir), 0); /* empty */
}

static char sunk[2048];
static void sink(void *ctx, const char *line)
{
    (void)ctx;
    snprintf(sunk, sizeof(sunk), "%s", line);
}

static void test_log(void **state)
{
    (void)state;
    log_set_sink(sink, NULL);
    log_configure(LOG_INFO, LOG_JSON);
    sunk[0] = 0;
    log_write(LOG_DEBUG, "test", "hidden");
    assert_string_equal(sunk, "");
    log_job(LOG_WARN, "test", "job \"1\"", "line\nbreak %d", 7);
    assert_non_null(strstr(sunk, "\"job_id\":\"job \\\"1\\\"\""));
    assert_non_null(strstr(sunk, "line\\u000abreak 7"));
    log_configure(LOG_INFO, LOG_TEXT);
    log_write(LOG_ERROR, "test", "two\nlines");
    assert_null(strchr(sunk, '\n'));
    log_level level;
    assert_int_equal(log_level_parse(&level, "WARN"), 0);
    assert_int_equal(level, LOG_WARN);
    assert_int_equal(log_level_parse(&level, "loud"), -1);
    log_set_sink(NULL, NULL);
}

static void test_errors(void **state)
{
    (void)state;
    cuzk_error e = {0};
    assert_int_equal(cuzk_error_set(&e, CUZK_BAD_INPUT, "row %d", 5), CUZK_BAD_INPUT);
    assert_int_equal(cuzk_error_prefix(&e, "file %s", "x"), CUZK_BAD_INPUT);
    assert_string_equal(e.message, "file x: row 5");
    assert_int_equal(cuzk_error_set(NULL, CUZK_BUSY, "unseen"), CUZK_BUSY);
    assert_string_equal(cuzk_status_name(CUZK_UNSATISFIED), "unsatisfied");
    char longer[1000];
    memset(longer, 'y', sizeof(longer) - 1);
    longer[999] = 0;
    cuzk_error_set(&e, CUZK_BAD_INPUT, "%s", longer);
    cuzk_error_prefix(&e, "p");
    assert_int_equal(strlen(e.message), sizeof(e.message) - 1);
    assert_true(!strncmp(e.message, "p: yyy", 6));
}

static void test_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *text, *cleaned;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xf4\x8f\xbf\xbf\xed\x9f\xbf", "\xf4\x8f\xbf\xbf\xed\x9f\xbf"},
        {"a\xcb"
         "b",
         "a?b"},            /* a leading byte alone */
        {"\x80\xbf", "??"}, /* following bytes alone */
        {"\xe2\x82", "??"}, /* cut short */
        {"\xf0\x9f\x98", "???"},
        {"\xc0\xaf\xe0\x9f\xbf", "?????"}, /* longer than need be */
        {"\xf0\x8f\xbf\xbf", "????"},
        {"\xed\xa0\x80", "???"},      /* a surrogate */
        {"\xf4\x90\x80\x80", "????"}, /* beyond the last character */
        {"\xff\xfe\xf5", "???"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[64];
        snprintf(text, sizeof(text), "%s", cases[i].text);
        assert_int_equal(utf8_is_valid(text), !strcmp(cases[i].text, cases[i].cleaned));
        utf8_clean(text);
        assert_string_equal(text, cases[i].cleaned);
        assert_true(utf8_is_valid(text));
        cuzk_error e = {0};
        cuzk_error_set(&e, CUZK_BAD_INPUT, "%s", cases[i].text);
        cuzk_error_prefix(&e, "\xff");
        assert_int_equal(e.message[0], '?');
        assert_string_equal(e.message + 3, cases[i].cleaned);
    }
    json_out j;
    json_init(&j);
    json_string(&j, NULL,
                "a\xcb"
                "b \xc3\xa9");
    assert_string_equal(j.text, "\"a\xef\xbf\xbd"
                                "b \xc3\xa9\"");
    json_clear(&j);
}

static void test_cancel(void **state)
{
    (void)state;
    cancel_token t = {0};
    assert_int_equal(cancel_check(NULL), 0);
    assert_int_equal(cancel_check(&t), 0);
    t.deadline_ns = clock_ns() + 3600000000000u;
    assert_int_equal(cancel_check(&t), 0);
    t.deadline_ns = clock_ns() - 1;
    assert_int_equal(cancel_check(&t), 2);
    t.cancelled = 1;
    assert_int_equal(cancel_check(&t), 1);
}

static void test_memory_and_processor(void **state)
{
    (void)state;
    size_t n = 40 << 20;
    uint64_t before = mem_rss_bytes();
    uint8_t *p = big_alloc(n);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % 64, 0);
    memset(p, 1, n);
    assert_true(mem_rss_bytes() >= before + n / 2);
    assert_true(mem_rss_peak_bytes() >= mem_rss_bytes() / 2);
    big_free(p, n);
    assert_null(big_alloc(SIZE_MAX));
    assert_true(mem_available_bytes() > 0);
    cpu_force(CPU_PORTABLE);
    assert_false(cpu_get()->ifma || cpu_get()->sha_ni);
    cpu_force(CPU_ALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256_vectors),
        cmocka_unit_test(test_sha256_forms_agree),
        cmocka_unit_test(test_blake2b_vectors),
        cmocka_unit_test(test_chacha_vectors),
        cmocka_unit_test(test_encodings),
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_pool_memory_failures),
        cmocka_unit_test(test_file_writer),
        cmocka_unit_test(test_file_writer_of_two),
        cmocka_unit_test(test_file_place),
        cmocka_unit_test(test_clock_far_away),
        cmocka_unit_test(test_file_writer_full_disk),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_memory_and_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
