/* The context: threads, constants, a device, and the circuit that is loaded on it. */
#include "api/api.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>

const char *cuzk_version(void)
{
    return CUZK_VERSION;
}

void cuzk_log_to(cuzk_log_level level, void (*sink)(void *ctx, const char *line), void *sink_ctx)
{
    log_configure((log_level)level, LOG_TEXT);
    log_set_sink(sink, sink_ctx);
}

/* ---- stopping ---- */
cuzk_status cuzk_stop_create(cuzk_stop **out, cuzk_error *err)
{
    *out = mem_calloc(1, sizeof(**out));
    return *out ? CUZK_OK : mem_error(err, sizeof(**out), "a request to stop");
}

void cuzk_stop_destroy(cuzk_stop *stop)
{
    mem_free(stop);
}

void cuzk_stop_request(cuzk_stop *stop)
{
    atomic_store(&stop->token.cancelled, 1);
}

void cuzk_stop_after(cuzk_stop *stop, uint64_t milliseconds)
{
    atomic_store(&stop->token.deadline_ns, clock_ns() + milliseconds * 1000000u);
}

/* ---- context ---- */
static cuzk_status copy_options(cuzk_ctx *ctx, const cuzk_options *o, cuzk_error *err)
{
    size_t n = o->size < sizeof(ctx->options) ? o->size : sizeof(ctx->options);
    if (o->size < offsetof(cuzk_options, threads) + sizeof(o->threads))
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "cuzk_options.size is not set: use CUZK_OPTIONS_INIT");
    memcpy(&ctx->options, o, n);
    ctx->options.size = sizeof(ctx->options);
    if (ctx->options.threads > 4096)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "cuzk_options.threads is %u", ctx->options.threads);
    const char *cache = ctx->options.circuit_cache;
    char usual[4096];
    if (!cache) {
        circuit_cache_dir(usual, sizeof(usual));
        cache = usual;
    }
    if (*cache && !(ctx->circuit_cache = strdup(cache)))
        return mem_error(err, strlen(cache), "a path");
    if (!(ctx->params_dir = strdup(params_dir_or_default(ctx->options.params_dir))))
        return mem_error(err, 64, "a path");
    ctx->options.params_dir = ctx->params_dir;
    ctx->options.circuit_cache = ctx->circuit_cache;
    return CUZK_OK;
}

static cuzk_status open_device(cuzk_ctx *ctx, cuzk_error *err)
{
    const cuzk_options *o = &ctx->options;
    const char *name = o->backend;
    cuzk_status s = CUZK_OK;
    if (!name || !strcmp(name, "cpu"))
        ctx->backend = cuzk_backend_cpu();
    else
        s = cuzk_backend_load(&ctx->backend, strcmp(name, "cuda") ? name : NULL, err);
    if (s != CUZK_OK)
        return s;
    cuzk_device_options d = {.memory_limit = o->memory_limit,
                             .threads = pool_size(ctx->pool),
                             .stream_queries = o->stream_queries != 0};
    s = ctx->backend->device_open(&ctx->device, o->device, &d, err);
    if (s != CUZK_OK)
        return s;
    cuzk_device_info info;
    if (ctx->backend->device_describe(o->device, &info, NULL) != CUZK_OK)
        memset(&info, 0, sizeof(info));
    snprintf(ctx->device_name, sizeof(ctx->device_name), "%s: %s, %s", ctx->backend->name, info.name,
             info.detail);
    ctx->options.backend = ctx->backend->name;
    return CUZK_OK;
}

cuzk_status cuzk_ctx_create(cuzk_ctx **out, const cuzk_options *options, cuzk_error *err)
{
    static const cuzk_options defaults = CUZK_OPTIONS_INIT;
    *out = NULL;
    cuzk_ctx *ctx = mem_calloc(1, sizeof(*ctx));
    if (!ctx)
        return mem_error(err, sizeof(*ctx), "a context");
    pthread_mutex_init(&ctx->lock, NULL);
    cuzk_status s = copy_options(ctx, options ? options : &defaults, err);
    if (s == CUZK_OK)
        s = pool_create(&ctx->pool, ctx->options.threads, err);
    if (s == CUZK_OK)
        s = poseidon_set_create(&ctx->ps, err);
    if (s == CUZK_OK)
        s = open_device(ctx, err);
    if (s != CUZK_OK) {
        cuzk_ctx_destroy(ctx);
        return s;
    }
    *out = ctx;
    return CUZK_OK;
}

void cuzk_ctx_destroy(cuzk_ctx *ctx)
{
    if (!ctx)
        return;
    api_unload(ctx);
    if (ctx->device)
        ctx->backend->device_close(ctx->device);
    poseidon_set_destroy(ctx->ps);
    pool_destroy(ctx->pool);
    pthread_mutex_destroy(&ctx->lock);
    free(ctx->params_dir);
    free(ctx->circuit_cache);
    mem_free(ctx);
}

const char *cuzk_ctx_device(const cuzk_ctx *ctx)
{
    return ctx->device_name;
}

/* ---- the loaded circuit ---- */
void api_unload(cuzk_ctx *ctx)
{
    groth16_prover_destroy(ctx->loaded.g);
    params_close(ctx->loaded.p);
    r1cs_destroy(ctx->loaded.r);
    memset(&ctx->loaded, 0, sizeof(ctx->loaded));
}

cuzk_status api_load(cuzk_ctx *ctx, const circuit_info *info, cuzk_error *err)
{
    api_loaded *l = &ctx->loaded;
    char path[4096];
    if (l->info == info && !file_map_changed(&l->p->map))
        return CUZK_OK;
    api_unload(ctx);
    /* The file first: it is missing more often than anything else, and compiling takes longer. */
    cuzk_status s = params_find(path, sizeof(path), ctx->params_dir, info, ".params",
                                ctx->options.allow_test_srs, NULL, err);
    if (s == CUZK_OK)
        s = params_open(&l->p, path, err);
    if (s == CUZK_OK)
        s = circuit_open(&l->r, info, ctx->ps, ctx->circuit_cache, err);
    if (s == CUZK_OK)
        s = groth16_prover_create(&l->g, ctx->backend, ctx->device, l->r, l->p, err);
    if (s == CUZK_OK)
        l->info = info;
    else
        api_unload(ctx);
    return s;
}

cuzk_status api_open_vk(verifying_key *vk, const cuzk_ctx *ctx, const circuit_info *info, cuzk_error *err)
{
    char path[4096];
    int test = ctx->options.allow_test_srs;
    if (params_find(path, sizeof(path), ctx->params_dir, info, ".vk", test, NULL, err) == CUZK_OK)
        return vk_open(vk, path, err);
    char whole[4096];
    if (params_find(whole, sizeof(whole), ctx->params_dir, info, ".params", test, NULL, NULL) == CUZK_OK)
        return vk_open_params(vk, whole, err);
    memset(vk, 0, sizeof(*vk));
    return CUZK_NOT_FOUND; /* err says which .vk */
}
