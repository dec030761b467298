/* Setup, proving and verification against the naive prover of tests/support/ref_groth16.h, on random
 * circuits. */
#include "base/encode.h"
#include "base/mem.h"
#include "groth16/groth16_internal.h"
#include "support/math.h"
#include "support/ref_groth16.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const random_system shapes[] = {
    {.seed = 1, .count = 3, .imports = 2, .globals = 9, .tail = 5, .rows = 12},
    {.seed = 2, .count = 17, .imports = 3, .globals = 4, .tail = 0, .rows = 20},
    {.seed = 3, .count = 5, .globals = 3, .tail = 3, .rows = 8, .bits_only = 1},
    {.seed = 4, .count = 4, .imports = 1, .globals = 6, .tail = 2, .rows = 9, .no_inputs = 1},
    {.seed = 5, .count = 1, .globals = 1, .tail = 0, .rows = 1},
    {.seed = 7, .count = 40, .imports = 5, .globals = 30, .tail = 30, .rows = 18},
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* A circuit with its test parameters and the naive system. */
typedef struct fixture {
    test_circuit c;
    toxic_waste t;
    ref_system ref;
    char path[512], vk_path[512];
    params *p;
} fixture;

static pool *workers;

static void ok(cuzk_status s, const cuzk_error *err)
{
    if (s != CUZK_OK)
        fail_msg("%s: %s", cuzk_status_name(s), err->message);
}

static void fixture_files(fixture *f)
{
    cuzk_error err = {0};
    toxic_waste_test(&f->t);
    snprintf(f->path, sizeof(f->path), "%s", test_path("TEST-random.params"));
    snprintf(f->vk_path, sizeof(f->vk_path), "%s", test_path("TEST-random.vk"));
    ok(groth16_setup(f->c.r, &f->t, f->path, f->vk_path, workers, NULL, NULL, &err), &err);
    ok(params_open(&f->p, f->path, &err), &err);
    ref_system_make(&f->ref, f->c.r, &f->c.w, &f->t);
}

static void fixture_make(fixture *f, const random_system *shape)
{
    test_circuit_make_closed(&f->c, *shape);
    fixture_files(f);
}

static void fixture_clear(fixture *f)
{
    params_close(f->p);
    ref_system_clear(&f->ref);
    test_circuit_clear(&f->c);
    unlink(f->path);
    unlink(f->vk_path);
}

/* ---- setup ---- */
static void check_section(const fixture *f, int i)
{
    params_section s;
    params_get_section(f->p, i, &s);
    size_t count;
    fr *k = ref_section(&f->ref, &f->t, s.name, &count);
    assert_int_equal(count, s.count);
    for (size_t j = 0; j < count; j++) {
        uint8_t expected[192], found[192];
        cuzk_error err = {0};
        if (s.point_bytes == 96) {
            g1_affine p;
            ref_g1(&p, &k[j]);
            g1_encode(expected, &p);
        } else {
            g2_affine p;
            ref_g2(&p, &k[j]);
            g2_encode(expected, &p);
        }
        ok(params_read(f->p, found, s.offset + j * s.point_bytes, s.point_bytes, &err), &err);
        if (memcmp(expected, found, s.point_bytes))
            fail_msg("point %zu of section %s differs", j, s.name);
    }
    free(k);
}

static void test_setup(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        fixture f;
        cuzk_error err = {0};
        fixture_make(&f, &shapes[i]);
        for (int k = 0; k < PARAMS_SECTIONS; k++)
            check_section(&f, k);
        fr *ic = ref_ic(&f.ref, &f.t);
        for (uint32_t j = 0; j < f.ref.inputs; j++) {
            g1_affine p;
            ref_g1(&p, &ic[j]);
            assert_memory_equal(&p, &f.p->vk.ic[j], sizeof(p));
        }
        free(ic);
        verifying_key vk;
        ok(vk_open(&vk, f.vk_path, &err), &err);
        assert_int_equal(vk.ic_count, f.ref.inputs);
        assert_memory_equal(&vk.alpha_beta, &f.p->vk.alpha_beta, sizeof(vk.alpha_beta));
        vk_clear(&vk);
        ok(params_match(f.p, f.c.r, &err), &err);
        ok(params_check(f.p, workers, NULL, NULL, &err), &err);
        fixture_clear(&f);
    }
}

