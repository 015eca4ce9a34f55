/* SPDX-License-Identifier: MIT */
/*
 * fleet.h - processes that are watched from outside: what they write into directories as they run,
 * and those that write no file, by their control sockets. No shared pid namespace is needed.
 *
 * Files are read as far as they are new. Who writes them may be anybody: only regular files, no
 * links, everything bounded.
 *
 * Threads: one at a time, but for the census, which is changed under the caller's lock.
 */
#ifndef PRELOAD_CMD_FLEET_FLEET_H
#define PRELOAD_CMD_FLEET_FLEET_H

#include <pthread.h>

#include "preload/read/census.h"
#include "preload/read/reader.h"

enum {
	FLEET_DIRECTORIES_MAX = 16,
	FLEET_SOURCES_MAX = 4096,
	FLEET_OPEN_MAX = 512, /* files that grow, at a time */
	FLEET_SOCKETS_MAX = 256,
};

struct fleet;

/* Counts into CENSUS, under LOCK; both are borrowed. NULL without memory. */
struct fleet *fleet_new(struct census *census, pthread_mutex_t *lock);
void fleet_free(struct fleet *fleet);

/* Watches the files and sockets in PATH, which is borrowed. 0, -ENOTDIR and the like, -E2BIG. */
int fleet_add_directory(struct fleet *fleet, const char *path);
/* Watches the process with the control socket PATH. 0, -ENOMEM, -E2BIG. */
int fleet_add_socket(struct fleet *fleet, const char *path);

/* Takes what is new at NOW_NS (CLOCK_REALTIME); to be called often. Says what is wrong, once. */
void fleet_poll(struct fleet *fleet, uint64_t now_ns);

/* Rows of samples that there was no room for. */
uint64_t fleet_dropped(const struct fleet *fleet);

/*
 * One recording (recording_free()) of what all did from FROM_NS until before TO_NS, with the time
 * and duration of that. A process's path in it is its key. It may be without samples. NULL: no
 * memory.
 */
struct recording *fleet_window(struct fleet *fleet, uint64_t from_ns, uint64_t to_ns);

#endif /* PRELOAD_CMD_FLEET_FLEET_H */
