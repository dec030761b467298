#include "support/backend_cases.h"
#include "base/clock.h"
#include "base/mem.h"
#include "msm/msm.h"
#include "poly/poly.h"
#include "support/math.h"
#include "support/ref_groth16.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const size_t sizes[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 237, 1000, 5000};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void ok(cuzk_status s, const cuzk_error *err, const char *what, size_t n)
{
    if (s != CUZK_OK)
        fail_msg("%s of %zu: %s: %s", what, n, cuzk_status_name(s), err->message);
}

static void *room(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    assert_non_null(p);
    return p;
}

static int too_large(const backend_run *run, size_t n)
{
    return run->most && n > run->most;
}

static void same(const void *a, const void *b, size_t bytes, const char *what, size_t n, const char *kind)
{
    if (memcmp(a, b, bytes))
        fail_msg("%s of %zu, %s: the result differs", what, n, kind);
}

/* ---- fields ---- */
static const char *const op_names[] = {"mul", "sqr", "add", "sub", "inv"};

#define FIELD_CASE(name, type, random, plain_mul, plain_add, plain_sub, plain_inv)                           \
    static void case_##name(const backend_run *run)                                                          \
    {                                                                                                        \
        chacha_rng rng;                                                                                      \
        math_rng(&rng, 11);                                                                                  \
        for (size_t i = 0; i < SIZES; i++) {                                                                 \
            size_t n = sizes[i];                                                                             \
            type *a = room(n, sizeof(type)), *b = room(n, sizeof(type)), *r = room(n, sizeof(type));         \
            for (size_t k = 0; k < n; k++)                                                                   \
                random(&a[k], &rng, k), random(&b[k], &rng, k / 7);                                          \
            for (int op = CUZK_OP_MUL; op <= CUZK_OP_INV; op++) {                                            \
                cuzk_error err = {0};                                                                        \
                ok(run->backend->op_##name((run)->device, (cuzk_field_op)op, (void *)r, (const void *)a,     \
                                           (const void *)b, n, &err),                                        \
                   &err, op_names[op], n);                                                                   \
                for (size_t k = 0; k < n; k++) {                                                             \
                    type e;                                                                                  \
                    switch (op) {                                                                            \
                    case CUZK_OP_MUL:                                                                        \
                        plain_mul(&e, &a[k], &b[k]);                                                         \
                        break;                                                                               \
                    case CUZK_OP_SQR:                                                                        \
                        plain_mul(&e, &a[k], &a[k]);                                                         \
                        break;                                                                               \
                    case CUZK_OP_ADD:                                                                        \
                        plain_add(&e, &a[k], &b[k]);                                                         \
                        break;                                                                               \
                    case CUZK_OP_SUB:                                                                        \
                        plain_sub(&e, &a[k], &b[k]);                                                         \
                        break;                                                                               \
                    default:                                                                                 \
                        plain_inv(&e, &a[k]);                                                                \
                    }                                                                                        \
                    same(&e, &r[k], sizeof(e), #name, n, op_names[op]);                                      \
                }                                                                                            \
            }                                                                                                \
            free(a), free(b), free(r);                                                                       \
        }                                                                                                    \
    }

/* Every fifth element or so is an edge: 0, 1, -1. */
static void some_fr(fr *r, chacha_rng *rng, size_t k)
{
    math_fr(r, rng);
    if (k % 5 == 1)
        *r = k % 15 == 1 ? FR_ZERO : k % 15 == 6 ? FR_ONE : FR_MINUS_ONE;
}

static void some_fp(fp *r, chacha_rng *rng, size_t k)
{
    uint8_t b[48];
    chacha_rng_bytes(rng, b, sizeof(b));
    b[0] &= 0x0f;
    if (k % 5 == 1)
        memset(b, 0, sizeof(b)), b[47] = k % 10 == 1;
    blst_fp_from_bendian(r, b);
    if (k % 15 == 6)
        blst_fp_cneg(r, r, 1);
}

static void some_fp2(fp2 *r, chacha_rng *rng, size_t k)
{
    some_fp(&r->fp[0], rng, k);
    some_fp(&r->fp[1], rng, k + 3);
}

static void plain_fp_inv(fp *r, const fp *a)
{
    blst_fp_inverse(r, a);
}

static void plain_fp2_inv(fp2 *r, const fp2 *a)
{
    blst_fp2_inverse(r, a);
}

FIELD_CASE(fr, fr, some_fr, fr_mul, fr_add, fr_sub, fr_inv)
FIELD_CASE(fp, fp, some_fp, blst_fp_mul, blst_fp_add, blst_fp_sub, plain_fp_inv)
FIELD_CASE(fp2, fp2, some_fp2, blst_fp2_mul, blst_fp2_add, blst_fp2_sub, plain_fp2_inv)

