/* Synthetic inputs: of every kind and size they pass the vanilla check and satisfy their circuits; the same
 * options give the same bytes whatever the processor and the threads. C1 documents are written as the sealing
 * library does. */
#include "base/cpu.h"
#include "base/encode.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "filecoin/bincode.h"
#include "filecoin/c1_write.h"
#include "filecoin/synth.h"
#include "filecoin/synth_tree.h"
#include "support/golden.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static poseidon_set *ps;
static pool *workers;
static char folder[] = "/tmp/cuzk-synth-XXXXXX";

static int setup(void **state)
{
    (void)state;
    cuzk_error err;
    return poseidon_set_create(&ps, &err) != CUZK_OK || pool_create(&workers, 3, &err) != CUZK_OK ||
           !mkdtemp(folder);
}

static int teardown(void **state)
{
    (void)state;
    static const char *const names[] = {"c1.json", "public.json", "vanilla-all.bin"};
    for (int i = 0; i < 3; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    poseidon_set_destroy(ps);
    pool_destroy(workers);
    return rmdir(folder);
}

#define OK(call)                                                                                             \
    do {                                                                                                     \
        cuzk_error failure_ = {0}, *err = &failure_;                                                         \
        if ((call) != CUZK_OK)                                                                               \
            fail_msg("%s", failure_.message);                                                                \
    } while (0)

/* ---- documents ---- */

typedef struct text {
    uint8_t *data;
    size_t used, room;
} text;

static void collect(void *ctx, const void *data, size_t bytes)
{
    text *t = ctx;
    if (t->used + bytes > t->room) {
        t->room = 2 * (t->used + bytes);
        t->data = realloc(t->data, t->room);
        assert_non_null(t->data);
    }
    memcpy(t->data + t->used, data, bytes);
    t->used += bytes;
}

static void written_as_read(void **state)
{
    (void)state;
    static const char *const cases[] = {"porep-2k-v1-4", "porep-2k-v1_1-1", "porep-2k-synth-5",
                                        "porep-2k-ni-6", "porep-8m-7",      "porep-32g-1"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[64];
        size_t n;
        porep_c1 *c;
        text t = {0}, inner = {0};
        snprintf(name, sizeof name, "%s/c1.json", cases[i]);
        uint8_t *golden = test_data(name, &n);
        OK(porep_c1_parse(&c, golden, n, err));
        porep_c1_write(c, 1, collect, &t);
        collect(&t, "", 1);
        /* what it holds; the members of the outer document stand in several orders */
        const char *want = strstr((const char *)golden, "\"Phase1Out\":"),
                   *got = strstr((const char *)t.data, "\"Phase1Out\":");
        assert_true(want && got);
        size_t length = strcspn(want + 13, "\"") + 14;
        for (size_t at = 0; at < length; at++)
            if (want[at] != got[at])
                fail_msg("%s differs at byte %zu: %.40s", name, at, got + at);
        if (strstr(name, "32g")) {
            assert_int_equal(t.used - 1, n);
            assert_memory_equal(t.data, golden, n);
        }
        porep_c1_write(c, 0, collect, &inner);
        porep_c1_free(c);
        OK(porep_c1_parse(&c, inner.data, inner.used, err));
        porep_c1_free(c);
        free(t.data);
        free(inner.data);
        free(golden);
    }
}

/* ---- PoRep ---- */

static void digest_porep(uint8_t out[32], const registered_seal *seal, const synth_options *o, pool *p)
{
    porep_c1 *c;
    text t = {0};
    OK(synth_porep(&c, seal, o, ps, p, err));
    porep_c1_write(c, 1, collect, &t);
    sha256_digest(out, t.data, t.used);
    free(t.data);
    porep_c1_free(c);
}

static void porep_of_every_size(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < 10; number++) {
        const registered_seal *seal = seal_by_number(number);
        synth_options o = SYNTH_DEFAULTS;
        porep_c1 *c, *back;
        text t = {0};
        uint8_t replica_id[32];
        OK(synth_porep(&c, seal, &o, ps, workers, err));
        OK(porep_check(c, -1, ps, workers, err));
        porep_replica_id(replica_id, 1000, 1, c->ticket, c->comm_d, seal);
        assert_memory_equal(replica_id, c->replica_id, 32);
        porep_c1_write(c, 1, collect, &t);
        OK(porep_c1_parse(&back, t.data, t.used, err));
        OK(porep_check(back, -1, ps, workers, err));
        assert_ptr_equal(back->seal, seal);
        assert_int_equal(back->sector_number, 1);
        assert_memory_equal(back->comm_r, c->comm_r, 32);
        porep_c1_free(back);
        porep_c1_free(c);
        free(t.data);
    }
}

