/* The sum of scalar * point by windows of hexagonal digits (hexagon.h). Template, after lists_ifma.h.
 *
 * Terms are taken in blocks: zeros are dropped, ones are left to the subset sum, the others ("wide") are
 * packed. A chunk of at most CHUNK wide terms becomes rows of limbs (a quad of each term) and
 * planes of codes (one per window), where those of a block are ordered by the piece of the window that they
 * fall into; then every task, some windows or a piece of one, sums by bucket. Buckets go on from chunk to
 * chunk, so that memory is bounded whatever n. */

#define BLOCK     4096
#define TASK_KEYS 32768 /* buckets of a task, about */

typedef struct part {
    uint32_t window, windows, bucket, buckets; /* buckets of each window */
    uint32_t piece;                            /* of the window */
} part;

typedef struct sum_job {
    const AFFINE *bases;
    const uint32_t *index;
    const scalar *k;
    size_t n;
    const cancel_token *cancel;
    hexagon hex;
    size_t chunk, stride;       /* wide terms of a chunk; codes of a plane */
    size_t blocks, most_blocks; /* of all terms; of a chunk */
    uint32_t *wide, *ones;      /* wide terms before a block; ones in it */
    uint64_t *wide_bits, *one_bits;
    size_t block_first, chunk_blocks; /* of the chunk at hand */
    fe_rows *points;                  /* QUAD a term, and twice as many that stand for none */
    uint32_t *codes;                  /* entries of runs: see lists_ifma.h */
    uint16_t *first; /* by window and block of the chunk: where its codes of each piece begin, and end */
    point52 *sums; /* buckets of all windows, or of one part for each thread where all terms fit one chunk */
    uint8_t *state;
    size_t kept;   /* how many */
    int one_chunk; /* parts are reduced as soon as they are filled */
    part *parts;
    size_t part_count;
    lists **worker;
    void **scratch;         /* a thread's: codes of a block, by window, or a reducer's */
    size_t sets;            /* most columns and rows that are reduced together, in windows */
    JACOBIAN *total;        /* by window and piece of it */
    uint32_t pieces, piece; /* parts of a window, buckets of one */
    uint32_t group;         /* pieces that codes are first sorted by together */
    fp52 turn;              /* w */
} sum_job;

/* Two quads that stand for none, whatever the turn. */
static void quads_none(fe_rows r[2 * QUAD])
{
    point52 none[2];
    points_none(none);
    for (int i = 0; i < 2 * QUAD; i++)
        memcpy(r[i].l, i % QUAD == 1 ? none[i / QUAD].y : none[i / QUAD].x, sizeof r->l);
}

/* The cube root of unity that coord_endomorphism multiplies by, in radix 2^416; it lies in Fp. */
static void points_turn(fp52 *r)
{
    uint64_t limb[8];
    fp52 t, k;
    fp52_limbs(limb, &COORD_TURN);
    fp52_set1(&t, limb);
    fp52_set1(&k, FP52_FROM_BLST);
    fp52_mul_open(r, &t, &k);
    fp52_carry_factor(r);
}

/* Quads of eight bases, the first `count` of them. The turns of x add up to 0. They are written past the
 * caches: most are gone from there before they are used, and reading what is overwritten would take longer.
 */
static void points_slice(fe_rows *r, const AFFINE *const base[8], size_t count, const fp52 *turn)
{
    for (int h = 0; h < FE_PARTS; h++) {
        fp52 x, once, twice;
        for (int l = 0; l < 8; l++)
            x.l[l] = base_slice(base[l], 0, h);
        for (size_t l = 0; l < count; l++) {
            _mm512_stream_si512((void *)(r[QUAD * l].l + 8 * h), x.l[l]);
            _mm512_stream_si512((void *)(r[QUAD * l + 1].l + 8 * h), base_slice(base[l], 1, h));
        }
        v8_transpose(x.l);
        fp52_mul_open(&once, turn, &x);
        FP52_UNROLL for (int i = 0; i < 8; i++) twice.l[i] =
            V8_SUB(V8_SUB(v8_set1(fp52_table(FP52_X_TURN)[i]), x.l[i]), once.l[i]);
        fp52_carry(&once);
        fp52_carry(&twice);
        v8_transpose(once.l);
        v8_transpose(twice.l);
        for (size_t l = 0; l < count; l++) {
            _mm512_stream_si512((void *)(r[QUAD * l + 2].l + 8 * h), once.l[l]);
            _mm512_stream_si512((void *)(r[QUAD * l + 3].l + 8 * h), twice.l[l]);
        }
    }
}

