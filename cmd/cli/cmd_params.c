/* cuzk params: what a parameter file is, whether it is complete, whether it is the published one. */
#include "api/circuits.h"
#include "cli/commands.h"
#include "cli/workplace.h"
#include <stdio.h>
#include <string.h>

typedef struct params_report {
    const params *p;
    const char *base;
    const circuit_info *info;
    const published_file *published;
    int is_test, checked, digest_matches;
    uint8_t head[16], sha[32];
} params_report;

static void print_json(const params_report *r, int *rc)
{
    const params *p = r->p;
    json_out j;
    json_init(&j);
    json_begin_object(&j, NULL);
    json_string(&j, "file", r->base);
    json_string(&j, "circuit", r->info ? r->info->name : NULL);
    json_bool(&j, "test_srs", r->is_test);
    json_bool(&j, "complete", 1);
    json_u64(&j, "inputs", p->vk.ic_count);
    json_u64(&j, "a", p->q.a_count);
    json_u64(&j, "b_g1", p->q.b_g1_count);
    json_u64(&j, "b_g2", p->q.b_g2_count);
    json_u64(&j, "h", p->q.h_count);
    json_u64(&j, "l", p->q.l_count);
    json_u64(&j, "params_bytes", p->map.size);
    json_hex(&j, "params_blake2b_head16", r->head, 16);
    json_hex(&j, "params_sha256", r->sha, 32);
    json_hex(&j, "vk", p->map.data, vk_bytes(&p->vk));
    if (r->published)
        json_bool(&j, "published_digest_matches", r->digest_matches);
    else
        json_string(&j, "published_digest_matches", NULL);
    json_bool(&j, "points_checked", r->checked);
    json_end_object(&j);
    *rc = cli_print_json(&j, *rc);
}

static void print_text(const params_report *r)
{
    const params *p = r->p;
    char hex[65];
    printf("file      %s, %llu bytes, complete\n", r->base, (unsigned long long)p->map.size);
    printf("circuit   %s%s\n", r->info ? r->info->name : "not a registered name",
           r->is_test ? " (test SRS)" : "");
    printf("inputs    %u (the constant one included)\n", p->vk.ic_count);
    printf("points    h %llu, l %llu, a %llu, b_g1 %llu, b_g2 %llu\n", (unsigned long long)p->q.h_count,
           (unsigned long long)p->q.l_count, (unsigned long long)p->q.a_count,
           (unsigned long long)p->q.b_g1_count, (unsigned long long)p->q.b_g2_count);
    hex_encode(hex, r->head, 16);
    printf("digest    %s (%s)\n", hex,
           !r->published       ? "no published file has this name"
           : r->digest_matches ? "the published one"
                               : "NOT the published one");
    if (r->checked)
        printf("points    every point is on its curve and in its subgroup\n");
}

static int run_params(const cli_args *a)
{
    cuzk_error e = {0};
    pool *pl = NULL;
    params *p = NULL;
    int rc = EXIT_DONE;
    const char *path = a->positional[0], *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    params_report r = {.base = base, .info = circuit_by_file(base), .published = published_file_find(base)};
    r.is_test = !strncmp(base, "TEST-", 5);
    cli_progress progress;
    cuzk_status s = params_open(&p, path, &e);
    r.p = p;
    if (!s) {
        cli_progress_begin(&progress, "digest");
        s = params_digest(p, r.head, r.sha, cli_progress_update, &progress, &e);
        cli_progress_end(&progress);
    }
    if (!s && r.published)
        r.digest_matches = !memcmp(r.head, r.published->digest, 16);
    if (!s && cli_flag(a, "--check")) {
        s = pool_create(&pl, (unsigned)cli_u64(a, "--threads", 0), &e);
        cli_progress_begin(&progress, "points");
        if (!s)
            s = params_check(p, pl, cli_progress_update, &progress, &e);
        cli_progress_end(&progress);
        r.checked = !s;
    }
    if (s) {
        rc = cli_fail(a, &e);
    } else {
        if (r.published && !r.digest_matches)
            rc = EXIT_NO;
        if (a->json)
            print_json(&r, &rc);
        else
            print_text(&r);
    }
    params_close(p);
    pool_destroy(pl);
    return rc;
}

static const cli_option OPTIONS[] = {
    {"--check", OPT_FLAG, NULL, "test every point for curve and subgroup", 0},
    {"--threads", OPT_U64, "N", "threads (default: one per processor)", 0},
};
const cli_command command_params = {
    .name = "params",
    .positional = "FILE",
    .positional_min = 1,
    .positional_max = 1,
    .summary = "what a parameter file holds, and whether it is the published one",
    .options = OPTIONS,
    .option_count = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_params,
};
