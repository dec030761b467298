/* Calls of many messages: one send at a time, and the client's next message after it. */
#include "base/log.h"
#include "server/rpc.h"
#include <string.h>

static void drop_outgoing(rpc_call *c)
{
    if (c->outgoing)
        grpc_byte_buffer_destroy(c->outgoing);
    c->outgoing = NULL;
}

/* Starts a batch of the message and, where asked for, the next receive. Non-zero: it did not start. */
static int start(rpc_call *c, const void *data, size_t size, int receive)
{
    if (atomic_load(&c->answered) || atomic_load(&c->gone))
        return -1;
    grpc_op ops[3];
    memset(ops, 0, sizeof(ops));
    size_t n = 0;
    if (!c->headers_sent)
        ops[n++].op = GRPC_OP_SEND_INITIAL_METADATA;
    c->headers_sent = 1;
    grpc_slice slice = grpc_slice_from_copied_buffer(data ? data : "", size);
    c->outgoing = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    ops[n].op = GRPC_OP_SEND_MESSAGE;
    ops[n++].data.send_message.send_message = c->outgoing;
    if (receive) {
        ops[n].op = GRPC_OP_RECV_MESSAGE;
        ops[n++].data.recv_message.recv_message = &c->incoming;
    }
    rpc_ref(c);
    if (grpc_call_start_batch(c->call, ops, n, &c->streamed, NULL) == GRPC_CALL_OK)
        return 0;
    log_write(LOG_ERROR, "rpc", "a message of a stream could not be sent");
    drop_outgoing(c);
    rpc_unref(c);
    return -1;
}

static void on_sent(struct rpc_tag *tag, int ok)
{
    rpc_call *c = (rpc_call *)((char *)tag - offsetof(rpc_call, streamed));
    void (*sent)(rpc_call *, void *, int) = c->sent;
    void *ctx = c->sent_ctx;
    drop_outgoing(c);
    sent(c, ctx, ok);
    rpc_unref(c);
}

void rpc_send(rpc_call *c, const void *data, size_t size, void (*sent)(rpc_call *c, void *ctx, int ok),
              void *ctx)
{
    c->sent = sent;
    c->sent_ctx = ctx;
    c->streamed.done = on_sent;
    if (start(c, data, size, 0))
        sent(c, ctx, 0);
}

static void on_received(struct rpc_tag *tag, int ok)
{
    rpc_call *c = (rpc_call *)((char *)tag - offsetof(rpc_call, streamed));
    drop_outgoing(c);
    grpc_byte_buffer *message = c->incoming;
    c->incoming = NULL;
    if (ok)
        rpc_dispatch(c, message);
    else if (message)
        grpc_byte_buffer_destroy(message);
    if (!ok)
        rpc_fail(c, GRPC_STATUS_CANCELLED, "the client went away");
    rpc_unref(c);
}

void rpc_send_and_receive(rpc_call *c, const void *data, size_t size)
{
    c->streamed.done = on_received;
    if (start(c, data, size, 1))
        rpc_fail(c, GRPC_STATUS_CANCELLED, "the client went away");
}
