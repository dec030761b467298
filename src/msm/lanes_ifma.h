/* Affine additions, eight at a time, in batches that share one inversion. Template, included by
 * g1_form_ifma.h and msm_g2_ifma.c, which define the element fe (FE_PARTS vectors of fp52; FE_STRICT: factors
 * must be strict) and its products, and the names of the group's operations. The other templates follow:
 * lists_ifma.h, subset_ifma.h, windows_ifma.h, sum_ifma.h.
 *
 * A batch is up to LANES or LANES_MOST running sums; a round adds at most one point to each of them. Sums are
 * kept limb by limb
 * ("lanes", no transposition), points are rows of limbs that are gathered. With nx = -x and ny = -y of the
 * sum and (x2, y2) the point:
 *
 *     d = x2 + nx             lambda = (y2 + ny) / d
 *     nx' = d - 2 nx - lambda^2       ny' = lambda (nx - nx') - ny
 *
 * The first pass multiplies up the d of a round, one inversion follows, the second pass goes backwards. A
 * product that is 0 reveals equal or opposite points: those lanes are then finished one by one and the first
 * pass is repeated, so that the ordinary case pays nothing for them.
 *
 * Coordinates. Two products are short (fp52.h): the inverse of d, which only meets the numerator, and the
 * square of lambda. With x kept as x 2^a, lambda as lambda 2^g, y as y 2^b, the formulas ask for 2 g - 364 =
 * a and g + a - 416 = b, so b = 3 a / 2 - 234. blst holds x 2^384 mod p: its words shifted left by 28 bits,
 * unreduced, give a = 412, and b is 384: y is what blst holds, and bases need no conversion. g is then 388,
 * which it becomes where the inverse of a product v, as a number, is 2^780 / v.
 *
 * Bounds, in multiples of p: products < 9 (G2: 10), short ones < L2 = 20^2 p / 2^364 + 9, about 2^25.3, since
 * their factors are such products or (G2) sums of two. Point x < 2^28, the third turn of it, T - x - w x with
 * T = 2^28 + 10, at most T, y < 5; sum nx < N = T + L2 + 2, ny < 11; d < T + N; X_ADD is N + L2 rounded down.
 * Factors are below 2 N p < 2^410. One conditional subtraction keeps each sum: nx' before it < T + N + L2,
 * after it < max(S, T + N + L2 - S) + 1/1000 with S = N - 1. N - 2^27 < 2^28: another one makes a point of a
 * sum. */

#define FE_LIMBS (8 * FE_PARTS)
#define LANES    1536
#define GROUPS   (LANES / 8)
/* Lists of points take more at once, most where the second-level cache has room for them. */
#define LANES_LISTS 1792
#define LANES_MOST  2560
#define GROUPS_MOST (LANES_MOST / 8)
#define LANES_L2    ((size_t)2 << 20)
#define AHEAD       4 /* groups between a prefetch to the first-level cache and the use */

struct point52 {
    uint64_t x[FE_LIMBS], y[FE_LIMBS]; /* strict limbs */
} __attribute__((aligned(64)));
typedef struct point52 point52;

/* One coordinate. */
typedef struct fe_rows {
    uint64_t l[FE_LIMBS];
} __attribute__((aligned(64))) fe_rows;

/* What a round gathers: bit 0 negates, the rest counts coordinates up to the x of the point. Points are rows
 * {x, y} or quads {x, y, w x, w^2 x}, w the endomorphism: y follows what (reference & y_at) leads to. As
 * often as can be it lies beside the x, so that what the processor fetches unasked is of use. */
#define REF_NEGATE  1u
#define ROW_Y       ~3u
#define QUAD_Y      ~7u
#define QUAD        4 /* coordinates */
#define ROW_REF(i)  ((uint32_t)(i) << 2)
#define QUAD_REF(i) ((uint32_t)(i) << 3)
/* In the first row of a batch: a row of the destination, whose sum goes on. */
#define REF_SUM 0x80000000u

typedef struct lanes {
    fe nx[GROUPS_MOST], ny[GROUPS_MOST]; /* the sums, negated */
    fe d[GROUPS_MOST], before[GROUPS_MOST];
    uint8_t live[GROUPS_MOST];     /* lanes that take a point in this round */
    uint8_t skip[GROUPS_MOST];     /* lanes already finished in this round */
    uint8_t infinite[GROUPS_MOST]; /* lanes whose sum is the point at infinity */
    int any_infinite;
    const uint64_t *points;
    uint32_t y_at;
    uint32_t none;       /* the reference that stands for "no point"; it names a valid one */
    const AFFINE *bases; /* NULL, or what references count, without a sign, instead of points */
} __attribute__((aligned(64))) lanes;

