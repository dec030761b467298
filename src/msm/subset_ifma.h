/* The sum of chosen bases: LANES running sums over the stream of bases, which are gathered where they lie.
 * Template, after lists_ifma.h. */

typedef struct stream {
    lists *lists; /* one key, LANES entries */
    pool *pool;   /* that lent the memory */
    size_t bytes;
    const AFFINE *bases;
    int started, waiting; /* waiting: a full turn, fetched from memory while the one before it is added */
    unsigned at;          /* the turn that is being filled */
    size_t pending;       /* bases in it */
    uint32_t chosen[2][LANES]; /* bases of two turns */
    uint32_t ref[LANES];
    point52 rows[LANES + 2];
} __attribute__((aligned(64))) stream;

static stream *stream_create(const AFFINE *bases, pool *p)
{
    stream *s = big_alloc(sizeof *s);
    if (!s)
        return NULL;
    s->pool = p;
    s->lists = lists_create(p, (lists_size){.keys = 1, .listed = LANES}, &s->bytes);
    if (!s->lists) {
        big_free(s, sizeof *s);
        return NULL;
    }
    s->bases = bases;
    points_none(s->rows + LANES);
    return s;
}

static void stream_destroy(stream *s)
{
    if (!s)
        return;
    pool_give(s->pool, s->lists, s->bytes);
    big_free(s, sizeof *s);
}

static inline int base_is_infinite(const AFFINE *a)
{
    v8 any = _mm512_setzero_si512();
    for (int h = 0; h < FE_PARTS; h++)
        any = _mm512_or_si512(any, _mm512_maskz_loadu_epi64(0x3f, base_coordinate(a, 0) + h));
    return __builtin_expect(!_mm512_test_epi64_mask(any, any), 0) && AFFINE_IS_INF(a);
}

/* The first turn: every sum starts with its base. */
static void stream_start(stream *s, const uint32_t *chosen, size_t count)
{
    lanes *t = &s->lists->lanes;
    t->points = s->rows->x;
    t->y_at = ROW_Y;
    t->none = ROW_REF(LANES);
    for (size_t i = 0; i < LANES; i++) {
        s->ref[i] = t->none;
        if (i >= count || base_is_infinite(&s->bases[chosen[i]]))
            continue;
        point_in(&s->rows[i], &s->bases[chosen[i]]);
        s->ref[i] = ROW_REF(i);
    }
    for (size_t g = 0; g < GROUPS; g++)
        lanes_start(t, s->ref + 8 * g, NULL, g);
    t->bases = s->bases;
    s->started = 1;
}

/* Adds a turn to the sums. next: the one to fetch meanwhile, as long, or NULL. */
static void stream_add(stream *s, uint32_t *chosen, size_t count, const uint32_t *next)
{
    lanes *t = &s->lists->lanes;
    size_t groups = (count + 7) / 8;
    for (size_t i = count; i < 8 * groups; i++)
        chosen[i] = chosen[count - 1];
    for (size_t g = 0; g < groups; g++) {
        unsigned live = 0;
        for (unsigned l = 0; l < 8; l++)
            live |= (unsigned)!base_is_infinite(&s->bases[chosen[8 * g + l]]) << l;
        t->live[g] = (uint8_t)(8 * g + 8 > count ? live & ((1u << (count - 8 * g)) - 1) : live);
    }
    lanes_add(t, chosen, next, groups);
}

static void stream_turn(stream *s)
{
    uint32_t *now = s->chosen[s->at], *before = s->chosen[s->at ^ 1];
    if (!s->started) {
        stream_start(s, now, s->pending);
    } else {
        if (s->waiting)
            stream_add(s, before, LANES, now);
        s->waiting = 1;
        s->at ^= 1;
    }
    s->pending = 0;
}

static inline void stream_push(stream *s, uint32_t base)
{
    s->chosen[s->at][s->pending++] = base;
    if (s->pending == LANES)
        stream_turn(s);
}