/* 64 nodes, of which 30 are touched: challenged nodes are each other's parents in every way. */
static void porep_many_seeds(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        synth_options o = {
            .seed = seed * 0x9e3779b97f4a7c15, .miner_id = seed + 1, .sector = seed * seed, .sectors = 1};
        porep_c1 *c;
        OK(synth_porep(&c, seal_by_number(seed & 1 ? 0 : 5), &o, ps, NULL, err));
        OK(porep_check(c, -1, ps, NULL, err));
        porep_c1_free(c);
    }
}

static void same_bytes(void **state)
{
    (void)state;
    static const struct {
        uint64_t number;
        const char *sha256; /* of c1.json for the default options */
    } pinned[] = {{5, "f9570a0ce5941db441d1b643d41d7ac30a0f8da8fff59f32c69f017866f9d97a"},
                  {8, "105e68e6b98eb34c0e89e177e684acbcb734c979d86b7235d8cbc268d3893c1a"},
                  {9, "75f211f3aba11033ee2e38f706bae75c4eebcb39fe74e11983852af717ee0561"}};
    for (size_t i = 0; i < sizeof pinned / sizeof pinned[0]; i++) {
        uint8_t a[32], b[32];
        char hex[65];
        const registered_seal *seal = seal_by_number(pinned[i].number);
        synth_options o = SYNTH_DEFAULTS;
        digest_porep(a, seal, &o, workers);
        hex_encode(hex, a, 32);
        assert_string_equal(hex, pinned[i].sha256);
        if (seal->sector_size > 2048)
            continue;
        cpu_force(CPU_PORTABLE);
        digest_porep(b, seal, &o, NULL);
        cpu_force(CPU_ALL);
        assert_memory_equal(a, b, 32);
        for (int k = 0; k < 3; k++) {
            synth_options other = o;
            *(k == 0 ? &other.seed : k == 1 ? &other.miner_id : &other.sector) += 1;
            digest_porep(b, seal, &other, NULL);
            assert_memory_not_equal(a, b, 32);
        }
    }
}

/* Versions whose challenges come from comm_r: small sectors are sealed, large ones refused. */
static void porep_from_comm_r(void **state)
{
    (void)state;
    synth_options o = SYNTH_DEFAULTS;
    for (uint64_t number = 10; number < 20; number++) {
        const registered_seal *seal = seal_by_number(number);
        porep_c1 *c;
        cuzk_error e;
        if (number == 16) /* 8 MiB once is enough: number 11 */
            continue;
        cuzk_status st = synth_porep(&c, seal, &o, ps, workers, &e);
        if (seal->sector_size > 8388608) {
            assert_int_equal(st, CUZK_UNSUPPORTED);
            assert_null(c);
            assert_non_null(strstr(e.message, "comm_r"));
            continue;
        }
        assert_int_equal(st, CUZK_OK);
        assert_int_equal(c->partitions, number < 15 ? 1 : 13);
        OK(porep_check(c, -1, ps, workers, err));
        porep_c1_free(c);
    }
}

static void porep_satisfies(void **state)
{
    (void)state;
    porep_circuit circuit = {circuit_by_name("porep-2k"), ps};
    synth_options o = {.seed = 77, .miner_id = 5, .sector = 6, .sectors = 1};
    r1cs *r = golden_compile("porep-2k", porep_synthesize, &circuit);
    porep_c1 *c;
    witness w;
    OK(synth_porep(&c, seal_by_number(5), &o, ps, workers, err));
    OK(porep_witness(&w, r, c, 0, ps, workers, NULL, err));
    OK(r1cs_check(r, &w, workers, err));
    witness_clear(&w);
    porep_c1_free(c);
    r1cs_destroy(r);
}

