/* cuzk: a Groth16 proving engine for BLS12-381. The context, and what all parts of the library share.
 *
 *     cuzk_ctx *ctx;
 *     cuzk_options o = CUZK_OPTIONS_INIT;
 *     cuzk_error err;
 *     if (cuzk_ctx_create(&ctx, &o, &err) != CUZK_OK)
 *         fprintf(stderr, "%s\n", err.message);
 *
 * Then cuzk/filecoin.h proves and verifies sectors, and cuzk/prover.h any circuit stated by calls. Functions
 * that can fail return a status and fill err (which may be NULL). A context may be used by several threads;
 * its proofs take turns on its device. No function writes to standard output, and none calls exit or abort on
 * bad input. */
#ifndef CUZK_CUZK_H
#define CUZK_CUZK_H
#include "cuzk/status.h"
#include "cuzk/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUZK_PROOF_BYTES 192 /* one Groth16 proof: A and C compressed in G1, B in G2 */

/* "0.1.0" */
CUZK_API const char *cuzk_version(void);

/* ---- context ---- */
typedef struct cuzk_ctx cuzk_ctx;
typedef struct cuzk_options {
    size_t size;               /* sizeof(cuzk_options); later versions may add members at the end */
    uint32_t threads;          /* 0: one for each processor that this process may use */
    uint32_t device;           /* number of the device, for a back end that has several */
    const char *backend;       /* NULL or "cpu"; "cuda"; or the path of a plug-in */
    uint64_t memory_limit;     /* bytes that the device may use for a circuit; 0: what is reasonable */
    int stream_queries;        /* 1: parameters are read anew for each proof and never kept: least memory */
    int allow_test_srs;        /* 1: a TEST- file stands in for a registered one that is missing */
    const char *params_dir;    /* parameter files; NULL: $FIL_PROOFS_PARAMETER_CACHE or the usual folder */
    const char *circuit_cache; /* compiled circuits; NULL: the usual folder; "": none are kept */
} cuzk_options;
#define CUZK_OPTIONS_INIT                                                                                    \
    {                                                                                                        \
        sizeof(cuzk_options), 0, 0, 0, 0, 0, 0, 0, 0                                                         \
    }
CUZK_API cuzk_status cuzk_ctx_create(cuzk_ctx **out, const cuzk_options *options,
                                     cuzk_error *err) CUZK_MUST_CHECK;
CUZK_API void cuzk_ctx_destroy(cuzk_ctx *ctx); /* after everything made from it */
/* Name and features of the device that proves: "cpu: AMD EPYC ..., IFMA". Valid as long as the context. */
CUZK_API const char *cuzk_ctx_device(const cuzk_ctx *ctx);

/* ---- log ---- */
typedef enum cuzk_log_level {
    CUZK_LOG_TRACE,
    CUZK_LOG_DEBUG,
    CUZK_LOG_INFO,
    CUZK_LOG_WARN,
    CUZK_LOG_ERROR,
    CUZK_LOG_OFF
} cuzk_log_level;
/* For the whole process: records of at least this level go to sink, one line each without a newline; NULL:
 * stderr. The sink is called by one thread at a time. */
CUZK_API void cuzk_log_to(cuzk_log_level level, void (*sink)(void *ctx, const char *line), void *sink_ctx);

/* ---- stopping ---- */
/* A request to stop, shared by the thread that asks and the one that works. Long functions take one, or NULL.
 */
typedef struct cuzk_stop cuzk_stop;
CUZK_API cuzk_status cuzk_stop_create(cuzk_stop **out, cuzk_error *err) CUZK_MUST_CHECK;
CUZK_API void cuzk_stop_destroy(cuzk_stop *stop);
CUZK_API void
cuzk_stop_request(cuzk_stop *stop); /* from any thread: CUZK_CANCELLED within some tens of milliseconds */
CUZK_API void cuzk_stop_after(cuzk_stop *stop, uint64_t milliseconds); /* from now: CUZK_DEADLINE */

/* Work done and in all, in units of the function's choice; called from time to time by the working thread. */
typedef void cuzk_progress_fn(void *ctx, uint64_t done, uint64_t total);

#ifdef __cplusplus
}
#endif
#endif
