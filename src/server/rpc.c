#include "server/rpc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>
#include <string.h>

static void arm(server *s, const rpc_method *m);

/* ---- life of a call ---- */

static void call_free(rpc_call *c)
{
    grpc_metadata_array_destroy(&c->metadata);
    grpc_metadata_array_destroy(&c->trailing);
    grpc_call_details_destroy(&c->details);
    if (c->payload)
        grpc_byte_buffer_destroy(c->payload);
    if (c->answer)
        grpc_byte_buffer_destroy(c->answer);
    if (c->outgoing)
        grpc_byte_buffer_destroy(c->outgoing);
    if (c->incoming)
        grpc_byte_buffer_destroy(c->incoming);
    grpc_slice_unref(c->status_details);
    if (c->call)
        grpc_call_unref(c->call);
    pthread_mutex_destroy(&c->lock);
    mem_free(c);
}

void rpc_ref(rpc_call *c)
{
    atomic_fetch_add(&c->references, 1);
}

void rpc_unref(rpc_call *c)
{
    if (atomic_fetch_sub(&c->references, 1) == 1)
        call_free(c);
}

int rpc_on_gone(rpc_call *c, void (*fn)(rpc_call *c, void *ctx), void *ctx)
{
    pthread_mutex_lock(&c->lock);
    int here = !atomic_load(&c->gone);
    if (here) {
        c->on_gone = fn;
        c->on_gone_ctx = ctx;
    }
    pthread_mutex_unlock(&c->lock);
    return here;
}

int rpc_forget_gone(rpc_call *c)
{
    pthread_mutex_lock(&c->lock);
    int had = c->on_gone != NULL;
    c->on_gone = NULL;
    pthread_mutex_unlock(&c->lock);
    return had;
}

uint64_t rpc_time_left_ms(const rpc_call *c)
{
    if (gpr_time_cmp(c->deadline, gpr_inf_future(c->deadline.clock_type)) == 0)
        return UINT64_MAX;
    gpr_timespec left =
        gpr_time_sub(gpr_convert_clock_type(c->deadline, GPR_CLOCK_MONOTONIC), gpr_now(GPR_CLOCK_MONOTONIC));
    int64_t ms = left.tv_sec * 1000 + left.tv_nsec / 1000000;
    return ms > 0 ? (uint64_t)ms : 0;
}

/* ---- events ---- */

static void on_replied(struct rpc_tag *tag, int ok)
{
    (void)ok; /* not ok: the client is gone; the notice of that comes by itself */
    rpc_unref((rpc_call *)((char *)tag - offsetof(rpc_call, replied)));
}

static void on_closed(struct rpc_tag *tag, int ok)
{
    (void)ok;
    rpc_call *c = (rpc_call *)((char *)tag - offsetof(rpc_call, closed));
    pthread_mutex_lock(&c->lock);
    atomic_store(&c->gone, 1);
    void (*fn)(rpc_call *, void *) = c->on_gone;
    void *ctx = c->on_gone_ctx;
    c->on_gone = NULL;
    pthread_mutex_unlock(&c->lock);
    if (fn && c->cancelled)
        fn(c, ctx);
    rpc_unref(c);
}

/* data NULL: no message, as at the end of a stream. */
static void reply(rpc_call *c, grpc_status_code code, const char *message, const void *data, size_t size)
{
    if (atomic_exchange(&c->answered, 1))
        return;
    grpc_op ops[3];
    memset(ops, 0, sizeof(ops));
    size_t n = 0;
    if (!c->headers_sent)
        ops[n++].op = GRPC_OP_SEND_INITIAL_METADATA;
    c->headers_sent = 1;
    if (data) {
        grpc_slice slice = grpc_slice_from_copied_buffer(data, size);
        c->answer = grpc_raw_byte_buffer_create(&slice, 1);
        grpc_slice_unref(slice);
        ops[n].op = GRPC_OP_SEND_MESSAGE;
        ops[n++].data.send_message.send_message = c->answer;
    }
    c->status_details = grpc_slice_from_copied_string(message ? message : "");
    ops[n].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
    ops[n].data.send_status_from_server.status = code;
    ops[n++].data.send_status_from_server.status_details = &c->status_details;
    rpc_ref(c);
    if (grpc_call_start_batch(c->call, ops, n, &c->replied, NULL) != GRPC_CALL_OK) {
        log_write(LOG_ERROR, "rpc", "a reply could not be sent");
        rpc_unref(c);
    }
}

