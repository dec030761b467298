/* Parameters of the test SRS for a circuit of any size, made by a device: scalars on the processor, points by
 * op_fixed, into memory. */
#include "device_setup.h"
#include "base/mem.h"
#include "groth16/groth16_internal.h"
#include "poly/poly.h"

#define PIECE ((size_t)1 << 21) /* points made at a time */

typedef struct maker {
    const cuzk_backend *backend;
    cuzk_device *device;
    const toxic_waste *t;
    qap_values q;
    cuzk_circuit_view c;
    pool *p;
    fr *k; /* PIECE scalars */
    fr inverse, h_first;
    uint64_t at; /* first of the piece */
    const fr *values;
} maker;

static void h_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    (void)worker;
    maker *m = ctx;
    uint64_t exponent = m->at + first;
    fr k;
    fr_pow(&k, &m->t->tau, &exponent, 1);
    fr_mul(&k, &k, &m->h_first);
    for (size_t i = first; i < end; i++) {
        m->k[i] = k;
        fr_mul(&k, &k, &m->t->tau);
    }
}

static void combine_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    (void)worker;
    maker *m = ctx;
    for (size_t i = first; i < end; i++) {
        uint64_t j = m->at + i;
        fr t;
        fr_mul(&m->k[i], &m->t->beta, &m->q.a[j]);
        fr_mul(&t, &m->t->alpha, &m->q.b[j]);
        fr_add(&m->k[i], &m->k[i], &t);
        fr_add(&m->k[i], &m->k[i], &m->q.c[j]);
        fr_mul(&m->k[i], &m->k[i], &m->inverse);
    }
}

static cuzk_status points(maker *m, uint8_t *out, size_t n, int is_g2, cuzk_error *err)
{
    return is_g2 ? m->backend->op_fixed_g2(m->device, out, (const cuzk_fr *)m->k, n, err)
                 : m->backend->op_fixed_g1(m->device, out, (const cuzk_fr *)m->k, n, err);
}

/* count points whose scalars fill makes piece by piece, the first one at number first. */
static cuzk_status computed(maker *m, uint8_t *out, uint64_t first, uint64_t count, pool_range_fn *fill,
                            cuzk_error *err)
{
    cuzk_status s = CUZK_OK;
    for (uint64_t done = 0; done < count && s == CUZK_OK;) {
        size_t n = count - done < PIECE ? count - done : PIECE;
        m->at = first + done;
        pool_for_range(m->p, n, 4096, fill, m);
        s = points(m, out + 96 * done, n, 0, err);
        done += n;
    }
    return s;
}

/* The values that are not zero. */
static cuzk_status selected(maker *m, uint8_t *out, const fr *v, int is_g2, cuzk_error *err)
{
    size_t n = 0, bytes = is_g2 ? 192 : 96;
    cuzk_status s = CUZK_OK;
    for (uint64_t i = 0; i <= m->q.count && s == CUZK_OK; i++) {
        if (n == PIECE || (i == m->q.count && n)) {
            s = points(m, out, n, is_g2, err);
            out += n * bytes;
            n = 0;
        }
        if (i < m->q.count && !fr_is_zero(&v[i]))
            m->k[n++] = v[i];
    }
    return s;
}

static void secret_points(verifying_key *vk, const toxic_waste *t)
{
    const fr *k1[] = {&t->alpha, &t->beta, &t->delta}, *k2[] = {&t->beta, &t->gamma, &t->delta};
    g1_affine *p1[] = {&vk->alpha_g1, &vk->beta_g1, &vk->delta_g1};
    g2_affine *p2[] = {&vk->beta_g2, &vk->gamma_g2, &vk->delta_g2};
    for (int i = 0; i < 3; i++) {
        scalar k;
        g1 a;
        g2 b;
        fr_to_scalar(&k, k1[i]);
        g1_mul(&a, blst_p1_generator(), &k);
        g1_to_affine(p1[i], &a);
        fr_to_scalar(&k, k2[i]);
        g2_mul(&b, blst_p2_generator(), &k);
        g2_to_affine(p2[i], &b);
    }
}

