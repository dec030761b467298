/* The content of a request: checked, encoded as one piece of bytes for the store, and decoded again. Its
 * digest is what, together with the request_id, makes two requests the same. */
#ifndef ENGINE_CONTENT_H
#define ENGINE_CONTENT_H
#include "engine/engine.h"
#include "filecoin/task.h"

#define STORE_NAME_LIMIT 257 /* a request_id with its end */

typedef struct request_content {
    uint8_t *bytes; /* mem_free */
    size_t size;
    uint8_t digest[32];
    const circuit_info *circuit;
    uint32_t partitions;
} request_content;
/* What can be said without parsing the proofs: CUZK_INVALID_ARGUMENT names the field. */
cuzk_status content_encode(request_content *out, const engine_request *q, cuzk_error *err) CUZK_MUST_CHECK;

typedef struct decoded_request {
    proof_request request; /* points into the bytes that were decoded */
    proof_bytes *vanilla;  /* mem_free */
} decoded_request;
cuzk_status content_decode(decoded_request *out, const uint8_t *bytes, size_t size,
                           cuzk_error *err) CUZK_MUST_CHECK;
#endif
