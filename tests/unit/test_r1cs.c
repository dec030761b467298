/* Compiled constraint systems: repetition against the written-out form, digests, .r1cs files, products,
 * checks, names, and the builder's failures. */
#include "base/cpu.h"
#include "base/encode.h"
#include "base/mem.h"
#include "r1cs/row_value.h"
#include "r1cs/spmv.h"
#include "support/data.h"
#include "support/math.h"
#include "support/random_system.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static pool *two;

static int open_pool(void **state)
{
    (void)state;
    if (pool_create(&two, 2, NULL) != CUZK_OK)
        return 1;
    pool_keep(two, SIZE_MAX);
    return 0;
}

static int close_pool(void **state)
{
    (void)state;
    pool_destroy(two);
    return 0;
}

static r1cs *compile(circuit_fn *synth, void *ctx)
{
    r1cs *r;
    cuzk_error err;
    if (r1cs_compile(&r, "random", synth, ctx, &err) != CUZK_OK)
        fail_msg("compile: %s", err.message);
    return r;
}

static void digest(uint8_t out[32], const r1cs *r, pool *p)
{
    cuzk_error err;
    if (r1cs_digest(r, out, 0, NULL, NULL, p, &err) != CUZK_OK)
        fail_msg("digest: %s", err.message);
}

/* What a system looks like from outside, as a file's bytes. */
static uint8_t *circom_bytes(const r1cs *r, size_t *size)
{
    char path[64];
    uint8_t *data;
    cuzk_error err;
    snprintf(path, sizeof(path), "/tmp/cuzk-test-r1cs-%d", (int)getpid());
    if (r1cs_write_circom(r, path, &err) != CUZK_OK ||
        file_read(&data, size, path, (size_t)1 << 30, &err) != CUZK_OK)
        fail_msg("circom: %s", err.message);
    unlink(path);
    return data;
}

/* ---- repeated and written out ---- */
static random_system shape(uint64_t seed)
{
    random_system s = {.seed = seed * 16};
    s.count = seed % 3 == 2 ? 8 + seed % 19 : 1 + seed % 7; /* from 8 on the vector form takes part */
    s.imports = seed % 3 ? (uint32_t)(seed % 5) : 0;
    s.globals = seed % 4 ? 20 : 0;
    s.tail = seed % 5 ? 10 : 0;
    s.rows = seed % 11 == 10 ? 400 : 1 + (uint32_t)(seed * 7 % 60);
    s.bits_only = seed % 6 == 5;
    s.no_inputs = seed % 4 == 3;
    s.linear = seed % 8 == 7;
    return s;
}

typedef struct pair {
    random_system repeated, unrolled;
    r1cs *r, *u;
    r1cs_counts n;
    witness w;
} pair;

static void pair_open(pair *p, uint64_t seed)
{
    cuzk_error err;
    p->repeated = p->unrolled = shape(seed);
    p->unrolled.unrolled = 1;
    p->r = compile(random_system_synth, &p->repeated);
    p->u = compile(random_system_synth, &p->unrolled);
    r1cs_get_counts(p->u, &p->n);
    assert_int_equal(witness_init(&p->w, p->n.inputs, p->n.aux, p->n.fields, &err), CUZK_OK);
    random_system_witness(&p->unrolled, &p->w);
}

static void pair_close(pair *p)
{
    witness_clear(&p->w);
    r1cs_destroy(p->r);
    r1cs_destroy(p->u);
    random_system_clear(&p->repeated);
    random_system_clear(&p->unrolled);
}

enum { SEEDS = 120 };

