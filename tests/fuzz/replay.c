/* Runs a fuzz target over the files of its corpus, each also cut in half and with some bytes changed: what
 * the fuzzer found once stays tested where there is no libFuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In a block of exactly its size, so that a sanitizer sees a step over the end. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static int replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (!f || fstat(fileno(f), &st))
        return perror(path), 1;
    size_t size = (size_t)st.st_size;
    uint8_t *data = malloc(size + 1);
    if (!data || fread(data, 1, size, f) != size)
        return perror(path), 1;
    fclose(f);
    run(data, size);
    run(data, size / 2);
    uint32_t seed = (uint32_t)size;
    for (int i = 0; i < 64 && size; i++) {
        seed = seed * 1664525 + 1013904223;
        size_t at = (seed >> 4) % size;
        uint8_t old = data[at];
        data[at] ^= (uint8_t)(1u << (seed >> 29));
        run(data, size);
        data[at] = old;
    }
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int files = 0, failed = 0;
    for (int i = 1; i < argc; i++) {
        struct dirent **list;
        int n = scandir(argv[i], &list, NULL, alphasort);
        if (n < 0)
            return perror(argv[i]), 1;
        for (int k = 0; k < n; k++) {
            char path[4096];
            if (list[k]->d_name[0] != '.') {
                snprintf(path, sizeof path, "%s/%s", argv[i], list[k]->d_name);
                failed |= replay(path);
                files++;
            }
            free(list[k]);
        }
        free(list);
    }
    printf("%d files\n", files);
    return failed || !files;
}
