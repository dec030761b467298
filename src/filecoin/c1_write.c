/* C1 documents as text: 51 MB for 32 GiB, written through a small buffer, encoded as base64 on the way where
 * wanted. */
#include "filecoin/c1_write.h"
#include <stdio.h>
#include <string.h>

#define BUFFER 12288 /* a multiple of 3: whole groups of base64 */
typedef struct writer {
    c1_sink *sink;
    void *ctx;
    int encode;
    size_t used;
    char text[BUFFER + 512];
    char code[BUFFER / 3 * 4];
} writer;

static void encode_group(char out[4], const uint8_t in[3], size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    out[0] = digits[in[0] >> 2];
    out[1] = digits[(in[0] & 3) << 4 | (n > 1 ? in[1] >> 4 : 0)];
    out[2] = n > 1 ? digits[(in[1] & 15) << 2 | (n > 2 ? in[2] >> 6 : 0)] : '=';
    out[3] = n > 2 ? digits[in[2] & 63] : '=';
}

/* Hands out the first n characters; n is a multiple of 3 except at the end. */
static void hand_out(writer *w, size_t n)
{
    if (!w->encode) {
        w->sink(w->ctx, w->text, n);
    } else {
        size_t k = 0;
        for (size_t i = 0; i < n; i += 3, k += 4)
            encode_group(w->code + k, (const uint8_t *)w->text + i, n - i);
        w->sink(w->ctx, w->code, k);
    }
    memmove(w->text, w->text + n, w->used - n);
    w->used -= n;
}

/* Room for at least 512 characters. */
static char *room(writer *w)
{
    if (w->used >= BUFFER)
        hand_out(w, BUFFER);
    return w->text + w->used;
}

static void put(writer *w, const char *text)
{
    size_t n = strlen(text);
    memcpy(room(w), text, n);
    w->used += n;
}

static void put_u64(writer *w, uint64_t v)
{
    w->used += (size_t)sprintf(room(w), "%llu", (unsigned long long)v);
}

static void put_bytes(writer *w, const uint8_t bytes[32])
{
    char *start = room(w), *p = start;
    *p++ = '[';
    for (int i = 0; i < 32; i++) {
        unsigned b = bytes[i];
        if (b >= 100)
            *p++ = (char)('0' + b / 100);
        if (b >= 10)
            *p++ = (char)('0' + b / 10 % 10);
        *p++ = (char)('0' + b % 10);
        *p++ = ',';
    }
    p[-1] = ']';
    w->used += (size_t)(p - start);
}

static void put_hashes(writer *w, const uint8_t *hashes, size_t n)
{
    put(w, "[");
    for (size_t i = 0; i < n; i++) {
        if (i)
            put(w, ",");
        put_bytes(w, hashes + 32 * i);
    }
    put(w, "]");
}

static void put_path(writer *w, const merkle_shape *s, const merkle_level *level, uint32_t first,
                     uint32_t count)
{
    put(w, "{\"path\":[");
    for (uint32_t i = first; i < first + count; i++) {
        put(w, i > first ? ",{\"hashes\":" : "{\"hashes\":");
        put_hashes(w, level[i].siblings, merkle_arity(s, i) - 1);
        put(w, ",\"index\":");
        put_u64(w, level[i].position);
        put(w, "}");
    }
    put(w, "]}");
}

static void put_proof(writer *w, const merkle_shape *s, const merkle_proof *p)
{
    if (!s->sub) {
        put(w, "{\"data\":{\"Single\":{\"root\":");
        put_bytes(w, p->root);
        put(w, ",\"leaf\":");
        put_bytes(w, p->leaf);
        put(w, ",\"path\":");
        put_path(w, s, p->level, 0, p->levels);
        put(w, "}}}");
        return;
    }
    put(w, s->top ? "{\"data\":{\"Top\":{\"base_proof\":" : "{\"data\":{\"Sub\":{\"base_proof\":");
    put_path(w, s, p->level, 0, s->base_levels);
    put(w, ",\"sub_proof\":");
    put_path(w, s, p->level, s->base_levels, 1);
    if (s->top) {
        put(w, ",\"top_proof\":");
        put_path(w, s, p->level, s->base_levels + 1, 1);
    }
    put(w, ",\"root\":");
    put_bytes(w, p->root);
    put(w, ",\"leaf\":");
    put_bytes(w, p->leaf);
    put(w, "}}}");
}

