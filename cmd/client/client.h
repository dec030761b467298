/* A gRPC client of the daemon, one call at a time. */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H
#include "cli/cli.h"
#include <stdint.h>

typedef struct client client;
/* addr: "HOST:PORT" or "unix:///path" (default 127.0.0.1:9820, or $CUZK_ADDR). ca: PEM file, makes the
 * connection TLS; cert and key: the client's own; token_file: bearer token. All but addr may be NULL. */
cuzk_status client_open(client **out, const char *addr, const char *ca, const char *cert, const char *key,
                        const char *token_file, cuzk_error *err) CUZK_MUST_CHECK;
void client_close(client *c);
/* Calls /cuzk.v1.ProvingEngine/METHOD. timeout_ms 0: none. *reply (mem_free). A gRPC status other than OK
 * becomes a cuzk status with the server's message. */
cuzk_status client_call(client *c, const char *method, const void *request, size_t request_size,
                        uint8_t **reply, size_t *reply_size, uint64_t timeout_ms,
                        cuzk_error *err) CUZK_MUST_CHECK;

#define CLIENT_OPTIONS                                                                                       \
    {"--addr", OPT_TEXT, "ADDR", "the daemon: HOST:PORT or unix:///path (default 127.0.0.1:9820)", 0},       \
        {"--tls-ca", OPT_TEXT, "FILE", "CA certificate; the connection is then TLS", 0},                     \
        {"--tls-cert", OPT_TEXT, "FILE", "the client's certificate", 0},                                     \
        {"--tls-key", OPT_TEXT, "FILE", "the client's key", 0},                                              \
    {                                                                                                        \
        "--token-file", OPT_TEXT, "FILE", "bearer token", 0                                                  \
    }
cuzk_status client_from_args(client **out, const cli_args *a, cuzk_error *err) CUZK_MUST_CHECK;
extern const cli_command command_submit_porep, command_submit_winning, command_submit_window,
    command_submit_update;
extern const cli_command command_await, command_cancel, command_status, command_top, command_device_clear;
extern const cli_command command_config_check, command_config_example;
#endif
