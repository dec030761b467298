/* Poseidon for eight preimages at once with AVX-512 IFMA: lane i of every vector belongs to hash i.
 *
 * A field element is five limbs of 52 bits. The state keeps blst's Montgomery factor 2^256, so that what the
 * witness records needs no conversion but repacking; products are reduced by 2^260, which is made up for by
 * constants that carry 2^260, and in the S-box by shifting one factor by four bits. Sums of products are
 * reduced once. Ranges, in units of r: what is recorded, and every input of an S-box, is below 1; a sum of at
 * most 20 products of constants (below 1) and states (below 1.5) is below 2 when reduced. */
#if defined(__x86_64__)
#include "base/mem.h"
#include "gadgets/poseidon_private.h"
#include <immintrin.h>

typedef __m512i vec;
typedef struct element {
    vec l[5];
} element;
/* Columns of a product: lo[k] counts 2^(52 k), hi[k] counts 2^(52 (k + 1)); apart, so that the chains of
 * additions are short. */
typedef struct columns {
    vec lo[9], hi[9];
} columns;
typedef uint64_t limbs[5];

struct lanes {
    limbs first;
    limbs *keys, *mds, *pre_sparse, *mix;
};

#define LIMB        52
#define LIMB_MASK   ((1ull << LIMB) - 1)
#define INLINE      static inline __attribute__((always_inline))
#define LO(c, a, b) _mm512_madd52lo_epu64(c, a, b)
#define HI(c, a, b) _mm512_madd52hi_epu64(c, a, b)

static const limbs MODULUS = {0xfffff00000001, 0x2fffe5bfefff, 0x9a1d80553bda4, 0x7d483339d8080,
                              0x73eda753299d};

