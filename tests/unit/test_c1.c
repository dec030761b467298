/* C1 documents: every golden one is read alike in both forms and in any order of members; every kind of
 * damage is an error that names the member and the place. */
#include "base/encode.h"
#include "base/mem.h"
#include "filecoin/porep.h"
#include "support/data.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static json_t *outer, *inner; /* the 2 KiB golden case: never changed */

static json_t *unwrap_json(const json_t *document)
{
    const char *text = test_json_string(document, "Phase1Out");
    size_t n = strlen(text), bad;
    uint8_t *bytes = malloc(n);
    ptrdiff_t got = base64_decode(bytes, text, n, &bad);
    assert_true(got > 0);
    json_t *j = json_loadb((const char *)bytes, (size_t)got, 0, NULL);
    assert_non_null(j);
    free(bytes);
    return j;
}

static char *base64(const uint8_t *data, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = malloc(4 * ((n + 2) / 3) + 1), *o = out;
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)data[i] << 16 | (i + 1 < n ? (uint32_t)data[i + 1] << 8 : 0) |
                     (i + 2 < n ? data[i + 2] : 0u);
        *o++ = digits[v >> 18];
        *o++ = digits[v >> 12 & 63];
        *o++ = i + 1 < n ? digits[v >> 6 & 63] : '=';
        *o++ = i + 2 < n ? digits[v & 63] : '=';
    }
    *o = 0;
    return out;
}

/* The outer document around an inner text. */
static char *wrap(const char *text, size_t n, uint64_t sector_size)
{
    char *code = base64((const uint8_t *)text, n), *out;
    if (asprintf(&out, "{\"SectorNum\":1001,\"Phase1Out\":\"%s\",\"SectorSize\":%llu}", code,
                 (unsigned long long)sector_size) < 0)
        abort();
    free(code);
    return out;
}

static int setup(void **state)
{
    (void)state;
    outer = test_data_json("porep-2k-v1_1-1/c1.json");
    inner = unwrap_json(outer);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    json_decref(outer);
    json_decref(inner);
    return 0;
}

/* ---- comparing ---- */

static void same_proof(const merkle_proof *a, const merkle_proof *b, const merkle_shape *s)
{
    assert_memory_equal(a->root, b->root, 32);
    assert_memory_equal(a->leaf, b->leaf, 32);
    assert_int_equal(a->levels, b->levels);
    assert_int_equal(a->levels, merkle_levels(s));
    for (uint32_t i = 0; i < a->levels; i++) {
        assert_int_equal(a->level[i].position, b->level[i].position);
        assert_memory_equal(a->level[i].siblings, b->level[i].siblings, (merkle_arity(s, i) - 1) * 32);
    }
}

static void same_column(const porep_column *a, const porep_column *b, uint32_t layers, const merkle_shape *s)
{
    assert_int_equal(a->index, b->index);
    assert_memory_equal(a->rows, b->rows, 32 * (size_t)layers);
    same_proof(&a->inclusion, &b->inclusion, s);
}

static void same_labeling(const porep_labeling *a, const porep_labeling *b)
{
    assert_int_equal(a->layer_index, b->layer_index);
    assert_int_equal(a->node, b->node);
    assert_int_equal(a->parent_count, POREP_PARENTS);
    assert_int_equal(b->parent_count, POREP_PARENTS);
    assert_memory_equal(a->parents, b->parents, 32 * POREP_PARENTS);
}

static void same_c1(const porep_c1 *a, const porep_c1 *b)
{
    merkle_shape d, r;
    assert_ptr_equal(a->seal, b->seal);
    assert_ptr_equal(a->circuit, b->circuit);
    assert_memory_equal(a->comm_r, b->comm_r, 32);
    assert_memory_equal(a->comm_d, b->comm_d, 32);
    assert_memory_equal(a->replica_id, b->replica_id, 32);
    assert_memory_equal(a->seed, b->seed, 32);
    assert_memory_equal(a->ticket, b->ticket, 32);
    assert_int_equal(a->partitions, b->partitions);
    assert_int_equal(a->challenges, b->challenges);
    merkle_shape_sha256(&d, a->seal->sector_size);
    merkle_shape_poseidon(&r, a->seal->sector_size);
    for (size_t i = 0; i < (size_t)a->partitions * a->challenges; i++) {
        const porep_challenge *x = &a->challenge[i], *y = &b->challenge[i];
        same_proof(&x->comm_d, &y->comm_d, &d);
        same_proof(&x->comm_r_last, &y->comm_r_last, &r);
        assert_int_equal(x->layers, y->layers);
        same_column(&x->c_x, &y->c_x, x->layers, &r);
        for (int k = 0; k < POREP_DRG_PARENTS; k++)
            same_column(&x->drg[k], &y->drg[k], x->layers, &r);
        for (int k = 0; k < POREP_EXP_PARENTS; k++)
            same_column(&x->exp[k], &y->exp[k], x->layers, &r);
        for (uint32_t k = 0; k < x->layers; k++)
            same_labeling(&x->labeling[k], &y->labeling[k]);
        same_labeling(&x->encoding, &y->encoding);
    }
}

