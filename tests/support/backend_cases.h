/* One list of cases for every back end: each operation against an oracle that shares no code with it (the
 * _ref forms, or plain arithmetic on known multiples of the generator). Run by test_backend.c for the CPU and
 * by a plug-in's own test for its devices. Modes, as in: does it work, how fast is it, what is there.
 *
 * A case fails by a cmocka assertion that names operation, size and kind of input. */
#ifndef SUPPORT_BACKEND_CASES_H
#define SUPPORT_BACKEND_CASES_H
#include "cuzk/backend.h"
#include <stdio.h>

typedef struct backend_run {
    const cuzk_backend *backend;
    cuzk_device *device;
    size_t most; /* no case is larger than this; 0: the default of each */
} backend_run;

typedef struct backend_case {
    const char *name;
    /* Whether the table has what the case needs. */
    int (*supported)(const cuzk_backend *b);
    void (*test)(const backend_run *run);
    /* Milliseconds of one operation of the given size, inputs in place; NULL where it has no size worth
     * measuring. */
    double (*perf)(const backend_run *run, size_t n);
    size_t perf_size;
} backend_case;

extern const backend_case backend_cases[];
size_t backend_case_count(void);

/* Runs every supported case. */
void backend_cases_test(const backend_run *run);
/* One line a case: "name size milliseconds"; cases with less than perf_size allowed are run at run->most. */
void backend_cases_perf(const backend_run *run, FILE *out);
/* One line a case: "name yes|no". */
void backend_cases_support(const cuzk_backend *b, FILE *out);

/* The cases of a key and its proofs (backend_prove_cases.c). */
void backend_case_prove(const backend_run *run);
void backend_case_prove_batch(const backend_run *run);
void backend_case_prove_stops(const backend_run *run);
void backend_case_key_refuses(const backend_run *run);
#endif
