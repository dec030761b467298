#include "cli/workplace.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

cuzk_status workplace_threads(pool **out, const cli_args *a, cuzk_error *err)
{
    uint64_t threads = cli_u64(a, "--threads", 0);
    *out = NULL;
    if (threads > 1024)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "--threads takes 1 to 1024");
    return pool_create(out, (unsigned)threads, err);
}

cuzk_status workplace_open(workplace *w, const cli_args *a, cuzk_error *err)
{
    memset(w, 0, sizeof(*w));
    const char *dir = cli_text(a, "--cache-dir");
    if (dir)
        snprintf(w->cache_dir, sizeof(w->cache_dir), "%s", dir);
    else
        circuit_cache_dir(w->cache_dir, sizeof(w->cache_dir));
    w->use_cache = !cli_flag(a, "--no-cache");
    cuzk_status s = workplace_threads(&w->pool, a, err);
    if (!s)
        s = poseidon_set_create(&w->ps, err);
    if (s)
        workplace_close(w);
    return s;
}

void workplace_close(workplace *w)
{
    if (w->device)
        w->backend->device_close(w->device);
    poseidon_set_destroy(w->ps);
    pool_destroy(w->pool);
    memset(w, 0, sizeof(*w));
}

const circuit_info *workplace_circuit(workplace *w, const cli_args *a, const char *name, int *rc)
{
    (void)w;
    const circuit_info *info = circuit_by_name(name);
    *rc = info
              ? 0
              : cli_usage_error(
                    a,
                    "unknown circuit \"%.80s\"; known are porep-, winning-, window- and update- with 2k, 4k, "
                    "16k, 32k, 8m, 512m, 32g, 64g",
                    name);
    return info;
}

cuzk_status workplace_compile(workplace *w, const circuit_info *info, r1cs **out, cuzk_error *err)
{
    return circuit_open(out, info, w->ps, w->use_cache ? w->cache_dir : NULL, err);
}

cuzk_status workplace_device(workplace *w, const char *name, cuzk_error *err)
{
    uint32_t ordinal = 0;
    cuzk_device_options options = {.threads = pool_size(w->pool)};
    if (!name || !strcmp(name, "cpu")) {
        w->backend = cuzk_backend_cpu();
    } else if (!strncmp(name, "cuda", 4) && (!name[4] || name[4] == ':')) {
        cuzk_status s = cuzk_backend_load(&w->backend, NULL, err);
        if (s)
            return s;
        if (name[4])
            ordinal = (uint32_t)strtoul(name + 5, NULL, 10);
    } else {
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "--device takes cpu, cuda or cuda:N, not \"%.40s\"",
                              name);
    }
    return w->backend->device_open(&w->device, ordinal, &options, err);
}

static cuzk_status find(char *path, size_t size, const cli_args *a, const circuit_info *info,
                        const char *suffix, int *is_test, cuzk_error *err)
{
    int test = 0;
    cuzk_status s = params_find(path, size, cli_text(a, "--params"), info, suffix,
                                cli_flag(a, "--allow-test-srs"), &test, err);
    if (!s && test && !a->json)
        fprintf(
            stderr,
            "cuzk: %s is a test SRS: its secrets are public, so a proof with it proves nothing to anyone\n",
            path);
    if (is_test)
        *is_test = test;
    return s;
}

cuzk_status workplace_params(const cli_args *a, const circuit_info *info, params **out, int *is_test,
                             cuzk_error *err)
{
    char path[4096];
    cuzk_status s = find(path, sizeof(path), a, info, ".params", is_test, err);
    return s ? s : params_open(out, path, err);
}

cuzk_status workplace_vk(const cli_args *a, const circuit_info *info, verifying_key *vk, int *is_test,
                         cuzk_error *err)
{
    char path[4096];
    memset(vk, 0, sizeof(*vk));
    cuzk_error ignored;
    /* The .vk alone is enough; where only the .params is there, it begins with the same bytes. */
    if (find(path, sizeof(path), a, info, ".vk", is_test, &ignored) == CUZK_OK)
        return vk_open(vk, path, err);
    cuzk_status s = find(path, sizeof(path), a, info, ".params", is_test, err);
    if (s)
        return cuzk_error_set(err, ignored.status, "%s", ignored.message);
    return vk_open_params(vk, path, err);
}
