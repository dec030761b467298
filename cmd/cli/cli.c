#include "cli/cli.h"
#include "base/clock.h"
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t find_option(const cli_command *c, const char *name)
{
    for (size_t i = 0; i < c->option_count; i++)
        if (!strcmp(c->options[i].name, name))
            return i;
    return SIZE_MAX;
}

static size_t own_option(const cli_args *a, const char *name)
{
    size_t i = find_option(a->command, name);
    assert(i != SIZE_MAX && "the command has no such option");
    return i;
}

const char *cli_text(const cli_args *a, const char *name)
{
    return a->text[own_option(a, name)];
}
const char *cli_text_or(const cli_args *a, const char *name, const char *otherwise)
{
    const char *t = cli_text(a, name);
    return t ? t : otherwise;
}
int cli_flag(const cli_args *a, const char *name)
{
    return a->given[own_option(a, name)];
}
int cli_given(const cli_args *a, const char *name)
{
    return a->given[own_option(a, name)];
}
uint64_t cli_u64(const cli_args *a, const char *name, uint64_t otherwise)
{
    size_t i = own_option(a, name);
    return a->given[i] ? a->number[i] : otherwise;
}
const char *const *cli_list(const cli_args *a, const char *name, size_t *count)
{
    size_t i = own_option(a, name);
    *count = a->list_count[i];
    return a->list[i];
}

int cli_exit_status(cuzk_status s)
{
    switch (s) {
    case CUZK_OK:
        return EXIT_DONE;
    case CUZK_INCONSISTENT:
    case CUZK_UNSATISFIED:
    case CUZK_INVALID_PROOF:
        return EXIT_NO;
    case CUZK_OUT_OF_MEMORY:
    case CUZK_IO_ERROR:
    case CUZK_DEVICE_ERROR:
    case CUZK_BUSY:
    case CUZK_CANCELLED:
    case CUZK_DEADLINE:
        return EXIT_RESOURCE;
    case CUZK_INVALID_ARGUMENT:
    case CUZK_BAD_INPUT:
    case CUZK_NOT_FOUND:
    case CUZK_UNSUPPORTED:
        break;
    }
    return EXIT_USAGE;
}

static int print_error(const cli_args *a, const char *status, const char *message, int code)
{
    if (a->json) {
        json_out j;
        json_init(&j);
        json_begin_object(&j, NULL);
        json_string(&j, "status", status);
        json_string(&j, "error", message);
        json_end_object(&j);
        return cli_print_json(&j, code);
    }
    fprintf(stderr, "%s: %s\n", a->program ? a->program : "cuzk", message);
    return code;
}

int cli_fail(const cli_args *a, const cuzk_error *e)
{
    return print_error(a, cuzk_status_name(e->status), e->message, cli_exit_status(e->status));
}

int cli_usage_error(const cli_args *a, const char *format, ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    return print_error(a, "usage", message, EXIT_USAGE);
}

int cli_print_json(json_out *j, int exit_status)
{
    if (j->failed) {
        fprintf(stderr, "cuzk: out of memory while printing\n");
        exit_status = EXIT_RESOURCE;
    } else if (puts(j->text) == EOF || fflush(stdout) == EOF) {
        fprintf(stderr, "cuzk: cannot write to standard output: %s\n", strerror(errno));
        exit_status = EXIT_RESOURCE;
    }
    json_clear(j);
    return exit_status;
}

/* ---- parsing ---- */

static int parse_u64(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    if (*text < '0' || *text > '9')
        return -1;
    unsigned long long v = strtoull(text, &end, 10); /* 010 is ten, as in every file of numbers */
    if (errno || *end || end == text)
        return -1;
    *out = v;
    return 0;
}