/* r = a b, a factor. Out of line: one copy of the multiplier in the instruction and operation caches. */
static __attribute__((noinline)) void fe_mul(fe *r, const fe *a, const fe *b)
{
    fe t;
    FE_MUL_FILL(&t, a, b, FE_LIFT, FP52_FULL, NULL, NULL);
    fe_carry_factor(&t);
    *r = t;
}
static __attribute__((noinline)) void fe_mul_short(fe *r, const fe *a, const fe *b)
{
    fe t;
    FE_MUL_FILL(&t, a, b, FE_SHORT_LIFT, FP52_SHORT, NULL, NULL);
    fe_carry_factor(&t);
    *r = t;
}

FP52_INLINE void fe_carry(fe *r)
{
    FP52_UNROLL for (int h = 0; h < FE_PARTS; h++) fp52_carry((fp52 *)&r->l[8 * h]);
}

/* r -= m where r >= m + (a part of p), by the top limb; open limbs below 2^57. */
FP52_INLINE void fe_sub_if_above(fe *r, const uint64_t m[8])
{
    FP52_UNROLL for (int h = 0; h < FE_PARTS; h++)
    {
        __mmask8 above = _mm512_cmpgt_epi64_mask(r->l[8 * h + 7], v8_set1(m[7] + 64));
        FP52_UNROLL for (int i = 8 * h; i < 8 * h + 8; i++) r->l[i] =
            _mm512_mask_sub_epi64(r->l[i], above, r->l[i], v8_set1(m[i & 7]));
    }
}

FP52_INLINE const uint64_t *x_of(const lanes *s, uint32_t ref)
{
    return s->points + (size_t)(ref & ~REF_NEGATE) * (FE_LIMBS / 2);
}
FP52_INLINE const uint64_t *y_of(const lanes *s, uint32_t ref)
{
    return s->points + (size_t)(ref & s->y_at) * (FE_LIMBS / 2) + FE_LIMBS;
}

/* Coordinates of a base, in the order of memory: x and y, or the parts of x and those of y. */
FP52_INLINE const fp *base_coordinate(const AFFINE *a, int second)
{
    return (const fp *)a + (second ? FE_PARTS : 0);
}
FP52_INLINE v8 base_slice(const AFFINE *a, int second, int h)
{
    return fp52_slice(base_coordinate(a, second) + h, second ? 0 : 28);
}

FP52_INLINE const uint64_t *coordinate_of(const lanes *s, uint32_t ref, int second)
{
    return second ? y_of(s, ref) : x_of(s, ref);
}

/* Limbs `at` to at + 3, at = 0, 4, .., of a coordinate of eight points, one point a lane. Halves of rows go
 * to their places as they are loaded, which leaves two steps of a transposition. */
FP52_INLINE void gather_four(v8 r[4], const lanes *s, const uint32_t ref[8], int second, int at)
{
    v8 pair[4];
    FP52_UNROLL for (int i = 0; i < 4; i++)
    {
        const int l = (i & 1) + 2 * (i & 2); /* rows 0 and 2, 1 and 3, 4 and 6, 5 and 7 */
        const uint64_t *low = coordinate_of(s, ref[l], second) + at,
                       *high = coordinate_of(s, ref[l + 2], second) + at;
        pair[i] = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_load_si256((const __m256i *)low)),
                                     _mm256_load_si256((const __m256i *)high), 1);
    }
    v8 even0 = _mm512_unpacklo_epi64(pair[0], pair[1]), odd0 = _mm512_unpackhi_epi64(pair[0], pair[1]);
    v8 even1 = _mm512_unpacklo_epi64(pair[2], pair[3]), odd1 = _mm512_unpackhi_epi64(pair[2], pair[3]);
    r[0] = _mm512_shuffle_i64x2(even0, even1, 0x88), r[1] = _mm512_shuffle_i64x2(odd0, odd1, 0x88);
    r[2] = _mm512_shuffle_i64x2(even0, even1, 0xdd), r[3] = _mm512_shuffle_i64x2(odd0, odd1, 0xdd);
}

