/* cuzk-bench device: rows measured on a GPU through its plug-in. */
#ifndef BENCH_DEVICE_H
#define BENCH_DEVICE_H
#include "cuzk/backend.h"

/* A plug-in's optional second symbol: runs operation on 2^log elements made on the device, repeat times, and
 * checks the result. variant: copies of the bases (plus 256 times the windows, plus 65536 for plain bases
 * instead of turned ones), 1 for a coset, 1 for a product whose rows stay in order. Milliseconds. */
#define BENCH_DEVICE_SYMBOL "cuzk_backend_bench"
typedef cuzk_status bench_device_fn(cuzk_device *device, const char *operation, uint32_t log,
                                    uint32_t variant, uint32_t repeat, double *best, double *median,
                                    char *note, size_t note_size, cuzk_error *err);

typedef struct bench_device_options {
    const char *plugin; /* NULL: libcuzk-cuda.so beside the program */
    uint64_t vram_limit;
    uint64_t batch_limit; /* device memory of a batch proved afterwards; 0: none */
    uint32_t devices, workers, b_g2_on_host, repeat;
    unsigned threads;
} bench_device_options;

/* cuzk-bench device ...: returns the exit status. */
int bench_device_main(int argc, char **argv);
/* Proves a whole request of the named circuit (porep-32g): parameters of the test SRS made on the device,
 * synthetic input, every proof verified. rounds: how often. */
int bench_device_prove(const cuzk_backend *backend, const bench_device_options *o, const char *circuit,
                       unsigned rounds);
#endif