static void test_repeat_equals_unrolled(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        pair p;
        uint8_t x[32], y[32], z[32];
        size_t size_r, size_u;
        pair_open(&p, seed);
        r1cs_counts n;
        r1cs_get_counts(p.r, &n);
        assert_memory_equal(&n, &p.n, sizeof(n));
        assert_int_equal(n.constraints, p.unrolled.row_count);
        digest(x, p.r, NULL);
        digest(y, p.r, two);
        digest(z, p.u, two);
        assert_memory_equal(x, y, 32);
        assert_memory_equal(x, z, 32);
        uint8_t *file_r = circom_bytes(p.r, &size_r), *file_u = circom_bytes(p.u, &size_u);
        assert_int_equal(size_r, size_u);
        assert_memory_equal(file_r, file_u, size_r);
        mem_free(file_r);
        mem_free(file_u);
        assert_memory_equal(r1cs_field_map(p.r), r1cs_field_map(p.u), (n.aux + 63) / 64 * 8);
        assert_memory_equal(r1cs_a_density(p.r), r1cs_a_density(p.u), (n.aux + 63) / 64 * 8);
        assert_memory_equal(r1cs_b_density(p.r), r1cs_b_density(p.u), (n.aux + 63) / 64 * 8);
        assert_memory_equal(r1cs_b_input_density(p.r), r1cs_b_input_density(p.u), (n.inputs + 63) / 64 * 8);
        if (p.unrolled.count > 4 && p.unrolled.rows > 30)
            assert_true(r1cs_memory(p.r) < r1cs_memory(p.u));
        pair_close(&p);
    }
}

static void expect_rows(const char *what, uint64_t seed, const fr *got, const fr *expected, uint64_t rows)
{
    for (uint64_t i = 0; i < rows; i++)
        if (!fr_eq(&got[i], &expected[i]))
            fail_msg("%s: seed %llu, row %llu of %llu differs", what, (unsigned long long)seed,
                     (unsigned long long)i, (unsigned long long)rows);
}

static void test_products(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        pair p;
        cuzk_error err;
        pair_open(&p, seed);
        uint64_t n = p.n.constraints;
        fr *a = mem_alloc(n * sizeof(fr)), *b = mem_alloc(n * sizeof(fr));
        assert_true(a && b);
        for (int k = 0; k < 8; k++) {
            const r1cs *r = k & 1 ? p.u : p.r;
            cpu_force(k >> 2 ? CPU_PORTABLE : CPU_ALL);
            memset(a, 0xee, n * sizeof(fr));
            memset(b, 0xee, n * sizeof(fr));
            assert_int_equal(r1cs_multiply(r, &p.w, a, b, k & 2 ? two : NULL, &err), CUZK_OK);
            expect_rows("A", seed, a, p.unrolled.a, n);
            expect_rows("B", seed, b, p.unrolled.b, n);
            r1cs_multiply_ref(r, &p.w, 2, a);
            expect_rows("C by the oracle", seed, a, p.unrolled.c, n);
            r1cs_multiply_ref(r, &p.w, 0, a);
            expect_rows("A by the oracle", seed, a, p.unrolled.a, n);
        }
        cpu_force(CPU_ALL);
        mem_free(a);
        mem_free(b);
        pair_close(&p);
    }
}

/* Large circuits write past the cache: the same rows, whatever the alignment of the results. */
static void test_products_past_the_cache(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        pair p;
        spmv s;
        cuzk_error err;
        cuzk_circuit_view c;
        pair_open(&p, seed);
        cuzk_witness_view w = witness_view(&p.w);
        uint64_t n = p.n.constraints;
        uint8_t *memory = big_alloc((n + 2) * sizeof(fr));
        assert_non_null(memory);
        fr *a = (fr *)(memory + 8 * (seed % 9));
        assert_int_equal(r1cs_view(p.r, &c, &err), CUZK_OK);
        assert_int_equal(spmv_init(&s, &c, &w, 2, NULL, &err), CUZK_OK);
        s.stream = 1;
        for (size_t k = 0; k < s.chunks; k++) {
            const spmv_chunk *h = &s.chunk[k];
            const cuzk_segment *g = &c.segments[h->segment];
            spmv_translate(&s, s.worker, h);
            for (uint64_t i = h->repetition; i < h->repetition_end; i += SPMV_LANES) {
                uint64_t left = h->repetition_end - i;
                spmv_execute(&s, s.worker, &s.worker->plan[0], g, i,
                             left < SPMV_LANES ? (unsigned)left : SPMV_LANES,
                             &(spmv_out){a, g->first_row + i * g->rows + h->first, g->rows, FR_USUAL_ORDER});
            }
        }
        spmv_flush(&s);
        expect_rows("A past the cache", seed, a, p.unrolled.a, n);
        spmv_clear(&s);
        big_free(memory, (n + 2) * sizeof(fr));
        pair_close(&p);
    }
}

