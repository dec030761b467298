/* Circuits and SRS in memory: loaded once by a thread of their own, counted, evicted when idle. A key's
 * memory is reserved whole before it is taken, the decoded queries of a device on the host included, so that
 * no proof has to wait for memory half way. */
#include "base/log.h"
#include "base/mem.h"
#include "engine/internal.h"
#include <stdio.h>
#include <string.h>

#define FAILURE_HOLDS_NS 1000000000u /* a failed load is reported for so long before it is tried again */

static circuit_key *find_locked(engine *e, const circuit_info *info)
{
    for (circuit_key *k = e->keys; k; k = k->next)
        if (k->info == info)
            return k;
    return NULL;
}

/* ---- loading ---- */

static uint64_t domain_bytes(uint64_t rows)
{
    uint64_t n = 1;
    while (n < rows)
        n *= 2;
    return n * sizeof(fr);
}

/* What one proof and the key itself take of the host's memory. */
static void measure(const engine *e, circuit_key *k)
{
    r1cs_counts n;
    r1cs_get_counts(k->circuit, &n);
    const cuzk_query_view *q = &k->srs->q;
    k->witness_bytes = (n.inputs + n.fields) * sizeof(fr) + n.aux / 8 + 64;
    k->working_bytes = 0;
    k->bytes = r1cs_memory(k->circuit);
    for (size_t i = 0; i < e->devices; i++) {
        const device_slot *d = &e->device[i];
        if (!d->on_host)
            continue;
        uint64_t points = (q->h_count + q->l_count + q->a_count + q->b_g1_count) * sizeof(g1_affine) +
                          q->b_g2_count * sizeof(g2_affine) + domain_bytes(n.constraints);
        uint64_t limit = device_host_limit(e);
        k->bytes += points < limit ? points : limit;
        k->working_bytes +=
            3 * domain_bytes(n.constraints) + (32u << 20); /* rows' values, quotient, chunks */
    }
}

static cuzk_status check_verdict(engine *e, const params *p, cuzk_error *err)
{
    cuzk_status s = CUZK_OK;
    pthread_mutex_lock(&e->lock);
    const digest_verdict *v = digest_known_locked(e, p);
    if (v && v->bad)
        s = cuzk_error_set(err, CUZK_BAD_INPUT, "%s", v->sentence);
    pthread_mutex_unlock(&e->lock);
    return s;
}

static cuzk_status open_files(engine *e, circuit_key *k, int *is_test, cuzk_error *err)
{
    char path[4096], cache[4096];
    const char *dir = e->config.srs.param_cache[0] ? e->config.srs.param_cache : NULL;
    cuzk_status s =
        params_find(path, sizeof(path), dir, k->info, ".params", e->config.srs.allow_test, is_test, err);
    if (s)
        return s;
    if (*is_test)
        log_write(LOG_WARN, "srs",
                  "%s is a test SRS: its secrets are public, so its proofs prove nothing to anyone", path);
    s = params_open(&k->srs, path, err);
    if (!s && !*is_test && e->config.srs.check_digests)
        s = digest_check_key(k->srs, k->info, err);
    if (!s)
        s = check_verdict(e, k->srs, err);
    if (e->config.srs.circuit_cache[0])
        snprintf(cache, sizeof(cache), "%s", e->config.srs.circuit_cache);
    else
        circuit_cache_dir(cache, sizeof(cache));
    if (!s)
        s = circuit_open(&k->circuit, k->info, e->ps, cache, err);
    return s ? s : params_match(k->srs, k->circuit, err);
}

/* Waits for room. The key is listed meanwhile, so that the scheduler holds others back. */
static cuzk_status reserve(engine *e, circuit_key *k, cuzk_error *err)
{
    cuzk_status s = CUZK_OK;
    pthread_mutex_lock(&e->lock);
    if (k->bytes + k->witness_bytes + k->working_bytes > e->budget)
        s = cuzk_error_set(
            err, CUZK_OUT_OF_MEMORY,
            "%s needs %llu MiB for its SRS, circuit and one proof, but memory.total_budget is %llu MiB",
            k->info->wire_name, (unsigned long long)((k->bytes + k->witness_bytes + k->working_bytes) >> 20),
            (unsigned long long)(e->budget >> 20));
    while (!s && !budget_take_locked(e, k->bytes)) {
        k->wants_memory = 1;
        if (e->stopping)
            s = cuzk_error_set(err, CUZK_CANCELLED, "the daemon is stopping");
        else
            engine_wait_until(&e->changed, &e->lock, clock_ns() + 200000000u);
    }
    k->wants_memory = 0;
    if (!s)
        k->reserved = k->bytes;
    pthread_mutex_unlock(&e->lock);
    keys_bury(e);
    return s;
}

