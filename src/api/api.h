/* What stands behind the handles of the public headers. */
#ifndef API_API_H
#define API_API_H
#include "api/circuits.h"
#include "cuzk/cuzk.h"
#include <pthread.h>

/* The circuit whose parameters the context holds. */
typedef struct api_loaded {
    const circuit_info *info; /* NULL: none */
    r1cs *r;
    params *p;
    groth16_prover *g;
} api_loaded;

struct cuzk_ctx {
    cuzk_options options; /* strings copied */
    char *params_dir, *circuit_cache;
    pool *pool;
    poseidon_set *ps;
    const cuzk_backend *backend;
    cuzk_device *device;
    char device_name[300];
    pthread_mutex_t lock; /* the device, and what is loaded on it */
    api_loaded loaded;
};

struct cuzk_stop {
    cancel_token token;
};
static inline const cancel_token *api_token(const cuzk_stop *stop)
{
    return stop ? &stop->token : NULL;
}

/* Opens what a circuit's proofs need, unless it is the one that is loaded. The lock is held. */
cuzk_status api_load(cuzk_ctx *ctx, const circuit_info *info, cuzk_error *err) CUZK_MUST_CHECK;
void api_unload(cuzk_ctx *ctx);
/* The key of a registered circuit: its .vk, or the head of its .params. */
cuzk_status api_open_vk(verifying_key *vk, const cuzk_ctx *ctx, const circuit_info *info,
                        cuzk_error *err) CUZK_MUST_CHECK;
#endif