/* ---- PoSt and SnapDeals ---- */

static post_input *read_post(const synth_vanilla *v, const registered_post *post)
{
    proof_bytes *list;
    size_t n;
    post_input *in;
    OK(vanilla_split(&list, &n, v->data, v->size, err));
    assert_int_equal(n, v->count);
    OK(post_parse(&in, post, v->randomness, list, n, err));
    mem_free(list);
    return in;
}

static update_input *read_update(const synth_vanilla *v)
{
    proof_bytes *list;
    size_t n;
    update_input *in;
    OK(vanilla_split(&list, &n, v->data, v->size, err));
    assert_int_equal(n, v->count);
    OK(update_parse(&in, &v->update, list, n, err));
    mem_free(list);
    return in;
}

static void post_of_every_size(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < 15; number++) {
        const registered_post *post = post_by_number(number);
        synth_options o = {.seed = number, .miner_id = 1000, .sector = 40, .sectors = post->winning ? 0 : 7};
        synth_vanilla v, w;
        OK(synth_post(&v, post, &o, ps, workers, err));
        post_input *in = read_post(&v, post);
        OK(post_check(in, -1, ps, workers, err));
        assert_int_equal(in->sector_count, post->winning ? 1 : 7);
        for (size_t i = 0; i < in->sector_count; i++) {
            assert_int_equal(in->sector[i].sector_id, 40 + i);
            assert_int_equal(v.sectors[i].sector_id, 40 + i);
            assert_memory_equal(in->sector[i].comm_r, v.sectors[i].comm_r, 32);
            if (i)
                assert_memory_not_equal(v.sectors[i].comm_r, v.sectors[i - 1].comm_r, 32);
        }
        post_free(in);
        OK(synth_post(&w, post, &o, ps, NULL, err));
        assert_int_equal(v.size, w.size);
        assert_memory_equal(v.data, w.data, v.size);
        synth_vanilla_clear(&w);
        v.data[8 + 8 + 32 + 16 + 100] ^= 1; /* inside the first path */
        in = read_post(&v, post);
        assert_int_equal(post_check(in, -1, ps, workers, NULL), CUZK_INCONSISTENT);
        post_free(in);
        synth_vanilla_clear(&v);
    }
    synth_vanilla v;
    cuzk_error err;
    synth_options two = {.seed = 1, .sectors = 2}, many = {.seed = 1, .sectors = SIZE_MAX / 2};
    assert_int_equal(synth_post(&v, post_by_number(0), &two, ps, NULL, &err), CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "one sector, not 2"));
    assert_int_equal(synth_post(&v, post_by_number(5), &many, ps, NULL, &err), CUZK_INVALID_ARGUMENT);
}

static void update_of_every_size(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < 5; number++) {
        const registered_update *update = update_by_number(number);
        synth_options o = SYNTH_DEFAULTS;
        synth_vanilla v, w;
        OK(synth_update(&v, update, &o, ps, workers, err));
        update_input *in = read_update(&v);
        OK(update_check(in, -1, ps, workers, err));
        update_free(in);
        OK(synth_update(&w, update, &o, ps, NULL, err));
        assert_int_equal(v.size, w.size);
        assert_memory_equal(v.data, w.data, v.size);
        synth_vanilla_clear(&w);
        v.update.h = number == 0 ? 1 : v.update.h + 1; /* another h: another encoding */
        if (number > 0) {
            in = read_update(&v);
            assert_int_equal(update_check(in, -1, ps, workers, NULL), CUZK_INCONSISTENT);
            update_free(in);
        }
        synth_vanilla_clear(&v);
    }
}

static void satisfied(r1cs *r, void (*fill)(witness *w, const r1cs *r, const void *in, uint32_t k),
                      const void *in, uint32_t partitions)
{
    for (uint32_t k = 0; k < partitions; k++) {
        witness w;
        fill(&w, r, in, k);
        OK(r1cs_check(r, &w, workers, err));
        witness_clear(&w);
    }
}

static void fill_post(witness *w, const r1cs *r, const void *in, uint32_t k)
{
    OK(post_witness(w, r, in, k, ps, workers, NULL, err));
}

