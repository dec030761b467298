/* A .zkey from a circuit: Lagrange values at tau over the domain of root 5^((r-1)/2^k), then points by fixed
 * bases. */
#include "base/encode.h"
#include "base/hash.h"
#include "base/mem.h"
#include "circom/circom.h"
#include "poly/poly.h"

typedef struct setup_state {
    const circom_r1cs *r;
    const toxic_waste *t;
    pool *p;
    uint32_t inputs, domain;
    unsigned log;
    fr *lagrange; /* of the domain at tau */
    fr *value[3]; /* A_j, B_j, C_j at tau, per wire */
    fr *scratch;  /* max(wires, domain) */
    size_t scratch_count;
    file_writer w;
    uint64_t section_at;
} setup_state;

/* out[i] = (tau^n - 1) x_i / (n (tau - x_i)) with x_i = start * root^i, times scale. */
static cuzk_status lagrange_values(fr *out, size_t count, uint64_t n, const fr *start, const fr *root,
                                   const fr *tau, const fr *scale, cuzk_error *err)
{
    fr *inverse = big_alloc(2 * count * sizeof(fr));
    if (!inverse)
        return mem_error(err, 2 * count * sizeof(fr), "Lagrange values");
    fr x = *start, tau_n = *tau, factor, n_inverse;
    for (uint64_t m = n; m > 1; m >>= 1)
        fr_sqr(&tau_n, &tau_n);
    fr_from_u64(&n_inverse, n);
    fr_inv(&n_inverse, &n_inverse);
    fr_sub(&factor, &tau_n, &FR_ONE);
    fr_mul(&factor, &factor, &n_inverse);
    fr_mul(&factor, &factor, scale);
    for (size_t i = 0; i < count; i++) {
        fr_mul(&out[i], &factor, &x);
        fr_sub(&inverse[i], tau, &x);
        fr_mul(&x, &x, root);
    }
    fr_batch_inv(inverse, inverse, count, inverse + count);
    for (size_t i = 0; i < count; i++)
        fr_mul(&out[i], &out[i], &inverse[i]);
    big_free(inverse, 2 * count * sizeof(fr));
    return CUZK_OK;
}

static void add_value(void *ctx, int matrix, uint32_t row, uint32_t wire, const fr *value)
{
    setup_state *t = ctx;
    fr v;
    fr_mul(&v, value, &t->lagrange[row]);
    fr_add(&t->value[matrix][wire], &t->value[matrix][wire], &v);
}

static cuzk_status evaluate(setup_state *t, cuzk_error *err)
{
    fr root;
    fr_root_of_unity(&root, t->log, 5);
    cuzk_status s =
        lagrange_values(t->lagrange, t->domain, t->domain, &FR_ONE, &root, &t->t->tau, &FR_ONE, err);
    if (!s)
        s = circom_r1cs_each(t->r, add_value, t, err);
    /* The closing rows: (input_i) * 0 = 0. */
    for (uint32_t i = 0; i < t->inputs && !s; i++)
        add_value(t, 0, t->r->constraints + i, i, &FR_ONE);
    return s;
}

/* ---- writing ---- */

static void begin_section(setup_state *t, uint32_t type)
{
    uint8_t head[12] = {0};
    store_le32(head, type);
    file_write(&t->w, head, 12);
    t->section_at = t->w.written;
}

static void end_section(setup_state *t)
{
    uint8_t size[8];
    store_le64(size, t->w.written - t->section_at);
    file_write_at(&t->w, t->section_at - 8, size, 8);
}

static void write_u32(setup_state *t, uint32_t v)
{
    uint8_t b[4];
    store_le32(b, v);
    file_write(&t->w, b, 4);
}

/* n points k[i] * G as they lie in memory. */
static cuzk_status write_points(setup_state *t, uint32_t section, const fr *k, size_t n, int is_g2,
                                cuzk_error *err)
{
    begin_section(t, section);
    size_t each = is_g2 ? sizeof(g2_affine) : sizeof(g1_affine), chunk = 1 << 16;
    void *points = big_alloc(chunk * each);
    cuzk_status s = points ? CUZK_OK : mem_error(err, chunk * each, "points");
    for (size_t at = 0; at < n && !s; at += chunk) {
        size_t count = n - at < chunk ? n - at : chunk;
        s = is_g2 ? g2_fixed_base_many(points, &BLS12_381_G2, k + at, count, t->p, err)
                  : g1_fixed_base_many(points, &BLS12_381_G1, k + at, count, t->p, err);
        if (!s)
            file_write(&t->w, points, count * each);
    }
    big_free(points, chunk * each);
    end_section(t);
    return s;
}

