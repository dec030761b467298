/* Setup: the parameters of a circuit from known secrets. Points are made and written a piece at a time, in
 * the file's order. */
#include "base/encode.h"
#include "base/mem.h"
#include "groth16/groth16_internal.h"
#include "poly/poly.h"
#include <stdio.h>

/* Points of G1 made at a time, half as many of G2: each call makes its table anew, which should not show. */
#define PIECE ((uint64_t)1 << 20)

typedef struct setup {
    const r1cs *r;
    const toxic_waste *t;
    cuzk_circuit_view c;
    unsigned log_n;
    qap_values q;
    verifying_key vk;
    file_writer w;
    pool *p;
    progress_fn *progress;
    void *ctx;
    uint64_t done, total; /* points */
    fr *k;                /* scalars of the piece under way */
    uint64_t n;
    void *points;
    uint8_t *encoded;
    int g2; /* the piece's group */
} setup;

static void encode_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    (void)worker;
    const setup *s = ctx;
    for (size_t i = first; i < end; i++) {
        if (s->g2)
            g2_encode(s->encoded + 192 * i, (const g2_affine *)s->points + i);
        else
            g1_encode(s->encoded + 96 * i, (const g1_affine *)s->points + i);
    }
}

/* Writes the piece's points. */
static cuzk_status flush(setup *s, cuzk_error *err)
{
    cuzk_status st = s->g2 ? g2_fixed_base_many(s->points, blst_p2_affine_generator(), s->k, s->n, s->p, err)
                           : g1_fixed_base_many(s->points, blst_p1_affine_generator(), s->k, s->n, s->p, err);
    if (st != CUZK_OK)
        return st;
    pool_for_range(s->p, s->n, 512, encode_range, s);
    file_write(&s->w, s->encoded, s->n * (s->g2 ? 192 : 96));
    s->done += s->n;
    s->n = 0;
    if (s->progress)
        s->progress(s->ctx, s->done, s->total);
    if (s->w.failed) /* no use in making the rest; the commit says why */
        return cuzk_error_set(err, CUZK_IO_ERROR, "cannot write %s: %s", s->w.path, strerror(s->w.failed));
    return CUZK_OK;
}

static inline cuzk_status put(setup *s, const fr *k, cuzk_error *err)
{
    s->k[s->n++] = *k;
    return s->n == (s->g2 ? PIECE / 2 : PIECE) ? flush(s, err) : CUZK_OK;
}

static cuzk_status begin_section(setup *s, uint64_t count, int is_g2, cuzk_error *err)
{
    uint8_t word[4];
    if (count > UINT32_MAX)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "a section of %llu points does not fit the file format",
                              (unsigned long long)count);
    store_be32(word, (uint32_t)count);
    file_write(&s->w, word, 4);
    s->g2 = is_g2;
    return CUZK_OK;
}

static cuzk_status end_section(setup *s, cuzk_error *err)
{
    return s->n ? flush(s, err) : CUZK_OK;
}

/* h_i = tau^i (tau^n - 1) / delta */
static cuzk_status write_h(setup *s, cuzk_error *err)
{
    uint64_t n = (uint64_t)1 << s->log_n;
    cuzk_status st = begin_section(s, n - 1, 0, err);
    fr k = s->t->tau, d;
    for (unsigned i = 0; i < s->log_n; i++)
        fr_sqr(&k, &k);
    fr_sub(&k, &k, &FR_ONE);
    fr_inv(&d, &s->t->delta);
    fr_mul(&k, &k, &d);
    for (uint64_t i = 0; i + 1 < n && st == CUZK_OK; i++) {
        st = put(s, &k, err);
        fr_mul(&k, &k, &s->t->tau);
    }
    return st == CUZK_OK ? end_section(s, err) : st;
}

/* (beta A_j + alpha B_j + C_j) / over */
static void combine(fr *out, const setup *s, uint64_t j, const fr *inverse)
{
    fr t;
    fr_mul(out, &s->t->beta, &s->q.a[j]);
    fr_mul(&t, &s->t->alpha, &s->q.b[j]);
    fr_add(out, out, &t);
    fr_add(out, out, &s->q.c[j]);
    fr_mul(out, out, inverse);
}

static cuzk_status write_l(setup *s, cuzk_error *err)
{
    fr inverse, k;
    fr_inv(&inverse, &s->t->delta);
    cuzk_status st = begin_section(s, s->c.aux, 0, err);
    for (uint64_t i = 0; i < s->c.aux && st == CUZK_OK; i++) {
        combine(&k, s, s->c.inputs + i, &inverse);
        if (fr_is_zero(&k))
            return cuzk_error_set(
                err, CUZK_INCONSISTENT,
                "wire %llu of circuit %s occurs in no constraint: its point would be infinity",
                (unsigned long long)i, r1cs_name(s->r));
        st = put(s, &k, err);
    }
    return st == CUZK_OK ? end_section(s, err) : st;
}

static uint64_t count_nonzero(const fr *v, uint64_t n)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < n; i++)
        count += !fr_is_zero(&v[i]);
    return count;
}

/* The values as points, zeros left out. expected: what the densities of the matrices say. */
static cuzk_status write_values(setup *s, const fr *v, int is_g2, uint64_t expected, cuzk_error *err)
{
    if (count_nonzero(v, s->q.count) != expected)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "tau is a root of one of the circuit's polynomials");
    cuzk_status st = begin_section(s, expected, is_g2, err);
    for (uint64_t i = 0; i < s->q.count && st == CUZK_OK; i++) {
        if (!fr_is_zero(&v[i]))
            st = put(s, &v[i], err);
    }
    return st == CUZK_OK ? end_section(s, err) : st;
}

