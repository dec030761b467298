/* Rows of a device: what its plug-in measures on inputs made there, and whole proofs. */
#include "device.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct device_row {
    const char *operation;
    uint32_t log, variant;
} device_row;

/* Sums also with as many copies of the bases as their targets allow (copies + 256 windows), and of plain
 * bases. */
static const device_row DEFAULT_ROWS[] = {
    {"copy", 32, 0},
    {"fp-mul", 0, 0},
    {"fr-mul", 0, 0},
    {"fr-mul-rows", 0, 0},
    {"fr-mul-split", 0, 0},
    {"fp2-mul", 0, 0},
    {"upload", 30, 0},
    {"msm-g1", 16, 0},
    {"msm-g1", 20, 0},
    {"msm-g1", 22, 0},
    {"msm-g1", 24, 0},
    {"msm-g1", 26, 0},
    {"msm-g1", 27, 0},
    {"msm-g1", 20, 13 + 256 * 1},
    {"msm-g1", 22, 12 + 256 * 1},
    {"msm-g1", 24, 11 + 256 * 1},
    {"msm-g1", 26, 5 + 256 * 2},
    {"msm-g1", 27, 2 + 256 * 5},
    {"msm-g1", 27, 65536 + 1},
    {"msm-g2", 20, 0},
    {"msm-g2", 22, 0},
    {"subset-g1", 20, 0},
    {"subset-g1", 24, 0},
    {"subset-g1", 26, 0},
    {"subset-g2", 24, 0},
    {"ntt", 20, 0},
    {"ntt", 22, 0},
    {"ntt", 24, 0},
    {"ntt", 27, 0},
    {"ntt-inverse", 27, 0},
    {"ntt", 27, 1},
    {"h", 20, 0},
    {"h", 22, 0},
    {"h", 27, 0},
    {"h", 27, 1},
    {"spmv", 27, 0},
    {"spmv", 27, 1},
    {"witness-expand", 27, 0},
    {"decode-g1", 24, 0},
    {"check-g1", 22, 0},
    {"check-g2", 20, 0},
};

static int measure(cuzk_device *device, bench_device_fn *bench, const device_row *row, uint32_t repeat)
{
    double best = 0, median = 0;
    char note[320] = "";
    cuzk_error err = {CUZK_OK, ""};
    cuzk_status s = bench(device, row->operation, row->log, row->variant, repeat, &best, &median, note,
                          sizeof note, &err);
    if (s != CUZK_OK)
        printf("%-14s 2^%-2u %2u  failed: %s\n", row->operation, row->log, row->variant, err.message);
    else
        printf("%-14s 2^%-2u %2u  best %10.3f ms  median %10.3f ms  %s\n", row->operation, row->log,
               row->variant, best, median, note);
    fflush(stdout);
    return s == CUZK_OK && !strstr(note, "WRONG") ? 0 : 1;
}

static int run_rows(const cuzk_backend *backend, const bench_device_options *o, int count, char **names)
{
    cuzk_error err = {CUZK_OK, ""};
    cuzk_device *device;
    cuzk_device_info info;
    bench_device_fn *bench;
    int bad = 0;
    void *so = dlopen(o->plugin ? o->plugin : "libcuzk-cuda.so", RTLD_NOW | RTLD_LOCAL);
    void *symbol = so ? dlsym(so, BENCH_DEVICE_SYMBOL) : NULL;
    if (!symbol) {
        fprintf(stderr, "the plug-in has no measurements of its own\n");
        return 3;
    }
    memcpy(&bench, &symbol, sizeof bench);
    cuzk_device_options d = {.memory_limit = o->vram_limit, .threads = o->threads};
    if (backend->device_describe(0, &info, &err) || backend->device_open(&device, 0, &d, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 3;
    }
    printf("# %s (%s), %u multiprocessors, %.1f GiB free\n", info.name, info.detail, info.processors,
           (double)info.memory_free / (1 << 30));
    if (count == 0)
        for (size_t i = 0; i < sizeof DEFAULT_ROWS / sizeof *DEFAULT_ROWS; i++)
            bad |= measure(device, bench, &DEFAULT_ROWS[i], o->repeat);
    for (int i = 0; i < count; i++) {
        device_row row = {names[i], 0, 0};
        char *colon = strchr(names[i], ':');
        if (colon) {
            *colon = 0;
            row.log = (uint32_t)strtoul(colon + 1, &colon, 10);
            row.variant = *colon == ':' ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
        }
        bad |= measure(device, bench, &row, o->repeat);
    }
    backend->device_close(device);
    return bad;
}

static void usage(FILE *f)
{
    fputs("usage: cuzk-bench device [options] [OPERATION:LOG[:VARIANT] ...]\n"
          "       cuzk-bench device [options] prove CIRCUIT [ROUNDS]\n"
          "CIRCUIT: as porep-32g, or mixed-22: 2^22 rows, four wires of five are bits\n"
          "  --plugin FILE        the back end (default: libcuzk-cuda.so beside the program)\n"
          "  --vram-limit GIB     device memory that may be used\n"
          "  --then-batch GIB     prove: afterwards once more as a batch within so much device memory\n"
          "  --devices N          devices that prove (default 1)\n"
          "  --workers N          proofs under way on each device (default 2)\n"
          "  --threads N          processor threads for witnesses and transfers (default all)\n"
          "  --b-g2 gpu|cpu       where the sum in G2 is computed\n"
          "  --repeat N           measurements of each row (default 3)\n",
          f);
}

int bench_device_main(int argc, char **argv)
{
    bench_device_options o = {.devices = 1, .workers = 2, .repeat = 3};
    const cuzk_backend *backend;
    cuzk_error err = {CUZK_OK, ""};
    uint32_t count;
    int i = 1;
    (void)setvbuf(stdout, NULL, _IOLBF, 0); /* a run that is cut off leaves what it measured */
    for (; i < argc && argv[i][0] == '-'; i += 2) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(name, "--help"))
            return usage(stdout), 0;
        if (!value)
            return usage(stderr), 2;
        if (!strcmp(name, "--plugin"))
            o.plugin = value;
        else if (!strcmp(name, "--vram-limit"))
            o.vram_limit = (uint64_t)(strtod(value, NULL) * (1 << 30));
        else if (!strcmp(name, "--then-batch"))
            o.batch_limit = (uint64_t)(strtod(value, NULL) * (1 << 30));
        else if (!strcmp(name, "--devices"))
            o.devices = (uint32_t)strtoul(value, NULL, 10);
        else if (!strcmp(name, "--workers"))
            o.workers = (uint32_t)strtoul(value, NULL, 10);
        else if (!strcmp(name, "--threads"))
            o.threads = (unsigned)strtoul(value, NULL, 10);
        else if (!strcmp(name, "--b-g2"))
            o.b_g2_on_host = !strcmp(value, "cpu");
        else if (!strcmp(name, "--repeat"))
            o.repeat = (uint32_t)strtoul(value, NULL, 10);
        else
            return usage(stderr), 2;
    }
    if (cuzk_backend_load(&backend, o.plugin, &err) || backend->device_count(&count, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 3;
    }
    if (i + 1 < argc && !strcmp(argv[i], "prove"))
        return bench_device_prove(backend, &o, argv[i + 1],
                                  i + 2 < argc ? (unsigned)strtoul(argv[i + 2], NULL, 10) : 1);
    return run_rows(backend, &o, argc - i, argv + i);
}