/* The same of bases: all limbs. */
FP52_INLINE void gather_bases(fe *r, const lanes *s, const uint32_t ref[8], int second)
{
    FP52_UNROLL for (int h = 0; h < FE_PARTS; h++)
    {
        FP52_UNROLL for (int l = 0; l < 8; l++) r->l[8 * h + l] = base_slice(&s->bases[ref[l]], second, h);
        v8_transpose(&r->l[8 * h]);
    }
}

FP52_INLINE __mmask8 negated(const uint32_t ref[8])
{
    return _mm256_test_epi32_mask(_mm256_loadu_si256((const __m256i *)ref), _mm256_set1_epi32(REF_NEGATE));
}

FP52_INLINE void prefetch_coordinate(const uint64_t *at, int far)
{
    FP52_UNROLL for (int h = 0; h < FE_PARTS; h++)
    {
        if (far)
            _mm_prefetch((const char *)(at + 8 * h), _MM_HINT_T1);
        else
            _mm_prefetch((const char *)(at + 8 * h), _MM_HINT_T0);
    }
}

/* Bytes first .. last of a base. */
FP52_INLINE void prefetch_base(const AFFINE *a, size_t first, size_t last, int far)
{
    FP52_UNROLL for (size_t i = 0; i <= (last - first + 63) / 64; i++)
    {
        const char *at = (const char *)a + (first + 64 * i < last ? first + 64 * i : last);
        if (far)
            _mm_prefetch(at, _MM_HINT_T1);
        else
            _mm_prefetch(at, _MM_HINT_T0);
    }
}

/* A coordinate to the first-level cache. */
FP52_INLINE void prefetch_near(const lanes *s, uint32_t ref, int second, int direct)
{
    const size_t half = sizeof(AFFINE) / 2;
    if (direct)
        prefetch_base(&s->bases[ref], second ? half : 0, second ? 2 * half - 1 : half - 1, 0);
    else
        prefetch_coordinate(coordinate_of(s, ref, second), 0);
}

/* Two points' x of the next row to the second-level cache, and two points' y, soon to be used, to the first.
 * A few at a time, between products, since all that a core can wait for at once is a dozen lines or so, and
 * what finds no place holds up everything behind it; not in the first pass, which is too short for that. */
FP52_INLINE void fetch_two(const lanes *s, const uint32_t *next, const uint32_t *near, int direct)
{
    FP52_UNROLL for (int i = 0; i < 2; i++)
    {
        if (direct)
            prefetch_base(&s->bases[next[i]], 0, sizeof(AFFINE) - 1, 1);
        else
            prefetch_coordinate(x_of(s, next[i]), 1);
        prefetch_near(s, near[i], 1, direct);
    }
}

/* What the first groups of a second pass would wait for: y of the last groups of a row. */
static void fetch_last(const lanes *s, const uint32_t *ref, size_t groups)
{
    for (size_t i = groups > AHEAD + 1 ? 8 * (groups - AHEAD - 1) : 0; i < 8 * groups; i++)
        prefetch_near(s, ref[i], 1, s->bases != NULL);
}

static void point_in(point52 *r, const AFFINE *a)
{
    for (int h = 0; h < FE_PARTS; h++) {
        _mm512_store_si512(r->x + 8 * h, base_slice(a, 0, h));
        _mm512_store_si512(r->y + 8 * h, base_slice(a, 1, h));
    }
}

/* The point that a reference names. */
static void point_at(AFFINE *a, const lanes *s, uint32_t ref)
{
    point52 p;
    if (s->bases) {
        *a = s->bases[ref];
        return;
    }
    memcpy(p.x, x_of(s, ref), sizeof p.x);
    memcpy(p.y, y_of(s, ref), sizeof p.y);
    point_out(a, &p);
    if (ref & REF_NEGATE)
        COORD_NEG(&a->y, &a->y);
}

/* The steps of an addition that are not products, the gathering of points among them. Each works limb by limb
 * (i), so that it can be spread over the product of another group: alone they leave the multiplier idle, and
 * the processor does not look far enough ahead to overlap them by itself. */
typedef struct step {
    fe inverse, lambda, square, e;
    __mmask8 live, neg;
    lanes *s;
    size_t g;             /* the group */
    const uint32_t *ref;  /* of its points */
    const uint32_t *near; /* of those whose x is fetched */
} step;

/* A step under way. What goes from limb to limb stays in registers: a store takes a port that multiply-adds
 * need for their sums (Zen 4: four among sixteen multiply-adds take six cycles more). */
typedef struct filling {
    step *t;
    v8 limb[4];       /* gathered */
    v8 carry, carry2; /* into the next limb */
    __mmask8 above;
    fe bases; /* gathered, where they are bases */
} filling;

