/* What rows that prove share: a circuit, its witness, test parameters in a file of $TMPDIR, a prover. */
#ifndef BENCH_PROVE_STATE_H
#define BENCH_PROVE_STATE_H
#include "api/circuits.h"
#include "bench.h"
#include "filecoin/synth.h"

typedef struct prove_state {
    const circuit_info *info;
    poseidon_set *ps;
    porep_c1 *c1;
    synth_vanilla vanilla;
    r1cs *r;
    witness w;
    char folder[256], params_path[300];
    params *p;
    cuzk_device *device;
    groth16_prover *g;
    uint8_t proof[GROTH16_PROOF_BYTES];
    /* partition */
    cuzk_circuit_view view;
    cuzk_device_key *key;
    uint8_t *space, *g1, *g2; /* space: addresses without memory, where the queries seem to lie */
    size_t space_bytes, g2_at;
    cuzk_sums sums;
} prove_state;

void prove_clear(bench_run *r);
/* The state with the compiled circuit of a kind whose sectors have 2^size bytes. */
cuzk_status prove_prepare_circuit(bench_run *r, circuit_kind kind, cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status prove_porep_witness(bench_run *r, cuzk_error *err) CUZK_MUST_CHECK;
/* Writes the test parameters of s->r. */
cuzk_status prove_setup_run(bench_run *r, cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status prove_open_device(bench_run *r, int stream, cuzk_error *err) CUZK_MUST_CHECK;
/* Makes the parameters and opens a prover with them. */
cuzk_status prove_open(bench_run *r, cuzk_error *err) CUZK_MUST_CHECK;
/* Proves s->w; the note lists the parts, and what a peer needs. */
cuzk_status prove_witness_run(bench_run *r, const char *peer, cuzk_error *err) CUZK_MUST_CHECK;
#endif
