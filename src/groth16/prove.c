/* Proving: the device sums up, this file blinds, assembles and verifies. */
#include "backend/cancel.h"
#include "base/mem.h"
#include "groth16/groth16_internal.h"

struct groth16_prover {
    const cuzk_backend *backend;
    cuzk_device *device;
    cuzk_device_key *key;
    const r1cs *r;
    const params *p;
    cuzk_circuit_view view;
    char plan[256];
};

struct groth16_job {
    groth16_prover *g;
    const witness *w;
    cuzk_device_job *device_job; /* NULL: of a batch, sums and times are there */
    cuzk_sums sums;
    cuzk_device_times times;
    uint64_t started;
};

cuzk_status groth16_prover_create(groth16_prover **out, const cuzk_backend *backend, cuzk_device *device,
                                  const r1cs *r, const params *p, cuzk_error *err)
{
    *out = NULL;
    cuzk_status s = params_match(p, r, err);
    if (s != CUZK_OK)
        return s;
    groth16_prover *g = mem_calloc(1, sizeof(*g));
    if (!g)
        return mem_error(err, sizeof(*g), "a prover");
    *g = (groth16_prover){.backend = backend, .device = device, .r = r, .p = p};
    s = r1cs_view(r, &g->view, err);
    if (s == CUZK_OK)
        s = backend->key_load(device, &g->key, &g->view, &p->q, g->plan, sizeof(g->plan), err);
    if (s != CUZK_OK) {
        mem_free(g);
        return s;
    }
    *out = g;
    return CUZK_OK;
}

void groth16_prover_destroy(groth16_prover *g)
{
    if (!g)
        return;
    g->backend->key_unload(g->key);
    mem_free(g);
}

const char *groth16_prover_plan(const groth16_prover *g)
{
    return g->plan;
}

uint64_t groth16_prover_bytes(const groth16_prover *g)
{
    return g->backend->key_bytes(g->key);
}

void proof_assemble(proof_points *out, const verifying_key *vk, const cuzk_sums *sums, const fr *r,
                    const fr *s)
{
    fr rs;
    scalar kr, ks, krs;
    fr_mul(&rs, r, s);
    fr_to_scalar(&kr, r);
    fr_to_scalar(&ks, s);
    fr_to_scalar(&krs, &rs);
    g1 delta, a, b1, c, t;
    g2 delta2, b;
    g1_from_affine(&delta, &vk->delta_g1);
    g2_from_affine(&delta2, &vk->delta_g2);
    /* A = alpha + a + r delta */
    g1_mul_secret(&a, &delta, &kr);
    g1_add_affine(&a, &a, &vk->alpha_g1);
    g1_add_affine(&a, &a, (const g1_affine *)&sums->a);
    /* B = beta + b + s delta, in both groups */
    g2_mul_secret(&b, &delta2, &ks);
    g2_add_affine(&b, &b, &vk->beta_g2);
    g2_add_affine(&b, &b, (const g2_affine *)&sums->b_g2);
    g1_mul_secret(&b1, &delta, &ks);
    g1_add_affine(&b1, &b1, &vk->beta_g1);
    g1_add_affine(&b1, &b1, (const g1_affine *)&sums->b_g1);
    /* C = l + h + s A + r B - r s delta */
    g1_mul_secret(&c, &delta, &krs);
    blst_p1_cneg(&c, 1);
    g1_mul_secret(&t, &a, &ks);
    g1_add(&c, &c, &t);
    g1_mul_secret(&t, &b1, &kr);
    g1_add(&c, &c, &t);
    g1_add_affine(&c, &c, (const g1_affine *)&sums->l);
    g1_add_affine(&c, &c, (const g1_affine *)&sums->h);
    g1_to_affine(&out->a, &a);
    g2_to_affine(&out->b, &b);
    g1_to_affine(&out->c, &c);
    mem_wipe(&rs, sizeof(rs));
    mem_wipe(&kr, sizeof(kr));
    mem_wipe(&ks, sizeof(ks));
    mem_wipe(&krs, sizeof(krs));
    mem_wipe(&t, sizeof(t));
}

