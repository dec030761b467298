/* What systemd is told (sd_notify's protocol: datagrams to $NOTIFY_SOCKET). Nothing happens where it is not
 * set. */
#ifndef SERVER_NOTIFY_H
#define SERVER_NOTIFY_H
#include <stdint.h>

/* state: "READY=1", "STOPPING=1", "STATUS=...", more than one separated by newlines. */
void notify_send(const char *state);
/* RELOADING=1 with the time that the protocol asks for. */
void notify_reloading(void);
/* Microseconds after which systemd takes the process for hung unless it hears WATCHDOG=1; 0: it does not
 * watch. */
uint64_t notify_watchdog_us(void);
#endif