static void fill_update(witness *w, const r1cs *r, const void *in, uint32_t k)
{
    OK(update_witness(w, r, in, k, ps, workers, NULL, err));
}

static void post_satisfies(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {0, 3, 4, 5, 7, 10}; /* trees 8-0-0, 8-8-0 and 8-8-2; both numberings */
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const registered_post *post = post_by_number(numbers[i]);
        post_circuit circuit = {
            circuit_find(post->winning ? CIRCUIT_WINNING : CIRCUIT_WINDOW, post->sector_size), ps};
        synth_options o = {.seed = 3, .miner_id = 1000, .sector = 9, .sectors = post->winning ? 1 : 3};
        r1cs *r = golden_compile(circuit.info->name, post_synthesize, &circuit);
        synth_vanilla v;
        OK(synth_post(&v, post, &o, ps, workers, err));
        post_input *in = read_post(&v, post);
        satisfied(r, fill_post, in, in->partitions);
        post_free(in);
        synth_vanilla_clear(&v);
        r1cs_destroy(r);
    }
}

static void update_satisfies(void **state)
{
    (void)state;
    update_circuit circuit = {circuit_by_name("update-2k"), ps};
    synth_options o = SYNTH_DEFAULTS;
    r1cs *r = golden_compile("update-2k", update_synthesize, &circuit);
    synth_vanilla v;
    OK(synth_update(&v, update_by_number(0), &o, ps, workers, err));
    update_input *in = read_update(&v);
    satisfied(r, fill_update, in, 1);
    update_free(in);
    synth_vanilla_clear(&v);
    r1cs_destroy(r);
}

/* ---- trees ---- */

/* A table tree against one that is hashed leaf by leaf, in every shape of small size. */
static void table_trees(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {2048, 4096, 16384, 32768};
    uint8_t key[32] = {9};
    for (int i = 0; i < 8; i++)
        for (int order = 0; order < 2; order++)
            for (size_t count = 1; count <= 64; count *= 4) {
                merkle_shape s;
                uint64_t leaves = sizes[i / 2] / 32, index[1024];
                uint8_t value[64 * 32], leaf[1024 * 32];
                synth_table *table;
                synth_sparse *sparse;
                arena *a = arena_create();
                assert_int_equal(i & 1 ? merkle_shape_sha256(&s, sizes[i / 2])
                                       : merkle_shape_poseidon(&s, sizes[i / 2]),
                                 0);
                for (size_t k = 0; k < count; k++)
                    synth_draw(value + 32 * k, key, 1, 0, k);
                for (uint64_t k = 0; k < leaves; k++) {
                    index[k] = k;
                    memcpy(leaf + 32 * k,
                           value + 32 * (order == SYNTH_PERIODIC ? k % count : k / (leaves / count)), 32);
                }
                OK(synth_table_create(&table, &s, (synth_order)order, value, count, ps, workers, err));
                OK(synth_sparse_create(&sparse, &s, key, 2, index, leaf, leaves, ps, workers, err));
                assert_memory_equal(synth_table_root(table), synth_sparse_root(sparse), 32);
                for (uint64_t k = 0; k < leaves; k += 7) {
                    merkle_proof p, q;
                    assert_int_equal(synth_table_proof(table, &p, k, a), 0);
                    assert_int_equal(synth_sparse_proof(sparse, &q, k, a), 0);
                    assert_true(merkle_proof_verify(&s, ps, &p));
                    assert_true(merkle_proof_verify(&s, ps, &q));
                    assert_int_equal(merkle_proof_index(&s, &p), k);
                    assert_memory_equal(p.leaf, q.leaf, 32);
                }
                synth_table_destroy(table);
                synth_sparse_destroy(sparse);
                arena_destroy(a);
            }
}

