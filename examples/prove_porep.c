/* Proves a PoRep from the C1 document that a sealing worker wrote, and verifies the proof.
 *
 *     cc prove_porep.c $(pkg-config --cflags --libs cuzk) -o prove_porep
 *     ./prove_porep c1.json proof.bin /var/tmp/filecoin-proof-parameters
 *
 * A fourth argument, "test", allows parameters whose secrets are public (their names begin with TEST-). */
#include <cuzk/filecoin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END))
        return NULL;
    long n = ftell(f);
    rewind(f);
    uint8_t *data = n >= 0 ? malloc((size_t)n + 1) : NULL;
    if (data && fread(data, 1, (size_t)n, f) != (size_t)n) {
        free(data);
        data = NULL;
    }
    *size = (size_t)n;
    fclose(f);
    return data;
}

static void show(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    fprintf(stderr, "partition %llu of %llu\n", (unsigned long long)done, (unsigned long long)total);
}

static int write_file(const char *path, const uint8_t *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    int ok = f && fwrite(data, 1, size, f) == size;
    return (f && fclose(f)) || !ok ? -1 : 0;
}

static int prove(cuzk_ctx *ctx, const char *c1_path, const char *proof_path)
{
    cuzk_error err;
    cuzk_task *task = NULL;
    uint8_t *proof = NULL;
    cuzk_request request = {.kind = CUZK_POREP};
    uint8_t *c1 = read_file(c1_path, &request.document.size);
    if (!c1) {
        perror(c1_path);
        return 2;
    }
    request.document.data = c1;
    cuzk_status s = cuzk_task_create(&task, ctx, &request, &err);
    if (s != CUZK_OK)
        goto exit;
    size_t size = (size_t)cuzk_task_partitions(task) * CUZK_PROOF_BYTES;
    proof = malloc(size);
    if (!proof) {
        s = cuzk_error_set(&err, CUZK_OUT_OF_MEMORY, "no memory for the proof");
        goto exit;
    }
    s = cuzk_task_prove(task, proof, size, show, NULL, NULL, &err);
    if (s == CUZK_OK)
        s = cuzk_task_verify(task, proof, size, &err); /* as the chain would */
    if (s == CUZK_OK && write_file(proof_path, proof, size))
        s = cuzk_error_set(&err, CUZK_IO_ERROR, "cannot write %s", proof_path);
    if (s == CUZK_OK)
        printf("%s: %zu bytes, valid\n", cuzk_task_circuit(task), size);
exit:
    if (s != CUZK_OK)
        fprintf(stderr, "%s\n", err.message);
    free(proof);
    cuzk_task_destroy(task);
    free(c1);
    return s != CUZK_OK;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: %s C1.json PROOF.bin PARAMS_DIR [test]\n", argv[0]);
        return 2;
    }
    cuzk_error err;
    cuzk_ctx *ctx;
    cuzk_options options = CUZK_OPTIONS_INIT;
    options.params_dir = argv[3];
    options.allow_test_srs = argc > 4 && !strcmp(argv[4], "test");
    if (cuzk_ctx_create(&ctx, &options, &err) != CUZK_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 3;
    }
    fprintf(stderr, "%s\n", cuzk_ctx_device(ctx));
    int rc = prove(ctx, argv[1], argv[2]);
    cuzk_ctx_destroy(ctx);
    return rc;
}
