/* Identity of a sector: who proves it, under which PoRep, and the replica id that binds its labels to both.
 */
#include "base/encode.h"
#include "base/hash.h"
#include "filecoin/porep.h"
#include <string.h>

void porep_prover_id(uint8_t out[32], uint64_t miner_id)
{
    memset(out, 0, 32);
    size_t n = 0;
    do {
        out[n] = (uint8_t)(miner_id & 0x7f);
        miner_id >>= 7;
        if (miner_id)
            out[n] |= 0x80;
        n++;
    } while (miner_id);
}

void porep_porep_id(uint8_t out[32], const registered_seal *seal)
{
    memset(out, 0, 32);
    store_le64(out, seal->number);
}

void porep_replica_id(uint8_t out[32], uint64_t miner_id, uint64_t sector, const uint8_t ticket[32],
                      const uint8_t comm_d[32], const registered_seal *seal)
{
    uint8_t prover[32], porep[32], number[8];
    porep_prover_id(prover, miner_id);
    porep_porep_id(porep, seal);
    store_be32(number, (uint32_t)(sector >> 32));
    store_be32(number + 4, (uint32_t)sector);
    sha256 s;
    sha256_init(&s);
    sha256_update(&s, prover, 32);
    sha256_update(&s, number, 8);
    sha256_update(&s, ticket, 32);
    sha256_update(&s, comm_d, 32);
    sha256_update(&s, porep, 32);
    sha256_final(&s, out);
    out[31] &= 0x3f; /* into the field: below 2^254 */
}
