/* SPDX-License-Identifier: MIT */
/*
 * calls.h - host calls that were counted one by one (load/hostcalls.h), for groups.
 *
 * A row for each function and group that called it, at most CALLS_MAX; what is more is not told,
 * and counted in STAT_HOSTCALLS_UNTOLD. Of each chunk the CALLS_SPANS longest calls are kept as
 * intervals. Calls count for the group of their module, whatever the host said of its instances.
 * Threads: ours.
 */
#ifndef PRELOAD_PROFILE_CALLS_H
#define PRELOAD_PROFILE_CALLS_H

#include "preload/profile/chunk.h"
#include "preload/profile/groups.h"
#include "symtab/base.h"

enum { CALLS_MAX = 1 << 16, CALLS_SPANS = 200 };

struct call_sum {
	uint64_t count, total_ns, longest_ns;
};

struct call_row {
	uint32_t name, group; /* load/hostcalls.h; groups.h */
	uint32_t text;	      /* of the name */
	struct call_sum all;  /* in this recording */
	struct call_sum more; /* since calls_take_more() */
	bool has_changed;     /* since the last chunk */
};

/* Zeroed memory is an empty one. */
struct calls {
	struct call_row *rows;
	size_t count, capacity;
	struct lookup lookup;
	uint64_t dropped; /* calls without an interval, in this recording */
	/* Of all recordings: calls, and those of them that intervals could be made of. */
	uint64_t ever_called, ever_timed;

	/* What calls_fill() handed out last. */
	struct chunk_hostcall *told;
	size_t told_capacity;
	struct chunk_interval spans[CALLS_SPANS];
	size_t span_count;
};

void calls_fini(struct calls *calls);

/* Takes what was called since the last time: each call is in one profile only. */
void calls_collect(struct calls *calls, struct groups *groups, const struct symtab *symtab);

/* Whether rows have changed whose group's texts (those from KNOWN on) no chunk has yet. */
bool calls_need_texts(const struct calls *calls, const struct groups *groups, size_t known);

/*
 * Puts what changed into CHUNK, as far as it or earlier ones have the texts (those below KNOWN),
 * and the calls that took longest. START_NS (CLOCK_MONOTONIC): of the recording.
 */
void calls_fill(struct calls *calls, const struct groups *groups, struct chunk *chunk, size_t known,
		uint64_t start_ns);

/* What ROW was called since the last time that it was asked, and it begins again. */
static inline struct call_sum calls_take_more(struct call_row *row)
{
	struct call_sum more = row->more;

	row->more = (struct call_sum){ 0 };
	return more;
}

/* Adds MORE to SUM. */
static inline void calls_add(struct call_sum *sum, const struct call_sum *more)
{
	sum->count += more->count;
	sum->total_ns += more->total_ns;
	if (more->longest_ns > sum->longest_ns)
		sum->longest_ns = more->longest_ns;
}

/* The recording starts again: nothing was called in it so far. */
void calls_restart(struct calls *calls);

#endif /* PRELOAD_PROFILE_CALLS_H */