static inline int scalar_kind(const scalar *k) /* 0, 1, or 2: wide */
{
    uint64_t high = k->l[1] | k->l[2] | k->l[3];
    return high || k->l[0] > 1 ? 2 : (int)k->l[0];
}

/* Which of up to 64 scalars are ones, and which are wide. */
static void scalar_kinds(const scalar *k, size_t count, uint64_t *ones, uint64_t *wide)
{
    const uint64_t lowest = 0x1111111111111111; /* of the four words of a scalar */
    const v8 one = _mm512_set_epi64(0, 0, 0, 1, 0, 0, 0, 1);
    *ones = *wide = 0;
    if (count < 64) {
        for (size_t i = 0; i < count; i++) {
            int kind = scalar_kind(&k[i]);
            *ones |= (uint64_t)(kind & 1) << i;
            *wide |= (uint64_t)(kind >> 1) << i;
        }
        return;
    }
    for (size_t i = 0; i < 64; i += 16) {
        uint64_t any = 0, equal = 0;
        FP52_UNROLL for (size_t l = 0; l < 8; l++)
        {
            v8 x = _mm512_loadu_si512(k + i + 2 * l);
            any |= (uint64_t)_mm512_test_epi64_mask(x, x) << 8 * l;
            equal |= (uint64_t)_mm512_cmpeq_epi64_mask(x, one) << 8 * l;
        }
        any |= any >> 1;
        equal &= equal >> 1;
        any = _pext_u64(any | any >> 2, lowest);
        equal = _pext_u64(equal & equal >> 2, lowest);
        *ones |= equal << i;
        *wide |= (any & ~equal) << i;
    }
}

static void count_blocks(void *ctx, size_t first, size_t end, unsigned worker)
{
    sum_job *j = ctx;
    (void)worker;
    for (size_t b = first; b < end; b++) {
        j->wide[b] = j->ones[b] = 0;
        for (size_t w = b * (BLOCK / 64); w < (b + 1) * (BLOCK / 64); w++) {
            size_t at = 64 * w, left = at < j->n ? j->n - at : 0;
            scalar_kinds(j->k + at, left < 64 ? left : 64, &j->one_bits[w], &j->wide_bits[w]);
            j->wide[b] += (uint32_t)__builtin_popcountll(j->wide_bits[w]);
            j->ones[b] += (uint32_t)__builtin_popcountll(j->one_bits[w]);
        }
    }
}

#define CODES_STRIDE (BLOCK + 32) /* planes do not share sets of the first-level cache */

/* Turns up to sixteen terms into rows from `slot` on, and codes. */
static void convert_group(const sum_job *j, const uint32_t *term, size_t count, size_t slot, uint32_t *code)
{
    uint64_t words[4][16] = {{0}};
    const AFFINE *base[16];
    for (size_t l = 0; l < count; l++) {
        base[l] = &j->bases[j->index ? j->index[term[l]] : term[l]];
        if (AFFINE_IS_INF(base[l]))
            continue;
        scalar k = j->k[term[l]];
        glv_reduce(&k);
        for (int i = 0; i < 4; i++)
            words[i][l] = k.l[i];
    }
    for (size_t l = count; l < 16; l++)
        base[l] = base[0];
    hexagon_codes_ifma(code, CODES_STRIDE, (unsigned)count, &j->hex, (const uint64_t(*)[16])words);
    for (size_t l = 0; l < count; l += 8)
        points_slice(j->points + QUAD * (slot + l), base + l, count - l < 8 ? count - l : 8, &j->turn);
}

static uint16_t *first_of(const sum_job *j, size_t window, size_t block)
{
    return j->first + (window * j->most_blocks + block) * (j->pieces + 1);
}

