/* Labels and columns: the hashing that the vanilla check, the witness and synthetic inputs share. */
#ifndef FILECOIN_POREP_LABEL_H
#define FILECOIN_POREP_LABEL_H
#include "filecoin/porep.h"

/* The 37 parents' labels that are hashed at a layer (from 0). drg and exp point to the parents' columns. */
void porep_label_parents(uint8_t out[POREP_PARENTS * 32], const uint8_t *const drg[POREP_DRG_PARENTS],
                         const uint8_t *const exp[POREP_EXP_PARENTS], uint32_t layer);
/* layer_index counts from 1. */
void porep_label(uint8_t out[32], const uint8_t replica_id[32], uint32_t layer_index, uint64_t node,
                 const uint8_t parents[POREP_PARENTS * 32]);
/* Poseidon over a column's labels; -1 if one is not below r. */
int porep_column_hash(uint8_t out[32], const poseidon_set *ps, const uint8_t *rows, uint32_t layers);
#endif
