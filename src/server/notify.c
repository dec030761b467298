#include "server/notify.h"
#include "base/clock.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void notify_send(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    size_t n = path ? strlen(path) : 0;
    if (n < 2 || n >= sizeof(a.sun_path) || (*path != '/' && *path != '@'))
        return;
    memcpy(a.sun_path, path, n);
    if (*path == '@') /* an abstract socket */
        a.sun_path[0] = 0;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + (*path == '/'));
    /* Nothing to be done if it fails: the service manager draws its own conclusions. */
    ssize_t sent = sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&a, size);
    (void)sent;
    close(fd);
}

void notify_reloading(void)
{
    char text[80];
    snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)(clock_ns() / 1000));
    notify_send(text);
}

uint64_t notify_watchdog_us(void)
{
    const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    if (!usec || (pid && strtoll(pid, NULL, 10) != (long long)getpid()))
        return 0;
    return strtoull(usec, NULL, 10);
}
