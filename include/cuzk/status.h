/* Status codes and error messages: what every fallible function of cuzk returns.
 *
 * Three classes of failure: a caller's bug is an assert; bad input, a missing resource or a failing device is
 * a status with a message; the impossible is fatal. */
#ifndef CUZK_STATUS_H
#define CUZK_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CUZK_API               __attribute__((visibility("default")))
#define CUZK_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define CUZK_MUST_CHECK        __attribute__((warn_unused_result))
#else
#define CUZK_API
#define CUZK_PRINTF(fmt, args)
#define CUZK_MUST_CHECK
#endif

/* One list: code, name, text. The numbers are stable. */
#define CUZK_STATUS_LIST(X)                                                                                  \
    X(CUZK_OK, 0, "ok", "success")                                                                           \
    X(CUZK_INVALID_ARGUMENT, 1, "invalid_argument", "an argument is outside its domain")                     \
    X(CUZK_BAD_INPUT, 2, "bad_input", "the input cannot be read")                                            \
    X(CUZK_INCONSISTENT, 3, "inconsistent", "the input was understood and contradicts itself")               \
    X(CUZK_UNSATISFIED, 4, "unsatisfied", "the witness does not satisfy the circuit")                        \
    X(CUZK_INVALID_PROOF, 5, "invalid_proof", "the proof does not verify")                                   \
    X(CUZK_NOT_FOUND, 6, "not_found", "a file or an object does not exist")                                  \
    X(CUZK_OUT_OF_MEMORY, 7, "out_of_memory", "memory could not be had")                                     \
    X(CUZK_IO_ERROR, 8, "io_error", "the operating system refused an operation")                             \
    X(CUZK_DEVICE_ERROR, 9, "device_error", "a device failed")                                               \
    X(CUZK_UNSUPPORTED, 10, "unsupported", "this build or machine cannot do it")                             \
    X(CUZK_CANCELLED, 11, "cancelled", "the operation was cancelled")                                        \
    X(CUZK_DEADLINE, 12, "deadline", "the time allowed is over")                                             \
    X(CUZK_BUSY, 13, "busy", "a limit is reached; try again later")

typedef enum cuzk_status {
#define X(code, number, name, text) code = number,
    CUZK_STATUS_LIST(X)
#undef X
} cuzk_status;

/* A status with a sentence: what, where, what to do. Filled only on failure; the caller owns it. NULL is
 * accepted wherever a cuzk_error is. */
typedef struct cuzk_error {
    cuzk_status status;
    char message[512];
} cuzk_error;

/* "bad_input" for CUZK_BAD_INPUT; never NULL. */
CUZK_API const char *cuzk_status_name(cuzk_status status);
/* A general sentence for a status; never NULL. */
CUZK_API const char *cuzk_status_text(cuzk_status status);
/* Writes status and the formatted message (cut to fit) into err, and returns status. err may be NULL. */
CUZK_API cuzk_status cuzk_error_set(cuzk_error *err, cuzk_status status, const char *format, ...)
    CUZK_PRINTF(3, 4);
/* Puts "prefix: " before the message that err holds; does nothing for NULL. Returns err's status. */
CUZK_API cuzk_status cuzk_error_prefix(cuzk_error *err, const char *format, ...) CUZK_PRINTF(2, 3);

#ifdef __cplusplus
}
#endif
#endif