static int add_to_list(cli_args *a, size_t option, const char *value)
{
    if (a->list_count[option] >= CLI_MAX_LIST)
        return cli_usage_error(a, "%s takes at most %d values", a->command->options[option].name,
                               CLI_MAX_LIST);
    const char **larger = realloc(a->list[option], (a->list_count[option] + 1) * sizeof(char *));
    if (!larger)
        return cli_usage_error(a, "out of memory");
    a->list[option] = larger;
    larger[a->list_count[option]++] = value;
    return 0;
}

/* Takes argv[*at] (an option) and its value; *at ends on the last argument used. */
static int take_option(cli_args *a, int argc, char **argv, int *at)
{
    char name[64];
    const char *word = argv[*at], *value = NULL, *equals = strchr(word, '=');
    if (equals) {
        if ((size_t)(equals - word) >= sizeof(name))
            return cli_usage_error(a, "unknown option %.80s", word);
        memcpy(name, word, (size_t)(equals - word));
        name[equals - word] = 0;
        word = name;
        value = equals + 1;
    }
    size_t i = find_option(a->command, word);
    if (i == SIZE_MAX)
        return cli_usage_error(a, "unknown option %s; see cuzk %s --help", word, a->command->name);
    const cli_option *o = &a->command->options[i];
    a->given[i] = 1;
    if (o->type == OPT_FLAG)
        return value ? cli_usage_error(a, "%s takes no value", o->name) : 0;
    if (o->type == OPT_LIST) {
        if (value)
            return add_to_list(a, i, value);
        while (*at + 1 < argc && strncmp(argv[*at + 1], "--", 2) != 0) {
            int rc = add_to_list(a, i, argv[++*at]);
            if (rc)
                return rc;
        }
        return a->list_count[i] ? 0 : cli_usage_error(a, "%s needs at least one %s", o->name, o->value);
    }
    if (!value) {
        if (*at + 1 >= argc)
            return cli_usage_error(a, "%s needs a value (%s)", o->name, o->value);
        value = argv[++*at];
    }
    a->text[i] = value;
    if (o->type == OPT_U64 && parse_u64(value, &a->number[i]))
        return cli_usage_error(a, "%s takes a whole number, not \"%.80s\"", o->name, value);
    return 0;
}

static void print_help(const char *program, const cli_command *c)
{
    printf("usage: %s %s%s%s [options]\n\n%s\n\n", program, c->name, *c->positional ? " " : "", c->positional,
           c->summary);
    for (size_t i = 0; i < c->option_count; i++) {
        char left[64];
        snprintf(left, sizeof(left), "%s %s", c->options[i].name,
                 c->options[i].value ? c->options[i].value : "");
        printf("  %-28s %s%s\n", left, c->options[i].help, c->options[i].required ? " (required)" : "");
    }
    printf("  %-28s %s\n", "--json", "print one JSON object");
    if (c->details)
        printf("\n%s\n", c->details);
    printf("\nExit status: 0 done or valid; 1 the answer is no; 2 unusable input or usage; 3 a resource "
           "failed.\n");
}

static int parse_args(cli_args *a, int argc, char **argv, int first)
{
    for (int i = first; i < argc; i++)
        if (!strcmp(argv[i], "--json"))
            a->json = 1;
    for (int i = first; i < argc; i++) {
        if (!strcmp(argv[i], "--json"))
            continue;
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            print_help(a->program, a->command);
            return -1;
        }
        if (!strncmp(argv[i], "--", 2)) {
            int rc = take_option(a, argc, argv, &i);
            if (rc)
                return rc;
        } else if (a->positional_count < a->command->positional_max) {
            a->positional[a->positional_count++] = argv[i];
        } else {
            return cli_usage_error(a, "unexpected argument \"%.80s\"; see cuzk %s --help", argv[i],
                                   a->command->name);
        }
    }
    if (a->positional_count < a->command->positional_min)
        return cli_usage_error(a, "%s is missing; see cuzk %s --help", a->command->positional,
                               a->command->name);
    for (size_t i = 0; i < a->command->option_count; i++)
        if (a->command->options[i].required && !a->given[i])
            return cli_usage_error(a, "%s %s is missing; see cuzk %s --help", a->command->options[i].name,
                                   a->command->options[i].value ? a->command->options[i].value : "",
                                   a->command->name);
    return 0;
}

