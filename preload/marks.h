/* SPDX-License-Identifier: MIT */
/*
 * marks.h - host calls that the host marks itself (guestprof.h), as intervals of a profile.
 *
 * The caller holds a lock around all of it.
 */
#ifndef PRELOAD_MARKS_H
#define PRELOAD_MARKS_H

#include "preload/profile/chunk.h"
#include "symtab/base.h"

enum { MARKS_MOST = 5000 }; /* kept: the longest; the rest are counted */

struct calling;

/* Zeroed but for start_ns. */
struct marks {
	uint64_t start_ns; /* CLOCK_MONOTONIC; intervals are relative to it */
	struct calling *callings;
	struct chunk_interval *calls; /* done; a heap, shortest first; names are owned */
	size_t count;
	uint64_t dropped;
};

/* Thread TID calls NAME (copied). 0, or -ENOMEM, also when calls nest more than 32 deep. */
int marks_begin(struct marks *marks, uint64_t tid, const char *name);

/* The innermost call of thread TID is over. 0, -EINVAL when none has begun, -ENOMEM. */
int marks_end(struct marks *marks, uint64_t tid);

void marks_free(struct marks *marks);

#endif /* PRELOAD_MARKS_H */
