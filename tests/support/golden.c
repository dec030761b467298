#include "support/golden.h"
#include "base/encode.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h needs the above */
#include <cmocka.h>

r1cs *golden_compile(const char *name, circuit_fn *synth, void *ctx)
{
    r1cs *r = NULL;
    cuzk_error err;
    if (r1cs_compile(&r, name, synth, ctx, &err) != CUZK_OK)
        fail_msg("%s: %s", name, err.message);
    return r;
}

static int same_hex(const uint8_t *bytes, size_t n, const char *want)
{
    char text[2 * 64 + 1];
    hex_encode(text, bytes, n);
    return !strcmp(text, want);
}

static void expect_count(const json_t *expected, const char *member, uint64_t got)
{
    const json_t *want = json_object_get(expected, member);
    if (want && (uint64_t)json_integer_value(want) != got)
        fail_msg("%s: %llu, not %llu", member, (unsigned long long)got,
                 (unsigned long long)json_integer_value(want));
}

/* ---- rows ---- */
typedef struct row_blocks {
    const json_t *want;
    char first_wrong[512];
} row_blocks;

static void on_row_block(void *ctx, uint64_t block, uint64_t first_row, const char *path,
                         const uint8_t sha256[32])
{
    row_blocks *b = ctx;
    const json_t *want = json_array_get(b->want, (size_t)block);
    if (want && !b->first_wrong[0] && !same_hex(sha256, 32, test_json_string(want, "sha256")))
        snprintf(b->first_wrong, sizeof b->first_wrong,
                 "block %llu from row %llu: ours begins at %s, theirs at %s", (unsigned long long)block,
                 (unsigned long long)first_row, path, test_json_string(want, "namespace"));
}

void golden_structure(const r1cs *r, const json_t *expected, pool *p)
{
    r1cs_counts n;
    uint8_t rows[32];
    cuzk_error err;
    row_blocks b = {.want = json_object_get(expected, "blocks")};
    r1cs_get_counts(r, &n);
    expect_count(expected, "inputs", n.inputs);
    expect_count(expected, "aux", n.aux);
    expect_count(expected, "constraints", n.constraints);
    expect_count(expected, "nnz_a", n.nnz_a);
    expect_count(expected, "nnz_b", n.nnz_b);
    expect_count(expected, "nnz_c", n.nnz_c);
    expect_count(expected, "distinct_coefficients", n.distinct_coefficients);
    expect_count(expected, "a_aux_density", n.a_aux_density);
    expect_count(expected, "b_aux_density", n.b_aux_density);
    expect_count(expected, "b_input_density", n.b_input_density);
    assert_int_equal(n.bits + n.fields, n.aux);
    uint64_t per_block = b.want ? test_json_int(expected, "rows_per_block") : 0;
    if (r1cs_digest(r, rows, per_block, on_row_block, &b, p, &err) != CUZK_OK)
        fail_msg("digest: %s", err.message);
    if (b.first_wrong[0])
        fail_msg("%s", b.first_wrong);
    assert_true(same_hex(rows, 32, test_json_string(expected, "rows_sha256")));
}

/* ---- witness ---- */
typedef struct aux_blocks {
    const json_t *want;
    int64_t first_wrong;
} aux_blocks;

static void on_aux_block(void *ctx, uint64_t block, const uint8_t sha256[32])
{
    aux_blocks *b = ctx;
    const char *want = json_string_value(json_array_get(b->want, (size_t)block));
    if (want && b->first_wrong < 0 && !same_hex(sha256, 32, want))
        b->first_wrong = (int64_t)block;
}

static void expect_inputs(const witness *w, const json_t *want)
{
    uint8_t bytes[32];
    if (!json_array_size(want)) /* left out where there are many: inputs_sha256 says it */
        return;
    assert_int_equal(json_array_size(want), w->inputs);
    for (size_t i = 0; i < w->inputs; i++) {
        fr_to_bytes(bytes, &w->input[i]);
        if (!same_hex(bytes, 32, json_string_value(json_array_get(want, i))))
            fail_msg("input %zu differs", i);
    }
}

void golden_witness(const r1cs *r, const witness *w, const json_t *partition)
{
    witness_digest d;
    cuzk_error err;
    aux_blocks b = {.want = json_object_get(partition, "aux_blocks_sha256"), .first_wrong = -1};
    uint64_t per_block = b.want ? test_json_int(partition, "aux_per_block") : 0;
    assert_int_equal(w->aux, test_json_int(partition, "aux"));
    expect_inputs(w, json_object_get(partition, "inputs"));
    if (witness_get_digest(&d, r, w, per_block, on_aux_block, &b, &err) != CUZK_OK)
        fail_msg("digest: %s", err.message);
    if (b.first_wrong >= 0)
        fail_msg("aux block %lld (from wire %llu) differs", (long long)b.first_wrong,
                 (unsigned long long)b.first_wrong * per_block);
    assert_true(same_hex(d.inputs, 32, test_json_string(partition, "inputs_sha256")));
    assert_true(same_hex(d.aux, 32, test_json_string(partition, "aux_sha256")));
    expect_count(partition, "aux_zero", d.zero);
    expect_count(partition, "aux_one", d.one);
}