/* ---- transforms ---- */
/* a[i] *= g^i, g = 7 or its inverse. */
static void shift(fr *a, size_t n, int inverse)
{
    fr g, power = FR_ONE;
    fr_from_u64(&g, 7);
    if (inverse)
        fr_inv(&g, &g);
    for (size_t i = 0; i < n; i++) {
        fr_mul(&a[i], &a[i], &power);
        fr_mul(&power, &power, &g);
    }
}

static void ntt_oracle(const domain *d, cuzk_ntt_kind kind, fr *a)
{
    size_t n = domain_size(d);
    if (kind == CUZK_NTT_COSET_FORWARD)
        shift(a, n, 0);
    if (kind == CUZK_NTT_FORWARD || kind == CUZK_NTT_COSET_FORWARD)
        ntt_forward_ref(d, a);
    else
        ntt_inverse_ref(d, a);
    if (kind == CUZK_NTT_COSET_INVERSE)
        shift(a, n, 1);
}

static void case_ntt(const backend_run *run)
{
    static const uint32_t logs[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13};
    static const char *const kinds[] = {"forward", "inverse", "coset forward", "coset inverse"};
    chacha_rng rng;
    math_rng(&rng, 12);
    for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
        size_t n = (size_t)1 << logs[i];
        if (too_large(run, n))
            continue;
        cuzk_error err = {0};
        domain *d;
        ok(domain_create(&d, logs[i], 7, &err), &err, "domain", n);
        fr *a = room(n, sizeof(fr)), *e = room(n, sizeof(fr));
        for (int kind = CUZK_NTT_FORWARD; kind <= CUZK_NTT_COSET_INVERSE; kind++) {
            for (size_t k = 0; k < n; k++)
                some_fr(&a[k], &rng, k);
            memcpy(e, a, n * sizeof(fr));
            ok(run->backend->op_ntt(run->device, (cuzk_ntt_kind)kind, (cuzk_fr *)a, logs[i], &err), &err,
               "ntt", n);
            ntt_oracle(d, (cuzk_ntt_kind)kind, e);
            same(e, a, n * sizeof(fr), "ntt", n, kinds[kind]);
        }
        domain_destroy(d);
        free(a), free(e);
    }
}

static void case_quotient(const backend_run *run)
{
    static const uint32_t logs[] = {0, 1, 2, 3, 5, 8, 11};
    chacha_rng rng;
    math_rng(&rng, 13);
    for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
        size_t n = (size_t)1 << logs[i];
        cuzk_error err = {0};
        domain *d;
        ok(domain_create(&d, logs[i], 7, &err), &err, "domain", n);
        fr *a = room(n, sizeof(fr)), *b = room(n, sizeof(fr)), *c = room(n, sizeof(fr));
        scalar *h = room(n, sizeof(scalar)), *e = room(n, sizeof(scalar));
        for (size_t k = 0; k < n; k++) {
            some_fr(&a[k], &rng, k);
            some_fr(&b[k], &rng, k / 3);
            fr_mul(&c[k], &a[k], &b[k]);
        }
        ok(run->backend->op_quotient(run->device, (cuzk_scalar *)h, (cuzk_fr *)a, (cuzk_fr *)b, logs[i],
                                     &err),
           &err, "quotient", n);
        quotient_ref(d, a, b, c);
        for (size_t k = 0; k + 1 < n; k++)
            fr_to_scalar(&e[k], &a[k]);
        same(e, h, n * sizeof(scalar), "quotient", n, "random");
        domain_destroy(d);
        free(a), free(b), free(c), free(h), free(e);
    }
}

static void case_multiply(const backend_run *run)
{
    static const random_system shapes[] = {
        {.seed = 21, .count = 3, .imports = 2, .globals = 9, .tail = 5, .rows = 12},
        {.seed = 22, .count = 70, .imports = 3, .globals = 40, .tail = 10, .rows = 20},
        {.seed = 23, .count = 5, .globals = 3, .tail = 3, .rows = 8, .bits_only = 1},
        {.seed = 24, .count = 4, .imports = 1, .globals = 6, .tail = 2, .rows = 9, .no_inputs = 1},
        {.seed = 25, .count = 2, .globals = 3, .tail = 3, .rows = 5, .linear = 1},
    };
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        test_circuit c;
        cuzk_error err = {0};
        cuzk_circuit_view view;
        test_circuit_make(&c, shapes[i]);
        ok(r1cs_view(c.r, &view, &err), &err, "view", 0);
        size_t n = view.constraints;
        fr *a = room(n, sizeof(fr)), *b = room(n, sizeof(fr));
        cuzk_witness_view w = {c.w.inputs,           c.w.aux,  c.w.fields,
                               (cuzk_fr *)c.w.input, c.w.bits, (cuzk_fr *)c.w.field};
        ok(run->backend->op_multiply(run->device, &view, &w, (cuzk_fr *)a, (cuzk_fr *)b, &err), &err,
           "multiply", n);
        same(c.unrolled.a, a, n * sizeof(fr), "multiply", n, "A");
        same(c.unrolled.b, b, n * sizeof(fr), "multiply", n, "B");
        free(a), free(b);
        test_circuit_clear(&c);
    }
}

