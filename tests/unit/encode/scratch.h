/* SPDX-License-Identifier: MIT */
/*
 * scratch.h - a directory of its own for a test program, so that programs and builds can run side
 * by side. Tests are started in the root of the project; files there are named by scratch_root().
 */
#ifndef TESTS_UNIT_ENCODE_SCRATCH_H
#define TESTS_UNIT_ENCODE_SCRATCH_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch_before[PATH_MAX], scratch_directory[64];

/* Group setup: makes the directory, and goes there. */
static inline int scratch_enter(void **state)
{
	(void)state;
	strcpy(scratch_directory, "/tmp/guestprof-test-XXXXXX");
	if (getcwd(scratch_before, sizeof(scratch_before)) == NULL ||
	    mkdtemp(scratch_directory) == NULL)
		return -1;
	return chdir(scratch_directory);
}

/* Group teardown: goes back, and removes it. */
static inline int scratch_leave(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", scratch_directory);
	if (chdir(scratch_before) != 0)
		return -1;
	return system(command);
}

/* NAME in the root of the project; good until the next call. */
static inline const char *scratch_root(const char *name)
{
	static char path[PATH_MAX + 256];

	snprintf(path, sizeof(path), "%s/%s", scratch_before, name);
	return path;
}

#endif /* TESTS_UNIT_ENCODE_SCRATCH_H */
