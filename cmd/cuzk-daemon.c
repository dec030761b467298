/* cuzk-daemon: reads the configuration, starts the engine and its doors, waits for signals. */
#include "base/log.h"
#include "engine/engine.h"
#include "server/http.h"
#include "server/notify.h"
#include "server/server.h"
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_CONFIG "/data/zk/cuzk.toml"
#define GRACE_MS       5000

static void print_help(void)
{
    printf("usage: cuzk-daemon [--config FILE] [--listen ADDR] [--log-level LEVEL]\n\n"
           "  -c, --config FILE      configuration (default " DEFAULT_CONFIG " if it exists)\n"
           "  -l, --listen ADDR      HOST:PORT or unix:///path, over daemon.listen\n"
           "      --log-level LEVEL  trace, debug, info, warn, error; over logging.level\n"
           "      --version\n\n"
           "SIGTERM and SIGINT finish what runs (daemon.drain limits the time); a second one stops at once.\n"
           "SIGHUP reads the configuration again.\n");
}

static void report(void *ctx, int is_error, const char *sentence)
{
    (void)ctx;
    log_write(is_error ? LOG_ERROR : LOG_WARN, "config", "%s", sentence);
}

typedef struct daemon_args {
    const char *config, *listen, *level;
} daemon_args;

static int parse_args(daemon_args *a, int argc, char **argv)
{
    static const struct option LONG[] = {
        {"config", required_argument, NULL, 'c'},    {"listen", required_argument, NULL, 'l'},
        {"log-level", required_argument, NULL, 'L'}, {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},         {NULL, 0, NULL, 0}};
    int o;
    while ((o = getopt_long(argc, argv, "c:l:h", LONG, NULL)) != -1) {
        switch (o) {
        case 'c':
            a->config = optarg;
            break;
        case 'l':
            a->listen = optarg;
            break;
        case 'L':
            a->level = optarg;
            break;
        case 'h':
            print_help();
            return 1;
        case 'V':
            printf("cuzk-daemon %s\n", CUZK_VERSION);
            return 1;
        default:
            return -1;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "cuzk-daemon: unexpected argument \"%.80s\"; see --help\n", argv[optind]);
        return -1;
    }
    return 0;
}

/* File, then command line. */
static cuzk_status read_config(config *c, const daemon_args *a, cuzk_error *err)
{
    const char *path = a->config;
    if (!path && access(DEFAULT_CONFIG, R_OK) == 0)
        path = DEFAULT_CONFIG;
    config_defaults(c);
    cuzk_status s = path ? config_load(c, path, 0, report, NULL, err) : CUZK_OK;
    if (!s && a->listen)
        s = config_set(c, "daemon", "listen", a->listen, err);
    if (!s && a->level)
        s = config_set(c, "logging", "level", a->level, err);
    return s;
}

static void apply_logging(const config *c)
{
    log_level level = LOG_INFO;
    log_level_parse(&level, c->logging.level);
    log_configure(level, strcmp(c->logging.format, "json") ? LOG_TEXT : LOG_JSON);
}

static void reload(const daemon_args *a, engine *e, server *s)
{
    config c;
    cuzk_error err = {0};
    notify_reloading();
    if (read_config(&c, a, &err) || engine_reload(e, &c, &err) || server_reload_token(s, &err)) {
        log_write(LOG_ERROR, "daemon", "the configuration is not taken over: %s", err.message);
    } else {
        apply_logging(&c);
        log_write(LOG_INFO, "daemon", "configuration read again");
    }
    notify_send("READY=1");
}

/* Tells the service manager that the engine lives: a lock that is never released keeps this from returning.
 */
static void report_alive(engine *e)
{
    engine_status s;
    cuzk_error err = {0};
    if (engine_get_status(e, &s, &err)) {
        log_write(LOG_ERROR, "daemon", "the engine does not say how it is: %s", err.message);
        return;
    }
    engine_status_clear(&s);
    notify_send("WATCHDOG=1");
}

/* Waits for SIGTERM or SIGINT; reloads and feeds the watchdog meanwhile. */
static void wait_for_end(const daemon_args *a, const sigset_t *signals, engine *e, server *s)
{
    uint64_t interval = notify_watchdog_us() / 3;
    struct timespec t = {(time_t)(interval / 1000000), (long)(interval % 1000000) * 1000};
    for (;;) {
        if (interval)
            report_alive(e);
        int sig = interval ? sigtimedwait(signals, NULL, &t) : sigwaitinfo(signals, NULL);
        if (sig == SIGHUP)
            reload(a, e, s);
        else if (sig == SIGTERM || sig == SIGINT)
            return;
    }
}

/* A second signal while draining ends the process at once: jobs are in the store and are resumed. */
static void second_signal(int sig)
{
    (void)sig;
    static const char text[] = "cuzk-daemon: stopped at once; jobs are resumed at the next start\n";
    if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
        _exit(1);
    _exit(1);
}

int main(int argc, char **argv)
{
    daemon_args a = {0};
    int rc = parse_args(&a, argc, argv);
    if (rc)
        return rc < 0 ? 2 : 0;
    /* Blocked before any thread is made, so that every thread inherits it and sigwaitinfo alone receives
     * them. */
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);

    config c;
    cuzk_error err = {0};
    if (read_config(&c, &a, &err)) {
        fprintf(stderr, "cuzk-daemon: %s\n", err.message);
        return 2;
    }
    apply_logging(&c);
    engine *e = NULL;
    server *s = NULL;
    http_server *h = NULL;
    rc = 0;
    cuzk_status st = engine_create(&e, &c, &err);
    server_options o = {.listen = c.daemon.listen,
                        .tls_cert = c.tls.cert,
                        .tls_key = c.tls.key,
                        .tls_client_ca = c.tls.client_ca,
                        .token_file = c.auth.token_file};
    if (!st)
        st = server_start(&s, e, &o, &err);
    if (!st)
        st = http_start(&h, e, c.daemon.status_listen, &err);
    if (st) {
        log_write(LOG_ERROR, "daemon", "%s", err.message);
        server_stop(s, 0);
        engine_destroy(e);
        return st == CUZK_INVALID_ARGUMENT || st == CUZK_BAD_INPUT ? 2 : 3;
    }
    if (server_port(s))
        log_write(LOG_INFO, "daemon", "cuzk %s listens on %s (port %d)", CUZK_VERSION, c.daemon.listen,
                  server_port(s));
    else
        log_write(LOG_INFO, "daemon", "cuzk %s listens on %s", CUZK_VERSION, c.daemon.listen);
    notify_send("READY=1");
    wait_for_end(&a, &signals, e, s);
    notify_send("STOPPING=1");
    log_write(LOG_INFO, "daemon", "stopping: no new jobs, %llu s for those that run",
              (unsigned long long)c.daemon.drain_ms / 1000);
    signal(SIGTERM, second_signal);
    signal(SIGINT, second_signal);
    sigprocmask(SIG_UNBLOCK, &signals, NULL);
    engine_drain(e, c.daemon.drain_ms);
    http_stop(h);
    server_stop(s, GRACE_MS);
    engine_destroy(e);
    log_write(LOG_INFO, "daemon", "stopped");
    return rc;
}
