/* Configuration: one table of options, from which parsing, checking, help and the example file follow. Keys
 * and meaning are stated in docs/configuration.md, which is made from this table. */
#ifndef ENGINE_CONFIG_H
#define ENGINE_CONFIG_H
#include "cuzk/status.h"
#include <stddef.h>
#include <stdint.h>

typedef enum option_kind {
    OPTION_STRING,
    OPTION_BOOL,
    OPTION_U64,
    OPTION_BYTES,
    OPTION_DURATION,
    OPTION_LIST,
    OPTION_CHOICE
} option_kind;
typedef enum option_flags {
    OPTION_RELOAD = 1,  /* takes effect on SIGHUP */
    OPTION_IGNORED = 2, /* accepted with a warning: upstream has it, this engine has no use for it */
    OPTION_SECRET = 4   /* value is not printed */
} option_flags;

#define CONFIG_MAX_DEVICES 64
typedef struct config {
    struct {
        char listen[256], status_listen[256];
        uint64_t drain_ms;
    } daemon;
    struct {
        char param_cache[1024], circuit_cache[1024];
        int allow_test;
        int check_digests;
    } srs;
    struct {
        uint64_t total_budget; /* bytes; 0: auto */
        uint64_t safety_margin, eviction_min_idle_ms;
    } memory;
    struct {
        uint64_t device[CONFIG_MAX_DEVICES];
        size_t device_count; /* 0: all */
        uint64_t threads, workers_per_device;
        char backend[16], b_g2[16];
        uint64_t vram_limit, quarantine_ms;
    } gpus;
    struct {
        uint64_t max_batch_size, max_batch_wait_ms;
        int sort_by_type;
        uint64_t max_queued, aging_ms;
        char order[16]; /* "jobs", "partitions" */
    } scheduler;
    struct {
        uint64_t threads, partition_workers;
    } synthesis;
    struct {
        int enabled;
        uint64_t synthesis_lookahead, synthesis_concurrency;
        int split_finish, serial_free;
        uint64_t memory_throttle;
    } pipeline;
    struct {
        char url[1024];
        uint64_t retention_ms, retention_count, lease_ms;
    } store;
    struct {
        char cert[1024], key[1024], client_ca[1024];
    } tls;
    struct {
        char token_file[1024];
    } auth;
    struct {
        char level[16], format[16];
    } logging;
} config;

typedef struct config_option {
    const char *table, *name; /* "srs", "param_cache" */
    option_kind kind;
    size_t offset;        /* of the field in config; SIZE_MAX for ignored ones */
    size_t size;          /* strings: of the buffer */
    const char *fallback; /* the default, as it stands in the file */
    uint64_t min, max;
    const char *choices; /* "auto cpu cuda" */
    unsigned flags;
    const char *help;
} config_option;
size_t config_option_count(void);
const config_option *config_option_at(size_t i);

void config_defaults(config *c);
/* One finding: a warning or an error, as a sentence that names table.key. */
typedef void config_report_fn(void *ctx, int is_error, const char *sentence);
/* Sets one option from text ("5m", "256GiB", "true", "[0, 1]" as comma list); CUZK_BAD_INPUT names the
 * option. */
cuzk_status config_set(config *c, const char *table, const char *name, const char *value,
                       cuzk_error *err) CUZK_MUST_CHECK;
/* Reads a TOML file over the defaults. Unknown keys are reported as warnings that name the nearest known one
 * (errors if strict); out-of-range values are errors. The status is CUZK_OK unless an error was reported. */
cuzk_status config_load(config *c, const char *path, int strict, config_report_fn *report, void *ctx,
                        cuzk_error *err) CUZK_MUST_CHECK;
/* The annotated example file, from the table; freed by mem_free. */
char *config_example(void);
#endif
