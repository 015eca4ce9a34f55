/* SPDX-License-Identifier: MIT */
/*
 * targets.h - the processes that a command line means: by pid, by socket, by --dir, or all.
 */
#ifndef PRELOAD_CMD_LIVE_TARGETS_H
#define PRELOAD_CMD_LIVE_TARGETS_H

#include "preload/cmd/live/dialogue.h"
#include "preload/cmd/live/processes.h"

/*
 * Adds what COUNT WORDS (pids and paths of sockets) and DIRECTORY (NULL: none) name; with neither
 * all that can be found. What is not there is told, one line each. COMMAND_OK, _BAD, _UNREACHABLE.
 */
int targets_find(struct processes *processes, const char *directory, char **words, size_t count);

/*
 * Connects to PROCESS and asks for its status, which is DIALOGUE's reply after. 0, or
 * COMMAND_UNREACHABLE after having said why, one line.
 */
int targets_reach(const struct process *process, struct dialogue *dialogue);

/* DIALOGUE is with PROCESS, as far as can be told, and not with another that has its file. */
bool targets_is_it(const struct process *process, const struct dialogue *dialogue);

/* Says what became of an exchange that failed with ERROR, or was refused. COMMAND_UNREACHABLE. */
int targets_complain(const struct dialogue *dialogue, const char *what, int error);

/* "python3[4242]", by what the status said and what is known from here; in TEXT. */
enum { TARGETS_TITLE_SIZE = 96 };
const char *targets_title(const struct process *process, const struct dialogue *dialogue,
			  char text[TARGETS_TITLE_SIZE]);

/* How to have guestprof in a process: the end of a line. */
extern const char targets_how_to_preload[];

#endif /* PRELOAD_CMD_LIVE_TARGETS_H */
