/* SPDX-License-Identifier: MIT */
/*
 * run.h - runs a command as `env` and `timeout` do: its signals are its own, its status is ours.
 */
#ifndef PRELOAD_CMD_RUN_H
#define PRELOAD_CMD_RUN_H

#include "symtab/base.h"

enum { RUN_FAILED = 125, RUN_NOT_EXECUTABLE = 126, RUN_NOT_FOUND = 127 };

struct run {
	int pid;
	int wait_status; /* as from waitpid(), if the command ran */
	int exit_status; /* 125 to 127 if it did not run: said already */
	bool has_run;
};

/*
 * Runs ARGV (searched in PATH) with ENVIRONMENT and waits for its end. Meanwhile signals that were
 * sent to us alone are sent on to it; those of the terminal reach it by themselves.
 */
void run_command(struct run *run, char **argv, char **environment);

/* Ends this process the way the command ended: same status, or same signal. Does not return. */
void run_exit_alike(const struct run *run) __attribute__((noreturn));

#endif /* PRELOAD_CMD_RUN_H */
