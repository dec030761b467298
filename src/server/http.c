#include "server/http.h"
#include "base/json_write.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/page.h"
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_CONNECTIONS 64
#define IDLE_SECONDS    15

struct http_server {
    engine *engine;
    struct MHD_Daemon *daemon;
    int port;
};

/* ---- answers ---- */

static enum MHD_Result answer(struct MHD_Connection *c, unsigned status, const char *type, const char *text,
                              size_t size)
{
    struct MHD_Response *r =
        MHD_create_response_from_buffer(size, (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
    if (!r)
        return MHD_NO;
    MHD_add_response_header(r, "Content-Type", type);
    MHD_add_response_header(r, "Cache-Control", "no-store");
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(
        r, "Content-Security-Policy",
        "default-src 'self'; style-src 'unsafe-inline' 'self'; script-src 'unsafe-inline' 'self'; "
        "frame-ancestors 'none'");
    enum MHD_Result ok = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return ok;
}

static enum MHD_Result answer_text(struct MHD_Connection *c, unsigned status, const char *text)
{
    return answer(c, status, "text/plain; charset=utf-8", text, strlen(text));
}

static enum MHD_Result answer_json(struct MHD_Connection *c, unsigned status, json_out *j)
{
    enum MHD_Result ok = j->failed ? answer_text(c, 503, "out of memory\n")
                                   : answer(c, status, "application/json", j->text, j->used);
    json_clear(j);
    return ok;
}

static enum MHD_Result answer_error(struct MHD_Connection *c, const cuzk_error *e)
{
    json_out j;
    json_init(&j);
    json_begin_object(&j, NULL);
    json_string(&j, "error", e->message);
    json_end_object(&j);
    return answer_json(c, e->status == CUZK_NOT_FOUND ? 404 : 503, &j);
}

/* ---- status ---- */

static void add_devices(json_out *j, const engine_status *s)
{
    json_begin_array(j, "devices");
    for (size_t i = 0; i < s->device_count; i++) {
        const engine_device_status *d = &s->devices[i];
        json_begin_object(j, NULL);
        json_u64(j, "ordinal", d->ordinal);
        json_string(j, "backend", d->backend);
        json_string(j, "name", d->name);
        json_u64(j, "memory_total_bytes", d->memory_total);
        json_u64(j, "memory_free_bytes", d->memory_free);
        json_string(j, "current_job", d->current_job);
        json_string(j, "current_kind", d->current_kind);
        json_bool(j, "quarantined", d->quarantined);
        json_u64(j, "proofs", d->proofs);
        json_u64(j, "failures", d->failures);
        json_end_object(j);
    }
    json_end_array(j);
}

static void add_srs(json_out *j, const engine_status *s)
{
    json_begin_array(j, "srs");
    for (size_t i = 0; i < s->srs_count; i++) {
        json_begin_object(j, NULL);
        json_string(j, "circuit", s->srs[i].circuit);
        json_u64(j, "bytes", s->srs[i].bytes);
        json_u64(j, "references", s->srs[i].references);
        json_bool(j, "on_device", s->srs[i].on_device);
        json_bool(j, "test_srs", s->srs[i].test_srs);
        json_end_object(j);
    }
    json_end_array(j);
}

static void add_jobs(json_out *j, const engine_status *s)
{
    static const char *const PRIORITIES[] = {"", "low", "normal", "high", "critical"};
    json_begin_array(j, "jobs");
    for (size_t i = 0; i < s->job_count; i++) {
        const engine_job_status *o = &s->jobs[i];
        json_begin_object(j, NULL);
        json_string(j, "job_id", o->job_id);
        json_string(j, "request_id", o->request_id);
        json_string(j, "kind", engine_kind_name(o->kind));
        json_string(j, "priority", (unsigned)o->priority < 5 ? PRIORITIES[o->priority] : "");
        json_string(j, "state", job_state_name(o->state));
        json_string(j, "circuit", o->circuit);
        json_u64(j, "partitions", o->partitions);
        json_u64(j, "partitions_done", o->partitions_done);
        json_u64(j, "submitted_ms", o->submitted_wall_ms);
        json_u64(j, "started_ms", o->started_wall_ms);
        json_u64(j, "ended_ms", o->ended_wall_ms);
        json_string(j, "error", o->error);
        json_end_object(j);
    }
    json_end_array(j);
}

static enum MHD_Result get_status(http_server *h, struct MHD_Connection *c)
{
    engine_status s;
    cuzk_error e = {0};
    if (engine_get_status(h->engine, &s, &e))
        return answer_error(c, &e);
    json_out j;
    json_init(&j);
    json_begin_object(&j, NULL);
    json_string(&j, "version", CUZK_VERSION);
    json_u64(&j, "uptime_seconds", s.uptime_seconds);
    json_bool(&j, "accepting", s.accepting);
    json_u64(&j, "completed", s.completed);
    json_u64(&j, "failed", s.failed);
    json_u64(&j, "cancelled", s.cancelled);
    json_u64(&j, "memory_used_bytes", s.memory_used);
    json_u64(&j, "memory_budget_bytes", s.memory_budget);
    json_u64(&j, "resident_bytes", mem_rss_bytes());
    json_begin_object(&j, "queues");
    for (int k = 1; k < ENGINE_KINDS; k++) {
        json_begin_object(&j, engine_kind_name((engine_kind)k));
        json_u64(&j, "pending", s.pending[k]);
        json_u64(&j, "in_progress", s.in_progress[k]);
        json_end_object(&j);
    }
    json_end_object(&j);
    add_devices(&j, &s);
    add_srs(&j, &s);
    add_jobs(&j, &s);
    json_end_object(&j);
    engine_status_clear(&s);
    return answer_json(c, 200, &j);
}

static enum MHD_Result get_metrics(http_server *h, struct MHD_Connection *c)
{
    char *text;
    cuzk_error e = {0};
    if (engine_metrics(h->engine, &text, &e))
        return answer_error(c, &e);
    enum MHD_Result ok = answer(c, 200, "text/plain; version=0.0.4; charset=utf-8", text, strlen(text));
    mem_free(text);
    return ok;
}

/* Ready: it takes jobs, and a device that is not set aside is there to prove them. */
static enum MHD_Result get_ready(http_server *h, struct MHD_Connection *c)
{
    engine_status s;
    cuzk_error e = {0};
    if (engine_get_status(h->engine, &s, &e))
        return answer_error(c, &e);
    int devices = 0, accepting = s.accepting;
    for (size_t i = 0; i < s.device_count; i++)
        devices += !s.devices[i].quarantined;
    engine_status_clear(&s);
    if (!accepting)
        return answer_text(c, 503, "stopping: no jobs are taken\n");
    return devices ? answer_text(c, 200, "ready\n") : answer_text(c, 503, "every device is quarantined\n");
}

static enum MHD_Result get_timeline(http_server *h, struct MHD_Connection *c, const char *job)
{
    json_out j;
    cuzk_error e = {0};
    json_init(&j);
    if (engine_timeline(h->engine, job, &j, &e)) {
        json_clear(&j);
        return answer_error(c, &e);
    }
    return answer_json(c, 200, &j);
}

static enum MHD_Result handle(void *ctx, struct MHD_Connection *c, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **state)
{
    http_server *h = ctx;
    static const int seen; /* its address says: the headers were seen */
    (void)version;
    (void)upload;
    if (!*state) {
        *state = (void *)(uintptr_t)&seen;
        if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
            return answer_text(c, 405, "only GET and HEAD are answered\n");
        return MHD_YES;
    }
    if (*upload_size) /* a GET with a body, perhaps one without end */
        return MHD_NO;
    if (!strcmp(url, "/healthz"))
        return answer_text(c, 200, "ok\n");
    if (!strcmp(url, "/readyz"))
        return get_ready(h, c);
    if (!strcmp(url, "/metrics"))
        return get_metrics(h, c);
    if (!strcmp(url, "/status"))
        return get_status(h, c);
    if (!strncmp(url, "/timeline/", 10))
        return get_timeline(h, c, url + 10);
    if (!strcmp(url, "/") || !strcmp(url, "/index.html"))
        return answer(c, 200, "text/html; charset=utf-8", (const char *)STATUS_PAGE, STATUS_PAGE_SIZE);
    return answer_text(c, 404,
                       "there is nothing here; see /, /status, /metrics, /healthz, /readyz, /timeline/JOB\n");
}

/* ---- life ---- */

static cuzk_status resolve(const char *listen, struct sockaddr_storage *out, int *family, cuzk_error *err)
{
    char host[256];
    const char *colon = strrchr(listen, ':');
    if (!colon || (size_t)(colon - listen) >= sizeof(host))
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "daemon.status_listen takes HOST:PORT, not \"%.80s\"", listen);
    const char *start = listen + (*listen == '[');
    size_t n = (size_t)(colon - start);
    n -= n && start[n - 1] == ']';
    memcpy(host, start, n);
    host[n] = 0;
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM}, *list;
    int rc = getaddrinfo(n ? host : NULL, colon + 1, &hints, &list);
    if (rc)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "daemon.status_listen %s: %s", listen,
                              gai_strerror(rc));
    memcpy(out, list->ai_addr, list->ai_addrlen);
    *family = list->ai_family;
    freeaddrinfo(list);
    return CUZK_OK;
}

