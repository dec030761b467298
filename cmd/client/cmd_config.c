/* cuzk config check, cuzk config example: the daemon's configuration. */
#include "base/mem.h"
#include "client/client.h"
#include "engine/config.h"
#include <stdio.h>

typedef struct check_report {
    json_out j;
    int json;
    unsigned errors, warnings;
} check_report;

static void take_finding(void *ctx, int is_error, const char *sentence)
{
    check_report *r = ctx;
    r->errors += is_error != 0;
    r->warnings += !is_error;
    if (!r->json) {
        printf("%s: %s\n", is_error ? "error" : "warning", sentence);
        return;
    }
    json_begin_object(&r->j, NULL);
    json_string(&r->j, "severity", is_error ? "error" : "warning");
    json_string(&r->j, "finding", sentence);
    json_end_object(&r->j);
}

static int run_check(const cli_args *a)
{
    cuzk_error e = {0};
    config c;
    check_report r = {.json = a->json};
    json_init(&r.j);
    json_begin_object(&r.j, NULL);
    json_string(&r.j, "file", a->positional[0]);
    json_begin_array(&r.j, "findings");
    config_defaults(&c);
    cuzk_status s = config_load(&c, a->positional[0], 1, take_finding, &r, &e);
    json_end_array(&r.j);
    json_bool(&r.j, "valid", !s);
    json_end_object(&r.j);
    if (s && !r.errors) { /* it could not be read at all */
        json_clear(&r.j);
        return cli_fail(a, &e);
    }
    int rc = s ? EXIT_NO : EXIT_DONE;
    if (a->json)
        return cli_print_json(&r.j, rc);
    json_clear(&r.j);
    printf("%s: %u errors, %u warnings\n", a->positional[0], r.errors, r.warnings);
    return rc;
}

const cli_command command_config_check = {
    .name = "config check",
    .positional = "FILE",
    .positional_min = 1,
    .positional_max = 1,
    .summary = "check a configuration of the daemon",
    .run = run_check,
};

static int run_example(const cli_args *a)
{
    char *text = config_example();
    cuzk_error e = {0};
    if (!text) {
        mem_error(&e, 32768, "the example");
        return cli_fail(a, &e);
    }
    fputs(text, stdout);
    mem_free(text);
    return EXIT_DONE;
}

const cli_command command_config_example = {
    .name = "config example",
    .positional = "",
    .summary = "print the annotated configuration with every default",
    .run = run_example,
};
