/* Poseidon's constants from the specification: numbers of rounds, round keys from the Grain LFSR, the Cauchy
 * MDS matrix, and the equivalent form with few multiplications (appendix B of the paper). Matrices are row
 * major; a state is a row vector that is multiplied from the right. */
#include "base/cpu.h"
#include "base/mem.h"
#include "gadgets/poseidon_private.h"
#include <math.h>

/* ---- numbers of rounds ---- */

/* Bounds of statistical, interpolation and Groebner basis attacks for 128 bits of security; single precision,
 * as the published constants were computed. */
static int rounds_are_secure(unsigned width, unsigned full, unsigned partial)
{
    const float bits = 256.0f, security = 128.0f, t = (float)width, rp = (float)partial;
    float bound[4] = {security <= (bits - 3.0f) * (t + 1.0f) ? 6.0f : 10.0f, 0.43f * security + log2f(t) - rp,
                      0.21f * bits - rp, (0.14f * bits - 1.0f - rp) / (t - 1.0f)};
    for (int i = 0; i < 4; i++)
        if ((float)full < ceilf(bound[i]))
            return 0;
    return 1;
}

/* The fewest S-boxes that are secure, with the margin of two full rounds and 7.5 % of partial ones. */
static void round_numbers(unsigned width, unsigned *full, unsigned *partial)
{
    unsigned best = UINT32_MAX;
    for (unsigned f = 2; f <= 100; f += 2) {
        for (unsigned p = 4; p < 200; p++) {
            if (!rounds_are_secure(width, f, p))
                continue;
            unsigned rf = f + 2, rp = (unsigned)ceilf(1.075f * (float)p);
            unsigned boxes = width * rf + rp;
            if (boxes < best || (boxes == best && rf < *full))
                best = boxes, *full = rf, *partial = rp;
        }
    }
}

/* ---- round keys ---- */

typedef struct grain {
    uint8_t bit[80];
    unsigned head; /* position of the oldest bit */
} grain;

static unsigned grain_step(grain *g)
{
#define BIT(i) g->bit[(g->head + (i)) % 80]
    uint8_t b = BIT(62) ^ BIT(51) ^ BIT(38) ^ BIT(23) ^ BIT(13) ^ BIT(0);
#undef BIT
    g->bit[g->head] = b;
    g->head = (g->head + 1) % 80;
    return b;
}

static unsigned grain_append(grain *g, unsigned at, unsigned bits, uint32_t value)
{
    for (unsigned i = 0; i < bits; i++)
        g->bit[at + i] = (value >> (bits - 1 - i)) & 1;
    return at + bits;
}

static void grain_init(grain *g, unsigned width, unsigned full, unsigned partial)
{
    unsigned at = 0;
    g->head = 0;
    at = grain_append(g, at, 2, 1); /* a prime field */
    at = grain_append(g, at, 4, 1); /* x^5 */
    at = grain_append(g, at, 12, 255);
    at = grain_append(g, at, 12, width);
    at = grain_append(g, at, 10, full);
    at = grain_append(g, at, 10, partial);
    grain_append(g, at, 30, 0x3fffffff);
    for (int i = 0; i < 160; i++)
        grain_step(g);
}

/* Self-shrinking: of each pair the second bit is output when the first is set. */
static unsigned grain_output(grain *g)
{
    while (!grain_step(g))
        grain_step(g);
    return grain_step(g);
}

static void grain_field(grain *g, fr *out)
{
    uint8_t le[32];
    do {
        memset(le, 0, sizeof le);
        for (int i = 254; i >= 0; i--)
            le[i / 8] |= (uint8_t)(grain_output(g) << (i % 8));
    } while (fr_from_bytes(out, le));
}

/* ---- matrices ---- */

/* out = v M, or M v for by_rows. */
static void matrix_apply(fr *out, const fr *m, const fr *v, unsigned n, int by_rows)
{
    fr sum[POSEIDON_MAX_WIDTH], t;
    for (unsigned i = 0; i < n; i++) {
        sum[i] = FR_ZERO;
        for (unsigned j = 0; j < n; j++) {
            fr_mul(&t, by_rows ? &m[i * n + j] : &m[j * n + i], &v[j]);
            fr_add(&sum[i], &sum[i], &t);
        }
    }
    memcpy(out, sum, n * sizeof *out);
}

static void matrix_mul(fr *out, const fr *a, const fr *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        matrix_apply(&out[i * n], b, &a[i * n], n, 0);
}

/* Gauss and Jordan; m is destroyed. The matrices inverted here are minors of MDS matrices, or products with
 * such: a pivot exists in every column. Returns -1 if not. */
