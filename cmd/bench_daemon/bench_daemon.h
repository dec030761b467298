/* cuzk-bench daemon: a fixed load against a running daemon, or against one that is started for each value of
 * an option. A load is COUNT proofs of one input, CONCURRENCY of them under way at any time. */
#ifndef BENCH_DAEMON_H
#define BENCH_DAEMON_H
#include "client/client.h"
#include "proving.pb-c.h"
#include <stdint.h>
#include <sys/types.h>

#define BENCH_ERROR_SIZE 200

typedef struct bench_stage { /* milliseconds after the load began */
    char name[16];
    int32_t partition, device;
    double start_ms, end_ms;
} bench_stage;

typedef struct bench_job {
    double start_ms, end_ms; /* as the client saw it, after the load began */
    uint64_t queue_wait_ms, srs_load_ms, synthesis_ms, device_ms;
    bench_stage *stage;
    size_t stage_count;
    int done, ok;
    char error[BENCH_ERROR_SIZE];
} bench_job;

typedef struct bench_sample {
    double at_ms;
    uint64_t rss;
} bench_sample;

typedef struct bench_load {
    /* what to do */
    const Cuzk__V1__SubmitProofRequest *request; /* its request_id is replaced */
    cuzk_status (*connect)(client **out, void *ctx, cuzk_error *err);
    void *connect_ctx;
    unsigned concurrency, count, warm_up;
    pid_t pid; /* whose memory is sampled; 0: nobody's */
    int progress;
    /* what came of it */
    bench_job *job;
    bench_sample *sample;
    size_t sample_count, sample_cap;
    double wall_ms;
    uint64_t rss_peak; /* during the load, from the samples */
} bench_load;
/* Fails only where the load cannot be run at all; jobs that fail are counted. */
cuzk_status bench_load_run(bench_load *l, cuzk_error *err);
void bench_load_clear(bench_load *l);

typedef struct bench_summary {
    unsigned completed, failed;
    double proofs_per_minute, wall_s;
    double p50, p90, p99, least, most; /* latency in seconds */
    double queue, witness, device;     /* means in seconds */
    uint64_t rss_peak;
    const char *first_error; /* NULL: none */
} bench_summary;
void bench_summarise(const bench_load *l, bench_summary *s);
void bench_print(const bench_load *l);
void bench_print_json(const bench_load *l, json_out *j); /* members of the open object */
cuzk_status bench_svg(const bench_load *l, const char *path, cuzk_error *err);

/* A daemon of our own, on a socket in a temporary folder. */
typedef struct bench_process {
    pid_t pid;
    char folder[64], address[96], config[96], log[96];
} bench_process;
/* file: its configuration; table, key, value: an option that replaces the one in it (table NULL: none).
 * program NULL: cuzk-daemon beside this program, or on the PATH. */
cuzk_status bench_process_start(bench_process *p, const char *program, const char *file, const char *table,
                                const char *key, const char *value, cuzk_error *err);
/* SIGTERM, wait, remove the folder. The daemon's exit status, or -1. */
int bench_process_stop(bench_process *p);
uint64_t bench_process_rss(pid_t pid);

extern const cli_command command_bench_daemon;
int bench_daemon_main(int argc, char **argv);
#endif
