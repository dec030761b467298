/* cuzk status: the daemon's queues, devices and loaded SRS. */
#include "base/mem.h"
#include "client/client.h"
#include "proving.pb-c.h"
#include <stdio.h>

static void add_gpu(json_out *j, const Cuzk__V1__GPUStatus *g)
{
    json_begin_object(j, NULL);
    json_u64(j, "ordinal", g->ordinal);
    json_string(j, "name", g->name);
    json_u64(j, "vram_total_bytes", g->vram_total_bytes);
    json_u64(j, "vram_free_bytes", g->vram_free_bytes);
    json_string(j, "current_job_id", g->current_job_id);
    json_string(j, "current_proof_kind", g->current_proof_kind);
    json_bool(j, "quarantined", g->quarantined);
    json_end_object(j);
}

static const char *tier_name(Cuzk__V1__SRSStatus__Tier t)
{
    return t == CUZK__V1__SRSSTATUS__TIER__HOT    ? "HOT"
           : t == CUZK__V1__SRSSTATUS__TIER__WARM ? "WARM"
                                                  : "COLD";
}

static int print_json(const Cuzk__V1__GetStatusResponse *r)
{
    json_out j;
    json_init(&j);
    json_begin_object(&j, NULL);
    json_begin_array(&j, "gpus");
    for (size_t i = 0; i < r->n_gpus; i++)
        add_gpu(&j, r->gpus[i]);
    json_end_array(&j);
    json_begin_array(&j, "loaded_srs");
    for (size_t i = 0; i < r->n_loaded_srs; i++) {
        json_begin_object(&j, NULL);
        json_string(&j, "circuit_id", r->loaded_srs[i]->circuit_id);
        json_string(&j, "tier", tier_name(r->loaded_srs[i]->tier));
        json_u64(&j, "size_bytes", r->loaded_srs[i]->size_bytes);
        json_u64(&j, "ref_count", r->loaded_srs[i]->ref_count);
        json_end_object(&j);
    }
    json_end_array(&j);
    json_begin_array(&j, "queues");
    for (size_t i = 0; i < r->n_queues; i++) {
        json_begin_object(&j, NULL);
        json_string(&j, "proof_kind", r->queues[i]->proof_kind);
        json_u64(&j, "pending", r->queues[i]->pending);
        json_u64(&j, "in_progress", r->queues[i]->in_progress);
        json_end_object(&j);
    }
    json_end_array(&j);
    json_u64(&j, "total_proofs_completed", r->total_proofs_completed);
    json_u64(&j, "total_proofs_failed", r->total_proofs_failed);
    json_u64(&j, "uptime_seconds", r->uptime_seconds);
    json_u64(&j, "pinned_memory_bytes", r->pinned_memory_bytes);
    json_u64(&j, "pinned_memory_limit_bytes", r->pinned_memory_limit_bytes);
    json_end_object(&j);
    return cli_print_json(&j, EXIT_DONE);
}

static int print_text(const Cuzk__V1__GetStatusResponse *r)
{
    printf("up %llu s, %llu proofs completed, %llu failed\n", (unsigned long long)r->uptime_seconds,
           (unsigned long long)r->total_proofs_completed, (unsigned long long)r->total_proofs_failed);
    for (size_t i = 0; i < r->n_queues; i++)
        printf("  %-8s %u waiting, %u running\n", r->queues[i]->proof_kind, r->queues[i]->pending,
               r->queues[i]->in_progress);
    for (size_t i = 0; i < r->n_gpus; i++) {
        const Cuzk__V1__GPUStatus *g = r->gpus[i];
        printf("  device %u %s, %.1f of %.1f GiB free%s%s%s\n", g->ordinal, g->name,
               (double)g->vram_free_bytes / 1073741824.0, (double)g->vram_total_bytes / 1073741824.0,
               g->quarantined ? ", set aside after failures (cuzk device clear)" : "",
               *g->current_job_id ? ", proving " : "", g->current_job_id);
    }
    for (size_t i = 0; i < r->n_loaded_srs; i++)
        printf("  SRS %s %s, %.1f MiB, %u users\n", r->loaded_srs[i]->circuit_id,
               tier_name(r->loaded_srs[i]->tier), (double)r->loaded_srs[i]->size_bytes / 1048576.0,
               r->loaded_srs[i]->ref_count);
    return EXIT_DONE;
}

static int run_status(const cli_args *a)
{
    cuzk_error e = {0};
    client *c;
    uint8_t *reply = NULL;
    size_t size;
    if (client_from_args(&c, a, &e))
        return cli_fail(a, &e);
    int rc;
    if (client_call(c, "GetStatus", NULL, 0, &reply, &size, 5000, &e)) {
        rc = cli_fail(a, &e);
    } else {
        Cuzk__V1__GetStatusResponse *r = cuzk__v1__get_status_response__unpack(NULL, size, reply);
        if (!r) {
            cuzk_error_set(&e, CUZK_IO_ERROR, "the daemon's answer is not a message of proving.proto");
            rc = cli_fail(a, &e);
        } else {
            rc = a->json ? print_json(r) : print_text(r);
            cuzk__v1__get_status_response__free_unpacked(r, NULL);
        }
    }
    mem_free(reply);
    client_close(c);
    return rc;
}

static const cli_option OPTIONS[] = {CLIENT_OPTIONS};
const cli_command command_status = {
    .name = "status",
    .positional = "",
    .summary = "queues, devices and loaded SRS of the daemon",
    .options = OPTIONS,
    .option_count = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_status,
};
