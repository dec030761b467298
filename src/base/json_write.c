#include "base/json_write.h"
#include "base/encode.h"
#include "base/mem.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

void json_init(json_out *j)
{
    memset(j, 0, sizeof(*j));
}

void json_clear(json_out *j)
{
    mem_free(j->text);
    json_init(j);
}

static void append(json_out *j, const char *text, size_t n)
{
    if (j->failed)
        return;
    if (j->used + n + 1 > j->cap) {
        size_t cap = j->cap ? j->cap * 2 : 1024;
        while (cap < j->used + n + 1)
            cap *= 2;
        char *larger = mem_realloc(j->text, cap);
        if (!larger) {
            json_clear(j);
            j->failed = 1;
            return;
        }
        j->text = larger;
        j->cap = cap;
    }
    memcpy(j->text + j->used, text, n);
    j->used += n;
    j->text[j->used] = 0;
}

static void append_quoted(json_out *j, const char *s)
{
    append(j, "\"", 1);
    for (size_t n; *s; s += n ? n : 1) {
        unsigned char c = (unsigned char)*s;
        char escape[8];
        n = utf8_length(s);
        if (n > 1 || !n) {
            append(j, n ? s : "\xef\xbf\xbd", n ? n : 3);
            continue;
        }
        if (c == '"' || c == '\\')
            snprintf(escape, sizeof(escape), "\\%c", c);
        else if (c < 0x20)
            snprintf(escape, sizeof(escape), "\\u%04x", c);
        else
            snprintf(escape, sizeof(escape), "%c", c);
        append(j, escape, strlen(escape));
    }
    append(j, "\"", 1);
}

static void start_value(json_out *j, const char *key)
{
    if (j->comma)
        append(j, ",", 1);
    if (key) {
        append_quoted(j, key);
        append(j, ":", 1);
    }
    j->comma = 1;
}

static void open_nest(json_out *j, const char *key, const char *mark)
{
    start_value(j, key);
    append(j, mark, 1);
    j->comma = 0;
    j->depth++;
}

static void close_nest(json_out *j, const char *mark)
{
    append(j, mark, 1);
    j->comma = 1;
    j->depth--;
}

void json_begin_object(json_out *j, const char *key)
{
    open_nest(j, key, "{");
}
void json_end_object(json_out *j)
{
    close_nest(j, "}");
}
void json_begin_array(json_out *j, const char *key)
{
    open_nest(j, key, "[");
}
void json_end_array(json_out *j)
{
    close_nest(j, "]");
}

void json_string(json_out *j, const char *key, const char *value)
{
    start_value(j, key);
    if (value)
        append_quoted(j, value);
    else
        append(j, "null", 4);
}

void json_hex(json_out *j, const char *key, const void *data, size_t n)
{
    start_value(j, key);
    append(j, "\"", 1);
    const uint8_t *d = data;
    for (size_t i = 0; i < n; i++) {
        char two[3];
        hex_encode(two, d + i, 1);
        append(j, two, 2);
    }
    append(j, "\"", 1);
}

void json_raw(json_out *j, const char *key, const char *json)
{
    start_value(j, key);
    append(j, json, strlen(json));
}

void json_u64(json_out *j, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    json_raw(j, key, text);
}

void json_i64(json_out *j, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof(text), "%lld", (long long)value);
    json_raw(j, key, text);
}

void json_double(json_out *j, const char *key, double value, int digits)
{
    char text[64];
    if (isfinite(value))
        snprintf(text, sizeof(text), "%.*f", digits, value);
    else
        snprintf(text, sizeof(text), "null");
    json_raw(j, key, text);
}

void json_bool(json_out *j, const char *key, int value)
{
    json_raw(j, key, value ? "true" : "false");
}
