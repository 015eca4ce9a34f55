/* SPDX-License-Identifier: MIT */
/*
 * command.h - the subcommands, one file each. Every one gets its own name as argv[0].
 *
 * Exit statuses of what reads recordings are below; `record` has the child's, or 125 to 127.
 */
#ifndef PRELOAD_CMD_COMMAND_H
#define PRELOAD_CMD_COMMAND_H

#include "symtab/base.h"

enum {
	COMMAND_OK = 0,
	COMMAND_FOUND = 1,	 /* what was looked for: a change, a secret, a limit */
	COMMAND_BAD = 2,	 /* usage, or input */
	COMMAND_NO_SAMPLES = 3,	 /* none there; doctor: none to be had */
	COMMAND_UNREACHABLE = 4, /* the process is not preloaded, or does not answer */
};

int record_command(int argc, char **argv);
int report_command(int argc, char **argv);
int export_command(int argc, char **argv);
int diff_command(int argc, char **argv);
int view_command(int argc, char **argv);
int merge_command(int argc, char **argv);
int id_command(int argc, char **argv);
int symbolize_command(int argc, char **argv);
int share_command(int argc, char **argv);
int audit_command(int argc, char **argv);
int list_command(int argc, char **argv);
int status_command(int argc, char **argv);
int start_command(int argc, char **argv);
int stop_command(int argc, char **argv);
int dump_command(int argc, char **argv);
int top_command(int argc, char **argv);
int serve_command(int argc, char **argv);
int push_command(int argc, char **argv);
int doctor_command(int argc, char **argv);
int lib_command(int argc, char **argv);

#endif /* PRELOAD_CMD_COMMAND_H */
