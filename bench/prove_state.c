#include "prove_state.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void prove_clear(bench_run *r)
{
    prove_state *s = r->state;
    if (!s)
        return;
    groth16_prover_destroy(s->g);
    cuzk_backend_cpu()->key_unload(s->key);
    cuzk_backend_cpu()->device_close(s->device);
    params_close(s->p);
    if (s->folder[0]) {
        unlink(s->params_path);
        rmdir(s->folder);
    }
    if (s->space)
        munmap(s->space, s->space_bytes);
    mem_free(s->g1);
    mem_free(s->g2);
    witness_clear(&s->w);
    r1cs_destroy(s->r);
    synth_vanilla_clear(&s->vanilla);
    porep_c1_free(s->c1);
    poseidon_set_destroy(s->ps);
    mem_free(s);
    r->state = NULL;
}

cuzk_status prove_prepare_circuit(bench_run *r, circuit_kind kind, cuzk_error *err)
{
    prove_state *s = r->state = mem_calloc(1, sizeof(*s));
    if (!s)
        return mem_error(err, sizeof(*s), "a benchmark");
    s->info = r->size < 63 ? circuit_find(kind, (uint64_t)1 << r->size) : NULL;
    if (!s->info)
        return cuzk_error_set(err, CUZK_INVALID_ARGUMENT, "there is no circuit for sectors of 2^%u bytes",
                              r->size);
    cuzk_status st = poseidon_set_create(&s->ps, err);
    return st ? st : circuit_compile(&s->r, s->info, s->ps, err);
}

cuzk_status prove_setup_run(bench_run *r, cuzk_error *err)
{
    prove_state *s = r->state;
    const char *tmp = getenv("TMPDIR");
    toxic_waste t;
    toxic_waste_test(&t);
    if (!s->folder[0]) {
        snprintf(s->folder, sizeof(s->folder), "%s/cuzk-bench-XXXXXX", tmp && *tmp ? tmp : "/tmp");
        if (!mkdtemp(s->folder)) {
            s->folder[0] = 0;
            return cuzk_error_set(err, CUZK_IO_ERROR, "cannot make a folder under %s",
                                  tmp && *tmp ? tmp : "/tmp");
        }
        snprintf(s->params_path, sizeof(s->params_path), "%s/TEST-bench.params", s->folder);
    }
    return groth16_setup(s->r, &t, s->params_path, NULL, r->b->pool, NULL, NULL, err);
}

cuzk_status prove_porep_witness(bench_run *r, cuzk_error *err)
{
    prove_state *s = r->state;
    const registered_seal *seal = seal_find(s->info->sector_size, POREP_V1_1);
    cuzk_status st = synth_porep(&s->c1, seal, &SYNTH_DEFAULTS, s->ps, r->b->pool, err);
    return st ? st : porep_witness(&s->w, s->r, s->c1, 0, s->ps, r->b->pool, NULL, err);
}

cuzk_status prove_open_device(bench_run *r, int stream, cuzk_error *err)
{
    prove_state *s = r->state;
    cuzk_device_options o = {.threads = r->b->threads, .stream_queries = (uint32_t)stream};
    return cuzk_backend_cpu()->device_open(&s->device, 0, &o, err);
}

cuzk_status prove_open(bench_run *r, cuzk_error *err)
{
    prove_state *s = r->state;
    cuzk_status st = prove_setup_run(r, err);
    if (!st)
        st = params_open(&s->p, s->params_path, err);
    if (!st)
        st = prove_open_device(r, 0, err);
    return st ? st : groth16_prover_create(&s->g, cuzk_backend_cpu(), s->device, s->r, s->p, err);
}

cuzk_status prove_witness_run(bench_run *r, const char *peer, cuzk_error *err)
{
    prove_state *s = r->state;
    groth16_times t;
    cuzk_status st = groth16_prove(s->g, &s->w, NULL, NULL, s->proof, &t, NULL, err);
    if (!st)
        snprintf(
            r->note, sizeof(r->note),
            "multiply %.0f, quotient %.0f, h %.0f, l %.0f, a %.0f, b_g1 %.0f, b_g2 %.0f, verify %.0f%s%s",
            t.multiply, t.quotient, t.msm_h, t.msm_l, t.msm_a, t.msm_b_g1, t.msm_b_g2, t.verify,
            *peer ? "; " : "", peer);
    return st;
}
