/* The shell tool. Upstream's daemon is called cuzk as well: `cuzk --config FILE` (or --listen ...) starts the
 * daemon. */
#include "cli/commands.h"
#ifdef CUZK_HAVE_CLIENT
#include "client/client.h"
#endif
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const cli_command *const COMMANDS[] = {
    &command_prove_porep,   &command_prove_winning,   &command_prove_window,   &command_prove_update,
    &command_verify_porep,  &command_verify_winning,  &command_verify_window,  &command_verify_update,
    &command_witness_porep, &command_witness_winning, &command_witness_window, &command_witness_update,
    &command_synth,         &command_setup,           &command_circuit,        &command_params,
    &command_circom_prove,  &command_circom_verify,   &command_circom_setup,   &command_circom_vkey,
    &command_circom_info,   &command_doctor,
#ifdef CUZK_HAVE_CLIENT
    &command_submit_porep,  &command_submit_winning,  &command_submit_window,  &command_submit_update,
    &command_await,         &command_cancel,          &command_status,         &command_top,
    &command_config_check,  &command_config_example,  &command_device_clear,
#endif
};

/* Replaces this process by the daemon that lies beside it, or on the PATH. */
static int start_daemon(char **argv)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 16);
    if (n > 0) {
        path[n] = 0;
        char *slash = strrchr(path, '/');
        strcpy(slash ? slash + 1 : path, "cuzk-daemon");
        argv[0] = path;
        execv(path, argv);
    }
    execvp("cuzk-daemon", argv);
    perror("cuzk: cannot start cuzk-daemon");
    return EXIT_RESOURCE;
}

int main(int argc, char **argv)
{
    static const char *const DAEMON[] = {"--config", "-c", "--listen", "-l", "--log-level"};
    for (size_t i = 0; argc > 1 && i < sizeof(DAEMON) / sizeof(DAEMON[0]); i++)
        if (!strncmp(argv[1], DAEMON[i], strlen(DAEMON[i])) && (argv[1][1] == '-' || !argv[1][2]))
            return start_daemon(argv);
    return cli_main(argc, argv, COMMANDS, sizeof(COMMANDS) / sizeof(COMMANDS[0]));
}