static cuzk_status check_witness(const groth16_prover *g, const witness *w, cuzk_error *err)
{
    if (w->inputs == g->view.inputs && w->aux == g->view.aux && w->fields == g->view.fields)
        return CUZK_OK;
    return cuzk_error_set(err, CUZK_INVALID_ARGUMENT,
                          "the witness has %llu inputs and %llu wires, circuit %s has %llu and %llu",
                          (unsigned long long)w->inputs, (unsigned long long)w->aux, r1cs_name(g->r),
                          (unsigned long long)g->view.inputs, (unsigned long long)g->view.aux);
}

cuzk_status groth16_prove_start(groth16_prover *g, groth16_job **out, const witness *w,
                                const cancel_token *cancel, cuzk_error *err)
{
    *out = NULL;
    cuzk_status s = check_witness(g, w, err);
    if (s != CUZK_OK)
        return s;
    groth16_job *job = mem_calloc(1, sizeof(*job));
    if (!job)
        return mem_error(err, sizeof(*job), "a proof");
    *job = (groth16_job){.g = g, .w = w, .started = clock_ns()};
    cuzk_witness_view view = witness_view(w);
    s = g->backend->prove_start(g->key, &job->device_job, &view, cancel ? cancel_token_poll : NULL,
                                (void *)(uintptr_t)cancel, err);
    if (s != CUZK_OK) {
        mem_free(job);
        return s;
    }
    *out = job;
    return CUZK_OK;
}

typedef struct batch_memory {
    cuzk_witness_view *view;
    cuzk_sums *sums;
    cuzk_device_times *times;
} batch_memory;

static cuzk_status batch_alloc(batch_memory *m, groth16_job **jobs, uint32_t count, cuzk_error *err)
{
    m->view = mem_calloc(count, sizeof(*m->view));
    m->sums = mem_calloc(count, sizeof(*m->sums));
    m->times = mem_calloc(count, sizeof(*m->times));
    int ok = m->view && m->sums && m->times;
    for (uint32_t i = 0; i < count; i++) {
        jobs[i] = mem_calloc(1, sizeof(**jobs));
        ok = ok && jobs[i];
    }
    return ok ? CUZK_OK : mem_error(err, count * sizeof(**jobs), "a batch of proofs");
}

cuzk_status groth16_prove_batch_start(groth16_prover *g, groth16_job **jobs, const witness *const *w,
                                      uint32_t count, const cancel_token *cancel, cuzk_error *err)
{
    batch_memory m;
    uint64_t started = clock_ns();
    cuzk_status s = batch_alloc(&m, jobs, count, err);
    for (uint32_t i = 0; i < count && s == CUZK_OK; i++) {
        s = check_witness(g, w[i], err);
        m.view[i] = witness_view(w[i]);
    }
    if (s == CUZK_OK)
        s = g->backend->prove_batch(g->key, m.view, count, m.sums, m.times, cancel ? cancel_token_poll : NULL,
                                    (void *)(uintptr_t)cancel, err);
    for (uint32_t i = 0; i < count; i++) {
        if (s == CUZK_OK) {
            *jobs[i] =
                (groth16_job){.g = g, .w = w[i], .sums = m.sums[i], .times = m.times[i], .started = started};
        } else {
            mem_free(jobs[i]);
            jobs[i] = NULL;
        }
    }
    mem_free(m.view);
    mem_free(m.sums);
    mem_free(m.times);
    return s;
}

/* Why a proof that was made does not verify: the witness, the file, or the device. */
static cuzk_status explain_invalid(const groth16_prover *g, const witness *w, cuzk_error *err)
{
    cuzk_status s = r1cs_check(g->r, w, NULL, err);
    if (s != CUZK_OK)
        return s;
    if (file_map_changed(&g->p->map))
        return cuzk_error_set(err, CUZK_BAD_INPUT, "%s was changed while it was in use", g->p->path);
    return cuzk_error_set(
        err, CUZK_INVALID_PROOF,
        "the witness is right but the proof does not verify: either %s is damaged or the %s device "
        "computes wrongly",
        g->p->path, g->backend->name);
}

static double since_ms(uint64_t t)
{
    return (double)(clock_ns() - t) / 1e6;
}

