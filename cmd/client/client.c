#include "client/client.h"
#include "base/mem.h"
#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_LIMIT (256 << 20)

struct client {
    grpc_channel *channel;
    grpc_completion_queue *queue;
    char *address;
    char *authorization; /* "Bearer TOKEN" or NULL */
};

static cuzk_status read_text(char **out, const char *path, cuzk_error *err)
{
    *out = NULL;
    size_t size;
    return path ? file_read((uint8_t **)out, &size, path, 1 << 20, err) : CUZK_OK;
}

static cuzk_status channel_credentials(grpc_channel_credentials **out, const char *ca, const char *cert,
                                       const char *key, cuzk_error *err)
{
    if (!ca) {
        if (cert || key)
            return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "--tls-cert and --tls-key need --tls-ca");
        *out = grpc_insecure_credentials_create();
        return CUZK_OK;
    }
    if (!cert != !key)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "--tls-cert and --tls-key go together");
    char *ca_pem, *cert_pem = NULL, *key_pem = NULL;
    cuzk_status s = read_text(&ca_pem, ca, err);
    if (!s)
        s = read_text(&cert_pem, cert, err);
    if (!s)
        s = read_text(&key_pem, key, err);
    if (!s) {
        grpc_ssl_pem_key_cert_pair pair = {key_pem, cert_pem};
        *out = grpc_ssl_credentials_create(ca_pem, cert_pem ? &pair : NULL, NULL, NULL);
        if (!*out)
            s = cuzk_error_set(err, CUZK_BAD_INPUT, "the TLS files cannot be used together");
    }
    if (key_pem)
        mem_wipe(key_pem, strlen(key_pem));
    mem_free(ca_pem);
    mem_free(cert_pem);
    mem_free(key_pem);
    return s;
}

static cuzk_status read_authorization(client *c, const char *path, cuzk_error *err)
{
    char *token;
    cuzk_status s = read_text(&token, path, err);
    if (s || !token)
        return s;
    token[strcspn(token, " \r\n")] = 0;
    size_t n = strlen(token) + 8;
    c->authorization = mem_alloc(n);
    if (c->authorization)
        snprintf(c->authorization, n, "Bearer %s", token);
    else
        s = mem_error(err, n, "the token");
    mem_wipe(token, strlen(token));
    mem_free(token);
    return s;
}

cuzk_status client_open(client **out, const char *addr, const char *ca, const char *cert, const char *key,
                        const char *token_file, cuzk_error *err)
{
    *out = NULL;
    if (!addr)
        addr = getenv("CUZK_ADDR");
    if (!addr || !*addr)
        addr = "127.0.0.1:9820";
    client *c = mem_calloc(1, sizeof(*c));
    if (!c)
        return mem_error(err, sizeof(*c), "a gRPC client");
    grpc_init();
    grpc_channel_credentials *credentials = NULL;
    cuzk_status s = channel_credentials(&credentials, ca, cert, key, err);
    if (!s && token_file)
        s = read_authorization(c, token_file, err);
    c->address = strdup(addr);
    if (!s && !c->address)
        s = mem_error(err, strlen(addr), "a gRPC client");
    if (!s) {
        grpc_arg args[] = {
            {GRPC_ARG_INTEGER, (char *)GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, {.integer = MESSAGE_LIMIT}},
            {GRPC_ARG_INTEGER, (char *)GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, {.integer = MESSAGE_LIMIT}},
            {GRPC_ARG_INTEGER, (char *)GRPC_ARG_ENABLE_HTTP_PROXY, {.integer = 0}},
        };
        grpc_channel_args channel_args = {3, args};
        c->channel = grpc_channel_create(addr, credentials, &channel_args);
        c->queue = grpc_completion_queue_create_for_pluck(NULL);
    }
    if (credentials)
        grpc_channel_credentials_release(credentials);
    if (s) {
        client_close(c);
        return s;
    }
    *out = c;
    return CUZK_OK;
}

void client_close(client *c)
{
    if (!c)
        return;
    if (c->channel)
        grpc_channel_destroy(c->channel);
    if (c->queue) {
        grpc_completion_queue_shutdown(c->queue);
        grpc_completion_queue_destroy(c->queue);
    }
    if (c->authorization)
        mem_wipe(c->authorization, strlen(c->authorization));
    mem_free(c->authorization);
    free(c->address);
    mem_free(c);
    grpc_shutdown();
}

static cuzk_status status_from_grpc(grpc_status_code code)
{
    switch (code) {
    case GRPC_STATUS_OK:
        return CUZK_OK;
    case GRPC_STATUS_INVALID_ARGUMENT:
        return CUZK_INVALID_ARGUMENT;
    case GRPC_STATUS_NOT_FOUND:
        return CUZK_NOT_FOUND;
    case GRPC_STATUS_RESOURCE_EXHAUSTED:
        return CUZK_BUSY;
    case GRPC_STATUS_UNIMPLEMENTED:
        return CUZK_UNSUPPORTED;
    case GRPC_STATUS_CANCELLED:
        return CUZK_CANCELLED;
    case GRPC_STATUS_DEADLINE_EXCEEDED:
        return CUZK_DEADLINE;
    case GRPC_STATUS_UNAUTHENTICATED:
    case GRPC_STATUS_PERMISSION_DENIED:
        return CUZK_INVALID_ARGUMENT;
    default:
        return CUZK_IO_ERROR;
    }
}

