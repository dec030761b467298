/* snarkjs' JSON: numbers are decimal strings; a point is [x, y, "1"], in G2 with pairs [c0, c1]; infinity is
 * [0, 1, 0]. */
#include "base/encode.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "circom/circom.h"
#include <stdlib.h>

/* ---- decimal numbers of up to 384 bits ---- */

typedef struct wide {
    uint32_t w[12]; /* little-endian */
} wide;

static void wide_to_text(char out[128], wide v)
{
    char digits[128];
    size_t n = 0;
    int left = 1;
    while (left) {
        uint64_t rest = 0;
        left = 0;
        for (int i = 11; i >= 0; i--) {
            rest = rest << 32 | v.w[i];
            v.w[i] = (uint32_t)(rest / 10);
            rest %= 10;
            left |= v.w[i] != 0;
        }
        digits[n++] = (char)('0' + rest);
    }
    for (size_t i = 0; i < n; i++)
        out[i] = digits[n - 1 - i];
    out[n] = 0;
}

static void fp_to_text(char out[128], const fp *x)
{
    uint8_t le[48];
    blst_lendian_from_fp(le, x);
    wide v;
    for (unsigned i = 0; i < 12; i++)
        v.w[i] = load_le32(le + 4 * i);
    wide_to_text(out, v);
}

static void put_fp(json_out *j, const fp *x)
{
    char text[128];
    fp_to_text(text, x);
    json_string(j, NULL, text);
}

static void put_g1(json_out *j, const char *key, const g1_affine *p)
{
    int inf = g1_affine_is_inf(p);
    json_begin_array(j, key);
    put_fp(j, &p->x);
    if (inf)
        json_string(j, NULL, "1");
    else
        put_fp(j, &p->y);
    json_string(j, NULL, inf ? "0" : "1");
    json_end_array(j);
}

static void put_pair(json_out *j, const fp2 *v)
{
    json_begin_array(j, NULL);
    put_fp(j, &v->fp[0]);
    put_fp(j, &v->fp[1]);
    json_end_array(j);
}

static void put_constants(json_out *j, const char *first, const char *second)
{
    json_begin_array(j, NULL);
    json_string(j, NULL, first);
    json_string(j, NULL, second);
    json_end_array(j);
}

static void put_g2(json_out *j, const char *key, const g2_affine *p)
{
    int inf = g2_affine_is_inf(p);
    json_begin_array(j, key);
    put_pair(j, &p->x);
    if (inf)
        put_constants(j, "1", "0");
    else
        put_pair(j, &p->y);
    put_constants(j, inf ? "0" : "1", "0");
    json_end_array(j);
}

static cuzk_status save(json_out *j, const char *path, cuzk_error *err)
{
    cuzk_status s = j->failed ? mem_error(err, 4096, "JSON") : file_save(path, j->text, j->used, err);
    json_clear(j);
    return s;
}

cuzk_status circom_write_proof(const char *path, const uint8_t proof[GROTH16_PROOF_BYTES], cuzk_error *err)
{
    proof_points p;
    cuzk_status s = proof_decode(&p, proof, err);
    if (s)
        return s;
    json_out j;
    json_init(&j);
    json_begin_object(&j, NULL);
    put_g1(&j, "pi_a", &p.a);
    put_g2(&j, "pi_b", &p.b);
    put_g1(&j, "pi_c", &p.c);
    json_string(&j, "protocol", "groth16");
    json_string(&j, "curve", "bls12381");
    json_end_object(&j);
    return save(&j, path, err);
}

cuzk_status circom_write_public(const char *path, const fr *values, size_t count, cuzk_error *err)
{
    json_out j;
    json_init(&j);
    json_begin_array(&j, NULL);
    for (size_t i = 0; i < count; i++) {
        char text[80];
        fr_to_decimal(text, &values[i]);
        json_string(&j, NULL, text);
    }
    json_end_array(&j);
    return save(&j, path, err);
}

cuzk_status circom_write_vkey(const char *path, const verifying_key *vk, cuzk_error *err)
{
    json_out j;
    json_init(&j);
    json_begin_object(&j, NULL);
    json_string(&j, "protocol", "groth16");
    json_string(&j, "curve", "bls12381");
    json_u64(&j, "nPublic", vk->ic_count - 1);
    put_g1(&j, "vk_alpha_1", &vk->alpha_g1);
    put_g2(&j, "vk_beta_2", &vk->beta_g2);
    put_g2(&j, "vk_gamma_2", &vk->gamma_g2);
    put_g2(&j, "vk_delta_2", &vk->delta_g2);
    /* snarkjs writes e(alpha, beta) as well, for other tools; neither it nor cuzk reads it. */
    json_begin_array(&j, "IC");
    for (uint32_t i = 0; i < vk->ic_count; i++)
        put_g1(&j, NULL, &vk->ic[i]);
    json_end_array(&j);
    json_end_object(&j);
    return save(&j, path, err);
}
