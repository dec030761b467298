/* A whole request on devices: witnesses made by the processor ahead of the devices, proofs by several workers
 * a device, every proof verified. */
#include "api/circuits.h"
#include "base/clock.h"
#include "base/encode.h"
#include "base/mem.h"
#include "device.h"
#include "device_setup.h"
#include "filecoin/synth.h"
#include "filecoin/task.h"
#include "mixed.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_WORKERS 16
#define AHEAD       4 /* witnesses that wait for a device */

typedef struct request {
    const circuit_info *info;
    poseidon_set *ps;
    pool *pool;
    r1cs *r;
    porep_c1 *c1;
    synth_vanilla vanilla;
    proof_task *task;
    uint32_t partitions;
    unsigned mixed; /* logarithm of a mixed circuit's rows; 0: a circuit of Filecoin */
} request;

typedef struct pipeline {
    request *q;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    witness ready[AHEAD];
    uint32_t count, made, taken, total;
    cuzk_status status;
    cuzk_error err;
    double witness_ms;
    groth16_times sum;
    uint32_t proved;
} pipeline;

typedef struct worker {
    pipeline *p;
    groth16_prover *prover;
    pthread_t thread;
} worker;

static double ms_since(uint64_t t)
{
    return (double)(clock_ns() - t) / 1e6;
}

/* ---- the request ---- */
static cuzk_status make_post(request *q, cuzk_error *err)
{
    const registered_post *post = NULL;
    for (uint64_t i = 0; i < 15; i++) {
        const registered_post *p = post_by_number(i);
        if (p && p->sector_size == q->info->sector_size && !p->winning == (q->info->kind != CIRCUIT_WINNING))
            post = p; /* the newest of its kind */
    }
    if (!post)
        return cuzk_error_set(err, CUZK_UNSUPPORTED, "no registered proof has circuit %s", q->info->name);
    synth_options o = SYNTH_DEFAULTS;
    o.sectors = q->info->kind == CIRCUIT_WINNING ? 1 : q->info->sectors;
    cuzk_status s = synth_post(&q->vanilla, post, &o, q->ps, q->pool, err);
    if (s != CUZK_OK)
        return s;
    proof_bytes *list = mem_calloc(q->vanilla.count, sizeof *list);
    if (!list)
        return mem_error(err, q->vanilla.count * sizeof *list, "vanilla proofs");
    const uint8_t *at = q->vanilla.data;
    for (size_t i = 0; i < q->vanilla.count; i++) {
        list[i].size = load_le64(at);
        list[i].data = at + 8;
        at += 8 + list[i].size;
    }
    proof_request p = {.kind = q->info->kind,
                       .has_registered = 1,
                       .registered_proof = post->number,
                       .sector_size = q->info->sector_size,
                       .miner_id = o.miner_id,
                       .vanilla = list,
                       .vanilla_count = q->vanilla.count,
                       .has_randomness = 1};
    memcpy(p.randomness, q->vanilla.randomness, 32);
    s = proof_task_parse(&q->task, &p, q->ps, err);
    mem_free(list);
    if (s == CUZK_OK)
        s = proof_task_check(q->task, -1, q->pool, err);
    if (s == CUZK_OK)
        q->partitions = proof_task_partitions(q->task);
    return s;
}

static cuzk_status make_request(request *q, const char *name, unsigned threads, cuzk_error *err)
{
    if (!strncmp(name, "mixed-", 6))
        q->mixed = (unsigned)strtoul(name + 6, NULL, 10);
    q->info = circuit_by_name(name);
    if (!q->info && !q->mixed)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "there is no circuit %s", name);
    cuzk_status s = pool_create(&q->pool, threads, err);
    if (s == CUZK_OK)
        s = poseidon_set_create(&q->ps, err);
    uint64_t t = clock_ns();
    if (s == CUZK_OK)
        s = q->mixed ? mixed_compile(&q->r, q->mixed, err) : circuit_compile(&q->r, q->info, q->ps, err);
    if (s != CUZK_OK)
        return s;
    printf("%-28s %10.1f ms\n", "compile circuit", ms_since(t));
    t = clock_ns();
    if (q->mixed) {
        q->partitions = 1;
        return CUZK_OK;
    }
    if (q->info->kind == CIRCUIT_POREP) {
        const registered_seal *seal = seal_find(q->info->sector_size, POREP_V1_1);
        if (!seal)
            return cuzk_error_set(err, CUZK_UNSUPPORTED, "no registered proof has circuit %s", name);
        s = synth_porep(&q->c1, seal, &SYNTH_DEFAULTS, q->ps, q->pool, err);
        q->partitions = seal->partitions;
    } else if (q->info->kind == CIRCUIT_UPDATE) {
        s = cuzk_error_set(err, CUZK_UNSUPPORTED, "SnapDeals is not measured here");
    } else {
        s = make_post(q, err);
    }
    printf("%-28s %10.1f ms, %u partitions\n", "synthetic input", ms_since(t), q->partitions);
    return s;
}