/* The kinds of proof have other names on the wire; commands take those as well. */
static const char *plain_kind(const char *word)
{
    return !strcmp(word, "wpost") ? "window" : !strcmp(word, "snap") ? "update" : word;
}

/* How many words of the command line the command's name takes; 0 if it is another command. */
static int name_matches(const cli_command *c, int argc, char **argv)
{
    int words = 0;
    const char *p = c->name;
    while (*p) {
        size_t n = strcspn(p, " ");
        const char *word = 1 + words < argc ? argv[1 + words] : "";
        if (words) /* the first word is a verb */
            word = plain_kind(word);
        if (strlen(word) != n || strncmp(word, p, n))
            return 0;
        words++;
        p += n;
        p += *p == ' ';
    }
    return words;
}

static void print_commands(FILE *out, const cli_command *const *commands, size_t count)
{
    fprintf(out,
            "cuzk %s: a Groth16 proving engine for BLS12-381\n\nusage: cuzk COMMAND [options]   (cuzk "
            "COMMAND --help)\n"
            "       cuzk --config FILE          (starts the daemon)\n\n",
            CUZK_VERSION);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "  %-18s %s\n", commands[i]->name, commands[i]->summary);
}

int cli_main(int argc, char **argv, const cli_command *const *commands, size_t count)
{
    cli_args a = {.program = argc && !strcmp(argv[0], "cuzk-bench") ? "cuzk-bench" : "cuzk"};
    if (argc < 2) {
        print_commands(stderr, commands, count);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help") || !strcmp(argv[1], "-h")) {
        print_commands(stdout, commands, count);
        return EXIT_DONE;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
        printf("cuzk %s\n", CUZK_VERSION);
        return EXIT_DONE;
    }
    int words = 0;
    for (size_t i = 0; i < count; i++) {
        int n = name_matches(commands[i], argc, argv);
        if (n > words) {
            words = n;
            a.command = commands[i];
        }
    }
    if (!a.command) {
        for (int i = 1; i < argc; i++)
            a.json |= !strcmp(argv[i], "--json");
        int word = argc > 2 && argv[2][0] != '-'; /* the second one may be the wrong one */
        return cli_usage_error(&a, "unknown command \"%.80s%s%.80s\"; %s --help lists them", argv[1],
                               word ? " " : "", word ? argv[2] : "", a.program);
    }
    int rc = parse_args(&a, argc, argv, 1 + words);
    if (!rc)
        rc = a.command->run(&a);
    for (size_t i = 0; i < CLI_MAX_OPTIONS; i++)
        free(a.list[i]);
    return rc < 0 ? EXIT_DONE : rc;
}

/* ---- progress ---- */

void cli_progress_begin(cli_progress *p, const char *what)
{
    *p = (cli_progress){.what = what, .start_ns = clock_ns(), .enabled = isatty(STDERR_FILENO)};
}

void cli_progress_update(void *ctx, uint64_t done, uint64_t total)
{
    cli_progress *p = ctx;
    uint64_t now = clock_ns();
    if (!p->enabled || now - p->start_ns < 2000000000u || now - p->shown_ns < 200000000u)
        return;
    p->shown_ns = now;
    p->shown = 1;
    fprintf(stderr, "\r%s: %5.1f %%  %.0f s ", p->what, total ? 100.0 * (double)done / (double)total : 0.0,
            (double)(now - p->start_ns) / 1e9);
    fflush(stderr);
}

void cli_progress_end(cli_progress *p)
{
    if (p->shown)
        fprintf(stderr, "\r%s: done in %.1f s     \n", p->what, (double)(clock_ns() - p->start_ns) / 1e9);
}
