/* SPDX-License-Identifier: MIT */
/*
 * ending.h - how a command that runs until it is told ends: SIGINT, SIGTERM and SIGHUP become
 * readable.
 */
#ifndef PRELOAD_CMD_ENDING_H
#define PRELOAD_CMD_ENDING_H

#include "symtab/base.h"

/*
 * Blocks them for this thread and those it makes, and has SIGPIPE ignored: a peer that has gone is
 * an error of the write. A signalfd (the caller closes it), or negative errno.
 */
int ending_open(void);

/* Waits MILLISECONDS for the end. */
bool ending_came(int fd, int milliseconds);

#endif /* PRELOAD_CMD_ENDING_H */
