/* Verifying keys: the .vk format and what is derived from it. */
#include "base/encode.h"
#include "base/mem.h"
#include "groth16/groth16_internal.h"
#include <ctype.h>
#include <stdio.h>

#define VK_FILE_LIMIT ((size_t)64 << 20)

const char *point_fault(int code)
{
    switch (code) {
    case -2:
        return "is not on the curve";
    case -3:
        return "lies outside the subgroup of order r";
    case 0:
        return "is the point at infinity";
    default:
        return "is not an encoded point";
    }
}

void describe_text(char *out, size_t out_size, const uint8_t *data, size_t size)
{
    out[0] = 0;
    size_t n = size < 40 ? size : 40;
    if (n < 4)
        return;
    for (size_t i = 0; i < n; i++) {
        if (!isprint(data[i]) && !isspace(data[i]))
            return;
    }
    char head[48];
    for (size_t i = 0; i < n; i++)
        head[i] = isspace(data[i]) ? ' ' : (char)data[i];
    head[n] = 0;
    snprintf(out, out_size,
             "it is a text that begins \"%s\", perhaps an error page that was saved in its place", head);
}

void vk_finish(verifying_key *vk)
{
    blst_fp12 f;
    blst_miller_loop(&f, &vk->beta_g2, &vk->alpha_g1);
    blst_final_exp(&vk->alpha_beta, &f);
    g2_affine_neg(&vk->gamma_neg, &vk->gamma_g2);
    g2_affine_neg(&vk->delta_neg, &vk->delta_g2);
}

static cuzk_status read_g1(g1_affine *r, const uint8_t *in, const char *name, cuzk_error *err)
{
    int code = g1_decode_check(r, in);
    if (code == 0 && !g1_affine_is_inf(r))
        return CUZK_OK;
    return cuzk_error_set(err, CUZK_BAD_INPUT, "%s of the verifying key %s", name, point_fault(code));
}

static cuzk_status read_g2(g2_affine *r, const uint8_t *in, const char *name, cuzk_error *err)
{
    int code = g2_decode_check(r, in);
    if (code == 0 && !g2_affine_is_inf(r))
        return CUZK_OK;
    return cuzk_error_set(err, CUZK_BAD_INPUT, "%s of the verifying key %s", name, point_fault(code));
}

static cuzk_status read_head(verifying_key *vk, const uint8_t *d, cuzk_error *err)
{
    cuzk_status s;
    if ((s = read_g1(&vk->alpha_g1, d, "alpha_g1", err)) == CUZK_OK &&
        (s = read_g1(&vk->beta_g1, d + 96, "beta_g1", err)) == CUZK_OK &&
        (s = read_g2(&vk->beta_g2, d + 192, "beta_g2", err)) == CUZK_OK &&
        (s = read_g2(&vk->gamma_g2, d + 384, "gamma_g2", err)) == CUZK_OK &&
        (s = read_g1(&vk->delta_g1, d + 576, "delta_g1", err)) == CUZK_OK)
        s = read_g2(&vk->delta_g2, d + 672, "delta_g2", err);
    return s;
}

cuzk_status vk_parse(verifying_key *vk, const uint8_t *data, size_t size, size_t *used, cuzk_error *err)
{
    memset(vk, 0, sizeof(*vk));
    char text[160];
    describe_text(text, sizeof(text), data, size);
    if (text[0])
        return cuzk_error_set(err, CUZK_BAD_INPUT, "this is no verifying key: %s", text);
    if (size < VK_HEAD_BYTES)
        return cuzk_error_set(err, CUZK_BAD_INPUT, "a verifying key has at least %d bytes, this has %zu",
                              VK_HEAD_BYTES + 96, size);
    uint32_t count = load_be32(data + VK_HEAD_BYTES - 4);
    if (count == 0 || count > (size - VK_HEAD_BYTES) / 96)
        return cuzk_error_set(
            err, CUZK_BAD_INPUT,
            "the verifying key says that it holds %u ic points, but %zu bytes follow: it is cut short "
            "or no key",
            count, size - VK_HEAD_BYTES);
    cuzk_status s = read_head(vk, data, err);
    if (s != CUZK_OK)
        return s;
    vk->ic = mem_calloc(count, sizeof(g1_affine));
    if (!vk->ic)
        return mem_error(err, count * sizeof(g1_affine), "a verifying key");
    vk->ic_count = count;
    for (uint32_t i = 0; i < count && s == CUZK_OK; i++) {
        char name[32];
        snprintf(name, sizeof(name), "ic point %u", i);
        s = read_g1(&vk->ic[i], data + VK_HEAD_BYTES + 96 * (size_t)i, name, err);
    }
    if (s != CUZK_OK) {
        vk_clear(vk);
        return s;
    }
    vk_finish(vk);
    if (used)
        *used = vk_bytes(vk);
    return CUZK_OK;
}

cuzk_status vk_open(verifying_key *vk, const char *path, cuzk_error *err)
{
    memset(vk, 0, sizeof(*vk));
    uint8_t *data;
    size_t size, used = 0;
    cuzk_status s = file_read(&data, &size, path, VK_FILE_LIMIT, err);
    if (s != CUZK_OK)
        return s;
    s = vk_parse(vk, data, size, &used, err);
    if (s == CUZK_OK && used != size) {
        vk_clear(vk);
        s = cuzk_error_set(err, CUZK_BAD_INPUT,
                           "%zu bytes follow the verifying key: this is another kind of file", size - used);
    }
    mem_free(data);
    if (s != CUZK_OK)
        cuzk_error_prefix(err, "%s", path);
    return s;
}

void vk_clear(verifying_key *vk)
{
    mem_free(vk->ic);
    memset(vk, 0, sizeof(*vk));
}

size_t vk_bytes(const verifying_key *vk)
{
    return VK_HEAD_BYTES + 96 * (size_t)vk->ic_count;
}

void vk_encode(uint8_t *out, const verifying_key *vk)
{
    g1_encode(out, &vk->alpha_g1);
    g1_encode(out + 96, &vk->beta_g1);
    g2_encode(out + 192, &vk->beta_g2);
    g2_encode(out + 384, &vk->gamma_g2);
    g1_encode(out + 576, &vk->delta_g1);
    g2_encode(out + 672, &vk->delta_g2);
    store_be32(out + VK_HEAD_BYTES - 4, vk->ic_count);
    for (uint32_t i = 0; i < vk->ic_count; i++)
        g1_encode(out + VK_HEAD_BYTES + 96 * (size_t)i, &vk->ic[i]);
}
