/* The sum of scalar * point by signed windows of the two halves that the endomorphism gives. Template, after
 * lists_ifma.h.
 *
 * Terms are taken in blocks: zeros are dropped, ones are left to the subset sum, the others ("wide") are
 * packed. A chunk of at most CHUNK wide terms becomes rows of limbs (point and endomorphism, 2 per term) and
 * planes of digits (one per window); then every task, some windows or a part of one, picks the digits that
 * fall into its buckets and sums by bucket. Buckets go on from chunk to chunk, so that memory is bounded
 * whatever n. */

#define BLOCK     4096
#define TASK_KEYS 32768 /* buckets of a task, about */
#define SUMS      8192  /* points of the row and column sums of one thread */

typedef struct part {
    uint32_t window, windows, bucket, buckets; /* buckets of each window */
} part;

typedef struct sum_job {
    const AFFINE *bases;
    const uint32_t *index;
    const scalar *k;
    size_t n;
    const cancel_token *cancel;
    unsigned c, windows;
    size_t chunk, stride; /* wide terms of a chunk; digits of a plane */
    uint32_t buckets;     /* of a window */
    size_t blocks;
    uint32_t *wide, *ones; /* wide terms before a block; ones in it */
    size_t block_first;
    size_t terms;    /* wide terms of the chunk at hand */
    point52 *points; /* 2 a term, and two that stand for none */
    int32_t *digits;
    point52 *sums; /* buckets of all windows, or of one part for each thread where all terms fit one chunk */
    uint8_t *state;
    size_t kept;   /* how many */
    int one_chunk; /* parts are reduced as soon as they are filled */
    part *parts;
    size_t part_count;
    lists **worker;
    point52 **scratch; /* SUMS points each */
    JACOBIAN *total;   /* by window and piece of it */
    uint32_t pieces;   /* parts of a window */
    fe beta;
} sum_job;

static inline int scalar_kind(const scalar *k) /* 0, 1, or 2: wide */
{
    uint64_t high = k->l[1] | k->l[2] | k->l[3];
    return high || k->l[0] > 1 ? 2 : (int)k->l[0];
}

static void count_blocks(void *ctx, size_t first, size_t end, unsigned worker)
{
    sum_job *j = ctx;
    (void)worker;
    for (size_t b = first; b < end; b++) {
        uint32_t wide = 0, ones = 0;
        for (size_t i = b * BLOCK; i < (b + 1) * BLOCK && i < j->n; i++) {
            int kind = scalar_kind(&j->k[i]);
            wide += (uint32_t)kind >> 1;
            ones += (uint32_t)kind & 1;
        }
        j->wide[b] = wide;
        j->ones[b] = ones;
    }
}

/* Digits of eight terms: magnitudes low and high of both parts, which parts are negative. */
static void recode(const sum_job *j, size_t slot, __mmask8 present, const uint64_t half_part[4][8],
                   __mmask8 negative0, __mmask8 negative1)
{
    const v8 mask = v8_set1(((uint64_t)1 << j->c) - 1), count = v8_set1(j->c),
             full = v8_set1((uint64_t)1 << j->c);
    const v8 half = v8_set1((uint64_t)1 << (j->c - 1)), one = v8_set1(1), zero = _mm512_setzero_si512();
    v8 al = _mm512_loadu_si512(half_part[0]), ah = _mm512_loadu_si512(half_part[1]), ca = zero;
    v8 bl = _mm512_loadu_si512(half_part[2]), bh = _mm512_loadu_si512(half_part[3]), cb = zero;
    for (unsigned w = 0; w < j->windows; w++) {
        v8 x = V8_ADD(_mm512_and_si512(al, mask), ca), y = V8_ADD(_mm512_and_si512(bl, mask), cb);
        v8 ra = _mm512_sllv_epi64(ah, V8_SUB(v8_set1(64), count)),
           rb = _mm512_sllv_epi64(bh, V8_SUB(v8_set1(64), count));
        al = _mm512_or_si512(_mm512_srlv_epi64(al, count), ra);
        bl = _mm512_or_si512(_mm512_srlv_epi64(bl, count), rb);
        ah = _mm512_srlv_epi64(ah, count);
        bh = _mm512_srlv_epi64(bh, count);
        __mmask8 ga = _mm512_cmpgt_epi64_mask(x, half), gb = _mm512_cmpgt_epi64_mask(y, half);
        ca = _mm512_maskz_mov_epi64(ga, one);
        cb = _mm512_maskz_mov_epi64(gb, one);
        x = _mm512_mask_sub_epi64(x, ga, x, full);
        y = _mm512_mask_sub_epi64(y, gb, y, full);
        x = _mm512_mask_sub_epi64(x, negative0, zero, x);
        y = _mm512_mask_sub_epi64(y, negative1, zero, y);
        x = _mm512_or_si512(_mm512_and_si512(x, v8_set1(0xffffffff)), _mm512_slli_epi64(y, 32));
        _mm512_mask_storeu_epi64(j->digits + w * j->stride + 2 * slot, present, x);
    }
}

