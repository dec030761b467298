/* cuzk-bench cpu: options, the loop over rows and sizes, and the two forms of output. */
#include "base/cpu.h"
#include "base/json_write.h"
#include "bench.h"
#include "msm/msm_private.h"
#include "targets.h"
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct options {
    const char *rows; /* NULL: all */
    int json, targets;
    unsigned threads;
} options;

static const char USAGE[] =
    "usage: cuzk-bench cpu [--rows NAME[:SIZE],...] [--threads N] [--repeat N] [--quick] "
    "[--scalar | --portable] [--json]\n"
    "       cuzk-bench cpu --targets [--threads N] [--repeat N] [--json]\n"
    "  --rows      only these rows, at all their sizes or at one\n"
    "  --threads   threads of our side (default 1; 0: all); references use one\n"
    "  --repeat    the best of N runs is reported (default 3)\n"
    "  --quick     small sizes\n"
    "  --scalar    without vector instructions\n"
    "  --portable  without any special instructions\n"
    "  --targets   every target beside its reference, on one thread and on all (default: all, best of 5)\n"
    "  --json      one JSON object\n"
    "T is the time of blst's G1 sum of 2^18 wide scalars on one thread, measured first.\n";

/* Does the list select the row? *size: the size asked for, or 0. Names are compared up to ',' or ':'. */
static int selected(const char *list, const char *name, unsigned *size)
{
    size_t n = strlen(name);
    *size = 0;
    for (const char *p = list; p && *p; p = strchr(p, ','), p = p ? p + 1 : NULL) {
        if (strncmp(p, name, n) || (p[n] && p[n] != ',' && p[n] != ':'))
            continue;
        if (p[n] == ':')
            *size = (unsigned)strtoul(p + n + 1, NULL, 10);
        return 1;
    }
    return !list;
}

/* Every name in the list must be a row; NULL, or the first one that is not. */
static const char *unknown_row(const char *list)
{
    for (const char *p = list; p && *p; p = strchr(p, ','), p = p ? p + 1 : NULL) {
        size_t n = strcspn(p, ",:");
        int known = 0;
        for (const bench_row *const *r = BENCH_ROWS; *r; r++)
            known |= strlen((*r)->name) == n && !strncmp((*r)->name, p, n);
        if (!known)
            return p;
    }
    return NULL;
}

static void print_text(const bench_run *r, const bench_figures *f, double unit)
{
    printf("%-14s 2^%-3u %10.2f ms  %8.4f T  cpu %10.2f ms", r->row->name, r->size, f->ms, f->ms / unit,
           f->cpu_ms);
    if (f->reference_ms > 0)
        printf("  %s %.2f ms: %.2fx (cpu %.2fx)", r->row->reference_name, f->reference_ms,
               f->reference_ms / f->ms, f->reference_cpu_ms / f->cpu_ms);
    printf("%s%s\n", *r->note ? "  " : "", r->note);
    fflush(stdout);
}

static void print_json(json_out *j, const bench_run *r, const bench_figures *f, double unit)
{
    json_begin_object(j, NULL);
    json_string(j, "row", r->row->name);
    json_string(j, "what", r->row->what);
    json_u64(j, "size", r->size);
    json_double(j, "ms", f->ms, 3);
    json_double(j, "cpu_ms", f->cpu_ms, 3);
    json_double(j, "T", f->ms / unit, 5);
    json_u64(j, "rss_peak_bytes", f->rss_peak);
    if (f->reference_ms > 0) {
        json_string(j, "reference", r->row->reference_name);
        json_double(j, "reference_ms", f->reference_ms, 3);
        json_double(j, "reference_cpu_ms", f->reference_cpu_ms, 3);
        json_double(j, "ratio", f->reference_ms / f->ms, 3);
    }
    if (*r->note)
        json_string(j, "note", r->note);
    json_end_object(j);
}

static cuzk_status run_row(bench *b, const bench_row *row, unsigned only, double unit, json_out *j,
                           cuzk_error *err)
{
    const unsigned one[2] = {only, 0}, *sizes = only ? one : b->quick ? row->sizes_quick : row->sizes;
    cuzk_status st = CUZK_OK;
    for (; *sizes && !st; sizes++) {
        bench_run r = {.b = b, .row = row, .size = *sizes};
        bench_figures f;
        if (!(st = row->prepare(&r, err)) && !(st = bench_measure(&r, &f, err))) {
            if (j)
                print_json(j, &r, &f, unit);
            else
                print_text(&r, &f, unit);
        }
        row->clear(&r);
    }
    return st;
}

/* Figures of a machine with other work are worth little: say so. */
static void warn_if_busy(void)
{
    double load;
    unsigned processors = pool_processors();
    if (getloadavg(&load, 1) == 1 && load > 0.5 + 0.5 * processors)
        fprintf(
            stderr,
            "cuzk-bench: the machine is busy (load %.1f on %u processors): compare processor times only\n",
            load, processors);
}

