/* Sums by key: sums[key] += the points that are listed for it, in any order. Template, after lanes_ifma.h.
 *
 * The keys are ordered by how many points they have, so that the sums of a batch end together, and
 * their references are laid out row by row: row r of a batch names the point that each lane takes in round r.
 * A key with more points than a limit is cut into several sums ("spares"), which are then summed in turn:
 * whatever the scalars, batches stay full. */

#define LIMIT_MIN 24 /* least limit on the points of one sum */
#define LIMIT_MAX 4096
#define SPARE     0x80000000u /* in segment[]: a spare, not a key; in place[]: a key that is cut */

/* Entries that lie together: each word is key << RUN_BITS | what its reference is more than the run's. */
#define RUN_BITS 15
typedef struct run {
    const uint32_t *entry;
    uint32_t count, key, ref; /* key and ref are added to those of the entries */
} run;

/* Where a cut key stands: the next reference goes to rows[place]; ranks of the sums still to fill. */
typedef struct cut_key {
    uint32_t place, left, next_whole, wholes, last, last_length;
} cut_key;

/* One thread's working memory; the arrays follow the struct. */
typedef struct lists {
    lanes lanes;
    size_t lanes_at_once; /* up to LANES_MOST */
    size_t spares;
    uint32_t *count, *place;    /* by key */
    uint32_t *segment, *length; /* by rank: key or spare of a sum; its number of points */
    uint32_t *base;             /* by batch: its first reference in rows */
    cut_key *cut;
    uint32_t *rows;
    uint32_t *key, *ref; /* a caller's entries, listed or in runs */
    run *run;
    uint32_t *cut_keys, *cut_refs; /* entries of the following level */
    point52 *spare;                /* two more than spares: points that stand for none */
} lists;

/* Segments, and among them spares: at most one per LIMIT_MIN points and one more per cut key, over all
 * levels. */
static size_t lists_spares(size_t keys, size_t entries)
{
    return 3 * ((keys + entries) / LIMIT_MIN) + 64;
}

/* The most that a call may have: keys; entries, those that are listed, and runs of others. */
typedef struct lists_size {
    size_t keys, entries, listed, runs;
} lists_size;

/* Bytes for such calls; with s, also sets its pointers. */
static size_t lists_layout(lists *s, lists_size z)
{
    size_t at = 0, keys = z.keys, entries = z.entries > z.listed ? z.entries : z.listed;
    size_t spares = lists_spares(keys, entries), segments = keys + spares;
    lists unused;
    char *origin = (char *)s;
    if (!s)
        s = &unused;
#define TAKE(field, n)                                                                                       \
    do {                                                                                                     \
        s->field = (void *)(origin + at);                                                                    \
        at += ((n) * sizeof *s->field + 127) / 64 * 64;                                                      \
    } while (0)
    at = (sizeof *s + 63) / 64 * 64;
    TAKE(spare, spares + 2);
    TAKE(count, keys);
    TAKE(place, keys);
    TAKE(segment, segments + LANES_MOST);
    TAKE(length, segments + LANES_MOST);
    TAKE(base, segments / 8 + 2);
    TAKE(cut, (keys + entries) / LIMIT_MIN + 1);
    TAKE(rows, keys + entries + (size_t)LIMIT_MAX * LANES_MOST);
    TAKE(key, z.listed);
    TAKE(ref, z.listed);
    TAKE(run, z.runs);
    TAKE(cut_keys, spares);
    TAKE(cut_refs, spares);
#undef TAKE
    s->spares = spares;
    return at;
}

static lists *lists_create(pool *p, lists_size size, size_t *bytes)
{
    *bytes = lists_layout(NULL, size);
    lists *s = pool_take(p, *bytes);
    if (!s)
        return NULL;
    memset(s, 0, sizeof *s);
    lists_layout(s, size);
    points_none(s->spare + s->spares);
    s->lanes_at_once = cpu_get()->l2 >= LANES_L2 ? LANES_MOST : LANES_LISTS;
    return s;
}

/* One level: sums of `entries` points by key. */
typedef struct level {
    const uint32_t *key, *ref; /* entries, or */
    const run *runs;           /* where they lie in runs */
    size_t run_count, entries, keys;
    const uint64_t *points; /* rows or quads: see lanes_ifma.h */
    uint32_t y_at;
    uint32_t none; /* this point and the next stand for none */
    point52 *sums;
    uint8_t *state; /* by key: 1 where sums[key] is a point, 0 where it is infinity */
    uint32_t limit;
    size_t segments, stride, spare_first, spare_end;
} level;

/* Runs are short and lie apart: the processor would not foresee where the next one starts. */
static inline void prefetch_run(const level *v, size_t r)
{
    if (r < v->run_count)
        for (size_t line = 0; line < 4; line++)
            _mm_prefetch((const char *)v->runs[r].entry + 64 * line, _MM_HINT_T0);
}