void rpc_reply(rpc_call *c, const void *data, size_t size)
{
    reply(c, GRPC_STATUS_OK, NULL, data ? data : "", size);
}
void rpc_finish(rpc_call *c)
{
    reply(c, GRPC_STATUS_OK, NULL, NULL, 0);
}
void rpc_fail(rpc_call *c, grpc_status_code code, const char *message)
{
    reply(c, code, message, NULL, 0);
}

void rpc_fail_error(rpc_call *c, const cuzk_error *e)
{
    grpc_status_code code = GRPC_STATUS_INTERNAL;
    switch (e->status) {
    case CUZK_INVALID_ARGUMENT:
    case CUZK_BAD_INPUT:
    case CUZK_INCONSISTENT:
        code = GRPC_STATUS_INVALID_ARGUMENT;
        break;
    case CUZK_NOT_FOUND:
        code = GRPC_STATUS_NOT_FOUND;
        break;
    case CUZK_BUSY:
    case CUZK_OUT_OF_MEMORY:
        code = GRPC_STATUS_RESOURCE_EXHAUSTED;
        break;
    case CUZK_UNSUPPORTED:
        code = GRPC_STATUS_UNIMPLEMENTED;
        break;
    case CUZK_CANCELLED:
        code = GRPC_STATUS_CANCELLED;
        break;
    case CUZK_DEADLINE:
        code = GRPC_STATUS_DEADLINE_EXCEEDED;
        break;
    default:
        break;
    }
    rpc_fail(c, code, e->message);
}

void rpc_dispatch(rpc_call *c, grpc_byte_buffer *message)
{
    if (!message) {
        c->method->handle(c, NULL, 0);
        return;
    }
    grpc_byte_buffer_reader reader;
    if (!grpc_byte_buffer_reader_init(&reader, message)) {
        grpc_byte_buffer_destroy(message);
        rpc_fail(c, GRPC_STATUS_INVALID_ARGUMENT, "the request cannot be decompressed");
        return;
    }
    grpc_slice all = grpc_byte_buffer_reader_readall(&reader);
    grpc_byte_buffer_reader_destroy(&reader);
    grpc_byte_buffer_destroy(message);
    c->method->handle(c, GRPC_SLICE_START_PTR(all), GRPC_SLICE_LENGTH(all));
    grpc_slice_unref(all);
}

static void handle(rpc_call *c)
{
    if (!c->method) {
        rpc_fail(c, GRPC_STATUS_UNIMPLEMENTED, "this server has no such method");
        return;
    }
    if (!c->method->open && !token_accepts(c->server, &c->metadata)) {
        rpc_fail(c, GRPC_STATUS_UNAUTHENTICATED, "this server asks for 'authorization: Bearer TOKEN'");
        return;
    }
    if (!c->payload && !c->method->streaming) { /* the client closed its side without a message */
        rpc_fail(c, GRPC_STATUS_INVALID_ARGUMENT, "the request has no message");
        return;
    }
    grpc_byte_buffer *message = c->payload;
    c->payload = NULL;
    rpc_dispatch(c, message);
}

static void on_arrived(struct rpc_tag *tag, int ok)
{
    rpc_call *c = (rpc_call *)((char *)tag - offsetof(rpc_call, arrived));
    if (!ok) { /* the server is shutting down */
        rpc_unref(c);
        return;
    }
    arm(c->server, c->method);
    grpc_op op;
    memset(&op, 0, sizeof(op));
    op.op = GRPC_OP_RECV_CLOSE_ON_SERVER;
    op.data.recv_close_on_server.cancelled = &c->cancelled;
    rpc_ref(c);
    if (grpc_call_start_batch(c->call, &op, 1, &c->closed, NULL) != GRPC_CALL_OK)
        rpc_unref(c);
    handle(c);
    rpc_unref(c); /* the reference of the arrival */
}

