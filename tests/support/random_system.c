#include "support/random_system.h"
#include "support/math.h"
#include <stdlib.h>

enum { WIRE_LIMIT = 1 << 20, ROW_LIMIT = 1 << 20 };

static void *room(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p)
        abort();
    return p;
}

static uint32_t below(random_system *s, uint32_t n)
{
    return chacha_rng_u32(&s->rng) % n;
}

/* Values come from a generator of their own: they differ between repetitions, the structure does not. */
static fr random_bit(random_system *s)
{
    return chacha_rng_u32(&s->values) & 1 ? FR_ONE : FR_ZERO;
}

/* ---- wires: allocated, given a value, remembered ---- */
static void choose_from(random_system *s, int local, var v)
{
    if (local)
        s->local[s->local_count++] = v;
    else
        s->shared[s->shared_count++] = v;
}

static var wire(random_system *s, int local, int field, const fr *value)
{
    var v = field ? cs_alloc_field(s->cs) : cs_alloc_bit(s->cs);
    if (s->unrolled) {
        s->aux[v & ~VAR_AUX] = *value;
        s->is_field[v & ~VAR_AUX] = (uint8_t)field;
        s->aux_count = (v & ~VAR_AUX) + 1;
    }
    choose_from(s, local, v);
    return v;
}

static void input(random_system *s, int local)
{
    fr value;
    math_fr(&value, &s->values);
    var v = cs_alloc_input(s->cs);
    if (s->unrolled) {
        s->input[v] = value;
        s->inputs = v + 1;
    }
    choose_from(s, local, v);
}

static fr evaluate(const random_system *s, const lc *l)
{
    fr sum = FR_ZERO, x;
    for (uint32_t i = 0; s->unrolled && i < l->n; i++) {
        var v = l->t[i].v;
        fr_mul(&x, v & VAR_AUX ? &s->aux[v & ~VAR_AUX] : &s->input[v], &l->t[i].c);
        fr_add(&sum, &sum, &x);
    }
    return sum;
}

/* ---- terms ---- */
static void coefficient(random_system *s, fr *c)
{
    switch (below(s, 8)) {
    case 0:
        *c = FR_ONE;
        break;
    case 1:
        *c = FR_MINUS_ONE;
        break;
    case 2:
        *c = FR_TWO;
        break;
    case 3:
    case 4: {
        scalar k = {{0}};
        uint32_t e = below(s, 255);
        k.l[e / 64] = 1ull << (e & 63);
        fr_from_scalar(c, &k);
        if (below(s, 2))
            fr_neg(c, c);
        break;
    }
    case 5:
        fr_from_u64(c, below(s, 1000));
        break;
    case 6:
        *c = FR_ZERO;
        break;
    default:
        math_fr(c, &s->rng);
    }
}

static var any_wire(random_system *s, int local)
{
    uint32_t kind = below(s, 8);
    if (local && s->imports && kind < 2) {
        uint32_t k = below(s, s->imports);
        return s->unrolled ? s->table[s->repetition * s->imports + k] : cs_import(s->cs, k);
    }
    if (local && s->local_count && kind < 6)
        return s->local[below(s, s->local_count)];
    if (s->shared_count && kind < 7)
        return s->shared[below(s, s->shared_count)];
    return VAR_ONE;
}

static void random_terms(random_system *s, lc *l, int local)
{
    static const uint32_t length[] = {0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 9, 40, 200};
    uint32_t n = length[below(s, sizeof(length) / sizeof(length[0]))];
    fr c;
    lc_reset(l);
    for (uint32_t i = 0; i < n; i++) {
        var v = any_wire(s, local);
        coefficient(s, &c);
        lc_add(l, v, &c);
        if (!below(s, 12)) { /* the term cancels, perhaps the row becomes empty */
            fr_neg(&c, &c);
            lc_add(l, v, &c);
        }
    }
}

/* Bits side by side, or every other one, whose coefficients double, either way round: how packed words look.
 */
static void packed_terms(random_system *s, lc *l, int local)
{
    uint32_t n = 1 + below(s, 80), down = below(s, 2), alternate = below(s, 3) == 0;
    var bit[80];
    fr c;
    for (uint32_t i = 0; i < n; i++) {
        fr v = random_bit(s);
        bit[i] = wire(s, local, 0, &v);
        v = random_bit(s);
        if (alternate)
            wire(s, local, 0, &v);
    }
    coefficient(s, &c);
    for (uint32_t i = 0; i < n; i++) {
        lc_add(l, bit[down ? n - 1 - i : i], &c);
        fr_add(&c, &c, &c);
    }
}

static void enforce(random_system *s)
{
    if (s->unrolled) {
        s->a[s->row_count] = evaluate(s, &s->l[0]);
        s->b[s->row_count] = evaluate(s, &s->l[1]);
        s->c[s->row_count++] = evaluate(s, &s->l[2]);
    }
    cs_enforce(s->cs, &s->l[0], &s->l[1], &s->l[2]);
}