static cuzk_status make_key(maker *m, verifying_key *vk, cuzk_error *err)
{
    size_t n = m->c.inputs;
    secret_points(vk, m->t);
    vk->ic = mem_calloc(n, sizeof(g1_affine));
    vk->ic_count = (uint32_t)n;
    if (!vk->ic)
        return mem_error(err, n * sizeof(g1_affine), "a verifying key");
    fr_inv(&m->inverse, &m->t->gamma);
    m->at = 0;
    if (n > PIECE)
        return cuzk_error_set(err, CUZK_UNSUPPORTED, "%zu public inputs are too many", n);
    combine_range(m, 0, n, 0);
    cuzk_status s = g1_fixed_base_many(vk->ic, blst_p1_affine_generator(), m->k, n, m->p, err);
    /* Parsing fills in what a key holds besides its points. */
    size_t bytes = vk_bytes(vk), used;
    uint8_t *encoded = mem_alloc(bytes);
    if (s == CUZK_OK && !encoded)
        s = mem_error(err, bytes, "a verifying key");
    if (s == CUZK_OK) {
        vk_encode(encoded, vk);
        mem_free(vk->ic);
        memset(vk, 0, sizeof *vk);
        s = vk_parse(vk, encoded, bytes, &used, err);
    }
    mem_free(encoded);
    return s;
}

static cuzk_status make_queries(maker *m, cuzk_query_view *q, unsigned log_n, cuzk_error *err)
{
    fr t = m->t->tau, d;
    for (unsigned i = 0; i < log_n; i++)
        fr_sqr(&t, &t);
    fr_sub(&t, &t, &FR_ONE);
    fr_inv(&d, &m->t->delta);
    fr_mul(&m->h_first, &t, &d);
    m->inverse = d;
    cuzk_status s = computed(m, (uint8_t *)q->h, 0, q->h_count, h_range, err);
    if (s == CUZK_OK)
        s = computed(m, (uint8_t *)q->l, m->c.inputs, q->l_count, combine_range, err);
    if (s == CUZK_OK)
        s = selected(m, (uint8_t *)q->a, m->q.a, 0, err);
    if (s == CUZK_OK)
        s = selected(m, (uint8_t *)q->b_g1, m->q.b, 0, err);
    return s == CUZK_OK ? selected(m, (uint8_t *)q->b_g2, m->q.b, 1, err) : s;
}

void device_params_clear(params *p)
{
    if (p->q.h)
        big_free((void *)p->q.h, device_params_bytes(&p->q));
    vk_clear(&p->vk);
    memset(p, 0, sizeof *p);
}

size_t device_params_bytes(const cuzk_query_view *q)
{
    return 96 * (q->h_count + q->l_count + q->a_count + q->b_g1_count) + 192 * q->b_g2_count;
}

cuzk_status device_params_make(params *out, const r1cs *r, const cuzk_backend *backend, cuzk_device *device,
                               pool *p, cuzk_error *err)
{
    toxic_waste t;
    toxic_waste_test(&t);
    maker m = {.backend = backend, .device = device, .t = &t, .p = p};
    r1cs_counts n;
    r1cs_get_counts(r, &n);
    memset(out, 0, sizeof *out);
    cuzk_status s = r1cs_view(r, &m.c, err);
    if (s != CUZK_OK)
        return s;
    unsigned log_n = domain_log_for(m.c.constraints);
    cuzk_query_view *q = &out->q;
    q->h_count = ((uint64_t)1 << log_n) - 1;
    q->l_count = n.aux;
    q->a_count = n.inputs + n.a_aux_density;
    q->b_g1_count = q->b_g2_count = n.b_input_density + n.b_aux_density;
    m.k = big_alloc(PIECE * sizeof(fr));
    s = m.k ? qap_evaluate(&m.q, r, &t.tau, log_n, p, err) : mem_error(err, PIECE * sizeof(fr), "a setup");
    uint8_t *memory = s == CUZK_OK ? big_alloc(device_params_bytes(q)) : NULL;
    if (s == CUZK_OK && !memory)
        s = mem_error(err, device_params_bytes(q), "parameters");
    if (s == CUZK_OK) {
        q->h = memory;
        q->l = q->h + 96 * q->h_count;
        q->a = q->l + 96 * q->l_count;
        q->b_g1 = q->a + 96 * q->a_count;
        q->b_g2 = q->b_g1 + 96 * q->b_g1_count;
        out->path = "test parameters in memory";
        s = make_key(&m, &out->vk, err);
    }
    if (s == CUZK_OK)
        s = make_queries(&m, q, log_n, err);
    qap_values_clear(&m.q);
    big_free(m.k, PIECE * sizeof(fr));
    if (s != CUZK_OK)
        device_params_clear(out);
    return s;
}
