/* The commands of the shell tool; cmd/cuzk.c lists them. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H
#include "cli/cli.h"
extern const cli_command command_circuit, command_setup, command_params;
extern const cli_command command_prove_porep, command_verify_porep, command_witness_porep;
extern const cli_command command_synth_porep, command_synth_winning, command_synth_window,
    command_synth_update;
#endif
