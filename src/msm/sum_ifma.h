/* Multi-scalar multiplication: the choice of sizes and the course of a whole sum. Template, after windows_ifma.h and
 * subset_ifma.h. */

#define CHUNK_MAX ((size_t)1 << 18) /* wide terms at a time */

/* Additions of a sum of n wide terms: digits, and twice the buckets. */
static unsigned choose_window(size_t n, unsigned threads)
{
    unsigned best = 6;
    double least = 0;
    (void)threads;
    for (unsigned c = 6; c <= 16; c++) {
        double buckets = (double)((size_t)1 << (c - 1));
        double cost = glv_windows(c) * (2.0 * (double)n + 2.2 * buckets + 600);
        if (c == 6 || cost < least)
            least = cost, best = c;
    }
    return best;
}

/* Windows in groups of about TASK_KEYS buckets, or in parts of that size where a window is larger or the threads
 * are many. */
static cuzk_status make_parts(sum_job *j, unsigned threads, cuzk_error *err)
{
    uint32_t group = TASK_KEYS / j->buckets, pieces = 1;
    if (group > (j->windows + threads - 1) / threads)
        group = (j->windows + threads - 1) / threads;
    if (group < 1)
        group = 1;
    while (j->buckets / pieces > TASK_KEYS ||
           (group == 1 && threads > 1 && pieces * j->windows < 2 * threads && j->buckets / pieces > 2048))
        pieces *= 2;
    j->parts = mem_calloc((size_t)j->windows * pieces, sizeof *j->parts);
    if (!j->parts)
        return mem_error(err, (size_t)j->windows * pieces * sizeof *j->parts, "a sum of points");
    for (uint32_t w = 0; w < j->windows; w += group)
        for (uint32_t i = 0; i < pieces; i++)
            j->parts[j->part_count++] = (part){w, group < j->windows - w ? group : j->windows - w,
                                               i * (j->buckets / pieces), j->buckets / pieces};
    return CUZK_OK;
}

typedef struct memory {
    void *at;
    size_t bytes;
} memory;

static void *take(memory *list, size_t *count, size_t bytes)
{
    void *p = big_alloc(bytes);
    if (p)
        list[(*count)++] = (memory){p, bytes};
    return p;
}

/* The windows of all wide terms. */
static cuzk_status sum_wide(JACOBIAN *out, sum_job *j, size_t wide, pool *p, cuzk_error *err)
{
    unsigned threads = pool_size(p);
    memory list[8];
    size_t taken = 0, worker_bytes = 0;
    cuzk_status st = CUZK_OK;
    j->c = choose_window(wide, threads);
    j->windows = glv_windows(j->c);
    j->buckets = (uint32_t)1 << (j->c - 1);
    j->chunk = wide < CHUNK_MAX ? (wide + 7) / 8 * 8 : CHUNK_MAX + BLOCK;
    j->stride = 2 * j->chunk + 352; /* an odd multiple of 32 more: planes do not share sets of the caches */
    points_beta(&j->beta);
    if ((st = make_parts(j, threads, err)))
        goto exit;
    size_t keys = (size_t)j->parts[0].windows * j->parts[0].buckets, entries = j->parts[0].windows * 2 * j->chunk;
    if (entries < 2 * (size_t)j->buckets)
        entries = 2 * (size_t)j->buckets;
    if (keys < 4096)
        keys = 4096;
    size_t sums = (size_t)j->windows * j->buckets;
    j->points = take(list, &taken, (2 * j->chunk + 2) * sizeof(point52));
    j->digits = take(list, &taken, j->windows * j->stride * sizeof(int32_t));
    j->sums = take(list, &taken, (sums + 2) * sizeof(point52));
    j->state = take(list, &taken, sums);
    j->total = take(list, &taken, j->windows * sizeof(JACOBIAN));
    j->worker = take(list, &taken, threads * sizeof(lists *));
    j->scratch = take(list, &taken, threads * sizeof(point52 *));
    int ok = taken == 7;
    for (unsigned i = 0; ok && i < threads; i++) {
        j->worker[i] = lists_create(keys, entries, &worker_bytes);
        j->scratch[i] = big_alloc(SUMS * sizeof(point52));
        ok = j->worker[i] && j->scratch[i];
    }
    if (!ok) {
        st = mem_error(err, (2 * j->chunk + sums) * sizeof(point52) + threads * worker_bytes, "a sum of points");
        goto exit;
    }
    points_none(j->points + 2 * j->chunk);
    points_none(j->sums + sums);
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
    if (!st)
        pool_for(p, j->windows, reduce_window, j);
    if (st || (st = msm_stopped(j->cancel, err)))
        goto exit;
    memset(out, 0, sizeof *out);
    for (unsigned w = j->windows; w-- > 0;) {
        for (unsigned i = 0; i < j->c; i++)
            POINT_DOUBLE(out, out);
        POINT_ADD(out, out, &j->total[w]);
    }
exit:
    for (unsigned i = 0; taken == 7 && i < threads; i++) {
        big_free(j->worker[i], worker_bytes);
        big_free(j->scratch[i], SUMS * sizeof(point52));
    }
    while (taken)
        taken--, big_free(list[taken].at, list[taken].bytes);
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
    cuzk_status st = streams_create(&s, j->bases, pool_size(p), err);
    if (st)
        return st;
    pool_for(p, j->blocks, push_ones, &(ones_job){j, s.worker});
    st = msm_stopped(j->cancel, err);
    if (!st)
        streams_total(out, &s, p);
    streams_destroy(&s);
    return st;
}

static cuzk_status sum(JACOBIAN *out, const AFFINE *bases, const uint32_t *index, const scalar *k, size_t n, pool *p,
                       const cancel_token *cancel, cuzk_error *err)
{
    sum_job j = {.bases = bases, .index = index, .k = k, .n = n, .cancel = cancel};
    cuzk_status st = CUZK_OK;
    JACOBIAN piece;
    if (n > MSM_MAX)
        return cuzk_error_set(err, CUZK_UNSUPPORTED, "a sum of %zu points is larger than 2^31", n);
    j.blocks = (n + BLOCK - 1) / BLOCK;
    size_t bytes = (j.blocks + 1) * 2 * sizeof(uint32_t), ones = 0;
    j.wide = big_alloc(bytes);
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
    if (wide && (st = sum_wide(&piece, &j, wide, p, err)))
        goto exit;
    if (wide)
        *out = piece;
    if (ones && !(st = sum_ones(&piece, &j, p, err)))
        POINT_ADD(out, out, &piece);
exit:
    big_free(j.wide, bytes);
    return st;
}
