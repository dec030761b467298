/* cuzk synth KIND: valid vanilla inputs without a sealed sector, for benchmarks and load tests. */
#include "cli/commands.h"
#include "cli/workplace.h"
#include "filecoin/synth.h"
#include <stdio.h>

static int run_synth(const cli_args *a, circuit_kind kind)
{
    cuzk_error e = {0};
    workplace wp;
    synth_options o = SYNTH_DEFAULTS;
    uint64_t size = sector_size_parse(cli_text(a, "--size"));
    if (!size)
        return cli_usage_error(a, "--size: \"%s\" is not a sector size (2KiB, 8MiB, 512MiB, 32GiB, 64GiB)",
                               cli_text(a, "--size"));
    o.seed = cli_u64(a, "--seed", o.seed);
    o.miner_id = cli_u64(a, "--miner-id", o.miner_id);
    o.sector = cli_u64(a, "--sector", o.sector);
    o.sectors = cli_u64(a, "--sectors", 1);
    o.has_registered_proof = cli_given(a, "--registered-proof");
    o.registered_proof = cli_u64(a, "--registered-proof", 0);
    if (!o.sectors)
        return cli_usage_error(a, "--sectors takes a number from 1");
    cuzk_status s = workplace_open(&wp, a, &e);
    if (s)
        return cli_fail(a, &e);
    s = synth_write(cli_text(a, "--out"), kind, size, &o, wp.ps, wp.pool, &e);
    workplace_close(&wp);
    if (s)
        return cli_fail(a, &e);
    const char *file = kind == CIRCUIT_POREP ? "c1.json" : "vanilla-all.bin";
    if (a->json) {
        json_out j;
        json_init(&j);
        json_begin_object(&j, NULL);
        json_string(&j, "out", cli_text(a, "--out"));
        json_string(&j, "input", file);
        json_string(&j, "public", "public.json");
        json_u64(&j, "sector_size", size);
        json_u64(&j, "seed", o.seed);
        json_end_object(&j);
        return cli_print_json(&j, EXIT_DONE);
    }
    printf(
        "%s/%s and public.json: made up from seed %llu; a proof of them is valid and says nothing about any "
        "data\n",
        cli_text(a, "--out"), file, (unsigned long long)o.seed);
    return EXIT_DONE;
}

static int run_porep(const cli_args *a)
{
    return run_synth(a, CIRCUIT_POREP);
}
static int run_winning(const cli_args *a)
{
    return run_synth(a, CIRCUIT_WINNING);
}
static int run_window(const cli_args *a)
{
    return run_synth(a, CIRCUIT_WINDOW);
}
static int run_update(const cli_args *a)
{
    return run_synth(a, CIRCUIT_UPDATE);
}

static const cli_option OPTIONS[] = {
    {"--size", OPT_TEXT, "SIZE", "sector size: 2KiB, 8MiB, 512MiB, 32GiB, 64GiB", 1},
    {"--out", OPT_TEXT, "DIR", "folder to write to", 1},
    {"--seed", OPT_U64, "N", "the same seed gives the same bytes (default 1)", 0},
    {"--sectors", OPT_U64, "N", "how many sectors (window; default 1)", 0},
    {"--sector", OPT_U64, "N", "number of the first sector (default 1)", 0},
    {"--miner-id", OPT_U64, "N", "the miner's number (default 1000)", 0},
    {"--registered-proof", OPT_U64, "N", "which proof of that size (default: V1_1, window V1_2)", 0},
    WORKPLACE_OPTIONS,
};
#define SYNTH(word, sentence)                                                                                \
    {                                                                                                        \
        .name = "synth " #word, .positional = "", .summary = sentence, .options = OPTIONS,                   \
        .option_count = sizeof(OPTIONS) / sizeof(OPTIONS[0]), .run = run_##word                              \
    }
const cli_command command_synth_porep = SYNTH(porep, "a C1 document without a sealed sector");
const cli_command command_synth_winning = SYNTH(winning, "a WinningPoSt's vanilla proof without a sector");
const cli_command command_synth_window = SYNTH(window, "WindowPoSt vanilla proofs without sectors");
const cli_command command_synth_update = SYNTH(update, "SnapDeals vanilla proofs without a sector");
