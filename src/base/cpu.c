/* The dispatch table of the processor: the one piece of process-wide state below the log. */
#include "base/cpu.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

static cpu_features found, in_use;
static pthread_once_t once = PTHREAD_ONCE_INIT;

#if defined(__x86_64__)
static unsigned long long read_xcr0(void)
{
    unsigned lo, hi;
    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return (unsigned long long)hi << 32 | lo;
}

static void detect_x86(cpu_features *f)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return;
    int osxsave = c >> 27 & 1;
    unsigned long long xcr0 = osxsave ? read_xcr0() : 0;
    int ymm = (xcr0 & 6) == 6, zmm = (xcr0 & 0xe6) == 0xe6;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        f->bmi2 = b >> 8 & 1;
        f->adx = b >> 19 & 1;
        f->sha_ni = b >> 29 & 1;
        f->avx2 = ymm && (b >> 5 & 1);
        /* F, DQ, BW, VL */
        f->avx512 = zmm && (b >> 16 & 1) && (b >> 17 & 1) && (b >> 30 & 1) && (b >> 31 & 1);
        f->ifma = f->avx512 && (b >> 21 & 1) && (c >> 1 & 1); /* with VBMI, which the kernels use as well */
    }
    unsigned brand[12];
    if (__get_cpuid_max(0x80000000u, NULL) >= 0x80000004u) {
        for (unsigned i = 0; i < 3; i++)
            __get_cpuid(0x80000002u + i, &brand[4 * i], &brand[4 * i + 1], &brand[4 * i + 2],
                        &brand[4 * i + 3]);
        memcpy(f->name, brand, sizeof(brand));
        f->name[48] = 0;
    }
}
#endif

static unsigned cache_size(int which)
{
    long v = sysconf(which);
    return v > 0 ? (unsigned)v : 0;
}

static void use(cpu_form form)
{
    in_use = found;
    if (form != CPU_ALL)
        in_use.avx2 = in_use.avx512 = in_use.ifma = 0;
    if (form == CPU_PORTABLE)
        in_use.adx = in_use.bmi2 = in_use.sha_ni = 0;
}

static void detect(void)
{
    snprintf(found.name, sizeof(found.name), "unknown processor");
#if defined(__x86_64__)
    detect_x86(&found);
#endif
    found.l1d = cache_size(_SC_LEVEL1_DCACHE_SIZE);
    found.l2 = cache_size(_SC_LEVEL2_CACHE_SIZE);
    found.l3 = cache_size(_SC_LEVEL3_CACHE_SIZE);
    const char *want = getenv("CUZK_CPU");
    use(want && !strcmp(want, "scalar")     ? CPU_SCALAR
        : want && !strcmp(want, "portable") ? CPU_PORTABLE
                                            : CPU_ALL);
}

const cpu_features *cpu_get(void)
{
    pthread_once(&once, detect);
    return &in_use;
}

void cpu_force(cpu_form form)
{
    pthread_once(&once, detect);
    use(form);
}