/* tau in the domain, gamma or delta zero. */
static void test_setup_refuses(void **state)
{
    (void)state;
    test_circuit c;
    test_circuit_make_closed(&c, shapes[0]);
    r1cs_counts n;
    r1cs_get_counts(c.r, &n);
    toxic_waste t;
    cuzk_error err = {0};
    toxic_waste_test(&t);
    fr_root_of_unity(&t.tau, domain_log_for(n.constraints), 7);
    assert_int_equal(groth16_setup(c.r, &t, test_path("x.params"), NULL, NULL, NULL, NULL, &err),
                     CUZK_INVALID_ARGUMENT);
    toxic_waste_test(&t);
    t.delta = FR_ZERO;
    assert_int_equal(groth16_setup(c.r, &t, test_path("x.params"), NULL, NULL, NULL, NULL, &err),
                     CUZK_INVALID_ARGUMENT);
    assert_false(file_exists(test_path("x.params")));
    test_circuit_clear(&c);
}

static void free_wire(cs *c, void *ctx)
{
    (void)ctx;
    cs_alloc_field(c);
}

static void test_setup_unconstrained(void **state)
{
    (void)state;
    r1cs *r;
    toxic_waste t;
    cuzk_error err = {0};
    toxic_waste_test(&t);
    ok(r1cs_compile(&r, "free", free_wire, NULL, &err), &err);
    assert_int_equal(groth16_setup(r, &t, test_path("free.params"), NULL, NULL, NULL, NULL, &err),
                     CUZK_INCONSISTENT);
    assert_non_null(strstr(err.message, "wire 0"));
    r1cs_destroy(r);
}

static void test_random_waste(void **state)
{
    (void)state;
    toxic_waste a, b;
    cuzk_error err = {0};
    ok(toxic_waste_random(&a, &err), &err);
    ok(toxic_waste_random(&b, &err), &err);
    assert_memory_not_equal(&a, &b, sizeof(a));
    assert_false(fr_is_zero(&a.delta) || fr_is_zero(&a.tau) || fr_eq(&a.alpha, &a.beta));
}

/* ---- proving ---- */
static const cuzk_device_options plans[] = {
    {.threads = 1},
    {.threads = 3},
    {.threads = 2, .stream_queries = 1},
    {.threads = 2, .check_points = 1},
    {.threads = 1, .memory_limit = 1},
};

static void prove_with(const fixture *f, const cuzk_device_options *options, const uint8_t *expected,
                       const fr *r, const fr *s)
{
    const cuzk_backend *b = cuzk_backend_cpu();
    cuzk_error err = {0};
    cuzk_device *d;
    groth16_prover *g;
    uint8_t proof[GROTH16_PROOF_BYTES];
    groth16_times times;
    ok(b->device_open(&d, 0, options, &err), &err);
    ok(groth16_prover_create(&g, b, d, f->c.r, f->p, &err), &err);
    for (int twice = 0; twice < 2; twice++) {
        ok(groth16_prove(g, &f->c.w, r, s, proof, &times, NULL, &err), &err);
        assert_memory_equal(proof, expected, sizeof(proof));
    }
    assert_true(times.total > 0);
    groth16_prover_destroy(g);
    b->device_close(d);
}

static void test_prove(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        fixture f;
        fr r, s;
        cuzk_error err = {0};
        uint8_t expected[GROTH16_PROOF_BYTES];
        fixture_make(&f, &shapes[i]);
        test_fr(&r, "r:0");
        test_fr(&s, "s:0");
        ref_prove(expected, &f.ref, &f.t, &r, &s);
        for (size_t k = 0; k < sizeof(plans) / sizeof(plans[0]); k++)
            prove_with(&f, &plans[k], expected, &r, &s);
        ok(groth16_verify(&f.p->vk, expected, f.c.w.input + 1, f.c.w.inputs - 1, &err), &err);
        if (i < 4) { /* r = s = 0 is a valid proof too, only without its blinding */
            ref_prove(expected, &f.ref, &f.t, &FR_ZERO, &FR_ZERO);
            prove_with(&f, &plans[0], expected, &FR_ZERO, &FR_ZERO);
        }
        fixture_clear(&f);
    }
}

