/* Keys and proofs of a back end: the five sums of random circuits against exponents known from the setup's
 * secrets. */
#include "backend/cancel.h"
#include "base/mem.h"
#include "support/backend_cases.h"
#include "support/math.h"
#include "support/ref_groth16.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const random_system shapes[] = {
    {.seed = 31, .count = 3, .imports = 2, .globals = 9, .tail = 5, .rows = 12},
    {.seed = 32, .count = 23, .imports = 3, .globals = 4, .tail = 0, .rows = 20},
    {.seed = 33, .count = 5, .globals = 3, .tail = 3, .rows = 8, .bits_only = 1},
    {.seed = 34, .count = 4, .imports = 1, .globals = 6, .tail = 2, .rows = 9, .no_inputs = 1},
    {.seed = 61, .count = 2, .globals = 3, .tail = 3, .rows = 5, .linear = 1},
    {.seed = 5, .count = 1, .globals = 1, .tail = 0, .rows = 1},
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static void ok(cuzk_status s, const cuzk_error *err)
{
    if (s != CUZK_OK)
        fail_msg("%s: %s", cuzk_status_name(s), err->message);
}

/* A circuit, its queries in plain memory, and the sums that its witness must give. */
typedef struct proof_case {
    test_circuit c;
    ref_system ref;
    cuzk_circuit_view view;
    cuzk_query_view q;
    cuzk_witness_view w;
    cuzk_sums expected;
    uint8_t *encoded[5];
} proof_case;

static uint8_t *encode_section(const fr *k, size_t n, int is_g2)
{
    size_t bytes = is_g2 ? 192 : 96;
    uint8_t *out = calloc(n ? n : 1, bytes);
    assert_non_null(out);
    for (size_t i = 0; i < n; i++) {
        g1_affine p;
        g2_affine q;
        if (is_g2) {
            ref_g2(&q, &k[i]);
            g2_encode(out + i * bytes, &q);
        } else {
            ref_g1(&p, &k[i]);
            g1_encode(out + i * bytes, &p);
        }
    }
    return out;
}

/* sum of exponent * value over the wires first .. end - 1 whose exponent is not zero (or all) */
static void dot(fr *out, const fr *exponent, const fr *value, size_t n)
{
    fr x;
    *out = FR_ZERO;
    for (size_t i = 0; i < n; i++) {
        fr_mul(&x, &exponent[i], &value[i]);
        fr_add(out, out, &x);
    }
}

static void expect_sums(proof_case *p, const toxic_waste *t, const fr *l)
{
    const ref_system *s = &p->ref;
    fr k, inverse;
    fr_inv(&inverse, &t->delta);
    fr_mul(&k, &s->a_tau, &s->b_tau); /* h(tau) (tau^n - 1) / delta */
    fr_sub(&k, &k, &s->c_tau);
    fr_mul(&k, &k, &inverse);
    ref_g1((g1_affine *)&p->expected.h, &k);
    dot(&k, l, s->value + s->inputs, s->wires - s->inputs);
    ref_g1((g1_affine *)&p->expected.l, &k);
    ref_g1((g1_affine *)&p->expected.a, &s->a_tau);
    ref_g1((g1_affine *)&p->expected.b_g1, &s->b_tau);
    ref_g2((g2_affine *)&p->expected.b_g2, &s->b_tau);
}

