#include "base/mem.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BIG_MAP   ((size_t)1 << 20)
#define HUGE_PAGE ((size_t)2 << 20)

/* Fault injection for tests: off unless mem_fault_set was called. */
static _Atomic uint64_t fault_at, fault_seen;
static atomic_int fault_sticky;

static int fault(void)
{
    uint64_t at = atomic_load_explicit(&fault_at, memory_order_relaxed);
    if (!at)
        return 0;
    uint64_t now = atomic_fetch_add(&fault_seen, 1) + 1;
    return now == at || (now > at && atomic_load(&fault_sticky));
}

void mem_fault_set(uint64_t n, int from_then_on)
{
    atomic_store(&fault_seen, 0);
    atomic_store(&fault_sticky, from_then_on);
    atomic_store(&fault_at, n);
}

uint64_t mem_fault_count(void)
{
    return atomic_load(&fault_seen);
}

void *mem_alloc(size_t bytes)
{
    return fault() ? NULL : malloc(bytes ? bytes : 1);
}
void *mem_calloc(size_t n, size_t bytes)
{
    return fault() ? NULL : calloc(n ? n : 1, bytes ? bytes : 1);
}
void *mem_realloc(void *p, size_t bytes)
{
    return fault() ? NULL : realloc(p, bytes ? bytes : 1);
}
void mem_free(void *p)
{
    free(p);
}

size_t big_whole_pages(size_t bytes)
{
    return bytes + (HUGE_PAGE - bytes % HUGE_PAGE) % HUGE_PAGE;
}

/* Kernels before 6.7 do not begin large mappings where huge pages do. */
static void *map_aligned(size_t bytes)
{
    size_t room = bytes + HUGE_PAGE;
    char *p = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    size_t before = big_whole_pages((uintptr_t)p) - (uintptr_t)p;
    if (before)
        munmap(p, before);
    munmap(p + before + bytes, HUGE_PAGE - before);
    return p + before;
}

void *big_alloc(size_t bytes)
{
    if (fault() || bytes > PTRDIFF_MAX - 2 * HUGE_PAGE)
        return NULL;
    if (bytes < BIG_MAP) {
        size_t rounded = (bytes + 63) / 64 * 64 + (bytes ? 0 : 64);
        void *p = aligned_alloc(64, rounded);
        if (p)
            memset(p, 0, rounded);
        return p;
    }
    void *p = map_aligned(big_whole_pages(bytes));
    if (p)
        madvise(p, big_whole_pages(bytes), MADV_HUGEPAGE);
    return p;
}

void big_free(void *p, size_t bytes)
{
    if (!p)
        return;
    if (bytes < BIG_MAP)
        free(p);
    else
        munmap(p, big_whole_pages(bytes));
}

void mem_wipe(void *p, size_t bytes)
{
    if (p)
        explicit_bzero(p, bytes);
}

cuzk_status mem_error(cuzk_error *err, size_t bytes, const char *what)
{
    if (bytes < (size_t)10 << 20)
        return cuzk_error_set(err, CUZK_OUT_OF_MEMORY, "cannot get %zu KiB of memory for %s",
                              bytes / 1024 + 1, what);
    return cuzk_error_set(err, CUZK_OUT_OF_MEMORY, "cannot get %zu MiB of memory for %s", bytes >> 20, what);
}

/* The number after "key:" in a /proc file of "key: value kB" lines, in bytes; 0 if absent. */
static uint64_t proc_kib(const char *path, const char *key)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return 0;
    char line[256];
    uint64_t value = 0;
    size_t n = strlen(key);
    while (fgets(line, sizeof(line), f)) {
        if (!strncmp(line, key, n) && line[n] == ':') {
            value = strtoull(line + n + 1, NULL, 10) * 1024;
            break;
        }
    }
    fclose(f);
    return value;
}

uint64_t mem_rss_bytes(void)
{
    return proc_kib("/proc/self/status", "VmRSS");
}
uint64_t mem_rss_peak_bytes(void)
{
    return proc_kib("/proc/self/status", "VmHWM");
}

static int read_number(const char *path, uint64_t *out)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return -1;
    unsigned long long v;
    int ok = fscanf(f, "%llu", &v) == 1;
    fclose(f);
    *out = v;
    return ok ? 0 : -1;
}

uint64_t mem_available_bytes(void)
{
    uint64_t available = proc_kib("/proc/meminfo", "MemAvailable");
    /* Inside a container the process's cgroup is mounted at the root. */
    uint64_t limit, current;
    if (read_number("/sys/fs/cgroup/memory.max", &limit) == 0 &&
        read_number("/sys/fs/cgroup/memory.current", &current) == 0) {
        uint64_t room = limit > current ? limit - current : 0;
        if (room < available)
            available = room;
    }
    return available;
}
