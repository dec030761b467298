/* Plain operations of the CPU back end. */
#include "backend/cpu/cpu.h"
#include <string.h>

typedef void element_fn(void *r, const void *a, const void *b);

typedef struct element_job {
    element_fn *fn;
    char *r;
    const char *a, *b;
    size_t bytes;
} element_job;

static void element_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    (void)worker;
    const element_job *j = ctx;
    for (size_t i = first; i < end; i++)
        j->fn(j->r + i * j->bytes, j->a + i * j->bytes, j->b ? j->b + i * j->bytes : NULL);
}

static cuzk_status element_op(cuzk_device *device, element_fn *fn, size_t bytes, void *r, const void *a,
                              const void *b, size_t n, cuzk_error *err)
{
    if (!fn)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "unknown field operation");
    element_job j = {fn, r, a, b, bytes};
    pool_for_range(device->pool, n, 1024, element_range, &j);
    return CUZK_OK;
}

#define BINARY(name, type, call)                                                                             \
    static void name(void *r, const void *a, const void *b)                                                  \
    {                                                                                                        \
        call((type *)r, (const type *)a, (const type *)b);                                                   \
    }
#define UNARY(name, type, call)                                                                              \
    static void name(void *r, const void *a, const void *b)                                                  \
    {                                                                                                        \
        (void)b;                                                                                             \
        call((type *)r, (const type *)a);                                                                    \
    }