static void secret_g1(g1_affine *out, const fr *k)
{
    g1 p;
    scalar s;
    fr_to_scalar(&s, k);
    g1_from_affine(&p, &BLS12_381_G1);
    g1_mul_secret(&p, &p, &s);
    g1_to_affine(out, &p);
    mem_wipe(&s, sizeof(s));
}

static void secret_g2(g2_affine *out, const fr *k)
{
    g2 p;
    scalar s;
    fr_to_scalar(&s, k);
    g2_from_affine(&p, &BLS12_381_G2);
    g2_mul_secret(&p, &p, &s);
    g2_to_affine(out, &p);
    mem_wipe(&s, sizeof(s));
}

static const uint8_t PRIME_Q[48] = {0xab, 0xaa, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xb9, 0xff, 0xff, 0x53, 0xb1,
                                    0xfe, 0xff, 0xab, 0x1e, 0x24, 0xf6, 0xb0, 0xf6, 0xa0, 0xd2, 0x30, 0x67,
                                    0xbf, 0x12, 0x85, 0xf3, 0x84, 0x4b, 0x77, 0x64, 0xd7, 0xac, 0x4b, 0x43,
                                    0xb6, 0xa7, 0x1b, 0x4b, 0x9a, 0xe6, 0x7f, 0x39, 0xea, 0x11, 0x01, 0x1a};

static void write_header(setup_state *t)
{
    begin_section(t, 1);
    write_u32(t, 1); /* Groth16 */
    end_section(t);
    begin_section(t, 2);
    write_u32(t, 48);
    file_write(&t->w, PRIME_Q, 48);
    write_u32(t, 32);
    file_write(&t->w, t->r->f.section[1] + 4, 32); /* checked to be r */
    write_u32(t, t->r->wires);
    write_u32(t, t->inputs - 1);
    write_u32(t, t->domain);
    g1_affine alpha, beta, delta;
    g2_affine beta2, gamma2, delta2;
    secret_g1(&alpha, &t->t->alpha);
    secret_g1(&beta, &t->t->beta);
    secret_g2(&beta2, &t->t->beta);
    secret_g2(&gamma2, &t->t->gamma);
    secret_g1(&delta, &t->t->delta);
    secret_g2(&delta2, &t->t->delta);
    file_write(&t->w, &alpha, 96);
    file_write(&t->w, &beta, 96);
    file_write(&t->w, &beta2, 192);
    file_write(&t->w, &gamma2, 192);
    file_write(&t->w, &delta, 96);
    file_write(&t->w, &delta2, 192);
    end_section(t);
}

/* scratch[i] = (beta A_j + alpha B_j + C_j) / divisor for count wires from first. */
static void combine(setup_state *t, uint32_t first, uint32_t count, const fr *divisor)
{
    fr inverse, v;
    fr_inv(&inverse, divisor);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = first + i;
        fr_mul(&t->scratch[i], &t->t->beta, &t->value[0][j]);
        fr_mul(&v, &t->t->alpha, &t->value[1][j]);
        fr_add(&t->scratch[i], &t->scratch[i], &v);
        fr_add(&t->scratch[i], &t->scratch[i], &t->value[2][j]);
        fr_mul(&t->scratch[i], &t->scratch[i], &inverse);
    }
}

static void write_coef(void *ctx, int matrix, uint32_t row, uint32_t wire, const fr *value)
{
    setup_state *t = ctx;
    if (matrix == 2)
        return; /* C follows from A and B */
    uint8_t entry[44];
    store_le32(entry, (uint32_t)matrix);
    store_le32(entry + 4, row);
    store_le32(entry + 8, wire);
    /* value * R^2 as a plain number: the limbs of value * R in Montgomery form. */
    static const fr R2 = {{0xc999e990f3f29c6d, 0x2b6cedcb87925c23, 0x05d314967254398f, 0x0748d9d99f59ff11}};
    fr v;
    fr_mul(&v, value, &R2); /* R2's limbs are R^2: read as Montgomery it stands for R */
    memcpy(entry + 12, &v, 32);
    file_write(&t->w, entry, 44);
}