static void secret_point_g1(g1_affine *out, const fr *k)
{
    scalar x;
    g1 p;
    fr_to_scalar(&x, k);
    g1_mul_secret(&p, blst_p1_generator(), &x);
    g1_to_affine(out, &p);
    mem_wipe(&x, sizeof(x));
}

static void secret_point_g2(g2_affine *out, const fr *k)
{
    scalar x;
    g2 p;
    fr_to_scalar(&x, k);
    g2_mul_secret(&p, blst_p2_generator(), &x);
    g2_to_affine(out, &p);
    mem_wipe(&x, sizeof(x));
}

static cuzk_status make_key(setup *s, cuzk_error *err)
{
    verifying_key *vk = &s->vk;
    const toxic_waste *t = s->t;
    size_t n = s->c.inputs;
    secret_point_g1(&vk->alpha_g1, &t->alpha);
    secret_point_g1(&vk->beta_g1, &t->beta);
    secret_point_g1(&vk->delta_g1, &t->delta);
    secret_point_g2(&vk->beta_g2, &t->beta);
    secret_point_g2(&vk->gamma_g2, &t->gamma);
    secret_point_g2(&vk->delta_g2, &t->delta);
    vk->ic = mem_calloc(n, sizeof(g1_affine));
    fr *k = mem_calloc(n, sizeof(fr)), inverse;
    cuzk_status st = vk->ic && k ? CUZK_OK : mem_error(err, n * sizeof(g1_affine), "a verifying key");
    fr_inv(&inverse, &t->gamma);
    for (size_t i = 0; i < n && st == CUZK_OK; i++)
        combine(&k[i], s, i, &inverse);
    if (st == CUZK_OK)
        st = g1_fixed_base_many(vk->ic, blst_p1_affine_generator(), k, n, s->p, err);
    vk->ic_count = (uint32_t)n;
    mem_free(k);
    return st;
}

static cuzk_status write_all(setup *s, const char *vk_path, cuzk_error *err)
{
    r1cs_counts n;
    r1cs_get_counts(s->r, &n);
    uint64_t in_a = n.inputs + n.a_aux_density, in_b = n.b_input_density + n.b_aux_density;
    s->total = ((uint64_t)1 << s->log_n) - 1 + n.aux + in_a + 2 * in_b;
    size_t bytes = vk_bytes(&s->vk);
    uint8_t *key = mem_alloc(bytes);
    if (!key)
        return mem_error(err, bytes, "a verifying key");
    vk_encode(key, &s->vk);
    file_write(&s->w, key, bytes);
    cuzk_status st = write_h(s, err);
    if (st == CUZK_OK)
        st = write_l(s, err);
    if (st == CUZK_OK)
        st = write_values(s, s->q.a, 0, in_a, err);
    if (st == CUZK_OK)
        st = write_values(s, s->q.b, 0, in_b, err);
    if (st == CUZK_OK)
        st = write_values(s, s->q.b, 1, in_b, err);
    if (st == CUZK_OK)
        st = file_writer_commit(&s->w, err);
    if (st == CUZK_OK && vk_path)
        st = file_save(vk_path, key, bytes, err);
    mem_free(key);
    return st;
}

cuzk_status groth16_setup(const r1cs *r, const toxic_waste *t, const char *params_path, const char *vk_path,
                          pool *p, progress_fn *progress, void *ctx, cuzk_error *err)
{
    setup s = {.r = r, .t = t, .p = p, .progress = progress, .ctx = ctx, .w.fd = -1};
    if (fr_is_zero(&t->gamma) || fr_is_zero(&t->delta))
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "gamma and delta of a setup must not be zero");
    cuzk_status st = r1cs_view(r, &s.c, err);
    if (st != CUZK_OK)
        return st;
    s.log_n = domain_log_for(s.c.constraints);
    if (s.log_n > DOMAIN_MAX_LOG)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                              "the circuit has more rows than the largest domain");
    st = file_writer_open(&s.w, params_path, err); /* first: a path that cannot be written costs nothing */
    if (st != CUZK_OK)
        return st;
    s.k = big_alloc(PIECE * sizeof(fr));
    s.points = big_alloc(PIECE * sizeof(g1_affine));
    s.encoded = big_alloc(PIECE * 96);
    st = s.k && s.points && s.encoded ? CUZK_OK : mem_error(err, PIECE * (sizeof(fr) + 192), "a setup");
    if (st == CUZK_OK)
        st = qap_evaluate(&s.q, r, &t->tau, s.log_n, p, err);
    if (st == CUZK_OK)
        st = make_key(&s, err);
    if (st == CUZK_OK)
        st = write_all(&s, vk_path, err);
    file_writer_abort(&s.w);
    if (s.k)
        mem_wipe(s.k, (s.total < PIECE ? s.total : PIECE) * sizeof(fr)); /* what was written */
    big_free(s.k, PIECE * sizeof(fr));
    big_free(s.points, PIECE * sizeof(g1_affine));
    big_free(s.encoded, PIECE * 96);
    qap_values_clear(&s.q);
    vk_clear(&s.vk);
    return st;
}
