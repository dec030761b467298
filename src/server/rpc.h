/* One gRPC call on the server's side, on top of the C core's completion queue.
 *
 * A call is held by two operations: the reply, and the notice that the call is over (which comes also when
 * the client goes away). It is freed when both have come back. The handler either replies at once or keeps
 * the call and replies later from any thread; exactly one reply is sent, the first. */
#ifndef SERVER_RPC_H
#define SERVER_RPC_H
#include "server/server.h"
#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <pthread.h>
#include <stdatomic.h>

struct ProtobufCMessage;
typedef struct rpc_call rpc_call;
typedef struct rpc_method {
    const char *path; /* "/cuzk.v1.ProvingEngine/SubmitProof" */
    /* data, size: the request message, valid during the call. */
    void (*handle)(rpc_call *c, const uint8_t *data, size_t size);
    int open; /* answered without a token (health) */
    /* A stream of messages: the handler is called for each message of the client, with data NULL once the
     * client has closed its side, and answers each call by rpc_send, rpc_send_and_receive or rpc_fail. */
    int streaming;
} rpc_method;

struct rpc_tag { /* what a completion queue event points to */
    void (*done)(struct rpc_tag *tag, int ok);
};

struct rpc_call {
    server *server;
    const rpc_method *method; /* NULL: unknown methods */
    struct rpc_tag arrived, closed, replied, streamed;
    grpc_call *call;
    grpc_call_details details; /* of unknown methods */
    grpc_metadata_array metadata, trailing;
    grpc_byte_buffer *payload, *answer;
    gpr_timespec deadline;
    int cancelled; /* filled by the core when the call is over */
    atomic_int references, answered, gone;
    grpc_slice status_details;
    /* Streams: what is under way, and who is told of its end. */
    grpc_byte_buffer *outgoing, *incoming;
    int headers_sent;
    void (*sent)(rpc_call *c, void *ctx, int ok);
    void *sent_ctx;
    /* What a handler keeps while it waits: called once if the client goes away before the reply. */
    pthread_mutex_t lock;
    void (*on_gone)(rpc_call *c, void *ctx);
    void *on_gone_ctx;
};

/* Sends the reply; data is copied. Only the first reply of a call is sent. */
void rpc_reply(rpc_call *c, const void *data, size_t size);
void rpc_fail(rpc_call *c, grpc_status_code code, const char *message);
/* Streams (stream.c). One send at a time: sent runs once, on a thread of the server, when the message is on
 * its way (ok) or the client is gone (not ok); where the send cannot begin it runs before the return. data is
 * copied. */
void rpc_send(rpc_call *c, const void *data, size_t size, void (*sent)(rpc_call *c, void *ctx, int ok),
              void *ctx);
/* Sends, then hands the client's next message to the method's handler. */
void rpc_send_and_receive(rpc_call *c, const void *data, size_t size);
/* Ends a stream; rpc_fail ends it with another status. */
void rpc_finish(rpc_call *c);
/* Hands a message of the client to the method's handler (NULL: the client closed its side). Frees it. */
void rpc_dispatch(rpc_call *c, grpc_byte_buffer *message);
/* The gRPC status that belongs to a cuzk status. */
void rpc_fail_error(rpc_call *c, const cuzk_error *e);
/* Keeps the call alive beyond the handler. */
void rpc_ref(rpc_call *c);
void rpc_unref(rpc_call *c);
/* Sets what happens when the client goes away; returns 0 if it is gone already (then nothing is set). */
int rpc_on_gone(rpc_call *c, void (*fn)(rpc_call *c, void *ctx), void *ctx);
/* Takes the notice back: 1 if it had not run and will not. */
int rpc_forget_gone(rpc_call *c);
/* Milliseconds left until the client's deadline; UINT64_MAX without one. */
uint64_t rpc_time_left_ms(const rpc_call *c);

struct server {
    engine *engine;
    grpc_server *grpc;
    grpc_completion_queue *queue;
    pthread_t *thread;
    unsigned threads, started;
    int port, lock_fd;
    char *socket_path, *token_path;
    pthread_mutex_t token_lock;
    char *token; /* NULL: none is asked for */
    atomic_int stopping;
    const rpc_method *methods;
    void **handles; /* registered methods */
    size_t method_count;
    struct health *health;
};
extern const rpc_method SERVER_METHODS[];
extern const size_t SERVER_METHOD_COUNT;

/* methods.c */
void rpc_send_message(rpc_call *c, const struct ProtobufCMessage *m);
/* health.c: grpc.health.v1. The watcher tells those who watch of changes; health_stop ends their streams and
 * is called before the core is shut down, health_free after. */
void health_handle_check(rpc_call *c, const uint8_t *data, size_t size);
void health_handle_watch(rpc_call *c, const uint8_t *data, size_t size);
cuzk_status health_create(server *s, cuzk_error *err);
cuzk_status health_start(server *s, cuzk_error *err);
void health_stop(server *s);
void health_free(server *s);
/* reflection.c: grpc.reflection.v1 and v1alpha */
void reflection_handle(rpc_call *c, const uint8_t *data, size_t size);

/* listen.c: credentials from PEM files; the lock that keeps a second instance from a unix socket; the token.
 */
cuzk_status listen_credentials(grpc_server_credentials **out, const server_options *o, cuzk_error *err);
cuzk_status listen_lock_socket(server *s, const char *address, cuzk_error *err);
void listen_unlock_socket(server *s);
/* A sentence in the log where other machines may come in without showing who they are. */
void listen_warn_public(const server_options *o);
cuzk_status token_read(char **out, const char *path, cuzk_error *err);
/* 1 if the call may pass. */
int token_accepts(server *s, const grpc_metadata_array *metadata);
#endif
