/* Structured log. The library never writes to stdout: records go to a sink, stderr by default. No secret and
 * no witness value may be passed to it. */
#ifndef BASE_LOG_H
#define BASE_LOG_H
#include "cuzk/status.h"

typedef enum log_level { LOG_TRACE, LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_OFF } log_level;
typedef enum log_format { LOG_TEXT, LOG_JSON } log_format;

void log_configure(log_level level, log_format format);
log_level log_current_level(void);
/* Parses "trace".."error", "off"; returns 0 on success. */
int log_level_parse(log_level *out, const char *name);
/* Replaces the sink (NULL: stderr). line has no newline. Called under a lock. */
void log_set_sink(void (*sink)(void *ctx, const char *line), void *ctx);
/* One record. fields: "key=value key2=\"quoted value\"" pairs may be part of the formatted text. */
void log_write(log_level level, const char *part, const char *format, ...) CUZK_PRINTF(3, 4);
/* The same with a job id (NULL allowed), which becomes a field of its own. */
void log_job(log_level level, const char *part, const char *job_id, const char *format, ...)
    CUZK_PRINTF(4, 5);
#endif
