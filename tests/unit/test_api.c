/* The public headers: a circuit stated by calls, its proofs; contexts; a PoSt from vanilla proofs to the
 * chain's view. Only public headers are used, besides the helpers that read test data. */
#include "api/circuits.h"
#include "cuzk/filecoin.h"
#include "cuzk/prover.h"
#include "support/data.h"
#include "support/ref_groth16.h"
#include "support/vanilla.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static cuzk_ctx *ctx;

static void good(cuzk_status s, const cuzk_error *err)
{
    if (s != CUZK_OK)
        fail_msg("%s: %s", cuzk_status_name(s), err->message);
}

static void bad(cuzk_status s, cuzk_status expected, const cuzk_error *err, const char *word)
{
    if (s != expected || !strstr(err->message, word))
        fail_msg("%s: \"%s\", expected %s and \"%s\"", cuzk_status_name(s), err->message,
                 cuzk_status_name(expected), word);
}

static cuzk_status make_ctx(cuzk_ctx **out, const char *cache)
{
    cuzk_options o = CUZK_OPTIONS_INIT;
    cuzk_error err;
    char folder[512];
    snprintf(folder, sizeof(folder), "%s", test_path("x"));
    *strrchr(folder, '/') = 0;
    o.threads = 2;
    o.params_dir = folder;
    o.circuit_cache = cache;
    o.allow_test_srs = 1;
    return cuzk_ctx_create(out, &o, &err);
}

static int open_ctx(void **state)
{
    (void)state;
    return make_ctx(&ctx, "") != CUZK_OK;
}

static int close_ctx(void **state)
{
    (void)state;
    cuzk_ctx_destroy(ctx);
    return 0;
}

/* ---- contexts ---- */
static void context(void **state)
{
    (void)state;
    cuzk_ctx *c = (cuzk_ctx *)1;
    cuzk_error err = {0};
    cuzk_options o = CUZK_OPTIONS_INIT;
    assert_true(strlen(cuzk_version()) >= 5);
    assert_non_null(strstr(cuzk_ctx_device(ctx), "cpu: "));
    good(cuzk_ctx_create(&c, NULL, &err), &err);
    cuzk_ctx_destroy(c);
    o.backend = "/nonexistent.so";
    bad(cuzk_ctx_create(&c, &o, &err), CUZK_NOT_FOUND, &err, "/nonexistent.so");
    assert_null(c);
    o.backend = NULL;
    o.device = 5;
    bad(cuzk_ctx_create(&c, &o, &err), CUZK_INVALID_ARGUMENT, &err, "5");
    o = (cuzk_options){0};
    bad(cuzk_ctx_create(&c, &o, &err), CUZK_INVALID_ARGUMENT, &err, "CUZK_OPTIONS_INIT");
    o = (cuzk_options){.size = sizeof(o), .threads = 1u << 30};
    bad(cuzk_ctx_create(&c, &o, &err), CUZK_INVALID_ARGUMENT, &err, "threads");
    cuzk_ctx_destroy(NULL);
}

/* ---- x^3 + x + 5 = y, and x is the sum of its bits ---- */
enum { BITS = 20 };
typedef struct cubic {
    cuzk_var y, x, square, cube, bit[BITS];
} cubic;

static cuzk_term term(cuzk_var v, uint64_t c)
{
    cuzk_term t = {v, {0}};
    for (int i = 0; i < 8; i++)
        t.coefficient[i] = (uint8_t)(c >> 8 * i);
    return t;
}

