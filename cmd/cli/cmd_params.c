/* cuzk params: what a parameter file or verifying key is, whether it is complete, whether it is the published
 * one. */
#include "api/circuits.h"
#include "base/hash.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/workplace.h"
#include <stdio.h>
#include <string.h>

typedef struct params_report {
    const params *p; /* NULL: the file is a .vk */
    const verifying_key *vk;
    const uint8_t *key; /* its bytes */
    uint64_t bytes;
    const char *base;
    const circuit_info *info;
    const published_file *published;
    int is_test, checked, digest_matches;
    uint8_t head[16], sha[32];
} params_report;

static void print_json(const params_report *r, int *rc)
{
    json_out j;
    json_init(&j);
    json_begin_object(&j, NULL);
    json_string(&j, "file", r->base);
    json_string(&j, "circuit", r->info ? r->info->name : NULL);
    json_bool(&j, "test_srs", r->is_test);
    json_bool(&j, "complete", 1);
    json_u64(&j, "inputs", r->vk->ic_count);
    if (r->p) {
        json_u64(&j, "a", r->p->q.a_count);
        json_u64(&j, "b_g1", r->p->q.b_g1_count);
        json_u64(&j, "b_g2", r->p->q.b_g2_count);
        json_u64(&j, "h", r->p->q.h_count);
        json_u64(&j, "l", r->p->q.l_count);
    }
    json_u64(&j, r->p ? "params_bytes" : "vk_bytes", r->bytes);
    json_hex(&j, r->p ? "params_blake2b_head16" : "vk_blake2b_head16", r->head, 16);
    json_hex(&j, r->p ? "params_sha256" : "vk_sha256", r->sha, 32);
    json_hex(&j, "vk", r->key, vk_bytes(r->vk));
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
    char hex[65];
    printf("file      %s, %llu bytes, complete\n", r->base, (unsigned long long)r->bytes);
    printf("circuit   %s%s\n", r->info ? r->info->name : "not a registered name",
           r->is_test ? " (test SRS)" : "");
    printf("inputs    %u (the constant one included)\n", r->vk->ic_count);
    if (r->p)
        printf("points    h %llu, l %llu, a %llu, b_g1 %llu, b_g2 %llu\n",
               (unsigned long long)r->p->q.h_count, (unsigned long long)r->p->q.l_count,
               (unsigned long long)r->p->q.a_count, (unsigned long long)r->p->q.b_g1_count,
               (unsigned long long)r->p->q.b_g2_count);
    hex_encode(hex, r->head, 16);
    printf("digest    %s (%s)\n", hex,
           !r->published       ? "no published file has this name"
           : r->digest_matches ? "the published one"
                               : "NOT the published one");
    if (r->checked)
        printf("points    every point is on its curve and in its subgroup\n");
}

/* A published file under another name is known by its digest. */
static void identify(params_report *r)
{
    r->info = circuit_by_file(r->base);
    r->published = published_file_find(r->base);
    r->is_test = !strncmp(r->base, "TEST-", 5);
    if (!r->info) {
        r->published = published_file_by_digest(r->head);
        r->info = r->published ? circuit_by_file(r->published->name) : NULL;
    }
    if (r->published)
        r->digest_matches = !memcmp(r->head, r->published->digest, 16);
}

static int print_report(const cli_args *a, params_report *r)
{
    int rc = r->published && !r->digest_matches ? EXIT_NO : EXIT_DONE;
    if (a->json)
        print_json(r, &rc);
    else
        print_text(r);
    return rc;
}

static int run_vk(const cli_args *a, const char *path, params_report *r)
{
    cuzk_error e = {0};
    verifying_key vk;
    uint8_t *data = NULL, full[64];
    size_t size = 0;
    cuzk_status s = vk_open(&vk, path, &e); /* every point is checked there */
    if (!s)
        s = file_read(&data, &size, path, (size_t)64 << 20, &e);
    if (!s && size != vk_bytes(&vk))
        s = cuzk_error_set(&e, CUZK_BAD_INPUT, "%s changed while it was read", path);
    if (s) {
        vk_clear(&vk);
        mem_free(data);
        return cli_fail(a, &e);
    }
    blake2b b;
    blake2b_init(&b, 64, NULL, 0);
    blake2b_update(&b, data, size);
    blake2b_final(&b, full);
    memcpy(r->head, full, 16);
    sha256_digest(r->sha, data, size);
    r->vk = &vk;
    r->key = data;
    r->bytes = size;
    r->checked = 1;
    identify(r);
    int rc = print_report(a, r);
    vk_clear(&vk);
    mem_free(data);
    return rc;
}

static int run_params(const cli_args *a)
{
    cuzk_error e = {0};
    pool *pl = NULL;
    params *p = NULL;
    const char *path = a->positional[0], *base = strrchr(path, '/');
    params_report r = {.base = base ? base + 1 : path};
    size_t n = strlen(path);
    if (n > 3 && !strcmp(path + n - 3, ".vk"))
        return run_vk(a, path, &r);
    cli_progress progress;
    cuzk_status s = params_open(&p, path, &e);
    if (!s) {
        r.p = p;
        r.vk = &p->vk;
        r.key = p->map.data;
        r.bytes = p->map.size;
        cli_progress_begin(&progress, "digest");
        s = params_digest(p, r.head, r.sha, cli_progress_update, &progress, &e);
        cli_progress_end(&progress);
    }
    if (!s)
        identify(&r);
    if (!s && cli_flag(a, "--check")) {
        s = workplace_threads(&pl, a, &e);
        cli_progress_begin(&progress, "points");
        if (!s)
            s = params_check(p, pl, cli_progress_update, &progress, &e);
        cli_progress_end(&progress);
        r.checked = !s;
    }
    int rc = s ? cli_fail(a, &e) : print_report(a, &r);
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
    .summary = "what a parameter file or a verifying key holds, and whether it is the published one",
    .options = OPTIONS,
    .option_count = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_params,
};
