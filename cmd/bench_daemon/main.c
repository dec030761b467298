/* cuzk-bench daemon: options, the request, one load or a sweep. */
#include "base/mem.h"
#include "bench_daemon/bench_daemon.h"
#include "cli/request.h"
#include "filecoin/porep.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_ROWS 64

/* The request of the load and what it points into. */
typedef struct input {
    Cuzk__V1__SubmitProofRequest m;
    cli_request files;
} input;

static cuzk_status read_c1(input *in, const cli_args *a, cuzk_error *err)
{
    cuzk_status s = cli_request_read(&in->files, a, CIRCUIT_POREP, err);
    porep_c1 *c1 = NULL;
    if (!s)
        s = porep_c1_parse(&c1, in->files.q.c1.data, in->files.q.c1.size, err);
    if (s)
        return s;
    in->m.proof_kind = CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT;
    in->m.registered_proof = c1->seal->number;
    in->m.sector_size = c1->seal->sector_size;
    in->m.sector_number = c1->has_sector ? c1->sector_number : cli_u64(a, "--sector", 0);
    in->m.vanilla_proof = (ProtobufCBinaryData){in->files.q.c1.size, (uint8_t *)in->files.q.c1.data};
    porep_c1_free(c1);
    return CUZK_OK;
}

static cuzk_status read_vanilla(input *in, const cli_args *a, cuzk_error *err)
{
    static const struct {
        const char *name;
        circuit_kind kind;
        Cuzk__V1__ProofKind wire;
    } KINDS[] = {{"winning", CIRCUIT_WINNING, CUZK__V1__PROOF_KIND__WINNING_POST},
                 {"window", CIRCUIT_WINDOW, CUZK__V1__PROOF_KIND__WINDOW_POST_PARTITION},
                 {"update", CIRCUIT_UPDATE, CUZK__V1__PROOF_KIND__SNAP_DEALS_UPDATE}};
    const char *kind = cli_text_or(a, "--kind", "");
    size_t k = 0;
    while (k < 3 && strcmp(KINDS[k].name, kind) != 0)
        k++;
    if (k == 3)
        return cuzk_error_set(
            err, CUZK_INVALID_ARGUMENT,
            "give the input: --c1 FILE, or --kind winning, window or update and --vanilla FILE...");
    cuzk_status s = cli_request_read(&in->files, a, KINDS[k].kind, err);
    if (s)
        return s;
    proof_request *q = &in->files.q;
    in->m.proof_kind = KINDS[k].wire;
    in->m.registered_proof = q->registered_proof;
    in->m.vanilla_proofs = mem_calloc(q->vanilla_count, sizeof(*in->m.vanilla_proofs));
    if (!in->m.vanilla_proofs)
        return mem_error(err, q->vanilla_count * sizeof(*in->m.vanilla_proofs), "vanilla proofs");
    in->m.n_vanilla_proofs = q->vanilla_count;
    for (size_t i = 0; i < q->vanilla_count; i++)
        in->m.vanilla_proofs[i] = (ProtobufCBinaryData){q->vanilla[i].size, (uint8_t *)q->vanilla[i].data};
    if (KINDS[k].kind == CIRCUIT_UPDATE) {
        in->m.comm_r_old = (ProtobufCBinaryData){32, q->comm_r_old};
        in->m.comm_r_new = (ProtobufCBinaryData){32, q->comm_r_new};
        in->m.comm_d_new = (ProtobufCBinaryData){32, q->comm_d_new};
    } else {
        in->m.randomness = (ProtobufCBinaryData){32, q->randomness};
    }
    return CUZK_OK;
}

static cuzk_status input_read(input *in, const cli_args *a, cuzk_error *err)
{
    memset(in, 0, sizeof(*in));
    cuzk__v1__submit_proof_request__init(&in->m);
    in->m.miner_id = cli_u64(a, "--miner-id", 1000);
    return cli_text(a, "--c1") ? read_c1(in, a, err) : read_vanilla(in, a, err);
}

static void input_clear(input *in)
{
    mem_free(in->m.vanilla_proofs);
    cli_request_free_files(&in->files);
}

/* ---- one load ---- */

static cuzk_status connect_by_args(client **out, void *ctx, cuzk_error *err)
{
    return client_from_args(out, ctx, err);
}
static cuzk_status connect_to(client **out, void *ctx, cuzk_error *err)
{
    return client_open(out, ctx, NULL, NULL, NULL, NULL, err);
}

static void prepare(bench_load *l, const cli_args *a, const input *in)
{
    *l = (bench_load){.request = &in->m,
                      .concurrency = (unsigned)cli_u64(a, "--concurrency", 20),
                      .count = (unsigned)cli_u64(a, "--proofs", 15),
                      .warm_up = (unsigned)cli_u64(a, "--warm-up", 1),
                      .pid = (pid_t)cli_u64(a, "--pid", 0),
                      .progress = isatty(STDERR_FILENO)};
}

