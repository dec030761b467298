#include "engine/config.h"
#include "base/file.h"
#include "base/mem.h"
#include "engine/config_private.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

size_t config_option_count(void)
{
    return CONFIG_OPTION_COUNT;
}
const config_option *config_option_at(size_t i)
{
    return &CONFIG_OPTIONS[i];
}

static const config_option *find(const char *table, const char *name)
{
    for (size_t i = 0; i < CONFIG_OPTION_COUNT; i++)
        if (!strcmp(CONFIG_OPTIONS[i].table, table) && !strcmp(CONFIG_OPTIONS[i].name, name))
            return &CONFIG_OPTIONS[i];
    return NULL;
}

/* ---- values ---- */

typedef struct unit {
    const char *name;
    uint64_t factor;
} unit;
static const unit BYTE_UNITS[] = {{"", 1},
                                  {"B", 1},
                                  {"KiB", 1ull << 10},
                                  {"MiB", 1ull << 20},
                                  {"GiB", 1ull << 30},
                                  {"TiB", 1ull << 40},
                                  {"KB", 1000},
                                  {"MB", 1000000},
                                  {"GB", 1000000000},
                                  {"TB", 1000000000000},
                                  {NULL, 0}};
static const unit TIME_UNITS[] = {{"ms", 1},       {"s", 1000}, {"m", 60000}, {"h", 3600000},
                                  {"d", 86400000}, {"", 1000},  {NULL, 0}};

static int parse_scaled(const char *text, const unit *units, uint64_t *out)
{
    char *end;
    errno = 0;
    if (*text < '0' || *text > '9')
        return -1;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno)
        return -1;
    while (*end == ' ')
        end++;
    for (const unit *u = units; u->name; u++) {
        if (strcasecmp(end, u->name) == 0) {
            unsigned __int128 product = (unsigned __int128)v * u->factor;
            if (product > UINT64_MAX)
                return -1;
            *out = (uint64_t)product;
            return 0;
        }
    }
    return -1;
}

static int one_of(const char *choices, const char *value)
{
    size_t n = strlen(value);
    for (const char *p = choices; *p;) {
        size_t k = strcspn(p, " ");
        if (k == n && !strncmp(p, value, n))
            return 1;
        p += k;
        p += *p == ' ';
    }
    return 0;
}

static cuzk_status bad(const config_option *o, const char *value, const char *wanted, cuzk_error *err)
{
    return cuzk_error_set(err, CUZK_BAD_INPUT, "%s.%s takes %s, not \"%.60s\"", o->table, o->name, wanted,
                          o->flags & OPTION_SECRET ? "..." : value);
}

static cuzk_status set_devices(config *c, const config_option *o, const char *value, cuzk_error *err)
{
    const char *p = value + (*value == '[');
    uint64_t device[CONFIG_MAX_DEVICES] = {0};
    size_t n = 0;
    while (*p && *p != ']') {
        char *end;
        unsigned long long v = strtoull(p, &end, 10);
        if (end == p || v > o->max || n == CONFIG_MAX_DEVICES)
            return bad(o, value, "a list of device numbers such as [0, 1]", err);
        device[n++] = v;
        p = end + strspn(end, ", ");
    }
    memcpy(c->gpus.device, device, sizeof(device));
    c->gpus.device_count = n;
    return CUZK_OK;
}

static cuzk_status set_number(void *field, const config_option *o, const char *value, cuzk_error *err)
{
    uint64_t v = 0;
    int rc;
    char wanted[160];
    if (o->kind == OPTION_BYTES && !strcmp(value, "auto") && !strcmp(o->fallback, "auto")) {
        *(uint64_t *)field = 0;
        return CUZK_OK;
    }
    if (o->kind == OPTION_BYTES) {
        rc = parse_scaled(value, BYTE_UNITS, &v);
        snprintf(wanted, sizeof(wanted), "a size such as 5GiB%s",
                 !strcmp(o->fallback, "auto") ? ", or auto" : "");
    } else if (o->kind == OPTION_DURATION) {
        rc = parse_scaled(value, TIME_UNITS, &v);
        snprintf(wanted, sizeof(wanted), "a time such as 30s, 5m or 7d");
    } else {
        static const unit NONE[] = {{"", 1}, {NULL, 0}};
        rc = parse_scaled(value, NONE, &v);
        snprintf(wanted, sizeof(wanted), "a whole number");
    }
    if (rc)
        return bad(o, value, wanted, err);
    if (v < o->min || (o->max && v > o->max))
        return cuzk_error_set(err, CUZK_BAD_INPUT, "%s.%s must lie between %llu and %llu, not %s", o->table,
                              o->name, (unsigned long long)o->min, (unsigned long long)o->max, value);
    *(uint64_t *)field = v;
    return CUZK_OK;
}

static cuzk_status set_option(config *c, const config_option *o, const char *value, cuzk_error *err)
{
    if (o->offset == SIZE_MAX)
        return CUZK_OK;
    void *field = (char *)c + o->offset;
    switch (o->kind) {
    case OPTION_BOOL:
        if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
            return bad(o, value, "true or false", err);
        *(int *)field = value[0] == 't';
        return CUZK_OK;
    case OPTION_CHOICE:
        if (!one_of(o->choices, value)) {
            char wanted[128];
            snprintf(wanted, sizeof(wanted), "one of: %s", o->choices);
            return bad(o, value, wanted, err);
        }
        snprintf(field, o->size, "%s", value);
        return CUZK_OK;
    case OPTION_STRING:
        if (strlen(value) >= o->size)
            return cuzk_error_set(err, CUZK_BAD_INPUT, "%s.%s is longer than %zu bytes", o->table, o->name,
                                  o->size - 1);
        snprintf(field, o->size, "%s", value);
        return CUZK_OK;
    case OPTION_LIST:
        return set_devices(c, o, value, err);
    case OPTION_U64:
    case OPTION_BYTES:
    case OPTION_DURATION:
        return set_number(field, o, value, err);
    }
    return CUZK_OK;
}