/* Limb i of the points. */
FP52_INLINE v8 fill_gather(filling *f, int i, int second, int direct)
{
    const step *t = f->t;
    if (direct) {
        if (!i)
            gather_bases(&f->bases, t->s, t->ref, second);
        return f->bases.l[i];
    }
    if (!(i & 3))
        gather_four(f->limb, t->s, t->ref, second, i);
    return f->limb[i & 3];
}

/* d = x2 + nx, strict. */
FP52_INLINE void fill_d_of(filling *f, int i, int direct)
{
    step *t = f->t;
    fe *d = &t->s->d[t->g];
    v8 x = V8_ADD(fill_gather(f, i, 0, direct), t->s->nx[t->g].l[i]);
    if (i & 7)
        x = V8_ADD(x, f->carry);
    f->carry = V8_SRL(x, 52);
    d->l[i] = (i & 7) < 7 ? v8_mask52(x) : x;
    if (i < 8)
        prefetch_near(t->s, t->near[i], 0, direct);
}
FP52_INLINE void fill_d(void *ctx, int i)
{
    fill_d_of(ctx, i, 0);
}
FP52_INLINE void fill_d_direct(void *ctx, int i)
{
    fill_d_of(ctx, i, 1);
}

/* lambda's numerator y2 + ny, a factor. */
FP52_INLINE void fill_numerator_of(filling *f, int i, int direct)
{
    step *t = f->t;
    v8 y2 = fill_gather(f, i, 1, direct);
    v8 y = _mm512_mask_sub_epi64(y2, t->neg, v8_set1(fp52_table(FP52_Y_NEG)[i & 7]), y2);
    y = V8_ADD(y, t->s->ny[t->g].l[i]);
    if (i & 7)
        y = V8_ADD(y, f->carry);
    f->carry = V8_SRA(y, 52);
    t->lambda.l[i] = FE_STRICT && (i & 7) < 7 ? v8_mask52(y) : y;
}
FP52_INLINE void fill_numerator(void *ctx, int i)
{
    fill_numerator_of(ctx, i, 0);
}
FP52_INLINE void fill_numerator_direct(void *ctx, int i)
{
    fill_numerator_of(ctx, i, 1);
}

/* The new x from square = lambda^2 - X_ADD, and the factor e of lambda for the new y. */
FP52_INLINE void fill_x(void *ctx, int i)
{
    filling *f = ctx;
    step *t = f->t;
    lanes *s = t->s;
    v8 nx = s->nx[t->g].l[i], n, e;
    n = V8_SUB(V8_SUB(s->d[t->g].l[i], V8_ADD(nx, nx)), t->square.l[i]);
    if (!(i & 7)) {
        v8 top = s->nx[t->g].l[i | 7];
        top = V8_SUB(V8_SUB(s->d[t->g].l[i | 7], V8_ADD(top, top)), t->square.l[i | 7]);
        f->above = _mm512_cmpgt_epi64_mask(top, v8_set1(FP52_X_SUB[7] + 64));
    }
    n = _mm512_mask_sub_epi64(n, f->above, n, v8_set1(fp52_table(FP52_X_SUB)[i & 7]));
    if (i & 7)
        n = V8_ADD(n, f->carry);
    if ((i & 7) < 7) {
        f->carry = V8_SRA(n, 52);
        n = v8_mask52(n);
    }
    e = V8_ADD(V8_SUB(nx, n), v8_set1(fp52_table(FP52_X_BOUND)[i & 7]));
    if (i & 7)
        e = V8_ADD(e, f->carry2);
    f->carry2 = V8_SRA(e, 52);
    t->e.l[i] = FE_STRICT && (i & 7) < 7 ? v8_mask52(e) : e;
    _mm512_mask_store_epi64(&s->nx[t->g].l[i], t->live, n);
}

/* The new y from square = lambda e + Y_ADD. */
FP52_INLINE void fill_y(void *ctx, int i)
{
    filling *f = ctx;
    step *t = f->t;
    lanes *s = t->s;
    v8 n = V8_SUB(t->square.l[i], s->ny[t->g].l[i]);
    if (!(i & 7)) {
        v8 top = V8_SUB(t->square.l[i | 7], s->ny[t->g].l[i | 7]);
        f->above = _mm512_cmpgt_epi64_mask(top, v8_set1(FP52_Y_SUB[7] + 64));
    }
    n = _mm512_mask_sub_epi64(n, f->above, n, v8_set1(fp52_table(FP52_Y_SUB)[i & 7]));
    if (i & 7)
        n = V8_ADD(n, f->carry);
    if ((i & 7) < 7) {
        f->carry = V8_SRA(n, 52);
        n = v8_mask52(n);
    }
    _mm512_mask_store_epi64(&s->ny[t->g].l[i], t->live, n);
}

