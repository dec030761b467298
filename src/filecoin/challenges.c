/* Challenges of PoRep.
 *
 * Interactive (v1, v1_1): SHA-256(replica_id || seed || j) mod (nodes - 1) + 1. Non-interactive: the seed is
 * replaced by a tag before and comm_r after the replica id. Synthetic: a set of up to 2^18 challenges is
 * fixed by the replica and comm_r through a ChaCha20 key stream; the seed chooses among them through another.
 */
#include "base/encode.h"
#include "base/hash.h"
#include "filecoin/porep.h"
#include <string.h>

/* A 256-bit little-endian number mod (nodes - 1), plus 1: node 0 is never challenged. */
static uint64_t to_challenge(const uint8_t number[32], uint64_t nodes)
{
    uint64_t m = nodes - 1, r = 0; /* m < 2^32 */
    for (int i = 28; i >= 0; i -= 4)
        r = (r << 32 | load_le32(number + i)) % m;
    return r + 1;
}

#define SYNTHETIC_SET (1u << 18)

static void synthetic_key(uint8_t key[32], const char *tag, const uint8_t replica_id[32],
                          const uint8_t second[32])
{
    blake2b b;
    blake2b_init(&b, 32, tag, strlen(tag));
    blake2b_update(&b, replica_id, 32);
    blake2b_update(&b, second, 32);
    blake2b_final(&b, key);
}

/* bytes of the IETF ChaCha20 key stream with nonce "synth-porep\0" from offset on; within one block. The IETF
 * nonce's first word stands where the high half of the 64-bit counter does. */
static void synthetic_stream(uint8_t *out, size_t bytes, const uint8_t key[32], uint64_t offset)
{
    static const uint8_t nonce[12] = "synth-porep";
    uint8_t block[64];
    uint64_t counter = offset / 64 | (uint64_t)load_le32(nonce) << 32;
    chacha_block(block, key, counter, load_le64(nonce + 4), 20);
    memcpy(out, block + offset % 64, bytes);
}

static void synthetic_challenges(uint64_t *out, uint64_t nodes, uint32_t count, uint64_t first,
                                 const uint8_t replica_id[32], const uint8_t seed[32],
                                 const uint8_t comm_r[32])
{
    uint64_t set = nodes < SYNTHETIC_SET ? nodes : SYNTHETIC_SET;
    uint8_t generate[32], select[32];
    synthetic_key(generate, "filecoin.io|PoRep|1|Synthetic|1|Generation", replica_id, comm_r);
    synthetic_key(select, "filecoin.io|PoRep|1|Synthetic|1|Selection", replica_id, seed);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t word[4], number[32];
        synthetic_stream(word, 4, select, (first + i) * 4);
        synthetic_stream(number, 32, generate, load_le32(word) % set * 32);
        out[i] = to_challenge(number, nodes);
    }
}

cuzk_status porep_challenges(uint64_t *out, const registered_seal *seal, uint32_t partition,
                             const uint8_t replica_id[32], const uint8_t seed[32], const uint8_t comm_r[32],
                             cuzk_error *err)
{
    if (partition >= seal->partitions)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "partition %u: %s has %u partitions", partition,
                              seal->name, seal->partitions);
    uint64_t nodes = seal->sector_size / 32;
    uint32_t first = seal->challenges * partition;
    if (seal->version == POREP_SYNTHETIC) {
        synthetic_challenges(out, nodes, seal->challenges, first, replica_id, seed, comm_r);
        return CUZK_OK;
    }
    static const char tag[] = "filecoin.io|PoRep|1|NonInteractive|1";
    int alone = seal->version == POREP_NON_INTERACTIVE;
    for (uint32_t i = 0; i < seal->challenges; i++) {
        uint8_t j[4], hash[32];
        store_le32(j, first + i);
        sha256 s;
        sha256_init(&s);
        if (alone)
            sha256_update(&s, tag, sizeof tag - 1);
        sha256_update(&s, replica_id, 32);
        sha256_update(&s, alone ? comm_r : seed, 32);
        sha256_update(&s, j, 4);
        sha256_final(&s, hash);
        out[i] = to_challenge(hash, nodes);
    }
    return CUZK_OK;
}
