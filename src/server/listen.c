/* Where the server listens and who may come in: TLS credentials, the lock of a unix socket, the bearer token.
 */
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/rpc.h"
#include <errno.h>
#include <fcntl.h>
#include <grpc/grpc_security.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define PEM_LIMIT ((size_t)1 << 20)

static int given(const char *path)
{
    return path && *path;
}

/* A file that the configuration names and that cannot be read is unusable input, not a failing machine. */
static cuzk_status unusable(cuzk_status s, const char *option, cuzk_error *err)
{
    cuzk_error_prefix(err, "%s", option);
    if (s == CUZK_OUT_OF_MEMORY || !err)
        return s;
    return err->status = CUZK_BAD_INPUT;
}

/* The core aborts on a NULL key or certificate and takes anything else for PEM: look before handing it over.
 */
static cuzk_status read_pem(char **out, const char *path, const char *what, const char *marker,
                            cuzk_error *err)
{
    uint8_t *data;
    size_t size;
    cuzk_status s = file_read(&data, &size, path, PEM_LIMIT, err);
    if (s) {
        char option[32];
        snprintf(option, sizeof(option), "tls.%s", what);
        return unusable(s, option, err);
    }
    if (!strstr((char *)data, "-----BEGIN ") || !strstr((char *)data, marker)) {
        mem_wipe(data, size);
        mem_free(data);
        return cuzk_error_set(err, CUZK_BAD_INPUT, "tls.%s: %s holds no PEM block of a %s", what, path,
                              marker);
    }
    *out = (char *)data;
    return CUZK_OK;
}

cuzk_status listen_credentials(grpc_server_credentials **out, const server_options *o, cuzk_error *err)
{
    if (!given(o->tls_cert) && !given(o->tls_key)) {
        if (given(o->tls_client_ca))
            return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                                  "tls.client_ca needs tls.cert and tls.key beside it");
        *out = grpc_insecure_server_credentials_create();
        return CUZK_OK;
    }
    if (!given(o->tls_cert) || !given(o->tls_key))
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "tls.cert and tls.key go together: one of them is missing");
    char *cert = NULL, *key = NULL, *ca = NULL;
    cuzk_status s = read_pem(&cert, o->tls_cert, "cert", "CERTIFICATE", err);
    if (!s)
        s = read_pem(&key, o->tls_key, "key", "PRIVATE KEY", err);
    if (!s && given(o->tls_client_ca))
        s = read_pem(&ca, o->tls_client_ca, "client_ca", "CERTIFICATE", err);
    if (!s) {
        grpc_ssl_pem_key_cert_pair pair = {key, cert};
        *out = grpc_ssl_server_credentials_create_ex(
            ca, &pair, 1,
            ca ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
               : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
            NULL);
        if (!*out)
            s = cuzk_error_set(err, CUZK_BAD_INPUT, "tls.cert and tls.key cannot be used together");
    }
    if (key)
        mem_wipe(key, strlen(key));
    mem_free(cert);
    mem_free(key);
    mem_free(ca);
    return s;
}

/* gRPC would unlink a socket that another instance listens on; a lock beside the socket keeps them apart. */
cuzk_status listen_lock_socket(server *s, const char *address, cuzk_error *err)
{
    if (strncmp(address, "unix:", 5) != 0)
        return CUZK_OK;
    const char *path = address + 5;
    if (!strncmp(path, "//", 2))
        path += 2;
    if (!*path)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "daemon.listen: unix: needs a path");
    if (strlen(path) > 100)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "daemon.listen: the path of a unix socket is at most 100 bytes: %s", path);
    size_t n = strlen(path) + 8;
    char *lock = mem_alloc(n);
    s->socket_path = strdup(path);
    if (!lock || !s->socket_path) {
        mem_free(lock);
        return mem_error(err, n, "the socket's lock");
    }
    snprintf(lock, n, "%s.lock", path);
    s->lock_fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    cuzk_status st = CUZK_OK;
    if (s->lock_fd < 0)
        st = cuzk_error_set(err, CUZK_IO_ERROR, "cannot create %s: %s", lock, strerror(errno));
    else if (flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0)
        st = cuzk_error_set(err, CUZK_BUSY, "another instance listens on %s (it holds %s)", path, lock);
    mem_free(lock);
    return st;
}

void listen_unlock_socket(server *s)
{
    if (s->lock_fd < 0)
        return;
    /* The lock file stays: removing it would open a gap between two starts. */
    close(s->lock_fd);
    s->lock_fd = -1;
}

static int is_local(const char *address)
{
    static const char *const LOCAL[] = {"unix:", "127.", "localhost:", "[::1]:", "ipv4:127.", "ipv6:[::1]:"};
    for (size_t i = 0; i < sizeof(LOCAL) / sizeof(LOCAL[0]); i++)
        if (!strncmp(address, LOCAL[i], strlen(LOCAL[i])))
            return 1;
    return 0;
}

void listen_warn_public(const server_options *o)
{
    if (is_local(o->listen))
        return;
    int tls = given(o->tls_cert), token = given(o->token_file), certificates = given(o->tls_client_ca);
    if (!tls && !token)
        log_write(LOG_WARN, "rpc",
                  "%s takes jobs from any machine, without encryption or token: set tls.cert and tls.key and "
                  "auth.token_file, or listen on 127.0.0.1 or a unix socket",
                  o->listen);
    else if (!tls)
        log_write(LOG_WARN, "rpc",
                  "%s asks for a token but does not encrypt: whoever sees the traffic learns the token; set "
                  "tls.cert and tls.key",
                  o->listen);
    else if (!token && !certificates)
        log_write(LOG_WARN, "rpc",
                  "%s encrypts but takes jobs from any machine: set auth.token_file or tls.client_ca",
                  o->listen);
}

cuzk_status token_read(char **out, const char *path, cuzk_error *err)
{
    uint8_t *data;
    size_t size;
    cuzk_status s = file_read(&data, &size, path, 4096, err);
    if (s)
        return unusable(s, "auth.token_file", err);
    while (size && (data[size - 1] == '\n' || data[size - 1] == '\r' || data[size - 1] == ' '))
        data[--size] = 0;
    if (size < 16 || strlen((char *)data) != size) {
        mem_wipe(data, size);
        mem_free(data);
        return cuzk_error_set(err, CUZK_BAD_INPUT,
                              "auth.token_file: %s must hold a token of at least 16 characters on one line",
                              path);
    }
    *out = (char *)data;
    return CUZK_OK;
}

/* Takes the same time wherever the first difference lies; the length of the token is no secret. */
static int equal_constant_time(const uint8_t *a, const char *b, size_t n)
{
    volatile uint8_t difference = 0;
    for (size_t i = 0; i < n; i++)
        difference = (uint8_t)(difference | (a[i] ^ (uint8_t)b[i]));
    return !difference;
}

int token_accepts(server *s, const grpc_metadata_array *metadata)
{
    pthread_mutex_lock(&s->token_lock);
    int ok = !s->token;
    size_t n = s->token ? strlen(s->token) : 0;
    for (size_t i = 0; s->token && i < metadata->count && !ok; i++) {
        if (grpc_slice_str_cmp(metadata->metadata[i].key, "authorization"))
            continue;
        const uint8_t *v = GRPC_SLICE_START_PTR(metadata->metadata[i].value);
        size_t size = GRPC_SLICE_LENGTH(metadata->metadata[i].value);
        ok = size == n + 7 && !memcmp(v, "Bearer ", 7) && equal_constant_time(v + 7, s->token, n);
    }
    pthread_mutex_unlock(&s->token_lock);
    return ok;
}
