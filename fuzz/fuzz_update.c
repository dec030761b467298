/* Vanilla proofs of SnapDeals from anywhere: parse, and check what was parsed. The first byte chooses the
 * registered proof; the same bytes stand for every partition. */
#include "filecoin/update.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static poseidon_set *ps;
    proof_bytes proofs[16];
    update_shape s;
    update_input *in;
    cuzk_error err = {0};
    if (!ps && poseidon_set_create(&ps, NULL) != CUZK_OK)
        abort();
    if (!size)
        return 0;
    update_public pub = {.update = update_by_number(data[0] % 5), .comm_r_old = {1}, .comm_r_new = {2}};
    if (update_shape_of(&s, pub.update->sector_size))
        abort();
    for (uint32_t i = 0; i < s.partitions; i++)
        proofs[i] = (proof_bytes){data + 1, size - 1};
    cuzk_status st = update_parse(&in, &pub, proofs, s.partitions, &err);
    if (st != CUZK_OK) {
        if (in || err.status != st || !err.message[0])
            abort(); /* every failure has its sentence and leaves nothing */
        return 0;
    }
    st = update_check(in, -1, ps, NULL, &err);
    if (st != CUZK_OK && st != CUZK_INCONSISTENT)
        abort();
    update_free(in);
    return 0;
}