/* ---- sums over points ---- */
enum { K_RANDOM, K_ZERO, K_ONE, K_EQUAL, K_LARGEST, K_SMALL, K_SPARSE, K_ONE_BUCKET, K_KINDS };
enum { P_RANDOM, P_EQUAL, P_OPPOSITE, P_INFINITY, P_SOME_INFINITY, P_KINDS };
static const char *const kind_names[K_KINDS] = {"random scalars", "all zero",  "all one",
                                                "all equal",      "all r - 1", "small scalars",
                                                "98 % zero, one", "one bucket"};
static const char *const point_names[P_KINDS] = {"random points", "equal points", "opposite points",
                                                 "all infinity", "some infinity"};

static void make_scalars(scalar *k, size_t n, int kind, chacha_rng *rng)
{
    scalar same_for_all, largest;
    math_scalar(&same_for_all, rng);
    fr_to_scalar(&largest, &FR_MINUS_ONE);
    for (size_t i = 0; i < n; i++) {
        math_scalar(&k[i], rng);
        switch (kind) {
        case K_ZERO:
        case K_ONE:
            k[i] = (scalar){{kind == K_ONE}};
            break;
        case K_EQUAL:
            k[i] = same_for_all;
            break;
        case K_LARGEST:
            k[i] = largest;
            break;
        case K_SMALL:
            k[i] = (scalar){{k[i].l[0] & 0xff}};
            break;
        case K_SPARSE:
            if (chacha_rng_u32(rng) % 50)
                k[i] = (scalar){{k[i].l[0] & 1}};
            break;
        case K_ONE_BUCKET:
            k[i] = (scalar){{(uint64_t)5 << 40}};
            break;
        default:
            break;
        }
    }
}