/* Asks the core for the next call of a method (NULL: of any unknown one). */
static void arm(server *s, const rpc_method *m)
{
    if (atomic_load(&s->stopping))
        return;
    rpc_call *c = mem_calloc(1, sizeof(*c));
    if (!c) {
        log_write(LOG_ERROR, "rpc", "out of memory: %s takes no more calls", m ? m->path : "the catch-all");
        return;
    }
    c->server = s;
    c->method = m;
    c->arrived.done = on_arrived;
    c->closed.done = on_closed;
    c->replied.done = on_replied;
    c->references = 1;
    c->deadline = gpr_inf_future(GPR_CLOCK_REALTIME);
    c->status_details = grpc_empty_slice();
    pthread_mutex_init(&c->lock, NULL);
    grpc_metadata_array_init(&c->metadata);
    grpc_metadata_array_init(&c->trailing);
    grpc_call_details_init(&c->details);
    grpc_call_error rc;
    if (m)
        rc = grpc_server_request_registered_call(s->grpc, s->handles[m - s->methods], &c->call, &c->deadline,
                                                 &c->metadata, &c->payload, s->queue, s->queue, &c->arrived);
    else
        rc = grpc_server_request_call(s->grpc, &c->call, &c->details, &c->metadata, s->queue, s->queue,
                                      &c->arrived);
    if (rc != GRPC_CALL_OK) {
        if (!atomic_load(&s->stopping))
            log_write(LOG_ERROR, "rpc", "the core refuses to wait for %s (%d)",
                      m ? m->path : "unknown methods", (int)rc);
        rpc_unref(c);
    }
}

