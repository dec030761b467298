/* The devices that prove: opened at the start, set aside after repeated failures, tried again after a while.
 */
#include "base/log.h"
#include "base/mem.h"
#include "engine/internal.h"
#include <string.h>

#define QUARANTINE_AFTER 3 /* failures in a row */

uint64_t device_host_limit(const engine *e)
{
    return e->config.gpus.vram_limit ? e->config.gpus.vram_limit : e->budget / 2;
}

static cuzk_status open_device(engine *e, const cuzk_backend *b, uint32_t ordinal, cuzk_error *err)
{
    device_slot *d = &e->device[e->devices];
    *d = (device_slot){.index = (int)e->devices, .ordinal = ordinal, .backend = b};
    d->on_host = strcmp(b->name, "cuda") != 0;
    cuzk_device_options o = {.memory_limit = d->on_host ? device_host_limit(e) : e->config.gpus.vram_limit,
                             .threads = (uint32_t)e->config.gpus.threads,
                             .b_g2_on_host = !strcmp(e->config.gpus.b_g2, "cpu")};
    cuzk_status s = b->device_describe(ordinal, &d->info, err);
    if (!s)
        s = b->device_open(&d->device, ordinal, &o, err);
    if (s)
        return s;
    e->devices++;
    log_write(LOG_INFO, "device", "%s %u: %s, %.1f GiB", b->name, ordinal, d->info.name,
              (double)d->info.memory_total / 1073741824.0);
    return CUZK_OK;
}

static int device_wanted(const config *c, uint32_t ordinal)
{
    if (!c->gpus.device_count)
        return 1;
    for (size_t i = 0; i < c->gpus.device_count; i++)
        if (c->gpus.device[i] == ordinal)
            return 1;
    return 0;
}

static cuzk_status open_all(engine *e, const cuzk_backend *b, cuzk_error *err)
{
    uint32_t count = 0;
    cuzk_status s = b->device_count(&count, err);
    for (uint32_t i = 0; i < count && !s && e->devices < CONFIG_MAX_DEVICES; i++)
        if (device_wanted(&e->config, i))
            s = open_device(e, b, i, err);
    if (!s && !e->devices)
        s = cuzk_error_set(err, CUZK_NOT_FOUND, "gpus.devices names none of the %u devices of back end %s",
                           count, b->name);
    return s;
}

cuzk_status devices_open(engine *e, const cuzk_backend *only, cuzk_error *err)
{
    e->device = mem_calloc(CONFIG_MAX_DEVICES, sizeof(*e->device));
    if (!e->device)
        return mem_error(err, sizeof(*e->device), "devices");
    if (only)
        return open_all(e, only, err);
    const char *want = e->config.gpus.backend;
    if (strcmp(want, "cpu") != 0) {
        const cuzk_backend *cuda;
        cuzk_error why = {0};
        cuzk_status s = cuzk_backend_load(&cuda, NULL, &why);
        if (!s)
            s = open_all(e, cuda, &why);
        if (!s || !strcmp(want, "cuda") || e->devices) {
            if (s && err)
                *err = why;
            return s;
        }
        log_write(LOG_INFO, "device", "no CUDA device is used: %s", why.message);
    }
    return open_device(e, cuzk_backend_cpu(), 0, err);
}

void devices_close(engine *e)
{
    for (size_t i = 0; i < e->devices; i++)
        e->device[i].backend->device_close(e->device[i].device);
    mem_free(e->device);
}

int device_usable_locked(const engine *e, const device_slot *d, uint64_t now)
{
    uint64_t rest = e->config.gpus.quarantine_ms * 1000000u;
    return !d->quarantine_ns || (rest && now - d->quarantine_ns >= rest);
}

void device_count_result(engine *e, device_slot *d, int failed)
{
    pthread_mutex_lock(&e->lock);
    if (failed) {
        d->failures++;
        if (++d->failures_in_row >= QUARANTINE_AFTER) {
            d->quarantine_ns = clock_ns();
            log_write(LOG_ERROR, "device", "%s %u is set aside after %u failures in a row", d->backend->name,
                      d->ordinal, d->failures_in_row);
        }
    } else {
        if (d->quarantine_ns)
            log_write(LOG_INFO, "device", "%s %u proves again", d->backend->name, d->ordinal);
        d->proofs++;
        d->failures_in_row = 0;
        d->quarantine_ns = 0;
    }
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

cuzk_status engine_clear_quarantine(engine *e, uint32_t ordinal, int *was_set_aside, cuzk_error *err)
{
    cuzk_status s = CUZK_NOT_FOUND;
    *was_set_aside = 0;
    pthread_mutex_lock(&e->lock);
    for (size_t i = 0; i < e->devices; i++) {
        device_slot *d = &e->device[i];
        if (d->ordinal != ordinal)
            continue;
        *was_set_aside = d->quarantine_ns != 0;
        d->quarantine_ns = 0;
        d->failures_in_row = 0;
        s = CUZK_OK;
    }
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    return s ? cuzk_error_set(err, s, "there is no device %u", ordinal) : CUZK_OK;
}