static void unload(engine *e, circuit_key *k)
{
    for (size_t i = 0; k->prover && i < e->devices; i++)
        groth16_prover_destroy(k->prover[i]);
    mem_free(k->prover);
    params_close(k->srs);
    r1cs_destroy(k->circuit);
    mem_free(k);
}

/* The lock is released for the callbacks. */
static void tell_waiters(engine *e, circuit_key *k, const cuzk_error *failure)
{
    key_waiter *w = k->waiters;
    k->waiters = NULL;
    uint64_t ms = k->load_ns / 1000000u;
    pthread_mutex_unlock(&e->lock);
    while (w) {
        key_waiter *next = w->next;
        w->done(w->ctx, 0, ms, failure);
        mem_free(w);
        w = next;
    }
    pthread_mutex_lock(&e->lock);
}

void keys_dismiss_waiters_locked(engine *e)
{
    cuzk_error stopping;
    cuzk_error_set(&stopping, CUZK_BUSY, "the daemon is stopping");
    for (circuit_key *k = e->keys; k;) {
        if (k->waiters) {
            k->references++;
            tell_waiters(e, k, &stopping);
            k->references--;
            k = e->keys; /* the lock was released */
        } else {
            k = k->next;
        }
    }
}

typedef struct loader_arg {
    engine *e;
    circuit_key *k;
} loader_arg;

