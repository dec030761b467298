/* Files of synthetic inputs: what `cuzk synth` leaves in its folder. */
#include "base/file.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "filecoin/c1_write.h"
#include "filecoin/synth_private.h"
#include <stdio.h>
#include <string.h>

/* Public inputs are listed up to this many; a WindowPoSt of 32 GiB has 25,839. */
#define MAX_LISTED 1000

static void write_hex(json_out *j, const char *key, const uint8_t value[32])
{
    json_hex(j, key, value, 32);
}

static void write_inputs(json_out *j, uint32_t partition, const fr *inputs, size_t n)
{
    uint8_t bytes[32] = {1};
    json_begin_object(j, NULL);
    json_u64(j, "partition", partition);
    json_begin_array(j, "inputs");
    if (n <= MAX_LISTED) {
        write_hex(j, NULL, bytes); /* the constant one */
        for (size_t i = 0; i < n; i++) {
            fr_to_bytes(bytes, &inputs[i]);
            write_hex(j, NULL, bytes);
        }
    }
    json_end_array(j);
    json_end_object(j);
}

typedef cuzk_status inputs_fn(fr *out, size_t n, const void *public, uint32_t partition, cuzk_error *err);

static cuzk_status porep_inputs(fr *out, size_t n, const void *public, uint32_t partition, cuzk_error *err)
{
    return porep_public_inputs(out, n, public, partition, err);
}
static cuzk_status post_inputs(fr *out, size_t n, const void *public, uint32_t partition, cuzk_error *err)
{
    return post_public_inputs(out, n, public, partition, err);
}
static cuzk_status update_inputs(fr *out, size_t n, const void *public, uint32_t partition, cuzk_error *err)
{
    return update_public_inputs(out, n, public, partition, err);
}

static cuzk_status write_partitions(json_out *j, uint32_t partitions, size_t n, inputs_fn *fn,
                                    const void *public, cuzk_error *err)
{
    cuzk_status st = CUZK_OK;
    fr *inputs = mem_calloc(n, sizeof *inputs);
    if (!inputs)
        return mem_error(err, n * sizeof *inputs, "public inputs");
    json_begin_array(j, "partitions");
    for (uint32_t k = 0; st == CUZK_OK && k < partitions; k++) {
        st = n <= MAX_LISTED ? fn(inputs, n, public, k, err) : CUZK_OK;
        if (st == CUZK_OK)
            write_inputs(j, k, inputs, n);
    }
    json_end_array(j);
    mem_free(inputs);
    return st;
}

/* The document so far into folder/name. */
static cuzk_status save_json(json_out *j, const char *folder, const char *name, cuzk_error *err)
{
    char path[4096];
    if (j->failed || !j->text)
        return mem_error(err, j->cap, name);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return file_save(path, j->text, j->used, err);
}

static void write_prover(json_out *j, const synth_options *o)
{
    uint8_t id[32];
    porep_prover_id(id, o->miner_id);
    write_hex(j, "prover_id", id);
}

/* CUZK_OK if the proof exists and is one for the sector size. */
static cuzk_status check_registered(const char *name, uint64_t size, uint64_t sector_size, const char *kind,
                                    const synth_options *o, cuzk_error *err)
{
    if (!name && o->has_registered_proof)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "registered proof %llu: there is no such %s",
                              (unsigned long long)o->registered_proof, kind);
    if (!name)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "no %s is registered for sectors of %s", kind,
                              sector_size_name(sector_size));
    if (size != sector_size)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "%s is not for sectors of %s", name,
                              sector_size_name(sector_size));
    return CUZK_OK;
}

/* ---- PoRep ---- */