static porep_c1 *parse_ok(const char *text, size_t n)
{
    porep_c1 *c;
    cuzk_error err;
    if (porep_c1_parse(&c, (const uint8_t *)text, n, &err) != CUZK_OK)
        fail_msg("%s", err.message);
    return c;
}

static porep_c1 *parse_json(const json_t *j)
{
    char *text = json_dumps(j, JSON_COMPACT);
    porep_c1 *c = parse_ok(text, strlen(text));
    free(text);
    return c;
}

/* ---- good documents ---- */

static void both_forms(void **state)
{
    (void)state;
    static const char *const cases[] = {"porep-2k-v1-4",   "porep-2k-v1_1-1",  "porep-2k-v1_1-2",
                                        "porep-2k-v1_1-3", "porep-2k-synth-5", "porep-2k-ni-6",
                                        "porep-8m-7"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s/c1.json", cases[i]);
        json_t *o = test_data_json(name), *in = unwrap_json(o);
        snprintf(name, sizeof name, "%s/golden.json", cases[i]);
        json_t *g = test_data_json(name);
        porep_c1 *a = parse_json(o), *b = parse_json(in);
        uint8_t want[32];
        assert_true(a->has_sector);
        assert_false(b->has_sector);
        assert_int_equal(a->sector_number, test_json_int(g, "sector_id"));
        assert_int_equal(a->sector_size, test_json_int(g, "sector_size"));
        assert_int_equal(b->sector_size, a->sector_size);
        assert_string_equal(a->seal->name, test_json_string(g, "registered_proof"));
        test_json_hex(want, 32, g, "comm_r");
        assert_memory_equal(a->comm_r, want, 32);
        test_json_hex(want, 32, g, "comm_d");
        assert_memory_equal(a->comm_d, want, 32);
        test_json_hex(want, 32, g, "replica_id");
        assert_memory_equal(a->replica_id, want, 32);
        test_json_hex(want, 32, g, "seed");
        assert_memory_equal(a->seed, want, 32);
        test_json_hex(want, 32, g, "ticket");
        assert_memory_equal(a->ticket, want, 32);
        assert_int_equal(a->partitions, json_array_size(json_object_get(g, "partitions")));
        same_c1(a, b);
        porep_c1_free(a);
        porep_c1_free(b);
        json_decref(o);
        json_decref(in);
        json_decref(g);
    }
}

/* The same value with every object's members in reverse order and an unknown one among them. */
static json_t *reversed(const json_t *j)
{
    if (json_is_object(j)) {
        json_t *out = json_object(), *v;
        const char *keys[32], *key;
        size_t n = 0;
        json_object_foreach((json_t *)j, key, v) keys[n++] = key;
        json_object_set_new(
            out, "unknown",
            json_pack("{s:[i,{s:n,s:b}],s:s,s:f}", "a", 1, "b", "c", 1, "d", "e\"\\", "f", 1.5e300));
        while (n--)
            json_object_set_new(out, keys[n], reversed(json_object_get(j, keys[n])));
        return out;
    }
    if (json_is_array(j)) {
        json_t *out = json_array(), *v;
        size_t i;
        json_array_foreach(j, i, v) json_array_append_new(out, reversed(v));
        return out;
    }
    return json_deep_copy(j);
}

static void any_order(void **state)
{
    (void)state;
    porep_c1 *a = parse_json(outer);
    json_t *r = reversed(inner);
    /* the object that the sector size names takes no unknown member */
    json_object_del(json_object_get(r, "vanilla_proofs"), "unknown");
    porep_c1 *b = parse_json(r);
    same_c1(a, b);
    porep_c1_free(b);
    char *text = json_dumps(r, JSON_INDENT(3)), *wrapped = wrap(text, strlen(text), 2048);
    b = parse_ok(wrapped, strlen(wrapped));
    same_c1(a, b);
    porep_c1_free(b);
    free(wrapped);
    json_t *o = reversed(outer);
    b = parse_json(o);
    same_c1(a, b);
    assert_int_equal(b->sector_number, 1001);
    porep_c1_free(b);
    json_decref(o);
    json_decref(r);
    free(text);
    porep_c1_free(a);
}

