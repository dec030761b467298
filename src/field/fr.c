/* The scalar field: constants, encodings, inversion, roots of unity. Arithmetic itself is blst's. */
#include "base/encode.h"
#include "base/hash.h"
#include "base/mem.h"
#include "field/field.h"

const fr FR_ZERO = {{0, 0, 0, 0}};
const fr FR_ONE = {{0x00000001fffffffe, 0x5884b7fa00034802, 0x998c4fefecbc4ff5, 0x1824b159acc5056f}};
const fr FR_MINUS_ONE = {{0xfffffffd00000003, 0xfb38ec08fffb13fc, 0x99ad88181ce5880f, 0x5bc8f5f97cd877d8}};
const fr FR_TWO = {{0x00000003fffffffc, 0xb1096ff400069004, 0x33189fdfd9789fea, 0x304962b3598a0adf}};

static const uint64_t MODULUS[4] = {0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805,
                                    0x73eda753299d7d48};

/* d = a - r; returns the borrow. */
static uint64_t sub_modulus(uint64_t d[4], const uint64_t a[4])
{
    uint64_t borrow = 0;
    for (int i = 0; i < 4; i++) {
        unsigned __int128 t = (unsigned __int128)a[i] - MODULUS[i] - borrow;
        d[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
    return borrow;
}

int scalar_is_canonical(const scalar *a)
{
    uint64_t d[4];
    return (int)sub_modulus(d, a->l);
}

void fr_from_scalar(fr *r, const scalar *a)
{
    fr t;
    memcpy(t.l, a->l, sizeof t.l);
    blst_fr_to(r, &t);
}

void fr_to_scalar(scalar *r, const fr *a)
{
    fr t;
    blst_fr_from(&t, a);
    memcpy(r->l, t.l, sizeof t.l);
}

void fr_from_u64(fr *r, uint64_t v)
{
    scalar s = {{v, 0, 0, 0}};
    fr_from_scalar(r, &s);
}

int fr_from_bytes(fr *r, const uint8_t in[32])
{
    scalar s;
    for (int i = 0; i < 4; i++)
        s.l[i] = load_le64(in + 8 * i);
    if (!scalar_is_canonical(&s))
        return -1;
    fr_from_scalar(r, &s);
    return 0;
}

void fr_from_bytes_reduce(fr *r, const uint8_t in[32])
{
    scalar s;
    uint64_t d[4];
    for (int i = 0; i < 4; i++)
        s.l[i] = load_le64(in + 8 * i);
    while (!sub_modulus(d, s.l)) /* at most twice: 2^256 < 3r */
        memcpy(s.l, d, sizeof d);
    fr_from_scalar(r, &s);
}

void fr_to_bytes(uint8_t out[32], const fr *a)
{
    scalar s;
    fr_to_scalar(&s, a);
    for (int i = 0; i < 4; i++)
        store_le64(out + 8 * i, s.l[i]);
}

void fr_inv(fr *r, const fr *a)
{
    if (fr_is_zero(a))
        *r = FR_ZERO;
    else
        blst_fr_eucl_inverse(r, a);
}

void fr_pow(fr *r, const fr *a, const uint64_t *exponent, size_t limbs)
{
    fr base = *a, acc = FR_ONE;
    for (size_t i = limbs * 64; i-- > 0;) {
        fr_sqr(&acc, &acc);
        if (exponent[i / 64] >> (i % 64) & 1)
            fr_mul(&acc, &acc, &base);
    }
    *r = acc;
}

void fr_batch_inv(fr *r, const fr *a, size_t n, fr *scratch)
{
    fr acc = FR_ONE, t;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = acc;
        if (!fr_is_zero(&a[i]))
            fr_mul(&acc, &acc, &a[i]);
    }
    fr_inv(&acc, &acc);
    for (size_t i = n; i-- > 0;) {
        if (fr_is_zero(&a[i])) {
            r[i] = FR_ZERO;
            continue;
        }
        fr_mul(&t, &acc, &scratch[i]);
        fr_mul(&acc, &acc, &a[i]);
        r[i] = t;
    }
}

int fr_random(fr *r)
{
    uint8_t b[32];
    int rc;
    do { /* rejection keeps it uniform; each try succeeds with probability 0.9 */
        rc = random_bytes(b, sizeof b);
        b[31] &= 0x7f;
    } while (!rc && (fr_from_bytes(r, b) || fr_is_zero(r)));
    mem_wipe(b, sizeof b);
    return rc;
}

void fr_root_of_unity(fr *r, unsigned k, unsigned generator)
{
    uint64_t e[4];
    fr g;
    memcpy(e, MODULUS, sizeof e);
    e[0] -= 1;
    for (unsigned i = 0; i < k; i++)
        for (int j = 0; j < 4; j++)
            e[j] = e[j] >> 1 | (j < 3 ? e[j + 1] << 63 : 0);
    fr_from_u64(&g, generator);
    fr_pow(r, &g, e, 4);
}