static cuzk_status porep_public_json(json_out *j, const porep_c1 *c, const synth_options *o, cuzk_error *err)
{
    porep_public pub = {.seal = c->seal};
    uint8_t porep_id[32];
    memcpy(pub.replica_id, c->replica_id, 32);
    memcpy(pub.comm_r, c->comm_r, 32);
    memcpy(pub.comm_d, c->comm_d, 32);
    memcpy(pub.seed, c->seed, 32);
    porep_porep_id(porep_id, c->seal);
    json_begin_object(j, NULL);
    json_string(j, "registered_proof", c->seal->name);
    json_string(j, "api_version", c->seal->legacy_graph ? "1.0.0" : "1.1.0");
    json_u64(j, "sector_size", c->seal->sector_size);
    write_prover(j, o);
    json_u64(j, "sector_id", c->sector_number);
    write_hex(j, "porep_id", porep_id);
    write_hex(j, "ticket", c->ticket);
    write_hex(j, "seed", c->seed);
    write_hex(j, "replica_id", c->replica_id);
    write_hex(j, "comm_d", c->comm_d);
    write_hex(j, "comm_r", c->comm_r);
    cuzk_status st =
        write_partitions(j, c->partitions, porep_public_input_count(c->circuit), porep_inputs, &pub, err);
    json_end_object(j);
    return st;
}

static void file_sink(void *ctx, const void *data, size_t bytes)
{
    file_write(ctx, data, bytes);
}

static cuzk_status write_porep(const char *folder, uint64_t sector_size, const synth_options *o, json_out *j,
                               const poseidon_set *ps, pool *p, cuzk_error *err)
{
    const registered_seal *seal =
        o->has_registered_proof ? seal_by_number(o->registered_proof) : seal_find(sector_size, POREP_V1_1);
    porep_c1 *c;
    file_writer w;
    char path[4096];
    cuzk_status st = check_registered(seal ? seal->name : NULL, seal ? seal->sector_size : 0, sector_size,
                                      "seal proof", o, err);
    if (st != CUZK_OK)
        return st;
    if (o->sectors > 1)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "a PoRep is about one sector, not %zu", o->sectors);
    st = synth_porep(&c, seal, o, ps, p, err);
    if (st != CUZK_OK)
        return st;
    snprintf(path, sizeof path, "%s/c1.json", folder);
    st = file_writer_open(&w, path, err);
    if (st == CUZK_OK) {
        porep_c1_write(c, 1, file_sink, &w);
        st = file_writer_commit(&w, err);
    }
    if (st == CUZK_OK)
        st = porep_public_json(j, c, o, err);
    porep_c1_free(c);
    return st;
}

/* ---- PoSt ---- */

static const registered_post *find_post(uint64_t sector_size, int winning, const synth_options *o)
{
    const registered_post *found = NULL; /* the last of its kind: WindowPoSt V1_2 */
    if (o->has_registered_proof) {
        found = post_by_number(o->registered_proof);
        return found && found->winning == winning ? found : NULL;
    }
    for (uint64_t i = 0; post_by_number(i); i++)
        if (post_by_number(i)->sector_size == sector_size && post_by_number(i)->winning == winning)
            found = post_by_number(i);
    return found;
}

static void write_sectors(json_out *j, const synth_vanilla *v, const registered_post *post)
{
    json_begin_array(j, "sectors");
    for (size_t i = 0; i < v->count; i++) {
        json_begin_object(j, NULL);
        json_u64(j, "sector_id", v->sectors[i].sector_id);
        write_hex(j, "comm_r", v->sectors[i].comm_r);
        json_end_object(j);
    }
    json_end_array(j);
    json_begin_array(j, "challenges");
    for (size_t i = 0; i < v->count; i++) {
        uint64_t challenge[POST_MAX_CHALLENGES];
        post_challenges(challenge, post, v->randomness, v->sectors[i].sector_id, i);
        json_begin_array(j, NULL);
        for (uint32_t k = 0; k < post->challenges; k++)
            json_u64(j, NULL, challenge[k]);
        json_end_array(j);
    }
    json_end_array(j);
}

