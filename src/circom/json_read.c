/* Reading snarkjs' JSON, with libjansson. */
#include "base/encode.h"
#include "base/mem.h"
#include "circom/circom.h"
#define JSON_LIMIT ((size_t)64 << 20)

#ifdef CUZK_HAVE_JANSSON
#include <jansson.h>

static cuzk_status load(json_t **out, const char *path, cuzk_error *err)
{
    uint8_t *data;
    size_t size;
    cuzk_status s = file_read(&data, &size, path, JSON_LIMIT, err);
    if (s)
        return s;
    json_error_t why;
    *out = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, &why);
    mem_free(data);
    return *out ? CUZK_OK : cuzk_error_set(err, CUZK_BAD_INPUT, "%s, line %d: %s", path, why.line, why.text);
}

/* A decimal string below p; -1 otherwise. */
static int fp_from_json(fp *out, const json_t *value)
{
    const char *text = json_string_value(value);
    if (!text || !*text || strlen(text) > 116)
        return -1;
    uint32_t w[12] = {0};
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return -1;
        uint64_t carry = (uint64_t)(*text - '0');
        for (int i = 0; i < 12; i++) {
            carry += (uint64_t)w[i] * 10;
            w[i] = (uint32_t)carry;
            carry >>= 32;
        }
        if (carry)
            return -1;
    }
    uint8_t le[48], back[48];
    for (int i = 0; i < 12; i++)
        store_le32(le + 4 * i, w[i]);
    blst_fp_from_lendian(out, le);
    blst_lendian_from_fp(back, out);
    return memcmp(le, back, 48) ? -1 : 0; /* equal only if it was below p */
}

static int is_text(const json_t *v, const char *text)
{
    return json_string_value(v) && !strcmp(json_string_value(v), text);
}

static int g1_from_json(g1_affine *out, const json_t *v)
{
    memset(out, 0, sizeof(*out));
    if (json_array_size(v) != 3)
        return -1;
    if (is_text(json_array_get(v, 2), "0"))
        return 0;
    if (!is_text(json_array_get(v, 2), "1") || fp_from_json(&out->x, json_array_get(v, 0)) ||
        fp_from_json(&out->y, json_array_get(v, 1)))
        return -1;
    return blst_p1_affine_on_curve(out) && blst_p1_affine_in_g1(out) ? 0 : -1;
}

static int fp2_from_json(fp2 *out, const json_t *v)
{
    return json_array_size(v) != 2 || fp_from_json(&out->fp[0], json_array_get(v, 0)) ||
                   fp_from_json(&out->fp[1], json_array_get(v, 1))
               ? -1
               : 0;
}

static int g2_from_json(g2_affine *out, const json_t *v)
{
    memset(out, 0, sizeof(*out));
    if (json_array_size(v) != 3)
        return -1;
    const json_t *z = json_array_get(v, 2);
    if (is_text(json_array_get(z, 0), "0"))
        return 0;
    if (!is_text(json_array_get(z, 0), "1") || fp2_from_json(&out->x, json_array_get(v, 0)) ||
        fp2_from_json(&out->y, json_array_get(v, 1)))
        return -1;
    return blst_p2_affine_on_curve(out) && blst_p2_affine_in_g2(out) ? 0 : -1;
}

static cuzk_status check_kind(const json_t *root, const char *path, cuzk_error *err)
{
    const char *curve = json_string_value(json_object_get(root, "curve"));
    const char *protocol = json_string_value(json_object_get(root, "protocol"));
    if (!protocol || strcmp(protocol, "groth16") != 0)
        return cuzk_error_set(err, CUZK_UNSUPPORTED, "%s: the protocol is not groth16", path);
    if (!curve || strcmp(curve, "bls12381") != 0)
        return cuzk_error_set(err, CUZK_UNSUPPORTED,
                              "%s is over %.20s; only BLS12-381 is supported (circom -p bls12381)", path,
                              curve ? curve : "an unknown curve");
    return CUZK_OK;
}

static cuzk_status bad_point(const char *path, const char *name, cuzk_status status, cuzk_error *err)
{
    return cuzk_error_set(err, status, "%s: %s is not a point of its group", path, name);
}