/* Escapes in strings and keys; the padding at every length; members absent that may be. */
static void spellings(void **state)
{
    (void)state;
    porep_c1 *a = parse_json(outer);
    char *text = json_dumps(inner, JSON_COMPACT);
    size_t n = strlen(text);
    for (int spaces = 0; spaces < 3; spaces++) {
        char *padded = malloc(n + 8);
        snprintf(padded, n + 8, "%s%*s", text, spaces, "");
        char *wrapped = wrap(padded, n + (size_t)spaces, 2048), *escaped = malloc(2 * strlen(wrapped) + 32),
             *e = escaped;
        for (const char *s = wrapped; *s; s++) {
            if (*s == '/')
                *e++ = '\\';
            if (*s == 'S' && !strncmp(s, "SectorNum", 9))
                e += sprintf(e, "\\u0053"), s++;
            *e++ = *s;
        }
        porep_c1 *b = parse_ok(escaped, (size_t)(e - escaped));
        same_c1(a, b);
        porep_c1_free(b);
        free(escaped);
        free(wrapped);
        free(padded);
    }
    free(text);
    porep_c1_free(a);
    json_t *j = json_deep_copy(inner);
    json_t *ch = json_array_get(
        json_array_get(json_object_get(json_object_get(j, "vanilla_proofs"), "StackedDrg2KiBV1"), 0), 1);
    json_t *column =
        json_object_get(json_object_get(json_object_get(ch, "replica_column_proofs"), "c_x"), "column");
    assert_int_equal(json_object_del(column, "_h"), 0);
    porep_c1_free(parse_json(j));
    json_decref(j);
}

/* ---- bad documents ---- */

static void expect_error(const char *text, size_t n, cuzk_status status, const char *const words[3])
{
    porep_c1 *c;
    cuzk_error err = {0};
    cuzk_status st = porep_c1_parse(&c, (const uint8_t *)text, n, &err);
    if (st != status || err.status != status)
        fail_msg("%s instead of %s: %s", cuzk_status_name(st), cuzk_status_name(status), err.message);
    assert_null(c);
    for (int i = 0; i < 3 && words[i]; i++)
        if (!strstr(err.message, words[i]))
            fail_msg("\"%s\" is not in: %s", words[i], err.message);
    assert_int_equal(porep_c1_parse(&c, (const uint8_t *)text, n, NULL), status);
}
#define EXPECT(text, status, ...)                                                                            \
    expect_error(text, strlen(text), status, (const char *const[3]){__VA_ARGS__})

/* The value at a path like "vanilla_proofs.StackedDrg2KiBV1.0.1.c_x". */
static json_t *at_path(json_t *j, const char *path, char last[64])
{
    char part[64];
    for (;;) {
        size_t n = strcspn(path, ".");
        memcpy(part, path, n);
        part[n] = 0;
        if (!path[n]) {
            strcpy(last, part);
            return j;
        }
        j = json_is_array(j) ? json_array_get(j, (size_t)atoi(part)) : json_object_get(j, part);
        assert_non_null(j);
        path += n + 1;
    }
}

/* Replaces (value != NULL) or removes what stands at the path, in the bare and in the wrapped form. */
static void expect_changed(const char *path, json_t *value, cuzk_status status, const char *const words[3])
{
    json_t *j = json_deep_copy(inner);
    char last[64];
    json_t *parent = at_path(j, path, last);
    int rc;
    if (json_is_array(parent))
        rc = value ? json_array_set_new(parent, (size_t)atoi(last), value)
                   : json_array_remove(parent, (size_t)atoi(last));
    else
        rc = value ? json_object_set_new(parent, last, value) : json_object_del(parent, last);
    assert_int_equal(rc, 0);
    char *text = json_dumps(j, JSON_COMPACT), *wrapped = wrap(text, strlen(text), 2048);
    expect_error(text, strlen(text), status, words);
    expect_error(wrapped, strlen(wrapped), status, words);
    free(text);
    free(wrapped);
    json_decref(j);
}
#define CHANGED(path, value, status, ...)                                                                    \
    expect_changed(path, value, status, (const char *const[3]){__VA_ARGS__})

#define CHALLENGE "vanilla_proofs.StackedDrg2KiBV1.0.1."
#define PLACE     "partition 0, challenge 1: "