INLINE vec broadcast(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

INLINE element constant(const limbs c)
{
    return (element){{broadcast(c[0]), broadcast(c[1]), broadcast(c[2]), broadcast(c[3]), broadcast(c[4])}};
}

INLINE vec low(vec a)
{
    return _mm512_and_si512(a, broadcast(LIMB_MASK));
}

/* ---- products ---- */

#define PAIR(i, j)                                                                                           \
    c->lo[i + j] = LO(c->lo[i + j], a->l[i], b->l[j]), c->hi[i + j] = HI(c->hi[i + j], a->l[i], b->l[j])
#define ROW(i) PAIR(i, 0), PAIR(i, 1), PAIR(i, 2), PAIR(i, 3), PAIR(i, 4)

INLINE void columns_clear(columns *c)
{
    const vec z = _mm512_setzero_si512();
    *c = (columns){{z, z, z, z, z, z, z, z, z}, {z, z, z, z, z, z, z, z, z}};
}

INLINE void accumulate(columns *c, const element *a, const element *b)
{
    ROW(0), ROW(1), ROW(2), ROW(3), ROW(4);
}

/* Mixed products once and doubled, then the squares. */
INLINE void accumulate_square(columns *c, const element *a)
{
    const element *b = a;
    PAIR(0, 1), PAIR(0, 2), PAIR(0, 3), PAIR(0, 4), PAIR(1, 2);
    PAIR(1, 3), PAIR(1, 4), PAIR(2, 3), PAIR(2, 4), PAIR(3, 4);
#define DOUBLE(k) c->lo[k] = _mm512_slli_epi64(c->lo[k], 1), c->hi[k] = _mm512_slli_epi64(c->hi[k], 1)
    DOUBLE(1), DOUBLE(2), DOUBLE(3), DOUBLE(4), DOUBLE(5), DOUBLE(6), DOUBLE(7);
#undef DOUBLE
    PAIR(0, 0), PAIR(1, 1), PAIR(2, 2), PAIR(3, 3), PAIR(4, 4);
}

/* ---- reduction ---- */

/* One limb of the Montgomery reduction: r = 1 - 2^32 mod 2^52, so the factor needs no multiplication. */
#define STEP(t0, t1, t2, t3, t4, t5)                                                                         \
    do {                                                                                                     \
        vec q = _mm512_add_epi64(t0, _mm512_slli_epi64(t0, 32));                                             \
        q = low(_mm512_sub_epi64(_mm512_setzero_si512(), q));                                                \
        t0 = LO(t0, q, m.l[0]);                                                                              \
        t1 = LO(HI(t1, q, m.l[0]), q, m.l[1]);                                                               \
        t2 = LO(HI(t2, q, m.l[1]), q, m.l[2]);                                                               \
        t3 = LO(HI(t3, q, m.l[2]), q, m.l[3]);                                                               \
        t4 = LO(HI(t4, q, m.l[3]), q, m.l[4]);                                                               \
        t5 = HI(t5, q, m.l[4]);                                                                              \
        t1 = _mm512_add_epi64(t1, _mm512_srli_epi64(t0, LIMB));                                              \
    } while (0)

/* Carries, signed, into limbs 1 to 4; the last keeps what it has. */
INLINE void carry(element *a)
{
#define CARRY(i)                                                                                             \
    a->l[i + 1] = _mm512_add_epi64(a->l[i + 1], _mm512_srai_epi64(a->l[i], LIMB)), a->l[i] = low(a->l[i])
    CARRY(0), CARRY(1), CARRY(2), CARRY(3);
#undef CARRY
}

/* a - r where that is not negative. a has proper limbs. */
INLINE void subtract_once(element *a)
{
    const element m = constant(MODULUS);
    element d;
#define SUB(i) d.l[i] = _mm512_sub_epi64(a->l[i], m.l[i])
    SUB(0), SUB(1), SUB(2), SUB(3), SUB(4);
#undef SUB
    carry(&d);
    const __mmask8 negative = _mm512_movepi64_mask(d.l[4]);
#define KEEP(i) a->l[i] = _mm512_mask_blend_epi64(negative, d.l[i], a->l[i])
    KEEP(0), KEEP(1), KEEP(2), KEEP(3), KEEP(4);
#undef KEEP
}

/* (columns / 2^260 + plus) mod r, up to the given number of subtractions; plus may be NULL. */
INLINE element reduce(const columns *c, const element *plus, int subtractions)
{
    const element m = constant(MODULUS);
#define COLUMN(k) _mm512_add_epi64(c->lo[k], c->hi[k - 1])
    vec t0 = c->lo[0], t1 = COLUMN(1), t2 = COLUMN(2), t3 = COLUMN(3), t4 = COLUMN(4), t5 = COLUMN(5);
    vec t6 = COLUMN(6), t7 = COLUMN(7), t8 = COLUMN(8), t9 = c->hi[8];
#undef COLUMN
    STEP(t0, t1, t2, t3, t4, t5);
    STEP(t1, t2, t3, t4, t5, t6);
    STEP(t2, t3, t4, t5, t6, t7);
    STEP(t3, t4, t5, t6, t7, t8);
    STEP(t4, t5, t6, t7, t8, t9);
    element out = {{t5, t6, t7, t8, t9}};
    if (plus) {
#define ADD(i) out.l[i] = _mm512_add_epi64(out.l[i], plus->l[i])
        ADD(0), ADD(1), ADD(2), ADD(3), ADD(4);
#undef ADD
    }
    carry(&out);
    for (int i = 0; i < subtractions; i++)
        subtract_once(&out);
    return out;
}

/* 16 a: makes a product of two states come out with the right Montgomery factor. a < 2^256. */
INLINE element times_16(const element *a)
{
#define UP(i)   _mm512_slli_epi64(a->l[i], 4)
#define FROM(i) _mm512_srli_epi64(a->l[i], LIMB - 4)
    return (element){{low(UP(0)), low(_mm512_or_si512(UP(1), FROM(0))), low(_mm512_or_si512(UP(2), FROM(1))),
                      low(_mm512_or_si512(UP(3), FROM(2))), _mm512_or_si512(UP(4), FROM(3))}};
#undef UP
#undef FROM
}

INLINE element add(const element *a, const element *b)
{
    element s;
#define ADD(i) s.l[i] = _mm512_add_epi64(a->l[i], b->l[i])
    ADD(0), ADD(1), ADD(2), ADD(3), ADD(4);
#undef ADD
    carry(&s);
    subtract_once(&s);
    return s;
}

/* a^2 with a's Montgomery factor: the columns are those of a * a, shifted by four bits before the reduction.
 */
INLINE element square(const element *a)
{
    columns c;
    columns_clear(&c);
    accumulate_square(&c, a);
#define UP(k) c.lo[k] = _mm512_slli_epi64(c.lo[k], 4), c.hi[k] = _mm512_slli_epi64(c.hi[k], 4)
    UP(0), UP(1), UP(2), UP(3), UP(4), UP(5), UP(6), UP(7), UP(8);
#undef UP
    return reduce(&c, NULL, 1);
}

INLINE element multiply_add(const element *a, const element *b, const element *plus)
{
    columns c;
    const element shifted = times_16(b);
    columns_clear(&c);
    accumulate(&c, a, &shifted);
    return reduce(&c, plus, plus ? 2 : 1);
}

/* ---- memory ---- */

INLINE element load(const fr *in, size_t stride)
{
    const vec at = _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), broadcast(4 * stride));