static void state_cubic(cuzk_builder *b, void *data)
{
    cubic *c = data;
    c->y = cuzk_alloc_input(b);
    c->x = cuzk_alloc_field(b);
    c->square = cuzk_alloc_field(b);
    c->cube = cuzk_alloc_field(b);
    cuzk_term x = term(c->x, 1), square = term(c->square, 1), cube = term(c->cube, 1),
              one = term(CUZK_ONE, 1);
    cuzk_enforce(b, &x, 1, &x, 1, &square, 1);
    cuzk_enforce(b, &square, 1, &x, 1, &cube, 1);
    cuzk_term sum[] = {cube, x, term(CUZK_ONE, 5)}, y = term(c->y, 1), bits[BITS];
    cuzk_enforce(b, sum, 3, &one, 1, &y, 1);
    for (int i = 0; i < BITS; i++) {
        c->bit[i] = cuzk_alloc_bit(b);
        cuzk_term v = term(c->bit[i], 1);
        cuzk_enforce(b, &v, 1, &v, 1, &v, 1);
        bits[i] = term(c->bit[i], (uint64_t)1 << i);
    }
    cuzk_enforce(b, bits, BITS, &one, 1, &x, 1);
}

static void put(uint8_t out[32], uint64_t v)
{
    cuzk_term t = term(0, v);
    memcpy(out, t.coefficient, 32);
}

static void set(cuzk_witness *w, cuzk_var v, uint64_t value)
{
    uint8_t bytes[32];
    cuzk_error err = {0};
    put(bytes, value);
    good(cuzk_witness_set(w, v, bytes, &err), &err);
}

static void fill(cuzk_witness *w, const cubic *c, uint64_t x)
{
    set(w, c->x, x);
    set(w, c->square, x * x);
    set(w, c->cube, x * x * x);
    set(w, c->y, x * x * x + x + 5);
    for (int i = 0; i < BITS; i++)
        set(w, c->bit[i], x >> i & 1);
}

typedef struct cubic_prover {
    cubic c;
    cuzk_circuit *circuit;
    cuzk_prover *p;
    cuzk_witness *w;
    cuzk_vk *vk;
    char path[512];
} cubic_prover;

static void cubic_open(cubic_prover *p, int test)
{
    cuzk_error err = {0};
    char vk_path[512];
    snprintf(p->path, sizeof(p->path), "%s", test_path("cubic.params"));
    snprintf(vk_path, sizeof(vk_path), "%s", test_path("cubic.vk"));
    good(cuzk_circuit_create(&p->circuit, "cubic", state_cubic, &p->c, &err), &err);
    good(cuzk_setup(ctx, p->circuit, test, p->path, vk_path, NULL, NULL, &err), &err);
    good(cuzk_vk_open(&p->vk, vk_path, &err), &err);
    good(cuzk_prover_open(&p->p, ctx, p->circuit, p->path, &err), &err);
    good(cuzk_witness_create(&p->w, p->circuit, &err), &err);
}

static void cubic_close(cubic_prover *p)
{
    cuzk_witness_destroy(p->w);
    cuzk_prover_close(p->p);
    cuzk_vk_close(p->vk);
    cuzk_circuit_destroy(p->circuit);
}

static void proves(void **state)
{
    (void)state;
    cubic_prover p;
    cuzk_error err = {0};
    uint8_t proof[CUZK_PROOF_BYTES], y[1][32];
    cuzk_counts n;
    cubic_open(&p, 0);
    cuzk_circuit_counts(p.circuit, &n);
    assert_int_equal(n.inputs, 2);
    assert_int_equal(n.wires, 3 + BITS);
    assert_int_equal(n.constraints, 4 + BITS + 2);
    assert_int_equal(cuzk_vk_inputs(p.vk), 1);
    for (uint64_t x = 0; x < 3; x++) {
        fill(p.w, &p.c, x * 349525);
        good(cuzk_witness_check(p.w, &err), &err);
        good(cuzk_prove(p.p, proof, p.w, NULL, &err), &err);
        put(y[0], x * 349525 * x * 349525 * x * 349525 + x * 349525 + 5);
        good(cuzk_verify(p.vk, proof, sizeof(proof), (const uint8_t(*)[32])y, 1, &err), &err);
        y[0][0] ^= 1;
        bad(cuzk_verify(p.vk, proof, sizeof(proof), (const uint8_t(*)[32])y, 1, &err), CUZK_INVALID_PROOF,
            &err, "does not verify");
    }
    /* The key at the head of the parameters is the same key. */
    cuzk_vk *again;
    good(cuzk_vk_open(&again, p.path, &err), &err);
    y[0][0] ^= 1;
    good(cuzk_verify(again, proof, sizeof(proof), (const uint8_t(*)[32])y, 1, &err), &err);
    cuzk_vk_close(again);
    cubic_close(&p);
}