/* Rows whose B is empty: the b sections hold no point at all. */
static void nothing_in_b(cs *c, void *ctx)
{
    (void)ctx;
    lc a, b, d;
    lc_init(&a), lc_init(&b), lc_init(&d);
    for (int i = 0; i < 70; i++) {
        lc_reset(&a);
        lc_add_one(&a, i % 3 ? cs_alloc_bit(c) : cs_alloc_field(c));
        cs_enforce(c, &a, &b, &d);
    }
    lc_clear(&a), lc_clear(&b), lc_clear(&d);
}

/* Linear rows only: bit + field = next field. */
static void linear_rows(cs *c, void *ctx)
{
    (void)ctx;
    lc a, b, d;
    var last = cs_alloc_field(c);
    lc_init(&a), lc_init(&b), lc_init(&d);
    for (int i = 0; i < 23; i++) {
        var next = cs_alloc_field(c);
        lc_reset(&a), lc_reset(&b), lc_reset(&d);
        lc_add_one(&a, cs_alloc_bit(c));
        lc_add_one(&a, cs_alloc_bit(c));
        lc_add_one(&a, last);
        lc_add_one(&b, VAR_ONE);
        lc_add_one(&d, next);
        cs_enforce(c, &a, &b, &d);
        last = next;
    }
    lc_clear(&a), lc_clear(&b), lc_clear(&d);
}

static void prove_every_way(fixture *f)
{
    fr r, s;
    uint8_t expected[GROTH16_PROOF_BYTES];
    test_fr(&r, "r:0");
    test_fr(&s, "s:0");
    ref_prove(expected, &f->ref, &f->t, &r, &s);
    for (size_t k = 0; k < sizeof(plans) / sizeof(plans[0]); k++)
        prove_with(f, &plans[k], expected, &r, &s);
}

static void test_empty_section(void **state)
{
    (void)state;
    fixture f;
    cuzk_error err = {0};
    chacha_rng rng;
    memset(&f.c, 0, sizeof(f.c));
    ok(r1cs_compile(&f.c.r, "empty", nothing_in_b, NULL, &err), &err);
    ok(witness_init(&f.c.w, 1, 70, 24, &err), &err);
    math_rng(&rng, 5);
    for (int i = 0; i < 24; i++)
        math_fr(&f.c.w.field[i], &rng);
    f.c.w.bits[0] = 4;
    fixture_files(&f);
    assert_int_equal(f.p->q.b_g1_count, 0);
    assert_int_equal(f.p->q.a_count, 71);
    prove_every_way(&f);
    fixture_clear(&f);
}

static void test_linear(void **state)
{
    (void)state;
    fixture f;
    cuzk_error err = {0};
    wcursor at;
    fr value;
    memset(&f.c, 0, sizeof(f.c));
    ok(r1cs_compile(&f.c.r, "linear", linear_rows, NULL, &err), &err);
    ok(witness_init(&f.c.w, 1, 1 + 3 * 23, 24, &err), &err);
    fr_from_u64(&value, 1u << 30);
    wcursor_init(&at, &f.c.w, 0, 0);
    wcursor_field(&at, &value);
    for (unsigned i = 0; i < 23; i++) {
        unsigned one = i % 3 == 0, other = i % 2;
        for (unsigned k = 0; k < one + other; k++)
            fr_add(&value, &value, &FR_ONE);
        wcursor_field(&at, &value); /* next is allocated before the bits */
        wcursor_bits(&at, one | other << 1, 2);
    }
    wcursor_finish(&at);
    fixture_files(&f);
    assert_int_equal(f.p->q.b_g1_count, 1); /* the constant one */
    prove_every_way(&f);
    fixture_clear(&f);
}

typedef struct proving {
    fixture f;
    cuzk_device *device;
    groth16_prover *g;
} proving;

static void proving_open(proving *p, const random_system *shape)
{
    const cuzk_backend *b = cuzk_backend_cpu();
    cuzk_error err = {0};
    cuzk_device_options o = {.threads = 2};
    fixture_make(&p->f, shape);
    ok(b->device_open(&p->device, 0, &o, &err), &err);
    ok(groth16_prover_create(&p->g, b, p->device, p->f.c.r, p->f.p, &err), &err);
}

