/* What came of a load: figures, and the waterfall as text. */
#include "base/mem.h"
#include "bench_daemon/bench_daemon.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHART_WIDTH 72
#define MIB         1048576.0

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Nearest rank: the least value that at least this share of all does not exceed. */
static double percentile(const double *sorted, size_t n, double share)
{
    size_t rank = (size_t)ceil(share * (double)n);
    return n ? sorted[rank ? rank - 1 : 0] : 0;
}

void bench_summarise(const bench_load *l, bench_summary *s)
{
    memset(s, 0, sizeof(*s));
    double *latency = mem_calloc(l->count, sizeof(double));
    for (unsigned i = 0; i < l->count; i++) {
        const bench_job *j = &l->job[i];
        if (!j->ok) {
            s->failed++;
            if (!s->first_error)
                s->first_error = *j->error ? j->error : "not begun";
            continue;
        }
        if (latency)
            latency[s->completed] = (j->end_ms - j->start_ms) / 1000;
        s->completed++;
        s->queue += (double)j->queue_wait_ms / 1000;
        s->witness += (double)j->synthesis_ms / 1000;
        s->device += (double)j->device_ms / 1000;
    }
    s->wall_s = l->wall_ms / 1000;
    s->rss_peak = l->rss_peak;
    if (s->wall_s > 0)
        s->proofs_per_minute = s->completed * 60 / s->wall_s;
    if (latency && s->completed) {
        qsort(latency, s->completed, sizeof(double), by_value);
        s->p50 = percentile(latency, s->completed, 0.5);
        s->p90 = percentile(latency, s->completed, 0.9);
        s->p99 = percentile(latency, s->completed, 0.99);
        s->least = latency[0];
        s->most = latency[s->completed - 1];
        s->queue /= s->completed;
        s->witness /= s->completed;
        s->device /= s->completed;
    }
    mem_free(latency);
}

/* ---- the waterfall ---- */

/* A letter a stage; the later one covers the earlier where both fall into one column. */
static char letter(const char *stage)
{
    static const struct {
        const char *stage;
        char letter;
    } LETTERS[] = {{"queue", '.'},   {"parse", 'p'}, {"check", 'c'},  {"srs", 's'},
                   {"witness", 'w'}, {"prove", 'P'}, {"finish", 'f'}, {"batch", 'b'}};
    for (size_t i = 0; i < sizeof(LETTERS) / sizeof(LETTERS[0]); i++)
        if (!strcmp(stage, LETTERS[i].stage))
            return LETTERS[i].letter;
    return '-';
}

static void print_waterfall(const bench_load *l)
{
    printf(
        "\nwaterfall, %.2f s a column: . waits  p parses  c checks  s loads the SRS  w witness  P proves  f "
        "verifies\n",
        l->wall_ms / 1000 / CHART_WIDTH);
    for (unsigned i = 0; i < l->count; i++) {
        char bar[CHART_WIDTH + 1];
        memset(bar, ' ', CHART_WIDTH);
        bar[CHART_WIDTH] = 0;
        for (size_t k = 0; k < l->job[i].stage_count; k++) {
            const bench_stage *s = &l->job[i].stage[k];
            int from = (int)(s->start_ms / l->wall_ms * CHART_WIDTH);
            int to = (int)(s->end_ms / l->wall_ms * CHART_WIDTH);
            for (int x = from < 0 ? 0 : from; x <= to && x < CHART_WIDTH; x++)
                if (bar[x] == ' ' || bar[x] == '.' || letter(s->name) != '.')
                    bar[x] = letter(s->name);
        }
        printf("  %3u |%s| %7.2f s%s\n", i, bar, (l->job[i].end_ms - l->job[i].start_ms) / 1000,
               l->job[i].ok ? "" : " failed");
    }
}

static void print_memory(const bench_load *l)
{
    if (!l->sample_count)
        return;
    printf("\nmemory of the daemon over time (MiB):");
    size_t step = (l->sample_count + 9) / 10;
    for (size_t i = 0; i < l->sample_count; i += step)
        printf(" %.0f", (double)l->sample[i].rss / MIB);
    printf("; most %.0f\n", (double)l->rss_peak / MIB);
}

void bench_print(const bench_load *l)
{
    bench_summary s;
    bench_summarise(l, &s);
    printf("%u proofs in %.1f s, %u at a time: %.2f a minute", s.completed, s.wall_s, l->concurrency,
           s.proofs_per_minute);
    if (s.failed)
        printf("; %u failed: %s", s.failed, s.first_error);
    printf("\nlatency: 50 %% within %.2f s, 90 %% %.2f s, 99 %% %.2f s; least %.2f, most %.2f\n", s.p50,
           s.p90, s.p99, s.least, s.most);
    printf("means: waiting %.2f s, witness %.2f s, proving %.2f s\n", s.queue, s.witness, s.device);
    print_memory(l);
    print_waterfall(l);
}

static void add_jobs(const bench_load *l, json_out *j)
{
    json_begin_array(j, "jobs");
    for (unsigned i = 0; i < l->count; i++) {
        const bench_job *b = &l->job[i];
        json_begin_object(j, NULL);
        json_bool(j, "completed", b->ok);
        if (!b->ok)
            json_string(j, "error", b->error);
        json_double(j, "start_ms", b->start_ms, 1);
        json_double(j, "end_ms", b->end_ms, 1);
        json_begin_array(j, "stages");
        for (size_t k = 0; k < b->stage_count; k++) {
            json_begin_object(j, NULL);
            json_string(j, "stage", b->stage[k].name);
            json_i64(j, "partition", b->stage[k].partition);
            json_i64(j, "device", b->stage[k].device);
            json_double(j, "start_ms", b->stage[k].start_ms, 1);
            json_double(j, "end_ms", b->stage[k].end_ms, 1);
            json_end_object(j);
        }
        json_end_array(j);
        json_end_object(j);
    }
    json_end_array(j);
}

void bench_print_json(const bench_load *l, json_out *j)
{
    bench_summary s;
    bench_summarise(l, &s);
    json_u64(j, "completed", s.completed);
    json_u64(j, "failed", s.failed);
    if (s.first_error)
        json_string(j, "first_error", s.first_error);
    json_u64(j, "concurrency", l->concurrency);
    json_double(j, "seconds", s.wall_s, 3);
    json_double(j, "proofs_per_minute", s.proofs_per_minute, 3);
    json_begin_object(j, "latency_seconds");
    json_double(j, "p50", s.p50, 3);
    json_double(j, "p90", s.p90, 3);
    json_double(j, "p99", s.p99, 3);
    json_double(j, "least", s.least, 3);
    json_double(j, "most", s.most, 3);
    json_end_object(j);
    json_begin_object(j, "mean_seconds");
    json_double(j, "queue", s.queue, 3);
    json_double(j, "witness", s.witness, 3);
    json_double(j, "device", s.device, 3);
    json_end_object(j);
    json_u64(j, "rss_peak_bytes", s.rss_peak);
    json_begin_array(j, "rss");
    for (size_t i = 0; i < l->sample_count; i++) {
        json_begin_object(j, NULL);
        json_double(j, "at_ms", l->sample[i].at_ms, 0);
        json_u64(j, "bytes", l->sample[i].rss);
        json_end_object(j);
    }
    json_end_array(j);
    add_jobs(l, j);
}
