/* Slow looks at a whole parameter file: every point, and the digests. */
#include "base/hash.h"
#include "base/mem.h"
#include "groth16/groth16_internal.h"
#include <stdatomic.h>

#define CHECK_PIECE  2048 /* points a task checks */
#define CHECK_ROUND  64   /* tasks between two reports of progress */
#define DIGEST_PIECE ((size_t)4 << 20)

typedef struct check_job {
    const params *p;
    params_section section;
    uint64_t first_piece;
    uint8_t *buffer; /* one piece for each worker */
    size_t buffer_bytes;
    _Atomic uint64_t bad; /* lowest faulty point */
    _Atomic int code;     /* its fault; races only between equal points of one report */
    atomic_int status;    /* of the first failed read */
} check_job;

static int check_point(const uint8_t *in, uint32_t bytes)
{
    g1_affine a;
    g2_affine b;
    if (bytes == 96) {
        int code = g1_decode_check(&a, in);
        return code ? code : g1_affine_is_inf(&a) ? 1 : 0;
    }
    int code = g2_decode_check(&b, in);
    return code ? code : g2_affine_is_inf(&b) ? 1 : 0;
}

static void check_piece(void *ctx, size_t task, unsigned worker)
{
    check_job *j = ctx;
    const params_section *s = &j->section;
    uint64_t first = (j->first_piece + task) * CHECK_PIECE;
    if (first >= s->count || first > atomic_load(&j->bad) || atomic_load(&j->status))
        return;
    size_t n = s->count - first < CHECK_PIECE ? s->count - first : CHECK_PIECE;
    uint8_t *buffer = j->buffer + worker * j->buffer_bytes;
    cuzk_status st = params_read(j->p, buffer, s->offset + first * s->point_bytes, n * s->point_bytes, NULL);
    if (st != CUZK_OK) {
        atomic_store(&j->status, st);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (check_point(buffer + i * s->point_bytes, s->point_bytes) == 0)
            continue;
        uint64_t seen = atomic_load(&j->bad);
        while (first + i < seen && !atomic_compare_exchange_weak(&j->bad, &seen, first + i))
            ;
        return;
    }
}

static cuzk_status report(const check_job *j, cuzk_error *err)
{
    const params_section *s = &j->section;
    uint8_t point[192];
    if (j->status)
        /* Again, for the sentence. */
        return params_read(j->p, point, s->offset + (s->count - 1) * s->point_bytes, s->point_bytes, err) ==
                       CUZK_OK
                   ? cuzk_error_set(err, j->status, "%s could not be read", j->p->path)
               : err ? err->status
                     : (cuzk_status)j->status;
    cuzk_status st = params_read(j->p, point, s->offset + j->bad * s->point_bytes, s->point_bytes, err);
    if (st != CUZK_OK)
        return st;
    int code = check_point(point, s->point_bytes);
    return cuzk_error_set(err, CUZK_BAD_INPUT, "%s: point %llu of the %s section %s", j->p->path,
                          (unsigned long long)j->bad, s->name, point_fault(code > 0 ? 0 : code));
}

static cuzk_status changed(const params *p, cuzk_error *err)
{
    if (!file_map_changed(&p->map))
        return CUZK_OK;
    return cuzk_error_set(err, CUZK_BAD_INPUT, "%s was changed while it was being read", p->path);
}

cuzk_status params_check(const params *p, pool *pl, progress_fn *progress, void *ctx, cuzk_error *err)
{
    size_t bytes = CHECK_PIECE * 192, workers = pool_size(pl);
    check_job j = {.p = p, .buffer = mem_alloc(bytes * workers), .buffer_bytes = bytes, .bad = UINT64_MAX};
    if (!j.buffer)
        return mem_error(err, bytes * workers, "checking parameters");
    uint64_t done = 0, total = 0;
    for (int i = 0; i < PARAMS_SECTIONS; i++) {
        params_get_section(p, i, &j.section);
        total += j.section.count;
    }
    cuzk_status s = CUZK_OK;
    for (int i = 0; i < PARAMS_SECTIONS && s == CUZK_OK; i++) {
        params_get_section(p, i, &j.section);
        uint64_t pieces = (j.section.count + CHECK_PIECE - 1) / CHECK_PIECE;
        for (j.first_piece = 0; j.first_piece < pieces && s == CUZK_OK; j.first_piece += CHECK_ROUND) {
            uint64_t left = pieces - j.first_piece;
            pool_for(pl, left < CHECK_ROUND ? left : CHECK_ROUND, check_piece, &j);
            if (j.bad != UINT64_MAX || j.status)
                s = report(&j, err);
            uint64_t end = (j.first_piece + CHECK_ROUND) * CHECK_PIECE;
            if (progress)
                progress(ctx, done + (end < j.section.count ? end : j.section.count), total);
        }
        done += j.section.count;
    }
    mem_free(j.buffer);
    return s == CUZK_OK ? changed(p, err) : s;
}

cuzk_status params_digest(const params *p, uint8_t blake2b_head[16], uint8_t sha256_out[32],
                          progress_fn *progress, void *ctx, cuzk_error *err)
{
    uint8_t *buffer = mem_alloc(DIGEST_PIECE), full[64];
    if (!buffer)
        return mem_error(err, DIGEST_PIECE, "reading parameters");
    blake2b b;
    sha256 h;
    blake2b_init(&b, 64, NULL, 0);
    sha256_init(&h);
    cuzk_status s = CUZK_OK;
    for (uint64_t at = 0; at < p->map.size && s == CUZK_OK; at += DIGEST_PIECE) {
        size_t n = p->map.size - at < DIGEST_PIECE ? p->map.size - at : DIGEST_PIECE;
        s = params_read(p, buffer, at, n, err);
        if (s != CUZK_OK)
            break;
        blake2b_update(&b, buffer, n);
        if (sha256_out)
            sha256_update(&h, buffer, n);
        if (progress)
            progress(ctx, at + n, p->map.size);
    }
    mem_free(buffer);
    if (s == CUZK_OK)
        s = changed(p, err);
    if (s != CUZK_OK)
        return s;
    blake2b_final(&b, full);
    memcpy(blake2b_head, full, 16);
    if (sha256_out)
        sha256_final(&h, sha256_out);
    return CUZK_OK;
}
