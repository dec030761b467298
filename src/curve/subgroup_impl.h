/* Subgroup membership of many points, for one group: included by subgroup_g1.c and subgroup_g2.c, which
 * define AFFINE, BATCH        g1_affine, g1_batch FN(name)             g1_name IN_GROUP             blst's
 * check of an affine point
 */
#include "curve/subgroup.h"

typedef struct subgroup_scratch {
    uint32_t *order;
    AFFINE *sum; /* half as many as points */
    AFFINE **out;
    point_ref *a, *b;
    BATCH *batch;
} subgroup_scratch;

static size_t rounded(size_t n)
{
    return (n + SUBGROUP_GROUP - 1) / SUBGROUP_GROUP * SUBGROUP_GROUP;
}

size_t FN(subgroup_scratch)(size_t n)
{
    size_t all = rounded(n), half = all / 2;
    return all * sizeof(uint32_t) + half * (sizeof(AFFINE) + sizeof(AFFINE *) + 2 * sizeof(point_ref)) +
           sizeof(BATCH) + 6 * 64;
}

static void *carve(char **at, size_t bytes)
{
    void *p = *at;
    *at += (bytes + 63) / 64 * 64;
    return p;
}

static void lay_out(subgroup_scratch *s, void *memory, size_t n)
{
    size_t all = rounded(n), half = all / 2;
    char *at = memory;
    s->batch = carve(&at, sizeof(BATCH));
    s->sum = carve(&at, half * sizeof(AFFINE));
    s->out = carve(&at, half * sizeof(AFFINE *));
    s->a = carve(&at, half * sizeof(point_ref));
    s->b = carve(&at, half * sizeof(point_ref));
    s->order = carve(&at, all * sizeof(uint32_t));
}

/* Fisher-Yates; the bias of a 32-bit draw below 2^20 does not matter here. */
static void shuffle(uint32_t *order, size_t n, chacha_rng *rng)
{
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (size_t i = n; i > 1; i--) {
        size_t k = ((uint64_t)chacha_rng_u32(rng) * i) >> 32;
        uint32_t t = order[i - 1];
        order[i - 1] = order[k];
        order[k] = t;
    }
}

static ptrdiff_t lowest_of_group(const AFFINE *p, size_t n, const uint32_t *order, size_t group,
                                 ptrdiff_t lowest)
{
    for (size_t i = group * SUBGROUP_GROUP; i < (group + 1) * SUBGROUP_GROUP; i++) {
        if (order[i] < n && (lowest < 0 || order[i] < (size_t)lowest) && !IN_GROUP(&p[order[i]]))
            lowest = (ptrdiff_t)order[i];
    }
    return lowest;
}

static ptrdiff_t round_of_sums(const AFFINE *p, size_t n, const subgroup_scratch *s, chacha_rng *rng)
{
    static const AFFINE infinity;
    size_t all = rounded(n), count = all / 2;
    shuffle(s->order, all, rng); /* numbers from n on stand for infinity */
    for (size_t i = 0; i < count; i++) {
        uint32_t l = s->order[2 * i], r = s->order[2 * i + 1];
        s->out[i] = &s->sum[i];
        s->a[i] = FN(ref)(l < n ? &p[l] : &infinity, 0);
        s->b[i] = FN(ref)(r < n ? &p[r] : &infinity, 0);
    }
    FN(batch_add)(s->out, s->a, s->b, count, s->batch);
    for (size_t step = 1; step < SUBGROUP_GROUP / 2;
         step *= 2) { /* pairs of sums, left in the first of them */
        count /= 2;
        for (size_t i = 0; i < count; i++) {
            s->out[i] = &s->sum[2 * step * i];
            s->a[i] = FN(ref)(&s->sum[2 * step * i], 0);
            s->b[i] = FN(ref)(&s->sum[2 * step * i + step], 0);
        }
        FN(batch_add)(s->out, s->a, s->b, count, s->batch);
    }
    ptrdiff_t lowest = -1;
    for (size_t g = 0; g < all / SUBGROUP_GROUP; g++) {
        if (!IN_GROUP(&s->sum[g * (SUBGROUP_GROUP / 2)]))
            lowest = lowest_of_group(p, n, s->order, g, lowest);
    }
    return lowest;
}

ptrdiff_t FN(subgroup_find)(const AFFINE *p, size_t n, void *scratch, chacha_rng *rng)
{
    if (n <= SUBGROUP_PLAIN) {
        for (size_t i = 0; i < n; i++) {
            if (!IN_GROUP(&p[i]))
                return (ptrdiff_t)i;
        }
        return -1;
    }
    subgroup_scratch s;
    lay_out(&s, scratch, n);
    unsigned bits = 0;
    while (((size_t)2 << bits) <= n / SUBGROUP_GROUP)
        bits++; /* of the chance that one round passes */
    for (unsigned got = 0; got < 60; got += bits) {
        ptrdiff_t bad = round_of_sums(p, n, &s, rng);
        if (bad >= 0)
            return bad;
    }
    return -1;
}
