/* Preparers: they read a job's input, parse and check it, and make the witnesses of its partitions. */
#include "base/log.h"
#include "base/mem.h"
#include "engine/internal.h"
#include <string.h>

#define MAX_CLAIMS 6 /* a partition that so many daemons began without a result is given up */

/* ---- parsing ---- */

static cuzk_status read_task(engine *e, job *j, proof_task **out, uint64_t *parsed_ns, cuzk_error *err)
{
    uint8_t *bytes;
    size_t size;
    decoded_request d = {0};
    cuzk_status s = store_input(e->store, j->id, &bytes, &size, err);
    if (!s)
        s = content_decode(&d, bytes, size, err);
    d.request.cancel = &j->cancel;
    if (!s)
        s = proof_task_parse(out, &d.request, e->ps, err);
    *parsed_ns = clock_ns();
    mem_free(d.vanilla);
    mem_free(bytes);
    if (!s && (proof_task_partitions(*out) != j->partitions || proof_task_circuit(*out) != j->circuit))
        s = cuzk_error_set(
            err, CUZK_INCONSISTENT, "the input holds %u partitions of %s, the request stands for %u of %s",
            proof_task_partitions(*out), proof_task_circuit(*out)->name, j->partitions, j->circuit->name);
    return s;
}

/* Claims a partition of a shared job before any work is put into it. CUZK_NOT_FOUND: there is none. */
static cuzk_status hold_partition(engine *e, job *j, cuzk_error *err)
{
    uint32_t partition, claims = 0;
    uint64_t fence;
    if (!store_shared(e->store) || j->held)
        return CUZK_OK;
    cuzk_status s = store_claim(e->store, j->id, &partition, &fence, &claims, err);
    pthread_mutex_lock(&e->lock);
    if (s == CUZK_NOT_FOUND) {
        j->open = 0; /* until the store says otherwise */
    } else if (!s) {
        j->open -= j->open > 0;
        j->held = 1;
        j->held_partition = partition;
        j->held_fence = fence;
    }
    pthread_mutex_unlock(&e->lock);
    if (!s && claims > MAX_CLAIMS)
        s = cuzk_error_set(err, CUZK_DEVICE_ERROR,
                           "partition %u was begun %u times, and each time the daemon ended", partition,
                           claims - 1);
    return s;
}

/* A stop in good order that came just before the note has put the job back already: it does so again, or the
 * next start would take this one for a crash. */
static cuzk_status note_start(engine *e, job *j, cuzk_error *err)
{
    cuzk_status s = store_start(e->store, j->id, clock_wall_ns() / 1000000u, err);
    pthread_mutex_lock(&e->lock);
    int detached = j->detached;
    pthread_mutex_unlock(&e->lock);
    return !s && detached ? store_requeue(e->store, j->id, err) : s;
}

static void parse_and_check(engine *e, job *j)
{
    cuzk_error why = {0};
    proof_task *t = NULL;
    uint64_t start = clock_ns(), parsed = start;
    cuzk_status s = hold_partition(e, j, &why);
    int lost = s == CUZK_NOT_FOUND;
    if (!s)
        s = note_start(e, j, &why);
    if (!s) {
        s = read_task(e, j, &t, &parsed, &why);
        job_event(e, j, STAGE_PARSE, -1, -1, start, parsed);
    }
    if (!s) {
        s = proof_task_check_until(t, -1, e->synthesis, &j->cancel, &why);
        job_event(e, j, STAGE_CHECK, -1, -1, parsed, clock_ns());
    }
    uint8_t *proof = s || j->proof ? NULL : mem_calloc(j->partitions, GROTH16_PROOF_BYTES);
    if (!s && !j->proof && !proof)
        s = mem_error(&why, 0, "a proof");
    pthread_mutex_lock(&e->lock);
    j->parsing = 0;
    if (proof)
        j->proof = proof;
    uint64_t keep = s ? 0 : proof_task_bytes(t);
    e->budget_used += keep;
    budget_give_locked(e, j->reserved);
    j->reserved = keep;
    if (!s) {
        j->task = t;
        t = NULL;
    } else if (!lost) {
        pthread_mutex_unlock(&e->lock);
        job_fail(e, j, &why);
        pthread_mutex_lock(&e->lock);
    }
    job_shed_locked(e, j);
    job_unref_locked(j);
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    proof_task_destroy(t);
}

/* ---- witnesses ---- */

