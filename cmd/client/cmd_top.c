/* cuzk top: what the daemon is doing, once a second. On a terminal the view is drawn in place; elsewhere one
 * snapshot is printed. Rates come from the difference of two answers. */
#include "base/clock.h"
#include "base/mem.h"
#include "client/client.h"
#include "proving.pb-c.h"
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define HISTORY 600 /* answers kept for the rate: ten minutes at the usual interval */
#define GIB     1073741824.0

typedef struct view {
    int terminal, rows, columns, line;
    uint64_t at_ns[HISTORY], completed[HISTORY];
    size_t seen;
} view;

/* One line of the screen: cut at the width, the rest of the line cleared. */
static void line(view *v, const char *format, ...) CUZK_PRINTF(2, 3);
static void line(view *v, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (!v->terminal) {
        puts(text);
        return;
    }
    if (v->line >= v->rows - 1)
        return;
    v->line++;
    printf("%.*s\033[K\n", v->columns, text);
}

static void bar(char *out, size_t width, double share)
{
    size_t full = share <= 0 ? 0 : share >= 1 ? width : (size_t)(share * (double)width + 0.5);
    memset(out, '.', width);
    memset(out, '#', full);
    out[width] = 0;
}

/* Proofs a minute over the answers kept; negative: not known yet. */
static double rate(const view *v)
{
    if (v->seen < 2)
        return -1;
    size_t last = (v->seen - 1) % HISTORY, first = v->seen <= HISTORY ? 0 : v->seen % HISTORY;
    double seconds = (double)(v->at_ns[last] - v->at_ns[first]) / 1e9;
    if (seconds <= 0 || v->completed[last] < v->completed[first]) /* it was started again */
        return -1;
    return (double)(v->completed[last] - v->completed[first]) * 60 / seconds;
}

static void duration(char *out, size_t size, uint64_t s)
{
    unsigned long long d = s / 86400, h = s / 3600 % 24, m = s / 60 % 60;
    if (d)
        snprintf(out, size, "%llu d %llu h", d, h);
    else if (h)
        snprintf(out, size, "%llu h %llu min", h, m);
    else
        snprintf(out, size, "%llu min %llu s", m, (unsigned long long)s % 60);
}

static const char *kind_name(const char *wire)
{
    static const char *const NAMES[][2] = {
        {"porep", "PoRep"}, {"snap", "SnapDeals"}, {"wdpost", "WindowPoSt"}, {"winpost", "WinningPoSt"}};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
        if (!strcmp(NAMES[i][0], wire))
            return NAMES[i][1];
    return wire;
}

static void show_devices(view *v, const Cuzk__V1__GetStatusResponse *r)
{
    char used[21];
    line(v, "%-6s %-32s %-20s %17s  %s", "DEVICE", "NAME", "MEMORY IN USE", "OF GIB", "PROVING");
    for (size_t i = 0; i < r->n_gpus; i++) {
        const Cuzk__V1__GPUStatus *g = r->gpus[i];
        double total = (double)g->vram_total_bytes, taken = total - (double)g->vram_free_bytes;
        bar(used, 20, total > 0 ? taken / total : 0);
        line(v, "%-6u %-32.32s %s %8.1f/%8.1f  %s %s", g->ordinal, g->name, used, taken / GIB, total / GIB,
             *g->current_job_id ? kind_name(g->current_proof_kind)
             : g->quarantined   ? "set aside"
                                : "idle",
             g->current_job_id);
    }
}

static void show(view *v, const Cuzk__V1__GetStatusResponse *r, const char *address)
{
    static const char *const TIERS[] = {"on the device", "in memory", "on disk"};
    char up[48];
    uint64_t waiting = 0, running = 0;
    double per_minute = rate(v);
    duration(up, sizeof(up), r->uptime_seconds);
    for (size_t i = 0; i < r->n_queues; i++) {
        waiting += r->queues[i]->pending;
        running += r->queues[i]->in_progress;
    }
    line(v, "cuzk at %s, up %s: %llu proved, %llu failed", address, up,
         (unsigned long long)r->total_proofs_completed, (unsigned long long)r->total_proofs_failed);
    if (per_minute >= 0)
        line(v, "%llu waiting, %llu running, %.2f proofs a minute", (unsigned long long)waiting,
             (unsigned long long)running, per_minute);
    else
        line(v, "%llu waiting, %llu running", (unsigned long long)waiting, (unsigned long long)running);
    line(v, "%s", "");
    line(v, "%-12s %8s %8s", "QUEUE", "WAITING", "RUNNING");
    for (size_t i = 0; i < r->n_queues; i++)
        line(v, "%-12s %8u %8u", kind_name(r->queues[i]->proof_kind), r->queues[i]->pending,
             r->queues[i]->in_progress);
    line(v, "%s", "");
    show_devices(v, r);
    line(v, "%s", "");
    if (r->pinned_memory_limit_bytes)
        line(v, "pinned memory: %.1f of %.1f GiB", (double)r->pinned_memory_bytes / GIB,
             (double)r->pinned_memory_limit_bytes / GIB);
    line(v, "%-14s %10s %6s  %s", "PARAMETERS", "MIB", "USERS", "WHERE");
    for (size_t i = 0; i < r->n_loaded_srs; i++) {
        const Cuzk__V1__SRSStatus *s = r->loaded_srs[i];
        line(v, "%-14s %10.0f %6u  %s", s->circuit_id, (double)s->size_bytes / 1048576, s->ref_count,
             TIERS[(unsigned)s->tier < 3 ? s->tier : 2]);
    }
}

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
    uint8_t *reply;
    size_t size;
    cuzk_status s = client_call(c, "GetStatus", NULL, 0, &reply, &size, 5000, err);
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
        line(v, "%s", e.message);
        line(v, "trying again");
        v->seen = 0;
    } else {
        v->at_ns[v->seen % HISTORY] = clock_ns();
        v->completed[v->seen++ % HISTORY] = r->total_proofs_completed;
        show(v, r, address);
        cuzk__v1__get_status_response__free_unpacked(r, NULL);
    }
    printf("\033[J\033[%d;1Hq quits\033[K", v->rows);
    fflush(stdout);
}

static volatile sig_atomic_t interrupted;
static void on_signal(int sig)
{
    interrupted = sig;
}

/* The alternate screen, without echo, until q or a signal. */
static void run_terminal(view *v, client *c, const char *address, uint64_t interval_ms)
{
    struct termios was, raw;
    int typed = tcgetattr(STDIN_FILENO, &was) == 0;
    if (typed) {
        raw = was;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    printf("\033[?1049h\033[?25l");
    for (int end = 0; !end && !interrupted;) {
        draw(v, c, address);
        struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
        char key = 0;
        if (!typed)
            poll(NULL, 0, (int)interval_ms);
        else if (poll(&p, 1, (int)interval_ms) > 0 && read(STDIN_FILENO, &key, 1) <= 0)
            typed = 0; /* the terminal's input is closed */
        end = key == 'q' || key == 'Q' || key == 3;
    }
    printf("\033[?25h\033[?1049l");
    fflush(stdout);
    if (typed)
        tcsetattr(STDIN_FILENO, TCSANOW, &was);
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
        run_terminal(&v, c, address, interval);
    } else {
        Cuzk__V1__GetStatusResponse *r;
        if (ask(c, &r, &e)) {
            rc = cli_fail(a, &e);
        } else {
            show(&v, r, address);
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
    .summary = "watch the daemon: queues, devices, parameters, proofs a minute",
    .options = OPTIONS,
    .option_count = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_top,
    .details = "Where the output is not a terminal one snapshot is printed.",
};
