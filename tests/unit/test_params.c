/* Parameter files and keys that are cut, damaged, or somebody else's; writing where there is no room. Every
 * fault is an error with a sentence; none reaches the mathematics or kills the process. */
#include "base/encode.h"
#include "base/hash.h"
#include "base/mem.h"
#include "groth16/groth16_internal.h"
#include "support/ref_groth16.h"
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static test_circuit circuit;
static char good_path[512], vk_path[512];
static uint8_t *good; /* the file's bytes */
static size_t good_size;
static params *good_params;

static void ok(cuzk_status s, const cuzk_error *err)
{
    if (s != CUZK_OK)
        fail_msg("%s: %s", cuzk_status_name(s), err->message);
}

static int make_files(void **state)
{
    (void)state;
    toxic_waste t;
    cuzk_error err = {0};
    random_system shape = {.seed = 1, .count = 3, .imports = 2, .globals = 9, .tail = 5, .rows = 12};
    toxic_waste_test(&t);
    test_circuit_make_closed(&circuit, shape);
    while (circuit.w.inputs < 3) { /* the tests want some public inputs */
        test_circuit_clear(&circuit);
        shape.seed += 1000;
        test_circuit_make_closed(&circuit, shape);
    }
    snprintf(good_path, sizeof(good_path), "%s", test_path("good.params"));
    snprintf(vk_path, sizeof(vk_path), "%s", test_path("good.vk"));
    ok(groth16_setup(circuit.r, &t, good_path, vk_path, NULL, NULL, NULL, &err), &err);
    ok(file_read(&good, &good_size, good_path, (size_t)1 << 30, &err), &err);
    ok(params_open(&good_params, good_path, &err), &err);
    return 0;
}

static int clear_files(void **state)
{
    (void)state;
    params_close(good_params);
    mem_free(good);
    test_circuit_clear(&circuit);
    return 0;
}

/* Writes bytes under a name and opens them; the status and the message must be as said. */
static void opens_with(const uint8_t *data, size_t size, cuzk_status status, const char *word)
{
    cuzk_error err = {0};
    params *p = NULL;
    const char *path = test_path("bad.params");
    FILE *f = fopen(path, "wb"); /* in place: cheaper than file_save, which syncs */
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    fclose(f);
    cuzk_status s = params_open(&p, path, &err);
    if (s != status || (word && !strstr(err.message, word)) ||
        (s != CUZK_OK && !strstr(err.message, "bad.params")))
        fail_msg("%zu bytes: %s: \"%s\", expected \"%s\"", size, cuzk_status_name(s), err.message,
                 word ? word : "");
    params_close(p);
}

/* ---- cut short ---- */
static void test_cut_in_every_section(void **state)
{
    (void)state;
    for (int i = 0; i < PARAMS_SECTIONS; i++) {
        params_section s;
        params_get_section(good_params, i, &s);
        size_t bytes = s.count * s.point_bytes;
        opens_with(good, s.offset - 4, CUZK_BAD_INPUT, s.name); /* before the length word */
        opens_with(good, s.offset - 1, CUZK_BAD_INPUT, s.name);
        opens_with(good, s.offset, CUZK_BAD_INPUT, s.name);
        opens_with(good, s.offset + 1, CUZK_BAD_INPUT, s.name);
        opens_with(good, s.offset + bytes / 2, CUZK_BAD_INPUT, s.name);
        opens_with(good, s.offset + bytes - s.point_bytes, CUZK_BAD_INPUT, s.name);
        opens_with(good, s.offset + bytes - 1, CUZK_BAD_INPUT, s.name);
    }
    opens_with(good, good_size - 192, CUZK_BAD_INPUT, "b_g2");
    opens_with(good, good_size - 96, CUZK_BAD_INPUT, "b_g2");
    opens_with(good, good_size, CUZK_OK, NULL);
}

