/* Synthetic inputs of production size satisfy the production circuits, 64 GiB included: every row of a
 * partition of each kind is checked. */
#include "base/mem.h"
#include "filecoin/bincode.h"
#include "filecoin/synth.h"
#include "support/golden.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static poseidon_set *ps;
static pool *workers;

static int setup(void **state)
{
    (void)state;
    return poseidon_set_create(&ps, NULL) != CUZK_OK || pool_create(&workers, 0, NULL) != CUZK_OK;
}

static int teardown(void **state)
{
    (void)state;
    poseidon_set_destroy(ps);
    pool_destroy(workers);
    return 0;
}

#define OK(call)                                                                                             \
    do {                                                                                                     \
        cuzk_error failure_ = {0}, *err = &failure_;                                                         \
        if ((call) != CUZK_OK)                                                                               \
            fail_msg("%s", failure_.message);                                                                \
    } while (0)

static void satisfied(r1cs *r, witness *w)
{
    OK(r1cs_check(r, w, workers, err));
    witness_clear(w);
    r1cs_destroy(r);
}

static void porep(const char *name, uint32_t partition)
{
    const registered_seal *seal = seal_by_name(name);
    synth_options o = {.seed = 11, .miner_id = 1234, .sector = 56};
    porep_c1 *c;
    witness w;
    OK(synth_porep(&c, seal, &o, ps, workers, err));
    OK(porep_check(c, -1, ps, workers, err));
    porep_circuit circuit = {c->circuit, ps};
    r1cs *r = golden_compile(c->circuit->name, porep_synthesize, &circuit);
    OK(porep_witness(&w, r, c, partition, ps, workers, NULL, err));
    porep_c1_free(c);
    satisfied(r, &w);
}

static void porep_32g_and_64g(void **state)
{
    (void)state;
    porep("StackedDrg32GiBV1_1", 3);
    porep("StackedDrg64GiBV1", 9);
}

static void update_of_large_sectors(void **state)
{
    (void)state;
    for (uint64_t number = 2; number < 5; number++) {
        const registered_update *update = update_by_number(number);
        synth_options o = {.seed = number, .miner_id = 1, .sector = 2};
        synth_vanilla v;
        proof_bytes *list;
        size_t n;
        update_input *in;
        witness w;
        OK(synth_update(&v, update, &o, ps, workers, err));
        OK(vanilla_split(&list, &n, v.data, v.size, err));
        OK(update_parse(&in, &v.update, list, n, err));
        mem_free(list);
        synth_vanilla_clear(&v);
        OK(update_check(in, -1, ps, workers, err));
        update_circuit circuit = {in->circuit, ps};
        r1cs *r = golden_compile(in->circuit->name, update_synthesize, &circuit);
        OK(update_witness(&w, r, in, 15, ps, workers, NULL, err));
        update_free(in);
        satisfied(r, &w);
    }
}

/* As many different sectors as a partition of 32 GiB holds. */
static void window_full(void **state)
{
    (void)state;
    const registered_post *post = post_by_number(13);
    synth_options o = {.seed = 5, .miner_id = 1, .sector = 100, .sectors = post->sectors};
    synth_vanilla v;
    proof_bytes *list;
    size_t n;
    post_input *in;
    witness w;
    OK(synth_post(&v, post, &o, ps, workers, err));
    OK(vanilla_split(&list, &n, v.data, v.size, err));
    OK(post_parse(&in, post, v.randomness, list, n, err));
    mem_free(list);
    synth_vanilla_clear(&v);
    OK(post_check(in, -1, ps, workers, err));
    post_circuit circuit = {in->circuit, ps};
    r1cs *r = golden_compile(in->circuit->name, post_synthesize, &circuit);
    OK(post_witness(&w, r, in, 0, ps, workers, NULL, err));
    post_free(in);
    satisfied(r, &w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(porep_32g_and_64g),
        cmocka_unit_test(update_of_large_sectors),
        cmocka_unit_test(window_full),
    };
    return cmocka_run_group_tests_name("golden synth", tests, setup, teardown);
}
