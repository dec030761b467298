/* cuzk submit, await, cancel, status: what a person asks of a running daemon. */
#include "base/mem.h"
#include "cli/request.h"
#include "client/client.h"
#include "filecoin/porep.h"
#include "proving.pb-c.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const STATUS_NAMES[] = {"UNKNOWN", "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"};

/* Packs m, calls, hands out the reply's bytes. */
static cuzk_status call(client *c, const char *method, const ProtobufCMessage *m, uint8_t **reply,
                        size_t *size, uint64_t timeout_ms, cuzk_error *err)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    uint8_t *bytes = mem_alloc(n);
    if (!bytes)
        return mem_error(err, n, "the request");
    protobuf_c_message_pack(m, bytes);
    cuzk_status s = client_call(c, method, bytes, n, reply, size, timeout_ms, err);
    mem_free(bytes);
    return s;
}

static cuzk_status unreadable(cuzk_error *err)
{
    return cuzk_error_set(err, CUZK_IO_ERROR, "the daemon's answer is not a message of proving.proto");
}

/* ---- results ---- */

#define CHART_WIDTH 48

/* The waterfall: a line a stage, bars on one scale. */
static void print_timeline(const Cuzk__V1__AwaitProofResponse *r)
{
    double end = 0.001;
    for (size_t i = 0; i < r->n_timeline; i++)
        end = r->timeline[i]->end_ms > end ? r->timeline[i]->end_ms : end;
    for (size_t i = 0; i < r->n_timeline; i++) {
        const Cuzk__V1__StageEvent *v = r->timeline[i];
        char bar[CHART_WIDTH + 1], name[48];
        int from = (int)(v->start_ms / end * CHART_WIDTH), to = (int)(v->end_ms / end * CHART_WIDTH);
        from = from < 0 ? 0 : from >= CHART_WIDTH ? CHART_WIDTH - 1 : from;
        to = to <= from ? from + 1 : to > CHART_WIDTH ? CHART_WIDTH : to;
        memset(bar, '.', CHART_WIDTH);
        memset(bar + from, '#', (size_t)(to - from));
        bar[CHART_WIDTH] = 0;
        if (v->partition >= 0)
            snprintf(name, sizeof(name), "%.20s %d", v->stage, v->partition);
        else
            snprintf(name, sizeof(name), "%.20s", v->stage);
        printf("  %-12s %s %10.1f ms\n", name, bar, v->end_ms - v->start_ms);
    }
}

static void add_timeline(json_out *j, const Cuzk__V1__AwaitProofResponse *r)
{
    json_begin_array(j, "timeline");
    for (size_t i = 0; i < r->n_timeline; i++) {
        const Cuzk__V1__StageEvent *v = r->timeline[i];
        json_begin_object(j, NULL);
        json_string(j, "stage", v->stage);
        json_i64(j, "partition", v->partition);
        json_i64(j, "device", v->device);
        json_double(j, "start_ms", v->start_ms, 3);
        json_double(j, "end_ms", v->end_ms, 3);
        json_end_object(j);
    }
    json_end_array(j);
}

static int report_result(const cli_args *a, const Cuzk__V1__AwaitProofResponse *r, const char *out)
{
    cuzk_error e = {0};
    int completed = r->status == CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED;
    if (completed && out && file_save(out, r->proof.data, r->proof.len, &e))
        return cli_fail(a, &e);
    const char *status = (unsigned)r->status < 5 ? STATUS_NAMES[r->status] : "UNKNOWN";
    int rc = completed ? EXIT_DONE : EXIT_NO;
    if (a->json) {
        json_out j;
        json_init(&j);
        json_begin_object(&j, NULL);
        json_string(&j, "job_id", r->job_id);
        json_string(&j, "status", status);
        json_hex(&j, "proof", r->proof.data, r->proof.len);
        json_string(&j, "error_message", r->error_message);
        json_u64(&j, "queue_wait_ms", r->queue_wait_ms);
        json_u64(&j, "srs_load_ms", r->srs_load_ms);
        json_u64(&j, "synthesis_ms", r->synthesis_ms);
        json_u64(&j, "gpu_compute_ms", r->gpu_compute_ms);
        json_u64(&j, "total_ms", r->total_ms);
        add_timeline(&j, r);
        json_end_object(&j);
        return cli_print_json(&j, rc);
    }
    printf("job %s: %s", r->job_id, status);
    if (completed)
        printf(", %zu bytes of proof%s%s", r->proof.len, out ? " in " : "", out ? out : "");
    if (*r->error_message)
        printf(": %s", r->error_message);
    printf("\n");
    if (completed)
        printf("  waited %llu ms, SRS %llu ms, witness %llu ms, proving %llu ms, in all %llu ms\n",
               (unsigned long long)r->queue_wait_ms, (unsigned long long)r->srs_load_ms,
               (unsigned long long)r->synthesis_ms, (unsigned long long)r->gpu_compute_ms,
               (unsigned long long)r->total_ms);
    if (completed)
        print_timeline(r);
    return rc;
}