static void proving_close(proving *p)
{
    groth16_prover_destroy(p->g);
    cuzk_backend_cpu()->device_close(p->device);
    fixture_clear(&p->f);
}

static void test_fresh_randomness(void **state)
{
    (void)state;
    proving p;
    cuzk_error err = {0};
    uint8_t one[GROTH16_PROOF_BYTES], two[GROTH16_PROOF_BYTES];
    proving_open(&p, &shapes[0]);
    ok(groth16_prove(p.g, &p.f.c.w, NULL, NULL, one, NULL, NULL, &err), &err);
    ok(groth16_prove(p.g, &p.f.c.w, NULL, NULL, two, NULL, NULL, &err), &err);
    for (int part = 0; part < 192; part += 48)
        assert_memory_not_equal(one + part, two + part, 48);
    proving_close(&p);
}

/* Two proofs under way at once, finished in the other order. */
static void test_halves(void **state)
{
    (void)state;
    proving p;
    cuzk_error err = {0};
    groth16_job *first, *second;
    uint8_t one[GROTH16_PROOF_BYTES], two[GROTH16_PROOF_BYTES];
    proving_open(&p, &shapes[1]);
    ok(groth16_prove_start(p.g, &first, &p.f.c.w, NULL, &err), &err);
    ok(groth16_prove_start(p.g, &second, &p.f.c.w, NULL, &err), &err);
    ok(groth16_prove_finish(second, &FR_ONE, &FR_TWO, two, NULL, &err), &err);
    ok(groth16_prove_finish(first, &FR_ONE, &FR_TWO, one, NULL, &err), &err);
    assert_memory_equal(one, two, sizeof(one));
    proving_close(&p);
}

/* Several proofs in one pass, kept and streamed: the same bytes as alone; a wrong one among them is named. */
static void test_prove_batch(void **state)
{
    (void)state;
    enum { COUNT = 4 };
    fixture f;
    fr r[COUNT], s[COUNT];
    const witness *w[COUNT];
    groth16_times times[COUNT];
    uint8_t expected[COUNT * GROTH16_PROOF_BYTES], proofs[COUNT * GROTH16_PROOF_BYTES];
    const uint8_t zero[COUNT * GROTH16_PROOF_BYTES] = {0};
    const cuzk_backend *b = cuzk_backend_cpu();
    fixture_make(&f, &shapes[1]);
    for (int i = 0; i < COUNT; i++) {
        fr_from_u64(&r[i], (uint64_t)i + 7);
        fr_from_u64(&s[i], (uint64_t)i + 70);
        w[i] = &f.c.w;
        ref_prove(expected + i * GROTH16_PROOF_BYTES, &f.ref, &f.t, &r[i], &s[i]);
    }
    for (uint32_t stream = 0; stream < 2; stream++) {
        cuzk_error err = {0};
        cuzk_device *d;
        groth16_prover *g;
        uint32_t bad = 99;
        cuzk_device_options o = {.threads = 2, .stream_queries = stream};
        ok(b->device_open(&d, 0, &o, &err), &err);
        ok(groth16_prover_create(&g, b, d, f.c.r, f.p, &err), &err);
        for (uint32_t n = 0; n <= COUNT; n++) {
            memset(proofs, 0xaa, sizeof(proofs));
            ok(groth16_prove_batch(g, w, n, r, s, proofs, times, &bad, NULL, &err), &err);
            assert_memory_equal(proofs, expected, n * GROTH16_PROOF_BYTES);
            assert_int_equal(bad, n);
        }
        witness wrong = f.c.w; /* shares everything but the field wires */
        wrong.field = calloc(wrong.fields, sizeof(fr));
        memcpy(wrong.field, f.c.w.field, wrong.fields * sizeof(fr));
        for (uint64_t k = 0; k < wrong.fields; k++)
            fr_add(&wrong.field[k], &wrong.field[k], &FR_ONE);
        assert_int_equal(r1cs_check(f.c.r, &wrong, NULL, NULL), CUZK_UNSATISFIED);
        w[2] = &wrong;
        assert_int_equal(groth16_prove_batch(g, w, COUNT, NULL, NULL, proofs, NULL, &bad, NULL, &err),
                         CUZK_UNSATISFIED);
        assert_int_equal(bad, 2);
        assert_non_null(strstr(err.message, "proof 2 of the batch"));
        assert_memory_equal(proofs, zero, sizeof(zero));
        w[2] = &f.c.w;
        free(wrong.field);
        groth16_prover_destroy(g);
        b->device_close(d);
    }
    fixture_clear(&f);
}

