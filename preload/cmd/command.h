/* SPDX-License-Identifier: MIT */
/*
 * command.h - the subcommands, one file each. Every one gets its own name as argv[0].
 *
 * Exit statuses of what reads recordings are below; `record` has the child's, or 125 to 127.
 */
#ifndef PRELOAD_CMD_COMMAND_H
#define PRELOAD_CMD_COMMAND_H

#include "symtab/base.h"

enum { COMMAND_OK = 0, COMMAND_BAD = 2, COMMAND_NO_SAMPLES = 3 };

int record_command(int argc, char **argv);
int report_command(int argc, char **argv);
int export_command(int argc, char **argv);
int id_command(int argc, char **argv);
int symbolize_command(int argc, char **argv);
int lib_command(int argc, char **argv);

#endif /* PRELOAD_CMD_COMMAND_H */