/* (1 - x) * x = 0 */
static void bit_row(random_system *s, int local)
{
    fr v = random_bit(s);
    var x = wire(s, local, 0, &v);
    for (int i = 0; i < 3; i++)
        lc_reset(&s->l[i]);
    lc_add_one(&s->l[0], VAR_ONE);
    lc_sub_one(&s->l[0], x);
    lc_add_one(&s->l[1], x);
    enforce(s);
}

/* A random product: C gets a new field wire that makes it hold. */
static void product_row(random_system *s, int local)
{
    fr a, b, c;
    for (int i = 0; i < 3; i++)
        random_terms(s, &s->l[i], local);
    if (!below(s, 4))
        packed_terms(s, &s->l[below(s, 3)], local);
    if (s->linear) {
        lc_reset(&s->l[1]);
        if (below(s, 2))
            lc_add_one(&s->l[1], VAR_ONE);
    }
    a = evaluate(s, &s->l[0]);
    b = evaluate(s, &s->l[1]);
    c = evaluate(s, &s->l[2]);
    fr_mul(&a, &a, &b);
    fr_sub(&a, &a, &c);
    lc_add_one(&s->l[2], wire(s, local, 1, &a));
    enforce(s);
}

/* Only bits: A * 0 = 0 with whatever A. */
static void free_row(random_system *s, int local)
{
    random_terms(s, &s->l[0], local);
    if (!below(s, 3))
        packed_terms(s, &s->l[0], local);
    lc_reset(&s->l[1]);
    lc_reset(&s->l[2]);
    if (below(s, 2)) {
        lc t = s->l[0];
        s->l[0] = s->l[1];
        s->l[1] = t;
    }
    enforce(s);
}

static void some_rows(random_system *s, uint32_t n, int local)
{
    for (uint32_t i = 0; i < n; i++) {
        cs_push(s->cs, "row", i);
        switch (below(s, 4)) {
        case 0:
            if (!s->no_inputs && !below(s, 3))
                input(s, local);
            bit_row(s, local);
            break;
        case 1:
            free_row(s, local);
            break;
        default:
            if (s->bits_only)
                bit_row(s, local);
            else
                product_row(s, local);
        }
        cs_pop(s->cs);
    }
}

static void body(cs *c, void *ctx)
{
    random_system *s = ctx;
    (void)c;
    s->local_count = 0;
    math_rng(&s->rng, s->seed + 1);
    some_rows(s, s->rows, 1);
}

static void import_table(random_system *s)
{
    for (uint32_t i = 0; i < s->count * s->imports; i++)
        s->table[i] = s->shared_count && below(s, 8) ? s->shared[below(s, s->shared_count)] : VAR_ONE;
}

static void allocate(random_system *s)
{
    for (int i = 0; i < 3; i++)
        lc_init(&s->l[i]);
    s->shared = room(WIRE_LIMIT, sizeof(var));
    s->local = room(WIRE_LIMIT, sizeof(var));
    s->table = room((size_t)s->count * s->imports + 1, sizeof(var));
    if (s->unrolled) {
        s->input = room(WIRE_LIMIT, sizeof(fr));
        s->aux = room(WIRE_LIMIT, sizeof(fr));
        s->is_field = room(WIRE_LIMIT, 1);
        s->a = room(ROW_LIMIT, sizeof(fr));
        s->b = room(ROW_LIMIT, sizeof(fr));
        s->c = room(ROW_LIMIT, sizeof(fr));
        s->input[0] = FR_ONE;
        s->inputs = 1;
    }
}

void random_system_synth(cs *c, void *ctx)
{
    random_system *s = ctx;
    s->cs = c;
    allocate(s);
    math_rng(&s->rng, s->seed);
    math_rng(&s->values, s->seed + 3);
    some_rows(s, s->globals, 0);
    import_table(s);
    cs_push(c, "body", -1);
    if (s->unrolled) {
        for (s->repetition = 0; s->repetition < s->count; s->repetition++)
            body(c, s);
    } else {
        cs_repeat(c, s->count, body, s, s->table, s->imports);
    }
    cs_pop(c);
    math_rng(&s->rng, s->seed + 2);
    some_rows(s, s->tail, 0);
    for (var v = 0; s->unrolled && v < s->inputs; v++) { /* the closing rows */
        s->a[s->row_count] = s->input[v];
        s->b[s->row_count] = s->c[s->row_count] = FR_ZERO;
        s->row_count++;
    }
}

void random_system_clear(random_system *s)
{
    for (int i = 0; i < 3; i++)
        lc_clear(&s->l[i]);
    void *owned[] = {s->shared, s->local, s->table, s->input, s->aux, s->is_field, s->a, s->b, s->c};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        free(owned[i]);
    s->shared = s->local = s->table = NULL;
    s->input = s->aux = s->a = s->b = s->c = NULL;
    s->is_field = NULL;
}

void random_system_witness(const random_system *s, witness *w)
{
    wcursor c;
    wcursor_init(&c, w, 0, 0);
    memcpy(w->input, s->input, s->inputs * sizeof(fr));
    for (uint32_t i = 0; i < s->aux_count; i++) {
        if (s->is_field[i])
            wcursor_field(&c, &s->aux[i]);
        else
            wcursor_bits(&c, (uint64_t)fr_is_one(&s->aux[i]), 1);
    }
    wcursor_finish(&c);
}