/* Packs the codes of a block that fall into `buckets` buckets from `bucket` on: entries of a run. */
static size_t pick_codes(uint32_t *out, const uint32_t *code, size_t terms, uint32_t bucket, uint32_t buckets)
{
    const __m512i low = _mm512_set1_epi32((int)bucket), count = _mm512_set1_epi32((int)buckets);
    const __m512i turn = _mm512_set1_epi32(7), next = _mm512_set1_epi32(16 << 3);
    __m512i at = _mm512_slli_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), 3);
    size_t m = 0;
    for (size_t i = 0; i < terms; i += 16) {
        __m512i c = _mm512_loadu_si512(code + i), k = _mm512_sub_epi32(_mm512_srli_epi32(c, 3), low);
        __mmask16 in = _mm512_cmplt_epu32_mask(k, count);
        if (i + 16 > terms)
            in &= (__mmask16)((1u << (terms - i)) - 1);
        __m512i e =
            _mm512_or_si512(_mm512_slli_epi32(k, RUN_BITS), _mm512_or_si512(at, _mm512_and_si512(c, turn)));
        _mm512_storeu_si512(out + m, _mm512_maskz_compress_epi32(in, e));
        m += (size_t)__builtin_popcount(in);
        at = _mm512_add_epi32(at, next);
    }
    return m;
}

/* Of entries, those whose keys lie in `keys` keys from `first` on, which they then count. */
static size_t pick_entries(uint32_t *out, const uint32_t *entry, size_t n, uint32_t first, uint32_t keys)
{
    const __m512i low = _mm512_set1_epi32((int)(first << RUN_BITS)), end = _mm512_set1_epi32((int)keys);
    size_t m = 0;
    for (size_t i = 0; i < n; i += 16) {
        __m512i e = _mm512_sub_epi32(_mm512_loadu_si512(entry + i), low);
        __mmask16 in = _mm512_cmplt_epu32_mask(_mm512_srli_epi32(e, RUN_BITS), end);
        if (i + 16 > n)
            in &= (__mmask16)((1u << (n - i)) - 1);
        _mm512_storeu_si512(out + m, _mm512_maskz_compress_epi32(in, e));
        m += (size_t)__builtin_popcount(in);
    }
    return m;
}

/* Puts the codes of a block in order, in two steps if there are many pieces: each goes over all codes as
 * often as it has outcomes. */
static void sort_codes(const sum_job *j, size_t block, size_t slot, size_t terms, const uint32_t *code)
{
    uint32_t sorted[BLOCK + 16], group[BLOCK + 16];
    for (uint32_t w = 0; w < j->hex.windows; w++, code += CODES_STRIDE) {
        uint16_t *first = first_of(j, w, block);
        size_t m = 0;
        for (uint32_t i = 0; i < j->pieces;) {
            if (j->group == 1) {
                first[i] = (uint16_t)m;
                m += pick_codes(sorted + m, code, terms, i++ * j->piece, j->piece);
                continue;
            }
            size_t n = pick_codes(group, code, terms, i * j->piece, j->group * j->piece);
            for (uint32_t k = 0; k < j->group && i < j->pieces; k++, i++) {
                first[i] = (uint16_t)m;
                m += pick_entries(sorted + m, group, n, k * j->piece, j->piece);
            }
        }
        first[j->pieces] = (uint16_t)m;
        memcpy(j->codes + w * j->stride + slot, sorted, m * sizeof *sorted);
    }
}

static void convert_blocks(void *ctx, size_t task, unsigned worker)
{
    const sum_job *j = ctx;
    size_t b = j->block_first + task, slot = j->wide[b] - j->wide[j->block_first], m = 0;
    uint32_t term[BLOCK], *code = j->scratch[worker];
    for (size_t w = b * (BLOCK / 64); w < (b + 1) * (BLOCK / 64); w++)
        for (uint64_t set = j->wide_bits[w]; set; set &= set - 1)
            term[m++] = (uint32_t)(64 * w + (size_t)__builtin_ctzll(set));
    for (size_t i = 0; i < m; i += 16) {
        for (size_t l = i + 16; l < i + 32 && l < m; l++) {
            prefetch_base(&j->bases[j->index ? j->index[term[l]] : term[l]], 0, sizeof(AFFINE) - 1, 0);
        }
        convert_group(j, term + i, m - i < 16 ? m - i : 16, slot + i, code + i);
    }
    _mm_sfence(); /* other threads read the quads */
    sort_codes(j, task, slot, m, code);
}

