/* SPDX-License-Identifier: Apache-2.0
 *
 * commands.h - the commands of the program, one file each.
 */
#ifndef CLATTN_CLI_COMMANDS_H
#define CLATTN_CLI_COMMANDS_H

#include "options.h"

extern const command COMMAND_DEVICES;
extern const command COMMAND_RUN;
extern const command COMMAND_ATTEND;
extern const command COMMAND_MAP;
extern const command COMMAND_BENCH;
extern const command COMMAND_CHECK;

/* All of them; the last is NULL. */
extern const command *const COMMANDS[];

/* The whole program: returns its exit code. */
exit_code clattn_program(int count, char *const *arguments);

#endif
