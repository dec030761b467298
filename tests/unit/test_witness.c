/* Compact witnesses: the cursor alone and from several threads, values, digests, .wtns files. */
#include "base/encode.h"
#include "base/mem.h"
#include "base/pool.h"
#include "r1cs/r1cs.h"
#include "support/data.h"
#include "support/math.h"
#include "support/random_system.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { WIRES = 5000 };

/* A plan of wires: kind and value of each. */
typedef struct plan {
    uint8_t field[WIRES], bit[WIRES];
    fr value[WIRES];
    uint64_t rank[WIRES + 1];
} plan;

static void plan_make(plan *p, chacha_rng *rng, unsigned field_in)
{
    uint64_t rank = 0;
    for (unsigned i = 0; i < WIRES; i++) {
        p->rank[i] = rank;
        p->field[i] = chacha_rng_u32(rng) % field_in == 0;
        p->bit[i] = !p->field[i] && (chacha_rng_u32(rng) & 1);
        if (p->field[i])
            math_fr(&p->value[i], rng);
        else
            p->value[i] = p->bit[i] ? FR_ONE : FR_ZERO;
        rank += p->field[i];
    }
    p->rank[WIRES] = rank;
}

/* Writes wires first .. end - 1 in pieces of random length. */
static void plan_write(const plan *p, witness *w, unsigned first, unsigned end, chacha_rng *rng)
{
    wcursor c;
    wcursor_init(&c, w, first, p->rank[first]);
    for (unsigned i = first; i < end;) {
        if (p->field[i]) {
            wcursor_field(&c, &p->value[i++]);
            continue;
        }
        unsigned n = 0, limit = chacha_rng_u32(rng) % 65;
        uint64_t v = 0;
        while (n < limit && i + n < end && !p->field[i + n]) {
            v |= (uint64_t)p->bit[i + n] << n;
            n++;
        }
        if (n % 8 == 0 && n && (chacha_rng_u32(rng) & 1)) {
            uint8_t bytes[8];
            store_le64(bytes, v);
            wcursor_bytes(&c, bytes, n / 8);
        } else {
            wcursor_bits(&c, v, n);
        }
        i += n;
    }
    assert_int_equal(c.aux, end);
    assert_int_equal(c.field, p->rank[end]);
    wcursor_finish(&c);
}

static void expect_plan(const plan *p, const witness *w)
{
    for (unsigned i = 0; i < WIRES; i++) {
        if ((w->bits[i / 64] >> (i & 63) & 1) != p->bit[i])
            fail_msg("bit of wire %u differs", i);
        if (p->field[i] && !fr_eq(&w->field[p->rank[i]], &p->value[i]))
            fail_msg("field wire %u differs", i);
    }
    assert_int_equal(WIRES % 64 ? w->bits[WIRES / 64] >> (WIRES % 64) : 0, 0);
}

static void test_cursor(void **state)
{
    (void)state;
    static plan p;
    chacha_rng rng;
    cuzk_error err;
    math_rng(&rng, 1);
    for (unsigned round = 0; round < 40; round++) {
        witness w;
        plan_make(&p, &rng, round % 4 == 0 ? 2 : 50);
        assert_int_equal(witness_init(&w, 1, WIRES, p.rank[WIRES], &err), CUZK_OK);
        assert_true(fr_is_one(&w.input[0]));
        /* In several stretches, in any order of the two halves. */
        unsigned middle = chacha_rng_u32(&rng) % WIRES;
        if (round & 1)
            plan_write(&p, &w, middle, WIRES, &rng);
        plan_write(&p, &w, 0, middle, &rng);
        if (!(round & 1))
            plan_write(&p, &w, middle, WIRES, &rng);
        expect_plan(&p, &w);
        witness_clear(&w);
        assert_null(w.bits);
    }
}

typedef struct threads_job {
    plan *p;
    witness *w;
    unsigned border[65];
} threads_job;

static void write_stretch(void *ctx, size_t task, unsigned worker)
{
    threads_job *j = ctx;
    chacha_rng rng;
    (void)worker;
    math_rng(&rng, 1000 + task);
    plan_write(j->p, j->w, j->border[task], j->border[task + 1], &rng);
}

static int by_number(const void *a, const void *b)
{
    return (int)*(const unsigned *)a - (int)*(const unsigned *)b;
}