/* The order of the field, little-endian, plus a little. */
static void order(uint8_t out[32], int plus)
{
    static const uint8_t r[32] = {0x01, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xfe, 0x5b, 0xfe,
                                  0xff, 0x02, 0xa4, 0xbd, 0x53, 0x05, 0xd8, 0xa1, 0x09, 0x08, 0xd8,
                                  0x39, 0x33, 0x48, 0x7d, 0x9d, 0x29, 0x53, 0xa7, 0xed, 0x73};
    memcpy(out, r, 32);
    out[0] = (uint8_t)(out[0] + plus);
}

static void refuses_values(void **state)
{
    (void)state;
    cubic_prover p;
    cuzk_error err = {0};
    uint8_t proof[CUZK_PROOF_BYTES], y[1][32], v[32];
    cubic_open(&p, 1);
    fill(p.w, &p.c, 3);
    good(cuzk_prove(p.p, proof, p.w, NULL, &err), &err);
    put(y[0], 35);
    good(cuzk_verify(p.vk, proof, 192, (const uint8_t(*)[32])y, 1, &err), &err);
    order(y[0], 35); /* the same residue, not the same input */
    bad(cuzk_verify(p.vk, proof, 192, (const uint8_t(*)[32])y, 1, &err), CUZK_BAD_INPUT, &err,
        "order of the field");
    memset(y[0], 0xff, 32);
    bad(cuzk_verify(p.vk, proof, 192, (const uint8_t(*)[32])y, 1, &err), CUZK_BAD_INPUT, &err,
        "order of the field");
    put(y[0], 35);
    bad(cuzk_verify(p.vk, proof, 191, (const uint8_t(*)[32])y, 1, &err), CUZK_BAD_INPUT, &err, "191");
    bad(cuzk_verify(p.vk, proof, 0, (const uint8_t(*)[32])y, 1, &err), CUZK_BAD_INPUT, &err, "0 bytes");
    bad(cuzk_verify(p.vk, proof, 192, NULL, 0, &err), CUZK_INCONSISTENT, &err,
        "1 public inputs, 0 were given");
    order(v, 0);
    bad(cuzk_witness_set(p.w, p.c.x, v, &err), CUZK_BAD_INPUT, &err, "order of the field");
    put(v, 2);
    bad(cuzk_witness_set(p.w, p.c.bit[0], v, &err), CUZK_BAD_INPUT, &err, "is a bit");
    bad(cuzk_witness_set(p.w, CUZK_ONE, v, &err), CUZK_INVALID_ARGUMENT, &err, "cannot be set");
    bad(cuzk_witness_set(p.w, p.c.bit[BITS - 1] + 1, v, &err), CUZK_INVALID_ARGUMENT, &err, "cannot be set");
    set(p.w, p.c.square, 10);
    bad(cuzk_witness_check(p.w, &err), CUZK_UNSATISFIED, &err, "row 0");
    bad(cuzk_prove(p.p, proof, p.w, NULL, &err), CUZK_UNSATISFIED, &err, "row 0");
    cubic_close(&p);
}

static void stops(void **state)
{
    (void)state;
    cubic_prover p;
    cuzk_error err = {0};
    cuzk_stop *stop;
    uint8_t proof[CUZK_PROOF_BYTES];
    cubic_open(&p, 1);
    fill(p.w, &p.c, 3);
    good(cuzk_stop_create(&stop, &err), &err);
    good(cuzk_prove(p.p, proof, p.w, stop, &err), &err);
    cuzk_stop_after(stop, 0);
    usleep(1000);
    bad(cuzk_prove(p.p, proof, p.w, stop, &err), CUZK_DEADLINE, &err, "time");
    cuzk_stop_request(stop);
    bad(cuzk_prove(p.p, proof, p.w, stop, &err), CUZK_CANCELLED, &err, "cancelled");
    cuzk_stop_destroy(stop);
    cubic_close(&p);
}

