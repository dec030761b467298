/* Linear combinations. A failed allocation marks the sum; cs_enforce turns the mark into an error. */
#include "base/mem.h"
#include "r1cs/r1cs.h"
#include <stdlib.h>

void lc_init(lc *l)
{
    *l = (lc){0};
}

void lc_clear(lc *l)
{
    mem_free(l->t);
    *l = (lc){0};
}

void lc_reset(lc *l)
{
    l->n = 0;
}

static int lc_reserve(lc *l, uint64_t n)
{
    if (n <= l->cap)
        return 1;
    uint64_t cap = l->cap ? l->cap : 4;
    while (cap < n)
        cap *= 2;
    lc_term *t = cap > UINT32_MAX ? NULL : mem_realloc(l->t, cap * sizeof(lc_term));
    if (!t) {
        l->failed = 1;
        return 0;
    }
    l->t = t;
    l->cap = (uint32_t)cap;
    return 1;
}

void lc_add(lc *l, var v, const fr *c)
{
    if (l->n == l->cap && !lc_reserve(l, (uint64_t)l->n + 1))
        return;
    l->t[l->n].v = v;
    l->t[l->n].c = *c;
    l->n++;
}

void lc_add_one(lc *l, var v)
{
    lc_add(l, v, &FR_ONE);
}
void lc_sub_one(lc *l, var v)
{
    lc_add(l, v, &FR_MINUS_ONE);
}

void lc_add_lc(lc *l, const lc *o, const fr *scale)
{
    l->failed |= o->failed;
    uint32_t n = o->n; /* l may be o */
    if (!lc_reserve(l, (uint64_t)l->n + n))
        return;
    for (uint32_t i = 0; i < n; i++) {
        lc_term *t = &l->t[l->n + i];
        t->v = o->t[i].v;
        if (scale)
            fr_mul(&t->c, &o->t[i].c, scale);
        else
            t->c = o->t[i].c;
    }
    l->n += n;
}

void lc_scale(lc *l, const fr *c)
{
    for (uint32_t i = 0; i < l->n; i++)
        fr_mul(&l->t[i].c, &l->t[i].c, c);
}

void lc_copy(lc *to, const lc *from)
{
    if (to == from)
        return;
    lc_reset(to);
    lc_add_lc(to, from, NULL);
}

static int by_var(const void *a, const void *b)
{
    var x = ((const lc_term *)a)->v, y = ((const lc_term *)b)->v;
    return (x > y) - (x < y);
}

static void lc_sort(lc *l)
{
    enum { INSERTION_LIMIT = 12 };
    uint32_t i = 1;
    while (i < l->n && l->t[i - 1].v <= l->t[i].v)
        i++;
    if (i >= l->n)
        return;
    if (l->n > INSERTION_LIMIT) {
        qsort(l->t, l->n, sizeof(lc_term), by_var);
        return;
    }
    for (; i < l->n; i++) {
        lc_term x = l->t[i];
        uint32_t j = i;
        for (; j && l->t[j - 1].v > x.v; j--)
            l->t[j] = l->t[j - 1];
        l->t[j] = x;
    }
}

void lc_compact(lc *l)
{
    lc_sort(l);
    uint32_t out = 0;
    for (uint32_t i = 0; i < l->n;) {
        lc_term x = l->t[i++];
        for (; i < l->n && l->t[i].v == x.v; i++)
            fr_add(&x.c, &x.c, &l->t[i].c);
        if (!fr_is_zero(&x.c))
            l->t[out++] = x;
    }
    l->n = out;
}
