/* Public inputs of a PoRep proof, from public data alone. */
#include "filecoin/porep.h"
#include <assert.h>

/* replica_id, comm_d, comm_r; then for each challenge the positions of the data leaf, 6 + 8 parents, the
 * challenge as a number, the replica's leaf and the column. */
#define INPUTS_PER_CHALLENGE (1 + POREP_DRG_PARENTS + POREP_EXP_PARENTS + 3)
#define MAX_CHALLENGES       32

size_t porep_public_input_count(const circuit_info *ci)
{
    return 3 + (size_t)ci->challenges * INPUTS_PER_CHALLENGE;
}

static cuzk_status field_input(fr *out, const uint8_t bytes[32], const char *name, cuzk_error *err)
{
    if (fr_from_bytes(out, bytes))
        return cuzk_error_set(err, CUZK_BAD_INPUT, "%s is not a field element (it is not below r)", name);
    return CUZK_OK;
}

cuzk_status porep_public_inputs(fr *out, size_t n, const porep_public *pub, uint32_t partition,
                                cuzk_error *err)
{
    const registered_seal *seal = pub->seal;
    uint64_t challenge[MAX_CHALLENGES];
    assert(seal->challenges <= MAX_CHALLENGES);
    if (n != 3 + (size_t)seal->challenges * INPUTS_PER_CHALLENGE)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "%zu public inputs were asked for, %s has %zu", n,
                              seal->name, 3 + (size_t)seal->challenges * INPUTS_PER_CHALLENGE);
    porep_graph *g = NULL;
    cuzk_status st = field_input(&out[0], pub->replica_id, "replica_id", err);
    if (st == CUZK_OK)
        st = field_input(&out[1], pub->comm_d, "comm_d", err);
    if (st == CUZK_OK)
        st = field_input(&out[2], pub->comm_r, "comm_r", err);
    if (st == CUZK_OK)
        st = porep_challenges(challenge, seal, partition, pub->replica_id, pub->seed, pub->comm_r, err);
    if (st == CUZK_OK)
        st = porep_graph_create(&g, seal, err);
    if (st != CUZK_OK)
        return st;
    fr *o = out + 3;
    for (uint32_t i = 0; i < seal->challenges; i++) {
        uint32_t drg[POREP_DRG_PARENTS], exp[POREP_EXP_PARENTS];
        porep_graph_parents(g, (uint32_t)challenge[i], drg, exp);
        fr_from_u64(o++, challenge[i]);
        for (unsigned k = 0; k < POREP_DRG_PARENTS; k++)
            fr_from_u64(o++, drg[k]);
        for (unsigned k = 0; k < POREP_EXP_PARENTS; k++)
            fr_from_u64(o++, exp[k]);
        for (unsigned k = 0; k < 3; k++)
            fr_from_u64(o++, challenge[i]);
    }
    porep_graph_destroy(g);
    return CUZK_OK;
}
