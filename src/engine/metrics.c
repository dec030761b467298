/* Prometheus metrics: counters, gauges and histograms, by kind and by device. */
#include "base/mem.h"
#include "engine/internal.h"
#include <stdarg.h>
#include <stdio.h>

typedef struct text_out {
    char *text;
    size_t used, size;
} text_out;

static void put(text_out *t, const char *format, ...) CUZK_PRINTF(2, 3);
static void put(text_out *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->text + t->used, t->size - t->used, format, args);
    va_end(args);
    if (n > 0)
        t->used += (size_t)n < t->size - t->used ? (size_t)n : t->size - t->used - 1;
}

static void head(text_out *t, const char *name, const char *type, const char *help)
{
    put(t, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void by_kind(text_out *t, const char *name, const char *type, const char *help, const uint64_t *values)
{
    head(t, name, type, help);
    for (int k = 1; k < ENGINE_KINDS; k++)
        put(t, "%s{kind=\"%s\"} %llu\n", name, engine_kind_name((engine_kind)k),
            (unsigned long long)values[k]);
}

static void single(text_out *t, const char *name, const char *type, const char *help, uint64_t value)
{
    head(t, name, type, help);
    put(t, "%s %llu\n", name, (unsigned long long)value);
}

static void put_devices(text_out *t, const engine_status *s)
{
    head(t, "cuzk_device_proofs_total", "counter", "Partitions proved on a device");
    for (size_t i = 0; i < s->device_count; i++)
        put(t, "cuzk_device_proofs_total{backend=\"%s\",device=\"%u\"} %llu\n", s->devices[i].backend,
            s->devices[i].ordinal, (unsigned long long)s->devices[i].proofs);
    head(t, "cuzk_device_failures_total", "counter", "Failures of a device");
    for (size_t i = 0; i < s->device_count; i++)
        put(t, "cuzk_device_failures_total{backend=\"%s\",device=\"%u\"} %llu\n", s->devices[i].backend,
            s->devices[i].ordinal, (unsigned long long)s->devices[i].failures);
    head(t, "cuzk_device_quarantined", "gauge", "1 while a device is set aside after repeated failures");
    for (size_t i = 0; i < s->device_count; i++)
        put(t, "cuzk_device_quarantined{backend=\"%s\",device=\"%u\"} %d\n", s->devices[i].backend,
            s->devices[i].ordinal, s->devices[i].quarantined);
}

/* ---- histograms ---- */

static const double BOUNDS[HISTOGRAM_BUCKETS] = {0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,   2.5,
                                                 5,    10,    20,   40,  60,   120, 300, 1800};

void histogram_add(histogram *h, double seconds)
{
    int i = 0;
    while (i < HISTOGRAM_BUCKETS && seconds > BOUNDS[i])
        i++;
    h->count[i]++;
    h->sum += seconds;
}

const char *stage_text(stage_name s)
{
    static const char *const NAMES[STAGES] = {"queue", "parse", "check", "srs", "witness", "prove", "finish"};
    return (unsigned)s < STAGES ? NAMES[s] : "unknown";
}

static void put_histogram(text_out *t, const char *name, const char *label, const char *value,
                          const histogram *h)
{
    uint64_t n = 0;
    for (int i = 0; i <= HISTOGRAM_BUCKETS; i++) {
        n += h->count[i];
        if (i < HISTOGRAM_BUCKETS)
            put(t, "%s_bucket{%s=\"%s\",le=\"%g\"} %llu\n", name, label, value, BOUNDS[i],
                (unsigned long long)n);
        else
            put(t, "%s_bucket{%s=\"%s\",le=\"+Inf\"} %llu\n", name, label, value, (unsigned long long)n);
    }
    put(t, "%s_sum{%s=\"%s\"} %.6f\n%s_count{%s=\"%s\"} %llu\n", name, label, value, h->sum, name, label,
        value, (unsigned long long)n);
}

static void put_histograms(text_out *t, const engine *e)
{
    head(t, "cuzk_job_seconds", "histogram", "Time of completed jobs from submission to proof");
    for (int k = 1; k < ENGINE_KINDS; k++)
        put_histogram(t, "cuzk_job_seconds", "kind", engine_kind_name((engine_kind)k), &e->job_seconds[k]);
    head(t, "cuzk_stage_seconds", "histogram", "Time of each stage, once a partition or once a job");
    for (int i = 0; i < STAGES; i++)
        put_histogram(t, "cuzk_stage_seconds", "stage", stage_text((stage_name)i), &e->stage_seconds[i]);
}

cuzk_status engine_metrics(engine *e, char **text, cuzk_error *err)
{
    engine_status s;
    *text = NULL;
    cuzk_status st = engine_get_status(e, &s, err);
    if (st)
        return st;
    text_out t = {mem_alloc(65536), 0, 65536};
    if (!t.text) {
        engine_status_clear(&s);
        return mem_error(err, 65536, "metrics");
    }
    uint64_t pending[ENGINE_KINDS], running[ENGINE_KINDS];
    for (int k = 0; k < ENGINE_KINDS; k++) {
        pending[k] = s.pending[k];
        running[k] = s.in_progress[k];
    }
    pthread_mutex_lock(&e->lock);
    by_kind(&t, "cuzk_jobs_submitted_total", "counter", "Jobs accepted", e->submitted);
    by_kind(&t, "cuzk_jobs_completed_total", "counter", "Jobs whose proof was returned", e->completed);
    by_kind(&t, "cuzk_jobs_failed_total", "counter", "Jobs that failed or ran out of time", e->failed);
    by_kind(&t, "cuzk_jobs_cancelled_total", "counter", "Jobs that were cancelled", e->cancelled);
    by_kind(&t, "cuzk_jobs_pending", "gauge", "Jobs waiting", pending);
    by_kind(&t, "cuzk_jobs_in_progress", "gauge", "Jobs running", running);
    single(&t, "cuzk_partitions_proved_total", "counter", "Partitions proved and verified",
           e->partitions_proved);
    single(&t, "cuzk_retries_total", "counter", "Partitions tried a second time", e->retries);
    single(&t, "cuzk_invalid_proofs_total", "counter", "Proofs that did not verify and were not returned",
           e->invalid_proofs);
    single(&t, "cuzk_jobs_refused_total", "counter", "Jobs refused because the queue was full", e->refused);
    single(&t, "cuzk_batches_total", "counter", "Batches of more than one partition", e->batches);
    single(&t, "cuzk_evictions_total", "counter", "Circuits and SRS evicted to make room", e->evictions);
    put_histograms(&t, e);
    pthread_mutex_unlock(&e->lock);
    put_devices(&t, &s);
    single(&t, "cuzk_memory_budget_bytes", "gauge", "Memory that the engine may use", s.memory_budget);
    single(&t, "cuzk_memory_used_bytes", "gauge", "Memory reserved out of the budget", s.memory_used);
    single(&t, "process_resident_memory_bytes", "gauge", "Resident memory", mem_rss_bytes());
    single(&t, "cuzk_uptime_seconds", "gauge", "Seconds since the start", s.uptime_seconds);
    engine_status_clear(&s);
    *text = t.text;
    return CUZK_OK;
}