static void test_cursors_of_several_threads(void **state)
{
    (void)state;
    static plan p;
    chacha_rng rng;
    cuzk_error err;
    pool *threads;
    assert_int_equal(pool_create(&threads, 4, &err), CUZK_OK);
    math_rng(&rng, 2);
    for (unsigned round = 0; round < 100; round++) {
        threads_job j = {.p = &p};
        witness w;
        plan_make(&p, &rng, 40);
        assert_int_equal(witness_init(&w, 1, WIRES, p.rank[WIRES], &err), CUZK_OK);
        j.w = &w;
        for (unsigned i = 0; i < 64; i++) /* many borders share a word; some stretches are empty */
            j.border[i] = chacha_rng_u32(&rng) % (round % 2 ? WIRES : 200);
        j.border[0] = 0;
        j.border[64] = WIRES;
        qsort(j.border, 65, sizeof(j.border[0]), by_number);
        pool_for(threads, 64, write_stretch, &j);
        expect_plan(&p, &w);
        witness_clear(&w);
    }
    pool_destroy(threads);
}

/* ---- what needs a circuit ---- */
typedef struct fixture {
    random_system s;
    r1cs *r;
    r1cs_counts n;
    witness w;
} fixture;

static void fixture_open(fixture *f, uint64_t seed)
{
    cuzk_error err;
    random_system repeated;
    f->s = (random_system){
        .seed = seed, .count = 3 + seed % 4, .imports = 2, .globals = 30, .tail = 5, .rows = 50 + seed % 90};
    repeated = f->s;
    f->s.unrolled = 1;
    r1cs *unrolled;
    assert_int_equal(r1cs_compile(&unrolled, "unrolled", random_system_synth, &f->s, &err), CUZK_OK);
    r1cs_destroy(unrolled);
    assert_int_equal(r1cs_compile(&f->r, "repeated", random_system_synth, &repeated, &err), CUZK_OK);
    random_system_clear(&repeated);
    r1cs_get_counts(f->r, &f->n);
    assert_int_equal(f->n.aux, f->s.aux_count);
    assert_int_equal(witness_init(&f->w, f->n.inputs, f->n.aux, f->n.fields, &err), CUZK_OK);
    random_system_witness(&f->s, &f->w);
}

static void fixture_close(fixture *f)
{
    witness_clear(&f->w);
    r1cs_destroy(f->r);
    random_system_clear(&f->s);
}

/* All values, 32 bytes each, inputs first. */
static uint8_t *spelled_out(const fixture *f)
{
    uint8_t *all = mem_alloc((f->n.inputs + f->n.aux) * 32);
    assert_non_null(all);
    for (uint64_t i = 0; i < f->n.inputs; i++)
        fr_to_bytes(all + 32 * i, &f->s.input[i]);
    for (uint64_t i = 0; i < f->n.aux; i++)
        fr_to_bytes(all + 32 * (f->n.inputs + i), &f->s.aux[i]);
    return all;
}

static void test_values(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        fixture f;
        fr v;
        fixture_open(&f, seed);
        for (uint32_t i = 0; i < f.n.inputs; i++) {
            witness_value(&v, f.r, &f.w, i);
            assert_true(fr_eq(&v, &f.s.input[i]));
        }
        for (uint32_t i = 0; i < f.n.aux; i++) {
            witness_value(&v, f.r, &f.w, VAR_AUX | i);
            assert_true(fr_eq(&v, &f.s.aux[i]));
        }
        fixture_close(&f);
    }
}

typedef struct blocks {
    const uint8_t *aux;
    uint64_t per_block, count, seen;
} blocks;

static void check_block(void *ctx, uint64_t block, const uint8_t got[32])
{
    blocks *b = ctx;
    uint8_t expected[32];
    uint64_t first = block * b->per_block,
             n = b->count - first < b->per_block ? b->count - first : b->per_block;
    assert_int_equal(block, b->seen++);
    sha256_digest(expected, b->aux + 32 * first, 32 * n);
    assert_memory_equal(got, expected, 32);
}

