/* Sums of many runs of points at once, by halving: each round adds neighbours of every run in one batch of
 * affine additions. Included after as_g1.h or as_g2.h. */
#include "base/mem.h"
#include "msm/msm_private.h"
#include <stdatomic.h>

#define PIECE (2 * BATCH_SIZE) /* elements of a task: their rounds need ten inversions or so */

typedef struct work { /* one per thread */
    CAT(GROUP, _batch) scratch;
    point_ref ref[2 * PIECE];   /* elements, run after run */
    uint32_t length[2 * PIECE]; /* of each run, at least 1 */
    size_t refs, runs;
    point_ref a[PIECE], b[PIECE];
    AFFINE *out[PIECE], *target[2 * PIECE];
    AFFINE slot[PIECE];      /* sums on their way */
    uint32_t pending[PIECE]; /* bases of the plain sum: position, and the sign in bit 31 */
    size_t pendings;
    JACOBIAN sum; /* of the bases taken from pending */
} work;

static inline void work_clear(work *w)
{
    w->refs = w->runs = 0;
}

/* Opens a run whose sum goes to target; elements are then added with work_push. */
static inline void work_open(work *w, AFFINE *target)
{
    w->target[w->runs] = target;
    w->length[w->runs++] = 0;
}

static inline void work_push(work *w, point_ref p)
{
    w->ref[w->refs++] = p;
    w->length[w->runs - 1]++;
}

/* Where a sum may overwrite its operand: only what earlier rounds left in slot. */
static inline AFFINE *own_slot(work *w, point_ref p)
{
    return (uintptr_t)p.x - (uintptr_t)w->slot < sizeof w->slot ? (AFFINE *)(uintptr_t)p.x : NULL;
}

/* Writes the sum of every run to its target and clears. */
static void work_reduce(work *w)
{
    size_t used = 0;
    for (;;) {
        size_t pairs = 0, from = 0, to = 0;
        for (size_t r = 0; r < w->runs; r++) {
            size_t n = w->length[r];
            for (size_t i = 0; i + 1 < n; i += 2, pairs++) {
                point_ref a = w->ref[from + i], b = w->ref[from + i + 1];
                AFFINE *out = own_slot(w, a);
                if (!out && !(out = own_slot(w, b)))
                    out = &w->slot[used++];
                w->a[pairs] = a, w->b[pairs] = b, w->out[pairs] = out;
                w->ref[to++] = FN(ref)(out, 0);
            }
            if (n % 2)
                w->ref[to++] = w->ref[from + n - 1];
            from += n;
            w->length[r] = (uint32_t)((n + 1) / 2);
        }
        if (!pairs)
            break;
        FN(batch_add)(w->out, w->a, w->b, pairs, &w->scratch);
    }
    for (size_t r = 0; r < w->runs; r++)
        FN(ref_get)(w->target[r], w->ref[r]);
    work_clear(w);
}

/* Adds the pending bases to the thread's sum. */
static void work_flush(work *w, const AFFINE *bases, const uint32_t *index)
{
    AFFINE sum;
    if (!w->pendings)
        return;
    work_open(w, &sum);
    for (size_t i = 0; i < w->pendings; i++) {
        uint32_t at = w->pending[i] & 0x7fffffff;
        work_push(w, FN(ref)(&bases[index ? index[at] : at], w->pending[i] >> 31));
    }
    work_reduce(w);
    FN(add_affine)(&w->sum, &w->sum, &sum);
    w->pendings = 0;
}

static inline void work_pend(work *w, size_t at, unsigned minus, const AFFINE *bases, const uint32_t *index)
{
    w->pending[w->pendings++] = (uint32_t)at | minus << 31;
    if (w->pendings == PIECE)
        work_flush(w, bases, index);
}

/* What was summed by all threads; the representation does not depend on who summed what. */
static void work_total(JACOBIAN *out, JACOBIAN *start, work *w, unsigned workers, const AFFINE *bases,
                       const uint32_t *index)
{
    AFFINE a;
    for (unsigned i = 0; i < workers; i++) {
        work_flush(&w[i], bases, index);
        FN(add)(start, start, &w[i].sum);
    }
    FN(to_affine)(&a, start);
    FN(from_affine)(out, &a);
}
