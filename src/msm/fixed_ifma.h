/* Multiples of one base: LANES scalars at a time, each a running sum that takes one entry of a table for
 * every window. Template, after lanes_ifma.h; the scalar form is in curve/fixed_base_impl.h.
 *
 * The table holds j * 2^(c w) * base for every window w and 1 <= j <= 2^(c-1); digits are signed. */

#define FIXED_BITS  255
#define FIXED_TABLE ((size_t)192 << 20) /* bytes at most */

typedef struct fixed_worker {
    lanes lanes;
    point52 rows[8];
    scalar k[LANES];
    uint32_t ref[FIXED_BITS / 4 + 1][LANES]; /* of each window */
} __attribute__((aligned(64))) fixed_worker;

typedef struct fixed_job {
    AFFINE *r;
    const fr *k;
    size_t n, half; /* entries of a window */
    unsigned c, windows;
    AFFINE start[FIXED_BITS / 4 + 1]; /* 2^(c w) * base */
    point52 *table;                   /* [windows][half], and two that stand for none: see fixed_none */
    fixed_worker *worker;
} fixed_job;

/* What stands for no entry: in a first row, and then, another point so that lanes at infinity do not meet it
 * again. */
static inline uint32_t fixed_none(const fixed_job *j)
{
    return ROW_REF(j->windows * j->half);
}
static inline uint32_t fixed_idle(const fixed_job *j)
{
    return ROW_REF(j->windows * j->half + 1);
}

/* A coordinate of blst from limbs of lanes_rows that stand for it times 2^shift (28 or 0), modulo p: a
 * Montgomery step of shift bits leaves less than 5p. point_out takes any value and many times as long. */
static void fixed_coord(fp *r, const uint64_t l[8], unsigned shift)
{
    uint64_t w[8] = {l[0] | l[1] << 52,
                     l[1] >> 12 | l[2] << 40,
                     l[2] >> 24 | l[3] << 28,
                     l[3] >> 36 | l[4] << 16,
                     l[4] >> 48 | l[5] << 4 | l[6] << 56,
                     l[6] >> 8 | l[7] << 44,
                     l[7] >> 20,
                     0};
    uint64_t m = w[0] * 0x89f3fffcfffcfffd & (((uint64_t)1 << shift) - 1); /* -1 / p mod 2^64 */
    unsigned __int128 t = 0;
    for (int i = 0; i < 6; i++) {
        t += (unsigned __int128)FP52_P_WORDS[i] * m + w[i];
        w[i] = (uint64_t)t;
        t >>= 64;
    }
    w[6] += (uint64_t)t;
    for (int i = 0; i < 6; i++)
        w[i] = (uint64_t)(((unsigned __int128)w[i + 1] << 64 | w[i]) >> shift);
    for (int k = 0; k < 4; k++) {
        uint64_t d[6], borrow = 0;
        for (int i = 0; i < 6; i++) {
            unsigned __int128 s = (unsigned __int128)w[i] - FP52_P_WORDS[i] - borrow;
            d[i] = (uint64_t)s;
            borrow = (uint64_t)(s >> 64) & 1;
        }
        for (int i = 0; i < 6; i++)
            w[i] = borrow ? w[i] : d[i];
    }
    memcpy(r->l, w, sizeof r->l);
}

static void fixed_point(AFFINE *r, const point52 *p)
{
    for (int h = 0; h < FE_PARTS; h++) {
        fixed_coord((fp *)&r->x + h, p->x + 8 * h, 28);
        fixed_coord((fp *)&r->y + h, p->y + 8 * h, 0);
    }
}

static unsigned fixed_window(size_t n)
{
    unsigned best = 4;
    double least = 0;
    for (unsigned c = 4; c <= 16; c++) {
        double windows = FIXED_BITS / c + 1, half = (double)((size_t)1 << (c - 1));
        double cost = windows * ((double)n + 1.5 * half);
        if (windows * half * sizeof(point52) > (double)FIXED_TABLE)
            break;
        if (c == 4 || cost < least)
            least = cost, best = c;
    }
    return best;
}

/* One window of the table: each step doubles what is there by adding its last entry. */
static void fixed_table(void *ctx, size_t w, unsigned worker)
{
    fixed_job *j = ctx;
    fixed_worker *s = &j->worker[worker];
    point52 *t = j->table + w * j->half;
    uint32_t at = (uint32_t)(w * j->half);
    s->lanes.points = j->table->x;
    s->lanes.y_at = ROW_Y;
    point_in(&t[0], &j->start[w]);
    for (size_t have = 1; have < j->half; have *= 2)
        for (size_t i = 0; i < have; i += LANES) {
            size_t m = have - i < LANES ? have - i : LANES, groups = (m + 7) / 8;
            for (size_t e = 0; e < 8 * groups; e++) {
                s->ref[0][e] = e < m ? ROW_REF(at + i + e) : fixed_none(j);
                s->ref[1][e] = e < m ? ROW_REF(at + have - 1) : fixed_idle(j);
            }
            s->lanes.any_infinite = 0;
            s->lanes.none = fixed_none(j);
            for (size_t g = 0; g < groups; g++)
                lanes_start(&s->lanes, s->ref[0] + 8 * g, NULL, g);
            s->lanes.none = fixed_idle(j);
            lanes_round(&s->lanes, s->ref[1], NULL, groups);
            for (size_t g = 0; g < groups; g++) {
                lanes_rows(&s->lanes, g, s->rows);
                memcpy(&t[have + i + 8 * g], s->rows, (m - 8 * g < 8 ? m - 8 * g : 8) * sizeof *s->rows);
            }
        }
}