static void test_cut_anywhere(void **state)
{
    (void)state;
    for (size_t size = 0; size < good_size; size += size < 3000 ? 1 : 97)
        opens_with(good, size, CUZK_BAD_INPUT, NULL);
}

static void test_longer(void **state)
{
    (void)state;
    uint8_t *d = malloc(good_size + 1);
    memcpy(d, good, good_size);
    d[good_size] = 0;
    opens_with(d, good_size + 1, CUZK_BAD_INPUT, "1 bytes follow");
    free(d);
}

/* ---- length words ---- */
static void test_length_words(void **state)
{
    (void)state;
    static const uint32_t values[] = {0xffffffff, 0x80000000, 0x7fffffff, 0x10000000};
    uint8_t *d = malloc(good_size);
    size_t before = mem_rss_bytes();
    for (int i = -1; i < PARAMS_SECTIONS; i++) {
        params_section s = {.offset = VK_HEAD_BYTES, .name = "ic points"};
        if (i >= 0)
            params_get_section(good_params, i, &s);
        memcpy(d, good, good_size);
        uint32_t count = load_be32(d + s.offset - 4);
        for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
            store_be32(d + s.offset - 4, values[k]);
            opens_with(d, good_size, CUZK_BAD_INPUT, s.name);
        }
        store_be32(d + s.offset - 4, count + 1);
        opens_with(d, good_size, CUZK_BAD_INPUT, NULL);
        store_be32(d + s.offset - 4, count - 1);
        opens_with(d, good_size, CUZK_BAD_INPUT, NULL);
        store_be32(d + s.offset - 4, 0);
        opens_with(d, good_size, CUZK_BAD_INPUT, NULL);
    }
    assert_true(mem_rss_bytes() < before + ((size_t)16 << 20)); /* nothing large was allocated on the way */
    free(d);
}

/* ---- other things under this name ---- */
static void test_error_page(void **state)
{
    (void)state;
    static const char page[] = "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head></html>\n";
    static const char json[] =
        "{\"error\": \"not found\", \"status\": 404, \"detail\": \"no such object\"}\n";
    char *large = malloc(100000);
    memset(large, 'x', 100000);
    memcpy(large, page, sizeof(page) - 1);
    opens_with((const uint8_t *)page, sizeof(page) - 1, CUZK_BAD_INPUT, "<!DOCTYPE html>");
    opens_with((const uint8_t *)large, 100000, CUZK_BAD_INPUT, "<!DOCTYPE html>");
    opens_with((const uint8_t *)json, sizeof(json) - 1, CUZK_BAD_INPUT, "text");
    opens_with((const uint8_t *)"", 0, CUZK_BAD_INPUT, "0 bytes");
    free(large);
    uint8_t *zeros = calloc(1, good_size);
    opens_with(zeros, good_size, CUZK_BAD_INPUT, NULL);
    memset(zeros, 0xff, good_size);
    opens_with(zeros, good_size, CUZK_BAD_INPUT, NULL);
    free(zeros);
    verifying_key vk;
    cuzk_error err = {0};
    const char *path = test_path("page.vk");
    ok(file_save(path, page, sizeof(page) - 1, &err), &err);
    assert_int_equal(vk_open(&vk, path, &err), CUZK_BAD_INPUT);
    assert_non_null(strstr(err.message, "<!DOCTYPE html>"));
}

static void test_not_a_file(void **state)
{
    (void)state;
    cuzk_error err = {0};
    params *p;
    verifying_key vk;
    assert_int_equal(params_open(&p, "/nonexistent/x.params", &err), CUZK_NOT_FOUND);
    assert_non_null(strstr(err.message, "/nonexistent/x.params"));
    assert_int_equal(params_open(&p, "/", &err), CUZK_IO_ERROR);
    assert_int_equal(vk_open(&vk, "/nonexistent/x.vk", &err), CUZK_NOT_FOUND);
    assert_int_not_equal(vk_open(&vk, "/", &err), CUZK_OK);
    if (geteuid() != 0) {
        const char *path = test_path("secret.params");
        ok(file_save(path, "x", 1, &err), &err);
        chmod(path, 0);
        assert_int_equal(params_open(&p, path, &err), CUZK_IO_ERROR);
    }
}

