/* Proving with a .zkey. The polynomial A B - C vanishes on the domain; the key's H are the Lagrange
 * polynomials of the odd coset of the doubled domain, so the scalars of its sum are that polynomial's values
 * there. */
#include "base/encode.h"
#include "base/mem.h"
#include "circom/circom.h"
#include "msm/msm.h"
#include "poly/poly.h"

typedef struct prove_state {
    const circom_zkey *z;
    const fr *values;
    fr *a, *b, *c; /* domain size each */
    scalar *k;     /* scalars of the sum at hand */
    size_t k_count;
    domain *d;
    pool *p;
    cuzk_sums sums;
} prove_state;

/* a = A w, b = B w. Coefficients carry R^2: with one factor R taken away by reading them as Montgomery limbs,
 * a further product with 1/R (the raw number 1) leaves the value. */
static cuzk_status multiply(prove_state *t, cuzk_error *err)
{
    const circom_zkey *z = t->z;
    static const fr RAW_ONE = {{1, 0, 0, 0}};
    for (uint32_t i = 0; i < z->coef_count; i++) {
        const uint8_t *entry = z->coefs + (size_t)i * 44;
        uint32_t matrix = load_le32(entry), row = load_le32(entry + 4), wire = load_le32(entry + 8);
        scalar raw;
        memcpy(&raw, entry + 12, 32);
        if (matrix > 1 || row >= z->domain || wire >= z->wires || !scalar_is_canonical(&raw))
            return cuzk_error_set(err, CUZK_BAD_INPUT, "%s: coefficient %u lies outside its matrix",
                                  z->f.path, i);
        fr v;
        memcpy(&v, &raw, 32);
        fr_mul(&v, &v, &RAW_ONE);
        fr_mul(&v, &v, &t->values[wire]);
        fr *row_value = (matrix ? t->b : t->a) + row;
        fr_add(row_value, row_value, &v);
    }
    return CUZK_OK;
}

static cuzk_status to_odd_coset(prove_state *t, fr *v, cuzk_error *err)
{
    cuzk_status s = ntt_inverse(t->d, v, t->p, err);
    return s ? s : ntt_coset_forward(t->d, v, t->p, err);
}

static void combine_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    prove_state *t = ctx;
    (void)worker;
    for (size_t i = first; i < end; i++) {
        fr_mul(&t->a[i], &t->a[i], &t->b[i]);
        fr_sub(&t->a[i], &t->a[i], &t->c[i]);
        fr_to_scalar(&t->k[i], &t->a[i]);
    }
}

static cuzk_status h_scalars(prove_state *t, cuzk_error *err)
{
    cuzk_status s = multiply(t, err);
    if (s)
        return s;
    for (uint32_t i = 0; i < t->z->domain; i++)
        fr_mul(&t->c[i], &t->a[i], &t->b[i]);
    s = to_odd_coset(t, t->a, err);
    if (!s)
        s = to_odd_coset(t, t->b, err);
    if (!s)
        s = to_odd_coset(t, t->c, err);
    if (!s)
        pool_for_range(t->p, t->z->domain, 1024, combine_range, t);
    return s;
}

/* The points of a file lie at any offset; sums want them aligned. */
static cuzk_status sum_g1(prove_state *t, cuzk_g1_affine *out, const uint8_t *points, const scalar *k,
                          size_t n, cuzk_error *err)
{
    size_t bytes = n * sizeof(g1_affine);
    g1_affine *copy = big_alloc(bytes);
    if (!copy)
        return mem_error(err, bytes, "a query");
    memcpy(copy, points, bytes);
    g1 sum;
    cuzk_status s = msm_g1(&sum, copy, NULL, k, n, t->p, NULL, err);
    if (!s)
        g1_to_affine((g1_affine *)out, &sum);
    big_free(copy, bytes);
    return s;
}

