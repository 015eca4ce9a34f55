/* SPDX-License-Identifier: MIT */
/*
 * fleet_files.h - recordings in a directory that grow while they are read.
 *
 * A file stays open, so that what its process writes last is read too when it becomes NAME.pb.gz. A
 * .pb.gz that was never seen to grow is taken as a whole.
 */
#ifndef PRELOAD_CMD_FLEET_FLEET_FILES_H
#define PRELOAD_CMD_FLEET_FLEET_FILES_H

#include <pthread.h>

#include "preload/encode/pb.h"
#include "preload/read/census.h"

struct fleet_file;

struct fleet_files {
	struct fleet_file *rows; /* owned */
	size_t count, room, open;
	uint64_t dropped;
	uint64_t start_ns; /* when watching began: what ended before is not of interest */
	bool has_told_limit;
};

void fleet_files_free(struct fleet_files *files);

/* Looks for new files in DIRECTORY. 0 or negative errno. */
int fleet_files_scan(struct fleet_files *files, const char *directory);

/* To be called after all directories were scanned: forgets files that are gone. */
void fleet_files_forget(struct fleet_files *files, uint64_t now_ns);

/* Reads what they have grown by, and counts it into CENSUS under LOCK. */
void fleet_files_read(struct fleet_files *files, struct census *census, pthread_mutex_t *lock,
		      uint64_t now_ns);

/* Is there one with that name, in whatever directory? */
bool fleet_files_has(const struct fleet_files *files, const char *name);

/* Calls VISIT with each window (feed_window()) that is not empty. Stops at an error, and returns
 * it. */
int fleet_files_window(const struct fleet_files *files, uint64_t from_ns, uint64_t to_ns,
		       int (*visit)(void *context, const char *key, const struct pb_writer *bytes),
		       void *context);

#endif /* PRELOAD_CMD_FLEET_FLEET_FILES_H */
