/* cuzk-bench cpu --targets: every figure that the project has set itself, beside what it was set against. */
#include "targets.h"
#include "base/cpu.h"
#include "base/json_write.h"
#include "base/mem.h"
#include <stdio.h>

/* What a limit is about. */
typedef enum measure {
    TIMES_REFERENCE, /* at least so many times as fast as the row's reference */
    UNITS,           /* at most so many T */
    SECONDS,
    PROCESSOR_SECONDS,
    TIMES_ONE_THREAD, /* at least so many times as fast as one thread of the same */
} measure;

typedef struct target {
    const char *row;
    unsigned size, threads; /* 0: all */
    int scalar;             /* without vector instructions; 0: with AVX-512 IFMA */
    measure what;
    double limit;
    const char *peer;       /* what the limit was set against */
    unsigned least_threads; /* left out on a machine with fewer */
} target;

static const target TARGETS[] = {
    {"msm-g1", 16, 1, 0, TIMES_REFERENCE, 8, "blst", 0},
    {"msm-g1", 18, 1, 0, TIMES_REFERENCE, 8, "blst", 0},
    {"msm-g1", 20, 1, 0, TIMES_REFERENCE, 8, "blst", 0},
    {"msm-g2", 16, 1, 0, TIMES_REFERENCE, 6, "blst", 0},
    {"msm-g1-sparse", 20, 1, 0, UNITS, 0.03, "arkworks 0.26 T, gnark-crypto 0.39 T", 0},
    {"ntt", 20, 1, 0, UNITS, 0.014, "gnark-crypto 0.079 T", 0},
    {"ntt", 22, 1, 0, UNITS, 0.065, "gnark-crypto 0.33 T", 0},
    {"msm-g1", 16, 1, 1, TIMES_REFERENCE, 1.5, "blst", 0},
    {"msm-g1", 18, 1, 1, TIMES_REFERENCE, 1.5, "blst", 0},
    {"msm-g1", 20, 1, 1, TIMES_REFERENCE, 1.5, "blst", 0},
    {"msm-g2", 16, 1, 1, TIMES_REFERENCE, 1.5, "blst", 0},
    {"msm-g1-sparse", 20, 1, 1, UNITS, 0.2, "arkworks 0.26 T, gnark-crypto 0.39 T", 0},
    {"ntt", 22, 1, 1, UNITS, 0.8, "gnark-crypto 0.33 T with AVX-512", 0},
    {"prove", 11, 0, 0, UNITS, 2, "bellperson 25.3 T", 0},
    {"prove", 11, 0, 1, UNITS, 10, "bellperson 25.3 T", 0},
    {"setup", 11, 0, 0, UNITS, 20, "bellperson 303 T", 0},
    {"chain", 20, 0, 0, UNITS, 2, "arkworks 19.7 T", 0},
    {"winning", 35, 0, 0, UNITS, 1.5, "", 0},
    {"witness", 35, 1, 0, PROCESSOR_SECONDS, 1, "bellperson 60 core-seconds", 0},
    {"multiply", 35, 1, 0, PROCESSOR_SECONDS, 6, "", 0},
    {"msm-g1", 18, 0, 0, TIMES_ONE_THREAD, 1.9, "", 2},
    {"msm-g1", 20, 0, 0, TIMES_ONE_THREAD, 1.9, "", 2},
    {"msm-g2", 18, 0, 0, TIMES_ONE_THREAD, 1.9, "", 2},
    {"ntt", 20, 0, 0, TIMES_ONE_THREAD, 1.9, "", 2},
    {"ntt", 22, 0, 0, TIMES_ONE_THREAD, 1.9, "", 2},
    {"prove", 11, 0, 0, TIMES_ONE_THREAD, 1.9, "", 2},
    {"winning", 35, 0, 0, SECONDS, 0.6, "", 16},
    {"partition", 35, 0, 0, SECONDS, 16, "", 16},
};
#define COUNT (sizeof(TARGETS) / sizeof(*TARGETS))

/* Figures of a row, size and form that were measured before. */
typedef struct known {
    const target *t;
    unsigned threads;
    bench_figures f;
} known;

typedef struct run_state {
    bench *b;
    double unit;
    known seen[2 * COUNT];
    size_t seen_count;
} run_state;

static const bench_row *row_of(const char *name)
{
    const bench_row *const *r = BENCH_ROWS;
    while (*r && strcmp((*r)->name, name) != 0)
        r++;
    return *r;
}