/* Every wire in turn is given a wrong value: an error that names a row, the proof wiped. */
static void test_unsatisfied(void **state)
{
    (void)state;
    proving p;
    proving_open(&p, &shapes[0]);
    witness *w = &p.f.c.w;
    const uint64_t *map = r1cs_field_map(p.f.c.r);
    uint64_t rank = 0, named = 0;
    for (uint64_t i = 0; i < w->aux; i++) {
        cuzk_error err = {0};
        uint8_t proof[GROTH16_PROOF_BYTES], zero[GROTH16_PROOF_BYTES] = {0};
        int is_field = map[i / 64] >> (i % 64) & 1;
        fr kept = is_field ? w->field[rank] : FR_ZERO;
        if (is_field)
            fr_add(&w->field[rank], &w->field[rank], &FR_ONE);
        else
            w->bits[i / 64] ^= (uint64_t)1 << (i % 64);
        cuzk_status wrong = r1cs_check(p.f.c.r, w, NULL, NULL);
        cuzk_status s = groth16_prove(p.g, w, NULL, NULL, proof, NULL, NULL, &err);
        assert_int_equal(s, wrong); /* a wire of free rows only may take any value */
        if (s != CUZK_OK) {
            assert_int_equal(s, CUZK_UNSATISFIED);
            assert_non_null(strstr(err.message, "row "));
            assert_memory_equal(proof, zero, sizeof(zero));
            named++;
        }
        if (is_field)
            w->field[rank++] = kept;
        else
            w->bits[i / 64] ^= (uint64_t)1 << (i % 64);
    }
    assert_true(named > 10);
    proving_close(&p);
}

static void test_wrong_witness_size(void **state)
{
    (void)state;
    proving p;
    cuzk_error err = {0};
    uint8_t proof[GROTH16_PROOF_BYTES];
    proving_open(&p, &shapes[0]);
    witness w = p.f.c.w;
    w.aux--;
    assert_int_equal(groth16_prove(p.g, &w, NULL, NULL, proof, NULL, NULL, &err), CUZK_INVALID_ARGUMENT);
    proving_close(&p);
}

static void test_cancel(void **state)
{
    (void)state;
    proving p;
    cuzk_error err = {0};
    uint8_t proof[GROTH16_PROOF_BYTES];
    cancel_token token = {0};
    proving_open(&p, &shapes[0]);
    ok(groth16_prove(p.g, &p.f.c.w, NULL, NULL, proof, NULL, &token, &err), &err);
    token.deadline_ns = 1;
    assert_int_equal(groth16_prove(p.g, &p.f.c.w, NULL, NULL, proof, NULL, &token, &err), CUZK_DEADLINE);
    token.cancelled = 1;
    assert_int_equal(groth16_prove(p.g, &p.f.c.w, NULL, NULL, proof, NULL, &token, &err), CUZK_CANCELLED);
    proving_close(&p);
}

/* A device that computes wrongly: its sums are off by one point in turn. */
static cuzk_backend broken;
static int broken_sum;

static cuzk_status broken_finish(cuzk_device_job *job, cuzk_sums *sums, cuzk_device_times *times,
                                 cuzk_error *err)
{
    cuzk_status s = cuzk_backend_cpu()->prove_finish(job, sums, times, err);
    g1_affine *of[] = {(g1_affine *)&sums->h, (g1_affine *)&sums->l, (g1_affine *)&sums->a,
                       (g1_affine *)&sums->b_g1};
    if (broken_sum < 4)
        *of[broken_sum] = *blst_p1_affine_generator();
    else
        *(g2_affine *)&sums->b_g2 = *blst_p2_affine_generator();
    return s;
}