/* ---- points ---- */
/* A point on the curve y^2 = x^3 + 4 that is outside the subgroup; most points are. */
static void outside_g1(uint8_t out[96])
{
    uint8_t x[48] = {0};
    for (x[47] = 1;; x[47]++) {
        g1_affine p;
        x[0] = 0x80;
        if (blst_p1_uncompress(&p, x) == BLST_SUCCESS && !blst_p1_affine_in_g1(&p)) {
            blst_p1_affine_serialize(out, &p);
            return;
        }
    }
}

static void outside_g2(uint8_t out[192])
{
    uint8_t x[96] = {0};
    for (x[95] = 1;; x[95]++) {
        g2_affine p;
        x[0] = 0x80;
        if (blst_p2_uncompress(&p, x) == BLST_SUCCESS && !blst_p2_affine_in_g2(&p)) {
            blst_p2_affine_serialize(out, &p);
            return;
        }
    }
}

/* What a bad point may look like, and what the check says of it. */
static const char *spoil(uint8_t *point, uint32_t bytes, int kind)
{
    switch (kind) {
    case 0:
        point[bytes - 1] ^= 1;
        return "is not on the curve";
    case 1:
        bytes == 96 ? outside_g1(point) : outside_g2(point);
        return "outside the subgroup";
    case 2:
        memset(point, 0, bytes);
        point[0] = 0x40;
        return "infinity";
    case 3: /* a coordinate that is not below p */
        memset(point, 0xff, 48);
        point[0] = 0x1f;
        return "is not an encoded point";
    default:
        point[0] |= 0x80; /* says that it is compressed */
        return "is not an encoded point";
    }
}

static void check_finds(const uint8_t *d, const char *section, uint64_t at, const char *word, pool *pl)
{
    cuzk_error err = {0};
    params *p;
    char place[64];
    const char *path = test_path("point.params");
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(d, 1, good_size, f), good_size);
    fclose(f);
    ok(params_open(&p, path, &err), &err);
    snprintf(place, sizeof(place), "point %llu of the %s section", (unsigned long long)at, section);
    assert_int_equal(params_check(p, pl, NULL, NULL, &err), CUZK_BAD_INPUT);
    if (!strstr(err.message, word) || !strstr(err.message, place))
        fail_msg("\"%s\" does not say \"%s\" and \"%s\"", err.message, place, word);
    params_close(p);
}

static void test_points(void **state)
{
    (void)state;
    uint8_t *d = malloc(good_size);
    pool *pl;
    cuzk_error err = {0};
    ok(pool_create(&pl, 2, &err), &err);
    for (int i = 0; i < PARAMS_SECTIONS; i++) {
        params_section s;
        params_get_section(good_params, i, &s);
        const uint64_t places[] = {0, s.count / 2, s.count - 1};
        for (int kind = 0; kind < 5; kind++) {
            uint64_t at = places[(i + kind) % 3];
            memcpy(d, good, good_size);
            const char *word = spoil(d + s.offset + at * s.point_bytes, s.point_bytes, kind);
            check_finds(d, s.name, at, word, kind % 2 ? pl : NULL);
        }
        /* Of two, the first is named. */
        memcpy(d, good, good_size);
        spoil(d + s.offset + (s.count - 1) * s.point_bytes, s.point_bytes, 0);
        check_finds(d, s.name, s.count - 1,
                    spoil(d + s.offset + (s.count - 1) * s.point_bytes, s.point_bytes, 1), pl);
    }
    pool_destroy(pl);
    free(d);
}

