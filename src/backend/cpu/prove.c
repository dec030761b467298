/* The sums of a proof on the CPU. The work is done in prove_start; prove_finish hands the result over. */
#include "backend/cpu/cpu.h"
#include "r1cs/r1cs.h"
#include <string.h>

cpu_stop cpu_stop_make(cuzk_cancel_fn *fn, void *ctx)
{
    return (cpu_stop){fn, ctx, fn == cancel_token_poll ? ctx : NULL};
}

cuzk_status cpu_stop_check(const cpu_stop *stop, cuzk_error *err)
{
    if (stop->token && cancel_check(stop->token) == 2)
        return cuzk_error_set(err, CUZK_DEADLINE, "the time allowed for the proof is over");
    if (stop->fn && stop->fn(stop->ctx))
        return cuzk_error_set(err, CUZK_CANCELLED, "the proof was cancelled");
    return CUZK_OK;
}

cuzk_status cpu_multiply(const cuzk_circuit_view *c, const cuzk_witness_view *w, fr *a, fr *b, fr_order order,
                         pool *p, cuzk_error *err)
{
    if (w->inputs == c->inputs && w->aux == c->aux && w->fields == c->fields)
        return r1cs_multiply_view(c, w, a, b, order, p, err);
    return cuzk_error_set(
        err, CUZK_INVALID_ARGUMENT,
        "the witness has %llu inputs, %llu wires and %llu field wires, the circuit %llu, %llu and %llu",
        (unsigned long long)w->inputs, (unsigned long long)w->aux, (unsigned long long)w->fields,
        (unsigned long long)c->inputs, (unsigned long long)c->aux, (unsigned long long)c->fields);
}

static double lap(uint64_t *since)
{
    uint64_t now = clock_ns();
    double ms = (double)(now - *since) / 1e6;
    *since = now;
    return ms;
}

/* Rows beyond the circuit's are zeros. A task: some rows of eight columns. */
#define CLEAR_SLICES 16
typedef struct clear_job {
    fr *v[2];
    size_t first, end; /* elements */
    fr_order order;
} clear_job;

static void clear_part(void *ctx, size_t task, unsigned worker)
{
    const clear_job *j = ctx;
    unsigned log = j->order.column_log;
    size_t row = j->first >> log, rows = ((j->end - 1) >> log) + 1 - row, slice = task % CLEAR_SLICES;
    (void)worker;
    for (size_t r = row + rows * slice / CLEAR_SLICES; r < row + rows * (slice + 1) / CLEAR_SLICES; r++)
        for (size_t c = task / CLEAR_SLICES * 8, i = (r << log) + c, end = i + 8; i < end; i++)
            if (i >= j->first && i < j->end)
                j->v[0][fr_place(&j->order, i)] = j->v[1][fr_place(&j->order, i)] = FR_ZERO;
}

/* The H sum: everything that needs arrays of the domain's size, which are gone when it returns. */
static cuzk_status prove_h(const cuzk_device_key *key, const cuzk_witness_view *w, cuzk_sums *sums,
                           cuzk_device_times *t, const cpu_stop *stop, cuzk_error *err)
{
    size_t n = domain_size(key->domain), bytes = n * sizeof(fr);
    pool *p = key->device->pool;
    uint64_t since = clock_ns();
    fr *a = pool_take(p, bytes), *b = pool_take(p, bytes), *extra = NULL;
    cuzk_status s = a && b ? CUZK_OK : mem_error(err, bytes, "the rows' values");
    if (s == CUZK_OK) {
        clear_job j = {{a, b}, key->circuit.constraints, n, domain_order(key->domain)};
        if (j.first < n)
            pool_for(p, ((size_t)1 << j.order.column_log) / 8 * CLEAR_SLICES, clear_part, &j);
        s = cpu_multiply(&key->circuit, w, a, b, j.order, p, err);
    }
    t->spmv = lap(&since);
    if (s == CUZK_OK)
        s = cpu_stop_check(stop, err);
    if (s == CUZK_OK && !(extra = pool_take(p, bytes)))
        s = mem_error(err, bytes, "the quotient");
    if (s == CUZK_OK)
        s = quotient(key->domain, a, b, extra, p, err);
    pool_give(p, b, bytes);
    pool_give(p, extra, bytes);
    t->quotient = lap(&since);
    if (s == CUZK_OK)
        s = cpu_stop_check(stop, err);
    if (s == CUZK_OK)
        s = cpu_sum_h(&sums->h, key, (const scalar *)a, stop, err);
    pool_give(p, a, bytes);
    t->msm_h = lap(&since);
    return s;
}

