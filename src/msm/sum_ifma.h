/* Multi-scalar multiplication: the choice of sizes and the course of a whole sum. Template, after
 * windows_ifma.h and subset_ifma.h. */

/* Wide terms at a time: up to 128 MiB of quads, then a quarter of all, up to more the larger the windows are,
 * which need more terms to fill their buckets. Sums that start and are stored less often gain 3 % at 2^20 in
 * G1 over half as much; twice as much would gain another 2 %, but costs more to clear when it is fresh; in
 * G2, where products take more of the time, 256 MiB lose 4 %. */
#define CHUNK_LEAST   (((size_t)1 << 19) / FE_PARTS)
#define LARGE_WINDOW  100000 /* buckets of a window, from 13 windows down */
#define CHUNK_LARGE   ((size_t)1 << 21)
#define HUGE_WINDOW   400000 /* 12 windows; fewer would take gigabytes for the buckets */
#define CHUNK_HUGE    ((size_t)1 << 23)
#define WINDOWS_LEAST 12

static size_t choose_chunk(size_t n, uint32_t buckets)
{
    size_t most = buckets < LARGE_WINDOW ? CHUNK_LEAST : buckets < HUGE_WINDOW ? CHUNK_LARGE : CHUNK_HUGE;
    return n / 4 < CHUNK_LEAST ? CHUNK_LEAST : n / 4 > most ? most : n / 4;
}

/* How many windows: additions are one a term and, as measured, about two a bucket in each. Every chunk
 * starts and stores the sums of all buckets, which costs about half an addition each. */
static unsigned choose_windows(size_t n)
{
    unsigned best = 0;
    double least = 0;
    for (unsigned w = WINDOWS_LEAST; w <= HEXAGON_MOST; w++) {
        uint32_t m = hexagon_radix(w), buckets = (uint32_t)((uint64_t)m * m / 6);
        size_t chunk = choose_chunk(n, buckets);
        double chunks = n > chunk ? (double)n / (double)chunk : 1;
        double cost = w * ((double)n + buckets * (1.9 + 0.45 * chunks) + 600);
        if (m && (!best || cost < least))
            least = cost, best = w;
    }
    return best;
}

/* Pieces of a window for several threads, which should end a chunk together though they differ in speed: a
 * few parts for each thread if that leaves a piece enough buckets to fill the lanes, more of them if its own
 * costs stay small, and then the number after which the fewest threads have nothing to do at the end. */
#define PIECE_LEAST  2048
#define PIECE_LARGE  8192
#define PIECES_TRIED 16

static uint32_t idle_threads(uint32_t parts, unsigned threads)
{
    return (threads - parts % threads) % threads;
}

static uint32_t choose_pieces(const hexagon *h, unsigned threads, uint32_t least)
{
    uint32_t pieces = least, some = threads > 4 ? 4 * threads : 8 * threads, many = 24 * threads, best;
    while (h->windows * pieces < many &&
           h->buckets / (pieces + 1) >= (h->windows * pieces < some ? PIECE_LEAST : PIECE_LARGE))
        pieces++;
    best = pieces;
    for (uint32_t p = pieces; p < pieces + PIECES_TRIED && h->buckets / p >= PIECE_LEAST; p++) {
        /* per part, and so per piece, since all windows have as many */
        if ((uint64_t)idle_threads(h->windows * p, threads) * best <
            (uint64_t)idle_threads(h->windows * best, threads) * p)
            best = p;
    }
    return best;
}

/* Windows in groups of about TASK_KEYS buckets for one thread; for several, single windows or pieces of one;
 * pieces also where a window is larger. */
