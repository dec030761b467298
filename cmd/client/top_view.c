/* What cuzk top shows. Where the window is too small for everything, the table of queues goes first (the
 * heading counts them), then the parameters; jobs take what is left, the running ones first. */
#include "client/top.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define GIB          1073741824.0
#define ENDED_SHOWN  10
#define LEAST_COLUMN 12
#define WIDE         110 /* from here on jobs have both ids, and a bar */

typedef Cuzk__V1__GetStatusResponse status;

/* Bytes of text that fill at most so many columns; a character of several bytes counts once. */
static int fitting(const char *text, int columns)
{
    int n = 0;
    for (int used = 0; text[n]; n++) {
        used += ((unsigned char)text[n] & 0xc0) != 0x80;
        if (used > columns)
            break;
    }
    return n;
}

/* Ids come from clients: a control character among them must not reach the terminal. */
static void make_harmless(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            *text = '?';
}

void top_line(view *v, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    make_harmless(text);
    if (!v->terminal) {
        puts(text);
        return;
    }
    if (v->line >= v->rows - 1)
        return;
    v->line++;
    printf("%.*s\033[K\n", fitting(text, v->columns), text);
}

static void bar(char *out, size_t width, double share)
{
    size_t full = share <= 0 ? 0 : share >= 1 ? width : (size_t)(share * (double)width + 0.5);
    memset(out, '.', width);
    memset(out, '#', full);
    out[width] = 0;
}

void top_count(view *v, const status *r, uint64_t now_ns)
{
    v->at_ns[v->seen % TOP_HISTORY] = now_ns;
    v->completed[v->seen++ % TOP_HISTORY] = r->total_proofs_completed;
}

/* Proofs a minute over the answers kept; negative: not known yet. */
static double rate(const view *v)
{
    if (v->seen < 2)
        return -1;
    size_t last = (v->seen - 1) % TOP_HISTORY, first = v->seen <= TOP_HISTORY ? 0 : v->seen % TOP_HISTORY;
    double seconds = (double)(v->at_ns[last] - v->at_ns[first]) / 1e9;
    if (seconds <= 0 || v->completed[last] < v->completed[first]) /* it was started again */
        return -1;
    return (double)(v->completed[last] - v->completed[first]) * 60 / seconds;
}