cuzk_status config_set(config *c, const char *table, const char *name, const char *value, cuzk_error *err)
{
    const config_option *o = find(table, name);
    if (!o)
        return cuzk_error_set(err, CUZK_BAD_INPUT, "there is no option %s.%s", table, name);
    return set_option(c, o, value, err);
}

void config_defaults(config *c)
{
    memset(c, 0, sizeof(*c));
    for (size_t i = 0; i < CONFIG_OPTION_COUNT; i++) {
        cuzk_error e = {0};
        if (set_option(c, &CONFIG_OPTIONS[i], CONFIG_OPTIONS[i].fallback, &e)) {
            fprintf(stderr, "cuzk: the table of options is wrong: %s\n", e.message);
            abort(); /* a row contradicts itself: found by the first test that runs */
        }
    }
}

/* ---- files ---- */

typedef struct loading {
    config *c;
    int strict, errors;
    config_report_fn *report;
    void *ctx;
} loading;

static unsigned edit_distance(const char *a, const char *b)
{
    unsigned row[64];
    size_t n = strlen(b);
    if (n > 62 || strlen(a) > 62)
        return 99;
    for (size_t j = 0; j <= n; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; a[i - 1]; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            unsigned up = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
            if (up + 1 < best)
                best = up + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = up;
            row[j] = best;
        }
    }
    return row[n];
}

static void report_unknown(loading *l, const char *table, const char *key, int line)
{
    char full[160], other[160], sentence[512];
    snprintf(full, sizeof(full), "%s%s%s", table, *table ? "." : "", key);
    const config_option *best = NULL;
    unsigned best_distance = 99;
    for (size_t i = 0; i < CONFIG_OPTION_COUNT; i++) {
        snprintf(other, sizeof(other), "%s.%s", CONFIG_OPTIONS[i].table, CONFIG_OPTIONS[i].name);
        unsigned d = edit_distance(full, other);
        if (d < best_distance) {
            best_distance = d;
            best = &CONFIG_OPTIONS[i];
        }
    }
    if (best && best_distance <= 10)
        snprintf(sentence, sizeof(sentence), "line %d: there is no option %s; the nearest is %s.%s", line,
                 full, best->table, best->name);
    else
        snprintf(sentence, sizeof(sentence), "line %d: there is no option %s", line, full);
    l->errors += l->strict;
    if (l->report)
        l->report(l->ctx, l->strict, sentence);
}

static void take_value(void *ctx, const char *table, const char *key, const char *text, int line)
{
    loading *l = ctx;
    char sentence[600];
    const config_option *o = find(table, key);
    if (!o) {
        report_unknown(l, table, key, line);
        return;
    }
    if (o->flags & OPTION_IGNORED) {
        snprintf(sentence, sizeof(sentence), "line %d: %s.%s has no effect here: %s", line, table, key,
                 o->help);
        if (l->report)
            l->report(l->ctx, 0, sentence);
        return;
    }
    cuzk_error e = {0};
    if (set_option(l->c, o, text, &e)) {
        l->errors++;
        snprintf(sentence, sizeof(sentence), "line %d: %s", line, e.message);
        if (l->report)
            l->report(l->ctx, 1, sentence);
    }
}

cuzk_status config_load(config *c, const char *path, int strict, config_report_fn *report, void *ctx,
                        cuzk_error *err)
{
    if (!file_exists(path))
        return cuzk_error_set(err, CUZK_NOT_FOUND, "the configuration %s does not exist", path);
    loading l = {c, strict, 0, report, ctx};
    char message[400];
    if (toml_read(path, take_value, &l, message, sizeof(message)))
        return cuzk_error_set(err, CUZK_BAD_INPUT, "%s", message);
    if (l.errors)
        return cuzk_error_set(err, CUZK_BAD_INPUT, "%s has %d error%s", path, l.errors,
                              l.errors == 1 ? "" : "s");
    return CUZK_OK;
}

char *config_example(void)
{
    size_t size = 32768, used = 0;
    char *text = mem_alloc(size);
    if (!text)
        return NULL;
    used += (size_t)snprintf(text, size,
                             "# Configuration of cuzk-daemon. Every option stands here with its default.\n");
    const char *table = "";
    for (size_t i = 0; i < CONFIG_OPTION_COUNT && used + 1024 < size; i++) {
        const config_option *o = &CONFIG_OPTIONS[i];
        if (o->flags & OPTION_IGNORED)
            continue;
        if (strcmp(table, o->table) != 0)
            used += (size_t)snprintf(text + used, size - used, "\n[%s]\n", o->table);
        table = o->table;
        int quoted = o->kind == OPTION_STRING || o->kind == OPTION_CHOICE || o->kind == OPTION_DURATION ||
                     (o->kind == OPTION_BYTES &&
                      (o->fallback[0] < '0' || o->fallback[0] > '9' || strpbrk(o->fallback, "KMGT")));
        used += (size_t)snprintf(text + used, size - used, "# %s%s%s%s%s\n%s = %s%s%s\n", o->help,
                                 o->choices ? " (" : "", o->choices ? o->choices : "", o->choices ? ")" : "",
                                 o->flags & OPTION_RELOAD ? "; read again on SIGHUP" : "", o->name,
                                 quoted ? "\"" : "", o->fallback, quoted ? "\"" : "");
    }
    return text;
}
