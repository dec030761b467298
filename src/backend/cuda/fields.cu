// Element by element arithmetic.
#include "curve.cuh"
#include "fields.cuh"
#include "fr.cuh"

namespace gpu
{
// In the host build the device's own product is what is to be tested.
HD fr test_mul(const fr &a, const fr &b)
{
    return reduce(mul_chain(a, b));
}
HD fr test_sqr(const fr &a)
{
    return test_mul(a, a);
}
HD fr test_add(const fr &a, const fr &b)
{
    return reduce(add(a, b));
}
HD fr test_sub(const fr &a, const fr &b)
{
    return reduce(sub(a, b));
}
HD fp test_mul(const fp &a, const fp &b)
{
    return mul_chain(a, b);
}
HD fp test_sqr(const fp &a)
{
    return sqr_chain(a);
}
HD fp test_add(const fp &a, const fp &b)
{
    return add(a, b);
}
HD fp test_sub(const fp &a, const fp &b)
{
    return sub(a, b);
}
HD fp2 test_mul(const fp2 &a, const fp2 &b)
{
    return mul_chain(a, b);
}
HD fp2 test_sqr(const fp2 &a)
{
    return sqr(a);
}
HD fp2 test_add(const fp2 &a, const fp2 &b)
{
    return add(a, b);
}
HD fp2 test_sub(const fp2 &a, const fp2 &b)
{
    return sub(a, b);
}

template <class T> HD T load_any(const uint4 *p)
{
    T r;
    uint32_t *l = (uint32_t *)&r;
    UNROLL for (int k = 0; k < (int)(sizeof(T) / 16); k++)
    {
        uint4 v = p[k];
        l[4 * k] = v.x;
        l[4 * k + 1] = v.y;
        l[4 * k + 2] = v.z;
        l[4 * k + 3] = v.w;
    }
    return r;
}
template <class T> __global__ void field_op(int op, uint4 *r, const uint4 *a, const uint4 *b, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x, q = sizeof(T) / 16;
    if (i >= n)
        return;
    T x = load_any<T>(a + q * i), y = op == CUZK_OP_SQR || op == CUZK_OP_INV ? x : load_any<T>(b + q * i), z;
    switch (op) {
    case CUZK_OP_MUL:
        z = test_mul(x, y);
        break;
    case CUZK_OP_SQR:
        z = test_sqr(x);
        break;
    case CUZK_OP_ADD:
        z = test_add(x, y);
        break;
    case CUZK_OP_SUB:
        z = test_sub(x, y);
        break;
    default:
        z = inv(x);
    }
    const uint32_t *l = (const uint32_t *)&z;
    UNROLL for (int k = 0; k < (int)(sizeof(T) / 16); k++) r[q * i + k] =
        uint4{l[4 * k], l[4 * k + 1], l[4 * k + 2], l[4 * k + 3]};
}
template <class T>
static cuzk_status run_op(context &c, cuzk_field_op op, uint4 *r, const uint4 *a, const uint4 *b, size_t n)
{
    GPU_LAUNCH((field_op<T>), div_up(n, 128), 128, 0, c.stream, (int)op, r, a, b, n);
    GPU_CHECK_LAUNCH(c);
    return CUZK_OK;
}
cuzk_status fields_fr(context &c, cuzk_field_op op, uint4 *r, const uint4 *a, const uint4 *b, size_t n)
{
    return run_op<fr>(c, op, r, a, b, n);
}
cuzk_status fields_fp(context &c, cuzk_field_op op, uint4 *r, const uint4 *a, const uint4 *b, size_t n)
{
    return run_op<fp>(c, op, r, a, b, n);
}
cuzk_status fields_fp2(context &c, cuzk_field_op op, uint4 *r, const uint4 *a, const uint4 *b, size_t n)
{
    return run_op<fp2>(c, op, r, a, b, n);
}
static __global__ void to_scalars(uint4 *out, const uint4 *x, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        store_fr(out + 2 * i, from_mont(load_fr(x + 2 * i)));
}
cuzk_status fields_to_scalars(context &c, uint4 *out, const uint4 *x, size_t n)
{
    if (n == 0)
        return CUZK_OK;
    GPU_LAUNCH(to_scalars, div_up(n, 256), 256, 0, c.stream, out, x, n);
    GPU_CHECK_LAUNCH(c);
    return CUZK_OK;
}
} // namespace gpu