static void case_make(proof_case *p, random_system shape)
{
    static const char *const names[5] = {"h", "l", "a", "b_g1", "b_g2"};
    toxic_waste t;
    cuzk_error err = {0};
    toxic_waste_test(&t);
    memset(p, 0, sizeof(*p));
    test_circuit_make(&p->c, shape);
    ref_system_make(&p->ref, p->c.r, &p->c.w, &t);
    ok(r1cs_view(p->c.r, &p->view, &err), &err);
    const witness *w = &p->c.w;
    p->w =
        (cuzk_witness_view){w->inputs, w->aux, w->fields, (cuzk_fr *)w->input, w->bits, (cuzk_fr *)w->field};
    uint64_t *const counts[5] = {&p->q.h_count, &p->q.l_count, &p->q.a_count, &p->q.b_g1_count,
                                 &p->q.b_g2_count};
    const uint8_t **const starts[5] = {&p->q.h, &p->q.l, &p->q.a, &p->q.b_g1, &p->q.b_g2};
    for (int i = 0; i < 5; i++) {
        size_t n;
        fr *k = ref_section(&p->ref, &t, names[i], &n);
        p->encoded[i] = encode_section(k, n, i == 4);
        *starts[i] = p->encoded[i];
        *counts[i] = n;
        if (i == 1)
            expect_sums(p, &t, k);
        free(k);
    }
}

static void case_clear(proof_case *p)
{
    for (int i = 0; i < 5; i++)
        free(p->encoded[i]);
    ref_system_clear(&p->ref);
    test_circuit_clear(&p->c);
}