/* Rows so long that they make a chunk of their own, beyond what the vector form takes. */
enum { LONG = 40000, LONG_FIELDS = 64 };
static void long_body(cs *c, void *ctx)
{
    lc *l = ctx;
    var field[LONG_FIELDS];
    fr k;
    lc_reset(l);
    for (unsigned i = 0; i < LONG_FIELDS; i++)
        field[i] = cs_alloc_field(c);
    for (unsigned i = 0; i < LONG; i++) {
        fr_from_u64(&k, 3 + i % 7);
        lc_add(l, i % 3 ? cs_alloc_bit(c) : cs_alloc_field(c), &k);
        lc_add(l, field[i % LONG_FIELDS], &k);
    }
    cs_enforce(c, l, l, l);
    lc_reset(l);
    for (unsigned i = 0; i < LONG_FIELDS; i++) { /* signs, and nothing else */
        if (i & 1)
            lc_add_one(l, field[i]);
        else
            lc_sub_one(l, field[i]);
    }
    cs_enforce(c, l, l, l);
}

static void long_synth(cs *c, void *ctx)
{
    cs_repeat(c, 9, long_body, ctx, NULL, 0);
}

static void test_long_rows(void **state)
{
    (void)state;
    lc l;
    r1cs_counts n;
    witness w;
    chacha_rng rng;
    cuzk_error err;
    lc_init(&l);
    math_rng(&rng, 8);
    r1cs *r = compile(long_synth, &l);
    lc_clear(&l);
    r1cs_get_counts(r, &n);
    assert_int_equal(witness_init(&w, n.inputs, n.aux, n.fields, &err), CUZK_OK);
    const uint64_t *map = r1cs_field_map(r);
    for (uint64_t i = 0; i < (n.aux + 63) / 64; i++)
        w.bits[i] = chacha_rng_u64(&rng) & ~map[i];
    if (n.aux % 64)
        w.bits[n.aux / 64] &= ((uint64_t)1 << n.aux % 64) - 1;
    for (uint64_t i = 0; i < n.fields; i++)
        w.field[i] = i % 5 ? FR_MINUS_ONE : FR_ZERO; /* the largest values there are */
    fr *v[4];
    for (int i = 0; i < 4; i++)
        assert_non_null(v[i] = mem_alloc(n.constraints * sizeof(fr)));
    r1cs_multiply_ref(r, &w, 0, v[2]);
    r1cs_multiply_ref(r, &w, 1, v[3]);
    for (int portable = 0; portable < 2; portable++) {
        cpu_force(portable ? CPU_PORTABLE : CPU_ALL);
        assert_int_equal(r1cs_multiply(r, &w, v[0], v[1], two, &err), CUZK_OK);
        expect_rows("A of long rows", 0, v[0], v[2], n.constraints);
        expect_rows("B of long rows", 0, v[1], v[3], n.constraints);
    }
    cpu_force(CPU_ALL);
    for (int i = 0; i < 4; i++)
        mem_free(v[i]);
    witness_clear(&w);
    r1cs_destroy(r);
}

/* ---- check ---- */
/* First row that does not hold for w, by the oracle. */
static uint64_t first_failure(const r1cs *r, const witness *w, uint64_t rows)
{
    fr *v[3], x;
    uint64_t row = 0;
    for (int m = 0; m < 3; m++) {
        v[m] = mem_alloc(rows * sizeof(fr));
        assert_non_null(v[m]);
        r1cs_multiply_ref(r, w, m, v[m]);
    }
    for (; row < rows; row++) {
        fr_mul(&x, &v[0][row], &v[1][row]);
        if (!fr_eq(&x, &v[2][row]))
            break;
    }
    for (int m = 0; m < 3; m++)
        mem_free(v[m]);
    return row;
}

static void test_check_names_the_first_row(void **state)
{
    (void)state;
    chacha_rng rng;
    math_rng(&rng, 77);
    unsigned failures = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        pair p;
        cuzk_error err;
        char expected[64];
        pair_open(&p, seed);
        assert_int_equal(r1cs_check(p.r, &p.w, two, &err), CUZK_OK);
        assert_int_equal(r1cs_check(p.u, &p.w, NULL, &err), CUZK_OK);
        if (!p.n.fields) {
            pair_close(&p);
            continue;
        }
        for (int k = 0; k < 3; k++) {
            uint64_t i = chacha_rng_u64(&rng) % p.n.fields;
            fr before = p.w.field[i];
            math_fr(&p.w.field[i], &rng);
            uint64_t row = first_failure(p.r, &p.w, p.n.constraints);
            cuzk_status status = r1cs_check(p.r, &p.w, k & 1 ? two : NULL, &err);
            if (row == p.n.constraints) {
                assert_int_equal(status, CUZK_OK);
            } else {
                failures++;
                assert_int_equal(status, CUZK_UNSATISFIED);
                snprintf(expected, sizeof(expected), "row %llu ", (unsigned long long)row);
                assert_non_null(strstr(err.message, expected));
            }
            p.w.field[i] = before;
        }
        pair_close(&p);
    }
    assert_true(failures > SEEDS);
}