static void test_broken_device(void **state)
{
    (void)state;
    proving p;
    proving_open(&p, &shapes[0]);
    groth16_prover *g;
    broken = *cuzk_backend_cpu();
    broken.prove_finish = broken_finish;
    cuzk_error err = {0};
    ok(groth16_prover_create(&g, &broken, p.device, p.f.c.r, p.f.p, &err), &err);
    for (broken_sum = 0; broken_sum < 5; broken_sum++) {
        uint8_t proof[GROTH16_PROOF_BYTES], zero[GROTH16_PROOF_BYTES] = {0};
        assert_int_equal(groth16_prove(g, &p.f.c.w, NULL, NULL, proof, NULL, NULL, &err), CUZK_INVALID_PROOF);
        assert_non_null(strstr(err.message, "cpu device"));
        assert_memory_equal(proof, zero, sizeof(zero));
    }
    groth16_prover_destroy(g);
    proving_close(&p);
}

/* Memory that is missing at any point is an error, never a crash or a leak. */
static void test_out_of_memory(void **state)
{
    (void)state;
    fixture f;
    fixture_make(&f, &shapes[0]);
    const cuzk_backend *b = cuzk_backend_cpu();
    int done = 0;
    for (uint64_t n = 1; !done && n < 400; n++) {
        cuzk_error err = {0};
        cuzk_device_options o = {.threads = 1, .stream_queries = (uint32_t)(n & 1)};
        cuzk_device *d = NULL;
        groth16_prover *g = NULL;
        params *p = NULL;
        uint8_t proof[GROTH16_PROOF_BYTES];
        mem_fault_set((n + 1) / 2, 0);
        cuzk_status s = params_open(&p, f.path, &err);
        if (s == CUZK_OK)
            s = b->device_open(&d, 0, &o, &err);
        if (s == CUZK_OK)
            s = groth16_prover_create(&g, b, d, f.c.r, p, &err);
        if (s == CUZK_OK)
            s = groth16_prove(g, &f.c.w, NULL, NULL, proof, NULL, NULL, &err);
        done = mem_fault_count() < (n + 1) / 2 && n % 2 == 0;
        mem_fault_set(0, 0);
        if (s != CUZK_OK)
            assert_int_equal(s, CUZK_OUT_OF_MEMORY);
        groth16_prover_destroy(g);
        b->device_close(d);
        params_close(p);
    }
    assert_true(done);
    fixture_clear(&f);
}