/* Proofs of one context from several threads take turns. */
static void *prove_thread(void *data)
{
    cubic_prover *p = data;
    uint8_t proof[CUZK_PROOF_BYTES], y[1][32];
    put(y[0], 35);
    for (int i = 0; i < 3; i++) {
        if (cuzk_prove(p->p, proof, p->w, NULL, NULL) != CUZK_OK ||
            cuzk_verify(p->vk, proof, 192, (const uint8_t(*)[32])y, 1, NULL) != CUZK_OK)
            return p;
    }
    return NULL;
}

static void several_threads(void **state)
{
    (void)state;
    cubic_prover p;
    pthread_t t[4];
    cubic_open(&p, 1);
    fill(p.w, &p.c, 3);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&t[i], NULL, prove_thread, &p), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(t[i], &failed);
        assert_null(failed);
    }
    cubic_close(&p);
}

/* ---- circuits that are wrong ---- */
static void state_wrong(cuzk_builder *b, void *data)
{
    cuzk_term t = term(cuzk_alloc_field(b), 1), one = term(CUZK_ONE, 1);
    cuzk_enforce(b, &t, 1, &t, 1, &one, 1);
    if (*(int *)data == 0)
        order(t.coefficient, 0);
    else if (*(int *)data == 1)
        t.v += 1;
    else
        t.v = 1; /* input 1 is not there */
    cuzk_enforce(b, &t, 1, &t, 1, &one, 1);
}

static void refuses_circuits(void **state)
{
    (void)state;
    cuzk_circuit *c = (cuzk_circuit *)1;
    cuzk_error err = {0};
    for (int kind = 0; kind < 3; kind++) {
        cuzk_status s = cuzk_circuit_create(&c, "wrong", state_wrong, &kind, &err);
        bad(s, kind ? CUZK_INVALID_ARGUMENT : CUZK_BAD_INPUT, &err, "row 1 of circuit wrong");
        assert_null(c);
    }
    cuzk_prover *p;
    cubic data;
    good(cuzk_circuit_create(&c, "cubic", state_cubic, &data, &err), &err);
    bad(cuzk_prover_open(&p, ctx, c, "/nonexistent.params", &err), CUZK_NOT_FOUND, &err,
        "/nonexistent.params");
    bad(cuzk_setup(ctx, c, 1, "/nonexistent/x.params", NULL, NULL, NULL, &err), CUZK_NOT_FOUND, &err,
        "/nonexistent");
    cuzk_circuit_destroy(c);
}

/* ---- Filecoin ---- */
static void make_window_params(void)
{
    const circuit_info *info = circuit_by_name("window-2k");
    poseidon_set *ps;
    r1cs *r;
    toxic_waste t;
    cuzk_error err = {0};
    char file[256], path[512];
    snprintf(file, sizeof(file), "TEST-%s.params", info->file);
    snprintf(path, sizeof(path), "%s", test_path(file));
    toxic_waste_test(&t);
    good(poseidon_set_create(&ps, &err), &err);
    good(circuit_compile(&r, info, ps, &err), &err);
    good(groth16_setup(r, &t, path, NULL, NULL, NULL, NULL, &err), &err);
    r1cs_destroy(r);
    poseidon_set_destroy(ps);
}

static void progress(void *data, uint64_t done, uint64_t total)
{
    uint64_t *seen = data;
    assert_int_equal(done, *seen + 1);
    assert_true(done <= total);
    *seen = done;
}

