/* The system as a circom .r1cs file, version 1: header, constraints, wire map. Every wire but the constant
 * and the inputs is private; the map to labels is the identity. */
#include "base/encode.h"
#include "r1cs/row_encode.h"

#define PIECE_BYTES ((size_t)4 << 20)

static const uint8_t PRIME[32] = {0x01, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xfe, 0x5b, 0xfe,
                                  0xff, 0x02, 0xa4, 0xbd, 0x53, 0x05, 0xd8, 0xa1, 0x09, 0x08, 0xd8,
                                  0x39, 0x33, 0x48, 0x7d, 0x9d, 0x29, 0x53, 0xa7, 0xed, 0x73};

static void put32(file_writer *w, uint32_t v)
{
    uint8_t b[4];
    store_le32(b, v);
    file_write(w, b, sizeof(b));
}

static void put64(file_writer *w, uint64_t v)
{
    uint8_t b[8];
    store_le64(b, v);
    file_write(w, b, sizeof(b));
}

static void put_section(file_writer *w, uint32_t type, uint64_t bytes)
{
    put32(w, type);
    put64(w, bytes);
}

static void put_header(file_writer *w, const r1cs_counts *n)
{
    file_write(w, "r1cs", 4);
    put32(w, 1);
    put32(w, 3);
    put_section(w, 1, 64);
    put32(w, 32);
    file_write(w, PRIME, sizeof(PRIME));
    put32(w, (uint32_t)(n->inputs + n->aux));
    put32(w, 0); /* public outputs */
    put32(w, (uint32_t)(n->inputs - 1));
    put32(w, (uint32_t)n->aux);
    put64(w, n->inputs + n->aux);
    put32(w, (uint32_t)n->constraints);
}

cuzk_status r1cs_write_circom(const r1cs *r, const char *path, cuzk_error *err)
{
    const r1cs_counts *n = &r->counts;
    if (n->constraints > UINT32_MAX)
        return cuzk_error_set(err, CUZK_UNSUPPORTED, "a .r1cs file cannot hold the %llu rows of circuit %s",
                              (unsigned long long)n->constraints, r->name);
    row_encoder e;
    row_piece piece = {0};
    file_writer w;
    cuzk_status status = row_encoder_init(&e, r, (uint32_t)n->inputs, err);
    if (status != CUZK_OK)
        return status;
    status = file_writer_open(&w, path, err);
    if (status != CUZK_OK) {
        row_encoder_clear(&e);
        return status;
    }
    put_header(&w, n);
    put_section(&w, 2, (n->nnz_a + n->nnz_b + n->nnz_c) * ENCODED_TERM + n->constraints * 12);
    for (uint64_t row = 0; row < n->constraints; row = piece.end) {
        status = row_piece_plan(&piece, &e, row, n->constraints, PIECE_BYTES, err);
        if (status != CUZK_OK)
            goto exit;
        row_piece_encode(&piece, &e);
        if (piece.failed) {
            status = cuzk_error_set(err, CUZK_OUT_OF_MEMORY, "cannot get memory for rows with imports");
            goto exit;
        }
        file_write(&w, piece.data, piece.bytes);
    }
    put_section(&w, 3, (n->inputs + n->aux) * 8);
    for (uint64_t i = 0; i < n->inputs + n->aux; i++)
        put64(&w, i);
exit:
    row_piece_clear(&piece);
    row_encoder_clear(&e);
    if (status == CUZK_OK)
        return file_writer_commit(&w, err);
    file_writer_abort(&w);
    return status;
}
