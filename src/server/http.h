/* The HTTP side: /healthz, /readyz, /metrics, /status, /timeline/JOB, and the status page. Reads only; one
 * request a connection thread of libmicrohttpd's internal poller, bodies are refused. */
#ifndef SERVER_HTTP_H
#define SERVER_HTTP_H
#include "engine/engine.h"

typedef struct http_server http_server;
/* listen: "HOST:PORT" ("" or NULL: nothing is started and *out is NULL). Port 0 picks one. */
cuzk_status http_start(http_server **out, engine *e, const char *listen, cuzk_error *err) CUZK_MUST_CHECK;
int http_port(const http_server *h);
void http_stop(http_server *h);
#endif
