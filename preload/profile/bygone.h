/* SPDX-License-Identifier: MIT */
/*
 * bygone.h - instances that ended, host calls, and the longest of those, as the last chunks told of
 * them.
 *
 * Three rings beside the history's rows, so that the time just gone by can be recorded after the
 * fact (extract.h): BYGONE_LIVES, BYGONE_INTERVALS and BYGONE_CALLS at most, the oldest go first,
 * and those that there is no memory for are left out. Texts are the profile's; names of intervals
 * are borrowed, and have to stay (hostcalls_text()). Threads: ours.
 */
#ifndef PRELOAD_PROFILE_BYGONE_H
#define PRELOAD_PROFILE_BYGONE_H

#include "preload/profile/calls.h"
#include "preload/profile/chunk.h"
#include "symtab/base.h"

/*
 * The second is over a minute of chunks of a second that are full of them (CALLS_SPANS), the third
 * a minute of 270 functions that are called in each.
 */
enum { BYGONE_LIVES = 1 << 12, BYGONE_INTERVALS = 1 << 14, BYGONE_CALLS = 1 << 14 };

/* What one function was called by one group in one chunk. */
struct bygone_call {
	uint32_t group, text;
	uint64_t end_ns; /* of the chunk, CLOCK_MONOTONIC */
	struct call_sum sum;
};

/* Zeroed memory is an empty one. Times are CLOCK_MONOTONIC. */
struct bygone {
	struct chunk_life *lives;			 /* number N is at N % BYGONE_LIVES */
	struct chunk_interval *intervals;		 /* the same way */
	struct bygone_call *calls;			 /* the same way */
	uint64_t life_count, interval_count, call_count; /* ever: the next one's number */
};

void bygone_fini(struct bygone *bygone);

/* Keeps what ended, and the intervals, of CHUNK, whose times are since START_NS. */
void bygone_add(struct bygone *bygone, const struct chunk *chunk, uint64_t start_ns);

/* Keeps what was called since the last time, of the chunk that ended at END_NS. */
void bygone_add_calls(struct bygone *bygone, struct calls *calls, uint64_t end_ns);

/* Forgets all. */
void bygone_clear(struct bygone *bygone);

/* The number of the oldest one that is there, of COUNT ever in a ring of MAX. */
static inline uint64_t bygone_first(uint64_t count, uint64_t max)
{
	return count > max ? count - max : 0;
}

#endif /* PRELOAD_PROFILE_BYGONE_H */
