#include "cli/sectors.h"
#include "base/encode.h"
#include "base/file.h"
#include "base/mem.h"
#ifdef CUZK_HAVE_JANSSON
#include <jansson.h>

#define SECTORS_LIMIT ((size_t)64 << 20)

static cuzk_status read_sector(post_public_sector *s, const json_t *item, const char *path, size_t i,
                               cuzk_error *err)
{
    const json_t *id = json_object_get(item, "sector_id");
    const char *comm_r = json_string_value(json_object_get(item, "comm_r"));
    if (!json_is_integer(id) || json_integer_value(id) < 0)
        return cuzk_error_set(err, CUZK_BAD_INPUT, "%s: sector %zu has no sector_id", path, i);
    if (!comm_r || hex_decode(s->comm_r, 32, comm_r))
        return cuzk_error_set(err, CUZK_BAD_INPUT, "%s: comm_r of sector %zu must be 64 hexadecimal digits",
                              path, i);
    s->sector_id = (uint64_t)json_integer_value(id);
    return CUZK_OK;
}

cuzk_status sectors_read(const char *path, post_public_sector **out, size_t *count, cuzk_error *err)
{
    *out = NULL;
    *count = 0;
    uint8_t *data;
    size_t size;
    cuzk_status s = file_read(&data, &size, path, SECTORS_LIMIT, err);
    if (s)
        return s;
    json_error_t why;
    json_t *root = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, &why);
    mem_free(data);
    if (!root)
        return cuzk_error_set(err, CUZK_BAD_INPUT, "%s, line %d: %s", path, why.line, why.text);
    json_t *list = json_is_object(root) ? json_object_get(root, "sectors") : root;
    size_t n = json_array_size(list); /* 0 for anything that is no array */
    if (!n)
        s = cuzk_error_set(err, CUZK_BAD_INPUT, "%s holds no array of sectors", path);
    post_public_sector *sectors = s ? NULL : mem_calloc(n, sizeof(*sectors));
    if (!s && !sectors)
        s = mem_error(err, n * sizeof(*sectors), "sectors");
    for (size_t i = 0; i < n && !s; i++)
        s = read_sector(&sectors[i], json_array_get(list, i), path, i, err);
    json_decref(root);
    if (s) {
        mem_free(sectors);
        return s;
    }
    *out = sectors;
    *count = n;
    return CUZK_OK;
}
#else
cuzk_status sectors_read(const char *path, post_public_sector **out, size_t *count, cuzk_error *err)
{
    *out = NULL;
    *count = 0;
    return cuzk_error_set(err, CUZK_UNSUPPORTED, "%s cannot be read: this build is without libjansson", path);
}
#endif
