/* Golden cases of PoSt and SnapDeals: golden.json and the vanilla proofs beside it. */
#ifndef SUPPORT_VANILLA_H
#define SUPPORT_VANILLA_H
#include "filecoin/task.h"
#include "support/data.h"

typedef struct vanilla_case {
    json_t *golden;
    size_t count;
    proof_bytes *proof; /* the bytes are the case's own and may be changed */
    uint8_t **data;     /* what proof points into */
} vanilla_case;
/* Reads tests/data/NAME (vanilla-0.bin and so on, or vanilla-all.bin); fails the test where something is
 * missing. */
void vanilla_open_in(vanilla_case *c, const char *folder, const char *name);
#define vanilla_open(c, name) vanilla_open_in(c, CUZK_TEST_DATA, name)
void vanilla_close(vanilla_case *c);
#endif