/* Against a daemon that runs, or one started with this configuration and this option. */
static cuzk_status run_load(bench_load *l, const cli_args *a, const char *table, const char *key,
                            const char *value, cuzk_error *err)
{
    const char *config = cli_text(a, "--daemon-config");
    if (!config) {
        l->connect = connect_by_args;
        l->connect_ctx = (void *)(uintptr_t)a;
        return bench_load_run(l, err);
    }
    bench_process p;
    cuzk_status s = bench_process_start(&p, cli_text(a, "--daemon"), config, table, key, value, err);
    if (s)
        return s;
    l->connect = connect_to;
    l->connect_ctx = p.address;
    l->pid = p.pid;
    s = bench_load_run(l, err);
    int ended = bench_process_stop(&p);
    if (!s && ended != 0)
        s = cuzk_error_set(err, CUZK_DEVICE_ERROR, "the daemon ended with status %d", ended);
    return s;
}

static int any_failed(const bench_load *l)
{
    for (unsigned i = 0; i < l->count; i++)
        if (!l->job[i].ok)
            return 1;
    return 0;
}

static int run_once(const cli_args *a, const input *in)
{
    bench_load l;
    cuzk_error e = {0};
    prepare(&l, a, in);
    cuzk_status s = run_load(&l, a, NULL, NULL, NULL, &e);
    if (!s && cli_text(a, "--svg"))
        s = bench_svg(&l, cli_text(a, "--svg"), &e);
    int rc;
    if (s) {
        rc = cli_fail(a, &e);
    } else if (a->json) {
        json_out j;
        rc = any_failed(&l) ? EXIT_NO : EXIT_DONE;
        json_init(&j);
        json_begin_object(&j, NULL);
        bench_print_json(&l, &j);
        json_end_object(&j);
        cli_print_json(&j, rc);
    } else {
        rc = any_failed(&l) ? EXIT_NO : EXIT_DONE;
        bench_print(&l);
    }
    bench_load_clear(&l);
    return rc;
}

/* ---- sweep ---- */

typedef struct row {
    char option[96], value[64];
    bench_summary s;
    char error[BENCH_ERROR_SIZE];
} row;

static void print_heading(void)
{
    printf("%-34s %-12s %9s %8s %8s %8s %8s %10s %6s\n", "option", "value", "per min", "p50 s", "p90 s",
           "wait s", "prove s", "peak MiB", "failed");
}

static void print_row(const row *r)
{
    if (*r->error)
        printf("%-34s %-12s %s\n", r->option, r->value, r->error);
    else
        printf("%-34s %-12s %9.2f %8.2f %8.2f %8.2f %8.2f %10.0f %6u\n", r->option, r->value,
               r->s.proofs_per_minute, r->s.p50, r->s.p90, r->s.queue, r->s.device,
               (double)r->s.rss_peak / 1048576, r->s.failed);
    fflush(stdout);
}

static void add_row(json_out *j, const row *r)
{
    json_begin_object(j, NULL);
    json_string(j, "option", r->option);
    json_string(j, "value", r->value);
    if (*r->error) {
        json_string(j, "error", r->error);
    } else {
        json_double(j, "proofs_per_minute", r->s.proofs_per_minute, 3);
        json_double(j, "p50_seconds", r->s.p50, 3);
        json_double(j, "p90_seconds", r->s.p90, 3);
        json_double(j, "queue_seconds", r->s.queue, 3);
        json_double(j, "device_seconds", r->s.device, 3);
        json_u64(j, "rss_peak_bytes", r->s.rss_peak);
        json_u64(j, "completed", r->s.completed);
        json_u64(j, "failed", r->s.failed);
    }
    json_end_object(j);
}

/* A value that cannot be run is a line of the table; the others are still measured. */
static void measure(row *r, const cli_args *a, const input *in, const char *table, const char *key)
{
    bench_load l;
    cuzk_error e = {0};
    prepare(&l, a, in);
    if (run_load(&l, a, table, key, r->value, &e))
        snprintf(r->error, sizeof(r->error), "%.190s", e.message);
    else
        bench_summarise(&l, &r->s);
    r->s.first_error = NULL;
    bench_load_clear(&l);
}

/* "table.key=a,b,c": a row for each value. Values of lists are separated by semicolons. */
static int sweep_option(row *rows, size_t *count, const cli_args *a, const input *in, const char *spec)
{
    char text[512], *key, *values;
    snprintf(text, sizeof(text), "%s", spec);
    if (!(values = strchr(text, '=')) || (*values++ = 0, !(key = strchr(text, '.'))))
        return cli_usage_error(a, "--sweep takes table.key=a,b,c, not \"%.80s\"", spec);
    *key++ = 0;
    for (char *value; (value = strsep(&values, ",")) && *count < MAX_ROWS;) {
        row *r = &rows[(*count)++];
        snprintf(r->option, sizeof(r->option), "%.40s.%.40s", text, key);
        snprintf(r->value, sizeof(r->value), "%.60s", value);
        measure(r, a, in, text, key);
        if (!a->json)
            print_row(r);
    }
    return 0;
}

