/* Runs a load: a thread for each proof under way, one that samples the daemon's memory and shows progress. */
#include "base/clock.h"
#include "base/mem.h"
#include "bench_daemon/bench_daemon.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SAMPLE_MS 200

typedef struct run {
    bench_load *l;
    uint64_t start_ns;
    char prefix[48];
    unsigned count;
    bench_job *job;
    atomic_uint next, done, failed;
    atomic_int stop;
    pthread_mutex_t lock;
    cuzk_status status;
    cuzk_error err;
} run;

static double ms_since(uint64_t from)
{
    return (double)(clock_ns() - from) / 1e6;
}

static cuzk_status call(client *c, const char *method, const ProtobufCMessage *m, uint8_t **reply,
                        size_t *size, cuzk_error *err)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    uint8_t *bytes = mem_alloc(n + 1);
    if (!bytes)
        return mem_error(err, n, "a request");
    protobuf_c_message_pack(m, bytes);
    cuzk_status s = client_call(c, method, bytes, n, reply, size, 0, err);
    mem_free(bytes);
    return s;
}

/* The daemon counts from the submission, the load from its beginning. */
static void take_timeline(bench_job *j, const Cuzk__V1__AwaitProofResponse *r)
{
    j->stage = mem_calloc(r->n_timeline, sizeof(*j->stage));
    if (!j->stage)
        return; /* a waterfall without this job */
    for (size_t i = 0; i < r->n_timeline; i++) {
        const Cuzk__V1__StageEvent *v = r->timeline[i];
        bench_stage *s = &j->stage[j->stage_count++];
        snprintf(s->name, sizeof(s->name), "%.15s", v->stage);
        s->partition = v->partition;
        s->device = v->device;
        s->start_ms = j->start_ms + v->start_ms;
        s->end_ms = j->start_ms + v->end_ms;
    }
}

static void take_result(bench_job *j, const Cuzk__V1__AwaitProofResponse *r)
{
    j->ok = r->status == CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED && r->proof.len >= 192;
    if (!j->ok)
        snprintf(j->error, sizeof(j->error), "%.190s",
                 *r->error_message ? r->error_message : "no proof came back");
    j->queue_wait_ms = r->queue_wait_ms;
    j->srs_load_ms = r->srs_load_ms;
    j->synthesis_ms = r->synthesis_ms;
    j->device_ms = r->gpu_compute_ms;
    take_timeline(j, r);
}

static cuzk_status prove(client *c, const Cuzk__V1__SubmitProofRequest *template, const char *id,
                         bench_job *j, cuzk_error *err)
{
    Cuzk__V1__SubmitProofRequest m = *template;
    m.request_id = (char *)id;
    uint8_t *reply = NULL;
    size_t size;
    cuzk_status s = call(c, "SubmitProof", &m.base, &reply, &size, err);
    if (s)
        return s;
    Cuzk__V1__SubmitProofResponse *submitted = cuzk__v1__submit_proof_response__unpack(NULL, size, reply);
    mem_free(reply);
    if (!submitted)
        return cuzk_error_set(err, CUZK_IO_ERROR, "the daemon's answer is not a message of proving.proto");
    Cuzk__V1__AwaitProofRequest w = CUZK__V1__AWAIT_PROOF_REQUEST__INIT;
    w.job_id = submitted->job_id;
    w.with_timeline = 1;
    s = call(c, "AwaitProof", &w.base, &reply, &size, err);
    cuzk__v1__submit_proof_response__free_unpacked(submitted, NULL);
    if (s)
        return s;
    Cuzk__V1__AwaitProofResponse *r = cuzk__v1__await_proof_response__unpack(NULL, size, reply);
    mem_free(reply);
    if (!r)
        return cuzk_error_set(err, CUZK_IO_ERROR, "the daemon's answer is not a message of proving.proto");
    take_result(j, r);
    cuzk__v1__await_proof_response__free_unpacked(r, NULL);
    return CUZK_OK;
}

static void give_up(run *r, const cuzk_error *err)
{
    pthread_mutex_lock(&r->lock);
    if (!r->status) {
        r->err = *err;
        r->status = err->status;
    }
    pthread_mutex_unlock(&r->lock);
    atomic_store(&r->stop, 1);
}

static void *work(void *arg)
{
    run *r = arg;
    client *c;
    cuzk_error err = {0};
    if (r->l->connect(&c, r->l->connect_ctx, &err)) {
        give_up(r, &err);
        return NULL;
    }
    for (unsigned i; !atomic_load(&r->stop) && (i = atomic_fetch_add(&r->next, 1)) < r->count;) {
        bench_job *j = &r->job[i];
        char id[64];
        snprintf(id, sizeof(id), "%s-%u", r->prefix, i);
        j->start_ms = ms_since(r->start_ns);
        if (prove(c, r->l->request, id, j, &err)) {
            snprintf(j->error, sizeof(j->error), "%.190s", err.message);
            if (err.status == CUZK_IO_ERROR) /* nobody answers: the rest would fail in the same way */
                give_up(r, &err);
        }
        j->end_ms = ms_since(r->start_ns);
        j->done = 1;
        atomic_fetch_add(&r->failed, !j->ok);
        atomic_fetch_add(&r->done, 1);
    }
    client_close(c);
    return NULL;
}

