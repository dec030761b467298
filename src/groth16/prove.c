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
    cuzk_device_job *device_job;
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
    cuzk_witness_view view = {
        w->inputs, w->aux, w->fields, (const cuzk_fr *)w->input, w->bits, (const cuzk_fr *)w->field};
    s = g->backend->prove_start(g->key, &job->device_job, &view, cancel ? cancel_token_poll : NULL,
                                (void *)(uintptr_t)cancel, err);
    if (s != CUZK_OK) {
        mem_free(job);
        return s;
    }
    *out = job;
    return CUZK_OK;
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

cuzk_status groth16_prove_finish(groth16_job *job, const fr *r, const fr *s, uint8_t out[GROTH16_PROOF_BYTES],
                                 groth16_times *times, cuzk_error *err)
{
    const groth16_prover *g = job->g;
    const witness *w = job->w;
    uint64_t started = job->started;
    cuzk_sums sums;
    cuzk_device_times dt = {0};
    memset(out, 0, GROTH16_PROOF_BYTES);
    cuzk_status st = g->backend->prove_finish(job->device_job, &sums, &dt, err);
    mem_free(job);
    if (st != CUZK_OK)
        return st;
    uint64_t lap = clock_ns();
    fr kr, ks;
    proof_points points;
    if ((r ? (kr = *r, 0) : fr_random(&kr)) || (s ? (ks = *s, 0) : fr_random(&ks)))
        return cuzk_error_set(err, CUZK_IO_ERROR, "the kernel gave no randomness");
    proof_assemble(&points, &g->p->vk, &sums, &kr, &ks);
    mem_wipe(&kr, sizeof(kr));
    mem_wipe(&ks, sizeof(ks));
    proof_encode(out, &points);
    double finish = since_ms(lap);
    lap = clock_ns();
    st = groth16_verify(&g->p->vk, out, w->input + 1, w->inputs - 1, err);
    if (st == CUZK_INVALID_PROOF)
        st = explain_invalid(g, w, err);
    if (st != CUZK_OK)
        memset(out, 0, GROTH16_PROOF_BYTES);
    if (times)
        *times = (groth16_times){.multiply = dt.spmv,
                                 .quotient = dt.quotient,
                                 .msm_h = dt.msm_h,
                                 .msm_l = dt.msm_l,
                                 .msm_a = dt.msm_a,
                                 .msm_b_g1 = dt.msm_b_g1,
                                 .msm_b_g2 = dt.msm_b_g2,
                                 .finish = finish,
                                 .verify = since_ms(lap),
                                 .total = since_ms(started)};
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