/* Few leaves of a large tree, the first and the last among them. */
static void sparse_trees(void **state)
{
    (void)state;
    const uint64_t size = 68719476736, last = size / 32 - 1,
                   index[] = {0, 1, 7, 8, 1u << 20, last / 2, last - 1, last};
    uint8_t key[32] = {4}, value[8 * 32], previous[32] = {0};
    for (size_t n = 1; n <= 8; n++) {
        merkle_shape s;
        synth_sparse *t;
        arena *a = arena_create();
        assert_int_equal(merkle_shape_poseidon(&s, size), 0);
        for (size_t k = 0; k < n; k++)
            synth_draw(value + 32 * k, key, 7, 0, k);
        OK(synth_sparse_create(&t, &s, key, 3, index + 8 - n, value, n, ps, NULL, err));
        assert_memory_not_equal(previous, synth_sparse_root(t), 32);
        memcpy(previous, synth_sparse_root(t), 32);
        for (size_t k = 0; k < n; k++) {
            merkle_proof p;
            assert_int_equal(synth_sparse_proof(t, &p, index[8 - n + k], a), 0);
            assert_true(merkle_proof_verify(&s, ps, &p));
            assert_int_equal(merkle_proof_index(&s, &p), index[8 - n + k]);
        }
        synth_sparse_destroy(t);
        arena_destroy(a);
    }
}

/* ---- files and memory ---- */

static uint8_t *file_at(const char *name, size_t *n)
{
    char path[128];
    uint8_t *data;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    OK(file_read(&data, n, path, 1 << 26, err));
    return data;
}

static json_t *public_json(void)
{
    size_t n;
    uint8_t *text_ = file_at("public.json", &n);
    json_t *j = json_loadb((const char *)text_, n, 0, NULL);
    assert_non_null(j);
    mem_free(text_);
    return j;
}

static void porep_files(void)
{
    synth_options o = SYNTH_DEFAULTS;
    size_t n;
    porep_c1 *c;
    uint8_t want[32];
    OK(synth_write(folder, CIRCUIT_POREP, 8388608, &o, ps, workers, err));
    uint8_t *document = file_at("c1.json", &n);
    json_t *j = public_json();
    OK(porep_c1_parse(&c, document, n, err));
    OK(porep_check(c, -1, ps, workers, err));
    assert_string_equal(test_json_string(j, "registered_proof"), "StackedDrg8MiBV1_1");
    assert_string_equal(test_json_string(j, "prover_id"),
                        "e807000000000000000000000000000000000000000000000000000000000000");
    assert_int_equal(test_json_int(j, "sector_id"), c->sector_number);
    test_json_hex(want, 32, j, "comm_r");
    assert_memory_equal(want, c->comm_r, 32);
    test_json_hex(want, 32, j, "replica_id");
    assert_memory_equal(want, c->replica_id, 32);
    json_t *inputs = json_object_get(json_array_get(json_object_get(j, "partitions"), 0), "inputs");
    assert_int_equal(json_array_size(inputs), 40);
    assert_string_equal(json_string_value(json_array_get(inputs, 1)), test_json_string(j, "replica_id"));
    porep_c1_free(c);
    json_decref(j);
    mem_free(document);
}

