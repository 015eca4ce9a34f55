/* SPDX-License-Identifier: MIT */
/*
 * waits.h - the time that guests wait, counted in a profile: as wall time and nothing else.
 *
 * Where the last wait of each thread was counted is remembered, so that the same wait, seen again,
 * costs neither an unwind nor a lookup. Our thread only.
 */
#ifndef PRELOAD_PROFILE_WAITS_H
#define PRELOAD_PROFILE_WAITS_H

#include "preload/profile/rows.h"
#include "symtab/base.h"

struct profile;
struct sample;

/* A look at a thread that waits. */
struct waits_look {
	uint32_t slot; /* of the thread; small numbers, used again after it ended */
	uint64_t tid;
	const char *thread_name, *what; /* copied; WHAT is the leaf: "[futex]" */
	int descriptor;			/* that it waits for; -1: none */
	uint64_t time_ns, wall_ns;	/* CLOCK_MONOTONIC; what the look stands for */
};

/*
 * Counts a look with the stack of SAMPLE, in state `waiting`. Its frame pointer, which is not
 * known, may be filled in. SAMPLE NULL: the thread of that slot is still in its last wait.
 */
void waits_take(struct profile *profile, struct sample *sample, const struct waits_look *look);

/* Counts WALL_NS in which an asynchronous call of INSTANCE was on no thread: stack `(parked)`. */
void waits_take_parked(struct profile *profile, uint32_t instance, uint64_t time_ns,
		       uint64_t wall_ns);

/* ---- part of struct profile; zeroed memory is an empty one ----------------------------------- */

struct waits_place {
	struct row_key key;
	uint32_t group;
	bool is_known;
};

struct waits {
	struct waits_place *places; /* by slot */
	size_t capacity;
};

enum { WAITS_SLOTS_MAX = 1 << 16 };

void waits_fini(struct waits *waits);

#endif /* PRELOAD_PROFILE_WAITS_H */
