#include "gadgets/boolean.h"
#include <assert.h>

boolean boolean_constant(int value)
{
    return (boolean){.v = VAR_ONE, .kind = value ? BOOL_TRUE : BOOL_FALSE};
}

boolean boolean_of(var bit)
{
    return (boolean){.v = bit, .kind = BOOL_IS};
}

boolean boolean_not(boolean b)
{
    static const uint8_t opposite[] = {
        [BOOL_FALSE] = BOOL_TRUE, [BOOL_TRUE] = BOOL_FALSE, [BOOL_IS] = BOOL_NOT, [BOOL_NOT] = BOOL_IS};
    b.kind = opposite[b.kind];
    return b;
}

void lc_add_boolean(lc *l, boolean b, const fr *coefficient)
{
    fr negative;
    switch (b.kind) {
    case BOOL_FALSE:
        break;
    case BOOL_TRUE:
        lc_add(l, VAR_ONE, coefficient);
        break;
    case BOOL_IS:
        lc_add(l, b.v, coefficient);
        break;
    default:
        lc_add(l, VAR_ONE, coefficient);
        fr_neg(&negative, coefficient);
        lc_add(l, b.v, &negative);
    }
}

static void lc_sub_boolean(lc *l, boolean b)
{
    lc_add_boolean(l, b, &FR_MINUS_ONE);
}

void lc_add_packed(lc *l, const boolean *bits, size_t n)
{
    fr power = FR_ONE;
    for (size_t i = 0; i < n; i++) {
        lc_add_boolean(l, bits[i], &power);
        fr_add(&power, &power, &power);
    }
}

/* ---- rows ---- */
/* Rows here have few terms: their sums live on the stack. */
enum { ROW_TERMS = 8 };
typedef struct row {
    lc a, b, c;
    lc_term term[3][ROW_TERMS];
} row;

static void row_init(row *r)
{
    r->a = (lc){.t = r->term[0], .cap = ROW_TERMS};
    r->b = (lc){.t = r->term[1], .cap = ROW_TERMS};
    r->c = (lc){.t = r->term[2], .cap = ROW_TERMS};
}

static void row_enforce(cs *c, row *r)
{
    assert(r->a.t == r->term[0] && r->b.t == r->term[1] && r->c.t == r->term[2]);
    cs_enforce(c, &r->a, &r->b, &r->c);
}

boolean boolean_alloc(cs *c)
{
    var v = cs_alloc_bit(c);
    row r;
    row_init(&r);
    lc_add_one(&r.a, VAR_ONE);
    lc_sub_one(&r.a, v);
    lc_add_one(&r.b, v);
    row_enforce(c, &r);
    return boolean_of(v);
}

boolean boolean_alloc_conditionally(cs *c, var must_be_false)
{
    var v = cs_alloc_bit(c);
    row r;
    row_init(&r);
    lc_add_one(&r.a, VAR_ONE);
    lc_sub_one(&r.a, must_be_false);
    lc_sub_one(&r.a, v);
    lc_add_one(&r.b, v);
    row_enforce(c, &r);
    return boolean_of(v);
}

void boolean_alloc_many(cs *c, boolean *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = boolean_alloc(c);
}

/* 2a * b = a + b - out */
static var xor_wires(cs *c, var a, var b)
{
    var out = cs_alloc_bit(c);
    row r;
    row_init(&r);
    lc_add(&r.a, a, &FR_TWO);
    lc_add_one(&r.b, b);
    lc_add_one(&r.c, a);
    lc_add_one(&r.c, b);
    lc_sub_one(&r.c, out);
    row_enforce(c, &r);
    return out;
}

boolean boolean_xor(cs *c, boolean a, boolean b)
{
    if (a.kind == BOOL_FALSE)
        return b;
    if (b.kind == BOOL_FALSE)
        return a;
    if (a.kind == BOOL_TRUE)
        return boolean_not(b);
    if (b.kind == BOOL_TRUE)
        return boolean_not(a);
    if (a.kind == b.kind)
        return boolean_of(xor_wires(c, a.v, b.v));
    /* The wire that is not negated stands in A. */
    var plain = a.kind == BOOL_IS ? a.v : b.v, negated = a.kind == BOOL_IS ? b.v : a.v;
    return boolean_not(boolean_of(xor_wires(c, plain, negated)));
}

