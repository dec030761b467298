/* The commands of the shell tool; cmd/cuzk.c lists them. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H
#include "cli/cli.h"
extern const cli_command command_circuit, command_setup, command_params, command_synth, command_doctor;
extern const cli_command command_prove_porep, command_prove_winning, command_prove_window,
    command_prove_update;
extern const cli_command command_verify_porep, command_verify_winning, command_verify_window,
    command_verify_update;
extern const cli_command command_witness_porep, command_witness_winning, command_witness_window,
    command_witness_update;
extern const cli_command command_circom_prove, command_circom_verify, command_circom_setup,
    command_circom_vkey;
extern const cli_command command_circom_info;
#endif