/* The key's points are checked when the file is opened. */
static void test_key_points(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t at, bytes;
    } points[] = {{"alpha_g1", 0, 96},     {"beta_g1", 96, 96},    {"beta_g2", 192, 192},
                  {"gamma_g2", 384, 192},  {"delta_g1", 576, 96},  {"delta_g2", 672, 192},
                  {"ic point 0", 868, 96}, {"ic point 1", 964, 96}};
    uint8_t *d = malloc(good_size);
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        for (int kind = 0; kind < 5; kind++) {
            cuzk_error err = {0};
            verifying_key vk;
            size_t used;
            memcpy(d, good, good_size);
            const char *word = spoil(d + points[i].at, points[i].bytes, kind);
            opens_with(d, good_size, CUZK_BAD_INPUT, points[i].name);
            assert_int_equal(vk_parse(&vk, d, good_size, &used, &err), CUZK_BAD_INPUT);
            if (!strstr(err.message, word) || !strstr(err.message, points[i].name))
                fail_msg("\"%s\" does not say \"%s\"", err.message, word);
        }
    }
    free(d);
}

/* ---- another circuit's ---- */
static void test_other_circuit(void **state)
{
    (void)state;
    test_circuit other;
    toxic_waste t;
    cuzk_error err = {0};
    params *p;
    verifying_key vk;
    random_system shape = {.seed = 52, .count = 3, .imports = 2, .globals = 7, .tail = 5, .rows = 12};
    const char *path = test_path("other.params");
    toxic_waste_test(&t);
    test_circuit_make_closed(&other, shape);
    ok(groth16_setup(other.r, &t, path, NULL, NULL, NULL, NULL, &err), &err);
    ok(params_open(&p, path, &err), &err);
    ok(params_match(p, other.r, &err), &err);
    assert_int_equal(params_match(p, circuit.r, &err), CUZK_INCONSISTENT);
    assert_non_null(strstr(err.message, "another circuit"));
    assert_int_equal(params_match(good_params, other.r, &err), CUZK_INCONSISTENT);
    /* A prover is not even made. */
    const cuzk_backend *b = cuzk_backend_cpu();
    cuzk_device *device;
    groth16_prover *g;
    ok(b->device_open(&device, 0, NULL, &err), &err);
    assert_int_equal(groth16_prover_create(&g, b, device, circuit.r, p, &err), CUZK_INCONSISTENT);
    /* The right shape from another setup: the proof fails against the other key. */
    uint8_t proof[GROTH16_PROOF_BYTES];
    ok(groth16_prover_create(&g, b, device, circuit.r, good_params, &err), &err);
    ok(groth16_prove(g, &circuit.w, NULL, NULL, proof, NULL, NULL, &err), &err);
    groth16_prover_destroy(g);
    b->device_close(device);
    t.alpha = FR_TWO;
    ok(groth16_setup(circuit.r, &t, path, test_path("other.vk"), NULL, NULL, NULL, &err), &err);
    ok(vk_open(&vk, test_path("other.vk"), &err), &err);
    assert_int_equal(groth16_verify(&vk, proof, circuit.w.input + 1, circuit.w.inputs - 1, &err),
                     CUZK_INVALID_PROOF);
    vk_clear(&vk);
    ok(vk_open(&vk, vk_path, &err), &err);
    ok(groth16_verify(&vk, proof, circuit.w.input + 1, circuit.w.inputs - 1, &err), &err);
    vk_clear(&vk);
    params_close(p);
    test_circuit_clear(&other);
}