static void window_post(void **state)
{
    (void)state;
    vanilla_case c;
    cuzk_error err = {0};
    cuzk_task *t;
    uint8_t randomness[32];
    uint64_t seen = 0;
    vanilla_open(&c, "window-2k-3sectors");
    test_json_hex(randomness, 32, c.golden, "randomness");
    const registered_post *post = post_by_name(test_json_string(c.golden, "registered_proof"));
    cuzk_request q = {.kind = CUZK_WINDOW_POST,
                      .has_registered_proof = 1,
                      .registered_proof = post->number,
                      .vanilla = (const cuzk_bytes *)c.proof,
                      .vanilla_count = c.count,
                      .randomness = randomness};
    good(cuzk_task_create(&t, ctx, &q, &err), &err);
    assert_string_equal(cuzk_task_circuit(t), "window-2k");
    assert_int_equal(cuzk_task_partitions(t), 2);
    uint8_t proof[2 * CUZK_PROOF_BYTES];
    bad(cuzk_task_prove(t, proof, sizeof(proof), NULL, NULL, NULL, &err), CUZK_NOT_FOUND, &err, "window-2k");
    make_window_params();
    bad(cuzk_task_prove(t, proof, sizeof(proof) - 1, NULL, NULL, NULL, &err), CUZK_BAD_INPUT, &err,
        "384 bytes");
    good(cuzk_task_prove(t, proof, sizeof(proof), progress, &seen, NULL, &err), &err);
    assert_int_equal(seen, 2);
    bad(cuzk_task_prove_partition(t, 2, proof, NULL, &err), CUZK_INVALID_ARGUMENT, &err, "partition 2");
    memset(proof, 0, 192); /* wiped by the failure, at the latest here: made again */
    good(cuzk_task_prove_partition(t, 0, proof, NULL, &err), &err);
    good(cuzk_task_verify(t, proof, sizeof(proof), &err), &err);
    cuzk_task_destroy(t);
    /* From what the chain knows. */
    cuzk_sector sectors[3];
    const json_t *list = json_object_get(c.golden, "sectors");
    for (size_t i = 0; i < 3; i++) {
        const json_t *s = json_array_get(list, 2 - i);
        sectors[i].sector_id = test_json_int(s, "sector_id");
        test_json_hex(sectors[i].comm_r, 32, s, "comm_r");
    }
    cuzk_post_public pub = {.registered_proof = post->number, .sectors = sectors, .sector_count = 3};
    memcpy(pub.randomness, randomness, 32);
    good(cuzk_post_verify(ctx, &pub, proof, sizeof(proof), &err), &err);
    bad(cuzk_post_verify(ctx, &pub, proof, 192, &err), CUZK_BAD_INPUT, &err, "384");
    sectors[0].comm_r[0] ^= 1;
    bad(cuzk_post_verify(ctx, &pub, proof, sizeof(proof), &err), CUZK_INVALID_PROOF, &err, "partition");
    sectors[0].comm_r[0] ^= 1;
    pub.randomness[0] ^= 1;
    bad(cuzk_post_verify(ctx, &pub, proof, sizeof(proof), &err), CUZK_INVALID_PROOF, &err, "partition 0");
    vanilla_close(&c);
}

static char last_line[4096];

static void sink(void *context, const char *line)
{
    ++*(int *)context;
    snprintf(last_line, sizeof(last_line), "%s", line);
}