#define WORD(k) _mm512_i64gather_epi64(at, (const long long *)in + k, 8)
    const vec w0 = WORD(0), w1 = WORD(1), w2 = WORD(2), w3 = WORD(3);
#undef WORD
#define JOIN(a, right, b, left) low(_mm512_or_si512(_mm512_srli_epi64(a, right), _mm512_slli_epi64(b, left)))
    return (element){{low(w0), JOIN(w0, 52, w1, 12), JOIN(w1, 40, w2, 24), JOIN(w2, 28, w3, 36),
                      _mm512_srli_epi64(w3, 16)}};
#undef JOIN
}

/* One element for each hash, at position of eight arrays. */
INLINE void store(fr *const out[8], size_t position, const element *a)
{
#define JOIN(x, right, y, left) _mm512_or_si512(_mm512_srli_epi64(x, right), _mm512_slli_epi64(y, left))
    const vec w0 = JOIN(a->l[0], 0, a->l[1], 52), w1 = JOIN(a->l[1], 12, a->l[2], 40);
    const vec w2 = JOIN(a->l[2], 24, a->l[3], 28), w3 = JOIN(a->l[3], 36, a->l[4], 16);
#undef JOIN
    const vec even_low = _mm512_unpacklo_epi64(w0, w1), odd_low = _mm512_unpackhi_epi64(w0, w1);
    const vec even_high = _mm512_unpacklo_epi64(w2, w3), odd_high = _mm512_unpackhi_epi64(w2, w3);
#define PUT(lane, half, v, k)                                                                                \
    _mm_storeu_si128((__m128i *)&out[lane][position].l[2 * half], _mm512_extracti64x2_epi64(v, k))
#define PUT_PAIR(k)                                                                                          \
    PUT(2 * k, 0, even_low, k), PUT(2 * k, 1, even_high, k), PUT(2 * k + 1, 0, odd_low, k),                  \
        PUT(2 * k + 1, 1, odd_high, k)
    PUT_PAIR(0), PUT_PAIR(1), PUT_PAIR(2), PUT_PAIR(3);
#undef PUT_PAIR
#undef PUT
}

/* ---- the permutation ---- */

typedef struct run {
    const struct lanes *k;
    unsigned n;
    fr *record[8]; /* where the next wire goes; unused without recording */
    size_t wires;
    element state[POSEIDON_MAX_WIDTH];
} run;

INLINE void record(run *r, const element *v, int recording)
{
    if (recording)
        store(r->record, r->wires++, v);
}

INLINE void s_box(run *r, unsigned i, const limbs *before, const limbs *after, int recording)
{
    element base = r->state[i];
    if (before) {
        const element key = constant(*before);
        base = add(&base, &key);
    } else {
        record(r, &base, recording);
    }
    const element second = square(&base);
    record(r, &second, recording);
    const element fourth = square(&second);
    record(r, &fourth, recording);
    if (after) {
        const element key = constant(*after);
        r->state[i] = multiply_add(&fourth, &base, &key);
    } else {
        r->state[i] = multiply_add(&fourth, &base, NULL);
    }
    record(r, &r->state[i], recording);
}

/* The state times column j of a matrix whose rows are n long (n = 1: a column alone). */
INLINE element dot(const run *r, const limbs *column, size_t stride)
{
    columns c;
    columns_clear(&c);
    for (unsigned i = 0; i < r->n; i++) {
        const element k = constant(column[i * stride]);
        accumulate(&c, &r->state[i], &k);
    }
    return reduce(&c, NULL, 1);
}

static void layer_dense(run *r, const limbs *m)
{
    element out[POSEIDON_MAX_WIDTH];
    for (unsigned j = 0; j < r->n; j++)
        out[j] = dot(r, m + j, r->n);
    memcpy(r->state, out, r->n * sizeof *out);
}

/* A block of partial rounds, as in poseidon_rounds.h. The elements without an S-box grow by 0.03 a round at
 * most; tidy brings them below 1 again. */