static void test_digests(void **state)
{
    (void)state;
    static const uint64_t per_block[] = {0, 1, 7, 64, 100, 2048, 1000000};
    for (uint64_t seed = 20; seed < 30; seed++) {
        fixture f;
        cuzk_error err;
        witness_digest d;
        uint8_t expected[32];
        uint64_t zero = 0, one = 0;
        fixture_open(&f, seed);
        uint8_t *all = spelled_out(&f), *aux = all + 32 * f.n.inputs;
        for (uint64_t i = 0; i < f.n.aux; i++) {
            zero += (uint64_t)fr_is_zero(&f.s.aux[i]);
            one += (uint64_t)fr_is_one(&f.s.aux[i]);
        }
        for (size_t k = 0; k < sizeof(per_block) / sizeof(per_block[0]); k++) {
            blocks b = {aux, per_block[k], f.n.aux, 0};
            assert_int_equal(witness_get_digest(&d, f.r, &f.w, per_block[k], check_block, &b, &err), CUZK_OK);
            assert_int_equal(b.seen, per_block[k] ? (f.n.aux + per_block[k] - 1) / per_block[k] : 0);
            sha256_digest(expected, all, 32 * f.n.inputs);
            assert_memory_equal(d.inputs, expected, 32);
            sha256_digest(expected, aux, 32 * f.n.aux);
            assert_memory_equal(d.aux, expected, 32);
            assert_int_equal(d.zero, zero);
            assert_int_equal(d.one, one);
        }
        mem_free(all);
        fixture_close(&f);
    }
}

static void test_wtns(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof(path), "/tmp/cuzk-test-wtns-%d", (int)getpid());
    for (uint64_t seed = 40; seed < 44; seed++) {
        fixture f;
        cuzk_error err;
        uint8_t *file;
        size_t size;
        fixture_open(&f, seed);
        uint64_t values = f.n.inputs + f.n.aux;
        uint8_t *all = spelled_out(&f);
        assert_int_equal(witness_write_wtns(f.r, &f.w, path, &err), CUZK_OK);
        assert_int_equal(file_read(&file, &size, path, (size_t)1 << 28, &err), CUZK_OK);
        assert_int_equal(size, 76 + 32 * values);
        assert_memory_equal(
            file, "wtns\2\0\0\0\2\0\0\0\1\0\0\0\x28\0\0\0\0\0\0\0\x20\0\0\0\1\0\0\0\xff\xff\xff\xff", 36);
        assert_int_equal(load_le32(file + 60), values);
        assert_int_equal(load_le32(file + 64), 2);
        assert_int_equal(load_le64(file + 68), 32 * values);
        assert_memory_equal(file + 76, all, 32 * values);
        mem_free(file);
        mem_free(all);
        fixture_close(&f);
    }
    unlink(path);
}

static void test_bad_shapes(void **state)
{
    (void)state;
    fixture f;
    witness w;
    cuzk_error err;
    witness_digest d;
    assert_int_equal(witness_init(&w, 0, 1, 0, &err), CUZK_INVALID_ARGUMENT);
    assert_int_equal(witness_init(&w, 1, 1, 2, &err), CUZK_INVALID_ARGUMENT);
    assert_int_equal(witness_init(&w, 1, (uint64_t)1 << 60, 0, &err), CUZK_INVALID_ARGUMENT);
    for (uint64_t at = 1; at <= 3; at++) {
        mem_fault_set(at, 0);
        cuzk_status status = witness_init(&w, 2, 1000, 10, &err);
        mem_fault_set(0, 0);
        assert_int_equal(status, CUZK_OUT_OF_MEMORY);
    }
    fixture_open(&f, 50);
    assert_int_equal(witness_init(&w, f.n.inputs + 1, f.n.aux, f.n.fields, &err), CUZK_OK);
    assert_int_equal(witness_get_digest(&d, f.r, &w, 0, NULL, NULL, &err), CUZK_INVALID_ARGUMENT);
    assert_int_equal(witness_write_wtns(f.r, &w, "/tmp/cuzk-never", &err), CUZK_INVALID_ARGUMENT);
    witness_clear(&w);
    assert_int_equal(witness_write_wtns(f.r, &f.w, "/tmp/cuzk-no-such-folder/x", &err), CUZK_NOT_FOUND);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cursor), cmocka_unit_test(test_cursors_of_several_threads),
        cmocka_unit_test(test_values), cmocka_unit_test(test_digests),
        cmocka_unit_test(test_wtns),   cmocka_unit_test(test_bad_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