static void test_check_refuses_other_shapes(void **state)
{
    (void)state;
    pair p;
    witness w;
    cuzk_error err;
    fr a;
    pair_open(&p, 1);
    assert_int_equal(witness_init(&w, p.n.inputs, p.n.aux + 1, p.n.fields, &err), CUZK_OK);
    assert_int_equal(r1cs_check(p.r, &w, NULL, &err), CUZK_INVALID_ARGUMENT);
    assert_int_equal(r1cs_multiply(p.r, &w, &a, &a, NULL, &err), CUZK_INVALID_ARGUMENT);
    witness_clear(&w);
    p.w.input[0] = FR_TWO;
    assert_int_equal(r1cs_check(p.r, &p.w, NULL, &err), CUZK_INVALID_ARGUMENT);
    pair_close(&p);
}

/* ---- a published system ---- */
static void golden_synth(cs *c, void *ctx)
{
    const uint8_t *file = ctx, *header = file + 24, *p = file + 88 + 12;
    uint32_t inputs = 1 + load_le32(header + 44), aux = load_le32(header + 48), rows = load_le32(header + 60);
    lc l[3];
    for (uint32_t i = 1; i < inputs; i++)
        cs_alloc_input(c);
    for (uint32_t i = 0; i < aux; i++)
        cs_alloc_field(c);
    for (int k = 0; k < 3; k++)
        lc_init(&l[k]);
    for (uint32_t row = 0; row < rows - inputs; row++) {
        for (int k = 0; k < 3; k++) {
            lc_reset(&l[k]);
            uint32_t n = load_le32(p);
            p += 4;
            for (; n; n--, p += 36) {
                uint32_t v = load_le32(p);
                fr coefficient;
                assert_int_equal(fr_from_bytes(&coefficient, p + 4), 0);
                lc_add(&l[k], v < inputs ? v : VAR_AUX | (v - inputs), &coefficient);
            }
        }
        cs_enforce(c, &l[0], &l[1], &l[2]);
    }
    for (int k = 0; k < 3; k++)
        lc_clear(&l[k]);
}

typedef struct block_check {
    json_t *blocks;
    size_t seen;
} block_check;

static void check_block(void *ctx, uint64_t block, uint64_t first_row, const char *path,
                        const uint8_t got[32])
{
    block_check *b = ctx;
    uint8_t expected[32];
    (void)path;
    assert_int_equal(block, b->seen++);
    json_t *entry = json_array_get(b->blocks, block);
    assert_int_equal(first_row, test_json_int(entry, "first_row"));
    test_json_hex(expected, 32, entry, "sha256");
    assert_memory_equal(got, expected, 32);
}

static void test_published_system(void **state)
{
    (void)state;
    size_t size, written;
    uint8_t *file = test_data("r1cs/window-2KiB.r1cs", &size), rows[32], expected[32];
    json_t *golden = test_data_json("structure/window-2KiB.json");
    r1cs *r = compile(golden_synth, file);
    r1cs_counts n;
    cuzk_error err;
    r1cs_get_counts(r, &n);
    assert_int_equal(n.inputs, test_json_int(golden, "inputs"));
    assert_int_equal(n.aux, test_json_int(golden, "aux"));
    assert_int_equal(n.constraints, test_json_int(golden, "constraints"));
    assert_int_equal(n.nnz_a, test_json_int(golden, "nnz_a"));
    assert_int_equal(n.nnz_b, test_json_int(golden, "nnz_b"));
    assert_int_equal(n.nnz_c, test_json_int(golden, "nnz_c"));
    assert_int_equal(n.distinct_coefficients, test_json_int(golden, "distinct_coefficients"));
    assert_int_equal(n.a_aux_density, test_json_int(golden, "a_aux_density"));
    assert_int_equal(n.b_aux_density, test_json_int(golden, "b_aux_density"));
    assert_int_equal(n.b_input_density, test_json_int(golden, "b_input_density"));
    block_check b = {json_object_get(golden, "blocks"), 0};
    assert_int_equal(
        r1cs_digest(r, rows, test_json_int(golden, "rows_per_block"), check_block, &b, two, &err), CUZK_OK);
    assert_int_equal(b.seen, json_array_size(b.blocks));
    test_json_hex(expected, 32, golden, "rows_sha256");
    assert_memory_equal(rows, expected, 32);
    uint8_t *again = circom_bytes(r, &written);
    assert_int_equal(written, size);
    assert_memory_equal(again, file, size);
    mem_free(again);
    free(file);
    json_decref(golden);
    r1cs_destroy(r);
}

