/* Writes one JSON document into a growing buffer: commas, quoting and nesting are taken care of. For programs
 * that read what cuzk prints; documents from outside are read with libyajl or jansson. */
#ifndef BASE_JSON_WRITE_H
#define BASE_JSON_WRITE_H
#include <stddef.h>
#include <stdint.h>

typedef struct json_out {
    char *text; /* NUL-terminated; NULL after a memory failure */
    size_t used, cap;
    int failed, comma, depth;
} json_out;
void json_init(json_out *j);
void json_clear(json_out *j);
/* key NULL inside arrays and at the top. */
void json_begin_object(json_out *j, const char *key);
void json_end_object(json_out *j);
void json_begin_array(json_out *j, const char *key);
void json_end_array(json_out *j);
/* jansson exports a json_string of its own; a link with both must not mix them up. */
#define json_string json_out_string
void json_string(json_out *j, const char *key, const char *value); /* NULL value: null */
void json_hex(json_out *j, const char *key, const void *data, size_t n);
void json_u64(json_out *j, const char *key, uint64_t value);
void json_i64(json_out *j, const char *key, int64_t value);
void json_double(json_out *j, const char *key, double value, int digits);
void json_bool(json_out *j, const char *key, int value);
void json_raw(json_out *j, const char *key, const char *json); /* a complete document */
#endif