static void test_vk_files(void **state)
{
    (void)state;
    cuzk_error err = {0};
    verifying_key vk;
    uint8_t *d, *again;
    size_t size;
    ok(file_read(&d, &size, vk_path, 1 << 20, &err), &err);
    assert_memory_equal(d, good, size); /* the .params file begins with the .vk */
    ok(vk_open(&vk, vk_path, &err), &err);
    assert_int_equal(vk_bytes(&vk), size);
    again = malloc(size);
    vk_encode(again, &vk);
    assert_memory_equal(d, again, size);
    vk_clear(&vk);
    const char *path = test_path("cut.vk");
    for (size_t n = 0; n < size; n += n < 900 ? 1 : 7) {
        FILE *f = fopen(path, "wb");
        fwrite(d, 1, n, f);
        fclose(f);
        assert_int_equal(vk_open(&vk, path, &err), CUZK_BAD_INPUT);
    }
    assert_int_equal(vk_open(&vk, good_path, &err), CUZK_BAD_INPUT); /* a .params file is no .vk */
    assert_non_null(strstr(err.message, "follow the verifying key"));
    free(again);
    mem_free(d);
}

/* ---- digests ---- */
static void test_digest(void **state)
{
    (void)state;
    uint8_t head[16], sha[32], expected[64];
    cuzk_error err = {0};
    blake2b b;
    ok(params_digest(good_params, head, sha, NULL, NULL, &err), &err);
    blake2b_init(&b, 64, NULL, 0);
    blake2b_update(&b, good, good_size);
    blake2b_final(&b, expected);
    assert_memory_equal(head, expected, 16);
    sha256_digest(expected, good, good_size);
    assert_memory_equal(sha, expected, 32);
}

/* ---- no room, no right to write ---- */
static int folder_has(const char *path, const char *part)
{
    char folder[512];
    snprintf(folder, sizeof(folder), "%s", path);
    *strrchr(folder, '/') = 0;
    DIR *d = opendir(folder);
    int found = 0;
    for (struct dirent *e; (e = readdir(d));)
        found |= strstr(e->d_name, part) != NULL;
    closedir(d);
    return found;
}

static void test_no_room(void **state)
{
    (void)state;
    toxic_waste t;
    cuzk_error err = {0};
    struct rlimit old, small = {0};
    const char *path = test_path("full.params");
    toxic_waste_test(&t);
    getrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_IGN);
    static const size_t room_left[] = {0, 500, 5000};
    for (int i = 0; i < 4; i++) {
        small.rlim_cur = i < 3 ? room_left[i] : good_size - 1;
        small.rlim_max = old.rlim_max;
        setrlimit(RLIMIT_FSIZE, &small);
        cuzk_status s = groth16_setup(circuit.r, &t, path, NULL, NULL, NULL, NULL, &err);
        setrlimit(RLIMIT_FSIZE, &old);
        assert_int_equal(s, CUZK_IO_ERROR);
        assert_non_null(strstr(err.message, "full.params"));
        assert_false(folder_has(path, "full.params")); /* under no name at all */
    }
    /* A file that is there already survives a setup that fails. */
    ok(file_save(path, "old", 3, &err), &err);
    setrlimit(RLIMIT_FSIZE, &small);
    cuzk_status s = groth16_setup(circuit.r, &t, path, NULL, NULL, NULL, NULL, &err);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(s, CUZK_IO_ERROR);
    uint8_t *d;
    size_t size;
    ok(file_read(&d, &size, path, 100, &err), &err);
    assert_int_equal(size, 3);
    mem_free(d);
    assert_int_equal(groth16_setup(circuit.r, &t, "/nonexistent/x.params", NULL, NULL, NULL, NULL, &err),
                     CUZK_NOT_FOUND);
    signal(SIGXFSZ, SIG_DFL);
}

/* ---- files that change under the reader ---- */
typedef struct changing {
    char path[512];
    params *p;
    cuzk_device *device;
    groth16_prover *g;
} changing;

