/* cuzk synth: valid vanilla inputs of any size, made without a sealed sector. */
#include "cli/commands.h"
#include "cli/request.h"
#include "filecoin/synth.h"
#include <stdio.h>
#include <string.h>

static int kind_from(const cli_args *a, circuit_kind *out)
{
    static const struct {
        const char *name;
        circuit_kind kind;
    } KINDS[] = {
        {"porep", CIRCUIT_POREP},  {"winning", CIRCUIT_WINNING}, {"window", CIRCUIT_WINDOW},
        {"wpost", CIRCUIT_WINDOW}, {"update", CIRCUIT_UPDATE},   {"snap", CIRCUIT_UPDATE},
    };
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
        if (!strcmp(a->positional[0], KINDS[i].name)) {
            *out = KINDS[i].kind;
            return 0;
        }
    }
    return cli_usage_error(a, "synth makes porep, winning, window or update, not \"%.40s\"",
                           a->positional[0]);
}

static int run_synth(const cli_args *a)
{
    cuzk_error e = {0};
    circuit_kind kind = CIRCUIT_POREP;
    int rc = kind_from(a, &kind);
    if (rc)
        return rc;
    uint64_t size = sector_size_parse(cli_text(a, "--size"));
    if (!size)
        return cli_usage_error(a, "--size \"%.40s\" is not a sector size (2KiB, 8MiB, 512MiB, 32GiB, 64GiB)",
                               cli_text(a, "--size"));
    synth_options o = SYNTH_DEFAULTS;
    o.seed = cli_u64(a, "--seed", o.seed);
    o.miner_id = cli_u64(a, "--miner-id", o.miner_id);
    o.sector = cli_u64(a, "--sector", o.sector);
    o.sectors = (size_t)cli_u64(a, "--sectors", 1);
    if (!o.sectors || o.sectors > 1000000)
        return cli_usage_error(a, "--sectors takes 1 to 1000000");
    cuzk_status s = CUZK_OK;
    if (cli_given(a, "--registered-proof")) {
        o.has_registered_proof = 1;
        s = cli_registered_proof(a, kind, &o.registered_proof, &e);
    }
    workplace w;
    if (s || workplace_open(&w, a, &e))
        return cli_fail(a, &e);
    const char *out = cli_text(a, "--out");
    s = synth_write(out, kind, size, &o, w.ps, w.pool, &e);
    if (s) {
        rc = cli_fail(a, &e);
    } else if (a->json) {
        json_out j;
        json_init(&j);
        json_begin_object(&j, NULL);
        json_string(&j, "kind", a->positional[0]);
        json_u64(&j, "sector_size", size);
        json_u64(&j, "seed", o.seed);
        json_string(&j, "out", out);
        json_string(&j, "input", kind == CIRCUIT_POREP ? "c1.json" : "vanilla-all.bin");
        json_string(&j, "public", "public.json");
        json_end_object(&j);
        rc = cli_print_json(&j, EXIT_DONE);
    } else {
        printf("%s and public.json are in %s; they prove nothing about any data\n",
               kind == CIRCUIT_POREP ? "c1.json" : "vanilla-all.bin", out);
    }
    workplace_close(&w);
    return rc;
}

static const cli_option OPTIONS[] = {
    {"--size", OPT_TEXT, "SIZE", "sector size: 2KiB, 8MiB, 512MiB, 32GiB, 64GiB", 1},
    {"--out", OPT_TEXT, "DIR", "where the files go", 1},
    {"--seed", OPT_U64, "N", "the same seed gives the same bytes (default 1)", 0},
    {"--sectors", OPT_U64, "N", "PoSt: how many sectors (default 1)", 0},
    {"--sector", OPT_U64, "N", "number of the first sector (default 1)", 0},
    {"--miner-id", OPT_U64, "N", "the miner's number (default 1000)", 0},
    {"--registered-proof", OPT_TEXT, "N", "number or name, where not the newest of the size is wanted", 0},
    WORKPLACE_OPTIONS,
};
const cli_command command_synth = {
    .name = "synth",
    .positional = "KIND",
    .positional_min = 1,
    .positional_max = 1,
    .summary = "make synthetic inputs of porep, winning, window or update",
    .options = OPTIONS,
    .option_count = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_synth,
};
