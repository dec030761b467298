/* Multi-scalar multiplication: the choice of sizes and the course of a whole sum. Template, after
 * windows_ifma.h and subset_ifma.h. */

/* Wide terms at a time. Memory for the rows of limbs is 256 bytes each in G1, 512 in G2, and threads that
 * gather from more of it than the caches hold wait for each other: with windows of up to 16 bits, chunks of
 * 2^18 or 2^19 cost one thread nothing and let two of them run at 1.83 instead of 1.55 times its speed.
 * Larger windows need more terms to fill their buckets. */
#define CHUNK_LEAST      ((size_t)1 << 18)
#define CHUNK_MOST       ((size_t)1 << 19)
#define CHUNK_MOST_LARGE ((size_t)1 << 21) /* windows of more than 16 bits */

/* The bits of a window: additions are two a term and two a bucket in every window. A large window pays if
 * every chunk still brings several points to each bucket. */
static unsigned choose_window(size_t n)
{
    static const uint8_t sizes[] = {6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 19};
    unsigned best = 6;
    double least = 0;
    for (unsigned i = 0; i < sizeof sizes; i++) {
        double buckets = (double)((size_t)1 << (sizes[i] - 1)), points = 2.0 * (double)n;
        double cost = glv_windows(sizes[i]) * (points + 2.2 * buckets + 600);
        if (sizes[i] > 16 && n < (size_t)1 << 23)
            continue;
        if (i == 0 || cost < least)
            least = cost, best = sizes[i];
    }
    return best;
}

/* Windows in groups of about TASK_KEYS buckets for one thread. For several, single windows, or pieces of one,
 * so that threads of unequal speed finish together; also where a window is larger. */
static cuzk_status make_parts(sum_job *j, unsigned threads, cuzk_error *err)
{
    uint32_t group = TASK_KEYS / j->buckets, pieces = 1, tasks = threads > 4 ? 4 * threads : 8 * threads;
    if (threads > 1 && group > (j->buckets < 2048 ? (j->windows + 2 * threads - 1) / (2 * threads) : 1))
        group = j->buckets < 2048 ? (j->windows + 2 * threads - 1) / (2 * threads) : 1;
    if (group < 1)
        group = 1;
    while (j->buckets / pieces > TASK_KEYS ||
           (group == 1 && threads > 1 && pieces * j->windows < tasks && j->buckets / pieces > 2048))
        pieces *= 2;
    j->pieces = pieces;
    j->parts = mem_calloc((size_t)j->windows * pieces, sizeof *j->parts);
    if (!j->parts)
        return mem_error(err, (size_t)j->windows * pieces * sizeof *j->parts, "a sum of points");
    for (uint32_t w = 0; w < j->windows; w += group) {
        /* the top window holds what is left of the bits: its digits are at most 2^top, the carry included */
        unsigned top = GLV_BITS - j->c * (j->windows - 1);
        uint32_t used = w + 1 == j->windows && top + 1 < j->c ? (uint32_t)1 << top : j->buckets;
        uint32_t buckets = used / pieces ? used / pieces : 1;
        for (uint32_t i = 0; i < pieces && i * buckets < used; i++)
            j->parts[j->part_count++] =
                (part){w, group < j->windows - w ? group : j->windows - w, i * buckets, buckets};
    }
    return CUZK_OK;
}

typedef struct memory {
    void *at;
    size_t bytes;
} memory;

static void *take(pool *p, memory *list, size_t *count, size_t bytes)
{
    void *at = pool_take(p, bytes);
    if (at)
        list[(*count)++] = (memory){at, bytes};
    return at;
}