/* Measures, or finds what was measured. */
static cuzk_status figures(run_state *s, const target *t, unsigned threads, bench_figures *f, cuzk_error *err)
{
    for (size_t i = 0; i < s->seen_count; i++) {
        const known *k = &s->seen[i];
        if (!strcmp(k->t->row, t->row) && k->t->size == t->size && k->t->scalar == t->scalar &&
            k->threads == threads) {
            *f = k->f;
            return CUZK_OK;
        }
    }
    bench one = *s->b;
    one.threads = threads;
    if (threads != s->b->threads) {
        cuzk_status st = pool_create(&one.pool, threads, err);
        if (st)
            return st;
        pool_keep(one.pool, SIZE_MAX);
    }
    bench_run r = {.b = &one, .row = row_of(t->row), .size = t->size};
    cpu_force(t->scalar ? CPU_SCALAR : CPU_ALL);
    cuzk_status st = r.row->prepare(&r, err);
    if (!st)
        st = bench_measure(&r, f, err);
    r.row->clear(&r);
    cpu_force(CPU_ALL);
    if (one.pool != s->b->pool)
        pool_destroy(one.pool);
    else
        pool_trim(one.pool);
    /* points made on the way stay for the next */
    s->b->g1_points = one.g1_points, s->b->g1_count = one.g1_count;
    s->b->g2_points = one.g2_points, s->b->g2_count = one.g2_count;
    if (!st)
        s->seen[s->seen_count++] = (known){t, threads, *f};
    return st;
}

/* The figure in the target's own measure. */
static cuzk_status value(run_state *s, const target *t, unsigned threads, double *v, bench_figures *f,
                         cuzk_error *err)
{
    bench_figures one = {0};
    cuzk_status st = figures(s, t, threads, f, err);
    if (!st && t->what == TIMES_ONE_THREAD)
        st = figures(s, t, 1, &one, err);
    switch (t->what) {
    case TIMES_REFERENCE:
        *v = f->reference_ms / f->ms;
        break;
    case UNITS:
        *v = f->ms / s->unit;
        break;
    case SECONDS:
        *v = f->ms / 1000;
        break;
    case PROCESSOR_SECONDS:
        *v = f->cpu_ms / 1000;
        break;
    case TIMES_ONE_THREAD:
        *v = one.ms / f->ms;
    }
    return st;
}

static int is_least(const target *t)
{
    return t->what == TIMES_REFERENCE || t->what == TIMES_ONE_THREAD;
}

static int is_met(const target *t, double v)
{
    return is_least(t) ? v >= t->limit : v <= t->limit;
}

static void print(const target *t, unsigned threads, double v, const bench_figures *f, double unit)
{
    static const char *const UNIT[] = {"x the reference", "T", "s", "core-s", "x one thread"};
    printf("%-14s 2^%-3u %2u thread%s %-8s %10.2f ms %8.4f T   %7.3f %s, target %s %g: %s (%.2f of it)%s%s\n",
           t->row, t->size, threads, threads > 1 ? "s" : " ", t->scalar ? "scalar" : "IFMA", f->ms,
           f->ms / unit, v, UNIT[t->what], is_least(t) ? ">=" : "<=", t->limit,
           is_met(t, v) ? "met" : "missed", v / t->limit, *t->peer ? "; " : "", t->peer);
    fflush(stdout);
}

static void put_json(json_out *j, const target *t, unsigned threads, double v, const bench_figures *f)
{
    static const char *const NAME[] = {"times_reference", "T", "seconds", "processor_seconds",
                                       "times_one_thread"};
    json_begin_object(j, NULL);
    json_string(j, "row", t->row);
    json_u64(j, "size", t->size);
    json_u64(j, "threads", threads);
    json_bool(j, "scalar", t->scalar);
    json_double(j, "ms", f->ms, 3);
    json_string(j, "measure", NAME[t->what]);
    json_double(j, "value", v, 5);
    json_double(j, "target", t->limit, 5);
    json_bool(j, "met", is_met(t, v));
    json_u64(j, "rss_peak_bytes", f->rss_peak);
    json_end_object(j);
}

cuzk_status bench_targets(bench *b, double unit, json_out *j, cuzk_error *err)
{
    run_state *s = mem_calloc(1, sizeof *s);
    if (!s)
        return mem_error(err, sizeof *s, "a benchmark");
    s->b = b;
    s->unit = unit;
    cuzk_status st = CUZK_OK;
    for (size_t i = 0; i < COUNT && !st; i++) {
        const target *t = &TARGETS[i];
        unsigned threads = t->threads ? t->threads : b->threads;
        bench_figures f = {0};
        double v = 0;
        if ((!t->scalar && !cpu_get()->ifma) || threads < t->least_threads)
            continue;
        st = value(s, t, threads, &v, &f, err);
        if (!st && j)
            put_json(j, t, threads, v, &f);
        else if (!st)
            print(t, threads, v, &f, unit);
    }
    mem_free(s);
    return st;
}
