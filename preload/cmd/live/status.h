/* SPDX-License-Identifier: MIT */
/*
 * status.h - what a process says of itself, for people and for programs.
 */
#ifndef PRELOAD_CMD_LIVE_STATUS_H
#define PRELOAD_CMD_LIVE_STATUS_H

#include "preload/cmd/live/dialogue.h"
#include "preload/cmd/live/processes.h"
#include "preload/export/json.h"

/* What a state is called: "records", "waits for a guest", "rests". */
const char *status_state(const struct dialogue *dialogue);

/*
 * The keys of one process, into an open object. DIALOGUE: after its status; NULL: all that is not
 * known from outside is null.
 */
void status_write(struct json *json, const struct process *process,
		  const struct dialogue *dialogue);

/* UNIX_NS as "2026-11-30 22:06:12 UTC"; in TEXT. */
enum { STATUS_TIME_SIZE = 32 };
const char *status_time(char text[STATUS_TIME_SIZE], uint64_t unix_ns);

#endif /* PRELOAD_CMD_LIVE_STATUS_H */
