/* Point arithmetic, encodings and batch conversion of one group. Included by g1.c and g2.c after as_g1.h or
 * as_g2.h. */
#include "base/cpu.h"
#include "base/encode.h"
#include "base/mem.h"
#include "curve/curve_private.h"
#include <stdatomic.h>

static int bytes_are_zero(const void *p, size_t n)
{
    const uint8_t *b = p;
    uint8_t or = 0;
    for (size_t i = 0; i < n; i++)
        or |= b[i];
    return ! or ;
}

int FN(affine_is_inf)(const AFFINE *p)
{
    return bytes_are_zero(p, sizeof *p);
}
void FN(affine_neg)(AFFINE *r, const AFFINE *p)
{
    r->x = p->x;
    coord_neg(&r->y, &p->y);
}
void FN(add)(JACOBIAN *r, const JACOBIAN *a, const JACOBIAN *b)
{
    BLST(add_or_double)(r, a, b);
}
void FN(add_affine)(JACOBIAN *r, const JACOBIAN *a, const AFFINE *b)
{
    BLST(add_or_double_affine)(r, a, b);
}
void FN(from_affine)(JACOBIAN *r, const AFFINE *a)
{
    BLST(from_affine)(r, a);
}

void FN(to_affine)(AFFINE *r, const JACOBIAN *a)
{
    if (BLST(is_inf)(a))
        memset(r, 0, sizeof *r);
    else
        BLST(to_affine)(r, a);
}

/* blst's multiplication is constant-time in the scalar; it splits by the endomorphism, which holds in the
 * subgroup only, as everything here does. */
void FN(mul_secret)(JACOBIAN *r, const JACOBIAN *a, const scalar *k)
{
    uint8_t b[32];
    if (BLST(is_inf)(a)) {
        memset(r, 0, sizeof *r);
        return;
    }
    for (int i = 0; i < 4; i++)
        store_le64(b + 8 * i, k->l[i]);
    BLST(mult)(r, a, b, 256);
    mem_wipe(b, sizeof b);
}

void FN(mul)(JACOBIAN *r, const JACOBIAN *a, const scalar *k)
{
    if (k->l[0] | k->l[1] | k->l[2] | k->l[3])
        FN(mul_secret)(r, a, k);
    else
        memset(r, 0, sizeof *r);
}

void FN(mul_u32)(JACOBIAN *r, const JACOBIAN *a, uint32_t k)
{
    JACOBIAN once = *a;
    memset(r, 0, sizeof *r);
    for (int bit = 31 - __builtin_clz(k | 1); bit >= 0; bit--) {
        BLST(double)(r, r);
        if (k >> bit & 1)
            FN(add)(r, r, &once);
    }
}

void FN(ref_get)(AFFINE *r, point_ref p)
{
    r->x = *(const COORD *)p.x;
    coord_cneg(&r->y, (const COORD *)(p.y & ~(uintptr_t)1), p.y & 1);
}

/* Montgomery's trick; the prefix products wait in r[i].x, so there is no scratch. Pieces of 1024 stay in
 * cache. */
void FN(batch_to_affine)(AFFINE *r, const JACOBIAN *a, size_t n)
{
    for (; n;) {
        size_t m = n < 1024 ? n : 1024;
        COORD acc = COORD_ONE, z, zz;
        for (size_t i = 0; i < m; i++) {
            r[i].x = acc;
            if (!BLST(is_inf)(&a[i]))
                coord_mul(&acc, &acc, &a[i].z);
        }
        coord_inv(&acc, &acc);
        for (size_t i = m; i-- > 0;) {
            if (BLST(is_inf)(&a[i])) {
                memset(&r[i], 0, sizeof r[i]);
                continue;
            }
            coord_mul(&z, &acc, &r[i].x);
            coord_mul(&acc, &acc, &a[i].z);
            coord_sqr(&zz, &z);
            coord_mul(&r[i].x, &a[i].x, &zz);
            coord_mul(&zz, &zz, &z);
            coord_mul(&r[i].y, &a[i].y, &zz);
        }
        r += m, a += m, n -= m;
    }
}

