/* SPDX-License-Identifier: MIT */
/*
 * inputs.h - which files are meant: names, directories, globs, or the newest recording here.
 */
#ifndef PRELOAD_CMD_INPUTS_H
#define PRELOAD_CMD_INPUTS_H

#include "symtab/base.h"

enum { INPUTS_MAX = 10000 };

struct inputs {
	char **paths; /* owned */
	size_t count, room;
	size_t missing; /* names that are none, and were told */
};

/*
 * Adds what NAME means: itself if there is a file of that name, or "-"; all *.pb and *.pb.gz of a
 * directory; what a glob matches; in order of their names. What is not there is told, one line, and
 * counted. 0 or -ENOMEM.
 */
int inputs_add(struct inputs *inputs, const char *name);

/* Adds the newest recording of the working directory, if there is one. 0 or -ENOMEM. */
int inputs_add_newest(struct inputs *inputs);
void inputs_free(struct inputs *inputs);

#endif /* PRELOAD_CMD_INPUTS_H */
