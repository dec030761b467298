/* cuzk circuit: counts and digests of a circuit's constraint system. */
#include "api/circuits.h"
#include "cli/commands.h"
#include "cli/workplace.h"
#include <stdio.h>

struct block_list {
    json_out *j;
    const r1cs *r;
};

static void add_block(void *ctx, uint64_t block, uint64_t first_row, const char *path,
                      const uint8_t sha256[32])
{
    struct block_list *l = ctx;
    (void)block;
    json_begin_object(l->j, NULL);
    json_u64(l->j, "first_row", first_row);
    json_string(l->j, "namespace", path);
    json_hex(l->j, "sha256", sha256, 32);
    json_end_object(l->j);
}

static void add_counts(json_out *j, const r1cs_counts *n)
{
    json_u64(j, "a_aux_density", n->a_aux_density);
    json_u64(j, "aux", n->aux);
    json_u64(j, "b_aux_density", n->b_aux_density);
    json_u64(j, "b_input_density", n->b_input_density);
    json_u64(j, "constraints", n->constraints);
    json_u64(j, "distinct_coefficients", n->distinct_coefficients);
    json_u64(j, "inputs", n->inputs);
    json_u64(j, "nnz_a", n->nnz_a);
    json_u64(j, "nnz_b", n->nnz_b);
    json_u64(j, "nnz_c", n->nnz_c);
    json_u64(j, "boolean_wires", n->bits);
    json_u64(j, "field_wires", n->fields);
}

static void print_counts(const circuit_info *info, const r1cs_counts *n, const char *sha256, size_t memory)
{
    printf("circuit                %s\n", info->name);
    printf("constraints            %llu\n", (unsigned long long)n->constraints);
    printf("public inputs          %llu (the constant one included)\n", (unsigned long long)n->inputs);
    printf("wires                  %llu (%llu boolean, %llu field)\n", (unsigned long long)n->aux,
           (unsigned long long)n->bits, (unsigned long long)n->fields);
    printf("non-zeros A, B, C      %llu, %llu, %llu\n", (unsigned long long)n->nnz_a,
           (unsigned long long)n->nnz_b, (unsigned long long)n->nnz_c);
    printf("distinct coefficients  %llu\n", (unsigned long long)n->distinct_coefficients);
    printf("density A, B           %llu, %llu\n", (unsigned long long)n->a_aux_density,
           (unsigned long long)n->b_aux_density);
    printf("compiled               %.1f MiB\n", (double)memory / 1048576.0);
    printf("rows_sha256            %s\n", sha256);
}

static int run_circuit(const cli_args *a)
{
    cuzk_error e = {0};
    workplace w;
    r1cs *r = NULL;
    json_out j;
    json_init(&j);
    int rc = workplace_open(&w, a, &e) ? cli_fail(a, &e) : 0;
    const circuit_info *info = rc ? NULL : workplace_circuit(&w, a, a->positional[0], &rc);
    if (rc)
        goto exit;
    if (workplace_compile(&w, info, &r, &e)) {
        rc = cli_fail(a, &e);
        goto exit;
    }
    uint64_t per_block = cli_u64(a, "--rows-per-block", 0);
    uint8_t sha256[32];
    r1cs_counts n;
    r1cs_get_counts(r, &n);
    json_begin_object(&j, NULL);
    json_string(&j, "circuit", info->name);
    json_u64(&j, "sector_size", info->sector_size);
    add_counts(&j, &n);
    struct block_list list = {&j, r};
    if (per_block) {
        json_u64(&j, "rows_per_block", per_block);
        json_begin_array(&j, "blocks");
    }
    cuzk_status s = r1cs_digest(r, sha256, per_block, per_block ? add_block : NULL, &list, w.pool, &e);
    if (per_block)
        json_end_array(&j);
    if (!s && cli_given(a, "--r1cs"))
        s = r1cs_write_circom(r, cli_text(a, "--r1cs"), &e);
    if (s) {
        rc = cli_fail(a, &e);
        goto exit;
    }
    json_hex(&j, "rows_sha256", sha256, 32);
    json_u64(&j, "compiled_bytes", r1cs_memory(r));
    json_end_object(&j);
    if (a->json) {
        rc = cli_print_json(&j, EXIT_DONE);
    } else {
        char hex[65];
        hex_encode(hex, sha256, 32);
        print_counts(info, &n, hex, r1cs_memory(r));
    }
exit:
    json_clear(&j);
    r1cs_destroy(r);
    workplace_close(&w);
    return rc;
}

static const cli_option OPTIONS[] = {
    {"--rows-per-block", OPT_U64, "N", "also digest every block of N rows", 0},
    {"--r1cs", OPT_TEXT, "FILE", "write the system as circom .r1cs", 0},
    WORKPLACE_OPTIONS,
};
const cli_command command_circuit = {
    .name = "circuit",
    .positional = "CIRCUIT",
    .positional_min = 1,
    .positional_max = 1,
    .summary = "counts and digests of a circuit",
    .options = OPTIONS,
    .option_count = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_circuit,
    .details = "CIRCUIT is porep-, winning-, window- or update- with 2k, 4k, 16k, 32k, 8m, 512m, 32g or 64g.",
};
