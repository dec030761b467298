/* What the processor can do beside its 52-bit multiply-adds, in loops of independent instructions on
 * registers of 512 bits: what the limits in docs/performance-cpu.md are made of. */
#include "base/cpu.h"
#include "bench.h"
#include <stdio.h>

#if defined(__x86_64__)
#define EACH8(m, a, b, c, d, e, f, g, h) m(a) m(b) m(c) m(d) m(e) m(f) m(g) m(h)
/* Registers from 16 up are unknown to code that is not compiled for AVX-512. */
#define MADD(n)  "vpmadd52luq %%zmm24, %%zmm25, %%zmm" #n "\n\t"
#define ADD(n)   "vpaddq %%zmm24, %%zmm25, %%zmm" #n "\n\t"
#define SHIFT(n) "vpsrlq $52, %%zmm25, %%zmm" #n "\n\t"
#define STORE(n) "vmovdqa64 %%zmm25, 64*" #n "(%0)\n\t"
#define LOAD(n)  "vmovdqa64 (%0), %%zmm" #n "\n\t"
#define MADDS    EACH8(MADD, 0, 1, 2, 3, 4, 5, 6, 7) EACH8(MADD, 8, 9, 10, 11, 12, 13, 14, 15)
#define CHAIN    EACH8(MADD, 0, 0, 0, 0, 0, 0, 0, 0) EACH8(MADD, 0, 0, 0, 0, 0, 0, 0, 0)
#define ADDS     EACH8(ADD, 16, 17, 18, 19, 20, 21, 22, 23)
#define SHIFTS   EACH8(SHIFT, 16, 17, 18, 19, 20, 21, 22, 23)
#define LOADS    EACH8(LOAD, 16, 17, 18, 19, 20, 21, 22, 23)
#define STORES   STORE(0) STORE(1) STORE(2) STORE(3)
#define USED                                                                                                 \
    "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

#define PORT_LOOP(name, body)                                                                                \
    static cuzk_status name(bench_run *r, cuzk_error *err)                                                   \
    {                                                                                                        \
        static char room[256] __attribute__((aligned(64)));                                                  \
        char *at = room;                                                                                     \
        uint64_t left = (uint64_t)1 << r->size;                                                              \
        (void)err;                                                                                           \
        if (cpu_get()->ifma)                                                                                 \
            __asm__ volatile("1:\n\t" body "dec %1\n\tjnz 1b\n\tvzeroupper"                                  \
                             : "+r"(at), "+r"(left)                                                          \
                             :                                                                               \
                             : USED);                                                                        \
        return CUZK_OK;                                                                                      \
    }
#else
#define PORT_LOOP(name, body)                                                                                \
    static cuzk_status name(bench_run *r, cuzk_error *err)                                                   \
    {                                                                                                        \
        (void)r, (void)err;                                                                                  \
        return CUZK_OK;                                                                                      \
    }
#endif

PORT_LOOP(madds, MADDS)
PORT_LOOP(chain, CHAIN)
PORT_LOOP(with_adds, MADDS ADDS)
PORT_LOOP(with_shifts, MADDS SHIFTS)
PORT_LOOP(with_stores, MADDS STORES)
PORT_LOOP(with_loads, MADDS LOADS)

static cuzk_status prepare(bench_run *r, cuzk_error *err)
{
    (void)err;
    if (!cpu_get()->ifma)
        snprintf(r->note, sizeof r->note, "this processor has no such instructions");
    return CUZK_OK;
}
static void clear(bench_run *r)
{
    (void)r;
}

static const unsigned SIZES[] = {20, 0}, QUICK[] = {16, 0};

#define PORT_ROW(NAME, text, does, loop, against, other)                                                     \
    const bench_row NAME = {.name = text,                                                                    \
                            .what = does,                                                                    \
                            .sizes = SIZES,                                                                  \
                            .sizes_quick = QUICK,                                                            \
                            .reference_name = against,                                                       \
                            .prepare = prepare,                                                              \
                            .run = loop,                                                                     \
                            .reference = other,                                                              \
                            .clear = clear}

/* The ratio is how many there are in the time of one, four cycles. */
PORT_ROW(BENCH_PORT_MADD, "port-madd", "2^size times 16 multiply-adds", madds, "each after the other", chain);
/* 1 where the others cost nothing, 2/3 where they cost as much (4/5 for the stores). */
PORT_ROW(BENCH_PORT_ADD, "port-add", "the same with 8 additions", with_adds, "without", madds);
PORT_ROW(BENCH_PORT_SHIFT, "port-shift", "the same with 8 shifts", with_shifts, "without", madds);
PORT_ROW(BENCH_PORT_STORE, "port-store", "the same with 4 stores", with_stores, "without", madds);
PORT_ROW(BENCH_PORT_LOAD, "port-load", "the same with 8 loads", with_loads, "without", madds);