static void put_column(writer *w, const merkle_shape *s, const porep_column *c, uint32_t layers)
{
    put(w, "{\"column\":{\"index\":");
    put_u64(w, c->index);
    put(w, ",\"rows\":");
    put_hashes(w, c->rows, layers);
    put(w, ",\"_h\":null},\"inclusion_proof\":");
    put_proof(w, s, &c->inclusion);
    put(w, "}");
}

static void put_labeling(writer *w, const porep_labeling *l)
{
    put(w, "{\"parents\":");
    put_hashes(w, l->parents, l->parent_count);
    put(w, ",\"layer_index\":");
    put_u64(w, l->layer_index);
    put(w, ",\"node\":");
    put_u64(w, l->node);
    put(w, "}");
}

static void put_challenge(writer *w, const merkle_shape *d, const merkle_shape *r, const porep_challenge *h)
{
    put(w, "{\"comm_d_proofs\":");
    put_proof(w, d, &h->comm_d);
    put(w, ",\"comm_r_last_proof\":");
    put_proof(w, r, &h->comm_r_last);
    put(w, ",\"replica_column_proofs\":{\"c_x\":");
    put_column(w, r, &h->c_x, h->layers);
    put(w, ",\"drg_parents\":[");
    for (unsigned i = 0; i < POREP_DRG_PARENTS; i++) {
        if (i)
            put(w, ",");
        put_column(w, r, &h->drg[i], h->layers);
    }
    put(w, "],\"exp_parents\":[");
    for (unsigned i = 0; i < POREP_EXP_PARENTS; i++) {
        if (i)
            put(w, ",");
        put_column(w, r, &h->exp[i], h->layers);
    }
    put(w, "]},\"labeling_proofs\":[");
    for (uint32_t i = 0; i < h->layers; i++) {
        if (i)
            put(w, ",");
        put_labeling(w, &h->labeling[i]);
    }
    put(w, "],\"encoding_proof\":");
    put_labeling(w, &h->encoding);
    put(w, "}");
}

static void put_inner(writer *w, const porep_c1 *c)
{
    merkle_shape d, r;
    merkle_shape_sha256(&d, c->seal->sector_size);
    merkle_shape_poseidon(&r, c->seal->sector_size);
    put(w, "{\"registered_proof\":\"");
    put(w, c->seal->name);
    put(w, "\",\"vanilla_proofs\":{\"");
    put(w, seal_find(c->seal->sector_size, POREP_V1)->name);
    put(w, "\":[");
    for (uint32_t k = 0; k < c->partitions; k++) {
        put(w, k ? ",[" : "[");
        for (uint32_t i = 0; i < c->challenges; i++) {
            if (i)
                put(w, ",");
            put_challenge(w, &d, &r, &c->challenge[(size_t)k * c->challenges + i]);
        }
        put(w, "]");
    }
    put(w, "]}");
    const struct {
        const char *name;
        const uint8_t *value;
    } members[] = {{",\"comm_r\":", c->comm_r},
                   {",\"comm_d\":", c->comm_d},
                   {",\"replica_id\":", c->replica_id},
                   {",\"seed\":", c->seed},
                   {",\"ticket\":", c->ticket}};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        put(w, members[i].name);
        put_bytes(w, members[i].value);
    }
    put(w, "}");
}

static void flush(writer *w)
{
    if (w->used >= BUFFER)
        hand_out(w, BUFFER);
    hand_out(w, w->used);
}

void porep_c1_write(const porep_c1 *c, int wrapped, c1_sink *sink, void *ctx)
{
    writer w;
    w.sink = sink;
    w.ctx = ctx;
    w.encode = 0;
    w.used = 0;
    if (wrapped) {
        put(&w, "{\"SectorNum\":");
        put_u64(&w, c->sector_number);
        put(&w, ",\"Phase1Out\":\"");
        flush(&w);
        w.encode = 1;
    }
    put_inner(&w, c);
    flush(&w);
    if (wrapped) {
        w.encode = 0;
        put(&w, "\",\"SectorSize\":");
        put_u64(&w, c->seal->sector_size);
        put(&w, "}");
        flush(&w);
    }
}