static cuzk_status write_post(const char *folder, uint64_t sector_size, int winning, const synth_options *o,
                              json_out *j, const poseidon_set *ps, pool *p, cuzk_error *err)
{
    const registered_post *post = find_post(sector_size, winning, o);
    synth_vanilla v;
    char path[4096];
    cuzk_status st = check_registered(post ? post->name : NULL, post ? post->sector_size : 0, sector_size,
                                      winning ? "WinningPoSt" : "WindowPoSt", o, err);
    if (st != CUZK_OK)
        return st;
    st = synth_post(&v, post, o, ps, p, err);
    if (st != CUZK_OK)
        return st;
    post_public pub = {.post = post, .sectors = v.sectors, .sector_count = v.count};
    memcpy(pub.randomness, v.randomness, 32);
    snprintf(path, sizeof path, "%s/vanilla-all.bin", folder);
    st = file_save(path, v.data, v.size, err);
    json_begin_object(j, NULL);
    json_string(j, "registered_proof", post->name);
    json_u64(j, "sector_size", sector_size);
    json_u64(j, "sector_count", v.count);
    write_prover(j, o);
    write_hex(j, "randomness", v.randomness);
    write_sectors(j, &v, post);
    if (st == CUZK_OK)
        st = write_partitions(
            j, post_partitions(post, v.count),
            post_public_input_count(circuit_find(winning ? CIRCUIT_WINNING : CIRCUIT_WINDOW, sector_size)),
            post_inputs, &pub, err);
    json_end_object(j);
    synth_vanilla_clear(&v);
    return st;
}

/* ---- SnapDeals ---- */

static cuzk_status write_update(const char *folder, uint64_t sector_size, const synth_options *o, json_out *j,
                                const poseidon_set *ps, pool *p, cuzk_error *err)
{
    const registered_update *update = NULL;
    synth_vanilla v;
    char path[4096];
    for (uint64_t i = 0; update_by_number(i); i++)
        if (update_by_number(i)->sector_size == sector_size)
            update = update_by_number(i);
    if (o->has_registered_proof)
        update = update_by_number(o->registered_proof);
    cuzk_status st = check_registered(update ? update->name : NULL, update ? update->sector_size : 0,
                                      sector_size, "update proof", o, err);
    if (st != CUZK_OK)
        return st;
    if (o->sectors > 1)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "an update is about one sector, not %zu",
                              o->sectors);
    st = synth_update(&v, update, o, ps, p, err);
    if (st != CUZK_OK)
        return st;
    snprintf(path, sizeof path, "%s/vanilla-all.bin", folder);
    st = file_save(path, v.data, v.size, err);
    json_begin_object(j, NULL);
    json_string(j, "registered_proof", update->name);
    json_u64(j, "sector_size", sector_size);
    json_u64(j, "update_partitions", update->partitions);
    json_u64(j, "h", v.update.h);
    write_hex(j, "comm_r_old", v.update.comm_r_old);
    write_hex(j, "comm_d_new", v.update.comm_d_new);
    write_hex(j, "comm_r_new", v.update.comm_r_new);
    if (st == CUZK_OK)
        st = write_partitions(j, update->partitions,
                              update_public_input_count(circuit_find(CIRCUIT_UPDATE, sector_size)),
                              update_inputs, &v.update, err);
    json_end_object(j);
    synth_vanilla_clear(&v);
    return st;
}

cuzk_status synth_write(const char *folder, circuit_kind kind, uint64_t sector_size, const synth_options *o,
                        const poseidon_set *ps, pool *p, cuzk_error *err)
{
    json_out j;
    cuzk_status st;
    if (strlen(folder) > 4000)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "the name of the folder is too long");
    st = file_make_dirs(folder, err);
    if (st != CUZK_OK)
        return st;
    json_init(&j);
    switch (kind) {
    case CIRCUIT_POREP:
        st = write_porep(folder, sector_size, o, &j, ps, p, err);
        break;
    case CIRCUIT_WINNING:
    case CIRCUIT_WINDOW:
        st = write_post(folder, sector_size, kind == CIRCUIT_WINNING, o, &j, ps, p, err);
        break;
    default:
        st = write_update(folder, sector_size, o, &j, ps, p, err);
        break;
    }
    if (st == CUZK_OK)
        st = save_json(&j, folder, "public.json", err);
    json_clear(&j);
    return st;
}
