/* A proof request from the command line: which files and values each kind of proof takes. */
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H
#include "cli/workplace.h"

typedef struct cli_request {
    proof_request q;
    uint8_t **file; /* contents, owned */
    size_t file_count;
    proof_bytes *vanilla;
    proof_task *task;
} cli_request;

/* Reads the files that the command's options name (--c1, --vanilla, --vanilla-all ...) and parses the
 * request. */
cuzk_status cli_request_open(cli_request *r, const cli_args *a, circuit_kind kind, const poseidon_set *ps,
                             cuzk_error *err);
void cli_request_close(cli_request *r);
/* Only reads the files and options into r->q; nothing is parsed. */
cuzk_status cli_request_read(cli_request *r, const cli_args *a, circuit_kind kind, cuzk_error *err);
void cli_request_free_files(cli_request *r);
/* --registered-proof as a number or a name of that kind. */
cuzk_status cli_registered_proof(const cli_args *a, circuit_kind kind, uint64_t *out, cuzk_error *err);
/* The 32 bytes of an option in hex. */
cuzk_status cli_hex32(const cli_args *a, const char *name, uint8_t out[32], cuzk_error *err);
/* Partition range that --partition K selects: all without it. */
cuzk_status cli_request_partitions(const cli_request *r, const cli_args *a, uint32_t *first, uint32_t *end,
                                   cuzk_error *err);

/* Options that say what is proved, by kind. */
#define VANILLA_OPTIONS                                                                                      \
    {"--vanilla", OPT_LIST, "FILE...", "vanilla proofs, one a file", 0},                                     \
    {                                                                                                        \
        "--vanilla-all", OPT_TEXT, "FILE", "all of them: for each a u64 LE length and the bytes", 0          \
    }
#define REGISTERED_OPTION                                                                                    \
    {                                                                                                        \
        "--registered-proof", OPT_TEXT, "N", "number or name of the registered proof", 1                     \
    }
#define POST_OPTIONS                                                                                         \
    REGISTERED_OPTION,                                                                                       \
    {                                                                                                        \
        "--randomness", OPT_TEXT, "HEX", "challenge randomness, 32 bytes", 1                                 \
    }
#define UPDATE_OPTIONS                                                                                       \
    REGISTERED_OPTION, {"--comm-r-old", OPT_TEXT, "HEX", "commitment before the update", 1},                 \
        {"--comm-r-new", OPT_TEXT, "HEX", "commitment after the update", 1},                                 \
    {                                                                                                        \
        "--comm-d-new", OPT_TEXT, "HEX", "commitment of the new data", 1                                     \
    }

#define C1_LIMIT      ((size_t)1 << 30)
#define VANILLA_LIMIT ((size_t)512 << 20)
#endif