static void missing_members(void **state)
{
    (void)state;
    static const char *const top[] = {"registered_proof", "vanilla_proofs", "comm_r", "comm_d",
                                      "replica_id",       "seed",           "ticket"};
    for (size_t i = 0; i < sizeof top / sizeof top[0]; i++) {
        char words[64];
        snprintf(words, sizeof words, "member \"%s\" is missing", top[i]);
        CHANGED(top[i], NULL, CUZK_BAD_INPUT, words);
    }
    static const struct {
        const char *path, *place;
    } below[] = {
        {"comm_d_proofs", "the challenge"},
        {"comm_r_last_proof", "the challenge"},
        {"replica_column_proofs", "the challenge"},
        {"labeling_proofs", "the challenge"},
        {"encoding_proof", "the challenge"},
        {"comm_d_proofs.data", "comm_d_proofs"},
        {"comm_d_proofs.data.Single.root", "comm_d_proofs.data.Single"},
        {"comm_d_proofs.data.Single.leaf", "comm_d_proofs.data.Single"},
        {"comm_r_last_proof.data.Single.path", "comm_r_last_proof.data.Single"},
        {"comm_r_last_proof.data.Single.path.path", "comm_r_last_proof.data.Single.path"},
        {"comm_r_last_proof.data.Single.path.path.1.hashes", "comm_r_last_proof.data.Single.path.path[1]"},
        {"comm_r_last_proof.data.Single.path.path.0.index", "comm_r_last_proof.data.Single.path.path[0]"},
        {"replica_column_proofs.c_x", "replica_column_proofs"},
        {"replica_column_proofs.drg_parents", "replica_column_proofs"},
        {"replica_column_proofs.exp_parents", "replica_column_proofs"},
        {"replica_column_proofs.c_x.column", "replica_column_proofs.c_x"},
        {"replica_column_proofs.drg_parents.5.inclusion_proof", "replica_column_proofs.drg_parents[5]"},
        {"replica_column_proofs.exp_parents.7.column.index", "replica_column_proofs.exp_parents[7].column"},
        {"replica_column_proofs.exp_parents.0.column.rows", "replica_column_proofs.exp_parents[0].column"},
        {"labeling_proofs.1.parents", "labeling_proofs[1]"},
        {"labeling_proofs.0.layer_index", "labeling_proofs[0]"},
        {"labeling_proofs.0.node", "labeling_proofs[0]"},
        {"encoding_proof.node", "encoding_proof"},
    };
    for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) {
        char path[160], words[96], place[128];
        snprintf(path, sizeof path, CHALLENGE "%s", below[i].path);
        snprintf(words, sizeof words, "member \"%s\" is missing", strrchr(path, '.') + 1);
        snprintf(place, sizeof place, PLACE "%s:", below[i].place);
        CHANGED(path, NULL, CUZK_BAD_INPUT, words, place);
    }
    CHANGED(CHALLENGE "comm_d_proofs.data.Single", NULL, CUZK_BAD_INPUT, "\"Single\", \"Sub\" and \"Top\"",
            PLACE "comm_d_proofs.data");
    CHANGED("vanilla_proofs.StackedDrg2KiBV1", NULL, CUZK_BAD_INPUT, "vanilla_proofs is empty");
    EXPECT("{}", CUZK_BAD_INPUT, "member \"registered_proof\" is missing");
    EXPECT("{\"SectorNum\":1,\"SectorSize\":2048}", CUZK_BAD_INPUT, "member \"Phase1Out\" is missing");
    EXPECT("{\"Phase1Out\":\"e30=\",\"SectorSize\":2048}", CUZK_BAD_INPUT, "member \"SectorNum\" is missing");
    EXPECT("{\"Phase1Out\":\"e30=\",\"SectorNum\":2048}", CUZK_BAD_INPUT, "member \"SectorSize\" is missing");
    EXPECT("{\"Phase1Out\":\"e30=\",\"SectorNum\":1,\"SectorSize\":2048}", CUZK_BAD_INPUT,
           "Phase1Out: ", "\"registered_proof\" is missing");
}

