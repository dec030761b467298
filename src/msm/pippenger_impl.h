/* The sum of scalar * point. Included after reduce_impl.h.
 *
 * A census drops zeros and sums the bases of one and minus one on the way. Wide scalars are cut into
 * hexagonal digits (hexagon.h); of each window, the terms are sorted by bucket (by counting), and every
 * bucket's run of the sorted list is summed by halving. Tasks are pieces of the lists, not buckets, so that
 * threads finish together whatever the scalars are: a run cut by the border of a piece leaves a partial sum
 * (head), added afterwards. The scalars go through in chunks that bound the memory; a bucket's sum so far is
 * then simply one more element of its run. Last, the buckets are weighed by the sums of their rows and
 * columns. */
#include "msm/hexagon.h"

#define BLOCK     8192              /* scalars of a census task */
#define CHUNK     ((size_t)1 << 17) /* wide scalars of a chunk, for each thread: lists and images stay near */
#define CHUNK_MAX ((size_t)1 << 20)
#define MAX_PARTS 16

typedef struct job {
    const AFFINE *bases;
    const uint32_t *index;
    const scalar *k;
    size_t n;
    const cancel_token *cancel;
    work *work;
    unsigned workers;
    size_t blocks;
    uint32_t *block_wide; /* wide scalars of each block */
    size_t wide_total;
    /* plan */
    hexagon hex;
    unsigned windows;
    size_t buckets; /* of a window */
    unsigned parts; /* of a window's terms, for counting */
    size_t capacity;
    /* the chunk */
    size_t first_block, wide;
    size_t *block_at; /* where each block's terms begin in the chunk */
    uint32_t *base;   /* base of each wide scalar */
    COORD *image;     /* x of its endomorphism and of that one's, in turn */
    uint32_t *code;   /* [windows][wide] */
    uint32_t *count;  /* [windows][parts][buckets], then write positions */
    uint32_t *start;  /* [windows][buckets + 1] */
    uint32_t *sorted; /* [windows][capacity]: position in the chunk << 3 and the low bits of the code */
    size_t first_piece[HEXAGON_MOST]; /* of each window */
    uint32_t *head_bucket;            /* of each piece; UINT32_MAX for none */
    AFFINE *head;
    AFFINE *bucket; /* [windows][buckets] */
    AFFINE *line;   /* [windows][2][lines]: columns by x, rows by y */
    JACOBIAN *window_sum;
} job;

enum { SCALAR_ZERO, SCALAR_ONE, SCALAR_MINUS_ONE, SCALAR_WIDE };

static inline int scalar_kind(const scalar *k)
{
    if (!(k->l[1] | k->l[2] | k->l[3]) && k->l[0] < 2)
        return k->l[0] ? SCALAR_ONE : SCALAR_ZERO;
    if (k->l[0] == 0xffffffff00000000 && k->l[1] == 0x53bda402fffe5bfe && k->l[2] == 0x3339d80809a1d805 &&
        k->l[3] == 0x73eda753299d7d48)
        return SCALAR_MINUS_ONE;
    return SCALAR_WIDE;
}

static void census_task(void *ctx, size_t block, unsigned worker)
{
    job *j = ctx;
    work *w = &j->work[worker];
    size_t end = (block + 1) * BLOCK < j->n ? (block + 1) * BLOCK : j->n;
    uint32_t wide = 0;
    if (cancel_check(j->cancel))
        return;
    for (size_t i = block * BLOCK; i < end; i++) {
        int kind = scalar_kind(&j->k[i]);
        if (kind == SCALAR_WIDE)
            wide++;
        else if (kind != SCALAR_ZERO)
            work_pend(w, i, kind == SCALAR_MINUS_ONE, j->bases, j->index);
    }
    j->block_wide[block] = wide;
}

/* Cuts the wide scalars of a block. */
static void fill_task(void *ctx, size_t task, unsigned worker)
{
    job *j = ctx;
    size_t block = j->first_block + task, at = j->block_at[task];
    size_t end = (block + 1) * BLOCK < j->n ? (block + 1) * BLOCK : j->n;
    (void)worker;
    if (!j->block_wide[block] || cancel_check(j->cancel))
        return;
    for (size_t i = block * BLOCK; i < end; i++) {
        if (scalar_kind(&j->k[i]) != SCALAR_WIDE)
            continue;
        j->base[at] = j->index ? j->index[i] : (uint32_t)i;
        coord_endomorphism(&j->image[2 * at], &j->bases[j->base[at]].x);
        coord_endomorphism(&j->image[2 * at + 1], &j->image[2 * at]);
        hexagon_codes(j->code + at, j->wide, &j->hex, &j->k[i]);
        at++;
    }
}

