/* Loading plug-ins: what is missing, what is none, what speaks another version, what cannot run. The plug-ins
 * are compiled by the test itself from a few lines each. */
#include "cuzk/backend.h"
#include "support/ref_groth16.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* Compiles source into a shared object; its path, or NULL where there is no compiler. */
static const char *plugin(const char *name, const char *source)
{
    char c_path[512], command[2048];
    static char so_path[512];
    snprintf(c_path, sizeof(c_path), "%s", test_path("plugin.c"));
    snprintf(so_path, sizeof(so_path), "%s", test_path(name));
    assert_int_equal(file_save(c_path, source, strlen(source), NULL), CUZK_OK);
    snprintf(command, sizeof(command), "cc -shared -fPIC -I'%s/../../include' -o '%s' '%s' 2>&1",
             CUZK_TEST_DATA, so_path, c_path);
    return system(command) == 0 ? so_path : NULL;
}

static void refused(const char *path, cuzk_status status, const char *word)
{
    const cuzk_backend *b = (const cuzk_backend *)1;
    cuzk_error err = {0};
    cuzk_status s = cuzk_backend_load(&b, path, &err);
    if (s != status || !strstr(err.message, word))
        fail_msg("%s: %s: \"%s\" does not say \"%s\"", path ? path : "(default)", cuzk_status_name(s),
                 err.message, word);
    assert_null(b);
}

static void test_missing(void **state)
{
    (void)state;
    refused("/nonexistent/libcuzk-cuda.so", CUZK_NOT_FOUND, "/nonexistent/libcuzk-cuda.so");
    const char *text = test_path("text.so");
    assert_int_equal(file_save(text, "no library\n", 11, NULL), CUZK_OK);
    refused(text, CUZK_UNSUPPORTED, "cannot load");
    assert_int_equal(file_save(text, "", 0, NULL), CUZK_OK);
    refused(text, CUZK_UNSUPPORTED, "cannot load");
    refused("/", CUZK_UNSUPPORTED, "cannot load");
}

static void test_no_symbol(void **state)
{
    (void)state;
    const char *so = plugin("nosymbol.so", "int other(void) { return 1; }\n");
    if (!so)
        skip();
    refused(so, CUZK_UNSUPPORTED, CUZK_BACKEND_SYMBOL);
}

#define ENTRY(body)                                                                                          \
    "#include \"cuzk/backend.h\"\n"                                                                          \
    "static cuzk_backend b = {CUZK_BACKEND_ABI, sizeof(b), \"sham\"};\n"                                     \
    "__attribute__((visibility(\"default\"))) const cuzk_backend *cuzk_backend_entry(cuzk_error *err)\n"     \
    "{ (void)err; " body " }\n"

static void test_wrong_abi(void **state)
{
    (void)state;
    const char *so = plugin("abi.so", ENTRY("b.abi = CUZK_BACKEND_ABI + 1; return &b;"));
    if (!so)
        skip();
    refused(so, CUZK_UNSUPPORTED, "version 2 of the back-end interface");
    so = plugin("size.so", ENTRY("b.size -= 8; return &b;"));
    refused(so, CUZK_UNSUPPORTED, "bytes where");
    so = plugin("empty.so", ENTRY("return &b;"));
    refused(so, CUZK_UNSUPPORTED, "leaves out a function");
}

static void test_cannot_run(void **state)
{
    (void)state;
    const char *so =
        plugin("norun.so", ENTRY("err->status = CUZK_UNSUPPORTED; err->message[0] = 'Z'; err->message[1] = "
                                 "0; return 0;"));
    if (!so)
        skip();
    refused(so, CUZK_UNSUPPORTED, "cannot run here: Z");
    so = plugin("mute.so", ENTRY("return 0;"));
    refused(so, CUZK_UNSUPPORTED, "gave no reason");
}

static cuzk_status load_again(const char *so, const cuzk_backend **b)
{
    cuzk_error err = {0};
    return cuzk_backend_load(b, so, &err);
}

static void test_loads(void **state)
{
    (void)state;
    const char *so = plugin(
        "good.so",
        ENTRY(
            "b.device_count = (void *)1; b.device_describe = (void *)1; b.device_open = (void *)1; "
            "b.device_close "
            "= (void *)1; b.device_memory = (void *)1; b.key_load = (void *)1; b.key_unload = (void *)1; "
            "b.key_bytes = (void *)1; b.prove_start = (void *)1; b.prove_finish = (void *)1; b.prove_batch = "
            "(void *)1; return &b;"));
    if (!so)
        skip();
    const cuzk_backend *one, *two;
    assert_int_equal(load_again(so, &one), CUZK_OK);
    assert_string_equal(one->name, "sham");
    assert_int_equal(load_again(so, &two), CUZK_OK);
    assert_ptr_equal(one, two);
    /* A bare name is a file in the working folder, not one on the loader's path. */
    char folder[512], *slash;
    snprintf(folder, sizeof(folder), "%s", so);
    slash = strrchr(folder, '/');
    *slash = 0;
    char *before = getcwd(NULL, 0);
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(load_again("good.so", &two), CUZK_OK);
    assert_int_equal(chdir(before), 0);
    free(before);
    assert_string_equal(two->name, "sham");
    refused("libm.so.6", CUZK_NOT_FOUND, "libm.so.6");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing),    cmocka_unit_test(test_no_symbol), cmocka_unit_test(test_wrong_abi),
        cmocka_unit_test(test_cannot_run), cmocka_unit_test(test_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
