#include "store/store.h"
#include "store/store_private.h"
#include <string.h>

cuzk_status store_open(store **out, const char *url, uint64_t lease_ms, cuzk_error *err)
{
    *out = NULL;
    if (!strncmp(url, "sqlite:", 7))
        return store_sqlite_open(out, url + 7, err);
    if (!strncmp(url, "postgres://", 11) || !strncmp(url, "postgresql://", 13))
        return store_postgres_open(out, url, lease_ms, err);
    return cuzk_error_set(
        err, CUZK_INVALID_ARGUMENT,
        "store.url must begin with sqlite: or postgres:// (sqlite:/path/jobs.db, sqlite::memory:)");
}

void store_close(store *s)
{
    if (s)
        s->ops->close(s);
}

int store_shared(const store *s)
{
    return s->ops->heartbeat != NULL;
}

cuzk_status store_add(store *s, store_job *j, const void *input, size_t size, char existing[STORE_ID_SIZE],
                      cuzk_error *err)
{
    existing[0] = 0;
    return s->ops->add(s, j, input, size, existing, err);
}

cuzk_status store_get(store *s, const char *id, store_job *out, cuzk_error *err)
{
    return s->ops->get(s, id, out, err);
}

cuzk_status store_input(store *s, const char *id, uint8_t **data, size_t *size, cuzk_error *err)
{
    *data = NULL;
    *size = 0;
    return s->ops->input(s, id, data, size, err);
}

cuzk_status store_proofs(store *s, const char *id, uint32_t partitions, uint8_t *proof, uint8_t *have,
                         cuzk_error *err)
{
    return s->ops->proofs(s, id, partitions, proof, have, err);
}

cuzk_status store_alive(store *s, store_each_fn *each, void *ctx, cuzk_error *err)
{
    return s->ops->alive(s, each, ctx, err);
}

cuzk_status store_ended(store *s, uint32_t limit, store_each_fn *each, void *ctx, cuzk_error *err)
{
    return s->ops->ended(s, limit, each, ctx, err);
}

cuzk_status store_start(store *s, const char *id, uint64_t now_ms, cuzk_error *err)
{
    return s->ops->start(s, id, now_ms, err);
}

cuzk_status store_requeue(store *s, const char *id, cuzk_error *err)
{
    return s->ops->requeue(s, id, err);
}

cuzk_status store_claim(store *s, const char *id, uint32_t *partition, uint64_t *fence, uint32_t *claims,
                        cuzk_error *err)
{
    return s->ops->claim(s, id, partition, fence, claims, err);
}

cuzk_status store_release(store *s, const char *id, uint32_t partition, uint64_t fence, cuzk_error *err)
{
    return s->ops->release(s, id, partition, fence, err);
}

cuzk_status store_part(store *s, const store_job *j, uint32_t partition, uint64_t fence,
                       const uint8_t proof[STORE_PROOF_BYTES], int *complete, cuzk_error *err)
{
    *complete = 0;
    return s->ops->part(s, j, partition, fence, proof, complete, err);
}

cuzk_status store_finish(store *s, const store_job *j, store_state *ended, cuzk_error *err)
{
    return s->ops->finish(s, j, ended, err);
}

cuzk_status store_expire(store *s, uint64_t before_ms, uint64_t keep, cuzk_error *err)
{
    return s->ops->expire(s, before_ms, keep, err);
}

cuzk_status store_heartbeat(store *s, int *lost, cuzk_error *err)
{
    *lost = 0;
    return s->ops->heartbeat ? s->ops->heartbeat(s, lost, err) : CUZK_OK;
}

void store_wait(store *s, uint64_t timeout_ms)
{
    if (s->ops->wait)
        s->ops->wait(s, timeout_ms);
}

void store_wake(store *s)
{
    if (s->ops->wake)
        s->ops->wake(s);
}
