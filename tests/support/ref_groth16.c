#include "support/ref_groth16.h"
#include "base/encode.h"
#include "base/mem.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void *room(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    assert_non_null(p);
    return p;
}

const char *test_path(const char *name)
{
    static char folder[256], paths[8][512];
    static unsigned next;
    if (!folder[0]) {
        const char *tmp = getenv("TMPDIR");
        snprintf(folder, sizeof(folder), "%s/cuzk-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
        assert_non_null(mkdtemp(folder));
    }
    char *p = paths[next++ % 8];
    snprintf(p, sizeof(paths[0]), "%s/%s", folder, name);
    return p;
}

/* ---- reading the .r1cs ---- */
static const uint8_t *section(const uint8_t *d, size_t size, uint32_t type)
{
    for (size_t at = 12; at + 12 <= size; at += 12 + load_le64(d + at + 4)) {
        if (load_le32(d + at) == type)
            return d + at + 12;
    }
    fail_msg("section %u is missing", type);
    return NULL;
}

static void read_rows(ref_system *s, const uint8_t *p)
{
    s->row = room(s->rows, sizeof(ref_row));
    for (uint32_t i = 0; i < s->rows; i++) {
        for (int m = 0; m < 3; m++) {
            ref_row *row = &s->row[i];
            row->n[m] = load_le32(p);
            p += 4;
            row->wire[m] = room(row->n[m], sizeof(uint32_t));
            row->coef[m] = room(row->n[m], sizeof(fr));
            for (uint32_t k = 0; k < row->n[m]; k++, p += 36) {
                row->wire[m][k] = load_le32(p);
                assert_int_equal(fr_from_bytes(&row->coef[m][k], p + 4), 0);
            }
        }
    }
}

static void read_values(ref_system *s, const r1cs *r, const witness *w)
{
    s->value = room(s->wires, sizeof(fr));
    for (uint32_t i = 0; i < s->wires; i++)
        witness_value(&s->value[i], r, w, i < s->inputs ? i : (i - s->inputs) | VAR_AUX);
}

/* ---- polynomials at tau ---- */
static void power(fr *r, const fr *a, uint64_t e)
{
    *r = FR_ONE;
    for (uint64_t i = 0; i < e; i++)
        fr_mul(r, r, a);
}

/* L_i(tau) as the product over the other domain points, written with the derivative of x^n - 1. */
static void lagrange(fr *out, const ref_system *s, const fr *root, uint64_t i, const fr *tau)
{
    fr w, t, n;
    power(&w, root, i);
    fr_sub(&t, tau, &w);
    fr_from_u64(&n, (uint64_t)1 << s->log_n);
    fr_mul(&t, &t, &n);
    fr_inv(&t, &t);
    fr_mul(out, &w, &t);
    fr_mul(out, out, &s->vanishing);
}

static void evaluate(ref_system *s, const toxic_waste *t)
{
    fr *column[3], total[3] = {FR_ZERO, FR_ZERO, FR_ZERO}, root, l, x;
    for (int m = 0; m < 3; m++)
        column[m] = room(s->wires, sizeof(fr));
    fr_root_of_unity(&root, s->log_n, 7);
    power(&s->vanishing, &t->tau, (uint64_t)1 << s->log_n);
    fr_sub(&s->vanishing, &s->vanishing, &FR_ONE);
    for (uint32_t i = 0; i < s->rows; i++) {
        lagrange(&l, s, &root, i, &t->tau);
        for (int m = 0; m < 3; m++) {
            const ref_row *row = &s->row[i];
            for (uint32_t k = 0; k < row->n[m]; k++) {
                fr *c = &column[m][row->wire[m][k]];
                fr_mul(&x, &l, &row->coef[m][k]);
                fr_add(c, c, &x);
            }
        }
    }
    for (int m = 0; m < 3; m++) {
        for (uint32_t j = 0; j < s->wires; j++) {
            fr_mul(&x, &column[m][j], &s->value[j]);
            fr_add(&total[m], &total[m], &x);
        }
    }
    s->a = column[0], s->b = column[1], s->c = column[2];
    s->a_tau = total[0], s->b_tau = total[1], s->c_tau = total[2];
}

/* The system's .r1cs bytes (mem_free), with counts and rows taken from them. */
static uint8_t *r1cs_bytes(ref_system *s, const r1cs *r)
{
    cuzk_error err = {0};
    const char *path = test_path("ref.r1cs");
    uint8_t *d;
    size_t size;
    if (r1cs_write_circom(r, path, &err) != CUZK_OK ||
        file_read(&d, &size, path, (size_t)1 << 30, &err) != CUZK_OK)
        fail_msg("%s", err.message);
    unlink(path);
    const uint8_t *h = section(d, size, 1);
    s->wires = load_le32(h + 36);
    s->inputs = 1 + load_le32(h + 40) + load_le32(h + 44);
    s->rows = load_le32(h + 60);
    while (((uint64_t)1 << s->log_n) < s->rows)
        s->log_n++;
    read_rows(s, section(d, size, 2));
    return d;
}

void ref_system_make(ref_system *s, const r1cs *r, const witness *w, const toxic_waste *t)
{
    memset(s, 0, sizeof(*s));
    uint8_t *d = r1cs_bytes(s, r);
    read_values(s, r, w);
    evaluate(s, t);
    mem_free(d);
}

void ref_system_clear(ref_system *s)
{
    for (uint32_t i = 0; i < s->rows; i++) {
        for (int m = 0; m < 3; m++) {
            free(s->row[i].wire[m]);
            free(s->row[i].coef[m]);
        }
    }
    free(s->row);
    free(s->value);
    free(s->a);
    free(s->b);
    free(s->c);
}

/* (beta A_j + alpha B_j + C_j) */
static void mixed(fr *out, const ref_system *s, const toxic_waste *t, uint32_t j)
{
    fr x;
    fr_mul(out, &t->beta, &s->a[j]);
    fr_mul(&x, &t->alpha, &s->b[j]);
    fr_add(out, out, &x);
    fr_add(out, out, &s->c[j]);
}

fr *ref_ic(const ref_system *s, const toxic_waste *t)
{
    fr *k = room(s->inputs, sizeof(fr)), inverse;
    fr_inv(&inverse, &t->gamma);
    for (uint32_t j = 0; j < s->inputs; j++) {
        mixed(&k[j], s, t, j);
        fr_mul(&k[j], &k[j], &inverse);
    }
    return k;
}

fr *ref_section(const ref_system *s, const toxic_waste *t, const char *name, size_t *count)
{
    size_t n = (size_t)1 << s->log_n;
    fr *k = room(n + s->wires, sizeof(fr)), inverse;
    fr_inv(&inverse, &t->delta);
    *count = 0;
    if (!strcmp(name, "h")) {
        for (size_t i = 0; i + 1 < n; i++) {
            power(&k[i], &t->tau, i);
            fr_mul(&k[i], &k[i], &s->vanishing);
            fr_mul(&k[i], &k[i], &inverse);
        }
        *count = n - 1;
        return k;
    }
    if (!strcmp(name, "l")) {
        for (uint32_t j = s->inputs; j < s->wires; j++) {
            mixed(&k[*count], s, t, j);
            fr_mul(&k[*count], &k[*count], &inverse);
            ++*count;
        }
        return k;
    }
    const fr *v = !strcmp(name, "a") ? s->a : s->b;
    for (uint32_t j = 0; j < s->wires; j++) {
        if (!fr_is_zero(&v[j]))
            k[(*count)++] = v[j];
    }
    return k;
}

void ref_g1(g1_affine *out, const fr *k)
{
    scalar x;
    g1 p;
    fr_to_scalar(&x, k);
    g1_mul(&p, blst_p1_generator(), &x);
    g1_to_affine(out, &p);
}

void ref_g2(g2_affine *out, const fr *k)
{
    scalar x;
    g2 p;
    fr_to_scalar(&x, k);
    g2_mul(&p, blst_p2_generator(), &x);
    g2_to_affine(out, &p);
}

void ref_prove(uint8_t proof[GROTH16_PROOF_BYTES], const ref_system *s, const toxic_waste *t, const fr *r,
               const fr *k)
{
    fr a, b, c, x, inverse;
    fr_mul(&x, r, &t->delta); /* A = alpha + A(tau) + r delta */
    fr_add(&a, &t->alpha, &s->a_tau);
    fr_add(&a, &a, &x);
    fr_mul(&x, k, &t->delta); /* B = beta + B(tau) + s delta */
    fr_add(&b, &t->beta, &s->b_tau);
    fr_add(&b, &b, &x);
    /* C = (sum over aux of w_j (beta A_j + alpha B_j + C_j) + h(tau) (tau^n - 1)) / delta + A s + B r - r s
     * delta, where h(tau) (tau^n - 1) = A(tau) B(tau) - C(tau) for a satisfied system. */
    fr_mul(&c, &s->a_tau, &s->b_tau);
    fr_sub(&c, &c, &s->c_tau);
    for (uint32_t j = s->inputs; j < s->wires; j++) {
        mixed(&x, s, t, j);
        fr_mul(&x, &x, &s->value[j]);
        fr_add(&c, &c, &x);
    }
    fr_inv(&inverse, &t->delta);
    fr_mul(&c, &c, &inverse);
    fr_mul(&x, &a, k);
    fr_add(&c, &c, &x);
    fr_mul(&x, &b, r);
    fr_add(&c, &c, &x);
    fr_mul(&x, r, k);
    fr_mul(&x, &x, &t->delta);
    fr_sub(&c, &c, &x);
    g1_affine p;
    g2_affine q;
    ref_g1(&p, &a);
    g1_compress(proof, &p);
    ref_g2(&q, &b);
    g2_compress(proof + 48, &q);
    ref_g1(&p, &c);
    g1_compress(proof + 144, &p);
}

/* ---- circuits ---- */
typedef struct closed_system {
    random_system s;
    uint8_t *mentioned; /* by aux index; NULL: no row is added */
    uint32_t aux;
} closed_system;

static void closed_synth(cs *c, void *ctx)
{
    closed_system *k = ctx;
    lc l[3];
    random_system_synth(c, &k->s);
    for (int i = 0; i < 3; i++)
        lc_init(&l[i]);
    for (uint32_t i = 0; k->mentioned && i < k->aux; i++) {
        if (!k->mentioned[i])
            lc_add_one(&l[0], i | VAR_AUX);
    }
    if (l[0].n)
        cs_enforce(c, &l[0], &l[1], &l[2]);
    for (int i = 0; i < 3; i++)
        lc_clear(&l[i]);
}

static r1cs *compile_closed(closed_system *k, int unrolled)
{
    cuzk_error err = {0};
    r1cs *r;
    k->s.unrolled = unrolled;
    if (r1cs_compile(&r, "random", closed_synth, k, &err) != CUZK_OK)
        fail_msg("%s", err.message);
    return r;
}

static uint8_t *mentioned_wires(const r1cs *r, uint32_t aux)
{
    ref_system s = {0};
    uint8_t *d = r1cs_bytes(&s, r), *mentioned = room(aux, 1);
    for (uint32_t i = 0; i < s.rows; i++) {
        for (int m = 0; m < 3; m++) {
            for (uint32_t k = 0; k < s.row[i].n[m]; k++) {
                if (s.row[i].wire[m][k] >= s.inputs)
                    mentioned[s.row[i].wire[m][k] - s.inputs] = 1;
            }
        }
    }
    mem_free(d);
    ref_system_clear(&s);
    return mentioned;
}

static void make(test_circuit *c, random_system shape, int closed)
{
    cuzk_error err = {0};
    closed_system k = {.s = shape};
    memset(c, 0, sizeof(*c));
    r1cs *written = compile_closed(&k, 1);
    c->unrolled = k.s;
    k.aux = c->unrolled.aux_count;
    if (closed)
        k.mentioned = mentioned_wires(written, k.aux);
    r1cs_destroy(written);
    k.s = shape;
    c->r = compile_closed(&k, 0);
    random_system_clear(&k.s);
    free(k.mentioned);
    r1cs_counts n;
    r1cs_get_counts(c->r, &n);
    assert_int_equal(n.aux, c->unrolled.aux_count);
    assert_int_equal(witness_init(&c->w, n.inputs, n.aux, n.fields, &err), CUZK_OK);
    random_system_witness(&c->unrolled, &c->w);
}

void test_circuit_make(test_circuit *c, random_system shape)
{
    make(c, shape, 0);
}

void test_circuit_make_closed(test_circuit *c, random_system shape)
{
    make(c, shape, 1);
}

void test_circuit_clear(test_circuit *c)
{
    r1cs_destroy(c->r);
    witness_clear(&c->w);
    random_system_clear(&c->unrolled);
}
