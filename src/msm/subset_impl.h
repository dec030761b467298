/* Sums of a subset of the bases. Included after reduce_impl.h. */

#define SUBSET_WORDS 256 /* of the bitmap, in a task: 16384 bases */

typedef struct subset_job {
    const AFFINE *bases;
    const uint64_t *bits;
    size_t n;
    const cancel_token *cancel;
    work *work;
} subset_job;

static void subset_task(void *ctx, size_t task, unsigned worker)
{
    const subset_job *j = ctx;
    work *w = &j->work[worker];
    size_t words = (j->n + 63) / 64, end = (task + 1) * SUBSET_WORDS;
    if (cancel_check(j->cancel))
        return;
    for (size_t i = task * SUBSET_WORDS; i < words && i < end; i++) {
        uint64_t set = j->bits[i];
        if (i == words - 1 && j->n % 64)
            set &= ((uint64_t)1 << j->n % 64) - 1;
        for (; set; set &= set - 1)
            work_pend(w, i * 64 + (size_t)__builtin_ctzll(set), 0, j->bases, NULL);
    }
}

static cuzk_status subset(JACOBIAN *out, const AFFINE *bases, const uint64_t *bits, size_t n, pool *p,
                          const cancel_token *cancel, cuzk_error *err)
{
    size_t bytes = pool_size(p) * sizeof(work);
    subset_job j = {bases, bits, n, cancel, NULL};
    if (n > MSM_MAX)
        return cuzk_error_set(err, CUZK_UNSUPPORTED, "a sum of %zu points is larger than 2^31", n);
    j.work = big_alloc(bytes);
    if (!j.work)
        return mem_error(err, bytes, "a sum of points");
    for (unsigned i = 0; i < pool_size(p); i++) {
        work_clear(&j.work[i]);
        j.work[i].pendings = 0;
        memset(&j.work[i].sum, 0, sizeof j.work[i].sum);
    }
    pool_for(p, (n + 64 * SUBSET_WORDS - 1) / (64 * SUBSET_WORDS), subset_task, &j);
    cuzk_status st = msm_stopped(cancel, err);
    if (!st) {
        JACOBIAN zero;
        memset(&zero, 0, sizeof zero);
        work_total(out, &zero, j.work, pool_size(p), bases, NULL);
    }
    big_free(j.work, bytes);
    return st;
}
