/* Parents of sample nodes for every size and both versions of the graph; the permutation and the order of DRG
 * parents on the whole 2 KiB graph. */
#include "base/mem.h"
#include "filecoin/porep.h"
#include "support/data.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect_parents(const json_t *list, const uint32_t *got, size_t n, uint32_t node, const char *what)
{
    assert_int_equal(json_array_size(list), n);
    for (size_t i = 0; i < n; i++) {
        uint64_t want = (uint64_t)json_integer_value(json_array_get(list, i));
        if (want != got[i])
            fail_msg("node %u: %s parent %zu is %u, not %llu", node, what, i, got[i],
                     (unsigned long long)want);
    }
}

static void golden_parents(void **state)
{
    (void)state;
    json_t *all = test_data_json("graph.json"), *g, *s;
    size_t i, k, samples = 0;
    json_array_foreach(all, i, g)
    {
        const registered_seal *seal = seal_by_name(test_json_string(g, "registered_proof"));
        porep_graph *graph;
        cuzk_error err;
        assert_non_null(seal);
        assert_int_equal(seal->sector_size / 32, test_json_int(g, "nodes"));
        assert_int_equal(porep_graph_create(&graph, seal, &err), CUZK_OK);
        if (seal->sector_size <= 8388608 && i & 1) /* some with the table, most without */
            assert_int_equal(porep_graph_tabulate(graph, &err), CUZK_OK);
        json_array_foreach(json_object_get(g, "parents"), k, s)
        {
            uint32_t node = (uint32_t)test_json_int(s, "node"), drg[POREP_DRG_PARENTS],
                     exp[POREP_EXP_PARENTS];
            porep_graph_parents(graph, node, drg, exp);
            expect_parents(json_object_get(s, "drg"), drg, POREP_DRG_PARENTS, node, "DRG");
            expect_parents(json_object_get(s, "exp"), exp, POREP_EXP_PARENTS, node, "expander");
            samples++;
        }
        porep_graph_destroy(graph);
    }
    assert_true(samples > 100);
    json_decref(all);
}

static void whole_small_graphs(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < 20; number += 5) {
        const registered_seal *seal = seal_by_number(number); /* 2 KiB of each version */
        porep_graph *graph;
        cuzk_error err;
        uint32_t nodes = (uint32_t)(seal->sector_size / 32);
        uint8_t *times = calloc(nodes, 1);
        assert_int_equal(porep_graph_create(&graph, seal, &err), CUZK_OK);
        for (uint32_t node = 0; node < nodes; node++) {
            uint32_t drg[POREP_DRG_PARENTS], exp[POREP_EXP_PARENTS];
            porep_graph_parents(graph, node, drg, exp);
            for (int i = 0; i < POREP_DRG_PARENTS; i++)
                assert_true(node == 0 ? drg[i] == 0 : drg[i] < node);
            if (node > 0)
                assert_int_equal(drg[seal->legacy_graph ? POREP_DRG_PARENTS - 1 : 0], node - 1);
            for (int i = 0; i < POREP_EXP_PARENTS; i++) {
                assert_true(exp[i] < nodes);
                times[exp[i]]++;
            }
        }
        for (uint32_t node = 0; node < nodes; node++) /* a permutation: every node is used as often */
            assert_int_equal(times[node], POREP_EXP_PARENTS);
        porep_graph_destroy(graph);
        free(times);
    }
}

static void table_agrees(void **state)
{
    (void)state;
    cuzk_error err;
    for (uint64_t number = 0; number < 20; number += 6) {
        porep_graph *a, *b;
        assert_int_equal(porep_graph_create(&a, seal_by_number(number), &err), CUZK_OK);
        assert_int_equal(porep_graph_create(&b, seal_by_number(number), &err), CUZK_OK);
        assert_int_equal(porep_graph_tabulate(b, &err), CUZK_OK);
        assert_int_equal(porep_graph_tabulate(b, &err), CUZK_OK);
        for (uint32_t i = 0; i < 500; i++) {
            uint32_t x[POREP_EXP_PARENTS], y[POREP_EXP_PARENTS],
                node = (uint32_t)(i * 2654435761u % (seal_by_number(number)->sector_size / 32));
            porep_graph_parents(a, node, NULL, x);
            porep_graph_parents(b, node, NULL, y);
            assert_memory_equal(x, y, sizeof x);
        }
        porep_graph_destroy(a);
        porep_graph_destroy(b);
    }
}

static void no_memory(void **state)
{
    (void)state;
    porep_graph *graph;
    cuzk_error err;
    mem_fault_set(1, 0);
    assert_int_equal(porep_graph_create(&graph, seal_by_number(5), &err), CUZK_OUT_OF_MEMORY);
    mem_fault_set(0, 0);
    assert_null(graph);
    porep_graph_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_parents),
        cmocka_unit_test(whole_small_graphs),
        cmocka_unit_test(table_agrees),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests_name("graph", tests, NULL, NULL);
}