FP52_INLINE void run_fill(fp52_fill *fill, step *t)
{
    filling f;
    f.t = t;
    FP52_UNROLL for (int i = 0; i < FE_LIMBS; i++) fill(&f, i);
}

/* r = a b, a factor, with the filling of t in between. */
#define DEFINE_MUL_FILL(name, lift, limbs, fill)                                                             \
    static __attribute__((noinline)) void name(fe *r, const fe *a, const fe *b, step *t)                     \
    {                                                                                                        \
        fe x;                                                                                                \
        filling f;                                                                                           \
        f.t = t;                                                                                             \
        FE_MUL_FILL(&x, a, b, lift, limbs, fill, &f);                                                        \
        fe_carry_factor(&x);                                                                                 \
        *r = x;                                                                                              \
    }
DEFINE_MUL_FILL(mul_with_d, FE_LIFT, FP52_FULL, fill_d)
DEFINE_MUL_FILL(mul_with_d_direct, FE_LIFT, FP52_FULL, fill_d_direct)
DEFINE_MUL_FILL(mul_with_numerator, FE_LIFT, FP52_FULL, fill_numerator)
DEFINE_MUL_FILL(mul_with_numerator_direct, FE_LIFT, FP52_FULL, fill_numerator_direct)
DEFINE_MUL_FILL(mul_short_with_y, FE_SHORT_LIFT, FP52_SHORT, fill_y)

/* What fill_x and fill_y take as square: a^2 - X_ADD, and a b + Y_ADD. */
static __attribute__((noinline)) void sqr_for_x(fe *r, const fe *a)
{
    FE_SQR_FILL(r, a, FE_X_LESS, FP52_SHORT, NULL, NULL);
}
static __attribute__((noinline)) void mul_for_y(fe *r, const fe *a, const fe *b)
{
    FE_MUL_FILL(r, a, b, FE_Y_LIFT, FP52_FULL, NULL, NULL);
}
static __attribute__((noinline)) void sqr_for_x_with_x(fe *r, const fe *a, step *t)
{
    filling f;
    f.t = t;
    FE_SQR_FILL(r, a, FE_X_LESS, FP52_SHORT, fill_x, &f);
}

/* The products of all d, each stored before its own is multiplied in, in two chains (even and odd groups). */
FP52_INLINE void first_pass_of(lanes *s, const uint32_t *ref, size_t groups, fe chain[2], int direct)
{
    step t;
    t.s = s;
    fe_set_one(&s->before[0]);
    fe_set_one(groups > 1 ? &s->before[1] : &chain[1]);
    for (size_t g = 0; g <= groups; g++) {
        if (g < groups) {
            t.g = g;
            t.ref = ref + 8 * g;
            t.near = g + AHEAD < groups ? t.ref + 8 * AHEAD : t.ref;
        }
        if (!g) {
            run_fill(direct ? fill_d_direct : fill_d, &t);
        } else {
            fe *next = g + 1 < groups ? &s->before[g + 1] : &chain[(g - 1) & 1];
            if (g < groups)
                (direct ? mul_with_d_direct : mul_with_d)(next, &s->before[g - 1], &s->d[g - 1], &t);
            else
                fe_mul(next, &s->before[g - 1], &s->d[g - 1]);
        }
        if (g < groups && s->skip[g]) {
            fe one;
            fe_set_one(&one);
            for (int i = 0; i < FE_LIMBS; i++)
                s->d[g].l[i] = _mm512_mask_mov_epi64(s->d[g].l[i], s->skip[g], one.l[i]);
        }
    }
}

static __attribute__((noinline)) void first_pass(lanes *s, const uint32_t *ref, size_t groups, fe chain[2])
{
    first_pass_of(s, ref, groups, chain, 0);
}
static __attribute__((noinline)) void first_pass_direct(lanes *s, const uint32_t *ref, size_t groups,
                                                        fe chain[2])
{
    first_pass_of(s, ref, groups, chain, 1);
}

