/* The rows of FallbackPoSt: one body a sector, all of them alike. Order of wires and rows is that of
 * storage-proofs-post. A WinningPoSt is stated as 66 sectors with one challenge each. */
#include "filecoin/circuits/post_circuit.h"
#include <assert.h>

typedef struct body {
    const poseidon_set *ps;
    merkle_shape tree;
    uint32_t challenges;
} body;

static void sector(cs *c, void *ctx)
{
    const body *b = ctx;
    var pair[2], comm_r_last = cs_alloc_field(c), comm_c = cs_alloc_field(c), comm_r = cs_alloc_field(c);
    cs_push(c, "comm_r_input", -1);
    inputize_synth(c, comm_r);
    cs_pop(c);
    pair[0] = comm_c, pair[1] = comm_r_last;
    cs_push(c, "H_comm_c_comm_r_last", -1);
    var hash = merkle_node_synth(c, MERKLE_POSEIDON, b->ps, pair, 2);
    cs_pop(c);
    cs_push(c, "enforce_comm_c_comm_r_last_hash_comm_r", -1);
    equal_synth(c, comm_r, hash);
    cs_pop(c);
    for (uint32_t i = 0; i < b->challenges; i++) {
        cs_push(c, "challenge_inclusion", i);
        merkle_synth(c, &b->tree, b->ps, cs_alloc_field(c), comm_r_last);
        cs_pop(c);
    }
}

void post_synthesize(cs *c, void *ctx)
{
    const post_circuit *circuit = ctx;
    body b = {.ps = circuit->ps, .challenges = post_body_challenges(circuit->info)};
    int unknown = merkle_shape_poseidon(&b.tree, circuit->info->sector_size);
    assert(!unknown); /* registered sizes only */
    (void)unknown;
    cs_push(c, "sector", -1);
    cs_repeat(c, post_bodies(circuit->info), sector, &b, NULL, 0);
    cs_pop(c);
}
