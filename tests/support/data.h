/* Files under tests/data, unpacked where they are stored as NAME.xz. */
#ifndef TESTS_SUPPORT_DATA_H
#define TESTS_SUPPORT_DATA_H
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* The content of tests/data/NAME, or of NAME.xz unpacked; a 0 byte follows it. Fails the test if there is
 * none. Free with free(). */
uint8_t *test_data_in(const char *folder, const char *name, size_t *size);
#define test_data(name, size) test_data_in(CUZK_TEST_DATA, name, size)
/* The same parsed as JSON; json_decref. */
json_t *test_data_json_in(const char *folder, const char *name);
#define test_data_json(name) test_data_json_in(CUZK_TEST_DATA, name)
/* Reads bytes in hexadecimal from a member; fails the test if it is absent or of another length. */
void test_json_hex(uint8_t *out, size_t n, const json_t *object, const char *member);
uint64_t test_json_int(const json_t *object, const char *member);
const char *test_json_string(const json_t *object, const char *member);
#endif
