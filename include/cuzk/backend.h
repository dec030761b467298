/* Devices that prove: the interface between the prover and its back ends.
 *
 * The CPU back end is built in. Others are plug-ins, loaded with dlopen: a shared object that exports
 * cuzk_backend_entry (CUZK_BACKEND_SYMBOL). A plug-in whose abi differs from CUZK_BACKEND_ABI is refused with
 * a sentence.
 *
 * Rules. Every function may fail with a status and a message; none aborts and none throws. Objects belong to
 * the device that made them and are used by one thread at a time, except where said. The CPU back end is the
 * oracle: with the same inputs every back end returns the same bytes. */
#ifndef CUZK_BACKEND_H
#define CUZK_BACKEND_H
#include "cuzk/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUZK_BACKEND_ABI    1u
#define CUZK_BACKEND_SYMBOL "cuzk_backend_entry"

typedef struct cuzk_device cuzk_device;         /* one context on one device */
typedef struct cuzk_device_key cuzk_device_key; /* a circuit and its queries, ready for proving */
typedef struct cuzk_device_job cuzk_device_job; /* one proof under way */

typedef struct cuzk_device_info {
    char name[128];                     /* "NVIDIA H200" */
    char detail[128];                   /* driver, compute capability, processor features */
    uint64_t memory_total, memory_free; /* bytes */
    uint32_t processors;                /* SMs or hardware threads */
} cuzk_device_info;

typedef struct cuzk_device_options {
    uint64_t memory_limit;   /* bytes of device memory that may be used; 0: what is free */
    uint64_t pinned_limit;   /* bytes of pinned host memory; 0: the back end's choice */
    uint32_t threads;        /* host threads for the device's helper work; 0: all */
    uint32_t b_g2_on_host;   /* 1: the G2 sum is computed on the host in prove_finish */
    uint32_t check_points;   /* 1: curve and subgroup of every point are checked on upload */
    uint32_t stream_queries; /* 1: nothing of the queries is kept between proofs (least memory) */
} cuzk_device_options;

/* The queries of a parameter file, each count points in uncompressed big-endian encoding (96 bytes for G1,
 * 192 for G2), usually inside a mapped file; they stay valid until key_unload. Order as in the file. */
typedef struct cuzk_query_view {
    const uint8_t *h, *l, *a, *b_g1, *b_g2;
    uint64_t h_count, l_count, a_count, b_g1_count, b_g2_count;
    /* Copies size bytes that stand at src, inside one of the queries, to dst. Set where the queries lie in a
     * mapped file: touching the map itself would kill the process if the file were cut meanwhile. Any thread
     * may call it. NULL: plain memory, to be read directly. */
    cuzk_status (*read)(void *ctx, void *dst, const uint8_t *src, size_t size, cuzk_error *err);
    void *read_ctx;
} cuzk_query_view;

/* What a proof needs from the device: sum of scalar * point over each query. Affine; infinity is all zeros.
 */
typedef struct cuzk_sums {
    cuzk_g1_affine h, l, a, b_g1;
    cuzk_g2_affine b_g2;
} cuzk_sums;

typedef struct cuzk_device_times { /* milliseconds */
    double upload, spmv, quotient, msm_h, msm_l, msm_a, msm_b_g1, msm_b_g2, total;
    uint64_t bytes_to_device, bytes_from_device;
} cuzk_device_times;

/* Looks at *cancel between kernels: non-zero stops the work with CUZK_CANCELLED. NULL never stops. */
typedef int cuzk_cancel_fn(void *ctx);

/* Plain operations, for tests, benchmarks and setup. Host memory in and out. */
typedef enum cuzk_ntt_kind {
    CUZK_NTT_FORWARD,
    CUZK_NTT_INVERSE,
    CUZK_NTT_COSET_FORWARD,
    CUZK_NTT_COSET_INVERSE
} cuzk_ntt_kind;
typedef enum cuzk_field_op { CUZK_OP_MUL, CUZK_OP_SQR, CUZK_OP_ADD, CUZK_OP_SUB, CUZK_OP_INV } cuzk_field_op;

