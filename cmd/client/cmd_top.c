/* cuzk top: what the daemon is doing, once a second. On a terminal the view is drawn in place; elsewhere one
 * snapshot is printed. Rates come from the difference of two answers. */
#include "base/clock.h"
#include "base/mem.h"
#include "client/client.h"
#include "client/top.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static void measure_terminal(view *v)
{
    struct winsize w;
    v->rows = 24;
    v->columns = 80;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_row && w.ws_col) {
        v->rows = w.ws_row;
        v->columns = w.ws_col;
    }
    v->line = 0;
}

static cuzk_status ask(client *c, Cuzk__V1__GetStatusResponse **out, cuzk_error *err)
{
    Cuzk__V1__GetStatusRequest m = CUZK__V1__GET_STATUS_REQUEST__INIT;
    uint8_t *reply, bytes[16];
    m.jobs = TOP_JOBS;
    size_t size = cuzk__v1__get_status_request__pack(&m, bytes);
    cuzk_status s = client_call(c, "GetStatus", bytes, size, &reply, &size, 5000, err);
    if (s)
        return s;
    *out = cuzk__v1__get_status_response__unpack(NULL, size, reply);
    mem_free(reply);
    return *out ? CUZK_OK
                : cuzk_error_set(err, CUZK_IO_ERROR, "the daemon's answer is not a message of proving.proto");
}

/* Draws one answer, or why there is none. */
static void draw(view *v, client *c, const char *address)
{
    cuzk_error e = {0};
    Cuzk__V1__GetStatusResponse *r = NULL;
    cuzk_status s = ask(c, &r, &e);
    measure_terminal(v);
    printf("\033[H");
    if (s) {
        top_line(v, "%s", e.message);
        top_line(v, "trying again");
        v->seen = 0;
    } else {
        top_count(v, r, clock_ns());
        top_show(v, r, address);
        cuzk__v1__get_status_response__free_unpacked(r, NULL);
    }
    printf("\033[J\033[%d;1H%.*s\033[K", v->rows, v->columns, "q quits");
    fflush(stdout);
}

/* Signals write into a pipe that is waited on: one that comes while a picture is drawn, or in a thread of
 * gRPC, is not lost. */
static int wake[2];
static volatile sig_atomic_t interrupted;
static void on_signal(int sig)
{
    int was = errno;
    if (sig != SIGWINCH) /* that one only draws the new size at once */
        interrupted = sig;
    ssize_t ignored = write(wake[1], "", 1); /* full: it is woken anyway */
    (void)ignored;
    errno = was;
}

/* Until a key, a signal or the time. Returns the key, or 0. */
static char wait_for_key(int *typed, uint64_t interval_ms)
{
    struct pollfd p[2] = {{.fd = wake[0], .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    char key = 0, rest[64];
    if (poll(p, *typed ? 2 : 1, (int)interval_ms) <= 0)
        return 0;
    while (p[0].revents && read(wake[0], rest, sizeof(rest)) > 0)
        ;
    if (*typed && p[1].revents && read(STDIN_FILENO, &key, 1) <= 0)
        *typed = 0; /* the terminal's input is closed */
    return key;
}

/* The alternate screen, without echo, until q or a signal. */
static cuzk_status run_terminal(view *v, client *c, const char *address, uint64_t interval_ms,
                                cuzk_error *err)
{
    struct termios was, raw;
    if (pipe2(wake, O_NONBLOCK | O_CLOEXEC))
        return cuzk_error_set(err, CUZK_IO_ERROR, "cannot make a pipe: %s", strerror(errno));
    int typed = tcgetattr(STDIN_FILENO, &was) == 0, changed = typed;
    if (typed) {
        raw = was;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    signal(SIGWINCH, on_signal);
    printf("\033[?1049h\033[?25l");
    for (char key = 0; !interrupted && key != 'q' && key != 'Q' && key != 3;) {
        draw(v, c, address);
        key = wait_for_key(&typed, interval_ms);
    }
    printf("\033[?25h\033[?1049l");
    fflush(stdout);
    if (changed)
        tcsetattr(STDIN_FILENO, TCSANOW, &was);
    return CUZK_OK;
}

static int run_top(const cli_args *a)
{
    cuzk_error e = {0};
    client *c;
    static view v;
    uint64_t interval = cli_u64(a, "--interval-ms", 1000);
    const char *address =
        cli_text_or(a, "--addr", getenv("CUZK_ADDR") ? getenv("CUZK_ADDR") : "127.0.0.1:9820");
    if (interval < 100 || interval > 3600000)
        return cli_usage_error(a, "--interval-ms takes 100 to 3600000");
    if (client_from_args(&c, a, &e))
        return cli_fail(a, &e);
    v.terminal = isatty(STDOUT_FILENO) && !cli_flag(a, "--once");
    int rc = EXIT_DONE;
    if (v.terminal) {
        if (run_terminal(&v, c, address, interval, &e))
            rc = cli_fail(a, &e);
    } else {
        Cuzk__V1__GetStatusResponse *r;
        if (ask(c, &r, &e)) {
            rc = cli_fail(a, &e);
        } else {
            top_show(&v, r, address);
            cuzk__v1__get_status_response__free_unpacked(r, NULL);
        }
    }
    client_close(c);
    return rc;
}

static const cli_option OPTIONS[] = {
    {"--interval-ms", OPT_U64, "N", "time between two looks (default 1000)", 0},
    {"--once", OPT_FLAG, NULL, "print one snapshot, also on a terminal", 0},
    CLIENT_OPTIONS,
};
const cli_command command_top = {
    .name = "top",
    .positional = "",
    .summary = "watch the daemon: jobs, queues, devices, parameters, proofs a minute",
    .options = OPTIONS,
    .option_count = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_top,
    .details = "Where the output is not a terminal one snapshot is printed.",
};
