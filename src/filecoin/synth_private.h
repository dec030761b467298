/* What the makers of synthetic inputs share. */
#ifndef FILECOIN_SYNTH_PRIVATE_H
#define FILECOIN_SYNTH_PRIVATE_H
#include "filecoin/synth.h"
#include "filecoin/synth_tree.h"

/* What is drawn: the first number of synth_draw. */
enum {
    SYNTH_TICKET = 1,
    SYNTH_SEED,
    SYNTH_DATA,
    SYNTH_LABEL,
    SYNTH_TREE_C,
    SYNTH_TREE_R,
    SYNTH_COMM_C,
    SYNTH_RANDOMNESS,
    SYNTH_REPLICA
};
/* The key of everything drawn for one sector. */
void synth_key(uint8_t key[32], const char *kind, uint64_t sector_size, const synth_options *o,
               uint64_t sector);
/* comm_r = Poseidon(comm_c, comm_r_last); both below r. */
void synth_comm_r(uint8_t out[32], const poseidon_set *ps, const uint8_t comm_c[32],
                  const uint8_t comm_r_last[32]);

/* Bytes of a Merkle proof in bincode, and the proof written there; returns its end. */
size_t synth_proof_bytes(const merkle_shape *s);
uint8_t *synth_proof_put(uint8_t *at, const merkle_shape *s, const merkle_proof *p);
uint8_t *synth_u64_put(uint8_t *at, uint64_t v);
uint8_t *synth_bytes_put(uint8_t *at, const uint8_t *bytes, size_t n);
#endif
