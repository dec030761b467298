/* A circuit of which four wires of five are bits, for measuring whole proofs of a given size. */
#ifndef BENCH_MIXED_H
#define BENCH_MIXED_H
#include "r1cs/r1cs.h"

/* 2^log rows, the closing ones included. */
cuzk_status mixed_compile(r1cs **out, unsigned log, cuzk_error *err);
cuzk_status mixed_witness(witness *w, const r1cs *r, cuzk_error *err);
#endif
