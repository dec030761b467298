/* Interning of coefficients: a circuit uses a few thousand distinct ones among hundreds of millions. */
#include "base/mem.h"
#include "r1cs/builder.h"

static uint64_t hash_fr(const fr *c)
{
    uint64_t h = c->l[0] * 0x9e3779b97f4a7c15u ^ c->l[1] * 0xc2b2ae3d27d4eb4fu;
    h ^= c->l[2] * 0x165667b19e3779f9u ^ c->l[3] * 0xd6e8feb86659fd93u;
    return h ^ h >> 29 ^ h >> 47;
}

static int rehash(dictionary *d, uint32_t slots)
{
    uint32_t *slot = mem_calloc(slots, sizeof(uint32_t));
    if (!slot)
        return 0;
    for (uint32_t i = 0; i < d->count; i++) {
        uint32_t at = (uint32_t)hash_fr(&d->value[i]) & (slots - 1);
        while (slot[at])
            at = (at + 1) & (slots - 1);
        slot[at] = i + 1;
    }
    mem_free(d->slot);
    d->slot = slot;
    d->slots = slots;
    return 1;
}

int dictionary_init(dictionary *d)
{
    *d = (dictionary){0};
    if (!rehash(d, 1024))
        return 0;
    return dictionary_intern(d, &FR_ONE) == 0 && dictionary_intern(d, &FR_MINUS_ONE) == 1;
}

void dictionary_clear(dictionary *d)
{
    mem_free(d->value);
    mem_free(d->slot);
    *d = (dictionary){0};
}

uint32_t dictionary_intern(dictionary *d, const fr *c)
{
    uint32_t at = (uint32_t)hash_fr(c) & (d->slots - 1);
    for (; d->slot[at]; at = (at + 1) & (d->slots - 1))
        if (fr_eq(&d->value[d->slot[at] - 1], c))
            return d->slot[at] - 1;
    if (d->count >= UINT32_MAX / 4)
        return UINT32_MAX;
    if (!vec_grow(&d->value, &d->cap, (size_t)d->count + 1, sizeof(fr)))
        return UINT32_MAX;
    d->value[d->count++] = *c;
    if (d->count > d->slots / 2) {
        if (!rehash(d, d->slots * 2)) {
            d->count--;
            return UINT32_MAX;
        }
    } else {
        d->slot[at] = d->count;
    }
    return d->count - 1;
}
