#include "cli/request.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

static cuzk_status read_c1(cli_request *r, const cli_args *a, cuzk_error *err)
{
    size_t size;
    cuzk_status s = file_read(&r->file[0], &size, cli_text(a, "--c1"), C1_LIMIT, err);
    if (s)
        return s;
    r->file_count = 1;
    r->q.c1 = (proof_bytes){r->file[0], size};
    return CUZK_OK;
}

cuzk_status cli_request_open(cli_request *r, const cli_args *a, circuit_kind kind, const poseidon_set *ps,
                             cuzk_error *err)
{
    memset(r, 0, sizeof(*r));
    r->q.kind = kind;
    if (cli_given(a, "--miner-id"))
        r->q.miner_id = cli_u64(a, "--miner-id", 0);
    cuzk_status s = CUZK_OK;
    if (kind == CIRCUIT_POREP)
        s = read_c1(r, a, err);
    if (!s)
        s = proof_task_parse(&r->task, &r->q, ps, err);
    /* The task has its own copy. */
    for (size_t i = 0; i < r->file_count; i++)
        mem_free(r->file[i]);
    r->file_count = 0;
    mem_free(r->vanilla);
    r->vanilla = NULL;
    return s;
}

void cli_request_close(cli_request *r)
{
    proof_task_destroy(r->task);
    r->task = NULL;
}

cuzk_status cli_request_partitions(const cli_request *r, const cli_args *a, uint32_t *first, uint32_t *end,
                                   cuzk_error *err)
{
    uint32_t n = proof_task_partitions(r->task);
    *first = 0;
    *end = n;
    if (!cli_given(a, "--partition"))
        return CUZK_OK;
    uint64_t k = cli_u64(a, "--partition", 0);
    if (k >= n)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "--partition %llu: the proof has %u partitions (0 to %u)",
                              (unsigned long long)k, n, n - 1);
    *first = (uint32_t)k;
    *end = (uint32_t)k + 1;
    return CUZK_OK;
}
