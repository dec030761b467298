/* The level and the sink are the process's: a log has one reader. Everything else about a record is in its
 * arguments. */
#include "base/log.h"
#include "base/clock.h"
#include "base/encode.h"
#include <ctype.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static const char *const LEVEL_NAMES[] = {"trace", "debug", "info", "warn", "error", "off"};
static atomic_int log_level_now = LOG_INFO, log_format_now = LOG_TEXT;
static pthread_mutex_t sink_lock = PTHREAD_MUTEX_INITIALIZER;
static void (*sink_fn)(void *, const char *);
static void *sink_ctx;

void log_configure(log_level level, log_format format)
{
    atomic_store(&log_level_now, (int)level);
    atomic_store(&log_format_now, (int)format);
}

log_level log_current_level(void)
{
    return (log_level)atomic_load(&log_level_now);
}

int log_level_parse(log_level *out, const char *name)
{
    if (!strcasecmp(name, "warning"))
        name = "warn";
    for (int i = LOG_TRACE; i <= LOG_OFF; i++) {
        if (!strcasecmp(name, LEVEL_NAMES[i])) {
            *out = (log_level)i;
            return 0;
        }
    }
    return -1;
}

void log_set_sink(void (*sink)(void *ctx, const char *line), void *ctx)
{
    pthread_mutex_lock(&sink_lock);
    sink_fn = sink;
    sink_ctx = ctx;
    pthread_mutex_unlock(&sink_lock);
}

/* Appends text as the inside of a JSON string; control characters become \u00XX. Returns the new length. */
static size_t append_json(char *line, size_t at, size_t size, const char *text)
{
    for (; *text && at + 8 < size; text++) {
        unsigned char ch = (unsigned char)*text;
        if (ch == '"' || ch == '\\') {
            line[at++] = '\\';
            line[at++] = (char)ch;
        } else if (ch < 0x20) {
            at += (size_t)snprintf(line + at, size - at, "\\u%04x", ch);
        } else {
            line[at++] = (char)ch;
        }
    }
    line[at] = 0;
    return at;
}

static size_t append_text(char *line, size_t at, size_t size, const char *text)
{
    for (; *text && at + 1 < size; text++)
        line[at++] = iscntrl((unsigned char)*text) ? ' ' : *text;
    line[at] = 0;
    return at;
}

static void write_record(log_level level, const char *part, const char *job, const char *message)
{
    char line[2048], stamp[40];
    uint64_t now = clock_wall_ns();
    time_t seconds = (time_t)(now / 1000000000u);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    size_t n = strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(stamp + n, sizeof(stamp) - n, ".%03uZ", (unsigned)(now / 1000000u % 1000u));
    size_t at;
    if (atomic_load(&log_format_now) == LOG_JSON) {
        at = (size_t)snprintf(line, sizeof(line), "{\"timestamp\":\"%s\",\"level\":\"%s\",\"target\":\"%s\"",
                              stamp, LEVEL_NAMES[level], part);
        if (job) {
            at += (size_t)snprintf(line + at, sizeof(line) - at, ",\"job_id\":\"");
            at = append_json(line, at, 256, job);
            at += (size_t)snprintf(line + at, sizeof(line) - at, "\"");
        }
        at += (size_t)snprintf(line + at, sizeof(line) - at, ",\"message\":\"");
        at = append_json(line, at, sizeof(line) - 4, message);
        snprintf(line + at, sizeof(line) - at, "\"}");
    } else {
        at = (size_t)snprintf(line, sizeof(line), "%s %-5s %s: ", stamp, LEVEL_NAMES[level], part);
        if (job) {
            at += (size_t)snprintf(line + at, sizeof(line) - at, "job=");
            at = append_text(line, at, 256, job);
            line[at++] = ' ';
        }
        append_text(line, at, sizeof(line), message);
    }
    pthread_mutex_lock(&sink_lock);
    if (sink_fn)
        sink_fn(sink_ctx, line);
    else
        fprintf(stderr, "%s\n", line);
    pthread_mutex_unlock(&sink_lock);
}

void log_write(log_level level, const char *part, const char *format, ...)
{
    if ((int)level < atomic_load(&log_level_now) || level >= LOG_OFF)
        return;
    char message[1536];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    utf8_clean(message);
    write_record(level, part, NULL, message);
}

void log_job(log_level level, const char *part, const char *job_id, const char *format, ...)
{
    if ((int)level < atomic_load(&log_level_now) || level >= LOG_OFF)
        return;
    char message[1536];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    utf8_clean(message);
    write_record(level, part, job_id, message);
}