/* ---- names ---- */
static void named_body(cs *c, void *ctx)
{
    lc *l = ctx;
    lc_reset(l);
    lc_add_one(l, cs_alloc_bit(c));
    cs_push(c, "first", -1);
    cs_enforce(c, l, l, l);
    cs_pop(c);
    cs_push(c, "second", 4);
    cs_push(c, "deep", -1);
    cs_enforce(c, l, l, l);
    cs_pop(c);
    cs_pop(c);
}

static void named_synth(cs *c, void *ctx)
{
    lc *l = ctx;
    lc_reset(l);
    lc_add_one(l, VAR_ONE);
    cs_enforce(c, l, l, l);
    cs_push(c, "outer", -1);
    cs_enforce(c, l, l, l);
    cs_push(c, "challenge", -1);
    cs_repeat(c, 3, named_body, l, NULL, 0);
    cs_pop(c);
    cs_pop(c);
    cs_repeat(c, 2, named_body, l, NULL, 0);
}

static void test_paths(void **state)
{
    (void)state;
    static const char *expected[] = {"",
                                     "outer",
                                     "outer/challenge_0/first",
                                     "outer/challenge_0/second_4/deep",
                                     "outer/challenge_1/first",
                                     "outer/challenge_1/second_4/deep",
                                     "outer/challenge_2/first",
                                     "outer/challenge_2/second_4/deep",
                                     "repetition_0/first",
                                     "repetition_0/second_4/deep",
                                     "repetition_1/first",
                                     "repetition_1/second_4/deep",
                                     "public input"};
    lc l;
    char path[64];
    lc_init(&l);
    r1cs *r = compile(named_synth, &l);
    r1cs_counts n;
    r1cs_get_counts(r, &n);
    assert_int_equal(n.constraints, 13);
    for (uint64_t row = 0; row < 13; row++) {
        r1cs_row_path(r, row, path, sizeof(path));
        assert_string_equal(path, expected[row]);
        for (size_t size = 1; size < sizeof(path); size++) { /* cut to fit */
            r1cs_row_path(r, row, path, size);
            assert_true(strlen(path) < size);
            assert_memory_equal(path, expected[row], strlen(path));
        }
    }
    r1cs_row_path(r, 13, path, sizeof(path));
    assert_string_equal(path, "");
    r1cs_destroy(r);
    lc_clear(&l);
}

/* ---- maps made by several threads at once ---- */
typedef struct view_job {
    const r1cs *r;
    cuzk_circuit_view view[16];
} view_job;

static void make_view(void *ctx, size_t task, unsigned worker)
{
    view_job *j = ctx;
    cuzk_error err;
    (void)worker;
    if (r1cs_view(j->r, &j->view[task], &err) != CUZK_OK)
        j->view[task].dictionary = NULL;
}

static void test_views_of_several_threads(void **state)
{
    (void)state;
    pool *four;
    assert_int_equal(pool_create(&four, 4, NULL), CUZK_OK);
    for (uint64_t seed = 0; seed < 20; seed++) {
        pair p;
        pair_open(&p, seed);
        view_job j = {.r = p.r};
        pool_for(four, 16, make_view, &j);
        for (int i = 0; i < 16; i++) {
            assert_non_null(j.view[i].dictionary);
            assert_memory_equal(&j.view[i], &j.view[0], sizeof(j.view[0]));
        }
        assert_ptr_equal(j.view[0].field_map, r1cs_field_map(p.r));
        assert_ptr_equal(j.view[0].b_input_density, r1cs_b_input_density(p.r));
        assert_int_equal(j.view[0].constraints, p.n.constraints);
        pair_close(&p);
    }
    pool_destroy(four);
}

