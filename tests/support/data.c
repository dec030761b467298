#include "support/data.h"
#include "base/encode.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h needs the four above */
#include <cmocka.h>

static uint8_t *read_all(FILE *f, size_t *size)
{
    size_t n = 0, room = 1 << 16;
    uint8_t *data = malloc(room);
    for (size_t got; data && (got = fread(data + n, 1, room - n - 1, f)) > 0;) {
        n += got;
        if (room - n < 2)
            data = realloc(data, room *= 2);
    }
    if (data)
        data[n] = 0;
    *size = n;
    return data;
}

uint8_t *test_data_in(const char *folder, const char *name, size_t *size)
{
    char path[1024], command[1100];
    size_t n = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int packed = access(path, R_OK) != 0;
    snprintf(command, sizeof command, "xz -dc '%s.xz'", path);
    FILE *f = packed ? popen(command, "r") : fopen(path, "rb");
    uint8_t *data = f ? read_all(f, &n) : NULL;
    int rc = !f ? -1 : packed ? pclose(f) : fclose(f);
    if (rc || !data)
        fail_msg("cannot read test data %s%s", path, packed ? ".xz" : "");
    if (size)
        *size = n;
    return data;
}

json_t *test_data_json_in(const char *folder, const char *name)
{
    size_t n = 0;
    json_error_t e;
    uint8_t *text = test_data_in(folder, name, &n);
    json_t *j = json_loadb((const char *)text, n, 0, &e);
    free(text);
    if (!j)
        fail_msg("%s: %s (line %d)", name, e.text, e.line);
    return j;
}

const char *test_json_string(const json_t *object, const char *member)
{
    const char *s = json_string_value(json_object_get(object, member));
    if (!s)
        fail_msg("no string \"%s\"", member);
    return s;
}

void test_json_hex(uint8_t *out, size_t n, const json_t *object, const char *member)
{
    const char *s = test_json_string(object, member);
    if (strlen(s) != 2 * n || hex_decode(out, n, s))
        fail_msg("\"%s\" is not %zu bytes in hexadecimal", member, n);
}

uint64_t test_json_int(const json_t *object, const char *member)
{
    const json_t *v = json_object_get(object, member);
    if (!json_is_integer(v))
        fail_msg("no number \"%s\"", member);
    return (uint64_t)json_integer_value(v);
}
