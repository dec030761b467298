/* Synthetic inputs: vanilla proofs that satisfy their circuits, made in seconds and without a sealed sector,
 * for benchmarks and load tests. They prove nothing about any data. Everything follows from the options
 * alone: the same options give the same bytes on every machine.
 *
 * PoRep (v1, v1_1): labels of parents are drawn, those of the challenged nodes computed forward from them;
 * data repeats with a short period, so that comm_d, on which the replica id and hence the challenges depend,
 * needs no sealed data; trees C and R are sparse. Synthetic and non-interactive PoRep draw their challenges
 * from comm_r: for them sectors up to 8 MiB are sealed in full. PoSt: a sparse tree R per sector. SnapDeals:
 * trees of uniform leaves, whose encoding depends on the high bits of the leaf's number alone. */
#ifndef FILECOIN_SYNTH_H
#define FILECOIN_SYNTH_H
#include "filecoin/porep.h"
#include "filecoin/post.h"
#include "filecoin/update.h"

typedef struct synth_options {
    uint64_t seed;
    uint64_t miner_id; /* default 1000 */
    uint64_t sector;   /* number of the first sector; default 1 */
    size_t sectors;    /* PoSt: how many; 0: one */
    /* synth_write: the number of the proof on the wire, where not the newest of the size is wanted (V1_1,
     * V1_2) */
    int has_registered_proof;
    uint64_t registered_proof;
} synth_options;
#define SYNTH_DEFAULTS ((synth_options){.seed = 1, .miner_id = 1000, .sector = 1, .sectors = 1})

/* Synthetic and non-interactive versions up to 8 MiB, CUZK_UNSUPPORTED above. Freed by porep_c1_free. */
cuzk_status synth_porep(porep_c1 **out, const registered_seal *seal, const synth_options *o,
                        const poseidon_set *ps, pool *p, cuzk_error *err) CUZK_MUST_CHECK;

/* Vanilla proofs as they travel: for each a u64 LE length and the bytes. */
typedef struct synth_vanilla {
    uint8_t *data;
    size_t size, count;
    uint8_t randomness[32];      /* PoSt */
    post_public_sector *sectors; /* PoSt: count of them */
    update_public update;        /* SnapDeals: h is set */
} synth_vanilla;
void synth_vanilla_clear(synth_vanilla *v);
cuzk_status synth_post(synth_vanilla *out, const registered_post *post, const synth_options *o,
                       const poseidon_set *ps, pool *p, cuzk_error *err) CUZK_MUST_CHECK;
/* One proof a partition. */
cuzk_status synth_update(synth_vanilla *out, const registered_update *update, const synth_options *o,
                         const poseidon_set *ps, pool *p, cuzk_error *err) CUZK_MUST_CHECK;

/* What `cuzk synth` does: writes c1.json (wrapped as Curio's client sends it), or vanilla-all.bin, and
 * public.json with golden.json's names of members into a folder, which is made where it is missing. A
 * registered size is needed. */
cuzk_status synth_write(const char *folder, circuit_kind kind, uint64_t sector_size, const synth_options *o,
                        const poseidon_set *ps, pool *p, cuzk_error *err) CUZK_MUST_CHECK;
#endif