static const char *duration(char out[32], uint64_t s)
{
    unsigned long long d = s / 86400, h = s / 3600 % 24, m = s / 60 % 60;
    if (d)
        snprintf(out, 32, "%llu d %llu h", d, h);
    else if (h)
        snprintf(out, 32, "%llu h %llu min", h, m);
    else
        snprintf(out, 32, "%llu min %llu s", m, (unsigned long long)s % 60);
    return out;
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

static int alive(const Cuzk__V1__JobStatus *j)
{
    return !strcmp(j->state, "running") || !strcmp(j->state, "queued");
}

static int narrow(const view *v)
{
    return v->terminal && v->columns < WIDE;
}

/* ---- the parts ---- */

static void show_heading(view *v, const status *r, const char *address)
{
    char up[32], rates[48] = "";
    uint64_t waiting = 0, running = 0;
    double per_minute = rate(v);
    for (size_t i = 0; i < r->n_queues; i++) {
        waiting += r->queues[i]->pending;
        running += r->queues[i]->in_progress;
    }
    if (per_minute >= 0)
        snprintf(rates, sizeof(rates), ", %.2f proofs a minute", per_minute);
    top_line(v, "cuzk at %s, up %s: %llu proved, %llu failed%s", address, duration(up, r->uptime_seconds),
             (unsigned long long)r->total_proofs_completed, (unsigned long long)r->total_proofs_failed,
             r->stopping ? "; it is stopping" : "");
    top_line(v, "%llu waiting, %llu running%s; memory %.1f of %.1f GiB", (unsigned long long)waiting,
             (unsigned long long)running, rates, (double)r->memory_used_bytes / GIB,
             (double)r->memory_budget_bytes / GIB);
    if (r->pinned_memory_limit_bytes)
        top_line(v, "pinned memory: %.1f of %.1f GiB", (double)r->pinned_memory_bytes / GIB,
                 (double)r->pinned_memory_limit_bytes / GIB);
}

static void show_queues(view *v, const status *r)
{
    top_line(v, "%-12s %8s %8s", "QUEUE", "WAITING", "RUNNING");
    for (size_t i = 0; i < r->n_queues; i++)
        top_line(v, "%-12s %8u %8u", kind_name(r->queues[i]->proof_kind), r->queues[i]->pending,
                 r->queues[i]->in_progress);
}

static const char *name_of_job(const status *r, const char *id)
{
    for (size_t i = 0; i < r->n_jobs; i++)
        if (!strcmp(r->jobs[i]->job_id, id))
            return r->jobs[i]->request_id;
    return id;
}

static void show_devices(view *v, const status *r)
{
    char used[21];
    int name = narrow(v) ? 16 : 32, width = narrow(v) ? 10 : 20;
    top_line(v, "%-6s %-*s %-*s %15s  %s", "DEVICE", name, "NAME", width, "MEMORY", "GIB IN USE", "PROVING");
    for (size_t i = 0; i < r->n_gpus; i++) {
        const Cuzk__V1__GPUStatus *g = r->gpus[i];
        double total = (double)g->vram_total_bytes, taken = total - (double)g->vram_free_bytes;
        bar(used, (size_t)width, total > 0 ? taken / total : 0);
        const char *what = *g->current_job_id ? kind_name(g->current_proof_kind)
                           : g->quarantined   ? "set aside after failures (cuzk device clear)"
                                              : "idle";
        top_line(v, "%-6u %-*.*s %s %7.1f/%7.1f  %s %s", g->ordinal, name, name, g->name, used, taken / GIB,
                 total / GIB, what, *g->current_job_id ? name_of_job(r, g->current_job_id) : "");
    }
}

static void show_parameters(view *v, const status *r)
{
    static const char *const TIERS[] = {"on the device", "in memory", "on disk"};
    top_line(v, "%-14s %10s %6s  %s", "PARAMETERS", "MIB", "USERS", "WHERE");
    for (size_t i = 0; i < r->n_loaded_srs; i++) {
        const Cuzk__V1__SRSStatus *s = r->loaded_srs[i];
        top_line(v, "%-14s %10.0f %6u  %s", s->circuit_id, (double)s->size_bytes / 1048576, s->ref_count,
                 TIERS[(unsigned)s->tier < 3 ? s->tier : 2]);
    }
}

static void show_job(view *v, const Cuzk__V1__JobStatus *j, int id)
{
    char age[32], done[17] = "", share[24];
    snprintf(share, sizeof(share), "%u/%u", j->partitions_done, j->partitions);
    duration(age, (j->ended_ms ? j->ended_ms : j->age_ms) / 1000);
    if (narrow(v)) {
        top_line(v, "%-*.*s %-11s %-9s %6s %12s", id, id, j->request_id, kind_name(j->proof_kind), j->state,
                 share, age);
        return;
    }
    bar(done, 16, j->partitions ? (double)j->partitions_done / j->partitions : 0);
    top_line(v, "%-*.*s %-11s %-9s %6s %s %12s  %-36s %s", id, id, j->request_id, kind_name(j->proof_kind),
             j->state, share, done, age, j->job_id, j->error);
}

/* At most so many lines, the heading and the one that counts the rest among them. */
static void show_jobs(view *v, const status *r, size_t lines)
{
    size_t ended = 0, count = 0, all = 0;
    int id = narrow(v) ? v->columns - 42 : 30;
    id = id < LEAST_COLUMN ? LEAST_COLUMN : id > 30 ? 30 : id;
    for (size_t i = 0; i < r->n_queues; i++)
        all += (size_t)r->queues[i]->pending + r->queues[i]->in_progress;
    for (size_t i = 0; i < r->n_jobs; i++)
        count += alive(r->jobs[i]) || ended++ < ENDED_SHOWN;
    if (narrow(v))
        top_line(v, "%-*s %-11s %-9s %6s %12s", id, "JOB", "KIND", "STATE", "PARTS", "AGE");
    else
        top_line(v, "%-*s %-11s %-9s %6s %-16s %12s  %s", id, "JOB", "KIND", "STATE", "PARTS", "PROVED",
                 "AGE", "ID");
    size_t shown = 0, room = lines > 1 ? lines - 1 : 0, waiting = 0;
    if (count > room && room)
        room--;
    for (size_t i = 0; i < count && shown < room; i++, shown++) {
        waiting += alive(r->jobs[i]);
        show_job(v, r->jobs[i], id);
    }
    if (all > waiting)
        top_line(v, "and %zu more that wait or run", all - waiting);
    else if (!count)
        top_line(v, "none");
}

void top_show(view *v, const status *r, const char *address)
{
    size_t heading = r->pinned_memory_limit_bytes ? 3 : 2, gaps = 4, jobs = 1 + (r->n_jobs ? r->n_jobs : 1);
    size_t queues = 1 + r->n_queues, devices = 1 + r->n_gpus, parameters = 1 + r->n_loaded_srs;
    size_t room = v->terminal ? (size_t)(v->rows > 1 ? v->rows - 1 : 0) : SIZE_MAX / 2;
    size_t least = jobs < 4 ? jobs : 4; /* lines of jobs that are worth more than another table */
    int with_queues = heading + gaps + queues + devices + parameters + least <= room;
    int with_parameters = heading + 3 + devices + parameters + least <= room;
    int spaced = with_parameters;
    show_heading(v, r, address);
    if (with_queues) {
        top_line(v, "%s", "");
        show_queues(v, r);
    }
    if (spaced)
        top_line(v, "%s", "");
    show_devices(v, r);
    if (with_parameters) {
        top_line(v, "%s", "");
        show_parameters(v, r);
    }
    if (spaced)
        top_line(v, "%s", "");
    size_t used = heading + devices + (with_queues ? queues + 1 : 0) +
                  (with_parameters ? parameters + 1 : 0) + (spaced ? 2 : 0);
    show_jobs(v, r, used < room ? room - used : 0);
}