#define SUM_CASES(GROUP)                                                                                     \
    static void make_##GROUP(GROUP##_affine *p, size_t n, int kind, chacha_rng *rng)                         \
    {                                                                                                        \
        math_##GROUP##_points(p, n, rng);                                                                    \
        for (size_t i = 0; i < n; i++) {                                                                     \
            if (kind == P_EQUAL)                                                                             \
                p[i] = p[0];                                                                                 \
            else if (kind == P_OPPOSITE && i % 2)                                                            \
                GROUP##_affine_neg(&p[i], &p[i - 1]);                                                        \
            else if (kind == P_INFINITY || (kind == P_SOME_INFINITY && i % 3 == 0))                          \
                memset(&p[i], 0, sizeof(p[i]));                                                              \
        }                                                                                                    \
    }                                                                                                        \
    static void case_msm_##GROUP(const backend_run *run)                                                     \
    {                                                                                                        \
        chacha_rng rng;                                                                                      \
        math_rng(&rng, 14);                                                                                  \
        for (size_t i = 0; i < SIZES && sizes[i] <= 1000; i++) {                                             \
            size_t n = sizes[i];                                                                             \
            if (too_large(run, n))                                                                           \
                continue;                                                                                    \
            GROUP##_affine *p = room(n, sizeof(*p)), out, e;                                                 \
            scalar *k = room(n, sizeof(*k));                                                                 \
            for (int pk = 0; pk < P_KINDS; pk++) {                                                           \
                make_##GROUP(p, n, pk, &rng);                                                                \
                for (int kk = 0; kk < K_KINDS; kk++) {                                                       \
                    char kind[80];                                                                           \
                    cuzk_error err = {0};                                                                    \
                    GROUP sum;                                                                               \
                    if (n > 237 && kk && pk) /* every pair at the small sizes only */                        \
                        continue;                                                                            \
                    snprintf(kind, sizeof(kind), "%s, %s", point_names[pk], kind_names[kk]);                 \
                    make_scalars(k, n, kk, &rng);                                                            \
                    ok(run->backend->op_msm_##GROUP(run->device, (cuzk_##GROUP##_affine *)&out,              \
                                                    (cuzk_##GROUP##_affine *)p, (cuzk_scalar *)k, n, &err),  \
                       &err, "msm " #GROUP, n);                                                              \
                    msm_##GROUP##_ref(&sum, p, NULL, k, n);                                                  \
                    GROUP##_to_affine(&e, &sum);                                                             \
                    same(&e, &out, sizeof(e), "msm " #GROUP, n, kind);                                       \
                }                                                                                            \
            }                                                                                                \
            free(p), free(k);                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    static void case_subset_##GROUP(const backend_run *run)                                                  \
    {                                                                                                        \
        static const char *const bit_kinds[] = {"none", "all", "half", "the last", "few"};                   \
        chacha_rng rng;                                                                                      \
        math_rng(&rng, 15);                                                                                  \
        for (size_t i = 0; i < SIZES; i++) {                                                                 \
            size_t n = sizes[i], words = n / 64 + 1;                                                         \
            if (too_large(run, n))                                                                           \
                continue;                                                                                    \
            GROUP##_affine *p = room(n, sizeof(*p)), out, e;                                                 \
            uint64_t *bits = room(words, 8);                                                                 \
            for (int pk = 0; pk < P_KINDS; pk++) {                                                           \
                make_##GROUP(p, n, pk, &rng);                                                                \
                for (int bk = 0; bk < 5; bk++) {                                                             \
                    GROUP sum = {0};                                                                         \
                    cuzk_error err = {0};                                                                    \
                    char kind[80];                                                                           \
                    memset(bits, 0, 8 * words);                                                              \
                    for (size_t k = 0; k < n; k++) {                                                         \
                        uint64_t x = chacha_rng_u32(&rng);                                                   \
                        int on = bk == 1 || (bk == 2 && x % 2) || (bk == 3 && k + 1 == n) ||                 \
                                 (bk == 4 && x % 50 == 0);                                                   \
                        bits[k / 64] |= (uint64_t)on << k % 64;                                              \
                        if (on)                                                                              \
                            GROUP##_add_affine(&sum, &sum, &p[k]);                                           \
                    }                                                                                        \
                    snprintf(kind, sizeof(kind), "%s, bits: %s", point_names[pk], bit_kinds[bk]);            \
                    ok(run->backend->op_subset_##GROUP(run->device, (cuzk_##GROUP##_affine *)&out,           \
                                                       (cuzk_##GROUP##_affine *)p, bits, n, &err),           \
                       &err, "subset " #GROUP, n);                                                           \
                    GROUP##_to_affine(&e, &sum);                                                             \
                    same(&e, &out, sizeof(e), "subset " #GROUP, n, kind);                                    \
                }                                                                                            \
            }                                                                                                \
            free(p), free(bits);                                                                             \
        }                                                                                                    \
    }                                                                                                        \
    static void case_fixed_##GROUP(const backend_run *run)                                                   \
    {                                                                                                        \
        enum { BYTES = sizeof(GROUP##_affine) };                                                             \
        chacha_rng rng;                                                                                      \
        math_rng(&rng, 16);                                                                                  \
        for (size_t i = 0; i < SIZES; i++) {                                                                 \
            size_t n = sizes[i];                                                                             \
            cuzk_error err = {0};                                                                            \
            fr *k = room(n, sizeof(fr));                                                                     \
            uint8_t *r = room(n, BYTES), e[BYTES];                                                           \
            for (size_t j = 0; j < n; j++)                                                                   \
                some_fr(&k[j], &rng, j);                                                                     \
            ok(run->backend->op_fixed_##GROUP(run->device, r, (cuzk_fr *)k, n, &err), &err, "fixed " #GROUP, \
               n);                                                                                           \
            for (size_t j = 0; j<n; j += n> 1000 ? 17 : 1) {                                                 \
                GROUP##_affine p;                                                                            \
                ref_##GROUP(&p, &k[j]);                                                                      \
                GROUP##_encode(e, &p);                                                                       \
                same(e, r + j * BYTES, BYTES, "fixed " #GROUP, n, "edges and random");                       \
            }                                                                                                \
            free(k), free(r);                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    static double perf_msm_##GROUP(const backend_run *run, size_t n)                                         \
    {                                                                                                        \
        chacha_rng rng;                                                                                      \
        cuzk_error err = {0};                                                                                \
        GROUP##_affine *p = room(n, sizeof(*p)), out;                                                        \
        scalar *k = room(n, sizeof(*k));                                                                     \
        math_rng(&rng, 17);                                                                                  \
        math_##GROUP##_points(p, n, &rng);                                                                   \
        make_scalars(k, n, K_RANDOM, &rng);                                                                  \
        uint64_t t = clock_ns();                                                                             \
        ok(run->backend->op_msm_##GROUP(run->device, (cuzk_##GROUP##_affine *)&out,                          \
                                        (cuzk_##GROUP##_affine *)p, (cuzk_scalar *)k, n, &err),              \
           &err, "msm " #GROUP, n);                                                                          \
        t = clock_ns() - t;                                                                                  \
        free(p), free(k);                                                                                    \
        return (double)t / 1e6;                                                                              \
    }                                                                                                        \
    static int have_msm_##GROUP(const cuzk_backend *b)                                                       \
    {                                                                                                        \
        return b->op_msm_##GROUP != NULL;                                                                    \
    }                                                                                                        \
    static int have_subset_##GROUP(const cuzk_backend *b)                                                    \
    {                                                                                                        \
        return b->op_subset_##GROUP != NULL;                                                                 \
    }                                                                                                        \
    static int have_fixed_##GROUP(const cuzk_backend *b)                                                     \
    {                                                                                                        \
        return b->op_fixed_##GROUP != NULL;                                                                  \
    }
SUM_CASES(g1)
SUM_CASES(g2)

static double perf_ntt(const backend_run *run, size_t n)
{
    chacha_rng rng;
    cuzk_error err = {0};
    uint32_t log_n = (uint32_t)__builtin_ctzll(n);
    fr *a = room(n, sizeof(fr));
    math_rng(&rng, 18);
    for (size_t i = 0; i < n; i++)
        math_fr(&a[i], &rng);
    uint64_t t = clock_ns();
    ok(run->backend->op_ntt(run->device, CUZK_NTT_FORWARD, (cuzk_fr *)a, log_n, &err), &err, "ntt", n);
    t = clock_ns() - t;
    free(a);
    return (double)t / 1e6;
}

/* ---- the list ---- */
#define HAVE(op)                                                                                             \
    static int have_##op(const cuzk_backend *b)                                                              \
    {                                                                                                        \
        return b->op_##op != NULL;                                                                           \
    }
HAVE(fr)
HAVE(fp)
HAVE(fp2)
HAVE(ntt)
HAVE(quotient)
HAVE(multiply)

static int have_prove(const cuzk_backend *b)
{
    return b->prove_start && b->prove_finish && b->prove_batch;
}

const backend_case backend_cases[] = {
    {"fr", have_fr, case_fr, NULL, 0},
    {"fp", have_fp, case_fp, NULL, 0},
    {"fp2", have_fp2, case_fp2, NULL, 0},
    {"ntt", have_ntt, case_ntt, perf_ntt, (size_t)1 << 20},
    {"quotient", have_quotient, case_quotient, NULL, 0},
    {"multiply", have_multiply, case_multiply, NULL, 0},
    {"msm-g1", have_msm_g1, case_msm_g1, perf_msm_g1, (size_t)1 << 18},
    {"msm-g2", have_msm_g2, case_msm_g2, perf_msm_g2, (size_t)1 << 16},
    {"subset-g1", have_subset_g1, case_subset_g1, NULL, 0},
    {"subset-g2", have_subset_g2, case_subset_g2, NULL, 0},
    {"fixed-g1", have_fixed_g1, case_fixed_g1, NULL, 0},
    {"fixed-g2", have_fixed_g2, case_fixed_g2, NULL, 0},
    {"prove", have_prove, backend_case_prove, NULL, 0},
    {"prove-batch", have_prove, backend_case_prove_batch, NULL, 0},
    {"prove-stops", have_prove, backend_case_prove_stops, NULL, 0},
    {"key-refuses", have_prove, backend_case_key_refuses, NULL, 0},
};

size_t backend_case_count(void)
{
    return sizeof(backend_cases) / sizeof(backend_cases[0]);
}

void backend_cases_test(const backend_run *run)
{
    for (size_t i = 0; i < backend_case_count(); i++) {
        if (backend_cases[i].supported(run->backend))
            backend_cases[i].test(run);
    }
}

void backend_cases_perf(const backend_run *run, FILE *out)
{
    for (size_t i = 0; i < backend_case_count(); i++) {
        const backend_case *c = &backend_cases[i];
        size_t n = too_large(run, c->perf_size) ? run->most : c->perf_size;
        if (c->perf && c->supported(run->backend))
            fprintf(out, "%s %zu %.3f\n", c->name, n, c->perf(run, n));
    }
}

void backend_cases_support(const cuzk_backend *b, FILE *out)
{
    for (size_t i = 0; i < backend_case_count(); i++)
        fprintf(out, "%s %s\n", backend_cases[i].name, backend_cases[i].supported(b) ? "yes" : "no");
}