static void bad_arrays(void **state)
{
    (void)state;
    static const char *const arrays[] = {"comm_r",
                                         "ticket",
                                         CHALLENGE "comm_d_proofs.data.Single.root",
                                         CHALLENGE "comm_r_last_proof.data.Single.path.path.1.hashes.6",
                                         CHALLENGE "replica_column_proofs.drg_parents.3.column.rows.1",
                                         CHALLENGE "labeling_proofs.1.parents.36",
                                         CHALLENGE "encoding_proof.parents.0"};
    static const char *const places[] = {"comm_r",
                                         "ticket",
                                         PLACE "comm_d_proofs.data.Single.root",
                                         PLACE "comm_r_last_proof.data.Single.path.path[1].hashes[6]",
                                         PLACE "replica_column_proofs.drg_parents[3].column.rows[1]",
                                         PLACE "labeling_proofs[1].parents[36]",
                                         PLACE "encoding_proof.parents[0]"};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        char path[160], place[160];
        snprintf(path, sizeof path, "%s.31", arrays[i]);
        snprintf(place, sizeof place, "%s:", places[i]);
        CHANGED(path, NULL, CUZK_BAD_INPUT, "31 elements where 32 are expected", place);
        snprintf(path, sizeof path, "%s.17", arrays[i]);
        snprintf(place, sizeof place, "%s[17]:", places[i]);
        CHANGED(path, json_integer(256), CUZK_BAD_INPUT, "256 is not a byte (0 to 255)", place);
        CHANGED(path, json_integer(-1), CUZK_BAD_INPUT, "-1 is not a byte", place);
        CHANGED(path, json_integer(4294967296 + 7), CUZK_BAD_INPUT, "4294967303 is not a byte", place);
        CHANGED(path, json_real(1.5), CUZK_BAD_INPUT, "1.5 is not a byte", place);
        CHANGED(path, json_string("7"), CUZK_BAD_INPUT, "a string where a number from 0 to 255 is expected",
                place);
        CHANGED(path, json_null(), CUZK_BAD_INPUT, "null where a number", place);
        CHANGED(path, json_true(), CUZK_BAD_INPUT, "true where a number", place);
        CHANGED(path, json_pack("[i]", 7), CUZK_BAD_INPUT, "an array where a number", place);
        CHANGED(path, json_object(), CUZK_BAD_INPUT, "an object where a number", place);
        snprintf(place, sizeof place, "%s:", places[i]);
        CHANGED(arrays[i], json_string("abc"), CUZK_BAD_INPUT,
                "a string where an array of 32 numbers is expected", place);
        CHANGED(arrays[i], json_null(), CUZK_BAD_INPUT, "null where an array of 32 numbers", place);
        CHANGED(arrays[i], json_object(), CUZK_BAD_INPUT, "an object where an array of 32 numbers", place);
        json_t *longer = json_array();
        for (int k = 0; k < 33; k++)
            json_array_append_new(longer, json_integer(k));
        CHANGED(arrays[i], longer, CUZK_BAD_INPUT, "more than 32 elements", place);
    }
}

/* One element too few and one too many of every counted thing. */
static void bad_counts(void **state)
{
    (void)state;
    static const struct {
        const char *path, *place;
        unsigned count;
    } lists[] = {
        {CHALLENGE "comm_d_proofs.data.Single.path.path", PLACE "comm_d_proofs.data.Single.path.path:", 6},
        {CHALLENGE "comm_r_last_proof.data.Single.path.path",
         PLACE "comm_r_last_proof.data.Single.path.path:", 2},
        {CHALLENGE "comm_r_last_proof.data.Single.path.path.0.hashes", "path.path[0].hashes:", 7},
        {CHALLENGE "comm_d_proofs.data.Single.path.path.0.hashes", "path.path[0].hashes:", 1},
        {CHALLENGE "replica_column_proofs.drg_parents", PLACE "replica_column_proofs.drg_parents:", 6},
        {CHALLENGE "replica_column_proofs.exp_parents", PLACE "replica_column_proofs.exp_parents:", 8},
        {CHALLENGE "replica_column_proofs.c_x.column.rows",
         PLACE "replica_column_proofs.c_x.column.rows:", 2},
        {CHALLENGE "labeling_proofs", PLACE "labeling_proofs:", 2},
        {CHALLENGE "labeling_proofs.0.parents", PLACE "labeling_proofs[0].parents:", 37},
        {CHALLENGE "encoding_proof.parents", PLACE "encoding_proof.parents:", 37},
        {"vanilla_proofs.StackedDrg2KiBV1.0", "partition 0: ", 2},
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        char last[64], words[64];
        json_t *list = json_object_get(at_path(inner, lists[i].path, last), last);
        if (!list)
            list = json_array_get(at_path(inner, lists[i].path, last), (size_t)atoi(last));
        json_t *fewer = json_copy(list), *more = json_copy(list);
        json_array_remove(fewer, 0);
        json_array_append(more, json_array_get(list, 0));
        snprintf(words, sizeof words, "%u elements where %u are expected", lists[i].count - 1,
                 lists[i].count);
        CHANGED(lists[i].path, fewer, CUZK_BAD_INPUT, words, lists[i].place);
        snprintf(words, sizeof words, "more than %u elements", lists[i].count);
        CHANGED(lists[i].path, more, CUZK_BAD_INPUT, words, lists[i].place);
    }
    json_t *partition =
        json_array_get(json_object_get(json_object_get(inner, "vanilla_proofs"), "StackedDrg2KiBV1"), 0);
    CHANGED("vanilla_proofs.StackedDrg2KiBV1", json_pack("[O,O]", partition, partition), CUZK_BAD_INPUT,
            "more than 1 elements", "vanilla_proofs");
    CHANGED("vanilla_proofs.StackedDrg2KiBV1", json_array(), CUZK_BAD_INPUT, "0 partitions, 1 are expected");
    /* Fourteen, before the registered proof is known: the most that any proof of the size has is thirteen. */
    json_t *j = reversed(inner), *many = json_array();
    json_object_del(json_object_get(j, "vanilla_proofs"), "unknown");
    for (int i = 0; i < 14; i++)
        json_array_append(many, partition);
    json_object_set_new(json_object_get(j, "vanilla_proofs"), "StackedDrg2KiBV1", many);
    char *text = json_dumps(j, JSON_COMPACT);
    EXPECT(text, CUZK_BAD_INPUT, "more than 13 elements", "vanilla_proofs");
    free(text);
    json_array_remove(many, 13);
    text = json_dumps(j, JSON_COMPACT);
    EXPECT(text, CUZK_BAD_INPUT, "13 partitions, StackedDrg2KiBV1_1 has 1");
    free(text);
    json_decref(j);
}

