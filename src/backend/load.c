/* Plug-ins: found, opened, checked, and never closed again. A CUDA runtime that is unloaded while one of its
 * threads lives takes the process with it, so a loaded table stays valid for the life of the process; dlopen
 * counts its references, and loading the same file twice returns the same table. */
#include "cuzk/backend.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PLUGIN "libcuzk-cuda.so"

static cuzk_status check_table(const cuzk_backend *b, const char *path, cuzk_error *err)
{
    if (b->abi != CUZK_BACKEND_ABI)
        return cuzk_error_set(
            err, CUZK_UNSUPPORTED,
            "the plug-in %s speaks version %u of the back-end interface, this library version %u: "
            "install the plug-in that came with this library",
            path, b->abi, CUZK_BACKEND_ABI);
    if (b->size != sizeof(cuzk_backend))
        return cuzk_error_set(
            err, CUZK_UNSUPPORTED,
            "the plug-in %s has a table of %u bytes where %zu are expected: it was built from other "
            "sources than this library",
            path, b->size, sizeof(cuzk_backend));
    if (!b->name || !b->device_count || !b->device_describe || !b->device_open || !b->device_close ||
        !b->device_memory || !b->key_load || !b->key_unload || !b->key_bytes || !b->prove_start ||
        !b->prove_finish || !b->prove_batch)
        return cuzk_error_set(err, CUZK_UNSUPPORTED,
                              "the plug-in %s leaves out a function that proving needs", path);
    return CUZK_OK;
}

static cuzk_status load_file(const cuzk_backend **out, const char *path, cuzk_error *err)
{
    dlerror();
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!so) {
        const char *why = dlerror();
        return cuzk_error_set(err, CUZK_UNSUPPORTED, "cannot load the plug-in %s: %s", path,
                              why ? why : "no reason");
    }
    cuzk_backend_entry_fn *entry;
    void *symbol = dlsym(so, CUZK_BACKEND_SYMBOL);
    if (!symbol) {
        dlclose(so);
        return cuzk_error_set(err, CUZK_UNSUPPORTED, "%s is not a back end of cuzk: it exports no %s", path,
                              CUZK_BACKEND_SYMBOL);
    }
    memcpy(&entry, &symbol, sizeof(entry)); /* ISO C has no conversion from object to function pointers */
    cuzk_error inner = {CUZK_OK, ""};
    const cuzk_backend *b = entry(&inner);
    if (!b)
        return cuzk_error_set(err, inner.status ? inner.status : CUZK_UNSUPPORTED,
                              "the plug-in %s cannot run here: %s", path,
                              inner.message[0] ? inner.message : "it gave no reason");
    cuzk_status s = check_table(b, path, err);
    if (s == CUZK_OK)
        *out = b;
    return s;
}

/* The folder of the object that holds this code, with a final slash; empty where it is not known. */
static void own_folder(char *out, size_t size)
{
    out[0] = 0;
    Dl_info info;
    static const char here = 0;
    if (!dladdr(&here, &info) || !info.dli_fname)
        return;
    const char *slash = strrchr(info.dli_fname, '/');
    size_t n = slash ? (size_t)(slash - info.dli_fname) + 1 : 0;
    if (n >= size)
        return;
    memcpy(out, info.dli_fname, n);
    out[n] = 0;
}

cuzk_status cuzk_backend_load(const cuzk_backend **out, const char *path, cuzk_error *err)
{
    *out = NULL;
    if (path) {
        /* dlopen would search the loader's path for a bare name; a path names a file. */
        if (access(path, F_OK) != 0)
            return cuzk_error_set(err, CUZK_NOT_FOUND, "there is no plug-in at %s", path);
        char absolute[4096];
        if (!strchr(path, '/')) {
            if (snprintf(absolute, sizeof(absolute), "./%s", path) >= (int)sizeof(absolute))
                return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "the plug-in's path is too long");
            path = absolute;
        }
        return load_file(out, path, err);
    }
    static const char *const beside[] = {"", "cuzk/", "../lib/", "../lib/cuzk/"};
    char folder[3072], candidate[4096];
    own_folder(folder, sizeof(folder));
    for (size_t i = 0; folder[0] && i < sizeof(beside) / sizeof(beside[0]); i++) {
        if (snprintf(candidate, sizeof(candidate), "%s%s%s", folder, beside[i], PLUGIN) <
                (int)sizeof(candidate) &&
            access(candidate, R_OK) == 0)
            return load_file(out, candidate, err);
    }
    return load_file(out, PLUGIN, err);
}