FP52_INLINE void step_begin(step *t, const uint32_t *ref, size_t g, int direct)
{
    t->g = g;
    t->ref = ref + 8 * g;
    t->neg = direct ? 0 : negated(t->ref);
    t->live = t->s->live[g] & (__mmask8)~t->s->skip[g];
}

/* The inverse of d; beside it, where its last group still waits for that, its new y. */
FP52_INLINE void step_inverse(step *t, const fe *chain, const fe *before, int waits)
{
    if (waits)
        mul_short_with_y(&t->inverse, chain, before, t);
    else
        fe_mul_short(&t->inverse, chain, before);
}

/* Backwards over the groups, two in step, of which the second goes on beside the next two: that is where
 * squares have room for the steps to new x. next: the following row, or NULL; the x of its points are fetched
 * to the second-level cache meanwhile, for the first pass. */
FP52_INLINE void second_pass_of(lanes *s, const uint32_t *ref, const uint32_t *next, size_t groups,
                                fe chain[2], int direct)
{
    void (*const with_numerator)(fe *, const fe *, const fe *, step *) =
        direct ? mul_with_numerator_direct : mul_with_numerator;
    step a, b[2];
    size_t g = groups, n = 0;
    a.s = b[0].s = b[1].s = s;
    next = next ? next : ref; /* what is there already costs nothing */
    if (g & 1) {
        g--;
        for (size_t i = 0; i < 8; i += 2)
            fetch_two(s, next + 8 * g + i, ref, direct);
        fe_mul_short(&a.inverse, &chain[0], &s->before[g]);
        step_begin(&a, ref, g, direct);
        with_numerator(&chain[0], &chain[0], &s->d[g], &a);
        fe_mul(&a.lambda, &a.lambda, &a.inverse);
        sqr_for_x(&a.square, &a.lambda);
        run_fill(fill_x, &a);
        mul_for_y(&a.square, &a.lambda, &a.e);
        run_fill(fill_y, &a);
    }
    for (; g; n++) {
        step *now = &b[n & 1], *last = &b[~n & 1];
        g -= 2;
        const uint32_t *fetch = next + 8 * g, *near = g >= AHEAD ? ref + 8 * (g - AHEAD) : ref;
        step_inverse(&a, &chain[0], &s->before[g], n > 0);
        fetch_two(s, fetch, near, direct);
        step_inverse(now, &chain[1], &s->before[g + 1], n > 1);
        fetch_two(s, fetch + 2, near + 2, direct);
        /* sixteen references a line, read backwards */
        _mm_prefetch((const char *)(g < 8 ? next : fetch - 64), _MM_HINT_T0);
        step_begin(&a, ref, g, direct);
        step_begin(now, ref, g + 1, direct);
        with_numerator(&chain[0], &chain[0], &s->d[g], &a);
        fetch_two(s, fetch + 4, near + 4, direct);
        with_numerator(&chain[1], &chain[1], &s->d[g + 1], now);
        fetch_two(s, fetch + 6, near + 6, direct);
        fe_mul(&a.lambda, &a.lambda, &a.inverse);
        fetch_two(s, fetch + 8, near + 8, direct);
        fe_mul(&now->lambda, &now->lambda, &now->inverse);
        fetch_two(s, fetch + 10, near + 10, direct);
        if (n)
            sqr_for_x_with_x(&a.square, &a.lambda, last);
        else
            sqr_for_x(&a.square, &a.lambda);
        fetch_two(s, fetch + 12, near + 12, direct);
        sqr_for_x_with_x(&now->square, &now->lambda, &a);
        fetch_two(s, fetch + 14, near + 14, direct);
        if (n)
            mul_for_y(&last->square, &last->lambda, &last->e);
        mul_for_y(&a.square, &a.lambda, &a.e);
    }
    if (n) {
        step *last = &b[(n - 1) & 1];
        run_fill(fill_y, &a);
        run_fill(fill_x, last);
        mul_for_y(&last->square, &last->lambda, &last->e);
        run_fill(fill_y, last);
    }
    if (n > 1)
        run_fill(fill_y, &b[n & 1]);
}
static __attribute__((noinline)) void second_pass(lanes *s, const uint32_t *ref, const uint32_t *next,
                                                  size_t groups, fe chain[2])
{
    second_pass_of(s, ref, next, groups, chain, 0);
}
static __attribute__((noinline)) void second_pass_direct(lanes *s, const uint32_t *ref, const uint32_t *next,
                                                         size_t groups, fe chain[2])
{
    second_pass_of(s, ref, next, groups, chain, 1);
}