static void bad_values(void **state)
{
    (void)state;
    CHANGED("registered_proof", json_string("StackedDrg2KiBV9"), CUZK_BAD_INPUT,
            "registered_proof: \"StackedDrg2KiBV9\" is not");
    CHANGED("registered_proof", json_integer(5), CUZK_BAD_INPUT, "registered_proof: a number where a string");
    CHANGED("registered_proof", json_string("StackedDrg8MiBV1_1"), CUZK_INCONSISTENT, "StackedDrg2KiBV1",
            "StackedDrg8MiBV1_1");
    CHANGED("registered_proof", json_string("StackedDrg2KiBV1_2_Feat_NonInteractivePoRep"), CUZK_BAD_INPUT,
            "1 partitions", "13");
    json_t *j = reversed(inner);
    json_object_del(json_object_get(j, "vanilla_proofs"), "unknown");
    json_object_set_new(j, "registered_proof", json_string("StackedDrg32GiBV1_1"));
    char *text = json_dumps(j, JSON_COMPACT);
    EXPECT(text, CUZK_INCONSISTENT,
           "registered_proof: it is StackedDrg32GiBV1_1, vanilla_proofs are for sectors of 2KiB");
    free(text);
    json_decref(j);
    CHANGED("vanilla_proofs", json_pack("{s:[]}", "StackedDrg3KiBV1"), CUZK_BAD_INPUT,
            "\"StackedDrg3KiBV1\" is not the name of a sector size");
    CHANGED("vanilla_proofs", json_array(), CUZK_BAD_INPUT, "vanilla_proofs: an array where an object");
    CHANGED("vanilla_proofs.StackedDrg2KiBV1.0.0", json_string("x"), CUZK_BAD_INPUT,
            "partition 0, challenge 0: ", "a string where an object");
    CHANGED(CHALLENGE "comm_r_last_proof.data.Single.path.path.1.index", json_integer(8), CUZK_BAD_INPUT,
            "8 is not a position among 8 nodes", PLACE "comm_r_last_proof.data.Single.path.path[1].index:");
    CHANGED(CHALLENGE "comm_d_proofs.data.Single.path.path.1.index", json_integer(-1), CUZK_BAD_INPUT,
            "-1 is not a number below 2^64");
    CHANGED(CHALLENGE "comm_d_proofs.data.Single.path.path.1.index", json_integer(2), CUZK_BAD_INPUT,
            "2 is not a position among 2 nodes");
    CHANGED(CHALLENGE "replica_column_proofs.c_x.column.index", json_integer(4294967296), CUZK_BAD_INPUT,
            "4294967296 is not a number below 2^32");
    CHANGED(CHALLENGE "labeling_proofs.0.node", json_string("44"), CUZK_BAD_INPUT,
            "labeling_proofs[0].node: a string where a number below 2^64");
    json_t *single = json_object_get(
        json_object_get(
            json_object_get(
                json_array_get(
                    json_array_get(
                        json_object_get(json_object_get(inner, "vanilla_proofs"), "StackedDrg2KiBV1"), 0),
                    1),
                "comm_d_proofs"),
            "data"),
        "Single");
    CHANGED(CHALLENGE "comm_d_proofs.data", json_pack("{s:O}", "Sub", single), CUZK_BAD_INPUT,
            "a tree of 2KiB has Single proofs, not Sub");
    CHANGED(CHALLENGE "comm_d_proofs.data", json_pack("{s:O,s:O}", "Single", single, "Top", single),
            CUZK_BAD_INPUT, "a tree of 2KiB has Single proofs, not Top");
    /* the same member twice */
    text = json_dumps(inner, JSON_COMPACT);
    char *twice;
    assert_true(asprintf(&twice, "{\"seed\":%s", strstr(text, "\"ticket\":") + 9) > 0);
    char *full;
    assert_true(asprintf(&full, "{\"ticket\":%.*s,%s", (int)(strlen(twice) - 9), twice + 8, text + 1) > 0);
    EXPECT(full, CUZK_BAD_INPUT, "ticket: the member appears twice");
    free(full);
    free(twice);
    /* both documents in one */
    assert_true(asprintf(&full, "{\"SectorNum\":1,\"SectorSize\":2048,\"Phase1Out\":\"%s\",%s",
                         test_json_string(outer, "Phase1Out"), text + 1) > 0);
    EXPECT(full, CUZK_BAD_INPUT, "registered_proof: the document holds both Phase1Out and members");
    free(full);
    free(text);
}

