/* Compact witnesses: storage, the writing cursor, single values. */
#include "base/encode.h"
#include "base/mem.h"
#include "r1cs/r1cs_internal.h"
#include <assert.h>

cuzk_status witness_init(witness *w, uint64_t inputs, uint64_t aux, uint64_t fields, cuzk_error *err)
{
    *w = (witness){0};
    if (!inputs || fields > aux || inputs > COL_LIMIT || aux > COL_LIMIT)
        return cuzk_error_set(
            err, CUZK_INVALID_ARGUMENT, "a witness cannot have %llu inputs, %llu wires, %llu wide",
            (unsigned long long)inputs, (unsigned long long)aux, (unsigned long long)fields);
    w->inputs = inputs;
    w->aux = aux;
    w->fields = fields;
    w->bytes = inputs * sizeof(fr) + words_for(aux) * 8 + fields * sizeof(fr);
    w->input = big_alloc(inputs * sizeof(fr));
    w->bits = big_alloc(words_for(aux) * 8);
    w->field = big_alloc(fields * sizeof(fr));
    if (!w->input || !w->bits || !w->field) {
        size_t bytes = w->bytes;
        witness_clear(w);
        return mem_error(err, bytes, "a witness");
    }
    w->input[0] = FR_ONE;
    return CUZK_OK;
}

static void wipe_free(void *p, size_t bytes)
{
    if (p)
        mem_wipe(p, bytes);
    big_free(p, bytes);
}

void witness_clear(witness *w)
{
    wipe_free(w->input, w->inputs * sizeof(fr));
    wipe_free(w->bits, words_for(w->aux) * 8);
    wipe_free(w->field, w->fields * sizeof(fr));
    *w = (witness){0};
}

void witness_value(fr *out, const r1cs *r, const witness *w, var v)
{
    uint64_t index = v & ~VAR_AUX, rank;
    if (!(v & VAR_AUX))
        *out = w->input[index];
    else if (r1cs_wire_rank(r, index, &rank))
        *out = w->field[rank];
    else
        *out = w->bits[index / 64] >> (index & 63) & 1 ? FR_ONE : FR_ZERO;
}

/* ---- cursor ---- */
void wcursor_init(wcursor *c, witness *w, uint64_t aux, uint64_t field)
{
    unsigned offset = aux & 63;
    *c = (wcursor){.w = w, .aux = aux, .field = field, .pending_bits = offset, .first = offset != 0};
}

static void store_shared(wcursor *c)
{
    uint64_t word = (c->aux - c->pending_bits) / 64;
    assert(word < words_for(c->w->aux));
    __atomic_fetch_or(&c->w->bits[word], c->pending, __ATOMIC_RELAXED);
}

void wcursor_finish(wcursor *c)
{
    if (c->pending_bits && c->pending)
        store_shared(c);
    c->pending = 0;
    c->first = 1;
}

/* The pending word is full: n of its bits came last, not yet counted by aux. */
static void store_full(wcursor *c)
{
    if (c->first) {
        store_shared(c);
        c->first = 0;
        return;
    }
    uint64_t word = (c->aux - c->pending_bits) / 64;
    assert(word < words_for(c->w->aux));
    c->w->bits[word] = c->pending;
}

void wcursor_bits(wcursor *c, uint64_t v, unsigned n)
{
    assert(n <= 64 && (n == 64 || !(v >> n)));
    unsigned held = c->pending_bits, total = held + n;
    c->pending |= v << held;
    if (total >= 64) {
        store_full(c);
        c->pending = held ? v >> (64 - held) : 0;
        total -= 64;
    }
    c->pending_bits = total;
    c->aux += n;
}

void wcursor_bytes(wcursor *c, const uint8_t *bytes, size_t n)
{
    for (; n >= 8; n -= 8, bytes += 8)
        wcursor_bits(c, load_le64(bytes), 64);
    for (; n; n--, bytes++)
        wcursor_bits(c, *bytes, 8);
}

void wcursor_field(wcursor *c, const fr *v)
{
    assert(c->field < c->w->fields);
    c->w->field[c->field++] = *v;
    wcursor_bits(c, 0, 1);
}
