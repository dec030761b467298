/* Look-ups in the tables of what Filecoin registers. */
#include "filecoin/registry_tables.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const circuit_info *circuit_by_name(const char *name)
{
    if (!name)
        return NULL;
    for (size_t i = 0; i < circuit_table_count; i++)
        if (!strcmp(name, circuit_table[i].name) || !strcmp(name, circuit_table[i].wire_name))
            return &circuit_table[i];
    return NULL;
}

const circuit_info *circuit_find(circuit_kind kind, uint64_t sector_size)
{
    for (size_t i = 0; i < circuit_table_count; i++)
        if (circuit_table[i].kind == kind && circuit_table[i].sector_size == sector_size)
            return &circuit_table[i];
    return NULL;
}

const circuit_info *circuit_by_file(const char *base_name)
{
    if (!base_name)
        return NULL;
    if (!strncmp(base_name, "TEST-", 5))
        base_name += 5;
    for (size_t i = 0; i < circuit_table_count; i++) {
        size_t n = strlen(circuit_table[i].file);
        if (strncmp(base_name, circuit_table[i].file, n))
            continue;
        if (!strcmp(base_name + n, ".params") || !strcmp(base_name + n, ".vk") || !base_name[n])
            return &circuit_table[i];
    }
    return NULL;
}

size_t circuit_count(void)
{
    return circuit_table_count;
}

const circuit_info *circuit_at(size_t i)
{
    return i < circuit_table_count ? &circuit_table[i] : NULL;
}

const published_file *published_file_find(const char *name)
{
    for (size_t i = 0; name && i < published_table_count; i++)
        if (!strcmp(name, published_table[i].name))
            return &published_table[i];
    return NULL;
}

const published_file *published_file_by_digest(const uint8_t digest[16])
{
    for (size_t i = 0; i < published_table_count; i++)
        if (!memcmp(digest, published_table[i].digest, 16))
            return &published_table[i];
    return NULL;
}

/* Numbers on the wire are the positions in the tables; a test holds them to it. */
const registered_seal *seal_by_number(uint64_t number)
{
    return number < seal_table_count ? &seal_table[number] : NULL;
}

const registered_seal *seal_by_name(const char *name)
{
    for (size_t i = 0; name && i < seal_table_count; i++)
        if (!strcmp(name, seal_table[i].name))
            return &seal_table[i];
    return NULL;
}

const registered_seal *seal_find(uint64_t sector_size, porep_version version)
{
    for (size_t i = 0; i < seal_table_count; i++)
        if (seal_table[i].sector_size == sector_size && seal_table[i].version == version)
            return &seal_table[i];
    return NULL;
}

const registered_post *post_by_number(uint64_t number)
{
    return number < post_table_count ? &post_table[number] : NULL;
}

const registered_post *post_by_name(const char *name)
{
    for (size_t i = 0; name && i < post_table_count; i++)
        if (!strcmp(name, post_table[i].name))
            return &post_table[i];
    return NULL;
}

const registered_update *update_by_number(uint64_t number)
{
    return number < update_table_count ? &update_table[number] : NULL;
}

const registered_update *update_by_name(const char *name)
{
    for (size_t i = 0; name && i < update_table_count; i++)
        if (!strcmp(name, update_table[i].name))
            return &update_table[i];
    return NULL;
}

static const struct {
    uint64_t bytes;
    const char *name;
} SIZES[] = {
    {1ull << 11, "2KiB"}, {1ull << 12, "4KiB"},   {1ull << 14, "16KiB"}, {1ull << 15, "32KiB"},
    {1ull << 23, "8MiB"}, {1ull << 29, "512MiB"}, {1ull << 35, "32GiB"}, {1ull << 36, "64GiB"},
};
#define SIZE_COUNT (sizeof SIZES / sizeof SIZES[0])

const char *sector_size_name(uint64_t bytes)
{
    for (size_t i = 0; i < SIZE_COUNT; i++)
        if (SIZES[i].bytes == bytes)
            return SIZES[i].name;
    return "unknown size";
}

uint64_t sector_size_parse(const char *text)
{
    if (!text || !isdigit((unsigned char)text[0]))
        return 0;
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    unsigned shift = 0;
    switch (tolower((unsigned char)*end)) {
    case 'k':
        shift = 10;
        break;
    case 'm':
        shift = 20;
        break;
    case 'g':
        shift = 30;
        break;
    case '\0':
        break;
    default:
        return 0;
    }
    if (shift && end[1] && strcasecmp(end + 1, "iB"))
        return 0;
    if (n > UINT64_MAX >> shift)
        return 0;
    for (size_t i = 0; i < SIZE_COUNT; i++)
        if (SIZES[i].bytes == (uint64_t)n << shift)
            return SIZES[i].bytes;
    return 0;
}