static void same_sums(const cuzk_sums *found, const cuzk_sums *expected, const char *what, size_t shape)
{
#define SAME(m)                                                                                              \
    if (memcmp(&found->m, &expected->m, sizeof(found->m)))                                                   \
        fail_msg("%s, circuit %zu: the sum over %s differs", what, shape, #m);
    SAME(h)
    SAME(l)
    SAME(a)
    SAME(b_g1)
    SAME(b_g2)
#undef SAME
}

static void one_proof(const backend_run *run, cuzk_device_key *key, const proof_case *p, size_t shape)
{
    cuzk_error err = {0};
    cuzk_device_job *job;
    cuzk_sums sums;
    cuzk_device_times times;
    ok(run->backend->prove_start(key, &job, &p->w, NULL, NULL, &err), &err);
    ok(run->backend->prove_finish(job, &sums, &times, &err), &err);
    same_sums(&sums, &p->expected, "prove", shape);
}

void backend_case_prove(const backend_run *run)
{
    for (size_t i = 0; i < SHAPES; i++) {
        proof_case p;
        cuzk_error err = {0};
        cuzk_device_key *key;
        char plan[256] = "";
        case_make(&p, shapes[i]);
        ok(run->backend->key_load(run->device, &key, &p.view, &p.q, plan, sizeof(plan), &err), &err);
        assert_true(plan[0]);
        for (int again = 0; again < 3; again++)
            one_proof(run, key, &p, i);
        run->backend->key_unload(key);
        case_clear(&p);
    }
}

/* Several witnesses of one key: the same system filled with the values of other seeds has another structure,
 * so the witnesses are the satisfying one and others whose sums are known only to be those of single proofs.
 */
void backend_case_prove_batch(const backend_run *run)
{
    enum { COUNT = 5 };
    proof_case p;
    cuzk_error err = {0};
    cuzk_device_key *key;
    cuzk_witness_view w[COUNT];
    uint64_t *bits[COUNT];
    cuzk_fr *field[COUNT];
    cuzk_sums alone[COUNT], together[COUNT];
    cuzk_device_times times[COUNT];
    chacha_rng rng;
    math_rng(&rng, 40);
    case_make(&p, shapes[1]);
    size_t words = (p.w.aux + 63) / 64;
    ok(run->backend->key_load(run->device, &key, &p.view, &p.q, NULL, 0, &err), &err);
    for (int i = 0; i < COUNT; i++) {
        w[i] = p.w;
        bits[i] = calloc(words, 8);
        field[i] = calloc(p.w.fields ? p.w.fields : 1, sizeof(cuzk_fr));
        for (size_t k = 0; k < words; k++)
            bits[i][k] = i == 0 ? p.w.bits[k] : chacha_rng_u64(&rng) & ~p.view.field_map[k];
        if (p.w.aux % 64)
            bits[i][words - 1] &= ((uint64_t)1 << p.w.aux % 64) - 1;
        for (size_t k = 0; k < p.w.fields; k++) {
            field[i][k] = p.w.field[k];
            if (i)
                math_fr((fr *)&field[i][k], &rng);
        }
        w[i].bits = bits[i];
        w[i].field = field[i];
        cuzk_device_job *job;
        ok(run->backend->prove_start(key, &job, &w[i], NULL, NULL, &err), &err);
        ok(run->backend->prove_finish(job, &alone[i], NULL, &err), &err);
    }
    same_sums(&alone[0], &p.expected, "prove", 1);
    for (uint32_t n = 0; n <= COUNT; n++) {
        ok(run->backend->prove_batch(key, w, n, together, n % 2 ? times : NULL, NULL, NULL, &err), &err);
        for (uint32_t i = 0; i < n; i++)
            same_sums(&together[i], &alone[i], "prove_batch", i);
    }
    run->backend->key_unload(key);
    for (int i = 0; i < COUNT; i++)
        free(bits[i]), free(field[i]);
    case_clear(&p);
}

static int stop_at_once(void *ctx)
{
    ++*(int *)ctx;
    return 1;
}

void backend_case_prove_stops(const backend_run *run)
{
    proof_case p;
    cuzk_error err = {0};
    cuzk_device_key *key;
    cuzk_sums sums;
    int asked = 0;
    cancel_token token = {0};
    case_make(&p, shapes[0]);
    ok(run->backend->key_load(run->device, &key, &p.view, &p.q, NULL, 0, &err), &err);
    cuzk_status s = run->backend->prove_batch(key, &p.w, 1, &sums, NULL, stop_at_once, &asked, &err);
    assert_int_equal(s, CUZK_CANCELLED);
    assert_true(asked > 0);
    token.cancelled = 1;
    s = run->backend->prove_batch(key, &p.w, 1, &sums, NULL, cancel_token_poll, &token, &err);
    assert_int_equal(s, CUZK_CANCELLED);
    token.cancelled = 0;
    ok(run->backend->prove_batch(key, &p.w, 1, &sums, NULL, cancel_token_poll, &token, &err), &err);
    same_sums(&sums, &p.expected, "after a stop", 0);
    run->backend->key_unload(key);
    case_clear(&p);
}

/* Queries that do not fit the circuit, and points that are none. */
void backend_case_key_refuses(const backend_run *run)
{
    proof_case p;
    cuzk_device_key *key = NULL;
    case_make(&p, shapes[0]);
    uint64_t *const counts[5] = {&p.q.h_count, &p.q.l_count, &p.q.a_count, &p.q.b_g1_count, &p.q.b_g2_count};
    for (int i = 0; i < 5; i++) {
        cuzk_error err = {0};
        --*counts[i];
        assert_int_not_equal(run->backend->key_load(run->device, &key, &p.view, &p.q, NULL, 0, &err),
                             CUZK_OK);
        assert_true(err.message[0]);
        ++*counts[i];
    }
    for (int i = 0; i < 5; i++) { /* a coordinate that is not below p, in the middle of each query */
        cuzk_error err = {0};
        cuzk_sums sums;
        uint8_t *at = p.encoded[i] + *counts[i] / 2 * (i == 4 ? 192 : 96), kept[48];
        memcpy(kept, at, 48);
        memset(at, 0xff, 48);
        at[0] = 0x1f;
        cuzk_status s = run->backend->key_load(run->device, &key, &p.view, &p.q, NULL, 0, &err);
        if (s == CUZK_OK) { /* seen at the latest where the point is used */
            s = run->backend->prove_batch(key, &p.w, 1, &sums, NULL, NULL, NULL, &err);
            run->backend->key_unload(key);
            if (s == CUZK_OK)
                same_sums(&sums, &p.expected, "a bad point that the witness does not use", (size_t)i);
        }
        if (s != CUZK_OK)
            assert_true(err.message[0]);
        memcpy(at, kept, 48);
    }
    case_clear(&p);
}