static int await_and_report(const cli_args *a, client *c, const char *job_id, uint64_t timeout_ms)
{
    Cuzk__V1__AwaitProofRequest m = CUZK__V1__AWAIT_PROOF_REQUEST__INIT;
    m.job_id = (char *)job_id;
    m.timeout_ms = timeout_ms;
    m.with_timeline = 1;
    uint8_t *reply = NULL;
    size_t size;
    cuzk_error e = {0};
    if (call(c, "AwaitProof", &m.base, &reply, &size, 0, &e))
        return cli_fail(a, &e);
    Cuzk__V1__AwaitProofResponse *r = cuzk__v1__await_proof_response__unpack(NULL, size, reply);
    mem_free(reply);
    if (!r) {
        unreadable(&e);
        return cli_fail(a, &e);
    }
    int rc = report_result(a, r, cli_text(a, "--out"));
    cuzk__v1__await_proof_response__free_unpacked(r, NULL);
    return rc;
}

/* ---- submit ---- */

static int priority_from(const cli_args *a, Cuzk__V1__Priority *out)
{
    static const char *const NAMES[] = {"", "low", "normal", "high", "critical"};
    const char *text = cli_text(a, "--priority");
    *out = CUZK__V1__PRIORITY__PRIORITY_UNSPECIFIED;
    for (int i = 1; text && i < 5; i++) {
        if (!strcasecmp(text, NAMES[i])) {
            *out = (Cuzk__V1__Priority)i;
            return 0;
        }
    }
    return text ? cli_usage_error(a, "--priority takes low, normal, high or critical, not \"%.40s\"", text)
                : 0;
}

static int submitted(const cli_args *a, client *c, const uint8_t *reply, size_t size)
{
    cuzk_error e = {0};
    Cuzk__V1__SubmitProofResponse *r = cuzk__v1__submit_proof_response__unpack(NULL, size, reply);
    if (!r) {
        unreadable(&e);
        return cli_fail(a, &e);
    }
    int rc = EXIT_DONE;
    if (cli_flag(a, "--wait") || cli_given(a, "--out")) { /* who says where the proof goes waits for it */
        rc = await_and_report(a, c, r->job_id, 0);
    } else if (a->json) {
        json_out j;
        json_init(&j);
        json_begin_object(&j, NULL);
        json_string(&j, "job_id", r->job_id);
        json_u64(&j, "queue_position", r->queue_position);
        json_string(&j, "assigned_gpu", r->assigned_gpu);
        json_end_object(&j);
        rc = cli_print_json(&j, EXIT_DONE);
    } else {
        printf("job %s, %u ahead of it\n", r->job_id, r->queue_position);
    }
    cuzk__v1__submit_proof_response__free_unpacked(r, NULL);
    return rc;
}

static int send_submit(const cli_args *a, const Cuzk__V1__SubmitProofRequest *m)
{
    cuzk_error e = {0};
    client *c;
    uint8_t *reply = NULL;
    size_t size;
    if (cli_given(a, "--out") && file_check_place(cli_text(a, "--out"), &e)) /* before a proof is made */
        return cli_fail(a, &e);
    if (client_from_args(&c, a, &e))
        return cli_fail(a, &e);
    int rc = call(c, "SubmitProof", &m->base, &reply, &size, 120000, &e) ? cli_fail(a, &e)
                                                                         : submitted(a, c, reply, size);
    mem_free(reply);
    client_close(c);
    return rc;
}

