/* cuzk-bench: one table of rows. A row measures an operation beside a reference in the same run; its figures
 * are milliseconds and units of T, the time of blst's G1 sum of 2^18 wide scalars on one thread of this
 * machine, which makes figures of different machines comparable.
 *
 * To add a row: define a bench_row in a file of its own and name it in table.c. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H
#include "base/pool.h"
#include "curve/curve.h"
#include "cuzk/status.h"
#include "poly/poly.h"

typedef struct bench {
    pool *pool; /* NULL for one thread */
    unsigned threads, repeat;
    int quick;
    g1_affine *g1_points; /* see bench_g1_points */
    g2_affine *g2_points;
    size_t g1_count, g2_count;
} bench;

typedef struct bench_row bench_row;
/* One size of a row while it is measured. */
typedef struct bench_run {
    bench *b;
    const bench_row *row;
    unsigned size;
    void *state;    /* prepare's */
    char note[200]; /* what a row adds to its line: counts, rates */
} bench_run;

struct bench_row {
    const char *name;
    const char *what;      /* the operation, and the unit of size */
    const unsigned *sizes; /* ends in 0 */
    const unsigned *sizes_quick;
    const char *reference_name; /* NULL: nothing to compare with */
    cuzk_status (*prepare)(bench_run *r, cuzk_error *err);
    /* Undoes what a run did to its input, outside the time measured. NULL: nothing to undo. */
    void (*reset)(bench_run *r);
    cuzk_status (*run)(bench_run *r, cuzk_error *err);
    cuzk_status (*reference)(bench_run *r, cuzk_error *err);
    unsigned reference_share; /* the reference does 1 / share of the work; its time is scaled. 0: all */
    /* 0 if both results agree. NULL: not compared. */
    int (*compare)(bench_run *r);
    void (*clear)(bench_run *r); /* also after a failed prepare */
};

extern const bench_row *const BENCH_ROWS[]; /* ends in NULL */

typedef struct bench_figures {
    double ms, cpu_ms;                     /* best of the repeats; processor time of that one */
    double reference_ms, reference_cpu_ms; /* 0: none */
    uint64_t rss_peak;
} bench_figures;
cuzk_status bench_measure(bench_run *r, bench_figures *f, cuzk_error *err);
/* T in milliseconds, best of two. */
cuzk_status bench_unit(bench *b, double *ms, cuzk_error *err);

/* At least n points of the subgroup, random multiples of the generator, kept until bench_clear. */
cuzk_status bench_g1_points(bench *b, size_t n, cuzk_error *err);
cuzk_status bench_g2_points(bench *b, size_t n, cuzk_error *err);
void bench_clear(bench *b);
/* Deterministic scalars; ones, zeros: how many of a thousand are 1 and 0. */
void bench_scalars(scalar *k, size_t n, unsigned ones, unsigned zeros);

/* cuzk-bench cpu ...: returns the exit status. */
int bench_cpu_main(int argc, char **argv);
#endif
