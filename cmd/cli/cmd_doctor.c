/* cuzk doctor: looks at the machine and at what the daemon is told to use, and says in sentences what stands
 * in the way and what to do about it. */
#include "api/circuits.h"
#include "cli/commands.h"
#include "cli/doctor.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define USUAL_CONFIG "/etc/cuzk/cuzk.toml"

static const char *const VERDICTS[] = {"ok", "note", "problem"};

void doctor_say(doctor *d, verdict v, const char *subject, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    d->problems += v == PROBLEM;
    if (!d->a->json) {
        printf("%-8s %-13s %s\n", VERDICTS[v], subject, text);
        return;
    }
    json_begin_object(&d->j, NULL);
    json_string(&d->j, "verdict", VERDICTS[v]);
    json_string(&d->j, "subject", subject);
    json_string(&d->j, "finding", text);
    json_end_object(&d->j);
}

double doctor_pretended(const char *what, double found)
{
    const char *at = getenv("CUZK_DOCTOR_PRETEND");
    size_t n = strlen(what);
    for (; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, what, n) && at[n] == '=')
            return strtod(at + n + 1, NULL);
    return found;
}

/* ---- what the daemon is going to use ---- */

static void plan_defaults(doctor_plan *p)
{
    snprintf(p->params, sizeof(p->params), "%s", params_dir_or_default(NULL));
    circuit_cache_dir(p->circuits, sizeof(p->circuits));
    snprintf(p->store, sizeof(p->store), "sqlite::memory:");
    snprintf(p->listen, sizeof(p->listen), "127.0.0.1:9820");
    snprintf(p->backend, sizeof(p->backend), "auto");
    p->max_queued = 256;
}

static void take_text(char *out, size_t size, const cli_args *a, const char *option)
{
    if (cli_text(a, option))
        snprintf(out, size, "%s", cli_text(a, option));
}

static void make_plan(doctor *d)
{
    const cli_args *a = d->a;
    doctor_plan *p = &d->plan;
    plan_defaults(p);
#ifdef CUZK_HAVE_CLIENT
    const char *config = cli_text(a, "--config");
    if (config || !access(USUAL_CONFIG, F_OK))
        doctor_read_config(d, config ? config : USUAL_CONFIG);
    else
        doctor_say(d, NOTE, "configuration",
                   "there is no " USUAL_CONFIG
                   ": the defaults are looked at; name your file by --config FILE");
    take_text(p->store, sizeof(p->store), a, "--store");
#endif
    take_text(p->params, sizeof(p->params), a, "--params");
    take_text(p->circuits, sizeof(p->circuits), a, "--cache-dir");
    take_text(p->listen, sizeof(p->listen), a, "--listen");
    p->allow_test |= cli_flag(a, "--allow-test-srs");
}

static int run_doctor(const cli_args *a)
{
    static doctor d;
    d.a = a;
    json_init(&d.j);
    json_begin_object(&d.j, NULL);
    json_string(&d.j, "version", CUZK_VERSION);
    json_begin_array(&d.j, "findings");
    make_plan(&d);
    doctor_look_at_processor(&d);
    doctor_look_at_memory(&d);
    doctor_look_at_devices(&d);
    doctor_look_at_parameters(&d);
    doctor_look_at_circuits(&d);
#ifdef CUZK_HAVE_CLIENT
    doctor_look_at_store(&d);
#endif
    doctor_look_at_doors(&d);
    if (doctor_pretended("uid", getuid()) == 0)
        doctor_say(
            &d, NOTE, "user",
            "root may read and write everything, so permissions were not tried: ask as the service's user "
            "(sudo -u cuzk cuzk doctor)");
    json_end_array(&d.j);
    json_u64(&d.j, "problems", d.problems);
    json_end_object(&d.j);
    int rc = d.problems ? EXIT_NO : EXIT_DONE;
    if (a->json)
        return cli_print_json(&d.j, rc);
    json_clear(&d.j);
    printf("%u problem%s\n", d.problems, d.problems == 1 ? "" : "s");
    return rc;
}

static const cli_option OPTIONS[] = {
#ifdef CUZK_HAVE_CLIENT
    {"--config", OPT_TEXT, "FILE", "the daemon's configuration (default " USUAL_CONFIG " where it exists)",
     0},
    {"--store", OPT_TEXT, "URL", "over store.url", 0},
#endif
    {"--params", OPT_TEXT, "DIR", "folder of the parameter files, over srs.param_cache", 0},
    {"--allow-test-srs", OPT_FLAG, NULL, "TEST- files will do", 0},
    {"--cache-dir", OPT_TEXT, "DIR", "folder of compiled circuits, over srs.circuit_cache", 0},
    {"--listen", OPT_TEXT, "ADDR", "the daemon's address, over daemon.listen", 0},
};
const cli_command command_doctor = {
    .name = "doctor",
    .positional = "",
    .summary = "what this machine has and lacks, in sentences",
    .options = OPTIONS,
    .option_count = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_doctor,
    .details = "Nothing is changed. Ask as the user of the service: permissions are those of the caller.\n"
               "Exit status 1 where there is a problem.",
};