static void count_runs(lists *s, const level *v)
{
    for (size_t r = 0; r < v->run_count; r++) {
        const run u = v->runs[r];
        uint32_t *count = s->count + u.key;
        prefetch_run(v, r + 1);
        for (uint32_t i = 0; i < u.count; i++)
            count[u.entry[i] >> RUN_BITS]++;
    }
}

/* Counts the points of each key, the sum so far included, and chooses where to cut. */
static void level_count(lists *s, level *v)
{
    size_t used = 0, total = v->entries;
    memset(s->count, 0, v->keys * sizeof *s->count);
    if (v->runs)
        count_runs(s, v);
    for (size_t i = 0; !v->runs && i < v->entries; i++)
        s->count[v->key[i]]++;
    for (size_t k = 0; k < v->keys; k++) {
        if (!s->count[k])
            continue;
        s->count[k] += v->state[k];
        total += v->state[k];
        used++;
    }
    /* enough sums to fill the lanes, if there are enough points; none longer than about twice the mean */
    size_t limit = used < s->lanes_at_once ? total / s->lanes_at_once : 2 * (total / used) + 8;
    v->limit = (uint32_t)(limit < LIMIT_MIN ? LIMIT_MIN : limit > LIMIT_MAX ? LIMIT_MAX : limit);
}

static uint32_t level_position(const lists *s, const level *v, size_t rank)
{
    uint32_t r = (uint32_t)rank, stride = (uint32_t)v->stride; /* dividing 64 bits takes longer */
    return s->base[r / stride] + r % stride;
}

/* Ranks the sums by length, the longest first; first[c]: the rank of the next sum of c points. */
static void level_rank(lists *s, level *v, uint32_t *first)
{
    memset(first, 0, (v->limit + 1) * sizeof *first);
    for (size_t k = 0; k < v->keys; k++) {
        uint32_t c = s->count[k];
        if (c > v->limit) {
            first[v->limit] += c / v->limit;
            c %= v->limit;
        }
        first[c]++;
    }
    v->segments = 0;
    for (uint32_t c = v->limit; c; c--) {
        uint32_t n = first[c];
        first[c] = (uint32_t)v->segments;
        for (uint32_t i = 0; i < n; i++)
            s->length[v->segments++] = c;
    }
    memset(s->length + v->segments, 0, LANES_MOST * sizeof *s->length);
    size_t batches = (v->segments + s->lanes_at_once - 1) / s->lanes_at_once, at = 0;
    v->stride = batches ? ((v->segments + batches - 1) / batches + 7) / 8 * 8 : 8;
    for (size_t b = 0; b * v->stride < v->segments; b++) {
        s->base[b] = (uint32_t)at;
        at += s->length[b * v->stride] * v->stride;
    }
    for (size_t i = 0; i < at; i += 8) /* a multiple of 8 */
        _mm256_storeu_si256((__m256i *)(s->rows + i), _mm256_set1_epi32((int)v->none));
}

/* Gives every key its place; the sum so far of a key comes first. Cut keys are then empty: what they held is
 * now in one of their spares. */
static void level_place(lists *s, level *v, uint32_t *first)
{
    size_t cuts = 0;
    for (size_t k = 0; k < v->keys; k++) {
        uint32_t c = s->count[k], rank, *place = &s->place[k];
        if (!c)
            continue;
        if (c <= v->limit) {
            rank = first[c]++;
            s->segment[rank] = (uint32_t)k;
            *place = level_position(s, v, rank);
        } else {
            cut_key *h = &s->cut[cuts];
            *h =
                (cut_key){.next_whole = first[v->limit], .wholes = c / v->limit, .last_length = c % v->limit};
            first[v->limit] += h->wholes;
            for (uint32_t i = 0; i < h->wholes + (h->last_length != 0); i++) {
                rank = i < h->wholes ? h->next_whole + i : (h->last = first[h->last_length]++);
                s->segment[rank] = SPARE | (uint32_t)v->spare_end;
                s->cut_keys[v->spare_end] = (uint32_t)k;
                s->cut_refs[v->spare_end] = ROW_REF(v->spare_end);
                v->spare_end++;
            }
            h->place = level_position(s, v, h->next_whole++);
            h->wholes--;
            h->left = v->limit;
            *place = SPARE | (uint32_t)cuts++;
        }
        if (v->state[k]) {
            uint32_t *at = *place & SPARE ? &s->cut[*place & ~SPARE].place : place;
            s->rows[*at] = REF_SUM | ROW_REF(k);
            *at += (uint32_t)v->stride;
            if (*place & SPARE) {
                s->cut[*place & ~SPARE].left--;
                v->state[k] = 0;
            }
        }
    }
}

static void level_place_cut(lists *s, const level *v, cut_key *h, uint32_t ref)
{
    if (!h->left) {
        int whole = h->wholes != 0;
        h->place = level_position(s, v, whole ? h->next_whole++ : h->last);
        h->left = whole ? v->limit : h->last_length;
        h->wholes -= (uint32_t)whole;
    }
    s->rows[h->place] = ref;
    h->place += (uint32_t)v->stride;
    h->left--;
}

