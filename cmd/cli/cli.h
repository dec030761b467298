/* What the commands of the shell tool share: options, output, exit status, progress. */
#ifndef CLI_CLI_H
#define CLI_CLI_H
#include "base/file.h"
#include "base/json_write.h"
#include "base/pool.h"
#include "cuzk/status.h"
#include <stddef.h>
#include <stdint.h>

/* Exit status: 0 done or valid; 1 the answer is no; 2 unusable input or usage; 3 a resource or device failed.
 */
enum { EXIT_DONE = 0, EXIT_NO = 1, EXIT_USAGE = 2, EXIT_RESOURCE = 3 };

typedef enum option_type { OPT_FLAG, OPT_TEXT, OPT_U64, OPT_LIST } option_type;
/* One row: parsing, validation and help follow from it. */
typedef struct cli_option {
    const char *name; /* "--c1" */
    option_type type;
    const char *value; /* "FILE" in help; NULL for flags */
    const char *help;
    int required;
} cli_option;
#define CLI_MAX_OPTIONS 40
#define CLI_MAX_LIST    4096

typedef struct cli_args {
    const struct cli_command *command;
    const char *program;
    const char *positional[8];
    size_t positional_count;
    const char *text[CLI_MAX_OPTIONS];
    uint64_t number[CLI_MAX_OPTIONS];
    int given[CLI_MAX_OPTIONS];
    const char **list[CLI_MAX_OPTIONS]; /* OPT_LIST: takes every argument up to the next option */
    size_t list_count[CLI_MAX_OPTIONS];
    int json;
} cli_args;

typedef struct cli_command {
    const char *name;       /* "prove porep", "setup" */
    const char *positional; /* "CIRCUIT" or "" */
    size_t positional_min, positional_max;
    const char *summary;
    const cli_option *options;
    size_t option_count;
    int (*run)(const cli_args *a);
    const char *details; /* more help, or NULL */
} cli_command;

/* Lookups by option name; an option that the command does not have is a bug (assert). */
const char *cli_text(const cli_args *a, const char *name); /* NULL if not given */
const char *cli_text_or(const cli_args *a, const char *name, const char *otherwise);
int cli_flag(const cli_args *a, const char *name);
int cli_given(const cli_args *a, const char *name);
uint64_t cli_u64(const cli_args *a, const char *name, uint64_t otherwise);
const char *const *cli_list(const cli_args *a, const char *name, size_t *count);

/* Parses and runs; prints usage errors. */
int cli_main(int argc, char **argv, const cli_command *const *commands, size_t count);

/* Prints "cuzk: message" (or {"error":...} with --json) and returns the exit status that belongs to the
 * error. */
int cli_fail(const cli_args *a, const cuzk_error *e);
int cli_usage_error(const cli_args *a, const char *format, ...) CUZK_PRINTF(2, 3);
int cli_exit_status(cuzk_status s);
/* Prints the document and a newline to stdout, frees it. */
int cli_print_json(json_out *j, int exit_status);

/* Progress on stderr, only where that is a terminal and only after two seconds. */
typedef struct cli_progress {
    const char *what;
    uint64_t start_ns, shown_ns;
    int enabled, shown;
} cli_progress;
void cli_progress_begin(cli_progress *p, const char *what);
void cli_progress_update(void *p, uint64_t done, uint64_t total); /* a progress_fn */
void cli_progress_end(cli_progress *p);
#endif