FP52_INLINE void fe_rotate(fe *r, const fe *a, int k)
{
    FP52_UNROLL for (int i = 0; i < FE_LIMBS; i++) r->l[i] = k == 4 ? _mm512_alignr_epi64(a->l[i], a->l[i], 4)
                                                             : k == 2
                                                                 ? _mm512_alignr_epi64(a->l[i], a->l[i], 2)
                                                                 : _mm512_alignr_epi64(a->l[i], a->l[i], 1);
}

/* Inverts every lane of both chains, products of factors, by one inversion. 0 if a lane is 0. */
static int invert(fe chain[2])
{
    fe both, half, quarter, t, q;
    fe_mul(&both, &chain[0], &chain[1]);
    fe_rotate(&t, &both, 4);
    fe_mul(&half, &both, &t);
    fe_rotate(&t, &half, 2);
    fe_mul(&quarter, &half, &t);
    fe_rotate(&t, &quarter, 1);
    fe_mul(&q, &quarter, &t);
    if (!fe_invert_lane(&q))
        return 0;
    fe_mul(&q, &q, &t);
    fe_rotate(&t, &half, 2);
    fe_mul(&q, &q, &t);
    fe_rotate(&t, &both, 4);
    fe_mul(&q, &q, &t);
    fe_mul(&t, &q, &chain[0]);
    fe_mul(&chain[0], &q, &chain[1]);
    chain[1] = t;
    return 1;
}

/* A lane as a point of blst and back; sums are negated in the lanes. */
static void lane_get(AFFINE *r, const lanes *s, size_t lane)
{
    point52 p;
    for (int i = 0; i < FE_LIMBS; i++) {
        p.x[i] = ((const uint64_t *)&s->nx[lane / 8].l[i])[lane % 8];
        p.y[i] = ((const uint64_t *)&s->ny[lane / 8].l[i])[lane % 8];
    }
    point_out(r, &p);
    COORD_NEG(&r->x, &r->x);
    COORD_NEG(&r->y, &r->y);
}
static void lane_set(lanes *s, size_t lane, const AFFINE *a)
{
    point52 p;
    AFFINE n = *a;
    COORD_NEG(&n.x, &n.x);
    COORD_NEG(&n.y, &n.y);
    point_in(&p, &n);
    for (int i = 0; i < FE_LIMBS; i++) {
        ((uint64_t *)&s->nx[lane / 8].l[i])[lane % 8] = p.x[i];
        ((uint64_t *)&s->ny[lane / 8].l[i])[lane % 8] = p.y[i];
    }
}

/* Lanes at infinity take their point as it is. */
static void start_infinite(lanes *s, const uint32_t *ref, size_t groups)
{
    for (size_t g = 0; g < groups; g++) {
        for (unsigned m = s->infinite[g] & s->live[g]; m; m &= m - 1) {
            size_t lane = 8 * g + (size_t)__builtin_ctz(m);
            AFFINE a;
            point_at(&a, s, ref[lane]);
            lane_set(s, lane, &a);
            s->infinite[g] &= (uint8_t) ~(m & -m);
            s->skip[g] |= (uint8_t)(m & -m);
        }
    }
}

/* Finishes the lanes of group g whose d is 0: doubles, or becomes infinity. */
static void finish_equal(lanes *s, const uint32_t *ref, size_t g)
{
    for (unsigned m = fe_zero_mask(&s->d[g]) & (unsigned)~s->skip[g]; m; m &= m - 1) {
        size_t lane = 8 * g + (size_t)__builtin_ctz(m);
        s->skip[g] |= (uint8_t)(m & -m);
        if (!(s->live[g] & m & -m) || (s->infinite[g] & m & -m))
            continue;
        AFFINE a, b;
        lane_get(&a, s, lane);
        point_at(&b, s, ref[lane]);
        if (!memcmp(&a.y, &b.y, sizeof a.y)) {
            JACOBIAN j;
            POINT_FROM_AFFINE(&j, &a);
            POINT_DOUBLE(&j, &j);
            POINT_TO_AFFINE(&a, &j);
            lane_set(s, lane, &a);
        } else {
            s->infinite[g] |= (uint8_t)(m & -m);
            s->any_infinite = 1;
        }
    }
}

