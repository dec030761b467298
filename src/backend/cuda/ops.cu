// Plain operations: upload, run, download.
#include "circuit.cuh"
#include "fields.cuh"
#include "fixed_base.cuh"
#include "msm.cuh"
#include "ntt.cuh"
#include "ops.cuh"
#include "witness.cuh"

namespace gpu
{
namespace
{
// The main lane is locked and its scratch block is empty while one of these lives.
struct operation {
    context c;
    std::unique_lock<std::mutex> guard;
    cuzk_status begin(cuzk_device *dev, cuzk_error *err)
    {
        guard = std::unique_lock<std::mutex>(dev->main.lock);
        return context_begin(c, dev, dev->main, err);
    }
};
} // namespace

// ---- fields ----
template <class Run>
static cuzk_status elementwise(cuzk_device *dev, void *r, const void *a, const void *b, size_t bytes,
                               size_t n, cuzk_field_op op, cuzk_error *err, Run run)
{
    operation o;
    GPU_TRY(o.begin(dev, err));
    if ((unsigned)op > CUZK_OP_INV)
        return fail(err, CUZK_INVALID_ARGUMENT, "unknown field operation");
    if (n == 0)
        return CUZK_OK;
    bool binary = op != CUZK_OP_SQR && op != CUZK_OP_INV;
    size_t chunk = std::min<size_t>(n, 1 << 20);
    GPU_TRY(use_scratch(o.c, 2 * aligned(chunk * bytes)));
    uint8_t *x, *y;
    GPU_TRY(take(o.c, &x, chunk * bytes));
    GPU_TRY(take(o.c, &y, chunk * bytes));
    for (size_t at = 0; at < n; at += chunk) {
        size_t m = std::min(chunk, n - at);
        GPU_TRY(upload(o.c, x, (const uint8_t *)a + at * bytes, m * bytes, o.c.stream));
        if (binary)
            GPU_TRY(upload(o.c, y, (const uint8_t *)b + at * bytes, m * bytes, o.c.stream));
        GPU_TRY(run(o.c, (uint4 *)x, (const uint4 *)x, (const uint4 *)y, m));
        GPU_TRY(download(o.c, (uint8_t *)r + at * bytes, x, m * bytes));
    }
    return CUZK_OK;
}
cuzk_status op_fr(cuzk_device *dev, cuzk_field_op op, cuzk_fr *r, const cuzk_fr *a, const cuzk_fr *b,
                  size_t n, cuzk_error *err)
{
    return elementwise(dev, r, a, b, sizeof *r, n, op, err,
                       [op](context &c, uint4 *x, const uint4 *p, const uint4 *q, size_t m) {
                           return fields_fr(c, op, x, p, q, m);
                       });
}
cuzk_status op_fp(cuzk_device *dev, cuzk_field_op op, uint64_t (*r)[6], const uint64_t (*a)[6],
                  const uint64_t (*b)[6], size_t n, cuzk_error *err)
{
    return elementwise(dev, r, a, b, sizeof *r, n, op, err,
                       [op](context &c, uint4 *x, const uint4 *p, const uint4 *q, size_t m) {
                           return fields_fp(c, op, x, p, q, m);
                       });
}
cuzk_status op_fp2(cuzk_device *dev, cuzk_field_op op, uint64_t (*r)[12], const uint64_t (*a)[12],
                   const uint64_t (*b)[12], size_t n, cuzk_error *err)
{
    return elementwise(dev, r, a, b, sizeof *r, n, op, err,
                       [op](context &c, uint4 *x, const uint4 *p, const uint4 *q, size_t m) {
                           return fields_fp2(c, op, x, p, q, m);
                       });
}

// ---- transforms ----
static fr seven(bool inverse)
{
    constexpr uint32_t c[8] = FR_SEVEN;
    return inverse ? inv(fr_const(c)) : fr_const(c);
}
cuzk_status op_ntt(cuzk_device *dev, cuzk_ntt_kind kind, cuzk_fr *a, uint32_t log_n, cuzk_error *err)
{
    operation o;
    GPU_TRY(o.begin(dev, err));
    if ((unsigned)kind > CUZK_NTT_COSET_INVERSE)
        return fail(err, CUZK_INVALID_ARGUMENT, "unknown kind of transform");
    context &c = o.c;
    int log = (int)std::min<uint32_t>(log_n, 64);
    GPU_TRY(ntt_prepare(c, log));
    size_t n = (size_t)1 << log;
    uint4 *x;
    GPU_TRY(use_scratch(c, aligned(32 * n)));
    GPU_TRY(take(c, &x, 2 * n));
    GPU_TRY(upload(c, x, a, 32 * n, c.stream));
    if (kind == CUZK_NTT_FORWARD || kind == CUZK_NTT_COSET_FORWARD) {
        if (kind == CUZK_NTT_COSET_FORWARD)
            GPU_TRY(ntt_scale_powers(c, x, n, seven(false)));
        GPU_TRY(ntt_forward(c, x, x, log, false));
        GPU_TRY(ntt_reverse(c, x, log));
    } else {
        GPU_TRY(ntt_reverse(c, x, log));
        GPU_TRY(ntt_inverse(c, x, x, log, false, ntt_size_inverse(log), SLOT_PLAIN));
        if (kind == CUZK_NTT_COSET_INVERSE)
            GPU_TRY(ntt_scale_powers(c, x, n, seven(true)));
    }
    return download(c, a, x, 32 * n);
}
cuzk_status op_quotient(cuzk_device *dev, cuzk_scalar *h, const cuzk_fr *a, const cuzk_fr *b, uint32_t log_n,
                        cuzk_error *err)
{
    operation o;
    GPU_TRY(o.begin(dev, err));
    context &c = o.c;
    int log = (int)std::min<uint32_t>(log_n, 64);
    GPU_TRY(ntt_prepare(c, log));
    size_t n = (size_t)1 << log;
    uint4 *x, *y, *z, *spare;
    GPU_TRY(use_scratch(c, 4 * aligned(32 * n)));
    GPU_TRY(take(c, &x, 2 * n));
    GPU_TRY(take(c, &y, 2 * n));
    GPU_TRY(take(c, &z, 2 * n));
    GPU_TRY(take(c, &spare, 2 * n));
    GPU_TRY(upload(c, x, a, 32 * n, c.stream));
    GPU_TRY(upload(c, y, b, 32 * n, c.stream));
    GPU_TRY(ntt_quotient(c, x, y, z, log, spare));
    return download(c, h, z, 32 * n);
}
static cuzk_status multiply(context &c, const cuzk_circuit_view *v, const cuzk_witness_view *w, cuzk_fr *a,
                            cuzk_fr *b)
{
    int log = 0;
    while (((uint64_t)1 << log) < v->constraints)
        log++;
    size_t words = (v->aux + 63) / 64, n = (size_t)1 << log, values = v->fields + v->inputs;
    uint64_t *bits;
    uint4 *x, *da, *db;
    device_circuit circuit;
    GPU_TRY(use_scratch(c, aligned(8 * words + 8) + aligned(32 * values) + 2 * aligned(32 * n)));
    GPU_TRY(take(c, &bits, words + 1));
    GPU_TRY(take(c, &x, 2 * values));
    GPU_TRY(take(c, &da, 2 * n));
    GPU_TRY(take(c, &db, 2 * n));
    GPU_TRY(upload(c, bits, w->bits, 8 * words, c.stream));
    GPU_TRY(clear_tail(c, bits, v->aux));
    GPU_TRY(upload(c, x, w->field, 32 * v->fields, c.stream));
    GPU_TRY(upload(c, x + 2 * v->fields, w->input, 32 * v->inputs, c.stream));
    GPU_TRY(circuit_load(c, &circuit, v));
    cuzk_status s = circuit_multiply(c, circuit, device_witness{bits, x, v->fields}, da, db, log, false);
    if (s == CUZK_OK)
        s = download(c, a, da, 32 * v->constraints);
    if (s == CUZK_OK)
        s = download(c, b, db, 32 * v->constraints);
    circuit_unload(c.dev, &circuit);
    return s;
}
cuzk_status op_multiply(cuzk_device *dev, const cuzk_circuit_view *circuit, const cuzk_witness_view *witness,
                        cuzk_fr *a, cuzk_fr *b, cuzk_error *err)
{
    operation o;
    GPU_TRY(o.begin(dev, err));
    GPU_TRY(circuit_check(o.c, circuit));
    if (witness->inputs != circuit->inputs || witness->aux != circuit->aux ||
        witness->fields != circuit->fields)
        return fail(err, CUZK_INVALID_ARGUMENT, "the witness is not one of this circuit");
    return multiply(o.c, circuit, witness, a, b);
}

// ---- sums ----
// Chunks of terms whose points, scalars and scratch fit; full speed where there is room.
template <class F> static cuzk_status room_for_sum(context &c, size_t n, size_t term_bytes, size_t *chunk)
{
    size_t room;
    GPU_TRY(available(c, &room));
    room += c.on->scratch.size;
    *chunk = std::min<size_t>(std::max<size_t>(n, 1), (size_t)1 << 27);
    for (;; *chunk = (*chunk + 1) / 2) {
        size_t best =
            msm_bytes<F>(c.dev, *chunk, 1) + aligned(*chunk * term_bytes) + aligned(*chunk * 64) + 4096;
        if (best <= room || *chunk <= 1024)
            return use_scratch(c, std::min(best, room));
    }
}
template <class F> static void store_sum(void *out, const xyzz<F> &sum)
{
    affine<F> p = to_affine(sum);
    memcpy(out, &p, sizeof p);
}
template <class F>
static cuzk_status op_msm(cuzk_device *dev, void *out, const void *bases, const cuzk_scalar *k, size_t n,
                          cuzk_error *err)
{
    operation o;
    GPU_TRY(o.begin(dev, err));
    context &c = o.c;
    size_t chunk, point = sizeof(affine<F>);
    GPU_TRY(room_for_sum<F>(c, n, point, &chunk));
    uint4 *points, *scalars;
    GPU_TRY(take(c, &points, chunk * 2 * F::QUADS));
    GPU_TRY(take(c, &scalars, chunk * 2));
    xyzz<F> sum;
    set_infinity(sum);
    for (size_t at = 0; at < n; at += chunk) {
        size_t m = std::min(chunk, n - at);
        GPU_TRY(upload(c, points, (const uint8_t *)bases + at * point, m * point, c.stream));
        GPU_TRY(upload(c, scalars, k + at, m * 32, c.stream));
        msm_terms<F> t;
        t.bases = points;
        t.scalars = scalars;
        t.n = m;
        window_sums<F> w;
        GPU_TRY(msm_sum<F>(c, t, &w));
        point_add(sum, window_sums_join(w));
    }
    store_sum(out, sum);
    return CUZK_OK;
}
template <class F>
static cuzk_status op_subset(cuzk_device *dev, void *out, const void *bases, const uint64_t *bits, size_t n,
                             cuzk_error *err)
{
    operation o;
    GPU_TRY(o.begin(dev, err));
    context &c = o.c;
    size_t chunk, point = sizeof(affine<F>);
    GPU_TRY(room_for_sum<F>(c, n, point, &chunk));
    chunk = std::max<size_t>(chunk & ~(size_t)63, 64);
    uint4 *points;
    uint64_t *words;
    GPU_TRY(take(c, &points, chunk * 2 * F::QUADS));
    GPU_TRY(take(c, &words, chunk / 64));
    xyzz<F> sum;
    set_infinity(sum);
    for (size_t at = 0; at < n; at += chunk) {
        size_t m = std::min(chunk, n - at);
        GPU_TRY(upload(c, points, (const uint8_t *)bases + at * point, m * point, c.stream));
        GPU_TRY(upload(c, words, bits + at / 64, (m + 63) / 64 * 8, c.stream));
        GPU_TRY(clear_tail(c, words, m));
        subset_terms<F> t;
        t.bases = points;
        t.bits = words;
        t.words = (m + 63) / 64;
        window_sums<F> w;
        GPU_TRY(subset_sum<F>(c, t, &w));
        point_add(sum, window_sums_join(w));
    }
    store_sum(out, sum);
    return CUZK_OK;
}
cuzk_status op_msm_g1(cuzk_device *dev, cuzk_g1_affine *out, const cuzk_g1_affine *bases,
                      const cuzk_scalar *k, size_t n, cuzk_error *err)
{
    return op_msm<fp>(dev, out, bases, k, n, err);
}
cuzk_status op_msm_g2(cuzk_device *dev, cuzk_g2_affine *out, const cuzk_g2_affine *bases,
                      const cuzk_scalar *k, size_t n, cuzk_error *err)
{
    return op_msm<fp2>(dev, out, bases, k, n, err);
}
cuzk_status op_subset_g1(cuzk_device *dev, cuzk_g1_affine *out, const cuzk_g1_affine *bases,
                         const uint64_t *bits, size_t n, cuzk_error *err)
{
    return op_subset<fp>(dev, out, bases, bits, n, err);
}
cuzk_status op_subset_g2(cuzk_device *dev, cuzk_g2_affine *out, const cuzk_g2_affine *bases,
                         const uint64_t *bits, size_t n, cuzk_error *err)
{
    return op_subset<fp2>(dev, out, bases, bits, n, err);
}
cuzk_status op_fixed_g1(cuzk_device *dev, uint8_t *r96, const cuzk_fr *k, size_t n, cuzk_error *err)
{
    operation o;
    GPU_TRY(o.begin(dev, err));
    return fixed_base<fp>(o.c, r96, k, n);
}
cuzk_status op_fixed_g2(cuzk_device *dev, uint8_t *r192, const cuzk_fr *k, size_t n, cuzk_error *err)
{
    operation o;
    GPU_TRY(o.begin(dev, err));
    return fixed_base<fp2>(o.c, r192, k, n);
}
} // namespace gpu