static void *loader_main(void *arg)
{
    loader_arg a = *(loader_arg *)arg;
    mem_free(arg);
    engine *e = a.e;
    circuit_key *k = a.k;
    const circuit_info *info = k->info;
    uint64_t start = clock_ns();
    cuzk_error why = {0};
    int is_test = 0;
    cuzk_status s = open_files(e, k, &is_test, &why);
    if (!s) {
        measure(e, k);
        s = reserve(e, k, &why);
    }
    pthread_mutex_lock(&e->lock);
    k->load_ns = clock_ns() - start;
    k->used_ns = clock_ns();
    k->is_test = is_test;
    k->state = s ? KEY_FAILED : KEY_READY;
    k->error = why;
    k->references--; /* from here on it may be evicted; tell_waiters looks at it before it lets the lock go */
    uint64_t ms = k->load_ns / 1000000u;
    pthread_cond_broadcast(&e->changed);
    tell_waiters(e, k, s ? &why : NULL);
    if (s)
        log_write(LOG_ERROR, "srs", "circuit=%s cannot be loaded: %s", info->wire_name, why.message);
    else
        log_write(LOG_INFO, "srs", "loaded circuit=%s srs_load_ms=%llu", info->wire_name,
                  (unsigned long long)ms);
    e->loaders--;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

static void unlink_locked(engine *e, circuit_key *k)
{
    for (circuit_key **at = &e->keys; *at; at = &(*at)->next) {
        if (*at == k) {
            *at = k->next;
            break;
        }
    }
    budget_give_locked(e, k->reserved);
    k->reserved = 0;
    k->next = e->dead_keys;
    e->dead_keys = k;
}

static int start_loader(engine *e, circuit_key *k)
{
    loader_arg *a = mem_alloc(sizeof(*a));
    if (!a)
        return -1;
    *a = (loader_arg){e, k};
    pthread_t t;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    int rc = pthread_create(&t, &detached, loader_main, a);
    pthread_attr_destroy(&detached);
    if (rc)
        mem_free(a);
    return rc ? -1 : 0;
}

circuit_key *key_request_locked(engine *e, const circuit_info *info)
{
    circuit_key *k = find_locked(e, info);
    if (k && k->state == KEY_FAILED && !k->references && clock_ns() - k->used_ns > FAILURE_HOLDS_NS) {
        unlink_locked(e, k);
        k = NULL;
    }
    if (k)
        return k;
    k = mem_calloc(1, sizeof(*k));
    if (k)
        k->prover = mem_calloc(e->devices, sizeof(*k->prover));
    if (!k || !k->prover) {
        mem_free(k);
        return NULL;
    }
    k->info = info;
    k->state = KEY_LOADING;
    k->references = 1; /* the loader's */
    k->next = e->keys;
    e->keys = k;
    e->loaders++;
    if (start_loader(e, k)) {
        e->loaders--;
        k->references = 0;
        k->state = KEY_FAILED;
        k->used_ns = clock_ns();
        mem_error(&k->error, sizeof(*k), "a thread that loads an SRS");
    }
    return k;
}

/* ---- use ---- */

void key_unref_locked(engine *e, circuit_key *k)
{
    if (!k)
        return;
    k->references--;
    k->used_ns = clock_ns();
    pthread_cond_broadcast(&e->changed);
}

/* Other keys' provers on a device that are not in use make room in its memory. */
static int drop_idle_provers(engine *e, const circuit_key *keep, const device_slot *d)
{
    int dropped = 0;
    pthread_mutex_lock(&e->lock);
    for (circuit_key *k = e->keys; k; k = k->next) {
        if (k == keep || k->references || !k->prover[d->index])
            continue;
        groth16_prover_destroy(k->prover[d->index]);
        k->prover[d->index] = NULL;
        dropped++;
        log_write(LOG_INFO, "srs", "circuit=%s leaves the memory of %s %u", k->info->wire_name,
                  d->backend->name, d->ordinal);
    }
    pthread_mutex_unlock(&e->lock);
    return dropped;
}

cuzk_status key_prover(engine *e, circuit_key *k, device_slot *d, groth16_prover **out, cuzk_error *err)
{
    groth16_prover *p = k->prover[d->index];
    cuzk_status s = CUZK_OK;
    if (!p) {
        s = groth16_prover_create(&p, d->backend, d->device, k->circuit, k->srs, err);
        if (s == CUZK_OUT_OF_MEMORY && drop_idle_provers(e, k, d))
            s = groth16_prover_create(&p, d->backend, d->device, k->circuit, k->srs, err);
        if (!s)
            log_write(LOG_INFO, "srs", "circuit=%s on %s %u: %s", k->info->wire_name, d->backend->name,
                      d->ordinal, groth16_prover_plan(p));
        pthread_mutex_lock(&e->lock);
        k->prover[d->index] = s ? NULL : p;
        pthread_mutex_unlock(&e->lock);
    }
    *out = p;
    return s;
}

/* ---- eviction ---- */

uint64_t keys_evict_locked(engine *e, uint64_t bytes, uint64_t min_idle_ns)
{
    uint64_t freed = 0, now = clock_ns();
    while (freed < bytes) {
        circuit_key *oldest = NULL;
        for (circuit_key *k = e->keys; k; k = k->next)
            if (!k->references && k->state == KEY_READY && now - k->used_ns >= min_idle_ns &&
                (!oldest || k->used_ns < oldest->used_ns))
                oldest = k;
        if (!oldest)
            break;
        freed += oldest->reserved;
        e->evictions++;
        log_write(LOG_INFO, "srs", "evicted circuit=%s", oldest->info->wire_name);
        unlink_locked(e, oldest);
    }
    return freed;
}

/* A device is used by one thread at a time, and its keys are given back by one that has it; on the host they
 * are plain memory. */
static void take_devices_of(engine *e, const circuit_key *k, int taken[CONFIG_MAX_DEVICES])
{
    pthread_mutex_lock(&e->lock);
    for (size_t i = 0; i < e->devices; i++) {
        taken[i] = k->prover[i] != NULL && !e->device[i].on_host;
        while (taken[i] && e->device[i].busy)
            pthread_cond_wait(&e->changed, &e->lock);
        e->device[i].busy |= taken[i];
    }
    pthread_mutex_unlock(&e->lock);
}

void keys_bury(engine *e)
{
    for (;;) {
        int taken[CONFIG_MAX_DEVICES] = {0};
        pthread_mutex_lock(&e->lock);
        circuit_key *k = e->dead_keys;
        if (k)
            e->dead_keys = k->next;
        pthread_mutex_unlock(&e->lock);
        if (!k)
            return;
        take_devices_of(e, k, taken);
        unload(e, k);
        pthread_mutex_lock(&e->lock);
        for (size_t i = 0; i < e->devices; i++)
            if (taken[i])
                e->device[i].busy = 0;
        pthread_cond_broadcast(&e->changed);
        pthread_mutex_unlock(&e->lock);
    }
}

void keys_destroy(engine *e)
{
    pthread_mutex_lock(&e->lock);
    while (e->loaders)
        pthread_cond_wait(&e->changed, &e->lock);
    while (e->keys)
        unlink_locked(e, e->keys);
    pthread_mutex_unlock(&e->lock);
    keys_bury(e);
}

/* ---- on request ---- */

static cuzk_status unknown_circuit(const char *name, cuzk_error *err)
{
    return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "circuit_id \"%.60s\" is not known", name);
}

