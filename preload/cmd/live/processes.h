/* SPDX-License-Identifier: MIT */
/*
 * processes.h - processes that guestprof is preloaded into, and their control sockets.
 */
#ifndef PRELOAD_CMD_LIVE_PROCESSES_H
#define PRELOAD_CMD_LIVE_PROCESSES_H

#include <sys/types.h>

#include "symtab/base.h"

struct process {
	pid_t pid;     /* as seen from here; 0: not known, of another pid namespace */
	char name[64]; /* as /proc says; "" unknown */
	char *socket;  /* its path (owned); NULL: it has none, or none that can be found */
};

struct processes {
	struct process *rows; /* owned */
	size_t count, room;
};

enum { PROCESSES_MAX = 4096 };

/* Adds all sockets in DIRECTORY. 0, -ENOENT and the like, -ENOMEM. */
int processes_add_directory(struct processes *processes, const char *directory);

/*
 * Adds all that can be found: sockets in the usual directories (root: of all users), then, from
 * /proc, processes that have the library mapped. 0 or -ENOMEM.
 */
int processes_add_all(struct processes *processes);

/* Adds process PID. 0; -ESRCH: there is none; -ENOEXEC: the library is not in it; -ENOMEM. */
int processes_add_pid(struct processes *processes, pid_t pid);

/* Adds the socket PATH as it is. 0 or -ENOMEM. */
int processes_add_socket(struct processes *processes, const char *path);

void processes_free(struct processes *processes);

#endif /* PRELOAD_CMD_LIVE_PROCESSES_H */
