/* Verification: e(A, B) = e(alpha, beta) e(IC, gamma) e(C, delta), IC = ic_0 + sum of x_i ic_i. */
#include "base/hash.h"
#include "base/mem.h"
#include "groth16/groth16_internal.h"
#include "msm/msm.h"

cuzk_status proof_decode(proof_points *out, const uint8_t proof[GROTH16_PROOF_BYTES], cuzk_error *err)
{
    const char *name = "A";
    int code = g1_decompress(&out->a, proof), inf = code == 0 && g1_affine_is_inf(&out->a);
    if (code == 0 && !inf) {
        name = "B";
        code = g2_decompress(&out->b, proof + 48);
        inf = code == 0 && g2_affine_is_inf(&out->b);
    }
    if (code == 0 && !inf) {
        name = "C";
        code = g1_decompress(&out->c, proof + 144);
        inf = code == 0 && g1_affine_is_inf(&out->c);
    }
    if (code == 0 && !inf)
        return CUZK_OK;
    return cuzk_error_set(err, CUZK_INVALID_PROOF, "%s of the proof %s", name, point_fault(code));
}

void proof_encode(uint8_t proof[GROTH16_PROOF_BYTES], const proof_points *p)
{
    g1_compress(proof, &p->a);
    g2_compress(proof + 48, &p->b);
    g1_compress(proof + 144, &p->c);
}

static cuzk_status check_input_count(const verifying_key *vk, size_t n, cuzk_error *err)
{
    if (n + 1 == vk->ic_count)
        return CUZK_OK;
    return cuzk_error_set(err, CUZK_INCONSISTENT, "the key is for %u public inputs, %zu were given",
                          vk->ic_count - 1, n);
}

/* f *= miller(q, p); nothing for infinity, whose pairing is one. */
static void multiply_pairing(blst_fp12 *f, const g1_affine *p, const g2_affine *q)
{
    if (g1_affine_is_inf(p) || g2_affine_is_inf(q))
        return;
    blst_fp12 t;
    blst_miller_loop(&t, q, p);
    blst_fp12_mul(f, f, &t);
}

cuzk_status groth16_verify(const verifying_key *vk, const uint8_t proof[GROTH16_PROOF_BYTES],
                           const fr *inputs, size_t n, cuzk_error *err)
{
    cuzk_status s = check_input_count(vk, n, err);
    proof_points p;
    if (s == CUZK_OK)
        s = proof_decode(&p, proof, err);
    if (s != CUZK_OK)
        return s;
    scalar *k = mem_calloc(n ? n : 1, sizeof(scalar));
    if (!k)
        return mem_error(err, n * sizeof(scalar), "public inputs");
    for (size_t i = 0; i < n; i++)
        fr_to_scalar(&k[i], &inputs[i]);
    g1 sum;
    s = msm_g1(&sum, vk->ic + 1, NULL, k, n, NULL, NULL, err);
    mem_free(k);
    if (s != CUZK_OK)
        return s;
    g1_affine ic;
    g1_add_affine(&sum, &sum, &vk->ic[0]);
    g1_to_affine(&ic, &sum);
    blst_fp12 f = *blst_fp12_one();
    multiply_pairing(&f, &p.a, &p.b);
    multiply_pairing(&f, &ic, &vk->gamma_neg);
    multiply_pairing(&f, &p.c, &vk->delta_neg);
    blst_final_exp(&f, &f);
    if (blst_fp12_is_equal(&f, &vk->alpha_beta))
        return CUZK_OK;
    return cuzk_error_set(err, CUZK_INVALID_PROOF, "the proof does not verify");
}

/* ---- several proofs at once ---- */
typedef struct batch {
    scalar *z;    /* random weights, 128 bits */
    scalar *ic;   /* weights of the ic points */
    g1_affine *c; /* the proofs' C */
    fr *ic_sum;
} batch;

static void batch_clear(batch *b)
{
    mem_free(b->z);
    mem_free(b->ic);
    mem_free(b->c);
    mem_free(b->ic_sum);
}