/* A folder that cannot be made is a line in the log and nothing else. */
static void log_goes_to_sink(void **state)
{
    (void)state;
    int lines = 0;
    vanilla_case c;
    cuzk_ctx *other;
    cuzk_error err = {0};
    cuzk_task *t;
    uint8_t randomness[32], proof[CUZK_PROOF_BYTES];
    vanilla_open(&c, "window-2k-1sector");
    test_json_hex(randomness, 32, c.golden, "randomness");
    cuzk_request q = {.kind = CUZK_WINDOW_POST,
                      .has_registered_proof = 1,
                      .registered_proof =
                          post_by_name(test_json_string(c.golden, "registered_proof"))->number,
                      .vanilla = (const cuzk_bytes *)c.proof,
                      .vanilla_count = c.count,
                      .randomness = randomness};
    cuzk_log_to(CUZK_LOG_WARN, sink, &lines);
    assert_int_equal(make_ctx(&other, "/dev/null/cache"), CUZK_OK);
    good(cuzk_task_create(&t, other, &q, &err), &err);
    good(cuzk_task_prove(t, proof, sizeof(proof), NULL, NULL, NULL, &err), &err);
    assert_true(lines > 0);
    assert_non_null(strstr(last_line, "/dev/null/cache"));
    lines = 0;
    cuzk_log_to(CUZK_LOG_OFF, sink, &lines);
    cuzk_task_destroy(t);
    cuzk_ctx_destroy(other);
    assert_int_equal(make_ctx(&other, "/dev/null/cache"), CUZK_OK);
    good(cuzk_task_create(&t, other, &q, &err), &err);
    good(cuzk_task_prove(t, proof, sizeof(proof), NULL, NULL, NULL, &err), &err);
    assert_int_equal(lines, 0);
    cuzk_log_to(CUZK_LOG_WARN, NULL, NULL);
    cuzk_task_destroy(t);
    cuzk_ctx_destroy(other);
    vanilla_close(&c);
}

static void refuses_requests(void **state)
{
    (void)state;
    cuzk_error err = {0};
    cuzk_task *t = (cuzk_task *)1;
    cuzk_request q = {.kind = (cuzk_kind)9};
    bad(cuzk_task_create(&t, ctx, &q, &err), CUZK_INVALID_ARGUMENT, &err, "kind 9");
    assert_null(t);
    q = (cuzk_request){.kind = CUZK_WINNING_POST, .has_registered_proof = 1};
    assert_int_not_equal(cuzk_task_create(&t, ctx, &q, &err), CUZK_OK);
    q = (cuzk_request){.kind = CUZK_SECTOR_UPDATE};
    bad(cuzk_task_create(&t, ctx, &q, &err), CUZK_INVALID_ARGUMENT, &err, "comm_r_old");
    q = (cuzk_request){.kind = CUZK_WINDOW_POST, .vanilla_count = 3};
    bad(cuzk_task_create(&t, ctx, &q, &err), CUZK_INVALID_ARGUMENT, &err, "vanilla is missing");
    q = (cuzk_request){.kind = CUZK_POREP, .document = {(const uint8_t *)"{", 1}};
    assert_int_not_equal(cuzk_task_create(&t, ctx, &q, &err), CUZK_OK);
    uint8_t proof[192] = {0};
    cuzk_porep_public porep = {.registered_proof = 20};
    bad(cuzk_porep_verify(ctx, &porep, proof, 192, &err), CUZK_INVALID_ARGUMENT, &err, "20");
    porep.registered_proof = 5;
    bad(cuzk_porep_verify(ctx, &porep, proof, 192, &err), CUZK_NOT_FOUND, &err, "porep-2k");
    cuzk_post_public post = {.registered_proof = 15};
    bad(cuzk_post_verify(ctx, &post, proof, 192, &err), CUZK_INVALID_ARGUMENT, &err, "15");
    post.registered_proof = 5;
    bad(cuzk_post_verify(ctx, &post, proof, 192, &err), CUZK_INVALID_ARGUMENT, &err, "at least one sector");
    cuzk_update_public update = {.registered_proof = 5};
    bad(cuzk_update_verify(ctx, &update, proof, 192, &err), CUZK_INVALID_ARGUMENT, &err, "5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(context),

        cmocka_unit_test(proves),
        cmocka_unit_test(refuses_values),
        cmocka_unit_test(stops),
        cmocka_unit_test(several_threads),
        cmocka_unit_test(window_post),
        cmocka_unit_test(log_goes_to_sink),
        cmocka_unit_test(refuses_circuits),
        cmocka_unit_test(refuses_requests),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