static void bad_wrapping(void **state)
{
    (void)state;
    char *text = json_dumps(inner, JSON_COMPACT), *good = wrap(text, strlen(text), 2048), *copy;
    char *code = strstr(good, "Phase1Out") + 12;
    static const char wrong[] = "!-_ \\=";
    for (size_t i = 0; i + 1 < sizeof wrong; i++)
        for (size_t at = 5; at < 130000; at += 64997) {
            char where[64];
            copy = strdup(good);
            copy[code - good + (ptrdiff_t)at] = wrong[i];
            if (wrong[i] == '\\')
                EXPECT(copy, CUZK_BAD_INPUT, "not JSON"); /* an unknown escape */
            else {
                snprintf(where, sizeof where, "bad base64 at character %zu", at);
                EXPECT(copy, CUZK_BAD_INPUT, "Phase1Out: ", wrong[i] == '=' ? "bad base64" : where);
            }
            free(copy);
        }
    /* padding at the end of a piece that is not the last */
    copy = strdup(good);
    copy[code - good + 65535] = '=';
    EXPECT(copy, CUZK_BAD_INPUT, "Phase1Out: ", "bad base64 at character 65535");
    free(copy);
    /* characters lost */
    for (int lost = 1; lost < 4; lost++) {
        copy = strdup(good);
        char *end = strchr(copy + (code - good), '"');
        memmove(end - lost, end, strlen(end) + 1);
        EXPECT(copy, CUZK_BAD_INPUT, "Phase1Out: ", "bad base64", "not a multiple of 4");
        free(copy);
    }
    copy = strdup(good);
    char *end = strchr(copy + (code - good), '"');
    memmove(end - 400, end, strlen(end) + 1);
    EXPECT(copy, CUZK_BAD_INPUT, "Phase1Out: ", "cut short");
    free(copy);
    free(good);
    good = wrap(text, strlen(text), 8388608);
    EXPECT(good, CUZK_INCONSISTENT, "SectorSize is 8388608", "2048");
    free(good);
    good = wrap(text, strlen(text), 2049);
    EXPECT(good, CUZK_INCONSISTENT, "SectorSize is 2049");
    free(good);
    EXPECT("{\"Phase1Out\":\"\",\"SectorNum\":1,\"SectorSize\":2048}", CUZK_BAD_INPUT,
           "Phase1Out: ", "empty");
    EXPECT("{\"Phase1Out\":7,\"SectorNum\":1,\"SectorSize\":2048}", CUZK_BAD_INPUT,
           "Phase1Out: a number where a string of base64");
    EXPECT("{\"Phase1Out\":\"bnVsbA==\",\"SectorNum\":1,\"SectorSize\":2048}", CUZK_BAD_INPUT,
           "null where an object");
    /* a wrapped wrapper is not looked into */
    char *nested = wrap("{\"Phase1Out\":\"e30=\"}", 20, 2048);
    EXPECT(nested, CUZK_BAD_INPUT, "Phase1Out: ", "\"registered_proof\" is missing");
    free(nested);
    free(text);
}

static void not_json(void **state)
{
    (void)state;
    EXPECT("", CUZK_BAD_INPUT, "empty");
    EXPECT("[]", CUZK_BAD_INPUT, "an array where an object is expected");
    EXPECT("7", CUZK_BAD_INPUT, "a number where an object is expected");
    EXPECT("null", CUZK_BAD_INPUT, "null where an object is expected");
    EXPECT("<html>", CUZK_BAD_INPUT, "not JSON at byte");
    EXPECT("{\"comm_r\":[1,2", CUZK_BAD_INPUT, "comm_r", "cut short here, at byte 14");
    EXPECT("{\"comm_r\":[1 2]}", CUZK_BAD_INPUT, "comm_r[0]: not JSON at byte 1");
    EXPECT("{\"comm_r\":[01]}", CUZK_BAD_INPUT, "not JSON at byte");
    char *text = json_dumps(inner, JSON_COMPACT), *more;
    assert_true(asprintf(&more, "%s {}", text) > 0);
    EXPECT(more, CUZK_BAD_INPUT, "not JSON at byte");
    free(more);
    /* nesting */
    char *deep = malloc(1 << 20);
    int n = sprintf(deep, "{\"x\":");
    memset(deep + n, '[', 500);
    memset(deep + n + 500, ']', 500);
    strcpy(deep + n + 1000, "}");
    EXPECT(deep, CUZK_BAD_INPUT, "\"registered_proof\" is missing");
    memset(deep + n, '[', (1 << 20) - n - 1);
    deep[(1 << 20) - 1] = 0;
    EXPECT(deep, CUZK_BAD_INPUT, "nested more than 512 deep");
    free(deep);
    free(text);
}

