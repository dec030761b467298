/* The witness of PoSt. Nearly all of it is Poseidon states, so eight sectors are written side by side, each
 * by its own cursor, and their hashes go eight at a time. The sectors that fill a partition up are copies of
 * the last one. */
#include "filecoin/circuits/post_circuit.h"
#include <assert.h>
#include <stdatomic.h>

#define GROUP 8

typedef struct job {
    witness *w;
    const post_input *in;
    const poseidon_set *ps;
    const cancel_token *cancel;
    uint64_t aux, fields; /* wires of one body, and the field elements among them */
    size_t first;         /* sector of body 0 */
    uint32_t bodies;      /* to be computed; the rest repeats the last */
    uint32_t challenges;
    int winning;
    atomic_int stop;
} job;

static const post_sector *sector_of(const job *j, uint32_t body)
{
    return &j->in->sector[j->first + (j->winning ? 0 : body)];
}

/* The field elements that were checked to be such. */
static void load(fr *out, const uint8_t bytes[32])
{
    int bad = fr_from_bytes(out, bytes);
    assert(!bad);
    (void)bad;
}

static void write_group(job *j, uint32_t first, uint32_t n)
{
    wcursor cursor[GROUP], *at[GROUP];
    const merkle_proof *proof[GROUP];
    fr pair[2 * GROUP], hash[GROUP], v;
    for (uint32_t i = 0; i < n; i++) {
        const post_sector *s = sector_of(j, first + i);
        at[i] = &cursor[i];
        wcursor_init(at[i], j->w, (first + i) * j->aux, (first + i) * j->fields);
        load(&pair[2 * i], s->comm_c);
        load(&pair[2 * i + 1], s->comm_r_last);
        load(&v, s->comm_r);
        wcursor_field(at[i], &pair[2 * i + 1]);
        wcursor_field(at[i], &pair[2 * i]);
        wcursor_field(at[i], &v);
    }
    poseidon_witness_many(at, poseidon_get(j->ps, 2, POSEIDON_MERKLE), pair, hash, n);
    for (uint32_t k = 0; k < j->challenges; k++) {
        for (uint32_t i = 0; i < n; i++) {
            proof[i] = &sector_of(j, first + i)->inclusion[j->winning ? first + i : k];
            load(&v, proof[i]->leaf);
            wcursor_field(at[i], &v);
        }
        merkle_witness_many(at, &j->in->shape, j->ps, proof, NULL, n);
    }
    for (uint32_t i = 0; i < n; i++) {
        assert(cursor[i].aux == (first + i + 1) * j->aux && cursor[i].field == (first + i + 1) * j->fields);
        wcursor_finish(at[i]);
    }
}

static void write_task(void *ctx, size_t task, unsigned worker)
{
    job *j = ctx;
    (void)worker;
    const uint32_t first = (uint32_t)task * GROUP, left = j->bodies - first;
    if (atomic_load(&j->stop))
        return;
    if (cancel_check(j->cancel)) {
        atomic_store(&j->stop, 1);
        return;
    }
    write_group(j, first, left < GROUP ? left : GROUP);
}

static uint64_t word(const witness *w, uint64_t i)
{
    return __atomic_load_n(&w->bits[i],
                           __ATOMIC_RELAXED); /* its other bits may be written by others meanwhile */
}

/* n bits from position at on. */
static uint64_t bits_at(const witness *w, uint64_t at, unsigned n)
{
    const unsigned shift = at % 64;
    uint64_t v = word(w, at / 64) >> shift;
    if (shift && shift + n > 64)
        v |= word(w, at / 64 + 1) << (64 - shift);
    return n == 64 ? v : v & ((1ull << n) - 1);
}

/* Copies of the last computed body. Field wires have a zero in the bitmap, so that it is copied whole. */
static void copy_task(void *ctx, size_t task, unsigned worker)
{
    job *j = ctx;
    (void)worker;
    wcursor c;
    const uint64_t from = (j->bodies - 1) * j->aux, body = j->bodies + task;
    if (atomic_load(&j->stop))
        return;
    wcursor_init(&c, j->w, body * j->aux, body * j->fields);
    for (uint64_t i = 0; i < j->aux; i += 64) {
        const unsigned n = j->aux - i < 64 ? (unsigned)(j->aux - i) : 64;
        wcursor_bits(&c, bits_at(j->w, from + i, n), n);
    }
    wcursor_finish(&c);
    memcpy(j->w->field + body * j->fields, j->w->field + (j->bodies - 1) * j->fields, j->fields * sizeof(fr));
}

cuzk_status post_witness(witness *w, const r1cs *r, const post_input *in, uint32_t partition,
                         const poseidon_set *ps, pool *p, const cancel_token *cancel, cuzk_error *err)
{
    const circuit_info *info = in->circuit;
    const uint32_t bodies = post_bodies(info);
    r1cs_counts n;
    r1cs_get_counts(r, &n);
    if (partition >= in->partitions)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "partition %u: there are %u", partition,
                              in->partitions);
    if (n.inputs != 1 + post_public_input_count(info) || n.aux % bodies || n.fields % bodies)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "%s is not the circuit %s", r1cs_name(r),
                              info->name);
    job j = {
        .in = in, .ps = ps, .w = w, .cancel = cancel, .aux = n.aux / bodies, .fields = n.fields / bodies};
    j.winning = info->kind == CIRCUIT_WINNING;
    j.challenges = post_body_challenges(info);
    j.first = j.winning ? 0 : (size_t)partition * info->sectors;
    j.bodies = bodies;
    if (!j.winning && in->sector_count - j.first < bodies)
        j.bodies = (uint32_t)(in->sector_count - j.first);
    cuzk_status status = witness_init(w, n.inputs, n.aux, n.fields, err);
    if (status != CUZK_OK)
        return status;
    status = post_input_public(w->input + 1, w->inputs - 1, in, partition, err);
    if (status == CUZK_OK) {
        pool_for(p, (j.bodies + GROUP - 1) / GROUP, write_task, &j);
        pool_for(p, bodies - j.bodies, copy_task, &j);
        int stopped = cancel_check(cancel);
        if (stopped || atomic_load(&j.stop))
            status = cuzk_error_set(err, stopped == 2 ? CUZK_DEADLINE : CUZK_CANCELLED,
                                    "the witness of %s, partition %u, was stopped", info->name, partition);
    }
    if (status != CUZK_OK)
        witness_clear(w);
    return status;
}