static int is_loopback(const struct sockaddr_storage *a)
{
    if (a->ss_family == AF_INET)
        return (ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24) == 127;
    return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)a)->sin6_addr);
}

cuzk_status http_start(http_server **out, engine *e, const char *listen, cuzk_error *err)
{
    *out = NULL;
    if (!listen || !*listen)
        return CUZK_OK;
    struct sockaddr_storage address;
    int family = AF_INET;
    cuzk_status s = resolve(listen, &address, &family, err);
    if (s)
        return s;
    http_server *h = mem_calloc(1, sizeof(*h));
    if (!h)
        return mem_error(err, sizeof(*h), "the HTTP server");
    h->engine = e;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | (family == AF_INET6 ? MHD_USE_IPv6 : 0);
    h->daemon =
        MHD_start_daemon(flags, 0, NULL, NULL, handle, h, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
                         MHD_OPTION_CONNECTION_LIMIT, MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
                         IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)32768, MHD_OPTION_END);
    if (!h->daemon) {
        mem_free(h);
        return cuzk_error_set(err, CUZK_IO_ERROR, "cannot listen on %s for HTTP: %s", listen,
                              strerror(errno));
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT);
    h->port = info ? info->port : 0;
    if (!is_loopback(&address))
        log_write(
            LOG_WARN, "http",
            "%s is open to other machines, without encryption or password: it shows jobs and their errors",
            listen);
    log_write(LOG_INFO, "http", "status page on http://%s (port %d)", listen, h->port);
    *out = h;
    return CUZK_OK;
}

int http_port(const http_server *h)
{
    return h ? h->port : 0;
}

void http_stop(http_server *h)
{
    if (!h)
        return;
    MHD_stop_daemon(h->daemon);
    mem_free(h);
}