static inline size_t part_first(const job *j, unsigned part)
{
    return j->wide * part / j->parts;
}

static void count_task(void *ctx, size_t task, unsigned worker)
{
    job *j = ctx;
    unsigned w = (unsigned)(task / j->parts), part = (unsigned)(task % j->parts);
    uint32_t *count = j->count + task * j->buckets;
    const uint32_t *code = j->code + w * j->wide;
    (void)worker;
    memset(count, 0, j->buckets * sizeof *count);
    for (size_t i = part_first(j, part); i < part_first(j, part + 1); i++)
        if (code[i] != HEXAGON_NONE)
            count[code[i] >> 3]++;
}

/* Turns counts into positions: bucket by bucket, and part by part within one. */
static void position_task(void *ctx, size_t w, unsigned worker)
{
    job *j = ctx;
    uint32_t *start = j->start + w * (j->buckets + 1), at = 0;
    (void)worker;
    for (size_t b = 0; b < j->buckets; b++) {
        start[b] = at;
        for (unsigned part = 0; part < j->parts; part++) {
            uint32_t *count = &j->count[(w * j->parts + part) * j->buckets + b], n = *count;
            *count = at;
            at += n;
        }
    }
    start[j->buckets] = at;
}

static void sort_task(void *ctx, size_t task, unsigned worker)
{
    job *j = ctx;
    unsigned w = (unsigned)(task / j->parts), part = (unsigned)(task % j->parts);
    uint32_t *position = j->count + task * j->buckets, *sorted = j->sorted + w * j->capacity;
    const uint32_t *code = j->code + w * j->wide;
    (void)worker;
    for (size_t i = part_first(j, part); i < part_first(j, part + 1); i++)
        if (code[i] != HEXAGON_NONE)
            sorted[position[code[i] >> 3]++] = (uint32_t)i << 3 | (code[i] & 7);
}

static inline point_ref term_ref(const job *j, uint32_t term)
{
    uint32_t at = term >> 3, turn = term >> 1 & 3; /* 0, 2 or 3 */
    const AFFINE *p = &j->bases[j->base[at]];
    const COORD *x = turn ? &j->image[2 * at + turn - 2] : &p->x;
    return (point_ref){x, (uintptr_t)&p->y | (term & 1)};
}

static void piece_task(void *ctx, size_t task, unsigned worker)
{
    job *j = ctx;
    work *s = &j->work[worker];
    unsigned w = j->windows - 1;
    while (task < j->first_piece[w])
        w--;
    const uint32_t *start = j->start + w * (j->buckets + 1), *sorted = j->sorted + w * j->capacity;
    size_t first = (task - j->first_piece[w]) * PIECE, end = first + PIECE;
    size_t b = 0,
           above = j->buckets; /* the bucket that holds first: the last one that starts there or before */
    j->head_bucket[task] = UINT32_MAX;
    if (cancel_check(j->cancel))
        return;
    if (end > start[j->buckets])
        end = start[j->buckets];
    while (above - b > 1) {
        size_t middle = (b + above) / 2;
        if (start[middle] <= first)
            b = middle;
        else
            above = middle;
    }
    for (size_t i = first; i < end; b++) {
        size_t stop = start[b + 1] < end ? start[b + 1] : end;
        AFFINE *bucket = &j->bucket[w * j->buckets + b];
        if (stop == i)
            continue;
        if (start[b] < i) {
            j->head_bucket[task] = (uint32_t)(w * j->buckets + b);
            work_open(s, &j->head[task]);
        } else {
            work_open(s, bucket);
            if (!FN(affine_is_inf)(bucket))
                work_push(s, FN(ref)(bucket, 0));
        }
        for (; i < stop; i++)
            work_push(s, term_ref(j, sorted[i]));
    }
    work_reduce(s);
}

/* Adds the heads of the pieces to their buckets. Heads of one bucket follow each other. */
static void add_heads(job *j, size_t pieces)
{
    work *s = &j->work[0];
    uint32_t open = UINT32_MAX;
    for (size_t i = 0; i < pieces; i++) {
        uint32_t b = j->head_bucket[i];
        if (b == UINT32_MAX)
            continue;
        if (s->refs >= PIECE) {
            work_reduce(s);
            open = UINT32_MAX;
        }
        if (b != open) {
            work_open(s, &j->bucket[b]);
            work_push(s, FN(ref)(&j->bucket[b], 0));
            open = b;
        }
        work_push(s, FN(ref)(&j->head[i], 0));
    }
    work_reduce(s);
}

