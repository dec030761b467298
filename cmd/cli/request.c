#include "cli/request.h"
#include "base/mem.h"
#include "filecoin/bincode.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static cuzk_status keep_file(cli_request *r, uint8_t *data, cuzk_error *err)
{
    uint8_t **larger = mem_realloc(r->file, (r->file_count + 1) * sizeof(*larger));
    if (!larger) {
        mem_free(data);
        return mem_error(err, sizeof(*larger), "the list of files");
    }
    r->file = larger;
    larger[r->file_count++] = data;
    return CUZK_OK;
}

static cuzk_status load(cli_request *r, const char *path, size_t limit, proof_bytes *out, cuzk_error *err)
{
    uint8_t *data;
    size_t size;
    cuzk_status s = file_read(&data, &size, path, limit, err);
    if (s)
        return s;
    *out = (proof_bytes){data, size};
    return keep_file(r, data, err);
}

static cuzk_status read_vanilla(cli_request *r, const cli_args *a, cuzk_error *err)
{
    size_t count;
    const char *const *paths = cli_list(a, "--vanilla", &count);
    const char *all_path = cli_text(a, "--vanilla-all");
    if ((count != 0) == (all_path != NULL))
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "give the vanilla proofs as --vanilla FILE... or as --vanilla-all FILE");
    if (all_path) {
        proof_bytes all;
        cuzk_status s = load(r, all_path, VANILLA_LIMIT, &all, err);
        if (s)
            return s;
        s = vanilla_split(&r->vanilla, &count, all.data, all.size, err);
        if (s) {
            cuzk_error_prefix(err, "%s", all_path);
            return s;
        }
        r->q.vanilla = r->vanilla;
        r->q.vanilla_count = count;
        return CUZK_OK;
    }
    r->vanilla = mem_calloc(count, sizeof(*r->vanilla));
    if (!r->vanilla)
        return mem_error(err, count * sizeof(*r->vanilla), "vanilla proofs");
    for (size_t i = 0; i < count; i++) {
        cuzk_status s = load(r, paths[i], VANILLA_LIMIT, &r->vanilla[i], err);
        if (s)
            return s;
    }
    r->q.vanilla = r->vanilla;
    r->q.vanilla_count = count;
    return CUZK_OK;
}

cuzk_status cli_registered_proof(const cli_args *a, circuit_kind kind, uint64_t *out, cuzk_error *err)
{
    const char *text = cli_text(a, "--registered-proof");
    if (text && isdigit((unsigned char)*text)) {
        char *end;
        *out = strtoull(text, &end, 10);
        if (!*end)
            return CUZK_OK;
    } else if (text && kind == CIRCUIT_POREP && seal_by_name(text)) {
        *out = seal_by_name(text)->number;
        return CUZK_OK;
    } else if (text && kind == CIRCUIT_UPDATE && update_by_name(text)) {
        *out = update_by_name(text)->number;
        return CUZK_OK;
    } else if (text && (kind == CIRCUIT_WINNING || kind == CIRCUIT_WINDOW) && post_by_name(text)) {
        *out = post_by_name(text)->number;
        return CUZK_OK;
    }
    return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                          "--registered-proof \"%.60s\" is not a registered proof of this kind",
                          text ? text : "");
}

cuzk_status cli_hex32(const cli_args *a, const char *name, uint8_t out[32], cuzk_error *err)
{
    const char *text = cli_text(a, name);
    if (text && hex_decode(out, 32, text) == 0)
        return CUZK_OK;
    return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                          "%s takes 64 hexadecimal digits (32 bytes), not \"%.80s\"", name, text ? text : "");
}

static cuzk_status read_values(cli_request *r, const cli_args *a, circuit_kind kind, cuzk_error *err)
{
    proof_request *q = &r->q;
    cuzk_status s = cli_registered_proof(a, kind, &q->registered_proof, err);
    q->has_registered = 1;
    if (s)
        return s;
    if (kind != CIRCUIT_UPDATE) {
        q->has_randomness = 1;
        return cli_hex32(a, "--randomness", q->randomness, err);
    }
    s = cli_hex32(a, "--comm-r-old", q->comm_r_old, err);
    if (!s)
        s = cli_hex32(a, "--comm-r-new", q->comm_r_new, err);
    return s ? s : cli_hex32(a, "--comm-d-new", q->comm_d_new, err);
}

cuzk_status cli_request_read(cli_request *r, const cli_args *a, circuit_kind kind, cuzk_error *err)
{
    memset(r, 0, sizeof(*r));
    r->q.kind = kind;
    if (cli_given(a, "--miner-id"))
        r->q.miner_id = cli_u64(a, "--miner-id", 0);
    if (kind == CIRCUIT_POREP)
        return load(r, cli_text(a, "--c1"), C1_LIMIT, &r->q.c1, err);
    cuzk_status s = read_values(r, a, kind, err);
    return s ? s : read_vanilla(r, a, err);
}

void cli_request_free_files(cli_request *r)
{
    for (size_t i = 0; i < r->file_count; i++)
        mem_free(r->file[i]);
    mem_free(r->file);
    mem_free(r->vanilla);
    r->file = NULL;
    r->file_count = 0;
    r->vanilla = NULL;
}

cuzk_status cli_request_open(cli_request *r, const cli_args *a, circuit_kind kind, const poseidon_set *ps,
                             cuzk_error *err)
{
    cuzk_status s = cli_request_read(r, a, kind, err);
    if (!s)
        s = proof_task_parse(&r->task, &r->q, ps, err);
    cli_request_free_files(r); /* the task has its own copy */
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
