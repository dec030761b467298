/* WinningPoSt and WindowPoSt (FallbackPoSt): vanilla proofs, their check, the public inputs, the circuit.
 *
 * Vanilla proofs come one a sector, in any order; they are proved in ascending sector id,
 * circuit_info.sectors to a partition, and the last sector is repeated to fill the last partition. A
 * WinningPoSt has one sector, whose challenges stand in the circuit as so many sectors with one challenge
 * each. */
#ifndef FILECOIN_POST_H
#define FILECOIN_POST_H
#include "filecoin/task.h"
#include "gadgets/merkle.h"

#define POST_MAX_CHALLENGES 66
typedef struct post_sector {
    uint64_t sector_id;
    uint8_t comm_r[32], comm_c[32], comm_r_last[32];
    merkle_proof *inclusion; /* post_input.challenges of them */
} post_sector;
typedef struct post_input {
    const registered_post *post;
    const circuit_info *circuit;
    merkle_shape shape;
    uint8_t randomness[32];
    uint32_t challenges; /* per sector */
    uint32_t partitions;
    size_t sector_count;
    post_sector *sector; /* ascending sector_id */
    void *arena;
    size_t bytes;
} post_input;
/* Parses one vanilla proof a sector. Every error names the sector, or the number of the proof where the
 * sector is not yet known. A sector given twice is refused; a WinningPoSt takes exactly one. The bytes may be
 * freed afterwards. */
cuzk_status post_parse(post_input **out, const registered_post *post, const uint8_t randomness[32],
                       const proof_bytes *proofs, size_t count, cuzk_error *err) CUZK_MUST_CHECK;
void post_free(post_input *in);

/* The leaves that a sector must show. sector_index: its place in the whole proof (all partitions, ascending
 * id). */
void post_challenges(uint64_t *out /* post->challenges */, const registered_post *post,
                     const uint8_t randomness[32], uint64_t sector_id, uint64_t sector_index);
uint32_t post_partitions(const registered_post *post, size_t sector_count);

/* Checks the sectors of one partition or of all (partition < 0): comm_r, challenged leaves, paths.
 * CUZK_INCONSISTENT names the sector and the challenge; of several wrong sectors the one with the lowest id.
 */
cuzk_status post_check(const post_input *in, int64_t partition, const poseidon_set *ps, pool *p,
                       cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status post_check_until(const post_input *in, int64_t partition, const poseidon_set *ps, pool *p,
                             const cancel_token *cancel, cuzk_error *err) CUZK_MUST_CHECK;

/* Public inputs (without the constant one) from public data alone; sectors in any order. */
typedef struct post_public_sector {
    uint64_t sector_id;
    uint8_t comm_r[32];
} post_public_sector;
typedef struct post_public {
    const registered_post *post;
    uint8_t randomness[32];
    const post_public_sector *sectors;
    size_t sector_count;
} post_public;
size_t post_public_input_count(const circuit_info *ci);
cuzk_status post_public_inputs(fr *out, size_t n, const post_public *pub, uint32_t partition,
                               cuzk_error *err) CUZK_MUST_CHECK;

/* The same from a parsed input: its sector ids and comm_r are what the chain knows. */
cuzk_status post_input_public(fr *out, size_t n, const post_input *in, uint32_t partition,
                              cuzk_error *err) CUZK_MUST_CHECK;

/* ---- circuit (src/filecoin/circuits/) ---- */
typedef struct post_circuit {
    const circuit_info *info; /* CIRCUIT_WINNING or CIRCUIT_WINDOW */
    const poseidon_set *ps;
} post_circuit;
void post_synthesize(cs *c, void *ctx); /* a circuit_fn; ctx is a post_circuit */
/* The compact witness of one partition of a checked input. */
cuzk_status post_witness(witness *w, const r1cs *r, const post_input *in, uint32_t partition,
                         const poseidon_set *ps, pool *p, const cancel_token *cancel,
                         cuzk_error *err) CUZK_MUST_CHECK;
#endif
