/* Cache files of compiled circuits from anywhere: what opens without its digest must still be safe to use. */
#include "base/mem.h"
#include "r1cs/r1cs.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const r1cs *r)
{
    r1cs_counts n;
    cuzk_circuit_view v;
    witness w;
    cuzk_error err;
    uint8_t rows[32];
    char path[64];
    r1cs_get_counts(r, &n);
    if (n.constraints > 1 << 16 || n.aux > 1 << 16 || n.inputs > 1 << 16)
        return;
    if (r1cs_view(r, &v, &err) != CUZK_OK)
        return;
    for (uint64_t row = 0; row < n.constraints; row += 7)
        r1cs_row_path(r, row, path, sizeof(path));
    if (r1cs_digest(r, rows, 100, NULL, NULL, NULL, &err) != CUZK_OK ||
        witness_init(&w, n.inputs, n.aux, n.fields, &err) != CUZK_OK)
        abort();
    fr *a = mem_alloc(n.constraints * sizeof(fr)), *b = mem_alloc(n.constraints * sizeof(fr));
    if (!a || !b || r1cs_multiply(r, &w, a, b, NULL, &err) != CUZK_OK)
        abort();
    cuzk_status st = r1cs_check(r, &w, NULL, &err);
    if (st != CUZK_OK && st != CUZK_UNSATISFIED)
        abort();
    mem_free(a);
    mem_free(b);
    witness_clear(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    r1cs *r;
    cuzk_error err = {0};
    int fd = memfd_create("cache", MFD_CLOEXEC);
    if (fd < 0)
        return 0;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (write(fd, data, size) == (ssize_t)size) {
        cuzk_status st = r1cs_open(&r, path, NULL, 0, &err);
        if (st == CUZK_OK)
            use(r);
        else if (r || st != CUZK_BAD_INPUT || !err.message[0])
            abort();
        r1cs_destroy(r);
    }
    close(fd);
    return 0;
}
