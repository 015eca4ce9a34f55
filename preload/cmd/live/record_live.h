/* SPDX-License-Identifier: MIT */
/*
 * record_live.h - `guestprof record -p PID -d 30s`: a recording of a process that runs already.
 */
#ifndef PRELOAD_CMD_LIVE_RECORD_LIVE_H
#define PRELOAD_CMD_LIVE_RECORD_LIVE_H

#include "preload/cmd/live/live.h"

/*
 * Start, wait, stop, dump of the process that TARGET (a pid, or its socket) means, to OUTPUT, or to
 * a name of its own (NULL). Where somebody records it already, the last so long of that. A signal
 * that ends us ends the wait. Returns the exit status.
 */
int record_live(const char *target, const struct live_wish *wish, const char *output);

#endif /* PRELOAD_CMD_LIVE_RECORD_LIVE_H */
