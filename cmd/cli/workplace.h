/* What most commands need: threads, Poseidon constants, compiled circuits, a device, and the files of a
 * request. */
#ifndef CLI_WORKPLACE_H
#define CLI_WORKPLACE_H
#include "api/circuits.h"
#include "base/encode.h"
#include "cli/cli.h"
#include "filecoin/task.h"

typedef struct workplace {
    pool *pool;
    poseidon_set *ps;
    char cache_dir[4096];
    int use_cache;
    const cuzk_backend *backend;
    cuzk_device *device;
} workplace;

#define WORKPLACE_OPTIONS                                                                                    \
    {"--threads", OPT_U64, "N", "threads (default: one per processor)", 0},                                  \
        {"--cache-dir", OPT_TEXT, "DIR", "folder of compiled circuits (default ~/.cache/cuzk)", 0},          \
    {                                                                                                        \
        "--no-cache", OPT_FLAG, NULL, "neither read nor keep compiled circuits", 0                           \
    }
#define PARAMS_OPTIONS                                                                                       \
    {"--params", OPT_TEXT, "DIR", "folder of the parameter files", 0},                                       \
    {                                                                                                        \
        "--allow-test-srs", OPT_FLAG, NULL, "use a TEST- file where the registered one is missing", 0        \
    }

/* As many threads as --threads says. */
cuzk_status workplace_threads(pool **out, const cli_args *a, cuzk_error *err);
cuzk_status workplace_open(workplace *w, const cli_args *a, cuzk_error *err);
void workplace_close(workplace *w);
/* The circuit of that name; prints and sets *rc where there is none. */
const circuit_info *workplace_circuit(workplace *w, const cli_args *a, const char *name, int *rc);
/* Compiled, from the cache where allowed; shows progress. */
cuzk_status workplace_compile(workplace *w, const circuit_info *info, r1cs **out, cuzk_error *err);
/* Opens the device that proves: the CPU, or with --device cuda[:N] the plug-in. */
cuzk_status workplace_device(workplace *w, const char *name, cuzk_error *err);
cuzk_status workplace_params(const cli_args *a, const circuit_info *info, params **out, int *is_test,
                             cuzk_error *err);
cuzk_status workplace_vk(const cli_args *a, const circuit_info *info, verifying_key *vk, int *is_test,
                         cuzk_error *err);
#endif
