/* The digest of all rows, and of blocks of them. Two stages take turns: all threads encode the pieces of a
 * round, then one hashes the whole stream while the others hash the blocks (a stream cannot be split, but the
 * blocks are as much work again). */
#include "base/hash.h"
#include "base/mem.h"
#include "r1cs/row_encode.h"

#define PIECE_BYTES ((size_t)8 << 20)
#define MAX_PIECES  32

typedef struct digest_run {
    const row_encoder *encoder;
    row_piece piece[MAX_PIECES];
    unsigned pieces;
    sha256 stream;
    /* Chains of pieces of the same block. */
    struct {
        unsigned first, end;
        uint64_t block;
        sha256 hash;
        int complete;
        uint8_t out[32];
    } chain[MAX_PIECES];
    unsigned chains;
    sha256 carried; /* state of the block that continues in the next round */
} digest_run;

static void encode_piece(void *ctx, size_t task, unsigned worker)
{
    digest_run *d = ctx;
    (void)worker;
    row_piece_encode(&d->piece[task], d->encoder);
}

static void hash_chain(void *ctx, size_t task, unsigned worker)
{
    digest_run *d = ctx;
    (void)worker;
    if (task == 0) {
        for (unsigned i = 0; i < d->pieces; i++)
            sha256_update(&d->stream, d->piece[i].data, d->piece[i].bytes);
        return;
    }
    unsigned c = (unsigned)task - 1;
    for (unsigned i = d->chain[c].first; i < d->chain[c].end; i++)
        sha256_update(&d->chain[c].hash, d->piece[i].data, d->piece[i].bytes);
    if (d->chain[c].complete)
        sha256_final(&d->chain[c].hash, d->chain[c].out);
}

/* Splits the rows from *row on into pieces, none across a block's border. */
static cuzk_status plan_round(digest_run *d, uint64_t *row, unsigned limit, uint64_t rows_per_block,
                              cuzk_error *err)
{
    uint64_t rows = d->encoder->r->counts.constraints;
    d->pieces = d->chains = 0;
    while (d->pieces < limit && *row < rows) {
        uint64_t last = rows, block = 0;
        if (rows_per_block) {
            block = *row / rows_per_block;
            if (rows - block * rows_per_block > rows_per_block)
                last = (block + 1) * rows_per_block;
        }
        row_piece *p = &d->piece[d->pieces];
        cuzk_status status = row_piece_plan(p, d->encoder, *row, last, PIECE_BYTES, err);
        if (status != CUZK_OK)
            return status;
        if (rows_per_block) {
            if (!d->chains || d->chain[d->chains - 1].block != block) {
                d->chain[d->chains].first = d->pieces;
                d->chain[d->chains].block = block;
                if (*row == block * rows_per_block)
                    sha256_init(&d->chain[d->chains].hash);
                else
                    d->chain[d->chains].hash = d->carried;
                d->chains++;
            }
            d->chain[d->chains - 1].end = d->pieces + 1;
            d->chain[d->chains - 1].complete = p->end == last;
        }
        d->pieces++;
        *row = p->end;
    }
    return CUZK_OK;
}

static void report_blocks(digest_run *d, uint64_t rows_per_block, r1cs_block_fn *report, void *ctx)
{
    for (unsigned i = 0; i < d->chains; i++) {
        if (!d->chain[i].complete) {
            d->carried = d->chain[i].hash;
            continue;
        }
        char path[256];
        uint64_t first = d->chain[i].block * rows_per_block;
        r1cs_row_path(d->encoder->r, first, path, sizeof(path));
        if (report)
            report(ctx, d->chain[i].block, first, path, d->chain[i].out);
    }
}

cuzk_status r1cs_digest(const r1cs *r, uint8_t rows_sha256[32], uint64_t rows_per_block,
                        r1cs_block_fn *report, void *ctx, pool *p, cuzk_error *err)
{
    row_encoder e;
    cuzk_status status = row_encoder_init(&e, r, VAR_AUX, err);
    if (status != CUZK_OK)
        return status;
    digest_run *d = mem_calloc(1, sizeof(*d));
    if (!d) {
        row_encoder_clear(&e);
        return mem_error(err, sizeof(*d), "the digest of a circuit");
    }
    d->encoder = &e;
    sha256_init(&d->stream);
    unsigned limit = 2 * pool_size(p) < 4 ? 4 : 2 * pool_size(p) > MAX_PIECES ? MAX_PIECES : 2 * pool_size(p);
    for (uint64_t row = 0; row < r->counts.constraints;) {
        status = plan_round(d, &row, limit, rows_per_block, err);
        if (status != CUZK_OK)
            goto exit;
        pool_for(p, d->pieces, encode_piece, d);
        for (unsigned i = 0; i < d->pieces; i++)
            if (d->piece[i].failed) {
                status = mem_error(err, PIECE_BYTES, "rows with imports");
                goto exit;
            }
        pool_for(p, 1 + (size_t)d->chains, hash_chain, d);
        report_blocks(d, rows_per_block, report, ctx);
    }
    sha256_final(&d->stream, rows_sha256);
exit:
    for (unsigned i = 0; i < MAX_PIECES; i++)
        row_piece_clear(&d->piece[i]);
    mem_free(d);
    row_encoder_clear(&e);
    return status;
}
