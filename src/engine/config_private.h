#ifndef ENGINE_CONFIG_PRIVATE_H
#define ENGINE_CONFIG_PRIVATE_H
#include "engine/config.h"

#ifdef __cplusplus
extern "C" {
#endif
extern const config_option CONFIG_OPTIONS[];
extern const size_t CONFIG_OPTION_COUNT;

/* toml_shim.cpp: calls value for every key of the file with its text form (lists as comma-separated text).
 * Returns 0, or -1 with a message. */
int toml_read(const char *path,
              void (*value)(void *ctx, const char *table, const char *key, const char *text, int line),
              void *ctx, char *message, size_t message_size);
#ifdef __cplusplus
}
#endif
#endif
