#include "api/circuits.h"
#include "base/file.h"
#include "base/log.h"
#include "filecoin/porep.h"
#include "filecoin/post.h"
#include "filecoin/update.h"
#include <stdio.h>
#include <stdlib.h>

void circuit_cache_dir(char *out, size_t size)
{
    const char *dir = getenv("CUZK_CACHE");
    if (dir && *dir)
        snprintf(out, size, "%s", dir);
    else if ((dir = getenv("XDG_CACHE_HOME")) && *dir)
        snprintf(out, size, "%s/cuzk", dir);
    else if ((dir = getenv("HOME")) && *dir)
        snprintf(out, size, "%s/.cache/cuzk", dir);
    else
        snprintf(out, size, "/var/cache/cuzk");
}

cuzk_status circuit_compile(r1cs **out, const circuit_info *info, const poseidon_set *ps, cuzk_error *err)
{
    switch (info->kind) {
    case CIRCUIT_POREP: {
        porep_circuit c = {info, ps};
        return r1cs_compile(out, info->name, porep_synthesize, &c, err);
    }
    case CIRCUIT_WINNING:
    case CIRCUIT_WINDOW: {
        post_circuit c = {info, ps};
        return r1cs_compile(out, info->name, post_synthesize, &c, err);
    }
    case CIRCUIT_UPDATE: {
        update_circuit c = {info, ps};
        return r1cs_compile(out, info->name, update_synthesize, &c, err);
    }
    }
    return cuzk_error_set(err, CUZK_UNSUPPORTED, "the circuit %s cannot be compiled by this version",
                          info->name);
}

cuzk_status circuit_open(r1cs **out, const circuit_info *info, const poseidon_set *ps, const char *cache_dir,
                         cuzk_error *err)
{
    char path[4096];
    if (!cache_dir)
        return circuit_compile(out, info, ps, err);
    snprintf(path, sizeof(path), "%s/%s.r1cs-cache", cache_dir, info->name);
    cuzk_error why = {0};
    if (file_exists(path)) {
        if (r1cs_open(out, path, info->name, 1, &why) == CUZK_OK)
            return CUZK_OK;
        log_write(LOG_WARN, "circuits", "the compiled circuit is made again: %s", why.message);
    }
    cuzk_status s = circuit_compile(out, info, ps, err);
    if (s)
        return s;
    if (file_make_dirs(cache_dir, &why) || r1cs_save(*out, path, &why)) {
        log_write(LOG_WARN, "circuits", "the compiled circuit is not kept: %s", why.message);
        return CUZK_OK;
    }
    /* The mapped form shares its pages with other processes; the one in memory goes. */
    r1cs *mapped;
    if (r1cs_open(&mapped, path, info->name, 0, &why) == CUZK_OK) {
        r1cs_destroy(*out);
        *out = mapped;
    }
    return CUZK_OK;
}

const char *params_dir_or_default(const char *dir)
{
    if (dir)
        return dir;
    dir = getenv("FIL_PROOFS_PARAMETER_CACHE");
    return dir && *dir ? dir : "/var/tmp/filecoin-proof-parameters";
}

cuzk_status params_find(char *out, size_t size, const char *dir, const circuit_info *info, const char *suffix,
                        int allow_test, int *is_test, cuzk_error *err)
{
    dir = params_dir_or_default(dir);
    int n = snprintf(out, size, "%s/%s%s", dir, info->file, suffix);
    if (is_test)
        *is_test = 0;
    if (n > 0 && (size_t)n < size && file_exists(out))
        return CUZK_OK;
    char test[4096];
    snprintf(test, sizeof(test), "%s/TEST-%s%s", dir, info->file, suffix);
    if (allow_test && file_exists(test)) {
        snprintf(out, size, "%s", test);
        if (is_test)
            *is_test = 1;
        return CUZK_OK;
    }
    if (file_exists(test))
        return cuzk_error_set(
            err, CUZK_NOT_FOUND,
            "%s%s (%s) is missing in %s; a TEST- file is there, and is used only where test SRS are allowed",
            info->file, suffix, info->name, dir);
    return cuzk_error_set(err, CUZK_NOT_FOUND, "%s%s, the parameter file of %s, is missing in %s", info->file,
                          suffix, info->name, dir);
}
