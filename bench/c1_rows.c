/* Reading and checking a C1 document of real size, and making one. Sizes are powers of two of the sector's
 * bytes: 35 is 32 GiB, whose document has 51 MB. Nothing here has a reference in this program. */
#include "base/mem.h"
#include "bench.h"
#include "filecoin/c1_write.h"
#include "filecoin/synth.h"
#include <stdio.h>
#include <string.h>

typedef struct c1_state {
    poseidon_set *ps;
    const registered_seal *seal;
    porep_c1 *made, *read;
    uint8_t *text;
    size_t used, room;
    int failed;
} c1_state;

static void collect(void *ctx, const void *data, size_t bytes)
{
    c1_state *s = ctx;
    if (s->used + bytes > s->room) {
        size_t room = 2 * (s->used + bytes);
        uint8_t *grown = s->failed ? NULL : mem_realloc(s->text, room);
        if (!grown) {
            s->failed = 1;
            return;
        }
        s->text = grown;
        s->room = room;
    }
    memcpy(s->text + s->used, data, bytes);
    s->used += bytes;
}

static void c1_clear(bench_run *r)
{
    c1_state *s = r->state;
    if (!s)
        return;
    porep_c1_free(s->made);
    porep_c1_free(s->read);
    mem_free(s->text);
    poseidon_set_destroy(s->ps);
    mem_free(s);
}

static cuzk_status c1_prepare(bench_run *r, cuzk_error *err)
{
    c1_state *s = r->state = mem_calloc(1, sizeof *s);
    synth_options o = SYNTH_DEFAULTS;
    if (!s)
        return mem_error(err, sizeof *s, "a benchmark");
    s->seal = r->size < 64 ? seal_find(1ull << r->size, POREP_V1_1) : NULL;
    if (!s->seal)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "no sector has 2^%u bytes", r->size);
    cuzk_status st = poseidon_set_create(&s->ps, err);
    if (st == CUZK_OK)
        st = synth_porep(&s->made, s->seal, &o, s->ps, r->b->pool, err);
    if (st != CUZK_OK)
        return st;
    porep_c1_write(s->made, 1, collect, s);
    if (s->failed)
        return mem_error(err, s->room, "a C1 document");
    snprintf(r->note, sizeof r->note, "%.1f MB of text, %.1f MB in memory", (double)s->used / 1e6,
             (double)s->made->bytes / 1e6);
    return CUZK_OK;
}

static void c1_reset(bench_run *r)
{
    c1_state *s = r->state;
    porep_c1_free(s->read);
    s->read = NULL;
}

static cuzk_status parse_run(bench_run *r, cuzk_error *err)
{
    c1_state *s = r->state;
    return porep_c1_parse(&s->read, s->text, s->used, err);
}

static cuzk_status check_run(bench_run *r, cuzk_error *err)
{
    c1_state *s = r->state;
    return porep_check(s->made, -1, s->ps, r->b->pool, err);
}

static cuzk_status synth_run(bench_run *r, cuzk_error *err)
{
    c1_state *s = r->state;
    synth_options o = SYNTH_DEFAULTS;
    o.seed = 2;
    return synth_porep(&s->read, s->seal, &o, s->ps, r->b->pool, err);
}

static const unsigned SIZES[] = {23, 35, 36, 0}, QUICK[] = {11, 23, 0};
const bench_row BENCH_C1_PARSE = {
    .name = "c1-parse",
    .what = "read a wrapped C1 document; size: bytes of the sector",
    .sizes = SIZES,
    .sizes_quick = QUICK,
    .prepare = c1_prepare,
    .reset = c1_reset,
    .run = parse_run,
    .clear = c1_clear,
};
const bench_row BENCH_C1_CHECK = {
    .name = "c1-check",
    .what = "check a C1 document's vanilla proofs; size: bytes of the sector",
    .sizes = SIZES,
    .sizes_quick = QUICK,
    .prepare = c1_prepare,
    .reset = c1_reset,
    .run = check_run,
    .clear = c1_clear,
};
const bench_row BENCH_SYNTH = {
    .name = "synth-porep",
    .what = "make a synthetic PoRep; size: bytes of the sector",
    .sizes = SIZES,
    .sizes_quick = QUICK,
    .prepare = c1_prepare,
    .reset = c1_reset,
    .run = synth_run,
    .clear = c1_clear,
};