void FN(encode)(uint8_t out[2 * HALF], const AFFINE *p)
{
    BLST(affine_serialize)(out, p);
}
void FN(compress)(uint8_t out[HALF], const AFFINE *p)
{
    BLST(affine_compress)(out, p);
}

int FN(decode)(AFFINE *r, const uint8_t in[2 * HALF])
{
    AFFINE p;
    if (in[0] & 0x40) {
        if (in[0] != 0x40 || !bytes_are_zero(in + 1, 2 * HALF - 1))
            return -1;
        memset(r, 0, sizeof *r);
        return 0;
    }
    /* A coordinate >= p fails in coord_read, which covers the other two flag bits. */
    if (coord_read(&p.x, in) || coord_read(&p.y, in + HALF))
        return -1;
    if (FN(affine_is_inf)(&p)) /* zeros without the flag would turn into infinity */
        return -1;
    *r = p;
    return 0;
}

int FN(decode_check)(AFFINE *r, const uint8_t in[2 * HALF])
{
    AFFINE p;
    int rc = FN(decode)(&p, in);
    if (rc)
        return rc;
    if (!BLST(affine_on_curve)(&p))
        return -2;
    if (!IN_GROUP(&p))
        return -3;
    *r = p;
    return 0;
}

int FN(decompress)(AFFINE *r, const uint8_t in[HALF])
{
    AFFINE p;
    switch (BLST(uncompress)(&p, in)) {
    case BLST_SUCCESS:
        break;
    case BLST_POINT_NOT_ON_CURVE:
        return -2;
    case BLST_POINT_NOT_IN_GROUP:
        return -3;
    default:
        return -1;
    }
    if (!IN_GROUP(&p))
        return -3;
    *r = p;
    return 0;
}

/* How many are good before the first bad one. */
static size_t decode_some(AFFINE *r, const uint8_t *in, const uint32_t *list, size_t n)
{
    enum { TOGETHER = 8 };
    for (size_t i = 0; i < n;) {
        size_t m = n - i < TOGETHER ? n - i : TOGETHER;
        const uint8_t *at[TOGETHER];
        for (size_t k = 0; k < m; k++)
            at[k] = in + (size_t)(list ? list[i + k] : i + k) * (2 * HALF);
#if defined(__x86_64__)
        if (m == TOGETHER && cpu_get()->ifma && curve_decode8_ifma((fp *)(r + i), at, HALF / 24)) {
            i += TOGETHER;
            continue;
        }
#endif
        for (size_t k = 0; k < m; k++, i++)
            if (FN(decode)(&r[i], at[k]))
                return i;
    }
    return n;
}

typedef struct decode_job {
    AFFINE *r;
    const uint8_t *in;
    const uint32_t *list;
    _Atomic size_t bad; /* lowest bad index seen, SIZE_MAX for none */
} decode_job;

static void decode_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    decode_job *j = ctx;
    (void)worker;
    const uint8_t *in = j->list ? j->in : j->in + first * (2 * HALF);
    size_t bad = first + decode_some(j->r + first, in, j->list ? j->list + first : NULL, end - first);
    size_t seen = atomic_load(&j->bad);
    while (bad < end && bad < seen && !atomic_compare_exchange_weak(&j->bad, &seen, bad))
        ;
}

ptrdiff_t FN(decode_many)(AFFINE *r, const uint8_t *in, const uint32_t *list, size_t n, pool *p)
{
    decode_job j = {r, in, list, SIZE_MAX};
    pool_for_range(p, n, 256, decode_range, &j);
    size_t bad = atomic_load(&j.bad);
    return bad == SIZE_MAX ? -1 : (ptrdiff_t)bad;
}
