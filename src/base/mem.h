/* Memory. Every allocation may fail and says so; big ones come straight from the system (huge pages where
 * possible, zeroed) and go straight back. An injected failure (tests) makes the n-th allocation fail. */
#ifndef BASE_MEM_H
#define BASE_MEM_H
#include "cuzk/status.h"
#include <stddef.h>
#include <stdint.h>

void *mem_alloc(size_t bytes);            /* uninitialised; NULL on failure; mem_free */
void *mem_calloc(size_t n, size_t bytes); /* overflow-checked */
void *mem_realloc(void *p, size_t bytes);
void mem_free(void *p);
/* Zeroed, 64-byte aligned, for blocks of any size: small ones from the heap, from 1 MiB up in whole huge
 * pages (2 MiB) by mmap. big_free takes the same size, or any number of the whole pages of such blocks that
 * lie side by side. big_alloc(0) returns a valid pointer. */
void *big_alloc(size_t bytes);
size_t big_whole_pages(size_t bytes); /* rounded up */
void big_free(void *p, size_t bytes);
/* Overwrites secrets in a way the compiler keeps. */
void mem_wipe(void *p, size_t bytes);
/* CUZK_OUT_OF_MEMORY with "cannot get N MiB for WHAT". */
cuzk_status mem_error(cuzk_error *err, size_t bytes, const char *what);

/* Tests: fail the n-th allocation from now (n >= 1), once or from then on; n = 0 switches off.
 * mem_fault_count returns the allocations made since it was set. */
void mem_fault_set(uint64_t n, int from_then_on);
uint64_t mem_fault_count(void);

uint64_t mem_rss_bytes(void);       /* resident set now */
uint64_t mem_rss_peak_bytes(void);  /* VmHWM */
uint64_t mem_available_bytes(void); /* min of MemAvailable and the cgroup's room */
#endif