static const char *vector_form(void)
{
    if (!cpu_get()->ifma)
        return "no IFMA";
    return g1_form_in_use() == &G1_BY_HALVES ? "AVX-512 IFMA (products by halves)"
                                             : "AVX-512 IFMA (products by rows)";
}

static cuzk_status run_all(bench *b, const options *o, json_out *j, cuzk_error *err)
{
    double unit;
    warn_if_busy();
    cuzk_status st = bench_unit(b, &unit, err);
    if (st)
        return st;
    if (j) {
        json_string(j, "processor", cpu_get()->name);
        json_bool(j, "ifma", cpu_get()->ifma);
        json_u64(j, "threads", b->threads);
        json_bool(j, "quick", b->quick);
        json_double(j, "T_ms", unit, 3);
        json_begin_array(j, "rows");
    } else {
        printf("%s, %u thread%s, %s; T = %.1f ms%s\n", cpu_get()->name, b->threads, b->threads > 1 ? "s" : "",
               vector_form(), unit, b->quick ? " (estimated)" : "");
        fflush(stdout);
    }
    if (o->targets)
        st = bench_targets(b, unit, j, err);
    for (const bench_row *const *row = BENCH_ROWS; *row && !st && !o->targets; row++) {
        unsigned size;
        if (selected(o->rows, (*row)->name, &size))
            st = run_row(b, *row, size, unit, j, err);
    }
    if (j)
        json_end_array(j);
    return st;
}

static int number(const char *text, unsigned least, unsigned most, unsigned *out)
{
    char *end;
    unsigned long v = strtoul(text, &end, 10);
    if (end == text || *end || *text == '-' || v < least || v > most)
        return -1;
    *out = (unsigned)v;
    return 0;
}

/* -1: go on; otherwise the exit status. */
static int parse(int argc, char **argv, options *o, bench *b)
{
    enum { ROWS = 1, THREADS, REPEAT, QUICK, SCALAR, PORTABLE, TARGETS, JSON, HELP };
    static const struct option LONG[] = {
        {"rows", 1, NULL, ROWS},         {"threads", 1, NULL, THREADS},
        {"repeat", 1, NULL, REPEAT},     {"quick", 0, NULL, QUICK},
        {"portable", 0, NULL, PORTABLE}, {"json", 0, NULL, JSON},
        {"targets", 0, NULL, TARGETS},   {"help", 0, NULL, HELP},
        {"scalar", 0, NULL, SCALAR},     {NULL, 0, NULL, 0},
    };
    for (int c; (c = getopt_long(argc, argv, "", LONG, NULL)) != -1;) {
        int bad = 0;
        switch (c) {
        case ROWS:
            o->rows = optarg;
            break;
        case THREADS:
            bad = number(optarg, 0, 1024, &o->threads);
            break;
        case REPEAT:
            bad = number(optarg, 1, 1000, &b->repeat);
            break;
        case QUICK:
            b->quick = 1;
            break;
        case SCALAR:
            cpu_force(CPU_SCALAR);
            break;
        case PORTABLE:
            cpu_force(CPU_PORTABLE);
            break;
        case TARGETS:
            o->targets = 1;
            break;
        case JSON:
            o->json = 1;
            break;
        case HELP:
            fputs(USAGE, stdout);
            return 0;
        default:
            bad = -1;
        }
        if (bad) {
            fputs(USAGE, stderr);
            return 2;
        }
    }
    if (o->targets && (o->rows || b->quick)) {
        fputs("cuzk-bench: --targets has its own rows and sizes\n", stderr);
        return 2;
    }
    if (!b->repeat)
        b->repeat = o->targets ? 5 : 3;
    if (o->threads == UINT_MAX)
        o->threads = !o->targets;
    if (optind == argc && !unknown_row(o->rows))
        return -1;
    fprintf(stderr, "cuzk-bench: %s is not a row; rows are:\n",
            optind < argc ? argv[optind] : unknown_row(o->rows));
    for (const bench_row *const *r = BENCH_ROWS; *r; r++)
        fprintf(stderr, "  %-14s %s\n", (*r)->name, (*r)->what);
    return 2;
}

int bench_cpu_main(int argc, char **argv)
{
    options o = {.threads = UINT_MAX};
    bench b = {0};
    cuzk_error err = {CUZK_OK, ""};
    json_out j;
    int status = parse(argc, argv, &o, &b);
    if (status >= 0)
        return status;
    cuzk_status st = pool_create(&b.pool, o.threads, &err);
    b.threads = pool_size(b.pool);
    pool_keep(b.pool, SIZE_MAX);
    if (o.json) {
        json_init(&j);
        json_begin_object(&j, NULL);
    }
    if (!st)
        st = run_all(&b, &o, o.json ? &j : NULL, &err);
    if (o.json) {
        json_end_object(&j);
        if (!st && j.text)
            puts(j.text);
        json_clear(&j);
    }
    bench_clear(&b);
    pool_destroy(b.pool);
    if (st)
        fprintf(stderr, "cuzk-bench: %s\n", err.message);
    return st ? 3 : 0;
}
