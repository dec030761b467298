/* Verifying keys and proofs of any circuit. */
#include "base/mem.h"
#include "cuzk/prover.h"
#include "groth16/groth16.h"

struct cuzk_vk {
    verifying_key vk;
};

static int has_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), k = strlen(suffix);
    return n >= k && !strcmp(path + n - k, suffix);
}

cuzk_status cuzk_vk_open(cuzk_vk **out, const char *path, cuzk_error *err)
{
    *out = NULL;
    cuzk_vk *v = mem_calloc(1, sizeof(*v));
    if (!v)
        return mem_error(err, sizeof(*v), "a verifying key");
    cuzk_status s =
        has_suffix(path, ".params") ? vk_open_params(&v->vk, path, err) : vk_open(&v->vk, path, err);
    if (s == CUZK_OK)
        *out = v;
    else
        mem_free(v);
    return s;
}

void cuzk_vk_close(cuzk_vk *vk)
{
    if (!vk)
        return;
    vk_clear(&vk->vk);
    mem_free(vk);
}

size_t cuzk_vk_inputs(const cuzk_vk *vk)
{
    return vk->vk.ic_count - 1;
}

static cuzk_status read_inputs(fr **out, const uint8_t (*inputs)[32], size_t count, size_t n, cuzk_error *err)
{
    *out = NULL;
    if (n && count > SIZE_MAX / sizeof(fr) / n)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "the numbers of proofs and inputs overflow");
    fr *x = mem_calloc(count * n + 1, sizeof(fr));
    if (!x)
        return mem_error(err, count * n * sizeof(fr), "public inputs");
    for (size_t i = 0; i < count * n; i++) {
        if (fr_from_bytes(&x[i], inputs[i]) == 0)
            continue;
        mem_free(x);
        return cuzk_error_set(err, CUZK_BAD_INPUT,
                              "public input %zu of proof %zu is not below the order of the field", i % n,
                              i / n);
    }
    *out = x;
    return CUZK_OK;
}

cuzk_status cuzk_verify_batch(const cuzk_vk *vk, const uint8_t *proofs, size_t proofs_size, size_t count,
                              const uint8_t (*inputs)[32], size_t input_count, size_t *bad, cuzk_error *err)
{
    if (count > SIZE_MAX / CUZK_PROOF_BYTES || proofs_size != count * CUZK_PROOF_BYTES)
        return cuzk_error_set(err, CUZK_BAD_INPUT, "%zu proof%s of %d bytes cannot be %zu bytes", count,
                              count == 1 ? "" : "s", CUZK_PROOF_BYTES, proofs_size);
    if (input_count + 1 != vk->vk.ic_count)
        return cuzk_error_set(err, CUZK_INCONSISTENT, "the key is for %u public inputs, %zu were given",
                              vk->vk.ic_count - 1, input_count);
    fr *x;
    size_t where = 0;
    cuzk_status s = read_inputs(&x, inputs, count, input_count, err);
    if (s != CUZK_OK)
        return s;
    if (count == 1)
        s = groth16_verify(&vk->vk, proofs, x, input_count, err);
    else
        s = groth16_verify_batch(&vk->vk, proofs, count, x, input_count, &where, err);
    if (s == CUZK_INVALID_PROOF && bad)
        *bad = where;
    mem_free(x);
    return s;
}

cuzk_status cuzk_verify(const cuzk_vk *vk, const uint8_t *proof, size_t proof_size,
                        const uint8_t (*inputs)[32], size_t input_count, cuzk_error *err)
{
    return cuzk_verify_batch(vk, proof, proof_size, 1, inputs, input_count, NULL, err);
}