/* Lists the runs of a part; *entries: how many they hold. */
static size_t list_runs(const sum_job *j, lists *s, const part *t, size_t *entries)
{
    size_t runs = 0, all = 0;
    for (uint32_t w = 0; w < t->windows; w++)
        for (size_t b = 0; b < j->chunk_blocks; b++) {
            const uint16_t *first = first_of(j, t->window + w, b) + t->piece;
            uint32_t slot = j->wide[j->block_first + b] - j->wide[j->block_first], n = first[1] - first[0];
            if (!n)
                continue;
            s->run[runs++] = (run){j->codes + (t->window + w) * j->stride + slot + first[0], n,
                                   w * t->buckets, QUAD_REF(slot)};
            all += n;
        }
    *entries = all;
    return runs;
}

/* Where one thread reduces buckets: sums of rows and columns, those of their sums, and so on. */
typedef struct reducer {
    point52 *points;
    uint8_t *state;
    JACOBIAN *weight;
} reducer;

/* Points for all levels of `sets` sets of 2^log, and the two that stand for none in each. */
static size_t reducer_points(size_t sets, unsigned log)
{
    return 2 * (sets << log) + 2 * (HEXAGON_LOG + 1);
}
static size_t reducer_bytes(size_t sets, unsigned log)
{
    return reducer_points(sets, log) * (sizeof(point52) + 1) + 8 * sets * sizeof(JACOBIAN) + 64;
}
static void reducer_place(reducer *r, void *at, size_t sets, unsigned log)
{
    r->points = at;
    r->weight = (JACOBIAN *)(r->points + reducer_points(sets, log));
    r->state = (uint8_t *)(r->weight + 8 * sets);
}

/* r.weight[i] = sum k r.points[i 2^log + k], by sums of rows and of columns, which are sets of their own.
 * What follows in r is overwritten. Returns 0 if cancelled. */
static int weighted(lists *s, reducer r, size_t sets, unsigned log, const cancel_token *cancel)
{
    size_t n = sets << log, m = 0;
    if (log <= 3) {
        for (size_t i = 0; i < sets; i++) {
            JACOBIAN total, *weight = &r.weight[i];
            memset(weight, 0, sizeof *weight);
            memset(&total, 0, sizeof total);
            for (size_t k = (i + 1) << log; k-- > i << log;) {
                AFFINE a;
                if (r.state[k]) {
                    point_out(&a, &r.points[k]);
                    POINT_ADD_AFFINE(&total, &total, &a);
                }
                if (k > i << log)
                    POINT_ADD(weight, weight, &total);
            }
        }
        return 1;
    }
    unsigned column_log = log / 2, line_log = log - column_log;
    reducer next = {r.points + n + 2, r.state + n, r.weight + sets};
    points_none(r.points + n);
    memset(next.state, 0, 2 * sets << line_log);
    for (size_t k = 0; k < n; k++) {
        size_t set = k >> log, row = (k >> column_log) & (((size_t)1 << line_log) - 1);
        if (!r.state[k])
            continue;
        s->key[m] = (uint32_t)((2 * set << line_log) + row);
        s->key[m + 1] = (uint32_t)(((2 * set + 1) << line_log) + (k & (((size_t)1 << column_log) - 1)));
        s->ref[m] = s->ref[m + 1] = ROW_REF(k);
        m += 2;
    }
    level v = {.key = s->key,
               .ref = s->ref,
               .entries = m,
               .keys = 2 * sets << line_log,
               .points = r.points->x,
               .y_at = ROW_Y,
               .none = ROW_REF(n),
               .sums = next.points,
               .state = next.state};
    if (!lists_sum(s, v, cancel) || !weighted(s, next, 2 * sets, line_log, cancel))
        return 0;
    for (size_t i = 0; i < sets; i++) {
        r.weight[i] = next.weight[2 * i];
        for (unsigned k = 0; k < column_log; k++)
            POINT_DOUBLE(&r.weight[i], &r.weight[i]);
        POINT_ADD(&r.weight[i], &r.weight[i], &next.weight[2 * i + 1]);
    }
    return 1;
}