/* The windows of all wide terms. */
static cuzk_status sum_wide(JACOBIAN *out, sum_job *j, size_t wide, const msm_tuning *tuning, pool *p,
                            cuzk_error *err)
{
    unsigned threads = pool_size(p);
    memory list[8];
    size_t taken = 0, worker_bytes = 0;
    cuzk_status st = CUZK_OK;
    j->c = tuning && tuning->window ? tuning->window : choose_window(wide);
    j->windows = glv_windows(j->c);
    j->buckets = (uint32_t)1 << (j->c - 1);
    size_t most = j->c > 16 ? CHUNK_MOST_LARGE : CHUNK_MOST, chunk = wide / 4;
    chunk = chunk < CHUNK_LEAST ? CHUNK_LEAST : chunk > most ? most : chunk;
    if (tuning && tuning->chunk)
        chunk = tuning->chunk;
    j->chunk = wide < chunk ? (wide + 7) / 8 * 8 : chunk + BLOCK;
    j->stride = 2 * j->chunk + 352; /* an odd multiple of 32 more: planes do not share sets of the caches */
    points_beta(&j->beta);
    if ((st = make_parts(j, threads, err)))
        goto exit;
    size_t keys = (size_t)j->parts[0].windows * j->parts[0].buckets,
           entries = j->parts[0].windows * 2 * j->chunk;
    if (entries < 2 * (size_t)j->buckets)
        entries = 2 * (size_t)j->buckets;
    size_t keys_of_part = keys;
    if (keys < 4096)
        keys = 4096;
    size_t sets = 1;
    j->one_chunk = wide <= j->chunk;
    if (j->one_chunk)
        sets = threads;
    j->kept = j->one_chunk ? keys_of_part : (size_t)j->windows * j->buckets;
    size_t sums = sets * (j->kept + 2);
    j->points = take(p, list, &taken, (2 * j->chunk + 2) * sizeof(point52));
    j->digits = take(p, list, &taken, j->windows * j->stride * sizeof(int32_t));
    j->sums = take(p, list, &taken, sums * sizeof(point52));
    j->state = take(p, list, &taken, sums);
    j->total = take(p, list, &taken, j->windows * j->pieces * sizeof(JACOBIAN));
    j->worker = take(p, list, &taken, threads * sizeof(lists *));
    j->scratch = take(p, list, &taken, threads * sizeof(point52 *));
    int ok = taken == 7;
    if (ok) {
        memset(j->state, 0, sums);
        memset(j->total, 0, j->windows * j->pieces * sizeof(JACOBIAN));
        memset(j->worker, 0, threads * sizeof(lists *));
        memset(j->scratch, 0, threads * sizeof(point52 *));
    }
    for (unsigned i = 0; ok && i < threads; i++) {
        j->worker[i] = lists_create(p, keys, entries, &worker_bytes);
        j->scratch[i] = pool_take(p, SUMS * sizeof(point52));
        ok = j->worker[i] && j->scratch[i];
    }
    if (!ok) {
        st = mem_error(err, (2 * j->chunk + sums) * sizeof(point52) + threads * worker_bytes,
                       "a sum of points");
        goto exit;
    }
    points_none(j->points + 2 * j->chunk);
    for (size_t i = 1; i <= sets; i++)
        points_none(j->sums + i * (j->kept + 2) - 2);
    for (size_t b = 0; b < j->blocks && !st;) {
        size_t e = b + 1;
        while (e < j->blocks && j->wide[e + 1] - j->wide[b] <= j->chunk)
            e++;
        j->block_first = b;
        j->terms = j->wide[e] - j->wide[b];
        if (j->terms) {
            pool_for(p, e - b, convert_blocks, j);
            pool_for(p, j->part_count, fill_part, j);
        }
        b = e;
        st = msm_stopped(j->cancel, err);
    }
    if (!st && !j->one_chunk)
        pool_for(p, j->part_count, reduce_part, j);
    if (st || (st = msm_stopped(j->cancel, err)))
        goto exit;
    memset(out, 0, sizeof *out);
    for (unsigned w = j->windows; w-- > 0;) {
        for (unsigned i = 0; i < j->c; i++)
            POINT_DOUBLE(out, out);
        for (uint32_t i = 0; i < j->pieces; i++)
            POINT_ADD(out, out, &j->total[w * j->pieces + i]);
    }
exit:
    for (unsigned i = 0; taken == 7 && i < threads; i++) {
        pool_give(p, j->worker[i], worker_bytes);
        pool_give(p, j->scratch[i], SUMS * sizeof(point52));
    }
    while (taken)
        taken--, pool_give(p, list[taken].at, list[taken].bytes);
    mem_free(j->parts);
    return st;
}

typedef struct ones_job {
    const sum_job *sum;
    stream **worker;
} ones_job;

static void push_ones(void *ctx, size_t b, unsigned worker)
{
    const ones_job *o = ctx;
    const sum_job *j = o->sum;
    if (!j->ones[b] || cancel_check(j->cancel))
        return;
    for (size_t i = b * BLOCK; i < (b + 1) * BLOCK && i < j->n; i++)
        if (scalar_kind(&j->k[i]) == 1)
            stream_push(o->worker[worker], j->index ? j->index[i] : (uint32_t)i);
}

static cuzk_status sum_ones(JACOBIAN *out, const sum_job *j, pool *p, cuzk_error *err)
{
    streams s;
    cuzk_status st = streams_create(&s, j->bases, p, err);
    if (st)
        return st;
    pool_for(p, j->blocks, push_ones, &(ones_job){j, s.worker});
    st = msm_stopped(j->cancel, err);
    if (!st)
        streams_total(out, &s, p);
    streams_destroy(&s);
    return st;
}

static cuzk_status sum(JACOBIAN *out, const AFFINE *bases, const uint32_t *index, const scalar *k, size_t n,
                       const msm_tuning *tuning, pool *p, const cancel_token *cancel, cuzk_error *err)
{
    sum_job j = {.bases = bases, .index = index, .k = k, .n = n, .cancel = cancel};
    cuzk_status st = CUZK_OK;
    JACOBIAN piece;
    if (n > MSM_MAX)
        return cuzk_error_set(err, CUZK_UNSUPPORTED, "a sum of %zu points is larger than 2^31", n);
    j.blocks = (n + BLOCK - 1) / BLOCK;
    size_t bytes = (j.blocks + 1) * 2 * sizeof(uint32_t), ones = 0;
    j.wide = pool_take(p, bytes);
    if (!j.wide)
        return mem_error(err, bytes, "a sum of points");
    j.ones = j.wide + j.blocks + 1;
    memset(out, 0, sizeof *out);
    pool_for_range(p, j.blocks, 1, count_blocks, &j);
    uint32_t wide = 0;
    for (size_t b = 0; b <= j.blocks; b++) {
        uint32_t here = b < j.blocks ? j.wide[b] : 0;
        ones += b < j.blocks ? j.ones[b] : 0;
        j.wide[b] = wide;
        wide += here;
    }
    if (wide && (st = sum_wide(&piece, &j, wide, tuning, p, err)))
        goto exit;
    if (wide)
        *out = piece;
    if (ones && !(st = sum_ones(&piece, &j, p, err)))
        POINT_ADD(out, out, &piece);
exit:
    pool_give(p, j.wide, bytes);
    return st;
}