static int run_submit_porep(const cli_args *a)
{
    cuzk_error e = {0};
    Cuzk__V1__SubmitProofRequest m = CUZK__V1__SUBMIT_PROOF_REQUEST__INIT;
    int rc = priority_from(a, &m.priority);
    if (rc)
        return rc;
    uint8_t *c1;
    size_t size;
    if (file_read(&c1, &size, cli_text(a, "--c1"), C1_LIMIT, &e))
        return cli_fail(a, &e);
    char id[128];
    m.miner_id = cli_u64(a, "--miner-id", 0);
    m.sector_number = cli_u64(a, "--sector", 0);
    m.proof_kind = CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT;
    /* registered_proof 0 is a number of its own: look into the document, as Curio's client knows it. */
    porep_c1 *parsed = NULL;
    if (porep_c1_parse(&parsed, c1, size, &e)) {
        mem_free(c1);
        return cli_fail(a, &e);
    }
    m.registered_proof = parsed->seal->number;
    m.sector_size = parsed->seal->sector_size;
    if (parsed->has_sector && !cli_given(a, "--sector"))
        m.sector_number = parsed->sector_number;
    porep_c1_free(parsed);
    snprintf(id, sizeof(id), "porep-%llu-%llu", (unsigned long long)m.miner_id,
             (unsigned long long)m.sector_number);
    m.request_id = (char *)cli_text_or(a, "--request-id", id);
    m.vanilla_proof = (ProtobufCBinaryData){size, c1};
    rc = send_submit(a, &m);
    mem_free(c1);
    return rc;
}

/* PoSt and SnapDeals: the files and values of the command line become the fields of the message. */
static int run_submit_vanilla(const cli_args *a, circuit_kind kind, const char *id_prefix)
{
    cuzk_error e = {0};
    cli_request r;
    Cuzk__V1__SubmitProofRequest m = CUZK__V1__SUBMIT_PROOF_REQUEST__INIT;
    int rc = priority_from(a, &m.priority);
    if (rc)
        return rc;
    char id[128];
    m.miner_id = cli_u64(a, "--miner-id", 0);
    snprintf(id, sizeof(id), "%s-%llu", id_prefix, (unsigned long long)m.miner_id);
    m.request_id = (char *)cli_text_or(a, "--request-id", id);
    static const Cuzk__V1__ProofKind KINDS[] = {
        [CIRCUIT_POREP] = CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT,
        [CIRCUIT_WINNING] = CUZK__V1__PROOF_KIND__WINNING_POST,
        [CIRCUIT_WINDOW] = CUZK__V1__PROOF_KIND__WINDOW_POST_PARTITION,
        [CIRCUIT_UPDATE] = CUZK__V1__PROOF_KIND__SNAP_DEALS_UPDATE,
    };
    m.proof_kind = KINDS[kind];
    cuzk_status s = cli_request_read(&r, a, kind, &e);
    m.registered_proof = r.q.registered_proof;
    m.n_vanilla_proofs = r.q.vanilla_count;
    m.vanilla_proofs = s ? NULL : mem_calloc(r.q.vanilla_count, sizeof(*m.vanilla_proofs));
    if (!s && !m.vanilla_proofs)
        s = mem_error(&e, r.q.vanilla_count * sizeof(*m.vanilla_proofs), "vanilla proofs");
    for (size_t i = 0; i < r.q.vanilla_count && !s; i++)
        m.vanilla_proofs[i] = (ProtobufCBinaryData){r.q.vanilla[i].size, (uint8_t *)r.q.vanilla[i].data};
    if (kind == CIRCUIT_UPDATE) {
        m.comm_r_old = (ProtobufCBinaryData){32, r.q.comm_r_old};
        m.comm_r_new = (ProtobufCBinaryData){32, r.q.comm_r_new};
        m.comm_d_new = (ProtobufCBinaryData){32, r.q.comm_d_new};
    } else {
        m.randomness = (ProtobufCBinaryData){32, r.q.randomness};
    }
    rc = s ? cli_fail(a, &e) : send_submit(a, &m);
    mem_free(m.vanilla_proofs);
    cli_request_free_files(&r);
    return rc;
}

static int run_submit_winning(const cli_args *a)
{
    return run_submit_vanilla(a, CIRCUIT_WINNING, "winpost");
}
static int run_submit_window(const cli_args *a)
{
    return run_submit_vanilla(a, CIRCUIT_WINDOW, "wdpost");
}
static int run_submit_update(const cli_args *a)
{
    return run_submit_vanilla(a, CIRCUIT_UPDATE, "snap");
}

#define SUBMIT_OPTIONS                                                                                       \
    {"--miner-id", OPT_U64, "N", "the miner's number", 1},                                                   \
        {"--request-id", OPT_TEXT, "ID", "name of the request (default KIND-MINER-SECTOR)", 0},              \
        {"--priority", OPT_TEXT, "P", "low, normal, high or critical", 0},                                   \
        {"--wait", OPT_FLAG, NULL, "wait for the proof", 0},                                                 \
        {"--out", OPT_TEXT, "FILE", "where the proof goes; waits for it", 0}, CLIENT_OPTIONS

