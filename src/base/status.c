#include "cuzk/status.h"
#include "base/encode.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *cuzk_status_name(cuzk_status status)
{
    switch (status) {
#define X(code, number, name, text)                                                                          \
    case code:                                                                                               \
        return name;
        CUZK_STATUS_LIST(X)
#undef X
    }
    return "unknown";
}

const char *cuzk_status_text(cuzk_status status)
{
    switch (status) {
#define X(code, number, name, text)                                                                          \
    case code:                                                                                               \
        return text;
        CUZK_STATUS_LIST(X)
#undef X
    }
    return "an unknown status";
}

cuzk_status cuzk_error_set(cuzk_error *err, cuzk_status status, const char *format, ...)
{
    if (!err)
        return status;
    char message[sizeof(err->message)]; /* the arguments may point into err itself */
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    utf8_clean(message); /* it may quote input, and the wire takes UTF-8 only */
    err->status = status;
    memcpy(err->message, message, sizeof(message));
    return status;
}

cuzk_status cuzk_error_prefix(cuzk_error *err, const char *format, ...)
{
    if (!err)
        return CUZK_OK;
    char message[sizeof(err->message)];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof(message) - 2)
        return err->status;
    snprintf(message + n, sizeof(message) - (size_t)n, ": %.*s", (int)(sizeof(message) - (size_t)n - 3),
             err->message);
    utf8_clean(message);
    memcpy(err->message, message, sizeof(message));
    return err->status;
}
