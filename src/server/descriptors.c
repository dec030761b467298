/* Walks the protobuf encoding of descriptors directly: four kinds of entry, all of them length-delimited
 * fields, so that no descriptor library is needed. The bytes are the build's own; a cut field still ends the
 * walk. */
#include "server/descriptors.h"
#include <string.h>

extern const unsigned char PROTO_DESCRIPTORS[];
extern const size_t PROTO_DESCRIPTORS_SIZE;

typedef struct span {
    const uint8_t *data;
    size_t size;
} span;

/* Field numbers of descriptor.proto. */
enum { SET_FILE = 1 };
enum { FILE_NAME = 1, FILE_PACKAGE = 2, FILE_MESSAGE = 4, FILE_ENUM = 5, FILE_SERVICE = 6 };
enum { ANY_NAME = 1 };
enum { MESSAGE_FIELD = 2, MESSAGE_NESTED = 3, MESSAGE_ENUM = 4, MESSAGE_ONEOF = 8 };
enum { ENUM_VALUE = 2, SERVICE_METHOD = 2 };

static int read_varint(span s, size_t *at, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; *at < s.size && shift < 64; shift += 7) {
        uint8_t b = s.data[(*at)++];
        *out |= (uint64_t)(b & 127) << shift;
        if (!(b & 128))
            return 1;
    }
    return 0;
}

/* The next length-delimited field with this number. */
static int next_field(span s, size_t *at, uint64_t number, span *out)
{
    while (*at < s.size) {
        uint64_t key, n;
        if (!read_varint(s, at, &key))
            return 0;
        switch (key & 7) {
        case 0:
            if (!read_varint(s, at, &n))
                return 0;
            continue;
        case 1:
            n = 8;
            break;
        case 2:
            if (!read_varint(s, at, &n))
                return 0;
            break;
        case 5:
            n = 4;
            break;
        default:
            return 0;
        }
        if (n > s.size - *at)
            return 0;
        *out = (span){s.data + *at, (size_t)n};
        *at += (size_t)n;
        if ((key & 7) == 2 && key >> 3 == number)
            return 1;
    }
    return 0;
}

static span first_field(span s, uint64_t number)
{
    size_t at = 0;
    span out = {NULL, 0};
    if (!next_field(s, &at, number, &out))
        return (span){NULL, 0};
    return out;
}

int descriptor_next_file(descriptor_file *out, size_t *at)
{
    span file, all = {PROTO_DESCRIPTORS, PROTO_DESCRIPTORS_SIZE};
    if (!next_field(all, at, SET_FILE, &file))
        return 0;
    span name = first_field(file, FILE_NAME), package = first_field(file, FILE_PACKAGE);
    *out = (descriptor_file){file.data, file.size,   (const char *)name.data, (const char *)package.data,
                             name.size, package.size};
    return 1;
}

int descriptor_find_file(descriptor_file *out, const char *name)
{
    for (size_t at = 0; descriptor_next_file(out, &at);)
        if (out->name_size == strlen(name) && !memcmp(out->name, name, out->name_size))
            return 1;
    return 0;
}

int descriptor_next_service(const descriptor_file *f, size_t *at, const char **name, size_t *name_size)
{
    span service, file = {f->data, f->size};
    if (!next_field(file, at, FILE_SERVICE, &service))
        return 0;
    span n = first_field(service, ANY_NAME);
    *name = (const char *)n.data;
    *name_size = n.size;
    return 1;
}

/* What is left of symbol after the name of entry: "" at its end, the rest after a dot, NULL where it differs.
 */
static const char *after_name(span entry, const char *symbol)
{
    span name = first_field(entry, ANY_NAME);
    if (!name.size || strncmp(symbol, (const char *)name.data, name.size) != 0)
        return NULL;
    const char *rest = symbol + name.size;
    return !*rest ? rest : *rest == '.' ? rest + 1 : NULL;
}

/* Is symbol, relative to s, an entry of this field, or exactly one inside it? */
static int has_leaf(span s, uint64_t number, const char *symbol)
{
    span entry;
    for (size_t at = 0; next_field(s, &at, number, &entry);) {
        const char *rest = after_name(entry, symbol);
        if (rest && !*rest)
            return 1;
    }
    return 0;
}

/* A container (service, enumeration) or one of its members. */
static int has_member(span s, uint64_t number, uint64_t member, const char *symbol)
{
    span entry;
    for (size_t at = 0; next_field(s, &at, number, &entry);) {
        const char *rest = after_name(entry, symbol);
        if (rest && (!*rest || has_leaf(entry, member, rest)))
            return 1;
    }
    return 0;
}

static int has_message(span s, uint64_t number, const char *symbol, int messages_only)
{
    span entry;
    for (size_t at = 0; next_field(s, &at, number, &entry);) {
        const char *rest = after_name(entry, symbol);
        if (!rest)
            continue;
        if (!*rest || has_message(entry, MESSAGE_NESTED, rest, messages_only))
            return 1;
        if (!messages_only && (has_leaf(entry, MESSAGE_FIELD, rest) || has_leaf(entry, MESSAGE_ONEOF, rest) ||
                               has_member(entry, MESSAGE_ENUM, ENUM_VALUE, rest)))
            return 1;
    }
    return 0;
}

static int find(descriptor_file *out, const char *symbol, int messages_only)
{
    symbol += *symbol == '.';
    for (size_t at = 0; descriptor_next_file(out, &at);) {
        size_t n = out->package_size;
        if (strncmp(symbol, out->package, n) != 0 || symbol[n] != '.')
            continue;
        span file = {out->data, out->size};
        const char *rest = symbol + n + 1;
        if (has_message(file, FILE_MESSAGE, rest, messages_only))
            return 1;
        if (!messages_only && (has_member(file, FILE_SERVICE, SERVICE_METHOD, rest) ||
                               has_member(file, FILE_ENUM, ENUM_VALUE, rest)))
            return 1;
    }
    return 0;
}

int descriptor_find_symbol(descriptor_file *out, const char *symbol)
{
    return find(out, symbol, 0);
}

int descriptor_find_message(descriptor_file *out, const char *symbol)
{
    return find(out, symbol, 1);
}