/* Blinds, assembles, verifies. out is wiped on failure. */
static cuzk_status finish(const groth16_prover *g, const witness *w, const cuzk_sums *sums, const fr *r,
                          const fr *s, uint8_t out[GROTH16_PROOF_BYTES], groth16_times *times,
                          cuzk_error *err)
{
    uint64_t lap = clock_ns();
    fr kr, ks;
    proof_points points;
    memset(out, 0, GROTH16_PROOF_BYTES);
    if ((r ? (kr = *r, 0) : fr_random(&kr)) || (s ? (ks = *s, 0) : fr_random(&ks)))
        return cuzk_error_set(err, CUZK_IO_ERROR, "the kernel gave no randomness");
    proof_assemble(&points, &g->p->vk, sums, &kr, &ks);
    mem_wipe(&kr, sizeof(kr));
    mem_wipe(&ks, sizeof(ks));
    proof_encode(out, &points);
    times->finish = since_ms(lap);
    lap = clock_ns();
    cuzk_status st = groth16_verify(&g->p->vk, out, w->input + 1, w->inputs - 1, err);
    if (st == CUZK_INVALID_PROOF)
        st = explain_invalid(g, w, err);
    if (st != CUZK_OK)
        memset(out, 0, GROTH16_PROOF_BYTES);
    times->verify = since_ms(lap);
    return st;
}

static groth16_times from_device(const cuzk_device_times *t)
{
    return (groth16_times){.multiply = t->spmv,
                           .quotient = t->quotient,
                           .msm_h = t->msm_h,
                           .msm_l = t->msm_l,
                           .msm_a = t->msm_a,
                           .msm_b_g1 = t->msm_b_g1,
                           .msm_b_g2 = t->msm_b_g2};
}

cuzk_status groth16_prove_finish(groth16_job *job, const fr *r, const fr *s, uint8_t out[GROTH16_PROOF_BYTES],
                                 groth16_times *times, cuzk_error *err)
{
    const groth16_prover *g = job->g;
    const witness *w = job->w;
    uint64_t started = job->started;
    cuzk_sums sums = job->sums;
    cuzk_device_times dt = job->times;
    memset(out, 0, GROTH16_PROOF_BYTES);
    cuzk_status st = job->device_job ? g->backend->prove_finish(job->device_job, &sums, &dt, err) : CUZK_OK;
    mem_free(job);
    if (st != CUZK_OK)
        return st;
    groth16_times t = from_device(&dt);
    st = finish(g, w, &sums, r, s, out, &t, err);
    t.total = since_ms(started);
    if (times)
        *times = t;
    return st;
}

cuzk_status groth16_prove(groth16_prover *g, const witness *w, const fr *r, const fr *s,
                          uint8_t out[GROTH16_PROOF_BYTES], groth16_times *times, const cancel_token *cancel,
                          cuzk_error *err)
{
    groth16_job *job;
    memset(out, 0, GROTH16_PROOF_BYTES);
    cuzk_status st = groth16_prove_start(g, &job, w, cancel, err);
    return st == CUZK_OK ? groth16_prove_finish(job, r, s, out, times, err) : st;
}

cuzk_status groth16_prove_batch(groth16_prover *g, const witness *const *w, uint32_t count, const fr *r,
                                const fr *s, uint8_t *out, groth16_times *times, uint32_t *bad,
                                const cancel_token *cancel, cuzk_error *err)
{
    uint32_t at = count;
    memset(out, 0, (size_t)count * GROTH16_PROOF_BYTES);
    if (bad)
        *bad = count;
    if (count == 0)
        return CUZK_OK;
    groth16_job **jobs = mem_calloc(count, sizeof(groth16_job *));
    if (!jobs)
        return mem_error(err, count * sizeof(groth16_job *), "a batch of proofs");
    cuzk_status st = groth16_prove_batch_start(g, jobs, w, count, cancel, err);
    int started = st == CUZK_OK;
    for (uint32_t i = 0; started && i < count;
         i++) { /* every job is finished, whatever became of the others */
        cuzk_status one = groth16_prove_finish(jobs[i], r ? &r[i] : NULL, s ? &s[i] : NULL,
                                               out + (size_t)i * GROTH16_PROOF_BYTES,
                                               times ? &times[i] : NULL, st == CUZK_OK ? err : NULL);
        if (one != CUZK_OK && st == CUZK_OK) {
            st = one;
            at = i;
            cuzk_error_prefix(err, "proof %u of the batch", i);
        }
    }
    mem_free(jobs);
    if (st != CUZK_OK)
        memset(out, 0, (size_t)count * GROTH16_PROOF_BYTES);
    if (bad)
        *bad = at;
    return st;
}