static const cli_option SUBMIT_POST[] = {VANILLA_OPTIONS, POST_OPTIONS, SUBMIT_OPTIONS};
static const cli_option SUBMIT_UPDATE[] = {VANILLA_OPTIONS, UPDATE_OPTIONS, SUBMIT_OPTIONS};
const cli_command command_submit_winning = {
    .name = "submit winning",
    .positional = "",
    .summary = "hand a WinningPoSt to the daemon",
    .options = SUBMIT_POST,
    .option_count = sizeof(SUBMIT_POST) / sizeof(SUBMIT_POST[0]),
    .run = run_submit_winning,
};
const cli_command command_submit_window = {
    .name = "submit window",
    .positional = "",
    .summary = "hand a WindowPoSt to the daemon",
    .options = SUBMIT_POST,
    .option_count = sizeof(SUBMIT_POST) / sizeof(SUBMIT_POST[0]),
    .run = run_submit_window,
};
const cli_command command_submit_update = {
    .name = "submit update",
    .positional = "",
    .summary = "hand a SnapDeals update to the daemon",
    .options = SUBMIT_UPDATE,
    .option_count = sizeof(SUBMIT_UPDATE) / sizeof(SUBMIT_UPDATE[0]),
    .run = run_submit_update,
};

static const cli_option SUBMIT_POREP[] = {
    {"--c1", OPT_TEXT, "FILE", "the C1 document", 1},
    {"--sector", OPT_U64, "N", "sector number, where the document has none", 0},
    SUBMIT_OPTIONS,
};
const cli_command command_submit_porep = {
    .name = "submit porep",
    .positional = "",
    .summary = "hand a C1 document to the daemon",
    .options = SUBMIT_POREP,
    .option_count = sizeof(SUBMIT_POREP) / sizeof(SUBMIT_POREP[0]),
    .run = run_submit_porep,
};

/* ---- await, cancel ---- */

static int run_await(const cli_args *a)
{
    cuzk_error e = {0};
    client *c;
    if (client_from_args(&c, a, &e))
        return cli_fail(a, &e);
    int rc = await_and_report(a, c, a->positional[0], cli_u64(a, "--timeout-ms", 0));
    client_close(c);
    return rc;
}

static const cli_option AWAIT[] = {
    {"--timeout-ms", OPT_U64, "N", "give up waiting after this time", 0},
    {"--out", OPT_TEXT, "FILE", "where the proof goes", 0},
    CLIENT_OPTIONS,
};
const cli_command command_await = {
    .name = "await",
    .positional = "JOB",
    .positional_min = 1,
    .positional_max = 1,
    .summary = "wait for a job of the daemon",
    .options = AWAIT,
    .option_count = sizeof(AWAIT) / sizeof(AWAIT[0]),
    .run = run_await,
};

static int run_cancel(const cli_args *a)
{
    cuzk_error e = {0};
    client *c;
    if (client_from_args(&c, a, &e))
        return cli_fail(a, &e);
    Cuzk__V1__CancelProofRequest m = CUZK__V1__CANCEL_PROOF_REQUEST__INIT;
    m.job_id = (char *)a->positional[0];
    uint8_t *reply = NULL;
    size_t size;
    int rc = call(c, "CancelProof", &m.base, &reply, &size, 30000, &e) ? cli_fail(a, &e) : EXIT_DONE;
    if (!rc) {
        Cuzk__V1__CancelProofResponse *r = cuzk__v1__cancel_proof_response__unpack(NULL, size, reply);
        json_out j;
        json_init(&j);
        json_begin_object(&j, NULL);
        json_string(&j, "job_id", m.job_id);
        json_bool(&j, "was_running", r && r->was_running);
        json_end_object(&j);
        if (a->json)
            rc = cli_print_json(&j, EXIT_DONE);
        else
            printf("job %s cancelled%s\n", m.job_id, r && r->was_running ? " while it ran" : "");
        json_clear(&j);
        if (r)
            cuzk__v1__cancel_proof_response__free_unpacked(r, NULL);
    }
    mem_free(reply);
    client_close(c);
    return rc;
}

static const cli_option CANCEL[] = {CLIENT_OPTIONS};
const cli_command command_cancel = {
    .name = "cancel",
    .positional = "JOB",
    .positional_min = 1,
    .positional_max = 1,
    .summary = "cancel a job of the daemon",
    .options = CANCEL,
    .option_count = sizeof(CANCEL) / sizeof(CANCEL[0]),
    .run = run_cancel,
};