static cuzk_status write_coefs(setup_state *t, cuzk_error *err)
{
    begin_section(t, 4);
    write_u32(t, (uint32_t)(t->r->terms[0] + t->r->terms[1] + t->inputs));
    cuzk_status s = circom_r1cs_each(t->r, write_coef, t, err);
    for (uint32_t i = 0; i < t->inputs && !s; i++)
        write_coef(t, 0, t->r->constraints + i, i, &FR_ONE);
    end_section(t);
    return s;
}

/* H_i = L_(2i+1)(tau) / delta of the doubled domain. */
static cuzk_status write_h(setup_state *t, cuzk_error *err)
{
    fr root2, step, scale;
    fr_root_of_unity(&root2, t->log + 1, 5);
    fr_sqr(&step, &root2);
    fr_inv(&scale, &t->t->delta);
    cuzk_status s =
        lagrange_values(t->scratch, t->domain, 2ull * t->domain, &root2, &step, &t->t->tau, &scale, err);
    return s ? s : write_points(t, 9, t->scratch, t->domain, 0, err);
}

static cuzk_status write_sections(setup_state *t, cuzk_error *err)
{
    uint8_t head[12] = {'z', 'k', 'e', 'y', 1, 0, 0, 0, 10, 0, 0, 0}, none[68] = {0};
    file_write(&t->w, head, 12);
    write_header(t);
    combine(t, 0, t->inputs, &t->t->gamma);
    cuzk_status s = write_points(t, 3, t->scratch, t->inputs, 0, err);
    if (!s)
        s = write_coefs(t, err);
    if (!s)
        s = write_points(t, 5, t->value[0], t->r->wires, 0, err);
    if (!s)
        s = write_points(t, 6, t->value[1], t->r->wires, 0, err);
    if (!s)
        s = write_points(t, 7, t->value[1], t->r->wires, 1, err);
    if (!s) {
        combine(t, t->inputs, t->r->wires - t->inputs, &t->t->delta);
        s = write_points(t, 8, t->scratch, t->r->wires - t->inputs, 0, err);
    }
    if (!s)
        s = write_h(t, err);
    begin_section(t, 10); /* the circuit's hash, and no contributions */
    blake2b b;
    blake2b_init(&b, 64, NULL, 0);
    blake2b_update(&b, t->r->rows, (size_t)t->r->f.size[2]);
    blake2b_final(&b, none);
    file_write(&t->w, none, 68);
    end_section(t);
    return s;
}

cuzk_status circom_setup(const circom_r1cs *r, const toxic_waste *tw, const char *zkey_path, pool *p,
                         cuzk_error *err)
{
    setup_state t = {.r = r, .t = tw, .p = p, .inputs = 1 + r->public_outputs + r->public_inputs};
    uint64_t rows = (uint64_t)r->constraints + t.inputs;
    t.log = domain_log_for(rows);
    if (r->terms[0] + r->terms[1] + t.inputs > UINT32_MAX || t.log > 28)
        return cuzk_error_set(err, CUZK_UNSUPPORTED, "%s is too large for a .zkey", r->f.path);
    t.domain = 1u << t.log;
    t.scratch_count = r->wires > t.domain ? r->wires : t.domain;
    size_t wire_bytes = r->wires * sizeof(fr);
    t.lagrange = big_alloc(t.domain * sizeof(fr));
    t.scratch = big_alloc(t.scratch_count * sizeof(fr));
    cuzk_status s = t.lagrange && t.scratch ? CUZK_OK : mem_error(err, t.scratch_count * sizeof(fr), "setup");
    for (int m = 0; m < 3; m++) {
        t.value[m] = big_alloc(wire_bytes);
        if (!s && !t.value[m])
            s = mem_error(err, wire_bytes, "setup");
    }
    if (!s)
        s = evaluate(&t, err);
    if (!s)
        s = file_writer_open(&t.w, zkey_path, err);
    if (!s) {
        s = write_sections(&t, err);
        if (s)
            file_writer_abort(&t.w);
        else
            s = file_writer_commit(&t.w, err);
    }
    for (int m = 0; m < 3; m++) {
        if (t.value[m])
            mem_wipe(t.value[m], wire_bytes);
        big_free(t.value[m], wire_bytes);
    }
    if (t.lagrange)
        mem_wipe(t.lagrange, t.domain * sizeof(fr));
    if (t.scratch)
        mem_wipe(t.scratch, t.scratch_count * sizeof(fr));
    big_free(t.lagrange, t.domain * sizeof(fr));
    big_free(t.scratch, t.scratch_count * sizeof(fr));
    return s;
}
