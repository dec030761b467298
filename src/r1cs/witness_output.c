/* A witness spelled out: digests of its values and snarkjs .wtns files. */
#include "base/encode.h"
#include "base/hash.h"
#include "base/mem.h"
#include "r1cs/r1cs_internal.h"

#define CHUNK 2048u /* values at a time */

typedef struct value_reader {
    const witness *w;
    const uint64_t *field_map;
    uint64_t aux, field; /* next */
    uint64_t zero, one;  /* seen */
    uint8_t *buffer;     /* CHUNK * 32 bytes */
} value_reader;

static cuzk_status reader_init(value_reader *v, const r1cs *r, const witness *w, cuzk_error *err)
{
    *v = (value_reader){.w = w};
    if (w->inputs != r->counts.inputs || w->aux != r->counts.aux || w->fields != r->counts.fields)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "the witness is not one of circuit %s", r->name);
    cuzk_status status = r1cs_make_maps(r, err);
    if (status != CUZK_OK)
        return status;
    v->field_map = r1cs_field_map(r);
    v->buffer = mem_alloc(CHUNK * 32);
    return v->buffer ? CUZK_OK : mem_error(err, CHUNK * 32, "the values of a witness");
}

/* Spells out the next n <= CHUNK aux values. */
static void read_values(value_reader *v, unsigned n)
{
    memset(v->buffer, 0, (size_t)n * 32);
    for (unsigned i = 0; i < n; i++, v->aux++) {
        uint64_t word = v->aux / 64, shift = v->aux & 63;
        uint8_t *to = v->buffer + (size_t)i * 32;
        if (v->field_map[word] >> shift & 1) {
            const fr *x = &v->w->field[v->field++];
            fr_to_bytes(to, x);
            v->zero += (uint64_t)fr_is_zero(x);
            v->one += (uint64_t)fr_is_one(x);
        } else {
            uint8_t bit = v->w->bits[word] >> shift & 1;
            *to = bit;
            v->one += bit;
            v->zero += !bit;
        }
    }
}

cuzk_status witness_get_digest(witness_digest *out, const r1cs *r, const witness *w, uint64_t aux_per_block,
                               witness_block_fn *report, void *ctx, cuzk_error *err)
{
    value_reader v;
    sha256 all, block;
    uint8_t digest[32];
    cuzk_status status = reader_init(&v, r, w, err);
    if (status != CUZK_OK)
        return status;
    sha256_init(&all);
    for (uint64_t i = 0; i < w->inputs; i++) {
        fr_to_bytes(v.buffer, &w->input[i]);
        sha256_update(&all, v.buffer, 32);
    }
    sha256_final(&all, out->inputs);
    sha256_init(&all);
    sha256_init(&block);
    while (v.aux < w->aux) {
        uint64_t in_block = aux_per_block ? v.aux % aux_per_block : 0, n = w->aux - v.aux;
        if (aux_per_block && n > aux_per_block - in_block)
            n = aux_per_block - in_block;
        if (n > CHUNK)
            n = CHUNK;
        read_values(&v, (unsigned)n);
        sha256_update(&all, v.buffer, n * 32);
        if (!aux_per_block)
            continue;
        sha256_update(&block, v.buffer, n * 32);
        if (v.aux % aux_per_block == 0 || v.aux == w->aux) {
            sha256_final(&block, digest);
            sha256_init(&block);
            if (report)
                report(ctx, (v.aux - 1) / aux_per_block, digest);
        }
    }
    sha256_final(&all, out->aux);
    out->zero = v.zero;
    out->one = v.one;
    mem_wipe(v.buffer, CHUNK * 32);
    mem_free(v.buffer);
    return CUZK_OK;
}

static const uint8_t PRIME[32] = {0x01, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xfe, 0x5b, 0xfe,
                                  0xff, 0x02, 0xa4, 0xbd, 0x53, 0x05, 0xd8, 0xa1, 0x09, 0x08, 0xd8,
                                  0x39, 0x33, 0x48, 0x7d, 0x9d, 0x29, 0x53, 0xa7, 0xed, 0x73};

cuzk_status witness_write_wtns(const r1cs *r, const witness *w, const char *path, cuzk_error *err)
{
    value_reader v;
    file_writer f;
    uint8_t head[76] = "wtns";
    cuzk_status status = reader_init(&v, r, w, err);
    if (status != CUZK_OK)
        return status;
    status = file_writer_open(&f, path, err);
    if (status != CUZK_OK) {
        mem_free(v.buffer);
        return status;
    }
    store_le32(head + 4, 2);
    store_le32(head + 8, 2);
    store_le32(head + 12, 1); /* section: header */
    store_le64(head + 16, 40);
    store_le32(head + 24, 32);
    memcpy(head + 28, PRIME, 32);
    store_le32(head + 60, (uint32_t)(w->inputs + w->aux));
    store_le32(head + 64, 2); /* section: values */
    store_le64(head + 68, (w->inputs + w->aux) * 32);
    file_write(&f, head, sizeof(head));
    for (uint64_t i = 0; i < w->inputs; i++) {
        fr_to_bytes(v.buffer, &w->input[i]);
        file_write(&f, v.buffer, 32);
    }
    while (v.aux < w->aux) {
        unsigned n = w->aux - v.aux < CHUNK ? (unsigned)(w->aux - v.aux) : CHUNK;
        read_values(&v, n);
        file_write(&f, v.buffer, (size_t)n * 32);
    }
    mem_wipe(v.buffer, CHUNK * 32);
    mem_free(v.buffer);
    return file_writer_commit(&f, err);
}
