/* .zkey: sections 1 protocol, 2 header, 3 IC, 4 coefficients, 5 A, 6 B1, 7 B2, 8 C (our l), 9 H, 10
 * contributions. */
#include "base/encode.h"
#include "base/mem.h"
#include "circom/circom.h"
#include <stdatomic.h>

static const uint8_t BLS12_381_P_HEAD[8] = {0xab, 0xaa, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xb9};
#define HEADER_POINTS (3 * sizeof(g1_affine) + 3 * sizeof(g2_affine))

static cuzk_status expect_size(const circom_zkey *z, unsigned section, uint64_t count, size_t each,
                               uint64_t extra, cuzk_error *err)
{
    if (z->f.size[section] == extra + count * each)
        return CUZK_OK;
    return cuzk_error_set(err, CUZK_BAD_INPUT, "%s: section %u holds %llu bytes, its %llu entries need %llu",
                          z->f.path, section, (unsigned long long)z->f.size[section],
                          (unsigned long long)count, (unsigned long long)(extra + count * each));
}

static cuzk_status read_header(circom_zkey *z, cuzk_error *err)
{
    const uint8_t *h = z->f.section[2];
    uint64_t size = z->f.size[2];
    if (z->f.size[1] < 4 || load_le32(z->f.section[1]) != 1)
        return cuzk_error_set(err, CUZK_UNSUPPORTED, "%s is not a Groth16 key", z->f.path);
    uint32_t n8q = size >= 4 ? load_le32(h) : 0;
    /* q of 48 bytes or 32: the scalar field follows and says which curve it is. */
    if ((n8q != 48 && n8q != 32) || size < 4 + n8q + 4 + 32)
        return cuzk_error_set(err, CUZK_BAD_INPUT, "%s: the header is cut short", z->f.path);
    const uint8_t *r = h + 4 + n8q;
    cuzk_status s = binfile_check_scalar_field(&z->f, load_le32(r), r + 4, (size_t)(size - 8 - n8q), err);
    if (s)
        return s;
    if (n8q != 48 || memcmp(h + 4, BLS12_381_P_HEAD, 8) != 0 || size != 4 + 48 + 4 + 32 + 12 + HEADER_POINTS)
        return cuzk_error_set(err, CUZK_BAD_INPUT, "%s: the header is not that of a BLS12-381 key",
                              z->f.path);
    r += 36;
    z->wires = load_le32(r);
    z->publics = load_le32(r + 4);
    z->domain = load_le32(r + 8);
    z->domain_log = domain_log_for(z->domain);
    if (z->publics >= z->wires || !z->domain || (z->domain & (z->domain - 1)) || z->domain_log > 28)
        return cuzk_error_set(err, CUZK_BAD_INPUT,
                              "%s: %u wires, %u public ones and a domain of %u do not fit together",
                              z->f.path, z->wires, z->publics, z->domain);
    const uint8_t *p = r + 12;
    verifying_key *vk = &z->vk;
    memcpy(&vk->alpha_g1, p, 96);
    memcpy(&vk->beta_g1, p + 96, 96);
    memcpy(&vk->beta_g2, p + 192, 192);
    memcpy(&vk->gamma_g2, p + 384, 192);
    memcpy(&vk->delta_g1, p + 576, 96);
    memcpy(&vk->delta_g2, p + 672, 192);
    return CUZK_OK;
}

static cuzk_status check_sizes(circom_zkey *z, cuzk_error *err)
{
    cuzk_status s = expect_size(z, 3, (uint64_t)z->publics + 1, 96, 0, err);
    if (!s && z->f.size[4] < 4)
        s = cuzk_error_set(err, CUZK_BAD_INPUT, "%s: section 4 is empty", z->f.path);
    if (s)
        return s;
    z->coef_count = load_le32(z->f.section[4]);
    s = expect_size(z, 4, z->coef_count, 44, 4, err);
    if (!s)
        s = expect_size(z, 5, z->wires, 96, 0, err);
    if (!s)
        s = expect_size(z, 6, z->wires, 96, 0, err);
    if (!s)
        s = expect_size(z, 7, z->wires, 192, 0, err);
    if (!s)
        s = expect_size(z, 8, (uint64_t)z->wires - z->publics - 1, 96, 0, err);
    return s ? s : expect_size(z, 9, z->domain, 96, 0, err);
}

