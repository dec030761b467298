/* cuzk doctor: looks at the machine and says in sentences what stands in the way, and what to do about it. */
#include "api/circuits.h"
#include "base/cpu.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cuzk/backend.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define GIB 1073741824.0

typedef enum verdict { FINE, NOTE, PROBLEM } verdict;
static const char *const VERDICTS[] = {"ok", "note", "problem"};

typedef struct doctor {
    const cli_args *a;
    json_out j;
    unsigned problems;
} doctor;

static void say(doctor *d, verdict v, const char *subject, const char *format, ...) CUZK_PRINTF(4, 5);
static void say(doctor *d, verdict v, const char *subject, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    d->problems += v == PROBLEM;
    if (!d->a->json) {
        printf("%-8s %-10s %s\n", VERDICTS[v], subject, text);
        return;
    }
    json_begin_object(&d->j, NULL);
    json_string(&d->j, "verdict", VERDICTS[v]);
    json_string(&d->j, "subject", subject);
    json_string(&d->j, "finding", text);
    json_end_object(&d->j);
}

/* For tests, which cannot change the machine: CUZK_DOCTOR_PRETEND="memory=3,disk=0.5,ifma=0" puts these
 * values in the place of what was found. Memory and disk are in GiB. Nothing but the doctor looks at it. */
static double pretended(const char *what, double found)
{
    const char *at = getenv("CUZK_DOCTOR_PRETEND");
    size_t n = strlen(what);
    for (; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, what, n) && at[n] == '=')
            return strtod(at + n + 1, NULL);
    return found;
}

static void look_at_processor(doctor *d)
{
    const cpu_features *f = cpu_get();
    int ifma = pretended("ifma", f->ifma) != 0, sha = pretended("sha", f->sha_ni) != 0;
    const char *forced = getenv("CUZK_CPU");
    if (forced && !strcmp(forced, "portable"))
        say(d, NOTE, "processor",
            "%s; CUZK_CPU=portable forces the scalar code: unset it, proofs take several times longer",
            f->name);
    else if (ifma)
        say(d, FINE, "processor", "%s, %u threads; AVX-512 IFMA is in use, eight field elements at once",
            f->name, pool_processors());
    else
        say(d, NOTE, "processor",
            "%s, %u threads; no AVX-512 IFMA, so the scalar code is in use: CPU proofs take several times "
            "longer",
            f->name, pool_processors());
    if (!sha)
        say(d, NOTE, "processor", "no SHA instructions: digests of circuits and parameters take longer");
}

static void look_at_memory(doctor *d)
{
    double available = pretended("memory", (double)mem_available_bytes() / GIB);
    if (available < 4)
        say(d, PROBLEM, "memory",
            "%.1f GiB are available; 2 KiB circuits need 2 GiB, 32 GiB circuits 32 GiB and more: stop other "
            "programs or "
            "add memory",
            available);
    else
        say(d, available < 48 ? NOTE : FINE, "memory", "%.1f GiB are available%s", available,
            available < 48 ? "; a 32 GiB PoRep or WindowPoSt on the CPU needs about 48 GiB" : "");
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    char mode[64] = "";
    int never = f && fgets(mode, sizeof(mode), f) && strstr(mode, "[never]");
    if (pretended("hugepages", !never) == 0)
        say(d, NOTE, "hugepages",
            "transparent huge pages are off; sums and transforms run faster with them: echo madvise > "
            "/sys/kernel/mm/transparent_hugepage/enabled");
    else
        say(d, FINE, "hugepages", "transparent huge pages are available");
    if (f)
        fclose(f);
}

static void look_at_devices(doctor *d)
{
    const cuzk_backend *b;
    cuzk_error e = {0};
    uint32_t count = 0;
    if (cuzk_backend_load(&b, NULL, &e) || b->device_count(&count, &e)) {
        say(d, NOTE, "gpu", "%s", e.message);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        cuzk_device_info info;
        if (b->device_describe(i, &info, &e)) {
            say(d, PROBLEM, "gpu", "device %u: %s", i, e.message);
            continue;
        }
        double gib = pretended("vram", (double)info.memory_total / GIB);
        if (gib < 16)
            say(d, NOTE, "gpu",
                "device %u: %s, %.0f GiB; below 16 GiB circuits of 32 GiB are proved in small chunks", i,
                info.name, gib);
        else
            say(d, FINE, "gpu", "device %u: %s, %.0f GiB, %s", i, info.name, gib, info.detail);
    }
}