static void files(void **state)
{
    (void)state;
    porep_files();
    synth_options o = {.seed = 5, .miner_id = 1, .sector = 1, .sectors = 5};
    OK(synth_write(folder, CIRCUIT_WINDOW, 2048, &o, ps, workers, err));
    json_t *j = public_json();
    assert_int_equal(json_array_size(json_object_get(j, "sectors")), 5);
    assert_int_equal(json_array_size(json_object_get(j, "challenges")), 5);
    assert_int_equal(json_array_size(json_object_get(j, "partitions")), 3);
    json_decref(j);
    OK(synth_write(folder, CIRCUIT_UPDATE, 8388608, &(synth_options){.seed = 5}, ps, workers, err));
    j = public_json();
    assert_int_equal(test_json_int(j, "update_partitions"), 4);
    assert_int_equal(test_json_int(j, "h"), 10);
    json_decref(j);
    OK(synth_write(folder, CIRCUIT_WINNING, 2048, &(synth_options){.seed = 5}, ps, workers, err));
    OK(synth_write(folder, CIRCUIT_WINDOW, 2048,
                   &(synth_options){.seed = 5, .has_registered_proof = 1, .registered_proof = 5}, ps, NULL,
                   err));
    j = public_json();
    assert_string_equal(test_json_string(j, "registered_proof"), "StackedDrgWindow2KiBV1");
    json_decref(j);
    OK(synth_write(folder, CIRCUIT_POREP, 2048,
                   &(synth_options){.seed = 5, .has_registered_proof = 1, .registered_proof = 0}, ps, NULL,
                   err));
    j = public_json();
    assert_string_equal(test_json_string(j, "api_version"), "1.0.0");
    json_decref(j);
    static const struct {
        circuit_kind kind;
        uint64_t size, number;
        const char *words;
    } wrong[] = {{CIRCUIT_POREP, 2048, 20, "20"},
                 {CIRCUIT_POREP, 2048, 8, "StackedDrg32GiBV1_1 is not for sectors of 2KiB"},
                 {CIRCUIT_WINNING, 2048, 5, "WinningPoSt"},
                 {CIRCUIT_WINDOW, 2048, 0, "WindowPoSt"},
                 {CIRCUIT_WINDOW, 2048, 11, "8MiB"},
                 {CIRCUIT_UPDATE, 2048, 5, "update proof"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cuzk_error err = {0};
        synth_options x = {.has_registered_proof = 1, .registered_proof = wrong[i].number};
        assert_int_equal(synth_write(folder, wrong[i].kind, wrong[i].size, &x, ps, NULL, &err),
                         CUZK_INVALID_ARGUMENT);
        if (!strstr(err.message, wrong[i].words))
            fail_msg("%s", err.message);
    }
    static const circuit_kind kinds[] = {CIRCUIT_POREP, CIRCUIT_WINNING, CIRCUIT_WINDOW, CIRCUIT_UPDATE};
    for (int k = 0; k < 4; k++) {
        cuzk_error err = {0};
        assert_int_equal(synth_write(folder, kinds[k], 4096, &o, ps, NULL, &err), CUZK_INVALID_ARGUMENT);
        assert_non_null(strstr(err.message, "4KiB"));
        if (kinds[k] != CIRCUIT_WINDOW)
            assert_int_equal(synth_write(folder, kinds[k], 2048, &o, ps, NULL, &err), CUZK_INVALID_ARGUMENT);
        o.sectors = 1;
        assert_true(synth_write("/proc/none", kinds[k], 2048, &o, ps, NULL, &err) != CUZK_OK);
        o.sectors = 5;
    }
}

static cuzk_status make(int kind, const synth_options *o, cuzk_error *err)
{
    porep_c1 *c;
    synth_vanilla v;
    cuzk_status st;
    if (kind == 0) {
        st = synth_porep(&c, seal_by_number(5), o, ps, NULL, err);
        if (st == CUZK_OK)
            porep_c1_free(c);
        return st;
    }
    st = kind == 1 ? synth_post(&v, post_by_number(5), o, ps, NULL, err)
                   : synth_update(&v, update_by_number(0), o, ps, NULL, err);
    synth_vanilla_clear(&v);
    return st;
}

static void no_memory(void **state)
{
    (void)state;
    synth_options o = {.seed = 1, .miner_id = 1, .sector = 1, .sectors = 1};
    for (int kind = 0; kind < 3; kind++)
        for (uint64_t n = 1;; n++) {
            cuzk_error err;
            mem_fault_set(n, 0);
            cuzk_status st = make(kind, &o, &err);
            mem_fault_set(0, 0);
            if (st == CUZK_OK) {
                assert_true(n > 4);
                break;
            }
            assert_int_equal(st, CUZK_OUT_OF_MEMORY);
            assert_int_equal(err.status, CUZK_OUT_OF_MEMORY);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_as_read),
        cmocka_unit_test(table_trees),
        cmocka_unit_test(sparse_trees),
        cmocka_unit_test(porep_of_every_size),
        cmocka_unit_test(porep_many_seeds),
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(porep_from_comm_r),
        cmocka_unit_test(post_of_every_size),
        cmocka_unit_test(update_of_every_size),
        cmocka_unit_test(files),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(post_satisfies),
        cmocka_unit_test(update_satisfies),
        cmocka_unit_test(porep_satisfies),
    };
    return cmocka_run_group_tests_name("synth", tests, setup, teardown);
}