static cuzk_status sum_g2(prove_state *t, cuzk_g2_affine *out, const uint8_t *points, const scalar *k,
                          size_t n, cuzk_error *err)
{
    size_t bytes = n * sizeof(g2_affine);
    g2_affine *copy = big_alloc(bytes);
    if (!copy)
        return mem_error(err, bytes, "a query");
    memcpy(copy, points, bytes);
    g2 sum;
    cuzk_status s = msm_g2(&sum, copy, NULL, k, n, t->p, NULL, err);
    if (!s)
        g2_to_affine((g2_affine *)out, &sum);
    big_free(copy, bytes);
    return s;
}

static cuzk_status all_sums(prove_state *t, cuzk_error *err)
{
    const circom_zkey *z = t->z;
    cuzk_status s = h_scalars(t, err);
    if (!s)
        s = sum_g1(t, &t->sums.h, z->h, t->k, z->domain, err);
    if (s)
        return s;
    for (uint32_t i = 0; i < z->wires; i++)
        fr_to_scalar(&t->k[i], &t->values[i]);
    s = sum_g1(t, &t->sums.a, z->a, t->k, z->wires, err);
    if (!s)
        s = sum_g1(t, &t->sums.b_g1, z->b1, t->k, z->wires, err);
    if (!s)
        s = sum_g2(t, &t->sums.b_g2, z->b2, t->k, z->wires, err);
    uint32_t inputs = z->publics + 1;
    return s ? s : sum_g1(t, &t->sums.l, z->l, t->k + inputs, z->wires - inputs, err);
}

static cuzk_status prove_init(prove_state *t, cuzk_error *err)
{
    size_t n = t->z->domain;
    t->k_count = t->z->wires > n ? t->z->wires : n;
    t->a = big_alloc(n * sizeof(fr));
    t->b = big_alloc(n * sizeof(fr));
    t->c = big_alloc(n * sizeof(fr));
    t->k = big_alloc(t->k_count * sizeof(scalar));
    if (!t->a || !t->b || !t->c || !t->k)
        return mem_error(err, (3 * n + t->k_count) * sizeof(fr), "a proof");
    return domain_create(&t->d, t->z->domain_log, 5, err);
}

static void prove_clear(prove_state *t)
{
    size_t n = t->z->domain;
    if (t->k)
        mem_wipe(t->k, t->k_count * sizeof(scalar));
    big_free(t->a, n * sizeof(fr));
    big_free(t->b, n * sizeof(fr));
    big_free(t->c, n * sizeof(fr));
    big_free(t->k, t->k_count * sizeof(scalar));
    domain_destroy(t->d);
}

cuzk_status circom_prove(const circom_zkey *z, const fr *values, uint32_t count, const fr *r, const fr *s,
                         uint8_t out[GROTH16_PROOF_BYTES], pool *p, cuzk_error *err)
{
    memset(out, 0, GROTH16_PROOF_BYTES);
    if (count != z->wires)
        return cuzk_error_set(err, CUZK_INCONSISTENT,
                              "the witness has %u values, %s is for a circuit of %u wires", count, z->f.path,
                              z->wires);
    prove_state t = {.z = z, .values = values, .p = p};
    cuzk_status st = prove_init(&t, err);
    if (!st)
        st = all_sums(&t, err);
    fr kr, ks;
    if (!st && ((r ? (kr = *r, 0) : fr_random(&kr)) || (s ? (ks = *s, 0) : fr_random(&ks))))
        st = cuzk_error_set(err, CUZK_IO_ERROR, "the kernel gave no randomness");
    if (!st) {
        proof_points points;
        proof_assemble(&points, &z->vk, &t.sums, &kr, &ks);
        proof_encode(out, &points);
        mem_wipe(&kr, sizeof(kr));
        mem_wipe(&ks, sizeof(ks));
        st = groth16_verify(&z->vk, out, values + 1, z->publics, err);
        if (st == CUZK_INVALID_PROOF)
            st = cuzk_error_set(err, CUZK_UNSATISFIED,
                                "the proof does not verify: the witness does not satisfy the circuit of %s, "
                                "or the key is damaged (info --check tells)",
                                z->f.path);
    }
    if (st)
        memset(out, 0, GROTH16_PROOF_BYTES);
    prove_clear(&t);
    return st;
}
