/* SPDX-License-Identifier: MIT */
/*
 * processkey.h - what tells watched processes apart where pids do not: in containers all are 1.
 */
#ifndef PRELOAD_CMD_PROCESSKEY_H
#define PRELOAD_CMD_PROCESSKEY_H

#include "symtab/base.h"

/*
 * Of the process PID that writes the file NAME: the name without .pb or .pb.gz and, if the file was
 * rotated, without the number behind the pid. Caller frees; NULL without memory.
 */
char *processkey_of_file(const char *name, uint64_t pid);

#endif /* PRELOAD_CMD_PROCESSKEY_H */
