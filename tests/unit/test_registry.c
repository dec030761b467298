/* The tables in source against the registry they were made from. */
#include "filecoin/porep.h"
#include "filecoin/registry.h"
#include "support/data.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *WIRE[] = {[CIRCUIT_POREP] = "porep",
                             [CIRCUIT_WINNING] = "winning",
                             [CIRCUIT_WINDOW] = "wpost",
                             [CIRCUIT_UPDATE] = "snap"};

static uint64_t optional_int(const json_t *o, const char *member)
{
    return json_object_get(o, member) ? test_json_int(o, member) : 0;
}

static void circuits(void **state)
{
    (void)state;
    json_t *all = test_data_json("circuits.json"), *c;
    size_t i;
    assert_int_equal(circuit_count(), json_array_size(all));
    json_array_foreach(all, i, c)
    {
        const char *name = test_json_string(c, "circuit"), *file = test_json_string(c, "file");
        const circuit_info *ci = circuit_by_name(name);
        assert_non_null(ci);
        assert_string_equal(ci->name, name);
        assert_string_equal(ci->file, file);
        assert_int_equal(ci->sector_size, test_json_int(c, "sector_size"));
        assert_int_equal(ci->partitions, optional_int(c, "partitions"));
        assert_int_equal(ci->challenges, optional_int(c, "challenges_per_partition") +
                                             optional_int(c, "challenges_per_sector"));
        assert_int_equal(ci->layers, optional_int(c, "layers"));
        assert_int_equal(ci->sectors, optional_int(c, "sectors_per_partition"));
        assert_int_equal(ci->h, optional_int(c, "h"));
        assert_int_equal(ci->published, json_is_true(json_object_get(c, "published")));
        assert_ptr_equal(circuit_find(ci->kind, ci->sector_size), ci);
        char wire[32], with[300];
        snprintf(wire, sizeof wire, "%s%s", WIRE[ci->kind], strchr(name, '-'));
        assert_string_equal(ci->wire_name, wire);
        assert_ptr_equal(circuit_by_name(wire), ci);
        const char *const suffixes[] = {".params", ".vk"};
        for (int k = 0; k < 4; k++) {
            snprintf(with, sizeof with, "%s%s%s", k & 2 ? "TEST-" : "", file, suffixes[k & 1]);
            assert_ptr_equal(circuit_by_file(with), ci);
        }
        snprintf(with, sizeof with, "%s.txt", file);
        assert_null(circuit_by_file(with));
    }
    assert_null(circuit_by_name("porep-3k"));
    assert_null(circuit_by_name(""));
    assert_null(circuit_by_name(NULL));
    assert_null(circuit_by_file("v28-stacked"));
    assert_null(circuit_find(CIRCUIT_POREP, 1024));
    assert_null(circuit_at(circuit_count()));
    json_decref(all);
}

static void seals(void **state)
{
    (void)state;
    json_t *all = test_data_json("registry.json"), *list = json_object_get(all, "seal"), *s;
    size_t i;
    assert_int_equal(json_array_size(list), 20);
    json_array_foreach(list, i, s)
    {
        const registered_seal *r = seal_by_number(i);
        uint8_t porep_id[32], want[32];
        assert_non_null(r);
        assert_int_equal(r->number, test_json_int(s, "number"));
        assert_int_equal(r->number, i);
        assert_string_equal(r->name, test_json_string(s, "name"));
        assert_ptr_equal(seal_by_name(r->name), r);
        assert_int_equal(r->sector_size, test_json_int(s, "sector_size"));
        assert_int_equal(r->partitions, test_json_int(s, "partitions"));
        assert_int_equal(r->legacy_graph, !strcmp(test_json_string(s, "api_version"), "1.0.0"));
        const char *features = test_json_string(s, "features");
        porep_version v = strstr(features, "SyntheticPoRep")        ? POREP_SYNTHETIC
                          : strstr(features, "NonInteractivePoRep") ? POREP_NON_INTERACTIVE
                          : r->legacy_graph                         ? POREP_V1
                                                                    : POREP_V1_1;
        assert_int_equal(r->version, v);
        assert_ptr_equal(seal_find(r->sector_size, v), r);
        test_json_hex(want, 32, s, "porep_id");
        porep_porep_id(porep_id, r);
        assert_memory_equal(porep_id, want, 32);
        const circuit_info *ci = circuit_find(CIRCUIT_POREP, r->sector_size);
        assert_int_equal(r->challenges, ci->challenges);
        assert_ptr_equal(circuit_by_file(test_json_string(s, "params_file")), ci);
        assert_ptr_equal(circuit_by_file(test_json_string(s, "vk_file")), ci);
    }
    assert_null(seal_by_number(20));
    assert_null(seal_by_number(UINT64_MAX));
    assert_null(seal_by_name("StackedDrg2KiBV3"));
    assert_null(seal_find(4096, POREP_V1_1));
    json_decref(all);
}