typedef struct cuzk_backend {
    uint32_t abi;     /* CUZK_BACKEND_ABI */
    uint32_t size;    /* sizeof(cuzk_backend) */
    const char *name; /* "cpu", "cuda" */

    /* How many devices there are. CUZK_UNSUPPORTED with a sentence where there is no driver or none at all.
     */
    cuzk_status (*device_count)(uint32_t *count, cuzk_error *err);
    cuzk_status (*device_describe)(uint32_t ordinal, cuzk_device_info *info, cuzk_error *err);
    cuzk_status (*device_open)(cuzk_device **out, uint32_t ordinal, const cuzk_device_options *options,
                               cuzk_error *err);
    void (*device_close)(cuzk_device *device);
    /* Memory that is free now. */
    cuzk_status (*device_memory)(cuzk_device *device, uint64_t *free_bytes, uint64_t *total_bytes,
                                 cuzk_error *err);

    /* Makes a circuit and its queries ready: uploads or plans streaming, as memory allows. The circuit's
     * arrays and the queries stay valid until key_unload; the two structs themselves are copied. plan
     * receives a sentence that says which plan was chosen (plan_size bytes; may be NULL). */
    cuzk_status (*key_load)(cuzk_device *device, cuzk_device_key **out, const cuzk_circuit_view *circuit,
                            const cuzk_query_view *queries, char *plan, size_t plan_size, cuzk_error *err);
    void (*key_unload)(cuzk_device_key *key);
    uint64_t (*key_bytes)(const cuzk_device_key *key); /* device memory held */

    /* A proof in two steps. prove_start returns when the device can take the next proof; the witness must
     * stay valid until prove_finish. prove_finish waits, fills sums and times (NULL allowed) and frees the
     * job, also on failure. */
    cuzk_status (*prove_start)(cuzk_device_key *key, cuzk_device_job **out, const cuzk_witness_view *witness,
                               cuzk_cancel_fn *cancel, void *cancel_ctx, cuzk_error *err);
    cuzk_status (*prove_finish)(cuzk_device_job *job, cuzk_sums *sums, cuzk_device_times *times,
                                cuzk_error *err);
    /* Several proofs of one key that share each pass over the queries. sums has count entries; times may be
     * NULL. */
    cuzk_status (*prove_batch)(cuzk_device_key *key, const cuzk_witness_view *witnesses, uint32_t count,
                               cuzk_sums *sums, cuzk_device_times *times, cuzk_cancel_fn *cancel,
                               void *cancel_ctx, cuzk_error *err);

    cuzk_status (*op_fr)(cuzk_device *device, cuzk_field_op op, cuzk_fr *r, const cuzk_fr *a,
                         const cuzk_fr *b, size_t n, cuzk_error *err);
    cuzk_status (*op_fp)(cuzk_device *device, cuzk_field_op op, uint64_t (*r)[6], const uint64_t (*a)[6],
                         const uint64_t (*b)[6], size_t n, cuzk_error *err);
    cuzk_status (*op_fp2)(cuzk_device *device, cuzk_field_op op, uint64_t (*r)[12], const uint64_t (*a)[12],
                          const uint64_t (*b)[12], size_t n, cuzk_error *err);
    /* In place, 2^log_n elements, natural order both ways. */
    cuzk_status (*op_ntt)(cuzk_device *device, cuzk_ntt_kind kind, cuzk_fr *a, uint32_t log_n,
                          cuzk_error *err);
    /* a, b: 2^log_n values each; h receives 2^log_n canonical scalars (the last one 0). */
    cuzk_status (*op_quotient)(cuzk_device *device, cuzk_scalar *h, const cuzk_fr *a, const cuzk_fr *b,
                               uint32_t log_n, cuzk_error *err);
    cuzk_status (*op_multiply)(cuzk_device *device, const cuzk_circuit_view *circuit,
                               const cuzk_witness_view *witness, cuzk_fr *a, cuzk_fr *b, cuzk_error *err);
    cuzk_status (*op_msm_g1)(cuzk_device *device, cuzk_g1_affine *out, const cuzk_g1_affine *bases,
                             const cuzk_scalar *k, size_t n, cuzk_error *err);
    cuzk_status (*op_msm_g2)(cuzk_device *device, cuzk_g2_affine *out, const cuzk_g2_affine *bases,
                             const cuzk_scalar *k, size_t n, cuzk_error *err);
    cuzk_status (*op_subset_g1)(cuzk_device *device, cuzk_g1_affine *out, const cuzk_g1_affine *bases,
                                const uint64_t *bits, size_t n, cuzk_error *err);
    cuzk_status (*op_subset_g2)(cuzk_device *device, cuzk_g2_affine *out, const cuzk_g2_affine *bases,
                                const uint64_t *bits, size_t n, cuzk_error *err);
    /* r[i] = k[i] * generator, uncompressed big-endian (setup). */
    cuzk_status (*op_fixed_g1)(cuzk_device *device, uint8_t *r96, const cuzk_fr *k, size_t n,
                               cuzk_error *err);
    cuzk_status (*op_fixed_g2)(cuzk_device *device, uint8_t *r192, const cuzk_fr *k, size_t n,
                               cuzk_error *err);
} cuzk_backend;

/* The symbol a plug-in exports: returns its table, or NULL with a message when it cannot run here. */
typedef const cuzk_backend *cuzk_backend_entry_fn(cuzk_error *err);

/* ---- what the library offers on top ---- */
/* The built-in CPU back end. */
CUZK_API const cuzk_backend *cuzk_backend_cpu(void);
/* Loads a plug-in: path, or NULL for libcuzk-cuda.so beside the library and on the loader's path. The table
 * stays valid for the life of the process. */
CUZK_API cuzk_status cuzk_backend_load(const cuzk_backend **out, const char *path, cuzk_error *err);

#ifdef __cplusplus
}
#endif
#endif
