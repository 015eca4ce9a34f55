/* SPDX-License-Identifier: MIT */
/*
 * rotation.h - the finished files of one process, oldest first, so that only so many are kept.
 *
 * Threads: one at a time. Zeroed memory is an empty one.
 */
#ifndef PRELOAD_ENCODE_ROTATION_H
#define PRELOAD_ENCODE_ROTATION_H

#include "symtab/base.h"

struct rotated;

struct rotation {
	struct rotated *files; /* owned */
	size_t count;
};

/* NAME in DIRECTORY is finished. Without memory it is not remembered, and so never removed. */
void rotation_add(struct rotation *rotation, int directory, const char *name);

/*
 * Removes the oldest files until KEEP are left: only what still is the file that was added. The
 * descriptor is of the directory that they all are in.
 */
void rotation_trim(struct rotation *rotation, int directory, size_t keep);

/* Forgets them; the files stay. */
void rotation_free(struct rotation *rotation);

#endif /* PRELOAD_ENCODE_ROTATION_H */