cuzk_status circom_read_proof(uint8_t proof[GROTH16_PROOF_BYTES], const char *path, cuzk_error *err)
{
    json_t *root = NULL;
    cuzk_status s = load(&root, path, err);
    if (!s)
        s = check_kind(root, path, err);
    proof_points p;
    if (!s && g1_from_json(&p.a, json_object_get(root, "pi_a")))
        s = bad_point(path, "pi_a", CUZK_INVALID_PROOF, err);
    if (!s && g2_from_json(&p.b, json_object_get(root, "pi_b")))
        s = bad_point(path, "pi_b", CUZK_INVALID_PROOF, err);
    if (!s && g1_from_json(&p.c, json_object_get(root, "pi_c")))
        s = bad_point(path, "pi_c", CUZK_INVALID_PROOF, err);
    if (!s)
        proof_encode(proof, &p);
    json_decref(root);
    return s;
}

cuzk_status circom_read_public(fr **values, size_t *count, const char *path, cuzk_error *err)
{
    *values = NULL;
    *count = 0;
    json_t *root = NULL;
    cuzk_status s = load(&root, path, err);
    if (!s && !json_is_array(root))
        s = cuzk_error_set(err, CUZK_BAD_INPUT, "%s is not an array of public signals", path);
    size_t n = s ? 0 : json_array_size(root);
    fr *list = s ? NULL : mem_calloc(n, sizeof(fr));
    if (!s && !list)
        s = mem_error(err, n * sizeof(fr), "public signals");
    for (size_t i = 0; i < n && !s; i++) {
        const char *text = json_string_value(json_array_get(root, i));
        if (!text || fr_from_decimal(&list[i], text, strlen(text), 0))
            s = cuzk_error_set(err, CUZK_BAD_INPUT,
                               "%s: public signal %zu is not a decimal number below the prime", path, i);
    }
    json_decref(root);
    if (s) {
        mem_free(list);
        return s;
    }
    *values = list;
    *count = n;
    return CUZK_OK;
}

static cuzk_status read_ic(verifying_key *vk, const json_t *root, const char *path, cuzk_error *err)
{
    const json_t *ic = json_object_get(root, "IC");
    size_t n = json_array_size(ic);
    const json_t *publics = json_object_get(root, "nPublic");
    if (!n || !json_is_integer(publics) || json_integer_value(publics) != (json_int_t)(n - 1))
        return cuzk_error_set(err, CUZK_BAD_INPUT, "%s: IC must have one point more than nPublic says", path);
    vk->ic = mem_calloc(n, sizeof(g1_affine));
    if (!vk->ic)
        return mem_error(err, n * sizeof(g1_affine), "a verifying key");
    vk->ic_count = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        if (g1_from_json(&vk->ic[i], json_array_get(ic, i)))
            return bad_point(path, "IC", CUZK_BAD_INPUT, err);
    return CUZK_OK;
}

cuzk_status circom_read_vkey(verifying_key *vk, const char *path, cuzk_error *err)
{
    memset(vk, 0, sizeof(*vk));
    json_t *root = NULL;
    cuzk_status s = load(&root, path, err);
    if (!s)
        s = check_kind(root, path, err);
    if (!s && g1_from_json(&vk->alpha_g1, json_object_get(root, "vk_alpha_1")))
        s = bad_point(path, "vk_alpha_1", CUZK_BAD_INPUT, err);
    if (!s && g2_from_json(&vk->beta_g2, json_object_get(root, "vk_beta_2")))
        s = bad_point(path, "vk_beta_2", CUZK_BAD_INPUT, err);
    if (!s && g2_from_json(&vk->gamma_g2, json_object_get(root, "vk_gamma_2")))
        s = bad_point(path, "vk_gamma_2", CUZK_BAD_INPUT, err);
    if (!s && g2_from_json(&vk->delta_g2, json_object_get(root, "vk_delta_2")))
        s = bad_point(path, "vk_delta_2", CUZK_BAD_INPUT, err);
    if (!s)
        s = read_ic(vk, root, path, err);
    json_decref(root);
    if (s)
        vk_clear(vk);
    else
        vk_finish(vk);
    return s;
}
#else
static cuzk_status without(const char *path, cuzk_error *err)
{
    return cuzk_error_set(err, CUZK_UNSUPPORTED, "%s cannot be read: this build is without libjansson", path);
}
cuzk_status circom_read_proof(uint8_t proof[GROTH16_PROOF_BYTES], const char *path, cuzk_error *err)
{
    (void)proof;
    return without(path, err);
}
cuzk_status circom_read_public(fr **values, size_t *count, const char *path, cuzk_error *err)
{
    *values = NULL;
    *count = 0;
    return without(path, err);
}
cuzk_status circom_read_vkey(verifying_key *vk, const char *path, cuzk_error *err)
{
    memset(vk, 0, sizeof(*vk));
    return without(path, err);
}
#endif
