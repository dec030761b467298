#ifndef STORE_STORE_PRIVATE_H
#define STORE_STORE_PRIVATE_H
#include "store/store.h"

typedef struct store_ops {
    void (*close)(store *s);
    cuzk_status (*add)(store *s, store_job *j, const void *input, size_t size, char *existing,
                       cuzk_error *err);
    cuzk_status (*get)(store *s, const char *id, store_job *out, cuzk_error *err);
    cuzk_status (*input)(store *s, const char *id, uint8_t **data, size_t *size, cuzk_error *err);
    cuzk_status (*proofs)(store *s, const char *id, uint32_t partitions, uint8_t *proof, uint8_t *have,
                          cuzk_error *err);
    cuzk_status (*alive)(store *s, store_each_fn *each, void *ctx, cuzk_error *err);
    cuzk_status (*ended)(store *s, uint32_t limit, store_each_fn *each, void *ctx, cuzk_error *err);
    cuzk_status (*start)(store *s, const char *id, uint64_t now_ms, cuzk_error *err);
    cuzk_status (*requeue)(store *s, const char *id, cuzk_error *err);
    cuzk_status (*claim)(store *s, const char *id, uint32_t *partition, uint64_t *fence, uint32_t *claims,
                         cuzk_error *err);
    cuzk_status (*release)(store *s, const char *id, uint32_t partition, uint64_t fence, cuzk_error *err);
    cuzk_status (*part)(store *s, const store_job *j, uint32_t partition, uint64_t fence,
                        const uint8_t *proof, int *complete, cuzk_error *err);
    cuzk_status (*finish)(store *s, const store_job *j, store_state *ended, cuzk_error *err);
    cuzk_status (*expire)(store *s, uint64_t before_ms, uint64_t keep, cuzk_error *err);
    /* NULL in private stores: */
    cuzk_status (*heartbeat)(store *s, int *lost, cuzk_error *err);
    void (*wait)(store *s, uint64_t timeout_ms);
    void (*wake)(store *s);
} store_ops;

struct store { /* the head of each kind's own struct */
    const store_ops *ops;
};

cuzk_status store_sqlite_open(store **out, const char *path, cuzk_error *err);
cuzk_status store_postgres_open(store **out, const char *url, uint64_t lease_ms, cuzk_error *err);
#endif