/* Turns up to eight terms into rows and digits from `slot` on. */
static void convert_group(const sum_job *j, const uint32_t *term, size_t count, size_t slot)
{
    uint64_t halves[4][8] = {{0}};
    __mmask8 negative0 = 0, negative1 = 0;
    const AFFINE *base[8];
    for (size_t l = 0; l < count; l++) {
        glv_part split[2];
        base[l] = &j->bases[j->index ? j->index[term[l]] : term[l]];
        if (AFFINE_IS_INF(base[l]))
            continue;
        glv_split(split, &j->k[term[l]]);
        halves[0][l] = (uint64_t)split[0].magnitude;
        halves[1][l] = (uint64_t)(split[0].magnitude >> 64);
        halves[2][l] = (uint64_t)split[1].magnitude;
        halves[3][l] = (uint64_t)(split[1].magnitude >> 64);
        negative0 |= (__mmask8)(split[0].negative << l);
        negative1 |= (__mmask8)(!split[1].negative << l); /* z^2 P is minus the endomorphism */
    }
    for (size_t l = count; l < 8; l++)
        base[l] = base[0];
    recode(j, slot, (__mmask8)((1u << count) - 1), (const uint64_t(*)[8])halves, negative0, negative1);
    points_slice(j->points + 2 * slot, base, count, &j->beta);
}

static void convert_blocks(void *ctx, size_t task, unsigned worker)
{
    const sum_job *j = ctx;
    size_t b = j->block_first + task, slot = j->wide[b] - j->wide[j->block_first], m = 0;
    uint32_t term[BLOCK + 1];
    (void)worker;
    for (size_t i = b * BLOCK; i < (b + 1) * BLOCK && i < j->n; i++) {
        term[m] = (uint32_t)i;
        m += scalar_kind(&j->k[i]) == 2;
    }
    for (size_t i = 0; i < m; i += 8) {
        for (size_t l = i + 16; l < i + 24 && l < m; l++) {
            const char *base = (const char *)&j->bases[j->index ? j->index[term[l]] : term[l]];
            for (size_t at = 0; at < sizeof(AFFINE); at += 64)
                _mm_prefetch(base + at, _MM_HINT_T0);
        }
        convert_group(j, term + i, m - i < 8 ? m - i : 8, slot + i);
    }
}

/* Packs the digits of one window that fall into the buckets of a part: keys and references. */
static size_t pick_digits(const sum_job *j, const part *t, uint32_t w, uint32_t *key, uint32_t *ref, size_t m)
{
    const int32_t *digit = j->digits + (t->window + w) * j->stride;
    const __m512i offset = _mm512_set1_epi32((int)(w * t->buckets) - (int)t->bucket - 1);
    const __m512i low = _mm512_set1_epi32((int)t->bucket), count = _mm512_set1_epi32((int)t->buckets);
    const __m512i one = _mm512_set1_epi32(1);
    __m512i at = _mm512_slli_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), 1);
    for (size_t i = 0; i < 2 * j->terms; i += 16) {
        __m512i d = _mm512_loadu_si512(digit + i), a = _mm512_abs_epi32(d);
        __mmask16 in = _mm512_cmplt_epu32_mask(_mm512_sub_epi32(_mm512_sub_epi32(a, one), low), count);
        __m512i r = _mm512_mask_or_epi32(at, _mm512_movepi32_mask(d), at, one);
        if (i + 16 > 2 * j->terms)
            in &= (__mmask16)((1u << (2 * j->terms - i)) - 1);
        _mm512_storeu_si512(key + m, _mm512_maskz_compress_epi32(in, _mm512_add_epi32(a, offset)));
        _mm512_storeu_si512(ref + m, _mm512_maskz_compress_epi32(in, r));
        m += (size_t)__builtin_popcount(in);
        at = _mm512_add_epi32(at, _mm512_set1_epi32(32));
    }
    return m;
}

/* sum k S_k and sum S_k of 2^log points by sums of rows and of columns. points[2^log] and the next stand for
 * none. room: points for the sums. Returns 0 if cancelled. */