static void *serve(void *arg)
{
    server *s = arg;
    for (;;) {
        grpc_event ev = grpc_completion_queue_next(s->queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
        if (ev.type == GRPC_QUEUE_SHUTDOWN)
            return NULL;
        if (ev.type == GRPC_OP_COMPLETE && ev.tag) {
            struct rpc_tag *tag = ev.tag;
            tag->done(tag, ev.success);
        }
    }
}

/* ---- the server ---- */

static cuzk_status open_port(server *s, const server_options *o, cuzk_error *err)
{
    grpc_server_credentials *credentials = NULL;
    cuzk_status st = listen_credentials(&credentials, o, err);
    if (st)
        return st;
    int port = grpc_server_add_http2_port(s->grpc, o->listen, credentials);
    grpc_server_credentials_release(credentials);
    if (port <= 0 && o->tls_cert && *o->tls_cert) {
        /* The core does not say which it was; without TLS it can only be the address. */
        credentials = grpc_insecure_server_credentials_create();
        port = grpc_server_add_http2_port(s->grpc, o->listen, credentials);
        grpc_server_credentials_release(credentials);
        if (port > 0)
            return cuzk_error_set(
                err, CUZK_BAD_INPUT,
                "tls.cert, tls.key and tls.client_ca cannot be used: one of %s, %s and %s is "
                "damaged, or the key belongs to another certificate",
                o->tls_cert, o->tls_key,
                o->tls_client_ca && *o->tls_client_ca ? o->tls_client_ca : "(no client CA)");
    }
    if (port <= 0)
        return cuzk_error_set(err, CUZK_IO_ERROR,
                              "cannot listen on %s: the address is in use or not this machine's", o->listen);
    s->port = s->socket_path ? 0 : port;
    return CUZK_OK;
}

static cuzk_status start_threads(server *s, cuzk_error *err)
{
    for (unsigned i = 0; i < s->threads; i++) {
        int rc = pthread_create(&s->thread[i], NULL, serve, s);
        if (rc)
            return cuzk_error_set(err, CUZK_OUT_OF_MEMORY, "cannot start a thread for gRPC: %s",
                                  strerror(rc));
        s->started++;
    }
    return CUZK_OK;
}

cuzk_status server_start(server **out, engine *e, const server_options *o, cuzk_error *err)
{
    *out = NULL;
    server *s = mem_calloc(1, sizeof(*s));
    if (!s)
        return mem_error(err, sizeof(*s), "the gRPC server");
    grpc_init();
    s->engine = e;
    s->lock_fd = -1;
    s->threads = o->threads ? o->threads : 2;
    s->methods = SERVER_METHODS;
    s->method_count = SERVER_METHOD_COUNT;
    pthread_mutex_init(&s->token_lock, NULL);
    cuzk_status st = CUZK_OK;
    s->thread = mem_calloc(s->threads, sizeof(pthread_t));
    s->handles = mem_calloc(s->method_count, sizeof(void *));
    if (!s->thread || !s->handles)
        st = mem_error(err, 1024, "the gRPC server");
    if (!st && o->token_file && *o->token_file) {
        s->token_path = strdup(o->token_file);
        st = token_read(&s->token, o->token_file, err);
    }
    if (!st)
        st = health_create(s, err);
    if (!st)
        st = listen_lock_socket(s, o->listen, err);
    if (st)
        goto failed;
    grpc_arg args[] = {
        {GRPC_ARG_INTEGER,
         (char *)GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH,
         {.integer = (int)SERVER_MESSAGE_LIMIT}},
        {GRPC_ARG_INTEGER, (char *)GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, {.integer = (int)SERVER_MESSAGE_LIMIT}},
        {GRPC_ARG_INTEGER,
         (char *)GRPC_ARG_ALLOW_REUSEPORT,
         {.integer = 0}}, /* a second instance must fail */
        {GRPC_ARG_INTEGER, (char *)GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, {.integer = 1}},
        {GRPC_ARG_INTEGER, (char *)GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, {.integer = 5000}},
    };
    grpc_channel_args channel_args = {sizeof(args) / sizeof(args[0]), args};
    s->grpc = grpc_server_create(&channel_args, NULL);
    s->queue = grpc_completion_queue_create_for_next(NULL);
    grpc_server_register_completion_queue(s->grpc, s->queue, NULL);
    for (size_t i = 0; i < s->method_count; i++)
        s->handles[i] = grpc_server_register_method(s->grpc, s->methods[i].path, NULL,
                                                    GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER, 0);
    st = open_port(s, o, err);
    if (st)
        goto failed;
    grpc_server_start(s->grpc);
    for (size_t i = 0; i < s->method_count; i++)
        arm(s, &s->methods[i]);
    arm(s, NULL);
    st = start_threads(s, err);
    if (!st)
        st = health_start(s, err);
    if (st)
        goto failed;
    listen_warn_public(o);
    *out = s;
    return CUZK_OK;
failed:
    server_stop(s, 0);
    return st;
}

int server_port(const server *s)
{
    return s->port;
}

static void on_shutdown(struct rpc_tag *tag, int ok)
{
    (void)tag;
    (void)ok;
}

/* Shuts the core down. The completion queue goes last, after every call is over: a batch started on a queue
 * that is shut down aborts the process. */
static void stop_core(server *s, uint64_t grace_ms)
{
    static struct rpc_tag shutdown_tag = {on_shutdown};
    grpc_completion_queue *notice = grpc_completion_queue_create_for_pluck(NULL);
    grpc_server_shutdown_and_notify(s->grpc, notice, &shutdown_tag);
    gpr_timespec until =
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis((int64_t)grace_ms, GPR_TIMESPAN));
    grpc_event ev = grpc_completion_queue_pluck(notice, &shutdown_tag, until, NULL);
    if (ev.type == GRPC_QUEUE_TIMEOUT) {
        grpc_server_cancel_all_calls(s->grpc);
        grpc_completion_queue_pluck(notice, &shutdown_tag, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
    }
    grpc_completion_queue_shutdown(notice);
    grpc_completion_queue_destroy(notice);
}

void server_stop(server *s, uint64_t grace_ms)
{
    if (!s)
        return;
    atomic_store(&s->stopping, 1);
    health_stop(s);
    if (s->grpc) {
        /* grpc_server_shutdown needs registered queues that somebody drains. */
        stop_core(s, grace_ms);
        grpc_completion_queue_shutdown(s->queue);
        if (!s->started)
            serve(s);
        for (unsigned i = 0; i < s->started; i++)
            pthread_join(s->thread[i], NULL);
        grpc_server_destroy(s->grpc);
        grpc_completion_queue_destroy(s->queue);
    }
    health_free(s);
    listen_unlock_socket(s);
    if (s->token)
        mem_wipe(s->token, strlen(s->token));
    mem_free(s->token);
    mem_free(s->token_path);
    mem_free(s->thread);
    mem_free(s->handles);
    mem_free(s->socket_path);
    pthread_mutex_destroy(&s->token_lock);
    mem_free(s);
    grpc_shutdown();
}

cuzk_status server_reload_token(server *s, cuzk_error *err)
{
    if (!s->token_path)
        return CUZK_OK;
    char *token;
    cuzk_status st = token_read(&token, s->token_path, err);
    if (st)
        return st;
    pthread_mutex_lock(&s->token_lock);
    char *old = s->token;
    s->token = token;
    pthread_mutex_unlock(&s->token_lock);
    mem_wipe(old, strlen(old));
    mem_free(old);
    return CUZK_OK;
}
