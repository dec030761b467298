/* SnapDeals: what a sector size fixes, parsing the vanilla proofs, challenges, encoding factors, public
 * inputs. */
#include "filecoin/update.h"
#include "base/mem.h"
#include "filecoin/bincode.h"

#define NODES(bytes) ((uint64_t)(bytes) / 32)
#define KIB          1024ull
#define MIB          (1024 * KIB)

static unsigned log2_of(uint64_t power)
{
    return (unsigned)__builtin_ctzll(power);
}

int update_shape_of(update_shape *s, uint64_t sector_size)
{
    if (merkle_shape_poseidon(&s->tree_r, sector_size) || merkle_shape_sha256(&s->tree_d, sector_size))
        return -1;
    s->partitions = sector_size <= 8 * KIB    ? 1
                    : sector_size <= 32 * KIB ? 2
                    : sector_size <= 16 * MIB ? 4
                                              : 16;
    s->challenges = sector_size <= 16 * MIB ? 10 : 86;
    s->apex_leaves = sector_size <= 8 * KIB ? 8 : 128;
    s->apex_bits = log2_of(s->apex_leaves);
    s->partition_bits = log2_of(s->partitions);
    s->challenge_bits = log2_of(NODES(sector_size));
    for (uint32_t i = 0; i < UPDATE_H_VALUES; i++)
        s->h[i] = sector_size <= 32 * KIB ? 1 : 7 + i;
    return 0;
}

/* Position of h among the circuit's values, or -1. */
static int h_index(const update_shape *s, uint32_t h)
{
    for (int i = 0; i < UPDATE_H_VALUES; i++)
        if (s->h[i] == h)
            return i;
    return -1;
}

/* ---- parsing ---- */

static cuzk_status parse_partition(update_input *in, uint32_t k, const proof_bytes *bytes, cuzk_error *err)
{
    const update_shape *s = &in->shape;
    update_partition *p = &in->partition[k];
    bincode b;
    bincode_init(&b, bytes->data, bytes->size);
    p->apex = arena_alloc(in->arena, 32 * (size_t)s->apex_leaves);
    p->challenge = arena_alloc(in->arena, s->challenges * sizeof *p->challenge);
    if (!p->apex || !p->challenge)
        return mem_error(err, s->challenges * sizeof *p->challenge, "vanilla proofs");
    bincode_node(&b, p->comm_c, "comm_c");
    bincode_length(&b, s->apex_leaves, "the list of apex leaves");
    for (uint32_t i = 0; i < s->apex_leaves; i++)
        bincode_node(&b, p->apex + 32 * i, "the list of apex leaves");
    bincode_length(&b, s->challenges, "the list of challenge proofs");
    if (b.status != CUZK_OK)
        return bincode_error(&b, err, "partition %u", k);
    for (uint32_t i = 0; i < s->challenges; i++) {
        bincode_merkle_proof(&b, &p->challenge[i].r_old, &s->tree_r, in->arena,
                             "the proof in the old replica");
        bincode_merkle_proof(&b, &p->challenge[i].d_new, &s->tree_d, in->arena, "the proof in the new data");
        bincode_merkle_proof(&b, &p->challenge[i].r_new, &s->tree_r, in->arena,
                             "the proof in the new replica");
        if (b.status != CUZK_OK)
            return bincode_error(&b, err, "partition %u, challenge %u", k, i);
    }
    bincode_end(&b);
    return b.status == CUZK_OK ? CUZK_OK : bincode_error(&b, err, "partition %u", k);
}

/* Resolves h and checks what the chain would give. */
static cuzk_status check_public(update_public *pub, update_shape *s, const circuit_info **circuit,
                                cuzk_error *err)
{
    static const char *const name[] = {"comm_r_old", "comm_d_new", "comm_r_new"};
    const uint8_t *const value[] = {pub->comm_r_old, pub->comm_d_new, pub->comm_r_new};
    const registered_update *u = pub->update;
    fr t;
    *circuit = circuit_find(CIRCUIT_UPDATE, u->sector_size);
    if (!*circuit || update_shape_of(s, u->sector_size))
        return cuzk_error_set(err, CUZK_UNSUPPORTED,
                              "%s: there is no update circuit for sectors of %llu bytes", u->name,
                              (unsigned long long)u->sector_size);
    if (!pub->h)
        pub->h = (*circuit)->h;
    if (h_index(s, pub->h) < 0)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "h is %u: the circuit %s offers %u to %u", pub->h,
                              (*circuit)->name, s->h[0], s->h[UPDATE_H_VALUES - 1]);
    for (int i = 0; i < 3; i++)
        if (fr_from_bytes(&t, value[i]))
            return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "%s is not a field element (it is not below r)",
                                  name[i]);
    return CUZK_OK;
}

