/* The circuits as circom .r1cs files, byte for byte those that the public Rust crates give (by SHA-256:
 * unpacked they take up to 564 MiB). */
#include "api/circuits.h"
#include "base/encode.h"
#include "base/file.h"
#include "base/hash.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void expect_file(const char *circuit, const char *expected)
{
    const circuit_info *info = circuit_by_name(circuit);
    poseidon_set *ps;
    r1cs *r;
    file_map m;
    sha256 hash;
    uint8_t digest[32];
    char path[64], hex[65];
    cuzk_error err;
    assert_non_null(info);
    snprintf(path, sizeof(path), "/tmp/cuzk-test-published-%d.r1cs", (int)getpid());
    if (poseidon_set_create(&ps, &err) != CUZK_OK || circuit_compile(&r, info, ps, &err) != CUZK_OK ||
        r1cs_write_circom(r, path, &err) != CUZK_OK || file_map_open(&m, path, &err) != CUZK_OK) {
        unlink(path);
        fail_msg("%s: %s", circuit, err.message);
    }
    unlink(path);
    sha256_init(&hash);
    sha256_update(&hash, m.data, m.size);
    sha256_final(&hash, digest);
    hex_encode(hex, digest, sizeof(digest));
    file_map_close(&m);
    r1cs_destroy(r);
    poseidon_set_destroy(ps);
    assert_string_equal(hex, expected);
}

static void test_post(void **state)
{
    (void)state;
    expect_file("window-2k", "e9cdb931693a28a34cef500603c03248795dc3cb5b71c5bafa75f94143804efa");
    expect_file("winning-2k", "1861e397896892baa5acc57d59078ab7ccfc118123f0c0c1f5699eab3435fcd4");
}

static void test_large(void **state)
{
    (void)state;
    const char *on = getenv("CUZK_TEST_LARGE");
    if (!on || !*on || !strcmp(on, "0")) {
        print_message(
            "set CUZK_TEST_LARGE=1 to write and compare the files of porep-2k and update-2k (1 GB)\n");
        skip();
    }
    expect_file("update-2k", "8b27200fa622712c95cb7f584507ac845590f1ee7b717cf96caf4f4a267c1a0c");
    expect_file("porep-2k", "1b9aa09c9bfc85347dd42815ed9cf3b653fa10f70bd407f8344734edebd02cf8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_post), cmocka_unit_test(test_large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