/* The sum of everything pushed. */
static void stream_total(JACOBIAN *r, stream *s)
{
    memset(r, 0, sizeof *r);
    if (s->waiting)
        stream_add(s, s->chosen[s->at ^ 1], LANES, NULL);
    if (s->started && s->pending)
        stream_add(s, s->chosen[s->at], s->pending, NULL);
    else if (s->pending)
        stream_start(s, s->chosen[s->at], s->pending);
    if (!s->started)
        return;
    lists *t = s->lists;
    t->lanes.bases = NULL;
    size_t m = 0;
    uint8_t state = 0;
    point52 sum;
    for (size_t g = 0; g < GROUPS; g++) {
        lanes_rows(&t->lanes, g, s->rows + 8 * g);
        for (unsigned l = 0; l < 8; l++) {
            t->key[m] = 0;
            t->ref[m] = ROW_REF(8 * g + l);
            m += !(t->lanes.infinite[g] >> l & 1);
        }
    }
    level v = {.key = t->key,
               .ref = t->ref,
               .entries = m,
               .keys = 1,
               .points = s->rows->x,
               .y_at = ROW_Y,
               .none = ROW_REF(LANES),
               .sums = &sum,
               .state = &state};
    (void)lists_sum(t, v, NULL);
    s->started = s->waiting = 0;
    s->pending = 0;
    if (state) {
        AFFINE a;
        point_out(&a, &sum);
        POINT_FROM_AFFINE(r, &a);
    }
}

typedef struct subset_job {
    const uint64_t *bits;
    size_t n;
    const cancel_token *cancel;
    stream **worker;
    JACOBIAN *total;
} subset_job;

#define SUBSET_WORDS 256 /* of the bitmap, in a task: 16384 bases */

static void subset_task(void *ctx, size_t task, unsigned worker)
{
    const subset_job *j = ctx;
    size_t words = (j->n + 63) / 64, end = (task + 1) * SUBSET_WORDS;
    if (cancel_check(j->cancel))
        return;
    for (size_t i = task * SUBSET_WORDS; i < words && i < end; i++) {
        uint64_t set = j->bits[i];
        if (i == words - 1 && j->n % 64)
            set &= ((uint64_t)1 << j->n % 64) - 1;
        for (; set; set &= set - 1)
            stream_push(j->worker[worker], (uint32_t)(i * 64 + (size_t)__builtin_ctzll(set)));
    }
}

static void total_task(void *ctx, size_t task, unsigned worker)
{
    const subset_job *j = ctx;
    (void)worker;
    stream_total(&j->total[task], j->worker[task]);
}

typedef struct streams {
    unsigned count;
    stream **worker;
    JACOBIAN *total;
} streams;

static void streams_destroy(streams *s)
{
    for (unsigned i = 0; s->worker && i < s->count; i++)
        stream_destroy(s->worker[i]);
    mem_free(s->worker);
    mem_free(s->total);
}

static cuzk_status streams_create(streams *s, const AFFINE *bases, pool *p, cuzk_error *err)
{
    unsigned count = pool_size(p);
    *s = (streams){count, mem_calloc(count, sizeof *s->worker), mem_calloc(count, sizeof *s->total)};
    int ok = s->worker && s->total;
    for (unsigned i = 0; ok && i < count; i++)
        ok = (s->worker[i] = stream_create(bases, p)) != NULL;
    if (ok)
        return CUZK_OK;
    streams_destroy(s);
    *s = (streams){0};
    return mem_error(err, count * sizeof(stream), "a sum of points");
}

static void streams_total(JACOBIAN *out, streams *s, pool *p)
{
    subset_job j = {.worker = s->worker, .total = s->total};
    pool_for(p, s->count, total_task, &j);
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < s->count; i++)
        POINT_ADD(out, out, &s->total[i]);
}

static cuzk_status subset(JACOBIAN *out, const AFFINE *bases, const uint64_t *bits, size_t n, pool *p,
                          const cancel_token *cancel, cuzk_error *err)
{
    streams s;
    cuzk_status st = streams_create(&s, bases, p, err);
    if (st)
        return st;
    subset_job j = {.bits = bits, .n = n, .cancel = cancel, .worker = s.worker};
    pool_for(p, (n + 64 * SUBSET_WORDS - 1) / (64 * SUBSET_WORDS), subset_task, &j);
    st = msm_stopped(cancel, err);
    if (!st)
        streams_total(out, &s, p);
    streams_destroy(&s);
    return st;
}
