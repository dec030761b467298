/* cuzk doctor: where the daemon is going to listen. */
#include "cli/doctor.h"
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int answered(const char *address)
{
#ifdef CUZK_HAVE_CLIENT
    return doctor_daemon_answers(address);
#else
    (void)address;
    return 0;
#endif
}

static void look_at_socket(doctor *d, const char *address, int *running)
{
    const char *path = address + 5 + (strncmp(address + 5, "//", 2) ? 0 : 2), *slash = strrchr(path, '/');
    char dir[256];
    struct stat st;
    snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + (slash == path) : 1, slash ? path : ".");
    if (strlen(path) > 100)
        doctor_say(d, PROBLEM, "socket", "the path of a unix socket is at most 100 bytes: shorten %s", path);
    else if (!stat(path, &st) && !S_ISSOCK(st.st_mode))
        doctor_say(d, PROBLEM, "socket", "%s is there and no socket: move it away or choose another path",
                   path);
    else if (!stat(path, &st) && (*running = answered(address)))
        doctor_say(d, FINE, "socket", "a daemon answers on %s", path);
    else if (!strcmp(dir, "/run/cuzk") && access(dir, F_OK))
        doctor_say(d, FINE, "socket", "%s: the folder is made when the service starts", path);
    else if (access(dir, W_OK | X_OK))
        doctor_say(d, PROBLEM, "socket",
                   "%s: the folder cannot be written: %s; make it, or give the user permission", path,
                   strerror(errno));
    else
        doctor_say(d, FINE, "socket", "%s can be made", path);
}

static int is_local(const char *address)
{
    static const char *const LOCAL[] = {"unix:", "127.", "localhost:", "[::1]:"};
    for (size_t i = 0; i < sizeof(LOCAL) / sizeof(LOCAL[0]); i++)
        if (!strncmp(address, LOCAL[i], strlen(LOCAL[i])))
            return 1;
    return 0;
}

/* Is the address free to listen on? *running: a daemon answers at the door for jobs. The status page comes
 * after that door (rpc is false), and where that daemon runs the page's port is its own. */
static void look_at_port(doctor *d, const char *address, int rpc, int *running)
{
    char host[256];
    const char *colon = strrchr(address, ':');
    if (!colon || (size_t)(colon - address) >= sizeof(host)) {
        doctor_say(d, PROBLEM, "port", "\"%.80s\" is not HOST:PORT", address);
        return;
    }
    size_t n = (size_t)(colon - address);
    int brackets = n > 1 && *address == '[' && colon[-1] == ']';
    snprintf(host, sizeof(host), "%.*s", (int)(n - 2u * (unsigned)brackets), address + brackets);
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM}, *list;
    int rc = getaddrinfo(*host ? host : NULL, colon + 1, &hints, &list);
    if (rc) {
        doctor_say(d, PROBLEM, "port", "%s: %s; correct the address", address, gai_strerror(rc));
        return;
    }
    int fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    int why = fd < 0 || bind(fd, list->ai_addr, list->ai_addrlen) ? errno : 0;
    if (!why)
        doctor_say(d, FINE, "port", "%s is free", address);
    else if (why == EADDRINUSE && rpc && (*running = answered(address)))
        doctor_say(d, FINE, "port", "a daemon answers on %s", address);
    else if (why == EADDRINUSE && !rpc && *running)
        doctor_say(d, FINE, "port", "%s is in use while the daemon runs", address);
    else
        doctor_say(
            d, PROBLEM, "port", "%s cannot be listened on: %s%s", address, strerror(why),
            why == EADDRINUSE
                ? "; another program (perhaps a running daemon) has it: stop it or choose another port "
                  "(ss -ltnp)"
            : why == EACCES ? "; choose a port above 1023"
                            : "; choose an address of this machine");
    if (fd >= 0)
        close(fd);
    freeaddrinfo(list);
}

void doctor_look_at_doors(doctor *d)
{
    const doctor_plan *p = &d->plan;
    int running = 0;
    if (!strncmp(p->listen, "unix:", 5))
        look_at_socket(d, p->listen, &running);
    else
        look_at_port(d, p->listen, 1, &running);
    if (!is_local(p->listen) && !p->guarded)
        doctor_say(
            d, NOTE, "port",
            "%s takes jobs from any machine%s: set auth.token_file or tls.client_ca, or listen on 127.0.0.1, "
            "a private interface or a unix socket",
            p->listen, p->encrypted ? "" : ", without encryption or token");
    else if (!is_local(p->listen) && !p->encrypted)
        doctor_say(d, NOTE, "port",
                   "%s asks for a token but does not encrypt: whoever sees the traffic learns the token; set "
                   "tls.cert "
                   "and tls.key",
                   p->listen);
    if (!*p->status_listen)
        return;
    look_at_port(d, p->status_listen, 0, &running);
    if (!is_local(p->status_listen))
        doctor_say(
            d, NOTE, "port",
            "the status page on %s is open to any machine: listen on 127.0.0.1 and let a proxy that asks for "
            "a password carry it",
            p->status_listen);
}
