/* SPDX-License-Identifier: MIT */
/*
 * live.h - what start, stop, dump, top and `record -p` have in common.
 */
#ifndef PRELOAD_CMD_LIVE_LIVE_H
#define PRELOAD_CMD_LIVE_LIVE_H

#include "preload/cmd/live/targets.h"

/* What to start. Zeroed: as the process is configured. */
struct live_wish {
	uint64_t hz, duration_ns; /* 0: the process's own; until it is stopped */
	const char *stacks;	  /* borrowed; NULL: the process's own */
};

/* A duration as on the command line. False after having said what is wrong. */
bool live_duration(const char *command, const char *option, const char *text,
		   uint64_t *duration_ns);
/* 1 to 10000. */
bool live_hz(const char *command, const char *option, const char *text, uint64_t *hz);
bool live_stacks(const char *command, const char *text, const char **stacks);

/* Asks for a start; 0, or negative errno: the reply says more. */
int live_start(struct dialogue *dialogue, const struct live_wish *wish);

/* Who made the recording that runs, of DIALOGUE's reply: one line. */
void live_say_who(const struct dialogue *dialogue, const char *title);

/* Asks for the last LAST_NS (0: all); 0 or negative errno. The bytes are then to be read. */
int live_dump(struct dialogue *dialogue, uint64_t last_ns);

#endif /* PRELOAD_CMD_LIVE_LIVE_H */