cuzk_status engine_preload_async(engine *e, const char *circuit, engine_preload_fn *done, void *ctx,
                                 cuzk_error *err)
{
    const circuit_info *info = circuit_by_name(circuit);
    if (!info)
        return unknown_circuit(circuit, err);
    key_waiter *w = mem_alloc(sizeof(*w));
    if (!w)
        return mem_error(err, sizeof(*w), "a wait");
    pthread_mutex_lock(&e->lock);
    if (e->stopping || e->draining) {
        pthread_mutex_unlock(&e->lock);
        mem_free(w);
        return cuzk_error_set(err, CUZK_BUSY, "the daemon is stopping");
    }
    circuit_key *known = find_locked(e, info), *k = key_request_locked(e, info);
    cuzk_error failure = {0};
    int loaded = 0, waits = 0;
    if (!k) {
        mem_error(&failure, sizeof(*k), "a circuit's key");
    } else if (k->state == KEY_READY) {
        k->used_ns = clock_ns();
        loaded = k == known;
    } else if (k->state == KEY_FAILED) {
        failure = k->error;
    } else {
        *w = (key_waiter){done, ctx, k->waiters};
        k->waiters = w;
        waits = 1;
    }
    pthread_mutex_unlock(&e->lock);
    keys_bury(e);
    if (waits)
        return CUZK_OK;
    mem_free(w);
    done(ctx, loaded, 0, failure.status ? &failure : NULL);
    return CUZK_OK;
}

typedef struct preload_wait {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    int over, already;
    uint64_t load_ms;
    cuzk_error failure;
} preload_wait;

static void preload_ended(void *ctx, int already, uint64_t load_ms, const cuzk_error *failure)
{
    preload_wait *w = ctx;
    pthread_mutex_lock(&w->lock);
    w->over = 1;
    w->already = already;
    w->load_ms = load_ms;
    if (failure)
        w->failure = *failure;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
}

cuzk_status engine_preload(engine *e, const char *circuit, int *already_loaded, uint64_t *load_ms,
                           cuzk_error *err)
{
    preload_wait w = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};
    cuzk_status s = engine_preload_async(e, circuit, preload_ended, &w, err);
    if (s)
        return s;
    pthread_mutex_lock(&w.lock);
    while (!w.over)
        pthread_cond_wait(&w.ended, &w.lock);
    pthread_mutex_unlock(&w.lock);
    if (w.failure.status && err)
        *err = w.failure;
    *already_loaded = w.already;
    *load_ms = w.load_ms;
    return w.failure.status;
}

cuzk_status engine_evict(engine *e, const char *circuit, int *was_loaded, uint64_t *freed_bytes,
                         cuzk_error *err)
{
    const circuit_info *info = circuit_by_name(circuit);
    *was_loaded = 0;
    *freed_bytes = 0;
    if (!info)
        return unknown_circuit(circuit, err);
    cuzk_status s = CUZK_OK;
    pthread_mutex_lock(&e->lock);
    circuit_key *k = find_locked(e, info);
    if (k && k->references) {
        s = cuzk_error_set(err, CUZK_BUSY, k->state == KEY_LOADING ? "%s is being loaded" : "%s is in use",
                           info->wire_name);
    } else if (k) {
        *was_loaded = k->state == KEY_READY;
        *freed_bytes = k->reserved;
        unlink_locked(e, k);
        pthread_cond_broadcast(&e->changed);
    }
    pthread_mutex_unlock(&e->lock);
    if (!s)
        keys_bury(e);
    return s;
}
