/* What the engine says of itself: status and timelines. */
#include "base/encode.h"
#include "base/mem.h"
#include "engine/internal.h"
#include <stdio.h>
#include <string.h>

#define MAX_JOBS_SHOWN 200

static void fill_devices(engine *e, engine_status *s)
{
    for (size_t i = 0; i < e->devices; i++) {
        device_slot *d = &e->device[i];
        engine_device_status *o = &s->devices[i];
        o->ordinal = d->ordinal;
        snprintf(o->name, sizeof(o->name), "%s", d->info.name);
        snprintf(o->backend, sizeof(o->backend), "%s", d->backend->name);
        o->memory_total = d->info.memory_total;
        o->memory_free = d->info.memory_free;
        memcpy(o->current_job, d->current_job, sizeof(o->current_job));
        snprintf(o->current_kind, sizeof(o->current_kind), "%s",
                 d->current_job[0] ? engine_kind_name(d->current_kind) : "");
        o->quarantined = d->quarantine_ns != 0;
        o->proofs = d->proofs;
        o->failures = d->failures;
    }
    s->device_count = e->devices;
}

static int on_device(const engine *e, const circuit_key *k)
{
    for (size_t i = 0; i < e->devices; i++)
        if (k->prover[i])
            return 1;
    return 0;
}

static void fill_srs(engine *e, engine_status *s)
{
    for (circuit_key *k = e->keys; k; k = k->next) {
        if (k->state != KEY_READY)
            continue;
        engine_srs_status *o = &s->srs[s->srs_count++];
        snprintf(o->circuit, sizeof(o->circuit), "%s", k->info->wire_name);
        o->bytes = k->bytes;
        o->references = k->references;
        o->on_device = on_device(e, k);
        o->test_srs = k->is_test;
    }
}

static uint64_t wall_ms(const job *j, uint64_t ns)
{
    return ns ? j->submitted_wall_ms + (ns - j->submitted_ns) / 1000000u : 0;
}

static void fill_jobs(engine *e, engine_status *s)
{
    size_t running = 0, others = 0;
    for (job *j = e->jobs; j; j = j->next) {
        s->pending[j->kind] += j->state == JOB_QUEUED;
        s->in_progress[j->kind] += j->state == JOB_RUNNING;
        running += j->state == JOB_RUNNING;
    }
    /* Those that run are the oldest of a long queue, and the ones that nobody wants to miss. */
    for (job *j = e->jobs; j && s->job_count < MAX_JOBS_SHOWN; j = j->next) {
        if (j->state != JOB_RUNNING && running + others >= MAX_JOBS_SHOWN)
            continue;
        others += j->state != JOB_RUNNING;
        engine_job_status *o = &s->jobs[s->job_count++];
        memcpy(o->job_id, j->id, sizeof(o->job_id));
        snprintf(o->request_id, sizeof(o->request_id), "%s", j->request_id);
        utf8_clean(o->request_id); /* it may have been cut within a character */
        o->kind = j->kind;
        o->priority = j->priority;
        o->state = j->state;
        snprintf(o->circuit, sizeof(o->circuit), "%s", j->circuit ? j->circuit->wire_name : "");
        o->partitions = j->partitions;
        o->partitions_done = j->done;
        o->submitted_wall_ms = j->submitted_wall_ms;
        o->started_wall_ms = wall_ms(j, j->started_ns);
        o->ended_wall_ms = wall_ms(j, j->ended_ns);
        snprintf(o->error, sizeof(o->error), "%s", j->error);
    }
}

cuzk_status engine_get_status(engine *e, engine_status *out, cuzk_error *err)
{
    memset(out, 0, sizeof(*out));
    pthread_mutex_lock(&e->lock);
    size_t keys = 0;
    for (circuit_key *k = e->keys; k; k = k->next)
        keys++;
    out->devices = mem_calloc(e->devices, sizeof(*out->devices));
    out->srs = mem_calloc(keys, sizeof(*out->srs));
    out->jobs = mem_calloc(MAX_JOBS_SHOWN, sizeof(*out->jobs));
    cuzk_status s = CUZK_OK;
    if (out->devices && out->srs && out->jobs) {
        fill_devices(e, out);
        fill_srs(e, out);
        fill_jobs(e, out);
        for (int k = 1; k < ENGINE_KINDS; k++) {
            out->completed += e->completed[k];
            out->failed += e->failed[k];
            out->cancelled += e->cancelled[k];
        }
        out->uptime_seconds = (clock_ns() - e->started_ns) / 1000000000u;
        out->memory_used = e->budget_used;
        out->memory_budget = e->budget;
        out->accepting = e->accepting;
    } else {
        s = mem_error(err, MAX_JOBS_SHOWN * sizeof(*out->jobs), "a status report");
    }
    pthread_mutex_unlock(&e->lock);
    if (s)
        engine_status_clear(out);
    return s;
}

void engine_status_clear(engine_status *s)
{
    mem_free(s->devices);
    mem_free(s->srs);
    mem_free(s->jobs);
    memset(s, 0, sizeof(*s));
}

cuzk_status engine_timeline(engine *e, const char *job_id, json_out *out, cuzk_error *err)
{
    pthread_mutex_lock(&e->lock);
    job *j = job_find_locked(e, job_id);
    if (!j) {
        pthread_mutex_unlock(&e->lock);
        return cuzk_error_set(err, CUZK_NOT_FOUND, "there is no job \"%.60s\"", job_id);
    }
    json_begin_object(out, NULL);
    json_string(out, "job_id", j->id);
    json_string(out, "request_id", j->request_id);
    json_string(out, "kind", engine_kind_name(j->kind));
    json_string(out, "state", job_state_name(j->state));
    json_string(out, "circuit", j->circuit ? j->circuit->wire_name : NULL);
    json_u64(out, "partitions", j->partitions);
    json_u64(out, "submitted_ms", j->submitted_wall_ms);
    json_begin_array(out, "stages");
    for (size_t i = 0; i < j->event_count; i++) {
        const stage_event *v = &j->event[i];
        json_begin_object(out, NULL);
        json_string(out, "stage", stage_text(v->stage));
        if (v->partition >= 0)
            json_i64(out, "partition", v->partition);
        if (v->device >= 0)
            json_i64(out, "device", v->device);
        json_double(out, "start_ms", (double)(v->start_ns - j->submitted_ns) / 1e6, 3);
        json_double(out, "end_ms", (double)(v->end_ns - j->submitted_ns) / 1e6, 3);
        json_end_object(out);
    }
    json_end_array(out);
    json_end_object(out);
    pthread_mutex_unlock(&e->lock);
    return CUZK_OK;
}