static cuzk_status batch_init(batch *b, size_t count, size_t n, cuzk_error *err)
{
    *b = (batch){mem_calloc(count, sizeof(scalar)), mem_calloc(n + 1, sizeof(scalar)),
                 mem_calloc(count, sizeof(g1_affine)), mem_calloc(n + 1, sizeof(fr))};
    if (!b->z || !b->ic || !b->c || !b->ic_sum)
        return mem_error(err, count * sizeof(g1_affine), "a batch of proofs");
    for (size_t i = 0; i < count; i++) {
        if (random_bytes(b->z[i].l, 16))
            return cuzk_error_set(err, CUZK_IO_ERROR, "the kernel gave no randomness");
        b->z[i].l[0] |= 1; /* never zero */
    }
    return CUZK_OK;
}

/* The product of all pairings, weighted; one for valid proofs. f is left before the final exponentiation. */
static cuzk_status batch_product(blst_fp12 *f, const verifying_key *vk, const batch *b, size_t count,
                                 size_t n, cuzk_error *err)
{
    g1 sum;
    g1_affine p;
    cuzk_status s = msm_g1(&sum, vk->ic, NULL, b->ic, n + 1, NULL, NULL, err);
    if (s != CUZK_OK)
        return s;
    g1_to_affine(&p, &sum);
    multiply_pairing(f, &p, &vk->gamma_neg);
    s = msm_g1(&sum, b->c, NULL, b->z, count, NULL, NULL, err);
    if (s != CUZK_OK)
        return s;
    g1_to_affine(&p, &sum);
    multiply_pairing(f, &p, &vk->delta_neg);
    g1 alpha;
    g1_from_affine(&alpha, &vk->alpha_g1);
    g1_mul(&sum, &alpha, &b->ic[0]); /* the weight of ic_0 is the sum of all */
    g1_to_affine(&p, &sum);
    g1_affine_neg(&p, &p);
    multiply_pairing(f, &p, &vk->beta_g2);
    return CUZK_OK;
}

static cuzk_status batch_check(const verifying_key *vk, const uint8_t *proofs, size_t count, const fr *inputs,
                               size_t n, int *valid, cuzk_error *err)
{
    batch b;
    blst_fp12 f = *blst_fp12_one();
    *valid = 0;
    cuzk_status s = batch_init(&b, count, n, err);
    for (size_t i = 0; i < count && s == CUZK_OK; i++) {
        proof_points p;
        if (proof_decode(&p, proofs + i * GROTH16_PROOF_BYTES, NULL) != CUZK_OK)
            goto exit;
        b.c[i] = p.c;
        g1 a;
        g1_affine za;
        g1_from_affine(&a, &p.a);
        g1_mul(&a, &a, &b.z[i]);
        g1_to_affine(&za, &a);
        multiply_pairing(&f, &za, &p.b);
        fr z, t;
        fr_from_scalar(&z, &b.z[i]);
        fr_add(&b.ic_sum[0], &b.ic_sum[0], &z);
        for (size_t k = 0; k < n; k++) {
            fr_mul(&t, &z, &inputs[i * n + k]);
            fr_add(&b.ic_sum[k + 1], &b.ic_sum[k + 1], &t);
        }
    }
    for (size_t k = 0; k <= n && s == CUZK_OK; k++)
        fr_to_scalar(&b.ic[k], &b.ic_sum[k]);
    if (s == CUZK_OK)
        s = batch_product(&f, vk, &b, count, n, err);
    if (s == CUZK_OK) {
        blst_final_exp(&f, &f);
        *valid = blst_fp12_is_one(&f);
    }
exit:
    batch_clear(&b);
    return s;
}

cuzk_status groth16_verify_batch(const verifying_key *vk, const uint8_t *proofs, size_t count,
                                 const fr *inputs, size_t n, size_t *bad, cuzk_error *err)
{
    cuzk_status s = check_input_count(vk, n, err);
    if (s != CUZK_OK || count == 0)
        return s;
    int valid;
    s = batch_check(vk, proofs, count, inputs, n, &valid, err);
    if (s != CUZK_OK || valid)
        return s;
    for (size_t i = 0; i < count; i++) {
        s = groth16_verify(vk, proofs + i * GROTH16_PROOF_BYTES, inputs + i * n, n, err);
        if (s == CUZK_OK)
            continue;
        if (bad)
            *bad = i;
        cuzk_error_prefix(err, "proof %zu", i);
        return s;
    }
    return cuzk_error_set(err, CUZK_INVALID_PROOF,
                          "the batch does not verify although each proof does: this machine "
                          "computes wrongly");
}
