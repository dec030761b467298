#include "support/gadget.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h needs the three above */
#include <cmocka.h>

void gadget_open(gadget *g, circuit_fn *synth, void *ctx)
{
    cuzk_error err;
    if (r1cs_compile(&g->r, "gadget", synth, ctx, &err) != CUZK_OK)
        fail_msg("compile: %s", err.message);
    r1cs_get_counts(g->r, &g->n);
    if (witness_init(&g->w, g->n.inputs, g->n.aux, g->n.fields, &err) != CUZK_OK)
        fail_msg("witness: %s", err.message);
}

void gadget_close(gadget *g)
{
    witness_clear(&g->w);
    r1cs_destroy(g->r);
}

int gadget_satisfied(const gadget *g)
{
    cuzk_error err;
    cuzk_status st = r1cs_check(g->r, &g->w, NULL, &err);
    if (st != CUZK_OK && st != CUZK_UNSATISFIED)
        fail_msg("check: %s", err.message);
    return st == CUZK_OK;
}

void gadget_set_bit(gadget *g, uint64_t aux, int value)
{
    uint64_t mask = (uint64_t)1 << (aux & 63);
    g->w.bits[aux >> 6] = value ? g->w.bits[aux >> 6] | mask : g->w.bits[aux >> 6] & ~mask;
}

int gadget_bit(const gadget *g, uint64_t aux)
{
    return (int)(g->w.bits[aux >> 6] >> (aux & 63) & 1);
}