static cuzk_status take_message(grpc_byte_buffer *buffer, uint8_t **reply, size_t *reply_size,
                                cuzk_error *err)
{
    grpc_byte_buffer_reader reader;
    if (!buffer || !grpc_byte_buffer_reader_init(&reader, buffer))
        return cuzk_error_set(err, CUZK_IO_ERROR, "the daemon's answer cannot be read");
    grpc_slice all = grpc_byte_buffer_reader_readall(&reader);
    grpc_byte_buffer_reader_destroy(&reader);
    *reply_size = GRPC_SLICE_LENGTH(all);
    *reply = mem_alloc(*reply_size);
    if (*reply)
        memcpy(*reply, GRPC_SLICE_START_PTR(all), *reply_size);
    grpc_slice_unref(all);
    return *reply ? CUZK_OK : mem_error(err, *reply_size, "the daemon's answer");
}

cuzk_status client_call(client *c, const char *method, const void *request, size_t request_size,
                        uint8_t **reply, size_t *reply_size, uint64_t timeout_ms, cuzk_error *err)
{
    char path[128];
    snprintf(path, sizeof(path), "/cuzk.v1.ProvingEngine/%s", method);
    gpr_timespec deadline = timeout_ms ? gpr_time_add(gpr_now(GPR_CLOCK_REALTIME),
                                                      gpr_time_from_millis((int64_t)timeout_ms, GPR_TIMESPAN))
                                       : gpr_inf_future(GPR_CLOCK_REALTIME);
    grpc_call *call = grpc_channel_create_call(c->channel, NULL, 0, c->queue,
                                               grpc_slice_from_copied_string(path), NULL, deadline, NULL);
    grpc_slice body = grpc_slice_from_copied_buffer(request ? request : "", request_size);
    grpc_byte_buffer *out = grpc_raw_byte_buffer_create(&body, 1), *in = NULL;
    grpc_slice_unref(body);
    grpc_metadata_array initial, trailing;
    grpc_metadata_array_init(&initial);
    grpc_metadata_array_init(&trailing);
    grpc_metadata token = {grpc_slice_from_static_string("authorization"), grpc_empty_slice(), {{NULL}}};
    if (c->authorization)
        token.value = grpc_slice_from_copied_string(c->authorization);
    grpc_status_code code = GRPC_STATUS_UNKNOWN;
    grpc_slice details = grpc_empty_slice();
    grpc_op ops[6];
    memset(ops, 0, sizeof(ops));
    ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
    ops[0].data.send_initial_metadata.count = c->authorization ? 1 : 0;
    ops[0].data.send_initial_metadata.metadata = &token;
    ops[1].op = GRPC_OP_SEND_MESSAGE;
    ops[1].data.send_message.send_message = out;
    ops[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
    ops[3].op = GRPC_OP_RECV_INITIAL_METADATA;
    ops[3].data.recv_initial_metadata.recv_initial_metadata = &initial;
    ops[4].op = GRPC_OP_RECV_MESSAGE;
    ops[4].data.recv_message.recv_message = &in;
    ops[5].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
    ops[5].data.recv_status_on_client.trailing_metadata = &trailing;
    ops[5].data.recv_status_on_client.status = &code;
    ops[5].data.recv_status_on_client.status_details = &details;
    cuzk_status s;
    if (grpc_call_start_batch(call, ops, 6, c, NULL) != GRPC_CALL_OK) {
        s = cuzk_error_set(err, CUZK_IO_ERROR, "the call to %s could not be started", c->address);
    } else {
        grpc_completion_queue_pluck(c->queue, c, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
        s = status_from_grpc(code);
        char *text = grpc_slice_to_c_string(details);
        if (code == GRPC_STATUS_UNAVAILABLE)
            cuzk_error_set(err, s, "no daemon answers at %s: %s", c->address, text);
        else if (s)
            cuzk_error_set(err, s, "%s", text);
        gpr_free(text);
    }
    if (!s)
        s = take_message(in, reply, reply_size, err);
    grpc_slice_unref(details);
    grpc_slice_unref(token.value);
    grpc_metadata_array_destroy(&initial);
    grpc_metadata_array_destroy(&trailing);
    grpc_byte_buffer_destroy(out);
    if (in)
        grpc_byte_buffer_destroy(in);
    grpc_call_unref(call);
    return s;
}

cuzk_status client_from_args(client **out, const cli_args *a, cuzk_error *err)
{
    return client_open(out, cli_text(a, "--addr"), cli_text(a, "--tls-ca"), cli_text(a, "--tls-cert"),
                       cli_text(a, "--tls-key"), cli_text(a, "--token-file"), err);
}