static int matrix_invert(fr *out, fr *m, unsigned n)
{
    fr t, f;
    for (unsigned i = 0; i < n * n; i++)
        out[i] = i / n == i % n ? FR_ONE : FR_ZERO;
    for (unsigned k = 0; k < n; k++) {
        unsigned pivot = k;
        while (pivot < n && fr_is_zero(&m[pivot * n + k]))
            pivot++;
        if (pivot == n)
            return -1;
        for (unsigned j = 0; j < n && pivot != k; j++) {
            t = m[k * n + j], m[k * n + j] = m[pivot * n + j], m[pivot * n + j] = t;
            t = out[k * n + j], out[k * n + j] = out[pivot * n + j], out[pivot * n + j] = t;
        }
        fr_inv(&f, &m[k * n + k]);
        for (unsigned j = 0; j < n; j++) {
            fr_mul(&m[k * n + j], &m[k * n + j], &f);
            fr_mul(&out[k * n + j], &out[k * n + j], &f);
        }
        for (unsigned i = 0; i < n; i++) {
            f = m[i * n + k];
            for (unsigned j = 0; j < n && i != k; j++) {
                fr_mul(&t, &f, &m[k * n + j]);
                fr_sub(&m[i * n + j], &m[i * n + j], &t);
                fr_mul(&t, &f, &out[k * n + j]);
                fr_sub(&out[i * n + j], &out[i * n + j], &t);
            }
        }
    }
    return 0;
}

static void cauchy_matrix(fr *m, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++) {
            fr_from_u64(&m[i * n + j], i + j + n);
            fr_inv(&m[i * n + j], &m[i * n + j]);
        }
}

typedef fr matrix[POSEIDON_MAX_WIDTH * POSEIDON_MAX_WIDTH];

/* From the last partial round backwards: the layer M is M' M'' with M'' sparse and M' fixing the first
 * element; M' commutes with the partial S-box and joins the layer before. */
static int factor_sparse(poseidon *p)
{
    const unsigned n = p->width, h = n - 1;
    matrix current, prime, hat, hat_inverse;
    memcpy(current, p->mds, n * n * sizeof(fr));
    for (unsigned r = p->partial; r-- > 0;) {
        fr *column = &p->sparse[r * (2 * n - 1)], *row = column + n, w[POSEIDON_MAX_WIDTH];
        for (unsigned i = 0; i < h; i++) {
            for (unsigned j = 0; j < h; j++)
                hat[i * h + j] = current[(i + 1) * n + j + 1];
            w[i] = current[(i + 1) * n];
            row[i] = current[i + 1];
        }
        memset(prime, 0, n * n * sizeof(fr));
        prime[0] = FR_ONE;
        for (unsigned i = 0; i < h; i++)
            memcpy(&prime[(i + 1) * n + 1], &hat[i * h], h * sizeof(fr));
        if (matrix_invert(hat_inverse, hat, h))
            return -1;
        column[0] = current[0];
        matrix_apply(&column[1], hat_inverse, w, h, 1);
        matrix_mul(current, p->mds, prime, n);
    }
    memcpy(p->pre_sparse, current, n * n * sizeof(fr));
    return 0;
}

/* Factors of the block form, from the sparse layers: with w the first column and v the first row of a layer,
 * x_i reaches the first element of round k through the others by the sum of w_kj v_ij. */
static void mix_blocks(poseidon *p)
{
    const unsigned n = p->width, each = 2 * n - 1;
    fr *out = p->mix, t;
    for (unsigned first = 0; first < p->partial; first += POSEIDON_BLOCK) {
        const unsigned rounds = p->partial - first < POSEIDON_BLOCK ? p->partial - first : POSEIDON_BLOCK;
        const fr *layer = &p->sparse[first * each];
        for (unsigned k = 0; k < rounds; k++) {
            const fr *w = layer + k * each;
            memcpy(out, w + 1, (n - 1) * sizeof *out);
            out += n - 1;
            for (unsigned i = 0; i < k; i++, out++) {
                const fr *v = layer + i * each + n;
                *out = FR_ZERO;
                for (unsigned j = 0; j + 1 < n; j++) {
                    fr_mul(&t, &w[j + 1], &v[j]);
                    fr_add(out, out, &t);
                }
            }
            *out++ = w[0];
        }
        for (unsigned j = 0; j + 1 < n; j++)
            for (unsigned i = 0; i < rounds; i++)
                *out++ = layer[i * each + n + j];
    }
}

size_t poseidon_mix_count(const poseidon *p)
{
    size_t count = 0;
    for (unsigned r = 0; r < p->partial; r++)
        count += p->width + r % POSEIDON_BLOCK + p->width - 1;
    return count;
}

/* Keys moved behind the S-boxes of the round before; those of the partial rounds are gathered from the last
 * backwards, leaving one key a round. */