static void changing_open(changing *c, const char *name, int stream)
{
    cuzk_error err = {0};
    cuzk_device_options o = {.threads = 2, .stream_queries = (uint32_t)stream};
    snprintf(c->path, sizeof(c->path), "%s", test_path(name));
    ok(file_save(c->path, good, good_size, &err), &err);
    ok(params_open(&c->p, c->path, &err), &err);
    ok(cuzk_backend_cpu()->device_open(&c->device, 0, &o, &err), &err);
    ok(groth16_prover_create(&c->g, cuzk_backend_cpu(), c->device, circuit.r, c->p, &err), &err);
}

static void changing_close(changing *c)
{
    groth16_prover_destroy(c->g);
    cuzk_backend_cpu()->device_close(c->device);
    params_close(c->p);
}

/* Cut while mapped: an error, no signal. */
static void test_shrunk(void **state)
{
    (void)state;
    static const double parts[] = {0, 0.01, 0.3, 0.9};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        changing c;
        cuzk_error err = {0};
        uint8_t proof[GROTH16_PROOF_BYTES], head[16];
        changing_open(&c, "shrunk.params", 1);
        ok(groth16_prove(c.g, &circuit.w, NULL, NULL, proof, NULL, NULL, &err), &err);
        assert_int_equal(truncate(c.path, (off_t)(parts[i] * (double)good_size)), 0);
        assert_int_equal(groth16_prove(c.g, &circuit.w, NULL, NULL, proof, NULL, NULL, &err), CUZK_BAD_INPUT);
        assert_non_null(strstr(err.message, "shrunk.params"));
        assert_int_equal(params_check(c.p, NULL, NULL, NULL, &err), CUZK_BAD_INPUT);
        assert_int_equal(params_digest(c.p, head, NULL, NULL, NULL, &err), CUZK_BAD_INPUT);
        changing_close(&c);
    }
}

/* Overwritten in place by other points: no proof, and the sentence says why. */
static void test_overwritten(void **state)
{
    (void)state;
    changing c;
    cuzk_error err = {0};
    uint8_t proof[GROTH16_PROOF_BYTES], zero[GROTH16_PROOF_BYTES] = {0};
    params_section s;
    changing_open(&c, "overwritten.params", 1);
    ok(groth16_prove(c.g, &circuit.w, NULL, NULL, proof, NULL, NULL, &err), &err);
    params_get_section(c.p, 0, &s);
    usleep(20000); /* the clock of the file system must move */
    int fd = open(c.path, O_WRONLY);
    for (uint64_t i = 0; i + 1 < s.count; i++) /* h moved up by one point */
        assert_int_equal(pwrite(fd, good + s.offset + (i + 1) * 96, 96, (off_t)(s.offset + i * 96)), 96);
    close(fd);
    assert_int_equal(groth16_prove(c.g, &circuit.w, NULL, NULL, proof, NULL, NULL, &err), CUZK_BAD_INPUT);
    assert_non_null(strstr(err.message, "changed"));
    assert_memory_equal(proof, zero, sizeof(zero));
    changing_close(&c);
}

/* Replaced by rename: the open one goes on as it was. */
static void test_replaced(void **state)
{
    (void)state;
    changing c;
    cuzk_error err = {0};
    uint8_t proof[GROTH16_PROOF_BYTES];
    changing_open(&c, "replaced.params", 1);
    ok(file_save(c.path, "<html>", 6, &err), &err);
    ok(groth16_prove(c.g, &circuit.w, NULL, NULL, proof, NULL, NULL, &err), &err);
    ok(params_check(c.p, NULL, NULL, NULL, &err), &err);
    changing_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_in_every_section),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_longer),
        cmocka_unit_test(test_length_words),
        cmocka_unit_test(test_error_page),
        cmocka_unit_test(test_not_a_file),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_key_points),
        cmocka_unit_test(test_other_circuit),
        cmocka_unit_test(test_vk_files),
        cmocka_unit_test(test_digest),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_shrunk),
        cmocka_unit_test(test_overwritten),
        cmocka_unit_test(test_replaced),
    };
    return cmocka_run_group_tests(tests, make_files, clear_files);
}