static void look_at_parameters(doctor *d)
{
    const char *dir = params_dir_or_default(cli_text(d->a, "--params"));
    if (access(dir, R_OK | X_OK)) {
        say(d, PROBLEM, "parameters",
            "the folder %s cannot be read: %s; fetch the files (curio fetch-params) or set srs.param_cache",
            dir, strerror(errno));
        return;
    }
    unsigned found = 0, tests = 0;
    for (size_t i = 0; i < circuit_count(); i++) {
        const circuit_info *info = circuit_at(i);
        char path[4096];
        int is_test;
        cuzk_error e = {0};
        params *p;
        if (params_find(path, sizeof(path), dir, info, ".params", 1, &is_test, &e))
            continue;
        found += !is_test;
        tests += (unsigned)is_test;
        if (access(path, R_OK)) {
            say(d, PROBLEM, "parameters", "%s cannot be read by user %u: %s; give the user permission", path,
                (unsigned)getuid(), strerror(errno));
            continue;
        }
        if (params_open(&p, path, &e)) {
            say(d, PROBLEM, "parameters", "%s: fetch the file again", e.message);
            continue;
        }
        params_close(p);
    }
    if (!found)
        say(d, PROBLEM, "parameters",
            "%s holds no registered parameter file (and %u test SRS); fetch them (curio fetch-params) or set "
            "srs.param_cache",
            dir, tests);
    else
        say(d, FINE, "parameters",
            "%s holds %u registered parameter files; cuzk params FILE compares one with its published digest",
            dir, found);
}

static void look_at_folder(doctor *d, const char *subject, const char *dir)
{
    cuzk_error e = {0};
    struct statvfs v;
    int made = file_make_dirs(dir, &e) == CUZK_OK;
    double left = made && statvfs(dir, &v) == 0 ? (double)v.f_bavail * (double)v.f_frsize / GIB : 2;
    left = pretended("disk", left);
    if (!made) {
        say(d, PROBLEM, subject, "%s: choose another folder or give the user permission", e.message);
    } else if (access(dir, W_OK)) {
        say(d, PROBLEM, subject, "%s cannot be written by user %u: %s", dir, (unsigned)getuid(),
            strerror(errno));
    } else if (left < 2) {
        say(d, PROBLEM, subject, "%s has %.1f GiB left; compiled circuits need up to 2 GiB", dir, left);
    } else {
        say(d, FINE, subject, "%s can be written", dir);
    }
}

/* Is the address free to listen on? */
static void look_at_port(doctor *d, const char *address)
{
    char host[256];
    const char *colon = strrchr(address, ':');
    if (!strncmp(address, "unix:", 5)) {
        const char *path = address + 5 + (strncmp(address + 5, "//", 2) ? 0 : 2);
        snprintf(host, sizeof(host), "%s", path);
        char *slash = strrchr(host, '/');
        if (slash)
            *slash = 0;
        if (access(slash ? host : ".", W_OK))
            say(d, PROBLEM, "socket", "%s: the folder cannot be written: %s", path, strerror(errno));
        else
            say(d, FINE, "socket", "%s can be made", path);
        return;
    }
    if (!colon || (size_t)(colon - address) >= sizeof(host)) {
        say(d, PROBLEM, "port", "\"%.80s\" is not HOST:PORT", address);
        return;
    }
    snprintf(host, sizeof(host), "%.*s", (int)(colon - address), address);
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM}, *list;
    int rc = getaddrinfo(*host ? host : NULL, colon + 1, &hints, &list);
    if (rc) {
        say(d, PROBLEM, "port", "%s: %s", address, gai_strerror(rc));
        return;
    }
    int fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (fd < 0 || bind(fd, list->ai_addr, list->ai_addrlen))
        say(d, PROBLEM, "port",
            "%s cannot be listened on: %s; another program (perhaps a running daemon) has it", address,
            strerror(errno));
    else
        say(d, FINE, "port", "%s is free", address);
    if (fd >= 0)
        close(fd);
    freeaddrinfo(list);
}

static int run_doctor(const cli_args *a)
{
    doctor d = {.a = a};
    char cache[4096];
    json_init(&d.j);
    json_begin_object(&d.j, NULL);
    json_string(&d.j, "version", CUZK_VERSION);
    json_begin_array(&d.j, "findings");
    look_at_processor(&d);
    look_at_memory(&d);
    look_at_devices(&d);
    look_at_parameters(&d);
    circuit_cache_dir(cache, sizeof(cache));
    look_at_folder(&d, "circuits", cli_text_or(a, "--cache-dir", cache));
    look_at_port(&d, cli_text_or(a, "--listen", "127.0.0.1:9820"));
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
    {"--params", OPT_TEXT, "DIR", "folder of the parameter files", 0},
    {"--cache-dir", OPT_TEXT, "DIR", "folder of compiled circuits", 0},
    {"--listen", OPT_TEXT, "ADDR", "the daemon's address (default 127.0.0.1:9820)", 0},
};
const cli_command command_doctor = {
    .name = "doctor",
    .positional = "",
    .summary = "what this machine has and lacks, in sentences",
    .options = OPTIONS,
    .option_count = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_doctor,
    .details = "Exit status 1 where there is a problem.",
};