/* Lists the buckets of a part of a window that hold points: for column x, and for row y; the others follow
 * after 2^log. at: of the first one. */
static size_t list_lines(const hexagon *h, lists *s, size_t m, const part *t, const uint8_t *state, size_t at,
                         uint32_t key)
{
    uint32_t y = 0, row = 0, lines = (uint32_t)1 << hexagon_log(h);
    while (row + hexagon_row_length(h, y) <= t->bucket)
        row += hexagon_row_length(h, y++);
    for (uint32_t k = 0; k < t->buckets; k++) {
        uint32_t x = t->bucket + k - row + 1;
        if (x > hexagon_row_length(h, y)) {
            row += hexagon_row_length(h, y++);
            x = 1;
        }
        if (!state[at + k])
            continue;
        s->key[m] = key + x;
        s->ref[m++] = ROW_REF(at + k);
        s->key[m] = key + lines + y;
        s->ref[m] = ROW_REF(at + k);
        m += y != 0;
    }
    return m;
}

/* The sums of the windows of a part: columns weighed by x, rows by y and 1 + w. Bucket b of window w is
 * sums[w * t->buckets + b]; sums[none] and the next stand for none. */
static void reduce_buckets(const sum_job *j, const part *t, const point52 *sums, const uint8_t *state,
                           size_t none, unsigned worker)
{
    lists *s = j->worker[worker];
    unsigned log = hexagon_log(&j->hex);
    size_t m = 0, sets = 2 * (size_t)t->windows;
    reducer r;
    reducer_place(&r, j->scratch[worker], j->sets, log);
    memset(r.state, 0, sets << log);
    for (uint32_t w = 0; w < t->windows; w++)
        m = list_lines(&j->hex, s, m, t, state, (size_t)w * t->buckets, 2 * w << log);
    level v = {.key = s->key,
               .ref = s->ref,
               .entries = m,
               .keys = sets << log,
               .points = sums->x,
               .y_at = ROW_Y,
               .none = ROW_REF(none),
               .sums = r.points,
               .state = r.state};
    if (!lists_sum(s, v, j->cancel) || !weighted(s, r, sets, log, j->cancel))
        return;
    for (uint32_t w = 0; w < t->windows; w++) {
        JACOBIAN *out = &j->total[(t->window + w) * j->pieces + t->piece], rows = r.weight[2 * w + 1];
        POINT_ADD(out, &r.weight[2 * w], &rows);
        coord_endomorphism(&rows.x, &rows.x);
        POINT_ADD(out, out, &rows);
    }
}

static void fill_part(void *ctx, size_t task, unsigned worker)
{
    const sum_job *j = ctx;
    const part *t = &j->parts[task];
    lists *s = j->worker[worker];
    size_t keys = (size_t)t->windows * t->buckets, entries, runs;
    size_t first = (size_t)t->window * j->hex.buckets + t->bucket;
    if (cancel_check(j->cancel))
        return;
    if (j->one_chunk) {
        first = worker * (j->kept + 2);
        memset(j->state + first, 0, keys);
    }
    runs = list_runs(j, s, t, &entries);
    level v = {.runs = s->run,
               .run_count = runs,
               .entries = entries,
               .keys = keys,
               .points = j->points->l,
               .y_at = QUAD_Y,
               .none = QUAD_REF(j->chunk),
               .sums = j->sums + first,
               .state = j->state + first};
    if (lists_sum(s, v, j->cancel) && j->one_chunk)
        reduce_buckets(j, t, v.sums, v.state, j->kept, worker);
}

static void reduce_part(void *ctx, size_t task, unsigned worker)
{
    const sum_job *j = ctx;
    const part *t = &j->parts[task];
    size_t first = (size_t)t->window * j->hex.buckets + t->bucket;
    if (!cancel_check(j->cancel))
        reduce_buckets(j, t, j->sums + first, j->state + first, j->kept - first, worker);
}