#define FIELD(type, sqr, inv)                                                                                \
    BINARY(type##_op_mul, blst_##type, blst_##type##_mul)                                                    \
    UNARY(type##_op_sqr, blst_##type, sqr)                                                                   \
    BINARY(type##_op_add, blst_##type, blst_##type##_add)                                                    \
    BINARY(type##_op_sub, blst_##type, blst_##type##_sub)                                                    \
    UNARY(type##_op_inv, blst_##type, inv)                                                                   \
    static element_fn *const type##_ops[] = {[CUZK_OP_MUL] = type##_op_mul,                                  \
                                             [CUZK_OP_SQR] = type##_op_sqr,                                  \
                                             [CUZK_OP_ADD] = type##_op_add,                                  \
                                             [CUZK_OP_SUB] = type##_op_sub,                                  \
                                             [CUZK_OP_INV] = type##_op_inv};
FIELD(fr, blst_fr_sqr, fr_inv)
FIELD(fp, blst_fp_sqr, blst_fp_eucl_inverse)
FIELD(fp2, blst_fp2_sqr, blst_fp2_eucl_inverse)

static element_fn *pick(element_fn *const *table, cuzk_field_op op)
{
    return (unsigned)op <= CUZK_OP_INV ? table[op] : NULL;
}

cuzk_status cpu_op_fr(cuzk_device *device, cuzk_field_op op, cuzk_fr *r, const cuzk_fr *a, const cuzk_fr *b,
                      size_t n, cuzk_error *err)
{
    return element_op(device, pick(fr_ops, op), sizeof(*r), r, a, b, n, err);
}

cuzk_status cpu_op_fp(cuzk_device *device, cuzk_field_op op, uint64_t (*r)[6], const uint64_t (*a)[6],
                      const uint64_t (*b)[6], size_t n, cuzk_error *err)
{
    return element_op(device, pick(fp_ops, op), sizeof(*r), r, a, b, n, err);
}

cuzk_status cpu_op_fp2(cuzk_device *device, cuzk_field_op op, uint64_t (*r)[12], const uint64_t (*a)[12],
                       const uint64_t (*b)[12], size_t n, cuzk_error *err)
{
    return element_op(device, pick(fp2_ops, op), sizeof(*r), r, a, b, n, err);
}

static cuzk_status check_log(uint32_t log_n, cuzk_error *err)
{
    if (log_n <= DOMAIN_MAX_LOG)
        return CUZK_OK;
    return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "a transform of 2^%u is larger than the field has",
                          log_n);
}

cuzk_status cpu_op_ntt(cuzk_device *device, cuzk_ntt_kind kind, cuzk_fr *a, uint32_t log_n, cuzk_error *err)
{
    typedef cuzk_status transform(const domain *, fr *, pool *, cuzk_error *);
    static transform *const transforms[] = {[CUZK_NTT_FORWARD] = ntt_forward,
                                            [CUZK_NTT_INVERSE] = ntt_inverse,
                                            [CUZK_NTT_COSET_FORWARD] = ntt_coset_forward,
                                            [CUZK_NTT_COSET_INVERSE] = ntt_coset_inverse};
    if ((unsigned)kind > CUZK_NTT_COSET_INVERSE)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "unknown kind of transform");
    domain *d = NULL;
    cuzk_status s = check_log(log_n, err);
    if (s == CUZK_OK)
        s = domain_create(&d, log_n, 7, err);
    if (s == CUZK_OK)
        s = transforms[kind](d, (fr *)a, device->pool, err);
    domain_destroy(d);
    return s;
}

cuzk_status cpu_op_quotient(cuzk_device *device, cuzk_scalar *h, const cuzk_fr *a, const cuzk_fr *b,
                            uint32_t log_n, cuzk_error *err)
{
    cuzk_status s = check_log(log_n, err);
    if (s != CUZK_OK)
        return s;
    size_t bytes = sizeof(fr) << log_n;
    domain *d = NULL;
    fr *y = pool_take(device->pool, bytes), *extra = pool_take(device->pool, bytes);
    s = y && extra ? domain_create(&d, log_n, 7, err) : mem_error(err, bytes, "the quotient");
    if (s == CUZK_OK) {
        domain_arrange(d, y, (const fr *)a, device->pool); /* h may be a */
        domain_arrange(d, (fr *)h, (const fr *)b, device->pool);
        s = quotient(d, (fr *)h, y, extra, device->pool, err);
    }
    domain_destroy(d);
    pool_give(device->pool, y, bytes);
    pool_give(device->pool, extra, bytes);
    return s;
}

cuzk_status cpu_op_multiply(cuzk_device *device, const cuzk_circuit_view *circuit,
                            const cuzk_witness_view *witness, cuzk_fr *a, cuzk_fr *b, cuzk_error *err)
{
    return cpu_multiply(circuit, witness, (fr *)a, (fr *)b, FR_USUAL_ORDER, device->pool, err);
}

cuzk_status cpu_op_msm_g1(cuzk_device *device, cuzk_g1_affine *out, const cuzk_g1_affine *bases,
                          const cuzk_scalar *k, size_t n, cuzk_error *err)
{
    g1 sum;
    cuzk_status s =
        msm_g1(&sum, (const g1_affine *)bases, NULL, (const scalar *)k, n, device->pool, NULL, err);
    if (s == CUZK_OK)
        g1_to_affine((g1_affine *)out, &sum);
    return s;
}

cuzk_status cpu_op_msm_g2(cuzk_device *device, cuzk_g2_affine *out, const cuzk_g2_affine *bases,
                          const cuzk_scalar *k, size_t n, cuzk_error *err)
{
    g2 sum;
    cuzk_status s =
        msm_g2(&sum, (const g2_affine *)bases, NULL, (const scalar *)k, n, device->pool, NULL, err);
    if (s == CUZK_OK)
        g2_to_affine((g2_affine *)out, &sum);
    return s;
}

cuzk_status cpu_op_subset_g1(cuzk_device *device, cuzk_g1_affine *out, const cuzk_g1_affine *bases,
                             const uint64_t *bits, size_t n, cuzk_error *err)
{
    g1 sum;
    cuzk_status s = msm_g1_subset(&sum, (const g1_affine *)bases, bits, n, device->pool, NULL, err);
    if (s == CUZK_OK)
        g1_to_affine((g1_affine *)out, &sum);
    return s;
}

cuzk_status cpu_op_subset_g2(cuzk_device *device, cuzk_g2_affine *out, const cuzk_g2_affine *bases,
                             const uint64_t *bits, size_t n, cuzk_error *err)
{
    g2 sum;
    cuzk_status s = msm_g2_subset(&sum, (const g2_affine *)bases, bits, n, device->pool, NULL, err);
    if (s == CUZK_OK)
        g2_to_affine((g2_affine *)out, &sum);
    return s;
}

typedef struct encode_job {
    uint8_t *out;
    const void *points;
    int is_g2;
} encode_job;

static void encode_range(void *ctx, size_t first, size_t end, unsigned worker)
{
    (void)worker;
    const encode_job *j = ctx;
    for (size_t i = first; i < end; i++) {
        if (j->is_g2)
            g2_encode(j->out + 192 * i, (const g2_affine *)j->points + i);
        else
            g1_encode(j->out + 96 * i, (const g1_affine *)j->points + i);
    }
}

cuzk_status cpu_op_fixed_g1(cuzk_device *device, uint8_t *r96, const cuzk_fr *k, size_t n, cuzk_error *err)
{
    g1_affine *points = big_alloc(n * sizeof(*points));
    cuzk_status s = points ? CUZK_OK : mem_error(err, n * sizeof(*points), "multiples of a point");
    if (s == CUZK_OK)
        s = g1_fixed_base_many(points, blst_p1_affine_generator(), (const fr *)k, n, device->pool, err);
    if (s == CUZK_OK) {
        encode_job j = {r96, points, 0};
        pool_for_range(device->pool, n, 512, encode_range, &j);
    }
    big_free(points, n * sizeof(*points));
    return s;
}

cuzk_status cpu_op_fixed_g2(cuzk_device *device, uint8_t *r192, const cuzk_fr *k, size_t n, cuzk_error *err)
{
    g2_affine *points = big_alloc(n * sizeof(*points));
    cuzk_status s = points ? CUZK_OK : mem_error(err, n * sizeof(*points), "multiples of a point");
    if (s == CUZK_OK)
        s = g2_fixed_base_many(points, blst_p2_affine_generator(), (const fr *)k, n, device->pool, err);
    if (s == CUZK_OK) {
        encode_job j = {r192, points, 1};
        pool_for_range(device->pool, n, 256, encode_range, &j);
    }
    big_free(points, n * sizeof(*points));
    return s;
}