static int weighted(lists *s, JACOBIAN *weight, JACOBIAN *total, const point52 *points, const uint8_t *state,
                    unsigned log, uint32_t none, point52 *room, const cancel_token *cancel)
{
    size_t n = (size_t)1 << log;
    memset(weight, 0, sizeof *weight);
    memset(total, 0, sizeof *total);
    if (log <= 3) {
        for (size_t k = n; k-- > 0;) {
            AFFINE a;
            if (state[k]) {
                point_out(&a, &points[k]);
                POINT_ADD_AFFINE(total, total, &a);
            }
            if (k)
                POINT_ADD(weight, weight, total);
        }
        return 1;
    }
    unsigned column_log = log / 2, row_log = log - column_log;
    size_t columns = (size_t)1 << column_log, rows = (size_t)1 << row_log, m = 0;
    uint8_t sum_state[2 * 2048 + 2] = {0};
    JACOBIAN by_row, unused;
    for (size_t k = 0; k < n; k++) {
        if (!state[k])
            continue;
        s->key[m] = (uint32_t)(k >> column_log);
        s->key[m + 1] = (uint32_t)(rows + (k & (columns - 1)));
        s->ref[m] = s->ref[m + 1] = (uint32_t)k << 1;
        m += 2;
    }
    level v = {.key = s->key,
               .ref = s->ref,
               .entries = m,
               .keys = rows + columns,
               .points = points,
               .none = none,
               .sums = room,
               .state = sum_state};
    if (!lists_sum(s, v, cancel))
        return 0;
    points_none(room + rows + columns);
    uint32_t sum_none = (uint32_t)(rows + columns) << 1;
    point52 *rest = room + rows + columns + 2;
    if (!weighted(s, &by_row, total, room, sum_state, row_log, sum_none, rest, cancel) ||
        !weighted(s, weight, &unused, room + rows, sum_state + rows, column_log, (uint32_t)columns << 1, rest,
                  cancel))
        return 0;
    for (unsigned i = 0; i < column_log; i++)
        POINT_DOUBLE(&by_row, &by_row);
    POINT_ADD(weight, weight, &by_row);
    return 1;
}

/* The sums of the windows of a part from their buckets; bucket b holds the points of digit b + 1. */
static void reduce_buckets(const sum_job *j, const part *t, const point52 *sums, const uint8_t *state,
                           size_t none, unsigned worker)
{
    unsigned log = (unsigned)__builtin_ctz(t->buckets);
    for (uint32_t w = 0; w < t->windows; w++) {
        JACOBIAN weight, total, *out = &j->total[(t->window + w) * j->pieces + t->bucket / t->buckets];
        size_t first = (size_t)w * t->buckets;
        scalar offset = {{t->bucket + 1}};
        if (!weighted(j->worker[worker], &weight, &total, sums + first, state + first, log,
                      (uint32_t)(none - first) << 1, j->scratch[worker], j->cancel))
            return;
        if (t->bucket)
            POINT_MUL(&total, &total, &offset);
        POINT_ADD(out, &weight, &total);
    }
}

static void fill_part(void *ctx, size_t task, unsigned worker)
{
    const sum_job *j = ctx;
    const part *t = &j->parts[task];
    lists *s = j->worker[worker];
    size_t m = 0, keys = (size_t)t->windows * t->buckets, first = (size_t)t->window * j->buckets + t->bucket;
    if (cancel_check(j->cancel))
        return;
    if (j->one_chunk) {
        first = worker * (j->kept + 2);
        memset(j->state + first, 0, keys);
    }
    for (uint32_t w = 0; w < t->windows; w++)
        m = pick_digits(j, t, w, s->key, s->ref, m);
    level v = {.key = s->key,
               .ref = s->ref,
               .entries = m,
               .keys = keys,
               .points = j->points,
               .none = (uint32_t)(2 * j->chunk) << 1,
               .sums = j->sums + first,
               .state = j->state + first};
    if (lists_sum(s, v, j->cancel) && j->one_chunk)
        reduce_buckets(j, t, v.sums, v.state, j->kept, worker);
}

static void reduce_part(void *ctx, size_t task, unsigned worker)
{
    const sum_job *j = ctx;
    const part *t = &j->parts[task];
    size_t first = (size_t)t->window * j->buckets + t->bucket;
    if (!cancel_check(j->cancel))
        reduce_buckets(j, t, j->sums + first, j->state + first, j->kept - first, worker);
}