static cuzk_status make_parts(sum_job *j, unsigned threads, cuzk_error *err)
{
    uint32_t buckets = j->hex.buckets, windows = j->hex.windows;
    uint32_t group = TASK_KEYS / buckets, pieces = (buckets + TASK_KEYS - 1) / TASK_KEYS;
    uint32_t shared = buckets < PIECE_LEAST ? (windows + 2 * threads - 1) / (2 * threads) : 1;
    if (threads > 1 && group > shared)
        group = shared;
    if (group < 1)
        group = 1;
    if (group == 1 && threads > 1)
        pieces = choose_pieces(&j->hex, threads, pieces);
    j->pieces = pieces;
    j->parts = mem_calloc((size_t)windows * pieces, sizeof *j->parts);
    if (!j->parts)
        return mem_error(err, (size_t)windows * pieces * sizeof *j->parts, "a sum of points");
    uint32_t piece = j->piece = (buckets + pieces - 1) / pieces;
    j->group = 1;
    while (pieces > 4 && j->group * j->group < pieces &&
           (j->group + 1) * piece <= (uint32_t)1 << (32 - RUN_BITS))
        j->group++;
    for (uint32_t w = 0; w < windows; w += group)
        for (uint32_t i = 0; i < buckets; i += piece)
            j->parts[j->part_count++] = (part){w, group < windows - w ? group : windows - w, i,
                                               piece < buckets - i ? piece : buckets - i, i / piece};
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

/* The end of a chunk that begins with block b. */
static size_t chunk_end(const sum_job *j, size_t b)
{
    size_t e = b + 1;
    while (e < j->blocks && j->wide[e + 1] - j->wide[b] <= j->chunk)
        e++;
    return e;
}

/* What a sum of wide terms borrows from the pool: arrays, and two blocks for every thread. */
#define SUM_ARRAYS 8
typedef struct sum_memory {
    memory list[SUM_ARRAYS];
    size_t taken, worker_bytes, scratch_bytes;
} sum_memory;

static void sum_give(sum_job *j, sum_memory *m, pool *p)
{
    for (unsigned i = 0; m->taken == SUM_ARRAYS && i < pool_size(p); i++) {
        pool_give(p, j->worker[i], m->worker_bytes);
        pool_give(p, j->scratch[i], m->scratch_bytes);
    }
    while (m->taken)
        m->taken--, pool_give(p, m->list[m->taken].at, m->list[m->taken].bytes);
    mem_free(j->parts);
}

static cuzk_status sum_take(sum_job *j, sum_memory *m, const msm_tuning *tuning, pool *p, cuzk_error *err)
{
    unsigned threads = pool_size(p), windows = j->hex.windows, log = hexagon_log(&j->hex);
    size_t part_windows = j->parts[0].windows, part_keys = part_windows * j->parts[0].buckets;
    j->sets = 2 * part_windows;
    size_t reduced = j->sets << log, sets = j->one_chunk ? threads : 1;
    lists_size size = {.keys = part_keys > reduced ? part_keys : reduced,
                       .entries = part_windows * j->chunk,
                       .listed = 2 * (part_keys + reduced),
                       .runs = part_windows * j->most_blocks};
    j->kept = j->one_chunk ? part_keys : (size_t)windows * j->hex.buckets;
    size_t sums = sets * (j->kept + 2), totals = windows * j->pieces;
    size_t firsts = windows * j->most_blocks * (j->pieces + 1);
    size_t codes = windows * CODES_STRIDE * sizeof(uint32_t), room = reducer_bytes(j->sets, log);
    m->scratch_bytes = room > codes ? room : codes;
    j->points = take(p, m->list, &m->taken, QUAD * (j->chunk + 2) * sizeof(fe_rows));
    j->codes = take(p, m->list, &m->taken, windows * j->stride * sizeof(uint32_t));
    j->first = take(p, m->list, &m->taken, firsts * sizeof(uint16_t));
    j->sums = take(p, m->list, &m->taken, sums * sizeof(point52));
    j->state = take(p, m->list, &m->taken, sums);
    j->total = take(p, m->list, &m->taken, totals * sizeof(JACOBIAN));
    j->worker = take(p, m->list, &m->taken, threads * sizeof(lists *));
    j->scratch = take(p, m->list, &m->taken, threads * sizeof(void *));
    int ok = m->taken == SUM_ARRAYS;
    if (ok) {
        memset(j->state, 0, sums);
        memset(j->total, 0, totals * sizeof(JACOBIAN));
        memset(j->worker, 0, threads * sizeof(lists *));
        memset(j->scratch, 0, threads * sizeof(void *));
    }
    for (unsigned i = 0; ok && i < threads; i++) {
        j->worker[i] = lists_create(p, size, &m->worker_bytes);
        j->scratch[i] = pool_take(p, m->scratch_bytes);
        ok = j->worker[i] && j->scratch[i];
        if (ok && tuning && tuning->lanes)
            j->worker[i]->lanes_at_once = tuning->lanes;
    }
    if (!ok)
        return mem_error(
            err, QUAD * j->chunk * sizeof(fe_rows) + sums * sizeof(point52) + threads * m->worker_bytes,
            "a sum of points");
    quads_none(j->points + QUAD * j->chunk);
    for (size_t i = 1; i <= sets; i++)
        points_none(j->sums + i * (j->kept + 2) - 2);
    return CUZK_OK;
}

/* The windows of all wide terms. */
static cuzk_status sum_wide(JACOBIAN *out, sum_job *j, size_t wide, const msm_tuning *tuning, pool *p,
                            cuzk_error *err)
{
    sum_memory m = {0};
    unsigned windows = tuning && tuning->windows ? tuning->windows : choose_windows(wide);
    if (!hexagon_init(&j->hex, windows))
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "no digits for %u windows", windows);
    size_t chunk = tuning && tuning->chunk ? tuning->chunk : choose_chunk(wide, j->hex.buckets);
    j->chunk = wide < chunk ? (wide + 7) / 8 * 8 : chunk + BLOCK;
    j->stride = j->chunk + 352; /* an odd multiple of 32 more: planes do not share sets of the caches */
    j->one_chunk = wide <= j->chunk;
    for (size_t b = 0, e; b < j->blocks; b = e) {
        e = chunk_end(j, b);
        j->most_blocks = e - b > j->most_blocks ? e - b : j->most_blocks;
    }
    points_turn(&j->turn);
    cuzk_status st = make_parts(j, pool_size(p), err);
    if (!st)
        st = sum_take(j, &m, tuning, p, err);
    for (size_t b = 0; b < j->blocks && !st; b += j->chunk_blocks) {
        j->block_first = b;
        j->chunk_blocks = chunk_end(j, b) - b;
        if (j->wide[b + j->chunk_blocks] > j->wide[b]) {
            pool_for(p, j->chunk_blocks, convert_blocks, j);
            pool_for(p, j->part_count, fill_part, j);
        }
        st = msm_stopped(j->cancel, err);
    }
    if (!st && !j->one_chunk)
        pool_for(p, j->part_count, reduce_part, j);
    if (!st)
        st = msm_stopped(j->cancel, err);
    memset(out, 0, sizeof *out);
    for (unsigned w = windows; w-- > 0 && !st;) {
        POINT_MUL_U32(out, out, j->hex.radix);
        for (uint32_t i = 0; i < j->pieces; i++)
            POINT_ADD(out, out, &j->total[w * j->pieces + i]);
    }
    sum_give(j, &m, p);
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
    for (size_t w = b * (BLOCK / 64); w < (b + 1) * (BLOCK / 64); w++)
        for (uint64_t set = j->one_bits[w]; set; set &= set - 1) {
            size_t i = 64 * w + (size_t)__builtin_ctzll(set);
            stream_push(o->worker[worker], j->index ? j->index[i] : (uint32_t)i);
        }
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
    size_t words = j.blocks * (BLOCK / 64), ones = 0;
    size_t bytes = 2 * words * sizeof(uint64_t) + (2 * j.blocks + 1) * sizeof(uint32_t);
    uint64_t *at = pool_take(p, bytes);
    if (!at)
        return mem_error(err, bytes, "a sum of points");
    j.wide_bits = at;
    j.one_bits = j.wide_bits + words;
    j.wide = (uint32_t *)(j.one_bits + words);
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
    pool_give(p, at, bytes);
    return st;
}
