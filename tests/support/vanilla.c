#include "support/vanilla.h"
#include "base/mem.h"
#include "filecoin/bincode.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h needs the above */
#include <cmocka.h>

static int exists(const char *folder, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!access(path, R_OK))
        return 1;
    snprintf(path, sizeof path, "%s/%s.xz", folder, name);
    return !access(path, R_OK);
}

static void add(vanilla_case *c, const uint8_t *bytes, size_t size)
{
    c->proof = realloc(c->proof, (c->count + 1) * sizeof *c->proof);
    c->data = realloc(c->data, (c->count + 1) * sizeof *c->data);
    assert_true(c->proof && c->data);
    uint8_t *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    c->data[c->count] = copy;
    c->proof[c->count++] = (proof_bytes){copy, size};
}

void vanilla_open_in(vanilla_case *c, const char *folder, const char *name)
{
    char file[256];
    size_t size, n;
    memset(c, 0, sizeof *c);
    snprintf(file, sizeof file, "%s/golden.json", name);
    c->golden = test_data_json_in(folder, file);
    snprintf(file, sizeof file, "%s/vanilla-all.bin", name);
    if (exists(folder, file)) {
        proof_bytes *list = NULL;
        cuzk_error err;
        uint8_t *all = test_data_in(folder, file, &size);
        if (vanilla_split(&list, &n, all, size, &err) != CUZK_OK)
            fail_msg("%s: %s", file, err.message);
        for (size_t i = 0; i < n; i++)
            add(c, list[i].data, list[i].size);
        mem_free(list);
        free(all);
    }
    for (n = 0;; n++) {
        snprintf(file, sizeof file, "%s/vanilla-%zu.bin", name, n);
        if (!exists(folder, file))
            break;
        uint8_t *bytes = test_data_in(folder, file, &size);
        add(c, bytes, size);
        free(bytes);
    }
    assert_true(c->count > 0);
}

void vanilla_close(vanilla_case *c)
{
    json_decref(c->golden);
    for (size_t i = 0; i < c->count; i++)
        free(c->data[i]);
    free(c->data);
    free(c->proof);
}
