/* C1 documents from anywhere: parse, and check what was parsed. */
#include "filecoin/porep.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static poseidon_set *ps;
    porep_c1 *c;
    cuzk_error err = {0};
    if (!ps && poseidon_set_create(&ps, NULL) != CUZK_OK)
        abort();
    cuzk_status st = porep_c1_parse(&c, data, size, &err);
    if (st != CUZK_OK) {
        if (c || err.status != st || !err.message[0])
            abort(); /* every failure has its sentence and leaves nothing */
        return 0;
    }
    if (c->partitions != c->seal->partitions || c->challenges != c->seal->challenges)
        abort();
    st = porep_check(c, -1, ps, NULL, &err);
    if (st != CUZK_OK && st != CUZK_INCONSISTENT)
        abort();
    porep_c1_free(c);
    return 0;
}