static void take_sample(run *r)
{
    bench_load *l = r->l;
    if (!l->pid)
        return;
    if (l->sample_count == l->sample_cap) {
        size_t cap = l->sample_cap ? l->sample_cap * 2 : 256;
        bench_sample *more = mem_realloc(l->sample, cap * sizeof(*more));
        if (!more)
            return;
        l->sample = more;
        l->sample_cap = cap;
    }
    uint64_t rss = bench_process_rss(l->pid);
    l->sample[l->sample_count++] = (bench_sample){ms_since(r->start_ns), rss};
    if (rss > l->rss_peak)
        l->rss_peak = rss;
}

static void show(const run *r, const char *what)
{
    unsigned done = atomic_load(&r->done);
    double s = ms_since(r->start_ns) / 1000;
    fprintf(stderr, "\r%s: %u of %u, %u failed, %.0f s, %.1f a minute\033[K", what, done, r->count,
            atomic_load(&r->failed), s, s > 0 ? done * 60 / s : 0);
    fflush(stderr);
}

/* Until all is done: samples memory and shows progress. */
static void look_on(run *r, const char *what)
{
    uint64_t shown = 0;
    while (atomic_load(&r->done) < r->count && !atomic_load(&r->stop)) {
        take_sample(r);
        if (r->l->progress && clock_ns() - shown > 1000000000u) {
            show(r, what);
            shown = clock_ns();
        }
        struct timespec t = {0, SAMPLE_MS * 1000000l};
        /* Short loads end between two samples: look more often at first. */
        if (ms_since(r->start_ns) < 2000)
            t.tv_nsec /= 10;
        nanosleep(&t, NULL);
    }
    if (r->l->progress)
        fprintf(stderr, "\r\033[K");
}

static cuzk_status run_jobs(bench_load *l, bench_job *job, unsigned count, const char *what, double *wall_ms,
                            cuzk_error *err)
{
    static atomic_uint round;
    unsigned threads = l->concurrency < count ? l->concurrency : count, started = 0;
    pthread_t *thread = mem_calloc(threads, sizeof(*thread));
    if (!thread)
        return mem_error(err, threads * sizeof(*thread), "threads");
    run r = {.l = l, .start_ns = clock_ns(), .count = count, .job = job};
    pthread_mutex_init(&r.lock, NULL);
    snprintf(r.prefix, sizeof(r.prefix), "bench-%llx-%u", (unsigned long long)clock_wall_ns(),
             atomic_fetch_add(&round, 1));
    for (; started < threads; started++)
        if (pthread_create(&thread[started], NULL, work, &r))
            break;
    if (started == 0) {
        cuzk_error e = {0};
        cuzk_error_set(&e, CUZK_OUT_OF_MEMORY, "no thread could be started");
        give_up(&r, &e);
    }
    look_on(&r, what);
    for (unsigned i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    take_sample(&r);
    *wall_ms = ms_since(r.start_ns);
    pthread_mutex_destroy(&r.lock);
    mem_free(thread);
    if (r.status)
        return cuzk_error_set(err, r.status, "%s", r.err.message);
    return CUZK_OK;
}

cuzk_status bench_load_run(bench_load *l, cuzk_error *err)
{
    double ignored;
    if (l->warm_up) {
        bench_job *warm = mem_calloc(l->warm_up, sizeof(*warm));
        if (!warm)
            return mem_error(err, l->warm_up * sizeof(*warm), "jobs");
        cuzk_status s = run_jobs(l, warm, l->warm_up, "warm-up", &ignored, err);
        for (unsigned i = 0; i < l->warm_up; i++) {
            if (!s && !warm[i].ok)
                s = cuzk_error_set(err, CUZK_INCONSISTENT, "the warm-up failed: %s", warm[i].error);
            mem_free(warm[i].stage);
        }
        mem_free(warm);
        if (s)
            return s;
    }
    l->sample_count = 0;
    l->rss_peak = 0;
    l->job = mem_calloc(l->count, sizeof(*l->job));
    if (!l->job)
        return mem_error(err, l->count * sizeof(*l->job), "jobs");
    return run_jobs(l, l->job, l->count, "proofs", &l->wall_ms, err);
}

void bench_load_clear(bench_load *l)
{
    for (unsigned i = 0; l->job && i < l->count; i++)
        mem_free(l->job[i].stage);
    mem_free(l->job);
    mem_free(l->sample);
    l->job = NULL;
    l->sample = NULL;
    l->sample_count = l->sample_cap = 0;
}
