/* A circuit of one's own: "I know x with x^3 + x + 5 = y". States it, makes parameters, proves, verifies.
 *
 *     cc cubic.c $(pkg-config --cflags --libs cuzk) -o cubic && ./cubic
 *
 * The parameters made here are worth nothing to others: whoever ran the setup could have kept its secrets. */
#include <cuzk/prover.h>
#include <stdio.h>
#include <string.h>

typedef struct cubic {
    cuzk_var y, x, square, cube;
} cubic;

/* A small number as a field element: 32 bytes, little-endian. */
static void number(uint8_t out[32], uint64_t v)
{
    memset(out, 0, 32);
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(v >> 8 * i);
}

static cuzk_term term(cuzk_var v, uint64_t coefficient)
{
    cuzk_term t = {.v = v};
    number(t.coefficient, coefficient);
    return t;
}

static void state(cuzk_builder *b, void *data)
{
    cubic *c = data;
    c->y = cuzk_alloc_input(b);
    c->x = cuzk_alloc_field(b);
    c->square = cuzk_alloc_field(b);
    c->cube = cuzk_alloc_field(b);
    cuzk_term x = term(c->x, 1), square = term(c->square, 1), cube = term(c->cube, 1);
    cuzk_term sum[] = {cube, x, term(CUZK_ONE, 5)}, one = term(CUZK_ONE, 1), y = term(c->y, 1);
    cuzk_enforce(b, &x, 1, &x, 1, &square, 1);    /* x * x = square */
    cuzk_enforce(b, &square, 1, &x, 1, &cube, 1); /* square * x = cube */
    cuzk_enforce(b, sum, 3, &one, 1, &y, 1);      /* (cube + x + 5) * 1 = y */
}

static cuzk_status fill(cuzk_witness *w, const cubic *c, uint64_t x, cuzk_error *err)
{
    const struct {
        cuzk_var v;
        uint64_t value;
    } wires[] = {{c->x, x}, {c->square, x * x}, {c->cube, x * x * x}, {c->y, x * x * x + x + 5}};
    cuzk_status s = CUZK_OK;
    for (int i = 0; i < 4 && s == CUZK_OK; i++) {
        uint8_t value[32];
        number(value, wires[i].value);
        s = cuzk_witness_set(w, wires[i].v, value, err);
    }
    return s;
}

int main(void)
{
    cuzk_error err = {0};
    cuzk_ctx *ctx = NULL;
    cuzk_circuit *circuit = NULL;
    cuzk_prover *prover = NULL;
    cuzk_witness *w = NULL;
    cuzk_vk *vk = NULL;
    cubic c;
    uint8_t proof[CUZK_PROOF_BYTES], y[1][32];
    cuzk_status s = cuzk_ctx_create(&ctx, NULL, &err);
    if (s == CUZK_OK)
        s = cuzk_circuit_create(&circuit, "cubic", state, &c, &err);
    if (s == CUZK_OK)
        s = cuzk_setup(ctx, circuit, 0, "cubic.params", "cubic.vk", NULL, NULL, &err);
    if (s == CUZK_OK)
        s = cuzk_prover_open(&prover, ctx, circuit, "cubic.params", &err);
    if (s == CUZK_OK)
        s = cuzk_witness_create(&w, circuit, &err);
    if (s == CUZK_OK)
        s = fill(w, &c, 3, &err);
    if (s == CUZK_OK)
        s = cuzk_prove(prover, proof, w, NULL, &err);
    if (s == CUZK_OK)
        s = cuzk_vk_open(&vk, "cubic.vk", &err);
    number(y[0], 35);
    if (s == CUZK_OK)
        s = cuzk_verify(vk, proof, sizeof(proof), (const uint8_t(*)[32])y, 1, &err);
    if (s == CUZK_OK)
        printf("valid: somebody knows x with x^3 + x + 5 = 35\n");
    else
        fprintf(stderr, "%s\n", err.message);
    cuzk_vk_close(vk);
    cuzk_witness_destroy(w);
    cuzk_prover_close(prover);
    cuzk_circuit_destroy(circuit);
    cuzk_ctx_destroy(ctx);
    return s != CUZK_OK;
}
