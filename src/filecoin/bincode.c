/* Reading bincode. Lengths are known from the shape before they are read, so that nothing is allocated for a
 * number that the input merely claims. */
#include "filecoin/bincode.h"
#include "base/encode.h"
#include "base/mem.h"
#include "filecoin/task.h"
#include <stdarg.h>
#include <stdio.h>

void bincode_init(bincode *b, const uint8_t *data, size_t size)
{
    *b = (bincode){.data = data, .size = size, .status = CUZK_OK};
}

CUZK_PRINTF(3, 4)
static void fail(bincode *b, cuzk_status status, const char *format, ...)
{
    va_list args;
    if (b->status != CUZK_OK)
        return;
    b->status = status;
    va_start(args, format);
    vsnprintf(b->message, sizeof b->message, format, args);
    va_end(args);
}

/* The next n bytes, or NULL. */
static const uint8_t *take(bincode *b, size_t n, const char *what)
{
    if (b->status != CUZK_OK)
        return NULL;
    if (b->size - b->at < n) {
        fail(b, CUZK_BAD_INPUT, "the proof is cut short: it ends after %zu bytes, inside %s", b->size, what);
        return NULL;
    }
    b->at += n;
    return b->data + b->at - n;
}

uint32_t bincode_u32(bincode *b, const char *what)
{
    const uint8_t *p = take(b, 4, what);
    return p ? load_le32(p) : 0;
}

uint64_t bincode_u64(bincode *b, const char *what)
{
    const uint8_t *p = take(b, 8, what);
    return p ? load_le64(p) : 0;
}

void bincode_node(bincode *b, uint8_t out[32], const char *what)
{
    const uint8_t *p = take(b, 32, what);
    if (p)
        memcpy(out, p, 32);
    else
        memset(out, 0, 32);
}

int bincode_length(bincode *b, uint64_t expected, const char *what)
{
    uint64_t n = bincode_u64(b, what);
    if (b->status == CUZK_OK && n != expected)
        fail(b, CUZK_BAD_INPUT, "%s: %llu entries, expected %llu", what, (unsigned long long)n,
             (unsigned long long)expected);
    return b->status != CUZK_OK;
}

/* Levels first .. first + count - 1, all of one arity, as an InclusionPath. */
static void path(bincode *b, merkle_proof *out, const merkle_shape *s, uint32_t first, uint32_t count,
                 arena *a, const char *what)
{
    if (bincode_length(b, count, what))
        return;
    for (uint32_t i = first; i < first + count; i++) {
        const uint32_t siblings = merkle_arity(s, i) - 1;
        if (bincode_length(b, siblings, what))
            return;
        const uint8_t *from = take(b, 32 * (size_t)siblings, what);
        uint64_t position = bincode_u64(b, what);
        if (b->status != CUZK_OK)
            return;
        if (position > siblings) {
            fail(b, CUZK_BAD_INPUT, "%s: the position on level %u is %llu, there are %u nodes", what, i,
                 (unsigned long long)position, siblings + 1);
            return;
        }
        uint8_t *copy = arena_alloc(a, 32 * (size_t)siblings);
        if (!copy) {
            fail(b, CUZK_OUT_OF_MEMORY, "no memory for the vanilla proof");
            return;
        }
        memcpy(copy, from, 32 * (size_t)siblings);
        out->level[i] = (merkle_level){(uint32_t)position, copy};
    }
}

void bincode_merkle_proof(bincode *b, merkle_proof *out, const merkle_shape *s, arena *a, const char *what)
{
    /* Variants in the order of declaration: a single tree, a tree of sub-trees, a top tree over those. */
    static const char *const variant[] = {"a single tree", "sub-trees", "sub-trees and a top tree"};
    const uint32_t expected = s->top ? 2 : s->sub ? 1 : 0;
    uint32_t tag = bincode_u32(b, what);
    if (b->status == CUZK_OK && tag != expected) {
        if (tag < 3)
            fail(b, CUZK_BAD_INPUT, "%s: the proof is for %s, a sector of this size has %s", what,
                 variant[tag], variant[expected]);
        else
            fail(b, CUZK_BAD_INPUT, "%s: unknown kind of Merkle proof %u", what, tag);
    }
    memset(out, 0, sizeof *out);
    out->levels = merkle_levels(s);
    if (tag == 0) {
        bincode_node(b, out->root, what);
        bincode_node(b, out->leaf, what);
    }
    path(b, out, s, 0, s->base_levels, a, what);
    if (s->sub)
        path(b, out, s, s->base_levels, 1, a, what);
    if (s->top)
        path(b, out, s, s->base_levels + 1, 1, a, what);
    if (tag != 0) {
        bincode_node(b, out->root, what);
        bincode_node(b, out->leaf, what);
    }
}

void bincode_end(bincode *b)
{
    if (b->status == CUZK_OK && b->at != b->size)
        fail(b, CUZK_BAD_INPUT, "%zu bytes follow the end of the proof", b->size - b->at);
}

cuzk_status bincode_error(const bincode *b, cuzk_error *err, const char *format, ...)
{
    char place[160];
    va_list args;
    va_start(args, format);
    vsnprintf(place, sizeof place, format, args);
    va_end(args);
    return cuzk_error_set(err, b->status, "%s: %s", place, b->message);
}

cuzk_status vanilla_split(proof_bytes **out, size_t *count, const uint8_t *data, size_t size, cuzk_error *err)
{
    size_t n = 0, at;
    for (at = 0; at < size; n++) {
        if (size - at < 8)
            return cuzk_error_set(
                err, CUZK_BAD_INPUT,
                "the file of vanilla proofs is cut short: it ends inside the length of proof %zu", n);
        uint64_t length = load_le64(data + at);
        if (length > size - at - 8)
            return cuzk_error_set(
                err, CUZK_BAD_INPUT,
                "the file of vanilla proofs is cut short: proof %zu should have %llu bytes, "
                "%zu are left",
                n, (unsigned long long)length, size - at - 8);
        at += 8 + length;
    }
    if (!n)
        return cuzk_error_set(err, CUZK_BAD_INPUT, "the file of vanilla proofs is empty");
    proof_bytes *list = mem_calloc(n, sizeof *list);
    if (!list)
        return mem_error(err, n * sizeof *list, "the list of vanilla proofs");
    at = 0;
    for (size_t i = 0; i < n; i++) {
        list[i] = (proof_bytes){data + at + 8, load_le64(data + at)};
        at += 8 + list[i].size;
    }
    *out = list;
    *count = n;
    return CUZK_OK;
}