INLINE const limbs *partial_block(run *r, const limbs *mix, const limbs *key, unsigned rounds, int tidy,
                                  int recording)
{
    element x[POSEIDON_BLOCK];
    for (unsigned k = 0; k < rounds; k++) {
        s_box(r, 0, NULL, key++, recording);
        x[k] = r->state[0];
        columns c;
        columns_clear(&c);
        for (unsigned j = 1; j < r->n; j++) {
            const element f = constant(*mix++);
            accumulate(&c, &r->state[j], &f);
        }
        for (unsigned i = 0; i <= k; i++) {
            const element f = constant(*mix++);
            accumulate(&c, &x[i], &f);
        }
        r->state[0] = reduce(&c, NULL, 1);
    }
    for (unsigned j = 1; j < r->n; j++) {
        columns c;
        columns_clear(&c);
        for (unsigned i = 0; i < rounds; i++) {
            const element f = constant(*mix++);
            accumulate(&c, &x[i], &f);
        }
        r->state[j] = reduce(&c, &r->state[j], 1);
        if (tidy)
            subtract_once(&r->state[j]);
    }
    return mix;
}

INLINE void permute(run *r, const poseidon *p, const fr *in, int recording)
{
    const unsigned n = p->width, half = p->full / 2;
    const struct lanes *k = r->k;
    const limbs *key = k->keys + 2 * n;
    r->n = n;
    r->state[0] = constant(k->first);
    for (unsigned i = 1; i < n; i++) {
        r->state[i] = load(in + i - 1, p->arity);
        s_box(r, i, &k->keys[i], &k->keys[n + i], recording);
    }
    layer_dense(r, k->mds);
    for (unsigned round = 1; round < half; round++) {
        for (unsigned i = 0; i < n; i++)
            s_box(r, i, NULL, key++, recording);
        layer_dense(r, round == half - 1 ? k->pre_sparse : k->mds);
    }
    const limbs *mix = k->mix;
    for (unsigned done = 0, rounds; done < p->partial; done += rounds, key += rounds) {
        rounds = p->partial - done < POSEIDON_BLOCK ? p->partial - done : POSEIDON_BLOCK;
        const int tidy = done % 16 == 12 || done + rounds == p->partial;
        mix = partial_block(r, mix, key, rounds, tidy, recording);
    }
    for (unsigned round = 0; round < half; round++) {
        const int last = round == half - 1;
        for (unsigned i = 0; i < n; i++)
            if (last)
                s_box(r, i, NULL, NULL, recording);
            else
                s_box(r, i, NULL, key++, recording);
        layer_dense(r, k->mds);
    }
    record(r, &r->state[1], recording);
}

static void permute_recording(run *r, const poseidon *p, const fr *in)
{
    permute(r, p, in, 1);
}

static void permute_only(run *r, const poseidon *p, const fr *in)
{
    permute(r, p, in, 0);
}

void poseidon_permute_ifma(fr *const record_at[8], const poseidon *p, const fr *in, fr *out)
{
    run r;
    fr *lane[8];
    r.k = p->lanes;
    r.wires = 0;
    for (int i = 0; i < 8; i++)
        lane[i] = out + i;
    if (record_at) {
        memcpy(r.record, record_at, sizeof r.record);
        permute_recording(&r, p, in);
    } else {
        permute_only(&r, p, in);
    }
    store(lane, 0, &r.state[1]);
}

/* ---- constants ---- */

static void split(limbs out, const fr *a)
{
    const uint64_t *w = a->l;
    out[0] = w[0] & LIMB_MASK;
    out[1] = (w[0] >> 52 | w[1] << 12) & LIMB_MASK;
    out[2] = (w[1] >> 40 | w[2] << 24) & LIMB_MASK;
    out[3] = (w[2] >> 28 | w[3] << 36) & LIMB_MASK;
    out[4] = w[3] >> 16;
}

/* With the Montgomery factor 2^260. */
static void split_factors(limbs *out, const fr *a, size_t n)
{
    fr sixteen, t;
    fr_from_u64(&sixteen, 16);
    for (size_t i = 0; i < n; i++) {
        fr_mul(&t, &a[i], &sixteen);
        split(out[i], &t);
    }
}

int poseidon_prepare_ifma(poseidon *p)
{
    const size_t n = p->width, keys = p->full * n + p->partial, mix = poseidon_mix_count(p);
    struct lanes *k = mem_alloc(sizeof *k + (keys + 2 * n * n + mix) * sizeof(limbs));
    if (!k)
        return -1;
    k->keys = (limbs *)(k + 1);
    k->mds = k->keys + keys;
    k->pre_sparse = k->mds + n * n;
    k->mix = k->pre_sparse + n * n;
    split(k->first, &p->first);
    for (size_t i = 0; i < keys; i++)
        split(k->keys[i], &p->keys[i]);
    split_factors(k->mds, p->mds, n * n);
    split_factors(k->pre_sparse, p->pre_sparse, n * n);
    split_factors(k->mix, p->mix, mix);
    p->lanes = k;
    return 0;
}
#endif