/* ---- verification ---- */
static void test_bit_flips(void **state)
{
    (void)state;
    proving p;
    cuzk_error err = {0};
    uint8_t proof[GROTH16_PROOF_BYTES];
    proving_open(&p, &shapes[1]);
    const witness *w = &p.f.c.w;
    const verifying_key *vk = &p.f.p->vk;
    ok(groth16_prove(p.g, w, NULL, NULL, proof, NULL, NULL, &err), &err);
    for (int i = 0; i < 8 * GROTH16_PROOF_BYTES; i++) {
        proof[i / 8] ^= (uint8_t)(1 << i % 8);
        if (groth16_verify(vk, proof, w->input + 1, w->inputs - 1, &err) != CUZK_INVALID_PROOF)
            fail_msg("bit %d flipped: the proof is not refused", i);
        proof[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    ok(groth16_verify(vk, proof, w->input + 1, w->inputs - 1, &err), &err);
    assert_int_equal(groth16_verify(vk, proof, w->input + 1, w->inputs - 2, &err), CUZK_INCONSISTENT);
    for (uint64_t i = 1; i < w->inputs; i++) {
        fr kept = w->input[i];
        fr_add(&w->input[i], &w->input[i], &FR_ONE);
        assert_int_equal(groth16_verify(vk, proof, w->input + 1, w->inputs - 1, &err), CUZK_INVALID_PROOF);
        w->input[i] = kept;
    }
    proving_close(&p);
}

static void test_infinity_in_proof(void **state)
{
    (void)state;
    proving p;
    cuzk_error err = {0};
    uint8_t proof[GROTH16_PROOF_BYTES], bad[GROTH16_PROOF_BYTES];
    proving_open(&p, &shapes[0]);
    const witness *w = &p.f.c.w;
    ok(groth16_prove(p.g, w, NULL, NULL, proof, NULL, NULL, &err), &err);
    static const struct {
        int at, n;
    } parts[] = {{0, 48}, {48, 96}, {144, 48}};
    for (int i = 0; i < 3; i++) {
        memcpy(bad, proof, sizeof(bad));
        memset(bad + parts[i].at, 0, (size_t)parts[i].n);
        bad[parts[i].at] = 0xc0;
        assert_int_equal(groth16_verify(&p.f.p->vk, bad, w->input + 1, w->inputs - 1, &err),
                         CUZK_INVALID_PROOF);
        assert_non_null(strstr(err.message, "infinity"));
    }
    memset(bad, 0, sizeof(bad));
    assert_int_equal(groth16_verify(&p.f.p->vk, bad, w->input + 1, w->inputs - 1, &err), CUZK_INVALID_PROOF);
    proving_close(&p);
}

static void test_batch(void **state)
{
    (void)state;
    enum { COUNT = 7 };
    proving p;
    cuzk_error err = {0};
    proving_open(&p, &shapes[1]);
    const witness *w = &p.f.c.w;
    const verifying_key *vk = &p.f.p->vk;
    size_t n = w->inputs - 1, bad = 99;
    uint8_t proofs[COUNT * GROTH16_PROOF_BYTES];
    fr *inputs = calloc(COUNT * n + 1, sizeof(fr));
    for (size_t i = 0; i < COUNT; i++) {
        ok(groth16_prove(p.g, w, NULL, NULL, proofs + i * GROTH16_PROOF_BYTES, NULL, NULL, &err), &err);
        memcpy(inputs + i * n, w->input + 1, n * sizeof(fr));
    }
    for (size_t count = 0; count <= COUNT; count++)
        ok(groth16_verify_batch(vk, proofs, count, inputs, n, &bad, &err), &err);
    for (size_t i = 0; i < COUNT; i++) {
        fr_add(&inputs[i * n], &inputs[i * n], &FR_ONE);
        assert_int_equal(groth16_verify_batch(vk, proofs, COUNT, inputs, n, &bad, &err), CUZK_INVALID_PROOF);
        assert_int_equal(bad, i);
        fr_sub(&inputs[i * n], &inputs[i * n], &FR_ONE);
        proofs[i * GROTH16_PROOF_BYTES + 20] ^= 1; /* most likely no longer a point */
        assert_int_equal(groth16_verify_batch(vk, proofs, COUNT, inputs, n, &bad, &err), CUZK_INVALID_PROOF);
        assert_int_equal(bad, i);
        proofs[i * GROTH16_PROOF_BYTES + 20] ^= 1;
    }
    /* Two proofs that are off by opposite amounts: an unweighted sum would not see it. */
    g1_affine c;
    g1 sum;
    for (int sign = 0; sign < 2; sign++) {
        uint8_t *at = proofs + (size_t)sign * GROTH16_PROOF_BYTES + 144;
        g1_affine step = *blst_p1_affine_generator();
        if (sign)
            g1_affine_neg(&step, &step);
        assert_int_equal(g1_decompress(&c, at), 0);
        g1_from_affine(&sum, &c);
        g1_add_affine(&sum, &sum, &step);
        g1_to_affine(&c, &sum);
        g1_compress(at, &c);
    }
    assert_int_equal(groth16_verify_batch(vk, proofs, COUNT, inputs, n, &bad, &err), CUZK_INVALID_PROOF);
    assert_int_equal(bad, 0);
    free(inputs);
    proving_close(&p);
}

static int open_pool(void **state)
{
    cuzk_error err;
    (void)state;
    return pool_create(&workers, 2, &err);
}

static int close_pool(void **state)
{
    (void)state;
    pool_destroy(workers);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_setup),
        cmocka_unit_test(test_setup_refuses),
        cmocka_unit_test(test_setup_unconstrained),
        cmocka_unit_test(test_random_waste),
        cmocka_unit_test(test_prove),
        cmocka_unit_test(test_empty_section),
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_fresh_randomness),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_prove_batch),
        cmocka_unit_test(test_unsatisfied),
        cmocka_unit_test(test_wrong_witness_size),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_broken_device),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_bit_flips),
        cmocka_unit_test(test_infinity_in_proof),
        cmocka_unit_test(test_batch),
    };
    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