static cuzk_status make_witness(engine *e, unit *u, cuzk_error *why)
{
    job *j = u->job;
    uint64_t start = clock_ns();
    cuzk_status s =
        proof_task_witness(j->task, u->partition, u->key->circuit, &u->w, e->synthesis, &j->cancel, why);
    uint64_t end = clock_ns();
    job_event(e, j, STAGE_WITNESS, (int32_t)u->partition, -1, start, end);
    pthread_mutex_lock(&e->lock);
    j->synthesis_ns += end - start;
    pthread_mutex_unlock(&e->lock);
    return s;
}

/* The partition of a new unit: the first that is open, or the one that was claimed. */
static cuzk_status take_partition(engine *e, unit *u, cuzk_error *err)
{
    job *j = u->job;
    cuzk_status s = hold_partition(e, j, err);
    if (s)
        return s;
    pthread_mutex_lock(&e->lock);
    if (j->held) {
        u->partition = j->held_partition;
        u->fence = j->held_fence;
        j->held = 0;
    }
    pthread_mutex_unlock(&e->lock);
    return CUZK_OK;
}

static void prepare_unit(engine *e, unit *u)
{
    job *j = u->job;
    cuzk_error why = {0};
    cuzk_status s = store_shared(e->store) ? take_partition(e, u, &why) : CUZK_OK;
    if (s == CUZK_NOT_FOUND) { /* another daemon was faster */
        unit_set_state(e, u, UNIT_FINISHED);
        unit_free(e, u);
        return;
    }
    if (!s)
        s = make_witness(e, u, &why);
    if (s) {
        if (s != CUZK_CANCELLED && j->partitions > 1)
            cuzk_error_prefix(&why, "partition %u", u->partition);
        job_fail(e, j, &why);
        unit_free(e, u);
        return;
    }
    u->ready_ns = clock_ns();
    unit_set_state(e, u, UNIT_READY);
}

/* ---- the thread ---- */

/* The lock is released for the notes. */
static void begin_locked(engine *e, job *j)
{
    if (j->started_ns)
        return;
    j->state = JOB_RUNNING;
    j->started_ns = clock_ns();
    j->queue_ns = j->started_ns > j->submitted_ns ? j->started_ns - j->submitted_ns : 1;
    pthread_mutex_unlock(&e->lock);
    job_event(e, j, STAGE_QUEUE, -1, -1, j->submitted_ns, j->started_ns);
    pthread_mutex_lock(&e->lock);
}

/* How long it waited for its circuit and SRS. */
static void note_srs_wait_locked(engine *e, job *j)
{
    if (!j->srs_wait_ns)
        return;
    uint64_t since = j->srs_wait_ns, now = clock_ns();
    j->srs_wait_ns = 0;
    j->srs_ns += now - since;
    pthread_mutex_unlock(&e->lock);
    job_event(e, j, STAGE_SRS, -1, -1, since, now);
    pthread_mutex_lock(&e->lock);
}

static void do_parse(engine *e, job *j)
{
    j->parsing = 1;
    job_ref_locked(j);
    begin_locked(e, j);
    pthread_mutex_unlock(&e->lock);
    keys_bury(e);
    parse_and_check(e, j);
    pthread_mutex_lock(&e->lock);
}

static void do_witness(engine *e, job *j, uint64_t bytes)
{
    unit *u = unit_new_locked(e, j);
    if (!u) {
        cuzk_error why;
        budget_give_locked(e, bytes);
        mem_error(&why, sizeof(*u), "a partition");
        pthread_mutex_unlock(&e->lock);
        job_fail(e, j, &why);
        pthread_mutex_lock(&e->lock);
        return;
    }
    u->reserved = bytes;
    note_srs_wait_locked(e, j);
    pthread_mutex_unlock(&e->lock);
    keys_bury(e);
    prepare_unit(e, u);
    pthread_mutex_lock(&e->lock);
}

void *preparer_main(void *engine_)
{
    engine *e = engine_;
    pthread_mutex_lock(&e->lock);
    while (!e->stopping) {
        job *j;
        uint64_t bytes;
        cuzk_error why = {0};
        switch (sched_next_step_locked(e, &j, &bytes, &why)) {
        case STEP_NONE:
            pthread_cond_wait(&e->changed, &e->lock);
            break;
        case STEP_PARSE:
            do_parse(e, j);
            break;
        case STEP_WITNESS:
            do_witness(e, j, bytes);
            break;
        case STEP_FAIL:
            job_ref_locked(j);
            begin_locked(e, j);
            pthread_mutex_unlock(&e->lock);
            job_fail(e, j, &why);
            pthread_mutex_lock(&e->lock);
            job_unref_locked(j);
            break;
        }
    }
    pthread_mutex_unlock(&e->lock);
    keys_bury(e);
    return NULL;
}
