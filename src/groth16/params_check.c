/* Slow looks at a whole parameter file: every point, and the digests. */
#include "base/hash.h"
#include "base/mem.h"
#include "curve/subgroup.h"
#include "groth16/groth16_internal.h"
#include <stdatomic.h>

#define CHECK_PIECE  ((size_t)1 << 15) /* points a task checks */
#define CHECK_ROUND  64                /* tasks between two reports of progress */
#define DIGEST_PIECE ((size_t)4 << 20)

/* What a worker needs for one piece. */
typedef struct check_worker {
    uint8_t *encoded;
    g1_affine *g1;
    g2_affine *g2; /* the same memory */
    void *scratch;
    chacha_rng rng;
} check_worker;

typedef struct check_job {
    const params *p;
    params_section section;
    uint64_t first_piece;
    check_worker *worker;
    size_t workers;
    _Atomic uint64_t bad; /* lowest faulty point */
    atomic_int status;    /* of the first failed read */
} check_job;

/* On the curve and not infinity: 0, or a code of g1_decode_check, or 1 for infinity. */
static int check_g1(const g1_affine *p)
{
    return g1_affine_is_inf(p) ? 1 : blst_p1_affine_on_curve(p) ? 0 : -2;
}
static int check_g2(const g2_affine *p)
{
    return g2_affine_is_inf(p) ? 1 : blst_p2_affine_on_curve(p) ? 0 : -2;
}

/* The same, form and subgroup, for the one point that a message is about. */
static int check_point(const uint8_t *in, uint32_t bytes)
{
    g1_affine a;
    g2_affine b;
    int code = bytes == 96 ? g1_decode(&a, in) : g2_decode(&b, in);
    if (!code)
        code = bytes == 96 ? check_g1(&a) : check_g2(&b);
    if (code)
        return code;
    return (bytes == 96 ? blst_p1_affine_in_g1(&a) : blst_p2_affine_in_g2(&b)) ? 0 : -3;
}

/* Points before the first whose form or curve is wrong. */
static size_t good_points(check_worker *w, size_t n, uint32_t bytes)
{
    ptrdiff_t bad = bytes == 96 ? g1_decode_many(w->g1, w->encoded, NULL, n, NULL)
                                : g2_decode_many(w->g2, w->encoded, NULL, n, NULL);
    size_t i = 0, end = bad < 0 ? n : (size_t)bad;
    while (i < end && !(bytes == 96 ? check_g1(&w->g1[i]) : check_g2(&w->g2[i])))
        i++;
    return i;
}

/* Index of a faulty point, or -1: one outside the subgroup before the first whose form or curve is wrong, or
 * that one. */
static ptrdiff_t faulty(check_worker *w, size_t n, uint32_t bytes)
{
    size_t good = good_points(w, n, bytes);
    ptrdiff_t outside = bytes == 96 ? g1_subgroup_find(w->g1, good, w->scratch, &w->rng)
                                    : g2_subgroup_find(w->g2, good, w->scratch, &w->rng);
    return outside >= 0 ? outside : good < n ? (ptrdiff_t)good : -1;
}

static void check_piece(void *ctx, size_t task, unsigned worker)
{
    check_job *j = ctx;
    check_worker *w = &j->worker[worker];
    const params_section *s = &j->section;
    uint64_t first = (j->first_piece + task) * CHECK_PIECE;
    if (first >= s->count || first > atomic_load(&j->bad) || atomic_load(&j->status))
        return;
    size_t n = s->count - first < CHECK_PIECE ? s->count - first : CHECK_PIECE;
    cuzk_status st =
        params_read(j->p, w->encoded, s->offset + first * s->point_bytes, n * s->point_bytes, NULL);
    if (st != CUZK_OK) {
        atomic_store(&j->status, st);
        return;
    }
    ptrdiff_t bad = faulty(w, n, s->point_bytes);
    if (bad < 0)
        return;
    uint64_t at = first + (uint64_t)bad, seen = atomic_load(&j->bad);
    while (at < seen && !atomic_compare_exchange_weak(&j->bad, &seen, at))
        ;
}

static void clear_workers(check_job *j)
{
    for (size_t i = 0; j->worker && i < j->workers; i++) {
        big_free(j->worker[i].encoded, CHECK_PIECE * 192);
        big_free(j->worker[i].g2, CHECK_PIECE * sizeof(g2_affine));
        big_free(j->worker[i].scratch, g2_subgroup_scratch(CHECK_PIECE));
    }
    mem_free(j->worker);
}

static cuzk_status make_workers(check_job *j, cuzk_error *err)
{
    uint8_t seed[32];
    j->worker = mem_calloc(j->workers, sizeof(check_worker));
    int ok = j->worker != NULL;
    for (size_t i = 0; ok && i < j->workers; i++) {
        check_worker *w = &j->worker[i];
        w->encoded = big_alloc(CHECK_PIECE * 192);
        w->g2 = big_alloc(CHECK_PIECE * sizeof(g2_affine));
        w->g1 = (g1_affine *)w->g2;
        w->scratch = big_alloc(g2_subgroup_scratch(CHECK_PIECE));
        ok = w->encoded && w->g2 && w->scratch;
        if (random_bytes(seed, sizeof(seed)))
            return cuzk_error_set(err, CUZK_IO_ERROR, "the kernel gave no randomness");
        chacha_rng_init(&w->rng, seed, 20);
    }
    return ok ? CUZK_OK : mem_error(err, j->workers * CHECK_PIECE * 600, "checking parameters");
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
    check_job j = {.p = p, .workers = pool_size(pl), .bad = UINT64_MAX};
    cuzk_status s = make_workers(&j, err);
    uint64_t done = 0, total = 0;
    for (int i = 0; i < PARAMS_SECTIONS; i++) {
        params_get_section(p, i, &j.section);
        total += j.section.count;
    }
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
    clear_workers(&j);
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
