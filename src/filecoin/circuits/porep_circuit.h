/* What the rows and the witness of PoRep share. Private to src/filecoin/circuits. */
#ifndef FILECOIN_CIRCUITS_POREP_CIRCUIT_H
#define FILECOIN_CIRCUITS_POREP_CIRCUIT_H
#include "filecoin/porep.h"
#include "gadgets/sha256_gadget.h"

#define POREP_COLUMN_PARENTS (POREP_DRG_PARENTS + POREP_EXP_PARENTS)
/* A label hashes replica id, layer and node padded to 32 bytes, then 37 parents of 32 bytes. */
#define POREP_LABEL_BYTES ((2 + POREP_PARENTS) * 32)

/* Public inputs: the constant one, replica id, comm_d, comm_r, and for each challenge the number of the leaf
 * on every path: tree D, the parents' columns, [the challenge itself], tree R, the challenge's column. */
enum { POREP_INPUT_REPLICA_ID = 1, POREP_INPUT_COMM_D, POREP_INPUT_COMM_R, POREP_FIRST_CHALLENGE_INPUT };
enum {
    POREP_INPUT_LEAF_D,
    POREP_INPUT_PARENTS,
    POREP_INPUT_CHALLENGE = POREP_INPUT_PARENTS + POREP_COLUMN_PARENTS,
    POREP_INPUT_LEAF_R,
    POREP_INPUT_COLUMN,
    POREP_CHALLENGE_INPUTS
};

/* Parent i of a label on a layer (1-based) is the column porep_label_parent of parents 0..5 (base graph) and,
 * above the first layer, 6..13 (expander); they repeat until there are 37. */
static inline unsigned porep_label_parent(uint32_t layer, unsigned i)
{
    return i % (layer == 1 ? POREP_DRG_PARENTS : POREP_COLUMN_PARENTS);
}
/* The layer whose value of column k a label on a layer hashes: expander parents lie one layer below. */
static inline uint32_t porep_parent_layer(uint32_t layer, unsigned k)
{
    return k < POREP_DRG_PARENTS ? layer : layer - 1;
}
/* Columns whose bits a label on a layer needs. */
static inline unsigned porep_label_columns(uint32_t layer)
{
    return layer == 1 ? POREP_DRG_PARENTS : POREP_COLUMN_PARENTS;
}
#endif