boolean boolean_and(cs *c, boolean a, boolean b)
{
    if (a.kind == BOOL_FALSE || b.kind == BOOL_FALSE)
        return boolean_constant(0);
    if (a.kind == BOOL_TRUE)
        return b;
    if (b.kind == BOOL_TRUE)
        return a;
    if (a.kind == BOOL_NOT && b.kind == BOOL_IS) {
        boolean swap = a;
        a = b, b = swap;
    }
    var out = cs_alloc_bit(c);
    row r;
    row_init(&r);
    lc_add_boolean(&r.a, a, &FR_ONE);
    lc_add_boolean(&r.b, b, &FR_ONE);
    lc_add_one(&r.c, out);
    row_enforce(c, &r);
    return boolean_of(out);
}

boolean boolean_or(cs *c, boolean a, boolean b)
{
    return boolean_not(boolean_and(c, boolean_not(a), boolean_not(b)));
}

/* The order of the special cases decides which wires exist. */
boolean boolean_ch(cs *c, boolean a, boolean b, boolean d)
{
    if (a.kind == BOOL_FALSE)
        return d;
    if (boolean_is_constant(a) && boolean_is_constant(b) && boolean_is_constant(d))
        return b;
    if (b.kind == BOOL_FALSE)
        return boolean_and(c, boolean_not(a), d);
    if (d.kind == BOOL_FALSE)
        return boolean_and(c, a, b);
    if (d.kind == BOOL_TRUE)
        return boolean_not(boolean_and(c, a, boolean_not(b)));
    if (b.kind == BOOL_TRUE)
        return boolean_not(boolean_and(c, boolean_not(a), boolean_not(d)));
    /* (b - d) * a = out - d */
    var out = cs_alloc_bit(c);
    row r;
    row_init(&r);
    lc_add_boolean(&r.a, b, &FR_ONE);
    lc_sub_boolean(&r.a, d);
    lc_add_boolean(&r.b, a, &FR_ONE);
    lc_add_one(&r.c, out);
    lc_sub_boolean(&r.c, d);
    row_enforce(c, &r);
    return boolean_of(out);
}

boolean boolean_maj(cs *c, boolean a, boolean b, boolean d)
{
    boolean *const operand[3] = {&a, &b, &d};
    /* One false operand leaves the conjunction of the others, one true operand their disjunction; the falses
     * of all three are tried first (a, b, d), then the trues (d, b, a). */
    for (int i = 0; i < 3; i++)
        if (operand[i]->kind == BOOL_FALSE)
            return boolean_and(c, *operand[i == 0], *operand[i == 2 ? 1 : 2]);
    for (int i = 2; i >= 0; i--)
        if (operand[i]->kind == BOOL_TRUE)
            return boolean_or(c, *operand[i == 0], *operand[i == 2 ? 1 : 2]);
    /* (2bd - b - d) * a = bd - out; out comes before bd. */
    var out = cs_alloc_bit(c);
    boolean bd = boolean_and(c, b, d);
    row r;
    row_init(&r);
    lc_add_boolean(&r.a, bd, &FR_TWO);
    lc_sub_boolean(&r.a, b);
    lc_sub_boolean(&r.a, d);
    lc_add_boolean(&r.b, a, &FR_ONE);
    lc_add_boolean(&r.c, bd, &FR_ONE);
    lc_sub_one(&r.c, out);
    row_enforce(c, &r);
    return boolean_of(out);
}

void boolean_enforce_equal(cs *c, boolean a, boolean b)
{
    if (boolean_is_constant(a) && a.kind == b.kind)
        return;
    if (b.kind == BOOL_TRUE || (a.kind == BOOL_FALSE && b.kind != BOOL_TRUE)) {
        boolean swap = a;
        a = b, b = swap;
    }
    row r;
    row_init(&r);
    lc_add_boolean(&r.c, a, &FR_ONE);
    lc_sub_boolean(&r.c, b);
    row_enforce(c, &r);
}
