/* PoRep: the C1 document, its check, and the public inputs of its proof. */
#ifndef FILECOIN_POREP_H
#define FILECOIN_POREP_H
#include "base/clock.h"
#include "base/pool.h"
#include "filecoin/registry.h"
#include "gadgets/merkle.h"

#define POREP_DRG_PARENTS 6
#define POREP_EXP_PARENTS 8
#define POREP_PARENTS     37
#define POREP_MAX_LAYERS  11

typedef struct porep_column {
    uint32_t index;         /* node */
    const uint8_t *rows;    /* layers * 32 bytes */
    merkle_proof inclusion; /* of the column's hash in tree C */
} porep_column;
typedef struct porep_labeling {
    uint32_t layer_index, parent_count;
    uint64_t node;
    const uint8_t *parents; /* parent_count * 32 bytes */
} porep_labeling;
typedef struct porep_challenge {
    merkle_proof comm_d, comm_r_last;
    porep_column c_x, drg[POREP_DRG_PARENTS], exp[POREP_EXP_PARENTS];
    uint32_t layers; /* labeling proofs */
    porep_labeling labeling[POREP_MAX_LAYERS];
    porep_labeling encoding; /* of the last layer once more: the key that encodes the data */
} porep_challenge;
typedef struct porep_c1 {
    const registered_seal *seal;
    const circuit_info *circuit;
    uint8_t comm_r[32], comm_d[32], replica_id[32], seed[32], ticket[32];
    int has_sector; /* the wrapped form */
    uint64_t sector_number, sector_size;
    uint32_t partitions, challenges; /* challenges per partition */
    porep_challenge *challenge;      /* partitions * challenges */
    void *arena;                     /* owns every byte that the above point to */
    size_t bytes;
} porep_c1;
/* Parses the outer or the inner document in one streaming pass; every error names the member and the place
 * (partition, challenge). Values are range-checked bytes; the proofs' content is checked by porep_check. */
cuzk_status porep_c1_parse(porep_c1 **out, const uint8_t *text, size_t size, cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status porep_c1_parse_until(porep_c1 **out, const uint8_t *text, size_t size, const cancel_token *cancel,
                                 cuzk_error *err) CUZK_MUST_CHECK;
void porep_c1_free(porep_c1 *c);

/* Identity of a sector: replica_id = SHA-256(prover_id || sector || ticket || comm_d || porep_id) with two
 * bits cleared. */
void porep_prover_id(uint8_t out[32], uint64_t miner_id);
void porep_porep_id(uint8_t out[32], const registered_seal *seal);
void porep_replica_id(uint8_t out[32], uint64_t miner_id, uint64_t sector, const uint8_t ticket[32],
                      const uint8_t comm_d[32], const registered_seal *seal);

/* Challenges of a partition, for every version (v1, v1_1, synthetic, non-interactive). */
cuzk_status porep_challenges(uint64_t *out, const registered_seal *seal, uint32_t partition,
                             const uint8_t replica_id[32], const uint8_t seed[32], const uint8_t comm_r[32],
                             cuzk_error *err) CUZK_MUST_CHECK;
/* The graph: DRG and expander parents of a node (stacked DRG of sector_size / 32 nodes). */
typedef struct porep_graph porep_graph; /* Feistel keys and seeds; immutable */
cuzk_status porep_graph_create(porep_graph **out, const registered_seal *seal,
                               cuzk_error *err) CUZK_MUST_CHECK;
void porep_graph_destroy(porep_graph *g);
/* Pays when the parents of a good part of all nodes are asked for. Before g is shared. */
cuzk_status porep_graph_tabulate(porep_graph *g, cuzk_error *err) CUZK_MUST_CHECK;
void porep_graph_parents(const porep_graph *g, uint32_t node, uint32_t drg[POREP_DRG_PARENTS],
                         uint32_t exp[POREP_EXP_PARENTS]);

/* Checks one or all (partition < 0) partitions: roots, leaves, columns, labels, encoding, positions; comm_r =
 * H(comm_c, comm_r_last). CUZK_INCONSISTENT names partition, challenge and field. */
cuzk_status porep_check(const porep_c1 *c, int64_t partition, const poseidon_set *ps, pool *p,
                        cuzk_error *err) CUZK_MUST_CHECK;
cuzk_status porep_check_until(const porep_c1 *c, int64_t partition, const poseidon_set *ps, pool *p,
                              const cancel_token *cancel, cuzk_error *err) CUZK_MUST_CHECK;
/* Public inputs of a partition's proof (without the constant one), from public data alone. n must equal
 * porep_public_input_count. */
size_t porep_public_input_count(const circuit_info *ci);
typedef struct porep_public {
    const registered_seal *seal;
    uint8_t replica_id[32], comm_r[32], comm_d[32], seed[32];
} porep_public;
cuzk_status porep_public_inputs(fr *out, size_t n, const porep_public *pub, uint32_t partition,
                                cuzk_error *err) CUZK_MUST_CHECK;

/* ---- circuit (src/filecoin/circuits/) ---- */
/* A circuit_fn: ctx is a porep_circuit. */
typedef struct porep_circuit {
    const circuit_info *info;
    const poseidon_set *ps;
} porep_circuit;
void porep_synthesize(cs *c, void *ctx);
/* The compact witness of one partition of a checked C1. r: the circuit, compiled under its circuit_info's
 * name. w is made here (witness_clear; nothing to clear after a failure). */
cuzk_status porep_witness(witness *w, const r1cs *r, const porep_c1 *c1, uint32_t partition,
                          const poseidon_set *ps, pool *p, const cancel_token *cancel,
                          cuzk_error *err) CUZK_MUST_CHECK;
#endif
