/* A proof request from the command line: which files and values each kind of proof takes. */
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H
#include "cli/workplace.h"

typedef struct cli_request {
    proof_request q;
    uint8_t *file[CLI_MAX_LIST]; /* contents, owned */
    size_t file_count;
    proof_bytes *vanilla;
    proof_task *task;
} cli_request;

/* Reads the files that the command's options name (--c1, --vanilla, --vanilla-all ...) and parses the
 * request. */
cuzk_status cli_request_open(cli_request *r, const cli_args *a, circuit_kind kind, const poseidon_set *ps,
                             cuzk_error *err);
void cli_request_close(cli_request *r);
/* Partition range that --partition K selects: all without it. */
cuzk_status cli_request_partitions(const cli_request *r, const cli_args *a, uint32_t *first, uint32_t *end,
                                   cuzk_error *err);

#define C1_LIMIT      ((size_t)1 << 30)
#define VANILLA_LIMIT ((size_t)512 << 20)
#endif