/* References of a scalar, one for each window. */
static void fixed_digits(const fixed_job *j, fixed_worker *s, size_t lane)
{
    const uint64_t *l = s->k[lane].l;
    unsigned carry = 0, full = 1u << j->c;
    for (unsigned w = 0; w < j->windows; w++) {
        unsigned bit = w * j->c, limb = bit / 64, shift = bit % 64;
        uint64_t v = limb < 4 ? l[limb] >> shift : 0;
        if (shift + j->c > 64 && limb < 3)
            v |= l[limb + 1] << (64 - shift);
        unsigned d = ((unsigned)v & (full - 1)) + carry;
        carry = d > full / 2;
        if (carry)
            d = full - d; /* its opposite; 0 where the carry filled the window */
        s->ref[w][lane] = d ? ROW_REF(w * j->half + d - 1) | carry : w ? fixed_idle(j) : fixed_none(j);
    }
}

static void fixed_piece(void *ctx, size_t task, unsigned worker)
{
    fixed_job *j = ctx;
    fixed_worker *s = &j->worker[worker];
    size_t first = task * LANES, m = j->n - first < LANES ? j->n - first : LANES, groups = (m + 7) / 8;
    for (size_t i = 0; i < m; i++) {
        fr_to_scalar(&s->k[i], &j->k[first + i]);
        fixed_digits(j, s, i);
    }
    for (size_t i = m; i < 8 * groups; i++)
        for (unsigned w = 0; w < j->windows; w++)
            s->ref[w][i] = w ? fixed_idle(j) : fixed_none(j);
    s->lanes.points = j->table->x;
    s->lanes.y_at = ROW_Y;
    s->lanes.none = fixed_none(j);
    s->lanes.any_infinite = 0;
    for (size_t g = 0; g < groups; g++)
        lanes_start(&s->lanes, s->ref[0] + 8 * g, NULL, g);
    s->lanes.none = fixed_idle(j);
    for (unsigned w = 1; w < j->windows; w++)
        lanes_round(&s->lanes, s->ref[w], w + 1 < j->windows ? s->ref[w + 1] : NULL, groups);
    for (size_t g = 0; g < groups; g++) {
        lanes_rows(&s->lanes, g, s->rows);
        for (size_t i = 8 * g; i < 8 * g + 8 && i < m; i++)
            if (s->lanes.infinite[g] >> i % 8 & 1)
                memset(&j->r[first + i], 0, sizeof *j->r);
            else
                fixed_point(&j->r[first + i], &s->rows[i % 8]);
    }
    mem_wipe(s->k, sizeof s->k); /* toxic waste, in a setup */
    mem_wipe(s->ref, j->windows * sizeof *s->ref);
}

static cuzk_status fixed_base(AFFINE *r, const AFFINE *base, const fr *k, size_t n, pool *p, cuzk_error *err)
{
    fixed_job j = {.r = r, .k = k, .n = n, .c = fixed_window(n)};
    size_t worker_bytes = pool_size(p) * sizeof(fixed_worker), table_bytes;
    cuzk_status st = CUZK_OK;
    JACOBIAN at;
    if (AFFINE_IS_INF(base)) {
        memset(r, 0, n * sizeof *r);
        return CUZK_OK;
    }
    j.windows = FIXED_BITS / j.c + 1;
    j.half = (size_t)1 << (j.c - 1);
    table_bytes = (j.windows * j.half + 2) * sizeof(point52);
    j.table = big_alloc(table_bytes);
    j.worker = big_alloc(worker_bytes);
    if (!j.table || !j.worker) {
        st = mem_error(err, table_bytes + worker_bytes, "a table of multiples");
        goto exit;
    }
    points_none(j.table + j.windows * j.half);
    POINT_FROM_AFFINE(&at, base);
    for (unsigned w = 0; w < j.windows; w++) {
        POINT_TO_AFFINE(&j.start[w], &at);
        for (unsigned i = 0; i < j.c; i++)
            POINT_DOUBLE(&at, &at);
    }
    pool_for(p, j.windows, fixed_table, &j);
    pool_for(p, (n + LANES - 1) / LANES, fixed_piece, &j);
exit:
    if (j.worker)
        big_free(j.worker, worker_bytes);
    if (j.table)
        big_free(j.table, table_bytes);
    return st;
}