/* Takes blocks from first_block on while they fit the capacity; returns how many. */
static size_t take_blocks(job *j)
{
    size_t taken = 0;
    j->wide = 0;
    while (j->first_block + taken < j->blocks) {
        uint32_t wide = j->block_wide[j->first_block + taken];
        if (j->wide + wide > j->capacity)
            break;
        j->block_at[taken++] = j->wide;
        j->wide += wide;
    }
    return taken;
}

static void run_chunks(job *j, pool *p)
{
    for (size_t taken; j->first_block < j->blocks && !cancel_check(j->cancel); j->first_block += taken) {
        size_t pieces = 0;
        taken = take_blocks(j);
        pool_for(p, taken, fill_task, j);
        pool_for(p, j->windows * j->parts, count_task, j);
        pool_for(p, j->windows, position_task, j);
        pool_for(p, j->windows * j->parts, sort_task, j);
        for (unsigned w = 0; w < j->windows; w++) {
            j->first_piece[w] = pieces;
            pieces += (j->start[w * (j->buckets + 1) + j->buckets] + PIECE - 1) / PIECE;
        }
        if (cancel_check(j->cancel)) /* what was not filled is not to be summed */
            return;
        pool_for(p, pieces, piece_task, j);
        if (cancel_check(j->cancel))
            return;
        add_heads(j, pieces);
    }
}

/* x and y of buckets are below this. */
static inline size_t lines(const job *j)
{
    return hexagon_rows(&j->hex) + 1;
}
/* Lines differ in length, by half of the mean. */
static inline size_t line_tasks(const job *j)
{
    return j->buckets > PIECE / 2 ? j->buckets / (PIECE / 2) : 1;
}

/* Pushes the buckets of a line that hold something; returns whether any does. */
static int push_line(const job *j, work *s, const AFFINE *bucket, AFFINE *line, int by_row, uint32_t l)
{
    uint32_t m = j->hex.radix;
    int any = 0;
    for (uint32_t i = by_row; by_row ? 2 * i + l <= m && i + 2 * l <= m : 2 * l + i <= m && l + 2 * i <= m;
         i++) {
        const AFFINE *b = &bucket[by_row ? hexagon_bucket(&j->hex, i, l) : hexagon_bucket(&j->hex, l, i)];
        if (FN(affine_is_inf)(b))
            continue;
        if (!any++)
            work_open(s, line);
        work_push(s, FN(ref)(b, 0));
    }
    return any;
}

/* Sums some rows, or some columns, of a window's buckets. */
static void line_task(void *ctx, size_t task, unsigned worker)
{
    job *j = ctx;
    work *s = &j->work[worker];
    size_t tasks = line_tasks(j), w = task / (2 * tasks), group = task % tasks, n = lines(j);
    int by_row = task / tasks % 2;
    AFFINE *line = j->line + (2 * w + (size_t)by_row) * n;
    if (cancel_check(j->cancel))
        return;
    for (size_t l = group * n / tasks; l < (group + 1) * n / tasks; l++)
        if (!l || !push_line(j, s, j->bucket + w * j->buckets, &line[l], by_row, (uint32_t)l))
            memset(&line[l], 0, sizeof line[l]); /* line 0 weighs nothing */
    work_reduce(s);
}

/* sum of i * p[i] */
static void weigh(JACOBIAN *weighted, const AFFINE *p, size_t n)
{
    JACOBIAN plain;
    memset(weighted, 0, sizeof *weighted);
    memset(&plain, 0, sizeof plain);
    for (size_t i = n; i-- > 1;) {
        FN(add_affine)(&plain, &plain, &p[i]);
        FN(add)(weighted, weighted, &plain);
    }
}

/* Columns weigh x, rows y (1 + w). */
static void window_task(void *ctx, size_t w, unsigned worker)
{
    job *j = ctx;
    JACOBIAN row, *sum = &j->window_sum[w];
    (void)worker;
    weigh(sum, j->line + 2 * w * lines(j), lines(j));
    weigh(&row, j->line + (2 * w + 1) * lines(j), lines(j));
    FN(add)(sum, sum, &row);
    coord_endomorphism(&row.x, &row.x);
    FN(add)(sum, sum, &row);
}