static int run_sweep(const cli_args *a, const input *in)
{
    size_t specs, count = 0;
    const char *const *spec = cli_list(a, "--sweep", &specs);
    if (!cli_text(a, "--daemon-config"))
        return cli_usage_error(a, "--sweep starts the daemon itself: it needs --daemon-config FILE");
    row *rows = mem_calloc(MAX_ROWS, sizeof(*rows));
    cuzk_error e = {0};
    if (!rows) {
        mem_error(&e, MAX_ROWS * sizeof(*rows), "the table");
        return cli_fail(a, &e);
    }
    int rc = 0;
    if (!a->json)
        print_heading();
    for (size_t i = 0; i < specs && !rc; i++)
        rc = sweep_option(rows, &count, a, in, spec[i]);
    for (size_t i = 0; i < count && !rc; i++)
        rc = *rows[i].error || rows[i].s.failed ? EXIT_NO : EXIT_DONE;
    if (a->json && rc != EXIT_USAGE) {
        json_out j;
        json_init(&j);
        json_begin_object(&j, NULL);
        json_begin_array(&j, "rows");
        for (size_t i = 0; i < count; i++)
            add_row(&j, &rows[i]);
        json_end_array(&j);
        json_end_object(&j);
        cli_print_json(&j, rc);
    }
    mem_free(rows);
    return rc;
}

static int run_bench_daemon(const cli_args *a)
{
    input in;
    cuzk_error e = {0};
    size_t specs;
    if (!cli_u64(a, "--concurrency", 20) || cli_u64(a, "--concurrency", 20) > 1000)
        return cli_usage_error(a, "--concurrency takes 1 to 1000");
    if (!cli_u64(a, "--proofs", 15) || cli_u64(a, "--proofs", 15) > 100000)
        return cli_usage_error(a, "--proofs takes 1 to 100000");
    cli_list(a, "--sweep", &specs);
    int rc = input_read(&in, a, &e) ? cli_fail(a, &e) : specs ? run_sweep(a, &in) : run_once(a, &in);
    input_clear(&in);
    return rc;
}

static const cli_option OPTIONS[] = {
    {"--concurrency", OPT_U64, "N", "proofs under way at a time (default 20); also -c", 0},
    {"--proofs", OPT_U64, "N", "proofs in all (default 15); also -j", 0},
    {"--warm-up", OPT_U64, "N", "proofs made before, which load the SRS and are not counted (default 1)", 0},
    {"--c1", OPT_TEXT, "FILE", "a C1 document", 0},
    {"--kind", OPT_TEXT, "KIND", "winning, window or update, with the options below", 0},
    VANILLA_OPTIONS,
    {"--registered-proof", OPT_TEXT, "N", "number or name of the registered proof", 0},
    {"--randomness", OPT_TEXT, "HEX", "challenge randomness of a PoSt", 0},
    {"--comm-r-old", OPT_TEXT, "HEX", "update: commitment before", 0},
    {"--comm-r-new", OPT_TEXT, "HEX", "update: commitment after", 0},
    {"--comm-d-new", OPT_TEXT, "HEX", "update: commitment of the new data", 0},
    {"--miner-id", OPT_U64, "N", "the miner's number (default 1000)", 0},
    {"--sector", OPT_U64, "N", "sector number, where the C1 document has none", 0},
    {"--pid", OPT_U64, "PID", "process of the daemon, whose memory is recorded", 0},
    {"--svg", OPT_TEXT, "FILE", "draw the waterfall", 0},
    {"--daemon-config", OPT_TEXT, "FILE", "start a daemon with this configuration for the load", 0},
    {"--daemon", OPT_TEXT, "PROGRAM", "which one (default cuzk-daemon beside this program)", 0},
    {"--sweep", OPT_LIST, "TABLE.KEY=A,B...",
     "restart the daemon with each value of an option; prints a table", 0},
    CLIENT_OPTIONS,
};
const cli_command command_bench_daemon = {
    .name = "daemon",
    .positional = "",
    .summary = "the standard load against a daemon: proofs per minute, latency, waterfall, memory",
    .options = OPTIONS,
    .option_count = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_bench_daemon,
    .details = "Every proof is the same input under another request_id, so that each is made.\n"
               "Exit status 1 where a proof failed.",
};

int bench_daemon_main(int argc, char **argv)
{
    static const cli_command *const COMMANDS[] = {&command_bench_daemon};
    char *args[512];
    if (argc > 500)
        return EXIT_USAGE;
    /* argv[0] is "daemon" already; cli_main expects the program before the command. */
    args[0] = (char *)"cuzk-bench";
    for (int i = 0; i < argc; i++) {
        args[i + 1] = argv[i];
        if (!strcmp(argv[i], "-c"))
            args[i + 1] = (char *)"--concurrency";
        else if (!strcmp(argv[i], "-j"))
            args[i + 1] = (char *)"--proofs";
    }
    args[argc + 1] = NULL;
    return cli_main(argc + 1, args, COMMANDS, 1);
}
