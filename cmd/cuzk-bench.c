/* cuzk-bench: figures of this machine, beside references. The rows lie in bench/. */
#include "bench.h"
#ifdef CUZK_HAVE_CLIENT
#include "bench_daemon/bench_daemon.h"
#endif
#include "device.h"
#include <stdio.h>

typedef struct command {
    const char *name, *what;
    int (*main)(int argc, char **argv);
} command;

static const command COMMANDS[] = {
    {"cpu", "operations of the library on the processor", bench_cpu_main},
    {"device", "operations and whole proofs on a GPU", bench_device_main},
#ifdef CUZK_HAVE_CLIENT
    {"daemon", "a standard load against a daemon", bench_daemon_main},
#endif
};

int main(int argc, char **argv)
{
    size_t n = sizeof COMMANDS / sizeof *COMMANDS;
    for (size_t i = 0; argc > 1 && i < n; i++)
        if (!strcmp(argv[1], COMMANDS[i].name))
            return COMMANDS[i].main(argc - 1, argv + 1);
    int help = argc > 1 && !strcmp(argv[1], "--help");
    FILE *f = help ? stdout : stderr;
    fputs("usage: cuzk-bench COMMAND [--help]\n", f);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "  %-8s %s\n", COMMANDS[i].name, COMMANDS[i].what);
    return help ? 0 : 2;
}