/* ---- failures ---- */
static void nothing(cs *c, void *ctx)
{
    (void)c;
    (void)ctx;
}
static void nested_inner(cs *c, void *ctx)
{
    cs_repeat(c, 2, nothing, ctx, NULL, 0);
}
static void nested(cs *c, void *ctx)
{
    cs_repeat(c, 2, nested_inner, ctx, NULL, 0);
}
static void missing_wire(cs *c, void *ctx)
{
    lc *l = ctx;
    lc_reset(l);
    lc_add_one(l, cs_alloc_bit(c) + 1);
    cs_enforce(c, l, l, l);
}
static void missing_input(cs *c, void *ctx)
{
    lc *l = ctx;
    lc_reset(l);
    lc_add_one(l, 1);
    cs_enforce(c, l, l, l);
}
static void stray_import(cs *c, void *ctx)
{
    (void)ctx;
    cs_import(c, 0);
}
static void one_import(cs *c, void *ctx)
{
    lc *l = ctx;
    lc_reset(l);
    cs_alloc_bit(c);
    lc_add_one(l, cs_import(c, 0));
    cs_enforce(c, l, l, l);
}
static void import_from_inside(cs *c, void *ctx)
{
    var table[2] = {VAR_ONE, VAR_AUX}; /* wire 0 is the body's own */
    cs_repeat(c, 2, one_import, ctx, table, 1);
}
static void import_too_many(cs *c, void *ctx)
{
    (void)ctx;
    cs_repeat(c, 2, stray_import, ctx, NULL, 0);
}
static void too_many_wires(cs *c, void *ctx)
{
    var table[1] = {VAR_ONE};
    (void)table;
    cs_repeat(c, (uint64_t)1 << 29, one_import, ctx, NULL, 0);
    cs_repeat(c, (uint64_t)1 << 40, missing_wire, ctx, NULL, 0);
}

static void test_builder_errors(void **state)
{
    (void)state;
    circuit_fn *const bad[] = {nested,        missing_wire,       missing_input,
                               stray_import,  import_from_inside, import_too_many,
                               too_many_wires};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        lc l;
        r1cs *r = (r1cs *)&l;
        cuzk_error err = {0};
        lc_init(&l);
        cuzk_status status = r1cs_compile(&r, "bad", bad[i], &l, &err);
        assert_true(status == CUZK_INVALID_ARGUMENT || status == CUZK_UNSUPPORTED);
        assert_null(r);
        assert_true(strlen(err.message) > 10);
        lc_clear(&l);
    }
    r1cs *r;
    cuzk_error err;
    char name[80];
    memset(name, 'x', sizeof(name) - 1);
    name[79] = 0;
    assert_int_equal(r1cs_compile(&r, name, nothing, NULL, &err), CUZK_INVALID_ARGUMENT);
    assert_int_equal(r1cs_compile(&r, "", nothing, NULL, &err), CUZK_INVALID_ARGUMENT);
}

static void test_empty_circuit(void **state)
{
    (void)state;
    r1cs *r = compile(nothing, NULL);
    r1cs_counts n;
    witness w;
    cuzk_error err;
    uint8_t x[32], y[32];
    fr a = FR_ZERO, b = FR_ONE;
    /* The closing row of the constant one: A = (0: 1), B and C empty. */
    uint8_t row[4 + 36 + 4 + 4] = {1, 0, 0, 0, 0, 0, 0, 0, 1};
    r1cs_get_counts(r, &n);
    assert_int_equal(n.constraints, 1);
    assert_int_equal(n.inputs, 1);
    assert_int_equal(n.aux, 0);
    digest(x, r, two);
    sha256_digest(y, row, sizeof(row));
    assert_memory_equal(x, y, 32);
    assert_int_equal(witness_init(&w, 1, 0, 0, &err), CUZK_OK);
    assert_int_equal(r1cs_multiply(r, &w, &a, &b, NULL, &err), CUZK_OK);
    assert_true(fr_is_one(&a) && fr_is_zero(&b));
    assert_int_equal(r1cs_check(r, &w, NULL, &err), CUZK_OK);
    witness_clear(&w);
    r1cs_destroy(r);
}

