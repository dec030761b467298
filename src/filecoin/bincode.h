/* Reading bincode 1 (fixed-width little-endian integers, u64 lengths, u32 enum tags, arrays without a
 * length): vanilla proofs of PoSt and SnapDeals. A reader stops at the first thing that is wrong and keeps
 * one sentence about it. */
#ifndef FILECOIN_BINCODE_H
#define FILECOIN_BINCODE_H
#include "filecoin/arena.h"
#include "gadgets/merkle.h"

typedef struct bincode {
    const uint8_t *data;
    size_t size, at;
    cuzk_status status; /* CUZK_OK until something fails; then every read returns zeros */
    char message[200];  /* what failed, without saying in which proof */
} bincode;
void bincode_init(bincode *b, const uint8_t *data, size_t size);
/* what names the field in messages. */
uint32_t bincode_u32(bincode *b, const char *what);
uint64_t bincode_u64(bincode *b, const char *what);
void bincode_node(bincode *b, uint8_t out[32], const char *what);
/* A length that must be expected. Returns 0 if so. */
int bincode_length(bincode *b, uint64_t expected, const char *what);
/* A Merkle proof of this shape; its siblings are copied into the arena. Values are not yet checked to be
 * field elements, positions are below their arity. */
void bincode_merkle_proof(bincode *b, merkle_proof *out, const merkle_shape *s, arena *a, const char *what);
/* Nothing may follow. */
void bincode_end(bincode *b);
/* Puts b's status and sentence into err behind the formatted prefix (which place): "sector 5, challenge 3:
 * ...". */
cuzk_status bincode_error(const bincode *b, cuzk_error *err, const char *format, ...) CUZK_PRINTF(3, 4);

/* A file of several proofs: for each a u64 length and the bytes. *out (mem_free) points into data. */
struct proof_bytes;
cuzk_status vanilla_split(struct proof_bytes **out, size_t *count, const uint8_t *data, size_t size,
                          cuzk_error *err) CUZK_MUST_CHECK;
#endif
