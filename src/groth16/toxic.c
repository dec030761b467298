/* The secrets of a setup. */
#include "base/hash.h"
#include "base/mem.h"
#include "groth16/groth16.h"

void test_fr(fr *out, const char *label)
{
    static const char prefix[] = "cuzk-test-srs:";
    uint8_t digest[32];
    sha256 h;
    sha256_init(&h);
    sha256_update(&h, prefix, sizeof(prefix) - 1);
    sha256_update(&h, label, strlen(label));
    sha256_final(&h, digest);
    digest[31] &= 0x3f; /* 254 bits: less than r */
    fr_from_bytes_reduce(out, digest);
}

void toxic_waste_test(toxic_waste *t)
{
    test_fr(&t->alpha, "alpha");
    test_fr(&t->beta, "beta");
    test_fr(&t->gamma, "gamma");
    test_fr(&t->delta, "delta");
    test_fr(&t->tau, "tau");
}

cuzk_status toxic_waste_random(toxic_waste *t, cuzk_error *err)
{
    if (fr_random(&t->alpha) == 0 && fr_random(&t->beta) == 0 && fr_random(&t->gamma) == 0 &&
        fr_random(&t->delta) == 0 && fr_random(&t->tau) == 0)
        return CUZK_OK;
    mem_wipe(t, sizeof(*t));
    return cuzk_error_set(err, CUZK_IO_ERROR, "the kernel gave no randomness");
}
