/* Keys, commitments and bincode of synthetic inputs. */
#include "base/encode.h"
#include "base/hash.h"
#include "base/mem.h"
#include "filecoin/synth_private.h"
#include <assert.h>
#include <string.h>

void synth_key(uint8_t key[32], const char *kind, uint64_t sector_size, const synth_options *o,
               uint64_t sector)
{
    uint8_t numbers[32];
    store_le64(numbers, sector_size);
    store_le64(numbers + 8, o->seed);
    store_le64(numbers + 16, o->miner_id);
    store_le64(numbers + 24, sector);
    sha256 s;
    sha256_init(&s);
    sha256_update(&s, "cuzk synthetic ", 15);
    sha256_update(&s, kind, strlen(kind));
    sha256_update(&s, numbers, sizeof numbers);
    sha256_final(&s, key);
}

void synth_comm_r(uint8_t out[32], const poseidon_set *ps, const uint8_t comm_c[32],
                  const uint8_t comm_r_last[32])
{
    uint8_t nodes[64];
    memcpy(nodes, comm_c, 32);
    memcpy(nodes + 32, comm_r_last, 32);
    int bad = merkle_node_hash(out, MERKLE_POSEIDON, ps, nodes, 2);
    assert(!bad);
    (void)bad;
}

uint8_t *synth_bytes_put(uint8_t *at, const uint8_t *bytes, size_t n)
{
    memcpy(at, bytes, n);
    return at + n;
}

uint8_t *synth_u64_put(uint8_t *at, uint64_t v)
{
    store_le64(at, v);
    return at + 8;
}

/* A path is a list of (list of siblings, position). */
static size_t path_bytes(const merkle_shape *s, uint32_t first, uint32_t count)
{
    size_t n = 8;
    for (uint32_t i = first; i < first + count; i++)
        n += 8 + 32 * (size_t)(merkle_arity(s, i) - 1) + 8;
    return n;
}

static uint8_t *path_put(uint8_t *at, const merkle_shape *s, const merkle_proof *p, uint32_t first,
                         uint32_t count)
{
    at = synth_u64_put(at, count);
    for (uint32_t i = first; i < first + count; i++) {
        uint32_t siblings = merkle_arity(s, i) - 1;
        at = synth_u64_put(at, siblings);
        at = synth_bytes_put(at, p->level[i].siblings, 32 * (size_t)siblings);
        at = synth_u64_put(at, p->level[i].position);
    }
    return at;
}

size_t synth_proof_bytes(const merkle_shape *s)
{
    size_t n = 4 + 64 + path_bytes(s, 0, s->base_levels);
    if (s->sub)
        n += path_bytes(s, s->base_levels, 1);
    if (s->top)
        n += path_bytes(s, s->base_levels + 1, 1);
    return n;
}

/* Single {root, leaf, path}; Sub and Top {base_proof, sub_proof, [top_proof], root, leaf}. */
uint8_t *synth_proof_put(uint8_t *at, const merkle_shape *s, const merkle_proof *p)
{
    store_le32(at, s->top ? 2 : s->sub ? 1 : 0);
    at += 4;
    if (!s->sub) {
        at = synth_bytes_put(at, p->root, 32);
        at = synth_bytes_put(at, p->leaf, 32);
        return path_put(at, s, p, 0, s->base_levels);
    }
    at = path_put(at, s, p, 0, s->base_levels);
    at = path_put(at, s, p, s->base_levels, 1);
    if (s->top)
        at = path_put(at, s, p, s->base_levels + 1, 1);
    at = synth_bytes_put(at, p->root, 32);
    return synth_bytes_put(at, p->leaf, 32);
}

void synth_vanilla_clear(synth_vanilla *v)
{
    mem_free(v->data);
    mem_free(v->sectors);
    memset(v, 0, sizeof *v);
}