/* Adds the points of one row to those sums of the first `groups` groups that are live. */
static void lanes_add(lanes *s, const uint32_t *ref, const uint32_t *next, size_t groups)
{
    fe chain[2];
    memset(s->skip, 0, groups);
    if (s->any_infinite)
        start_infinite(s, ref, groups);
    (s->bases ? first_pass_direct : first_pass)(s, ref, groups, chain);
    fetch_last(s, ref, groups);
    while (!invert(chain)) {
        for (size_t g = 0; g < groups; g++)
            finish_equal(s, ref, g);
        (s->bases ? first_pass_direct : first_pass)(s, ref, groups, chain);
    }
    (s->bases ? second_pass_direct : second_pass)(s, ref, next, groups, chain);
}

/* The same for all sums, of which those whose reference is s->none stay as they are. */
static void lanes_round(lanes *s, const uint32_t *ref, const uint32_t *next, size_t groups)
{
    const __m256i none = _mm256_set1_epi32((int)s->none);
    for (size_t g = 0; g < groups; g++)
        s->live[g] = _mm256_cmpneq_epi32_mask(_mm256_loadu_si256((const __m256i *)(ref + 8 * g)), none);
    lanes_add(s, ref, next, groups);
}

/* The coordinates of a reference of a first row. sums: where REF_SUM points. */
FP52_INLINE const uint64_t *start_x(const lanes *s, uint32_t ref, const point52 *sums)
{
    return ref & REF_SUM ? sums[(ref & ~REF_SUM) >> 2].x : x_of(s, ref);
}
FP52_INLINE const uint64_t *start_y(const lanes *s, uint32_t ref, const point52 *sums)
{
    return ref & REF_SUM ? sums[(ref & ~REF_SUM) >> 2].y : y_of(s, ref);
}
FP52_INLINE void lanes_prefetch(const lanes *s, const uint32_t ref[8], const point52 *sums)
{
    FP52_UNROLL for (int l = 0; l < 8; l++)
    {
        prefetch_coordinate(start_x(s, ref[l], sums), 0);
        prefetch_coordinate(start_y(s, ref[l], sums), 0);
    }
}

/* Sets the sums of a group to points; `none` gives infinity. */
static void lanes_start(lanes *s, const uint32_t ref[8], const point52 *sums, size_t g)
{
    fe x, y;
    __mmask8 neg = negated(ref);
    s->infinite[g] = 0;
    for (int l = 0; l < 8; l++) {
        const uint64_t *px = start_x(s, ref[l], sums), *py = start_y(s, ref[l], sums);
        if (ref[l] == s->none)
            s->infinite[g] |= (uint8_t)(1 << l), s->any_infinite = 1;
        for (int h = 0; h < FE_PARTS; h++) {
            x.l[8 * h + l] = _mm512_load_si512(px + 8 * h);
            y.l[8 * h + l] = _mm512_load_si512(py + 8 * h);
        }
    }
    for (int h = 0; h < FE_PARTS; h++) {
        v8_transpose(&x.l[8 * h]);
        v8_transpose(&y.l[8 * h]);
    }
    for (int i = 0; i < FE_LIMBS; i++) {
        x.l[i] = V8_SUB(v8_set1(fp52_table(FP52_X_BOUND)[i & 7]), x.l[i]);
        y.l[i] =
            _mm512_mask_sub_epi64(y.l[i], (__mmask8)~neg, v8_set1(fp52_table(FP52_Y_NEG)[i & 7]), y.l[i]);
    }
    fe_carry(&x);
    fe_carry(&y);
    s->nx[g] = x;
    s->ny[g] = y;
}

/* The sums of a group as rows. */
static void lanes_rows(const lanes *s, size_t g, point52 out[8])
{
    fe x, y;
    for (int i = 0; i < FE_LIMBS; i++) {
        x.l[i] = V8_SUB(v8_set1(fp52_table(FP52_X_BOUND)[i & 7]), s->nx[g].l[i]);
        y.l[i] = V8_SUB(v8_set1(fp52_table(FP52_Y_ADD)[i & 7]), s->ny[g].l[i]);
    }
    fe_sub_if_above(&x, FP52_X_HALF);
    fe_sub_if_above(&y, FP52_8P);
    fe_sub_if_above(&y, FP52_4P);
    fe_carry(&x);
    fe_carry(&y);
    for (int h = 0; h < FE_PARTS; h++) {
        v8_transpose(&x.l[8 * h]);
        v8_transpose(&y.l[8 * h]);
        for (int l = 0; l < 8; l++) {
            _mm512_store_si512(out[l].x + 8 * h, x.l[8 * h + l]);
            _mm512_store_si512(out[l].y + 8 * h, y.l[8 * h + l]);
        }
    }
}
