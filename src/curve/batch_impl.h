/* Affine additions in batches: defines BATCH_ADD. Included by g1.c, g2.c and files of a faster field.
 *
 * lambda = (y2 - y1) / (x2 - x1), x3 = lambda^2 - x1 - x2, y3 = lambda (x1 - x3) - y1. The denominators d are
 * inverted together: a forward pass multiplies them up, keeping the product before each, a backward pass
 * takes the inverse of the whole apart. With its share of that, an addition costs five products and a square.
 * CHAINS products run side by side, because one chain would wait for the latency of each product. Lazy
 * operations may leave a value below 2p; what is stored or compared is canonical. */
#define CHAINS   BATCH_CHAINS
#define PREFETCH 6 /* additions ahead */

enum { KIND_SUM, KIND_DOUBLE, KIND_FIRST, KIND_SECOND, KIND_INFINITY };

static int ref_is_inf(point_ref p)
{
    const COORD *x = p.x, *y = (const COORD *)(p.y & ~(uintptr_t)1);
    return coord_is_zero(x) && coord_is_zero(y);
}

static inline void ref_y(COORD *r, point_ref p)
{
    coord_cneg(r, (const COORD *)(p.y & ~(uintptr_t)1), p.y & 1);
}

/* An addition that the formula does not cover, or that only looks so (x = 0): its kind, and a denominator. */
static __attribute__((noinline)) uint8_t special(COORD *d, point_ref a, point_ref b)
{
    COORD y1, y2;
    uint8_t kind = KIND_SUM;
    if (ref_is_inf(a))
        kind = KIND_SECOND;
    else if (ref_is_inf(b))
        kind = KIND_FIRST;
    else if (coord_is_zero(d)) {
        ref_y(&y1, a);
        ref_y(&y2, b);
        coord_add(d, &y1, &y2);
        kind = coord_is_zero(d) ? KIND_INFINITY : KIND_DOUBLE; /* equal x: y2 is y1 or -y1 */
    }
    if (kind != KIND_SUM && kind != KIND_DOUBLE)
        *d = COORD_ONE;
    return kind;
}

static inline void prefetch_point(point_ref p, int with_y)
{
    __builtin_prefetch(p.x);
    if (with_y)
        __builtin_prefetch((const void *)p.y);
    else
        __builtin_prefetch((const char *)p.x + 47);
}

/* product[i + CHAINS] becomes product[i] * d[i]. */
static void forward(const point_ref *a, const point_ref *b, size_t n, CAT(GROUP, _batch) * s)
{
    for (int c = 0; c < CHAINS; c++)
        s->product[c] = COORD_ONE;
    for (size_t i = 0; i < n; i++) {
        const COORD *x1 = a[i].x, *x2 = b[i].x;
        COORD *d = &s->d[i];
        if (i + PREFETCH < n) {
            prefetch_point(a[i + PREFETCH], 0);
            prefetch_point(b[i + PREFETCH], 0);
        }
        coord_sub(d, x2, x1);
        s->kind[i] = KIND_SUM;
        if (__builtin_expect(coord_is_zero(x1) | coord_is_zero(x2) | coord_is_zero(d), 0))
            s->kind[i] = special(d, a[i], b[i]);
        coord_mul_lazy(&s->product[i + CHAINS], &s->product[i], d);
    }
}

static inline void finish(AFFINE *out, point_ref a, point_ref b, const COORD *d_inv, uint8_t kind)
{
    const COORD *x1 = a.x, *x2 = b.x, *y1 = (const COORD *)(a.y & ~(uintptr_t)1);
    COORD lambda, s1, s2, x3;
    coord_cneg(&s2, (const COORD *)(b.y & ~(uintptr_t)1), b.y & 1);
    if (a.y & 1) {
        coord_neg(&s1, y1);
        y1 = &s1;
    }
    coord_sub_lazy(&lambda, &s2, y1);
    if (__builtin_expect(kind != KIND_SUM, 0)) {
        if (kind == KIND_INFINITY)
            memset(out, 0, sizeof *out);
        else if (kind != KIND_DOUBLE)
            FN(ref_get)(out, kind == KIND_FIRST ? a : b);
        if (kind != KIND_DOUBLE)
            return;
        coord_sqr(&lambda, x1);
        coord_triple(&lambda, &lambda);
    }
    coord_mul_lazy(&lambda, &lambda, d_inv);
    coord_sqr(&x3, &lambda);
    coord_sub(&x3, &x3, x1);
    coord_sub(&x3, &x3, x2);
    coord_sub_lazy(&s2, x1, &x3);
    coord_mul(&s2, &s2, &lambda);
    coord_sub(&out->y, &s2, y1); /* a and b are read: out may be one of them */
    out->x = x3;
}

static void backward(AFFINE *const *out, const point_ref *a, const point_ref *b, size_t n, COORD inv[CHAINS],
                     CAT(GROUP, _batch) * s)
{
    for (size_t i = n; i-- > 0;) {
        COORD t;
        if (i >= PREFETCH) {
            prefetch_point(a[i - PREFETCH], 1);
            prefetch_point(b[i - PREFETCH], 1);
        }
        coord_mul_lazy(&t, &inv[i % CHAINS], &s->product[i]);
        coord_mul_lazy(&inv[i % CHAINS], &inv[i % CHAINS], &s->d[i]);
        finish(out[i], a[i], b[i], &t, s->kind[i]);
    }
}

void BATCH_ADD(AFFINE *const *out, const point_ref *a, const point_ref *b, size_t n, CAT(GROUP, _batch) * s)
{
    while (n) {
        size_t m = n < BATCH_SIZE ? n : BATCH_SIZE;
        COORD chain[CHAINS], whole[CHAINS], inv, t;
        forward(a, b, m, s);
        for (size_t i = m; i < m + CHAINS; i++)
            chain[i % CHAINS] = s->product[i];
        coord_mul(&whole[0], &chain[0], &COORD_ONE);
        for (int c = 1; c < CHAINS; c++)
            coord_mul(&whole[c], &whole[c - 1], &chain[c]);
        coord_inv(&inv, &whole[CHAINS - 1]);
        for (int c = CHAINS - 1; c > 0; c--) { /* each chain's own inverse */
            t = chain[c];
            coord_mul(&chain[c], &inv, &whole[c - 1]);
            coord_mul(&inv, &inv, &t);
        }
        chain[0] = inv;
        backward(out, a, b, m, chain, s);
        out += m, a += m, b += m, n -= m;
    }
}