static void run_reduction(job *j, JACOBIAN *sum, pool *p)
{
    pool_for(p, j->windows * 2 * line_tasks(j), line_task, j);
    pool_for(p, j->windows, window_task, j);
    for (unsigned w = j->windows; w-- > 0;) {
        FN(mul_u32)(sum, sum, j->hex.radix);
        FN(add)(sum, sum, &j->window_sum[w]);
    }
}

/* Lays the arrays of the plan out in one block at memory, or only measures it (NULL). */
static size_t layout(job *j, uint8_t *memory)
{
    size_t used = 0, terms = j->capacity, pieces = j->windows * (terms / PIECE + 1);
#define PLACE(member, count)                                                                                 \
    do {                                                                                                     \
        if (memory)                                                                                          \
            j->member = (void *)(memory + used);                                                             \
        used += ((count) * sizeof *j->member + 63) & ~(size_t)63;                                            \
    } while (0)
    PLACE(block_at, j->blocks);
    PLACE(base, j->capacity);
    PLACE(image, 2 * terms);
    PLACE(code, j->windows * terms);
    PLACE(count, j->windows * j->parts * j->buckets);
    PLACE(start, j->windows * (j->buckets + 1));
    PLACE(sorted, j->windows * terms);
    PLACE(head_bucket, pieces);
    PLACE(head, pieces);
    PLACE(bucket, j->windows * j->buckets);
    PLACE(line, j->windows * 2 * lines(j));
    PLACE(window_sum, j->windows);
#undef PLACE
    return used;
}

static cuzk_status sum_wide(job *j, JACOBIAN *sum, pool *p, cuzk_error *err)
{
    size_t chunk = j->workers * CHUNK < CHUNK_MAX ? j->workers * CHUNK : CHUNK_MAX;
    size_t chunks = (j->wide_total + chunk - 1) / chunk;
    j->capacity = j->wide_total / chunks + BLOCK;
    if (j->capacity > j->wide_total)
        j->capacity = j->wide_total;
    j->windows = msm_windows(j->wide_total, chunks);
    if (!hexagon_init(&j->hex, j->windows))
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "no digits for %u windows", j->windows);
    j->buckets = j->hex.buckets;
    j->parts = j->workers == 1 ? 1 : 1 + 2 * j->workers / j->windows;
    if (j->parts > MAX_PARTS)
        j->parts = MAX_PARTS;
    size_t bytes = layout(j, NULL);
    uint8_t *memory = pool_take(p, bytes);
    if (!memory)
        return mem_error(err, bytes, "a multi-scalar multiplication");
    layout(j, memory);
    memset(j->bucket, 0, j->windows * j->buckets * sizeof *j->bucket);
    run_chunks(j, p);
    cuzk_status st = msm_stopped(j->cancel, err);
    if (!st) {
        run_reduction(j, sum, p);
        st = msm_stopped(j->cancel, err);
    }
    pool_give(p, memory, bytes);
    return st;
}

static cuzk_status pippenger(JACOBIAN *out, const AFFINE *bases, const uint32_t *index, const scalar *k,
                             size_t n, pool *p, const cancel_token *cancel, cuzk_error *err)
{
    job j = {.bases = bases, .index = index, .k = k, .n = n, .cancel = cancel, .workers = pool_size(p)};
    size_t work_bytes = j.workers * sizeof(work);
    cuzk_status st;
    JACOBIAN sum;
    memset(&sum, 0, sizeof sum);
    if (n > MSM_MAX)
        return cuzk_error_set(err, CUZK_UNSUPPORTED, "a sum of %zu terms is larger than 2^31", n);
    j.blocks = (n + BLOCK - 1) / BLOCK;
    j.block_wide = mem_calloc(j.blocks, sizeof *j.block_wide);
    j.work = big_alloc(work_bytes); /* zeroed */
    if (!j.block_wide || !j.work) {
        st = mem_error(err, work_bytes, "a multi-scalar multiplication");
        goto exit;
    }
    pool_for(p, j.blocks, census_task, &j);
    if ((st = msm_stopped(cancel, err)))
        goto exit;
    for (size_t i = 0; i < j.blocks; i++)
        j.wide_total += j.block_wide[i];
    if (j.wide_total && (st = sum_wide(&j, &sum, p, err)))
        goto exit;
    work_total(out, &sum, j.work, j.workers, bases, index);
exit:
    if (j.work)
        big_free(j.work, work_bytes);
    mem_free(j.block_wide);
    return st;
}