/* rows and stride: those of s and v, which stores to rows would have the compiler read again. */
static inline void level_put(lists *s, const level *v, uint32_t *rows, uint32_t stride, uint32_t key,
                             uint32_t ref)
{
    uint32_t *place = &s->place[key], at = *place;
    if (__builtin_expect(at & SPARE, 0)) {
        level_place_cut(s, v, &s->cut[at & ~SPARE], ref);
    } else {
        rows[at] = ref;
        *place = at + stride;
    }
}

static void level_fill(lists *s, const level *v)
{
    uint32_t *rows = s->rows, stride = (uint32_t)v->stride, rest = ((uint32_t)1 << RUN_BITS) - 1;
    for (size_t r = 0; v->runs && r < v->run_count; r++) {
        const run u = v->runs[r];
        prefetch_run(v, r + 1);
        for (uint32_t i = 0; i < u.count; i++)
            level_put(s, v, rows, stride, u.key + (u.entry[i] >> RUN_BITS), u.ref + (u.entry[i] & rest));
    }
    for (size_t i = 0; !v->runs && i < v->entries; i++)
        level_put(s, v, rows, stride, v->key[i], v->ref[i]);
}

/* Runs one batch: starts the sums with row 0, adds the other rows, stores. */
static int level_batch(lists *s, const level *v, size_t batch, const cancel_token *cancel)
{
    lanes *t = &s->lanes;
    size_t rank = batch * v->stride, groups = v->stride / 8, rounds = s->length[rank];
    const uint32_t *row = s->rows + s->base[batch];
    t->points = v->points;
    t->y_at = v->y_at;
    t->none = v->none;
    t->any_infinite = 0;
    for (size_t g = 0; g < groups; g++) {
        if (g + AHEAD < groups)
            lanes_prefetch(t, row + 8 * (g + AHEAD), v->sums);
        for (int l = 0; l < 8 && rounds > 1; l++) /* what no second pass has fetched */
            prefetch_coordinate(x_of(t, row[v->stride + 8 * g + (size_t)l]), 1);
        lanes_start(t, row + 8 * g, v->sums, g);
    }
    for (size_t r = 1; r < rounds; r++) {
        if (r % 64 == 0 && cancel_check(cancel))
            return 0;
        row += v->stride;
        while (s->length[rank + 8 * (groups - 1)] <= r)
            groups--;
        lanes_round(t, row, r + 1 < rounds ? row + v->stride : NULL, groups);
    }
    for (size_t g = 0; g < v->stride / 8; g++) {
        point52 out[8];
        const uint32_t *ahead = s->segment + rank + 8 * (g + 1);
        for (size_t l = 0; l < 8 && rank + 8 * (g + 1) + l < v->segments; l++)
            if (!(ahead[l] & SPARE)) {
                prefetch_coordinate(v->sums[ahead[l]].x, 0);
                prefetch_coordinate(v->sums[ahead[l]].y, 0);
            }
        lanes_rows(t, g, out);
        for (size_t l = 0; l < 8 && rank + 8 * g + l < v->segments; l++) {
            uint32_t to = s->segment[rank + 8 * g + l];
            int infinite = t->infinite[g] >> l & 1;
            if (!(to & SPARE)) {
                v->state[to] = !infinite;
                v->sums[to] = out[l];
            } else if (!infinite) {
                s->spare[to & ~SPARE] = out[l];
            } else {
                s->cut_refs[to & ~SPARE] = ROW_REF(s->spares); /* none */
            }
        }
    }
    return 1;
}

/* 0 if cancelled. state and sums of all keys must be set; the point none and the next are two that no list
 * holds on purpose. No more of anything than s was made for. */
static int lists_sum(lists *s, level v, const cancel_token *cancel)
{
    uint32_t first[LIMIT_MAX + 1];
    v.spare_end = 0;
    while (v.entries) {
        v.spare_first = v.spare_end;
        level_count(s, &v);
        level_rank(s, &v, first);
        level_place(s, &v, first);
        level_fill(s, &v);
        for (size_t b = 0; b * v.stride < v.segments; b++)
            if (cancel_check(cancel) || !level_batch(s, &v, b, cancel))
                return 0;
        /* the spares, without those that came out as infinity */
        size_t n = v.spare_first;
        for (size_t i = v.spare_first; i < v.spare_end; i++) {
            s->cut_keys[n] = s->cut_keys[i];
            s->cut_refs[n] = s->cut_refs[i];
            n += s->cut_refs[i] != ROW_REF(s->spares);
        }
        v.runs = NULL;
        v.key = s->cut_keys + v.spare_first;
        v.ref = s->cut_refs + v.spare_first;
        v.entries = n - v.spare_first;
        v.points = s->spare->x;
        v.y_at = ROW_Y;
        v.none = ROW_REF(s->spares);
    }
    return 1;
}
