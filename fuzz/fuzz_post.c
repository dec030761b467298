/* Vanilla proofs of PoSt from anywhere: parse, and check what was parsed. The first byte chooses the
 * registered proof and whether the rest is one proof or a file of several. */
#include "base/mem.h"
#include "filecoin/bincode.h"
#include "filecoin/post.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const poseidon_set *constants(void)
{
    static poseidon_set *ps;
    if (!ps && poseidon_set_create(&ps, NULL) != CUZK_OK)
        abort();
    return ps;
}

static void one(const registered_post *post, const proof_bytes *proofs, size_t count)
{
    static const uint8_t randomness[32] = {1};
    post_input *in;
    cuzk_error err = {0};
    cuzk_status st = post_parse(&in, post, randomness, proofs, count, &err);
    if (st != CUZK_OK) {
        if (in || err.status != st || !err.message[0])
            abort(); /* every failure has its sentence and leaves nothing */
        return;
    }
    if (in->sector_count != count || !in->partitions)
        abort();
    for (size_t i = 1; i < count; i++)
        if (in->sector[i - 1].sector_id >= in->sector[i].sector_id)
            abort();
    st = post_check(in, -1, constants(), NULL, &err);
    if (st != CUZK_OK && st != CUZK_INCONSISTENT)
        abort();
    post_free(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    const registered_post *post = post_by_number((data[0] & 0x7f) % 15);
    if (data[0] & 0x80) {
        proof_bytes *list = NULL;
        size_t n = 0;
        cuzk_error err;
        if (vanilla_split(&list, &n, data + 1, size - 1, &err) == CUZK_OK)
            one(post, list, n);
        mem_free(list);
    } else {
        one(post, &(proof_bytes){data + 1, size - 1}, 1);
    }
    return 0;
}
