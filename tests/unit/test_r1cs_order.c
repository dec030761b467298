/* Products of a system with a witness, written in the order of a matrix of few or many columns: every row
 * where fr_place says, on both forms of the processor; what lies between stays as it was. */
#include "base/cpu.h"
#include "base/mem.h"
#include "r1cs/r1cs.h"
#include "support/random_system.h"
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static r1cs *compile(random_system *s)
{
    r1cs *r;
    cuzk_error err;
    assert_int_equal(r1cs_compile(&r, "random", random_system_synth, s, &err), CUZK_OK);
    return r;
}

static void expect_in_order(const fr *got, fr_order order, size_t n, const fr *rows, size_t count)
{
    fr untouched;
    memset(&untouched, 0xee, sizeof untouched);
    for (size_t i = 0; i < n; i++) {
        size_t at = fr_place(&order, i);
        assert_true(at < n);
        assert_memory_equal(&got[at], i < count ? &rows[i] : &untouched, sizeof *got);
    }
}

static void products_in_order(void **state)
{
    pool *p;
    cuzk_error err;
    (void)state;
    assert_int_equal(pool_create(&p, 2, &err), CUZK_OK);
    for (unsigned seed = 0; seed < 40; seed++) {
        random_system repeated = {.seed = seed * 16,
                                  .count = 1 + seed * 5 % 23,
                                  .rows = 1 + seed * 7 % 60,
                                  .imports = seed % 3,
                                  .globals = 20,
                                  .tail = seed % 5 ? 10 : 0},
                      unrolled = repeated;
        unrolled.unrolled = 1;
        r1cs *r = compile(&repeated), *u = compile(&unrolled);
        r1cs_counts n;
        witness w;
        cuzk_circuit_view c;
        r1cs_get_counts(u, &n);
        assert_int_equal(witness_init(&w, n.inputs, n.aux, n.fields, &err), CUZK_OK);
        random_system_witness(&unrolled, &w);
        cuzk_witness_view v = witness_view(&w);
        fr_order order = {0, 3 + seed % 5};
        while ((size_t)1 << (order.row_log + order.column_log) < n.constraints)
            order.row_log++;
        size_t size = (size_t)1 << (order.row_log + order.column_log);
        fr *a = big_alloc(size * sizeof *a), *b = big_alloc(size * sizeof *b);
        assert_true(a && b);
        assert_int_equal(r1cs_view(r, &c, &err), CUZK_OK);
        for (int form = 0; form < 2; form++) {
            cpu_force(form ? CPU_PORTABLE : CPU_ALL);
            memset(a, 0xee, size * sizeof *a);
            memset(b, 0xee, size * sizeof *b);
            assert_int_equal(r1cs_multiply_view(&c, &v, a, b, order, p, &err), CUZK_OK);
            expect_in_order(a, order, size, unrolled.a, n.constraints);
            expect_in_order(b, order, size, unrolled.b, n.constraints);
        }
        cpu_force(CPU_ALL);
        big_free(a, size * sizeof *a);
        big_free(b, size * sizeof *b);
        witness_clear(&w);
        r1cs_destroy(r);
        r1cs_destroy(u);
        random_system_clear(&repeated);
        random_system_clear(&unrolled);
    }
    pool_destroy(p);
}

/* A permutation, which is its own definition: eight columns after the other, rows in order. */
static void places(void **state)
{
    (void)state;
    for (unsigned row_log = 0; row_log < 6; row_log++)
        for (unsigned column_log = 3; column_log < 8; column_log++) {
            fr_order order = {row_log, column_log};
            size_t next = 0, rows = (size_t)1 << row_log, columns = (size_t)1 << column_log;
            for (size_t g = 0; g < columns; g += 8)
                for (size_t r = 0; r < rows; r++)
                    for (size_t c = g; c < g + 8; c++)
                        assert_int_equal(fr_place(&order, r * columns + c), next++);
        }
    fr_order usual = FR_USUAL_ORDER;
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(fr_place(&usual, i), i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(places), cmocka_unit_test(products_in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