static cuzk_status prove_queries(const cuzk_device_key *key, const cuzk_witness_view *w, uint32_t count,
                                 cuzk_sums *sums, cuzk_device_times *t, const cpu_stop *stop, cuzk_error *err)
{
    const cuzk_circuit_view *c = &key->circuit;
    query_shape l = {.aux = c->aux}, a = {c->inputs, NULL, c->aux, c->a_density},
                b = {c->inputs, c->b_input_density, c->aux, c->b_density};
    size_t stride = sizeof(cuzk_sums);
    uint64_t since = clock_ns();
    cuzk_status s = cpu_sum_g1(&sums->l, stride, key, QUERY_L, &l, w, count, stop, err);
    t->msm_l = lap(&since);
    if (s == CUZK_OK)
        s = cpu_sum_g1(&sums->a, stride, key, QUERY_A, &a, w, count, stop, err);
    t->msm_a = lap(&since);
    if (s == CUZK_OK)
        s = cpu_sum_g1(&sums->b_g1, stride, key, QUERY_B_G1, &b, w, count, stop, err);
    t->msm_b_g1 = lap(&since);
    if (s == CUZK_OK)
        s = cpu_sum_g2(&sums->b_g2, stride, key, QUERY_B_G2, &b, w, count, stop, err);
    t->msm_b_g2 = lap(&since);
    return s;
}

cuzk_status cpu_prove_batch(cuzk_device_key *key, const cuzk_witness_view *witnesses, uint32_t count,
                            cuzk_sums *sums, cuzk_device_times *times, cuzk_cancel_fn *cancel,
                            void *cancel_ctx, cuzk_error *err)
{
    cpu_stop stop = cpu_stop_make(cancel, cancel_ctx);
    cuzk_device_times shared = {0};
    cuzk_status s = cpu_stop_check(&stop, err);
    pool_watch(key->device->pool, stop.token); /* the long steps know the pool only */
    /* A single proof is as quick from the file and needs less memory; more than one pays for decoding. */
    if (s == CUZK_OK && key->proofs + count > 1)
        s = cpu_key_decode(key, &stop, err);
    key->proofs += count;
    for (uint32_t i = 0; s == CUZK_OK && i < count; i++) {
        cuzk_device_times own = {0};
        s = prove_h(key, &witnesses[i], &sums[i], &own, &stop, err);
        if (times)
            times[i] = own;
    }
    if (s == CUZK_OK && count > 0)
        s = prove_queries(key, witnesses, count, sums, &shared, &stop, err);
    pool_watch(key->device->pool, NULL);
    if (pool_size(key->device->pool) == 1)
        pool_trim(key->device->pool); /* nobody else would */
    for (uint32_t i = 0; times && s == CUZK_OK && i < count; i++) {
        cuzk_device_times *t = &times[i];
        t->msm_l = shared.msm_l / count;
        t->msm_a = shared.msm_a / count;
        t->msm_b_g1 = shared.msm_b_g1 / count;
        t->msm_b_g2 = shared.msm_b_g2 / count;
        t->total = t->spmv + t->quotient + t->msm_h + t->msm_l + t->msm_a + t->msm_b_g1 + t->msm_b_g2;
    }
    return s;
}

cuzk_status cpu_prove_start(cuzk_device_key *key, cuzk_device_job **out, const cuzk_witness_view *w,
                            cuzk_cancel_fn *cancel, void *cancel_ctx, cuzk_error *err)
{
    *out = NULL;
    cuzk_device_job *job = mem_calloc(1, sizeof(*job));
    if (!job)
        return mem_error(err, sizeof(*job), "a proof");
    cuzk_status s = cpu_prove_batch(key, w, 1, &job->sums, &job->times, cancel, cancel_ctx, err);
    if (s == CUZK_OK)
        *out = job;
    else
        mem_free(job);
    return s;
}

cuzk_status cpu_prove_finish(cuzk_device_job *job, cuzk_sums *sums, cuzk_device_times *times, cuzk_error *err)
{
    (void)err;
    *sums = job->sums;
    if (times)
        *times = job->times;
    mem_free(job);
    return CUZK_OK;
}