static void clear_request(request *q)
{
    proof_task_destroy(q->task);
    synth_vanilla_clear(&q->vanilla);
    porep_c1_free(q->c1);
    r1cs_destroy(q->r);
    poseidon_set_destroy(q->ps);
    pool_destroy(q->pool);
}

/* ---- the pipeline ---- */
static void stop(pipeline *p, cuzk_status s, const cuzk_error *err)
{
    pthread_mutex_lock(&p->lock);
    if (p->status == CUZK_OK) {
        p->status = s;
        p->err = *err;
    }
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static cuzk_status make_witness(request *q, witness *w, uint32_t partition, cuzk_error *err)
{
    if (q->mixed)
        return mixed_witness(w, q->r, err);
    return q->c1 ? porep_witness(w, q->r, q->c1, partition, q->ps, q->pool, NULL, err)
                 : proof_task_witness(q->task, partition, q->r, w, q->pool, NULL, err);
}

static cuzk_status make_witnesses(pipeline *p)
{
    for (uint32_t i = 0; i < p->total; i++) {
        witness w = {0};
        cuzk_error err = {0};
        request *q = p->q;
        uint32_t partition = i % q->partitions;
        uint64_t t = clock_ns();
        cuzk_status s = make_witness(q, &w, partition, &err);
        p->witness_ms += ms_since(t);
        if (s != CUZK_OK) {
            stop(p, s, &err);
            return s;
        }
        pthread_mutex_lock(&p->lock);
        while (p->count == AHEAD && p->status == CUZK_OK)
            pthread_cond_wait(&p->changed, &p->lock);
        s = p->status;
        if (s == CUZK_OK) {
            p->ready[p->count++] = w;
            p->made++;
        }
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
        if (s != CUZK_OK) {
            witness_clear(&w);
            return s;
        }
    }
    return CUZK_OK;
}

/* 1: *w is to be proved. */
static int next_witness(pipeline *p, witness *w)
{
    int got = 0;
    pthread_mutex_lock(&p->lock);
    while (p->count == 0 && p->taken < p->total && p->status == CUZK_OK)
        pthread_cond_wait(&p->changed, &p->lock);
    if (p->count > 0 && p->status == CUZK_OK) {
        *w = p->ready[0];
        memmove(p->ready, p->ready + 1, --p->count * sizeof *p->ready);
        p->taken++;
        got = 1;
    }
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return got;
}

static void *work(void *ctx)
{
    worker *me = ctx;
    pipeline *p = me->p;
    witness w;
    while (next_witness(p, &w)) {
        groth16_job *job;
        groth16_times t;
        uint8_t proof[GROTH16_PROOF_BYTES];
        cuzk_error err = {0};
        cuzk_status s = groth16_prove_start(me->prover, &job, &w, NULL, &err);
        if (s == CUZK_OK)
            s = groth16_prove_finish(job, NULL, NULL, proof, &t, &err);
        witness_clear(&w);
        if (s != CUZK_OK) {
            stop(p, s, &err);
            break;
        }
        pthread_mutex_lock(&p->lock);
        const double *from = (const double *)&t;
        double *to = (double *)&p->sum;
        for (size_t i = 0; i < sizeof t / sizeof(double); i++)
            to[i] += from[i];
        p->proved++;
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

static cuzk_status prove_all(request *q, groth16_prover **provers, const bench_device_options *o,
                             unsigned round, cuzk_error *err)
{
    pipeline p = {.q = q, .total = q->partitions};
    worker workers[MAX_WORKERS];
    unsigned n = o->devices * o->workers, started = 0;
    if (n > MAX_WORKERS)
        n = MAX_WORKERS;
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.changed, NULL);
    uint64_t t = clock_ns();
    for (; started < n; started++) {
        workers[started] = (worker){.p = &p, .prover = provers[started % o->devices]};
        if (pthread_create(&workers[started].thread, NULL, work, &workers[started]))
            break;
    }
    cuzk_error e = {0};
    if (started == 0)
        stop(&p, cuzk_error_set(&e, CUZK_OUT_OF_MEMORY, "no thread could be started"), &e);
    else
        make_witnesses(&p);
    for (unsigned i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    double ms = ms_since(t), k = p.proved ? p.proved : 1;
    for (uint32_t i = 0; i < p.count; i++)
        witness_clear(&p.ready[i]);
    pthread_mutex_destroy(&p.lock);
    pthread_cond_destroy(&p.changed);
    if (p.status != CUZK_OK)
        return cuzk_error_set(err, p.status, "%s", p.err.message);
    const groth16_times *s = &p.sum;
    printf("round %u: %u proofs verified in %.1f ms; mean of one: witness %.0f, multiply %.1f, quotient "
           "%.1f, h %.1f, "
           "l %.1f, a %.1f, b_g1 %.1f, b_g2 %.1f, finish %.1f, verify %.1f; peak memory %.1f GiB\n",
           round, p.proved, ms, p.witness_ms / k, s->multiply / k, s->quotient / k, s->msm_h / k,
           s->msm_l / k, s->msm_a / k, s->msm_b_g1 / k, s->msm_b_g2 / k, s->finish / k, s->verify / k,
           (double)mem_rss_peak_bytes() / (1 << 30));
    fflush(stdout);
    return CUZK_OK;
}

/* The request as one batch on a device that may use little memory: each pass over a query serves all proofs.
 */
static cuzk_status prove_batch(request *q, const cuzk_backend *backend, const bench_device_options *o,
                               const params *p, cuzk_error *err)
{
    cuzk_device_options d = {.memory_limit = o->batch_limit, .threads = o->threads};
    cuzk_device *device;
    groth16_prover *prover = NULL;
    uint32_t n = q->partitions;
    witness *w = mem_calloc(n, sizeof *w);
    const witness **list = mem_calloc(n, sizeof *list);
    uint8_t *proofs = mem_calloc(n, GROTH16_PROOF_BYTES);
    groth16_times *times = mem_calloc(n, sizeof *times);
    cuzk_status s = w && list && proofs && times ? CUZK_OK : mem_error(err, n * sizeof *w, "a batch");
    if (s == CUZK_OK)
        s = backend->device_open(&device, 0, &d, err);
    if (s != CUZK_OK)
        goto exit;
    s = groth16_prover_create(&prover, backend, device, q->r, p, err);
    if (s == CUZK_OK)
        printf("batch: %s\n", groth16_prover_plan(prover));
    uint64_t t = clock_ns();
    for (uint32_t i = 0; i < n && s == CUZK_OK; i++) {
        list[i] = &w[i];
        s = make_witness(q, &w[i], i, err);
    }
    double made = ms_since(t);
    if (s == CUZK_OK)
        s = groth16_prove_batch(prover, list, n, NULL, NULL, proofs, times, NULL, NULL, err);
    if (s == CUZK_OK)
        printf("batch: %u proofs verified in %.1f ms, witnesses %.1f of them; peak memory %.1f GiB\n", n,
               ms_since(t), made, (double)mem_rss_peak_bytes() / (1 << 30));
    if (s == CUZK_OK)
        printf("batch: first proof: multiply %.1f, quotient %.1f, h %.1f, l %.1f, a %.1f, b_g1 %.1f, b_g2 "
               "%.1f\n",
               times->multiply, times->quotient, times->msm_h, times->msm_l, times->msm_a, times->msm_b_g1,
               times->msm_b_g2);
    groth16_prover_destroy(prover);
    backend->device_close(device);
exit:
    for (uint32_t i = 0; w && i < n; i++)
        witness_clear(&w[i]);
    mem_free(w);
    mem_free(list);
    mem_free(proofs);
    mem_free(times);
    return s;
}

int bench_device_prove(const cuzk_backend *backend, const bench_device_options *o, const char *circuit,
                       unsigned rounds)
{
    request q = {0};
    params p = {0};
    cuzk_device *device[MAX_WORKERS] = {0};
    groth16_prover *prover[MAX_WORKERS] = {0};
    cuzk_error err = {0};
    cuzk_device_options d = {
        .memory_limit = o->vram_limit, .threads = o->threads, .b_g2_on_host = o->b_g2_on_host};
    if (o->devices < 1 || o->devices > MAX_WORKERS || o->workers < 1) {
        fprintf(stderr, "--devices and --workers must be between 1 and %d\n", MAX_WORKERS);
        return 2;
    }
    cuzk_status s = make_request(&q, circuit, o->threads, &err);
    for (uint32_t i = 0; i < o->devices && s == CUZK_OK; i++)
        s = backend->device_open(&device[i], i, &d, &err);
    uint64_t t = clock_ns();
    if (s == CUZK_OK)
        s = device_params_make(&p, q.r, backend, device[0], q.pool, &err);
    if (s == CUZK_OK)
        printf("%-28s %10.1f ms, %.1f GiB\n", "parameters (test SRS)", ms_since(t),
               (double)device_params_bytes(&p.q) / (1 << 30));
    for (uint32_t i = 0; i < o->devices && s == CUZK_OK; i++) {
        t = clock_ns();
        s = groth16_prover_create(&prover[i], backend, device[i], q.r, &p, &err);
        if (s == CUZK_OK)
            printf("%-28s %10.1f ms: %s\n", "load key", ms_since(t), groth16_prover_plan(prover[i]));
    }
    fflush(stdout);
    for (unsigned i = 0; i < rounds && s == CUZK_OK; i++)
        s = prove_all(&q, prover, o, i + 1, &err);
    for (uint32_t i = 0; i < o->devices; i++) {
        groth16_prover_destroy(prover[i]);
        backend->device_close(device[i]);
    }
    if (s == CUZK_OK && o->batch_limit)
        s = prove_batch(&q, backend, o, &p, &err);
    device_params_clear(&p);
    clear_request(&q);
    if (s != CUZK_OK)
        fprintf(stderr, "%s: %s\n", cuzk_status_name(s), err.message);
    return s == CUZK_OK ? 0 : 1;
}