static cuzk_status parse_partitions(update_input *in, const proof_bytes *proofs, size_t count,
                                    cuzk_error *err)
{
    if (count != in->shape.partitions)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "%zu vanilla proofs are given, %s has %u partitions", count, in->circuit->name,
                              in->shape.partitions);
    in->arena = arena_create();
    in->partition = mem_calloc(count, sizeof *in->partition);
    if (!in->arena || !in->partition)
        return mem_error(err, count * sizeof *in->partition, "vanilla proofs");
    for (uint32_t k = 0; k < count; k++) {
        cuzk_status status = parse_partition(in, k, &proofs[k], err);
        if (status != CUZK_OK)
            return status;
    }
    in->bytes = sizeof *in + count * sizeof *in->partition + arena_bytes(in->arena);
    return CUZK_OK;
}

cuzk_status update_parse(update_input **out, const update_public *pub, const proof_bytes *proofs,
                         size_t count, cuzk_error *err)
{
    *out = NULL;
    update_input *in = mem_calloc(1, sizeof *in);
    if (!in)
        return mem_error(err, sizeof *in, "vanilla proofs");
    in->pub = *pub;
    cuzk_status status = check_public(&in->pub, &in->shape, &in->circuit, err);
    if (status == CUZK_OK)
        status = parse_partitions(in, proofs, count, err);
    if (status != CUZK_OK) {
        update_free(in);
        return status;
    }
    *out = in;
    return CUZK_OK;
}

void update_free(update_input *in)
{
    if (!in)
        return;
    arena_destroy(in->arena);
    mem_free(in->partition);
    mem_free(in);
}

/* ---- challenges and factors ---- */

uint32_t update_digests(const update_shape *s)
{
    const uint32_t each = FR_CAPACITY / (s->challenge_bits - s->partition_bits);
    return (s->challenges + each - 1) / each;
}

/* bits from position at on of a little-endian number; at most 32. */
static uint64_t bits_of(const uint8_t le[32], unsigned at, unsigned bits)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bits; i++)
        v |= (uint64_t)(le[(at + i) / 8] >> ((at + i) % 8) & 1) << i;
    return v;
}

cuzk_status update_challenges(uint64_t *out, const update_shape *s, const poseidon_set *ps,
                              const uint8_t comm_r_new[32], uint32_t partition, cuzk_error *err)
{
    const unsigned random = s->challenge_bits - s->partition_bits, each = FR_CAPACITY / random;
    uint8_t digest[32];
    fr in[2], h;
    if (fr_from_bytes(&in[0], comm_r_new))
        return cuzk_error_set(err, CUZK_BAD_INPUT, "comm_r_new is not a field element (it is not below r)");
    for (uint32_t i = 0; i < s->challenges; i++) {
        if (i % each == 0) {
            fr_from_u64(&in[1], (uint64_t)partition * update_digests(s) + i / each);
            poseidon_hash(&h, poseidon_get(ps, 2, POSEIDON_SNAP_GEN), in);
            fr_to_bytes(digest, &h);
        }
        out[i] = bits_of(digest, i % each * random, random) | (uint64_t)partition << random;
    }
    return CUZK_OK;
}

cuzk_status update_phi(fr *phi, const poseidon_set *ps, const uint8_t comm_d_new[32],
                       const uint8_t comm_r_old[32], cuzk_error *err)
{
    fr in[2];
    if (fr_from_bytes(&in[0], comm_d_new))
        return cuzk_error_set(err, CUZK_BAD_INPUT, "comm_d_new is not a field element (it is not below r)");
    if (fr_from_bytes(&in[1], comm_r_old))
        return cuzk_error_set(err, CUZK_BAD_INPUT, "comm_r_old is not a field element (it is not below r)");
    poseidon_hash(phi, poseidon_get(ps, 2, POSEIDON_SNAP_GEN), in);
    return CUZK_OK;
}

void update_rho(fr *rho, const update_shape *s, const poseidon_set *ps, const fr *phi, uint32_t h,
                uint64_t leaf)
{
    fr in[2] = {*phi};
    fr_from_u64(&in[1], leaf >> (s->challenge_bits - h));
    poseidon_hash(rho, poseidon_get(ps, 2, POSEIDON_SNAP_GEN), in);
}

/* ---- public inputs ---- */

size_t update_public_input_count(const circuit_info *ci)
{
    (void)ci;
    return UPDATE_PUBLIC_INPUTS;
}

cuzk_status update_public_inputs(fr *out, size_t n, const update_public *given, uint32_t partition,
                                 cuzk_error *err)
{
    update_public pub = *given;
    update_shape s;
    const circuit_info *circuit;
    cuzk_status status = check_public(&pub, &s, &circuit, err);
    if (status != CUZK_OK)
        return status;
    if (n != UPDATE_PUBLIC_INPUTS)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "%s has %d public inputs, not %zu", circuit->name,
                              UPDATE_PUBLIC_INPUTS, n);
    if (partition >= s.partitions)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "partition %u: %s has %u", partition, circuit->name,
                              s.partitions);
    fr_from_u64(&out[0], partition | 1ull << (s.partition_bits + (unsigned)h_index(&s, pub.h)));
    fr_from_bytes(&out[1], pub.comm_r_old);
    fr_from_bytes(&out[2], pub.comm_d_new);
    fr_from_bytes(&out[3], pub.comm_r_new);
    return CUZK_OK;
}