/* Every allocation of compile, view and digest fails once: an error, never a crash or a leak. */
static void test_memory_failures(void **state)
{
    (void)state;
    uint64_t n = 0;
    for (uint64_t at = 1;; at++) {
        random_system s = {.seed = 5, .count = 3, .imports = 2, .globals = 6, .tail = 3, .rows = 12};
        r1cs *r = NULL;
        cuzk_circuit_view view;
        uint8_t rows[32];
        cuzk_error err = {0};
        mem_fault_set(at, 1);
        cuzk_status status = r1cs_compile(&r, "faulty", random_system_synth, &s, &err);
        if (status == CUZK_OK)
            status = r1cs_view(r, &view, &err);
        if (status == CUZK_OK)
            status = r1cs_digest(r, rows, 8, NULL, NULL, NULL, &err);
        n = mem_fault_count();
        mem_fault_set(0, 0);
        if (status != CUZK_OK)
            assert_int_equal(status, CUZK_OUT_OF_MEMORY);
        r1cs_destroy(r);
        random_system_clear(&s);
        if (n < at)
            break;
    }
    assert_true(n > 20);
}

/* The same for products and checks. */
static void test_memory_failures_of_products(void **state)
{
    (void)state;
    pair p;
    uint64_t n, at = 1;
    pair_open(&p, 3);
    fr *a = mem_alloc(p.n.constraints * sizeof(fr)), *b = mem_alloc(p.n.constraints * sizeof(fr));
    do {
        cuzk_error err;
        mem_fault_set(at, 1);
        cuzk_status status =
            at & 1 ? r1cs_multiply(p.r, &p.w, a, b, NULL, &err) : r1cs_check(p.r, &p.w, NULL, &err);
        n = mem_fault_count();
        mem_fault_set(0, 0);
        assert_int_equal(status, n < at ? CUZK_OK : CUZK_OUT_OF_MEMORY);
    } while (at++ <= n);
    assert_true(at > 4);
    mem_free(a);
    mem_free(b);
    pair_close(&p);
}

/* ---- linear combinations ---- */
static void test_linear_combinations(void **state)
{
    (void)state;
    chacha_rng rng;
    math_rng(&rng, 9);
    for (int round = 0; round < 300; round++) {
        enum { WIRES = 24 };
        fr expected[WIRES] = {0}, c, scale;
        lc l, o;
        lc_init(&l);
        lc_init(&o);
        uint32_t n = chacha_rng_u32(&rng) % 60;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t k = chacha_rng_u32(&rng) % WIRES;
            math_fr(&c, &rng);
            lc *to = i & 1 ? &l : &o;
            var v = k & 1 ? VAR_AUX | k : k;
            if (i % 7 == 0)
                lc_sub_one(to, v), c = FR_MINUS_ONE;
            else
                lc_add(to, v, &c);
            if (to == &o)
                fr_mul(&c, &c, &FR_TWO);
            fr_add(&expected[k], &expected[k], &c);
        }
        lc_add_lc(&l, &o, &FR_TWO);
        math_fr(&scale, &rng);
        lc_scale(&l, &scale);
        lc_copy(&o, &l);
        lc_compact(&o);
        uint32_t seen = 0;
        for (uint32_t i = 0; i < o.n; i++) {
            uint32_t k = o.t[i].v & ~VAR_AUX;
            assert_true(!i || o.t[i - 1].v < o.t[i].v);
            fr_mul(&c, &expected[k], &scale);
            assert_memory_equal(&c, &o.t[i].c, sizeof(c));
            assert_false(fr_is_zero(&c));
            seen++;
        }
        for (uint32_t k = 0; k < WIRES; k++)
            seen += (uint32_t)fr_is_zero(&expected[k]);
        assert_int_equal(seen, WIRES);
        lc_clear(&l);
        lc_clear(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear_combinations),
        cmocka_unit_test(test_repeat_equals_unrolled),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_products_past_the_cache),
        cmocka_unit_test(test_long_rows),
        cmocka_unit_test(test_check_names_the_first_row),
        cmocka_unit_test(test_check_refuses_other_shapes),
        cmocka_unit_test(test_published_system),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_views_of_several_threads),
        cmocka_unit_test(test_builder_errors),
        cmocka_unit_test(test_empty_circuit),
        cmocka_unit_test(test_memory_failures),
        cmocka_unit_test(test_memory_failures_of_products),
    };
    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
