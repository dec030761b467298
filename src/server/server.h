/* The doors of the daemon: gRPC on TCP or a unix socket. Speaks proving.proto; everything behind it is the
 * engine's. */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H
#include "engine/engine.h"

#define SERVER_MESSAGE_LIMIT ((size_t)256 << 20)

typedef struct server server;
typedef struct server_options {
    const char *listen; /* "0.0.0.0:9820", "[::]:9820", "unix:///run/curio/cuzk.sock"; port 0 picks one */
    const char *tls_cert, *tls_key,
        *tls_client_ca;     /* PEM files; NULL or "" for none. A client CA asks for certificates */
    const char *token_file; /* bearer token that every call must carry; NULL or "" for none */
    unsigned threads;       /* that answer calls; 0: two */
} server_options;
/* Listens and answers until server_stop. The engine outlives the server. */
cuzk_status server_start(server **out, engine *e, const server_options *o, cuzk_error *err) CUZK_MUST_CHECK;
int server_port(const server *s); /* 0 for a unix socket */
/* Takes no new calls, gives those under way grace_ms, cancels the rest, frees everything. */
void server_stop(server *s, uint64_t grace_ms);
/* Reads the token file again. */
cuzk_status server_reload_token(server *s, cuzk_error *err);
#endif
