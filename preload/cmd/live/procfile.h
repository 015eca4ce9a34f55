/* SPDX-License-Identifier: MIT */
/*
 * procfile.h - small files of /proc, and the fields of /proc/PID/status.
 */
#ifndef PRELOAD_CMD_LIVE_PROCFILE_H
#define PRELOAD_CMD_LIVE_PROCFILE_H

#include <sys/types.h>

#include "symtab/base.h"

/* Reads the beginning of /proc/PID/NAME to TEXT, terminated. The length, or negative errno. */
ssize_t procfile_read(pid_t pid, const char *name, char *text, size_t size);

/* What stands behind "LABEL:" at the beginning of a line of TEXT, without leading blanks; NULL. */
const char *procfile_field(const char *text, const char *label);

/* The same as a number in BASE; 0 where it is not there. */
uint64_t procfile_number(const char *text, const char *label, int base);

#endif /* PRELOAD_CMD_LIVE_PROCFILE_H */
