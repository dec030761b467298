/* Comparison of circuits and witnesses with golden values (tests/data/structure/, golden.json of a case). */
#ifndef SUPPORT_GOLDEN_H
#define SUPPORT_GOLDEN_H
#include "r1cs/r1cs.h"
#include "support/data.h"

/* Compiles and fails the test where it cannot. */
r1cs *golden_compile(const char *name, circuit_fn *synth, void *ctx);
/* Counts and rows_sha256 of tests/data/FILE; members that the file lacks are not compared. Blocks, where the
 * file has them, name the first one that differs. */
void golden_structure(const r1cs *r, const json_t *expected, pool *p);
/* inputs, inputs_sha256, aux_sha256, aux_zero, aux_one, aux_blocks_sha256 of one element of "partitions". */
void golden_witness(const r1cs *r, const witness *w, const json_t *partition);
#endif