static int compress_keys(poseidon *p)
{
    const unsigned n = p->width, half = p->full / 2, last = half + p->partial;
    matrix inverse, scratch;
    fr gathered[POSEIDON_MAX_WIDTH];
    memcpy(scratch, p->mds, n * n * sizeof(fr));
    if (matrix_invert(inverse, scratch, n))
        return -1;
    fr *out = p->keys;
    memcpy(out, p->round_keys, n * sizeof(fr));
    for (unsigned r = 1; r < half; r++)
        matrix_apply(out += n, inverse, &p->round_keys[r * n], n, 1);
    fr *partial = out + 2 * n;
    memcpy(gathered, &p->round_keys[last * n], n * sizeof(fr));
    for (unsigned r = p->partial; r-- > 0;) {
        matrix_apply(gathered, inverse, gathered, n, 1);
        partial[r] = gathered[0];
        gathered[0] = FR_ZERO;
        for (unsigned i = 0; i < n; i++)
            fr_add(&gathered[i], &gathered[i], &p->round_keys[(half + r) * n + i]);
    }
    matrix_apply(out + n, inverse, gathered, n, 1);
    out = partial + p->partial;
    for (unsigned r = 1; r < half; r++, out += n)
        matrix_apply(out, inverse, &p->round_keys[(last + r) * n], n, 1);
    return 0;
}

/* ---- the set ---- */

static void domain_tag(fr *out, unsigned arity, poseidon_domain domain)
{
    /* Merkle: all arity children are present, one bit each. SnapDeals: custom type 1, shifted by 40 bits. */
    fr_from_u64(out, domain == POSEIDON_MERKLE ? (1ull << arity) - 1 : 1ull << 40);
}

static void first_element(poseidon *p)
{
    fr t, u;
    fr_add(&t, &p->tag, &p->keys[0]);
    fr_sqr(&u, &t);
    fr_sqr(&u, &u);
    fr_mul(&t, &u, &t);
    fr_add(&p->first, &t, &p->keys[p->width]);
}

static void poseidon_clear(poseidon *p)
{
    mem_free(p->keys);
    mem_free(p->lanes);
}

struct poseidon_set {
    size_t count;
    poseidon entry[8];
};

static cuzk_status poseidon_init(poseidon *p, unsigned arity, poseidon_domain domain, cuzk_error *err)
{
    const unsigned n = arity + 1;
    p->domain = domain, p->arity = arity, p->width = n;
    round_numbers(n, &p->full, &p->partial);
    const size_t keys = p->full * n + p->partial, all = (p->full + p->partial) * n,
                 sparse = p->partial * (2 * n - 1);
    const size_t total = keys + all + sparse + 2 * n * n + poseidon_mix_count(p);
    p->keys = mem_calloc(total, sizeof(fr));
    if (!p->keys)
        return mem_error(err, total * sizeof(fr), "Poseidon's constants");
    p->round_keys = p->keys + keys;
    p->sparse = p->round_keys + all;
    p->mds = p->sparse + sparse;
    p->pre_sparse = p->mds + n * n;
    p->mix = p->pre_sparse + n * n;
    grain g;
    grain_init(&g, n, p->full, p->partial);
    for (size_t i = 0; i < all; i++)
        grain_field(&g, &p->round_keys[i]);
    cauchy_matrix(p->mds, n);
    domain_tag(&p->tag, arity, domain);
    if (compress_keys(p) || factor_sparse(p))
        return cuzk_error_set(err, CUZK_UNSUPPORTED, "Poseidon's matrix of width %u is singular", n);
    mix_blocks(p);
    first_element(p);
#if defined(__x86_64__)
    if (cpu_get()->ifma && poseidon_prepare_ifma(p))
        return mem_error(err, total * sizeof(fr), "Poseidon's constants");
#endif
    return CUZK_OK;
}

cuzk_status poseidon_set_create(poseidon_set **out, cuzk_error *err)
{
    static const struct {
        unsigned arity;
        poseidon_domain domain;
    } wanted[] = {{1, POSEIDON_MERKLE},  {2, POSEIDON_MERKLE},  {4, POSEIDON_MERKLE},  {8, POSEIDON_MERKLE},
                  {11, POSEIDON_MERKLE}, {16, POSEIDON_MERKLE}, {2, POSEIDON_SNAP_GEN}};
    cuzk_status status = CUZK_OK;
    poseidon_set *s = mem_calloc(1, sizeof *s);
    if (!s)
        return mem_error(err, sizeof *s, "Poseidon's constants");
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && status == CUZK_OK; i++) {
        s->count = i + 1;
        status = poseidon_init(&s->entry[i], wanted[i].arity, wanted[i].domain, err);
    }
    if (status != CUZK_OK) {
        poseidon_set_destroy(s);
        return status;
    }
    *out = s;
    return CUZK_OK;
}

void poseidon_set_destroy(poseidon_set *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++)
        poseidon_clear(&s->entry[i]);
    mem_free(s);
}

const poseidon *poseidon_get(const poseidon_set *s, unsigned arity, poseidon_domain domain)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->entry[i].arity == arity && s->entry[i].domain == domain)
            return &s->entry[i];
    return NULL;
}