static void truncated_anywhere(void **state)
{
    (void)state;
    char *text = json_dumps(inner, JSON_COMPACT), *wrapped = wrap(text, strlen(text), 2048);
    size_t n = strlen(text), m = strlen(wrapped);
    for (size_t cut = 0; cut < n; cut += cut < 400 || cut + 400 > n ? 1 : 509)
        expect_error(text, cut, CUZK_BAD_INPUT, (const char *const[3]){cut ? "cut short" : "empty"});
    for (size_t cut = 1; cut < m; cut += cut < 100 || cut + 100 > m ? 1 : 1021)
        expect_error(wrapped, cut, CUZK_BAD_INPUT, (const char *const[3]){"cut short here, at byte"});
    for (size_t cut = 1; cut < n; cut += cut < 100 || cut + 100 > n ? 1 : 1021) {
        char *w = wrap(text, cut, 2048);
        EXPECT(w, CUZK_BAD_INPUT, "Phase1Out: ", "cut short here, at byte");
        free(w);
    }
    free(text);
    free(wrapped);
}

/* Any byte changed: an error or another document, never a crash. Names of members that are lost are reported.
 */
static void mutated(void **state)
{
    (void)state;
    char *text = json_dumps(inner, JSON_COMPACT);
    size_t n = strlen(text), bad = 0;
    uint32_t seed = 12345;
    for (int i = 0; i < 3000; i++) {
        seed = seed * 1664525 + 1013904223;
        size_t at = seed % n;
        char old = text[at];
        seed = seed * 1664525 + 1013904223;
        text[at] = (char)(seed >> 24);
        porep_c1 *c;
        cuzk_error err = {0};
        if (porep_c1_parse(&c, (const uint8_t *)text, n, &err) != CUZK_OK) {
            assert_null(c);
            assert_true(strlen(err.message) > 10);
            bad++;
        }
        porep_c1_free(c);
        text[at] = old;
    }
    assert_true(bad > 1000);
    free(text);
}

static void no_memory(void **state)
{
    (void)state;
    char *text = json_dumps(inner, JSON_COMPACT), *wrapped = wrap(text, strlen(text), 2048);
    size_t length = strlen(wrapped);
    uint64_t n;
    for (n = 1;; n++) {
        porep_c1 *c;
        cuzk_error err;
        mem_fault_set(n, 0);
        cuzk_status st = porep_c1_parse(&c, (const uint8_t *)wrapped, length, &err);
        mem_fault_set(0, 0);
        if (st == CUZK_OK) {
            porep_c1_free(c);
            break;
        }
        assert_int_equal(st, CUZK_OUT_OF_MEMORY);
        assert_null(c);
        mem_fault_set(n, 1); /* and all from there on */
        assert_int_equal(porep_c1_parse(&c, (const uint8_t *)wrapped, length, &err), CUZK_OUT_OF_MEMORY);
        mem_fault_set(0, 0);
    }
    assert_true(n > 10);
    free(text);
    free(wrapped);
}

/* The real size: 51 MB of JSON inside 69 MB of base64. */
static void real_size(void **state)
{
    (void)state;
    size_t n;
    uint8_t *text = test_data("porep-32g-1/c1.json", &n);
    porep_c1 *c = parse_ok((const char *)text, n);
    assert_int_equal(c->partitions, 10);
    assert_int_equal(c->challenges, 18);
    assert_string_equal(c->seal->name, "StackedDrg32GiBV1_1");
    assert_int_equal(c->challenge[179].layers, 11);
    assert_int_equal(c->challenge[179].comm_r_last.levels, 10);
    assert_int_equal(c->challenge[179].comm_d.levels, 30);
    assert_true(c->bytes < 20u << 20);
    porep_c1_free(c);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms),         cmocka_unit_test(any_order),    cmocka_unit_test(spellings),
        cmocka_unit_test(missing_members),    cmocka_unit_test(bad_arrays),   cmocka_unit_test(bad_counts),
        cmocka_unit_test(bad_values),         cmocka_unit_test(bad_wrapping), cmocka_unit_test(not_json),
        cmocka_unit_test(truncated_anywhere), cmocka_unit_test(mutated),      cmocka_unit_test(no_memory),
        cmocka_unit_test(real_size),
    };
    return cmocka_run_group_tests_name("c1", tests, setup, teardown);
}