static void posts_and_updates(void **state)
{
    (void)state;
    json_t *all = test_data_json("registry.json"), *list = json_object_get(all, "post"), *s;
    size_t i;
    assert_int_equal(json_array_size(list), 15);
    json_array_foreach(list, i, s)
    {
        const registered_post *r = post_by_number(i);
        assert_int_equal(r->number, test_json_int(s, "number"));
        assert_string_equal(r->name, test_json_string(s, "name"));
        assert_ptr_equal(post_by_name(r->name), r);
        assert_int_equal(r->sector_size, test_json_int(s, "sector_size"));
        assert_int_equal(r->challenges, test_json_int(s, "challenge_count"));
        assert_int_equal(r->sectors, test_json_int(s, "sector_count"));
        assert_int_equal(r->winning, i < 5);
        assert_int_equal(r->per_sector_challenges, i >= 10);
        const circuit_info *ci = circuit_find(r->winning ? CIRCUIT_WINNING : CIRCUIT_WINDOW, r->sector_size);
        assert_ptr_equal(circuit_by_file(test_json_string(s, "params_file")), ci);
        assert_int_equal(ci->challenges, r->challenges);
        assert_int_equal(ci->sectors, r->sectors);
    }
    assert_null(post_by_number(15));
    list = json_object_get(all, "update");
    assert_int_equal(json_array_size(list), 5);
    json_array_foreach(list, i, s)
    {
        const registered_update *r = update_by_number(i);
        assert_int_equal(r->number, test_json_int(s, "number"));
        assert_string_equal(r->name, test_json_string(s, "name"));
        assert_ptr_equal(update_by_name(r->name), r);
        assert_int_equal(r->sector_size, test_json_int(s, "sector_size"));
        assert_int_equal(r->partitions, circuit_find(CIRCUIT_UPDATE, r->sector_size)->partitions);
    }
    assert_null(update_by_number(5));
    json_decref(all);
}

static void published_files(void **state)
{
    (void)state;
    json_t *all = test_data_json("parameters.json"), *p;
    const char *name;
    size_t with_size = 0;
    json_object_foreach(all, name, p)
    {
        const published_file *f = published_file_find(name);
        uint8_t digest[16];
        assert_non_null(f);
        assert_string_equal(f->name, name);
        test_json_hex(digest, 16, p, "digest");
        assert_memory_equal(f->digest, digest, 16);
        assert_int_equal(f->sector_size, test_json_int(p, "sector_size"));
        assert_ptr_equal(published_file_by_digest(digest), f);
        digest[15] ^= 1;
        assert_null(published_file_by_digest(digest));
        with_size += f->bytes != 0;
    }
    assert_int_equal(with_size, 40); /* five sizes of four circuits, both files */
    json_decref(all);
    assert_null(published_file_find("v28-nothing.params"));
    /* Every published circuit has both of its files; the 2 KiB PoRep's size is that of the golden test SRS.
     */
    for (size_t i = 0; i < circuit_count(); i++) {
        const circuit_info *ci = circuit_at(i);
        char file[300];
        snprintf(file, sizeof file, "%s.params", ci->file);
        assert_int_equal(published_file_find(file) != NULL, ci->published);
        snprintf(file, sizeof file, "%s.vk", ci->file);
        assert_int_equal(published_file_find(file) != NULL, ci->published);
        if (!strcmp(ci->name, "porep-2k")) {
            assert_int_equal(published_file_find(file)->bytes, 864 + 4 + 40 * 96);
            snprintf(file, sizeof file, "%s.params", ci->file);
            assert_int_equal(published_file_find(file)->bytes, 1114707768);
        }
    }
}

static void sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {{"2KiB", 2048},
                 {"2k", 2048},
                 {"2K", 2048},
                 {"2048", 2048},
                 {"32GiB", 34359738368u},
                 {"32g", 34359738368u},
                 {"8m", 8388608},
                 {"512MiB", 536870912},
                 {"64gib", 68719476736u},
                 {"4k", 4096},
                 {"16k", 16384},
                 {"32KiB", 32768},
                 {"", 0},
                 {"3k", 0},
                 {"2kB", 0},
                 {"2 KiB", 0},
                 {"-2k", 0},
                 {"g", 0},
                 {"2kib ", 0},
                 {"18446744073709551615g", 0},
                 {"2097152k", 0},
                 {"99999999999999999999", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (sector_size_parse(cases[i].text) != cases[i].bytes)
            fail_msg("\"%s\" is read as %llu", cases[i].text,
                     (unsigned long long)sector_size_parse(cases[i].text));
    assert_int_equal(sector_size_parse(NULL), 0);
    assert_string_equal(sector_size_name(34359738368u), "32GiB");
    assert_string_equal(sector_size_name(2048), "2KiB");
    for (size_t i = 0; i < circuit_count(); i++)
        assert_int_equal(sector_size_parse(sector_size_name(circuit_at(i)->sector_size)),
                         circuit_at(i)->sector_size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(circuits),        cmocka_unit_test(seals), cmocka_unit_test(posts_and_updates),
        cmocka_unit_test(published_files), cmocka_unit_test(sizes),
    };
    return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
