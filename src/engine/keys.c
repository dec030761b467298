/* Circuits and SRS in memory: loaded once, counted, evicted when idle. */
#include "base/log.h"
#include "base/mem.h"
#include "engine/internal.h"
#include <string.h>

static circuit_key *find_locked(engine *e, const circuit_info *info)
{
    for (circuit_key *k = e->keys; k; k = k->next)
        if (k->info == info)
            return k;
    return NULL;
}

static const char *or_null(const char *s)
{
    return s[0] ? s : NULL;
}

/* Opens what the key needs; runs without the lock. */
static cuzk_status load(engine *e, circuit_key *k, cuzk_error *err)
{
    char path[4096], cache[4096];
    uint64_t start = clock_ns();
    cuzk_status s = params_find(path, sizeof(path), or_null(e->config.srs.param_cache), k->info, ".params",
                                e->config.srs.allow_test, &k->is_test, err);
    if (s)
        return s;
    if (k->is_test)
        log_write(LOG_WARN, "srs",
                  "%s is a test SRS: its secrets are public, so its proofs prove nothing to anyone", path);
    s = params_open(&k->srs, path, err);
    if (e->config.srs.circuit_cache[0])
        strcpy(cache, e->config.srs.circuit_cache);
    else
        circuit_cache_dir(cache, sizeof(cache));
    if (!s)
        s = circuit_open(&k->circuit, k->info, e->ps, cache, err);
    if (!s)
        s = params_match(k->srs, k->circuit, err);
    if (s)
        return s;
    k->bytes = r1cs_memory(k->circuit);
    k->load_ns = clock_ns() - start;
    log_write(LOG_INFO, "srs", "loaded circuit=%s srs_load_ms=%llu", k->info->wire_name,
              (unsigned long long)k->load_ns / 1000000u);
    return CUZK_OK;
}

static void unload(engine *e, circuit_key *k)
{
    for (size_t i = 0; k->prover && i < e->devices; i++)
        groth16_prover_destroy(k->prover[i]);
    mem_free(k->prover);
    k->prover = NULL;
    params_close(k->srs);
    r1cs_destroy(k->circuit);
    k->srs = NULL;
    k->circuit = NULL;
}

static void remove_locked(engine *e, circuit_key *k)
{
    for (circuit_key **at = &e->keys; *at; at = &(*at)->next) {
        if (*at == k) {
            *at = k->next;
            break;
        }
    }
    e->budget_used -= k->reserved;
    unload(e, k);
    mem_free(k);
    pthread_cond_broadcast(&e->changed);
}

cuzk_status key_acquire(engine *e, const circuit_info *info, circuit_key **out, int *was_loaded,
                        cuzk_error *err)
{
    *out = NULL;
    pthread_mutex_lock(&e->lock);
    circuit_key *k = find_locked(e, info);
    if (was_loaded)
        *was_loaded = k != NULL && !k->loading;
    if (!k) {
        k = mem_calloc(1, sizeof(*k));
        if (k)
            k->prover = mem_calloc(e->devices, sizeof(*k->prover));
        if (!k || !k->prover) {
            pthread_mutex_unlock(&e->lock);
            mem_free(k);
            return mem_error(err, 4096, "a circuit's key");
        }
        k->info = info;
        k->loading = 1;
        k->references = 1;
        k->next = e->keys;
        e->keys = k;
        pthread_mutex_unlock(&e->lock);
        cuzk_error why = {0};
        cuzk_status s = load(e, k, &why);
        if (!s)
            s = budget_reserve(e, k->bytes, info->wire_name, NULL, &why);
        pthread_mutex_lock(&e->lock);
        k->loading = 0;
        if (s) {
            k->failed = 1;
            k->error = why;
        } else {
            k->reserved = k->bytes;
        }
        pthread_cond_broadcast(&e->changed);
    } else {
        k->references++;
        while (k->loading)
            pthread_cond_wait(&e->changed, &e->lock);
    }
    cuzk_status s = CUZK_OK;
    if (k->failed) {
        s = k->error.status;
        if (err)
            *err = k->error;
        if (--k->references == 0)
            remove_locked(e, k);
    } else {
        k->used_ns = clock_ns();
        *out = k;
    }
    pthread_mutex_unlock(&e->lock);
    return s;
}

void key_release(engine *e, circuit_key *k)
{
    if (!k)
        return;
    pthread_mutex_lock(&e->lock);
    k->references--;
    k->used_ns = clock_ns();
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

cuzk_status key_prover(engine *e, circuit_key *k, device_slot *d, groth16_prover **out, cuzk_error *err)
{
    groth16_prover *p = k->prover[d->index];
    cuzk_status s = CUZK_OK;
    if (!p) {
        s = groth16_prover_create(&p, d->backend, d->device, k->circuit, k->srs, err);
        pthread_mutex_lock(&e->lock);
        k->prover[d->index] = s ? NULL : p;
        pthread_mutex_unlock(&e->lock);
    }
    *out = p;
    return s;
}

uint64_t keys_evict_locked(engine *e, uint64_t bytes, uint64_t min_idle_ns)
{
    uint64_t freed = 0, now = clock_ns();
    while (freed < bytes) {
        circuit_key *oldest = NULL;
        for (circuit_key *k = e->keys; k; k = k->next)
            if (!k->references && !k->loading && now - k->used_ns >= min_idle_ns &&
                (!oldest || k->used_ns < oldest->used_ns))
                oldest = k;
        if (!oldest)
            break;
        freed += oldest->reserved;
        log_write(LOG_INFO, "srs", "evicted circuit=%s", oldest->info->wire_name);
        remove_locked(e, oldest);
    }
    return freed;
}

void keys_destroy(engine *e)
{
    while (e->keys)
        remove_locked(e, e->keys);
}

cuzk_status engine_preload(engine *e, const char *circuit, int *already_loaded, uint64_t *load_ms,
                           cuzk_error *err)
{
    const circuit_info *info = circuit_by_name(circuit);
    if (!info)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "circuit_id \"%.60s\" is not known", circuit);
    circuit_key *k;
    uint64_t start = clock_ns();
    cuzk_status s = key_acquire(e, info, &k, already_loaded, err);
    if (s)
        return s;
    *load_ms = *already_loaded ? 0 : (clock_ns() - start) / 1000000u;
    key_release(e, k);
    return CUZK_OK;
}

cuzk_status engine_evict(engine *e, const char *circuit, int *was_loaded, uint64_t *freed_bytes,
                         cuzk_error *err)
{
    const circuit_info *info = circuit_by_name(circuit);
    *was_loaded = 0;
    *freed_bytes = 0;
    if (!info)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "circuit_id \"%.60s\" is not known", circuit);
    cuzk_status s = CUZK_OK;
    pthread_mutex_lock(&e->lock);
    circuit_key *k = find_locked(e, info);
    if (k && k->references) {
        s = cuzk_error_set(err, CUZK_BUSY, "%s is in use by %u proofs", info->wire_name, k->references);
    } else if (k) {
        *was_loaded = 1;
        *freed_bytes = k->bytes;
        remove_locked(e, k);
    }
    pthread_mutex_unlock(&e->lock);
    return s;
}
