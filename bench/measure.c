/* Measuring, and the inputs that rows share. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "bench.h"

cuzk_status bench_measure(bench_run *r, bench_figures *f, cuzk_error *err)
{
    cuzk_status st;
    memset(f, 0, sizeof *f);
    /* twice before each reference: while one runs, the pool gives back the memory that it kept */
    unsigned runs = r->row->reference ? 2 : 1;
    for (unsigned i = 0; i < r->b->repeat; i++) {
        double ms, cpu_ms;
        uint64_t wall, cpu;
        for (unsigned k = 0; k < runs; k++) {
            if (r->row->reset)
                r->row->reset(r);
            wall = clock_ns(), cpu = clock_process_cpu_ns();
            if ((st = r->row->run(r, err)))
                return st;
            ms = (double)(clock_ns() - wall) / 1e6, cpu_ms = (double)(clock_process_cpu_ns() - cpu) / 1e6;
            if (i + k == 0 || ms < f->ms)
                f->ms = ms, f->cpu_ms = cpu_ms;
        }
        if (!r->row->reference)
            continue;
        wall = clock_ns(),
        cpu = clock_process_cpu_ns(); /* references take turns with runs: a machine's mood meets both */
        if ((st = r->row->reference(r, err)))
            return st;
        double share = r->row->reference_share ? r->row->reference_share : 1;
        ms = (double)(clock_ns() - wall) / 1e6 * share;
        cpu_ms = (double)(clock_process_cpu_ns() - cpu) / 1e6 * share;
        if (!i || ms < f->reference_ms)
            f->reference_ms = ms, f->reference_cpu_ms = cpu_ms;
        if (r->row->compare && r->row->compare(r))
            return cuzk_error_set(err, CUZK_DEVICE_ERROR, "%s: the result differs from the reference's",
                                  r->row->name);
    }
    f->rss_peak = mem_rss_peak_bytes();
    return CUZK_OK;
}

static void seed(chacha_rng *rng, const char *label)
{
    uint8_t key[32] = {0};
    memcpy(key, label, strlen(label));
    chacha_rng_init(rng, key, 8);
}

static void random_fr(fr *r, chacha_rng *rng)
{
    uint8_t b[32];
    chacha_rng_bytes(rng, b, sizeof b);
    fr_from_bytes_reduce(r, b);
}

#define POINTS(G, GENERATOR)                                                                                 \
    cuzk_status bench_##G##_points(bench *b, size_t n, cuzk_error *err)                                      \
    {                                                                                                        \
        chacha_rng rng;                                                                                      \
        G##_affine base;                                                                                     \
        if (b->G##_count >= n)                                                                               \
            return CUZK_OK;                                                                                  \
        fr *k = big_alloc(n * sizeof *k);                                                                    \
        G##_affine *p = big_alloc(n * sizeof *p);                                                            \
        cuzk_status st = CUZK_OK;                                                                            \
        if (!k || !p) {                                                                                      \
            st = mem_error(err, n * (sizeof *k + sizeof *p), "points");                                      \
            goto exit;                                                                                       \
        }                                                                                                    \
        seed(&rng, "bench points");                                                                          \
        for (size_t i = 0; i < n; i++)                                                                       \
            random_fr(&k[i], &rng);                                                                          \
        G##_to_affine(&base, GENERATOR());                                                                   \
        if ((st = G##_fixed_base_many(p, &base, k, n, b->pool, err)))                                        \
            goto exit;                                                                                       \
        if (b->G##_points)                                                                                   \
            big_free(b->G##_points, b->G##_count * sizeof *p);                                               \
        b->G##_points = p, b->G##_count = n;                                                                 \
        p = NULL;                                                                                            \
    exit:                                                                                                    \
        if (p)                                                                                               \
            big_free(p, n * sizeof *p);                                                                      \
        if (k)                                                                                               \
            big_free(k, n * sizeof *k);                                                                      \
        return st;                                                                                           \
    }

POINTS(g1, blst_p1_generator)
POINTS(g2, blst_p2_generator)

void bench_clear(bench *b)
{
    if (b->g1_points)
        big_free(b->g1_points, b->g1_count * sizeof *b->g1_points);
    if (b->g2_points)
        big_free(b->g2_points, b->g2_count * sizeof *b->g2_points);
    b->g1_points = NULL, b->g2_points = NULL;
    b->g1_count = b->g2_count = 0;
}

void bench_scalars(scalar *k, size_t n, unsigned ones, unsigned zeros)
{
    chacha_rng rng;
    seed(&rng, "bench scalars");
    for (size_t i = 0; i < n; i++) {
        unsigned dice = ones + zeros ? chacha_rng_u32(&rng) % 1000 : 1000;
        fr t;
        if (dice < ones + zeros) {
            k[i] = (scalar){{dice < ones, 0, 0, 0}};
            continue;
        }
        random_fr(&t, &rng);
        fr_to_scalar(&k[i], &t);
    }
}