static int g1_on_curve(const g1_affine *p)
{
    return g1_affine_is_inf(p) || (blst_p1_affine_on_curve(p) && blst_p1_affine_in_g1(p));
}
static int g2_on_curve(const g2_affine *p)
{
    return g2_affine_is_inf(p) || (blst_p2_affine_on_curve(p) && blst_p2_affine_in_g2(p));
}

static cuzk_status check_key(const circom_zkey *z, cuzk_error *err)
{
    const verifying_key *vk = &z->vk;
    int ok = g1_on_curve(&vk->alpha_g1) && g1_on_curve(&vk->beta_g1) && g1_on_curve(&vk->delta_g1) &&
             g2_on_curve(&vk->beta_g2) && g2_on_curve(&vk->gamma_g2) && g2_on_curve(&vk->delta_g2);
    for (uint32_t i = 0; i < vk->ic_count && ok; i++)
        ok = g1_on_curve(&vk->ic[i]);
    if (ok)
        return CUZK_OK;
    return cuzk_error_set(err, CUZK_BAD_INPUT,
                          "%s: a point of the verifying key is not on its curve or in its subgroup",
                          z->f.path);
}

cuzk_status circom_zkey_open(circom_zkey *z, const char *path, cuzk_error *err)
{
    memset(z, 0, sizeof(*z));
    uint32_t required = 0;
    for (unsigned i = 1; i <= 9; i++)
        required |= 1u << i;
    cuzk_status s = binfile_open(&z->f, path, "zkey", 1, required, err);
    if (s)
        return s;
    s = read_header(z, err);
    if (!s)
        s = check_sizes(z, err);
    if (!s) {
        z->vk.ic_count = z->publics + 1;
        z->vk.ic = mem_alloc(z->vk.ic_count * sizeof(g1_affine));
        if (!z->vk.ic)
            s = mem_error(err, z->vk.ic_count * sizeof(g1_affine), "a verifying key");
    }
    if (!s) {
        memcpy(z->vk.ic, z->f.section[3], (size_t)z->vk.ic_count * 96);
        s = check_key(z, err);
    }
    if (s) {
        circom_zkey_close(z);
        return s;
    }
    vk_finish(&z->vk);
    z->coefs = z->f.section[4] + 4;
    z->a = z->f.section[5];
    z->b1 = z->f.section[6];
    z->b2 = z->f.section[7];
    z->l = z->f.section[8];
    z->h = z->f.section[9];
    return CUZK_OK;
}

void circom_zkey_close(circom_zkey *z)
{
    vk_clear(&z->vk);
    binfile_close(&z->f);
    memset(z, 0, sizeof(*z));
    z->f.map.fd = -1;
}

/* ---- every point ---- */

typedef struct point_check {
    const uint8_t *points;
    int is_g2;
    _Atomic uint64_t bad; /* a bad index + 1; 0: none */
} point_check;

static void check_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    point_check *c = ctx;
    (void)worker;
    for (size_t i = first; i < end; i++) {
        int ok;
        if (c->is_g2) {
            g2_affine p;
            memcpy(&p, c->points + i * sizeof(p), sizeof(p));
            ok = g2_on_curve(&p);
        } else {
            g1_affine p;
            memcpy(&p, c->points + i * sizeof(p), sizeof(p));
            ok = g1_on_curve(&p);
        }
        if (!ok) {
            atomic_store(&c->bad, i + 1);
            return;
        }
    }
}

cuzk_status circom_zkey_check(const circom_zkey *z, pool *p, cuzk_error *err)
{
    static const char *const NAMES[] = {"A", "B1", "B2", "C", "H"};
    for (unsigned section = 5; section <= 9; section++) {
        int is_g2 = section == 7;
        point_check c = {z->f.section[section], is_g2, 0};
        pool_for_range(p, (size_t)(z->f.size[section] / (is_g2 ? 192 : 96)), 64, check_range, &c);
        if (c.bad)
            return cuzk_error_set(err, CUZK_BAD_INPUT,
                                  "%s: point %llu of %s is not on its curve or in its subgroup", z->f.path,
                                  (unsigned long long)c.bad - 1, NAMES[section - 5]);
    }
    return CUZK_OK;
}
